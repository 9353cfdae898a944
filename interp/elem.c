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
#include "ir/libdevice.h"

/* Puts v into the result slot; when v took over operand k's buffer, that
 * slot no longer holds it. */
static void put(tki *t, const tk_inst *in, tki_val *frame, int k, tki_val v) {
  if (k >= 0 && v.buf && frame[in->args[k]].buf == v.buf)
    frame[in->args[k]].buf = NULL;
  tki_set(t, &frame[in->res[0]], v);
}

static int operand_mode(const tki_val *a, const tki_val *b) {
  return a->buf ? (b->buf ? 0 : 1) : (b->buf ? 2 : 0);
}

void tki_run_CONST(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *slot = frame + in->res[0];
  tki_set(t, slot, (tki_val){.u = tk_const_bits(in), .region = TKI_ANY});
}

void tki_run_PID(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  uint32_t pid = (uint32_t)t->pid[tk_program_id_axis(in)];
  tki_set(t, frame + in->res[0], (tki_val){.u = pid, .region = TKI_ANY});
}

void tki_run_NPROG(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  uint32_t size = (uint32_t)t->grid[tk_num_programs_axis(in)];
  tki_set(t, frame + in->res[0], (tki_val){.u = size, .region = TKI_ANY});
}

void tki_run_CLOCK(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *slot = frame + in->res[0];
  tki_set(t, slot, (tki_val){.u = t->ops, .region = TKI_ANY});
}

TKI_CLONES static void iota(int32_t *d, int32_t from, size_t n) {
  for (size_t i = 0; i < n; i++) d[i] = from + (int32_t)i;
}

void tki_run_ARANGE(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val v = tki_result(t, in, frame, -1);
  iota(tki_data(&v), (int32_t)tk_arange_start(in), (size_t)in->n);
  put(t, in, frame, -1, v);
}

/* A larger operand is the better buffer; results may not outgrow it. */
static int reusable(const tki_val *a, const tki_val *b) {
  return a->buf ? 0 : b->buf ? 1 : -1;
}

/* One lane repeated to a block. */
static void fill(void *d, const void *x, size_t size, size_t n) {
  if (size == 1)
    memset(d, *(const uint8_t *)x, n);
  else
    for (size_t i = 0; i < n; i++) memcpy((char *)d + i * size, x, size);
}

/* Row by row, where an operand is a column or a row that stands for a block
 * (see fuse in bind.c).  width: bytes of a result lane. */
static void by_rows(const tki_op *op, char *d, size_t width, tki_val *a,
                    tki_val *b) {
  const tk_inst *in = op->in;
  tki_binary_fn fn = (tki_binary_fn)op->kernel;
  size_t rows = (size_t)in->type.shape[0], cols = (size_t)in->type.shape[1];
  size_t size = tk_lane_size(&in->from);
  const size_t step[3] = {cols * size, size, 0}; /* dense, column, row */
  size_t sa = a->buf ? step[a->lazy] : 0, sb = b->buf ? step[b->lazy] : 0;
  bool one_a = !a->buf || a->lazy == 1, one_b = !b->buf || b->lazy == 1;
  const char *pa = tki_data(a), *pb = tki_data(b);
  int mode = one_b ? 1 : one_a ? 2 : 0;
  for (size_t r = 0; r < rows; r++, pa += sa, pb += sb) {
    char *to = d + r * cols * width;
    if (one_a && one_b) { /* one lane, which is then repeated */
      fn(to, pa, pb, 1, 0);
      fill(to + width, to, width, cols - 1);
    } else {
      fn(to, pa, pb, cols, mode);
    }
  }
}

