/* stmt.c - statements: variables, branches, loops, returns.
 *
 * A variable is a slot per name and type.  A branch or loop is specialised
 * in place; afterwards its variables are reconciled with those from before,
 * by Triton's rules (code_generator.py: visit_then_else_blocks,
 * _verify_loop_carried_variable): a variable known before must keep its
 * type, one assigned in both branches is known after, any other is
 * not. */
#include <string.h>

#include "launch/host.h"
#include "typing/version.h"
#include "typing/walk.h"

/* ---- statements as containers ------------------------------------------ */

static tk_stmt *stmt_new(tks *s, tk_stmt_kind kind, tk_span span) {
  tk_stmt *st = tk_stmt_new(s->program, kind, span);
  TK_PUSH(s->arena, &s->origin->scopes, s->frame->scope);
  TK_ASSERT(s->origin->scopes.n == s->program->nstmts);
  return st;
}

/* The part of a compound statement before its colon. */
static tk_span header_span(const tk_ast *n, const tk_ast *last) {
  return (tk_span){n->span.lo, last->span.hi};
}

static void visit_block(tks *s, const tk_ast *block, tk_body *out) {
  tk_body *saved = s->frame->body;
  s->frame->body = out;
  tks_body(s, block);
  s->frame->body = saved;
}

/* ---- reconciling scopes ------------------------------------------------ */

static const tk_binding *find(const tk_binding *scope, const char *name) {
  const tk_binding *b = tks_newest(scope, name);
  return b && !b->dropped ? b : NULL;
}

/* The first binding of its name when walking from `scope`. */
static bool newest(const tk_binding *scope, const tk_binding *b) {
  return tks_newest(scope, b->name) == b;
}

static void drop(tks *s, const tk_binding *b) {
  tk_binding *d = TK_NEW(s->arena, tk_binding);
  *d = *b;
  d->dropped = true;
  tks_push(s, d);
}

static sval *leaves_of(tks *s, const sval *v, size_t *n) {
  *n = tks_leaves(v, NULL);
  sval *leaves = TK_NEWN(s->arena, sval, *n + 1);
  tks_leaves(v, leaves);
  return leaves;
}

static bool same_value(tks *s, const sval *a, const sval *b) {
  size_t n, m;
  if (!sv_same_type(a, b)) return false;
  if (a->kind == V_TENSOR) return a->slot == b->slot;
  const sval *x = leaves_of(s, a, &n), *y = leaves_of(s, b, &m);
  for (size_t i = 0; i < n; i++)
    if (x[i].slot != y[i].slot) return false;
  return n == m;
}

/* Whether two tuples, or values of one class, hold lanes of the same types.
 * A loop carries those alone: what is known stays as it was before. */
static bool same_leaves(tks *s, const sval *a, const sval *b) {
  bool both = a->kind == b->kind && a->is_one == b->is_one;
  bool tuple = both && a->kind == V_TUPLE;
  if (!tuple &&
      !(both && a->kind == V_INSTANCE && a->object->class == b->object->class))
    return sv_same_type(a, b);
  size_t n, m;
  const sval *x = leaves_of(s, a, &n), *y = leaves_of(s, b, &m);
  if (n != m) return false;
  for (size_t i = 0; i < n; i++)
    if (!tk_same_type(&x[i].type, &y[i].type)) return false;
  return true;
}

/* The binding's value holds again, where another was assigned at `at`. */
static void undo(tks *s, const tk_binding *b, tk_span at) {
  s->frame->at = at;
  tk_binding *again = tks_bind(s, b->name, &b->v);
  again->how = b->how;
  again->lost = true;
}

static void check_carried(tks *s, const tk_binding *before,
                          const tk_binding *after) {
  const sval *a = &before->v, *b = &after->v;
  s->frame->at = after->span;
  if (before->how == BOUND_PLAIN || (!sv_runtime(a) && !same_leaves(s, a, b)))
    tks_error_help(s, TK_D_LOOP_CARRIED,
                   "assign it from a tensor before the loop, or use "
                   "another name inside",
                   "%s is %s before the loop and cannot be re-assigned in it",
                   before->name, tks_show(s, a));
  if (!same_leaves(s, a, b))
    tks_error_help(s, TK_D_LOOP_CARRIED,
                   "please make sure that the type stays consistent",
                   "loop-carried variable %s has initial type %s but is "
                   "re-assigned to %s in the loop",
                   before->name, tks_show(s, a), tks_show(s, b));
}

/* After a loop body: carried variables keep their slots, new ones go.  iv is
 * the loop's own variable, NULL if it has none. */
static void leave_loop(tks *s, const tk_binding *before, const char *iv) {
  const tk_binding *after = s->frame->scope;
  s->frame->scope = before;
  for (const tk_binding *b = after; b != before; b = b->prev) {
    TK_ASSERT(b); /* the body's scope goes on from the one before */
    const tk_binding *old = find(before, b->name);
    if (iv && !strcmp(b->name, iv)) continue; /* set anew every trip */
    if (!old) drop(s, b);
    if (!old || !newest(after, b) || b->lost) continue;
    if (old->how == BOUND_PLAIN || !same_value(s, &old->v, &b->v))
      check_carried(s, old, b);
    if (!sv_same_type(&old->v, &b->v)) undo(s, old, b->span);
  }
}

static void branch_differs(tks *s, const char *name, const sval *a,
                           const char *where_a, const sval *b,
                           const char *where_b) TK_NORETURN;
static void branch_differs(tks *s, const char *name, const sval *a,
                           const char *where_a, const sval *b,
                           const char *where_b) {
  tks_error(s, TK_D_TYPE, "Mismatched type for %s: %s %s, but %s %s", name,
            tks_show(s, a), where_a, tks_show(s, b), where_b);
}

/* What a branch assigned to a name; NULL: nothing that outlives the branch. */
static const tk_binding *assigned(const tk_binding *branch,
                                  const tk_binding *before, const char *name) {
  const tk_binding *b = branch;
  while (b != before && strcmp(b->name, name)) b = b->prev;
  return b == before || b->dropped || b->lost || b->how == BOUND_KNOWN ? NULL
                                                                       : b;
}

/* One name after an if: what both branches made of it.  The compiler does not
 * treat None and dtypes as values: it carries neither out of a branch, and
 * ignores what a single branch assigns to a variable that holds one, so that
 * the assignment is lost. */
