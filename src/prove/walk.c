/* walk.c - statements of a kernel: paths, loops, calls.
 *
 * A branch adds its condition to the path; where branches join, slots become
 * choices.  The body of a loop is walked twice: first with its variables
 * unknown, to find those that a trip changes by the same amount each time;
 * then with these as their first value and trips times the amount.  What a
 * trip changes otherwise is unknown. */
#include "prove/solver.h"
#include "prove/walk.h"

enum { MOST_DEPTH = 40 };

typedef struct walk_frame {
  tkq_walk *w;
  const tk_func *func;
  tkq_value *slots;
  tkq_value *results; /* of the return that was met last; NULL: none yet */
  bool returns_twice;
} walk_frame;

static void walk_body(walk_frame *f, const tk_body *b);
static void walk_insts(walk_frame *f, const tk_insts *l);

static tk_arena *walk_arena(const walk_frame *f) {
  return f->w->terms->arena;
}

static tkq_value *copy_slots(const walk_frame *f) {
  tkq_value *v = TK_NEWN(walk_arena(f), tkq_value, f->func->nslots + 1);
  for (size_t i = 0; i < f->func->nslots; i++) v[i] = f->slots[i];
  return v;
}

/* What a branch or a loop depends on must not wrap in any case. */
static void depend(walk_frame *f, const tkq_wraps *l) {
  tkq_walk *w = f->w;
  for (size_t i = 0; l && i < l->n && !w->dry; i++) {
    tkq_wrap x = l->items[i];
    x.path = w->path;
    TK_PUSH(w->terms->arena, &w->control, x);
  }
}

/* ---- where branches join ------------------------------------------------- */

static bool same_value(const tkq_value *a, const tkq_value *b) {
  return a->kind == b->kind && a->f == b->f && a->tensor == b->tensor &&
         (a->p == b->p || tkq_same(a->p, b->p));
}

static tkq_value join_values(walk_frame *f, const tkq_form *c,
                             const tk_type *type, tkq_value a, tkq_value b) {
  tkq_terms *t = f->w->terms;
  tkq_value v = a;
  if (a.kind == TKQ_UNDEFINED) return b;
  if (b.kind == TKQ_UNDEFINED || same_value(&a, &b)) return a;
  v.wraps = tkq_join(f->w, a.wraps, b.wraps);
  if (a.kind == b.kind && a.kind == TKQ_BOOL) {
    v.f = tkq_or(t, tkq_and(t, c, a.f), tkq_and(t, tkq_not(t, c), b.f));
    return v;
  }
  bool chosen = a.kind == b.kind && a.tensor == b.tensor && a.p && b.p;
  if (!chosen) return tkq_unknown_value(f->w, type, "branches that join");
  v.p = tkq_select(t, c, a.p, b.p);
  return v.p ? v : tkq_unknown_value(f->w, type, "branches that join");
}

/* Runs two alternatives; each is called with the path and slots that it begins
 * with. */
static void walk_either(walk_frame *f, tkq_value cond, const void *then,
                        const void *other,
                        void (*part)(walk_frame *f, const void *what)) {
  tkq_walk *w = f->w;
  tkq_terms *t = w->terms;
  const tkq_form *c = cond.kind == TKQ_BOOL ? cond.f : tkq_maybe();
  const tkq_form *before = w->path, *no = tkq_not(t, c);
  const tkq_form *yes_path = tkq_and(t, before, c);
  const tkq_form *no_path = tkq_and(t, before, no);
  depend(f, cond.wraps);
  tkq_value *first = copy_slots(f);
  w->path = yes_path;
  if (yes_path->kind != TKQ_FALSE) part(f, then);
  const tkq_form *yes_end = w->path;
  tkq_value *yes = f->slots;
  f->slots = first;
  w->path = no_path;
  if (no_path->kind != TKQ_FALSE) part(f, other);
  const tkq_form *no_end = w->path;
  bool left_yes = yes_end->kind == TKQ_FALSE;
  bool left_no = no_end->kind == TKQ_FALSE;
  for (size_t i = 0; i < f->func->nslots; i++)
    yes[i] = left_yes  ? f->slots[i]
             : left_no ? yes[i]
                       : join_values(f, c, &f->func->slots[i].type, yes[i],
                                     f->slots[i]);
  f->slots = yes;
  w->path = yes_end == yes_path && no_end == no_path
                ? before
                : tkq_or(t, yes_end, no_end);
}

