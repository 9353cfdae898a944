/* lint_range.c - the range of integers for the launch's grid and arguments:
 * masks that miss the end, division of negative numbers, int32 that overflows.
 *
 * A range is used for a report only when both its ends are reached, which is
 * known for sums and products of independent values; and not where a
 * comparison shows that the kernel itself cares about the value.
 */
#include <inttypes.h>
#include <stdio.h>

#include "interp/check/lint.h"
#include "ir/lanes.h"

enum { LANES = 8 }; /* in `from`, beside a bit for each axis of the grid */

typedef struct range {
  bool known; /* both ends are reached */
  int64_t lo, hi;
  unsigned from; /* what it depends on */
  bool open;     /* the values at its ends may be in lanes that are masked
                    off */
} range;

typedef struct ranges {
  tkc_lint *l;
  range *of;
  bool *guarded; /* by a comparison other than with an upper bound */
  bool *address; /* it becomes part of an address, by sums and products */
  bool *bare;    /* ... of an access without a mask */
  int64_t *cap;  /* by comparisons with an upper bound */
} ranges;

static const range unknown = {false, 0, 0, 0, false};

static bool is_point(const range *r) {
  return r->known && r->lo == r->hi;
}

/* ---- one instruction ---------------------------------------------------- */

static int64_t extended(uint64_t bits, const tk_type *t) {
  int unused = 64 - tk_dtypes[t->elem].bits;
  return tk_is_signed((tk_dtype)t->elem) && unused
             ? (int64_t)(bits << unused) >> unused
             : (int64_t)bits;
}

static range sum_range(const range *a, const range *b, bool minus) {
  range r = {!(a->from & b->from), 0, 0, a->from | b->from, a->open || b->open};
  bool over = minus ? __builtin_sub_overflow(a->lo, b->hi, &r.lo) ||
                          __builtin_sub_overflow(a->hi, b->lo, &r.hi)
                    : __builtin_add_overflow(a->lo, b->lo, &r.lo) ||
                          __builtin_add_overflow(a->hi, b->hi, &r.hi);
  return over ? unknown : r;
}

static range product_range(const range *a, const range *b) {
  if (!is_point(b)) return product_range(b, a);
  range r = {is_point(b), 0, 0, a->from, a->open};
  if (__builtin_mul_overflow(a->lo, b->lo, &r.lo) ||
      __builtin_mul_overflow(a->hi, b->lo, &r.hi))
    return unknown;
  if (r.lo <= r.hi) return r;
  int64_t lo = r.lo;
  r.lo = r.hi;
  r.hi = lo;
  return r;
}

/* What a copied or repeated value is made of. */
static int original(const tkc_lint *l, int slot) {
  const tk_inst *d;
  while ((d = l->def[slot]) && (tk_lanes_kept(d) || d->op == TK_I_BROADCAST))
    slot = d->args[0];
  return slot;
}

static bool is_consecutive(const ranges *r, int slot) {
  const tk_inst *d = r->l->def[original(r->l, slot)];
  return d && (d->op == TK_I_ARANGE || d->op == TK_I_PID);
}

/* The range of a // b or a % b for a positive number b; `consecutive` says that
 * a takes every value of its range. */
static range divided_range(const tk_inst *in, const range *a, const range *b,
                           bool consecutive) {
  if (!is_point(b) || b->lo <= 0 || a->lo < 0) return unknown;
  int64_t n = b->lo;
  range r = *a;
  if (tk_binary_op(in) == TK_B_DIV) {
    r.lo /= n;
    r.hi /= n;
  } else if (r.hi >= n) {
    if (!consecutive || r.hi - r.lo < n - 1) return unknown;
    r.lo = 0;
    r.hi = n - 1;
  }
  return r;
}

static range binary_range(const ranges *all, const tk_inst *in) {
  const range *a = &all->of[in->args[0]], *b = &all->of[in->args[1]];
  if (!a->known || !b->known) return unknown;
  if (tk_binary_op(in) == TK_B_DIV || tk_binary_op(in) == TK_B_MOD)
    return divided_range(in, a, b, is_consecutive(all, in->args[0]));
  if (tk_binary_op(in) == TK_B_ADD || tk_binary_op(in) == TK_B_SUB)
    return sum_range(a, b, tk_binary_op(in) == TK_B_SUB);
  if (tk_binary_op(in) != TK_B_MUL) return unknown;
  return is_point(a) || is_point(b) ? product_range(a, b) : unknown;
}