static void merge_name(tks *s, const char *name, const tk_binding *before,
                       const tk_binding *yes, const tk_binding *no) {
  const tk_binding *old = find(before, name);
  const tk_binding *a = find(yes, name), *b = find(no, name);
  const tk_binding *in_yes = assigned(yes, before, name);
  const tk_binding *in_no = assigned(no, before, name);
  const tk_binding *one = in_yes ? in_yes : in_no;
  bool both = in_yes && in_no, value = old && old->how != BOUND_PLAIN;
  if (a && b && a == b) return;
  if (!a || !b || (!old && !both)) { /* not set, or a loop dropped it */
    const tk_binding *gone = a ? a : b ? b : old;
    if (gone) drop(s, gone);
    return;
  }
  bool empty = !tks_leaves(&a->v, NULL) && !tks_leaves(&b->v, NULL);
  if (value && !both && empty && !(one && one->how == BOUND_PLAIN))
    value = old->v.kind != V_INSTANCE && old->v.kind != V_TUPLE;
  if (!both && !value) {
    if (one) undo(s, old, one->span);
    return;
  }
  if (both && (in_yes->how == BOUND_PLAIN || in_no->how == BOUND_PLAIN))
    tks_error_help(s, TK_D_TYPE, "assign it before the if",
                   "%s is %s after the first branch and %s after the other: "
                   "an if that is decided when the kernel runs cannot give "
                   "it to what follows",
                   name, tks_show(s, &a->v), tks_show(s, &b->v));
  if (!sv_same_type(&a->v, &b->v))
    branch_differs(s, name, &a->v, "after the first branch", &b->v,
                   "after the other");
  if (value && !sv_same_type(&old->v, &a->v))
    branch_differs(s, name, &old->v, "before the branch", &a->v, "in it");
  tks_bind(s, name, &a->v);
}

static void merge_names(tks *s, const tk_binding *from,
                        const tk_binding *before, const tk_binding *yes,
                        const tk_binding *no) {
  for (const tk_binding *b = from; b != before; b = b->prev) {
    bool done = false;
    TK_ASSERT(b); /* so does that of each branch */
    for (const tk_binding *m = s->frame->scope; m != before; m = m->prev)
      done = done || !strcmp(m->name, b->name);
    if (!done && newest(from, b)) merge_name(s, b->name, before, yes, no);
  }
}

/* ---- if ---------------------------------------------------------------- */

static void check_branch_return(tks *s, const tk_body *b, tk_span span) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = b->items[i];
    if (st->kind == TK_S_RETURN) {
      s->frame->at = span;
      tks_error_help(s, TK_D_UNSUPPORTED,
                     "compute the value with tl.where or a flag instead",
                     "cannot have `return` statements inside `while` or "
                     "`for` statements");
    }
    check_branch_return(s, &st->body, st->span);
    check_branch_return(s, &st->orelse, st->span);
  }
}

static void runtime_if(tks *s, const tk_ast *n, tk_stmt *st, const sval *c) {
  const tk_binding *before = s->frame->scope;
  sval cond = tks_condition(s, c);
  st->cond = cond.slot;
  TK_PUSH(s->arena, s->frame->body, st);
  const tks_pending *pending = s->frame->pending;
  visit_block(s, tk_if_then(n), &st->body);
  s->frame->pending = pending;
  const tk_binding *yes = s->frame->scope;
  s->frame->scope = before;
  if (tk_if_orelse(n)) visit_block(s, tk_if_orelse(n), &st->orelse);
  const tk_binding *no = s->frame->scope;
  s->frame->scope = before;
  merge_names(s, yes, before, yes, no);
  merge_names(s, no, before, yes, no);
}

static void stmt_if(tks *s, const tk_ast *n) {
  const tk_ast *test = tk_if_test(n);
  tk_stmt *st = stmt_new(s, TK_S_IF, header_span(n, test));
  tk_insts *saved = tks_emit_to(s, &st->insts);
  sval c = tks_expr(s, test);
  s->frame->at = test->span;
  if (sv_is_tensor(&c)) {
    runtime_if(s, n, st, &c);
  } else {
    if (c.kind > V_INT)
      tks_error(s, TK_D_TYPE,
                "an if takes a bool, int or None, or a scalar tensor, not %s",
                tks_show(s, &c));
    if (st->insts.n) {
      st->kind = TK_S_RUN;
      TK_PUSH(s->arena, s->frame->body, st);
    }
    const tk_ast *active =
        c.i && c.kind != V_NONE ? tk_if_then(n) : tk_if_orelse(n);
    if (active) tks_body(s, active);
  }
  tks_emit_back(s, saved);
}

/* ---- loops ------------------------------------------------------------- */

static bool is_op(const sval *v, const char *name) {
  return v->kind == V_OP && !strcmp(v->op->name, name);
}

typedef struct loop_bounds {
  sval lb, ub, step;
} loop_bounds;

/* How many arguments of a call of Python's range are used: the compiler looks
 * at three, and at no keywords. */
static uint32_t range_nargs(tks *s, const tk_ast *call) {
  enum { LOOKED_AT = 3 };
  uint32_t n = tk_call_nargs(call);
  while (n && (n > LOOKED_AT || tk_arg_keyword(tk_call_arg(call, n - 1)))) n--;
  if (n == tk_call_nargs(call)) return n;
  const tk_ast *ignored = tk_call_arg(call, n);
  s->frame->at = ignored->span;
  tk_diag *d = tks_say(s, TK_D_SUSPICIOUS,
                       tk_arg_keyword(ignored)
                           ? "the compiler ignores keywords of range"
                           : "the compiler ignores a fourth argument of range");
  tk_diag_help(s->env, d, "write range(start, stop, step), or tl.range");
  return n;
}

/* The first n arguments of a loop's iterator. */
static tks_args iterator_args(tks *s, const tks_op *op, const tk_ast *call,
                              uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const tk_ast *arg = tk_call_arg(call, i);
    if (!tk_arg_stars(arg)) continue;
    s->frame->at = arg->span;
    tks_error_help(s, TK_D_UNSUPPORTED, "name its items: range(t[0], t[1])",
                   "unsupported AST node type: %s",
                   tk_arg_stars(arg) == 1 ? "Starred" : "Dict");
  }
  tks_args a = {.op = op};
  tks_bind_call(s, &a, call, n);
  return a;
}

