/* move.c - instructions that move lanes without changing them.
 *
 * Blocks are walked as [outer, axis, inner] around the axis at hand, and
 * lanes are copied by their size alone, so one loop serves every type.
 */
#include <stdlib.h>
#include <string.h>

#include "interp/bind.h"
#include "interp/interp.h"
#include "interp/keep.h"
#include "interp/kernels.h"

static void set_moved(tki *t, const tk_inst *in, tki_val *frame, tki_val v) {
  tki_set(t, &frame[in->res[0]], v);
}

/* ---- copies and broadcasts --------------------------------------------- */

/* Of a symbolic block whose lanes nobody knows in the other shape, the lanes
 * are copied: what is known of them holds for the operand alone. */
static void share_reshaped(tki *t, const tk_inst *in, tki_val *frame,
                           const tki_sym *known) {
  const tki_val *a = frame + in->args[0];
  tki_sym s;
  tki_val v;
  if (tk_same_shape(&in->type, &in->from)) {
    v = tki_share(a);
  } else if (tki_sym_reshape(&s, known, &in->type)) {
    v = tki_symbolic(t, &s);
  } else {
    v = tki_val_new(t, &in->type, (size_t)in->n);
    memcpy(tki_writable(&v), tki_lanes(a), tki_sym_bytes(known));
  }
  v.region = a->region;
  set_moved(t, in, frame, v);
}

/* This also reshapes; between a scalar and a block of one lane, the lane is
 * copied. */
void tki_run_COPY(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  const tki_sym *known = in->type.rank ? tki_symbol(a) : NULL;
  if (known) {
    share_reshaped(t, in, frame, known);
    return;
  }
  if (tki_is_uniform(a) == !in->type.rank) {
    tki_set(t, &frame[in->res[0]], tki_share(a));
    return;
  }
  tki_val v = tki_val_new(t, &in->type, 1);
  v.region = a->region;
  memcpy(tki_writable(&v), tki_lanes(a), tk_lane_size(&in->type));
  set_moved(t, in, frame, v);
}

/* Goes axis by axis from the first, and copies rows where an axis repeats. */
static void repeat_axes(char *d, const char *s, const tk_type *to,
                        const tk_type *from, int axis, size_t size) {
  if (axis == to->rank) {
    memcpy(d, s, size);
    return;
  }
  size_t dstep = size, sstep = size;
  for (int i = axis + 1; i < to->rank; i++) {
    dstep *= (size_t)to->shape[i];
    sstep *= (size_t)from->shape[i];
  }
  size_t n = (size_t)to->shape[axis];
  bool repeats = from->shape[axis] == 1 && n > 1;
  if (dstep == sstep && !repeats) {
    memcpy(d, s, n * dstep);
  } else if (repeats && dstep == size) {
    tki_fill(d, s, size, n);
  } else {
    repeat_axes(d, s, to, from, axis + 1, size);
    for (size_t i = 1; i < n; i++)
      if (repeats)
        memcpy(d + i * dstep, d, dstep);
      else
        repeat_axes(d + i * dstep, s + i * sstep, to, from, axis + 1, size);
  }
}

void tki_run_BROADCAST(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  const tki_sym *known = tki_symbol(a);
  tki_sym s;
  if (known && tki_sym_broadcast(&s, known, &in->type)) {
    tki_val v = tki_symbolic(t, &s);
    v.region = a->region;
    set_moved(t, in, frame, v);
    return;
  }
  if (op->part && !t->wants_insts) { /* see fuse in bind.c */
    set_moved(t, in, frame, tki_share_as(a, op->part));
    return;
  }
  size_t size = tk_lane_size(&in->type);
  if (tki_is_uniform(a)) {
    set_moved(t, in, frame, tki_splat(t, a, &in->type));
    return;
  }
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  v.region = a->region;
  repeat_axes(tki_writable(&v), tki_lanes(a), &in->type, &in->from, 0, size);
  set_moved(t, in, frame, v);
}

void tki_run_HINT(tki *t, const tki_op *op, tki_val *frame) {
  tki_run_COPY(t, op, frame);
}

/* ---- permutation ------------------------------------------------------- */

#define TRANSPOSE(T)                                                           \
  static void transpose_##T(T *d, const T *s, size_t rows, size_t cols) {      \
    enum { TILE = 16 };                                                        \
    for (size_t r = 0; r < rows; r += TILE)                                    \
      for (size_t c = 0; c < cols; c += TILE) {                                \
        size_t re = r + TILE < rows ? r + TILE : rows;                         \
        size_t ce = c + TILE < cols ? c + TILE : cols;                         \
        for (size_t i = r; i < re; i++)                                        \
          for (size_t j = c; j < ce; j++) d[j * rows + i] = s[i * cols + j];   \
      }                                                                        \
  }
