/* op_math.c - rules: lane-by-lane arithmetic, selection, products. */
#include <string.h>
#include <strings.h>

#include "typing/rule.h"
#include "typing/version.h"

static sval binary_inst(tks *s, tk_binary mode, const sval *a, const sval *b) {
  tk_type t =
      tk_with_shape(tk_elem_of(a->type), a->type.rank ? &a->type : &b->type);
  return tks_emit2(s, TK_I_BINARY, (int)mode, t, a, b);
}

/* A quotient or root, for which code for a GPU may be asked to round to
 * nearest. */
static sval accurate(tks *s, tk_accuracy accuracy, sval v) {
  tk_insts *l = s->frame->insts;
  l->items[l->n - 1]->attr[0] = accuracy;
  return v;
}

/* A number takes the type of the block beside it, on either side. */
sval rule_operator(tks *s, const tks_args *a) {
  sval x = a->v[0], y = a->v[1];
  if (!sv_is_tensor(&y)) x = tks_arg_tensor(s, a, 0);
  if (!sv_is_tensor(&a->v[0])) y = tks_arg_tensor(s, a, 1);
  return tks_binary(s, (tk_operator)a->op->mode, &x, &y);
}

sval rule_logical(tks *s, const tks_args *a) {
  return tks_logical(s, a->op->mode, &a->v[0], &a->v[1]);
}

/* What is rounded to nearest by its name knows fp32 alone. */
static void need_fp32(tks *s, const tks_args *a, const sval *x) {
  if (x->type.ptr || sv_dtype(x) != TK_FP32)
    tks_error_help(s, TK_D_TYPE, "convert it with x.to(tl.float32)",
                   "%s takes fp32, not %s", a->op->name, tks_show(s, x));
}

/* Since Triton 3.9 tl.fdiv is / of floats, and may be an approximation. */
static sval promoting_fdiv(tks *s, const tks_args *a) {
  sval x = tks_arg_weak(s, a, 0), y = tks_arg_weak(s, a, 1);
  bool rounds = tks_arg_bool(s, a, 2), approximates = tks_arg_bool(s, a, 3);
  if (rounds && approximates)
    tks_error(s, TK_D_VALUE, "approx and ieee_rounding cannot both be True");
  tks_promote2(s, &x, &y, (tks_check){.div_or_mod = true});
  if (!tk_is_float(sv_dtype(&x)))
    tks_error_help(s, TK_D_TYPE, "convert one of them with .to(tl.float32)",
                   "tl.fdiv takes floats, and %s is none",
                   tks_show(s, &a->v[0]));
  if (approximates) need_fp32(s, a, &x);
  return accurate(s,
                  approximates ? TK_ACC_ROUGH
                  : rounds     ? TK_ACC_NEAREST
                               : TK_ACC_USUAL,
                  binary_inst(s, TK_B_DIV, &x, &y));
}

sval rule_fdiv(tks *s, const tks_args *a) {
  if (!a->op->mode && tks_has(s, TKS_FDIV_PROMOTES))
    return promoting_fdiv(s, a);
  sval x = tks_arg_tensor(s, a, 0), y = tks_arg_tensor(s, a, 1);
  for (int i = 0; i < 2 && a->op->mode; i++)
    if (sv_is_tensor(&a->v[i])) need_fp32(s, a, &a->v[i]);
  bool floats = sv_is_tensor(&a->v[0]) || sv_is_tensor(&a->v[1]);
  if (!(a->op->mode && floats) &&
      !(tk_is_float(sv_dtype(&x)) && tk_is_float(sv_dtype(&y))))
    tks_error(s, TK_D_TYPE,
              "both operands of %s must be floats, not %s and "
              "%s",
              a->op->name, tks_show(s, &x), tks_show(s, &y));
  if (!a->op->mode && sv_dtype(&x) != sv_dtype(&y))
    tks_error_help(s, TK_D_TYPE, "cast one of them with .to(...)",
                   "%s does not promote its operands: both must have the same "
                   "dtype, not %s and %s",
                   a->op->name, tks_show(s, &x), tks_show(s, &y));
  if (!a->op->mode && tk_dtypes[sv_dtype(&x)].bits < 32)
    tks_error_help(s, TK_D_TYPE, "write x / y, which is computed in fp32",
                   "the compiler has no tl.fdiv of %s before Triton 3.9",
                   tk_dtype_name(sv_dtype(&x)));
  tks_promote2(s, &x, &y,
               (tks_check){.div_or_mod = true, .no_arith = !a->op->mode});
  bool nearest = a->op->mode || tks_arg_bool(s, a, 2);
  return accurate(s, nearest ? TK_ACC_NEAREST : TK_ACC_USUAL,
                  binary_inst(s, TK_B_DIV, &x, &y));
}