static loop_bounds read_bounds(const tks_args *a) {
  bool two = a->given[1];
  return (loop_bounds){two ? a->v[0] : sv_int(0), two ? a->v[1] : a->v[0],
                       a->given[2] ? a->v[2] : sv_int(1)};
}

/* The value of a numeric option of tl.range; 0 if it is not given. */
static int64_t loop_number(tks *s, const tks_args *a, size_t at,
                           const char *name) {
  const sval *v = &a->v[at];
  bool number = v->kind == V_INT || v->kind == V_BOOL;
  if (number && v->i >= INT32_MIN && v->i <= INT32_MAX) return (int64_t)v->i;
  if (v->kind == V_NONE) return 0;
  s->frame->at = a->span[at];
  tks_error(s, TK_D_TYPE,
            "%s of tl.range is a constexpr int of 32 bits, not %s", name,
            tks_show(s, v));
}

/* Triton asks whether a hint is true of Python's object: a tensor is. */
static bool loop_flag(tks *s, const tks_args *a, size_t at) {
  const sval *v = &a->v[at];
  return sv_is_tensor(v) || (v->kind != V_NONE && sv_truth(s, v));
}

static tk_loop_options loop_options(tks *s, const tks_args *a) {
  if (a->n <= 3) return (tk_loop_options){0};
  return (tk_loop_options){
      .num_stages = loop_number(s, a, 3, "num_stages"),
      .unroll = loop_number(s, a, 4, "loop_unroll_factor"),
      .disallow_acc_multi_buffer = loop_flag(s, a, 5),
      .flatten = loop_flag(s, a, 6),
      .warp_specialize = loop_flag(s, a, 7),
      .disable_licm = loop_flag(s, a, 8),
  };
}

static void check_bound(tks *s, const sval *v, const char *what) {
  if (v->type.ptr || !tk_is_int(sv_dtype(v)))
    tks_error(s, TK_D_TYPE, "for loop %s must be an int, not %s", what,
              tks_show(s, v));
  if (v->type.rank)
    tks_error_help(s, TK_D_TYPE,
                   "count up to a number; the lanes of a block are computed "
                   "all at once, without a loop",
                   "for loop %s must be a scalar, not %s", what,
                   tks_show(s, v));
}

static tk_dtype bounds_type(tks *s, loop_bounds *b) {
  b->lb = tks_to_tensor(s, &b->lb);
  b->ub = tks_to_tensor(s, &b->ub);
  b->step = tks_to_tensor(s, &b->step);
  check_bound(s, &b->lb, "lower bound");
  check_bound(s, &b->ub, "upper bound");
  check_bound(s, &b->step, "step");
  tk_dtype d =
      tks_int_promote((tk_dtype)b->lb.type.elem, (tk_dtype)b->ub.type.elem);
  return tks_int_promote(d, (tk_dtype)b->step.type.elem);
}

static void loop_body(tks *s, const tk_ast *n, tk_stmt *st,
                      const tk_binding *before, const char *iv) {
  s->frame->loops++;
  visit_block(s, tk_loop_body(n), &st->body);
  s->frame->loops--;
  leave_loop(s, before, iv);
  check_branch_return(s, &st->body, st->span);
}

static void check_no_else(tks *s, const tk_ast *n) {
  if (tk_loop_norelse(n))
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "put its body after the loop, which has no break",
                   "a loop cannot have an else branch");
}

/* The name of the variable that a loop counts in. */
static const char *counter(tks *s, const tk_ast *loop) {
  const tk_ast *target = tk_for_target(loop);
  if (target->kind != TK_AST_NAME)
    tks_error(s, TK_D_UNSUPPORTED, "a for loop counts in one variable");
  return tk_name_text(target);
}

static void runtime_for(tks *s, const tk_ast *n, const tks_op *op,
                        uint32_t nargs) {
  const tk_ast *call = tk_for_iterable(n);
  check_no_else(s, n);
  tk_stmt *st = stmt_new(s, TK_S_FOR, header_span(n, call));
  tk_insts *saved = tks_emit_to(s, &st->insts);
  tks_args args = iterator_args(s, op, call, nargs);
  loop_bounds b = read_bounds(&args);
  st->loop = loop_options(s, &args);
  s->frame->at = call->span;
  /* A step of zero is found when the loop begins: until then it may not. */
  st->down = sv_is_number(&b.step) && sv_as_double(&b.step) < 0;
  tk_dtype d = bounds_type(s, &b);
  st->lb = tks_cast_to(s, &b.lb, d).slot;
  st->ub = tks_cast_to(s, &b.ub, d).slot;
  st->step = tks_cast_to(s, &b.step, d).slot;
  tks_emit_back(s, saved);
  const char *name = counter(s, n);
  TK_PUSH(s->arena, s->frame->body, st);
  st->iv = tks_slot(s, tk_scalar(d), name);
  sval iv = sv_tensor(tk_scalar(d), st->iv);
  tk_binding *hidden = TK_NEW(s->arena, tk_binding);
  *hidden = (tk_binding){.name = name, .v = iv, .span = tk_for_target(n)->span};
  tks_push(s, hidden);
  loop_body(s, n, st, hidden, name);
  drop(s, hidden);
}

enum { MAX_UNROLLED = 100000 };

/* Bounds are known, but finding them may take instructions. */
static loop_bounds static_bounds(tks *s, const tks_op *op, const tk_ast *n) {
  const tk_ast *call = tk_for_iterable(n);
  tk_stmt *st = stmt_new(s, TK_S_RUN, header_span(n, call));
  tk_insts *saved = tks_emit_to(s, &st->insts);
  tks_args args = iterator_args(s, op, call, tk_call_nargs(call));
  loop_bounds b = read_bounds(&args);
  tks_emit_back(s, saved);
  if (st->insts.n) TK_PUSH(s->arena, s->frame->body, st);
  return b;
}

/* Types the expressions of a statement, without doing what the statement
 * does. */
