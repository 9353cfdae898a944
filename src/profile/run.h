/* run.h - one run, counted by frame and instruction as an observer of it.
 *
 * All of it lies in an arena that is freed when another run
 * begins. */
#ifndef TK_PROFILE_RUN_H
#define TK_PROFILE_RUN_H

#include "interp/interp.h"

/* What an instruction did in a frame. */
typedef struct tkf_counts {
  const tk_inst *in;  /* NULL: it never began */
  bool access, block; /* it is a memory access; it makes a block */
  uint64_t calls, ticks;
  uint64_t active; /* lanes of an access */
  uint64_t known, rows;
} tkf_counts;

/* A function, as called by an instruction of another one. */
typedef struct tkf_node {
  /* the next callee of the same caller; its own first callee */
  struct tkf_node *next, *first;
  struct tkf_node *caller; /* NULL: it is the kernel's */
  const tk_func *func;
  const tk_inst *call;
  uint64_t calls;
  uint32_t id;        /* of its first instruction */
  tkf_counts *counts; /* by number, from there on */
  size_t ncounts;
} tkf_node;

typedef struct tkf_run {
  tki_observer observer;
  tki *t; /* NULL: none is watched */
  tk_arena arena;
  tkf_node *kernel; /* NULL: no program has begun */
  uint64_t programs;
  double seconds;       /* of the clock, when it began */
  uint64_t ticks, last; /* the same; when something last began or ended */
  tkf_counts *open;     /* what began then */
  uint64_t least;       /* ticks of an interval that a pause may be part of */
  double wall, own;     /* of the two clocks, when that was last looked at */
  double paused;        /* ticks of operations during which the thread slept */
  /* Of an access that began: */
  size_t active;
  bool rows;
} tkf_run;

/* Attaches it to a run that is about to start; least: what tkf_least_pause
 * gave. */
void tkf_run_begin(tkf_run *r, tki *t, uint64_t least);

/* A clock that is almost free to read, and one that is accurate. */
uint64_t tkf_ticks(void);
/* Ticks that reading the clock adds to an instruction. */
uint64_t tkf_timer_ticks(void);
/* Ticks from which on a pause of the thread is noticed; UINT64_MAX where the
 * system counts the thread's time too roughly for that. */
uint64_t tkf_least_pause(uint64_t timer);

#endif
