/* call.c - calling: jit functions, lambdas, host functions, and operations,
 * whose arguments args.c binds.
 *
 * A jit function is specialised once per set of argument types and
 * known values, as a function of its own with its own frame; the call is one
 * instruction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "typing/version.h"
#include "typing/walk.h"
#include "launch/host.h"

/* ---- binding to a function's parameters -------------------------------- */

/* Which function of the library a version has is nothing that users know. */
static const char *shown_name(const tks *s, const tk_function *fn) {
  const char *name = fn->item->name;
  return tks_is_library(fn->module->file->src)
             ? tks_name_without_version(s, name)
             : name;
}

static void bad_args(tks *s, tk_function *fn, const char *what,
                     const char *name) TK_NORETURN;
static void bad_args(tks *s, tk_function *fn, const char *what,
                     const char *name) {
  tks_error(s, TK_D_CALL, "%s() %s%s%s", shown_name(s, fn), what,
            *name ? " " : "", name);
}

/* The host knows what a default was when the function was defined: the names
 * in it may mean something else by now. */
static bool host_default(tks *s, tk_function *fn, const tk_ast *p, sval *out) {
  tk_ast_kind k = tk_param_default(p)->kind;
  bool may_change = k == TK_AST_NAME || k == TK_AST_ATTR || k == TK_AST_CALL ||
                    k == TK_AST_SUBSCRIPT || k == TK_AST_BINARY;
  if (!fn->host || !may_change) return false;
  tk_value v = {0};
  const char *asked = tk_arena_printf(s->arena, "%s=", tk_param_name(p));
  if (tk_host_global(s->env, fn, asked, &v) <= 0) return false;
  *out = sv_from_value(s, &v);
  return true;
}

/* A default is evaluated where the function was defined. */
static sval param_default(tks *s, tk_function *fn, const tk_ast *p) {
  const tk_ast *e = tk_param_default(p);
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
  v.is_one = v.kind == V_TUPLE && !tks_has(s, TKS_TUPLE_OF_CONSTEXPRS);
  return v;
}

/* Whether the parameter can be given by its name. */
static bool takes_keyword(const tk_ast *param, const char *name) {
  tk_param_kind kind = tk_param_passing(param);
  return (kind == TK_PARAM_PLAIN || kind == TK_PARAM_KEYWORD) &&
         !strcmp(tk_param_name(param), name);
}

static size_t find_param(const tk_ast *fn, const char *name) {
  size_t i = 0;
  while (i < tk_func_nparams(fn) && !takes_keyword(tk_func_param(fn, i), name))
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
  tk_param_kind kind = *at < tk_func_nparams(ast)
                           ? tk_param_passing(tk_func_param(ast, *at))
                           : TK_PARAM_KEYWORD;
  if (kind == TK_PARAM_KEYWORDS || kind == TK_PARAM_KEYWORD)
    bad_args(s, fn, "takes fewer positional arguments than were given", "");
  if (kind == TK_PARAM_REST) {
    sval *t = &b->v[*at];
    sval more = sv_tuple(s, v, 1);
    *t = b->given[*at] ? sv_binary(s, TK_OP_ADD, t, &more) : more;
    b->given[*at] = true;
    return;
  }
  b->v[*at] = *v;
  b->given[(*at)++] = true;
}

/* An argument that the call leaves out reaches Triton as the default's Python
 * value; before 3.7 it knew only numbers, None, dtypes and jit functions there.
 */
static void check_left_out(tks *s, tk_function *fn, const tk_ast *p) {
  const tk_ast *usual = tk_param_default(p);
  bool text = usual->kind == TK_AST_STR || usual->kind == TK_AST_FSTR;
  bool known =
      tks_has(s, TKS_DEFAULT_OF_ANY) || (!text && !tk_is_sequence(usual));
  if (!fn->item->jit || tks_is_library(fn->module->file->src) || known) return;
  tks_error_help(s, TK_D_CALL,
                 tk_arena_printf(s->arena, "pass it: %s(..., %s=...)",
                                 fn->item->name, tk_param_name(p)),
                 "Triton does not accept a %s as the default value of an "
                 "argument that a call leaves out: %s of %s()",
                 text ? "text" : "tuple", tk_param_name(p), fn->item->name);
}

/* Into the dictionary of a parameter **kw, which only a Python function has:
 * pairs of a name and a value. */
static bool bind_in_dict(tks *s, tk_function *fn, bound *b, const char *name,
                         const sval *v) {
  size_t at = tk_func_nparams(fn->ast) - 1;
  if (fn->item->jit || !tk_func_nparams(fn->ast) ||
      tk_param_passing(tk_func_param(fn->ast, at)) != TK_PARAM_KEYWORDS)
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
  for (size_t i = 0; i < tk_func_nparams(fn->ast); i++) {
    const tk_ast *p = tk_func_param(fn->ast, i);
    if (b->given[i]) continue;
    if (tk_param_default(p)) check_left_out(s, fn, p);
    if (tk_param_passing(p) == TK_PARAM_REST)
      b->v[i] = sv_tuple(s, NULL, 0);
    else if (tk_param_passing(p) == TK_PARAM_KEYWORDS && !fn->item->jit)
      b->v[i] = sv(V_DICT);
    else if (tk_param_default(p))
      b->v[i] = param_default(s, fn, p);
    else
      bad_args(s, fn, "is missing the argument", tk_param_name(p));
  }
}

