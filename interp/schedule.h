/* schedule.h - which program runs when: one policy for every driver.
 *
 * The schedule knows the programs that have begun and are not done, who
 * leads, and who waits.  It says who goes on (tki_schedule_next), and whoever
 * drives it reports who did (tki_schedule_begin, tki_schedule_resume).  The
 * plain run, a debugger and its side runs drive it, each in a loop of its own,
 * and so run the statements of all programs in the same order.
 *
 * The first program in the order that is not done leads.  While it runs,
 * no other does.  When it gives way, the others go on in rounds: each of
 * them that does not wait, in the order in which they began, until it gives
 * way itself; after each round one more begins.  The one that leads goes on
 * after a round, or as soon as what it waits for has changed.  When it is
 * done there is one more round, and the next program leads.  Under
 * `--schedule yield` many begin before the first round.  When all of them
 * wait, that is a deadlock.  A launch in which none waits makes no task.
 */
#ifndef TK_INTERP_SCHEDULE_H
#define TK_INTERP_SCHEDULE_H

#include "interp/describe.h"
#include "interp/spin.h"

typedef enum tki_mode {
  TKI_AUTO,   /* a program gives way when it waits */
  TKI_SERIAL, /* it never gives way: who waits, waits for ever */
  TKI_YIELD   /* it gives way after each atomic operation too, and after each
               * trip of a while loop that reads */
} tki_mode;

/* Who changed four bytes last. */
typedef struct tki_writer {
  uint32_t program, site; /* program + 1 (0: none), instruction's id */
} tki_writer;

/* The same of each four bytes of a region, for regions that are small enough to
 * be full of flags and locks; and who had before the last one did, another
 * program. */
typedef struct tki_writers {
  tki_writer *last, *before;
  size_t n;
} tki_writers;

/* How far the schedule is in finding out who goes on. */
typedef enum tki_phase {
  TKI_IN_ORDER, /* none leads: the next program in the order begins */
  TKI_LEADS,    /* the program that leads has run */
  TKI_SPREADS,  /* YIELD: others begin, until many have */
  TKI_IN_ROUND, /* those that began go on, one after the other */
  TKI_ONE_MORE, /* after a round another program begins */
  TKI_BEHIND    /* and then the one that leads may go on */
} tki_phase;

struct tki_schedule {
  tki *t;
  tki_mode mode;
  tki_phase phase;
  uint64_t at;     /* position in t->order of the next program to begin */
  uint64_t *ahead; /* indices of programs that a user began out of order */
  size_t nahead, cap_ahead;
  tki_task *tasks;   /* owned: begun and not done, in the order of beginning */
  tki_task **last;   /* where the next one to begin is put */
  tki_task *lead;    /* the one of them that leads, or NULL */
  tki_task *next;    /* whose slot in the round it is; NULL: the round ends */
  bool any;          /* a program went on since the round began */
  size_t spread;     /* SPREADS: how many have begun */
  uint64_t stamp;    /* the newest tki_task.left */
  size_t nleft;      /* how many tasks a user has left */
  tki_task on_stack; /* the one that leads, on the stack of the run */
  tki_spin main;     /* what that one does in loops */
  tki_spins spins;
  bool spins_possible;  /* the kernel has a while loop that reads */
  tki_writers *writers; /* by region; NULL if no program gives way */
  void (*progress)(void *ud, uint64_t done, uint64_t total);
  void *progress_ud;
};

/* Returns false after reporting if no schedule has this name. */
bool tki_mode_parse(tk_env *e, const char *text, tki_mode *out);
/* Whether a while loop reads memory, so that it may wait for another program;
 * *at is then where the first one is. */
bool tki_schedule_waits_at(const tk_program *p, tk_at *at);
void tki_schedule_new(tki *t, tki_mode mode);
void tki_schedule_free(tki *t);

/* ---- who goes on -------------------------------------------------------- */

typedef enum tki_step_kind {
  TKI_BEGIN,   /* the program `index` begins */
  TKI_RESUME,  /* the task goes on */
  TKI_STUCK,   /* no program can go on; SERIAL: the task cannot */
  TKI_FINISHED /* every program is done */
} tki_step_kind;

typedef struct tki_step {
  tki_step_kind kind;
  tki_task *task;
  uint64_t index;
} tki_step;

/* Returns what is to be done now that the program that ran has given way or is
 * done.  The answer is the same until it has been carried out, or memory has
 * changed. */
tki_step tki_schedule_next(tki_schedule *s);
/* Carries out a BEGIN: makes the task, which has not run yet. */
tki_task *tki_schedule_begin(tki_schedule *s, const tki_step *x);
/* Runs a task until it gives way, is paused by an observer (true) or is done:
 * then it is freed, and its status given. */
bool tki_schedule_resume(tki_schedule *s, tki_task *k, tk_status *status);
/* Whether a task waits, and what it waits for has not changed. */
bool tki_schedule_is_blocked(const tki_task *k);
/* The first task that waits, where a deadlock is shown. */
tki_task *tki_schedule_blocked(const tki_schedule *s);

/* A user goes on with another program now, wherever it is, or begins it out
 * of order; `from` goes on when that one has given way or is done. */
tki_task *tki_schedule_take_up(tki_schedule *s, tki_task *from, uint64_t index);
/* The task of a program; NULL: it has not begun, or it is done. */
tki_task *tki_schedule_task(const tki_schedule *s, uint64_t index);
/* Whether a program has begun, by its index in the grid. */
bool tki_schedule_has_begun(tki_schedule *s, uint64_t index);

/* Drops the programs that have begun: the next one to begin is at that place
 * of the order, and only the first nahead of those that began out of order
 * still count as begun. */
void tki_schedule_restart(tki_schedule *s, uint64_t place, size_t nahead);
void tki_schedule_reset(tki *t);

/* ---- the plain run ------------------------------------------------------ */

/* Runs every program of the grid once, or those from a place of the order. */
void tki_schedule_run(tki *t);
void tki_schedule_run_from(tki *t, uint64_t place);

/* ---- called while programs run ------------------------------------------ */

void tki_schedule_access(tki_schedule *s, const tki_access *a);
/* Called before a statement when t->yields is set: the program gives way. */
void tki_schedule_yield(tki *t);
/* After how many trips a while loop is checked for waiting. */
uint64_t tki_schedule_trips(const tki *t);
void tki_schedule_look(tki *t, tki_loop *loop);
/* The loop that was looked at has ended. */
void tki_schedule_left(tki *t, const tki_loop *loop);
/* Called on the fiber of a task whose program is done.  Returns true if
 * another program begins now, which runs on the same fiber. */
bool tki_schedule_goes_on(tki_task *k);

/* deadlock.c: reports who waits for what, of all tasks or, if `only` is not
 * NULL, of that one. */
void tki_deadlock_report(tki_schedule *s, const tki_task *only);
/* The same, and ends the run. */
void tki_deadlock(tki_schedule *s, const tki_task *only) TK_NORETURN;

#endif