TRANSPOSE(uint8_t)
TRANSPOSE(uint16_t)
TRANSPOSE(uint32_t)
TRANSPOSE(uint64_t)

/* The same of fp32 and its like, eight rows and four columns at a time: row i
 * stands beside row i + 4, and both are turned alike. */
TKI_CLONES static void transpose_by_8(uint32_t *d, const uint32_t *s,
                                      size_t rows, size_t cols) {
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
  typedef uint32_t four __attribute__((vector_size(16)));
  typedef uint32_t eight __attribute__((vector_size(32)));
#define MIX __builtin_shufflevector
  for (size_t r = 0; r < rows; r += 8)
    for (size_t c = 0; c < cols; c += 4) {
      eight x[4], y[4];
      for (size_t i = 0; i < 4; i++) {
        four top, low;
        memcpy(&top, s + (r + i) * cols + c, 16);
        memcpy(&low, s + (r + 4 + i) * cols + c, 16);
        x[i] = MIX(top, low, 0, 1, 2, 3, 4, 5, 6, 7);
      }
      y[0] = MIX(x[0], x[1], 0, 8, 1, 9, 4, 12, 5, 13);
      y[1] = MIX(x[2], x[3], 0, 8, 1, 9, 4, 12, 5, 13);
      y[2] = MIX(x[0], x[1], 2, 10, 3, 11, 6, 14, 7, 15);
      y[3] = MIX(x[2], x[3], 2, 10, 3, 11, 6, 14, 7, 15);
      x[0] = MIX(y[0], y[1], 0, 1, 8, 9, 4, 5, 12, 13);
      x[1] = MIX(y[0], y[1], 2, 3, 10, 11, 6, 7, 14, 15);
      x[2] = MIX(y[2], y[3], 0, 1, 8, 9, 4, 5, 12, 13);
      x[3] = MIX(y[2], y[3], 2, 3, 10, 11, 6, 7, 14, 15);
      uint32_t *to = d + c * rows + r; /* four stores: no loop over x */
      memcpy(to, &x[0], 32);
      memcpy(to + rows, &x[1], 32);
      memcpy(to + 2 * rows, &x[2], 32);
      memcpy(to + 3 * rows, &x[3], 32);
    }
#undef MIX
#else
  transpose_uint32_t(d, s, rows, cols);
#endif
}

static void transpose(void *d, const void *s, size_t rows, size_t cols,
                      size_t size) {
  switch (size) {
  case 1: transpose_uint8_t(d, s, rows, cols); break;
  case 2: transpose_uint16_t(d, s, rows, cols); break;
  case 4:
    if (rows % 8 || cols % 4)
      transpose_uint32_t(d, s, rows, cols);
    else
      transpose_by_8(d, s, rows, cols);
    break;
  default: transpose_uint64_t(d, s, rows, cols);
  }
}

/* `of` are the steps in lanes of the operand's axes, `step` those that the axes
 * of the result make in the operand. */
static void permute_any(char *d, const char *s, const tk_inst *in) {
  size_t of[TK_MAX_RANK], step[TK_MAX_RANK], at[TK_MAX_RANK] = {0}, n = 1;
  size_t size = tk_lane_size(&in->type), from = 0;
  for (int i = in->from.rank; i-- > 0; n *= (size_t)in->from.shape[i])
    of[i] = n;
  for (int i = 0; i < in->type.rank; i++) step[i] = of[tk_permute_axes(in)[i]];
  for (int64_t i = 0; i < in->n; i++) {
    memcpy(d + (size_t)i * size, s + from * size, size);
    for (int k = in->type.rank - 1; k >= 0; k--) {
      from += step[k];
      if (++at[k] < (size_t)in->type.shape[k]) break;
      from -= step[k] * at[k];
      at[k] = 0;
    }
  }
}

void tki_run_PERMUTE(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0], v;
  const tki_sym *known = tki_symbol(a);
  tki_sym s;
  if (known) {
    tki_sym_permute(&s, known, tk_permute_axes(in));
    v = tki_symbolic(t, &s);
  } else {
    v = tki_val_new(t, &in->type, (size_t)in->n);
    if (in->type.rank == 2 && tk_permute_axes(in)[0] == 1)
      transpose(tki_writable(&v), tki_lanes(a), (size_t)in->from.shape[0],
                (size_t)in->from.shape[1], tk_lane_size(&in->type));
    else
      permute_any(tki_writable(&v), tki_lanes(a), in);
  }
  v.region = a->region;
  set_moved(t, in, frame, v);
}

