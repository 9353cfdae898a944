/* eval.c - a debugger's expressions; see eval.h. */
#include "interp/eval.h"
#include "interp/bind.h"

#include <string.h>

#include "typing/state.h"

/* The names that are known at the statement that the frame is at. */
static const tk_binding *scope_of(const tki_frame *f) {
  const tk_body *b = &f->func->body;
  const tk_stmt *st = f->stmt ? f->stmt : b->n ? b->items[0] : NULL;
  return st ? tk_stmt_scope(f->func, st) : NULL;
}

typedef struct place {
  tki *t;
  const tki_frame *f;
} place;

static const tk_tensor *tensor_at(void *ud, int slot) {
  place *p = ud;
  if ((size_t)slot >= p->f->func->nslots) return NULL;
  const tki_val *v = &p->f->slots[slot];
  if (v->region < 0 || (size_t)v->region >= p->t->nregions) return NULL;
  const tki_region *r = &p->t->regions[v->region];
  if (!r->tensor) return NULL;
  uint64_t start = r->lo + (uint64_t)((char *)r->tensor->data - r->host);
  return tki_scalar_bits(v) == start ? r->tensor : NULL;
}

typedef struct eval_binding {
  tki_eval *x;
  bool device;
} eval_binding;

static void bind_eval(tk_env *e, void *ud) {
  eval_binding *b = ud;
  (void)e;
  b->x->code = tki_bind(b->x->arena, b->x->program, NULL, b->device);
}

tki_eval *tki_eval_new(tki *t, const tki_frame *f, const char *text,
                       const tk_type *want) {
  place p = {t, f};
  tk_eval_where w = {.session = t->session,
                     .launch = t->launch,
                     .func = f->func,
                     .scope = scope_of(f),
                     .want = want,
                     .tensor = tensor_at,
                     .ud = &p};
  tki_eval *x = tk_eval_new(t->env, &w, text);
  eval_binding b = {x, t->device};
  tk_status st = tk_protect(t->env, bind_eval, &b);
  if (st == TK_OK) return x;
  tk_eval_free(x);
  tk_throw(t->env, st);
}

void tki_eval_free(tki_eval *x) {
  tk_eval_free(x);
}

/* ---- running ------------------------------------------------------------ */

typedef struct call {
  tki *t;
  const tki_eval *x;
  const tki_frame *f;
  tki_val *out;
} call;

static void no_value(tki *t, const tk_slot *slot) {
  tk_diag_add(t->env, TK_D_NAME, NULL, (tk_span){0, 0},
              "%s has no value yet here", slot->name);
  tk_throw(t->env, TK_USAGE);
}

static void fill_args(const call *c, tki_val *args) {
  const tk_func *f = c->x->func;
  const tki_loop *loop = c->f->loops;
  for (size_t i = 0; i < c->x->nreads; i++) {
    const tk_slot *slot = &f->slots[f->params[i]];
    args[i] = c->f->slots[f->params[i]];
    if (!tki_has_value(&args[i], &slot->type)) no_value(c->t, slot);
  }
  TK_ASSERT(c->x->nreads + 4 == f->nparams); /* the program and the trip */
  args += c->x->nreads;
  for (int i = 0; i < 3; i++)
    args[i] = tki_make_scalar((uint64_t)(c->t->pid[i]));
  args[3] = tki_make_scalar((uint64_t)(loop ? (int64_t)loop->trip : 0));
}

static void run(tk_env *e, void *ud) {
  call *c = ud;
  tki *t = c->t;
  size_t n = c->x->func->nparams;
  (void)e;
  tki_val *args = tki_scratch_new(t, n * sizeof *args);
  fill_args(c, args);
  tki_call(t, c->x->func, args, n, c->out);
  tki_scratch_free(t, args);
}

void tki_eval_observed(tki *t, const tki_eval *x, const tki_frame *f,
                       tki_val *out, tki_observer *o) {
  call c = {t, x, f, out};
  TK_ASSERT(x->code); /* it was bound when it was made */
  tki_frame *frame = t->frame;
  tki_watching others = tki_unwatch(t);
  uint64_t *event = t->event;
  uint64_t ops = t->ops;
  const tki_op *code = t->code;
  uint8_t *marked = t->marked;
  t->code = x->code;
  t->marked = NULL;
  t->frame = NULL;
  if (o) tki_observe(t, o);
  t->event = &t->events;
  tk_status st = tk_protect(t->env, run, &c);
  t->frame = frame;
  tki_rewatch(t, &others);
  t->event = event;
  t->ops = ops;
  t->code = code;
  t->marked = marked;
  if (st != TK_OK) tk_throw(t->env, st);
}

void tki_eval_run(tki *t, const tki_eval *x, const tki_frame *f, tki_val *out) {
  tki_eval_observed(t, x, f, out, NULL);
}

/* ---- variables ---------------------------------------------------------- */

static const tk_binding *find_binding(const tki_frame *f, const char *name) {
  const tk_binding *b = tks_newest(scope_of(f), name);
  return b && !b->dropped ? b : NULL;
}

/* The slots of the first leaves of a value, at most max. */
static size_t leaf_slots(const sval *v, int *slots, size_t max) {
  size_t n = 0;
  if (!max || !sv_runtime(v)) return 0;
  if (v->kind == V_TENSOR) {
    *slots = v->slot;
    return 1;
  }
  for (size_t i = 0; i < v->n && n < max; i++)
    n += leaf_slots(&v->items[i], slots + n, max - n);
  return n;
}

size_t tki_eval_slots(const tki_frame *f, const char *name, int *slots,
                      size_t max) {
  const tk_binding *b = find_binding(f, name);
  return b ? leaf_slots(&b->v, slots, max) : 0;
}

bool tki_eval_is_plain(const tki_frame *f, const char *name) {
  const tk_binding *b = find_binding(f, name);
  return b && b->v.kind == V_TENSOR;
}

size_t tki_eval_names(const tki_frame *f, const char **names, size_t max) {
  size_t n = 0;
  for (const tk_binding *b = scope_of(f); b; b = b->prev) {
    if (find_binding(f, b->name) != b) continue;
    if (n < max) names[n] = b->name;
    n++;
  }
  return n;
}