void tki_run_BINARY(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0], *b = frame + in->args[1];
  tki_binary_fn fn = (tki_binary_fn)op->kernel;
  int k = reusable(a, b);
  if (a->lazy | b->lazy)
    k = !a->lazy && a->buf ? 0 : !b->lazy && b->buf ? 1 : -1;
  tki_val v = tki_result(t, in, frame, k);
  if (a->lazy | b->lazy) {
    by_rows(op, tki_data(&v), tk_lane_size(&in->type), a, b);
    put(t, in, frame, k, v);
    return;
  }
  if (k == 0 && v.buf != a->buf && b->buf) { /* a lives on: try b */
    tki_release(t, &v);
    k = 1;
    v = tki_result(t, in, frame, k);
  }
  fn(tki_data(&v), tki_data(a), tki_data(b), (size_t)in->n, operand_mode(a, b));
  put(t, in, frame, k, v);
}

/* Comparisons make one-byte lanes, which never reuse wider ones in place:
 * the loop would overtake itself. */
void tki_run_COMPARE(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0], *b = frame + in->args[1];
  tki_binary_fn fn = (tki_binary_fn)op->kernel;
  tki_val v = tki_result(t, in, frame, -1);
  if (a->lazy | b->lazy)
    by_rows(op, tki_data(&v), 1, a, b);
  else
    fn(tki_data(&v), tki_data(a), tki_data(b), (size_t)in->n,
       operand_mode(a, b));
  put(t, in, frame, -1, v);
}

void tki_run_UNARY(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tki_unary_fn fn = (tki_unary_fn)op->kernel;
  tki_val v = tki_result(t, in, frame, 0);
  fn(tki_data(&v), tki_data(a), (size_t)in->n);
  put(t, in, frame, 0, v);
}

void tki_run_CAST(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tki_unary_fn fn = (tki_unary_fn)op->kernel;
  bool same = tk_lane_size(&in->from) == tk_lane_size(&in->type);
  tki_val v = tki_result(t, in, frame, same ? 0 : -1);
  fn(tki_data(&v), tki_data(a), (size_t)in->n);
  put(t, in, frame, same ? 0 : -1, v);
}

/* One step toward zero when rounding to nearest went away from it.  Rounded
 * so, infinity stays infinity in fp8e5. */
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

