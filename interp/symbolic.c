/* symbolic.c - blocks whose lanes follow from a few numbers.
 *
 * Sums and products of affine blocks are affine modulo the width, whatever
 * wraps on the way.  What depends on the order of numbers (comparisons,
 * quotients, wider types) needs to know that no lane wraps.  A function that
 * is linear in the indices is largest and smallest in corners of the block, so
 * that its ends tell: tki_sym_bounds finds them, unless they are too large for
 * plain arithmetic.
 *
 * This runs for most instructions of most kernels, and blocks are short next
 * to what a processor does in a microsecond: results are written in place.
 */
#include "interp/symbolic.h"

#include <string.h>

#include "base/assert.h"
#include "interp/kernels.h"

/* ---- shapes -------------------------------------------------------------- */

_Static_assert(TK_MAX_RANK >= TKI_SYM_AXES, "a type's lengths can be copied");

/* Begins a block of some shape, whose lanes are yet to be told.  Lengths are
 * copied all at once, those of axes that it lacks too: see tki_sym_copy. */
static inline void start(tki_sym *r, tki_sym_kind kind, size_t size, int rank,
                         const int32_t *shape) {
  r->kind_ = (uint8_t)kind;
  r->size_ = (uint8_t)size;
  r->rank_ = (uint8_t)rank;
  memmove(r->shape_, shape, sizeof r->shape_);
}

static bool start_shape(tki_sym *r, const tk_type *type, tki_sym_kind kind,
                        size_t size) {
  if (!type->rank || type->rank > TKI_SYM_AXES) return false;
  start(r, kind, size, type->rank, type->shape);
  return true;
}

size_t tki_sym_bytes(const tki_sym *s) {
  size_t n = s->size_;
  for (int k = 0; k < s->rank_; k++) n *= (size_t)s->shape_[k];
  return n;
}

/* Brings base and steps into their canonical form, for lanes of a size. */
static void normalise(tki_sym *s) {
  int unused = 64 - 8 * s->size_;
  s->base_ = s->base_ << unused >> unused;
  for (int k = 0; k < s->rank_; k++) {
    uint64_t step = s->shape_[k] == 1 ? 0 : (uint64_t)s->step_[k];
    s->step_[k] = (int64_t)(step << unused) >> unused;
  }
}

/* An empty box is empty along each axis; base_ says what all lanes are. */
static void normalise_box(tki_sym *s) {
  bool empty = false, full = true;
  for (int k = 0; k < s->rank_; k++) {
    empty |= s->lo_[k] >= s->hi_[k];
    full &= s->lo_[k] == 0 && s->hi_[k] == s->shape_[k];
  }
  for (int k = 0; empty && k < s->rank_; k++) s->lo_[k] = s->hi_[k] = 0;
  s->base_ = full && !empty;
}

static void fill_box(tki_sym *s, bool full) {
  static const int32_t none[TKI_SYM_AXES];
  memcpy(s->lo_, none, sizeof none);
  memcpy(s->hi_, full ? s->shape_ : none, sizeof none);
  s->base_ = full;
}

static bool is_empty(const tki_sym *box) {
  return box->hi_[0] == 0;
}

const void *tki_sym_one(const tki_sym *s) {
  bool one = s->kind_ != TKI_SYM_NONE;
  if (s->kind_ == TKI_SYM_BOX) one = s->base_ || is_empty(s);
  if (s->kind_ == TKI_SYM_AFFINE)
    for (int k = 0; k < s->rank_; k++) one &= s->step_[k] == 0;
  return one ? &s->base_ : NULL;
}

/* ---- making -------------------------------------------------------------- */

void tki_sym_range(tki_sym *r, const tk_type *type, int64_t first) {
  TK_ASSERT(type->rank == 1);
  start_shape(r, type, TKI_SYM_AFFINE, tk_lane_size(type));
  r->base_ = (uint64_t)first;
  r->step_[0] = 1;
  normalise(r);
}

static bool is_bool(const tk_type *type) {
  return type->elem == TK_INT1 && !type->ptr;
}

/* Makes all lanes equal to those bits. */
static void make_equal(tki_sym *s, uint64_t bits) {
  int unused = 64 - 8 * s->size_;
  if (s->kind_ == TKI_SYM_BOX) {
    fill_box(s, (uint8_t)bits != 0);
  } else {
    s->base_ = bits << unused >> unused;
    memset(s->step_, 0, sizeof s->step_);
  }
}