/* Three operands in one type, the last two of which meet the first in turn
 * before Triton 3.9, as `order` says. */
static void promote3(tks *s, sval *v, const uint8_t order[3][2]) {
  if (tks_has(s, TKS_WEAK_NUMBERS)) {
    tks_promote3(s, v);
    return;
  }
  for (int i = 0; i < 3; i++)
    tks_promote2(s, &v[order[i][0]], &v[order[i][1]], (tks_check){0});
}

sval rule_fma(tks *s, const tks_args *a) {
  static const uint8_t order[3][2] = {{0, 1}, {2, 0}, {2, 1}};
  sval v[3] = {tks_arg_weak(s, a, 0), tks_arg_weak(s, a, 1),
               tks_arg_weak(s, a, 2)};
  promote3(s, v, order);
  if (!tk_is_float(sv_dtype(&v[0])))
    tks_error(s, TK_D_TYPE, "tl.fma takes floats, not %s", tks_show(s, &v[0]));
  tk_type t = v[0].type;
  for (int i = 1; i < 3; i++)
    if (v[i].type.rank) t = v[i].type;
  for (int i = 0; i < 3; i++) v[i] = tks_broadcast(s, &v[i], &t);
  return tks_result(tks_emit(s, TK_I_FMA, 0, t, 3, v));
}

sval rule_umulhi(tks *s, const tks_args *a) {
  sval v[2] = {tks_arg_weak(s, a, 0), tks_arg_weak(s, a, 1)};
  for (int i = 0; i < 2; i++) {
    s->frame->at = a->span[i];
    if (sv_is_number(&v[i]) && v[i].kind != V_FLOAT) continue;
    if (sv_is_number(&v[i])) v[i] = tks_to_tensor(s, &v[i]);
    bool wide =
        tk_is_int(sv_dtype(&v[i])) && tk_dtypes[sv_dtype(&v[i])].bits >= 32;
    if (v[i].type.ptr || (!wide && a->v[i].kind != V_BOOL))
      tks_error_help(s, TK_D_TYPE, "convert it with .to(tl.int32)",
                     "tl.umulhi takes 32- or 64-bit integers, not %s",
                     tks_show(s, &v[i]));
  }
  sval x = v[0], y = v[1];
  tks_promote2(s, &x, &y, (tks_check){0});
  return binary_inst(s, TK_B_MULHI, &x, &y);
}

/* Of integers nobody asks. */
static bool nan_wins(tks *s, const sval *x, const sval *v) {
  if (!x->type.ptr && tk_is_int(sv_dtype(x))) return false;
  if (v->kind == V_INT) return v->i != 0;
  if (v->kind == V_OP && !strcmp(v->op->name, "tl.PropagateNan.ALL"))
    return true;
  if (v->kind == V_OP && !strcmp(v->op->name, "tl.PropagateNan.NONE"))
    return false;
  tks_error(s, TK_D_VALUE,
            "propagate_nan must be tl.PropagateNan.ALL or NONE, not %s",
            tks_show(s, v));
}

/* Before Triton 3.9 bf16 lanes are compared, and come out, as fp32. */
static sval widen_bf16(tks *s, const sval *v) {
  if (tks_has(s, TKS_BF16_KEPT) || v->type.ptr || sv_dtype(v) != TK_BF16)
    return *v;
  return tks_cast_to(s, v, TK_FP32);
}

sval rule_minmax(tks *s, const tks_args *a) {
  sval x = tks_arg_weak(s, a, 0), y = tks_arg_weak(s, a, 1);
  int mode = a->op->mode;
  x = widen_bf16(s, &x);
  y = widen_bf16(s, &y);
  tks_promote2(s, &x, &y, (tks_check){0});
  if (nan_wins(s, &x, &a->v[2]))
    mode = mode == TK_B_MAX ? TK_B_MAX_NAN : TK_B_MIN_NAN;
  return binary_inst(s, (tk_binary)mode, &x, &y);
}

