/* warpgroup.c - which products warpgroups compute, and how they go on while
 * other code runs: what is needed of them before their instructions are
 * generated (gen_warpgroup.c). */
#include "nvptx/warpgroup.h"

#include "ir/numerics.h"
#include "nvptx/pipeline.h"

enum { LEAST_COLUMNS = 3 }; /* log2 */

/* ---- which products ------------------------------------------------------ */

static const tk_inst *maker_of(const tkv_gen *g, int slot) {
  bool once = g->frame->makers[slot] == 1;
  return once ? tkv_first_maker(g->frame->f, slot) : NULL;
}

/* Whether an instruction gives another view of its operand's lanes. */
static bool is_view(const tk_inst *in) {
  bool alike = in->type.ptr == in->from.ptr && in->type.elem == in->from.elem;
  return in->op == TK_I_HINT || in->op == TK_I_PERMUTE ||
         (in->op == TK_I_COPY && alike);
}

/* The load whose lanes a slot has; NULL: they are computed. */
static const tk_inst *load_behind(const tkv_gen *g, int slot) {
  const tk_inst *in = maker_of(g, slot);
  while (in && is_view(in)) in = maker_of(g, in->args[0]);
  return in && in->op == TK_I_LOAD ? in : NULL;
}

static bool fits_in_tile(const tk_type *t) {
  return (size_t)tk_numel(t) * tk_lane_size(t) <= TKV_TILE_BYTES;
}

static bool shape_suits(const tkv_gen *g, const tk_inst *in) {
  const tk_func *f = g->frame->f;
  const tk_slot *slots = f->slots;
  const tk_type *a = &slots[in->args[0]].type, *b = &slots[in->args[1]].type;
  bool half = a->elem == TK_FP16 || a->elem == TK_BF16;
  if (!half || !tk_mma_of(f, in).format || !fits_in_tile(a) || !fits_in_tile(b))
    return false;
  int rows = tkv_axis_bits(a, 0) - TKV_GROUP_ROWS,
      columns = tkv_axis_bits(b, 1) - LEAST_COLUMNS,
      groups = tkv_log2(g->warps) - TKV_GROUP_WARPS;
  return groups >= 0 && rows >= 0 && groups <= rows + columns;
}

bool tkv_is_by_warpgroups(tkv_gen *g, const tk_inst *dot) {
  return g->wgmma && !g->frame->lanes && shape_suits(g, dot) &&
         load_behind(g, dot->args[0]) && load_behind(g, dot->args[1]);
}

typedef struct feeding {
  tkv_gen *g;
  const tk_inst *load;
  bool feeds;
} feeding;

static bool look_at_product(void *ud, const tk_at *at, const tk_inst *in) {
  feeding *x = ud;
  (void)at;
  if (in->op == TK_I_DOT && tkv_is_by_warpgroups(x->g, in))
    for (int k = 0; k < 2; k++)
      x->feeds |= load_behind(x->g, in->args[k]) == x->load;
  return !x->feeds;
}

bool tkv_feeds_warpgroups(tkv_gen *g, const tk_inst *load) {
  feeding x = {g, load, false};
  if (g->wgmma)
    tk_walk_func(g->frame->f, &(tk_walk){.ud = &x, .inst = look_at_product});
  return x.feeds;
}

/* ---- products of loops --------------------------------------------------- */

const tk_inst *tkv_first_product(tkv_gen *g, const tk_stmt *loop) {
  for (size_t s = 0; s < loop->body.n; s++) {
    const tk_stmt *st = loop->body.items[s];
    if (st->kind != TK_S_RUN) return NULL;
    for (size_t i = 0; i < st->insts.n; i++) {
      const tk_inst *in = st->insts.items[i];
      if (in->op == TK_I_DOT && tkv_is_by_warpgroups(g, in)) return in;
    }
  }
  return NULL;
}

/* How often a slot is used and given a value, and whether anything returns. */
typedef struct census {
  int slot;
  size_t uses, makers;
  bool returns;
} census;

static bool count_stmt(void *ud, const tk_at *at) {
  census *x = ud;
  x->returns |= at->stmt->kind == TK_S_RETURN;
  for (size_t i = 0; i < at->stmt->nresults; i++)
    x->uses += at->stmt->results[i] == x->slot;
  return true;
}