bool tki_sym_splat(tki_sym *r, const tk_type *type, uint64_t bits) {
  tki_sym_kind kind = is_bool(type) ? TKI_SYM_BOX : TKI_SYM_AFFINE;
  if (!start_shape(r, type, kind, tk_lane_size(type))) return false;
  make_equal(r, bits);
  return true;
}

void tki_sym_number(tki_sym *r, size_t size, uint64_t bits) {
  int unused = 64 - 8 * (int)size;
  r->kind_ = TKI_SYM_AFFINE;
  r->size_ = (uint8_t)size;
  r->rank_ = 0;
  r->base_ = bits << unused >> unused;
}

void tki_sym_alike(tki_sym *r, const tki_sym *s, uint64_t bits) {
  start(r, (tki_sym_kind)s->kind_, s->size_, s->rank_, s->shape_);
  make_equal(r, bits);
}

/* ---- writing ------------------------------------------------------------- */

#define WRITE_ROW(T)                                                           \
  TKI_CLONES static void row_##T(T *d, T base, T step, size_t n) {             \
    for (size_t i = 0; i < n; i++) d[i] = (T)(base + step * (T)i);             \
  }
WRITE_ROW(uint8_t)
WRITE_ROW(uint16_t)
WRITE_ROW(uint32_t)
WRITE_ROW(uint64_t)

static void write_row(void *d, size_t size, uint64_t base, uint64_t step,
                      size_t n) {
  switch (size) {
  case 1: row_uint8_t(d, (uint8_t)base, (uint8_t)step, n); break;
  case 2: row_uint16_t(d, (uint16_t)base, (uint16_t)step, n); break;
  case 4: row_uint32_t(d, (uint32_t)base, (uint32_t)step, n); break;
  default: row_uint64_t(d, base, step, n);
  }
}

/* Repeats the bytes at d until there are n of them. */
static void repeat(char *d, size_t bytes, size_t n) {
  for (size_t i = 1; i < n; i++) memcpy(d + i * bytes, d, bytes);
}

/* Writes what is along an axis and those after it, of `bytes` in all. */
static void write_axis(const tki_sym *s, int axis, uint64_t base, char *d,
                       size_t bytes) {
  size_t n = (size_t)s->shape_[axis], inner = bytes / n;
  uint64_t step = (uint64_t)s->step_[axis];
  if (axis == TKI_SYM_AXES - 1 || axis == s->rank_ - 1) {
    write_row(d, s->size_, base, step, n);
    return;
  }
  write_axis(s, axis + 1, base, d, inner);
  if (!step) repeat(d, inner, n);
  for (size_t i = 1; step && i < n; i++)
    write_axis(s, axis + 1, base + i * step, d + i * inner, inner);
}

static void write_box(const tki_sym *s, int axis, char *d, size_t bytes) {
  size_t n = (size_t)s->shape_[axis], inner = bytes / n;
  size_t lo = (size_t)s->lo_[axis], hi = (size_t)s->hi_[axis];
  memset(d, 0, lo * inner);
  memset(d + hi * inner, 0, (n - hi) * inner);
  if (axis == TKI_SYM_AXES - 1 || axis == s->rank_ - 1) {
    memset(d + lo, 1, hi - lo);
  } else if (lo < hi) {
    write_box(s, axis + 1, d + lo * inner, inner);
    repeat(d + lo * inner, inner, hi - lo);
  }
}

void tki_sym_write(const tki_sym *s, void *lanes) {
  size_t bytes = tki_sym_bytes(s);
  TK_ASSERT(s->kind_ != TKI_SYM_NONE);
  if (s->kind_ == TKI_SYM_BOX)
    write_box(s, 0, lanes, bytes);
  else if (tki_sym_one(s))
    tki_fill(lanes, &s->base_, s->size_, bytes / s->size_);
  else
    write_axis(s, 0, s->base_, lanes, bytes);
}

/* ---- ends ---------------------------------------------------------------- */

/* Numbers within these limits can be added, and multiplied by lengths, in 64
 * bits. */
#define LARGE_LANE ((int64_t)1 << 60)
#define LARGE_STEP ((int64_t)1 << 38)

