/* undefined.c - what the marks of undef say to a debugger; see undefined.h.
 *
 * An expression is followed as a kernel is, by an observer of its own that
 * starts from the frame's marks and reports nothing.
 */
#include "interp/check/undefined.h"

#include <string.h>

#include "interp/check/flow.h"

static const tkc_flow *watching(const tki *t) {
  const tkc_flow *f = tkc_flow_watching(t);
  return f && f->kinds & TKC_FLOW_UNDEF ? f : NULL;
}

bool tkc_knows_undefined(const tki *t) {
  return watching(t) != NULL;
}

bool tkc_follows_lanes(const tki *t) {
  return tkc_flow_watching(t) != NULL;
}

/* ---- lanes --------------------------------------------------------------- */

static tki_val undefined_lanes(tki *t, const tkc_flow *f, tki_val *marks,
                               const tk_type *type) {
  tki_val none = tki_make_scalar(0);
  if (!tkc_any_undefined(marks)) return none;
  size_t n = (size_t)tk_numel(type);
  tki_val v = type->rank ? tki_block_new(t, n, 1) : tki_make_scalar(0);
  const tkc_flow_id *id = tki_lanes(marks);
  uint8_t *d = tki_writable(&v), any = 0;
  for (size_t i = 0; i < n; i++) {
    bool marked = id[i] && tkc_flow_source_of(f, id[i])->kind == TKC_FLOW_UNDEF;
    any |= d[i] = marked;
  }
  if (any) return v;
  tki_release(t, &v);
  return none;
}

static tki_val *marks_at(const tki_frame *f, int slot) {
  tki_val *table = f->shadow[TKI_SHADOW_UNDEF];
  return table ? table + slot : NULL;
}

static tki_val all_lanes(tki *t, const tk_type *type) {
  size_t n = (size_t)tk_numel(type);
  if (!type->rank) return tki_make_scalar(1);
  tki_val v = tki_block_new(t, n, 1);
  memset(tki_writable(&v), 1, n);
  return v;
}

tki_val tkc_undefined_slot(tki *t, const tki_frame *f, int slot) {
  const tkc_flow *w = watching(t);
  const tk_type *type = &f->func->slots[slot].type;
  tki_val *marks = w ? marks_at(f, slot) : NULL;
  if (!w && tki_is_unassigned(f, slot)) return all_lanes(t, type);
  return marks ? undefined_lanes(t, w, marks, type) : tki_make_scalar(0);
}

tki_val tkc_undefined_result(tki *t, size_t i, const tk_type *type) {
  const tkc_flow *w = watching(t);
  if (!w || i >= w->nreturned) return tki_make_scalar(0);
  return undefined_lanes(t, w, &w->returned[i], type);
}

void tkc_defined_slot(tki *t, const tki_frame *f, int slot) {
  tki_is_assigned(f, slot);
  tki_val *marks = watching(t) ? marks_at(f, slot) : NULL;
  if (marks) tki_set(t, marks, tki_make_scalar(0));
}

/* ---- memory -------------------------------------------------------------- */

bool tkc_undefined_memory(const tki *t, const tki_region *r, const void *host,
                          size_t n) {
  const tkc_flow *w = watching(t);
  const tkc_fresh *x = w ? w->fresh[r - t->regions] : NULL;
  return x && tkc_fresh_any(x, (size_t)((const char *)host - r->host), n);
}

bool tkc_undefined_before(const tki *t, const tki_region *r, const void *host,
                          size_t n) {
  const tkc_flow *w = watching(t);
  const tkc_fresh *x = w ? w->fresh[r - t->regions] : NULL;
  size_t at = (size_t)((const char *)host - r->host);
  return x && tkc_fresh_any_before(x, at, n);
}

void tkc_defined_memory(const tki *t, const void *host, size_t n) {
  const tkc_flow *w = watching(t);
  uint64_t at = (uint64_t)(uintptr_t)host;
  for (size_t i = 0; w && i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    uint64_t start_aside = (uint64_t)(uintptr_t)r->host, size = r->hi - r->lo;
    bool holds = at >= start_aside && at - start_aside < size &&
                 n <= size - (at - start_aside);
    if (w->fresh[i] && holds) tkc_fresh_write(w->fresh[i], at - start_aside, n);
  }
}

/* ---- a flow beside the one that watches --------------------------------- */

/* A copy of the detectors' state needs memory of its own. */
static void own_memory(tkc *c, tk_env *e) {
  tk_arena_init(&c->run, e);
  tk_buf_init(&c->text, e);
}

static void free_memory(tkc *c) {
  tk_arena_free(&c->run);
  tk_buf_free(&c->text);
}

/* ---- expressions --------------------------------------------------------- */

typedef struct following {
  tkc_flow f; /* must be the first member: hooks get a pointer to it */
  tkc c;
  tki *t;
  const tki_eval *x;
  const tki_frame *from;
  tki_val *out, *undefined;
} following;

/* The variables that it reads are its first parameters, in slots with the
 * same numbers. */
