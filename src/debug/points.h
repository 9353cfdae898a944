/* points.h - breakpoints, logpoints, watchpoints and catchpoints.
 *
 * A point belongs to the engine, in the list of all points; its texts belong
 * to the
 * point. */
#ifndef TK_DEBUG_POINTS_H
#define TK_DEBUG_POINTS_H

#include "debug/debug.h"
#include "debug/watch.h"

/* What a catchpoint waits for. */
typedef enum tkd_caught {
#define CATCH(id, name, usage, conditional) TKD_CATCH_##id,
#include "debug/catch.def"
#undef CATCH
  TKD_CAUGHT,
} tkd_caught;

struct tkd_point {
  struct tkd_point *next;
  int number;
  tk_point_kind kind;
  bool enabled, once, pending;
  bool resolved;          /* it was in some launch */
  char *where;            /* as typed: location, expression, what is caught */
  char *file;             /* that a LINE is of; NULL: the kernel's */
  const tk_program *form; /* NULL, or of the form that has it ... */
  size_t wanted;          /* the statement that it is at, or that calls */
  char *cond;             /* or NULL */
  char *format;           /* of a logpoint */
  char *programs;         /* conditions; NULL: all programs */
  tk_pids pids;           /* ... as they are tested */
  uint64_t hits, ignore, hit_at;
  tkd_caught caught;
  const char *callee; /* RETURN: of this function, inside `where`; NULL: any */
  bool asks;
  tkd_watch watch;
  int line;         /* where it is, once found; the first of several places */
  int program_line; /* that this was made of, where that was asked for, or 0 */
  size_t statement;
  const char *func;
};

/* A statement with a breakpoint: an entry of the engine's hash table. */
struct tkd_site {
  const tk_stmt *stmt; /* NULL: free */
  tkd_point *point;
  tki_eval *cond;
  bool bad; /* cond cannot be evaluated there */
};

/* Sets a point; fails, and sets none, when its place is nowhere in the launch
 * that runs or its condition can be evaluated nowhere there. */
tkd_point *tkd_point_add(tkd *d, const tk_point_spec *spec);
void tkd_point_take_back(tkd *d); /* the one that was set last */
tkd_point *tkd_point_numbered(tkd *d, int number); /* fails */
/* NULL: none did, or it was deleted since. */
tkd_point *tkd_point_that_stopped(const tkd *d);
void tkd_point_drop(tkd *d, tkd_point *p);
void tkd_point_enable(tkd *d, tkd_point *p, bool enabled);
/* NULL: none.  Fails, and leaves the one before. */
void tkd_point_condition(tkd *d, tkd_point *p, const char *cond);
/* The point that stopped it here, and more breakpoints that were hit. */
bool tkd_point_was_hit(const tkd *d, const tkd_point *p);
/* Removes points that stop only once and have done so. */
void tkd_points_drop_used(tkd *d);
void tkd_points_free(tkd *d);

/* Finds all of them again, in the launch that runs. */
void tkd_points_resolve(tkd *d);
void tkd_sites_clear(tkd *d);
/* Stops there as well, once. */
void tkd_set_temp(tkd *d, const char *where);
void tkd_drop_temp(tkd *d);
/* The catchpoint that stops where t->frame is about to return; NULL: none. */
tkd_point *tkd_catch_for_return(tkd *d);
/* Whether one stops at a statement of the table (may pause). */
bool tkd_points_hit(tkd *d, const tk_stmt *st);

/* Where a statement is, or would be, in the table. */
static inline size_t tkd_site_at(const tkd *d, const tk_stmt *st) {
  return (size_t)(((uintptr_t)st >> 4) * 0x9E3779B97F4A7C15u >> 20) &
         (d->points.cap_sites - 1);
}
static inline bool tkd_is_site(const tkd *d, const tk_stmt *st) {
  if (!d->points.nsites) return false;
  size_t i = tkd_site_at(d, st);
  while (d->points.sites[i].stmt && d->points.sites[i].stmt != st)
    i = (i + 1) & (d->points.cap_sites - 1);
  return d->points.sites[i].stmt == st;
}

#endif