static void walk_part(walk_frame *f, const void *body) {
  walk_body(f, body);
}

static void walk_list(walk_frame *f, const void *list) {
  walk_insts(f, list);
}

/* ---- loops --------------------------------------------------------------- */

static bool mark_result(void *ud, const tk_at *at, const tk_inst *in) {
  bool *set = ud;
  (void)at;
  for (int i = 0; i < in->nres; i++) set[in->res[i]] = true;
  return true;
}

static bool mark_counter(void *ud, const tk_at *at) {
  bool *set = ud;
  if (at->stmt->kind == TK_S_FOR) set[at->stmt->iv] = true;
  return true;
}

/* Slots that a loop sets. */
static bool *set_in(walk_frame *f, const tk_stmt *st) {
  bool *set = TK_NEWN(walk_arena(f), bool, f->func->nslots + 1);
  tk_walk marks = {set, mark_counter, mark_result};
  tk_walk_body(f->func, &st->body, &marks);
  if (st->kind == TK_S_WHILE) tk_walk_insts(f->func, st, &st->insts, &marks);
  return set;
}

static tkq_value forgotten(walk_frame *f, int slot, tkq_value v) {
  const tk_type *type = &f->func->slots[slot].type;
  if (v.kind != TKQ_POINTER)
    return tkq_unknown_value(f->w, type, "a value that a loop changes");
  v.p = tkq_datum(f->w->terms, type->rank, INT64_MIN, INT64_MAX,
                  "a pointer that a loop changes");
  v.wraps = NULL;
  return type->rank <= TKQ_AXES ? v : (tkq_value){.kind = TKQ_OTHER};
}

/* Whether an atom came to be while the body was walked. */
static bool is_new(const tkq_terms *t, int atom, void *ud) {
  const int *mark = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  return (a->kind == TKQ_DATA && a->number >= mark[0]) ||
         (a->kind == TKQ_TRIP && a->number >= mark[1]);
}

/* What a trip adds to a variable; NULL: that is not known. */
static const tkq_poly *trip_step(walk_frame *f, tkq_value head, tkq_value end,
                                 int *mark) {
  bool number = head.kind == TKQ_INT || head.kind == TKQ_POINTER;
  if (!number || end.kind != head.kind || end.tensor != head.tensor)
    return NULL;
  const tkq_poly *step = tkq_sub(f->w->terms, end.p, head.p);
  return step && !tkq_has(f->w->terms, step, is_new, mark) ? step : NULL;
}

typedef struct walk_loop {
  const tk_stmt *st;
  const bool *set;
  tkq_value *first;        /* slots before it */
  const tkq_poly **step;   /* of each slot that is set */
  const tkq_poly *trip;    /* that runs, from 0 */
  const tkq_poly *counter; /* FOR: the variable in that trip; NULL: unknown */
  const tkq_form *runs;    /* the trip does */
} walk_loop;

/* How far a trip goes: the step, or, of a loop that counts down, its opposite.
 */
static const tkq_poly *stride_of(tkq_terms *t, const tk_stmt *st,
                                 const tkq_poly *step) {
  return st->down ? tkq_sub(t, tkq_const(t, 0), step) : step;
}

/* The range of the counter; FOR with a step of which it is known that it goes
 * towards the end. */
