/* points.c - breakpoints and their kind: the list, where they stand, and
 * whether one is hit.
 *
 * The statements at which points stand are in a hash table that the hooks
 * look
 * into. */
#include "debug/points.h"

#include <string.h>

#include "debug/condition.h"
#include "debug/format.h"
#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/stop.h"
#include "debug/value.h"

/* ---- the table --------------------------------------------------------- */

static void grow_sites(tkd *d) {
  tkd_site *old = d->points.sites;
  size_t cap = d->points.cap_sites, n = cap ? cap * 2 : 64;
  d->points.sites = tk_calloc(d->env, n, sizeof *d->points.sites);
  d->points.cap_sites = n;
  for (size_t k = 0; k < cap; k++) {
    if (!old[k].stmt) continue;
    size_t i = tkd_site_at(d, old[k].stmt);
    while (d->points.sites[i].stmt) i = (i + 1) & (n - 1);
    d->points.sites[i] = old[k];
  }
  tk_free(d->env, old, cap * sizeof *old);
}

static void add_site(tkd *d, tkd_point *p, const tk_stmt *st) {
  if (d->points.nsites * 2 >= d->points.cap_sites) grow_sites(d);
  size_t i = tkd_site_at(d, st);
  while (d->points.sites[i].stmt) i = (i + 1) & (d->points.cap_sites - 1);
  d->points.sites[i] = (tkd_site){.stmt = st, .point = p};
  TK_ASSERT(d->points.nsites < d->points.cap_sites);
  tki_mark_stmt(d->t, st);
  d->points.nsites++;
}

void tkd_sites_clear(tkd *d) {
  for (size_t i = 0; i < d->points.cap_sites; i++)
    tki_eval_free(d->points.sites[i].cond);
  if (d->t) tki_unmark_stmts(d->t);
  tk_free(d->env, d->points.sites,
          d->points.cap_sites * sizeof *d->points.sites);
  d->points.sites = NULL;
  d->points.nsites = d->points.cap_sites = 0;
}

/* Notes a catchpoint where it is looked for: most kinds wait for something that
 * is not a statement. */
static void resolve_catch(tkd *d, tkd_point *p) {
  switch (p->caught) {
  case TKD_CATCH_LAUNCH: d->points.catch_launch = p; break;
  case TKD_CATCH_END: d->points.catch_end = p; break;
  case TKD_CATCH_PROGRAM: d->points.catch_program = p; break;
  case TKD_CATCH_RETURN:
  case TKD_CATCH_EXIT: d->points.has_catch_return = true; break;
  default: break;
  }
}

/* Finds where a point stands in the launch that runs. */
static void resolve_point(tkd *d, tkd_point *p) {
  if (!p->enabled) return;
  if (p->kind == TK_POINT_CATCH) resolve_catch(d, p);
  if (p->kind == TK_POINT_WATCH) {
    d->points.has_watch = true;
    d->points.has_memory_watch |= p->watch.memory;
  }
  if (!d->t || p->kind == TK_POINT_WATCH) return;
  bool found = tkd_find_statements(d, p, add_site) > 0;
  p->pending = !found && p->kind != TK_POINT_CATCH;
  p->resolved |= !p->pending;
}

void tkd_points_resolve(tkd *d) {
  tkd_sites_clear(d);
  d->points.catch_launch = d->points.catch_program = NULL;
  d->points.catch_end = NULL;
  d->points.has_watch = d->points.has_memory_watch = false;
  d->points.has_catch_return = false;
  for (tkd_point *p = d->points.first; p; p = p->next) resolve_point(d, p);
  if (d->points.temp && d->t) tkd_find_statements(d, d->points.temp, add_site);
  tkd_arm(d);
}

/* ---- hits -------------------------------------------------------------- */

/* Tells the front end of a logpoint; runs on the main stack. */
static void tell_log(tkd *d) {
  const tkd_point *p = d->points.work_site->point;
  tk_log log = {.point = p->number, .format = p->format};
  tkd_select(d, 0);
  if (d->front.logged) d->front.logged(d->front.ud, d, &log);
  d->at.frame = NULL;
}