/* Returns the range of an instruction's result, from those of its operands. */
static range computed_range(const ranges *r, const tk_inst *in) {
  const range *a = in->nargs ? &r->of[in->args[0]] : NULL;
  if (tk_lanes_kept(in) || in->op == TK_I_BROADCAST) return *a;
  if (in->op == TK_I_BINARY) return binary_range(r, in);
  if (in->op == TK_I_CAST)
    return in->type.elem == TK_INT64 && in->from.elem == TK_INT32 ? *a
                                                                  : unknown;
  if (in->op == TK_I_CONST) {
    int64_t v = extended(tk_const_bits(in), &in->type);
    return (range){true, v, v, 0, false};
  }
  if (in->op == TK_I_ARANGE)
    return (range){true, tk_arange_start(in), tk_arange_start(in) + in->n - 1,
                   LANES, true};
  if (in->op == TK_I_PID) {
    int axis = (int)tk_program_id_axis(in);
    return (range){true, 0, r->l->t->grid[axis] - 1, 1u << axis, false};
  }
  if (in->op == TK_I_NPROG) {
    int64_t n = r->l->t->grid[tk_num_programs_axis(in)];
    return (range){true, n, n, 0, false};
  }
  return unknown;
}

/* ---- reports ------------------------------------------------------------ */

static bool is_outside(const range *v) {
  return v->known && (v->hi > INT32_MAX || v->lo < INT32_MIN);
}

static void say_int32(const ranges *r, const tk_inst *in, const range *v) {
  char text[160];
  snprintf(text, sizeof text,
           "int32 index arithmetic overflows for this launch: it reaches "
           "%" PRId64,
           v->hi > INT32_MAX ? v->hi : v->lo);
  tkc_lint_say(r->l, TK_D_LINT_INT32, in, text,
               "compute it in int64: cast an operand by .to(tl.int64)");
}

/* Whether a dividend that can be negative is a difference, or a constant. */
static bool may_be_negative(const ranges *r, int slot) {
  const range *v = &r->of[slot];
  if (!v->known || v->lo >= 0 || r->guarded[slot]) return false;
  const tk_inst *d = r->l->def[slot];
  return d &&
         (d->op == TK_I_CONST || (d->op == TK_I_BINARY && d->mode == TK_B_SUB));
}

static void check_division(const ranges *r, const tk_inst *in) {
  char text[160];
  if (in->op != TK_I_BINARY ||
      (tk_binary_op(in) != TK_B_DIV && tk_binary_op(in) != TK_B_MOD) ||
      in->type.ptr || !tk_is_signed((tk_dtype)in->type.elem) ||
      !may_be_negative(r, in->args[0]))
    return;
  snprintf(text, sizeof text,
           "%s rounds toward zero, and the left operand "
           "goes down to %" PRId64,
           tk_binary_op(in) == TK_B_DIV ? "//" : "%", r->of[in->args[0]].lo);
  tkc_lint_say(r->l, TK_D_LINT_DIVISION, in, text,
               "Python rounds down instead; add a multiple of the divisor "
               "first, or mask these lanes by a comparison with 0");
}

static bool is_masked(const ranges *r, int slot) {
  const tkc_lint *l = r->l;
  for (size_t i = 0; i < l->all.n; i++) {
    const tk_inst *in = l->all.items[i];
    if (in->op != TK_I_BINARY || tk_binary_op(in) != TK_B_AND) continue;
    if (original(l, in->args[0]) == slot || original(l, in->args[1]) == slot)
      return true;
  }
  return false;
}

/* Whether other fields of the integer are brought to its top by <<, from where
 * >> extends their sign: all of them are signed. */
static bool is_extended(const ranges *r, int slot) {
  const tkc_lint *l = r->l;
  for (size_t i = 0; i < l->all.n; i++) {
    const tk_inst *in = l->all.items[i];
    if (in->op == TK_I_BINARY && tk_binary_op(in) == TK_B_SHL &&
        original(l, in->args[0]) == slot)
      return true;
  }
  return false;
}

/* The upper one of two halves of an int32 or int64 is mostly an index, which
 * leaves the sign alone. */
static bool is_half(const range *by, int bits) {
  return bits >= 32 && is_point(by) && by->lo == bits / 2;
}

/* The upper half, or less, of an integer as it was loaded: its fields are
 * taken apart, and the topmost gets the sign. */
