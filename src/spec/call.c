/* call.c - calling: operations, jit functions, lambdas, host functions.
 *
 * An operation's arguments are bound to its signature (op.def) and handed to
 * its rule.  A jit function is specialised once per set of argument types and
 * known values, as a function of its own with its own frame; the call is one
 * instruction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "spec/spec.h"
#include "launch/host.h"

/* ---- signatures -------------------------------------------------------- */

/* One parameter of a signature such as "x, axis=None, *rest". */
typedef struct param {
  const char *name;
  size_t len;
  const char *value; /* default text, NULL if required */
  size_t value_len;
  bool rest;
} param;

static size_t span_until_comma(const char *p) {
  size_t n = 0;
  int depth = 0;
  for (; p[n] && (depth || p[n] != ','); n++)
    depth += (p[n] == '(') - (p[n] == ')');
  return n;
}

static size_t parse_sig(const char *sig, param *out) {
  size_t n = 0;
  for (const char *p = sig; *p;) {
    while (*p == ' ' || *p == ',') p++;
    if (!*p) break;
    size_t len = span_until_comma(p);
    const char *eq = memchr(p, '=', len);
    bool rest = *p == '*';
    size_t name_len = eq ? (size_t)(eq - p) : len;
    out[n] = (param){p + rest, name_len - rest, NULL, 0, rest};
    if (eq) out[n].value = eq + 1;
    if (eq) out[n].value_len = len - name_len - 1;
    n++;
    p += len;
  }
  return n;
}

