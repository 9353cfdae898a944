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
 *
 * A product of warpgroups (warpgroup.h) goes on by itself, so the copies are
 * begun behind it.  If all that the loop does with the product is to sum it up,
 * it goes on into the next trip: each waits for the product of the one before
 * it, and meets the others once more, before its copies overwrite what that has
 * read.
 */
#include "nvptx/pipeline.h"
#include "nvptx/shared.h"
#include "nvptx/warpgroup.h"

enum { ALIGNMENT = 128 };

struct tkv_pipeline {
  const tk_stmt *loop;
  tkv_plan plan;
  tkv_frame *ahead;
  tkv_placed *placed; /* by instruction of the plan: of a load; */
  size_t *offset;     /* where it begins in the buffers of a trip */
  int stages;
  size_t base, bytes; /* of the buffers, and of those of one trip */
  bool has_tiles;     /* wgmma reads some of them */
  /* The product behind which a trip's copies are begun, or NULL; whether the
   * loop sums it up, and whether it does run on from trip to trip. */
  const tk_inst *product;
  bool sums_up, runs_on;
  tk_compare going_on;
  tkv_reg end, step;
  /* Variables: the trip that is next copied, whether there is one, and where
   * the buffers of the next copies and of this trip begin. */
  tkv_reg i, is_there, fill, use;
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

/* ---- one trip's copies --------------------------------------------------- */

/* The buffer of the k-th instruction of the plan. */
static tkv_reg buffer_at(tkv_code *c, const tkv_pipeline *p, size_t k,
                         tkv_reg trip) {
  tkv_reg offset = tkv_add_n(c, trip, (int64_t)p->offset[k]);
  return tkv_element(c, TKV_I8, tkv_named_reg(TKV_SCRATCH), offset);
}

/* A piece of a copy: so many bytes, or zeros where the mask does not hold, if
 * it is begun at all. */
typedef struct piece {
  size_t bytes;
  tkv_reg to, from, mask, when;
} piece;

static void copy_piece(tkv_gen *g, const piece *x) {
  tkv_code *c = g->code;
  TK_ASSERT(x->bytes == 4 || x->bytes == 8 || x->bytes == 16);
  tkv_reg size = tkv_i32((int64_t)x->bytes);
  if (tkv_exists(x->mask)) size = tkv_select(c, x->mask, size, tkv_i32(0));
  tkv_reg to = tkv_address(c, x->to), in[] = {to, x->from, size, x->when};
  const char *text = tk_arena_printf(
      g->arena, "@$3 cp.async.%s.shared.global [$0], [$1], %zu, $2;",
      x->bytes == 16 ? "cg" : "ca", x->bytes);
  tkv_assemble_text(
      c, &(tkv_asm){.text = text, .in = in, .nin = 4, .flags = TKV_MEMORY});
}

static void begin_copy(tkv_gen *g, const tkv_pipeline *p, size_t k,
                       tkv_reg trip, tkv_reg when) {
  tkv_code *c = g->code;
  const tk_inst *in = p->plan.insts[k];
  int mask_at = tk_load_mask(in);
  size_t size = tk_lane_size(&in->type);
  tkv_dist d = dist_of_copy(g, in),
           places = tkv_dist_map(&d, tkv_place, &p->placed[k].places);
  uint32_t width = (uint32_t)tkv_access_width(g, in, &d),
           most = (uint32_t)1 << tkv_neighbours(&places, size);
  if (width > most) width = most;
  tkv_reg *from = tkv_at(g, tkv_arg(g, in, 0), &d),
          *mask = mask_at < 0 ? NULL : tkv_at(g, tkv_arg(g, in, mask_at), &d),
          area = buffer_at(c, p, k, trip),
          thread = tkv_thread_number(c, &places);
  when = tkv_both(c, when, tkv_is_first(c, &d));
  if (TKV_MUTANT(COPY_MASK)) mask = NULL;
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r += width) {
    if (tkv_dist_canonical(&d, r) < r) continue;
    tkv_reg number = tkv_number(c, &places, thread, r),
            to = tkv_element_at(c, &in->type, area, number);
    piece x = {width * size, to, from[r], mask ? mask[r] : TKV_NO_REG, when};
    copy_piece(g, &x);
  }
}

/* The buffers of the next trip: after the last come the first ones. */
static tkv_reg next_trip(tkv_code *c, const tkv_pipeline *p, tkv_reg trip) {
  size_t end = p->base + (size_t)p->stages * p->bytes;
  tkv_reg next = tkv_add_n(c, trip, (int64_t)p->bytes),
          over = tkv_compare_n(c, TKV_EQ, next, (int64_t)end);
  return tkv_select(c, over, tkv_i32((int64_t)p->base), next);
}