static void else_values(tks *s, const tk_ast *n) {
  const tk_ast *e;
  switch (n->kind) {
  case TK_AST_PASS: return;
  case TK_AST_RETURN:
    if (tk_return_value(n)) tks_expr(s, tk_return_value(n));
    return;
  case TK_AST_ANNASSIGN:
    tks_expr(s, tk_annassign_annotation(n));
    if (tk_annassign_value(n)) tks_expr(s, tk_annassign_value(n));
    return;
  case TK_AST_ASSERT:
    if (tk_assert_message(n)) tks_expr(s, tk_assert_message(n));
    tks_expr(s, tk_assert_test(n));
    return;
  case TK_AST_EXPR:
  case TK_AST_IF:
    e = n->kind == TK_AST_IF ? tk_if_test(n) : tk_expr_value(n);
    if (e->kind != TK_AST_ELLIPSIS) tks_expr(s, e);
    return;
  case TK_AST_ASSIGN:
    if (tk_assign_target(n, 0)->kind != TK_AST_NAME) break;
    tks_expr(s, tk_assign_value(n));
    return;
  default: break;
  }
  tks_error_help(s, TK_D_UNSUPPORTED,
                 "put it after the loop, which has no break",
                 "the else branch of a static_range cannot have this "
                 "statement");
}

/* Triton visits what the statements of the branch consist of in every trip of
 * a static_range: calls run, nothing is assigned, and of an if both branches
 * run. */
static void static_else(tks *s, const tk_ast *n) {
  for (uint32_t i = 0; i < tk_for_norelse(n); i++) {
    const tk_ast *part = tk_for_orelse(n, i);
    tk_stmt *st = stmt_new(s, TK_S_RUN, part->span);
    tk_insts *saved = tks_emit_to(s, &st->insts);
    s->frame->at = part->span;
    else_values(s, part);
    tks_emit_back(s, saved);
    if (st->insts.n) TK_PUSH(s->arena, s->frame->body, st);
    if (part->kind != TK_AST_IF) continue;
    tks_body(s, tk_if_then(part));
    if (tk_if_orelse(part)) tks_body(s, tk_if_orelse(part));
  }
}

static void warn_else(tks *s, const tk_ast *n) {
  s->frame->at = tk_for_orelse(n, 0)->span;
  tk_diag *d = tks_say(s, TK_D_SUSPICIOUS,
                       "the compiler runs this else branch in each trip of "
                       "the loop, and assigns nothing in it");
  tk_diag_help(s->env, d, "put it after the loop, which has no break");
}

static void static_for(tks *s, const tk_ast *n, const tks_op *op) {
  loop_bounds b = static_bounds(s, op, n);
  const sval *all[3] = {&b.lb, &b.ub, &b.step};
  for (int i = 0; i < 3; i++)
    if (!sv_is_number(all[i]) || all[i]->kind == V_FLOAT)
      tks_error(s, TK_D_TYPE, "static_range takes constexpr ints, not %s",
                tks_show(s, all[i]));
  if (b.step.i == 0) tks_error(s, TK_D_VALUE, "range step must not be zero");
  for (tk_int i = b.lb.i; b.step.i > 0 ? i < b.ub.i : i > b.ub.i;
       i += b.step.i) {
    if (++s->unrolled > MAX_UNROLLED)
      tks_error(s, TK_D_RUNAWAY,
                "static_range unrolls more than %d times; use range",
                MAX_UNROLLED);
    sval iv = sv_int(i);
    tks_bind(s, counter(s, n), &iv)->how = BOUND_KNOWN;
    tks_body(s, tk_for_body(n));
    if (tk_for_norelse(n) && i == b.lb.i) warn_else(s, n);
    if (tk_for_norelse(n)) static_else(s, n);
  }
}

static void stmt_for(tks *s, const tk_ast *n) {
  const tk_ast *over = tk_for_iterable(n);
  sval fn = sv(V_NONE);
  if (over->kind == TK_AST_CALL) fn = tks_expr(s, tk_call_function(over));
  s->frame->at = over->span;
  if (is_op(&fn, "tl.static_range"))
    static_for(s, n, fn.op);
  else if (is_op(&fn, "tl.range"))
    runtime_for(s, n, fn.op, tk_call_nargs(over));
  else if (is_op(&fn, "builtins.range"))
    runtime_for(s, n, fn.op, range_nargs(s, over));
  else
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "write for i in range(n), or tl.static_range(len(t)) and "
                   "t[i] in its body for a tuple",
                   "only range and static_range can be iterated over");
}

static void stmt_while(tks *s, const tk_ast *n) {
  const tk_ast *test = tk_while_test(n);
  check_no_else(s, n);
  tk_stmt *st = stmt_new(s, TK_S_WHILE, header_span(n, test));
  const tk_binding *before = s->frame->scope;
  tk_insts *saved = tks_emit_to(s, &st->insts);
  sval c = tks_expr(s, test);
  s->frame->at = test->span;
  bool one = sv_is_tensor(&c) && !c.type.ptr && c.type.elem == TK_INT1;
  if (sv_is_tensor(&c) && !c.type.rank && tks_has(s, TKS_WHILE_CONVERTS))
    one = true;
  if (!one || (c.type.rank && tk_numel(&c.type) == 1))
    tks_error_help(
        s, TK_D_TYPE,
        one                ? "take its lane: while x.item()"
        : sv_is_tensor(&c) ? "compare it: while x != 0"
                           : "compare a value that is known when the "
                             "program runs",
        "a while takes a scalar tensor of int1, not %s", tks_show(s, &c));
  st->cond = tks_condition(s, &c).slot;
  tks_emit_back(s, saved);
  TK_PUSH(s->arena, s->frame->body, st);
  loop_body(s, n, st, before, NULL);
}

/* ---- assignment -------------------------------------------------------- */

/* Triton makes a tensor of each value that a variable gets, but for what is
 * one already, its own tuples, dtypes and None. */
bool tks_needs_constexpr(const sval *v) {
  switch (v->kind) {
  case V_STR:
  case V_TYPE_OF:
  case V_TYPES:
  case V_SLICE:
  case V_FUNC:
  case V_OP:
  case V_METHOD:
  case V_MODULE:
  case V_OBJECT: return true;
  default: return v->kind == V_TUPLE && v->is_host;
  }
}

