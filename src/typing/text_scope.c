/* text_scope.c - which variables have a value before each statement of a
 * program that was read from text, for a debugger.
 *
 * A name is known from the instruction on that gives it a value; after a
 * branch, if both of its ways have given it one; after a loop, if it was known
 * before.
 */
#include "typing/origin.h"
#include "typing/walk.h"

typedef struct scoping {
  tks s;
  tks_frame frame;
  const tk_func *f;
  tk_origin *origin;
} scoping;

static bool knows(const tk_binding *scope, int slot) {
  for (const tk_binding *b = scope; b; b = b->prev)
    if (b->v.slot == slot) return true;
  return false;
}

static void give(scoping *x, int slot) {
  const tk_slot *at = &x->f->slots[slot];
  if (!at->name || knows(x->frame.scope, slot)) return;
  sval v = sv_tensor(at->type, slot);
  tks_bind(&x->s, at->name, &v);
}

static void scope_body(scoping *x, const tk_body *b);

/* What is known at the end of a list of statements; the scope stays. */
static const tk_binding *scope_within(scoping *x, const tk_body *b) {
  const tk_binding *before = x->frame.scope;
  scope_body(x, b);
  const tk_binding *after = x->frame.scope;
  x->frame.scope = before;
  return after;
}

static void scope_stmt(scoping *x, const tk_stmt *st) {
  x->origin->scopes.items[st->id] = x->frame.scope;
  for (size_t i = 0; i < st->insts.n; i++) {
    const tk_inst *in = st->insts.items[i];
    x->frame.at = in->span;
    for (int k = 0; k < in->nres; k++) give(x, in->res[k]);
  }
  const tk_binding *before = x->frame.scope;
  if (st->kind == TK_S_FOR) give(x, st->iv);
  const tk_binding *one = scope_within(x, &st->body);
  const tk_binding *other = scope_within(x, &st->orelse);
  x->frame.scope = before;
  for (const tk_binding *b = one; st->kind == TK_S_IF && b != before;
       b = b->prev)
    if (knows(other, b->v.slot)) give(x, b->v.slot);
}

static void scope_body(scoping *x, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) scope_stmt(x, b->items[i]);
}

void tks_scope_text(tk_session *session, struct tk_unit *u,
                    tk_function *kernel) {
  tk_program *p = &u->program;
  tk_arena *a = &p->arena;
  tk_origin *o = &u->origin;
  o->session = session;
  o->kernel = kernel;
  for (size_t i = 0; i < p->nfuncs; i++)
    TK_PUSH(a, &o->functions, p->funcs[i] == p->kernel ? kernel : NULL);
  for (size_t i = 0; i < p->nstmts; i++) TK_PUSH(a, &o->scopes, NULL);
  for (size_t i = 0; i < p->nfuncs; i++) {
    const tk_func *f = p->funcs[i];
    scoping x = {.s = {.env = a->env, .arena = a}, .f = f, .origin = o};
    x.s.frame = &x.frame;
    for (size_t k = 0; k < f->nparams; k++) give(&x, f->params[k]);
    scope_body(&x, &f->body);
  }
  p->origin = o;
}
