/* watch.c - watchpoints.
 *
 * A variable is looked at before each statement of its function: when the
 * bytes of the variable have changed, the expression watched is evaluated,
 * on the main stack, and compared with what is kept.  Memory is watched by
 * the accesses: one that touches it is looked into before the statement that
 * follows.  All that are due at a statement are judged together, so that a
 * statement that changes two of them is one stop.
 */
#include "debug/watch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "debug/condition.h"
#include "debug/frames.h"
#include "debug/raise.h"
#include "debug/points.h"
#include "debug/programs.h"
#include "debug/stop.h"
#include "debug/value.h"
#include "interp/check/undefined.h"

static void drop_parts(tkd *d, tkd_watch *w) {
  for (size_t i = 0; i < w->nnow; i++) tkd_drop_value(d, &w->now[i]);
  tk_free(d->env, w->now, w->nnow * sizeof *w->now);
  w->now = NULL;
  w->nnow = 0;
}

static void keep_parts(tkd *d, tkd_watch *w, const tkd_values *v) {
  if (w->nnow != v->n) {
    drop_parts(d, w);
    w->now = tk_calloc(d->env, v->n, sizeof *w->now);
    w->nnow = v->n;
  }
  for (size_t i = 0; i < v->n; i++) tkd_keep_value(d, &w->now[i], &v->items[i]);
  w->known = true;
}

void tkd_watch_free(tkd *d, tkd_watch *w) {
  tk_text_free(d->env, w->func_name);
  tk_text_free(d->env, w->base);
  tk_text_free(d->env, w->about);
  drop_parts(d, w);
  tkd_drop_value(d, &w->was);
  tkd_drop_value(d, &w->became);
  tk_free(d->env, w->raw, w->raw_n);
  tk_free(d->env, w->slots, w->cap_slots * sizeof *w->slots);
}

/* ---- expressions ------------------------------------------------------- */

/* Those parts of a value that the program computes, with what they are called
 * after its name. */
static tkd_values watched_parts(tkd *d, tkd_values v) {
  const char *path = "";
  size_t n = 0;
  for (size_t i = 0; i < v.n; i++) {
    tkd_value part = v.items[i];
    if (part.path) path = part.path;
    part.path = path;
    if (part.item) {
      tk_buf *b = tk_temp_buf(&d->mem);
      tk_buf_printf(b, "%s%s", path, part.item);
      part.path = tk_buf_str(b);
    }
    if (part.bytes) v.items[n++] = part;
  }
  v.n = n;
  return v;
}

typedef struct watched {
  tkd *d;
  const tkd_point *p;
  const tki_frame *f;
  tkd_values v;
} watched;

static void watched_body(tk_env *e, void *ud) {
  watched *x = ud;
  (void)e;
  x->v = watched_parts(x->d, tkd_evaluate(x->d, x->f, x->p->where, NULL));
}

/* The parts of what is watched in a call; none: it has no value there. */
static tkd_values watched_value(tkd *d, const tkd_point *p,
                                const tki_frame *f) {
  watched x = {.d = d, .p = p, .f = f};
  size_t diags = d->env->ndiags;
  if (tk_protect(d->env, watched_body, &x) != TK_OK) {
    tk_diag_truncate(d->env, diags);
    x.v.n = 0;
  }
  return x.v;
}

/* ---- variables --------------------------------------------------------- */

static int base_slot(const tki_frame *f, const char *name) {
  int slots[1];
  return tki_eval_slots(f, name, slots, 1) ? slots[0] : -1;
}

/* The slots of the variable go to w->slots; returns how many they are. */
static size_t slots_of_base(tkd *d, tkd_watch *w, const tki_frame *f) {
  size_t n;
  while ((n = tki_eval_slots(f, w->base, w->slots, w->cap_slots)) ==
         w->cap_slots)
    w->slots = tk_array_grow(d->env, w->slots, sizeof *w->slots, &w->cap_slots);
  return n;
}

