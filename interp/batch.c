/* batch.c - several programs of a launch at once; see batch.h. */
#include "interp/batch.h"

#include <stdio.h>

#include "interp/grid.h"
#include "interp/twin.h"
#include "ir/batch.h"
#include "ir/param.h"
#include "launch/areas.h"

/* Lanes of the largest value of a batch, so that what is at hand stays in a
 * core's own caches; programs of a batch; and programs of a launch below which
 * making the form costs more than it brings. */
enum { LANES = 16384, MOST = 256, LEAST = 4, FEW_PROGRAMS = 32 };

/* ---- whether they may run together --------------------------------------- */

static const tk_memory *memory_of(const tki *t, size_t param) {
  tk_param_value v = tk_param_of(t->launch, &t->program->params[param]);
  return v.tensor ? &t->regions[v.index] : NULL;
}

static bool overlap(const tk_memory *a, const tk_memory *b) {
  return a->host < b->host + (b->hi - b->lo) &&
         b->host < a->host + (a->hi - a->lo);
}

/* Whether what is stored through a parameter is neither read nor stored through
 * another one. */
static bool is_alone(const tki *t, const tk_varying *v, size_t stored) {
  const tk_memory *m = memory_of(t, stored);
  for (size_t i = 0; m && i < t->program->nparams; i++) {
    const tk_memory *other = NULL;
    bool read = v->loads >> i & 1, written = v->stores >> i & 1;
    if (read || (written && i != stored)) other = memory_of(t, i);
    if (other && overlap(m, other)) return false;
  }
  return m != NULL;
}

/* Whether no program sees what another one does, and their stores leave the
 * same whatever their order. */
static bool are_apart(const tki *t, const tk_varying *v) {
  if (!v->apart || v->many_stores) return false;
  for (size_t i = 0; i < t->program->nparams; i++) {
    bool used = (v->loads | v->stores) >> i & 1;
    if (used && !memory_of(t, i)) return false;
    if ((v->stores >> i & 1) && !is_alone(t, v, i)) return false;
  }
  return true;
}

/* ---- the form ------------------------------------------------------------ */

static const tk_varying *varying_along(tki *t, int axis) {
  tk_unit *u = t->launch->unit;
  if (u->varying[axis]) return u->varying[axis];
  tk_varying *v = TK_NEW(&u->program.arena, tk_varying);
  *v = tk_varying_of(&u->program.arena, t->program, axis);
  u->varying[axis] = v;
  return v;
}

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
    *b = (tk_batched){.next = u->batches, .axis = v->axis, .size = size};
    u->batches = b;
    tk_program_batch(t->env, &b->program, v, size);
    check_batch(&b->program);
  }
  b->settled = tki_settled_new(&b->program.arena, &b->program);
  return b;
}

static tki_op *code_of(tki *t, tk_batched *b) {
  tki_op **code = &b->code[t->device];
  if (!*code)
    *code = tki_bind(&b->program.arena, &b->program, b->settled, t->device);
  return *code;
}

/* ---- a launch ------------------------------------------------------------ */

typedef struct batches {
  tki *t;
  tki own; /* runs them */
  const tk_varying *v;
  int size;
  uint64_t along, at; /* programs along the axis; those that have run */
} batches;

static void open_batches(tk_env *e, void *ud) {
  batches *x = ud;
  tk_batched *b = batch_of(x->t, x->v, x->size);
  (void)e;
  x->own.code = code_of(x->t, b);
  x->own.program = &b->program;
  x->own.settled = b->settled;
  x->own.asserts = x->own.draft = true;
  tki_twin_open(&x->own);
}

static void run_at(tki *t, uint64_t at) {
  tki_pid_of(t, at, t->pid);
  tki_program_run(t);
}

/* Runs the programs of a row along the axis from the one at x->at on, and all
 * rows after it.  The last batch of a row begins earlier than the one before it
 * ends, as programs may run twice; a few are not worth one. */
static void run_rows(tk_env *e, void *ud) {
  batches *x = ud;
  uint64_t n = tki_programs(x->t), size = (uint64_t)x->size;
  tki_schedule *s = x->t->schedule;
  (void)e;
  while (x->at < n) {
    uint64_t left = x->along - x->at % x->along;
    uint64_t some = left < size ? left : size;
    if (s->progress) s->progress(s->progress_ud, x->at, n);
    if (some >= size / 2)
      run_at(&x->own, x->at + some - size);
    else
      for (uint64_t i = 0; i < some; i++) run_at(x->t, x->at + i);
    x->at += some;
  }
}

static bool is_serial(const tki *t, tki_mode mode) {
  uint64_t all =
      (uint64_t)t->grid[0] * (uint64_t)t->grid[1] * (uint64_t)t->grid[2];
  bool some = t->order.kind || t->order.first || t->order.n != all;
  for (int i = 0; i < 3; i++) some |= t->pids.axis[i].op != 0;
  return !some && mode == TKI_AUTO && !t->schedule->spins_possible;
}

/* The axis along which programs stand next to each other. */
static int axis_of(const tki *t) {
  return t->grid[0] > 1 ? 0 : t->grid[1] > 1 ? 1 : 2;
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

/* Returns how many programs have run. */
static uint64_t run_batches(tki *t) {
  batches x = {.t = t, .v = varying_along(t, axis_of(t))};
  tk_env *e = t->env;
  tk_unit *u = t->launch->unit;
  size_t diags = e->ndiags;
  x.size = size_of(t, x.v);
  if (!x.size || !are_apart(t, x.v)) return 0;
  x.along = (uint64_t)t->grid[x.v->axis];
  tki_twin_new(&x.own, t, e);
  tk_status st = tk_protect(e, open_batches, &x);
  u->diverges = st != TK_OK; /* what was made is not complete */
  if (st == TK_OK) st = tk_protect(e, run_rows, &x);
  t->ops += x.own.ops;
  tki_twin_free(&x.own);
  t->done = x.at;
  bool alone = t->frame != NULL; /* it failed in a program of its own */
  if (st == TK_INTERRUPTED || (st != TK_OK && alone)) tk_throw(e, st);
  if (st == TK_OK) return x.at;
  tk_diag_truncate(e, diags);
  u->diverges = true;
  return x.at;
}

void tki_batch_run(tki *t, tki_mode mode) {
  const tk_unit *u = t->launch->unit;
  bool together = !tki_is_watched(t) && is_serial(t, mode) && is_worth_it(t) &&
                  !u->diverges;
  tki_schedule_run_from(t, together ? run_batches(t) : 0);
}
