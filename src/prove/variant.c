/* variant.c - neighbouring forms: the launch is compiled with one argument
 * changed, and then is as it was. */
#include "prove/variant.h"

#include "typing/origin.h"

static const char *const kinds[TKQ_VARIANTS] = {
    [TKQ_IS_ONE] = "is 1",
    [TKQ_NOT_ONE] = "is not 1",
    [TKQ_INT64] = "is 2**31 or more",
};

/* The type of the parameter that an argument became; NULL: it became none. */
static const tk_type *param_type(const tk_program *p, size_t arg) {
  for (size_t i = 0; i < p->nparams; i++)
    if (p->params[i].arg == arg) return &p->params[i].type;
  return NULL;
}

/* Whether the form is one that the kind makes of the launch's own. */
static bool is_neighbour(const tkq_variant *v, const tk_program *own) {
  const tk_type *before = param_type(own, v->arg);
  const tk_type *after = param_type(v->program, v->arg);
  switch (v->kind) {
  case TKQ_IS_ONE: return before && !after;
  case TKQ_NOT_ONE: return !before && after;
  case TKQ_INT64:
    return before && after && before->elem != after->elem &&
           after->elem == TK_INT64;
  case TKQ_VARIANTS: break;
  }
  return false;
}

typedef struct variant_job {
  tk_launch *launch;
  tkq_variant *variant;
} variant_job;

static void compile_variant(tk_env *e, void *ud) {
  variant_job *j = ud;
  j->variant->program = &tk_specialise(e, j->launch)->program;
}

/* The first message after that many; all of those are dropped. */
static const char *take_message(tk_env *e, tk_arena *a, size_t before) {
  tk_diag *said = tk_diag_take(e, before);
  const char *text = said ? tk_arena_strdup(a, said->f.message) : "";
  tk_diag_free(e, said);
  return text;
}

static bool may_vary(const tk_arg *a, const tk_program *own,
                     const tkq_variant *v) {
  if (a->kind != TK_ARG_VALUE || a->value.kind != TK_V_INT) return false;
  if (v->kind != TKQ_NOT_ONE) return param_type(own, v->arg) != NULL;
  return !a->value.hi && a->value.lo == 1;
}

bool tkq_variant_make(tk_env *e, tk_launch *l, const tk_program *own,
                      tkq_variant *v) {
  tk_arg *a = &l->args[v->arg], before = *a;
  size_t said = e->ndiags;
  if (l->fn->fixed || l->fn->form || !may_vary(a, own, v)) return false;
  v->text = tk_arena_printf(&l->arena, "%s %s", a->name, kinds[v->kind]);
  v->scalars = own;
  a->no_specialize |= v->kind == TKQ_NOT_ONE;
  a->value.hi = 0;
  if (v->kind == TKQ_IS_ONE) a->value.lo = 1;
  if (v->kind == TKQ_INT64) a->value.lo = (uint64_t)1 << 31;
  tk_status st = tk_protect(e, compile_variant, &(variant_job){l, v});
  a->no_specialize = before.no_specialize;
  a->value = before.value;
  if (st == TK_INTERRUPTED || st == TK_INTERNAL) tk_throw(e, st);
  if (st != TK_OK) v->refused = take_message(e, &l->arena, said);
  if (st != TK_OK) return true;
  if (v->kind != TKQ_IS_ONE) v->scalars = v->program;
  return is_neighbour(v, own);
}

/* ---- the relation -------------------------------------------------------- */

void tkq_variant_tell(tkq_numbers *n, const tkq_variant *v) {
  tkq_terms *t = n->terms;
  int i = tkq_scalar_of(n, v->arg);
  if (i < 0) return;
  tkq_quantity *q = &n->all.items[i];
  int64_t least = v->kind == TKQ_INT64 ? (int64_t)1 << 31 : 2;
  int r = tkq_relation_new(n, TK_GIVEN_FORM, v->text);
  if (v->kind == TKQ_IS_ONE) {
    q->never_one = false;
    if (q->relation < 0 && tkq_define(n, i, tkq_const(t, 1), r)) return;
    n->relations.items[r].fact = tkq_eq(t, q->p, tkq_const(t, 1));
    return;
  }
  if (q->relation < 0 && q->value < least) q->value = least;
  n->relations.items[r].fact = tkq_ge(t, q->p, tkq_const(t, least));
  if (v->kind == TKQ_NOT_ONE)
    n->relations.items[r].fact =
        tkq_or(t, n->relations.items[r].fact, tkq_lt(t, q->p, tkq_const(t, 1)));
}