/* The first lane as the number that it is in type d; one of 64 bits that has
 * no int64_t comes out as less than 0, where no unsigned lane is. */
static int64_t first_lane(const tki_sym *s, tk_dtype d) {
  int unused = 64 - 8 * tk_dtypes[d].size;
  uint64_t top = s->base_ << unused;
  return tk_is_signed(d) ? (int64_t)top >> unused : (int64_t)(top >> unused);
}

bool tki_sym_bounds(const tki_sym *s, tk_dtype d, int64_t *lo, int64_t *hi) {
  int bits = tk_dtypes[d].bits - tk_is_signed(d);
  int64_t most = bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
  int64_t least = tk_is_signed(d) ? -most - 1 : 0, x = first_lane(s, d);
  if (x > LARGE_LANE || x < -LARGE_LANE) return false;
  *lo = *hi = x;
  for (int k = 0; k < s->rank_; k++) {
    int64_t step = s->step_[k];
    if (step > LARGE_STEP || step < -LARGE_STEP) return false;
    *(step < 0 ? lo : hi) += step * (s->shape_[k] - 1);
  }
  return *lo >= least && *hi <= most;
}

/* ---- integers ------------------------------------------------------------ */

static inline int64_t step_at(const tki_sym *s, int k) {
  return s->rank_ ? s->step_[k] : 0;
}
/* The operand that has the shape of the result. */
static inline const tki_sym *block_of(const tki_sym *a, const tki_sym *b) {
  return a->rank_ ? a : b;
}

/* r = a * x + b * y, lane by lane, in the size of the block. */
static void combine(tki_sym *r, const tki_sym *a, uint64_t x, const tki_sym *b,
                    uint64_t y) {
  const tki_sym *block = block_of(a, b);
  int rank = block->rank_, unused = 64 - 8 * block->size_;
  uint64_t base = a->base_ * x + b->base_ * y;
  for (int k = 0; k < rank; k++) {
    uint64_t step = (uint64_t)step_at(a, k) * x + (uint64_t)step_at(b, k) * y;
    r->step_[k] = (int64_t)(step << unused) >> unused;
  }
  start(r, TKI_SYM_AFFINE, block->size_, rank, block->shape_);
  r->base_ = base << unused >> unused;
}

/* The quotient or remainder by a positive number, if all lanes have the same
 * quotient. */
static bool quotient(tki_sym *r, tk_dtype d, const tki_sym *a, int64_t by,
                     bool remainder) {
  int64_t lo, hi;
  if (by <= 0 || !tki_sym_bounds(a, d, &lo, &hi) || lo / by != hi / by)
    return false;
  tki_sym q;
  tki_sym_alike(&q, a, (uint64_t)(lo / by));
  if (remainder)
    combine(r, a, 1, &q, 0 - (uint64_t)by);
  else
    tki_sym_copy(r, &q);
  return true;
}

/* The one of a and b that is least, or greatest, in every lane. */
static bool least_or_greatest(tki_sym *r, tk_dtype d, const tki_sym *a,
                              const tki_sym *b, bool least) {
  int64_t alo, ahi, blo, bhi;
  if (!tki_sym_bounds(a, d, &alo, &ahi) || !tki_sym_bounds(b, d, &blo, &bhi))
    return false;
  if (ahi > blo && bhi > alo) return false;
  const tki_sym *x = (ahi <= blo) == least ? a : b;
  if (x->rank_)
    *r = *x;
  else
    tki_sym_alike(r, block_of(a, b), x->base_);
  return true;
}

/* x & (2^k - 1) is x modulo 2^k, for lanes that are not negative. */
static bool keep_bits(tki_sym *r, tk_dtype d, const tki_sym *a, int64_t mask) {
  int64_t lo, hi;
  if (mask < 0 || mask > LARGE_LANE || mask & (mask + 1)) return false;
  if (!tki_sym_bounds(a, d, &lo, &hi) || lo < 0) return false;
  return quotient(r, d, a, mask + 1, true);
}

