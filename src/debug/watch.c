/* watch.c - watchpoints.
 *
 * A variable is looked at before each statement of its function: when the
 * bytes of the variable have changed, the expression watched is evaluated,
 * on the main stack, and compared with what is kept.  Memory is watched by
 * the accesses: one that touches it is looked into before the statement that
 * follows.  All that are due at a statement are judged together, so that a
 * statement that changes two of them is one stop.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug/debug.h"
#include "interp/check/undefined.h"

/* ---- values kept ------------------------------------------------------- */

/* undefined: a byte a lane; NULL: all are defined. */
typedef struct value {
  tk_type type;
  const char *bytes;
  size_t n;
  const uint8_t *undefined;
} value;

static void copy(tkd *d, char **at, size_t *n, const void *bytes, size_t size) {
  if (*n != size) {
    *at = tk_realloc(d->env, *at, *n, size);
    *n = size;
  }
  if (size) memcpy(*at, bytes, size);
}

static void keep(tkd *d, tkd_kept *k, const value *v) {
  size_t lanes = v->undefined ? (size_t)tk_numel(&v->type) : 0;
  k->type = v->type;
  copy(d, &k->bytes, &k->n, v->bytes, v->n);
  copy(d, &k->lanes, &k->nlanes, v->undefined, lanes);
}

static void forget(tkd *d, tkd_kept *k) {
  tk_free(d->env, k->bytes, k->n);
  tk_free(d->env, k->lanes, k->nlanes);
  *k = (tkd_kept){0};
}

void tkd_watch_free(tkd *d, tkd_watch *w) {
  tkd_strfree(d, w->func_name);
  tkd_strfree(d, w->base);
  forget(d, &w->now);
  forget(d, &w->was);
  forget(d, &w->became);
  tk_free(d->env, w->raw, w->raw_n);
}

static value value_of(const tkd_kept *k) {
  return (value){k->type, k->bytes, k->n,
                 k->nlanes ? (const uint8_t *)k->lanes : NULL};
}

typedef struct getting {
  tkd *d;
  const char *text;
  const tki_frame *f;
  tki_eval *x;
  value v;
  tk_buf *at;
  bool index; /* a whole number is wanted; it may be a constant */
} getting;

/* Bytes and marks, one after the other. */
static void put_value(getting *g, tki_val *out, tki_val *undefined) {
  size_t lanes = (size_t)tk_numel(&g->x->types[0]);
  bool any = tkc_any_undefined(undefined);
  g->v.type = g->x->types[0];
  g->v.n = lanes * tk_lane_size(&g->v.type);
  tk_buf_clear(g->at);
  tk_buf_add(g->at, tki_data(out), g->v.n);
  if (any) tk_buf_add(g->at, tki_data(undefined), lanes);
  g->v.bytes = tk_buf_str(g->at);
  g->v.undefined = any ? (const uint8_t *)g->v.bytes + g->v.n : NULL;
}

/* A number known at compile time; what else is known is no index. */
static void get_known_index(getting *g) {
  char *end;
  int64_t i = strtoll(g->x->known, &end, 10);
  if (*end || end == g->x->known) tk_throw(g->d->env, TK_USAGE);
  tk_buf_clear(g->at);
  tk_buf_add(g->at, (const char *)&i, sizeof i);
  g->v = (value){tk_scalar(TK_INT64), tk_buf_str(g->at), sizeof i, NULL};
}

static void get_body(tk_env *e, void *ud) {
  getting *g = ud;
  tki *t = g->d->t;
  tki_val out[TK_EVAL_LEAVES], undefined[TK_EVAL_LEAVES];
  (void)e;
  g->x = tki_eval_new(t, g->f, g->text, NULL);
  if (g->x->known && g->index) {
    get_known_index(g);
    return;
  }
  tkd_need_one(g->d, g->x, g->text, "not one value that can change");
  tkc_undefined_eval(t, g->x, g->f, out, undefined);
  put_value(g, &out[0], &undefined[0]);
  tki_release(t, &out[0]);
  tki_release(t, &undefined[0]);
}

