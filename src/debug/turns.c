/* turns.c - which of the programs that are half done goes on.
 *
 * Each runs on a strand.  While none waits for another there is one strand,
 * which runs program after program, and those that the user left for another
 * program.  A program that only waits (interp/spin.h) gives way: then the
 * others have their turns as in a run without a debugger
 * (interp/schedule.c), so that what a launch does is the same under both.
 */
#include "debug/programs.h"

#include <string.h>

#include "debug/frames.h"
#include "debug/history.h"
#include "debug/memory.h"
#include "debug/stop.h"
#include "interp/grid.h"
#include "interp/schedule.h"

/* ---- strands ----------------------------------------------------------- */

static bool ran_ahead(const tkd *d, uint64_t index) {
  for (size_t i = 0; i < d->nahead; i++)
    if (d->ahead[i] == index) return true;
  return false;
}

bool tkd_is_done(tkd *d, uint64_t index) {
  uint64_t at;
  if (ran_ahead(d, index)) return true;
  for (uint64_t i = 0; i < d->next; i++)
    if (tki_program_at(d->t, i, &at) && at == index) return true;
  return false;
}

/* The next program in the order that has not begun. */
static bool next_index(tkd *d, uint64_t *index) {
  while (d->next < tki_programs(d->t)) {
    if (tki_program_at(d->t, d->next++, index) && !ran_ahead(d, *index))
      return true;
  }
  return false;
}

static void take_index(tkd_strand *s, uint64_t index) {
  s->task->index = index;
  s->task->own->loop = NULL;
  tki_pid_of(s->d->t, index, s->task->pid);
  memcpy(s->d->t->pid, s->task->pid, sizeof s->task->pid);
}

/* The next program begins here only when no other is half done. */
static void strand_main(tk_env *e, void *ud) {
  tkd_strand *s = ud;
  tkd *d = s->d;
  uint64_t index;
  bool more = true;
  while (more) {
    tki_program_run(d->t);
    if (e->interrupted && !d->detached) {
      e->interrupted = 0;
      tkd_ctrl_c(d);
    }
    if (e->interrupted) tk_throw(e, TK_INTERRUPTED);
    more = s->main && !d->strands->next && next_index(d, &index);
    if (more) take_index(s, index);
  }
}

static void strand_free(tkd *d, tkd_strand *s) {
  if (d->turn == s) d->turn = s->next;
  tki_task_free(s->task);
  tk_free(d->env, s, sizeof *s);
}

/* Becomes the one that runs; the one before goes on when it has ended. */
static void make_current(tkd *d, tkd_strand *s) {
  if (d->strand) d->strand->left = ++d->stamp;
  d->strand = s;
}

typedef struct making {
  tkd_strand *s;
  uint64_t index;
} making;

static void make_task(tk_env *e, void *ud) {
  making *m = ud;
  tki_task *k = m->s->task = tki_task_new(m->s->d->t, m->index);
  tki_fiber_free(k->fiber);
  k->fiber = NULL;
  k->fiber = tki_fiber_new(e, strand_main, m->s);
}

tkd_strand *tkd_strand_new(tkd *d, uint64_t index, bool main) {
  tkd_strand *s = tk_calloc(d->env, 1, sizeof *s), **at = &d->strands;
  making m = {s, index};
  s->d = d;
  s->main = main;
  tk_status st = tk_protect(d->env, make_task, &m);
  if (st != TK_OK) {
    strand_free(d, s);
    tk_throw(d->env, st);
  }
  while (*at) at = &(*at)->next;
  *at = s;
  make_current(d, s);
  return s;
}

void tkd_drop_strands(tkd *d) {
  while (d->strands) {
    tkd_strand *next = d->strands->next;
    strand_free(d, d->strands);
    d->strands = next;
  }
  d->strand = d->turn = NULL;
  d->frame = NULL;
  d->deadlocked = false;
}

tkd_strand *tkd_strand_of(const tkd *d, uint64_t index) {
  for (tkd_strand *s = d->strands; s; s = s->next)
    if (s->task->index == index) return s;
  return NULL;
}

bool tkd_is_blocked(const tkd_strand *s) {
  const tki_spin *own = s->task->own;
  return s->gives_way && own->waits && tki_spin_same(s->d->t, own);
}

static void note_ahead(tkd *d, uint64_t index) {
  if (d->nahead == d->cap_ahead) {
    size_t cap = d->cap_ahead ? d->cap_ahead * 2 : 16;
    d->ahead = tk_realloc(d->env, d->ahead, d->cap_ahead * sizeof *d->ahead,
                          cap * sizeof *d->ahead);
    d->cap_ahead = cap;
  }
  d->ahead[d->nahead++] = index;
}

void tkd_switch(tkd *d, uint64_t index) {
  tkd_strand *s = tkd_strand_of(d, index);
  if (s) {
    make_current(d, s);
    return;
  }
  note_ahead(d, index);
  tkd_strand_new(d, index, false);
}

/* ---- turns ------------------------------------------------------------- */

/* The one that the user left last and that can go on. */
static tkd_strand *left_last(tkd *d) {
  tkd_strand *found = NULL;
  for (tkd_strand *s = d->strands; s; s = s->next)
    if (!s->gives_way && (!found || s->left > found->left)) found = s;
  return found;
}

static void new_round(tkd *d) {
  d->turn = d->strands;
  d->any_turn = d->begun_one = false;
}

/* The next of this round, in the order in which they began. */
static tkd_strand *next_turn(tkd *d) {
  while (d->turn) {
    tkd_strand *s = d->turn;
    d->turn = s->next;
    if (!s->main && !tkd_is_blocked(s)) return s;
  }
  return NULL;
}

