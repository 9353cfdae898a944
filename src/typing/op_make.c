/* op_make.c - rules: creation, conversion, types, Python's builtins. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "typing/rule.h"
#include "typing/version.h"

/* ---- programming model, creation --------------------------------------- */

sval rule_program(tks *s, const tks_args *a) {
  int64_t axis = tks_arg_int(s, a, 0, NULL);
  if (axis < 0 || axis > 2)
    tks_error(s, TK_D_VALUE, "%s axis must be 0, 1, or 2 but got %lld",
              a->op->name + strlen("tl."), (long long)axis);
  tk_type t = tk_scalar(TK_INT32);
  return tks_result(tks_emit(s, (tk_opcode)a->op->mode, (int)axis, t, 0, NULL));
}

sval rule_arange(tks *s, const tks_args *a) {
  static const char want[] = "a constexpr int";
  int64_t lo = tks_arg_int(s, a, 0, want), hi = tks_arg_int(s, a, 1, want);
  int64_t n = hi - lo;
  if (lo < 0 || hi > INT32_MAX)
    tks_error(s, TK_D_VALUE, "arange must fit in int32");
  if (n <= 0)
    tks_error(s, TK_D_VALUE,
              "arange's end %lld must be greater than its start %lld",
              (long long)hi, (long long)lo);
  if (n & (n - 1))
    tks_error_help(s, TK_D_SHAPE,
                   "use triton.next_power_of_2 and a mask for the lanes "
                   "beyond the end",
                   "arange's range must be a power of 2");
  tks_check_shape(s, &n, 1);
  tk_type t = {.elem = TK_INT32, .rank = 1, .shape = {(int32_t)n}};
  tk_inst *in = tks_emit(s, TK_I_ARANGE, 0, t, 0, NULL);
  in->attr[0] = lo;
  return tks_result(in);
}

static sval full(tks *s, const sval *shape_arg, const sval *value,
                 tk_type elem) {
  int64_t shape[TK_MAX_RANK];
  if (shape_arg->kind != V_TUPLE)
    tks_error_help(s, TK_D_SHAPE, "write (n,), or [n]",
                   "the shape must be a tuple or list, not %s",
                   tks_show(s, shape_arg));
  int rank = tks_arg_shape(s, shape_arg, shape);
  tks_check_shape(s, shape, rank);
  sval v;
  if (sv_is_number(value) && !elem.ptr) {
    v = tks_literal(s, value, (tk_dtype)elem.elem);
  } else {
    v = tks_to_tensor(s, value);
    v = tks_reshape(s, &v, NULL, 0);
    v = tks_cast(s, &v, elem, false);
  }
  tk_type t = elem;
  t.rank = (uint8_t)rank;
  for (int i = 0; i < rank; i++) t.shape[i] = (int32_t)shape[i];
  return tks_broadcast(s, &v, &t);
}

/* The type of a new block's lanes. */
static tk_type lane_type(tks *s, const sval *v) {
  tk_type t = tks_arg_dtype(s, v);
  if (v->type.rank)
    tks_error(s, TK_D_TYPE, "expected a dtype such as tl.float32, not %s",
              tks_show(s, v));
  return t;
}

sval rule_full(tks *s, const tks_args *a) {
  if (sv_is_tensor(&a->v[1]) && tk_numel(&a->v[1].type) != 1)
    tks_error(s, TK_D_SHAPE, "tl.full takes one value, not %s",
              tks_show(s, &a->v[1]));
  return full(s, &a->v[0], &a->v[1], lane_type(s, &a->v[2]));
}

sval rule_zeros(tks *s, const tks_args *a) {
  sval zero = sv_int(0);
  return full(s, &a->v[0], &zero, lane_type(s, &a->v[1]));
}

static sval full_of_type(tks *s, const tk_type *t, double value) {
  sval v = sv_float(value);
  v = tks_number(s, &v, (tk_dtype)t->elem);
  return tks_broadcast(s, &v, t);
}

sval rule_zeros_like(tks *s, const tks_args *a) {
  bool pointer = a->v[0].type.ptr && !a->v[0].type.rank;
  if (!sv_is_tensor(&a->v[0]) || pointer)
    tks_error_help(s, TK_D_TYPE, "use tl.full", "%s takes a tensor, not %s",
                   a->op->name, tks_show(s, &a->v[0]));
  sval v = tks_arg_tensor(s, a, 0);
  return full_of_type(s, &v.type, 0);
}