static value get_as(getting g, bool say) {
  tkd *d = g.d;
  size_t diags = d->env->ndiags;
  if (tk_protect(d->env, get_body, &g) != TK_OK) {
    if (say) tkd_say_reports(d, diags);
    tk_diag_truncate(d->env, diags);
    g.v.bytes = NULL;
  }
  tki_eval_free(g.x);
  return g.v;
}

/* The value of an expression; bytes NULL: it has none here.  It stays until
 * another one is got into the same place. */
static value get(tkd *d, const char *text, const tki_frame *f, bool say,
                 tk_buf *at) {
  return get_as((getting){.d = d, .text = text, .f = f, .at = at}, say);
}

/* ---- variables --------------------------------------------------------- */

static int base_slot(const tki_frame *f, const char *name) {
  int slots[1];
  return tki_eval_slots(f, name, slots, 1) ? slots[0] : -1;
}

/* Whether the variable's bytes are others than those kept; keeps them. */
static bool raw_changed(tkd *d, tkd_watch *w, const tki_frame *f) {
  int slot = w->base ? base_slot(f, w->base) : -1;
  if (!w->base) return true;
  if (slot < 0) return false;
  const tk_type *type = &f->func->slots[slot].type;
  tki_val *v = &f->slots[slot];
  if ((type->rank && !v->buf) || tki_is_unassigned(f, slot)) return false;
  size_t n = (size_t)tk_numel(type) * tk_lane_size(type);
  bool same = w->known && w->raw_n == n && !memcmp(w->raw, tki_data(v), n);
  if (!same) copy(d, &w->raw, &w->raw_n, tki_data(v), n);
  return !same;
}

/* ---- memory ------------------------------------------------------------ */

/* Which of its elements undef takes for undefined, behind what at holds. */
static const uint8_t *undefined_in(tkd *d, const tkd_watch *w, tk_buf *at) {
  const tki_region *r = tki_region_at(d->t, w->lo, 1);
  size_t n = (size_t)tk_numel(&w->view.type), from = at->n;
  size_t size = tk_lane_size(&w->view.type);
  bool any = false;
  if (!r || !tkc_knows_undefined(d->t)) return NULL;
  for (size_t i = 0; i < n; i++) {
    const char *host = tkd_view_lane(&w->view, i);
    bool undefined = tkc_undefined_memory(d->t, r, host, size);
    tk_buf_putc(at, undefined);
    any |= undefined;
  }
  return any ? (const uint8_t *)tk_buf_str(at) + from : NULL;
}

static value in_memory(tkd *d, const tkd_watch *w, tk_buf *at) {
  value v = {.type = w->view.type};
  size_t n = (size_t)tk_numel(&v.type), size = tk_lane_size(&v.type);
  v.n = n * size;
  tk_buf_clear(at);
  if (tkd_view_is_dense(&w->view))
    tk_buf_add(at, w->view.host, v.n);
  else
    for (size_t i = 0; i < n; i++)
      tk_buf_add(at, tkd_view_lane(&w->view, i), size);
  v.undefined = undefined_in(d, w, at);
  v.bytes = tk_buf_str(at);
  return v;
}

static void keep_memory(tkd *d, tkd_watch *w) {
  value v = in_memory(d, w, &d->value);
  keep(d, &w->now, &v);
  w->known = true;
}

static bool overlaps(const tkd_watch *w, const tki_access *a) {
  for (size_t i = 0; i < a->n; i++)
    if ((!a->mask || a->mask[i]) && a->addr[i] < w->hi &&
        a->addr[i] + a->size > w->lo)
      return true;
  return false;
}

static tkd_writer writer_of(const tkd *d, const tki_frame *f) {
  tkd_writer x = {.src = f->func->src, .at = f->stmt->span};
  memcpy(x.pid, d->t->pid, sizeof x.pid);
  return x;
}