static tkd_strand *main_strand(const tkd *d) {
  tkd_strand *s = d->strands;
  while (s && !s->main) s = s->next;
  return s;
}

static tkd_strand *begin_next(tkd *d, bool main) {
  uint64_t index;
  return next_index(d, &index) ? tkd_strand_new(d, index, main) : NULL;
}

/* Behind a round: what a program on the stack of the run does there. */
static tkd_strand *behind_round(tkd *d, tkd_strand *m) {
  bool waits = m->task->own->waits, blocked = tkd_is_blocked(m);
  if (waits && !blocked && !d->begun_one) return m;
  if (!d->begun_one) {
    d->begun_one = true;
    tkd_strand *s = begin_next(d, false);
    if (s) return s;
  }
  return blocked ? NULL : m;
}

/* NULL: nobody can go on. */
static tkd_strand *pick(tkd *d) {
  tkd_strand *s = left_last(d), *m = main_strand(d);
  if (s) return s;
  for (;;) {
    s = next_turn(d);
    if (!s && m) s = behind_round(d, m);
    if (!s && !m) s = begin_next(d, true);
    if (s) break;
    if (!d->any_turn) return NULL;
    new_round(d);
  }
  d->any_turn = true;
  return s;
}

/* ---- deadlock ---------------------------------------------------------- */

static tkd_strand *first_blocked(tkd *d) {
  tkd_strand *s = d->strands;
  while (s && !tkd_is_blocked(s)) s = s->next;
  return s;
}

/* What the report is about are the tasks of the schedule: for its time they
 * are those of the strands. */
static void report_deadlock(tkd *d, const tkd_strand *only) {
  tki_schedule *s = d->t->schedule;
  tki_task **at = &s->tasks;
  for (tkd_strand *x = d->strands; x; x = x->next) {
    if (only && x != only) continue;
    *at = x->task;
    at = &x->task->next;
  }
  *at = NULL;
  d->before_deadlock = d->env->ndiags;
  tki_deadlock_report(s);
  s->tasks = NULL;
}

/* Everything stays as it is, to be looked at; whoever changes what they wait
 * for may go on. */
static void deadlock(tkd *d, tkd_strand *s, bool only) {
  report_deadlock(d, only ? s : NULL);
  d->strand = s;
  d->deadlocked = true;
  d->sub = TKD_LATE;
  d->stop = (tkd_stop){.reason = TK_STOP_FINDING};
  strcpy(d->stop.text, "deadlock");
}

static void end_deadlock(tkd *d) {
  d->status = TK_FINDING;
  tkd_drop_strands(d);
}

static void choose(tkd *d) {
  tkd_strand *s = pick(d);
  while (!s && d->strands && d->phase != TKD_RUNNING && d->deed < d->ndeeds &&
         d->deeds[d->deed].event == d->event) {
    tkd_redo_late(d);
    s = pick(d);
  }
  if (s)
    d->strand = s;
  else if (d->strands && d->detached)
    report_deadlock(d, NULL), end_deadlock(d);
  else if (d->strands)
    deadlock(d, first_blocked(d), false);
}

static void gave_way(tkd *d) {
  tkd_strand *s = d->strand;
  bool serial = d->t->schedule->mode == TKI_SERIAL;
  if (serial && s->task->own->waits) {
    deadlock(d, s, true);
    return;
  }
  if (serial) return;
  if (s->main) new_round(d);
  choose(d);
}

/* The strand that runs has come to its end. */
static void strand_ended(tkd *d) {
  tkd_strand *s = d->strand, **at = &d->strands;
  tk_status st = s->task->status;
  bool main = s->main;
  while (*at != s) at = &(*at)->next;
  *at = s->next;
  strand_free(d, s);
  d->strand = NULL;
  if (st != TK_OK) {
    d->status = st;
    tkd_drop_strands(d);
    return;
  }
  if (main) new_round(d);
  choose(d);
}

/* After a deadlock the user went on: for nothing, unless memory is not what
 * it was. */
static void after_deadlock(tkd *d) {
  d->deadlocked = false;
  new_round(d);
  tkd_strand *s = pick(d);
  if (!s) {
    end_deadlock(d);
    return;
  }
  tk_diag_truncate(d->env, d->before_deadlock);
  d->strand = s;
}

void tkd_run_on(tkd *d) {
  tki *t = d->t;
  d->stop = (tkd_stop){0};
  d->frame = NULL;
  if (d->deadlocked) after_deadlock(d);
  while (d->strand && d->stop.reason == TK_STOP_NONE) {
    d->strand->gives_way = false;
    bool alive = tki_task_resume(d->strand->task);
    if (!alive)
      strand_ended(d);
    else if (d->strand->gives_way)
      gave_way(d);
    if (d->strand) memcpy(t->pid, d->strand->task->pid, sizeof t->pid);
    if (alive && d->work) {
      void (*work)(tkd *) = d->work;
      d->work = NULL;
      work(d);
      if (!d->calls) tkd_temps_free(d);
    }
  }
  d->over = !d->strand;
  if (d->over)
    d->sub = 0;
  else
    tkd_select(d, 0);
}

/* On the strand of a program that waits. */
void tkd_waits(void *ud, tki *t) {
  tkd *d = ud;
  d->strand->gives_way = true;
  tki_task_pause(t);
}

/* The first program of a launch. */
void tkd_begin_programs(tkd *d) {
  new_round(d);
  begin_next(d, true);
}
