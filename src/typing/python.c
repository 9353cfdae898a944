/* python.c - Python functions that a kernel calls while it is compiled: what
 * @tl.core.builtin and @tl.core.extern decorate, constructors and methods of
 * aggregates, and what these call.
 *
 * Triton runs them in Python and hands them the compiler as `_semantic`.
 * Here their text is specialised in the place of the call, as if it stood
 * there: instructions go to the caller's statement, names live in a frame of
 * their own, branches and loops are decided at once, and numbers stay known.
 * `_semantic` is a module whose functions are the operations of the language.
 * As in Triton, whoever calls an operation hands it on, and the operators of
 * a tensor cannot be used; what is not part of the language is refused.
 *
 * Values of aggregates (@triton.aggregate): the host is asked for a class's
 * fields, what they are annotated with, its constructor and its methods.  A
 * value keeps its fields like a tuple its items; but Python's methods change
 * it in place, so that it stands behind a reference (tks_object).  When it is
 * assigned to a variable, its fields get slots of their own, and what a method
 * makes of a field goes to the same slot: a loop or branch then carries it
 * like any variable.
 */
#include <string.h>

#include "typing/version.h"
#include "typing/walk.h"
#include "launch/host.h"

enum { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN };
enum { MAX_TRIPS = 100000 };

/* ---- the compiler ------------------------------------------------------ */

#define SEMANTIC "semantic"
#define BUILDER "semantic.builder"

sval tks_semantic(void) {
  return (sval){.kind = V_MODULE, .s = SEMANTIC, .n = sizeof SEMANTIC - 1};
}

bool tks_is_semantic(const sval *v) {
  return v->kind == V_MODULE && !strcmp(v->s, SEMANTIC);
}

static bool is_compiler_name(const char *name) {
  return !strcmp(name, "_semantic") || !strcmp(name, "_generator");
}

/* Methods of Triton's semantic and builder that have another name in the
 * language; an operator is called by its method of a tensor. */
static const char *const methods[][2] = {
    {SEMANTIC ".truediv", "__truediv__"},
    {SEMANTIC ".floordiv", "__floordiv__"},
    {SEMANTIC ".mod", "__mod__"},
    {SEMANTIC ".and_", "__and__"},
    {SEMANTIC ".or_", "__or__"},
    {SEMANTIC ".xor_", "__xor__"},
    {SEMANTIC ".shl", "__lshift__"},
    {SEMANTIC ".ashr", "__rshift__"},
    {SEMANTIC ".lshr", "__rshift__"},
    {SEMANTIC ".less_than", "__lt__"},
    {SEMANTIC ".less_equal", "__le__"},
    {SEMANTIC ".greater_than", "__gt__"},
    {SEMANTIC ".greater_equal", "__ge__"},
    {SEMANTIC ".equal", "__eq__"},
    {SEMANTIC ".not_equal", "__ne__"},
    {SEMANTIC ".minus", "__neg__"},
    {SEMANTIC ".plus", "__pos__"},
    {SEMANTIC ".invert", "__invert__"},
    {SEMANTIC ".not_", "__not__"},
    {SEMANTIC ".splat", "tl.broadcast_to"},
    {SEMANTIC ".broadcast_impl_shape", "tl.broadcast_to"},
    {SEMANTIC ".broadcast_impl_value", "tl.broadcast"},
    {BUILDER ".create_exp", "tl.exp"},
    {BUILDER ".create_exp2", "tl.exp2"},
    {BUILDER ".create_log", "tl.log"},
    {BUILDER ".create_log2", "tl.log2"},
    {BUILDER ".create_sin", "tl.sin"},
    {BUILDER ".create_cos", "tl.cos"},
    {BUILDER ".create_sqrt", "tl.sqrt"},
    {BUILDER ".create_precise_sqrt", "tl.sqrt_rn"},
    {BUILDER ".create_precise_divf", "tl.div_rn"},
    {BUILDER ".create_rsqrt", "tl.rsqrt"},
    {BUILDER ".create_erf", "tl.erf"},
    {BUILDER ".create_floor", "tl.floor"},
    {BUILDER ".create_ceil", "tl.ceil"},
    {BUILDER ".create_fma", "tl.fma"},
    {BUILDER ".create_umulhi", "tl.umulhi"},
    {BUILDER ".create_fabs", "tl.abs"},
    {BUILDER ".create_iabs", "tl.abs"},
    {BUILDER ".create_fadd", "__add__"},
    {BUILDER ".create_fsub", "__sub__"},
    {BUILDER ".create_fmul", "__mul__"},
    {BUILDER ".create_fdiv", "__truediv__"},
    {BUILDER ".create_add", "__add__"},
    {BUILDER ".create_sub", "__sub__"},
    {BUILDER ".create_mul", "__mul__"},
    {BUILDER ".create_and", "__and__"},
    {BUILDER ".create_or", "__or__"},
    {BUILDER ".create_xor", "__xor__"},
    {BUILDER ".create_select", "tl.where"},
    {BUILDER ".create_barrier", "tl.debug_barrier"},
};

