/* shared.c - the shared memory that a compiled kernel would need.
 *
 * Operands of products lie in shared memory.  What a loop loads for its
 * products is fetched some trips ahead, so that each such block is there once
 * for every trip under way: num_stages of them where the product reads them
 * from there (wgmma), one fewer where it reads registers, and one where
 * nothing is fetched ahead.  An operand that is made or loaded before the
 * loop lies there while the loop runs; one that is loaded in it and not
 * fetched ahead, from its load to the last product that reads it.  What
 * registers need is turned as it was loaded, before a cast makes it wider.
 * Beside all that, a loop has the largest of what its products, reductions and
 * stores need in passing.  Loops come one after the other, so that the largest
 * counts.
 *
 * Loads that an address needs are fetched ahead of its load: they share the
 * trips.  A loop that asks for stages itself (tl.range) fetches all that it
 * loads ahead.  Reductions and scans need a value from each warp.  A sort or
 * gather needs a block.  What other changes of layout need in passing is at
 * most a block and reuses the same memory; it is left out.  Triton's passes:
 * AssignLatencies, LowerLoops,
 * AllocateSharedMemory. */
#include "ir/shared.h"

#include <string.h>

#include "ir/flat.h"

typedef struct shared_estimate {
  tk_flat flat;
  int arch;
  bool *way, *used;   /* marks on slots */
  int *ahead;         /* slots that follow_back has yet to look at */
  int *level;         /* of a load, by step: marked in which round */
  int *chain;         /* by loop: see chain_of_loads */
  struct need *needs; /* of the products of a loop */
  size_t nneeds;
} shared_estimate;

/* ---- where values come from --------------------------------------------- */

/* Marks a value and all that it was made of; loads end the way back, since what
 * they read is made elsewhere. */
static void follow_back(const shared_estimate *s, int slot, bool *seen) {
  const tk_flat *f = &s->flat;
  size_t n = 0;
  if (!seen[slot]) s->ahead[n++] = slot;
  seen[slot] = true;
  while (n) {
    slot = s->ahead[--n];
    tk_check_interrupt(f->arena->env);
    const size_t *from = &f->writers.at[slot];
    for (size_t w = from[0]; w < from[1]; w++) {
      const tk_flat_step *t = &f->steps.items[f->writers.steps[w]];
      for (int k = 0; !tk_flat_is(t, TK_I_LOAD) && k < t->nargs; k++) {
        if (!seen[t->args[k]]) s->ahead[n++] = t->args[k];
        seen[t->args[k]] = true;
      }
    }
  }
}

/* Finds the step that makes a slot, through copies and changes of shape; gives
 * the number of all steps if several make it. */
static size_t maker_of(const shared_estimate *s, int slot) {
  size_t found = s->flat.steps.n;
  const tk_flat_step *t;
  const size_t *from = &s->flat.writers.at[slot];
  for (size_t w = from[0]; w < from[1]; w++) {
    size_t i = s->flat.writers.steps[w];
    t = &s->flat.steps.items[i];
    if (tk_flat_is(t, TK_I_COPY) && t->args[0] == slot) continue; /* x = x */
    if (found < s->flat.steps.n) return s->flat.steps.n;
    found = i;
  }
  if (found == s->flat.steps.n) return found;
  t = &s->flat.steps.items[found];
  bool moves = !t->in || tk_flat_is(t, TK_I_COPY) ||
               tk_flat_is(t, TK_I_PERMUTE) || tk_flat_is(t, TK_I_HINT);
  return moves ? maker_of(s, t->args[0]) : found;
}

/* An integer of the launch that is not known to be a multiple of 16. */
static bool is_odd_number(const shared_estimate *s, int slot) {
  const tk_program *p = s->flat.program;
  const tk_type *t = &s->flat.slots.items[slot];
  if (t->ptr || !tk_is_int((tk_dtype)t->elem)) return false;
  for (size_t i = 0; i < p->nparams; i++)
    if (p->params[i].slot == slot) return p->params[i].divisor < 16;
  return false;
}

static size_t block_bytes(const shared_estimate *s, int slot) {
  const tk_type *t = &s->flat.slots.items[slot];
  return (size_t)tk_numel(t) * tk_lane_size(t);
}

/* ---- loops -------------------------------------------------------------- */

