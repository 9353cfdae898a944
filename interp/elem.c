/* elem.c - lane-by-lane instructions.
 *
 * Each picks its lane loop when the program is bound; at run time it finds
 * the operands' lanes, a place for the result (an operand's own buffer when
 * that dies here) and runs the loop.
 */
#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "interp/bind.h"
#include "interp/interp.h"
#include "interp/kernels.h"
#include "interp/lanes.h"
#include "ir/libdevice.h"

/* Operands that the result may take the place of. */
enum { FIRST = 1 << 0, SECOND = 1 << 1, THIRD = 1 << 2 };

/* Lanes that are computed before signals are looked for: of arithmetic, and of
 * functions, some of which take microseconds. */
enum { SOME_LANES = 1 << 16, FEW_LANES = 1 << 10 };

static void run_unary(tki *t, const tki_op *op, void *vd, const void *va) {
  const tk_inst *in = op->in;
  tki_unary_fn fn = (tki_unary_fn)op->kernel;
  size_t left = (size_t)in->n;
  char *d = vd;
  const char *a = va;
  for (; TK_UNLIKELY(left > SOME_LANES); left -= SOME_LANES) {
    fn(d, a, SOME_LANES);
    d += SOME_LANES * tk_lane_size(&in->type);
    a += SOME_LANES * tk_lane_size(&in->from);
    tki_poll(t);
  }
  fn(d, a, left);
}

/* Two operands for a binary kernel. */
typedef struct operands {
  const void *a, *b;
  int mode;
} operands;

static operands operands_of(const tki_val *a, const tki_val *b) {
  operands x = {tki_one_lane(a), tki_one_lane(b), 0};
  if (!x.a != !x.b) x.mode = x.b ? 1 : 2;
  if (!x.a || !x.mode) x.a = tki_lanes(a);
  if (!x.b || !x.mode) x.b = tki_lanes(b);
  return x;
}

static void run_binary(tki *t, const tki_op *op, void *vd, operands x) {
  const tk_inst *in = op->in;
  tki_binary_fn fn = (tki_binary_fn)op->kernel;
  size_t left = (size_t)in->n;
  char *d = vd;
  const char *a = x.a, *b = x.b;
  for (; TK_UNLIKELY(left > SOME_LANES); left -= SOME_LANES) {
    size_t step = SOME_LANES * tk_lane_size(&in->from);
    fn(d, a, b, SOME_LANES, x.mode);
    d += SOME_LANES * tk_lane_size(&in->type);
    if (x.mode != 2) a += step;
    if (x.mode != 1) b += step;
    tki_poll(t);
  }
  fn(d, a, b, left, x.mode);
}

/* Two operands whose lanes are not needed, since both are symbolic: a symbolic
 * block, and another one or a scalar. */
typedef struct symbols {
  const tki_sym *a, *b;
  tki_sym scalar;
} symbols;

static bool find_symbols(symbols *x, const tki_val *a, const tki_val *b) {
  x->a = tki_symbol(a);
  x->b = tki_symbol(b);
  const tki_sym *block = x->a ? x->a : x->b;
  const tki_val *other = x->a ? b : a;
  if (!block || !tki_is_uniform(other)) return x->a && x->b;
  uint64_t bits = tki_scalar_bits(other);
  if (tki_sym_kind_of(block) == TKI_SYM_BOX)
    tki_sym_alike(&x->scalar, block, bits);
  else
    tki_sym_number(&x->scalar, tki_sym_lane_size(block), bits);
  *(x->a ? &x->b : &x->a) = &x->scalar;
  return true;
}

void tki_run_CONST(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *slot = frame + in->res[0];
  tki_set(t, slot, tki_make_scalar(tk_const_bits(in)));
}

void tki_run_UNDEF(tki *t, const tki_op *op, tki_val *frame) {
  const tk_type *type = &op->in->type;
  size_t n = (size_t)tk_numel(type);
  tki_set(t, frame + op->in->res[0],
          type->rank ? tki_block_zero(t, n, tk_lane_size(type))
                     : tki_make_scalar(0));
}

void tki_run_PID(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  uint32_t pid = (uint32_t)t->pid[tk_program_id_axis(in)];
  tki_set(t, frame + in->res[0], tki_make_scalar(pid));
}