static void check_shift(const ranges *r, const tk_inst *in) {
  if (in->op != TK_I_BINARY || tk_binary_op(in) != TK_B_SHR || in->type.ptr ||
      !tk_is_signed((tk_dtype)in->type.elem))
    return;
  int packed = original(r->l, in->args[0]);
  const tk_inst *from = r->l->def[packed];
  const range *by = &r->of[in->args[1]];
  int bits = tk_dtypes[in->type.elem].bits;
  if (!from || from->op != TK_I_LOAD || !by->known || by->hi < bits / 2 ||
      by->hi >= bits - 1 || is_half(by, bits) || is_masked(r, in->res[0]) ||
      is_extended(r, packed))
    return;
  tkc_lint_say(r->l, TK_D_LINT_SHIFT, in,
               ">> of a signed integer keeps its sign: the topmost field of "
               "what was loaded comes out negative",
               "mask the field by &, such as & 0xF for four bits, or load "
               "unsigned integers");
}

/* ---- masks of scalars --------------------------------------------------- */

/* The scalar that a block of consecutive offsets starts at, and its length;
 * or -1. */
static int block_start(const tkc_lint *l, int address, int64_t *n) {
  const tk_inst *d = l->def[original(l, address)];
  if (!d || d->op != TK_I_ADDPTR) return -1;
  d = l->def[original(l, d->args[1])];
  if (!d || d->op != TK_I_BINARY || d->mode != TK_B_ADD) return -1;
  for (int i = 0; i < 2; i++) {
    const tk_inst *lanes = l->def[original(l, d->args[i])];
    if (!lanes || lanes->op != TK_I_ARANGE || tk_arange_start(lanes)) continue;
    *n = lanes->n;
    return original(l, d->args[1 - i]);
  }
  return -1;
}

/* Whether the mask compares the block's start with a size, or the lanes that a
 * block would have if it started at 0. */
static bool is_fixed(const tkc_lint *l, const tk_inst *m, int start,
                     int64_t n) {
  if (!m || m->op != TK_I_COMPARE || m->mode != TK_C_LT || m->type.rank > 1)
    return false;
  int left = original(l, m->args[0]);
  const tk_inst *d = l->def[left];
  return left == start ||
         (d && d->op == TK_I_ARANGE && !tk_arange_start(d) && d->n == n);
}

/* If the start is a multiple of the block's length, blocks lie side by side. */
static bool is_side_by_side(const ranges *r, int start, int64_t n) {
  const tk_inst *d = r->l->def[start];
  if (!d || d->op != TK_I_BINARY || d->mode != TK_B_MUL || d->type.rank)
    return false;
  for (int i = 0; i < 2; i++)
    if (is_point(&r->of[d->args[i]]) && r->of[d->args[i]].lo == n) return true;
  return false;
}

/* Reports blocks that lie side by side, the last of which reaches past the size
 * in the mask, if the mask does not compare offsets with it. */
static void check_mask(const ranges *r, const tk_inst *in) {
  bool load = in->op == TK_I_LOAD && in->nargs >= 2;
  if (!load && !(in->op == TK_I_STORE && in->nargs == 3)) return;
  int64_t n = 0;
  int start = block_start(r->l, in->args[0], &n);
  const tk_inst *m = r->l->def[original(r->l, in->args[load ? 1 : 2])];
  if (start < 0 || !is_fixed(r->l, m, start, n) ||
      !is_side_by_side(r, start, n))
    return;
  const range *s = &r->of[start], *size = &r->of[original(r->l, m->args[1])];
  if (!s->known || s->lo != 0 || !is_point(size) || size->lo % n == 0 ||
      s->hi < size->lo / n * n || size->lo < n)
    return;
  tkc_lint_say(r->l, TK_D_LINT_MASK, in,
               "the mask does not depend on the offsets of the block: the last "
               "block reaches past the size that it is compared with",
               "compare the offsets themselves, the start plus tl.arange");
}

/* ---- a function --------------------------------------------------------- */

static void start_ranges(ranges *r) {
  const tk_program *p = r->l->t->program;
  for (size_t i = 0; i < r->l->f->nslots; i++)
    r->of[i] = unknown, r->cap[i] = INT64_MAX;
  for (size_t i = 0; r->l->f == p->kernel && i < p->nparams; i++) {
    const tk_param *a = &p->params[i];
    if (a->type.ptr || !tk_is_int((tk_dtype)a->type.elem)) continue;
    int64_t v = extended(tki_scalar_bits(&r->l->t->params[i]), &a->type);
    r->of[a->slot] = (range){true, v, v, 0, false};
  }
}