static void count(walk_frame *f, walk_loop *l) {
  tkq_terms *t = f->w->terms;
  const tk_stmt *st = l->st;
  tkq_value lo = f->slots[st->lb], hi = f->slots[st->ub];
  tkq_value step = f->slots[st->step];
  depend(f, tkq_join(f->w, lo.wraps, tkq_join(f->w, hi.wraps, step.wraps)));
  l->runs = tkq_maybe();
  if (lo.kind != TKQ_INT || hi.kind != TKQ_INT || step.kind != TKQ_INT ||
      tkq_low(t, stride_of(t, st, step.p)) < 1)
    return;
  l->counter = tkq_add(t, lo.p, tkq_mul(t, l->trip, step.p));
  if (!l->counter) return;
  l->runs =
      st->down ? tkq_lt(t, hi.p, l->counter) : tkq_lt(t, l->counter, hi.p);
}

static void set_counter(walk_frame *f, const walk_loop *l) {
  int iv = l->st->iv;
  const tk_type *type = &f->func->slots[iv].type;
  if (l->st->kind != TK_S_FOR) return;
  f->slots[iv] = l->counter
                     ? (tkq_value){.kind = TKQ_INT, .p = l->counter}
                     : tkq_unknown_value(f->w, type, "a counter of a loop");
}

/* Walks the body with the slots as they are at the head. */
static void walk_trip(walk_frame *f, const walk_loop *l) {
  tkq_walk *w = f->w;
  set_counter(f, l);
  w->path = tkq_and(w->terms, w->path, l->runs);
  if (l->st->kind == TK_S_WHILE) {
    walk_insts(f, &l->st->insts);
    tkq_value c = f->slots[l->st->cond];
    depend(f, c.wraps);
    if (c.kind == TKQ_BOOL) w->path = tkq_and(w->terms, w->path, c.f);
  }
  walk_body(f, &l->st->body);
}

/* The first walk: fills l->step. */
static void find_steps(walk_frame *f, walk_loop *l) {
  tkq_walk *w = f->w;
  const tkq_form *path = w->path;
  int mark[2] = {w->terms->data, w->loops};
  tkq_value *head = copy_slots(f);
  for (size_t i = 0; i < f->func->nslots; i++)
    if (l->set[i] && head[i].kind != TKQ_UNDEFINED)
      head[i] = forgotten(f, (int)i, head[i]);
  f->slots = head;
  head = copy_slots(f);
  w->dry++;
  walk_trip(f, l);
  w->dry--;
  for (size_t i = 0; i < f->func->nslots; i++)
    if (l->set[i]) l->step[i] = trip_step(f, head[i], f->slots[i], mark);
  w->path = path;
}

/* A slot after so many trips. */
static tkq_value after(walk_frame *f, const walk_loop *l, size_t i,
                       const tkq_poly *trips) {
  tkq_terms *t = f->w->terms;
  tkq_value v = l->first[i];
  if (!l->set[i] || v.kind == TKQ_UNDEFINED) return v;
  if (l->step[i] && trips) v.p = tkq_add(t, v.p, tkq_mul(t, trips, l->step[i]));
  return l->step[i] && trips && v.p ? v : forgotten(f, (int)i, l->first[i]);
}

/* How often it runs; NULL: unknown. */
static const tkq_poly *trips_of(walk_frame *f, const walk_loop *l) {
  tkq_terms *t = f->w->terms;
  if (l->st->kind != TK_S_FOR || !l->counter) return NULL;
  const tkq_poly *lo = l->first[l->st->lb].p, *hi = l->first[l->st->ub].p;
  const tkq_poly *step = stride_of(t, l->st, l->first[l->st->step].p);
  const tkq_poly *way = l->st->down ? tkq_sub(t, lo, hi) : tkq_sub(t, hi, lo);
  way = tkq_add(t, way, tkq_plus(t, step, -1));
  return tkq_max(t, tkq_const(t, 0), tkq_div(t, way, step));
}