void tki_run_NPROG(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  uint32_t size = (uint32_t)t->grid[tk_num_programs_axis(in)];
  tki_set(t, frame + in->res[0], tki_make_scalar(size));
}

void tki_run_CLOCK(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *slot = frame + in->res[0];
  tki_set(t, slot, tki_make_scalar(t->ops));
}

void tki_run_ARANGE(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_sym s;
  tki_sym_range(&s, &in->type, tk_arange_start(in));
  tki_set(t, &frame[in->res[0]], tki_symbolic(t, &s));
}

/* The rows of an operand of two axes. */
typedef struct rows {
  const char *at;
  size_t step; /* bytes from one row to the next */
  bool one;    /* one lane stands for a row */
} rows;

static rows rows_of(const tki_val *v, const tk_inst *in) {
  size_t size = tk_lane_size(&in->from);
  tki_part part = tki_part_of(v);
  const void *one = tki_one_lane(v);
  if (one) return (rows){one, 0, true};
  if (part == TKI_ROW) return (rows){tki_lanes(v), 0, false};
  bool column = part == TKI_COLUMN;
  size_t lanes = column ? 1 : (size_t)in->type.shape[1];
  return (rows){tki_lanes(v), lanes * size, column};
}

/* For operands of which one is a column or a row that stands for a block (see
 * fuse in bind.c). */
static void binary_by_rows(tki *t, const tki_op *op, tki_val *frame,
                           unsigned spare) {
  const tk_inst *in = op->in;
  tki_binary_fn fn = (tki_binary_fn)op->kernel;
  size_t n = (size_t)in->type.shape[0], cols = (size_t)in->type.shape[1];
  size_t width = tk_lane_size(&in->type);
  rows a = rows_of(&frame[in->args[0]], in);
  rows b = rows_of(&frame[in->args[1]], in);
  int mode = b.one ? 1 : a.one ? 2 : 0;
  tki_val v = tki_result(t, in, frame, spare);
  char *to = tki_writable(&v);
  for (size_t r = 0; r < n; r++, a.at += a.step, b.at += b.step) {
    if (a.one && b.one) { /* one lane, which is then repeated */
      fn(to, a.at, b.at, 1, 0);
      tki_fill(to + width, to, width, cols - 1);
    } else {
      fn(to, a.at, b.at, cols, mode);
    }
    to += cols * width;
  }
  tki_set(t, &frame[in->res[0]], v);
}

/* Makes the symbolic result of an operation on a and b, if it has one. */
static bool symbolic_two(tki_sym *r, const tki_op *op, const tki_val *a,
                         const tki_val *b) {
  const tk_inst *in = op->in;
  symbols x;
  if (!in->type.rank || !find_symbols(&x, a, b)) return false;
  const void *one_a = tki_sym_one(x.a), *one_b = tki_sym_one(x.b);
  if (one_a && one_b) {
    uint64_t bits = 0;
    ((tki_binary_fn)op->kernel)(&bits, one_a, one_b, 1, 0);
    return tki_sym_splat(r, &in->type, bits);
  }
  tk_dtype d = in->from.ptr ? TK_UINT64 : (tk_dtype)in->from.elem;
  return in->op == TK_I_COMPARE
             ? tki_sym_compare(r, tk_compare_op(in), d, x.a, x.b)
             : tki_sym_binary(r, tk_binary_op(in), d, x.a, x.b);
}

/* Two scalars. */
static void run_scalars(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  uint64_t a = tki_scalar_bits(&frame[in->args[0]]);
  uint64_t b = tki_scalar_bits(&frame[in->args[1]]), bits = 0;
  ((tki_binary_fn)op->kernel)(&bits, &a, &b, 1, 0);
  tki_set(t, &frame[in->res[0]], tki_make_scalar(bits));
}

