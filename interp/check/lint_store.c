/* lint_store.c - a store that the next one overwrites before anybody reads.
 *
 * Two stores of one list of statements write the same lanes when address and
 * mask are the same computation of the same values.  Whatever may read memory
 * or give way to another program in between keeps the first one alive.
 */
#include <string.h>

#include "interp/check/lint.h"

enum {
  DEPTH = 32
}; /* levels of an expression; anything deeper counts as
      different */

/* ---- the same value ------------------------------------------------------ */

/* Whether a slot is an argument to which nothing is assigned. */
static bool is_constant_argument(const tkc_lint *l, int slot) {
  bool argument = false;
  for (size_t i = 0; i < l->f->nparams; i++)
    argument |= l->f->params[i] == slot;
  for (size_t i = 0; i < l->all.n; i++)
    for (int k = 0; k < l->all.items[i]->nres; k++)
      if (l->all.items[i]->res[k] == slot) return false;
  return argument;
}

static bool is_same_slot(const tkc_lint *l, int a, int b, int depth);

static bool is_same_computation(const tkc_lint *l, const tk_inst *a,
                                const tk_inst *b, int depth) {
  if (!tk_inst_is_pure(a) || a->nres != 1 || a->ref.any || a->op != b->op ||
      a->mode != b->mode || a->nargs != b->nargs ||
      a->type.elem != b->type.elem || a->type.ptr != b->type.ptr ||
      !tk_same_shape(&a->type, &b->type) ||
      memcmp(a->attr, b->attr, sizeof a->attr))
    return false;
  for (int k = 0; k < a->nargs; k++)
    if (!is_same_slot(l, a->args[k], b->args[k], depth - 1)) return false;
  return true;
}

/* Whether two slots hold the same value wherever both are set. */
static bool is_same_slot(const tkc_lint *l, int a, int b, int depth) {
  const tk_inst *x = l->def[a], *y = l->def[b];
  if (a == b) return x || is_constant_argument(l, a);
  return depth && x && y && is_same_computation(l, x, y, depth);
}

/* ---- lists of statements ------------------------------------------------- */

static bool overwrites(const tkc_lint *l, const tk_inst *old,
                       const tk_inst *in) {
  return old->nargs == in->nargs &&
         is_same_slot(l, old->args[0], in->args[0], DEPTH) &&
         (in->nargs < 3 || is_same_slot(l, old->args[2], in->args[2], DEPTH));
}

static void check_stored(tkc_lint *l, const tk_inst *old, const tk_inst *in) {
  if (!old || !overwrites(l, old, in)) return;
  tk_diag *d = tkc_lint_say(
      l, TK_D_LINT_DEAD_STORE, old,
      "what is stored here is overwritten before anything reads it",
      "remove this store, or store the second value elsewhere");
  tkc_place at = tkc_place_of(l->f, in);
  tkc_note(l->c, d, &at, "the same elements are stored again here");
}

/* A list of statements, up to where the walk is. */
typedef struct store_list {
  tkc_lint *l;
  const tk_body *body;
  bool ends;           /* other statements stand in between */
  const tk_inst *last; /* store; NULL: there is none, or it may be read */
} store_list;

static bool begin_list_stmt(void *ud, const tk_at *at) {
  store_list *x = ud;
  if (x->ends || at->body != x->body) x->last = NULL;
  x->body = at->body;
  x->ends = at->stmt->kind != TK_S_RUN;
  return true;
}

/* Instructions that only one side of a choice runs do not belong to the
 * list. */
static bool see_inst(void *ud, const tk_at *at, const tk_inst *in) {
  store_list *x = ud;
  if (at->list != &at->stmt->insts) return true;
  if (tk_inst_is_pure(in) && !in->ref.any) return true;
  if (in->op == TK_I_STORE) check_stored(x->l, x->last, in);
  x->last = in->op == TK_I_STORE ? in : NULL;
  return true;
}

void tkc_lint_store(tkc_lint *l) {
  store_list x = {.l = l};
  tk_walk_func(l->f,
               &(tk_walk){.ud = &x, .stmt = begin_list_stmt, .inst = see_inst});
}