sval tks_semantic_attr(tks *s, const char *module, const char *name) {
  bool semantic = !strcmp(module, SEMANTIC);
  const char *full = tk_arena_printf(s->arena, "%s.%s", module, name);
  if (semantic && !strcmp(name, "builder"))
    return (sval){.kind = V_MODULE, .s = BUILDER, .n = sizeof BUILDER - 1};
  const char *call = semantic ? tk_arena_printf(s->arena, "tl.%s", name) : "";
  for (size_t i = 0; i < TK_COUNT(methods); i++)
    if (!strcmp(methods[i][0], full)) call = methods[i][1];
  if (*call == '_' || (semantic && !strcmp(name, "call_JitFunction")))
    return (sval){
        .kind = V_SPECIAL, .s = *call == '_' ? call : name, .bound = true};
  const tks_op *op = tks_find_op(s, call);
  if (op) return (sval){.kind = V_OP, .op = op, .bound = true};
  tks_error_help(s, TK_D_NAME,
                 semantic ? "call the operation of triton.language, with "
                            "_semantic=_semantic"
                          : "call an operation of triton.language or a method "
                            "of _semantic",
                 "_%s is not known to tkdbg", full);
}

void tks_need_semantic(tks *s, const char *what) {
  tks_error_help(
      s, TK_D_CALL,
      "in a Python function, pass the compiler on: tl.exp(x, "
      "_semantic=_semantic), x.__add__(y, _semantic=_semantic)",
      "Did you forget to add @triton.jit ? (`_semantic` argument must be "
      "provided outside of JIT functions.): %s",
      what);
}