sval *tks_bind_params(tks *s, tk_function *fn, const sval *args, size_t n,
                      const char *const *kw) {
  size_t np = tk_func_nparams(fn->ast), at = 0;
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
  tk_func *f = tks_func_new(s, fn, shown_name(s, fn), src);
  f->span = tk_func_name_span(fn->ast);
  f->library = tks_is_library(src);
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
    *r.object =
        (tks_object){.class = v->object->class, .var = name, .home = &f->body};
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
         (!strcmp(tk_name_text(a), "int") || !strcmp(tk_name_text(a), "float"));
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
  if (a->kind == TK_AST_NAME && !tks_lookup(s, tk_name_text(a), &v))
    tks_unknown_name(s, tk_name_text(a));
  bool leaf = a->kind == TK_AST_NAME || a->kind == TK_AST_STR;
  if (leaf) return;
  if (a->kind == TK_AST_LAMBDA)
    tks_error(s, TK_D_UNSUPPORTED, "an annotation cannot be a lambda");
  for (uint32_t i = 0; tk_is_sequence(a) && i < tk_sequence_nitems(a); i++)
    if (is_python_type(tk_sequence_item(a, i)))
      tks_error_help(s, TK_D_TYPE, "quote the annotation, or leave it out",
                     "Triton evaluates this annotation and fails: a tuple "
                     "cannot hold types of Python");
  if (a->kind == TK_AST_BINARY && tk_binop_operator(a) == TK_OP_BITOR &&
      is_type_name(tk_binop_left(a)) && is_type_name(tk_binop_right(a)))
    tks_error_help(s, TK_D_TYPE, "quote the annotation, or leave it out",
                   "Triton evaluates this annotation and fails: it knows | "
                   "only between a type and None");
  for (size_t i = 0; i < tk_ast_nchildren(a); i++)
    if (i != 2) /* such as what follows else */
      check_annotation(s, tk_ast_child(a, i));
}

/* Of the parameters, Triton binds those that are plain, in their order. */
static void check_parameter(tks *s, const tk_ast *p) {
  if (tk_param_passing(p) != TK_PARAM_REST &&
      tk_param_passing(p) != TK_PARAM_POSITION)
    return;
  s->frame->at = p->span;
  if (tk_param_passing(p) == TK_PARAM_REST) {
    tks_need(s, TKS_REST_PARAMETER, "a @triton.jit function cannot take *args",
             "take one tuple as a parameter");
    return;
  }
  tks_error_help(s, TK_D_UNSUPPORTED, "leave the '/' out",
                 "%s comes before '/': the compiler ignores such parameters "
                 "and gives the others wrong values",
                 tk_param_name(p));
}

/* Whether Triton can make no tensors of a default's value. */
static bool is_no_default(const sval *v) {
  if (tks_needs_constexpr(v)) return true;
  for (size_t i = 0; v->kind == V_TUPLE && i < v->n; i++)
    if (v->items[i].kind == V_TYPE || is_no_default(&v->items[i])) return true;
  return false;
}

/* Triton assigns each default to its parameter before the arguments, and what
 * is annotated as no constexpr must be what a tensor can be made of. */
static void check_default(tks *s, tk_function *fn, const tk_ast *p) {
  const tk_ast *usual = tk_param_default(p);
  if (!usual || tk_param_passing(p) != TK_PARAM_PLAIN || !s->frame->fn->host)
    return;
  const tk_ast *note = tk_param_annotation(p);
  bool sought = usual->kind == TK_AST_STR || usual->kind == TK_AST_FSTR ||
                usual->kind == TK_AST_NAME || usual->kind == TK_AST_ATTR ||
                tk_is_sequence(usual);
  if (!sought || (note && tks_is_constexpr(s, note))) return;
  s->frame->at = usual->span;
  sval v = param_default(s, fn, p);
  if (!is_no_default(&v)) return;
  tks_error_help(
      s, TK_D_TYPE,
      tk_arena_printf(s->arena, "annotate it: %s: tl.constexpr = ...",
                      tk_param_name(p)),
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
                     .at = tk_func_name_span(ast)};
  tks_frame *saved = s->frame;
  s->frame = &frame;
  for (uint32_t i = 0; i < tk_func_nparams(ast); i++) {
    const tk_ast *p = tk_func_param(ast, i);
    check_parameter(s, p);
    check_annotation(s, tk_param_annotation(p));
    check_default(s, in->fn, p);
  }
  in->func->params =
      TK_NEWN(s->arena, int, all_leaves(v, tk_func_nparams(ast), NULL) + 1);
  for (uint32_t i = 0; i < tk_func_nparams(ast); i++) {
    const tk_ast *p = tk_func_param(ast, i);
    frame.at = p->span;
    sval inner = into_params(s, in->func, &v[i], tk_param_name(p));
    tk_binding *b = tks_bind(s, tk_param_name(p), &inner);
    if (tk_param_passing(p) == TK_PARAM_KEYWORD &&
        !tks_has(s, TKS_KEYWORD_ONLY) && !in->func->library)
      b->how = BOUND_UNSEEN;
  }
  frame.at = tk_func_name_span(ast);
  tks_body(s, tk_func_body(ast));
  tks_finish_returns(s);
  tk_func_last_uses(s->program, in->func);
  in->ret = frame.has_ret ? frame.ret : sv(V_NONE);
  s->frame = saved;
}

