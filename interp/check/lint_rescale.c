/* lint_rescale.c - an online softmax that keeps its old sums.
 *
 * A loop that subtracts a running maximum before exp must multiply what it has
 * summed so far by exp(old - new) whenever the maximum moves.  Only innermost
 * loops are looked at, and only sums that nothing else changes in the loop: a
 * kernel may find the maximum in one loop and sum in another.
 */
#include <string.h>

#include "interp/check/lint.h"

/* The questions about a slot: is its value the running maximum of the loop,
 * apart from changes of shape; or is it made from exp of a difference with that
 * maximum? */
typedef enum question { FROM_MAX = 1, FROM_EXP = 2 } question;

/* An innermost loop as one list. */
typedef struct loop_list {
  tkc_lint *l;
  TK_VEC(const tk_inst *) all;
  uint8_t *asked; /* by slot: the questions that were already asked */
  bool nested;
} loop_list;

static bool add_loop_inst(void *ud, const tk_at *at, const tk_inst *in) {
  loop_list *x = ud;
  (void)at;
  TK_PUSH(&x->l->c->run, &x->all, in);
  return true;
}

static bool note_nested(void *ud, const tk_at *at) {
  loop_list *x = ud;
  x->nested |= at->stmt->kind == TK_S_FOR || at->stmt->kind == TK_S_WHILE;
  return true;
}

static bool is_binary(const tk_inst *in, int op) {
  return in && in->op == TK_I_BINARY && (int)tk_binary_op(in) == op;
}

/* The instruction of the loop that sets a slot; NULL: none, or several do. */
static const tk_inst *set_in(const loop_list *x, int slot) {
  const tk_inst *found = NULL;
  for (size_t i = 0; i < x->all.n; i++) {
    const tk_inst *in = x->all.items[i];
    if (in->nres != 1 || in->res[0] != slot) continue;
    if (found) return NULL;
    found = in;
  }
  return found;
}

/* Whether a slot is a running maximum: the max of itself and more, or of a
 * variable that it is copied to at the end of a trip. */
static bool is_running_max(const loop_list *x, int slot) {
  const tk_inst *max = set_in(x, slot);
  if (!is_binary(max, TK_B_MAX) && !is_binary(max, TK_B_MAX_NAN)) return false;
  for (int k = 0; k < 2; k++) {
    const tk_inst *kept = set_in(x, max->args[k]);
    if (max->args[k] == slot) return true;
    if (kept && kept->op == TK_I_COPY && kept->args[0] == slot) return true;
  }
  return false;
}

/* Asks a question of a slot. No question is asked twice: the search ends with
 * the first yes, so the answer before was no. */
static bool comes_from(loop_list *x, int slot, question asked) {
  const tk_inst *in = set_in(x, slot);
  if (asked == FROM_MAX && is_running_max(x, slot)) return true;
  if (!in || x->asked[slot] & asked || !tk_inst_is_pure(in)) return false;
  x->asked[slot] |= (uint8_t)asked;
  const tk_inst *from = in->nargs ? set_in(x, in->args[0]) : NULL;
  bool is_exp = in->op == TK_I_UNARY &&
                (tk_unary_op(in) == TK_U_EXP || tk_unary_op(in) == TK_U_EXP2);
  if (asked == FROM_EXP && is_exp && is_binary(from, TK_B_SUB))
    return comes_from(x, from->args[1], FROM_MAX);
  if (asked == FROM_MAX && tk_inst_lanes(in) != TK_LANES_MOVES) return false;
  for (int k = 0; k < in->nargs; k++)
    if (comes_from(x, in->args[k], asked)) return true;
  return false;
}

/* Returns the operand that an instruction adds to its own result; -1: it is no
 * such sum. */
static int added_to_itself(const tk_inst *in) {
  if (in->nres != 1) return -1;
  if (is_binary(in, TK_B_ADD) && in->args[0] == in->res[0]) return in->args[1];
  if (is_binary(in, TK_B_ADD) && in->args[1] == in->res[0]) return in->args[0];
  if (in->op == TK_I_DOT && in->nargs == 3 && in->args[2] == in->res[0])
    return in->args[0];
  return -1;
}

static void check_loop(loop_list *x) {
  size_t nslots = x->l->f->nslots;
  x->asked = TK_NEWN(&x->l->c->run, uint8_t, nslots + 1);
  for (size_t i = 0; i < x->all.n; i++) {
    const tk_inst *in = x->all.items[i];
    int added = added_to_itself(in);
    if (added < 0 || set_in(x, in->res[0]) != in ||
        !comes_from(x, added, FROM_EXP))
      continue;
    memset(x->asked, 0, nslots);
    tkc_lint_say(x->l, TK_D_LINT_RESCALE, in,
                 "the earlier terms of this sum are not rescaled when the "
                 "running maximum changes",
                 "multiply the sum by exp(old maximum - new maximum) first");
  }
}

static bool see_loop(void *ud, const tk_at *at) {
  loop_list x = {.l = ud};
  const tk_stmt *st = at->stmt;
  if (st->kind != TK_S_FOR && st->kind != TK_S_WHILE) return true;
  tk_walk_body(
      at->func, &st->body,
      &(tk_walk){.ud = &x, .stmt = note_nested, .inst = add_loop_inst});
  if (!x.nested) check_loop(&x);
  return true;
}

void tkc_lint_rescale(tkc_lint *l) {
  tk_walk_func(l->f, &(tk_walk){.ud = l, .stmt = see_loop});
}