static sval default_value(tks *s, const param *p) {
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

static void bind_keyword(tks *s, tks_args *a, const param *p, size_t n,
                         const char *kw, const sval *v, tk_span span) {
  size_t i = 0;
  while (i < n && (strlen(kw) != p[i].len || strncmp(kw, p[i].name, p[i].len)))
    i++;
  if (i == n) bad_call(s, a->op, "has no parameter", kw, strlen(kw));
  if (a->given[i]) bad_call(s, a->op, "got two values for", kw, strlen(kw));
  a->v[i] = *v;
  a->given[i] = true;
  a->span[i] = span;
}

void tks_bind_args(tks *s, tks_args *a, const sval *args, size_t n,
                   const char *const *kw, const tk_span *spans) {
  param p[TKS_MAX_ARGS];
  size_t np = parse_sig(a->op->sig, p), at = 0;
  a->n = np;
  for (size_t i = 0; i < n; i++) {
    tk_span span = spans ? spans[i] : s->frame->at;
    if (kw && kw[i]) {
      bind_keyword(s, a, p, np, kw[i], &args[i], span);
    } else if (at < np && p[at].rest) {
      a->rest[a->nrest++] = args[i];
    } else if (at < np) {
      a->v[at] = args[i];
      a->span[at] = span;
      a->given[at++] = true;
    } else {
      s->frame->at = span;
      bad_call(s, a->op, "has too many arguments", "", 0);
    }
  }
  for (size_t i = 0; i < np; i++) {
    if (a->given[i] || p[i].rest) continue;
    if (!p[i].value)
      bad_call(s, a->op, "needs the argument", p[i].name, p[i].len);
    a->v[i] = default_value(s, &p[i]);
    a->span[i] = s->frame->at;
  }
}

static sval run_op(tks *s, tks_args a, const sval *args, size_t n,
                   const char *const *kw, const tk_span *spans) {
  a.rest = TK_NEWN(s->arena, sval, n + 1);
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
  return run_op(s, (tks_args){.op = op}, args, n, kw, spans);
}

sval tks_call_name(tks *s, const char *op, const sval *args, size_t n) {
  return tks_call_op(s, tks_find_op(op), args, n, NULL, NULL);
}

/* ---- binding to a function's parameters -------------------------------- */

static void bad_args(tks *s, tk_function *fn, const char *what,
                     const char *name) TK_NORETURN;
static void bad_args(tks *s, tk_function *fn, const char *what,
                     const char *name) {
  tks_error(s, TK_D_CALL, "%s() %s%s%s", fn->item->name, what, *name ? " " : "",
            name);
}

/* The host knows what a default was when the function was defined: the names
 * in it may mean something else by now. */
static bool host_default(tks *s, tk_function *fn, const tk_ast *p, sval *out) {
  tk_ast_kind k = p->b->kind;
  bool may_change = k == TK_AST_NAME || k == TK_AST_ATTR || k == TK_AST_CALL ||
                    k == TK_AST_SUBSCRIPT || k == TK_AST_BINARY;
  if (!fn->host || !may_change) return false;
  tk_value v = {0};
  const char *asked = tk_arena_printf(s->arena, "%s=", p->str);
  if (tk_host_global(s->env, fn, asked, &v) <= 0) return false;
  *out = sv_from_value(s, &v);
  return true;
}

/* A default is evaluated where the function was defined. */
static sval param_default(tks *s, tk_function *fn, const tk_ast *p) {
  const tk_ast *e = p->b;
  sval known;
  if (host_default(s, fn, p, &known)) return known;
  tks_frame *f = s->frame;
  const tk_binding *scope = f->scope;
  tk_function *was = f->fn;
  f->scope = NULL;
  f->fn = fn;
  s->plain_globals = true;
  sval v = tks_expr(s, e);
  s->plain_globals = false;
  f->scope = scope;
  f->fn = was;
  return v;
}

static size_t find_param(const tk_ast *fn, const char *name) {
  size_t i = 0;
  while (i < fn->n && ((fn->list[i]->op != TK_PARAM_PLAIN &&
                        fn->list[i]->op != TK_PARAM_KEYWORD) ||
                       strcmp(fn->list[i]->str, name)))
    i++;
  return i;
}

typedef struct bound {
  sval *v;
  bool *given;
} bound;

static void bind_positional(tks *s, tk_function *fn, bound *b, size_t *at,
                            const sval *v) {
  const tk_ast *ast = fn->ast;
  if (*at >= ast->n || ast->list[*at]->op == TK_PARAM_KEYWORDS ||
      ast->list[*at]->op == TK_PARAM_KEYWORD)
    bad_args(s, fn, "takes fewer positional arguments than were given", "");
  if (ast->list[*at]->op == TK_PARAM_REST) {
    sval *t = &b->v[*at];
    sval more = sv_tuple(s, v, 1);
    *t = b->given[*at] ? sv_binary(s, TK_OP_ADD, t, &more) : more;
    b->given[*at] = true;
    return;
  }
  b->v[*at] = *v;
  b->given[(*at)++] = true;
}

/* A default that the call leaves out reaches Triton as Python's value, and of
 * those it knows numbers, None, dtypes and jit functions alone. */
static void check_left_out(tks *s, tk_function *fn, const tk_ast *p) {
  bool text = p->b->kind == TK_AST_STR || p->b->kind == TK_AST_FSTR;
  bool items = p->b->kind == TK_AST_TUPLE || p->b->kind == TK_AST_LIST;
  if (!fn->item->jit || !fn->host || (!text && !items)) return;
  tks_error_help(s, TK_D_CALL,
                 tk_arena_printf(s->arena, "pass it: %s(..., %s=...)",
                                 fn->item->name, p->str),
                 "Triton does not accept a %s as the default value of an "
                 "argument that a call leaves out: %s of %s()",
                 text ? "text" : "tuple", p->str, fn->item->name);
}

/* Into the dictionary of a parameter **kw, which only a Python function has:
 * pairs of a name and a value. */
static bool bind_in_dict(tks *s, tk_function *fn, bound *b, const char *name,
                         const sval *v) {
  size_t at = fn->ast->n - 1;
  if (fn->item->jit || !fn->ast->n ||
      fn->ast->list[at]->op != TK_PARAM_KEYWORDS)
    return false;
  sval *d = &b->v[at], *items = TK_NEWN(s->arena, sval, d->n + 2);
  if (d->n) memcpy(items, d->items, d->n * sizeof *items);
  items[d->n] = sv_str(name, strlen(name));
  items[d->n + 1] = *v;
  *d = (sval){.kind = V_DICT, .n = d->n + 2, .items = items};
  b->given[at] = true;
  return true;
}

static void fill_defaults(tks *s, tk_function *fn, bound *b) {
  for (size_t i = 0; i < fn->ast->n; i++) {
    const tk_ast *p = fn->ast->list[i];
    if (b->given[i]) continue;
    if (p->b) check_left_out(s, fn, p);
    if (p->op == TK_PARAM_REST)
      b->v[i] = sv_tuple(s, NULL, 0);
    else if (p->op == TK_PARAM_KEYWORDS && !fn->item->jit)
      b->v[i] = sv(V_DICT);
    else if (p->b)
      b->v[i] = param_default(s, fn, p);
    else
      bad_args(s, fn, "is missing the argument", p->str);
  }
}

sval *tks_bind_params(tks *s, tk_function *fn, const sval *args, size_t n,
                      const char *const *kw) {
  size_t np = fn->ast->n, at = 0;
  bound b = {TK_NEWN(s->arena, sval, np + 1), TK_NEWN(s->arena, bool, np + 1)};
  for (size_t i = 0; i < n; i++) {
    if (!kw || !kw[i]) {
      bind_positional(s, fn, &b, &at, &args[i]);
      continue;
    }
    size_t k = find_param(fn->ast, kw[i]);
    if (k == np && bind_in_dict(s, fn, &b, kw[i], &args[i])) continue;
    if (k == np) bad_args(s, fn, "has no parameter", kw[i]);
    if (b.given[k]) bad_args(s, fn, "got two values for", kw[i]);
    b.v[k] = args[i];
    b.given[k] = true;
  }
  fill_defaults(s, fn, &b);
  return b.v;
}

/* ---- instances --------------------------------------------------------- */

typedef struct keying {
  tks *s;
  const sval *v;
  size_t n;
  tk_buf text;
  const char *key;
} keying;

static void write_key(tk_env *e, void *ud) {
  keying *k = ud;
  (void)e;
  for (size_t i = 0; i < k->n; i++) {
    sv_key(&k->text, &k->v[i]);
    tk_buf_putc(&k->text, ';');
  }
  k->key = tk_arena_strdup(k->s->arena, tk_buf_str(&k->text));
}

const char *tks_key(tks *s, const char *text, const sval *v, size_t n) {
  keying k = {.s = s, .v = v, .n = n};
  tk_buf_init(&k.text, s->env);
  tk_buf_puts(&k.text, text);
  tk_status st = tk_protect(s->env, write_key, &k);
  tk_buf_free(&k.text);
  if (st != TK_OK) tk_throw(s->env, st);
  return k.key;
}

static tks_instance **instances_like(tks *s, const char *key) {
  return &s->instances[tk_hash(key, strlen(key)) % TKS_INSTANCE_BUCKETS];
}

static tks_instance *find_instance(tks *s, tk_function *fn, const char *key) {
  for (tks_instance *i = *instances_like(s, key); i; i = i->next)
    if (i->fn == fn && !strcmp(i->key, key)) return i;
  return NULL;
}

tk_func *tks_func_new(tks *s, tk_function *fn, const char *name,
                      const tk_source *src) {
  tk_func *f = tk_func_new(s->program, name, src);
  TK_PUSH(s->arena, &s->origin->functions, fn);
  TK_ASSERT(s->origin->functions.n == s->program->nfuncs);
  return f;
}

static tk_func *func_new(tks *s, tk_function *fn) {
  const tk_source *src = fn->module->file->src;
  tk_func *f = tks_func_new(s, fn, fn->item->name, src);
  f->span = fn->ast->tail;
  f->library = !strncmp(src->name, TKS_LIBRARY, sizeof TKS_LIBRARY - 1);
  return f;
}

/* A parameter's value inside: runtime leaves live in the callee's slots. */
static sval into_params(tks *s, tk_func *f, const sval *v, const char *name) {
  if (v->kind == V_TENSOR) {
    int slot = tks_slot(s, v->type, name);
    f->params[f->nparams++] = slot;
    return sv_tensor(v->type, slot);
  }
  sval r = *v;
  if (v->kind == V_INSTANCE) {
    r.object = TK_NEW(s->arena, tks_object);
    *r.object = (tks_object){v->object->class, name, &f->body, false};
  } else if (!sv_runtime(v)) {
    return r;
  }
  r.items = TK_NEWN(s->arena, sval, v->n + 1);
  for (size_t i = 0; i < v->n; i++)
    r.items[i] = into_params(s, f, &v->items[i], tks_part_name(s, v, name, i));
  return r;
}

static size_t all_leaves(const sval *v, size_t n, sval *out) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++) k += tks_leaves(&v[i], out ? out + k : NULL);
  return k;
}