void tkd_watches_access(tkd *d, const tki_access *a) {
  const tki_frame *f = tkd_user_frame(d->t->frame);
  if (d->replaying && !d->scanning) return;
  bool reads = !a->write || a->in->op == TK_I_ATOMIC || a->in->op == TK_I_CAS;
  for (tkd_point *p = d->points; p; p = p->next) {
    tkd_watch *w = &p->watch;
    if (p->kind != TKD_WATCH || !w->memory || !p->enabled) continue;
    if (!(a->write && w->writes) && !(reads && w->reads)) continue;
    if (!overlaps(w, a)) continue;
    w->due = true;
    w->last = writer_of(d, f);
  }
}

/* ---- conditions -------------------------------------------------------- */

/* In the innermost call that knows the names; a condition that no call knows
 * holds, as one of a breakpoint does. */
static bool condition(tkd *d, const tkd_point *p, const tki_frame *f) {
  size_t diags = d->env->ndiags;
  if (!p->cond) return true;
  for (; f; f = tkd_user_frame(f->caller)) {
    tki_eval *x = tkd_compile(d, f, p->cond);
    if (!x) continue;
    bool holds = tkd_holds(d, p, x, f);
    tki_eval_free(x);
    tk_diag_truncate(d->env, diags);
    return holds;
  }
  if (!d->scanning) tkd_say_bad_condition(d, p, diags);
  tk_diag_truncate(d->env, diags);
  return true;
}

bool tkd_watch_condition_fits(tkd *d, const char *cond) {
  size_t diags = d->env->ndiags;
  if (!d->frame) return true;
  tki_eval *x = tkd_compile(d, d->frame, cond);
  bool fits = x != NULL;
  if (!fits) tkd_say_reports(d, diags);
  tki_eval_free(x);
  return fits;
}

/* ---- judging ----------------------------------------------------------- */

/* Back in time those of the statement that it stands behind have been seen,
 * if it stands there because of them. */
static bool seen(const tkd *d, const tkd_watch *w) {
  if (d->sub == TKD_LATE && d->event >= d->scan_now) return true;
  return d->event == d->scan_now && w->seen;
}

static bool passes(tkd *d, tkd_point *p) {
  if (d->scanning)
    return !seen(d, &p->watch) && condition(d, p, d->strand->task->frame);
  if (!condition(d, p, d->strand->task->frame)) return false;
  p->hits++;
  if (!p->ignore) return true;
  p->ignore--;
  return false;
}

static bool differs(const tkd_watch *w, const value *v) {
  return w->now.n != v->n || memcmp(w->now.bytes, v->bytes, v->n) != 0;
}

/* What there will be to say about it. */
static void note_hit(tkd *d, tkd_watch *w, const value *v, bool changed,
                     const tkd_writer *by) {
  value was = value_of(&w->now);
  w->changed = changed;
  w->born = changed && !w->known;
  if (changed && w->known) keep(d, &w->was, &was);
  keep(d, &w->became, v);
  w->wrote = *by;
  w->told = d->event;
}

/* Whether it is a reason to stop; keeps the value. */
static bool judge(tkd *d, tkd_point *p) {
  tkd_watch *w = &p->watch;
  const tki_frame *f = d->strand->task->frame;
  tkd_writer by = w->last;
  value v = w->memory ? in_memory(d, w, &d->value)
                      : get(d, p->where, f, false, &d->value);
  w->due = false;
  if (!w->memory && f->stmt) w->last = writer_of(d, f);
  if (!v.bytes) return false;
  bool changed = w->known ? differs(w, &v) : w->absent;
  bool counts = w->memory ? w->reads || changed : w->writes && changed;
  bool hit = counts && passes(d, p);
  if (hit)
    note_hit(d, w, &v, changed, &by);
  else if (!d->scanning && w->told == d->event)
    w->told = 0;
  w->absent = false;
  keep(d, &w->now, &v);
  w->known = true;
  return hit;
}

/* ---- saying ------------------------------------------------------------ */

static void say_value(tkd *d, const char *name, const tkd_kept *k) {
  tkd_show_bytes(d, name, &k->type, k->bytes,
                 k->nlanes ? (const uint8_t *)k->lanes : NULL);
}