/* x.__add__(y) and the like, and call_JitFunction(fn, args, kwargs). */
sval tks_call_special(tks *s, const char *name, const sval *args, size_t n) {
  static const struct {
    const char *name;
    tk_operator op;
    bool unary;
  } operators[] = {
#define OPERATOR(id, text, dunder)                                             \
  {"__" dunder "__", TK_OP_##id,                                               \
   TK_OP_##id == TK_OP_NEG || TK_OP_##id == TK_OP_POS ||                       \
       TK_OP_##id == TK_OP_INVERT || TK_OP_##id == TK_OP_NOT},
#include "lang/operator.def"
#undef OPERATOR
  };
  if (!strcmp(name, "call_JitFunction") && n >= 2 && args[1].kind == V_TUPLE)
    return tks_call(s, &args[0], args[1].items, args[1].n, NULL, NULL);
  bool reversed = !strncmp(name, "__r", 3) && strcmp(name, "__rshift__");
  sval swapped[2] = {args[n > 1], args[0]};
  if (reversed) name = tk_arena_printf(s->arena, "__%s", name + 3);
  if (reversed && n > 1) args = swapped;
  for (size_t i = 0; i < TK_COUNT(operators); i++) {
    if (strcmp(operators[i].name, name)) continue;
    if (operators[i].unary && n == 1)
      return tks_operate_unary(s, operators[i].op, &args[0]);
    if (!operators[i].unary && n >= 2)
      return tks_operate(s, operators[i].op, &args[0], &args[1]);
  }
  tks_error(s, TK_D_CALL, "%s cannot be called with %zu arguments", name, n);
}

/* A call in a Python function.  `_semantic` is there for Triton's own
 * operations alone, which want it; other functions get it as it is. */
sval tks_call_from_python(tks *s, const sval *fn, const sval *args, size_t n,
                          const char *const *kw, const tk_span *spans) {
  bool op = (fn->kind == V_OP && !fn->bound) || fn->kind == V_SPECIAL ||
            (fn->kind == V_METHOD && fn->op);
  bool own = op || fn->kind == V_OP, has = fn->bound;
  if (fn->kind == V_FUNC)
    for (size_t i = 0; i < n; i++)
      if (sv_runtime(&args[i]))
        tks_error_help(s, TK_D_CALL,
                       "write _generator.call_JitFunction(fn, args, {}), with "
                       "_generator among the parameters",
                       "Cannot call @triton.jit'd outside of the scope of a "
                       "kernel: %s",
                       tks_show(s, fn));
  if (!own) return tks_call(s, fn, args, n, kw, spans);
  sval *rest = TK_NEWN(s->arena, sval, n + 1);
  const char **names = TK_NEWN(s->arena, const char *, n + 1);
  tk_span *places = TK_NEWN(s->arena, tk_span, n + 1);
  size_t k = 0, before = s->frame->insts->n;
  for (size_t i = 0; i < n; i++) {
    bool compiler = kw[i] && is_compiler_name(kw[i]);
    has = has || (compiler && tks_is_semantic(&args[i]));
    if (compiler) continue;
    rest[k] = args[i];
    names[k] = kw[i];
    places[k++] = spans[i];
  }
  sval v = tks_call(s, fn, rest, k, names, places);
  if (!has && s->frame->insts->n != before)
    tks_need_semantic(s, tks_show(s, fn));
  return v;
}

/* ---- statements -------------------------------------------------------- */

static void python_block(tks *s, const tk_ast *block);

static void python_unpack(tks *s, const tk_ast *target, const sval *v);

static void python_assign(tks *s, const tk_ast *target, const sval *v) {
  s->frame->at = target->span;
  if (target->kind == TK_AST_NAME) {
    tks_bind(s, tk_name_text(target), v);
    return;
  }
  if (tk_is_sequence(target)) {
    python_unpack(s, target, v);
    return;
  }
  sval to = sv(V_NONE);
  if (target->kind == TK_AST_ATTR) to = tks_expr(s, tk_attr_object(target));
  if (target->kind == TK_AST_SUBSCRIPT)
    to = tks_expr(s, tk_subscript_object(target));
  s->frame->at = target->span;
  if (to.kind != V_INSTANCE)
    tks_error(s, TK_D_UNSUPPORTED, "cannot assign to this %s",
              tk_ast_name(target->kind));
  if (target->kind == TK_AST_ATTR) {
    tks_set_field(s, &to, tk_attr_name(target), v);
    return;
  }
  sval args[2] = {tks_expr(s, tk_subscript_index(target)), *v};
  sval m = tks_instance_attr(s, &to, "__setitem__");
  tks_call(s, &m, args, 2, NULL, NULL);
}

static void python_unpack(tks *s, const tk_ast *target, const sval *v) {
  if (v->kind != V_TUPLE || v->n != tk_sequence_nitems(target))
    tks_error(s, TK_D_VALUE, "cannot unpack %s into %u names", tks_show(s, v),
              tk_sequence_nitems(target));
  for (uint32_t i = 0; i < tk_sequence_nitems(target); i++)
    python_assign(s, tk_sequence_item(target, i), &v->items[i]);
}

static bool calls(const tk_ast *e, const char *name) {
  if (e->kind != TK_AST_CALL) return false;
  const tk_ast *f = tk_call_function(e);
  return f->kind == TK_AST_NAME && !strcmp(tk_name_text(f), name);
}

/* range(n), range(a, b) or range(a, b, step), counted now. */
static sval python_range(tks *s, const tk_ast *e) {
  sval v[3] = {sv_int(0), sv_int(0), sv_int(1)};
  size_t n = tk_call_nargs(e);
  if (n < 1 || n > 3) tks_error(s, TK_D_CALL, "range takes 1 to 3 numbers");
  for (size_t i = 0; i < n; i++) {
    sval *to = &v[n == 1 ? 1 : i];
    *to = tks_expr(s, tk_arg_value(tk_call_arg(e, i)));
    if (to->kind != V_INT && to->kind != V_BOOL)
      tks_error_help(s, TK_D_TYPE, "loop in a @triton.jit function",
                     "a Python function counts with numbers that are known "
                     "when the kernel is compiled, not with %s",
                     tks_show(s, to));
  }
  tk_int by = v[2].i, span = by > 0 ? v[1].i - v[0].i : v[0].i - v[1].i;
  if (by == 0) tks_error(s, TK_D_VALUE, "range step must not be zero");
  tk_int trips = span <= 0 ? 0 : (span - 1) / (by > 0 ? by : -by) + 1;
  if (trips > MAX_TRIPS)
    tks_error(s, TK_D_RUNAWAY, "a range of more than %d numbers", MAX_TRIPS);
  sval t = sv_tuple(s, NULL, 0);
  t.n = (size_t)trips;
  t.items = TK_NEWN(s->arena, sval, t.n + 1);
  for (size_t i = 0; i < t.n; i++) t.items[i] = sv_int(v[0].i + (tk_int)i * by);
  return t;
}

static sval python_items(tks *s, const tk_ast *e);

/* enumerate(x) and zip(x, y, ...): tuples of the items with one number. */
static sval python_zip(tks *s, const tk_ast *e, bool numbered) {
  uint32_t nargs = tk_call_nargs(e);
  sval *of = TK_NEWN(s->arena, sval, nargs + 1), out = sv_tuple(s, NULL, 0);
  size_t n = SIZE_MAX;
  for (uint32_t i = 0; i < nargs; i++) {
    of[i] = python_items(s, tk_arg_value(tk_call_arg(e, i)));
    n = of[i].n < n ? of[i].n : n;
  }
  out.n = nargs ? n : 0;
  out.items = TK_NEWN(s->arena, sval, out.n + 1);
  for (size_t k = 0; k < out.n; k++) {
    sval *row = TK_NEWN(s->arena, sval, nargs + 1);
    if (numbered) row[0] = sv_int((tk_int)k);
    for (uint32_t i = 0; i < nargs; i++) row[i + numbered] = of[i].items[k];
    out.items[k] = sv_tuple(s, row, nargs + numbered);
  }
  return out;
}

static sval python_items(tks *s, const tk_ast *e) {
  s->frame->at = e->span;
  if (calls(e, "range")) return python_range(s, e);
  if (calls(e, "zip")) return python_zip(s, e, false);
  if (calls(e, "enumerate") && tk_call_nargs(e) == 1)
    return python_zip(s, e, true);
  sval v = tks_expr(s, e);
  if (v.kind == V_DICT) return tks_call_name(s, "dict.keys", &v, 1);
  if (v.kind != V_TUPLE)
    tks_error_help(s, TK_D_TYPE,
                   "iterate over a tuple, range, enumerate or "
                   "zip",
                   "a Python function cannot iterate over %s", tks_show(s, &v));
  return v;
}

static void python_for(tks *s, const tk_ast *n) {
  sval items = python_items(s, tk_for_iterable(n));
  if (tk_for_norelse(n))
    tks_error(s, TK_D_UNSUPPORTED, "a loop cannot have an else branch");
  for (size_t i = 0; i < items.n && s->frame->flow == FLOW_ON; i++) {
    python_assign(s, tk_for_target(n), &items.items[i]);
    python_block(s, tk_for_body(n));
    if (s->frame->flow == FLOW_CONTINUE) s->frame->flow = FLOW_ON;
  }
  if (s->frame->flow == FLOW_BREAK) s->frame->flow = FLOW_ON;
}

static bool python_truth(tks *s, const tk_ast *e) {
  sval v = tks_expr(s, e);
  s->frame->at = e->span;
  return sv_truth(s, &v);
}

static void python_while(tks *s, const tk_ast *n) {
  if (tk_while_norelse(n))
    tks_error(s, TK_D_UNSUPPORTED, "a loop cannot have an else branch");
  while (s->frame->flow == FLOW_ON && python_truth(s, tk_while_test(n))) {
    if (++s->unrolled > MAX_TRIPS)
      tks_error(s, TK_D_RUNAWAY, "a loop of more than %d trips", MAX_TRIPS);
    python_block(s, tk_while_body(n));
    if (s->frame->flow == FLOW_CONTINUE) s->frame->flow = FLOW_ON;
  }
  if (s->frame->flow == FLOW_BREAK) s->frame->flow = FLOW_ON;
}

/* What an assertion or exception says: the text of its first argument. */
static const char *python_message(tks *s, const tk_ast *e) {
  if (e && e->kind == TK_AST_CALL && tk_call_nargs(e))
    e = tk_arg_value(tk_call_arg(e, 0));
  if (!e || (e->kind != TK_AST_STR && e->kind != TK_AST_FSTR)) return "";
  sval v = tks_expr(s, e);
  return v.kind == V_STR ? tk_arena_printf(s->arena, ": %s", v.s) : "";
}

static void python_assert(tks *s, const tk_ast *n) {
  if (python_truth(s, tk_assert_test(n))) return;
  const char *why = python_message(s, tk_assert_message(n));
  s->frame->at = n->span;
  tks_error(s, TK_D_STATIC_ASSERT, "an assertion of %s() does not hold%s",
            s->frame->fn->item->name, why);
}

static void python_raise(tks *s, const tk_ast *n) {
  const tk_ast *e = tk_raise_exception(n);
  const tk_ast *name = e && e->kind == TK_AST_CALL ? tk_call_function(e) : e;
  const char *raised = name ? tk_dotted_name(name) : NULL;
  const char *why = python_message(s, e);
  s->frame->at = n->span;
  tks_error(s, TK_D_VALUE, "%s() raises %s%s", s->frame->fn->item->name,
            raised ? raised : "an exception", why);
}

static void python_stmt(tks *s, const tk_ast *n) {
  s->frame->at = n->span;
  tk_check_interrupt(s->env);
  sval v = sv(V_NONE), other;
  switch (n->kind) {
  case TK_AST_EXPR:
    if (tk_expr_value(n)->kind != TK_AST_STR) tks_expr(s, tk_expr_value(n));
    return;
  case TK_AST_ASSIGN:
    v = tks_expr(s, tk_assign_value(n));
    for (uint32_t i = 0; i < tk_assign_ntargets(n); i++)
      python_assign(s, tk_assign_target(n, i), &v);
    return;
  case TK_AST_ANNASSIGN:
    if (tk_annassign_value(n)) v = tks_expr(s, tk_annassign_value(n));
    if (tk_annassign_value(n)) python_assign(s, tk_annassign_target(n), &v);
    return;
  case TK_AST_AUGASSIGN:
    v = tks_expr(s, tk_augassign_target(n));
    other = tks_expr(s, tk_augassign_value(n));
    if (sv_is_tensor(&v) || sv_is_tensor(&other))
      tks_need_semantic(s, tk_operator_text(tk_augassign_operator(n)));
    v = tks_operate(s, tk_augassign_operator(n), &v, &other);
    python_assign(s, tk_augassign_target(n), &v);
    return;
  case TK_AST_IF: {
    const tk_ast *active =
        python_truth(s, tk_if_test(n)) ? tk_if_then(n) : tk_if_orelse(n);
    if (active) python_block(s, active);
    return;
  }
  case TK_AST_FOR: python_for(s, n); return;
  case TK_AST_WHILE: python_while(s, n); return;
  case TK_AST_RETURN:
    if (tk_return_value(n)) v = tks_expr(s, tk_return_value(n));
    s->frame->ret = v;
    s->frame->flow = FLOW_RETURN;
    return;
  case TK_AST_ASSERT: python_assert(s, n); return;
  case TK_AST_RAISE: python_raise(s, n); return;
  case TK_AST_PASS: return;
  case TK_AST_BREAK: s->frame->flow = FLOW_BREAK; return;
  case TK_AST_CONTINUE: s->frame->flow = FLOW_CONTINUE; return;
  default:
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "tkdbg follows assignments, if, for, while, assert, raise "
                   "and return of a Python function that gets tensors",
                   "%s() has a statement that cannot be followed: %s",
                   s->frame->fn->item->name,
                   n->kind == TK_AST_UNSUPPORTED ? tk_unsupported_name(n)
                                                 : tk_ast_name(n->kind));
  }
}

