/* gen_scaled.c - operands of block-scaled products as fp32.
 *
 * Scales, and values of which a byte holds two, lie in shared memory, where
 * each lane looks up its own.
 */
#include "nvptx/gen.h"

/* Which bits of a result's number say where its parts lie. */
typedef struct scaled {
  const tk_inst *in;
  int columns, rows; /* log2 */
  int k, group;      /* log2 of lanes along K, and of those of one scale */
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
static const char *field(tkv_gen *g, const char *number, int from, int n,
                         int to) {
  const char *x = tkv_emit(g, "lshr i32 %s, %d", number, from);
  if (n < 32) x = tkv_emit(g, "and i32 %s, %u", x, ((uint32_t)1 << n) - 1);
  return tkv_emit(g, "shl i32 %s, %d", x, to);
}

/* The place of a lane's scale: scales are [batch, M, K / group], whichever way
 * K goes. */
static const char *place_of_scale(tkv_gen *g, const scaled *s,
                                  const char *number) {
  int m = s->k_rows ? s->columns : s->rows, groups = s->k - s->group,
      k_at = s->k_rows ? s->columns : 0, m_at = s->k_rows ? 0 : s->columns;
  const char *k = field(g, number, k_at + s->group, groups, 0),
             *row = field(g, number, m_at, m, groups),
             *batch = field(g, number, m + s->k, 32, m + groups);
  return tkv_emit(g, "or i32 %s, %s", tkv_emit(g, "or i32 %s, %s", k, row),
                  batch);
}

/* 2^(e - 127), where 255 is NaN and 0 is subnormal; or an fp8 number. */
static const char *scale_value(tkv_gen *g, const tk_type *t, const char *x) {
  tk_type fp32 = tk_scalar(TK_FP32);
  if (t->elem == TK_FP8E4NV) return tkv_convert_lane(g, &fp32, t, false, x);
  const char *e = tkv_emit(g, "zext i8 %s to i32", x),
             *bits = tkv_emit(g, "shl i32 %s, 23", e),
             *zero = tkv_emit(g, "icmp eq i32 %s, 0", e),
             *nan = tkv_emit(g, "icmp eq i32 %s, 255", e);
  bits = tkv_emit(g, "select i1 %s, i32 4194304, i32 %s", zero, bits);
  bits = tkv_emit(g, "select i1 %s, i32 2143289344, i32 %s", nan, bits);
  return tkv_emit(g, "bitcast i32 %s to float", bits);
}

/* The lane's half of a byte, an e2m1 number: its three lowest bits are the
 * first of an fp16's exponent and fraction, but for a factor of 2^14. */
static const char *packed_value(tkv_gen *g, const scaled *s,
                                const char *number) {
  bool down = s->packed == 0;
  int bit = down ? s->columns : 0;
  const char *low = tkv_emit(g, "and i32 %s, %u", number,
                             ((uint32_t)1 << bit) - 1),
             *high = field(g, number, bit + 1, 32, bit),
             *at = tkv_emit(g, "or i32 %s, %s", low, high),
             *up = tkv_emit(g, "and i32 %s, %u", number, (uint32_t)1 << bit);
  tk_type byte = tk_scalar(TK_UINT8);
  const char *x = tkv_shared_load(g, &byte, tkv_shared_at(g, &byte, 0, at));
  x = tkv_emit(g, "zext i8 %s to i16", x);
  up = tkv_emit(g, "icmp ne i32 %s, 0", up);
  x = tkv_emit(g, "select i1 %s, i16 %s, i16 %s", up,
               tkv_emit(g, "lshr i16 %s, 4", x), x);
  const char *size = tkv_emit(g, "and i16 %s, 7", x),
             *sign = tkv_emit(g, "and i16 %s, 8", x);
  size = tkv_emit(g, "shl i16 %s, 9", size);
  sign = tkv_emit(g, "shl i16 %s, 12", sign);
  x = tkv_emit(g, "or i16 %s, %s", size, sign);
  x = tkv_emit(g, "bitcast i16 %s to half", x);
  x = tkv_emit(g, "fpext half %s to float", x);
  return tkv_emit(g, "fmul float %s, 16384.0", x);
}

/* Writes an operand to the scratch area from `base` on; where it ends. */
static size_t share_operand_at(tkv_gen *g, tkv_value *v, const tkv_dist *d,
                               const char **reg, size_t base) {
  tkv_version x = {.dist = *d, .reg = reg};
  size_t n = (size_t)tk_numel(&v->type) * tk_lane_size(&v->type);
  tkv_share_block(g, &v->type, &x, base);
  return base + ((n + 15) & ~(size_t)15);
}

void tkv_gen_unscale(tkv_gen *g, const tk_inst *in) {
  scaled s = describe_scaled(in);
  int scales = tk_unscale_scales(in);
  tkv_value *value = tkv_arg(g, in, 0),
            *scale = scales < 0 ? NULL : tkv_arg(g, in, scales);
  bool packed = s.packed >= 0;
  tkv_dist from = tkv_home_of(g, value),
           d = packed ? tkv_dist_usual(&in->type, g->warps) : from, ds = d;
  const char **reg = tkv_at(g, value, &from), **scale_reg = NULL;
  if (scale) {
    ds = tkv_home_of(g, scale);
    scale_reg = tkv_at(g, scale, &ds);
  }
  size_t base = packed ? share_operand_at(g, value, &from, reg, 0) : 0;
  if (scale) share_operand_at(g, scale, &ds, scale_reg, base);
  tkv_barrier(g);
  const char *thread = tkv_thread_number(g, &d);
  tk_type fp32 = tk_scalar(TK_FP32);
  tkv_value *v = tkv_block(g, in->type, &d);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    uint32_t first = tkv_dist_canonical(&d, r);
    v->home->reg[r] = v->home->reg[first];
    if (first < r) continue;
    const char *number = tkv_number(g, &d, thread, r),
               *x = packed ? packed_value(g, &s, number)
                           : tkv_convert_lane(g, &fp32, &value->type, false,
                                              reg[r]);
    if (scale) {
      const char *at =
          tkv_shared_at(g, &scale->type, base, place_of_scale(g, &s, number));
      at = tkv_shared_load(g, &scale->type, at);
      x = tkv_emit(g, "fmul float %s, %s", x, scale_value(g, &scale->type, at));
    }
    v->home->reg[r] = x;
  }
  tkv_set(g, in->res[0], v);
}
