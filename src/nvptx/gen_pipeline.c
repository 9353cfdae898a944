/* gen_pipeline.c - loads that run ahead of their loop (pipeline.h), as copies
 * from global to shared memory that nobody waits for until they are needed:
 * cp.async (PTX ISA, "Asynchronous copy").
 *
 * Each load has as many buffers as the loop has stages.  Before the loop, the
 * copies of the first stages - 1 trips are begun; each trip waits for its own,
 * meets the others at a barrier, and begins those of the trip that comes stages
 * - 1 later, into the buffers that the trip before has read.  What the copies
 * need is computed in a frame of its own, which is that many trips ahead; past
 * the last trip it copies nothing.
 */
#include "nvptx/gen.h"
#include "nvptx/pipeline.h"

enum { ALIGNMENT = 128 };

struct tkv_pipeline {
  const tk_stmt *loop;
  tkv_plan plan;
  tkv_frame *ahead;
  tkv_placed *placed; /* by instruction of the plan: of a load; */
  size_t *offset;     /* where it begins in the buffers of a trip */
  int stages;
  size_t base, bytes; /* of the buffers, and of those of one trip */
  tk_compare going_on;
  const char *end, *step;
  /* Variables: the trip that is next copied, whether there is one, and where
   * the buffers of the next copies and of this trip begin. */
  const char *i, *is_there, *fill, *use;
};

/* The same layout for every copy, whatever its pointers come in. */
static tkv_dist dist_of_copy(tkv_gen *g, const tk_inst *load) {
  const tk_func *f = g->frame->f;
  int slot = load->args[0];
  return tkv_dist_access(&f->slots[slot].type, &g->facts.of[f->id][slot],
                         g->warps);
}

/* Copies move 4, 8 or 16 bytes. */
static bool can_copy(void *ud, const tk_inst *load) {
  tkv_gen *g = ud;
  tkv_dist d = dist_of_copy(g, load);
  return (size_t)tkv_access_width(g, load, &d) * tk_lane_size(&load->type) >= 4;
}

/* ---- one trip's copies
 * ------------------------------------------------------------- */

static const char *load_i32(tkv_gen *g, const char *at) {
  return tkv_emit(g, "load i32, ptr %s", at);
}

/* The buffer of the k-th instruction of the plan. */
static const char *buffer_at(tkv_gen *g, const tkv_pipeline *p, size_t k,
                             const char *trip) {
  return tkv_emit(g, "getelementptr i8, ptr addrspace(3) @scratch, i32 %s",
                  tkv_emit(g, "add i32 %s, %zu", trip, p->offset[k]));
}

static void copy_words(tkv_gen *g, size_t bytes, const char *to,
                       const char *from, const char *mask, const char *when) {
  const char *size =
      mask ? tkv_emit(g, "select i1 %s, i32 %zu, i32 0", mask, bytes)
           : tkv_text(g, "%zu", bytes);
  to = tkv_emit(g, "ptrtoint ptr addrspace(3) %s to i32", to);
  tkv_do(g,
         "call void asm sideeffect \"@$3 cp.async.%s.shared.global [$0], [$1], "
         "%zu, $2;\", \"r,l,r,b,~{memory}\"(i32 %s, i64 %s, i32 %s, i1 %s)",
         bytes == 16 ? "cg" : "ca", bytes, to, from, size, when);
}