/* What a program's stack has room for: see MOST_DEEP in ir/verify.c. */
enum { MAX_DEPTH = 80 };

void tks_check_depth(tks *s, tk_function *fn) {
  int depth = 0;
  for (tks_frame *f = s->frame; f; f = f->caller) depth++;
  if (depth > MAX_DEPTH)
    tks_error_help(s, TK_D_RECURSION,
                   "recursion must end by a condition on constexprs",
                   "%s() calls itself more than %d levels deep", fn->item->name,
                   MAX_DEPTH);
}

static bool is_python_type(const tk_ast *a) {
  return a->kind == TK_AST_NAME &&
         (!strcmp(a->str, "int") || !strcmp(a->str, "float"));
}

/* int, or tl.tensor. */
static bool is_type_name(const tk_ast *a) {
  return a->kind == TK_AST_NAME || a->kind == TK_AST_ATTR;
}

/* Triton evaluates the names in an annotation as it does others: each must be
 * a builtin of the language or a global that kernels may read. */
static void check_annotation(tks *s, const tk_ast *a) {
  sval v;
  if (!a || !s->frame->fn->host) return;
  s->frame->at = a->span;
  if (a->kind == TK_AST_NAME && !tks_lookup(s, a->str, &v))
    tks_unknown_name(s, a->str);
  bool leaf = a->kind == TK_AST_NAME || a->kind == TK_AST_STR;
  if (leaf) return;
  if (a->kind == TK_AST_LAMBDA)
    tks_error(s, TK_D_UNSUPPORTED, "an annotation cannot be a lambda");
  bool of_types = a->kind == TK_AST_TUPLE || a->kind == TK_AST_LIST;
  for (uint32_t i = 0; of_types && i < a->n; i++)
    if (is_python_type(a->list[i]))
      tks_error_help(s, TK_D_TYPE, "quote the annotation, or leave it out",
                     "Triton evaluates this annotation and fails: a tuple "
                     "cannot hold types of Python");
  if (a->kind == TK_AST_BINARY && a->op == TK_OP_BITOR && is_type_name(a->a) &&
      is_type_name(a->b))
    tks_error_help(s, TK_D_TYPE, "quote the annotation, or leave it out",
                   "Triton evaluates this annotation and fails: it knows | "
                   "only between a type and None");
  check_annotation(s, a->a);
  check_annotation(s, a->b);
  for (uint32_t i = 0; i < a->n; i++) check_annotation(s, a->list[i]);
}