static sval sanitize(tks *s, const sval *v) {
  if (sv_is_number(v)) return tks_to_tensor(s, v);
  if (tks_needs_constexpr(v))
    tks_error_help(s, TK_D_TYPE,
                   v->kind == V_STR ? "annotate it: name: tl.constexpr = "
                                      "\"...\""
                   : v->kind == V_OP || v->kind == V_FUNC
                       ? "call it, with parentheses and its arguments"
                   : v->kind == V_TUPLE
                       ? "annotate it: name: tl.constexpr = ..., and index it: "
                         "name[0]"
                       : "annotate it: name: tl.constexpr = ...",
                   "cannot convert %s to a tensor", tks_show(s, v));
  sval r = *v;
  r.is_held = r.is_one = false;
  if (v->kind != V_TUPLE || v->is_one) return r; /* its constants stay known */
  r.items = TK_NEWN(s->arena, sval, v->n + 1);
  for (size_t i = 0; i < v->n; i++) {
    if (v->items[i].kind == V_TYPE)
      tks_error_help(s, TK_D_TYPE,
                     "give it a name of its own, or annotate the tuple: "
                     "name: tl.constexpr = ...",
                     "a tuple with %s in it cannot be assigned or returned",
                     tks_show(s, &v->items[i]));
    r.items[i] = sanitize(s, &v->items[i]);
  }
  return r;
}

/* None and dtypes are assigned as they are. */
static bool is_value(const sval *v) {
  return v->kind != V_NONE && v->kind != V_TYPE;
}

/* When v was made by the last instruction alone, that instruction writes the
 * variable itself. */
static bool rename_last(tks *s, const char *name, sval *v) {
  tk_insts *l = s->frame->insts;
  if (v->kind != V_TENSOR || !l->n) return false;
  tk_inst *in = l->items[l->n - 1];
  if (in->nres != 1 || in->res[0] != v->slot || in->op == TK_I_COND ||
      s->frame->func->slots[v->slot].name)
    return false;
  in->res[0] = v->slot = tks_slot(s, v->type, name);
  return true;
}

static void cannot_unpack(tks *s, const sval *v, uint32_t n) TK_NORETURN;
static void cannot_unpack(tks *s, const sval *v, uint32_t n) {
  if (v->kind != V_TUPLE)
    tks_error(s, TK_D_TYPE, "cannot unpack %s into %u names", tks_show(s, v),
              n);
  tks_error(s, TK_D_VALUE, "not enough values to unpack (expected %u, got %zu)",
            n, v->n);
}

/* The compiler takes the first values and says nothing of the rest. */
static void warn_dropped(tks *s, const sval *v, uint32_t n) {
  tk_diag *d = tks_say(s, TK_D_SUSPICIOUS,
                       "%zu values are assigned to %u names: the compiler "
                       "drops the rest",
                       v->n, n);
  tk_diag_help(s->env, d,
               "give each value a name, or leave out those without one");
}

/* x[i] = value */
static void refuse_subscript(tks *s, const tk_ast *target) TK_NORETURN;
static void refuse_subscript(tks *s, const tk_ast *target) {
  sval x = tks_expr(s, tk_subscript_object(target));
  if (x.kind == V_TUPLE)
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "make a new one: t = t[:1] + [value] + t[2:]",
                   "items of a tuple or list cannot be assigned");
  if (sv_is_tensor(&x) && x.type.ptr)
    tks_error_help(s, TK_D_UNSUPPORTED, "write tl.store(pointer + i, value)",
                   "memory cannot be assigned by an index");
  tks_error_help(s, TK_D_UNSUPPORTED,
                 "use tl.where to choose lanes, or tl.store to memory",
                 "lanes of a block cannot be assigned");
}

static const tks_pending *find_pending(const tks *s, const char *name) {
  const tks_pending *p = s->frame->pending;
  while (p && strcmp(p->name, name)) p = p->next;
  return p;
}

/* Takes the name from those that wait for a constexpr. */
static bool take_pending(tks *s, const char *name) {
  const tks_pending *rest = NULL, *p = find_pending(s, name);
  if (!p) return false;
  for (const tks_pending *q = s->frame->pending; q; q = q->next) {
    if (q == p) continue;
    tks_pending *kept = TK_NEW(s->arena, tks_pending);
    *kept = (tks_pending){rest, q->name};
    rest = kept;
  }
  s->frame->pending = rest;
  return true;
}

sval tks_assigned_value(tks *s, const char *name, const sval *v) {
  return find_pending(s, name) ? *v : sanitize(s, v);
}

static void bind_known(tks *s, const char *name, const sval *value) {
  sval v = *value;
  v.is_one = v.kind == V_TUPLE && !tks_has(s, TKS_TUPLE_OF_CONSTEXPRS);
  v.is_held = v.kind == V_TENSOR && !tks_has(s, TKS_TENSOR_ANNOTATED);
  v.is_raw = false;
  tks_bind(s, name, &v)->how = BOUND_KNOWN;
}

void tks_assign_name(tks *s, const char *name, const sval *value) {
  sval v = *value;
  if (take_pending(s, name)) {
    bind_known(s, name, &v);
    return;
  }
  if (!rename_last(s, name, &v)) v = tks_store_var(s, name, &v);
  tks_bind(s, name, &v)->how = is_value(&v) ? BOUND_VALUE : BOUND_PLAIN;
}

/* What a target gets of a value: each name of a tuple its own. */
static sval value_for(tks *s, const tk_ast *target, const sval *v) {
  if (target->kind == TK_AST_NAME)
    return tks_assigned_value(s, tk_name_text(target), v);
  size_t n = target->kind == TK_AST_TUPLE ? tk_tuple_nitems(target) : 0;
  bool parts = v->kind == V_TUPLE && !v->is_host && v->n >= n;
  if (!n || !tks_has(s, TKS_NESTED_TARGET) || !parts) return sanitize(s, v);
  sval r = *v;
  r.is_held = r.is_one = r.is_host = false;
  r.items = TK_NEWN(s->arena, sval, v->n + 1);
  for (size_t i = 0; i < v->n; i++)
    r.items[i] =
        i < n ? value_for(s, tk_tuple_item(target, (uint32_t)i), &v->items[i])
              : v->items[i];
  return r;
}