static inline void run_two(tki *t, const tki_op *op, tki_val *frame,
                           unsigned spare) {
  const tk_inst *in = op->in;
  const tki_val *a = frame + in->args[0], *b = frame + in->args[1];
  tki_sym s;
  if (symbolic_two(&s, op, a, b)) {
    tki_set(t, &frame[in->res[0]], tki_symbolic(t, &s));
    return;
  }
  if (tki_part_of(a) || tki_part_of(b)) {
    binary_by_rows(t, op, frame, spare);
    return;
  }
  operands x = operands_of(a, b);
  tki_val v = tki_result(t, in, frame, spare);
  run_binary(t, op, tki_writable(&v), x);
  tki_set(t, &frame[in->res[0]], v);
}

void tki_run_BINARY(tki *t, const tki_op *op, tki_val *frame) {
  run_two(t, op, frame, FIRST | SECOND);
}

/* Comparisons make one-byte lanes, which never take the place of wider ones:
 * the loop would overtake itself. */
void tki_run_COMPARE(tki *t, const tki_op *op, tki_val *frame) {
  run_two(t, op, frame, 0);
}

/* Makes the symbolic result of a conversion or function of a symbolic block, if
 * it has one. */
static bool symbolic_one(tki_sym *r, const tki_op *op, const tki_sym *a) {
  const tk_inst *in = op->in;
  tk_dtype d = (tk_dtype)in->from.elem;
  const void *one = tki_sym_one(a);
  if (one) {
    uint64_t bits = 0;
    ((tki_unary_fn)op->kernel)(&bits, one, 1);
    return tki_sym_splat(r, &in->type, bits);
  }
  return in->op == TK_I_CAST ? tki_sym_cast(r, d, (tk_dtype)in->type.elem, a)
                             : tki_sym_unary(r, tk_unary_op(in), d, a);
}

/* Lanes of the same size may take the operand's place. */
void tki_run_CAST(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  bool same = tk_lane_size(&in->from) == tk_lane_size(&in->type);
  const tki_sym *a = tki_symbol(&frame[in->args[0]]);
  tki_sym s;
  if (a && symbolic_one(&s, op, a)) {
    tki_set(t, &frame[in->res[0]], tki_symbolic(t, &s));
    return;
  }
  const void *x = tki_lanes(&frame[in->args[0]]);
  tki_val v = tki_result(t, in, frame, same ? FIRST : 0);
  run_unary(t, op, tki_writable(&v), x);
  tki_set(t, &frame[in->res[0]], v);
}

void tki_run_UNARY(tki *t, const tki_op *op, tki_val *frame) {
  tki_run_CAST(t, op, frame);
}

/* Takes one step toward zero if rounding to nearest went the other way.
 * Infinity stays infinity in fp8e5. */
static void toward_zero(tk_dtype d, char *lane, double exact) {
  uint64_t bits = 0;
  size_t size = tk_dtypes[d].size;
  double r = tk_lane_double(d, lane);
  if (d == TK_FP8E5 && isinf(exact)) *lane = exact < 0 ? '\xfc' : '\x7c';
  if (!(fabs(r) > fabs(exact)) || isnan(exact)) return;
  memcpy(&bits, lane, size);
  bits--; /* sign and magnitude: the next one nearer to zero */
  memcpy(lane, &bits, size);
}

/* Conversions without a lane loop of their own go through double, exactly. */
static void run_cast_any(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tk_dtype from = (tk_dtype)in->from.elem, to = (tk_dtype)in->type.elem;
  tki_val v = tki_result(t, in, frame, 0);
  const char *s = tki_lanes(a);
  char *d = tki_writable(&v);
  size_t ss = tk_dtypes[from].size, ds = tk_dtypes[to].size;
  for (int64_t i = 0; i < in->n; i++, s += ss, d += ds) {
    if (i % FEW_LANES == 0) tki_poll(t);
    double x = tk_lane_to_round(from, s);
    tk_lane_set_double(to, d, x);
    if (tk_cast_rounding(in) == TK_ROUND_ZERO && tk_is_float(to))
      toward_zero(to, d, x);
  }
  tki_set(t, &frame[in->res[0]], v);
}

/* Whether fp32 holds every lane of `from` that is not beyond all of `to`, so
 * that a conversion by way of it rounds once. */
static bool goes_by_f32(tk_dtype from, tk_dtype to) {
  bool narrow = tk_is_float(to) && tk_dtypes[to].size <= 2;
  if (tk_is_float(from)) return narrow && tk_dtypes[from].size <= 2;
  return narrow && (to != TK_BF16 || tk_dtypes[from].size <= 2);
}

