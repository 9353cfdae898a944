/* lint_tree.c - what is computed and never read.
 *
 * The typed form lacks the branches that constants leave out, so whether a
 * name is read is asked of the tree.
 */
#include <stdlib.h>

#include "base/lookup.h"
#include "interp/check/lint.h"

/* ---- names in a tree ---------------------------------------------------- */

static void add_name(tk_arena *a, tk_lookup *names, const char *name) {
  if (tk_lookup_find(names, name) < 0) tk_lookup_add(a, names, name, 0);
}

/* Adds the names that a subtree does anything with other than assign to. */
static void add_names(tk_arena *a, tk_lookup *names, const tk_ast *n) {
  if (!n) return;
  if (n->kind == TK_AST_NAME) add_name(a, names, tk_name_text(n));
  if (n->kind == TK_AST_NAMED) add_name(a, names, tk_named_name(n));
  if (n->kind == TK_AST_ASSIGN && tk_assign_ntargets(n) == 1 &&
      tk_assign_target(n, 0)->kind == TK_AST_NAME) {
    add_names(a, names, tk_assign_value(n));
    return;
  }
  for (size_t i = 0; i < tk_ast_nchildren(n); i++)
    add_names(a, names, tk_ast_child(n, i));
}

/* ---- instructions ------------------------------------------------------- */

typedef struct placed_inst {
  const tk_inst *in;
  size_t order; /* in the function */
} placed_inst;

/* A function, as its statements are checked. */
typedef struct tree {
  tkc_lint *l;
  tk_lookup names;     /* that it reads */
  placed_inst *placed; /* its instructions by their spans, then their order */
} tree;

static int compare_spans(tk_span a, tk_span b) {
  if (a.lo != b.lo) return a.lo < b.lo ? -1 : 1;
  return (a.hi > b.hi) - (a.hi < b.hi);
}

static int compare_placed(const void *x, const void *y) {
  const placed_inst *a = x, *b = y;
  int n = compare_spans(a->in->span, b->in->span);
  return n ? n : a->order < b->order ? -1 : 1;
}

static void place_insts(tree *t) {
  size_t n = t->l->all.n;
  t->placed = TK_NEWN(&t->l->c->run, placed_inst, n + 1);
  for (size_t i = 0; i < n; i++)
    t->placed[i] = (placed_inst){t->l->all.items[i], i};
  qsort(t->placed, n, sizeof *t->placed, compare_placed);
}

/* The instruction that computes the value of an expression, when it is a
 * load or arithmetic. */
static const tk_inst *computing_inst(const tree *t, const tk_ast *value) {
  size_t lo = 0, n = t->l->all.n, hi = n;
  while (lo < hi) {
    size_t at = lo + (hi - lo) / 2;
    if (compare_spans(t->placed[at].in->span, value->span) < 0)
      lo = at + 1;
    else
      hi = at;
  }
  for (; lo < n && !compare_spans(t->placed[lo].in->span, value->span); lo++) {
    const tk_inst *in = t->placed[lo].in;
    if (in->op == TK_I_LOAD && !tk_load_volatile(in)) return in;
    if (in->op == TK_I_BINARY && value->kind == TK_AST_BINARY) return in;
  }
  return NULL;
}

/* ---- statements --------------------------------------------------------- */

static void say_unused(const tree *t, const tk_ast *value, const char *name) {
  tkc_lint *l = t->l;
  const tk_inst *in = computing_inst(t, value);
  if (!in) return;
  if (in->op == TK_I_LOAD) {
    tkc_lint_say(l, TK_D_LINT_UNUSED, in, "what is loaded is never used",
                 "remove the load, or use its value");
    return;
  }
  tkc_lint_say(
      l, TK_D_LINT_UNREAD, in,
      tk_arena_printf(&l->c->run, "'%s' is computed and never read", name),
      "remove the assignment, or begin the name with _");
}

static void check_statement(const tree *t, const tk_ast *st) {
  if (st->kind == TK_AST_EXPR) {
    const tk_ast *e = tk_expr_value(st);
    if (e->kind == TK_AST_CALL && computing_inst(t, e)) say_unused(t, e, "");
    return;
  }
  if (st->kind != TK_AST_ASSIGN || tk_assign_ntargets(st) != 1) return;
  const tk_ast *to = tk_assign_target(st, 0);
  if (to->kind == TK_AST_NAME && tk_name_text(to)[0] != '_' &&
      tk_lookup_find(&t->names, tk_name_text(to)) < 0)
    say_unused(t, tk_assign_value(st), tk_name_text(to));
}

static void check_statements(const tree *t, const tk_ast *n) {
  if (!n) return;
  if (n->kind == TK_AST_BLOCK)
    for (uint32_t i = 0; i < tk_block_nstmts(n); i++)
      check_statements(t, tk_block_stmt(n, i));
  check_statement(t, n);
  if (n->kind == TK_AST_IF)
    check_statements(t, tk_if_then(n)), check_statements(t, tk_if_orelse(n));
  if (n->kind == TK_AST_FOR || n->kind == TK_AST_WHILE)
    check_statements(t, tk_loop_body(n));
}

/* PyTorch's compiler assigns indices to names whether or not it needs them. */
static bool is_generated(tk_arena *a, const tk_ast *fn) {
  tk_lookup names = {0};
  for (uint32_t i = 0; i < tk_func_ndecorators(fn); i++)
    add_names(a, &names, tk_func_decorator(fn, i));
  return tk_lookup_find(&names, "triton_heuristics") >= 0;
}

void tkc_lint_tree(tkc_lint *l) {
  tk_arena *a = &l->c->run;
  const tk_function *made_of = tk_func_origin(l->f);
  const tk_ast *fn = made_of ? made_of->ast : NULL;
  if (!fn || fn->kind != TK_AST_FUNC || is_generated(a, fn)) return;
  tree t = {.l = l};
  add_names(a, &t.names, fn);
  place_insts(&t);
  check_statements(&t, tk_func_body(fn));
}