/* The number that a slot holds whatever is launched. */
static bool known_number(const shared_estimate *s, int slot, int64_t *out) {
  size_t i = maker_of(s, slot);
  const tk_flat_step *t = i < s->flat.steps.n ? &s->flat.steps.items[i] : NULL;
  int64_t a, b = 0;
  if (!t || s->flat.slots.items[slot].rank) return false;
  if (t->in->op == TK_I_CONST) {
    *out = (int64_t)(int32_t)tk_const_bits(t->in);
    return true;
  }
  if (t->in->op == TK_I_CAST) return known_number(s, t->args[0], out);
  if (t->in->op != TK_I_BINARY || !known_number(s, t->args[0], &a) ||
      !known_number(s, t->args[1], &b))
    return false;
  switch ((tk_binary)t->in->mode) {
  case TK_B_ADD: *out = a + b; return true;
  case TK_B_SUB: *out = a - b; return true;
  case TK_B_MUL: *out = a * b; return true;
  case TK_B_DIV: *out = b ? a / b : 0; return b != 0;
  case TK_B_MIN: *out = a < b ? a : b; return true;
  case TK_B_MAX: *out = a > b ? a : b; return true;
  default: return false;
  }
}

/* Whether a loop that counts may have a second trip: one with a single trip is
 * no loop for the compiler. */
static bool goes_round(const shared_estimate *s, const tk_flat_loop *l) {
  int64_t lb, ub, step;
  if (!l->st || l->st->kind != TK_S_FOR) return false;
  return !known_number(s, l->st->lb + l->base, &lb) ||
         !known_number(s, l->st->ub + l->base, &ub) ||
         !known_number(s, l->st->step + l->base, &step) || ub - lb > step;
}

/* ---- products ----------------------------------------------------------- */

/* An operand of a product as the kernel loads it.  One of a block-scaled
 * product is made from that in registers: unpacked, and times its scale. */
typedef struct factor {
  int slot;
  size_t maker; /* the step that makes it */
  int scale;    /* a slot, or -1 */
  bool made;
  size_t bytes; /* as it is multiplied */
} factor;

static bool is_made_by(const shared_estimate *s, int slot, tk_opcode op) {
  size_t i = maker_of(s, slot);
  return i < s->flat.steps.n && tk_flat_is(&s->flat.steps.items[i], op);
}

/* Whether a block of 8-bit floats is made fp32: an operand of tl.dot_scaled
 * that has no scales is, and Triton multiplies halves there all the same. */
static bool is_widened_eight(const shared_estimate *s, int slot) {
  size_t i = maker_of(s, slot);
  if (!is_made_by(s, slot, TK_I_CAST)) return false;
  const tk_type *from = &s->flat.slots.items[s->flat.steps.items[i].args[0]];
  return tk_lane_size(from) == 1 && tk_is_float((tk_dtype)from->elem);
}

static bool is_scaled(const shared_estimate *s, const tk_flat_step *dot) {
  bool unscaled = tk_dot_precision(dot->in) == TK_P_IEEE &&
                  is_widened_eight(s, dot->args[0]) &&
                  is_widened_eight(s, dot->args[1]);
  return unscaled || is_made_by(s, dot->args[0], TK_I_UNSCALE) ||
         is_made_by(s, dot->args[1], TK_I_UNSCALE);
}

static factor factor_of(const shared_estimate *s, const tk_flat_step *dot,
                        int k) {
  factor f = {dot->args[k], maker_of(s, dot->args[k]), -1, false, 0};
  f.bytes = block_bytes(s, f.slot);
  if (!is_scaled(s, dot) || f.maker == s->flat.steps.n) return f;
  const tk_flat_step *t = &s->flat.steps.items[f.maker];
  f.bytes /= 2; /* halves, which the form has as fp32 */
  if (!tk_flat_is(t, TK_I_UNSCALE) && !tk_flat_is(t, TK_I_CAST)) return f;
  f.slot = t->args[0];
  f.maker = maker_of(s, f.slot);
  f.made = tk_lane_size(&s->flat.slots.items[f.slot]) == 1;
  if (t->nargs > 1) f.scale = t->args[1];
  return f;
}

/* A product whose right operand alone is scaled is computed transposed, so that
 * the one that is made in registers comes first. */
static bool is_swapped(const shared_estimate *s, const tk_flat_step *dot) {
  return factor_of(s, dot, 0).scale < 0 && factor_of(s, dot, 1).scale >= 0;
}

/* Whether each thread multiplies on its own: fp32 kept exact. */
static bool is_fma(const shared_estimate *s, const tk_flat_step *dot) {
  return s->flat.slots.items[dot->args[0]].elem == TK_FP32 &&
         tk_dot_precision(dot->in) == TK_P_IEEE && !is_scaled(s, dot);
}