static size_t slot_bytes(const tki_frame *f, int slot) {
  const tk_type *type = &f->func->slots[slot].type;
  return (size_t)tk_numel(type) * tk_lane_size(type);
}

static void keep_raw(tkd *d, tkd_watch *w, const tki_frame *f, size_t n) {
  size_t total = 0;
  for (size_t i = 0; i < n; i++) total += slot_bytes(f, w->slots[i]);
  w->raw = tk_realloc(d->env, w->raw, w->raw_n, total);
  w->raw_n = total;
  char *at = w->raw;
  for (size_t i = 0; i < n; i++) {
    size_t size = slot_bytes(f, w->slots[i]);
    memcpy(at, tki_lanes(&f->slots[w->slots[i]]), size);
    at += size;
  }
}

/* Whether the variable's bytes are others than those kept; keeps them. */
static bool raw_changed(tkd *d, tkd_watch *w, const tki_frame *f) {
  bool same = w->known;
  size_t total = 0;
  if (!w->base) return true;
  size_t n = slots_of_base(d, w, f);
  for (size_t i = 0; i < n; i++) {
    int slot = w->slots[i];
    size_t size = slot_bytes(f, slot);
    tki_val *v = &f->slots[slot];
    if (!tki_has_value(v, &f->func->slots[slot].type) ||
        tki_is_unassigned(f, slot))
      return false;
    same = same && size <= w->raw_n - total &&
           !memcmp(w->raw + total, tki_lanes(v), size);
    if (same) total += size;
  }
  if (!n || (same && total == w->raw_n)) return false;
  keep_raw(d, w, f, n);
  return true;
}

/* ---- memory ------------------------------------------------------------ */

/* The part of a tensor that is watched, with what it holds now. */
static tkd_value memory_value(tkd *d, const tkd_watch *w) {
  tkd_value v = {.path = "", .type = w->view.type, .region = TKI_ANY};
  size_t n = (size_t)tk_numel(&v.type), size = tk_lane_size(&v.type);
  const tki_region *r = tki_region_at(d->t, w->lo, 1);
  char *bytes = tk_temp_bytes(&d->mem, n * size);
  v.n = n * size;
  v.bytes = bytes;
  if (tkd_view_is_dense(&w->view))
    memcpy(bytes, w->view.host, v.n);
  else
    for (size_t i = 0; i < n; i++)
      memcpy(bytes + i * size, tkd_view_lane(&w->view, i), size);
  if (!r || !tkc_knows_undefined(d->t)) return v;
  uint8_t *undefined = tk_temp_bytes(&d->mem, n);
  for (size_t i = 0; i < n; i++) {
    undefined[i] =
        tkc_undefined_memory(d->t, r, tkd_view_lane(&w->view, i), size);
    if (undefined[i]) v.undefined = undefined;
  }
  return v;
}

static void keep_memory(tkd *d, tkd_watch *w) {
  tkd_value v = memory_value(d, w);
  keep_parts(d, w, &(tkd_values){.items = &v, .n = 1});
}

static bool overlaps(const tkd_watch *w, const tki_access *a) {
  for (tki_stretch s = {0}; tki_next_stretch(a, &s);)
    if (s.addr < w->hi && s.addr + s.n * a->size > w->lo) return true;
  return false;
}

static tkd_writer writer_of(const tkd *d, const tki_frame *f) {
  tkd_writer x = {
      .src = f->func->src, .func = f->func->name, .at = f->stmt->span};
  memcpy(x.pid, d->t->pid, sizeof x.pid);
  return x;
}

