/* used.c - whether what an instruction gives can change anything.
 *
 * Slots are marked from where they have an effect back to what they are made
 * of, until nothing is added.  What is passed to a function or returned by one
 * counts as used.
 */
#include "ir/used.h"

typedef struct uses {
  bool *used; /* slots of the function */
  bool grew;
} uses;

static void mark(uses *u, const int *slots, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (slots[i] < 0) continue;
    u->grew |= !u->used[slots[i]];
    u->used[slots[i]] = true;
  }
}

static bool any_used(const uses *u, const tk_inst *in) {
  for (int i = 0; i < in->nres; i++)
    if (u->used[in->res[i]]) return true;
  return false;
}

static bool mark_stmt(void *ud, const tk_at *at) {
  const tk_stmt *st = at->stmt;
  const int loop[] = {st->lb, st->ub, st->step};
  if (st->kind == TK_S_FOR) mark(ud, loop, TK_COUNT(loop));
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE) mark(ud, &st->cond, 1);
  mark(ud, st->results, st->nresults);
  return true;
}

static bool mark_inst(void *ud, const tk_at *at, const tk_inst *in) {
  bool optional =
      in->op == TK_I_LOAD ? !tk_load_volatile(in) : tk_inst_is_pure(in);
  (void)at;
  if (!optional || any_used(ud, in)) mark(ud, in->args, in->nargs);
  return true;
}

/* Nothing behind the allocation throws. */
bool tk_inst_is_used(tk_env *e, const tk_func *f, const tk_inst *in) {
  uses u = {tk_calloc(e, f->nslots + 1, sizeof *u.used), true};
  tk_walk walk = {.ud = &u, .stmt = mark_stmt, .inst = mark_inst};
  while (u.grew) {
    u.grew = false;
    tk_walk_func(f, &walk);
  }
  bool used = any_used(&u, in);
  tk_free(e, u.used, (f->nslots + 1) * sizeof *u.used);
  return used;
}
