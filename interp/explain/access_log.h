/* access_log.h - every access of a run, in the order in which they happened:
 * which elements of which tensor, by which program and on which line.
 *
 * The log lies in the arena of the launch's answers.
 */
#ifndef TK_EXPLAIN_ACCESS_LOG_H
#define TK_EXPLAIN_ACCESS_LOG_H

#include "interp/interp.h"

typedef struct tke_log_site {
  uint32_t id; /* tki_site */
  const tki_region *region;
  tk_access_site site;
} tke_log_site;

typedef struct tke_access_log {
  tk_arena *arena;
  TK_VEC(tke_log_site) sites;
  TK_VEC(tk_logged_access) accesses;
  TK_VEC(int64_t) elements;
  bool cut; /* it has become too long, and does not go on */
} tke_access_log;

/* Begins an empty log, in an arena that outlives it. */
void tke_access_log_begin(tke_access_log *g, tk_arena *a);
/* Adds an access as it happens. */
void tke_access_log_add(tke_access_log *g, tki *t, const tki_access *a);
/* The log as tkdbg/results.h declares it, in the same arena. */
const tk_access_log *tke_access_log_found(const tke_access_log *g);

#endif
