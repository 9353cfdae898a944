/* op_scaled.c - rule: products of block-scaled (microscaling) operands.
 *
 * Each operand becomes fp32, its lanes multiplied by the scale of their group
 * along K, which is exact but where fp32 overflows; what is left is a product
 * of fp32.  Formats and scales: OCP Microscaling Formats (MX) 1.0.
 */
#include <string.h>

#include "typing/rule.h"
#include "typing/version.h"

typedef struct side {
  const char *name;
  sval v, scale;
  const char *format;
  bool k_pack, packed; /* two values in a byte, along K or across */
  int k_axis;          /* from the end: 1 or 2 */
  int group;           /* numbers of a scale; 0: there is none */
} side;

static const struct {
  const char *name;
  tk_dtype type, raw;
} formats[] = {{"e2m1", TK_UINT8, TK_UINT8},
               {"e4m3", TK_FP8E4NV, TK_UINT8},
               {"e5m2", TK_FP8E5, TK_UINT8},
               {"bf16", TK_BF16, TK_UINT16},
               {"fp16", TK_FP16, TK_UINT16}};

static size_t format_row(tks *s, const side *o) {
  for (size_t i = 0; i < TK_COUNT(formats); i++)
    if (!strcmp(formats[i].name, o->format)) return i;
  tks_error_help(s, TK_D_VALUE, "one of e2m1, e4m3, e5m2, bf16, fp16",
                 "Invalid float format: %s_format is '%s'", o->name, o->format);
}

/* The operand in its format's type; bits in an unsigned type are taken so. */
static void read_format(tks *s, side *o) {
  size_t k = format_row(s, o);
  tk_dtype d = o->v.type.ptr ? TK_DTYPE_COUNT : (tk_dtype)o->v.type.elem;
  o->packed = k == 0;
  if (d != formats[k].type && d != formats[k].raw)
    tks_error(s, TK_D_TYPE, "Unexpected dtype for %s: %s%s must be %s, not %s",
              o->format, o->name, o->packed ? ", which is packed," : "",
              tk_dtype_name(formats[k].raw), tks_show(s, &o->v));
  if (d != formats[k].type)
    o->v = tks_bitcast(s, &o->v, tk_scalar(formats[k].type));
  if (!o->k_pack && !o->packed)
    tks_error(s, TK_D_VALUE,
              "only mxfp4 inputs can be packed along a dimension different "
              "than K: %s_k_pack is False and %s_format '%s'",
              o->name, o->name, o->format);
}

static side read_side(tks *s, const tks_args *a, size_t i, const char *name) {
  s->frame->at = a->span[i];
  side o = {.name = name, .v = tks_to_tensor(s, &a->v[i])};
  o.scale = a->v[i + 1];
  o.format = tks_arg_str(s, a, i + 2);
  o.k_pack = tks_arg_bool(s, a, i ? 9 : 8);
  o.k_axis = i ? 2 : 1;
  read_format(s, &o);
  return o;
}

static int32_t *extent(side *o, int from_end) {
  return &o->v.type.shape[o->v.type.rank - from_end];
}

/* The operand's shape once unpacked. */
static tk_type unpacked(const side *o) {
  tk_type t = tk_with_elem(o->v.type, TK_FP32);
  int axis = o->k_pack ? o->k_axis : 3 - o->k_axis;
  if (o->packed) t.shape[t.rank - axis] *= 2;
  return t;
}

static void check_ranks(tks *s, side *a, side *b) {
  int rank = a->v.type.rank;
  if (rank != b->v.type.rank || rank < 2 || rank > 3)
    tks_error(s, TK_D_SHAPE,
              "Both inputs must be either 2D or 3D; (lhs: %s vs rhs: %s)",
              tks_show(s, &a->v), tks_show(s, &b->v));
  if (rank == 3 && *extent(a, 3) != *extent(b, 3))
    tks_error(s, TK_D_SHAPE, "tl.dot_scaled: batches of %d and %d",
              *extent(a, 3), *extent(b, 3));
}

/* How many numbers along K share a scale: since Triton 3.8 what the shapes say,
 * 16 or 32. */
static int scale_group(tks *s, const side *o, int k) {
  const tk_type *st = &o->scale.type;
  int groups = st->rank ? st->shape[st->rank - 1] : 1;
  bool deduced = tks_has(s, TKS_SCALE_FACTOR_DEDUCED) &&
                 (k == groups * 16 || k == groups * 32);
  return deduced ? k / groups : st->elem == TK_FP8E4NV ? 16 : 32;
}