void tkd_watches_access(tkd *d, const tki_access *a) {
  const tki_frame *f = tkd_user_frame(d->t->frame);
  if (d->course.phase == TKD_REPLAYING) return;
  bool reads = !a->write || a->in->op == TK_I_ATOMIC || a->in->op == TK_I_CAS;
  for (tkd_point *p = d->points.first; p; p = p->next) {
    tkd_watch *w = &p->watch;
    if (p->kind != TK_POINT_WATCH || !w->memory || !p->enabled) continue;
    if (!(a->write && w->writes) && !(reads && w->reads)) continue;
    if (!overlaps(w, a)) continue;
    w->due = true;
    w->last = writer_of(d, f);
  }
}

/* ---- conditions -------------------------------------------------------- */

/* Whether the condition of a point holds in the innermost call that knows its
 * names.  One that no call knows holds, as one of a breakpoint does. */
static bool watch_condition(tkd *d, const tkd_point *p, const tki_frame *f) {
  size_t diags = d->env->ndiags;
  if (!p->cond) return true;
  for (; f; f = tkd_user_frame(f->caller)) {
    tki_eval *x = tkd_compile(d, f, p->cond);
    if (!x) continue;
    tk_diag_truncate(d->env, diags);
    bool bad, holds = tkd_condition_holds(d, x, f, &bad);
    tki_eval_free(x);
    if (bad) tkd_bad_condition(d, p, diags);
    return holds;
  }
  tkd_bad_condition(d, p, diags);
  return true;
}

void tkd_watch_need_condition(tkd *d, const char *cond) {
  if (!d->at.frame) return;
  tki_eval *x = tkd_compile(d, d->at.frame, cond);
  if (!x) tk_throw(d->env, TK_USAGE);
  tki_eval_free(x);
}

/* ---- judging ----------------------------------------------------------- */

/* Whether a hit at this place is the one that the search back began at: it
 * looks for those before. */
static bool watch_was_seen(const tkd *d, const tkd_watch *w) {
  if (d->at.sub == TKD_LATE && d->at.event >= d->course.replay.now) return true;
  return d->at.event == d->course.replay.now && w->seen;
}

/* Whether a change or an access is a hit that stops. */
static bool watch_counts(tkd *d, tkd_point *p) {
  const tki_frame *f = d->programs.task->frame;
  if (p->programs && !tk_pids_match(&p->pids, d->t->pid)) return false;
  if (d->course.phase == TKD_SEARCHING)
    return !watch_was_seen(d, &p->watch) && watch_condition(d, p, f) &&
           tkd_front_agrees(d, p);
  if (!watch_condition(d, p, f) || !tkd_front_agrees(d, p)) return false;
  p->hits++;
  if (!p->ignore) return true;
  p->ignore--;
  return false;
}

/* Keeps what a stop says of a hit: it is about one part of the value. */
static void note_hit(tkd *d, tkd_watch *w, const tkd_values *v, size_t part,
                     bool changed, const tkd_writer *by) {
  w->changed = changed;
  w->by_reading = false;
  w->first_value = changed && !w->known;
  if (changed && part < w->nnow) {
    tkd_value was = tkd_kept_value(&w->now[part]);
    tkd_keep_value(d, &w->was, &was);
  }
  tkd_keep_value(d, &w->became, &v->items[part]);
  tk_text_set(d->env, &w->about, v->items[part].path);
  w->wrote = *by;
  w->hit_event = d->at.event;
}

/* The first part that differs from what is kept; as many as there are: none
 * does. */
static size_t part_that_differs(const tkd_watch *w, const tkd_values *v) {
  size_t i = 0;
  if (w->nnow != v->n) return 0;
  while (i < v->n && w->now[i].n == v->items[i].n &&
         !memcmp(w->now[i].bytes, v->items[i].bytes, v->items[i].n))
    i++;
  return i;
}