sval rule_clamp(tks *s, const tks_args *a) {
  static const uint8_t order[3][2] = {{1, 2}, {0, 1}, {0, 2}};
  sval v[3];
  for (size_t i = 0; i < 3; i++) {
    v[i] = tks_arg_weak(s, a, i);
    if (sv_is_tensor(&v[i])) v[i] = widen_bf16(s, &v[i]);
  }
  promote3(s, v, order);
  if (!tk_is_float(sv_dtype(&v[0])) && !tks_has(s, TKS_WEAK_NUMBERS))
    tks_error_help(s, TK_D_TYPE, "use tl.minimum and tl.maximum",
                   "tl.clamp takes floats before Triton 3.9, not %s",
                   tks_show(s, &v[0]));
  bool nan = nan_wins(s, &v[0], &a->v[3]);
  sval m = binary_inst(s, nan ? TK_B_MAX_NAN : TK_B_MAX, &v[0], &v[1]);
  return binary_inst(s, nan ? TK_B_MIN_NAN : TK_B_MIN, &m, &v[2]);
}

sval rule_abs(tks *s, const tks_args *a) {
  sval x = tks_arg_tensor(s, a, 0);
  if (x.type.ptr)
    tks_error(s, TK_D_TYPE, "tl.abs cannot take %s", tks_show(s, &x));
  if (tk_is_int(sv_dtype(&x)) && !tk_is_signed(sv_dtype(&x))) return x;
  return tks_emit1(s, TK_I_UNARY, TK_U_ABS, x.type, &x);
}

sval rule_sqrt_rn(tks *s, const tks_args *a) {
  sval x = tks_arg_tensor(s, a, 0);
  need_fp32(s, a, &x);
  return accurate(s, TK_ACC_NEAREST, rule_unary(s, a));
}

sval rule_unary(tks *s, const tks_args *a) {
  sval x = tks_arg_tensor(s, a, 0);
  tk_dtype d = sv_dtype(&x);
  bool half = d == TK_FP16 || d == TK_BF16;
  bool ok = !x.type.ptr && (d == TK_FP32 || d == TK_FP64);
  bool asks = !a->method || tks_has(s, TKS_METHODS_ASK);
  if (!asks && half && !x.type.ptr) {
    sval wide = tks_cast_to(s, &x, TK_FP32);
    wide = tks_emit1(s, TK_I_UNARY, a->op->mode, wide.type, &wide);
    return tks_cast_to(s, &wide, d);
  }
  if (!ok)
    tks_error_help(s, TK_D_TYPE, "convert it with x.to(tl.float32)",
                   "%s: Expected dtype fp32 or fp64, but got %s", a->op->name,
                   tks_show(s, &x));
  return tks_emit1(s, TK_I_UNARY, a->op->mode, x.type, &x);
}

sval tks_where(tks *s, const sval *cond, const sval *px, const sval *py) {
  sval c = tks_to_tensor(s, cond), x = *px, y = *py;
  if (sv_dtype(&c) != TK_INT1 || c.type.ptr) {
    tks_deprecated(
        s,
        "tl.where with a condition that is not int1 but %s; compare it "
        "with 0",
        tks_show(s, &c));
    c = tks_cast_to(s, &c, TK_INT1);
  }
  tks_promote2(s, &x, &y, (tks_check){.ptr_a = true, .ptr_b = true});
  if (!tk_same_elem(&x.type, &y.type))
    tks_error(s, TK_D_TYPE, "tl.where cannot choose between %s and %s",
              tks_show(s, &x), tks_show(s, &y));
  tks_broadcast2(s, &c, &x);
  tks_broadcast2(s, &c, &y);
  tks_broadcast2(s, &x, &y);
  tk_type t = x.type;
  if (c.type.rank > t.rank) t = tk_with_shape(t, &c.type);
  if (y.type.rank > t.rank) t = tk_with_shape(t, &y.type);
  sval v[3] = {c, x, y};
  return tks_result(tks_emit(s, TK_I_SELECT, 0, t, 3, v));
}

sval rule_where(tks *s, const tks_args *a) {
  return tks_where(s, &a->v[0], &a->v[1], &a->v[2]);
}

/* ---- products ---------------------------------------------------------- */

/* Without input_precision the knob fp32_default says, else allow_tf32, for
 * which None is False.  Where input_precision is given as None, neither does:
 * to the compiler that is a constexpr, not an argument that is left out. */
static const char *precision_word(tks *s, const tks_args *a) {
  const char *const *options = s->launch->compile;
  const char *usual = options[TK_COMPILE_FP32_DEFAULT];
  if (a->given[3] && sv_is_none(&a->v[3]))
    return options[TK_COMPILE_DOT_DEFAULT];
  if (a->given[3]) return tks_arg_str(s, a, 3);
  if (*usual) return usual;
  bool allowed =
      !a->given[4] || (!sv_is_none(&a->v[4]) && sv_truth(s, &a->v[4]));
  bool has = tk_compile_lists(s->launch, TK_COMPILE_DOT_PRECISIONS, "tf32");
  return allowed && has ? "tf32" : "ieee";
}