/* Of the parameters, Triton binds those that are plain, in their order. */
static void check_parameter(tks *s, const tk_ast *p) {
  if (p->op != TK_PARAM_REST && p->op != TK_PARAM_POSITION) return;
  s->frame->at = p->span;
  if (p->op == TK_PARAM_REST)
    tks_error_help(s, TK_D_UNSUPPORTED, "take one tuple as a parameter",
                   "a @triton.jit function cannot take *%s", p->str);
  tks_error_help(s, TK_D_UNSUPPORTED, "leave the '/' out",
                 "%s comes before '/': the compiler ignores such parameters "
                 "and gives the others wrong values",
                 p->str);
}

/* Triton assigns each default to its parameter before the arguments, and what
 * is annotated as no constexpr must be what a tensor can be made of. */
static void check_default(tks *s, tk_function *fn, const tk_ast *p) {
  if (!p->b || p->op != TK_PARAM_PLAIN || !s->frame->fn->host) return;
  bool sought = p->b->kind == TK_AST_STR || p->b->kind == TK_AST_FSTR ||
                p->b->kind == TK_AST_NAME || p->b->kind == TK_AST_ATTR;
  if (!sought || (p->a && tks_is_constexpr(s, p->a))) return;
  s->frame->at = p->b->span;
  sval v = param_default(s, fn, p);
  if (!tks_needs_constexpr(&v)) return;
  tks_error_help(
      s, TK_D_TYPE,
      tk_arena_printf(s->arena, "annotate it: %s: tl.constexpr = ...", p->str),
      "cannot convert %s to a tensor, which the default of a parameter without "
      "tl.constexpr becomes",
      tks_show(s, &v));
}