static bool binary_int(tki_sym *r, tk_binary op, tk_dtype d, const tki_sym *a,
                       const tki_sym *b) {
  bool one_a = tki_sym_one(a), one_b = tki_sym_one(b);
  int64_t y = first_lane(b, d);
  switch (op) {
  case TK_B_ADD: combine(r, a, 1, b, 1); return true;
  case TK_B_SUB: combine(r, a, 1, b, (uint64_t)-1); return true;
  case TK_B_MUL:
    if (one_b)
      combine(r, a, b->base_, b, 0);
    else if (one_a)
      combine(r, b, a->base_, a, 0);
    return one_a || one_b;
  case TK_B_SHL:
    if (!one_b || y < 0 || y >= tk_dtypes[d].bits) return false;
    combine(r, a, (uint64_t)1 << y, b, 0);
    return true;
  case TK_B_DIV: return one_b && quotient(r, d, a, y, false);
  case TK_B_MOD: return one_b && quotient(r, d, a, y, true);
  case TK_B_AND: return one_b && keep_bits(r, d, a, y);
  case TK_B_MIN:
  case TK_B_MIN_NAN: return least_or_greatest(r, d, a, b, true);
  case TK_B_MAX:
  case TK_B_MAX_NAN: return least_or_greatest(r, d, a, b, false);
  default: return false;
  }
}

/* ---- boxes --------------------------------------------------------------- */

static void intersect(tki_sym *r, const tki_sym *a, const tki_sym *b) {
  if (a->base_ || b->base_) {
    tki_sym_copy(r, a->base_ ? b : a);
    return;
  }
  tki_sym x = *a;
  for (int k = 0; k < a->rank_; k++) {
    if (b->lo_[k] > x.lo_[k]) x.lo_[k] = b->lo_[k];
    if (b->hi_[k] < x.hi_[k]) x.hi_[k] = b->hi_[k];
  }
  normalise_box(&x);
  *r = x;
}

static bool negate(tki_sym *r, const tki_sym *a) {
  tki_sym x = *a;
  int partial = -1;
  for (int k = 0; k < a->rank_; k++) {
    if (a->lo_[k] == 0 && a->hi_[k] == a->shape_[k]) continue;
    if (partial >= 0 && !is_empty(a)) return false;
    partial = k;
  }
  if (partial < 0 || is_empty(a)) {
    fill_box(&x, is_empty(a));
  } else if (a->lo_[partial] == 0) {
    x.lo_[partial] = a->hi_[partial];
    x.hi_[partial] = a->shape_[partial];
  } else if (a->hi_[partial] == a->shape_[partial]) {
    x.lo_[partial] = 0;
    x.hi_[partial] = a->lo_[partial];
  } else {
    return false;
  }
  *r = x;
  return true;
}

static bool is_within(const tki_sym *a, const tki_sym *b) {
  tki_sym x;
  size_t axes = a->rank_ * sizeof *a->lo_;
  intersect(&x, a, b);
  return !memcmp(x.lo_, a->lo_, axes) && !memcmp(x.hi_, a->hi_, axes);
}

static bool binary_box(tki_sym *r, tk_binary op, const tki_sym *a,
                       const tki_sym *b) {
  switch (op) {
  case TK_B_AND:
  case TK_B_MUL:
  case TK_B_MIN:
  case TK_B_MIN_NAN: intersect(r, a, b); return true;
  case TK_B_OR:
  case TK_B_MAX:
  case TK_B_MAX_NAN:
    if (is_within(a, b))
      *r = *b;
    else if (is_within(b, a))
      *r = *a;
    else
      return false;
    return true;
  case TK_B_XOR:
  case TK_B_ADD:
  case TK_B_SUB:
    if (is_empty(a) || is_empty(b))
      *r = is_empty(a) ? *b : *a;
    else if (a->base_ || b->base_)
      return negate(r, a->base_ ? b : a);
    else
      return false;
    return true;
  default: return false;
  }
}

bool tki_sym_binary(tki_sym *r, tk_binary op, tk_dtype d, const tki_sym *a,
                    const tki_sym *b) {
  if (a->kind_ != b->kind_ || a->size_ != b->size_) return false;
  if (a->kind_ == TKI_SYM_BOX) return binary_box(r, op, a, b);
  return tk_is_int(d) && binary_int(r, op, d, a, b);
}

/* ---- comparisons --------------------------------------------------------- */

/* A difference of two blocks: at + step i along one axis. */
typedef struct line {
  int64_t at, step;
  int axis;
} line;