/* Whether four warps multiply together, out of shared memory. */
static bool is_wgmma(const shared_estimate *s, const tk_flat_step *dot) {
  const tk_type *left = &s->flat.slots.items[dot->args[0]];
  const tk_type *right = &s->flat.slots.items[dot->args[1]];
  bool swapped = is_swapped(s, dot);
  int64_t m = left->shape[0], n = right->shape[1];
  return s->arch / 10 == 9 && left->elem != TK_FP64 && !is_fma(s, dot) &&
         left->rank == 2 && (swapped ? n : m) % 64 == 0 &&
         (swapped ? m : n) % 8 == 0 &&
         s->flat.program->options[TK_LAUNCH_NUM_WARPS] % 4 == 0;
}

/* Whether a load or store is the memory unit's (TMA). */
static bool is_descriptor(const shared_estimate *s, const tk_flat_step *t) {
  return s->arch >= 90 && tk_inst_window(t->in) == TK_W_DESCRIPTOR;
}

/* Copies go four bytes at a time at least: narrower lanes need neighbours in
 * the same thread, of which is known that they lie side by side and are masked
 * alike.  A descriptor is read whatever the numbers are. */
static bool is_fetched_ahead(const shared_estimate *s, const tk_flat_step *t) {
  if (!tk_flat_is(t, TK_I_LOAD) || !t->in->type.rank) return false;
  if (is_descriptor(s, t)) return true;
  int64_t size = (int64_t)tk_lane_size(&t->in->type);
  int64_t threads = 32 * s->flat.program->options[TK_LAUNCH_NUM_WARPS];
  if (size >= 4) return true;
  if (tk_numel(&t->in->type) / threads * size < 4) return false;
  memset(s->way, 0, s->flat.slots.n);
  for (int k = 0; k < t->nargs; k++) follow_back(s, t->args[k], s->way);
  for (size_t i = 0; i < s->flat.slots.n; i++)
    if (s->way[i] && is_odd_number(s, (int)i)) return false;
  return true;
}

/* Whether step i, a load, is read by a product by wgmma where it lies.
 * *turned: but it is turned in registers first, as right operands of bytes
 * are. */
static bool feeds_wgmma(const shared_estimate *s, size_t i, bool *turned) {
  *turned = false;
  for (size_t j = 0; j < s->flat.steps.n; j++) {
    const tk_flat_step *t = &s->flat.steps.items[j];
    if (!tk_flat_is(t, TK_I_DOT) || t->loop != s->flat.steps.items[i].loop)
      continue;
    for (int k = 0; k < 2; k++) {
      factor f = factor_of(s, t, k);
      if (!is_wgmma(s, t) || f.maker != i) continue;
      *turned = f.made
                    ? is_swapped(s, t)
                    : k == 1 && tk_lane_size(&s->flat.slots.items[f.slot]) == 1;
      return !f.made;
    }
  }
  return false;
}

/* How many trips' worth of step i, a load that the products of its loop need,
 * are there at once; 0: it is not fetched ahead. */
static int64_t copies_of(const shared_estimate *s, size_t i) {
  const tk_flat_step *t = &s->flat.steps.items[i];
  const tk_flat_loop *loop = &s->flat.loops.items[t->loop];
  if (!goes_round(s, loop) || !is_fetched_ahead(s, t)) return 0;
  int64_t stages = loop->st->loop.num_stages;
  if (!stages) stages = s->flat.program->options[TK_LAUNCH_NUM_STAGES];
  if (stages < 2) return 0;
  bool turned, wgmma = feeds_wgmma(s, i, &turned);
  int64_t trips = (stages - 1) / (1 + s->chain[t->loop]);
  if (s->level[i] > 1) return trips;
  if (turned && !is_descriptor(s, t)) return 0;
  return (trips ? trips : 1) + wgmma;
}

/* How many loads come before one that a product of the loop needs, each for the
 * address or the mask of the next.  Begins with the loads whose results are
 * marked as used, and marks those. */
static int chain_of_loads(const shared_estimate *s, int loop) {
  int level = 0;
  memset(s->level, 0, s->flat.steps.n * sizeof *s->level);
  for (bool more = true; more; level++) {
    more = false;
    for (size_t i = 0; i < s->flat.steps.n; i++) {
      const tk_flat_step *t = &s->flat.steps.items[i];
      if (t->loop != loop || s->level[i] || !is_fetched_ahead(s, t) ||
          !s->used[t->res[0]])
        continue;
      s->level[i] = level + 1;
      more = true;
    }
    for (size_t i = 0; i < s->flat.steps.n; i++) {
      const tk_flat_step *t = &s->flat.steps.items[i];
      for (int k = 0; s->level[i] == level + 1 && k < t->nargs; k++)
        follow_back(s, t->args[k], s->used);
    }
  }
  return level > 2 ? level - 2 : 0;
}