/* Computes what a later trip's copies need, and begins them. */
static void run_plan(tkv_gen *g, const tkv_pipeline *p, tkv_reg trip,
                     tkv_reg is_there) {
  for (size_t k = 0; k < p->plan.n; k++) {
    const tk_inst *in = p->plan.insts[k];
    tkv_set_location(g->code, g->frame->f->src, in->span);
    g->inst = in;
    if (in->op == TK_I_LOAD)
      begin_copy(g, p, k, trip, is_there);
    else
      g->rules[in->op].lower(g, in);
  }
}

static void begin_copies(tkv_gen *g, const tkv_pipeline *p) {
  tkv_code *c = g->code;
  tkv_frame *around = g->frame;
  tk_type t = around->f->slots[p->loop->iv].type;
  tkv_reg i = tkv_load(c, tkv_lane_type(&t), p->i),
          is_there = tkv_load(c, TKV_I1, p->is_there),
          trip = tkv_load(c, TKV_I32, p->fill);
  TK_ASSERT(p->ahead->f == around->f);
  g->frame = p->ahead;
  tkv_set(g, p->loop->iv, tkv_scalar(g, t, i));
  run_plan(g, p, trip, is_there);
  g->frame = around;
  tkv_do_asm(c, "cp.async.commit_group;");
  i = tkv_add(c, i, p->step);
  tkv_reg more = tkv_lane_compare(c, p->going_on, &t, i, p->end);
  is_there = tkv_both(c, is_there, more);
  tkv_store(c, i, p->i);
  tkv_store(c, is_there, p->is_there);
  tkv_store(c, next_trip(c, p, trip), p->fill);
}

static void wait_for_copies(tkv_gen *g, int but) {
  tkv_do_asm(g->code,
             tk_arena_printf(g->arena, "cp.async.wait_group %d;", but));
}

/* ---- the loop ------------------------------------------------------------ */

/* Eight rows of 16 bytes are read at once, by ldmatrix. */
static tkv_dist rows_of_copy(const tkv_gen *g, const tk_type *t, int fastest) {
  tkv_dist read = {.nwarp = tkv_log2(g->warps)};
  int slow = fastest ? fastest - 1 : t->rank - 1, bits = tkv_axis_bits(t, slow);
  while (read.nreg < tkv_axis_bits(t, fastest) &&
         tk_lane_size(t) << read.nreg < 16) {
    read.reg[read.nreg] = (uint32_t)1 << (tkv_axis_low(t, fastest) + read.nreg);
    read.nreg++;
  }
  for (int i = 0; i < 3 && i < bits; i++)
    read.lane[i] = (uint32_t)1 << (tkv_axis_low(t, slow) + i);
  return read;
}

/* A load's places, in no area yet. */
static tkv_placed place_copy(tkv_gen *g, const tk_inst *in) {
  const tk_type *t = &in->type;
  const tk_func *f = g->frame->f;
  tkv_dist written = dist_of_copy(g, in), read;
  int fastest = tkv_fastest_axis(t, &g->facts.of[f->id][in->args[0]]);
  tkv_placed x = {.type = *t, .area = TKV_NO_REG};
  x.is_tile =
      tkv_feeds_warpgroups(g, in) && tkv_places_of_tile(t, fastest, &x.places);
  if (x.is_tile) {
    read = tkv_rows_of_tile(t, &x.places, g->warps);
  } else {
    read = rows_of_copy(g, t, fastest);
    x.places = tkv_find_places(t, &written, &read);
  }
  tkv_note_exchange(
      g, &(tkv_exchange){in, *t, tkv_all_numbers(t), written, read, x.places});
  return x;
}

static void lay_out_buffers(tkv_gen *g, tkv_pipeline *p) {
  size_t unit = ALIGNMENT;
  for (size_t k = 0; k < p->plan.n; k++) {
    if (p->plan.insts[k]->op != TK_I_LOAD) continue;
    p->placed[k] = place_copy(g, p->plan.insts[k]);
    p->has_tiles |= p->placed[k].is_tile;
  }
  if (p->has_tiles) unit = TKV_TILE_ALIGNMENT;
  g->has_tiles |= p->has_tiles;
  p->base = (g->buffers_in_use + unit - 1) / unit * unit;
  for (size_t k = 0; k < p->plan.n; k++) {
    const tk_type *t = &p->plan.insts[k]->type;
    if (p->plan.insts[k]->op != TK_I_LOAD) continue;
    p->offset[k] = p->bytes;
    p->bytes +=
        ((size_t)tk_numel(t) * tk_lane_size(t) + unit - 1) / unit * unit;
  }
  g->buffers_in_use = p->base + (size_t)p->stages * p->bytes;
  if (g->buffers_in_use > g->buffers) g->buffers = g->buffers_in_use;
}

