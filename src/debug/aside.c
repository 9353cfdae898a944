/* aside.c - programs run aside, for a look.
 *
 * Memory is taken back to the beginning of a program, without forgetting how
 * it came to be what it is; the programs from there on run on a schedule,
 * a pool and under an observer of their own; then every byte is put back.
 * The user's programs stay paused where they are all the while, so there is
 * no place to come back to.
 */
#include "debug/aside.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/raise.h"
#include "debug/stop.h"
#include "interp/grid.h"
#include "interp/schedule.h"

/* ---- places ------------------------------------------------------------ */

static tkd_position position_of(const tki_frame *f) {
  tkd_position s = {.func = f->func, .stmt = f->stmt};
  for (const tki_loop *l = f->loops; l && s.loops < TKD_LOOPS; l = l->outer)
    s.trips[s.loops++] = l->trip;
  return s;
}

tkd_place tkd_place_of(const tki_frame *f) {
  tkd_place p = {.n = 0};
  for (; f && p.n < TKD_LEVELS; f = tkd_user_frame(f->caller))
    p.positions[p.n++] = position_of(f);
  return p;
}

tkd_position *tkd_innermost_loop(tkd_place *p) {
  for (int i = 0; i < p->n; i++)
    if (p->positions[i].loops) return &p->positions[i];
  return NULL;
}

static bool is_at_position(const tkd_position *want, const tki_frame *f) {
  if (f->func != want->func || f->stmt != want->stmt) return false;
  int k = 0;
  for (const tki_loop *l = f->loops; l && k < TKD_LOOPS; l = l->outer, k++)
    if (k >= want->loops || l->trip != want->trips[k]) return false;
  return k == want->loops;
}

bool tkd_is_there(const tkd_place *p, const tki_frame *f) {
  int i = 0;
  for (; f && i < p->n; f = tkd_user_frame(f->caller))
    if (!is_at_position(&p->positions[i++], f)) return false;
  return !f && i == p->n;
}

/* ---- where it begins --------------------------------------------------- */

static uint64_t place_of(const tkd *d, uint64_t program) {
  uint64_t index;
  for (uint64_t i = 0; i < tki_programs(d->t); i++)
    if (tki_program_at(d->t, i, &index) && index == program) return i;
  return 0;
}

/* The last checkpoint that is not behind a program.  One at which programs had
 * run out of turn does not say which are to come. */
static const tkd_checkpoint *checkpoint_for(tkd *d, uint64_t program) {
  const tkd_checkpoint *found = &d->time.checkpoints[0];
  if (program == TKD_ALL_PROGRAMS) return found;
  uint64_t place = place_of(d, program);
  for (size_t i = 0; i < d->time.ncheckpoints; i++)
    if (d->time.checkpoints[i].next <= place + 1 &&
        !d->time.checkpoints[i].ahead)
      found = &d->time.checkpoints[i];
  return found;
}

static const tkd_checkpoint *begin_at(tkd *d, uint64_t program) {
  tkd_need_history(d);
  const tkd_checkpoint *b = checkpoint_for(d, program);
  if (b->ahead) tkd_raise(d, OUT_OF_ORDER);
  return b;
}

/* ---- running ----------------------------------------------------------- */

typedef struct aside {
  tkd *d;
  tkd_aside *x;
  struct tkd_journal *undo;
  tki_observer observer; /* notes what is overwritten, and the time */
  tkd_clock clock;
  uint64_t from, limit;
} aside;

/* What the programs overwrite is bounded as a history is. */
static void aside_access(void *ud, tki *t, const tki_access *a) {
  aside *s = ud;
  if (!a->write) return;
  tkd_journal_access(s->undo, a);
  if (tkd_journal_at(s->undo) <= s->limit) return;
  s->x->full = true;
  tk_throw(t->env, TK_INTERRUPTED);
}

static void aside_statement(void *ud, tki *t, const tk_stmt *st) {
  aside *s = ud;
  tkd *d = s->d;
  (void)st;
  if (TK_LIKELY(t->events != s->clock.due)) return;
  d->at.aside = t->events;
  if (tkd_clock_tells(&s->clock, t->events))
    d->front.progressed(d->front.ud, d);
  d->at.aside = 0;
  t->wanted_event = s->clock.due;
}

/* Those of the run aside, behind the one that needs writes alone. */
static void put_observers(tki *t, aside *s) {
  tki_unwatch(t);
  for (tki_observer *o = s->x->observer, *next; o; o = next) {
    next = o->next;
    tki_observe(t, o);
  }
  s->observer.next = t->observers;
  t->observers = &s->observer;
  t->wants_writes = true;
}

