/* op_map.c - rule: a function of scalars, mapped over the lanes of blocks. */
#include "typing/rule.h"

static void check_args(tks *s, const tks_args *a, int64_t pack) {
  if (a->v[0].kind != V_FUNC)
    tks_error(s, TK_D_CALL,
              "tl.map_elementwise: scalar_fn must be a @triton.jit function, "
              "not %s",
              tks_show(s, &a->v[0]));
  if (pack < 1)
    tks_error(s, TK_D_VALUE, "tl.map_elementwise: pack must be at least 1");
  if (!a->nrest)
    tks_error(s, TK_D_CALL,
              "map_elementwise must have at least 1 input tensor");
  for (size_t i = 0; i < a->nrest; i++)
    if (a->rest[i].kind != V_TENSOR)
      tks_error_help(s, TK_D_TYPE,
                     "make it a block with tl.full, or read it in scalar_fn "
                     "as a constexpr",
                     "tl.map_elementwise maps tensors, not %s",
                     tks_show(s, &a->rest[i]));
}

/* scalar_fn for `pack` lanes of each input, those of the first input first. */
static tks_instance *instance(tks *s, const tks_args *a, int64_t pack) {
  size_t n = a->nrest * (size_t)pack;
  sval *args = TK_NEWN(s->arena, sval, n + 1);
  for (size_t i = 0; i < n; i++)
    args[i] = sv_tensor(tk_elem_of(a->rest[i / (size_t)pack].type), -1);
  return tks_instantiate(s, a->v[0].fn, args, n, NULL);
}

/* What it returns: pack scalars for each result, one result after another. */
static sval scalars(tks *s, const sval *ret, int64_t pack) {
  sval t = ret->kind == V_TUPLE ? *ret : sv_tuple(s, ret, 1);
  for (size_t i = 0; i < t.n; i++)
    if (t.items[i].kind != V_TENSOR || t.items[i].type.rank)
      tks_error_help(s, TK_D_TYPE, "return scalar tensors computed from x",
                     "tl.map_elementwise: scalar_fn must return scalars, not "
                     "%s",
                     tks_show(s, ret));
  if (!t.n || t.n % (size_t)pack)
    tks_error(
        s, TK_D_VALUE,
        "tl.map_elementwise: scalar_fn returns %zu scalars, which is not a "
        "multiple of pack=%lld",
        t.n, (long long)pack);
  for (size_t i = 0; i < t.n; i++)
    if (!tk_same_elem(&t.items[i].type, &t.items[i - i % (size_t)pack].type))
      tks_error(s, TK_D_TYPE,
                "tl.map_elementwise: type mismatch in unpacked results: %s",
                tks_show(s, ret));
  return t;
}

sval rule_map(tks *s, const tks_args *a) {
  int64_t pack = tks_arg_int(s, a, 2, NULL);
  check_args(s, a, pack);
  sval in = sv_tuple(s, a->rest, a->nrest);
  tks_broadcast_all(s, in.items, in.n);
  tk_type shape = in.items[0].type;
  if (!shape.rank)
    tks_error_help(s, TK_D_TYPE, "call the function itself",
                   "tl.map_elementwise maps blocks, not %s",
                   tks_show(s, &in.items[0]));
  if (pack > tk_numel(&shape) || tk_numel(&shape) % pack)
    tks_error(s, TK_D_VALUE,
              "tl.map_elementwise: pack=%lld does not divide %lld lanes",
              (long long)pack, (long long)tk_numel(&shape));
  tks_instance *f = instance(s, a, pack);
  sval ret = scalars(s, &f->ret, pack);
  size_t n = ret.n / (size_t)pack;
  sval *out = TK_NEWN(s->arena, sval, n);
  tk_type first = tk_with_shape(tk_elem_of(ret.items[0].type), &shape);
  tk_inst *inst = tks_inst_new(s, TK_I_MAP_FN, 0, first, in.n, in.items, n);
  inst->attr[0] = pack;
  inst->ref.callee = f->func;
  for (size_t i = 0; i < n; i++) {
    tk_type e = tk_elem_of(ret.items[i * (size_t)pack].type);
    tk_type t = tk_with_shape(e, &shape);
    inst->res[i] = tks_slot(s, t, NULL);
    out[i] = sv_tensor(t, inst->res[i]);
  }
  return f->ret.kind == V_TUPLE ? sv_tuple(s, out, n) : out[0];
}