static void begin_copy(tkv_gen *g, const tkv_pipeline *p, size_t k,
                       const char *trip, const char *when) {
  const tk_inst *in = p->plan.insts[k];
  const tkv_placed *placed = &p->placed[k];
  int mask_at = tk_load_mask(in);
  size_t size = tk_lane_size(&in->type);
  tkv_dist d = dist_of_copy(g, in),
           places = tkv_dist_map(&d, tkv_place, &placed->places);
  uint32_t width = (uint32_t)tkv_access_width(g, in, &d),
           most = (uint32_t)1 << tkv_neighbours(&places, size);
  if (width > most) width = most;
  const char **from = tkv_at(g, tkv_arg(g, in, 0), &d),
             **mask =
                 mask_at < 0 ? NULL : tkv_at(g, tkv_arg(g, in, mask_at), &d),
             *area = buffer_at(g, p, k, trip),
             *thread = tkv_thread_number(g, &places);
  when = tkv_both(g, when, tkv_is_first(g, &d));
  if (TKV_MUTANT(COPY_MASK)) mask = NULL;
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r += width)
    if (tkv_dist_canonical(&d, r) == r)
      copy_words(
          g, width * size,
          tkv_element_at(g, &in->type, area, tkv_number(g, &places, thread, r)),
          from[r], mask ? mask[r] : NULL, when);
}

/* The next offset of buffers: round and round. */
static const char *next_trip(tkv_gen *g, const tkv_pipeline *p,
                             const char *trip) {
  size_t end = p->base + (size_t)p->stages * p->bytes;
  const char *next = tkv_emit(g, "add i32 %s, %zu", trip, p->bytes),
             *over = tkv_emit(g, "icmp eq i32 %s, %zu", next, end);
  return tkv_emit(g, "select i1 %s, i32 %zu, i32 %s", over, p->base, next);
}

static void begin_copies(tkv_gen *g, const tkv_pipeline *p) {
  tkv_frame *around = g->frame;
  tk_type t = around->f->slots[p->loop->iv].type;
  const char *type = tkv_lane_type(&t),
             *i = tkv_emit(g, "load %s, ptr %s", type, p->i),
             *is_there = tkv_emit(g, "load i1, ptr %s", p->is_there),
             *trip = load_i32(g, p->fill);
  g->frame = p->ahead;
  tkv_set(g, p->loop->iv, tkv_scalar(g, t, i));
  for (size_t k = 0; k < p->plan.n; k++) {
    const tk_inst *in = p->plan.insts[k];
    tkv_set_location(g, around->f->src, in->span);
    g->inst = in;
    if (in->op == TK_I_LOAD)
      begin_copy(g, p, k, trip, is_there);
    else
      g->rules[in->op].lower(g, in);
  }
  g->frame = around;
  tkv_do(g, "call void asm sideeffect \"cp.async.commit_group;\", "
            "\"~{memory}\"()");
  i = tkv_emit(g, "add %s %s, %s", type, i, p->step);
  is_there = tkv_both(g, is_there, tkv_compare(g, p->going_on, &t, i, p->end));
  tkv_do(g, "store %s %s, ptr %s", type, i, p->i);
  tkv_do(g, "store i1 %s, ptr %s", is_there, p->is_there);
  tkv_do(g, "store i32 %s, ptr %s", next_trip(g, p, trip), p->fill);
}

static void wait_for_copies(tkv_gen *g, int but) {
  tkv_do(g,
         "call void asm sideeffect \"cp.async.wait_group %d;\", "
         "\"~{memory}\"()",
         but);
}

/* ---- the loop
 * ---------------------------------------------------------------------- */

/* Eight rows of 16 bytes are read at once, by ldmatrix. */
static tkv_places places_of_copy(const tkv_dist *written, const tk_type *t,
                                 int fastest) {
  tkv_dist read = {.nwarp = written->nwarp};
  int slow = fastest ? fastest - 1 : t->rank - 1, bits = tkv_axis_bits(t, slow);
  while (read.nreg < tkv_axis_bits(t, fastest) &&
         tk_lane_size(t) << read.nreg < 16) {
    read.reg[read.nreg] = (uint32_t)1 << (tkv_axis_low(t, fastest) + read.nreg);
    read.nreg++;
  }
  for (int i = 0; i < 3 && i < bits; i++)
    read.lane[i] = (uint32_t)1 << (tkv_axis_low(t, slow) + i);
  return tkv_find_places(t, written, &read);
}