static void eval_frame(void *ud, tki *t, bool begins) {
  following *y = ud;
  bool outermost = !t->frame->caller;
  tkc_flow_frame(&y->f, t, begins);
  for (size_t i = 0; begins && outermost && i < y->x->nreads; i++) {
    int slot = y->x->func->params[i];
    tki_val *marks = marks_at(y->from, slot);
    size_t n = (size_t)tk_numel(&t->frame->func->slots[slot].type);
    if (marks && tkc_any_undefined(marks))
      tkc_flow_set(t, slot, tki_share(marks), n);
  }
}

static void eval_access(void *ud, tki *t, const tki_access *a) {
  tkc_flow_access(ud, t, a);
}

/* Sources in the expression are added to the existing ones. */
static void prepare_following(following *y, const tkc_flow *w) {
  tk_arena *a = &y->c.run;
  y->f = *w;
  y->f.c = &y->c;
  y->f.quiet = true;
  y->f.kinds = TKC_FLOW_UNDEF;
  y->f.last = TK_NEWN(a, tkc_flow_id, y->x->program->ninsts + 1);
  y->f.sources.items =
      tk_arena_alloc(a, (w->sources.cap + 1) * sizeof *w->sources.items);
  if (w->sources.n)
    memcpy(y->f.sources.items, w->sources.items,
           w->sources.n * sizeof *w->sources.items);
  y->f.returned = NULL;
  y->f.nreturned = y->f.cap_returned = 0;
}

static void follow_eval(tk_env *e, void *ud) {
  following *y = ud;
  tki *t = y->t;
  tki_observer o = {.ud = y,
                    .frame = eval_frame,
                    .after = tkc_flow_after,
                    .access = eval_access};
  (void)e;
  prepare_following(y, tkc_flow_watching(t));
  tki_eval_observed(t, y->x, y->from, y->out, &o);
  for (size_t i = 0; i < y->f.nreturned; i++) {
    tki_val *marks = &y->f.returned[i];
    y->undefined[i] = undefined_lanes(t, &y->f, marks, &y->x->types[i]);
    tki_release(t, marks);
  }
}

/* Runs an expression while no detector follows lanes: everything that is
 * computed from a variable which a jump left unassigned counts as undefined. */
static void run_unfollowed(tki *t, const tki_eval *x, const tki_frame *f,
                           tki_val *out, tki_val *undefined) {
  bool any = false;
  tki_eval_run(t, x, f, out);
  for (size_t i = 0; i < x->nreads; i++)
    any |= tki_is_unassigned(f, x->func->params[i]);
  for (size_t i = 0; i < x->n && any; i++)
    undefined[i] = all_lanes(t, &x->types[i]);
}

void tkc_undefined_eval(tki *t, const tki_eval *x, const tki_frame *f,
                        tki_val *out, tki_val *undefined) {
  const tkc_flow *w = watching(t);
  for (size_t i = 0; i < x->n; i++) undefined[i] = tki_make_scalar(0);
  if (!w) {
    run_unfollowed(t, x, f, out, undefined);
    return;
  }
  following y = {.c = *w->c,
                 .t = t,
                 .x = x,
                 .from = f,
                 .out = out,
                 .undefined = undefined};
  own_memory(&y.c, t->env);
  tk_status st = tk_protect(t->env, follow_eval, &y);
  free_memory(&y.c);
  if (st != TK_OK) tk_throw(t->env, st);
}

/* ---- side runs ----------------------------------------------------------- */

struct tkc_undefined {
  tkc_flow f;
  tkc c; /* with memory of its own */
};

static void start_aside(tk_env *e, void *ud) {
  tkc_undefined *w = ud;
  (void)e;
  tkc_flow_start(&w->f, &w->c, w->c.t, TKC_FLOW_UNDEF);
  w->f.quiet = true;
}

/* As the detectors that `like` says. */
static tkc_undefined *undefined_like(tki *t, const tkc *like) {
  tkc_undefined *w = tk_calloc(t->env, 1, sizeof *w);
  w->c = *like;
  w->c.t = t;
  own_memory(&w->c, t->env);
  tk_status st = tk_protect(t->env, start_aside, w);
  if (st == TK_OK) return w;
  tkc_undefined_free(t, w);
  tk_throw(t->env, st);
}

tkc_undefined *tkc_undefined_new(tki *t) {
  const tkc_flow *now = watching(t);
  return now ? undefined_like(t, now->c) : NULL;
}

tkc_undefined *tkc_undefined_alone(tki *t) {
  return undefined_like(t, &(tkc){.session = t->launch->session});
}

tki_observer *tkc_undefined_observer(tkc_undefined *w) {
  return &w->f.observer;
}

void tkc_undefined_free(tki *t, tkc_undefined *w) {
  if (!w) return;
  tk_env *e = w->c.run.env;
  tkc_flow_end(&w->f, t);
  free_memory(&w->c);
  tk_free(e, w, sizeof *w);
}