static tk_precision precision(tks *s, const tks_args *a) {
  const tk_compile_option list = TK_COMPILE_DOT_PRECISIONS;
  if (a->given[3] && a->given[4])
    tks_error_help(s, TK_D_CALL, "leave out allow_tf32",
                   "only one of input_precision and allow_tf32 can be given");
  const char *p = precision_word(s, a);
  for (int i = 0; i < TK_P_COUNT; i++) {
    const char *word = tk_list_word(TK_LIST_PRECISION, i);
    if (!strcasecmp(p, word) && tk_compile_lists(s->launch, list, word))
      return (tk_precision)i;
  }
  tks_error(s, TK_D_VALUE, "input_precision must be one of %s, not '%s'",
            s->launch->compile[list], p);
}

static void check_dot_shapes(tks *s, const sval *a, const sval *b) {
  int rank = a->type.rank;
  if (rank != b->type.rank || rank < 2)
    tks_error_help(s, TK_D_SHAPE,
                   "load matrices: offsets of two axes are made by [:, None] "
                   "and [None, :]",
                   "tl.dot takes two blocks of as many axes, at least two, not "
                   "%s and %s",
                   tks_show(s, a), tks_show(s, b));
  if (a->type.shape[rank - 1] != b->type.shape[rank - 2])
    tks_error(s, TK_D_SHAPE,
              "tl.dot: the first operand has %d columns, the second %d rows",
              a->type.shape[rank - 1], b->type.shape[rank - 2]);
  for (int i = 0; i < rank - 2; i++)
    if (a->type.shape[i] != b->type.shape[i])
      tks_error(s, TK_D_SHAPE, "tl.dot: batches of %d and %d", a->type.shape[i],
                b->type.shape[i]);
  /* fp8e4b15 is multiplied as fp16. */
  bool bytes = tk_dtypes[sv_dtype(a)].bits == 8 && sv_dtype(a) != TK_FP8E4B15;
  int bits = tk_dtypes[sv_dtype(a)].bits;
  int min_k = bytes && tks_has(s, TKS_DOT_8_BIT_K) ? 32 : 16;
  if (bits >= 32 && tks_has(s, TKS_DOT_SMALL_K)) min_k = bits == 64 ? 4 : 8;
  if (!tks_has(s, TKS_DOT_ANY_ROWS) &&
      (a->type.shape[rank - 2] < 16 || b->type.shape[rank - 1] < 16))
    tks_error_help(s, TK_D_SHAPE, "pad the blocks with zeros",
                   "tl.dot needs M >= 16 and N >= 16 before Triton 3.5, not "
                   "%d and %d",
                   a->type.shape[rank - 2], b->type.shape[rank - 1]);
  if (a->type.shape[rank - 1] < min_k)
    tks_error_help(s, TK_D_SHAPE, "pad the inner dimension with zeros",
                   "Input shapes should have M >= 1, N >= 1 and K >= %d; K is "
                   "%d",
                   min_k, a->type.shape[rank - 1]);
}

static void check_dot_types(tks *s, const sval *a, const sval *b) {
  tk_dtype x = sv_dtype(a), y = sv_dtype(b);
  bool both8 = tk_is_fp8(x) && tk_is_fp8(y);
  if (a->type.ptr || b->type.ptr || (x != y && !both8))
    tks_error_help(s, TK_D_TYPE, "cast one of them with .to(...)",
                   "tl.dot: both operands must have the same dtype, not %s "
                   "and %s",
                   tks_show(s, a), tks_show(s, b));
  bool ok = x == TK_INT8 || tk_is_float(x);
  if (!ok) tks_error(s, TK_D_TYPE, "tl.dot cannot take %s", tk_dtype_name(x));
}

/* When it is left out, fp32 or since Triton 3.8 the type of acc; text is not a
 * dtype, and None is not one before 3.8. */