static bool count_inst(void *ud, const tk_at *at, const tk_inst *in) {
  census *x = ud;
  (void)at;
  for (int k = 0; k < in->nargs; k++) x->uses += in->args[k] == x->slot;
  for (int k = 0; k < in->nres; k++) x->makers += in->res[k] == x->slot;
  return true;
}

/* body: NULL: of the whole function. */
static census count_slot(const tk_func *f, const tk_body *body, int slot) {
  census x = {.slot = slot};
  tk_walk walk = {.ud = &x, .stmt = count_stmt, .inst = count_inst};
  if (body)
    tk_walk_body(f, body, &walk);
  else
    tk_walk_func(f, &walk);
  return x;
}

/* Whether the loop's own statements copy one slot to the other. */
static bool is_copied(const tk_stmt *loop, int from, int to) {
  for (size_t s = 0; s < loop->body.n; s++) {
    const tk_stmt *st = loop->body.items[s];
    for (size_t i = 0; st->kind == TK_S_RUN && i < st->insts.n; i++) {
      const tk_inst *in = st->insts.items[i];
      if (in->op == TK_I_COPY && in->args[0] == from && in->res[0] == to)
        return true;
    }
  }
  return false;
}

bool tkv_is_summed_up(tkv_gen *g, const tk_stmt *loop, const tk_inst *dot) {
  const tk_func *f = g->frame->f;
  int at = tk_dot_accumulator(dot), made = dot->res[0];
  if (at < 0 || dot->type.elem != TK_FP32) return false;
  int sum = dot->args[at];
  const tkv_merge *m = &g->frame->merge[sum];
  tkv_dist d = tkv_dist_warpgroups(&dot->type, g->warps);
  census all = count_slot(f, NULL, made),
         within = count_slot(f, &loop->body, sum);
  return tkv_is_merge(g, sum) && m->at && tkv_dist_same(&m->dist, &d) &&
         all.makers == 1 && all.uses == 1 && within.makers == 1 &&
         within.uses == 1 && !within.returns && is_copied(loop, made, sum);
}

/* ---- going on ------------------------------------------------------------ */

void tkv_fence_tiles(tkv_code *c) {
  if (!TKV_MUTANT(TILE_FENCE)) tkv_do_asm(c, "fence.proxy.async.shared::cta;");
}

const char *tkv_wait_for_products(void) {
  return TKV_MUTANT(TILE_WAIT) ? "wgmma.wait_group.sync.aligned 1;"
                               : "wgmma.wait_group.sync.aligned 0;";
}

void tkv_change_accumulators(tkv_gen *g, const char *text, tkv_reg *in,
                             int others, int n, tkv_reg *c) {
  tkv_type *out = TK_NEWN(g->arena, tkv_type, (size_t)n);
  for (int r = 0; r < n; r++) {
    out[r] = TKV_F32;
    in[others + r] = c[r];
  }
  tkv_asm code = {.text = text,
                  .out = out,
                  .nout = n,
                  .in = in,
                  .nin = others + n,
                  .tied = n,
                  .flags = TKV_MEMORY | TKV_CONVERGENT};
  tkv_results all = tkv_assemble_text(g->code, &code);
  for (int r = 0; r < n; r++) c[r] = tkv_result(g->code, &all, r);
}

/* Assembly that changes a sum between two trips. */
static void change_sum(tkv_gen *g, const tk_inst *dot, const char *text) {
  int sum = dot->args[tk_dot_accumulator(dot)];
  const tkv_merge *m = &g->frame->merge[sum];
  tkv_value *v = tkv_load_merge(g, m);
  int n = 1 << m->dist.nreg;
  tkv_reg *in = TK_NEWN(g->arena, tkv_reg, (size_t)n);
  tkv_change_accumulators(g, text, in, 0, n, v->home->reg);
  for (int r = 0; r < n; r++) tkv_store(g->code, v->home->reg[r], m->at[r]);
}

void tkv_begin_sum(tkv_gen *g, const tk_inst *dot) {
  change_sum(g, dot, "");
}

void tkv_end_sum(tkv_gen *g, const tk_inst *dot) {
  change_sum(g, dot, tkv_wait_for_products());
}