static void lay_out_buffers(tkv_gen *g, tkv_pipeline *p) {
  const tk_func *f = g->frame->f;
  p->base = (g->buffers_in_use + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  for (size_t k = 0; k < p->plan.n; k++) {
    const tk_inst *in = p->plan.insts[k];
    const tk_type *t = &in->type;
    if (in->op != TK_I_LOAD) continue;
    tkv_dist d = dist_of_copy(g, in);
    int fastest = tkv_fastest_axis(t, &g->facts.of[f->id][in->args[0]]);
    p->placed[k] = (tkv_placed){*t, places_of_copy(&d, t, fastest), NULL};
    p->offset[k] = p->bytes;
    p->bytes += ((size_t)tk_numel(t) * tk_lane_size(t) + ALIGNMENT - 1) /
                ALIGNMENT * ALIGNMENT;
  }
  g->buffers_in_use = p->base + (size_t)p->stages * p->bytes;
  if (g->buffers_in_use > g->buffers) g->buffers = g->buffers_in_use;
}

tkv_pipeline *tkv_begin_pipeline(tkv_gen *g, const tk_stmt *loop,
                                 tk_compare going_on, const char *from,
                                 const char *end, const char *step) {
  tkv_plan plan;
  int64_t stages = loop->loop.num_stages;
  if (!stages) stages = g->p->options[TK_LAUNCH_NUM_STAGES];
  if (stages > g->most_stages) stages = g->most_stages;
  if (stages < 2 || g->frame->lanes ||
      !tkv_plan_loop(g->arena, g->frame->f, loop, can_copy, g, &plan))
    return NULL;
  tkv_pipeline *p = TK_NEW(g->arena, tkv_pipeline);
  tk_type t = g->frame->f->slots[loop->iv].type, flag = tk_scalar(TK_INT1),
          i32 = tk_scalar(TK_INT32);
  *p = (tkv_pipeline){.loop = loop,
                      .plan = plan,
                      .placed = TK_NEWN(g->arena, tkv_placed, plan.n),
                      .offset = TK_NEWN(g->arena, size_t, plan.n),
                      .stages = (int)stages,
                      .going_on = going_on,
                      .end = end,
                      .step = step,
                      .i = tkv_variable(g, &t),
                      .is_there = tkv_variable(g, &flag),
                      .fill = tkv_variable(g, &i32),
                      .use = tkv_variable(g, &i32)};
  if (stages > g->stages) g->stages = stages;
  lay_out_buffers(g, p);
  p->ahead = tkv_fork_frame(g, plan.ahead);
  tkv_do(g, "store %s %s, ptr %s", tkv_lane_type(&t), from, p->i);
  tkv_do(g, "store i1 %s, ptr %s", tkv_compare(g, going_on, &t, from, end),
         p->is_there);
  tkv_do(g, "store i32 %zu, ptr %s", p->base, p->fill);
  tkv_do(g, "store i32 %zu, ptr %s", p->base, p->use);
  tkv_barrier(g);
  for (int i = 1; i < p->stages; i++) begin_copies(g, p);
  return p;
}

void tkv_begin_trip(tkv_gen *g, tkv_pipeline *p) {
  wait_for_copies(g, p->stages - (TKV_MUTANT(COPY_WAIT) ? 1 : 2));
  if (!TKV_MUTANT(COPY_BARRIER)) tkv_barrier(g);
  begin_copies(g, p);
  const char *trip = load_i32(g, p->use);
  for (size_t k = 0; k < p->plan.n; k++) {
    const tk_inst *in = p->plan.insts[k];
    if (in->op != TK_I_LOAD) continue;
    p->placed[k].area = buffer_at(g, p, k, trip);
    tkv_value *v = tkv_new_value(g, in->type);
    v->placed = &p->placed[k];
    g->copied[in->id] = v;
  }
  tkv_do(g, "store i32 %s, ptr %s", next_trip(g, p, trip), p->use);
}

void tkv_end_pipeline(tkv_gen *g, tkv_pipeline *p) {
  for (size_t k = 0; k < p->plan.n; k++) g->copied[p->plan.insts[k]->id] = NULL;
  g->buffers_in_use = p->base;
  wait_for_copies(g, 0);
}