static void say_lanes(tkd *d, const tkd_kept *old, const tkd_kept *now) {
  size_t size = tk_lane_size(&now->type), n = (size_t)tk_numel(&now->type);
  size_t changed = 0;
  int64_t first = -1;
  for (size_t i = 0; i < n; i++) {
    if (!memcmp(old->bytes + i * size, now->bytes + i * size, size)) continue;
    if (!changed++) first = (int64_t)i;
  }
  if (!now->type.rank) return;
  tkd_say(d, "%zu of %zu lanes changed, the first is ", changed, n);
  tkd_lane_index(&d->out, &now->type, first);
  tkd_say(d, "\n");
}

static void say_writer(tkd *d, const tkd_writer *x) {
  if (!x->src) return;
  tkd_say(d, "by line %d of ", tk_source_line(x->src, x->at.lo));
  tkd_say(d, "program ");
  tkd_put_pid(&d->out, x->pid, NULL);
  tkd_say(d, "\n");
}

static void say_change(tkd *d, const tkd_watch *w) {
  if (!w->changed) {
    say_value(d, "value", &w->became);
  } else if (w->born) {
    say_value(d, "first value", &w->became);
  } else if (w->was.n == w->became.n) {
    say_value(d, "old", &w->was);
    say_value(d, "new", &w->became);
    say_lanes(d, &w->was, &w->became);
  }
  say_writer(d, &w->wrote);
}

static bool was_told(const tkd_point *p, uint64_t event) {
  return p->kind == TKD_WATCH && p->watch.told == event;
}

/* What those that were hit at the event saw; the stop names the last one. */
static void say_changes(tkd *d, uint64_t event) {
  size_t n = 0;
  for (const tkd_point *p = d->points; p; p = p->next) n += was_told(p, event);
  for (const tkd_point *p = d->points; p; p = p->next) {
    if (!was_told(p, event)) continue;
    if (n > 1) tkd_say(d, "Watchpoint %d: %s\n", p->number, p->where);
    say_change(d, &p->watch);
  }
}

static tkd_stop stop_of(const tkd_point *p, bool line) {
  tkd_stop s = {.reason = TKD_R_WATCH, .point = p};
  const tkd_writer *x = &p->watch.wrote;
  if (p->watch.read)
    snprintf(s.text, sizeof s.text, "%.200s is read here", p->where);
  else if (line && x->src)
    snprintf(s.text, sizeof s.text, "%.150s, line %d", p->where,
             tk_source_line(x->src, x->at.lo));
  else
    snprintf(s.text, sizeof s.text, "%.200s", p->where);
  return s;
}

/* On the main stack: those that are due. */
static void judge_all(tkd *d) {
  tkd_point *last = NULL;
  for (tkd_point *p = d->points; p; p = p->next) {
    tkd_watch *w = &p->watch;
    if (p->kind != TKD_WATCH || !p->enabled) continue;
    bool changed = w->due && judge(d, p);
    w->read = w->read && !changed && passes(d, p);
    if (changed || w->read) last = p;
  }
  if (!last) return;
  if (d->scanning) {
    d->hit = d->event;
    d->hit_sub = 0;
    d->hit_stop = stop_of(last, true);
    return;
  }
  tkd_flush(d);
  say_changes(d, d->event);
  d->stop = stop_of(last, false);
  d->stopped_by_watch = true;
}

void tkd_watches_tell(tkd *d, uint64_t event) {
  if (d->stop.reason == TKD_R_WATCH) say_changes(d, event);
}

/* ---- looking ----------------------------------------------------------- */

static bool reads_slot(const tk_insts *l, int slot) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    for (int k = 0; k < in->nargs; k++)
      if (in->args[k] == slot) return true;
    if (reads_slot(&in->body[0], slot) || reads_slot(&in->body[1], slot))
      return true;
  }
  return false;
}

/* It stops before the statement that reads it. */
static bool is_read(const tkd *d, const tkd_watch *w, const tk_stmt *st) {
  const tki_frame *f = d->t->frame;
  if (w->memory || !w->reads || !st || f->func != w->func) return false;
  int slot = w->base ? base_slot(f, w->base) : -1;
  return slot >= 0 && reads_slot(&st->insts, slot);
}

