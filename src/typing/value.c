/* value.c - values known while specialising, with Python's meaning.
 *
 * Integers are 128 bits wide, which covers every dtype and lets overflow be
 * seen; operations that leave that range are refused.  Division and modulo
 * of two known values round as Python does, not as the compiled code does.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "typing/emit.h"

sval sv_tuple(tks *s, const sval *items, size_t n) {
  sval v = {.kind = V_TUPLE, .n = n};
  v.items = TK_NEWN(s->arena, sval, n);
  if (n) memcpy(v.items, items, n * sizeof *items);
  return v;
}

bool sv_runtime(const sval *v) {
  if (v->kind == V_TENSOR || v->kind == V_BLOCKPTR || v->kind == V_DESC)
    return true;
  if (v->kind != V_TUPLE && v->kind != V_INSTANCE && v->kind != V_DICT)
    return false;
  for (size_t i = 0; i < v->n; i++)
    if (sv_runtime(&v->items[i])) return true;
  return false;
}

double sv_as_double(const sval *v) {
  return v->kind == V_FLOAT ? v->f : (double)v->i;
}

bool sv_truth(tks *s, const sval *v) {
  switch (v->kind) {
  case V_NONE: return false;
  case V_BOOL:
  case V_INT: return v->i != 0;
  case V_FLOAT: return v->f != 0;
  case V_STR:
  case V_DICT:
  case V_TUPLE: return v->n != 0;
  case V_TENSOR:
    tks_error(s, TK_D_TYPE,
              "a value that is known only when the program runs is used "
              "where a constexpr is needed");
  default: return true;
  }
}

static bool items_agree(const sval *a, const sval *b,
                        bool (*same)(const sval *, const sval *)) {
  if (a->n != b->n) return false;
  for (size_t i = 0; i < a->n; i++)
    if (!same(&a->items[i], &b->items[i])) return false;
  return true;
}

/* How an integer is ordered with a float that is not NaN: exactly, where a
 * double does not hold the integer. */
static int int_order(tk_int a, double b) {
  double limit = ldexp(1, 127), whole = floor(b);
  if (b >= limit) return -1;
  if (b < -limit) return 1;
  tk_int n = (tk_int)whole;
  return a != n ? (a < n ? -1 : 1) : b > whole ? -1 : 0;
}

/* -1, 0 or 1 of two numbers of which one at least is a float. */
static int float_order(const sval *x, const sval *y) {
  double a = sv_as_double(x), b = sv_as_double(y);
  if (x->kind != V_FLOAT) return int_order(x->i, b);
  if (y->kind != V_FLOAT) return -int_order(y->i, a);
  return a < b ? -1 : a > b;
}

static bool is_unordered(const sval *x, const sval *y) {
  return isnan(sv_as_double(x)) || isnan(sv_as_double(y));
}

bool sv_equal(const sval *a, const sval *b) {
  if (sv_is_number(a) && sv_is_number(b)) {
    if (a->kind == V_FLOAT || b->kind == V_FLOAT)
      return !is_unordered(a, b) && float_order(a, b) == 0;
    return a->i == b->i;
  }
  if (a->kind != b->kind) return false;
  switch (a->kind) {
  case V_NONE: return true;
  case V_STR:
  case V_MODULE: return a->n == b->n && !memcmp(a->s, b->s, a->n);
  case V_TYPE: return tk_same_type(&a->type, &b->type);
  case V_TYPE_OF:
  case V_TYPES:
  case V_DICT:
  case V_TUPLE: return items_agree(a, b, sv_equal);
  case V_TENSOR: return a->slot == b->slot;
  default: return a->obj == b->obj;
  }
}

bool sv_same_type(const sval *a, const sval *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
  case V_TENSOR: return tk_same_type(&a->type, &b->type);
  case V_BLOCKPTR:
  case V_DESC:
    return tk_same_type(&a->type, &b->type) && items_agree(a, b, sv_same_type);
  case V_TUPLE:
    return !strcmp(a->s ? a->s : "", b->s ? b->s : "") &&
           items_agree(a, b, sv_same_type);
  case V_INSTANCE:
    return a->object->class == b->object->class && !a->object->class->base &&
           items_agree(a, b, sv_same_type);
  default: return sv_equal(a, b);
  }
}

/* ---- arithmetic -------------------------------------------------------- */

static void no_operator(tks *s, tk_operator op, const sval *a,
                        const sval *b) TK_NORETURN;
static void no_operator(tks *s, tk_operator op, const sval *a, const sval *b) {
  tks_error_help(s, TK_D_TYPE, tks_operand_help(a, b),
                 "operator %s cannot take %s and %s", tk_operator_text(op),
                 tks_show(s, a), tks_show(s, b));
}