/* What is fetched ahead in a loop: operands of its products, or everything it
 * loads if it asks for stages itself.  Copies by the memory unit signal their
 * arrival by barriers. */
static size_t staged_bytes(const shared_estimate *s, int loop) {
  size_t bytes = 0, barriers = 0;
  bool asks = s->flat.loops.items[loop].st->loop.num_stages > 0;
  memset(s->used, 0, s->flat.slots.n);
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    for (int k = 0; tk_flat_is(t, TK_I_DOT) && t->loop == loop && k < 2; k++)
      follow_back(s, t->args[k], s->used);
  }
  s->chain[loop] = chain_of_loads(s, loop);
  if (asks) memset(s->used, 1, s->flat.slots.n);
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    if (!tk_flat_is(t, TK_I_LOAD) || t->loop != loop || !s->used[t->res[0]])
      continue;
    size_t copies = (size_t)copies_of(s, i);
    bytes += block_bytes(s, t->res[0]) * copies;
    if (is_descriptor(s, t) && barriers < copies) barriers = copies;
  }
  return bytes + 8 * barriers;
}

static bool is_staged(const shared_estimate *s, int slot, int loop) {
  size_t i = maker_of(s, slot);
  return i < s->flat.steps.n && s->flat.steps.items[i].loop == loop &&
         tk_flat_is(&s->flat.steps.items[i], TK_I_LOAD) && copies_of(s, i);
}

/* What an operand of a product needs beside what is fetched ahead, and for how
 * long. */
typedef enum need_span {
  NEED_PASSING, /* during the product */
  NEED_CAST,    /* while its layout is changed, before it is widened */
  NEED_KEPT,    /* from its load to the last product that reads it */
  NEED_HELD,    /* during the whole loop: it was made before */
} need_span;

typedef struct need {
  size_t dot, maker; /* steps */
  size_t bytes;
  need_span span;
} need;

/* Takes an operand that is loaded in the product's loop and then made wider as
 * it was loaded. */
static bool is_widened(const shared_estimate *s, const tk_flat_step *dot,
                       factor *f) {
  const tk_flat_step *t = &s->flat.steps.items[f->maker];
  if (f->maker == s->flat.steps.n || t->loop != dot->loop ||
      !tk_flat_is(t, TK_I_CAST))
    return false;
  size_t load = maker_of(s, t->args[0]);
  const tk_type *from = &s->flat.slots.items[t->args[0]];
  if (load == s->flat.steps.n || s->flat.steps.items[load].loop != dot->loop ||
      !tk_flat_is(&s->flat.steps.items[load], TK_I_LOAD) ||
      tk_lane_size(from) >= tk_lane_size(&s->flat.slots.items[f->slot]))
    return false;
  f->slot = t->args[0];
  f->maker = load;
  f->bytes = block_bytes(s, f->slot);
  return true;
}

/* Whether the left operand is made of another product's result, and lies in the
 * same threads as that: all warps are below each other in both. */
static bool is_chained(const shared_estimate *s, const tk_flat_step *dot) {
  const tk_type *left = &s->flat.slots.items[dot->args[0]];
  const tk_type *right = &s->flat.slots.items[dot->args[1]];
  if (left->rank != 2 || left->shape[0] < left->shape[1] ||
      left->shape[0] < right->shape[1])
    return false;
  memset(s->way, 0, s->flat.slots.n);
  follow_back(s, dot->args[0], s->way);
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    if (tk_flat_is(t, TK_I_DOT) && t->loop == dot->loop && t != dot &&
        s->way[t->res[0]])
      return true;
  }
  return false;
}

static need need_of(const shared_estimate *s, size_t i, int k) {
  const tk_flat_step *dot = &s->flat.steps.items[i], *t;
  factor f = factor_of(s, dot, k);
  bool wgmma = is_wgmma(s, dot), reads = wgmma || is_fma(s, dot);
  bool cast = !reads && is_widened(s, dot, &f);
  need n = {i, f.maker, f.bytes, cast ? NEED_CAST : NEED_PASSING};
  t = f.maker < s->flat.steps.n ? &s->flat.steps.items[f.maker] : NULL;
  bool loaded = t && tk_flat_is(t, TK_I_LOAD);
  bool registers = !loaded && !k && (wgmma || (!reads && is_chained(s, dot)));
  if (is_staged(s, f.slot, dot->loop) || registers ||
      (loaded && !reads && is_descriptor(s, t)) /* read where it came */)
    n.bytes = 0;
  else if (t && dot->loop && t->loop != dot->loop && f.maker < i)
    n.span = NEED_HELD;
  else if (loaded && reads)
    n.span = NEED_KEPT;
  return n;
}