static void walk_loop_of(walk_frame *f, const tk_stmt *st) {
  tkq_walk *w = f->w;
  walk_loop l = {.st = st, .set = set_in(f, st), .runs = tkq_true()};
  const tkq_form *path = w->path;
  tkq_atom trip = {.kind = TKQ_TRIP, .name = "trip"};
  l.step = TK_NEWN(walk_arena(f), const tkq_poly *, f->func->nslots + 1);
  trip.number = w->loops++;
  l.trip = tkq_atom_poly(w->terms, &trip);
  if (st->kind == TK_S_FOR) count(f, &l);
  l.first = copy_slots(f);
  find_steps(f, &l);
  for (size_t i = 0; i < f->func->nslots; i++)
    f->slots[i] = after(f, &l, i, l.trip);
  walk_trip(f, &l);
  const tkq_poly *trips = trips_of(f, &l);
  for (size_t i = 0; i < f->func->nslots; i++)
    f->slots[i] = after(f, &l, i, trips);
  l.counter = NULL;
  set_counter(f, &l);
  w->path = path;
  if (w->dry) return;
  bool counted = st->kind == TK_S_FOR && l.runs->kind != TKQ_MAYBE;
  if (!counted) w->inexact = true;
  if (!counted)
    TK_PUSH(walk_arena(f), &w->endless,
            ((tkq_gap){f->func, st->span, "its counter is not followed"}));
}

/* ---- accesses ------------------------------------------------------------ */

static void walk_access(walk_frame *f, const tk_inst *in) {
  tkq_walk *w = f->w;
  tkq_value p = f->slots[in->args[0]];
  int mask = tk_inst_mask(in);
  tkq_value m = {.kind = TKQ_BOOL, .f = tkq_true()};
  if (w->dry) return;
  if (mask >= 0) m = f->slots[in->args[mask]];
  tk_type type = in->from;
  tkq_access a = {.func = f->func,
                  .inst = in,
                  .writes = in->op != TK_I_LOAD,
                  .atomic = in->op == TK_I_ATOMIC || in->op == TK_I_CAS ||
                            tk_inst_is_atomic_load(in),
                  .known = p.kind == TKQ_POINTER,
                  .tensor = p.tensor,
                  .p = p.p,
                  .mask = m.kind == TKQ_BOOL ? m.f : tkq_maybe(),
                  .path = w->path,
                  .type = type,
                  .address = p.wraps,
                  .lanes = m.wraps,
                  .site = tkq_site_of(w, f->func, in->span)};
  TK_PUSH(walk_arena(f), &w->accesses, a);
}

static void note_claim(walk_frame *f, const tk_inst *in) {
  tkq_walk *w = f->w;
  tkq_value c = f->slots[in->args[0]];
  if (w->dry) return;
  tkq_claim x = {.func = f->func,
                 .inst = in,
                 .f = c.kind == TKQ_BOOL ? c.f : tkq_maybe(),
                 .path = w->path,
                 .type = in->from,
                 .wraps = c.wraps};
  TK_PUSH(walk_arena(f), &w->claims, x);
}

static void lose(walk_frame *f, tk_span span, const char *why) {
  f->w->lost = true;
  if (!f->w->dry)
    TK_PUSH(walk_arena(f), &f->w->endless,
            ((tkq_gap){tkq_site_of(f->w, f->func, span).func,
                       tkq_site_of(f->w, f->func, span).span, why}));
}

/* ---- calls --------------------------------------------------------------- */

/* What a function returns is known if it has one return. */
static void take_results(walk_frame *f, const tk_inst *in,
                         const walk_frame *callee) {
  for (int i = 0; i < in->nres; i++) {
    const tk_type *type = &f->func->slots[in->res[i]].type;
    bool one = callee->results && !callee->returns_twice;
    f->slots[in->res[i]] =
        one ? callee->results[i]
            : tkq_unknown_value(f->w, type, "what a function returns");
  }
}