static void python_block(tks *s, const tk_ast *block) {
  for (uint32_t i = 0; i < tk_block_nstmts(block) && s->frame->flow == FLOW_ON;
       i++)
    python_stmt(s, tk_block_stmt(block, i));
}

/* ---- calls ------------------------------------------------------------- */

/* The arguments, and the compiler for those parameters that are named after
 * it, where a kernel calls. */
static sval *python_args(tks *s, tk_function *fn, const sval *args, size_t n,
                         const char *const *kw) {
  const tk_ast *ast = fn->ast;
  sval *all = TK_NEWN(s->arena, sval, n + tk_func_nparams(ast) + 1);
  const char **names =
      TK_NEWN(s->arena, const char *, n + tk_func_nparams(ast) + 1);
  for (size_t i = 0; i < n; i++) all[i] = args[i];
  for (size_t i = 0; i < n; i++) names[i] = kw ? kw[i] : NULL;
  for (uint32_t i = 0; i < tk_func_nparams(ast) && !s->frame->python; i++)
    if (is_compiler_name(tk_param_name(tk_func_param(ast, i)))) {
      names[n] = tk_param_name(tk_func_param(ast, i));
      all[n++] = tks_semantic();
    }
  return tks_bind_params(s, fn, all, n, names);
}

sval tks_call_python(tks *s, tk_function *fn, const sval *args, size_t n,
                     const char *const *kw) {
  tks_frame *caller = s->frame;
  tks_check_depth(s, fn);
  sval *v = python_args(s, fn, args, n, kw);
  tks_frame frame = {.caller = caller,
                     .func = caller->func,
                     .fn = fn,
                     .body = caller->body,
                     .insts = caller->insts,
                     .at = tk_func_name_span(fn->ast),
                     .call = caller->call.hi ? caller->call : caller->at,
                     .loops = caller->loops,
                     .python = true};
  s->frame = &frame;
  for (uint32_t i = 0; i < tk_func_nparams(fn->ast); i++)
    tks_bind(s, tk_param_name(tk_func_param(fn->ast, i)), &v[i]);
  python_block(s, tk_func_body(fn->ast));
  s->frame = caller;
  return frame.ret;
}