static void no_starred(tks *s, const tk_ast *names) {
  for (uint32_t i = 0; i < tk_tuple_nitems(names); i++)
    if (tk_tuple_item(names, i)->kind == TK_AST_STARRED)
      tks_error_help(s, TK_D_UNSUPPORTED, "write t[1:] of the tuple",
                     "starred assignment targets are not supported");
}

static void assign(tks *s, const tk_ast *target, const sval *value) {
  uint32_t n;
  sval v = *value;
  s->frame->at = target->span;
  switch (target->kind) {
  case TK_AST_NAME: tks_assign_name(s, tk_name_text(target), &v); return;
  case TK_AST_LIST:
    tks_error_help(s, TK_D_UNSUPPORTED, "write x, y = ...",
                   "a list of names cannot be assigned to");
  case TK_AST_TUPLE:
    n = tk_tuple_nitems(target);
    no_starred(s, target);
    if (v.kind != V_TUPLE || v.n < n) cannot_unpack(s, &v, n);
    if (v.n > n && tks_has(s, TKS_UNPACK_EXACT))
      tks_error_help(s, TK_D_VALUE, "give each value a name",
                     "too many values to unpack (expected %u)", n);
    if (v.n > n) warn_dropped(s, &v, n);
    for (uint32_t i = 0; i < n; i++)
      if (tk_tuple_item(target, i)->kind == TK_AST_TUPLE)
        tks_need(s, TKS_NESTED_TARGET,
                 "a tuple inside of a tuple of names cannot be assigned to",
                 "unpack them one after the other");
    v = tks_copy(s, &v); /* a, b = b, a */
    for (uint32_t i = 0; i < n; i++)
      assign(s, tk_tuple_item(target, i), &v.items[i]);
    return;
  case TK_AST_SUBSCRIPT: refuse_subscript(s, target);
  case TK_AST_ATTR:
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "make a new value, or write a method without @triton.jit "
                   "that assigns it",
                   "Attribute assignment is not supported in triton");
  default:
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "assign to a name; kernels cannot change anything else",
                   "cannot assign to this %s", tk_ast_name(target->kind));
  }
}

static void stmt_assign(tks *s, const tk_ast *n) {
  if (tk_assign_ntargets(n) != 1)
    tks_error_help(s, TK_D_UNSUPPORTED, "write one assignment per name",
                   "simultaneous multiple assignment is not supported");
  sval v = tks_expr(s, tk_assign_value(n));
  v = value_for(s, tk_assign_target(n, 0), &v);
  assign(s, tk_assign_target(n, 0), &v);
}

static void stmt_augassign(tks *s, const tk_ast *n) {
  sval a = tks_expr(s, tk_augassign_target(n));
  sval b = tks_expr(s, tk_augassign_value(n));
  sval v = tks_operate(s, tk_augassign_operator(n), &a, &b);
  v = sanitize(s, &v);
  assign(s, tk_augassign_target(n), &v);
}

bool tks_is_constexpr(tks *s, const tk_ast *annotation) {
  sval v = tks_expr(s, annotation);
  return is_op(&v, "tl.constexpr");
}

/* x: tl.constexpr, whose value comes later; other annotations say nothing. */
static void add_pending(tks *s, const tk_ast *n) {
  const tk_ast *target = tk_annassign_target(n);
  if (target->kind != TK_AST_NAME ||
      !tks_is_constexpr(s, tk_annassign_annotation(n)))
    return;
  tks_pending *p = TK_NEW(s->arena, tks_pending);
  *p = (tks_pending){s->frame->pending, tk_name_text(target)};
  s->frame->pending = p;
}

/* Before Triton 3.8 a name without a value is given None. */
static void stmt_annassign(tks *s, const tk_ast *n) {
  const tk_ast *target = tk_annassign_target(n), *value = tk_annassign_value(n);
  if (!value && tks_has(s, TKS_BARE_ANNOTATION)) {
    add_pending(s, n);
    return;
  }
  bool known = tks_is_constexpr(s, tk_annassign_annotation(n));
  sval v = value ? tks_expr(s, value) : sv(V_NONE);
  if (!known) {
    v = sanitize(s, &v);
    assign(s, target, &v);
    return;
  }
  if (target->kind != TK_AST_NAME)
    tks_error(s, TK_D_TYPE,
              "only a name can be a constexpr, not an "
              "expression");
  if (find(s->frame->scope, tk_name_text(target)))
    tks_error(s, TK_D_VALUE,
              "%s is already defined: a constexpr cannot be "
              "reassigned",
              tk_name_text(target));
  bind_known(s, tk_name_text(target), &v);
}

/* ---- return ------------------------------------------------------------ */

static void set_results(tks *s, tk_stmt *st, const sval *v) {
  size_t n = tks_leaves(v, NULL);
  sval *leaves = TK_NEWN(s->arena, sval, n + 1);
  tks_leaves(v, leaves);
  st->nresults = n;
  st->results = TK_NEWN(s->arena, int, n + 1);
  for (size_t i = 0; i < n; i++) st->results[i] = leaves[i].slot;
  tk_func *f = s->frame->func;
  f->nresults = n;
  f->result_types = TK_NEWN(s->arena, tk_type, n + 1);
  for (size_t i = 0; i < n; i++) f->result_types[i] = leaves[i].type;
}

/* What Triton makes a tensor of when it is returned; before 3.7 of all but
 * tuples. */
static sval returned_tensor(tks *s, const tk_ast *value, const sval *given) {
  if (value && value->kind == TK_AST_NONE)
    tks_error_help(s, TK_D_TYPE, "write return",
                   "None cannot be returned: it is not a tensor");
  bool is_text = given->kind == V_STR && s->frame->func->library;
  sval v = is_text ? *given : sanitize(s, given);
  for (size_t i = 0; v.kind == V_TUPLE && i < v.n; i++)
    if (sv_is_none(&v.items[i]))
      tks_error(s, TK_D_TYPE, "None cannot be returned: it is not a tensor");
  return v;
}

/* Since Triton 3.7 what is known stays known. */
static sval returned_value(tks *s, const sval *v) {
  sval r = *v;
  r.is_held = r.is_one = r.is_host = false;
  if (v->kind == V_STR || tks_is_not_implemented(v) || sv_is_number(v))
    return r;
  if (v->kind != V_TUPLE) return sanitize(s, v);
  r.items = TK_NEWN(s->arena, sval, v->n + 1);
  for (size_t i = 0; i < v->n; i++)
    r.items[i] = returned_value(s, &v->items[i]);
  return r;
}