/* The number of stages: copies are begun that many trips ahead, less one. */
static int64_t stages_of(const tkv_gen *g, const tk_stmt *loop) {
  int64_t stages = loop->loop.num_stages;
  if (!stages) stages = g->p->options[TK_LAUNCH_NUM_STAGES];
  return stages > g->most_stages ? g->most_stages : stages;
}

static void make_variables(tkv_code *c, tkv_pipeline *p, const tk_type *t) {
  p->i = tkv_variable(c, tkv_lane_type(t));
  p->is_there = tkv_variable(c, TKV_I1);
  p->fill = tkv_variable(c, TKV_I32);
  p->use = tkv_variable(c, TKV_I32);
}

tkv_pipeline *tkv_begin_pipeline(tkv_gen *g, const tk_stmt *loop,
                                 tk_compare going_on, tkv_reg from, tkv_reg end,
                                 tkv_reg step) {
  tkv_code *c = g->code;
  tkv_plan plan;
  int64_t stages = stages_of(g, loop);
  if (stages < 2 || g->frame->lanes ||
      !tkv_plan_loop(g->arena, g->frame->f, loop, can_copy, g, &plan))
    return NULL;
  tk_type t = g->frame->f->slots[loop->iv].type;
  tkv_pipeline *p = TK_NEW(g->arena, tkv_pipeline);
  *p = (tkv_pipeline){.loop = loop,
                      .plan = plan,
                      .placed = TK_NEWN(g->arena, tkv_placed, plan.n),
                      .offset = TK_NEWN(g->arena, size_t, plan.n),
                      .stages = (int)stages,
                      .going_on = going_on,
                      .end = end,
                      .step = step};
  make_variables(c, p, &t);
  if (stages > g->stages) g->stages = stages;
  lay_out_buffers(g, p);
  if (p->has_tiles) p->product = tkv_first_product(g, loop);
  p->sums_up = p->product && tkv_is_summed_up(g, loop, p->product);
  if (p->sums_up) tkv_begin_sum(g, p->product);
  p->ahead = tkv_fork_frame(g, plan.ahead);
  tkv_store(c, from, p->i);
  tkv_store(c, tkv_lane_compare(c, going_on, &t, from, end), p->is_there);
  tkv_store(c, tkv_i32((int64_t)p->base), p->fill);
  tkv_store(c, tkv_i32((int64_t)p->base), p->use);
  tkv_meet(c);
  for (int i = 1; i < p->stages; i++) begin_copies(g, p);
  return p;
}

void tkv_begin_trip(tkv_gen *g, tkv_pipeline *p) {
  wait_for_copies(g, p->stages - (TKV_MUTANT(COPY_WAIT) ? 1 : 2));
  if (p->has_tiles) tkv_fence_tiles(g->code);
  if (!TKV_MUTANT(COPY_BARRIER)) tkv_meet(g->code);
  if (p->product)
    g->late = p;
  else
    begin_copies(g, p);
  tkv_reg trip = tkv_load(g->code, TKV_I32, p->use);
  for (size_t k = 0; k < p->plan.n; k++) {
    const tk_inst *in = p->plan.insts[k];
    if (in->op != TK_I_LOAD) continue;
    p->placed[k].area = buffer_at(g->code, p, k, trip);
    tkv_value *v = tkv_new_value(g, in->type);
    v->placed = &p->placed[k];
    g->copied[in->id] = v;
  }
  tkv_store(g->code, next_trip(g->code, p, trip), p->use);
}

bool tkv_is_before_copies(const tkv_gen *g, const tk_inst *dot) {
  return g->late && g->late->product == dot;
}

bool tkv_let_run_on(tkv_gen *g) {
  g->late->runs_on = g->late->sums_up;
  return g->late->runs_on;
}

void tkv_begin_late_copies(tkv_gen *g, const tk_inst *dot) {
  if (!tkv_is_before_copies(g, dot)) return;
  begin_copies(g, g->late);
  g->late = NULL;
  g->inst = dot;
  tkv_set_location(g->code, g->frame->f->src, dot->span);
}

void tkv_end_pipeline(tkv_gen *g, tkv_pipeline *p) {
  TK_ASSERT(g->late != p);
  if (p->runs_on) tkv_end_sum(g, p->product);
  for (size_t k = 0; k < p->plan.n; k++) g->copied[p->plan.insts[k]->id] = NULL;
  g->buffers_in_use = p->base;
  wait_for_copies(g, 0);
}