sval rule_to_tensor(tks *s, const tks_args *a) {
  return tks_arg_tensor(s, a, 0);
}

/* Toward zero?  A rounding may be named where bits are lost alone. */
static bool rounding(tks *s, const tks_args *a, const tk_type *from,
                     const tk_type *to) {
  const char *r = tks_arg_str(s, a, 2);
  tk_dtype f = (tk_dtype)from->elem, t = (tk_dtype)to->elem;
  if (!*r || tk_same_elem(from, to)) return false;
  if (strcmp(r, "rtne") && strcmp(r, "rtz"))
    tks_error(s, TK_D_VALUE,
              "invalid rounding mode '%s': 'rtne' and 'rtz' are supported", r);
  if (from->ptr || to->ptr || !tk_is_float(f) || !tk_is_float(t) ||
      tk_dtypes[t].bits >= tk_dtypes[f].bits)
    tks_error(s, TK_D_VALUE,
              "fp_downcast_rounding is only for float conversions that lose "
              "bits, not %s to %s",
              tk_dtype_name(f), tk_dtype_name(t));
  return !strcmp(r, "rtz");
}

sval rule_cast(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  if (a->v[1].kind == V_STR)
    tks_error_help(s, TK_D_TYPE, "write tl.dtype('...')",
                   "%s takes a dtype, not %s", a->op->name,
                   tks_show(s, &a->v[1]));
  tk_type t = tks_arg_dtype(s, &a->v[1]);
  if (tks_arg_bool(s, a, 3)) return tks_bitcast(s, &v, t);
  return tks_cast(s, &v, t, rounding(s, a, &v.type, &t));
}

/* ---- types ------------------------------------------------------------- */

/* Of a tensor it is the tensor: assigning takes the wrapper off again. */
sval rule_constexpr(tks *s, const tks_args *a) {
  (void)s;
  return a->v[0];
}

sval rule_type_of(tks *s, const tks_args *a) {
  sval v = a->v[0];
  if (sv_runtime(&v))
    tks_error(s, TK_D_TYPE, "tl.constexpr_type takes a constexpr, not %s",
              tks_show(s, &v));
  v.is_one = true;
  return tks_type_of(s, &v);
}

sval rule_types(tks *s, const tks_args *a) {
  if (a->v[0].kind != V_TUPLE)
    tks_error(s, TK_D_TYPE, "tl.tuple_type takes a list of types, not %s",
              tks_show(s, &a->v[0]));
  sval t = sv_tuple(s, a->v[0].items, a->v[0].n);
  t.kind = V_TYPES;
  return t;
}

sval rule_dtype(tks *s, const tks_args *a) {
  int d = a->v[0].kind == V_STR ? tk_dtype_from_name(a->v[0].s) : -1;
  if (d >= 0) return sv_type(tk_scalar((tk_dtype)d));
  return sv_type(tks_arg_dtype(s, &a->v[0]));
}

enum { MOST_SPACE = 255 }; /* a GPU has five */

sval rule_pointer_type(tks *s, const tks_args *a) {
  tk_type t = tk_pointer(tks_arg_dtype(s, &a->v[0]));
  t.is_const = tks_arg_bool(s, a, 2);
  const sval *space = &a->v[1];
  bool other = a->given[1] && space->kind == V_INT && space->i != 1;
  if (other && (space->i < 0 || space->i > MOST_SPACE))
    tks_error(s, TK_D_VALUE, "the address space is not one of 0 to %d",
              MOST_SPACE);
  if (other) t.space = (uint8_t)(space->i - 1);
  return sv_type(t);
}

sval rule_block_type(tks *s, const tks_args *a) {
  int64_t shape[TK_MAX_RANK];
  tk_type t = tks_arg_dtype(s, &a->v[0]);
  t.rank = (uint8_t)tks_arg_shape(s, &a->v[1], shape);
  tks_check_shape(s, shape, t.rank);
  for (int i = 0; i < t.rank; i++) t.shape[i] = (int32_t)shape[i];
  return sv_type(t);
}