/* Before Triton 3.7 the name of a function was made of its arguments' types: a
 * class of values has none. */
static void check_no_class(tks *s, tk_function *fn, const sval *v) {
  if (tks_has(s, TKS_CLASS_PASSED)) return;
  for (uint32_t i = 0; i < tk_func_nparams(fn->ast); i++)
    if (v[i].kind == V_OBJECT && tks_class_of(s, v[i].obj))
      tks_error_help(s, TK_D_CALL, "pass a jit function that makes the value",
                     "%s() cannot take the class %s", fn->item->name,
                     tks_class_of(s, v[i].obj)->name);
}

tks_instance *tks_instance_of(tks *s, tk_function *fn, const sval *v) {
  check_no_class(s, fn, v);
  const char *key = tks_key(s, "", v, tk_func_nparams(fn->ast));
  tks_instance *in = find_instance(s, fn, key);
  if (in && in->open)
    tks_error_help(s, TK_D_RECURSION,
                   "recursion must end by a condition on constexprs",
                   "%s() calls itself with the same types", fn->item->name);
  for (uint32_t i = 0; in && i < tk_func_nparams(fn->ast); i++)
    tks_use_desc(s, &v[i]);
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

static sval call_instance(tks *s, tks_instance *in, const sval *leaves,
                          size_t nleaves) {
  size_t nres = in->func->nresults, at = 0;
  tk_type t = nres ? in->func->result_types[0] : (tk_type){0};
  tk_inst *call = tks_inst_new(s, TK_I_CALL, 0, t, nleaves, leaves, nres);
  call->ref.callee = in->func;
  return from_results(s, call, &at, &in->ret);
}

/* Whether a decorator says noinline=True. */
static bool is_noinline(const tk_ast *def) {
  for (uint32_t i = 0; i < tk_func_ndecorators(def); i++) {
    const tk_ast *d = tk_func_decorator(def, i);
    for (uint32_t k = 0; d->kind == TK_AST_CALL && k < tk_call_nargs(d); k++) {
      const tk_ast *arg = tk_call_arg(d, k);
      const char *name = tk_arg_keyword(arg);
      const tk_ast *value = tk_arg_value(arg);
      if (name && !strcmp(name, "noinline"))
        return value->kind == TK_AST_BOOL && tk_bool_value(value);
    }
  }
  return false;
}

/* Triton compiles a function that is not inlined apart from its callers, and
 * hands it scalars and constexprs alone; it looks at positional arguments. */
static void check_noinline(tks *s, tk_function *fn, const sval *args, size_t n,
                           const char *const *kw) {
  if (!is_noinline(fn->ast)) return;
  for (size_t i = 0; i < n && i < tk_func_nparams(fn->ast) && !(kw && kw[i]);
       i++) {
    bool block = args[i].kind == V_TENSOR && tk_numel(&args[i].type) != 1;
    if (block || args[i].kind == V_TUPLE)
      tks_error_help(
          s, TK_D_UNSUPPORTED, "leave noinline out: it then takes any argument",
          "Function %s is marked noinline, but was called with non-scalar "
          "argument %s: %s",
          fn->item->name, tk_param_name(tk_func_param(fn->ast, i)),
          tks_show(s, &args[i]));
  }
}

static sval call_function(tks *s, tk_function *fn, const sval *args, size_t n,
                          const char *const *kw) {
  check_noinline(s, fn, args, n, kw);
  sval *v = tks_bind_params(s, fn, args, n, kw);
  tks_instance *in = tks_instance_of(s, fn, v);
  size_t nleaves = all_leaves(v, tk_func_nparams(fn->ast), NULL);
  sval *leaves = TK_NEWN(s->arena, sval, nleaves + 1);
  all_leaves(v, tk_func_nparams(fn->ast), leaves);
  return call_instance(s, in, leaves, nleaves);
}

static sval call_lambda(tks *s, const tk_ast *e, const sval *args, size_t n) {
  if (n != tk_lambda_nparams(e))
    tks_error(s, TK_D_CALL, "the lambda takes %u arguments, not %zu",
              tk_lambda_nparams(e), n);
  const tk_binding *scope = s->frame->scope;
  for (size_t i = 0; i < n; i++)
    tks_bind(s, tk_param_name(tk_lambda_param(e, i)), &args[i]);
  sval v = tks_expr(s, tk_lambda_body(e));
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
    r.str = tks_has(s, TKS_FIELDS_PASSED) ? v->s : NULL;
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
  if (m->op) return tks_run_op(s, a, all, n + 1, names, places);
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