/* The lanes where the difference is below 0. */
static void below(tki_sym *r, line x) {
  int64_t n = r->shape_[x.axis], first = 0, end = n;
  if (x.step > 0) /* i < -at / step */
    end = x.at >= 0 ? 0 : (-x.at + x.step - 1) / x.step;
  else /* i > at / -step */
    first = x.at < 0 ? 0 : x.at / -x.step + 1;
  r->lo_[x.axis] = (int32_t)(first > n ? n : first);
  r->hi_[x.axis] = (int32_t)(end > n ? n : end);
  normalise_box(r);
}

/* The lane where the difference is 0, if there is one. */
static void at_zero(tki_sym *r, line x) {
  int64_t n = r->shape_[x.axis];
  int64_t i = x.at % x.step ? -1 : -x.at / x.step;
  bool is = i >= 0 && i < n;
  r->lo_[x.axis] = is ? (int32_t)i : 0;
  r->hi_[x.axis] = is ? (int32_t)i + 1 : 0;
  normalise_box(r);
}

static bool compare_line(tki_sym *r, tk_compare op, line x) {
  line opposite = {-x.at, -x.step, x.axis};
  switch (op) {
  case TK_C_LT: below(r, x); return true;
  case TK_C_GT: below(r, opposite); return true;
  case TK_C_LE:
    x.at--;
    below(r, x);
    return true;
  case TK_C_GE:
    opposite.at--;
    below(r, opposite);
    return true;
  case TK_C_EQ: at_zero(r, x); return true;
  default: at_zero(r, x); return negate(r, r);
  }
}

/* The result of a comparison for all differences between lo and hi: 0 or 1, or
 * -1 if they do not agree. */
static int compare_all(tk_compare op, int64_t lo, int64_t hi) {
  int no = 0, yes = 1;
  switch (op) {
  case TK_C_LT: return hi < 0 ? yes : lo >= 0 ? no : -1;
  case TK_C_LE: return hi <= 0 ? yes : lo > 0 ? no : -1;
  case TK_C_GT: return lo > 0 ? yes : hi <= 0 ? no : -1;
  case TK_C_GE: return lo >= 0 ? yes : hi < 0 ? no : -1;
  case TK_C_NE: no = 1, yes = 0; break;
  default: break;
  }
  return lo > 0 || hi < 0 ? no : lo == 0 && hi == 0 ? yes : -1;
}

/* In most cases the smallest and the largest lanes of both decide the
 * comparison.  Otherwise, the lanes where it holds are a box as long as the
 * difference changes along one axis only. */
static bool compare_int(tki_sym *r, tk_compare op, tk_dtype d, const tki_sym *a,
                        const tki_sym *b) {
  int64_t lo, hi, blo, bhi;
  line x = {.axis = -1};
  int axes = 0;
  if (!tki_sym_bounds(a, d, &lo, &hi) || !tki_sym_bounds(b, d, &blo, &bhi))
    return false;
  const tki_sym *block = block_of(a, b);
  int all = compare_all(op, lo - bhi, hi - blo);
  if (all < 0) {
    x.at = first_lane(a, d) - first_lane(b, d);
    lo = hi = x.at;
    for (int k = 0; k < block->rank_; k++) {
      int64_t step = step_at(a, k) - step_at(b, k);
      if (!step) continue;
      *(step < 0 ? &lo : &hi) += step * (block->shape_[k] - 1);
      x.step = step;
      x.axis = k;
      axes++;
    }
    all = compare_all(op, lo, hi);
    if (all < 0 && axes > 1) return false;
  }
  tki_sym box;
  start(&box, TKI_SYM_BOX, 1, block->rank_, block->shape_);
  fill_box(&box, all != 0);
  if (all < 0 && !compare_line(&box, op, x)) return false;
  tki_sym_copy(r, &box);
  return true;
}

bool tki_sym_compare(tki_sym *r, tk_compare op, tk_dtype d, const tki_sym *a,
                     const tki_sym *b) {
  if (a->kind_ == TKI_SYM_BOX || b->kind_ == TKI_SYM_BOX) return false;
  if (tk_is_float(d) || a->size_ != b->size_) return false;
  return compare_int(r, op, d, a, b);
}

/* ---- one operand --------------------------------------------------------- */

