/* schedule.h - which program runs when: one policy for everybody.
 *
 * The schedule knows the programs that have begun and are not done, who
 * leads, who waits, and what is due next; it says who goes on
 * (tki_schedule_next) and is told who did (tki_schedule_begin,
 * tki_schedule_resume).  It never asks a user: the plain run, a debugger and
 * its side runs drive it, each in a loop of its own, and so run the
 * statements of all programs in the same order.
 *
 * The first program in the order that is not done leads.  While it runs,
 * nobody else does.  When it gives way, the others go on in rounds: each of
 * them that does not wait, in the order in which they began, until it gives
 * way itself; behind each round one more begins.  The one that leads goes on
 * behind a round, or as soon as what it waits for has changed.  When it is
 * done there is one more round, and the next program leads.  Under
 * `--schedule yield` many begin before the first round.  When everybody
 * waits, that is a deadlock.  A launch in which nobody waits makes no task.
 */
#ifndef TK_INTERP_SCHEDULE_H
#define TK_INTERP_SCHEDULE_H

#include "interp/describe.h"
#include "interp/spin.h"

typedef enum tki_mode {
  TKI_AUTO,   /* give way when waiting */
  TKI_SERIAL, /* never give way: who waits, waits for ever */
  TKI_YIELD   /* give way after each atomic operation too, and after each
               * trip of a while loop that reads */
} tki_mode;

/* Who wrote each four bytes of a region last, for regions that are small
 * enough to be full of flags and locks. */
typedef struct tki_writers {
  uint32_t *program, *site; /* program + 1 (0: nobody), instruction's id */
  size_t n;
} tki_writers;

/* What is done to find out who goes on. */
typedef enum tki_phase {
  TKI_IN_ORDER, /* nobody leads: the next program in the order begins */
  TKI_LEADS,    /* the program that leads has run */
  TKI_SPREADS,  /* YIELD: others begin, until many have */
  TKI_IN_ROUND, /* those that began go on, one after the other */
  TKI_ONE_MORE, /* behind a round another program begins */
  TKI_BEHIND    /* and then the one that leads may go on */
} tki_phase;

struct tki_schedule {
  tki *t;
  tki_mode mode;
  tki_phase phase;
  uint64_t at;     /* place in t->order of the next program to begin */
  uint64_t *ahead; /* indices of programs that began out of order, by hand */
  size_t nahead, cap_ahead;
  tki_task *tasks;   /* that began and are not done, in that order; owned */
  tki_task **last;   /* where the next one to begin is put */
  tki_task *lead;    /* one of them, or NULL */
  tki_task *next;    /* whose slot in the round it is; NULL: the round ends */
  bool any;          /* somebody went on since the round began */
  size_t spread;     /* SPREADS: how many have begun */
  uint64_t stamp;    /* of tki_task.left */
  size_t nleft;      /* tasks that were left by hand */
  tki_task on_stack; /* the one that leads, on the stack of the run */
  tki_spin main;     /* ... what it does in loops */
  tki_spins spins;
  bool spins_possible;  /* the kernel has a while loop that reads */
  tki_writers *writers; /* by region; NULL unless spins_possible */
  void (*progress)(void *ud, uint64_t done, uint64_t total);
  void *progress_ud;
};

/* False after a report: mode is none that is known. */
bool tki_mode_parse(tk_env *e, const char *text, tki_mode *out);
void tki_schedule_new(tki *t, tki_mode mode);
void tki_schedule_free(tki *t);

/* ---- who goes on -------------------------------------------------------- */

typedef enum tki_step_kind {
  TKI_BEGIN,   /* the program `index` begins */
  TKI_RESUME,  /* the task goes on */
  TKI_STUCK,   /* nobody can go on; SERIAL: the task cannot */
  TKI_FINISHED /* every program is done */
} tki_step_kind;

typedef struct tki_step {
  tki_step_kind kind;
  tki_task *task;
  uint64_t index;
} tki_step;

/* What is to be done once the program that ran has given way or is done.
 * The answer is the same until it has been done, or memory has changed. */
tki_step tki_schedule_next(tki_schedule *s);
/* A BEGIN is carried out: the task, which has not run yet. */
tki_task *tki_schedule_begin(tki_schedule *s, const tki_step *x);
/* Runs a task until it gives way, is paused by an observer (true) or is done:
 * then it is freed, and its status given. */
bool tki_schedule_resume(tki_schedule *s, tki_task *k, tk_status *status);
/* Whether a task waits for what is still as it was. */
bool tki_schedule_is_blocked(const tki_task *k);
/* The one that stands for a deadlock: the first that waits. */
tki_task *tki_schedule_blocked(const tki_schedule *s);

/* A user goes on with another program now, wherever it was, or begins it out
 * of order; `from` goes on when that one has given way or is done. */
tki_task *tki_schedule_take_up(tki_schedule *s, tki_task *from, uint64_t index);
tki_task *tki_schedule_task(const tki_schedule *s,
                            uint64_t index); /* or NULL */
/* Whether a program has begun, by its index in the grid. */
bool tki_schedule_has_begun(tki_schedule *s, uint64_t index);

/* Drops the programs that have begun: the next one is at that place of the
 * order, and only the first nahead of those that began out of order did. */
void tki_schedule_restart(tki_schedule *s, uint64_t place, size_t nahead);
void tki_schedule_reset(tki *t);

/* ---- the plain run ------------------------------------------------------ */

/* Runs every program of the grid once, or those from a place of the order. */
void tki_schedule_run(tki *t);
void tki_schedule_run_from(tki *t, uint64_t place);

/* ---- called while programs run ------------------------------------------ */

void tki_schedule_access(tki_schedule *s, const tki_access *a);
/* Before a statement, since t->yields: the program gives way. */
void tki_schedule_yield(tki *t);
/* After how many trips to look whether a while loop waits. */
uint64_t tki_schedule_trips(const tki *t);
void tki_schedule_look(tki *t, tki_loop *loop);
/* The loop that was looked at has ended. */
void tki_schedule_left(tki *t, const tki_loop *loop);
/* On the fiber of a task whose program is done: true if another program
 * begins now, which runs on there. */
bool tki_schedule_goes_on(tki_task *k);

/* deadlock.c: reports who waits for what; only: that one alone, or NULL. */
void tki_deadlock_report(tki_schedule *s, const tki_task *only);
/* ... and ends the run. */
void tki_deadlock(tki_schedule *s, const tki_task *only) TK_NORETURN;

#endif