/* The same of a block-scaled product, all of it for this product alone.  What
 * is scaled changes its layout as it comes, and so do the scales: that happens
 * in the order of the loads, beside the operands that lie there already.  The
 * second operand of wgmma lies there as it is multiplied. */
static size_t scaled_bytes(const shared_estimate *s, const tk_flat_step *dot) {
  factor f[2] = {factor_of(s, dot, 0), factor_of(s, dot, 1)};
  size_t whole[2] = {0}, most = 0;
  for (int k = 0; k < 2; k++) {
    bool lies = f[k].made ? is_wgmma(s, dot) && k != is_swapped(s, dot)
                          : !is_staged(s, f[k].slot, dot->loop);
    if (lies) whole[k] = f[k].bytes;
  }
  for (int k = 0; k < 4; k++) {
    int slot = k < 2 ? f[k].made ? f[k].slot : -1 : f[k - 2].scale;
    if (slot < 0 || is_staged(s, slot, dot->loop)) continue;
    size_t n = block_bytes(s, slot);
    for (int j = 0; j < 2; j++)
      if (!f[j].made && f[j].maker < maker_of(s, slot)) n += whole[j];
    if (n > most) most = n;
  }
  return most > whole[0] + whole[1] ? most : whole[0] + whole[1];
}

/* ---- reductions and scans ----------------------------------------------- */

/* How the threads share a block, as it is loaded: neighbours of a row in a
 * thread, lanes and then warps along the rows as far as they go. */
typedef struct spread {
  int64_t own[TK_MAX_RANK], lanes[TK_MAX_RANK], warps[TK_MAX_RANK];
} spread;

static spread spread_of(const tk_type *t, int64_t warps, int64_t neighbours) {
  spread d;
  int64_t lanes = 32, each = tk_numel(t) / (32 * warps);
  for (int i = t->rank - 1; i >= 0; i--) {
    int64_t n = t->shape[i], own = i == t->rank - 1 ? neighbours : 1;
    if (own > n) own = n;
    if (own > each) own = each;
    d.own[i] = own > 1 ? own : 1;
    n /= d.own[i];
    d.lanes[i] = i && n < lanes ? n : lanes;
    n /= d.lanes[i];
    d.warps[i] = i && n < warps ? n : warps;
    if (!d.warps[i]) d.warps[i] = 1;
    lanes /= d.lanes[i];
    warps /= d.warps[i];
  }
  return d;
}

/* Warps along an axis that have lanes of their own. */
static int64_t warps_along(const spread *d, const tk_type *t, int axis) {
  int64_t n = t->shape[axis] / (d->own[axis] * d->lanes[axis]);
  if (n > d->warps[axis]) n = d->warps[axis];
  return n > 1 ? n : 1;
}

/* The spread of a block that is reduced: that of what it was loaded from, the
 * one with the most neighbours in a thread. */
static spread spread_of_value(const shared_estimate *s, int slot) {
  const tk_type *t = &s->flat.slots.items[slot];
  int64_t neighbours = 1;
  memset(s->way, 0, s->flat.slots.n);
  follow_back(s, slot, s->way);
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *load = &s->flat.steps.items[i];
    if (!tk_flat_is(load, TK_I_LOAD) || !s->way[load->res[0]] ||
        tk_numel(&load->in->type) != tk_numel(t))
      continue;
    int64_t n = 16 / (int64_t)tk_lane_size(&load->in->type);
    if (n > neighbours) neighbours = n;
  }
  return spread_of(t, s->flat.program->options[TK_LAUNCH_NUM_WARPS],
                   neighbours);
}

static bool is_reduction(const tk_flat_step *t) {
  return tk_flat_is(t, TK_I_REDUCE) || tk_flat_is(t, TK_I_REDUCE_FN);
}

static bool is_scan(const tk_flat_step *t) {
  return tk_flat_is(t, TK_I_SCAN) || tk_flat_is(t, TK_I_SCAN_FN);
}

/* What the warps tell each other in a reduction: a value of each for each row,
 * an extreme with its index. */
