/* gen_scaled.c - operands of block-scaled products as fp32.
 *
 * Scales, and values of which a byte holds two, lie in shared memory, where
 * each lane looks up its own.
 */
#include "nvptx/shared.h"

/* What the bits of a result's number mean. */
typedef struct scaled {
  const tk_inst *in;
  int columns, rows; /* log2 */
  int k, group;      /* log2 of the lanes along K, and of the lanes that share a
                        scale */
  bool k_rows;       /* K goes down the rows */
  int packed;        /* the axis of which a byte holds two: 0 rows, 1; or -1 */
} scaled;

static scaled describe_scaled(const tk_inst *in) {
  int rank = in->type.rank, packed = (int)tk_unscale_packed_axis(in);
  scaled s = {.in = in,
              .columns = tkv_axis_bits(&in->type, rank - 1),
              .rows = tkv_axis_bits(&in->type, rank - 2),
              .k_rows = tk_unscale_axis(in) == rank - 2,
              .packed = packed < 0 ? -1 : packed - (rank - 2)};
  s.k = s.k_rows ? s.rows : s.columns;
  if (tk_unscale_group(in)) s.group = tkv_log2(tk_unscale_group(in));
  return s;
}

/* Bits [from, from + n) of a number, moved down to `to`. */
static tkv_reg field(tkv_code *c, tkv_reg number, int from, int n, int to) {
  tkv_reg x = tkv_lshr_n(c, number, from);
  if (n < 32) x = tkv_and_n(c, x, ((int64_t)1 << n) - 1);
  return tkv_shl_n(c, x, to);
}

/* The place of a lane's scale: scales are [batch, M, K / group], whichever way
 * K goes. */
static tkv_reg place_of_scale(tkv_code *c, const scaled *s, tkv_reg number) {
  int m = s->k_rows ? s->columns : s->rows, groups = s->k - s->group,
      k_at = s->k_rows ? s->columns : 0, m_at = s->k_rows ? 0 : s->columns;
  tkv_reg k = field(c, number, k_at + s->group, groups, 0),
          row = field(c, number, m_at, m, groups),
          batch = field(c, number, m + s->k, 32, m + groups);
  return tkv_or(c, tkv_or(c, k, row), batch);
}

/* 2^(e - 127), where 255 is NaN and 0 is subnormal; or an fp8 number. */
static tkv_reg scale_value(tkv_code *c, const tk_type *t, tkv_reg x) {
  enum { SUBNORMAL = 0x400000, NOT_A_NUMBER = 0x7fc00000 };
  tk_type fp32 = tk_scalar(TK_FP32);
  if (t->elem == TK_FP8E4NV) return tkv_convert_lane(c, &fp32, t, x);
  tkv_reg e = tkv_zext(c, x, TKV_I32), bits = tkv_shl_n(c, e, 23),
          zero = tkv_compare_n(c, TKV_EQ, e, 0),
          nan = tkv_compare_n(c, TKV_EQ, e, 255);
  bits = tkv_select(c, zero, tkv_i32(SUBNORMAL), bits);
  bits = tkv_select(c, nan, tkv_i32(NOT_A_NUMBER), bits);
  return tkv_bitcast(c, bits, TKV_F32);
}

/* An e2m1 number, the lowest bits of a word, as an fp32: its three lowest bits
 * are the first of an fp16's exponent and fraction, up to a factor of 2^14.
 */
static tkv_reg e2m1_value(tkv_code *c, tkv_reg x) {
  tkv_reg size = tkv_and_n(c, x, 7), sign = tkv_and_n(c, x, 8);
  size = tkv_shl_n(c, size, 9);
  sign = tkv_shl_n(c, sign, 12);
  x = tkv_or(c, size, sign);
  x = tkv_bitcast(c, x, TKV_F16);
  x = tkv_fpext(c, x, TKV_F32);
  return tkv_fmul(c, x, tkv_number_of(TKV_F32, 16384));
}

/* The lane's half of a byte. */
static tkv_reg packed_value(tkv_gen *g, const scaled *s, tkv_reg number) {
  tkv_code *c = g->code;
  int bit = s->packed == 0 ? s->columns : 0;
  tkv_reg low = tkv_and_n(c, number, ((int64_t)1 << bit) - 1),
          high = field(c, number, bit + 1, 32, bit), at = tkv_or(c, low, high),
          up = tkv_and_n(c, number, (int64_t)1 << bit);
  tk_type byte = tk_scalar(TK_UINT8);
  tkv_reg x = tkv_scratch_load(g, &byte, 0, at);
  x = tkv_zext(c, x, TKV_I16);
  up = tkv_compare_n(c, TKV_NE, up, 0);
  x = tkv_select(c, up, tkv_lshr_n(c, x, 4), x);
  return e2m1_value(c, x);
}

static tkv_version version_at_home(tkv_gen *g, tkv_value *v) {
  tkv_version x = {.dist = tkv_home_of(g, v)};
  x.reg = tkv_at(g, v, &x.dist);
  return x;
}

void tkv_gen_unscale(tkv_gen *g, const tk_inst *in) {
  tkv_code *c = g->code;
  scaled s = describe_scaled(in);
  int scales = tk_unscale_scales(in);
  bool packed = s.packed >= 0;
  tk_type fp32 = tk_scalar(TK_FP32);
  tkv_value *value = tkv_arg(g, in, 0),
            *scale = scales < 0 ? NULL : tkv_arg(g, in, scales);
  tkv_version own = version_at_home(g, value), other = {.reg = NULL};
  tkv_dist d = packed ? tkv_dist_usual(&in->type, g->warps) : own.dist;
  if (scale) other = version_at_home(g, scale);
  size_t base = packed ? tkv_bytes_shared(&value->type) : 0;
  if (packed) tkv_share_block(g, &value->type, &own, 0);
  if (scale) tkv_share_block(g, &scale->type, &other, base);
  tkv_meet(c);
  tkv_reg thread = tkv_thread_number(c, &d);
  tkv_value *v = tkv_block(g, in->type, &d);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    uint32_t first = tkv_dist_canonical(&d, r);
    v->home->reg[r] = v->home->reg[first];
    if (first < r) continue;
    tkv_reg number = tkv_number(c, &d, thread, r),
            x = packed ? packed_value(g, &s, number)
                       : tkv_convert_lane(c, &fp32, &value->type, own.reg[r]);
    if (scale) {
      tkv_reg at = place_of_scale(c, &s, number),
              y = tkv_scratch_load(g, &scale->type, base, at);
      x = tkv_fmul(c, x, scale_value(c, &scale->type, y));
    }
    v->home->reg[r] = x;
  }
  tkv_set(g, in->res[0], v);
}