/* ---- classes ----------------------------------------------------------- */

static bool class_attr(tks *s, void *obj, const char *name, tk_value *out) {
  return tk_host_attr(s->env, s->frame->fn, obj, name, out) > 0;
}

const tks_class *tks_class_of(tks *s, void *obj) {
  tk_value fields = {0}, types = {0}, name = {0}, base = {0};
  for (const tks_class *c = s->classes; c; c = c->next)
    if (c->obj == obj) return c;
  bool is_class = class_attr(s, obj, "__triton_aggregate__", &fields) &&
                  class_attr(s, obj, "__fields__", &fields) &&
                  class_attr(s, obj, "__types__", &types) &&
                  class_attr(s, obj, "__name__", &name);
  if (!is_class || fields.kind != TK_V_TUPLE || types.n != fields.n)
    return NULL;
  tks_class *c = TK_NEW(s->arena, tks_class);
  *c = (tks_class){.next = s->classes, .obj = obj, .n = fields.n};
  if (class_attr(s, obj, "__base_aggregate__", &base) &&
      base.kind == TK_V_OBJECT)
    c->base = tks_class_of(s, base.ptr);
  c->name = tk_arena_strdup(s->arena, name.str);
  c->fields = TK_NEWN(s->arena, const char *, c->n + 1);
  c->types = TK_NEWN(s->arena, sval, c->n + 1);
  for (size_t i = 0; i < c->n; i++) {
    c->fields[i] = tk_arena_strdup(s->arena, fields.items[i].str);
    c->types[i] = sv_from_value(s, &types.items[i]);
  }
  c->next = s->classes;
  s->classes = c;
  return c;
}

bool tks_is_derived(const tks_class *c, const tks_class *from) {
  while (c && c != from) c = c->base;
  return c != NULL;
}

static size_t find_field(const tks_class *c, const char *name) {
  size_t i = 0;
  while (i < c->n && strcmp(c->fields[i], name)) i++;
  return i;
}

/* Whether v may stand in a field that is annotated with t. */
static bool fits_field(tks *s, const sval *v, const sval *t) {
  const tks_class *c = t->kind == V_OBJECT ? tks_class_of(s, t->obj) : NULL;
  if (c) return v->kind == V_INSTANCE && tks_is_derived(v->object->class, c);
  return tks_is_instance(v, t, true);
}

/* ---- values ------------------------------------------------------------ */

/* In Python another name for a value is the same value; slots are copies.
 * What comes out of a constructor of Triton 3.8 does not change any more; the
 * parameters and results of functions are made without it, and do. */
static void check_changes(tks *s, const tks_object *o, const char *name) {
  if (o->fixed)
    tks_error_help(s, TK_D_TYPE,
                   "tl.aggregate_replace makes a copy with other values",
                   "cannot assign to field '%s' on immutable aggregate %s",
                   name, o->class->name);
  if (o->shared)
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "make a new value, or call the method before the other "
                   "name is given",
                   "the attribute '%s' of %s changes, but the object has "
                   "another name as well: tkdbg cannot follow both",
                   name, o->var ? o->var : o->class->name);
}

void tks_set_field(tks *s, const sval *v, const char *name, const sval *to) {
  tks_object *o = v->object;
  size_t i = find_field(o->class, name);
  if (i == o->class->n)
    tks_error_help(s, TK_D_NAME, "annotate it in the class",
                   "%s has no attribute '%s'", o->class->name, name);
  if (tks_is_no_class(&o->class->types[i]))
    tks_error_help(s, TK_D_TYPE,
                   "annotate it with a class, such as tl.tensor or "
                   "tl.constexpr, and without quotes",
                   "the attribute '%s' of %s is annotated with %s", name,
                   o->class->name, tks_show(s, &o->class->types[i]));
  if (!fits_field(s, to, &o->class->types[i]))
    tks_error(s, TK_D_TYPE, "expected %s for the attribute '%s' of %s, not %s",
              tks_show(s, &o->class->types[i]), name, o->class->name,
              tks_show(s, to));
  check_changes(s, o, name);
  sval now = *to;
  if (o->var) now = tks_store_var(s, tks_part_name(s, v, o->var, i), to);
  if (o->var && o->home != s->frame->body && !sv_same_type(&v->items[i], &now))
    tks_error_help(s, TK_D_TYPE,
                   "please make sure that the type stays consistent",
                   "the attribute '%s' of %s is %s before the branch or loop, "
                   "and %s in it",
                   name, o->var, tks_show(s, &v->items[i]), tks_show(s, &now));
  v->items[i] = now;
}