bool tki_sym_unary(tki_sym *r, tk_unary op, tk_dtype d, const tki_sym *a) {
  if (a->kind_ == TKI_SYM_BOX) return op == TK_U_NOT && negate(r, a);
  if (tk_is_float(d)) return false;
  tki_sym one;
  tki_sym_alike(&one, a, 1);
  switch (op) {
  case TK_U_NEG: combine(r, a, (uint64_t)-1, a, 0); return true;
  case TK_U_NOT: combine(r, a, (uint64_t)-1, &one, (uint64_t)-1); return true;
  default: return false;
  }
}

bool tki_sym_cast(tki_sym *r, tk_dtype from, tk_dtype to, const tki_sym *a) {
  int64_t lo, hi;
  if (tk_is_float(from) || tk_is_float(to)) return false;
  if (a->kind_ == TKI_SYM_BOX || to == TK_INT1) return false;
  size_t size = tk_dtypes[to].size;
  if (size > a->size_ && !tki_sym_bounds(a, from, &lo, &hi)) return false;
  uint64_t base = (uint64_t)tk_lane_int(from, &a->base_);
  tki_sym_copy_steps(r, a);
  start(r, TKI_SYM_AFFINE, size, a->rank_, a->shape_);
  r->base_ = base;
  normalise(r);
  return true;
}

bool tki_sym_addptr(tki_sym *r, const tki_sym *p, const tki_sym *offset,
                    tk_dtype d, int shift) {
  const tki_sym *block = block_of(p, offset);
  int64_t lo, hi;
  if (d != TK_INT64 && !tki_sym_bounds(offset, d, &lo, &hi)) return false;
  r->base_ = p->base_ + ((uint64_t)first_lane(offset, d) << shift);
  for (int k = 0; k < block->rank_; k++) {
    uint64_t step = (uint64_t)step_at(offset, k) << shift;
    r->step_[k] = (int64_t)((uint64_t)step_at(p, k) + step);
  }
  start(r, TKI_SYM_AFFINE, sizeof(uint64_t), block->rank_, block->shape_);
  return true;
}

/* ---- shapes of results --------------------------------------------------- */

/* Copies what describes the lanes along one axis. */
static void take_axis(tki_sym *r, int k, const tki_sym *a, int from) {
  if (r->kind_ == TKI_SYM_AFFINE) {
    r->step_[k] = a->step_[from];
  } else {
    r->lo_[k] = a->lo_[from];
    r->hi_[k] = a->hi_[from];
  }
}

/* Axes of one lane come and go; other axes keep their order. */
bool tki_sym_reshape(tki_sym *r, const tki_sym *a, const tk_type *to) {
  tki_sym x;
  if (!start_shape(&x, to, (tki_sym_kind)a->kind_, a->size_)) return false;
  make_equal(&x, a->base_);
  for (int k = 0, from = 0; k < x.rank_ && !tki_sym_one(a); k++) {
    if (x.shape_[k] == 1) {
      if (x.kind_ == TKI_SYM_BOX) x.hi_[k] = 1;
      continue;
    }
    while (from < a->rank_ && a->shape_[from] == 1) from++;
    if (from == a->rank_ || a->shape_[from] != x.shape_[k]) return false;
    take_axis(&x, k, a, from++);
  }
  tki_sym_copy(r, &x);
  return true;
}

/* The step along an axis of one lane is 0, which it stays. */
bool tki_sym_broadcast(tki_sym *r, const tki_sym *a, const tk_type *to) {
  tki_sym x;
  if (to->rank != a->rank_) return false;
  if (!start_shape(&x, to, (tki_sym_kind)a->kind_, a->size_)) return false;
  x.base_ = a->base_;
  if (x.kind_ == TKI_SYM_AFFINE) {
    tki_sym_copy_steps(&x, a);
  } else {
    fill_box(&x, !is_empty(a));
    for (int k = 0; k < x.rank_ && !a->base_; k++)
      if (x.shape_[k] == a->shape_[k]) take_axis(&x, k, a, k);
    x.base_ = a->base_;
  }
  tki_sym_copy(r, &x);
  return true;
}

void tki_sym_permute(tki_sym *r, const tki_sym *a, const int64_t *axes) {
  tki_sym x = *a;
  for (int k = 0; k < x.rank_; k++) {
    x.shape_[k] = a->shape_[axes[k]];
    take_axis(&x, k, a, (int)axes[k]);
  }
  *r = x;
}
