/* shared.c - the shared memory that a compiled kernel would need.
 *
 * Operands of products lie in shared memory.  What a loop loads for its
 * products is fetched some trips ahead, so that each such block is there once
 * for every trip under way: num_stages of them where the product reads them
 * from there (wgmma), one fewer where it reads registers, and one where
 * nothing is fetched ahead.  An operand that is made, or loaded before the
 * loop, lies there once.  Loops come one after the other, so that the largest
 * counts.
 *
 * Loads that an address needs are fetched ahead of its load: they share the
 * trips.  A loop that asks for stages itself (tl.range) fetches all that it
 * loads ahead.  Reductions of a block with one axis need a value from each
 * warp.  A sort or gather needs a block.  What others, scans and changes of
 * layout need in passing is at most a block and reuses the same memory; it is
 * left out.  Triton's passes: AssignLatencies, LowerLoops,
 * AllocateSharedMemory.
 */
#include "ir/shared.h"

#include <string.h>

#include "ir/flat.h"

typedef struct shared_estimate {
  tk_flat flat;
  int arch;
  bool *way, *used; /* marks on slots */
  int *level;       /* of a load, by step: marked in which round */
  int *chain;       /* by loop: see chain_of_loads */
} shared_estimate;

/* ---- where values come from --------------------------------------------- */

/* Marks a value and all that it was made of; loads end the way back, since what
 * they read is made elsewhere. */
static void follow_back(const shared_estimate *s, int slot, bool *seen) {
  if (seen[slot]) return;
  seen[slot] = true;
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    if (!tk_flat_writes(t, slot) || tk_flat_is(t, TK_I_LOAD)) continue;
    for (int k = 0; k < t->nargs; k++) follow_back(s, t->args[k], seen);
  }
}

/* The step that makes a slot, past copies and changes of shape; their number
 * if there are several. */
static size_t maker_of(const shared_estimate *s, int slot) {
  size_t found = s->flat.steps.n;
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    if (!tk_flat_writes(&s->flat.steps.items[i], slot)) continue;
    if (found < s->flat.steps.n) return s->flat.steps.n;
    found = i;
  }
  if (found == s->flat.steps.n) return found;
  const tk_flat_step *t = &s->flat.steps.items[found];
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

/* Whether four warps multiply together, out of shared memory. */
static bool is_wgmma(const shared_estimate *s, const tk_flat_step *dot) {
  const tk_type *left = &s->flat.slots.items[dot->args[0]];
  const tk_type *right = &s->flat.slots.items[dot->args[1]];
  bool exact = left->elem == TK_FP32 && tk_dot_precision(dot->in) == TK_P_IEEE;
  return s->arch / 10 == 9 && left->elem != TK_FP64 && !exact &&
         left->rank == 2 && left->shape[0] % 64 == 0 &&
         right->shape[1] % 8 == 0 &&
         s->flat.program->options[TK_LAUNCH_NUM_WARPS] % 4 == 0;
}

/* Whether each thread multiplies on its own: fp32 kept exact. */
static bool is_fma(const shared_estimate *s, const tk_flat_step *dot) {
  return s->flat.slots.items[dot->args[0]].elem == TK_FP32 &&
         tk_dot_precision(dot->in) == TK_P_IEEE;
}

/* Copies go four bytes at a time at least: narrower lanes need neighbours of
 * which is known that they lie side by side and are masked alike.  A descriptor
 * is read by the memory unit (TMA) whatever the numbers are. */
static bool is_fetched_ahead(const shared_estimate *s, const tk_flat_step *t) {
  if (!tk_flat_is(t, TK_I_LOAD) || !t->in->type.rank) return false;
  if (s->arch >= 90 && tk_inst_window(t->in) == TK_W_DESCRIPTOR) return true;
  if (tk_lane_size(&t->in->type) >= 4) return true;
  memset(s->way, 0, s->flat.slots.n);
  for (int k = 0; k < t->nargs; k++) follow_back(s, t->args[k], s->way);
  for (size_t i = 0; i < s->flat.slots.n; i++)
    if (s->way[i] && is_odd_number(s, (int)i)) return false;
  return true;
}

/* Whether step i, a load, is an operand of a product by wgmma.  *turned: but
 * one that is turned in registers first, as right operands of bytes are. */