sval rule_tuple(tks *s, const tks_args *a) {
  if (a->v[0].kind != V_TUPLE)
    tks_error(s, TK_D_TYPE, "tl.tuple takes a list, not %s",
              tks_show(s, &a->v[0]));
  return a->v[0];
}

/* The compiler asks the type's name, which in a block's and a pointer's has
 * the element's in it: so is_fp8 holds of all of them, and no other does. */
static bool is_kind(const tk_type *t, int kind) {
  tk_dtype d = (tk_dtype)t->elem;
  bool value = !t->ptr && !t->rank;
  switch (kind) {
  case 'F': return value && tk_is_float(d);
  case 'S': return value && tk_is_float(d) && !tk_is_fp8(d);
  case 'I': return value && tk_is_int(d);
  case 'i': return value && tk_is_signed(d);
  case 'u': return value && tk_is_int(d) && !tk_is_signed(d);
  case 'b': return value && d == TK_INT1;
  case 'p': return t->ptr > 0 && (!t->rank || t->to_block);
  case 'B': return t->rank > 0 && !t->to_block;
  case 'c': return t->is_const && !t->rank;
  default: return tk_is_fp8(d);
  }
}

sval rule_is(tks *s, const tks_args *a) {
  (void)s;
  return sv_bool(is_kind(&a->v[0].type, a->op->mode));
}

sval rule_is_dtype(tks *s, const tks_args *a) {
  (void)s;
  const tk_type *t = &a->v[0].type;
  return sv_bool(!t->ptr && !t->rank && t->elem == a->op->mode);
}

sval rule_names_dtype(tks *s, const tks_args *a) {
  const char *name = tks_arg_str(s, a, 1);
  bool found = !strcmp(name, "void");
  for (size_t d = 0; d < TK_DTYPE_COUNT; d++)
    found |= !strcmp(name, tk_dtypes[d].name);
  return sv_bool(found);
}

sval rule_nothing(tks *s, const tks_args *a) {
  tks_error(s, TK_D_CALL, "%s cannot be called in a kernel", a->op->name);
}

/* A member of an enumeration: its value is the row's mode. */
sval rule_member(tks *s, const tks_args *a) {
  return rule_nothing(s, a);
}

sval rule_first(tks *s, const tks_args *a) {
  (void)s;
  return a->v[0];
}

/* multiple_of and its like: a constexpr integer for each axis. */
sval rule_hint(tks *s, const tks_args *a) {
  const sval *v = &a->v[1], *items = v->kind == V_TUPLE ? v->items : v;
  size_t n = v->kind == V_TUPLE ? v->n : 1, rank = 1;
  for (size_t i = 0; i < n; i++)
    if (items[i].kind != V_INT)
      tks_error(s, TK_D_TYPE, "values of %s must be constexpr integers, not %s",
                a->op->name, tks_show(s, &items[i]));
  if (sv_is_tensor(&a->v[0])) rank = a->v[0].type.rank;
  if (n != (rank ? rank : 1))
    tks_error(s, TK_D_SHAPE, "%s: %zu values for %zu axes", a->op->name, n,
              rank);
  if (!sv_is_tensor(&a->v[0]))
    tks_error(s, TK_D_TYPE, "%s takes tensors, not %s", a->op->name,
              tks_show(s, &a->v[0]));
  tk_inst *in = tks_emit(s, TK_I_HINT, a->op->mode, a->v[0].type, 1, &a->v[0]);
  for (size_t k = 0; k < n; k++) in->attr[k] = (int64_t)items[k].i;
  return tks_result(in);
}

sval rule_iterator(tks *s, const tks_args *a) {
  tks_error_help(s, TK_D_UNSUPPORTED, "write for i in range(...):",
                 "%s can be used only as what a for loop counts over",
                 a->op->name);
}

/* ---- the host's helpers ------------------------------------------------ */

sval rule_host_cdiv(tks *s, const tks_args *a) {
  for (int i = 0; i < 2; i++)
    if (sv_runtime(&a->v[i]))
      tks_error_help(s, TK_D_TYPE, "write tl.cdiv",
                     "triton.cdiv is the host's and takes constexprs, not %s",
                     tks_show(s, &a->v[i]));
  sval minus = sv_unary(s, TK_OP_NEG, &a->v[0]);
  sval q = sv_binary(s, TK_OP_FLOORDIV, &minus, &a->v[1]);
  return sv_unary(s, TK_OP_NEG, &q);
}