/* Who looks back for the last writer means the first one as well, and so does
 * who watches a variable before it has a value: its first value is then a
 * change. */
static void look_for_birth(const tkd *d, tkd_watch *w, const tki_frame *f) {
  const tk_body *b = &f->func->body;
  bool begins = b->n && f->stmt == b->items[0];
  if (!w->base || !(d->scanning || w->births)) return;
  if ((w->known && !begins) || base_slot(f, w->base) >= 0) return;
  w->known = false; /* what is known is of an earlier call */
  w->absent = true;
}

static void look_variable(tkd *d, tkd_watch *w) {
  const tki_frame *f = d->t->frame;
  if (f->func != w->func) return;
  if (w->index != d->strand->task->index) w->known = w->absent = false;
  w->index = d->strand->task->index;
  look_for_birth(d, w, f);
  if (raw_changed(d, w, f))
    w->due = true;
  else if (f->stmt)
    w->last = writer_of(d, f);
}

/* Work on the main stack may have found that this is a stop: then the loop
 * there ends, and what follows here happens when the program goes on. */
bool tkd_watches_look(tkd *d, const tk_stmt *st, bool ends) {
  uint64_t sub = d->sub;
  bool due = false;
  if (d->t->frame->func->library) return false;
  if (ends) d->sub = TKD_LATE;
  d->stopped_by_watch = false;
  for (tkd_point *p = d->points; p; p = p->next) {
    if (p->kind != TKD_WATCH || !p->enabled) continue;
    if (!p->watch.memory) look_variable(d, &p->watch);
    p->watch.read = is_read(d, &p->watch, st);
    due |= p->watch.due || p->watch.read;
  }
  if (due) {
    d->work = judge_all;
    tki_task_pause(d->t);
  }
  if (ends && d->sub == TKD_LATE) d->sub = sub;
  return d->stopped_by_watch;
}

void tkd_watches_forget(tkd *d) {
  for (tkd_point *p = d->points; p; p = p->next) {
    tkd_watch *w = &p->watch;
    if (p->kind != TKD_WATCH) continue;
    w->known = w->due = w->read = w->absent = false;
    if (w->memory && d->t && w->found) keep_memory(d, w);
  }
}

void tkd_watches_back(tkd *d, bool stopped) {
  for (tkd_point *p = d->points; p; p = p->next)
    p->watch.seen = stopped && p->watch.told == d->event;
}

static bool view(tkd_watch *w, const tki_region *r) {
  w->found = tkd_view_of(r->tensor, &w->part, &w->view);
  if (!w->found) return false;
  w->lo = r->lo + (uint64_t)(w->view.host - w->view.before - r->host);
  w->hi = w->lo + (uint64_t)(w->view.before + w->view.size);
  return true;
}

/* The same part of the tensor that has the name in this launch. */
static void find_again(tkd *d, tkd_watch *w) {
  w->found = false;
  w->lo = w->hi = 0;
  for (size_t i = 0; i < d->t->nregions && !w->found; i++) {
    const tki_region *r = &d->t->regions[i];
    if (r->tensor && !strcmp(r->name, w->base)) view(w, r);
  }
}

void tkd_watches_begin(tkd *d) {
  for (tkd_point *p = d->points; p; p = p->next) {
    p->watch.told = 0;
    if (p->kind == TKD_WATCH && p->watch.memory) find_again(d, &p->watch);
  }
  tkd_watches_forget(d);
}

static void refresh(tkd *d, tkd_point *p) {
  tkd_watch *w = &p->watch;
  const tki_frame *f = tkd_top(d);
  while (f && f->func != w->func) f = tkd_user_frame(f->caller);
  if (!f || p->kind != TKD_WATCH || w->memory) return;
  value v = get(d, p->where, f, false, &d->value);
  w->index = d->strand->task->index;
  if (f->stmt) w->last = writer_of(d, f);
  w->absent = w->births && base_slot(f, w->base) < 0;
  if (!v.bytes) return;
  keep(d, &w->now, &v);
  raw_changed(d, w, f);
  w->known = true;
}