/* Conversions without a lane loop of their own: through double, exactly. */
static void run_cast_any(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tk_dtype from = (tk_dtype)in->from.elem, to = (tk_dtype)in->type.elem;
  tki_val v = tki_result(t, in, frame, -1);
  const char *s = tki_data(a);
  char *d = tki_data(&v);
  size_t ss = tk_dtypes[from].size, ds = tk_dtypes[to].size;
  for (int64_t i = 0; i < in->n; i++, s += ss, d += ds) {
    double x = tk_lane_to_round(from, s);
    tk_lane_set_double(to, d, x);
    if (tk_cast_rounding(in) == TK_ROUND_ZERO && tk_is_float(to))
      toward_zero(to, d, x);
  }
  put(t, in, frame, -1, v);
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
  tki_val v = tki_result(t, in, frame, -1);
  const uint64_t *p = tki_data(a);
  uint8_t *d = tki_data(&v);
  for (int64_t i = 0; i < in->n; i++) d[i] = p[i] != 0;
  put(t, in, frame, -1, v);
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

static tki_val pick(tki *t, const tk_inst *in, const tki_val *x) {
  if (x->buf || !in->type.rank) return tki_share(x);
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  fill(tki_data(&v), &x->u, tk_lane_size(&in->type), (size_t)in->n);
  v.region = x->region;
  return v;
}

void tki_run_SELECT(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *c = frame + in->args[0];
  tki_val *x = frame + in->args[1], *y = frame + in->args[2];
  if (!c->buf) { /* one condition for all lanes */
    tki_set(t, frame + in->res[0], pick(t, in, c->b ? x : y));
    return;
  }
  int k = x->buf ? 1 : y->buf ? 2 : -1;
  tki_val v = tki_result(t, in, frame, k);
  int mode = (x->buf ? 0 : 2) + (y->buf ? 0 : 1);
  select_lanes(tk_lane_size(&in->type), tki_data(&v), tki_data(c), tki_data(x),
               tki_data(y), (size_t)in->n, mode);
  v.region = x->region == y->region ? x->region : TKI_ANY;
  put(t, in, frame, k, v);
}

void tki_run_FMA(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val v = tki_result(t, in, frame, -1);
  char *d = tki_data(&v), *p[3];
  tk_dtype e = (tk_dtype)in->type.elem;
  size_t size = tk_lane_size(&in->type);
  for (int k = 0; k < 3; k++) p[k] = tki_data(&frame[in->args[k]]);
  for (int64_t i = 0; i < in->n; i++) {
    size_t at = (size_t)i * size;
    if (e == TK_FP32) {
      *(float *)(d + at) = fmaf(*(float *)(p[0] + at), *(float *)(p[1] + at),
                                *(float *)(p[2] + at));
      continue;
    }
    double r = fma(tk_lane_double(e, p[0] + at), tk_lane_double(e, p[1] + at),
                   tk_lane_double(e, p[2] + at));
    tk_lane_set_double(e, d + at, r);
  }
  put(t, in, frame, -1, v);
}

void tki_run_EXTERN(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_extern_fn fn = (tki_extern_fn)op->kernel;
  void *args[TK_EXTERN_ARGS];
  int k = tk_lane_size(&in->from) == tk_lane_size(&in->type) ? 0 : -1;
  tki_val v = tki_result(t, in, frame, k);
  for (int i = 0; i < in->nargs; i++) args[i] = tki_data(&frame[in->args[i]]);
  fn(tki_data(&v), args, (size_t)in->n);
  put(t, in, frame, k, v);
}

/* ---- addresses --------------------------------------------------------- */

/* Lane sizes are powers of two: offsets are shifted. */
#define ADDPTR_LOOP(T)                                                         \
  TKI_CLONES static void addptr_##T(uint64_t *d, const uint64_t *p,            \
                                    const T *o, int shift, size_t n,           \
                                    int mode) {                                \
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

static tki_val addptr_result(tki *t, const tk_inst *in, tki_val *frame, int k) {
  tki_val v = tki_result(t, in, frame, k);
  v.region = frame[in->args[0]].region;
  return v;
}

static int addptr_shift(const tk_inst *in) {
  tk_type pointee = tk_pointee(in->type);
  return __builtin_ctzll(tk_lane_size(&pointee));
}

void tki_run_ADDPTR(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *p = frame + in->args[0], *o = frame + in->args[1];
  int k = p->buf ? 0 : -1, mode = operand_mode(p, o);
  tki_val v = addptr_result(t, in, frame, k);
  addptr_int32_t(tki_data(&v), tki_data(p), tki_data(o), addptr_shift(in),
                 (size_t)in->n, mode);
  put(t, in, frame, k, v);
}

/* Offsets that are as wide as pointers can give their buffer. */
static void run_addptr64(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *p = frame + in->args[0], *o = frame + in->args[1];
  int k = reusable(p, o), mode = operand_mode(p, o);
  tki_val v = addptr_result(t, in, frame, k);
  addptr_int64_t(tki_data(&v), tki_data(p), tki_data(o), addptr_shift(in),
                 (size_t)in->n, mode);
  put(t, in, frame, k, v);
}

/* ---- which of them, and with which loop --------------------------------- */

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
    if (!op->kernel) op->run = run_cast_any;
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
}

void tki_bind_COMPARE(tki_op *op, const tk_func *f) {
  const tk_inst *in = op->in;
  tk_dtype d = in->from.ptr ? TK_UINT64 : (tk_dtype)in->from.elem;
  (void)f;
  op->kernel = (tki_kernel)tki_compare_kernel(tk_compare_op(in), d);
}

void tki_bind_EXTERN(tki_op *op, const tk_func *f) {
  const tk_inst *in = op->in;
  (void)f;
  op->kernel = (tki_kernel)tki_extern_kernel(tk_extern_function(in),
                                             (size_t)tk_extern_overload(in));
}