static void run_cast_by_f32(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tk_dtype from = (tk_dtype)in->from.elem, to = (tk_dtype)in->type.elem;
  tki_unary_fn widen = tki_cast_kernel(from, TK_FP32, false);
  size_t ss = tk_dtypes[from].size, ds = tk_dtypes[to].size;
  const char *s = tki_lanes(&frame[in->args[0]]);
  tki_val v = tki_result(t, in, frame, 0);
  char *d = tki_writable(&v);
  float row[TKI_BATCH];
  for (size_t left = (size_t)in->n, n; left; left -= n) {
    n = left < TKI_BATCH ? left : TKI_BATCH;
    tki_poll(t);
    widen(row, s, n);
    tki_narrow(to, d, row, n);
    s += n * ss;
    d += n * ds;
  }
  tki_set(t, &frame[in->res[0]], v);
}

/* Casts that change no bits: between pointers and 64-bit integers. */
static void run_pointer_cast(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tki_val v = tki_share(a);
  if (!in->from.ptr || !in->type.ptr) v.region = TKI_ANY;
  tki_set(t, frame + in->res[0], v);
}

static void run_not_null(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tki_val v = tki_result(t, in, frame, 0);
  const uint64_t *p = tki_lanes(a);
  uint8_t *d = tki_writable(&v);
  for (int64_t i = 0; i < in->n; i++) d[i] = p[i] != 0;
  tki_set(t, &frame[in->res[0]], v);
}

/* ---- selection --------------------------------------------------------- */

#define SELECT_LOOP(T)                                                         \
  TKI_CLONES static void select_##T(T *d, const uint8_t *c, const T *x,        \
                                    const T *y, size_t n, int mode) {          \
    T x0 = *x, y0 = *y;                                                        \
    if (mode == 0)                                                             \
      for (size_t i = 0; i < n; i++) d[i] = c[i] ? x[i] : y[i];                \
    else if (mode == 1)                                                        \
      for (size_t i = 0; i < n; i++) d[i] = c[i] ? x[i] : y0;                  \
    else if (mode == 2)                                                        \
      for (size_t i = 0; i < n; i++) d[i] = c[i] ? x0 : y[i];                  \
    else                                                                       \
      for (size_t i = 0; i < n; i++) d[i] = c[i] ? x0 : y0;                    \
  }
SELECT_LOOP(uint8_t)
SELECT_LOOP(uint16_t)
SELECT_LOOP(uint32_t)
SELECT_LOOP(uint64_t)

static void select_lanes(size_t size, void *d, const uint8_t *c, const void *x,
                         const void *y, size_t n, int mode) {
  switch (size) {
  case 1: select_uint8_t(d, c, x, y, n, mode); break;
  case 2: select_uint16_t(d, c, x, y, n, mode); break;
  case 4: select_uint32_t(d, c, x, y, n, mode); break;
  default: select_uint64_t(d, c, x, y, n, mode);
  }
}

/* The whole of an operand, as a block if the result is one. */
static tki_val select_all(tki *t, const tk_inst *in, const tki_val *x) {
  if (!tki_is_uniform(x) || !in->type.rank) return tki_share(x);
  return tki_splat(t, x, &in->type);
}

void tki_run_SELECT(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *c = frame + in->args[0];
  tki_val *x = frame + in->args[1], *y = frame + in->args[2];
  const uint8_t *one = tki_one_lane(c);
  if (one) { /* one condition for all lanes */
    tki_set(t, frame + in->res[0], select_all(t, in, *one ? x : y));
    return;
  }
  const void *p = tki_one_lane(x), *q = tki_one_lane(y);
  int mode = (p ? 2 : 0) + (q ? 1 : 0);
  if (!p) p = tki_lanes(x);
  if (!q) q = tki_lanes(y);
  tki_val v = tki_result(t, in, frame, SECOND | THIRD);
  select_lanes(tk_lane_size(&in->type), tki_writable(&v), tki_lanes(c), p, q,
               (size_t)in->n, mode);
  v.region = x->region == y->region ? x->region : TKI_ANY;
  tki_set(t, &frame[in->res[0]], v);
}