void tkd_watches_refresh(tkd *d) {
  tkd_watches_forget(d);
  for (tkd_point *p = d->points; p; p = p->next) refresh(d, p);
}

/* ---- setting one ------------------------------------------------------- */

static size_t name_length(const char *text) {
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
  return n;
}

const tki_region *tkd_region(tkd *d, const char *text, size_t n) {
  const tki_frame *f = d->frame;
  char *name = tkd_temp(d, text, n);
  const tki_region *found = NULL;
  int slot = f ? base_slot(f, name) : -1;
  if (slot >= 0) {
    const tki_val *v = &f->slots[slot];
    const tk_type *type = &f->func->slots[slot].type;
    if (type->ptr && !type->rank && v->region >= 0 &&
        (size_t)v->region < d->t->nregions)
      found = &d->t->regions[v->region];
  } else {
    for (size_t i = 0; i < d->t->nregions; i++)
      if (d->t->regions[i].name && !strcmp(d->t->regions[i].name, name))
        found = &d->t->regions[i];
  }
  return found && found->tensor ? found : NULL;
}
/* The i-th of "[A, B]": an integer expression. */
static bool is_slice(const char *s) {
  int depth = 0;
  for (; *s; s++) {
    depth += (*s == '[' || *s == '(') - (*s == ']' || *s == ')');
    if (*s == ':' && !depth) return true;
  }
  return false;
}

int64_t tkd_index(tkd *d, const char *text, size_t n) {
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  while (end < text + n && *end == ' ') end++;
  if (n && end == text + n && !errno) return number;
  if (!d->frame) tkd_fail(d, "No program is stopped: the launch has ended.");
  char *part = tkd_temp(d, text, n);
  if (is_slice(part))
    tkd_fail(d, "One element is wanted here: an index, not the slice '%.60s'.",
             part);
  getting g = {.d = d, .text = part, .f = d->frame, .at = &d->other_value};
  g.index = true;
  value v = get_as(g, true);
  int64_t i = 0;
  bool ok = v.bytes && !v.type.rank && !v.type.ptr &&
            tk_is_int((tk_dtype)v.type.elem);
  if (ok) i = tk_lane_int((tk_dtype)v.type.elem, v.bytes);
  if (!ok) tkd_fail(d, "An index must be a whole number.");
  return i;
}

static bool watch_memory(tkd *d, tkd_point *p, const tki_region *r,
                         const char *index) {
  tkd_watch *w = &p->watch;
  w->part = tkd_part_of(d, r, index);
  if (!view(w, r))
    tkd_fail(d, "%s has no elements, or too many to be watched at once.",
             r->name);
  w->memory = true;
  w->base = tkd_strdup(d, r->name);
  keep_memory(d, w);
  return true;
}

/* The name may be that of a variable that has no value here yet. */
static bool watch_variable(tkd *d, tkd_point *p, size_t n, bool plain) {
  tkd_watch *w = &p->watch;
  tki_frame *f = d->frame;
  char *name = tkd_temp(d, p->where, n);
  bool later = plain && n && base_slot(f, name) < 0 && !f->func->library &&
               tk_eval_is_bound(f->func, name);
  value v = later ? (value){0} : get(d, p->where, f, true, &d->value);
  if (!v.bytes && !later) return false;
  w->func = f->func;
  w->func_name = tkd_strdup(d, w->func->name);
  if (plain) w->base = tkd_strdup(d, name);
  w->index = d->strand->task->index;
  w->births = w->absent = later;
  if (f->stmt) w->last = writer_of(d, f);
  if (later) return true;
  keep(d, &w->now, &v);
  if (plain) raw_changed(d, w, f);
  w->known = true;
  return true;
}

bool tkd_watch_begin(tkd *d, tkd_point *p) {
  size_t n = name_length(p->where);
  const tki_region *r = n ? tkd_region(d, p->where, n) : NULL;
  const char *rest = p->where + n;
  bool plain = !*rest || *rest == '[';
  if (r && plain) return watch_memory(d, p, r, rest);
  return watch_variable(d, p, n, plain);
}