/* ---- join, split, cat, flip, gather ------------------------------------ */

/* Two rows of n lanes one by one in turn, and back. */
#define TURNS(T)                                                               \
  TKI_CLONES static void join_##T(T *d, const T *x, const T *y, size_t n) {    \
    for (size_t i = 0; i < n; i++) {                                           \
      d[2 * i] = x[i];                                                         \
      d[2 * i + 1] = y[i];                                                     \
    }                                                                          \
  }                                                                            \
  TKI_CLONES static void split_##T(T *x, T *y, const T *s, size_t n) {         \
    for (size_t i = 0; i < n; i++) {                                           \
      x[i] = s[2 * i];                                                         \
      y[i] = s[2 * i + 1];                                                     \
    }                                                                          \
  }
TURNS(uint8_t)
TURNS(uint16_t)
TURNS(uint32_t)
TURNS(uint64_t)

void tki_run_JOIN(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0], *b = frame + in->args[1];
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  size_t n = (size_t)in->n / 2;
  void *d = tki_writable(&v);
  const void *x = tki_lanes(a), *y = tki_lanes(b);
  switch (tk_lane_size(&in->type)) {
  case 1: join_uint8_t(d, x, y, n); break;
  case 2: join_uint16_t(d, x, y, n); break;
  case 4: join_uint32_t(d, x, y, n); break;
  default: join_uint64_t(d, x, y, n);
  }
  v.region = a->region == b->region ? a->region : TKI_ANY;
  set_moved(t, in, frame, v);
}

void tki_run_SPLIT(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0], out[2];
  size_t n = (size_t)in->n;
  for (int k = 0; k < 2; k++) {
    out[k] = tki_val_new(t, &in->type, n);
    out[k].region = a->region;
  }
  void *x = tki_writable(&out[0]), *y = tki_writable(&out[1]);
  const void *s = tki_lanes(a);
  switch (tk_lane_size(&in->type)) {
  case 1: split_uint8_t(x, y, s, n); break;
  case 2: split_uint16_t(x, y, s, n); break;
  case 4: split_uint32_t(x, y, s, n); break;
  default: split_uint64_t(x, y, s, n);
  }
  for (int k = 0; k < 2; k++) tki_set(t, &frame[in->res[k]], out[k]);
}

void tki_run_CAT(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0], *b = frame + in->args[1];
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  tki_around r = tki_around_axis(&in->type, tk_inst_axis(in));
  size_t na = tk_inst_axis_lanes(in) * r.inner * r.size;
  size_t nb = r.n * r.inner * r.size - na;
  char *d = tki_writable(&v);
  const char *x = tki_lanes(a), *y = tki_lanes(b);
  for (size_t i = 0; i < r.outer; i++) {
    memcpy(d, x + i * na, na);
    memcpy(d + na, y + i * nb, nb);
    d += na + nb;
  }
  v.region = a->region == b->region ? a->region : TKI_ANY;
  set_moved(t, in, frame, v);
}

void tki_run_FLIP(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  tki_around r = tki_around_axis(&in->type, tk_inst_axis(in));
  size_t row = r.inner * r.size;
  char *d = tki_writable(&v);
  const char *s = tki_lanes(a);
  for (size_t o = 0; o < r.outer; o++)
    for (size_t i = 0; i < r.n; i++)
      memcpy(d + (o * r.n + i) * row, s + (o * r.n + r.n - 1 - i) * row, row);
  v.region = a->region;
  set_moved(t, in, frame, v);
}

/* Only expressions in a debugger have slices. */
void tki_run_SLICE(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  tki_around r = tki_around_axis(&in->type, tk_inst_axis(in));
  size_t n = tk_inst_axis_lanes(in);
  int64_t start = tk_slice_start(in), step = tk_slice_step(in);
  size_t row = r.inner * r.size;
  char *d = tki_writable(&v);
  const char *s = tki_lanes(a);
  for (size_t o = 0; o < r.outer; o++, s += (size_t)n * row)
    for (size_t i = 0; i < r.n; i++, d += row)
      memcpy(d, s + (size_t)(start + (int64_t)i * step) * row, row);
  v.region = a->region;
  set_moved(t, in, frame, v);
}