static void walk_call(walk_frame *f, const tk_inst *in) {
  tkq_walk *w = f->w;
  const tk_func *g = tk_call_callee(in);
  walk_frame callee = {.w = w, .func = g};
  const tkq_form *path = w->path;
  callee.slots = TK_NEWN(walk_arena(f), tkq_value, g->nslots + 1);
  for (size_t i = 0; i < g->nparams && i < in->nargs; i++)
    callee.slots[g->params[i]] = f->slots[in->args[i]];
  tkq_site site = w->site;
  if (g->library) w->site = tkq_site_of(w, f->func, in->span);
  if (w->depth++ < MOST_DEPTH)
    walk_body(&callee, &g->body);
  else
    lose(f, in->span, "its calls are nested too deeply");
  w->depth--;
  w->site = site;
  w->path = path;
  take_results(f, in, &callee);
}

static bool may_store(const tk_inst *in) {
  return in->op == TK_I_ASM || in->op == TK_I_MAP_FN;
}

static void walk_inst(walk_frame *f, const tk_inst *in) {
  tkq_walk *w = f->w;
  if (in->op == TK_I_CALL) {
    walk_call(f, in);
    return;
  }
  if (in->op == TK_I_COND) {
    walk_either(f, f->slots[in->args[0]], &in->body[0], &in->body[1],
                walk_list);
    return;
  }
  if (tk_inst_accesses(in)) walk_access(f, in);
  if (in->op == TK_I_ASSERT) note_claim(f, in);
  if (may_store(in)) lose(f, in->span, "what it runs is not followed");
  tkq_value v = in->nres ? tkq_evaluate(w, f->func, in, f->slots)
                         : (tkq_value){.kind = TKQ_OTHER};
  for (int i = 0; i < in->nres; i++)
    f->slots[in->res[i]] =
        i ? tkq_unknown_value(w, &f->func->slots[in->res[i]].type,
                              "one of several results")
          : v;
}

static void walk_insts(walk_frame *f, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) walk_inst(f, l->items[i]);
}

/* ---- statements ---------------------------------------------------------- */

static void walk_return(walk_frame *f, const tk_stmt *st) {
  f->returns_twice = f->results != NULL;
  f->results = TK_NEWN(walk_arena(f), tkq_value, st->nresults + 1);
  for (size_t i = 0; i < st->nresults; i++)
    f->results[i] = f->slots[st->results[i]];
  f->w->path = tkq_false();
}

static void walk_stmt(walk_frame *f, const tk_stmt *st) {
  if (st->kind != TK_S_WHILE) walk_insts(f, &st->insts);
  switch (st->kind) {
  case TK_S_RUN: break;
  case TK_S_IF:
    walk_either(f, f->slots[st->cond], &st->body, &st->orelse, walk_part);
    break;
  case TK_S_FOR:
  case TK_S_WHILE: walk_loop_of(f, st); break;
  case TK_S_RETURN: walk_return(f, st); break;
  }
}

static void walk_body(walk_frame *f, const tk_body *b) {
  for (size_t i = 0; i < b->n && f->w->path->kind != TKQ_FALSE; i++)
    walk_stmt(f, b->items[i]);
}

void tkq_walk_program(tkq_walk *w) {
  const tk_func *k = w->program->kernel;
  walk_frame f = {.w = w, .func = k};
  f.slots = TK_NEWN(w->terms->arena, tkq_value, k->nslots + 1);
  for (size_t i = 0; i < k->nslots; i++) f.slots[i] = w->params[i];
  w->path = tkq_true();
  walk_body(&f, &k->body);
  for (size_t i = 0; i < w->terms->atoms.n; i++) {
    const tkq_atom *a = &w->terms->atoms.items[i];
    if (a->kind == TKQ_PID) w->asks[a->number] = true;
  }
}
