/* used.c - whether the result of an instruction can matter.
 *
 * Slots are marked from where they have an effect back to what they are made
 * of, until nothing is added.  A call uses what its function does, as if it
 * stood in its place.
 */
#include "ir/used.h"

typedef struct uses {
  tk_env *env;
  const bool *results; /* of the function, that its caller uses; NULL: all */
  bool *used;          /* slots of the function */
  bool grew;
} uses;

static void mark(uses *u, int slot) {
  if (slot < 0) return;
  u->grew |= !u->used[slot];
  u->used[slot] = true;
}

bool tk_any_used(const bool *used, const tk_inst *in) {
  for (int i = 0; i < in->nres; i++)
    if (used[in->res[i]]) return true;
  return false;
}

static bool mark_stmt(void *ud, const tk_at *at) {
  uses *u = ud;
  const tk_stmt *st = at->stmt;
  const int loop[] = {st->lb, st->ub, st->step};
  for (size_t i = 0; st->kind == TK_S_FOR && i < TK_COUNT(loop); i++)
    mark(u, loop[i]);
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE) mark(u, st->cond);
  for (size_t i = 0; i < st->nresults; i++)
    if (!u->results || u->results[i]) mark(u, st->results[i]);
  return true;
}

static void mark_call(uses *u, const tk_inst *in) {
  const tk_func *f = tk_call_callee(in);
  size_t n = f->nslots + 1;
  bool *used = tk_calloc(u->env, n + f->nresults, sizeof *used);
  for (size_t i = 0; i < f->nresults; i++) used[n + i] = u->used[in->res[i]];
  tk_mark_used(u->env, f, used + n, used);
  for (size_t i = 0; i < f->nparams; i++)
    if (used[f->params[i]]) mark(u, in->args[i]);
  tk_free(u->env, used, (n + f->nresults) * sizeof *used);
}

static bool mark_inst(void *ud, const tk_at *at, const tk_inst *in) {
  uses *u = ud;
  bool optional =
      in->op == TK_I_LOAD ? !tk_load_reads_anew(in) : tk_inst_is_pure(in);
  (void)at;
  if (in->op == TK_I_CALL)
    mark_call(u, in);
  else if (!optional || tk_any_used(u->used, in))
    for (int i = 0; i < in->nargs; i++) mark(u, in->args[i]);
  return true;
}

void tk_mark_used(tk_env *e, const tk_func *f, const bool *results,
                  bool *used) {
  uses u = {e, results, used, true};
  tk_walk walk = {.ud = &u, .stmt = mark_stmt, .inst = mark_inst};
  while (u.grew) {
    u.grew = false;
    tk_walk_func(f, &walk);
  }
}
