/* op_table.c - op.def as a table, and reading bound arguments. */
#include <string.h>

#include "spec/rule.h"

enum { /* rows of libdevice.def */
#define LIBDEVICE(id, params, accuracy, doc, overloads) ROW_##id,
#include "ir/libdevice.def"
#undef LIBDEVICE
};

static const tks_op table[] = {
#define F false
#define M true
#define OP(name, method, sig, rule, mode, doc)                                 \
  {name, sig, rule, mode, method, doc},
#include "op.def"
#undef OP
#undef F
#undef M
/* libdevice's functions follow. */
#define TYPE_b "int1"
#define TYPE_i "int32"
#define TYPE_u "uint32"
#define TYPE_l "int64"
#define TYPE_q "uint64"
#define TYPE_f "fp32"
#define TYPE_F "fp32"
#define TYPE_d "fp64"
#define EXACT "exact"
#define ROUNDED "correctly rounded"
#define WITHIN(f32, f64) "within " #f32 " ULP (fp32), " #f64 " ULP (fp64)"
#define WITHIN32(bound) "within " #bound " ULP"
#define WITHIN64(bound) "within " #bound " ULP"
#define NEAR(f32, f64) "within " #f32 " ULP (fp32), " #f64 " * 2^-52 (fp64)"
#define LIBDEVICE(id, params, accuracy, doc, overloads)                        \
  {"libdevice." #id, params, rule_libdevice,                                   \
   ROW_##id,         false,  doc "; " accuracy overloads},
#define LANE1(name, R, A, value) "; (" TYPE_##A ") -> " TYPE_##R
#define LANE2(name, R, A, B, value)                                            \
  "; (" TYPE_##A ", " TYPE_##B ") -> " TYPE_##R
#define LANE3(name, R, A, B, C, value)                                         \
  "; (" TYPE_##A ", " TYPE_##B ", " TYPE_##C ") -> " TYPE_##R
#define LANE4(name, R, A, B, C, D, value)                                      \
  "; (" TYPE_##A ", " TYPE_##B ", " TYPE_##C ", " TYPE_##D ") -> " TYPE_##R
#define ROUND1(name, mode, R, A, value) LANE1(name, R, A, value)
#define ROUND2(name, mode, R, A, B, value) LANE2(name, R, A, B, value)
#define ROUND3(name, mode, R, A, B, C, value) LANE3(name, R, A, B, C, value)
#include "ir/libdevice.def"
#undef LIBDEVICE
};

const tks_op *tks_op_at(size_t i) {
  return i < TK_COUNT(table) ? &table[i] : NULL;
}

const tks_op *tks_find_op(const char *name) {
  for (size_t i = 0; i < TK_COUNT(table); i++)
    if (!strcmp(table[i].name, name)) return &table[i];
  return NULL;
}

/* Names of prelude.py and triton_helpers.py come after the table's own. */
static const char *const prelude_names[] = {
#define PRELUDE(name) "tl." name,
#include "prelude.def"
#undef PRELUDE
#define PRELUDE(name) "triton_helpers." name,
#include "triton_helpers.def"
#undef PRELUDE
};

const char *tk_builtin_name(size_t i) {
  if (i < TK_COUNT(table)) return table[i].name;
  i -= TK_COUNT(table);
  return i < TK_COUNT(prelude_names) ? prelude_names[i] : NULL;
}

const char *tk_builtin_signature(size_t i) {
  if (i < TK_COUNT(table)) return table[i].sig;
  return tk_builtin_name(i) ? "" : NULL;
}

const char *tk_builtin_doc(size_t i) {
  if (i < TK_COUNT(table)) return table[i].doc;
  return tk_builtin_name(i) ? "" : NULL;
}

/* ---- arguments --------------------------------------------------------- */

static const char *param_name(tks *s, const tks_args *a, size_t i) {
  const char *p = a->op->sig;
  for (; i > 0 && p; i--) p = strchr(p, ',') ? strchr(p, ',') + 1 : p;
  while (*p == ' ' || *p == '*') p++;
  return tk_arena_strndup(s->arena, p, strcspn(p, ",="));
}

static const char constexpr_help[] =
    "it is needed before the program runs: make the parameter that it comes "
    "from tl.constexpr, and the variable too: 'NAME: tl.constexpr = ...'";

static const char float_help[] =
    "'/' gives a float even of whole numbers: use //, or triton.cdiv to round "
    "up";

static void bad(tks *s, const tks_args *a, size_t i,
                const char *want) TK_NORETURN;
static void bad(tks *s, const tks_args *a, size_t i, const char *want) {
  bool known = strstr(want, "constexpr") != NULL;
  const char *help = !known                    ? NULL
                     : sv_is_tensor(&a->v[i])  ? constexpr_help
                     : a->v[i].kind == V_FLOAT ? float_help
                                               : NULL;
  s->frame->at = a->span[i];
  tks_error_help(s, TK_D_TYPE, help, "%s: %s must be %s, not %s", a->op->name,
                 param_name(s, a, i), want, tks_show(s, &a->v[i]));
}

int64_t tks_arg_int(tks *s, const tks_args *a, size_t i, const char *what) {
  const sval *v = &a->v[i];
  if (v->kind != V_INT && v->kind != V_BOOL)
    bad(s, a, i, what ? what : "a constexpr int");
  if (v->i > INT64_MAX || v->i < INT64_MIN) bad(s, a, i, "a 64-bit int");
  return (int64_t)v->i;
}

bool tks_arg_bool(tks *s, const tks_args *a, size_t i) {
  const sval *v = &a->v[i];
  if (!sv_is_number(v) && !sv_is_none(v)) bad(s, a, i, "a constexpr bool");
  return sv_truth(s, v);
}

const char *tks_arg_str(tks *s, const tks_args *a, size_t i) {
  if (sv_is_none(&a->v[i])) return "";
  if (a->v[i].kind != V_STR) bad(s, a, i, "a string");
  return a->v[i].s;
}

int tks_arg_shape(tks *s, const sval *v, int64_t *shape) {
  const sval *items = v->kind == V_TUPLE ? v->items : v;
  size_t n = v->kind == V_TUPLE ? v->n : 1;
  if (n > TK_MAX_RANK)
    tks_error(s, TK_D_SHAPE, "a block has at most %d axes", TK_MAX_RANK);
  for (size_t i = 0; i < n; i++) {
    if (items[i].kind != V_INT && items[i].kind != V_BOOL)
      tks_error_help(s, TK_D_SHAPE, constexpr_help,
                     "shape element %zu must be a constexpr int, not %s", i,
                     tks_show(s, &items[i]));
    bool small = items[i].i >= -1 && items[i].i <= INT32_MAX;
    shape[i] = small ? (int64_t)items[i].i : INT32_MAX;
  }
  return (int)n;
}

int tks_arg_axis(tks *s, const sval *v, int rank) {
  if (v->kind != V_INT && v->kind != V_BOOL)
    tks_error(s, TK_D_TYPE, "axis must be a constexpr int, not %s",
              tks_show(s, v));
  tk_int axis = v->i < 0 ? v->i + rank : v->i;
  if (axis < 0 || axis >= rank)
    tks_error(s, TK_D_VALUE, "invalid axis %lld. Expected %d <= axis < %d",
              (long long)v->i, -rank, rank);
  return (int)axis;
}

tk_type tks_arg_dtype(tks *s, const sval *v) {
  if (v->kind == V_TYPE && v->type.to_block)
    tks_error_help(s, TK_D_TYPE, "its element_ty is the type of its elements",
                   "%s, the type of a block pointer, is not a numeric type",
                   tks_show(s, v));
  if (v->kind == V_TYPE) return tk_elem_of(v->type);
  bool named = v->kind == V_STR && tk_dtype_from_name(v->s) >= 0;
  tks_error_help(s, TK_D_TYPE, named ? "write tl.dtype('...')" : NULL,
                 "expected a dtype such as tl.float32, not %s", tks_show(s, v));
}