static tk_dtype dot_out_dtype(tks *s, const tks_args *args) {
  bool acc = tks_has(s, TKS_DOT_OF_ACC) && sv_is_tensor(&args->v[2]);
  bool none = tks_has(s, TKS_DOT_OF_ACC) && sv_is_none(&args->v[6]);
  if (!args->given[6] || none) return acc ? sv_dtype(&args->v[2]) : TK_FP32;
  s->frame->at = args->span[6];
  if (args->v[6].kind != V_TYPE || args->v[6].type.ptr)
    tks_error_help(s, TK_D_TYPE, "leave it out, or pass tl.float32",
                   "out_dtype of tl.dot must be a dtype, not %s",
                   tks_show(s, &args->v[6]));
  return (tk_dtype)args->v[6].type.elem;
}

/* max_num_imprecise_acc changes no result here, but has a limit. */
static void check_imprecise_acc(tks *s, const tks_args *args, const sval *a) {
  const sval *most = &args->v[5];
  int k = a->type.shape[a->type.rank - 1];
  if (most->kind == V_INT && tk_is_fp8(sv_dtype(a)) && most->i > k)
    tks_error(s, TK_D_VALUE, "max_num_imprecise_acc (%lld) must be <= K (%d)",
              (long long)most->i, k);
}

static tk_dtype dot_result(tks *s, const sval *a, const tks_args *args) {
  tk_dtype in = sv_dtype(a), out = dot_out_dtype(s, args);
  if (tk_is_int(in)) return TK_INT32;
  if (out == TK_BF16)
    tks_error(s, TK_D_TYPE,
              "out_dtype=bfloat16 is unsupported. Please use "
              "out_dtype=float32/float16 and cast with "
              "`.to(tl.bfloat16)`");
  if (in == TK_FP64) return TK_FP64;
  if (in == TK_FP32 || in == TK_BF16) return TK_FP32;
  if (out != TK_FP16 && out != TK_FP32)
    tks_error_help(s, TK_D_TYPE, "cast the result with .to(...)",
                   "the compiler has no product of %s with out_dtype %s: it is "
                   "tl.float32 or tl.float16",
                   tk_dtype_name(in), tk_dtype_name(out));
  return out;
}

/* acc has the type of the result, which out_dtype (fp32 when left out) names
 * too. */
static void check_acc(tks *s, const tks_args *args, const sval *acc,
                      const tk_type *t) {
  tk_dtype out = dot_out_dtype(s, args);
  if (!tk_same_type(&acc->type, t))
    tks_error(s, TK_D_TYPE, "tl.dot: acc must be %s, not %s",
              tks_type_text(s, t), tks_show(s, acc));
  if (sv_dtype(acc) != out)
    tks_error_help(s, TK_D_TYPE, "pass out_dtype=acc.dtype",
                   "tl.dot: out_dtype is %s, but acc is %s", tk_dtype_name(out),
                   tks_show(s, acc));
}

/* All axes but the last two as one batch: a product has three axes at most. */
static tk_type one_batch(tk_type t) {
  if (t.rank <= 3) return t;
  int rank = t.rank, batch = 1;
  for (int i = 0; i < rank - 2; i++) batch *= t.shape[i];
  int32_t shape[3] = {batch, t.shape[rank - 2], t.shape[rank - 1]};
  t.rank = 3;
  memcpy(t.shape, shape, sizeof shape);
  return t;
}

static sval as_shaped(tks *s, const sval *v, const tk_type *t) {
  int64_t shape[TK_MAX_RANK];
  for (int i = 0; i < t->rank; i++) shape[i] = t->shape[i];
  return tks_reshape(s, v, shape, t->rank);
}

sval rule_dot(tks *s, const tks_args *args) {
  sval v[3] = {tks_arg_tensor(s, args, 0), tks_arg_tensor(s, args, 1),
               sv(V_NONE)};
  tk_precision prec = precision(s, args);
  check_dot_types(s, &v[0], &v[1]);
  check_dot_shapes(s, &v[0], &v[1]);
  check_imprecise_acc(s, args, &v[0]);
  int rank = v[0].type.rank;
  tk_type t = tk_with_elem(v[0].type, dot_result(s, &v[0], args));
  t.shape[rank - 1] = v[1].type.shape[rank - 1];
  if (!sv_is_none(&args->v[2])) {
    v[2] = tks_arg_tensor(s, args, 2);
    check_acc(s, args, &v[2], &t);
  }
  size_t n = sv_is_none(&args->v[2]) ? 2 : 3;
  for (size_t i = 0; i < n; i++) {
    tk_type flat = one_batch(v[i].type);
    v[i] = as_shaped(s, &v[i], &flat);
  }
  tk_type flat = one_batch(t);
  sval r = tks_result(tks_emit(s, TK_I_DOT, (int)prec, flat, n, v));
  return as_shaped(s, &r, &t);
}