static sval constructor_of(tks *s, const tks_class *c) {
  tk_value init = {0};
  if (!class_attr(s, c->obj, "__init__", &init)) return sv(V_NONE);
  return sv_from_value(s, &init);
}

static void call_constructor(tks *s, const sval *init, const sval *self,
                             const sval *args, size_t n,
                             const char *const *kw) {
  sval *all = TK_NEWN(s->arena, sval, n + 1);
  const char **names = TK_NEWN(s->arena, const char *, n + 1);
  all[0] = *self;
  for (size_t i = 0; i < n; i++) all[i + 1] = args[i];
  for (size_t i = 0; i < n; i++) names[i + 1] = kw ? kw[i] : NULL;
  if (init->kind == V_FUNC)
    tks_error_help(s, TK_D_CALL, "leave @triton.jit out: it runs in Python",
                   "the constructor of %s is a jit function",
                   self->object->class->name);
  tks_call_python(s, init->fn, all, n + 1, names);
}

/* The value of a field that a generated constructor was not given. */
static sval field_default(tks *s, const tks_class *c, size_t i) {
  tk_value found = {0};
  const char *name = tk_arena_printf(s->arena, "%s=", c->fields[i]);
  if (!class_attr(s, c->obj, name, &found))
    tks_error(s, TK_D_CALL, "%s.__init__() missing required argument: '%s'",
              c->name, c->fields[i]);
  return sv_from_value(s, &found);
}

/* The constructor of a class without one: its parameters are the fields. */
static void fill_fields(tks *s, const sval *self, const sval *args, size_t n,
                        const char *const *kw) {
  const tks_class *c = self->object->class;
  sval *given = TK_NEWN(s->arena, sval, c->n + 1);
  for (size_t i = 0; i < c->n; i++) given[i] = sv(V_ELLIPSIS);
  for (size_t i = 0; i < n; i++) {
    const char *name = kw ? kw[i] : NULL;
    size_t at = name ? find_field(c, name) : i;
    if (at == c->n && name)
      tks_error(s, TK_D_CALL,
                "%s.__init__() got an unexpected keyword argument '%s'",
                c->name, name);
    if (at >= c->n)
      tks_error(s, TK_D_CALL,
                "%s.__init__() takes %zu positional arguments but %zu were "
                "given",
                c->name, c->n + 1, n + 1);
    if (given[at].kind != V_ELLIPSIS)
      tks_error(s, TK_D_CALL,
                "%s.__init__() got multiple values for argument '%s'", c->name,
                name);
    given[at] = args[i];
  }
  for (size_t i = 0; i < c->n; i++) {
    if (given[i].kind == V_ELLIPSIS) given[i] = field_default(s, c, i);
    tks_set_field(s, self, c->fields[i], &given[i]);
  }
}

sval tks_make_instance(tks *s, const tks_class *c, const sval *args, size_t n,
                       const char *const *kw) {
  sval v = {.kind = V_INSTANCE, .n = c->n};
  v.object = TK_NEW(s->arena, tks_object);
  *v.object = (tks_object){.class = c};
  v.items = TK_NEWN(s->arena, sval, c->n + 1);
  for (size_t i = 0; i < c->n; i++) v.items[i] = sv(V_ELLIPSIS); /* none yet */
  sval init = constructor_of(s, c);
  if (init.kind == V_FUNC || init.kind == V_PYTHON)
    call_constructor(s, &init, &v, args, n, kw);
  else if (tks_has(s, TKS_PLAIN_AGGREGATE))
    fill_fields(s, &v, args, n, kw);
  else if (n)
    tks_need(s, TKS_PLAIN_AGGREGATE,
             tk_arena_printf(s->arena,
                             "%s() takes no arguments: it has no constructor",
                             c->name),
             "write __init__");
  for (size_t i = 0; i < c->n; i++)
    if (v.items[i].kind == V_ELLIPSIS)
      tks_error(s, TK_D_CALL,
                "constructor for %s did not initialize attribute '%s'", c->name,
                c->fields[i]);
  v.object->fixed = tks_has(s, TKS_PLAIN_AGGREGATE);
  return v;
}

sval tks_replace_fields(tks *s, const sval *v, const sval *changes, size_t n) {
  const tks_class *c = v->object->class;
  sval *all = TK_NEWN(s->arena, sval, c->n + 1);
  for (size_t i = 0; i < c->n; i++)
    all[i] = tks_instance_attr(s, v, c->fields[i]);
  for (size_t i = 0; i < n; i++) {
    const char *name = changes[2 * i].s;
    size_t at = find_field(c, name);
    if (at == c->n)
      tks_error(s, TK_D_CALL, "%s has no field '%s'", c->name, name);
    all[at] = changes[2 * i + 1];
  }
  return tks_make_instance(s, c, all, c->n, c->fields);
}