/* A dtype that no constexpr holds, as an expression gives it. */
static bool is_plain_type(tks *s, const tk_ast *e) {
  if (e->kind != TK_AST_NAME) return e->kind == TK_AST_ATTR;
  const tk_binding *b = tks_binding_of(s, tk_name_text(e));
  return !b || b->how == BOUND_PLAIN;
}

/* Since Triton 3.7 a function returns a dtype in a constexpr, by itself; in a
 * tuple none can be returned. */
static void check_returned_types(tks *s, const tk_ast *value, const sval *v,
                                 bool known) {
  const sval *wrong = NULL;
  if (v->kind == V_TYPE && (!known || is_plain_type(s, value))) wrong = v;
  for (size_t i = 0; v->kind == V_TUPLE && !v->is_one && i < v->n; i++)
    if (v->items[i].kind == V_TYPE) wrong = &v->items[i];
  if (!wrong) return;
  bool alone = v->kind == V_TYPE;
  tks_error_help(s, TK_D_TYPE,
                 !alone || !known ? "take it from the caller, or write a "
                                    "@triton.constexpr_function"
                                  : "write return tl.constexpr(...)",
                 alone ? "%s cannot be returned: it is not a tensor"
                       : "%s cannot be returned in a tuple: it is not a tensor",
                 tks_show(s, wrong));
}

static void stmt_return(tks *s, const tk_ast *n, tk_stmt *st) {
  const tk_ast *value = tk_return_value(n);
  sval given = value ? tks_expr(s, value) : sv(V_NONE);
  bool known = tks_has(s, TKS_CONSTANTS_RETURNED);
  sval v =
      known ? returned_value(s, &given) : returned_tensor(s, value, &given);
  if (!s->frame->func->library) check_returned_types(s, value, &given, known);
  tks_frame *f = s->frame;
  if (f->loops)
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "compute the value with tl.where or a flag instead",
                   "cannot have `return` statements inside `while` or `for` "
                   "statements");
  if (f->has_ret && !known && !sv_same_type(&f->ret, &v))
    tks_error(s, TK_D_TYPE, "Inconsistent return types: %s and %s",
              tks_show(s, &f->ret), tks_show(s, &v));
  st->kind = TK_S_RETURN;
  TK_PUSH(s->arena, &f->returns, ((tks_return){st, v, n->span}));
  f->ret = v;
  f->has_ret = true;
}

static sval common_type(tks *s, const sval *a, const sval *b) {
  bool tuples = a->kind == V_TUPLE && b->kind == V_TUPLE && a->n == b->n;
  if (sv_same_type(a, b)) return *a;
  if (tuples && !strcmp(a->s ? a->s : "", b->s ? b->s : "")) {
    sval r = *a;
    r.items = TK_NEWN(s->arena, sval, a->n + 1);
    for (size_t i = 0; i < a->n; i++)
      r.items[i] = common_type(s, &a->items[i], &b->items[i]);
    return r;
  }
  sval x = *a, y = *b;
  if (sv_is_number(a)) x = sv_tensor(tks_number_type(s, a), -1);
  if (sv_is_number(b)) y = sv_tensor(tks_number_type(s, b), -1);
  if (!sv_is_tensor(&x) || !sv_same_type(&x, &y))
    tks_error(s, TK_D_TYPE, "Return type mismatch: %s and %s", tks_show(s, a),
              tks_show(s, b));
  return x;
}

/* v as a value of the type that all returns have. */
static sval return_as(tks *s, const sval *v, const sval *type) {
  if (sv_is_number(v) && sv_is_tensor(type))
    return tks_number(s, v, sv_dtype(type));
  if (v->kind != V_TUPLE) return *v;
  sval r = *v;
  r.items = TK_NEWN(s->arena, sval, v->n + 1);
  for (size_t i = 0; i < v->n; i++)
    r.items[i] = return_as(s, &v->items[i], &type->items[i]);
  return r;
}

/* Whether a way through the statements leads to their end. */
static bool has_end(const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = b->items[i];
    bool both =
        st->kind == TK_S_IF && !has_end(&st->body) && !has_end(&st->orelse);
    if (both || st->kind == TK_S_RETURN) return false;
  }
  return true;
}

/* What a function gives whose end is reached without a return: poison, in
 * Triton's form. */
static void return_undefined(tks *s, const sval *type) {
  tks_frame *f = s->frame;
  f->at = tk_func_name_span(f->fn->ast);
  tk_stmt *st = stmt_new(s, TK_S_RETURN, f->at);
  tk_insts *saved = tks_emit_to(s, &st->insts);
  size_t n = tks_leaves(type, NULL);
  sval *leaves = TK_NEWN(s->arena, sval, n + 1);
  tks_leaves(type, leaves);
  for (size_t i = 0; i < n; i++)
    leaves[i] = tks_result(tks_emit(s, TK_I_UNDEF, 0, leaves[i].type, 0, NULL));
  tks_emit_back(s, saved);
  sval all = sv_tuple(s, leaves, n);
  set_results(s, st, &all);
  TK_PUSH(s->arena, &f->func->body, st);
}

void tks_finish_returns(tks *s) {
  tks_frame *f = s->frame;
  if (!f->returns.n) return;
  sval type = f->returns.items[0].v;
  for (size_t i = 1; i < f->returns.n; i++) {
    f->at = f->returns.items[i].span;
    type = common_type(s, &type, &f->returns.items[i].v);
  }
  for (size_t i = 0; i < f->returns.n; i++) {
    tks_return *r = &f->returns.items[i];
    f->at = r->span;
    tk_insts *saved = tks_emit_to(s, &r->stmt->insts);
    sval v = return_as(s, &r->v, &type);
    tks_emit_back(s, saved);
    set_results(s, r->stmt, &v);
  }
  if (f->func->nresults && has_end(&f->func->body)) return_undefined(s, &type);
  f->ret = type;
}

/* ---- results that must be used (Triton: core.py, must_use_result) ------ */

static bool is_dotted(const tk_ast *e) {
  while (e->kind == TK_AST_ATTR) e = tk_attr_object(e);
  return e->kind == TK_AST_NAME;
}