static bool feeds_wgmma(const shared_estimate *s, size_t i, bool *turned) {
  *turned = false;
  for (size_t j = 0; j < s->flat.steps.n; j++) {
    const tk_flat_step *t = &s->flat.steps.items[j];
    if (!tk_flat_is(t, TK_I_DOT) || t->loop != s->flat.steps.items[i].loop)
      continue;
    for (int k = 0; k < 2; k++) {
      if (!is_wgmma(s, t) || maker_of(s, t->args[k]) != i) continue;
      *turned = k == 1 && tk_lane_size(&s->flat.slots.items[t->args[1]]) == 1;
      return true;
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
  bool turned, wgmma = feeds_wgmma(s, i, &turned);
  int64_t trips = (stages - 1) / (1 + s->chain[t->loop]);
  int64_t copies = (trips || stages < 2 ? trips : 1) + wgmma;
  if (s->level[i] > 1) return trips;
  if (turned) return 0;
  return copies > 1 || wgmma ? copies : 0;
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

/* What is fetched ahead in a loop: for its products, or all that it loads if it
 * asks for stages itself. */
static size_t staged_bytes(const shared_estimate *s, int loop) {
  size_t bytes = 0;
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
    if (tk_flat_is(t, TK_I_LOAD) && t->loop == loop && s->used[t->res[0]])
      bytes += block_bytes(s, t->res[0]) * (size_t)copies_of(s, i);
  }
  return bytes;
}

/* Bytes for an operand of a product beside what is fetched ahead.  *passing:
 * they are there for this product alone. */
static size_t operand_bytes(const shared_estimate *s, const tk_flat_step *dot,
                            int slot, bool *passing) {
  size_t i = maker_of(s, slot);
  const tk_flat_step *made =
      i < s->flat.steps.n ? &s->flat.steps.items[i] : NULL;
  bool wgmma = is_wgmma(s, dot), loaded = made && tk_flat_is(made, TK_I_LOAD);
  *passing = !loaded || !(wgmma || is_fma(s, dot));
  if (loaded && made->loop == dot->loop && copies_of(s, i)) return 0;
  bool registers = wgmma && !loaded && slot == dot->args[0];
  return registers ? 0 : block_bytes(s, slot);
}

/* Whether an earlier product of the same loop reads the same value. */
static bool counted_before(const shared_estimate *s, size_t at, int slot) {
  size_t maker = maker_of(s, slot);
  for (size_t i = 0; i < at && maker < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    if (!tk_flat_is(t, TK_I_DOT) || t->loop != s->flat.steps.items[at].loop)
      continue;
    for (int k = 0; k < 2; k++)
      if (maker_of(s, t->args[k]) == maker) return true;
  }
  return false;
}

/* What the products of a loop (0: of none) need at the same time. */
static size_t loop_bytes(const shared_estimate *s, int loop) {
  size_t held = loop ? staged_bytes(s, loop) : 0, most = 0;
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    if (!tk_flat_is(t, TK_I_DOT) || t->loop != loop) continue;
    size_t now = 0;
    for (int k = 0; k < 2; k++) {
      bool passing;
      size_t bytes = operand_bytes(s, t, t->args[k], &passing);
      if (passing)
        now += bytes;
      else if (!counted_before(s, i, t->args[k]))
        held += bytes;
    }
    if (now > most) most = now;
  }
  return held + most;
}

/* ---- reductions --------------------------------------------------------- */

/* What the warps tell each other in a loop when all lanes of a block with one
 * axis are reduced: a value from each that has lanes of its own. */
static size_t reduced_bytes(const shared_estimate *s, int loop) {
  int64_t warps = s->flat.program->options[TK_LAUNCH_NUM_WARPS];
  size_t most = 0;
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    bool reduces = tk_flat_is(t, TK_I_REDUCE) || tk_flat_is(t, TK_I_REDUCE_FN);
    if (!reduces || t->loop != loop || t->in->from.rank != 1) continue;
    int64_t n = tk_numel(&t->in->from) / 32;
    size_t bytes = 0;
    if (n > warps) n = warps;
    for (int k = 0; n > 1 && k < t->nargs; k++)
      bytes += (size_t)n * tk_lane_size(&s->flat.slots.items[t->args[k]]);
    if (bytes > most) most = bytes;
  }
  return most;
}