/* True: it is a reason to stop. */
static bool site_hit(tkd *d, tkd_site *s) {
  tkd_point *p = s->point;
  bool searching = d->course.phase == TKD_SEARCHING;
  if (p == d->points.temp) return true;
  if (p->programs && !tk_pids_match(&p->pids, d->t->pid)) return false;
  p->hit_at = 0;
  if (!tkd_site_condition(d, s)) return false;
  if (!tkd_front_agrees_here(d, p)) return false;
  if (!searching) {
    p->hits++;
    if (p->ignore) {
      p->ignore--;
      return false;
    }
  }
  p->hit_at = d->at.event;
  if (p->kind != TK_POINT_LOG) return true;
  d->points.work_site = s;
  if (!searching) tkd_on_main(d, tell_log);
  return false;
}

/* Tests all points of a statement, as each counts its hits; the first that
 * stops is the one that the stop names. */
bool tkd_points_hit(tkd *d, const tk_stmt *st) {
  const tkd_point *first = NULL;
  TK_ASSERT(tkd_is_site(d, st));
  size_t i = tkd_site_at(d, st);
  for (; d->points.sites[i].stmt; i = (i + 1) & (d->points.cap_sites - 1)) {
    tkd_site *s = &d->points.sites[i];
    if (s->stmt != st || !site_hit(d, s)) continue;
    if (!first || first == d->points.temp) first = s->point;
  }
  if (!first) return false;
  if (first == d->points.temp)
    tkd_stop_here(d, TK_STOP_PLACE, NULL, "");
  else if (first->kind == TK_POINT_CATCH)
    tkd_stop_here(d, TK_STOP_CATCH, first, "");
  else
    tkd_stop_here(d, TK_STOP_BREAKPOINT, first, "");
  return true;
}

static bool returns_here(const tkd *d, const tkd_point *p) {
  const tki_frame *f = d->t->frame, *caller = tkd_user_frame(f->caller);
  if (p->caught == TKD_CATCH_EXIT) return !f->caller;
  if (p->caught != TKD_CATCH_RETURN || !f->caller) return false;
  if (p->callee) return !strcmp(f->func->name, p->callee);
  return !p->form || (p->form == d->t->program && caller && caller->stmt &&
                      caller->stmt->id == p->wanted);
}

tkd_point *tkd_catch_for_return(tkd *d) {
  if (!d->points.has_catch_return) return NULL;
  for (tkd_point *p = d->points.first; p; p = p->next) {
    if (p->kind != TK_POINT_CATCH || !p->enabled || !returns_here(d, p))
      continue;
    if (p->programs && !tk_pids_match(&p->pids, d->t->pid)) continue;
    return p;
  }
  return NULL;
}

bool tkd_point_was_hit(const tkd *d, const tkd_point *p) {
  if (p->number && p->number == d->at.stop.point) return true;
  if (tkd_watch_was_hit(d, p)) return true;
  return d->at.stop.reason == TK_STOP_BREAKPOINT && p->kind == TK_POINT_BREAK &&
         p->enabled && p->hit_at == d->at.event;
}

/* ---- the list ---------------------------------------------------------- */

static void free_point(tkd *d, tkd_point *p) {
  tk_text_free(d->env, p->where);
  tk_text_free(d->env, p->file);
  tk_text_free(d->env, p->cond);
  tk_text_free(d->env, p->format);
  tk_text_free(d->env, p->programs);
  tkd_watch_free(d, &p->watch);
  tk_free(d->env, p, sizeof *p);
}

static void append_point(tkd *d, tkd_point *p) {
  tkd_point **at = &d->points.first;
  while (*at) at = &(*at)->next;
  TK_ASSERT(!p->number && !p->next);
  p->number = ++d->points.last_number;
  *at = p;
}

typedef struct catch_kind {
  const char *name, *usage;
  bool conditional;
} catch_kind;

static const catch_kind catch_kinds[] = {
#define CATCH(id, name, usage, conditional) {name, usage, conditional},
#include "debug/catch.def"
#undef CATCH
};

