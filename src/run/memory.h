/* memory.h - the memory of a launch as it is at a moment, to be put back.
 *
 * What is kept lies in an arena of the caller's.
 */
#ifndef TK_RUN_MEMORY_H
#define TK_RUN_MEMORY_H

#include "launch/session.h"

/* One storage that the launch may write. */
typedef struct tkr_kept {
  char *at, *before;
  size_t n;
} tkr_kept;

typedef TK_VEC(tkr_kept) tkr_memory;

tk_status tkr_memory_keep(tkr_memory *m, const tk_launch *l, tk_arena *a);
void tkr_memory_put_back(const tkr_memory *m);
bool tkr_memory_is_as_kept(const tkr_memory *m);

#endif
