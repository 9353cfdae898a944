/* op_type.c - rules: what types and the target tell. */
#include "typing/rule.h"

sval rule_int_limit(tks *s, const tks_args *a) {
  const tk_type *t = &a->v[0].type;
  tk_dtype d = (tk_dtype)t->elem;
  if (t->ptr || t->rank || !tk_is_int(d))
    tks_error(s, TK_D_TYPE, "%s needs an integer type, not %s", a->op->name,
              tks_show(s, &a->v[0]));
  int bits = tk_dtypes[d].bits - tk_is_signed(d);
  tk_int top = ((tk_int)1 << bits) - 1;
  return sv_int(a->op->mode ? top : tk_is_signed(d) ? -top - 1 : 0);
}

sval rule_kind(tks *s, const tks_args *a) {
  const tk_type *t = &a->v[0].type;
  tk_dtype d = (tk_dtype)t->elem;
  if (t->ptr || t->rank)
    tks_error_help(s, TK_D_TYPE, "ask its element type",
                   "only element types have a kind, not %s",
                   tks_show(s, &a->v[0]));
  const char *name = d == TK_INT1   ? "tl.dtype.KIND.BOOLEAN"
                     : tk_is_int(d) ? "tl.dtype.KIND.INTEGRAL"
                                    : "tl.dtype.KIND.FLOATING";
  return (sval){.kind = V_OP, .op = tks_find_op(s, name)};
}

sval rule_bitwidth(tks *s, const tks_args *a) {
  tk_type t = tks_arg_dtype(s, &a->v[0]);
  return sv_int(t.ptr ? 64 : tk_dtypes[t.elem].bits);
}

sval rule_log2(tks *s, const tks_args *a) {
  int64_t n = tks_arg_int(s, a, 0, NULL), log = 0;
  for (; n > 1; n >>= 1) log++;
  return sv_int(log);
}

sval rule_is_power(tks *s, const tks_args *a) {
  int64_t n = tks_arg_int(s, a, 0, NULL);
  return sv_bool(n != 0 && (n & (n - 1)) == 0);
}

sval rule_with_element(tks *s, const tks_args *a) {
  const tk_type *t = &a->v[0].type;
  if (a->v[1].kind != V_TYPE)
    tks_error(s, TK_D_TYPE, "with_element_ty needs a dtype, not %s",
              tks_show(s, &a->v[1]));
  if (!t->rank || t->to_block) return a->v[1];
  return sv_type(tk_with_shape(tk_elem_of(a->v[1].type), t));
}

sval rule_block_shapes(tks *s, const tks_args *a) {
  sval t = a->v[0];
  return tks_attr(s, &t, "shape");
}

sval rule_slice(tks *s, const tks_args *a) {
  sval v = sv_tuple(s, a->v, 3);
  v.kind = V_SLICE;
  return v;
}

/* An H200, as Triton describes it. */
enum { ARCH = 90, WARP = 32 };

sval rule_target(tks *s, const tks_args *a) {
  (void)s;
  return sv_bool(a->op->mode);
}

sval rule_current_target(tks *s, const tks_args *a) {
  (void)a;
  sval items[] = {
      {.kind = V_STR, .s = "cuda", .n = 4}, sv_int(ARCH), sv_int(WARP)};
  sval t = sv_tuple(s, items, 3);
  t.s = "backend,arch,warp_size";
  return t;
}

sval rule_capability(tks *s, const tks_args *a) {
  int64_t major = tks_arg_int(s, a, 0, NULL),
          minor = tks_arg_int(s, a, 1, NULL);
  return sv_bool(ARCH >= major * 10 + minor);
}

/* What the compiler has made, as Python functions give it a type. */
sval rule_tensor(tks *s, const tks_args *a) {
  const sval *v = &a->v[0], *t = &a->v[1];
  if (!s->frame->python || v->kind != V_TENSOR || t->kind != V_TYPE)
    tks_error_help(s, TK_D_CALL, "use tl.full, tl.load or tl.to_tensor",
                   "tl.tensor cannot make values in a kernel");
  tk_type want = t->type, elem = tk_elem_of(want);
  if (tk_same_type(&v->type, &want)) return *v;
  tk_type as = v->type.rank ? tk_with_elem(v->type, TK_INT8) : v->type;
  tk_type to = want.rank ? tk_with_elem(want, TK_INT8) : want;
  bool lanes = as.rank == to.rank && (!as.rank || tk_same_type(&as, &to));
  if (!lanes || tk_lane_size(&v->type) != tk_lane_size(&want))
    tks_error(s, TK_D_TYPE, "%s is not of type %s", tks_show(s, v),
              tks_type_text(s, &want));
  return tks_bitcast(s, v, elem);
}