/* Whether it is a reason to stop; keeps the value. */
static bool judge_watch(tkd *d, tkd_point *p) {
  tkd_watch *w = &p->watch;
  const tki_frame *f = d->programs.task->frame;
  tkd_writer by = w->last;
  tkd_value memory = w->memory ? memory_value(d, w) : (tkd_value){0};
  tkd_values v = w->memory ? (tkd_values){.items = &memory, .n = 1}
                           : watched_value(d, p, f);
  w->due = false;
  if (!w->memory && f->stmt) w->last = writer_of(d, f);
  if (!v.n) return false;
  size_t part = part_that_differs(w, &v);
  bool changed = w->known ? part < v.n : w->absent;
  bool counts = w->memory ? w->reads || changed : w->writes && changed;
  bool hit = counts && watch_counts(d, p);
  if (hit)
    note_hit(d, w, &v, part < v.n ? part : 0, changed, &by);
  else if (d->course.phase != TKD_SEARCHING && w->hit_event == d->at.event)
    w->hit_event = 0;
  w->absent = false;
  keep_parts(d, w, &v);
  return hit;
}

static void note_read(tkd *d, tkd_point *p) {
  tkd_values v = watched_value(d, p, d->programs.task->frame);
  tkd_writer by = p->watch.last;
  if (!v.n) return;
  note_hit(d, &p->watch, &v, 0, false, &by);
  p->watch.by_reading = true;
}

bool tkd_watch_was_hit(const tkd *d, const tkd_point *p) {
  return p->kind == TK_POINT_WATCH && d->at.stop.reason == TK_STOP_WATCH &&
         p->watch.hit_event == d->at.event;
}

static tkd_stop stop_of_watch(const tkd_point *p, bool line) {
  tkd_stop s = {.reason = TK_STOP_WATCH, .point = p->number};
  const tkd_writer *x = &p->watch.wrote;
  s.read = p->watch.read;
  if (!s.read && line && x->src) s.line = tk_source_line(x->src, x->at.lo);
  return s;
}

/* Judges all watchpoints that are due, on the main stack.  If several are hit,
 * the stop names the last one. */
static void judge_watches(tkd *d) {
  tkd_point *last = NULL;
  for (tkd_point *p = d->points.first; p; p = p->next) {
    tkd_watch *w = &p->watch;
    if (p->kind != TK_POINT_WATCH || !p->enabled) continue;
    bool changed = w->due && judge_watch(d, p);
    w->read = w->read && !changed && watch_counts(d, p);
    if (w->read) note_read(d, p);
    if (changed || w->read) last = p;
  }
  if (!last) return;
  if (d->course.phase == TKD_SEARCHING) {
    TK_ASSERT(d->at.event >= d->course.replay.hit);
    d->course.replay.hit = d->at.event;
    d->course.replay.hit_sub = 0;
    d->course.replay.stop = stop_of_watch(last, true);
    return;
  }
  d->at.stop = stop_of_watch(last, false);
  *d->points.stopped_by_watch = true;
}

/* ---- looking ----------------------------------------------------------- */

typedef struct reading {
  const int *slots;
  size_t n;
} reading;

static bool reads_another(void *ud, const tk_at *at, const tk_inst *in) {
  const reading *r = ud;
  (void)at;
  for (int k = 0; k < in->nargs; k++)
    for (size_t i = 0; i < r->n; i++)
      if (in->args[k] == r->slots[i]) return false;
  return true;
}

/* Whether the statement that comes next reads what is watched: it stops before
 * that. */
static bool is_read(tkd *d, tkd_watch *w, const tk_stmt *st) {
  const tki_frame *f = d->t->frame;
  if (w->memory || !w->reads || !st || f->func != w->func) return false;
  reading r = {.n = w->base ? slots_of_base(d, w, f) : 0};
  r.slots = w->slots;
  return !tk_walk_insts(f->func, st, &st->insts,
                        &(tk_walk){.ud = &r, .inst = reads_another});
}

/* Notes that a variable has no value yet, where its first value is to count as
 * a change: in a search for the last writer, which may be the first one, and
 * where it was watched before it had a value. */