sval rule_next_power(tks *s, const tks_args *a) {
  int64_t n = tks_arg_int(s, a, 0, NULL);
  uint64_t p = 1;
  while (p < (uint64_t)n && p < (uint64_t)1 << 62) p *= 2;
  return sv_int((tk_int)p);
}

/* ---- Python's builtins ------------------------------------------------- */

static bool any_runtime(const sval *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (sv_runtime(&v[i])) return true;
  return false;
}

/* Of known numbers; which of a NaN or two zeros it is, is not defined. */
static sval known_extreme(tks *s, const tks_args *a, bool is_min) {
  const sval *v = a->rest;
  sval best = v[0];
  for (size_t i = 0; i < a->nrest; i++) {
    double f = sv_is_number(&v[i]) ? sv_as_double(&v[i]) : 0;
    if (!sv_is_number(&v[i]))
      tks_error_help(s, TK_D_TYPE,
                     v[i].kind == V_TUPLE ? "spread the tuple: min(*x)" : NULL,
                     "%s takes numbers, not %s", strrchr(a->op->name, '.') + 1,
                     tks_show(s, &v[i]));
    if (f != f || (f == 0 && signbit(f)))
      tks_error(s, TK_D_VALUE, "%s of constexprs cannot take %s",
                strrchr(a->op->name, '.') + 1, f == f ? "-0.0" : "NaN");
    if (is_min ? f < sv_as_double(&best) : f > sv_as_double(&best)) best = v[i];
  }
  return best;
}

sval rule_py_minmax(tks *s, const tks_args *a) {
  const sval *v = a->rest;
  bool is_min = a->op->mode == TK_B_MIN;
  if (a->nrest && !any_runtime(v, a->nrest)) return known_extreme(s, a, is_min);
  if (a->nrest < 2)
    tks_error_help(s, TK_D_CALL,
                   is_min ? "the least lane of a block is tl.min(x, axis=0)"
                          : "the greatest lane of a block is tl.max(x, axis=0)",
                   "%s needs at least two values",
                   strrchr(a->op->name, '.') + 1);
  sval best = v[0];
  for (size_t i = 1; i < a->nrest; i++) {
    sval two[2] = {best, v[i]};
    best = tks_call_name(s, is_min ? "tl.minimum" : "tl.maximum", two, 2);
  }
  return best;
}

sval rule_len(tks *s, const tks_args *a) {
  const sval *v = &a->v[0];
  if (v->kind == V_TUPLE || v->kind == V_STR) return sv_int((tk_int)v->n);
  if (v->kind == V_DICT)
    return sv_int((tk_int)tks_call_name(s, "dict.keys", v, 1).n);
  tks_error_help(s, TK_D_TYPE,
                 sv_is_block(v) ? "x.shape[0] is the size of its first axis"
                 : sv_is_tensor(v) && v->type.ptr
                     ? "a pointer has no size: pass the size as an argument"
                     : NULL,
                 "len cannot take %s", tks_show(s, v));
}

static const sval *known(tks *s, const tks_args *a) {
  if (sv_runtime(&a->v[0]))
    tks_error_help(s, TK_D_TYPE, "convert tensors with x.to(dtype)",
                   "%s takes a constexpr, not %s",
                   strrchr(a->op->name, '.') + 1, tks_show(s, &a->v[0]));
  return &a->v[0];
}

/* As Python's int() reads decimal digits, which single _ may part. */
static sval int_of_text(tks *s, const sval *v) {
  const char *at = v->s, *end = v->s + v->n;
  while (at < end && strchr(" \t\n\r\v\f", *at)) at++;
  while (end > at && strchr(" \t\n\r\v\f", end[-1])) end--;
  bool minus = at < end && *at == '-', digit = false;
  if (at < end && strchr("+-", *at)) at++;
  tk_int n = 0;
  for (; at < end; at++) {
    if (*at == '_' && digit && at + 1 < end) {
      digit = false;
      continue;
    }
    digit = *at >= '0' && *at <= '9';
    if (!digit || __builtin_mul_overflow(n, (tk_int)10, &n) ||
        __builtin_add_overflow(n, (tk_int)(*at - '0'), &n))
      break;
  }
  if (at < end || !digit)
    tks_error(s, TK_D_VALUE, "invalid literal for int() with base 10: '%s'",
              v->s);
  return sv_int(minus ? -n : n);
}

