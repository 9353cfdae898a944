/* access_log.h - every access of a run, in the order in which they happened:
 * which elements of which tensor, by which program and line.
 *
 * What it gathers lies in the arena of its launch's answers.
 */
#ifndef TK_CHECK_ACCESS_LOG_H
#define TK_CHECK_ACCESS_LOG_H

#include "interp/interp.h"

typedef struct tkc_log_site {
  uint32_t id; /* tki_site */
  const tki_region *region;
  tk_access_site site;
} tkc_log_site;

typedef struct tkc_access_log {
  tk_arena *arena;
  TK_VEC(tkc_log_site) sites;
  TK_VEC(tk_logged_access) accesses;
  TK_VEC(int64_t) elements;
  bool cut;
} tkc_access_log;

/* Begins anew, in an arena that outlives the log. */
void tkc_access_log_begin(tkc_access_log *g, tk_arena *a);
/* Adds an access that happens. */
void tkc_access_log_add(tkc_access_log *g, tki *t, const tki_access *a);
/* The log as results have it, in the same arena. */
const tk_access_log *tkc_access_log_found(const tkc_access_log *g);

#endif