static void run_body(tk_env *e, void *ud) {
  aside *s = ud;
  tki *t = s->d->t;
  (void)e;
  put_observers(t, s);
  tki_schedule_new(t, s->d->programs.schedule->mode);
  tki_schedule_run_from(t, s->from);
}

/* What of the interpreter belongs to the programs that run. */
static void set_aside(tki *t, aside *s) {
  t->events = 0;
  t->event = &t->events;
  s->clock = tkd_clock_from(s->d, 0);
  t->wanted_event = s->clock.due;
  t->driver = NULL;
  t->schedule = NULL;
  t->spin = NULL;
  t->yields = false;
  t->task = NULL;
  t->frame = NULL;
  t->jump = NULL;
  t->leave = false;
  t->pool = tki_pool_empty();
  memset(t->slots, 0, (t->nslots + 1) * sizeof *t->slots);
}

/* Fields that were found out on the way stay, the others return. */
static void set_back(tki *t, const tki *kept) {
  tki now = *t;
  tki_schedule_free(t);
  tki_pool_free(t);
  memset(t->slots, 0, (t->nslots + 1) * sizeof *t->slots);
  *t = *kept;
  t->sites = now.sites;
  t->plain = now.plain;
  t->measured = now.measured;
  t->printed = now.printed;
  t->blas_opened = now.blas_opened;
  t->sgemm = now.sgemm;
  t->dgemm = now.dgemm;
}

static void note_finding(tk_env *e, size_t diags, tkd_aside *x) {
  bool stopped = x->status != TK_OK && x->status != TK_INTERRUPTED;
  if (stopped)
    x->why =
        e->last_diag ? tk_finding_kind_name(e->last_diag->f.kind) : "an error";
  if (e->ndiags > diags) tk_diag_truncate(e, diags);
  e->interrupted = 0;
}

void tkd_run_aside(tkd *d, tkd_aside *x) {
  tki *t = d->t, kept = *t;
  uint64_t written = tkd_journal_at(d->time.journal);
  TK_ASSERT(!t->task && t->schedule == d->programs.schedule);
  size_t diags = d->env->ndiags;
  bool muted = d->course.muted;
  const tkd_checkpoint *b = begin_at(d, x->program);
  aside s = {.d = d, .x = x, .from = b->next - 1};
  s.observer = (tki_observer){
      .ud = &s, .stmt = aside_statement, .access = aside_access, .rows = true};
  s.undo = tkd_journal_new(d->env);
  TK_ASSERT(s.from < tki_programs(t));
  x->from = s.from;
  d->env->deaf++;
  tkd_journal_rewind(d->time.journal, b->journal, s.undo);
  s.limit = tkd_journal_at(s.undo) + d->time.limit;
  d->course.muted = true;
  set_aside(t, &s);
  x->status = tk_protect(d->env, run_body, &s);
  set_back(t, &kept);
  d->course.muted = muted;
  tkd_journal_undo(s.undo, 0);
  tkd_journal_free(s.undo);
  TK_ASSERT(tkd_journal_at(d->time.journal) == written);
  TK_ASSERT(t->schedule == d->programs.schedule &&
            t->observers == kept.observers);
  (void)written;
  note_finding(d->env, diags, x);
  d->env->deaf--;
}

tk_debug_aside tkd_describe_aside(tkd *d, const tkd_aside *x) {
  bool failed = x->status != TK_OK && x->status != TK_INTERRUPTED;
  return (tk_debug_aside){
      .left_out = x->from,
      .by_hand = tkd_changed_by_hand(d),
      .out_of_turn = d->programs.schedule->nahead > 0,
      .full = x->full,
      .interrupted = !x->full && x->status == TK_INTERRUPTED,
      .ended = failed ? tk_arena_strdup(&d->answers.arena, x->why) : NULL};
}

/* ---- memory alone ------------------------------------------------------ */

typedef struct peeking {
  void (*fn)(void *ud);
  void *ud;
} peeking;

static void peek_body(tk_env *e, void *ud) {
  peeking *p = ud;
  (void)e;
  p->fn(p->ud);
}

uint64_t tkd_with_first_memory(tkd *d, void (*fn)(void *ud), void *ud) {
  peeking p = {fn, ud};
  tkd_need_history(d);
  uint64_t from = d->time.checkpoints[0].next - 1;
  struct tkd_journal *undo = tkd_journal_new(d->env);
  d->env->deaf++;
  tkd_journal_rewind(d->time.journal, d->time.checkpoints[0].journal, undo);
  tk_status st = tk_protect(d->env, peek_body, &p);
  tkd_journal_undo(undo, 0);
  tkd_journal_free(undo);
  d->env->deaf--;
  if (st != TK_OK) tk_throw(d->env, st);
  return from;
}