static sval compare_order(tk_operator op, int order, bool unordered) {
  switch (op) {
  case TK_OP_LT: return sv_bool(!unordered && order < 0);
  case TK_OP_LE: return sv_bool(!unordered && order <= 0);
  case TK_OP_GT: return sv_bool(!unordered && order > 0);
  case TK_OP_GE: return sv_bool(!unordered && order >= 0);
  case TK_OP_EQ: return sv_bool(!unordered && order == 0);
  default: return sv_bool(unordered || order != 0);
  }
}

static bool is_comparison(tk_operator op) {
  return op >= TK_OP_LT && op <= TK_OP_NE;
}

/* Python's power of floats, which fails where C gives an infinity or NaN. */
static sval float_pow(tks *s, double a, double b) {
  double r = pow(a, b);
  if (a == 0 && b < 0 && isfinite(b))
    tks_error(s, TK_D_DIVISION, "zero cannot be raised to a negative power");
  if (isinf(r) && isfinite(a) && isfinite(b))
    tks_error(s, TK_D_VALUE, "%g ** %g is too large for a float", a, b);
  if (a < 0 && isfinite(a) && isfinite(b) && isnan(r))
    tks_error(s, TK_D_UNSUPPORTED, "%g ** %g is a complex number", a, b);
  return sv_float(r);
}

static double float_mod(double a, double b) {
  double m = fmod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : copysign(m, m ? m : b);
}

/* Python divides what the remainder leaves, so that 1.0 // 0.1 is 9. */
static double float_floordiv(double a, double b) {
  double m = fmod(a, b), q = (a - m) / b;
  if (m != 0 && (m < 0) != (b < 0)) q -= 1;
  if (q == 0) return copysign(0, a / b);
  return q - floor(q) > 0.5 ? floor(q) + 1 : floor(q);
}

static sval float_binary(tks *s, tk_operator op, const sval *x, const sval *y) {
  double a = sv_as_double(x), b = sv_as_double(y);
  if (is_comparison(op)) {
    bool unordered = is_unordered(x, y);
    return compare_order(op, unordered ? 0 : float_order(x, y), unordered);
  }
  if ((op == TK_OP_DIV || op == TK_OP_FLOORDIV || op == TK_OP_MOD) && b == 0)
    tks_error(s, TK_D_DIVISION, "division of constants by zero");
  switch (op) {
  case TK_OP_ADD: return sv_float(a + b);
  case TK_OP_SUB: return sv_float(a - b);
  case TK_OP_MUL: return sv_float(a * b);
  case TK_OP_DIV: return sv_float(a / b);
  case TK_OP_FLOORDIV: return sv_float(float_floordiv(a, b));
  case TK_OP_MOD: return sv_float(float_mod(a, b));
  case TK_OP_POW: return float_pow(s, a, b);
  default: no_operator(s, op, x, y);
  }
}

static void too_big(tks *s) TK_NORETURN;
static void too_big(tks *s) {
  tks_error(s, TK_D_VALUE, "the constant does not fit into 128 bits");
}

static sval int_pow(tks *s, tk_int a, tk_int b) {
  if (b < 0) return float_pow(s, (double)a, (double)b);
  tk_int r = 1;
  for (; b > 0; b >>= 1) {
    if ((b & 1) && __builtin_mul_overflow(r, a, &r)) too_big(s);
    if (b > 1 && __builtin_mul_overflow(a, a, &a)) too_big(s);
  }
  return sv_int(r);
}

static sval int_shift(tks *s, tk_operator op, tk_int a, tk_int b) {
  if (b < 0) tks_error(s, TK_D_VALUE, "negative shift count");
  if (op == TK_OP_SHR) return sv_int(a >> (b > 127 ? 127 : (int)b));
  if (b > 126) too_big(s);
  tk_int r;
  if (__builtin_mul_overflow(a, (tk_int)1 << (int)b, &r)) too_big(s);
  return sv_int(r);
}

static sval int_divide(tks *s, tk_operator op, tk_int a, tk_int b) {
  if (b == 0) tks_error(s, TK_D_DIVISION, "division of constants by zero");
  tk_int q = a / b, r = a % b;
  if (r != 0 && (r < 0) != (b < 0)) q--, r += b;
  return sv_int(op == TK_OP_MOD ? r : q);
}

