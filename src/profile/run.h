/* run.h - one run, counted by frame and instruction as an observer of it.
 *
 * All of it lies in an arena that is freed when another run begins.
 */
#ifndef TK_PROFILE_RUN_H
#define TK_PROFILE_RUN_H

#include "interp/interp.h"

/* What an instruction did in a frame. */
typedef struct tkp_counts {
  const tk_inst *in;  /* NULL: it never began */
  bool access, block; /* it is a memory access; it makes a block */
  uint64_t calls, ticks;
  uint64_t active; /* lanes of an access */
  uint64_t known, rows;
} tkp_counts;

/* A function, as called by an instruction of another one. */
typedef struct tkp_node {
  struct tkp_node *next, *first; /* the next callee of its caller; its own */
  struct tkp_node *caller;       /* NULL: it is the kernel's */
  const tk_func *func;
  const tk_inst *call;
  uint64_t calls;
  uint32_t id;        /* of its first instruction */
  tkp_counts *counts; /* by number, from there on */
  size_t ncounts;
} tkp_node;

typedef struct tkp_run {
  tki_observer observer;
  tki *t; /* NULL: none is watched */
  tk_arena arena;
  tkp_node *kernel; /* NULL: no program has begun */
  uint64_t programs;
  double seconds;       /* of the clock, when it began */
  uint64_t ticks, last; /* the same; when something last began or ended */
  tkp_counts *open;     /* what began then */
  uint64_t least;       /* ticks of an interval that a pause may be part of */
  double wall, own;     /* of the two clocks, when that was last looked at */
  double paused;        /* ticks of operations during which the thread slept */
  /* Of an access that began: */
  size_t active;
  bool rows;
} tkp_run;

/* Attaches it to a run that is about to start; least: what tkp_least_pause
 * gave. */
void tkp_run_begin(tkp_run *r, tki *t, uint64_t least);

/* A clock that costs next to nothing to read, and one that is right. */
uint64_t tkp_ticks(void);
/* Ticks that an instruction seems to take because the clock is read. */
uint64_t tkp_timer_ticks(void);
/* Ticks from which on a pause of the thread is noticed; UINT64_MAX where the
 * system counts the thread's time too roughly for that. */
uint64_t tkp_least_pause(uint64_t timer);

#endif