static void specialise_body(tks *s, tks_instance *in, const sval *v) {
  const tk_ast *ast = in->fn->ast;
  tks_frame frame = {.caller = s->frame,
                     .func = in->func,
                     .fn = in->fn,
                     .body = &in->func->body,
                     .at = ast->tail};
  tks_frame *saved = s->frame;
  s->frame = &frame;
  for (uint32_t i = 0; i < ast->n; i++) {
    check_parameter(s, ast->list[i]);
    check_annotation(s, ast->list[i]->a);
    check_default(s, in->fn, ast->list[i]);
  }
  in->func->params = TK_NEWN(s->arena, int, all_leaves(v, ast->n, NULL) + 1);
  for (uint32_t i = 0; i < ast->n; i++) {
    sval inner = into_params(s, in->func, &v[i], ast->list[i]->str);
    tk_binding *b = tks_bind(s, ast->list[i]->str, &inner);
    if (ast->list[i]->op == TK_PARAM_KEYWORD) b->how = BOUND_UNSEEN;
  }
  tks_body(s, ast->b);
  tk_func_last_uses(s->program, in->func);
  in->ret = frame.has_ret ? frame.ret : sv(V_NONE);
  s->frame = saved;
}

/* The name of a function is made of its arguments' types: a class of values
 * has none. */
static void check_no_class(tks *s, tk_function *fn, const sval *v) {
  for (uint32_t i = 0; i < fn->ast->n; i++)
    if (v[i].kind == V_OBJECT && tks_class_of(s, v[i].obj))
      tks_error_help(s, TK_D_CALL, "pass a jit function that makes the value",
                     "%s() cannot take the class %s", fn->item->name,
                     tks_class_of(s, v[i].obj)->name);
}

tks_instance *tks_instance_of(tks *s, tk_function *fn, const sval *v) {
  check_no_class(s, fn, v);
  const char *key = tks_key(s, "", v, fn->ast->n);
  tks_instance *in = find_instance(s, fn, key);
  if (in && in->open)
    tks_error_help(s, TK_D_RECURSION,
                   "recursion must end by a condition on constexprs",
                   "%s() calls itself with the same types", fn->item->name);
  for (uint32_t i = 0; in && i < fn->ast->n; i++) tks_use_desc(s, &v[i]);
  if (in) return in;
  tks_check_depth(s, fn);
  in = TK_NEW(s->arena, tks_instance);
  tks_instance **first = instances_like(s, key);
  *in = (tks_instance){.next = *first, .fn = fn, .key = key, .open = true};
  *first = in;
  in->func = func_new(s, fn);
  specialise_body(s, in, v);
  in->open = false;
  return in;
}

tks_instance *tks_instantiate(tks *s, tk_function *fn, const sval *args,
                              size_t n, const char *const *kw) {
  return tks_instance_of(s, fn, tks_bind_params(s, fn, args, n, kw));
}

/* A value of the callee's type, in new temporaries of the caller. */
static sval from_results(tks *s, tk_inst *in, size_t *at, const sval *ret) {
  if (ret->kind == V_TENSOR) {
    int slot = tks_slot(s, ret->type, NULL);
    in->res[(*at)++] = slot;
    return sv_tensor(ret->type, slot);
  }
  sval r = *ret;
  if (ret->kind == V_INSTANCE) {
    r.object = TK_NEW(s->arena, tks_object);
    *r.object = (tks_object){.class = ret->object->class};
  } else if (!sv_runtime(ret)) {
    return r;
  }
  r.items = TK_NEWN(s->arena, sval, ret->n + 1);
  for (size_t i = 0; i < ret->n; i++)
    r.items[i] = from_results(s, in, at, &ret->items[i]);
  return r;
}

sval tks_call_instance(tks *s, tks_instance *in, const sval *leaves,
                       size_t nleaves) {
  size_t nres = in->func->nresults, at = 0;
  tk_type t = nres ? in->func->result_types[0] : (tk_type){0};
  tk_inst *call = tks_inst_new(s, TK_I_CALL, 0, t, nleaves, leaves, nres);
  call->ref.callee = in->func;
  return from_results(s, call, &at, &in->ret);
}

/* Whether a decorator says noinline=True. */
static bool is_noinline(const tk_ast *def) {
  for (uint32_t i = 0; i < def->ndecorators; i++) {
    const tk_ast *d = def->decorators[i];
    for (uint32_t k = 0; d->kind == TK_AST_CALL && k < d->n; k++) {
      const tk_ast *arg = d->list[k];
      if (arg->str && !strcmp(arg->str, "noinline"))
        return arg->a->kind == TK_AST_BOOL && arg->a->op;
    }
  }
  return false;
}