/* What steps need in which lanes change places: a block of their operand, or
 * the counts. */
static size_t moved_bytes(const shared_estimate *s) {
  size_t most = 0;
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *t = &s->flat.steps.items[i];
    size_t n = 0;
    if (tk_flat_is(t, TK_I_SORT) || tk_flat_is(t, TK_I_GATHER))
      n = block_bytes(s, t->args[0]);
    if (tk_flat_is(t, TK_I_HISTOGRAM)) n = block_bytes(s, t->res[0]);
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

static int64_t at_most(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* As it is stored: neighbours of a row in a thread, lanes and then warps along
 * the row as far as it goes. */
static held_bits stored_bits(int64_t m, int64_t n, int64_t warps,
                             int64_t neighbours) {
  int64_t v = at_most(at_most(neighbours, n), m * n / (32 * warps));
  if (v < 1) v = 1;
  int64_t lanes = at_most(32, n / v), across = at_most(warps, n / v / lanes);
  int64_t down = 32 / lanes * (warps / across);
  int64_t outer = v * lanes * across;
  return (held_bits){(m - 1) & -down, (n - 1) & ((v - 1) | -outer)};
}

/* What a product's result passes through when it is stored.  Bits of an index
 * that both layouts have in registers, beyond those of one access, need not be
 * there at once. */
static size_t result_bytes(const shared_estimate *s, const tk_flat_step *dot,
                           const tk_flat_step *store) {
  const tk_type *t = &s->flat.slots.items[store->args[1]];
  if (t->rank != 2 || is_fma(s, dot)) return 0;
  int64_t m = t->shape[0], n = t->shape[1], size = (int64_t)tk_lane_size(t);
  int64_t warps = s->flat.program->options[TK_LAUNCH_NUM_WARPS];
  bool aligned = true;
  memset(s->way, 0, s->flat.slots.n);
  follow_back(s, store->args[0], s->way);
  for (size_t i = 0; i < s->flat.slots.n; i++)
    if (s->way[i] && is_odd_number(s, (int)i)) aligned = false;
  held_bits a = product_bits(m, n, warps, is_wgmma(s, dot));
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

/* The most that a result of a product, or a block that is turned, needs in any
 * store. */
static size_t stored_bytes(const shared_estimate *s) {
  size_t most = 0;
  for (size_t i = 0; i < s->flat.steps.n; i++) {
    const tk_flat_step *store = &s->flat.steps.items[i];
    if (!tk_flat_is(store, TK_I_STORE)) continue;
    memset(s->used, 0, s->flat.slots.n);
    follow_back(s, store->args[1], s->used);
    for (size_t j = 0; j < i; j++) {
      const tk_flat_step *t = &s->flat.steps.items[j];
      bool dot = tk_flat_is(t, TK_I_DOT);
      if ((!dot && !tk_flat_is(t, TK_I_PERMUTE)) || !s->used[t->res[0]] ||
          tk_numel(&s->flat.slots.items[t->res[0]]) !=
              tk_numel(&s->flat.slots.items[store->args[1]]))
        continue;
      size_t n = dot ? result_bytes(s, t, store) : turned_bytes(s, t);
      if (n > most) most = n;
    }
  }
  return most;
}

size_t tk_program_shared(tk_arena *a, const tk_program *p, int arch) {
  shared_estimate s = {.flat = tk_flat_new(a, p), .arch = arch};
  size_t most = 0, nslots = s.flat.slots.n + 1;
  s.way = TK_NEWN(a, bool, nslots);
  s.used = TK_NEWN(a, bool, nslots);
  s.level = TK_NEWN(a, int, s.flat.steps.n + 1);
  s.chain = TK_NEWN(a, int, s.flat.loops.n + 1);
  for (size_t i = 0; i < s.flat.loops.n; i++) {
    size_t n = loop_bytes(&s, (int)i) + reduced_bytes(&s, (int)i);
    if (n > most) most = n;
  }
  size_t stored = stored_bytes(&s), moved = moved_bytes(&s);
  if (stored > most) most = stored;
  return moved > most ? moved : most;
}
