/* batch.c - several programs of a launch at once; see batch.h. */
#include "interp/batch.h"

#include <stdio.h>

#include "interp/grid.h"
#include "interp/schedule.h"
#include "interp/twin.h"
#include "ir/batch.h"

/* Lanes of the largest value of a batch, so that what is at hand stays in a
 * core's own caches; programs of a batch; and programs of a launch below which
 * making the form costs more than it brings. */
enum { LANES = 16384, MOST = 256, LEAST = 4, FEW_PROGRAMS = 32 };

/* ---- the form ------------------------------------------------------------ */

/* A form that was made obeys the rules. */
static void check_batch(const tk_program *p) {
#ifdef TK_ASSERTS
  tk_arena keep;
  tk_flaw flaw;
  tk_arena_init(&keep, p->arena.env);
  bool holds = tk_program_verify(p, &keep, &flaw);
  if (!holds)
    fprintf(stderr, "%s: %s\n", flaw.func ? flaw.func->name : "?", flaw.text);
  tk_arena_free(&keep);
  TK_ASSERT(holds);
#else
  (void)p;
#endif
}

/* The form for `size` programs along v's axis, made when it is first needed. */
static tk_batched *batch_of(tki *t, const tk_varying *v, int size) {
  tk_unit *u = t->launch->unit;
  tk_batched *b = u->batches;
  while (b && (b->axis != v->axis || b->size != size)) b = b->next;
  if (b && b->settled) return b;
  if (!b) {
    b = TK_NEW(&u->program.arena, tk_batched);
    *b = (tk_batched){.next = u->batches,
                      .axis = v->axis,
                      .size = size,
                      .many_stores = v->many_stores,
                      .atomics = v->atomics};
    u->batches = b;
    tk_program_batch(t->env, &b->program, v, size);
    check_batch(&b->program);
  }
  b->settled = tki_settled_new(&b->program.arena, &b->program);
  return b;
}

typedef struct making {
  tki *t;
  const tk_varying *v;
  int size;
  const tk_batched *made;
} making;

static void make_form(tk_env *e, void *ud) {
  making *m = ud;
  (void)e;
  tk_batched *b = batch_of(m->t, m->v, m->size);
  tki_op **code = &b->code[m->t->device];
  if (!*code)
    *code = tki_bind(&b->program.arena, &b->program, b->settled, m->t->device);
  m->made = b;
}

/* How many programs a batch has: a power of two; 0: they are not worth it. */
static int size_of(const tki *t, const tk_varying *v) {
  int size = 1;
  while (2 * size <= MOST && 2 * size * v->largest <= LANES &&
         2 * size <= t->grid[v->axis])
    size *= 2;
  return size >= (t->batched ? 2 : LEAST) ? size : 0;
}

static bool is_worth_it(const tki *t) {
  return tki_programs(t) >= (t->batched ? 2 : FEW_PROGRAMS);
}

const tk_batched *tki_batch_form(tki *t, const tk_varying *v) {
  tk_unit *u = t->launch->unit;
  making m = {.t = t, .v = v, .size = size_of(t, v)};
  size_t diags = t->env->ndiags;
  if (u->diverges || !v->joins || !m.size || !is_worth_it(t)) return NULL;
  if (v->many_stores & v->fixed_stores) return NULL; /* whose are they? */
  if (v->many_stores && v->atomics) return NULL;     /* may have to run again */
  tk_status st = tk_protect(t->env, make_form, &m);
  if (st == TK_OK) return m.made;
  u->diverges = true; /* what was made is not complete */
  if (st == TK_INTERRUPTED) tk_throw(t->env, st);
  tk_diag_truncate(t->env, diags);
  return NULL;
}

/* ---- ranges of programs -------------------------------------------------- */

void tki_batch_begin(tki_batch *x, tki *t, const tk_batched *form) {
  *x = (tki_batch){.t = t, .form = form};
}

void tki_batch_end(tki_batch *x) {
  if (!x->open) return;
  x->t->ops += x->own.ops;
  tki_twin_free(&x->own);
  tki_reach_free(&x->reach, x->t->env);
  x->open = false;
}

static void open_twin(tki_batch *x) {
  tki_twin_new(&x->own, x->t, x->t->env);
  x->open = true;
  x->own.code = x->form->code[x->t->device];
  x->own.program = &x->form->program;
  x->own.settled = x->form->settled;
  x->own.asserts = x->own.draft = true;
  if (x->form->many_stores) {
    tki_reach_open(&x->reach, x->t, x->form->many_stores,
                   (size_t)x->form->size);
    x->own.reach = &x->reach;
  }
  tki_twin_open(&x->own);
}

static void run_at(tki *t, uint64_t at) {
  tki_pid_of(t, at, t->pid);
  tki_program_run(t);
}

/* Returns whether the batch has left what its programs leave one by one. */
static bool run_batch(tki_batch *x, uint64_t first) {
  if (x->own.reach) tki_reach_clear(x->own.reach);
  run_at(&x->own, first);
  return !x->own.reach || tki_reach_apart(x->own.reach);
}

/* Runs some neighbours.  Fewer than a batch are the end of one that begins
 * earlier, if programs may run twice, but not before the first of a range: they
 * may be those of another thread.  A few are not worth one. */
static void run_neighbours(tki_batch *x, uint64_t first, uint64_t n) {
  uint64_t size = (uint64_t)x->form->size, end = x->at + n;
  bool again = !x->form->atomics && end - first >= size;
  bool together = n >= size || (again && n >= size / 2);
  if (together) {
    x->failed = !run_batch(x, end - size);
    if (x->failed) return;
    x->t->done += n;
    x->at = end;
  } else {
    for (; x->at < end; x->at++) run_at(x->t, x->at);
  }
}

typedef struct range {
  tki_batch *x;
  uint64_t to;
} range;

static void run_rows(tk_env *e, void *ud) {
  range *r = ud;
  tki_batch *x = r->x;
  uint64_t along = (uint64_t)x->t->grid[x->form->axis];
  uint64_t size = (uint64_t)x->form->size, first = x->at;
  tki_schedule *s = x->t->schedule;
  uint64_t n = tki_programs(x->t);
  (void)e;
  if (!x->open) open_twin(x);
  while (x->at < r->to && !x->failed) {
    uint64_t row = x->at - x->at % along, end = row + along;
    if (row > first) first = row;
    if (end > r->to) end = r->to;
    if (s->progress) s->progress(s->progress_ud, x->at, n);
    run_neighbours(x, first, end - x->at < size ? end - x->at : size);
  }
}

/* Returns false if a batch failed: the programs from x->at on are to run one by
 * one. */
static bool run_together(tki_batch *x, uint64_t to) {
  tk_env *e = x->t->env;
  size_t diags = e->ndiags;
  range r = {x, to};
  tk_status st = tk_protect(e, run_rows, &r);
  if (st == TK_OK) return !x->failed;
  bool alone = x->t->frame != NULL; /* it failed in a program of its own */
  if (st == TK_INTERRUPTED || alone) tk_throw(e, st);
  tk_diag_truncate(e, diags);
  x->failed = true;
  return false;
}

void tki_batch_run(tki_batch *x, uint64_t from, uint64_t to) {
  tki_schedule *s = x->t->schedule;
  x->at = from;
  if (x->form && !x->failed && run_together(x, to)) return;
  for (; x->at < to; x->at++) {
    if (s->progress) s->progress(s->progress_ud, x->at, tki_programs(x->t));
    if (x->t->env->interrupted) tki_interrupted(x->t);
    run_at(x->t, x->at);
  }
}