/* Triton compiles a function that is not inlined apart from its callers, and
 * hands it scalars and constexprs alone; it looks at positional arguments. */
static void check_noinline(tks *s, tk_function *fn, const sval *args, size_t n,
                           const char *const *kw) {
  if (!is_noinline(fn->ast)) return;
  for (size_t i = 0; i < n && i < fn->ast->n && !(kw && kw[i]); i++) {
    bool block = args[i].kind == V_TENSOR && tk_numel(&args[i].type) != 1;
    if (block || args[i].kind == V_TUPLE)
      tks_error_help(
          s, TK_D_UNSUPPORTED, "leave noinline out: it then takes any argument",
          "Function %s is marked noinline, but was called with non-scalar "
          "argument %s: %s",
          fn->item->name, fn->ast->list[i]->str, tks_show(s, &args[i]));
  }
}

static sval call_function(tks *s, tk_function *fn, const sval *args, size_t n,
                          const char *const *kw) {
  check_noinline(s, fn, args, n, kw);
  sval *v = tks_bind_params(s, fn, args, n, kw);
  tks_instance *in = tks_instance_of(s, fn, v);
  size_t nleaves = all_leaves(v, fn->ast->n, NULL);
  sval *leaves = TK_NEWN(s->arena, sval, nleaves + 1);
  all_leaves(v, fn->ast->n, leaves);
  return tks_call_instance(s, in, leaves, nleaves);
}

static sval call_lambda(tks *s, const tk_ast *e, const sval *args, size_t n) {
  if (n != e->n)
    tks_error(s, TK_D_CALL, "the lambda takes %u arguments, not %zu", e->n, n);
  const tk_binding *scope = s->frame->scope;
  for (size_t i = 0; i < n; i++) tks_bind(s, e->list[i]->str, &args[i]);
  sval v = tks_expr(s, e->a);
  s->frame->scope = scope;
  return v;
}

/* ---- the host's own functions ------------------------------------------ */

static void type_to_value(tks *s, const tk_type *t, tk_value *out) {
  size_t n = t->to_block ? 0 : t->rank;
  tk_value *shape = TK_NEWN(s->arena, tk_value, n + 1);
  for (size_t i = 0; i < n; i++)
    shape[i] = (tk_value){.kind = TK_V_INT, .lo = (uint64_t)t->shape[i]};
  out->kind = TK_V_DTYPE, out->lo = t->elem;
  out->hi = t->ptr | t->space << 8 | t->is_const << 16;
  out->n = n, out->items = n ? shape : NULL;
}

static tk_value to_value(tks *s, const sval *v) {
  tk_value r = {.is_constexpr = true};
  switch (v->kind) {
  case V_NONE: r.kind = TK_V_NONE; break;
  case V_BOOL:
  case V_INT:
    r.kind = v->kind == V_BOOL ? TK_V_BOOL : TK_V_INT;
    r.hi = (int64_t)(v->i >> 64);
    r.lo = (uint64_t)v->i;
    break;
  case V_FLOAT: r.kind = TK_V_FLOAT, r.f = v->f; break;
  case V_STR: r.kind = TK_V_STR, r.str = v->s, r.n = v->n; break;
  case V_TYPE: type_to_value(s, &v->type, &r); break;
  case V_FUNC: r.kind = TK_V_FUNCTION, r.ptr = v->fn; break;
  case V_OBJECT: r.kind = TK_V_OBJECT, r.ptr = v->obj; break;
  case V_OP: r.kind = TK_V_BUILTIN, r.str = v->op->name; break;
  case V_TUPLE: {
    tk_value *items = TK_NEWN(s->arena, tk_value, v->n + 1);
    for (size_t i = 0; i < v->n; i++) items[i] = to_value(s, &v->items[i]);
    r.kind = TK_V_TUPLE, r.n = v->n, r.items = items;
    break;
  }
  default: TK_ASSERT(false);
  }
  return r;
}

/* ---- classes of named tuples ------------------------------------------- */

static bool host_attr(tks *s, void *obj, const char *name, tk_value *out) {
  return tk_host_attr(s->env, s->frame->fn, obj, name, out) > 0;
}

