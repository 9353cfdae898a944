/* schedule.h - which program runs when.
 *
 * Programs run one after the other on the stack of the run.  One that only
 * waits for another (spin.h) gives way: the others run as tasks, each on a
 * fiber, until what it waits for changes.  When every program waits, that is
 * a deadlock.  A launch in which nobody waits makes no task.
 */
#ifndef TK_INTERP_SCHEDULE_H
#define TK_INTERP_SCHEDULE_H

#include "interp/place.h"
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

struct tki_schedule {
  tki *t;
  tki_mode mode;
  uint64_t at;             /* programs begun or left out, in t->order */
  tki_spin main;           /* of the program on the stack of the run */
  tki_task *tasks, **last; /* that began and are not done */
  tki_spins spins;
  bool spins_possible;  /* the kernel has a while loop that reads */
  bool due;             /* YIELD: the program gives way at the next statement */
  tki_observer turns;   /* ... and this sees to it */
  tki_writers *writers; /* by region; NULL unless spins_possible */
  void (*progress)(void *ud, uint64_t done, uint64_t total);
  void *progress_ud;
};

/* False after a report: mode is none that is known. */
bool tki_mode_parse(tk_env *e, const char *text, tki_mode *out);
void tki_schedule_new(tki *t, tki_mode mode);
void tki_schedule_free(tki *t);
/* Runs every program of the grid once. */
void tki_schedule_run(tki *t);
void tki_schedule_run_from(tki *t, uint64_t place); /* of the order, on */
/* Drops the programs that wait, after a run that did not end well. */
void tki_schedule_reset(tki *t);

/* ---- called while programs run ----------------------------------------- */

void tki_schedule_access(tki_schedule *s, const tki_access *a);
/* After how many trips to look whether a while loop waits. */
uint64_t tki_schedule_patience(const tki *t);
void tki_schedule_look(tki *t, tki_loop *loop);
/* The loop that was looked at has ended. */
void tki_schedule_left(tki *t, const tki_loop *loop);

/* deadlock.c: reports who waits for what. */
void tki_deadlock_report(tki_schedule *s);
/* ... and ends the run. */
void tki_deadlock(tki_schedule *s) TK_NORETURN;

#endif