static size_t reduction_bytes(const shared_estimate *s, const tk_flat_step *t) {
  const tk_type *from = &s->flat.slots.items[t->args[0]];
  int axis = (int)t->in->attr[0];
  spread d = spread_of_value(s, t->args[0]);
  int64_t warps = warps_along(&d, from, axis);
  size_t size = tk_flat_is(t, TK_I_REDUCE) && t->nres > 1 ? 4 : 0;
  for (int k = 0; k < t->nargs; k++)
    size += tk_lane_size(&s->flat.slots.items[t->args[k]]);
  return warps > 1 ? (size_t)(tk_numel(from) / from->shape[axis] * warps) * size
                   : 0;
}

/* The same in a scan, once for each part of the axis that the warps go through
 * one after the other. */
static size_t scan_bytes(const shared_estimate *s, const tk_flat_step *t) {
  const tk_type *from = &s->flat.slots.items[t->args[0]];
  int axis = (int)t->in->attr[0];
  spread d = spread_of_value(s, t->args[0]);
  int64_t warps = warps_along(&d, from, axis), n = warps;
  if (warps == 1) return 0;
  for (int i = 0; i < from->rank; i++) {
    int64_t lanes = d.own[i] * d.lanes[i], all = lanes * d.warps[i];
    int64_t parts = (from->shape[i] + all - 1) / all;
    n *= i == axis ? parts : lanes * warps_along(&d, from, i) * parts;
  }
  size_t size = 0;
  for (int k = 0; k < t->nargs; k++)
    size += tk_lane_size(&s->flat.slots.items[t->args[k]]);
  return (size_t)n * size;
}

/* What steps need in which lanes change places, or that go through the memory
 * unit: a block of their operand, or the counts. */
static size_t moved_bytes(const shared_estimate *s) {
  size_t most = 0;
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    size_t n = 0;
    if (tk_flat_is(t, TK_I_SORT) || tk_flat_is(t, TK_I_GATHER))
      n = block_bytes(s, t->args[0]);
    if (tk_flat_is(t, TK_I_HISTOGRAM)) n = block_bytes(s, t->res[0]);
    if (tk_flat_is(t, TK_I_STORE) && is_descriptor(s, t))
      n = block_bytes(s, t->args[1]);
    if (tk_flat_is(t, TK_I_LOAD) && is_descriptor(s, t))
      n = block_bytes(s, t->res[0]) + 8; /* a barrier */
    if (n > most) most = n;
  }
  return most;
}

/* ---- results ------------------------------------------------------------ */

/* How a block of m by n lies in the registers of threads: the bits of both
 * indices that tell registers of a thread apart. */
typedef struct held_bits {
  int64_t rows, cols;
} held_bits;

/* As a product of tensor cores leaves it: a warp holds tiles of 16 by 8. */
static held_bits product_bits(int64_t m, int64_t n, int64_t warps, bool wgmma) {
  int64_t down = m >= n && m >= 32 ? 2 : 1;
  if (wgmma) down = m / 16 < warps ? m / 16 : warps;
  int64_t across = warps / down;
  int64_t cols = wgmma ? (n / across - 1) & ~6 : (n - 1) & (1 | -(8 * across));
  return (held_bits){(m - 1) & (8 | -(16 * down)), cols};
}

/* As it is stored. */
static held_bits stored_bits(int64_t m, int64_t n, int64_t warps,
                             int64_t neighbours) {
  tk_type t = {.rank = 2, .shape = {(int32_t)m, (int32_t)n}};
  spread d = spread_of(&t, warps, neighbours);
  int64_t outer = d.own[1] * d.lanes[1] * d.warps[1];
  return (held_bits){(m - 1) & -(d.lanes[0] * d.warps[0]),
                     (n - 1) & ((d.own[1] - 1) | -outer)};
}

/* What a product's result passes through when it is stored.  Bits of an index
 * that both layouts have in registers, beyond those of one access, need not be
 * there at once. */