static void look_for_first_value(const tkd *d, tkd_watch *w,
                                 const tki_frame *f) {
  const tk_body *b = &f->func->body;
  bool begins = b->n && f->stmt == b->items[0];
  if (!w->base || !(d->course.phase == TKD_SEARCHING || w->waits_for_value))
    return;
  if ((w->known && !begins) || base_slot(f, w->base) >= 0) return;
  w->known = false; /* what is known is of an earlier call */
  w->absent = true;
}

static void look_variable(tkd *d, tkd_watch *w) {
  const tki_frame *f = d->t->frame;
  if (f->func != w->func) return;
  if (w->index != d->programs.task->index) w->known = w->absent = false;
  w->index = d->programs.task->index;
  look_for_first_value(d, w, f);
  if (raw_changed(d, w, f))
    w->due = true;
  else if (f->stmt)
    w->last = writer_of(d, f);
}

/* Work on the main stack may have found that this is a stop: then the loop
 * there ends, and what follows here happens when the program goes on. */
bool tkd_watches_look(tkd *d, const tk_stmt *st, bool ends) {
  uint64_t sub = d->at.sub;
  bool due = false, stopped = false;
  if (d->t->frame->func->library) return false;
  if (ends) d->at.sub = TKD_LATE;
  for (tkd_point *p = d->points.first; p; p = p->next) {
    if (p->kind != TK_POINT_WATCH || !p->enabled) continue;
    if (!p->watch.memory) look_variable(d, &p->watch);
    p->watch.read = is_read(d, &p->watch, st);
    due |= p->watch.due || p->watch.read;
  }
  if (due) {
    d->points.stopped_by_watch = &stopped;
    tkd_on_main(d, judge_watches);
  }
  if (ends && d->at.sub == TKD_LATE) d->at.sub = sub;
  return stopped;
}

void tkd_watches_forget(tkd *d) {
  for (tkd_point *p = d->points.first; p; p = p->next) {
    tkd_watch *w = &p->watch;
    if (p->kind != TK_POINT_WATCH) continue;
    w->known = w->due = w->read = w->absent = false;
    if (w->memory && d->t && w->found) keep_memory(d, w);
  }
}

void tkd_watches_back(tkd *d, bool stopped) {
  for (tkd_point *p = d->points.first; p; p = p->next)
    p->watch.seen = stopped && p->watch.hit_event == d->at.event;
}

static bool watch_view(tkd_watch *w, const tki_region *r) {
  w->found = tkd_view_of(r->tensor, &w->part, &w->view);
  if (!w->found) return false;
  w->lo = r->lo + (uint64_t)(w->view.host - w->view.before - r->host);
  w->hi = w->lo + (uint64_t)(w->view.before + w->view.size);
  TK_ASSERT(w->lo >= r->lo && w->lo < w->hi && w->hi <= r->hi);
  return true;
}

/* Bytes of one region, whatever it is. */
static void find_bytes(tkd *d, tkd_watch *w) {
  const tki_region *r = tki_region_at(d->t, w->lo, w->bytes);
  w->found = r && w->bytes <= INT32_MAX;
  if (!w->found) return;
  w->hi = w->lo + w->bytes;
  w->view = (tkd_view){.host = r->host + (w->lo - r->lo),
                       .type = tk_scalar(TK_UINT8),
                       .strides = {1},
                       .size = (int64_t)w->bytes};
  w->view.type.rank = 1;
  w->view.type.shape[0] = (int32_t)w->bytes;
}

/* The same part of the tensor that has the name in this launch. */
static void find_watched(tkd *d, tkd_watch *w) {
  if (w->bytes) {
    find_bytes(d, w);
    return;
  }
  w->found = false;
  w->lo = w->hi = 0;
  for (size_t i = 0; i < d->t->nregions && !w->found; i++) {
    const tki_region *r = &d->t->regions[i];
    if (r->tensor && !strcmp(r->name, w->base)) watch_view(w, r);
  }
}