/* The axes of a batch are the operand's. */
static bool same_batch(const tk_type *scale, const tk_type *t) {
  bool same = scale->rank == t->rank;
  for (int i = 0; same && i < t->rank - 2; i++)
    same = scale->shape[i] == t->shape[i];
  return same;
}

/* A scale is [batch, M or N, K / group]. */
static int check_scale(tks *s, side *o, const tk_type *t) {
  if (sv_is_none(&o->scale)) return 0;
  o->scale = tks_to_tensor(s, &o->scale);
  const tk_type *st = &o->scale.type;
  tk_dtype d = st->ptr ? TK_DTYPE_COUNT : (tk_dtype)st->elem;
  if (d != TK_UINT8 && d != TK_INT8 && d != TK_FP8E4NV)
    tks_error(s, TK_D_TYPE,
              "%s_scale holds exponents as uint8, or fp8e4nv, not %s", o->name,
              tks_show(s, &o->scale));
  int rank = t->rank, k = t->shape[rank - o->k_axis],
      m = t->shape[rank - 3 + o->k_axis], group = scale_group(s, o, k);
  bool batch = rank == 2 || tks_has(s, TKS_SCALES_OF_BATCHES);
  if (!batch || !same_batch(st, t) || st->shape[rank - 2] != m ||
      st->shape[rank - 1] != k / group)
    tks_error(s, TK_D_SHAPE,
              "%s_scale must be a tensor of shape [%s%d, %d]. Got %s", o->name,
              rank > 2 ? "..., " : "", m, k / group, tks_show(s, &o->scale));
  return group;
}

static void check_groups(tks *s, const side *l, const side *r) {
  if (l->group && r->group && l->group != r->group &&
      tks_has(s, TKS_SCALE_FACTOR_DEDUCED))
    tks_error(s, TK_D_SHAPE,
              "Operands must have the same scale factor; (lhs: %d vs rhs: %d)",
              l->group, r->group);
}

/* The operand as fp32. */
static sval widened(tks *s, side *o, const tk_type *t) {
  int group = o->group, rank = t->rank;
  if (!group && !o->packed) return tks_cast_to(s, &o->v, TK_FP32);
  sval v[2] = {o->v, o->scale};
  tk_inst *in = tks_emit(s, TK_I_UNSCALE, 0, *t, group ? 2 : 1, v);
  in->attr[0] = rank - o->k_axis;
  in->attr[1] = group;
  in->attr[2] = !o->packed                      ? -1
                : o->k_pack == (o->k_axis == 1) ? rank - 1
                                                : rank - 2;
  return tks_result(in);
}

static void check_acc(tks *s, const sval *acc, const tk_type *t) {
  if (!tk_same_type(&acc->type, t))
    tks_error(s, TK_D_TYPE, "tl.dot_scaled: acc must be %s, not %s",
              tks_type_text(s, t), tks_show(s, acc));
}

sval rule_dot_scaled(tks *s, const tks_args *a) {
  if (!sv_is_none(&a->v[10]) && tks_arg_dtype(s, &a->v[10]).elem != TK_FP32)
    tks_error(s, TK_D_TYPE,
              "tl.dot_scaled: only float32 is supported for out_dtype");
  side l = read_side(s, a, 0, "lhs"), r = read_side(s, a, 3, "rhs");
  check_ranks(s, &l, &r);
  tk_type tl = unpacked(&l), tr = unpacked(&r), t = tl;
  int rank = t.rank;
  if (tl.shape[rank - 1] != tr.shape[rank - 2])
    tks_error(s, TK_D_SHAPE,
              "Reduction dimension should pack the same number of elements; "
              "(lhs: %s vs rhs: %s)",
              tks_show(s, &l.v), tks_show(s, &r.v));
  t.shape[rank - 1] = tr.shape[rank - 1];
  l.group = check_scale(s, &l, &tl);
  r.group = check_scale(s, &r, &tr);
  check_groups(s, &l, &r);
  sval v[3] = {widened(s, &l, &tl), widened(s, &r, &tr), sv(V_NONE)};
  size_t n = sv_is_none(&a->v[6]) ? 2 : 3;
  if (n == 3) {
    s->frame->at = a->span[6];
    v[2] = tks_to_tensor(s, &a->v[6]);
    check_acc(s, &v[2], &t);
  }
  return tks_result(tks_emit(s, TK_I_DOT, TK_P_IEEE, t, n, v));
}