static size_t result_bytes(const shared_estimate *s, const tk_flat_step *dot,
                           const tk_flat_step *store) {
  const tk_type *t = &s->flat.slots.items[store->args[1]];
  if (t->rank != 2 || is_fma(s, dot)) return 0;
  bool swapped = is_swapped(s, dot);
  int64_t m = t->shape[0], n = t->shape[1], size = (int64_t)tk_lane_size(t);
  int64_t warps = s->flat.program->options[TK_LAUNCH_NUM_WARPS];
  bool aligned = true;
  memset(s->way, 0, s->flat.slots.n);
  follow_back(s, store->args[0], s->way);
  for (size_t i = 0; i < s->flat.slots.n; i++)
    if (s->way[i] && is_odd_number(s, (int)i)) aligned = false;
  held_bits a = swapped ? product_bits(n, m, warps, is_wgmma(s, dot))
                        : product_bits(m, n, warps, is_wgmma(s, dot));
  if (swapped) a = (held_bits){a.cols, a.rows};
  held_bits b = stored_bits(m, n, warps, aligned ? 16 / size : 1);
  int64_t access = size == 2 ? 2 : 16 / size; /* stmatrix writes pairs */
  int common = __builtin_popcountll((uint64_t)(a.rows & b.rows)) +
               __builtin_popcountll((uint64_t)(a.cols & b.cols));
  int64_t bytes = m * n * size;
  for (; access > 1 && common; access /= 2) common--;
  return (size_t)(bytes >> common);
}

/* What a block passes through that is loaded along one axis and stored along
 * the other: all of it, but for bits of an index that both layouts have in
 * registers. */
static size_t turned_bytes(const shared_estimate *s, const tk_flat_step *turn) {
  const tk_type *t = &s->flat.slots.items[turn->args[0]];
  size_t i = maker_of(s, turn->args[0]);
  if (t->rank != 2 || i == s->flat.steps.n ||
      !tk_flat_is(&s->flat.steps.items[i], TK_I_LOAD))
    return 0;
  int64_t m = t->shape[0], n = t->shape[1], size = (int64_t)tk_lane_size(t);
  int64_t warps = s->flat.program->options[TK_LAUNCH_NUM_WARPS];
  held_bits a = stored_bits(m, n, warps, 16 / size);
  held_bits b = stored_bits(n, m, warps, 16 / size);
  int common = __builtin_popcountll((uint64_t)(a.rows & b.cols)) +
               __builtin_popcountll((uint64_t)(a.cols & b.rows));
  return (size_t)(m * n * size >> common);
}

/* What the sums of rows pass through on their way to a store, which gives each
 * thread neighbours.  A warp alone shuffles them. */
static size_t reduced_result_bytes(const shared_estimate *s,
                                   const tk_flat_step *reduction) {
  const tk_type *from = &s->flat.slots.items[reduction->args[0]];
  const tk_type *t = &s->flat.slots.items[reduction->res[0]];
  int64_t warps = s->flat.program->options[TK_LAUNCH_NUM_WARPS];
  int64_t m = tk_numel(t), size = (int64_t)tk_lane_size(t);
  if (from->rank != 2 || reduction->in->attr[0] != 1 || warps == 1) return 0;
  spread a = spread_of_value(s, reduction->args[0]);
  spread b = spread_of(t, warps, 16 / size);
  int64_t rows = (m - 1) & -(a.lanes[0] * a.warps[0]);
  int64_t kept = (m - 1) & -(b.own[0] * b.lanes[0] * b.warps[0]);
  return (size_t)(m * size >> ((rows & kept) != 0));
}

/* The most that a result of a product or reduction, or a block that is turned,
 * needs in a store. */
static size_t store_bytes(const shared_estimate *s, size_t at) {
  const tk_flat_step *store = &s->flat.steps.items[at];
  size_t most = 0;
  memset(s->used, 0, s->flat.slots.n);
  follow_back(s, store->args[1], s->used);
  for (size_t j = 0; j < at; j++) {
    const tk_flat_step *t = &s->flat.steps.items[j];
    if (!t->nres || !(s->used[t->res[0]] || s->used[t->res[t->nres - 1]]) ||
        tk_numel(&s->flat.slots.items[t->res[0]]) !=
            tk_numel(&s->flat.slots.items[store->args[1]]))
      continue;
    size_t n = 0;
    if (tk_flat_is(t, TK_I_DOT)) n = result_bytes(s, t, store);
    if (tk_flat_is(t, TK_I_PERMUTE)) n = turned_bytes(s, t);
    if (is_reduction(t)) n = reduced_result_bytes(s, t);
    if (n > most) most = n;
  }
  return most;
}

/* ---- all of it ---------------------------------------------------------- */

/* Whether an earlier need from `from` on is for the same value. */
static bool is_met_before(const shared_estimate *s, size_t from, size_t at) {
  for (size_t i = from; i < at; i++)
    if (s->needs[i].maker == s->needs[at].maker &&
        s->needs[i].span == s->needs[at].span)
      return true;
  return false;
}

