/* programs.h - programs that are half done, each on a fiber of its own, and
 * which of them goes on (turns.c).  A strand belongs to the engine.
 */
#ifndef TK_DEBUG_PROGRAMS_H
#define TK_DEBUG_PROGRAMS_H

#include "debug/debug.h"

/* A program on a fiber; a strand that is not the main one runs just one. */
struct tkd_strand {
  struct tkd_strand *next; /* that began later */
  tki_task *task;
  tkd *d;
  bool main;
  bool gives_way; /* to others, since it waits for them */
  uint64_t left;  /* counts when the user left it for another program */
};

/* Runs the program that is current until something stops it. */
void tkd_run_on(tkd *d);
void tkd_begin_programs(tkd *d);
void tkd_drop_strands(tkd *d);
tkd_strand *tkd_strand_new(tkd *d, uint64_t index, bool main);
/* Makes a program current; begins it if it has not begun. */
void tkd_switch(tkd *d, uint64_t index);
bool tkd_is_done(tkd *d, uint64_t index);
/* NULL: it is not half done. */
tkd_strand *tkd_strand_of(const tkd *d, uint64_t index);
/* It waits for another program, and what it waits for is as it was. */
bool tkd_is_blocked(const tkd_strand *s);
void tkd_waits(void *ud, tki *t); /* of the driver */

#endif