/* A function's decorator must_use_result, or NULL.  Below jit it marks what
 * nobody sees. */
static const tk_ast *must_use(const tk_ast *def) {
  for (uint32_t i = 0; i < tk_func_ndecorators(def); i++) {
    const tk_ast *d = tk_func_decorator(def, i);
    const tk_ast *name = d->kind == TK_AST_CALL ? tk_call_function(d) : d;
    if (!is_dotted(name)) continue;
    if (!strcmp(tk_dotted_name(name), "must_use_result")) return d;
    if (!strcmp(tk_dotted_name(name), "jit")) return NULL;
  }
  return NULL;
}

/* What the decorator wants to be said; it is host code, seen as text. */
static const char *must_use_text(tk_function *fn, const tk_ast *d) {
  const tk_ast *arg = d->kind == TK_AST_CALL && tk_call_nargs(d)
                          ? tk_arg_value(tk_call_arg(d, 0))
                          : NULL;
  if (arg && arg->kind == TK_AST_NAME)
    arg = tks_file_value(fn, tk_name_text(arg));
  return arg && arg->kind == TK_AST_STR ? tk_str_text(arg) : "";
}

/* What is said if nobody uses the result of a function; NULL: nothing.  A
 * constexpr_function is asked as Triton's compiler does. */
static const char *unused_text(tks *s, const sval *fn) {
  bool has_text = fn->kind == V_FUNC || fn->kind == V_PYTHON;
  const tk_ast *d = has_text ? must_use(fn->fn->ast) : NULL;
  if (d) return must_use_text(fn->fn, d);
  tk_value said = {0};
  if (fn->kind != V_OBJECT || tk_host_attr(s->env, s->frame->fn, fn->obj,
                                           "_must_use_result", &said) <= 0)
    return NULL;
  if (said.kind == TK_V_STR)
    return tk_arena_strndup(s->arena, said.str, said.n);
  return said.kind == TK_V_BOOL && said.lo ? "" : NULL;
}

/* A call that stands alone, with nobody to take what it returns. */
static void check_used(tks *s, const tk_ast *call) {
  if (call->kind != TK_AST_CALL || !is_dotted(tk_call_function(call))) return;
  sval f = tks_expr(s, tk_call_function(call));
  bool of_object = f.kind == V_METHOD && !f.op;
  const char *text = NULL;
  if (!of_object || tks_has(s, TKS_METHODS_ARE_USED))
    text = unused_text(s, of_object ? &f.items[1] : &f);
  if ((f.kind == V_OP || f.kind == V_METHOD) && f.op &&
      !strcmp(f.op->name, "tl.advance"))
    text = "tl.advance has no side effects: assign what it returns to a "
           "variable";
  if (!text) return;
  const char *src = s->frame->fn->module->file->src->text;
  tk_span at = tk_call_function(call)->span;
  tks_error(s, TK_D_CALL, "The result of %.*s is not being used.%s%s",
            (int)(at.hi - at.lo), src + at.lo, *text ? " " : "", text);
}

/* ---- dispatch ---------------------------------------------------------- */

static void stmt_assert(tks *s, const tk_ast *n) {
  sval args[2] = {tks_expr(s, tk_assert_test(n)), sv_str("", 0)};
  if (tk_assert_message(n)) args[1] = tks_expr(s, tk_assert_message(n));
  tks_call_name(s, "tl.device_assert", args, 2);
}

static void unsupported(tks *s, const char *what) TK_NORETURN;
static void unsupported(tks *s, const char *what) {
  static const char *const rows[][2] = {
#define UNSUPPORTED(name, help) {name, help},
#include "lang/unsupported.def"
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++)
    if (!strcmp(rows[i][0], what))
      tks_error_help(s, TK_D_UNSUPPORTED, rows[i][1],
                     "unsupported AST node type: %s", what);
  tks_error(s, TK_D_UNSUPPORTED, "unsupported AST node type: %s", what);
}

static void simple(tks *s, const tk_ast *n, tk_stmt *st) {
  const tk_ast *e;
  switch (n->kind) {
  case TK_AST_EXPR:
    e = tk_expr_value(n);
    if (e->kind == TK_AST_STR || e->kind == TK_AST_ELLIPSIS) return;
    check_used(s, e);
    tks_expr(s, e);
    return;
  case TK_AST_ASSIGN: stmt_assign(s, n); return;
  case TK_AST_AUGASSIGN: stmt_augassign(s, n); return;
  case TK_AST_ANNASSIGN: stmt_annassign(s, n); return;
  case TK_AST_RETURN: stmt_return(s, n, st); return;
  case TK_AST_ASSERT: stmt_assert(s, n); return;
  case TK_AST_PASS: return;
  case TK_AST_BREAK: unsupported(s, "Break");
  case TK_AST_CONTINUE: unsupported(s, "Continue");
  case TK_AST_WITH: unsupported(s, "With");
  case TK_AST_RAISE: unsupported(s, "Raise");
  default:
    unsupported(s, n->kind == TK_AST_UNSUPPORTED ? tk_unsupported_name(n)
                                                 : tk_ast_name(n->kind));
  }
}

static void simple_stmt(tks *s, const tk_ast *n) {
  tk_stmt *st = stmt_new(s, TK_S_RUN, n->span);
  tk_insts *saved = tks_emit_to(s, &st->insts);
  simple(s, n, st);
  tks_emit_back(s, saved);
  if (st->insts.n || st->kind == TK_S_RETURN)
    TK_PUSH(s->arena, s->frame->body, st);
}

static void stmt(tks *s, const tk_ast *n) {
  s->frame->at = n->span;
  tk_check_interrupt(s->env);
  switch (n->kind) {
  case TK_AST_IF: stmt_if(s, n); return;
  case TK_AST_FOR: stmt_for(s, n); return;
  case TK_AST_WHILE: stmt_while(s, n); return;
  default: simple_stmt(s, n);
  }
}

void tks_body(tks *s, const tk_ast *block) {
  for (uint32_t i = 0; i < tk_block_nstmts(block); i++) {
    const tk_ast *n = tk_block_stmt(block, i);
    stmt(s, n);
    if (n->kind == TK_AST_RETURN) return; /* the rest is dead */
  }
}
