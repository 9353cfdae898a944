/* scaled.c - operands of block-scaled products as fp32. */
#include <math.h>

#include "interp/bind.h"
#include "interp/interp.h"
#include "interp/kernels.h"

/* Where a lane of the result comes from. */
typedef struct layout {
  size_t rows, cols; /* of one result of the batch */
  int packed;        /* axis along which a byte holds two: 0 rows, 1, or -1 */
  bool k_rows;       /* K goes down the rows */
  size_t group;      /* lanes along K that share a scale; 0: there is none */
} layout;

static float e2m1(unsigned bits) {
  static const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  float v = values[bits & 7];
  return bits & 8 ? -v : v;
}

/* The low half of a byte is the first of its two lanes. */
static float packed_lane(const layout *l, const uint8_t *p, size_t i,
                         size_t j) {
  bool down = l->packed == 0;
  size_t cols = down ? l->cols : l->cols / 2;
  uint8_t byte = p[(down ? i / 2 : i) * cols + (down ? j : j / 2)];
  return e2m1((down ? i : j) & 1 ? byte >> 4 : byte & 15);
}

/* The scale of lane (i, j): an fp8 number, or 2^(e - 127), where 255 is NaN. */
static float scale_of(const layout *l, tk_dtype d, const uint8_t *scale,
                      size_t i, size_t j) {
  size_t k = l->k_rows ? i : j, m = l->k_rows ? j : i;
  size_t groups = (l->k_rows ? l->rows : l->cols) / l->group;
  uint8_t bits = scale[m * groups + k / l->group];
  if (d == TK_FP8E4NV) return tk_fp8_to_f32(d, bits);
  return bits == 255 ? NAN : ldexpf(1, (int)bits - 127);
}

static void unscale(const layout *l, float *d, tk_dtype from, tk_dtype sd,
                    const char *p, const uint8_t *scale) {
  size_t n = l->rows * l->cols;
  if (l->packed < 0) tki_widen(from, d, p, n);
  for (size_t x = 0; x < n; x++) {
    size_t i = x / l->cols, j = x % l->cols;
    if (l->packed >= 0) d[x] = packed_lane(l, (const uint8_t *)p, i, j);
    if (l->group) d[x] *= scale_of(l, sd, scale, i, j);
  }
}

void tki_run_UNSCALE(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  int rank = in->type.rank;
  layout l = {(size_t)in->type.shape[rank - 2],
              (size_t)in->type.shape[rank - 1], -1,
              tk_unscale_axis(in) == rank - 2, (size_t)tk_unscale_group(in)};
  int packed = (int)tk_unscale_packed_axis(in);
  if (packed >= 0) l.packed = packed - (rank - 2);
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  float *d = tki_writable(&v);
  const char *p = tki_lanes(&frame[in->args[0]]);
  tk_dtype from = (tk_dtype)in->from.elem, sd = TK_UINT8;
  const uint8_t *scale = NULL;
  size_t scales_of_one = 0, one = l.rows * l.cols, batch = (size_t)in->n / one;
  int scales = tk_unscale_scales(in);
  if (scales >= 0) {
    scale = tki_lanes(&frame[in->args[scales]]);
    const tk_type *st = &t->frame->func->slots[in->args[scales]].type;
    sd = (tk_dtype)st->elem;
    scales_of_one = (size_t)tk_numel(st) / batch;
  }
  size_t step = (size_t)tk_numel(&in->from) / batch * tk_lane_size(&in->from);
  for (size_t b = 0; b < batch; b++)
    unscale(&l, d + b * one, from, sd, p + b * step,
            scale ? scale + b * scales_of_one : NULL);
  tki_set(t, &frame[in->res[0]], v);
}
