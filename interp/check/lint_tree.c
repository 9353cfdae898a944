/* lint_tree.c - what is computed and never read.
 *
 * The typed form lacks the branches that constants leave out, so whether a
 * name is read is asked of the tree.
 */
#include <stdio.h>
#include <string.h>

#include "interp/check/lint.h"

/* ---- names in a tree ---------------------------------------------------- */

static bool tree_reads(const tk_ast *n, const char *name);

static bool list_reads(tk_ast *const *list, uint32_t n, const char *name) {
  for (uint32_t i = 0; i < n; i++)
    if (tree_reads(list[i], name)) return true;
  return false;
}

/* Whether a subtree does anything with a name other than assign to it. */
static bool tree_reads(const tk_ast *n, const char *name) {
  if (!n) return false;
  if ((n->kind == TK_AST_NAME || n->kind == TK_AST_NAMED) &&
      !strcmp(n->str, name))
    return true;
  if (n->kind == TK_AST_ASSIGN && n->n == 1 && n->list[0]->kind == TK_AST_NAME)
    return tree_reads(n->a, name);
  return tree_reads(n->a, name) || tree_reads(n->b, name) ||
         tree_reads(n->c, name) || list_reads(n->list, n->n, name);
}

/* ---- instructions ------------------------------------------------------- */

static bool same_span(tk_span a, tk_span b) {
  return a.lo == b.lo && a.hi == b.hi;
}

/* The instruction that computes the value of an expression, when it is a
 * load or arithmetic. */
static const tk_inst *computing_inst(const tkc_lint *l, const tk_ast *value) {
  for (size_t i = 0; i < l->all.n; i++) {
    const tk_inst *in = l->all.items[i];
    if (!same_span(in->span, value->span)) continue;
    if (in->op == TK_I_LOAD && !tk_load_volatile(in)) return in;
    if (in->op == TK_I_BINARY && value->kind == TK_AST_BINARY) return in;
  }
  return NULL;
}

/* ---- statements --------------------------------------------------------- */

static void say_unused(tkc_lint *l, const tk_ast *value, const char *name) {
  const tk_inst *in = computing_inst(l, value);
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

static void check_statement(tkc_lint *l, const tk_ast *st) {
  if (st->kind == TK_AST_EXPR && st->a->kind == TK_AST_CALL) {
    if (computing_inst(l, st->a)) say_unused(l, st->a, "");
    return;
  }
  if (st->kind != TK_AST_ASSIGN || st->n != 1) return;
  const tk_ast *to = st->list[0];
  if (to->kind == TK_AST_NAME && to->str[0] != '_' &&
      !tree_reads(tk_func_origin(l->f)->ast, to->str))
    say_unused(l, st->a, to->str);
}

static void check_statements(tkc_lint *l, const tk_ast *n) {
  if (!n) return;
  if (n->kind == TK_AST_BLOCK)
    for (uint32_t i = 0; i < n->n; i++) check_statements(l, n->list[i]);
  check_statement(l, n);
  if (n->kind == TK_AST_IF || n->kind == TK_AST_FOR || n->kind == TK_AST_WHILE)
    check_statements(l, n->b), check_statements(l, n->c);
}

/* PyTorch's compiler assigns indices to names whether or not it needs them. */
static bool is_generated(const tk_ast *fn) {
  for (uint32_t i = 0; i < fn->ndecorators; i++)
    if (tree_reads(fn->decorators[i], "triton_heuristics")) return true;
  return false;
}

void tkc_lint_tree(tkc_lint *l) {
  const tk_function *made_of = tk_func_origin(l->f);
  const tk_ast *fn = made_of ? made_of->ast : NULL;
  if (fn && fn->kind == TK_AST_FUNC && !is_generated(fn))
    check_statements(l, fn->b);
}
