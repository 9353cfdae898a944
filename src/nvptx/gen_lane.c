/* gen_lane.c - lane-wise instructions, one lane at a time: their operands, and
 * functions of libdevice. */
#include "nvptx/gen.h"

#include <string.h>

#include "ir/libdevice.h"

/* ---- functions of libdevice ---------------------------------------------- */

/* Names of libdevice's functions that do not follow from Triton's names, by the
 * type of the last argument. */
static const struct odd_name {
  const char *name;
  tk_dtype type;
  const char *symbol;
} odd_names[] = {
    {"clz", TK_INT64, "clzll"},
    {"popc", TK_INT64, "popcll"},
    {"brev", TK_INT64, "brevll"},
    {"ffs", TK_INT64, "ffsll"},
    {"abs", TK_INT64, "llabs"},
    {"abs", TK_FP32, "fabsf"},
    {"abs", TK_FP64, "fabs"},
    {"mulhi", TK_UINT32, "umulhi"},
    {"mulhi", TK_INT64, "mul64hi"},
    {"mulhi", TK_UINT64, "umul64hi"},
    {"mul24", TK_UINT32, "umul24"},
    {"sad", TK_UINT32, "usad"},
    {"hadd", TK_UINT32, "uhadd"},
    {"rhadd", TK_UINT32, "urhadd"},
    {"isnan", TK_FP64, "isnand"},
    {"isinf", TK_FP64, "isinfd"},
    {"signbit", TK_FP64, "signbitd"},
    {"finitef", TK_FP32, "finitef"},
    {"saturatef", TK_FP32, "saturatef"},
    {"fast_dividef", TK_FP32, "fast_fdividef"},
    {"rsqrt_rn", TK_FP32, "frsqrt_rn"},
};

/* "add_rn" has a letter for the type before it, "fma_rn" after "fma". */
static const char *rounded_symbol(tkv_gen *g, const char *name, bool single) {
  static const char *const bases[] = {"add", "sub", "mul",
                                      "div", "rcp", "sqrt"};
  size_t n = strlen(name);
  if (n < 4 || strncmp(name + n - 3, "_r", 2)) return NULL;
  if (!strncmp(name, "fma_", 4))
    return single ? tk_arena_printf(g->arena, "__nv_fmaf%s", name + 3) : NULL;
  for (size_t i = 0; i < TK_COUNT(bases); i++)
    if (strlen(bases[i]) == n - 3 && !strncmp(name, bases[i], n - 3))
      return tk_arena_printf(g->arena, "__nv_%c%s", single ? 'f' : 'd', name);
  return NULL;
}

static const char *extern_symbol(tkv_gen *g, const char *name,
                                 const tk_overload *o) {
  tk_dtype first = (tk_dtype)o->args[0], last = (tk_dtype)o->args[o->nargs - 1];
  bool single = first == TK_FP32 || last == TK_FP32;
  for (size_t i = 0; i < TK_COUNT(odd_names); i++)
    if (!strcmp(odd_names[i].name, name) && odd_names[i].type == last)
      return tk_arena_printf(g->arena, "__nv_%s", odd_names[i].symbol);
  if (!strcmp(name, "pow") && last == TK_INT32)
    return first == TK_FP32 ? "__nv_powif" : "__nv_powi";
  const char *rounded = rounded_symbol(g, name, single);
  if (rounded) return rounded;
  bool as_it_is = !strncmp(name, "float2", 6) ||
                  !strncmp(name, "float_as", 8) || !strncmp(name, "fast_", 5);
  return tk_arena_printf(g->arena, "__nv_%s%s", name,
                         single && !as_it_is ? "f" : "");
}

/* A function that answers yes or no returns an int32 in libdevice. */
static tkv_reg call_extern(tkv_gen *g, const tk_inst *in, const tkv_reg *arg) {
  const tk_extern *x = tk_extern_at(tk_extern_function(in));
  const tk_overload *o = &x->overloads[tk_extern_overload(in)];
  bool flag = o->result == TK_INT1;
  tk_type result = tk_scalar(flag ? TK_INT32 : (tk_dtype)o->result);
  for (int i = 0; i < o->nargs; i++) {
    tk_type t = tk_scalar((tk_dtype)o->args[i]);
    TK_ASSERT(tkv_same_type(arg[i].type, tkv_lane_type(&t)));
  }
  tkv_reg value = tkv_call(g->code, extern_symbol(g, x->name, o),
                           tkv_lane_type(&result), arg, o->nargs);
  return flag ? tkv_compare_n(g->code, TKV_NE, value, 0) : value;
}

/* ---- instructions -------------------------------------------------------- */

static tkv_reg add_pointer(tkv_code *c, const tk_type *t, const tk_type *offset,
                           const tkv_reg *lane) {
  tk_type to = tk_pointee(*t), wide = {.elem = TK_INT64};
  tkv_reg x = tkv_convert_lane(c, &wide, offset, lane[1]);
  x = tkv_mul_n(c, x, (int64_t)tk_lane_size(&to));
  return tkv_add(c, lane[0], x);
}

static tkv_reg cast(tkv_code *c, const tk_inst *in, const tk_type *from,
                    tkv_reg x) {
  return tk_cast_rounding(in) == TK_ROUND_ZERO
             ? tkv_cut_lane(c, &in->type, from, x)
             : tkv_convert_lane(c, &in->type, from, x);
}

static bool has_conversion(tk_dtype d) {
  return d == TK_FP8E4NV || d == TK_FP8E5 || d == TK_FP8E4B15;
}

static void check_formats(tkv_gen *g, const tk_inst *in, const tk_type *t) {
  if (!t->ptr && tk_is_fp8((tk_dtype)t->elem) &&
      !has_conversion((tk_dtype)t->elem))
    tkv_refuse(g, in, TKV_REFUSED_FORMAT, "NVIDIA's GPUs have no %s",
               tk_dtypes[t->elem].name);
}

tkv_reg tkv_lane_wise(tkv_gen *g, const tk_inst *in, tkv_value *const *args,
                      const tkv_reg *lane) {
  tkv_code *c = g->code;
  const tk_type *t = &in->type, *from = in->nargs ? &args[0]->type : NULL;
  if (from) check_formats(g, in, from);
  if (in->op != TK_I_COMPARE) check_formats(g, in, t);
  switch (in->op) {
  case TK_I_COPY: return tkv_from_bits(c, t, tkv_to_bits(c, lane[0]));
  case TK_I_CAST: return cast(c, in, from, lane[0]);
  case TK_I_UNARY:
    return tkv_lane_unary(c, tk_unary_op(in), tk_unary_accuracy(in), t,
                          lane[0]);
  case TK_I_BINARY:
    if (tk_binary_op(in) == TK_B_DIV && tk_is_float((tk_dtype)t->elem))
      return tkv_lane_divide(c, tk_binary_accuracy(in), t, lane[0], lane[1]);
    return tkv_lane_binary(c, tk_binary_op(in), t, lane[0], lane[1]);
  case TK_I_COMPARE:
    return tkv_lane_compare(c, tk_compare_op(in), from, lane[0], lane[1]);
  case TK_I_SELECT: return tkv_select(c, lane[0], lane[1], lane[2]);
  case TK_I_FMA: return tkv_fma(c, lane[0], lane[1], lane[2]);
  case TK_I_ADDPTR: return add_pointer(c, t, &args[1]->type, lane);
  case TK_I_EXTERN: return call_extern(g, in, lane);
  }
  TK_ASSERT(false);
  return TKV_NO_REG;
}