void tki_run_FMA(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val v = tki_result(t, in, frame, 0);
  char *d = tki_writable(&v);
  const char *p[3];
  tk_dtype e = (tk_dtype)in->type.elem;
  size_t size = tk_lane_size(&in->type);
  for (int k = 0; k < 3; k++) p[k] = tki_lanes(&frame[in->args[k]]);
  for (int64_t i = 0; i < in->n; i++) {
    size_t at = (size_t)i * size;
    if (i % FEW_LANES == 0) tki_poll(t);
    if (e == TK_FP32) {
      const float *x = (const void *)(p[0] + at);
      const float *y = (const void *)(p[1] + at);
      const float *z = (const void *)(p[2] + at);
      *(float *)(void *)(d + at) = fmaf(*x, *y, *z);
      continue;
    }
    double r = fma(tk_lane_double(e, p[0] + at), tk_lane_double(e, p[1] + at),
                   tk_lane_double(e, p[2] + at));
    tk_lane_set_double(e, d + at, r);
  }
  tki_set(t, &frame[in->res[0]], v);
}

void tki_run_EXTERN(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_extern_fn fn = (tki_extern_fn)op->kernel;
  const void *args[TK_EXTERN_ARGS];
  size_t size[TK_EXTERN_ARGS];
  bool same = tk_lane_size(&in->from) == tk_lane_size(&in->type);
  for (int i = 0; i < in->nargs; i++) {
    args[i] = tki_lanes(&frame[in->args[i]]);
    size[i] = tk_lane_size(&t->frame->func->slots[in->args[i]].type);
  }
  tki_val v = tki_result(t, in, frame, same ? FIRST : 0);
  char *d = tki_writable(&v);
  for (size_t left = (size_t)in->n, n; left; left -= n) {
    n = left < FEW_LANES ? left : FEW_LANES;
    tki_poll(t);
    fn(d, args, n);
    d += n * tk_lane_size(&in->type);
    for (int i = 0; i < in->nargs; i++)
      args[i] = (const char *)args[i] + n * size[i];
  }
  tki_set(t, &frame[in->res[0]], v);
}

/* ---- addresses --------------------------------------------------------- */

/* Lane sizes are powers of two: offsets are shifted. */
#define ADDPTR_LOOP(T)                                                         \
  TKI_CLONES static void addptr_##T(uint64_t *d, const void *vp,               \
                                    const void *vo, int shift, size_t n,       \
                                    int mode) {                                \
    const uint64_t *p = vp;                                                    \
    const T *o = vo;                                                           \
    uint64_t p0 = *p, o0 = (uint64_t)(int64_t)*o << shift;                     \
    if (mode == 0)                                                             \
      for (size_t i = 0; i < n; i++)                                           \
        d[i] = p[i] + ((uint64_t)(int64_t)o[i] << shift);                      \
    else if (mode == 1)                                                        \
      for (size_t i = 0; i < n; i++) d[i] = p[i] + o0;                         \
    else                                                                       \
      for (size_t i = 0; i < n; i++)                                           \
        d[i] = p0 + ((uint64_t)(int64_t)o[i] << shift);                        \
  }
ADDPTR_LOOP(int32_t)
ADDPTR_LOOP(int64_t)

static int addptr_shift(const tk_inst *in) {
  tk_type pointee = tk_pointee(in->type);
  return __builtin_ctzll(tk_lane_size(&pointee));
}

/* Makes the symbolic sum of a pointer and an offset of type d, at least one of
 * which is a symbolic block. */
static bool symbolic_addptr(tki_sym *r, const tk_inst *in, const tki_val *p,
                            const tki_val *o, tk_dtype d) {
  const tki_sym *x = tki_symbol(p), *y = tki_symbol(o);
  tki_sym one;
  if (x && tki_is_uniform(o)) {
    tki_sym_number(&one, d == TK_INT64 ? 8 : 4, tki_scalar_bits(o));
    y = &one;
  } else if (y && tki_is_uniform(p)) {
    tki_sym_number(&one, sizeof(uint64_t), tki_scalar_bits(p));
    x = &one;
  }
  return x && y && tki_sym_addptr(r, x, y, d, addptr_shift(in));
}

