/* args.c - the arguments of a call of an operation: bound to its parameters,
 * handed to its rule, and read by it.
 */
#include <stdlib.h>
#include <string.h>

#include "typing/ops.h"

/* ---- binding ----------------------------------------------------------- */

static sval default_value(tks *s, const tks_param *p) {
  const char *t = p->value;
  if (!strncmp(t, "None", 4)) return sv(V_NONE);
  if (!strncmp(t, "True", 4)) return sv_bool(true);
  if (!strncmp(t, "False", 5)) return sv_bool(false);
  if (*t == '(') return sv_tuple(s, NULL, 0);
  if (*t == '\'')
    return sv_str(tk_arena_strndup(s->arena, t + 1, p->value_len - 2),
                  p->value_len - 2);
  return sv_int(strtol(t, NULL, 10));
}

static void bad_call(tks *s, const tks_op *op, const char *what,
                     const char *name, size_t len) TK_NORETURN;
static void bad_call(tks *s, const tks_op *op, const char *what,
                     const char *name, size_t len) {
  const char *help =
      tk_arena_printf(s->arena, "%s(%s): %s", op->name, op->sig, op->doc);
  tks_error_help(s, TK_D_CALL, help, "%s %s %.*s", op->name, what, (int)len,
                 name);
}

static void bind_keyword(tks *s, tks_args *a, const tks_param *p, size_t n,
                         const char *kw, const sval *v, tk_span span) {
  size_t i = 0;
  while (i < n && (p[i].keywords || strlen(kw) != p[i].len ||
                   strncmp(kw, p[i].name, p[i].len) != 0))
    i++;
  if (i == n && n && p[n - 1].keywords) {
    a->rest[a->nrest++] = sv_str(kw, strlen(kw));
    a->rest[a->nrest++] = *v;
    return;
  }
  if (i == n) bad_call(s, a->op, "has no parameter", kw, strlen(kw));
  if (a->given[i]) bad_call(s, a->op, "got two values for", kw, strlen(kw));
  a->v[i] = *v;
  a->given[i] = true;
  a->span[i] = span;
}

void tks_bind_args(tks *s, tks_args *a, const sval *args, size_t n,
                   const char *const *kw, const tk_span *spans) {
  const tks_param *p = a->op->params;
  size_t np = a->op->nparams, at = 0;
  TK_ASSERT(np <= TKS_MAX_ARGS);
  a->n = np;
  for (size_t i = 0; i < n; i++) {
    tk_span span = spans ? spans[i] : s->frame->at;
    if (kw && kw[i]) {
      bind_keyword(s, a, p, np, kw[i], &args[i], span);
    } else if (at < np && p[at].rest) {
      a->rest[a->nrest++] = args[i];
    } else if (at < np && !p[at].keyword) {
      a->v[at] = args[i];
      a->span[at] = span;
      a->given[at++] = true;
    } else {
      s->frame->at = span;
      bad_call(s, a->op, "has too many arguments", "", 0);
    }
  }
  for (size_t i = 0; i < np; i++) {
    if (a->given[i] || p[i].rest || p[i].keywords) continue;
    if (!p[i].value)
      bad_call(s, a->op, "needs the argument", p[i].name, p[i].len);
    a->v[i] = default_value(s, &p[i]);
    a->span[i] = s->frame->at;
  }
}

sval tks_run_op(tks *s, tks_args a, const sval *args, size_t n,
                const char *const *kw, const tk_span *spans) {
  a.rest = TK_NEWN(s->arena, sval, 2 * n + 1);
  tk_span at = s->frame->at, call = s->frame->call;
  tks_bind_args(s, &a, args, n, kw, spans);
  if (!call.hi) s->frame->call = at;
  sval v = a.op->rule(s, &a);
  s->frame->at = at;
  s->frame->call = call;
  return v;
}

sval tks_call_op(tks *s, const tks_op *op, const sval *args, size_t n,
                 const char *const *kw, const tk_span *spans) {
  return tks_run_op(s, (tks_args){.op = op}, args, n, kw, spans);
}

sval tks_call_name(tks *s, const char *op, const sval *args, size_t n) {
  return tks_call_op(s, tks_find_op(s, op), args, n, NULL, NULL);
}

/* ---- reading ----------------------------------------------------------- */

static const char constexpr_help[] =
    "it is needed before the program runs: make the parameter that it comes "
    "from tl.constexpr, and the variable too: 'NAME: tl.constexpr = ...'";

static const char float_help[] =
    "'/' gives a float even of whole numbers: use //, or triton.cdiv to round "
    "up";

static const char *param_name(tks *s, const tks_args *a, size_t i) {
  const tks_param *p = &a->op->params[i];
  TK_ASSERT(i < a->op->nparams);
  return tk_arena_strndup(s->arena, p->name, p->len);
}

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

bool tks_arg_only_bool(tks *s, const tks_args *a, size_t i, tks_change since) {
  if (a->v[i].kind == V_INT && tks_has(s, since))
    tks_error_help(s, TK_D_TYPE, "write True or False",
                   "%s: %s is a bool, not %s", a->op->name, param_name(s, a, i),
                   tks_show(s, &a->v[i]));
  return tks_arg_bool(s, a, i);
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