static tkd_caught what_is_caught(tkd *d, const char *name) {
  for (size_t i = 0; i < TKD_CAUGHT; i++)
    if (!strcmp(catch_kinds[i].name, name)) return (tkd_caught)i;
  if (!strncmp(name, "return ", 7)) return TKD_CATCH_RETURN;
  tk_buf *usage = tk_temp_buf(&d->mem);
  for (size_t i = 0; i < TKD_CAUGHT; i++)
    tk_buf_printf(usage, "%s%s", i ? "|" : "", catch_kinds[i].usage);
  tkd_raise_about(d, tk_buf_str(usage), NO_CATCH);
}

/* Names in words a statement or bytes that were given as numbers. */
static const char *place_in_words(tkd *d, const tk_point_spec *s) {
  tk_arena *a = &d->mem.arena;
  if (!d->t) tkd_raise(d, NO_LAUNCH);
  if (s->kind != TK_POINT_WATCH) {
    const tk_func *f;
    if (!tkd_stmt_numbered(d->t->program, *s->statement, &f))
      tkd_raise(d, NO_SUCH_STATEMENT, *s->statement);
    return tk_arena_printf(a, "statement %zu", *s->statement);
  }
  const tki_region *r = tki_region_at(d->t, s->address, s->size);
  if (!r) tkd_raise(d, NO_TENSOR_AT, (unsigned long long)s->address);
  uint64_t from = s->address - r->lo;
  return tk_arena_printf(a, "bytes %llu to %llu of %s",
                         (unsigned long long)from,
                         (unsigned long long)(from + s->size - 1), r->name);
}

/* The function that "return FUNCTION" names; NULL: any. */
static char *callee_in(tkd *d, const tkd_point *p) {
  size_t n = strcspn(p->where, " ");
  char *name = p->where + n + strspn(p->where + n, " ");
  if (p->caught != TKD_CATCH_RETURN || !*name) return NULL;
  if (d->t && !d->front.script) tkd_need_function(d, name);
  return name;
}

/* Parses what can be parsed without a place; raises where it is wrong. */
static tk_pids check_spec(tkd *d, const tk_point_spec *s) {
  tk_pids pids = {0};
  if (s->condition) tkd_check_syntax(d, "condition", s->condition);
  if (s->kind == TK_POINT_LOG) tkd_check_format(d, s->format);
  if (s->programs &&
      !tk_pids_parse(d->env, s->programs, strlen(s->programs), &pids))
    tk_throw(d->env, TK_USAGE);
  return pids;
}

/* Makes a point as it is specified, without finding its place in the launch;
 * later: its place may be in a kernel that comes later. */
static tkd_point *new_point(tkd *d, const tk_point_spec *s, bool later) {
  size_t mark = d->mem.nheld;
  bool placed = s->kind == TK_POINT_BREAK || s->kind == TK_POINT_LOG;
  bool numbered = !s->where || (s->kind == TK_POINT_CATCH && s->statement);
  const char *where = s->where ? s->where : place_in_words(d, s), *file = NULL;
  tk_pids pids = check_spec(d, s);
  tkd_caught caught =
      s->kind == TK_POINT_CATCH ? what_is_caught(d, where) : TKD_CAUGHT;
  if (placed && !numbered) where = tkd_location(d, where, later, &file);
  tkd_point *p = tk_held_new(&d->mem, sizeof *p);
  p->where = tk_held_text(&d->mem, where);
  p->file = tk_held_text(&d->mem, file);
  p->cond = tk_held_text(&d->mem, s->condition);
  p->format = tk_held_text(&d->mem, s->format);
  p->programs = tk_held_text(&d->mem, s->programs);
  p->kind = s->kind;
  p->caught = caught;
  p->callee = callee_in(d, p);
  tk_held_keep(&d->mem, mark);
  p->pids = pids;
  p->asks = s->asks;
  if (numbered && s->kind == TK_POINT_WATCH) {
    p->watch.lo = s->address;
    p->watch.bytes = s->size;
  } else if (numbered) {
    p->form = d->t->program;
    p->wanted = *s->statement;
  }
  p->statement = TK_DEBUG_NO_STATEMENT;
  p->enabled = !s->disabled;
  p->once = s->once;
  p->ignore = s->ignore;
  p->watch.reads = s->reads;
  p->watch.writes = s->writes || !s->reads;
  return p;
}