/* Moves a block of pointers that dies here as a whole, as loops do with theirs
 * in each trip. */
static bool move_pointers(tki *t, const tk_inst *in, tki_val *frame,
                          tk_dtype d) {
  const tki_val *o = frame + in->args[1];
  if (!in->type.rank || !tki_is_uniform(o)) return false;
  uint64_t bits = tki_scalar_bits(o);
  uint64_t by = d == TK_INT64 ? bits : (uint64_t)(int32_t)bits;
  tki_sym *s = tki_result_symbol(t, in, frame, 0);
  if (s) tki_sym_move(s, by << addptr_shift(in));
  return s != NULL;
}

/* The result may take the place of offsets that are as wide as pointers. */
static inline void run_addptr(tki *t, const tk_inst *in, tki_val *frame,
                              tk_dtype d) {
  tki_val *p = frame + in->args[0], *o = frame + in->args[1], v;
  int32_t region = p->region;
  tki_sym s;
  if (move_pointers(t, in, frame, d)) return;
  if (in->type.rank && symbolic_addptr(&s, in, p, o, d)) {
    v = tki_symbolic(t, &s);
  } else {
    operands x = operands_of(p, o);
    bool wide = d == TK_INT64;
    v = tki_result(t, in, frame, wide ? FIRST | SECOND : FIRST);
    (wide ? addptr_int64_t : addptr_int32_t)(
        tki_writable(&v), x.a, x.b, addptr_shift(in), (size_t)in->n, x.mode);
  }
  v.region = region;
  tki_set(t, &frame[in->res[0]], v);
}

void tki_run_ADDPTR(tki *t, const tki_op *op, tki_val *frame) {
  run_addptr(t, op->in, frame, TK_INT32);
}

static void run_addptr64(tki *t, const tki_op *op, tki_val *frame) {
  run_addptr(t, op->in, frame, TK_INT64);
}

/* ---- binding: which function, and with which loop ------------------------ */

void tki_bind_ADDPTR(tki_op *op, const tk_func *f) {
  const tk_type *o = &f->slots[op->in->args[tk_addptr_offset(op->in)]].type;
  if (tk_lane_size(o) == 8) op->run = run_addptr64;
}

void tki_bind_CAST(tki_op *op, const tk_func *f) {
  const tk_inst *in = op->in;
  tk_dtype to = (tk_dtype)in->type.elem, from = (tk_dtype)in->from.elem;
  (void)f;
  if (in->from.ptr && !in->type.ptr && to == TK_INT1) {
    op->run = run_not_null;
  } else if (in->from.ptr || in->type.ptr) {
    op->run = run_pointer_cast;
  } else {
    bool down = tk_cast_rounding(in) == TK_ROUND_ZERO;
    op->kernel = (tki_kernel)tki_cast_kernel(from, to, down);
    if (!op->kernel)
      op->run = !down && goes_by_f32(from, to) ? run_cast_by_f32 : run_cast_any;
  }
}

void tki_bind_UNARY(tki_op *op, const tk_func *f) {
  const tk_inst *in = op->in;
  (void)f;
  op->kernel =
      (tki_kernel)tki_unary_kernel(tk_unary_op(in), (tk_dtype)in->from.elem);
}

void tki_bind_BINARY(tki_op *op, const tk_func *f) {
  const tk_inst *in = op->in;
  (void)f;
  op->kernel =
      (tki_kernel)tki_binary_kernel(tk_binary_op(in), (tk_dtype)in->from.elem);
  if (!in->type.rank) op->run = run_scalars;
}

void tki_bind_COMPARE(tki_op *op, const tk_func *f) {
  const tk_inst *in = op->in;
  tk_dtype d = in->from.ptr ? TK_UINT64 : (tk_dtype)in->from.elem;
  (void)f;
  op->kernel = (tki_kernel)tki_compare_kernel(tk_compare_op(in), d);
  if (!in->type.rank) op->run = run_scalars;
}

void tki_bind_EXTERN(tki_op *op, const tk_func *f) {
  const tk_inst *in = op->in;
  (void)f;
  op->kernel = (tki_kernel)tki_extern_kernel(tk_extern_function(in),
                                             (size_t)tk_extern_overload(in));
}