static sval int_binary(tks *s, tk_operator op, const sval *x, const sval *y) {
  tk_int a = x->i, b = y->i, r;
  bool bools = x->kind == V_BOOL && y->kind == V_BOOL;
  if (is_comparison(op)) return compare_order(op, a < b ? -1 : a > b, false);
  switch (op) {
  case TK_OP_ADD:
    if (__builtin_add_overflow(a, b, &r)) too_big(s);
    return sv_int(r);
  case TK_OP_SUB:
    if (__builtin_sub_overflow(a, b, &r)) too_big(s);
    return sv_int(r);
  case TK_OP_MUL:
    if (__builtin_mul_overflow(a, b, &r)) too_big(s);
    return sv_int(r);
  case TK_OP_DIV:
    if (b == 0) tks_error(s, TK_D_DIVISION, "division of constants by zero");
    return sv_float((double)a / (double)b);
  case TK_OP_FLOORDIV:
  case TK_OP_MOD: return int_divide(s, op, a, b);
  case TK_OP_POW: return int_pow(s, a, b);
  case TK_OP_SHL:
  case TK_OP_SHR: return int_shift(s, op, a, b);
  case TK_OP_BITAND: return bools ? sv_bool(a & b) : sv_int(a & b);
  case TK_OP_BITOR: return bools ? sv_bool(a | b) : sv_int(a | b);
  case TK_OP_BITXOR: return bools ? sv_bool(a ^ b) : sv_int(a ^ b);
  default: no_operator(s, op, x, y);
  }
}

static sval concat(tks *s, const sval *a, const sval *b) {
  if (a->kind == V_STR) {
    char *p = tk_arena_alloc(s->arena, a->n + b->n + 1);
    memcpy(p, a->s, a->n);
    memcpy(p + a->n, b->s, b->n);
    return sv_str(p, a->n + b->n);
  }
  sval r = {.kind = V_TUPLE, .n = a->n + b->n, .is_list = a->is_list};
  r.is_host = a->is_host && b->is_host;
  r.items = TK_NEWN(s->arena, sval, r.n + 1);
  if (a->n) memcpy(r.items, a->items, a->n * sizeof(sval));
  if (b->n) memcpy(r.items + a->n, b->items, b->n * sizeof(sval));
  return r;
}

static sval repeat(tks *s, const sval *a, tk_int times) {
  sval r = {.kind = a->kind, .is_list = a->is_list, .is_host = a->is_host};
  if (a->kind == V_STR) r = sv_str("", 0);
  if (times * (tk_int)a->n > 65536)
    tks_error(s, TK_D_VALUE, "the repeated %s is too long",
              a->kind == V_STR ? "text" : "tuple");
  for (tk_int i = 0; i < times; i++) r = concat(s, &r, a);
  return r;
}

static bool contains(tks *s, const sval *a, const sval *b) {
  if (b->kind == V_STR && a->kind == V_STR) return strstr(b->s, a->s) != NULL;
  if (b->kind == V_DICT) {
    for (size_t i = 0; i < b->n; i += 2)
      if (sv_equal(a, &b->items[i])) return true;
    return false;
  }
  if (b->kind != V_TUPLE) no_operator(s, TK_OP_IN, a, b);
  for (size_t i = 0; i < b->n; i++)
    if (sv_equal(a, &b->items[i])) return true;
  return false;
}

/* a is b: the same object; known values of the same type that are equal. */
static bool identical(const sval *a, const sval *b) {
  return a->kind == b->kind && sv_equal(a, b);
}

/* Python looks at the items of tuples in turn, up to the first that differ;
 * what it finds may not be a tensor. */
static void check_comparable(tks *s, const sval *a, const sval *b) {
  if (a->kind != V_TUPLE || sv_is_none(b))
    if (sv_is_tensor(a) || sv_is_tensor(b) || a->kind == V_TUPLE)
      tks_error(s, TK_D_TYPE, "%s cannot be compared with %s in a tuple",
                tks_show(s, a), tks_show(s, b));
  if (a->kind != V_TUPLE || b->kind != V_TUPLE || a->n != b->n) return;
  for (size_t i = 0; i < a->n; i++) {
    if (sv_equal(&a->items[i], &b->items[i])) continue;
    check_comparable(s, &a->items[i], &b->items[i]);
    return;
  }
}

static sval other_binary(tks *s, tk_operator op, const sval *a, const sval *b) {
  bool same = a->kind == b->kind;
  bool seq = a->kind == V_STR || a->kind == V_TUPLE;
  bool equality = op == TK_OP_EQ || op == TK_OP_NE;
  if (equality && a->kind == V_TUPLE) check_comparable(s, a, b);
  switch (op) {
  case TK_OP_EQ: return sv_bool(sv_equal(a, b));
  case TK_OP_NE: return sv_bool(!sv_equal(a, b));
  case TK_OP_ADD:
    if (same && seq && a->is_host && !b->is_host && !s->frame->python)
      tks_error_help(s, TK_D_TYPE, "write them in one tuple, item by item",
                     "a constexpr that holds a Python tuple cannot be joined "
                     "with another tuple");
    if (same && seq) return concat(s, a, b);
    break;
  case TK_OP_MUL:
    if (seq && b->kind == V_INT) return repeat(s, a, b->i);
    break;
  case TK_OP_LT:
  case TK_OP_LE:
  case TK_OP_GT:
  case TK_OP_GE:
    if (same && a->kind == V_STR)
      return compare_order(op, strcmp(a->s, b->s), false);
    break;
  default: break;
  }
  no_operator(s, op, a, b);
}