sval rule_py_int(tks *s, const tks_args *a) {
  const sval *v = known(s, a);
  if (v->kind == V_FLOAT) {
    if (!(v->f > -0x1p100 && v->f < 0x1p100))
      tks_error(s, TK_D_VALUE, "int cannot take %s", tks_show(s, v));
    return sv_int((tk_int)v->f);
  }
  if (sv_is_number(v)) return sv_int(v->i);
  if (v->kind == V_STR) return int_of_text(s, v);
  tks_error(s, TK_D_TYPE, "int cannot take %s", tks_show(s, v));
}

sval rule_py_float(tks *s, const tks_args *a) {
  const sval *v = known(s, a);
  char *end;
  if (sv_is_number(v)) return sv_float(sv_as_double(v));
  if (v->kind == V_STR) {
    double f = strtod(v->s, &end);
    while (*end == ' ') end++;
    if (end != v->s && !*end) return sv_float(f);
    tks_error(s, TK_D_VALUE, "could not convert '%s' to float", v->s);
  }
  tks_error(s, TK_D_TYPE, "float cannot take %s", tks_show(s, v));
}

sval rule_py_bool(tks *s, const tks_args *a) {
  return sv_bool(sv_truth(s, known(s, a)));
}

sval rule_py_str(tks *s, const tks_args *a) {
  size_t n;
  const char *text = tks_said_text(s, known(s, a), &n);
  return sv_str(text, n);
}

sval rule_bit_length(tks *s, const tks_args *a) {
  (void)s;
  tk_int x = a->v[0].i < 0 ? -a->v[0].i : a->v[0].i, n = 0;
  for (; x; x >>= 1) n++;
  return sv_int(n);
}

sval rule_dict_get(tks *s, const tks_args *a) {
  const sval *d = &a->v[0];
  for (size_t i = 0; i < d->n; i += 2) {
    if (!sv_equal(&d->items[i], &a->v[1])) continue;
    if (a->op->mode) d->items[i] = sv(V_ELLIPSIS); /* a key of nothing */
    return d->items[i + 1];
  }
  if (a->op->mode && !a->given[2])
    tks_error(s, TK_D_VALUE, "no keyword has the name %s",
              tks_show(s, &a->v[1]));
  return a->v[2];
}

/* Its keys, its values, or pairs of both. */
sval rule_dict_list(tks *s, const tks_args *a) {
  const sval *d = &a->v[0];
  sval list = sv_tuple(s, d->items, d->n);
  list.n = 0;
  for (size_t i = 0; i < d->n; i += 2)
    if (d->items[i].kind != V_ELLIPSIS)
      list.items[list.n++] = a->op->mode == 2
                                 ? sv_tuple(s, &d->items[i], 2)
                                 : d->items[i + (size_t)a->op->mode];
  return list;
}

sval rule_setattr(tks *s, const tks_args *a) {
  const char *name = tks_arg_str(s, a, 1);
  if (a->v[0].kind != V_INSTANCE)
    tks_error(s, TK_D_TYPE, "attributes of %s cannot be set",
              tks_show(s, &a->v[0]));
  tks_set_field(s, &a->v[0], name, &a->v[2]);
  return sv(V_NONE);
}

sval rule_aggregate_replace(tks *s, const tks_args *a) {
  if (a->v[0].kind != V_INSTANCE)
    tks_error(s, TK_D_TYPE,
              "aggregate_replace() expects an aggregate instance, got %s",
              tks_show(s, &a->v[0]));
  return tks_replace_fields(s, &a->v[0], a->rest, a->nrest / 2);
}

/* Whether a text begins (mode 0) or ends with another. */
sval rule_str_affix(tks *s, const tks_args *a) {
  const char *affix = tks_arg_str(s, a, 1), *text = a->v[0].s;
  size_t n = strlen(affix), size = a->v[0].n;
  if (n > size) return sv_bool(false);
  return sv_bool(!strncmp(a->op->mode ? text + size - n : text, affix, n));
}