/* The fields' names when obj is the class of a named tuple. */
static bool class_fields(tks *s, void *obj, tk_value *out) {
  if (!host_attr(s, obj, "_fields", out) || out->kind != TK_V_TUPLE)
    return false;
  for (size_t i = 0; i < out->n; i++)
    if (out->items[i].kind != TK_V_STR) return false;
  return true;
}

static size_t field_index(tks *s, const tk_value *fields, const char *name) {
  for (size_t i = 0; i < fields->n; i++)
    if (!strcmp(fields->items[i].str, name)) return i;
  tks_error(s, TK_D_CALL, "the named tuple has no field %s", name);
}

/* Values of the last fields that may be left out. */
static void default_fields(tks *s, void *obj, size_t n, sval *out,
                           bool *given) {
  tk_value make = {0}, d = {0};
  if (!host_attr(s, obj, "__new__", &make) || make.kind != TK_V_OBJECT) return;
  if (!host_attr(s, make.ptr, "__defaults__", &d) || d.kind != TK_V_TUPLE)
    return;
  for (size_t i = 0; i < d.n && d.n <= n; i++) {
    out[n - d.n + i] = sv_from_value(s, &d.items[i]);
    given[n - d.n + i] = true;
  }
}

static const char *joined(tks *s, const tk_value *fields) {
  const char *text = "";
  for (size_t i = 0; i < fields->n; i++)
    text = tk_arena_printf(s->arena, "%s%s%s", text, i ? "," : "",
                           fields->items[i].str);
  return text;
}

static sval make_named_tuple(tks *s, void *obj, const tk_value *fields,
                             const sval *args, size_t n,
                             const char *const *kw) {
  sval t = {.kind = V_TUPLE, .n = fields->n, .s = joined(s, fields)};
  t.items = TK_NEWN(s->arena, sval, t.n + 1);
  bool *given = TK_NEWN(s->arena, bool, t.n + 1);
  default_fields(s, obj, t.n, t.items, given);
  for (size_t i = 0; i < n; i++) {
    size_t at = kw && kw[i] ? field_index(s, fields, kw[i]) : i;
    if (at >= t.n)
      tks_error(s, TK_D_CALL, "the named tuple has %zu fields (%s), not %zu",
                t.n, t.s, n);
    t.items[at] = args[i];
    given[at] = true;
  }
  for (size_t i = 0; i < t.n; i++)
    if (!given[i])
      tks_error(s, TK_D_CALL, "the named tuple's field %s is missing",
                fields->items[i].str);
  return t;
}

/* Whether the host can be given a value. */
static bool host_takes(const sval *v) {
  switch (v->kind) {
  case V_NONE:
  case V_BOOL:
  case V_INT:
  case V_FLOAT:
  case V_STR:
  case V_TYPE:
  case V_FUNC:
  case V_OBJECT:
  case V_OP: return true;
  case V_TUPLE: break;
  default: return false;
  }
  for (size_t i = 0; i < v->n; i++)
    if (!host_takes(&v->items[i])) return false;
  return true;
}

/* The text of a Python function that may be called here; NULL: it may not. */
static tk_function *python_text(tks *s, void *obj) {
  tk_value text = {0};
  const char *name = s->frame->python ? "__code__" : "__call__";
  if (!host_attr(s, obj, name, &text) || text.kind != TK_V_FUNCTION)
    return NULL;
  return text.ptr;
}

/* What to do instead of calling a Python function here. */
static const char *instead_of(tks *s, void *obj, const char *otherwise) {
  tk_value name = {0};
  const char *here = NULL;
  if (host_attr(s, obj, "__name__", &name) && name.kind == TK_V_STR)
    here = tks_in_place_of(s, name.str);
  return here ? tk_arena_printf(s->arena, "did you mean %s?", here) : otherwise;
}

/* pdb.set_trace() would stop in the compiler, where no program runs. */
static void refuse_debugger(tks *s, void *obj) {
  tk_value name = {0};
  if (!host_attr(s, obj, "__name__", &name) || name.kind != TK_V_STR ||
      strcmp(name.str, "set_trace"))
    return;
  tks_error_help(s, TK_D_CALL,
                 "Python's debugger sees no kernel: run `tkdbg debug` with the "
                 "same arguments; breakpoint() or tl.breakpoint_if(cond) in a "
                 "kernel stops there",
                 "set_trace is a function of Python's debugger");
}