sval sv_binary(tks *s, tk_operator op, const sval *a, const sval *b) {
  switch (op) {
  case TK_OP_IS: return sv_bool(identical(a, b));
  case TK_OP_ISNOT: return sv_bool(!identical(a, b));
  case TK_OP_IN: return sv_bool(contains(s, a, b));
  case TK_OP_NOTIN: return sv_bool(!contains(s, a, b));
  default: break;
  }
  if (!sv_is_number(a) || !sv_is_number(b)) return other_binary(s, op, a, b);
  if (a->kind == V_FLOAT || b->kind == V_FLOAT)
    return float_binary(s, op, a, b);
  return int_binary(s, op, a, b);
}

sval sv_unary(tks *s, tk_operator op, const sval *a) {
  if (op == TK_OP_NOT) return sv_bool(!sv_truth(s, a));
  if (op == TK_OP_POS && sv_is_number(a))
    return a->kind == V_FLOAT ? *a : sv_int(a->i);
  if (op == TK_OP_NEG && a->kind == V_FLOAT) return sv_float(-a->f);
  if (op == TK_OP_NEG && sv_is_number(a)) return sv_int(-a->i);
  if (op == TK_OP_INVERT && sv_is_number(a) && a->kind != V_FLOAT)
    return sv_int(~a->i);
  tks_error(s, TK_D_TYPE, "unary operator %s cannot take %s",
            tk_operator_text(op), tks_show(s, a));
}

/* ---- from outside, and as text ----------------------------------------- */

static void key_items(tk_buf *out, const sval *v) {
  tk_buf_putc(out, '(');
  for (size_t i = 0; i < v->n; i++) {
    sv_key(out, &v->items[i]);
    tk_buf_putc(out, ',');
  }
  tk_buf_putc(out, ')');
}

/* A number and what ends it, without printf: every launch makes keys. */
static void key_number(tk_buf *out, uint64_t n, char end) {
  char text[16], *at = text + sizeof text;
  do *--at = "0123456789abcdef"[n & 15];
  while (n >>= 4);
  tk_buf_add(out, at, (size_t)(text + sizeof text - at));
  tk_buf_putc(out, end);
}

static void key_type(tk_buf *out, const tk_type *t) {
  key_number(out, t->elem, t->is_const ? 'c' : 't');
  key_number(out, (uint32_t)t->ptr | (uint32_t)t->space << 8, '.');
  for (int i = 0; i < t->rank; i++) key_number(out, (uint32_t)t->shape[i], 'x');
}

void sv_key(tk_buf *out, const sval *v) {
  key_number(out, v->kind, ':');
  switch (v->kind) {
  case V_NONE: break;
  case V_BOOL:
  case V_INT:
    key_number(out, (uint64_t)(v->i >> 64), '.');
    key_number(out, (uint64_t)v->i, '.');
    break;
  case V_FLOAT: tk_buf_printf(out, "%a", v->f); break;
  case V_STR:
    tk_buf_printf(out, "%zu:", v->n), tk_buf_add(out, v->s, v->n);
    break;
  case V_TYPE:
  case V_TENSOR: key_type(out, &v->type); break;
  case V_BLOCKPTR:
  case V_DESC:
    key_type(out, &v->type);
    tk_buf_printf(out, "p%lld", (long long)v->i);
    key_items(out, v);
    break;
  case V_TYPE_OF:
  case V_TYPES:
  case V_TUPLE:
    tk_buf_puts(out, v->s ? v->s : "");
    key_items(out, v);
    break;
  case V_METHOD:
    tk_buf_printf(out, "%p", (const void *)v->op);
    key_items(out, v);
    break;
  case V_INSTANCE:
    tk_buf_printf(out, "%p", (const void *)v->object->class);
    key_items(out, v);
    break;
  case V_DICT: key_items(out, v); break;
  default: tk_buf_printf(out, "%p", v->obj);
  }
}

typedef struct keying {
  const char *text;
  const sval *v;
  size_t n;
} keying;

static void write_key(tk_buf *out, void *ud) {
  keying *k = ud;
  tk_buf_puts(out, k->text);
  for (size_t i = 0; i < k->n; i++) {
    sv_key(out, &k->v[i]);
    tk_buf_putc(out, ';');
  }
}

const char *tks_key(tks *s, const char *text, const sval *v, size_t n) {
  keying k = {text, v, n};
  return tk_arena_text(s->arena, write_key, &k, NULL);
}