/* What a method gets first: of a jit function, or of Python's. */
static sval bound_method(tks *s, const sval *self, const sval *function) {
  sval v = {.kind = V_METHOD, .n = 2};
  v.items = TK_NEWN(s->arena, sval, 2);
  v.items[0] = *self;
  v.items[1] = *function;
  return v;
}

/* A field is read as it is now: a method may change it before it is used. */
sval tks_instance_attr(tks *s, const sval *v, const char *name) {
  const tks_class *c = v->object->class;
  size_t i = find_field(c, name);
  if (i < c->n && v->items[i].kind == V_ELLIPSIS)
    tks_error(s, TK_D_NAME, "the attribute '%s' of %s has no value yet", name,
              c->name);
  if (i < c->n && v->items[i].kind == V_INSTANCE) return v->items[i];
  if (i < c->n) return v->object->var ? tks_copy(s, &v->items[i]) : v->items[i];
  if (!strcmp(name, "type")) return tks_type_of(s, v);
  tk_value found = {0};
  if (!class_attr(s, c->obj, name, &found)) {
    tk_nearest near = tk_nearest_start(name);
    for (i = 0; i < c->n; i++) tk_nearest_try(&near, c->fields[i]);
    const char *best = tk_nearest_best(&near);
    tks_error_help(s, TK_D_NAME,
                   best ? tk_arena_printf(s->arena, "did you mean .%s?", best)
                        : "kernels see only the annotated fields and the "
                          "methods of a class",
                   "%s has no attribute %s", c->name, name);
  }
  sval f = sv_from_value(s, &found);
  if (f.kind == V_FUNC || f.kind == V_PYTHON) return bound_method(s, v, &f);
  return f;
}

sval tks_call_method(tks *s, const sval *v, const char *name, const sval *arg) {
  sval m = tks_instance_attr(s, v, name);
  return tks_call(s, &m, arg, arg != NULL, NULL, NULL);
}

static bool has_method(tks *s, const sval *v, const char *name, tk_value *own) {
  return class_attr(s, v->object->class->obj, name, own) &&
         own->kind == TK_V_FUNCTION;
}

/* Triton takes the operators of two values to their class, and leaves those
 * of one value, and those with a constexpr, to Python. */
static void check_jit(tks *s, const char *name, const tk_value *own,
                      const sval *v) {
  if (!own->lo && !s->frame->python)
    tks_error_help(s, TK_D_TYPE, "call a method of another name",
                   "%s of %s is called by Python itself here, which cannot "
                   "call a jit function",
                   name, tks_show(s, v));
}

void tks_check_truth(tks *s, const sval *v) {
  tk_value own = {0};
  if (v->kind != V_INSTANCE) return;
  if (has_method(s, v, "__bool__", &own)) check_jit(s, "__bool__", &own, v);
  if (has_method(s, v, "__len__", &own)) check_jit(s, "__len__", &own, v);
}

/* "__add__". */
static const char *method_of(tks *s, tk_operator op) {
  return tk_arena_printf(s->arena, "__%s__", tk_operator_dunder(op));
}

/* What an operator on a value calls; without a method for it, values are
 * equal that are the same. */
static sval call_operator(tks *s, tk_operator op, const sval *v,
                          const sval *arg) {
  const char *name = method_of(s, op);
  tk_value own = {0};
  bool equal = op == TK_OP_EQ || op == TK_OP_NE;
  bool any = has_method(s, v, name, &own);
  if (any && (!arg || arg->kind <= V_STR)) check_jit(s, name, &own, v);
  if (arg && sv_is_tensor(arg) && !s->frame->python)
    tks_error_help(s, TK_D_TYPE, "call a method of another name",
                   "Triton asks the tensor for %s with %s, not the class", name,
                   tks_show(s, v));
  if (equal && !any)
    tks_error_help(s, TK_D_TYPE, "compare its fields, or write __eq__",
                   "%s has no %s", tks_show(s, v), name);
  return tks_call_method(s, v, name, arg);
}

/* ---- operators of aggregates since Triton 3.9 ---------------------------- */

/* "__radd__" for "__add__"; comparisons look the other way. */
static const char *reflected(tks *s, tk_operator op) {
  switch (op) {
  case TK_OP_LT: return "__gt__";
  case TK_OP_LE: return "__ge__";
  case TK_OP_GT: return "__lt__";
  case TK_OP_GE: return "__le__";
  case TK_OP_EQ: return "__eq__";
  case TK_OP_NE: return "__ne__";
  default: return tk_arena_printf(s->arena, "__r%s__", tk_operator_dunder(op));
  }
}

/* Calls a method of an operator; false: there is none, or it does not know the
 * other operand. */
static bool try_operator(tks *s, const sval *owner, const char *name,
                         const sval *other, sval *out) {
  tk_value own = {0};
  if (owner->kind != V_INSTANCE || !has_method(s, owner, name, &own))
    return false;
  sval m = tks_instance_attr(s, owner, name);
  *out = tks_call(s, &m, other, other != NULL, NULL, NULL);
  return !tks_is_not_implemented(out);
}

/* The operands that are aggregates are asked, the right one first if its class
 * inherits from the left one's. */