typedef struct placing {
  tkd *d;
  tkd_point *p;
} placing;

static void place_point(tk_env *e, void *ud) {
  placing *x = ud;
  (void)e;
  if (x->p->kind == TK_POINT_WATCH) tkd_watch_begin(x->d, x->p);
  if (x->p->kind != TK_POINT_WATCH) tkd_points_resolve(x->d);
  tkd_need_condition(x->d, x->p);
  if (x->p->kind == TK_POINT_WATCH) tkd_points_resolve(x->d);
}

tkd_point *tkd_point_add(tkd *d, const tk_point_spec *spec) {
  tkd_point *p = new_point(d, spec, true);
  append_point(d, p);
  placing x = {d, p};
  tk_status st = tk_protect(d->env, place_point, &x);
  if (st == TK_OK) return p;
  tkd_point_take_back(d);
  tk_throw(d->env, st);
}

void tkd_point_take_back(tkd *d) {
  tkd_point_drop(d, tkd_point_numbered(d, d->points.last_number));
  d->points.last_number--;
}

static tkd_point *find_numbered(const tkd *d, int number) {
  for (tkd_point *p = d->points.first; p; p = p->next)
    if (p->number == number) return p;
  return NULL;
}

tkd_point *tkd_point_that_stopped(const tkd *d) {
  return find_numbered(d, d->at.stop.point);
}

tkd_point *tkd_point_numbered(tkd *d, int number) {
  tkd_point *p = find_numbered(d, number);
  if (p) return p;
  if (!d->points.first) tkd_raise(d, NO_POINTS, number);
  tkd_raise(d, NO_POINT, number);
}

void tkd_point_drop(tkd *d, tkd_point *p) {
  tkd_point **at = &d->points.first;
  while (*at != p) at = &(*at)->next;
  *at = p->next;
  free_point(d, p);
  tkd_points_resolve(d);
}

void tkd_points_drop_used(tkd *d) {
  for (tkd_point *p = d->points.first, *next; p && d->at.stop.point; p = next) {
    next = p->next;
    if (p->once && tkd_point_was_hit(d, p)) tkd_point_drop(d, p);
  }
}

void tkd_points_free(tkd *d) {
  while (d->points.first) {
    tkd_point *p = d->points.first;
    d->points.first = p->next;
    free_point(d, p);
  }
  if (d->points.temp) free_point(d, d->points.temp);
  d->points.temp = NULL;
}

void tkd_point_enable(tkd *d, tkd_point *p, bool enabled) {
  p->enabled = enabled;
  if (enabled) p->watch.known = false;
  if (enabled && p->kind == TK_POINT_WATCH && d->at.frame)
    tkd_watches_refresh(d);
}

static void need_condition(tk_env *e, void *ud) {
  placing *x = ud;
  (void)e;
  tkd_points_resolve(x->d);
  tkd_need_condition(x->d, x->p);
}

void tkd_point_condition(tkd *d, tkd_point *p, const char *cond) {
  if (p->kind == TK_POINT_CATCH && !catch_kinds[p->caught].conditional)
    tkd_raise(d, NO_CONDITION, p->number);
  if (cond) tkd_check_syntax(d, "condition", cond);
  char *old = p->cond;
  p->cond = cond ? tk_text_new(d->env, cond) : NULL;
  placing x = {d, p};
  tk_status st = tk_protect(d->env, need_condition, &x);
  if (st != TK_OK) {
    tk_text_free(d->env, p->cond);
    p->cond = old;
    tkd_points_resolve(d);
    tk_throw(d->env, st);
  }
  tk_text_free(d->env, old);
}

/* ---- a place to stop at once ------------------------------------------- */

void tkd_drop_temp(tkd *d) {
  if (!d->points.temp) return;
  tkd_point *p = d->points.temp;
  d->points.temp = NULL;
  free_point(d, p);
  tkd_points_resolve(d);
}

void tkd_set_temp(tkd *d, const char *where) {
  tk_point_spec spec = {.kind = TK_POINT_BREAK, .where = where};
  tkd_point *p = new_point(d, &spec, false);
  tkd_drop_temp(d);
  d->points.temp = p;
  tkd_points_resolve(d);
}