void tkd_watches_begin(tkd *d) {
  for (tkd_point *p = d->points.first; p; p = p->next) {
    p->watch.hit_event = 0;
    if (p->kind == TK_POINT_WATCH && p->watch.memory)
      find_watched(d, &p->watch);
  }
  tkd_watches_forget(d);
}

static void refresh_watch(tkd *d, tkd_point *p) {
  tkd_watch *w = &p->watch;
  const tki_frame *f = tkd_top(d);
  while (f && f->func != w->func) f = tkd_user_frame(f->caller);
  if (!f || p->kind != TK_POINT_WATCH || w->memory) return;
  tkd_values v = watched_value(d, p, f);
  w->index = d->programs.task->index;
  if (f->stmt) w->last = writer_of(d, f);
  w->absent = w->waits_for_value && base_slot(f, w->base) < 0;
  if (!v.n) return;
  raw_changed(d, w, f);
  keep_parts(d, w, &v);
}

void tkd_watches_refresh(tkd *d) {
  tkd_watches_forget(d);
  for (tkd_point *p = d->points.first; p; p = p->next) refresh_watch(d, p);
}

/* ---- setting one ------------------------------------------------------- */

static void watch_bytes(tkd *d, tkd_watch *w) {
  find_bytes(d, w);
  if (!w->found) tkd_raise(d, WATCH_BYTES);
  w->memory = true;
  keep_memory(d, w);
}

static void watch_memory(tkd *d, tkd_point *p, const tki_region *r,
                         const char *index) {
  tkd_watch *w = &p->watch;
  w->part = tkd_part_of(d, r, index);
  if (!watch_view(w, r)) tkd_raise(d, WATCH_ELEMENTS, r->name);
  w->memory = true;
  w->base = tk_text_new(d->env, r->name);
  keep_memory(d, w);
}

/* The name may be that of a variable that has no value here yet. */
static void watch_variable(tkd *d, tkd_point *p, size_t n, bool plain) {
  tkd_watch *w = &p->watch;
  tki_frame *f = tkd_need_frame(d);
  char *name = tk_temp(&d->mem, p->where, n);
  bool later = plain && n && base_slot(f, name) < 0 && !f->func->library &&
               tk_eval_is_computed(f->func, name);
  tkd_values v = {0};
  if (!later) v = watched_parts(d, tkd_evaluate(d, f, p->where, NULL));
  if (!later && !v.n) tkd_raise(d, WATCH_CONSTANT, p->where);
  w->func = f->func;
  w->func_name = tk_text_new(d->env, w->func->name);
  if (plain) w->base = tk_text_new(d->env, name);
  w->index = d->programs.task->index;
  w->waits_for_value = w->absent = later;
  if (f->stmt) w->last = writer_of(d, f);
  if (later) return;
  if (plain) raw_changed(d, w, f);
  keep_parts(d, w, &v);
}

/* A block pointer is a variable, other than a pointer to a tensor. */
static bool has_parts(tkd *d, const char *text, size_t n) {
  int slots[2];
  return d->at.frame &&
         tki_eval_slots(d->at.frame, tk_temp(&d->mem, text, n), slots, 2) > 1;
}

void tkd_watch_begin(tkd *d, tkd_point *p) {
  size_t n = 0;
  if (!d->t) tkd_raise(d, NO_LAUNCH);
  if (p->watch.bytes) {
    watch_bytes(d, &p->watch);
    return;
  }
  while (isalnum((unsigned char)p->where[n]) || p->where[n] == '_') n++;
  const tki_region *r = n ? tkd_region(d, p->where, n) : NULL;
  const char *rest = p->where + n;
  bool plain = !*rest || *rest == '[';
  if (r && plain && !has_parts(d, p->where, n))
    watch_memory(d, p, r, rest);
  else
    watch_variable(d, p, n, plain);
}