static sval aggregate_operator(tks *s, tk_operator op, const sval *a,
                               const sval *b) {
  const char *forward = method_of(s, op);
  bool both = a->kind == V_INSTANCE && b->kind == V_INSTANCE;
  bool right = both && a->object->class != b->object->class &&
               tks_is_derived(b->object->class, a->object->class);
  sval out;
  if (right && try_operator(s, b, reflected(s, op), a, &out)) return out;
  if (try_operator(s, a, forward, b, &out)) return out;
  if (!right && try_operator(s, b, reflected(s, op), a, &out)) return out;
  tks_error_help(
      s, TK_D_TYPE,
      tk_arena_printf(s->arena, "write %s or %s", forward, reflected(s, op)),
      "unsupported operand type(s) for %s: %s and %s", tk_operator_text(op),
      tks_show(s, a), tks_show(s, b));
}

static bool looks_inside(tk_operator op) {
  return op != TK_OP_IS && op != TK_OP_ISNOT && op != TK_OP_IN &&
         op != TK_OP_NOTIN;
}

/* Calls the operator of an object that lives in the host program, such as a
 * member of an enum.Flag; false: there is none, or it does not know the other
 * operand. */
static bool host_operator(tks *s, const sval *owner, const char *name,
                          const sval *other, sval *out) {
  tk_value m = {0};
  if (owner->kind != V_OBJECT || (other && sv_runtime(other)) ||
      tk_host_attr(s->env, s->frame->fn, owner->obj, name, &m) <= 0 ||
      m.kind != TK_V_OBJECT)
    return false;
  sval method = sv_from_value(s, &m);
  *out = tks_call(s, &method, other, other != NULL, NULL, NULL);
  return !tks_is_not_implemented(out);
}

/* Of two objects, or an object and a value that is known. */
static bool operate_on_objects(tks *s, tk_operator op, const sval *a,
                               const sval *b, sval *out) {
  if (op > TK_OP_BITXOR) return false; /* compares, or is not a method */
  return host_operator(s, a, method_of(s, op), b, out) ||
         host_operator(s, b, reflected(s, op), a, out);
}

sval tks_operate(tks *s, tk_operator op, const sval *a, const sval *b) {
  sval out;
  if (operate_on_objects(s, op, a, b, &out)) return out;
  if (op == TK_OP_MATMUL && !s->frame->python && a->kind == V_INSTANCE)
    tks_error_help(s, TK_D_UNSUPPORTED, "call a method of another name",
                   "Triton compiles no operator @");
  bool any = a->kind == V_INSTANCE || b->kind == V_INSTANCE;
  if (any && looks_inside(op) && !s->frame->python &&
      tks_has(s, TKS_AGGREGATE_OPERATORS))
    return aggregate_operator(s, op, a, b);
  if (a->kind == V_INSTANCE && op != TK_OP_IS && op != TK_OP_ISNOT)
    return call_operator(s, op, a, b);
  return tks_binary(s, op, a, b);
}

sval tks_operate_unary(tks *s, tk_operator op, const sval *a) {
  sval out;
  const char *asked = op == TK_OP_NOT ? "__bool__" : method_of(s, op);
  if (host_operator(s, a, asked, NULL, &out))
    return op == TK_OP_NOT ? sv_unary(s, op, &out) : out;
  if (a->kind != V_INSTANCE) return tks_unary(s, op, a);
  const char *name = method_of(s, op);
  if (!s->frame->python && tks_has(s, TKS_AGGREGATE_OPERATORS) &&
      try_operator(s, a, name, NULL, &out))
    return out;
  if (op != TK_OP_NOT) return call_operator(s, op, a, NULL);
  tks_check_truth(s, a);
  return sv_bool(false);
}

/* ---- isinstance() -------------------------------------------------------- */

bool tks_is_instance(const sval *v, const sval *t, bool otherwise) {
  const char *name = t->kind == V_OP ? t->op->name : "";
  if (!strcmp(name, "tl.tensor"))
    return sv_is_tensor(v) || v->kind == V_BLOCKPTR;
  if (!strcmp(name, "tl.constexpr")) return !sv_runtime(v);
  if (!strcmp(name, "tl.tensor_descriptor")) return v->kind == V_DESC;
  if (!strcmp(name, "tl.dtype")) return v->kind == V_TYPE;
  if (!strcmp(name, "tl.pointer_type"))
    return v->kind == V_TYPE && v->type.ptr > 0;
  if (!strcmp(name, "tl.block_type"))
    return v->kind == V_TYPE && v->type.rank > 0;
  if (!strcmp(name, "tl.constexpr_type")) return v->kind == V_TYPE_OF;
  if (!strcmp(name, "tl.tuple_type")) return v->kind == V_TYPES;
  if (!strcmp(name, "tl.tuple")) return v->kind == V_TUPLE;
  if (!strcmp(name, "builtins.int"))
    return v->kind == V_INT || v->kind == V_BOOL;
  if (!strcmp(name, "builtins.float")) return v->kind == V_FLOAT;
  if (!strcmp(name, "builtins.bool")) return v->kind == V_BOOL;
  if (!strcmp(name, "builtins.str")) return v->kind == V_STR;
  if (!strcmp(name, "builtins.tuple")) return v->kind == V_TUPLE && !v->is_list;
  if (!strcmp(name, "builtins.list")) return v->kind == V_TUPLE && v->is_list;
  return otherwise;
}

bool tks_is_no_class(const sval *t) {
  return sv_runtime(t) || t->kind <= V_TYPE || t->kind == V_FUNC ||
         t->kind == V_MODULE || t->kind == V_PYTHON || t->kind == V_LAMBDA;
}