/* Letters of ASCII, as names and formats have. */
sval rule_str_case(tks *s, const tks_args *a) {
  char *text = tk_arena_strndup(s->arena, a->v[0].s, a->v[0].n);
  char first = a->op->mode ? 'a' : 'A', last = a->op->mode ? 'z' : 'Z';
  for (char *p = text; *p; p++)
    if (*p >= first && *p <= last) *p ^= 'a' ^ 'A';
  return sv_str(text, a->v[0].n);
}

sval rule_py_abs(tks *s, const tks_args *a) {
  const sval *v = &a->v[0];
  if (sv_is_tensor(v)) return tks_call_name(s, "tl.abs", v, 1);
  if (!sv_is_number(v))
    tks_error(s, TK_D_TYPE, "abs cannot take %s", tks_show(s, v));
  sval zero = sv_int(0), neg = sv_unary(s, TK_OP_NEG, v);
  return sv_truth(s, &(sval){.kind = V_BOOL,
                             .i = sv_binary(s, TK_OP_LT, v, &zero).i})
             ? neg
             : sv_unary(s, TK_OP_POS, v);
}

sval rule_py_tuple(tks *s, const tks_args *a) {
  if (a->v[0].kind != V_TUPLE)
    tks_error(s, TK_D_TYPE, "a tuple cannot be made of %s",
              tks_show(s, &a->v[0]));
  return a->v[0];
}

sval rule_isinstance(tks *s, const tks_args *a) {
  const sval *v = &a->v[0], *t = &a->v[1];
  if (t->kind == V_TUPLE)
    tks_error_help(s, TK_D_UNSUPPORTED, "join two calls with 'or'",
                   "isinstance takes one class: a tuple cannot hold classes");
  if (tks_is_no_class(t))
    tks_error_help(s, TK_D_TYPE, "such as int, tl.tensor or tl.constexpr",
                   "isinstance asks for a class, not %s", tks_show(s, t));
  if (t->kind == V_OBJECT && v->kind == V_INSTANCE)
    return sv_bool(tks_is_derived(v->object->class, tks_class_of(s, t->obj)));
  return sv_bool(tks_is_instance(v, t, false));
}

typedef struct attr_job {
  tks *s;
  const sval *v;
  const char *name;
  sval out;
} attr_job;

static void try_attr(tk_env *e, void *ud) {
  attr_job *j = ud;
  (void)e;
  j->out = tks_attr(j->s, j->v, j->name);
}

/* Whether the attribute exists; what was reported about it is forgotten. */
static bool has_attr(tks *s, const sval *v, const char *name) {
  attr_job j = {s, v, name, sv(V_NONE)};
  size_t said = s->env->ndiags;
  tk_insts scratch = {0}, *saved = tks_emit_to(s, &scratch);
  tk_status st = tk_protect(s->env, try_attr, &j);
  tks_emit_back(s, saved);
  if (st != TK_OK && st != TK_FINDING) tk_throw(s->env, st);
  if (st != TK_OK) tk_diag_truncate(s->env, said);
  return st == TK_OK;
}

static const char *attr_name(tks *s, const tks_args *a) {
  if (a->v[1].kind != V_STR)
    tks_error(s, TK_D_TYPE, "the name of an attribute is a string, not %s",
              tks_show(s, &a->v[1]));
  return a->v[1].s;
}

sval rule_hasattr(tks *s, const tks_args *a) {
  const char *name = attr_name(s, a);
  const sval *v = &a->v[0];
  bool has = has_attr(s, v, name) || !strcmp(name, "values");
  bool raises = !tks_has(s, TKS_TUPLE_HAS) && !s->frame->python;
  if (!has && v->kind == V_TUPLE && !v->is_host && raises)
    tks_error_help(s, TK_D_NAME, "ask isinstance(x, tl.tuple)",
                   "hasattr of a tuple that has no field %s raises an error",
                   name);
  return sv_bool(has);
}

/* The builtin sees the value that a constexpr holds, which has no .value. */
sval rule_getattr(tks *s, const tks_args *a) {
  const char *name = attr_name(s, a);
  bool wraps = a->v[0].kind <= V_STR && !strcmp(name, "value");
  if (a->given[2] && (wraps || !has_attr(s, &a->v[0], name))) return a->v[2];
  if (wraps)
    tks_error_help(s, TK_D_NAME, "leave the getattr out",
                   "%s is the value itself here: it has no attribute value",
                   tks_show(s, &a->v[0]));
  return tks_attr(s, &a->v[0], name);
}