static void report_index(tki *t, int64_t index, size_t n, int64_t lane) {
  const tki_keeper *k = t->keeper;
  if (k && !k->count(k->ud, t, TK_D_BOUNDS, 1)) return;
  const char *text = tk_arena_printf(
      &t->launch->arena,
      "tl.gather: index %lld is outside of an axis of %zu lanes",
      (long long)index, n);
  tk_diag *d = k ? k->report(k->ud, t, TK_D_BOUNDS, text)
                 : tki_finding(t, TK_D_BOUNDS, "%s", text);
  if (d)
    tk_diag_note(t->env, d, NULL, (tk_span){0, 0}, "first bad lane: %lld",
                 (long long)lane);
}

void tki_run_GATHER(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0], *b = frame + in->args[1];
  const tk_func *f = t->frame->func;
  tk_dtype id = (tk_dtype)f->slots[in->args[1]].type.elem;
  size_t isize = tk_dtypes[id].size;
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  tki_around r = tki_around_axis(&in->type, tk_inst_axis(in));
  size_t n = tk_inst_axis_lanes(in);
  char *d = tki_writable(&v);
  const char *s = tki_lanes(a), *idx = tki_lanes(b);
  for (int64_t i = 0; i < in->n; i++) {
    int64_t at = tk_lane_int(id, idx + (size_t)i * isize);
    size_t inner = (size_t)i % r.inner, outer = (size_t)i / (r.inner * r.n);
    if (TK_UNLIKELY(at < 0 || (size_t)at >= n)) {
      report_index(t, at, n, i);
      if (!t->keeper) tki_stop(t);
      tki_poison_lane(&in->type, d + (size_t)i * r.size);
      continue;
    }
    size_t from = (outer * n + (size_t)at) * r.inner + inner;
    memcpy(d + (size_t)i * r.size, s + from * r.size, r.size);
  }
  v.region = a->region;
  set_moved(t, in, frame, v);
}

/* ---- sorting, counting ------------------------------------------------- */

/* Keys that compare as unsigned integers; NaN sorts above every number. */
static uint64_t sort_key(tk_dtype d, const void *p, bool down) {
  uint64_t k;
  if (tk_is_float(d)) {
    double x = tk_lane_double(d, p);
    memcpy(&k, &x, sizeof k);
    if (x != x) k = UINT64_MAX >> 1;
    k = k >> 63 ? ~k : k | (uint64_t)1 << 63;
  } else {
    k = (uint64_t)tk_lane_int(d, p);
    if (tk_is_signed(d)) k ^= (uint64_t)1 << 63;
  }
  return down ? ~k : k;
}

typedef struct keyed {
  uint64_t key;
  uint32_t at;
} keyed;

static int by_key(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

void tki_run_SORT(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tk_dtype e = (tk_dtype)in->type.elem;
  size_t n = tk_inst_axis_lanes(in), keep = (size_t)tk_sort_keep(in);
  size_t size = tk_lane_size(&in->type), rows = (size_t)in->n / keep;
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  keyed *k = tki_scratch_new(t, n * sizeof *k);
  char *d = tki_writable(&v);
  const char *s = tki_lanes(a);
  for (size_t r = 0; r < rows; r++, s += n * size) {
    for (size_t i = 0; i < n; i++)
      k[i] = (keyed){sort_key(e, s + i * size, tk_sort_descending(in)),
                     (uint32_t)i};
    qsort(k, n, sizeof *k, by_key);
    for (size_t i = 0; i < keep; i++, d += size)
      memcpy(d, s + k[i].at * size, size);
  }
  tki_scratch_free(t, k);
  set_moved(t, in, frame, v);
}

void tki_run_HISTOGRAM(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0];
  tk_dtype e = (tk_dtype)in->from.elem;
  int masked = tk_histogram_mask(in);
  const uint8_t *mask = masked < 0 ? NULL : tki_lanes(&frame[in->args[masked]]);
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  int32_t *d = tki_writable(&v);
  const char *s = tki_lanes(a);
  size_t n = (size_t)tk_numel(&in->from), size = tk_lane_size(&in->from);
  memset(d, 0, (size_t)in->n * sizeof *d);
  for (size_t i = 0; i < n; i++) {
    int64_t x = tk_lane_int(e, s + i * size);
    if ((!mask || mask[i]) && x >= 0 && x < in->n) d[x]++;
  }
  set_moved(t, in, frame, v);
}