static sval call_object(tks *s, void *obj, const sval *args, size_t n,
                        const char *const *kw) {
  tk_value fields = {0};
  refuse_debugger(s, obj);
  const tks_class *class = tks_class_of(s, obj);
  if (class) return tks_make_instance(s, class, args, n, kw);
  if (class_fields(s, obj, &fields))
    return make_named_tuple(s, obj, &fields, args, n, kw);
  bool known = true;
  for (size_t i = 0; i < n; i++) known = known && host_takes(&args[i]);
  tk_function *text = known && !s->frame->python ? NULL : python_text(s, obj);
  if (text) return tks_call_python(s, text, args, n, kw);
  tk_value *values = TK_NEWN(s->arena, tk_value, n + 1), out = {0};
  const char **names = TK_NEWN(s->arena, const char *, n + 1);
  size_t nkw = 0;
  for (size_t i = 0; i < n; i++) {
    if (!host_takes(&args[i]))
      tks_error_help(
          s, TK_D_CALL,
          instead_of(s, obj, "`tkdbg help ops` lists what takes blocks"),
          "a Python function can take only constexpr values, not %s",
          tks_show(s, &args[i]));
    values[i] = to_value(s, &args[i]);
    if (kw && kw[i]) names[nkw++] = kw[i];
  }
  int r = tk_host_call(s->env, s->frame->fn, obj, values, n, names, nkw, &out);
  if (r < 0)
    tks_error(s, TK_D_HOST, "the call raised: %s",
              out.str ? out.str : "an error");
  if (!r) {
    bool written = host_attr(s, obj, "__code__", &out);
    tks_error_help(s, TK_D_CALL,
                   written ? "decorate it with @triton.jit"
                           : instead_of(s, obj, "call it in host code"),
                   "a kernel can call only @triton.jit functions and "
                   "constexpr_functions, not plain Python");
  }
  return sv_from_value(s, &out);
}

static sval call_method(tks *s, const sval *m, const sval *args, size_t n,
                        const char *const *kw, const tk_span *spans) {
  sval *all = TK_NEWN(s->arena, sval, n + 1);
  const char **names = TK_NEWN(s->arena, const char *, n + 1);
  tk_span *places = TK_NEWN(s->arena, tk_span, n + 1);
  all[0] = m->items[0];
  places[0] = s->frame->at;
  for (size_t i = 0; i < n; i++) {
    all[i + 1] = args[i];
    names[i + 1] = kw ? kw[i] : NULL;
    places[i + 1] = spans ? spans[i] : s->frame->at;
  }
  tks_args a = {.op = m->op, .method = true};
  if (m->op) return run_op(s, a, all, n + 1, names, places);
  return tks_call(s, &m->items[1], all, n + 1, names, places);
}

static sval call_special(tks *s, const sval *fn, const sval *args, size_t n) {
  sval *all = TK_NEWN(s->arena, sval, n + 2);
  if (fn->n) all[0] = fn->items[0];
  for (size_t i = 0; i < n; i++) all[fn->n + i] = args[i];
  return tks_call_special(s, fn->s, all, fn->n + n);
}

/* x(...) of a value whose class has __call__. */
static sval call_instance_itself(tks *s, const sval *v, const sval *args,
                                 size_t n, const char *const *kw,
                                 const tk_span *spans) {
  sval m = tks_instance_attr(s, v, "__call__");
  return tks_call(s, &m, args, n, kw, spans);
}

sval tks_call(tks *s, const sval *fn, const sval *args, size_t n,
              const char *const *kw, const tk_span *spans) {
  switch (fn->kind) {
  case V_OP: return tks_call_op(s, fn->op, args, n, kw, spans);
  case V_METHOD: return call_method(s, fn, args, n, kw, spans);
  case V_FUNC: return call_function(s, fn->fn, args, n, kw);
  case V_PYTHON: return tks_call_python(s, fn->fn, args, n, kw);
  case V_INSTANCE: return call_instance_itself(s, fn, args, n, kw, spans);
  case V_SPECIAL: return call_special(s, fn, args, n);
  case V_LAMBDA: return call_lambda(s, fn->ast, args, n);
  case V_OBJECT: return call_object(s, fn->obj, args, n, kw);
  default: tks_error(s, TK_D_CALL, "%s cannot be called", tks_show(s, fn));
  }
}
