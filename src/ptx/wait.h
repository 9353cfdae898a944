/* wait.h - programs that wait for each other, and launches that never end. */
#ifndef TK_PTX_WAIT_H
#define TK_PTX_WAIT_H

#include "ptx/exec.h"

/* What all programs were at some moment, to know it again. */
typedef struct tkp_moment {
  size_t nlive;   /* 0: there was none */
  uint64_t ended; /* programs */
  uint64_t changes, polls, clocks;
  uint64_t hash;
  uint64_t age, most; /* in looks: so old it is, so old it may become */
} tkp_moment;

/* The programs of a launch that have begun and not ended. */
typedef struct tkp_crowd {
  tkp_machine *m;
  tkp_block *const *live;
  size_t n;
  uint64_t begun, ended, total;
} tkp_crowd;

/* Looks at the programs after each of them has run for a while, and throws
 * TK_FINDING if none of them can ever end: what they do depends on their state
 * and on memory alone, and both are what they were before. */
void tkp_look_for_end(tkp_moment *then, const tkp_crowd *now);

/* Keeps in mind who changes global memory if the kernel has an instruction that
 * polls; tkp_note_change is called for each change of a->size bytes at a->addr,
 * in the range that w->range is. */
void tkp_watch_changes(tkp_machine *m);
void tkp_note_change(const tkp_warp *w, const tkp_access *a);
void tkp_free_writers(tkp_machine *m);

#endif