static void compute(ranges *r, bool report) {
  for (size_t i = 0; i < r->l->all.n; i++) {
    const tk_inst *in = r->l->all.items[i];
    for (int k = 0; k < in->nres; k++) r->of[in->res[k]] = unknown;
    if (in->nres != 1 || r->l->def[in->res[0]] != in || in->type.ptr) continue;
    int slot = in->res[0];
    range v = computed_range(r, in);
    if (v.known && v.hi > r->cap[slot] && v.lo <= r->cap[slot])
      v.hi = r->cap[slot], v.open = false;
    if (in->type.elem == TK_INT32 && is_outside(&v)) {
      if (report && r->address[slot] && !r->guarded[slot]) say_int32(r, in, &v);
      v = unknown;
    }
    r->of[slot] = v;
  }
}

static void compared(ranges *r, const tk_inst *in) {
  int a = in->args[0], b = in->args[1];
  bool less = tk_compare_op(in) == TK_C_LT || tk_compare_op(in) == TK_C_LE;
  bool more = tk_compare_op(in) == TK_C_GT || tk_compare_op(in) == TK_C_GE;
  if (less && is_point(&r->of[b])) {
    int64_t cap = r->of[b].lo - (tk_compare_op(in) == TK_C_LT);
    if (cap < r->cap[a]) r->cap[a] = cap;
  } else if (more && is_point(&r->of[a])) {
    int64_t cap = r->of[a].lo - (tk_compare_op(in) == TK_C_GT);
    if (cap < r->cap[b]) r->cap[b] = cap;
  } else {
    r->guarded[a] = r->guarded[b] = true;
  }
}

/* Whether a result that is too large has operands that were too large. */
static bool is_linear(const tk_inst *in) {
  return tk_lanes_kept(in) || in->op == TK_I_BROADCAST ||
         in->op == TK_I_PERMUTE || in->op == TK_I_CAST ||
         in->op == TK_I_ADDPTR ||
         (in->op == TK_I_BINARY &&
          (tk_binary_op(in) == TK_B_ADD || tk_binary_op(in) == TK_B_SUB ||
           tk_binary_op(in) == TK_B_MUL));
}

static void passed_back(ranges *r, const tk_inst *in) {
  int to = in->res[0];
  for (int k = 0; k < in->nargs; k++) {
    int arg = in->args[k];
    r->guarded[arg] |= r->guarded[to];
    if (!is_linear(in)) continue;
    r->address[arg] |= r->address[to];
    r->bare[arg] |= r->bare[to];
  }
  if ((tk_lanes_kept(in) || in->op == TK_I_BROADCAST) &&
      r->cap[to] < r->cap[in->args[0]])
    r->cap[in->args[0]] = r->cap[to];
}

/* Goes from the last instruction to the first, and passes what is known of
 * results back to their operands. */
static void look_back(ranges *r) {
  for (size_t i = r->l->all.n; i-- > 0;) {
    const tk_inst *in = r->l->all.items[i];
    size_t masked = in->op == TK_I_LOAD ? 2 : 3;
    if (in->op == TK_I_COMPARE) compared(r, in);
    if (in->op == TK_I_ADDPTR) r->address[in->args[1]] = true;
    if (in->op == TK_I_LOAD || in->op == TK_I_STORE || in->op == TK_I_ATOMIC)
      r->bare[in->args[0]] |= in->nargs < masked;
    if (in->nres == 1 && in->op != TK_I_LOAD) passed_back(r, in);
  }
}

/* What is made of a guarded value counts as guarded. */
static void look_on(ranges *r) {
  for (size_t i = 0; i < r->l->all.n; i++) {
    const tk_inst *in = r->l->all.items[i];
    for (int k = 0; k < in->nargs; k++)
      for (int j = 0; j < in->nres; j++)
        if (r->guarded[in->args[k]] && !is_point(&r->of[in->args[k]]))
          r->guarded[in->res[j]] = true;
  }
}

void tkc_lint_range(tkc_lint *l) {
  size_t n = l->f->nslots + 1;
  tk_arena *a = &l->c->run;
  ranges r = {.l = l,
              .of = TK_NEWN(a, range, n),
              .guarded = TK_NEWN(a, bool, n),
              .address = TK_NEWN(a, bool, n),
              .bare = TK_NEWN(a, bool, n),
              .cap = TK_NEWN(a, int64_t, n)};
  start_ranges(&r);
  compute(&r, false);
  look_back(&r);
  look_on(&r);
  compute(&r, true);
  for (size_t i = 0; i < l->all.n; i++) {
    check_division(&r, l->all.items[i]);
    check_shift(&r, l->all.items[i]);
    check_mask(&r, l->all.items[i]);
  }
}