/* Operands that were loaded before a step, and that it or a later product
 * reads where they lie. */
static size_t kept_bytes(const shared_estimate *s, size_t at) {
  size_t bytes = 0, first = 0;
  while (first < s->nneeds && s->needs[first].dot < at) first++;
  for (size_t i = first; i < s->nneeds; i++)
    if (s->needs[i].span == NEED_KEPT && s->needs[i].maker <= at &&
        !is_met_before(s, first, i))
      bytes += s->needs[i].bytes;
  return bytes;
}

/* What a product needs for itself. */
static size_t product_bytes(const shared_estimate *s, size_t at) {
  size_t passing = 0, cast = 0;
  if (is_scaled(s, &s->flat.steps.items[at]))
    return scaled_bytes(s, &s->flat.steps.items[at]);
  for (size_t i = 0; i < s->nneeds; i++) {
    if (s->needs[i].dot != at) continue;
    if (s->needs[i].span == NEED_PASSING) passing += s->needs[i].bytes;
    if (s->needs[i].span == NEED_CAST && s->needs[i].bytes > cast)
      cast = s->needs[i].bytes;
  }
  return passing + cast;
}

/* What a loop (0: none) needs at the same time. */
static size_t loop_bytes(shared_estimate *s, int loop) {
  size_t held = loop ? staged_bytes(s, loop) : 0, most = 0;
  s->nneeds = 0;
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    for (int k = 0; k < 2 && t->loop == loop && tk_flat_is(t, TK_I_DOT); k++)
      if (!is_scaled(s, t)) s->needs[s->nneeds++] = need_of(s, i, k);
  }
  for (size_t i = 0; i < s->nneeds; i++)
    if (s->needs[i].span == NEED_HELD && !is_met_before(s, 0, i))
      held += s->needs[i].bytes;
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    size_t n = 0;
    if (t->loop != loop || !t->in) continue;
    if (tk_flat_is(t, TK_I_DOT)) n = product_bytes(s, i);
    if (is_reduction(t)) n = reduction_bytes(s, t);
    if (is_scan(t)) n = scan_bytes(s, t);
    if (tk_flat_is(t, TK_I_STORE)) n = store_bytes(s, i);
    if (n || tk_flat_is(t, TK_I_DOT)) n += kept_bytes(s, i);
    if (n > most) most = n;
  }
  return held + most;
}

size_t tk_program_shared(tk_arena *a, const tk_program *p, int arch) {
  shared_estimate s = {.flat = tk_flat_new(a, p), .arch = arch};
  size_t most = 0, nslots = s.flat.slots.n + 1;
  s.way = TK_NEWN(a, bool, nslots);
  s.used = TK_NEWN(a, bool, nslots);
  s.ahead = TK_NEWN(a, int, nslots);
  s.level = TK_NEWN(a, int, s.flat.steps.n + 1);
  s.chain = TK_NEWN(a, int, s.flat.loops.n + 1);
  s.needs = TK_NEWN(a, need, 2 * s.flat.steps.n + 1);
  for (size_t i = 0; i < s.flat.loops.n; i++) {
    size_t n = loop_bytes(&s, (int)i);
    if (n > most) most = n;
  }
  size_t moved = moved_bytes(&s);
  return moved > most ? moved : most;
}

/* ---- descriptors ------------------------------------------------------- */

enum { DESCRIPTOR_BYTES = 128, HAS_DESCRIPTORS = 90 };

typedef struct scratch_count {
  size_t *known; /* by function: descriptors, plus 1; 0: not counted yet */
  size_t n;
} scratch_count;

static size_t count_descs(size_t *known, const tk_func *f);

static bool add_callee(void *ud, const tk_at *at, const tk_inst *in) {
  scratch_count *c = ud;
  (void)at;
  if (in->op == TK_I_CALL) c->n += count_descs(c->known, tk_call_callee(in));
  return true;
}

static size_t count_descs(size_t *known, const tk_func *f) {
  if (known[f->id]) return known[f->id] - 1;
  scratch_count c = {known, f->ndescs};
  tk_walk_func(f, &(tk_walk){.ud = &c, .inst = add_callee});
  known[f->id] = c.n + 1;
  return c.n;
}

size_t tk_program_scratch(tk_arena *a, const tk_program *p, int arch) {
  if (arch < HAS_DESCRIPTORS) return 0;
  size_t *known = TK_NEWN(a, size_t, p->nfuncs + 1);
  return DESCRIPTOR_BYTES * count_descs(known, p->funcs[0]);
}
