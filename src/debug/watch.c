/* watch.c - watchpoints.
 *
 * A variable is looked at before each statement of its function: when the
 * bytes of the variable have changed, the expression watched is evaluated,
 * on the main stack, and compared with what is kept.  Memory is watched by
 * the accesses: one that touches it is looked into before the statement that
 * follows.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug/debug.h"

/* ---- values kept ------------------------------------------------------- */

static void keep(tkd *d, char **at, size_t *n, const void *bytes, size_t size) {
  if (*n != size) {
    *at = tk_realloc(d->env, *at, *n, size);
    *n = size;
  }
  memcpy(*at, bytes, size);
}

typedef struct value {
  tk_type type;
  char *bytes;
  size_t n;
} value;

typedef struct getting {
  tkd *d;
  const char *text;
  const tki_frame *f;
  tki_eval *x;
  value v;
  tk_buf *at;
} getting;

static void get_body(tk_env *e, void *ud) {
  getting *g = ud;
  tki *t = g->d->t;
  tki_val out[TK_EVAL_LEAVES];
  g->x = tki_eval_new(t, g->f, g->text, NULL);
  if (g->x->known || g->x->n != 1) {
    tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                "%.100s is not one value that can change", g->text);
    tk_throw(e, TK_USAGE);
  }
  tki_eval_run(t, g->x, g->f, out);
  g->v.type = g->x->types[0];
  g->v.n = (size_t)tk_numel(&g->v.type) * tk_lane_size(&g->v.type);
  tk_buf_clear(g->at);
  tk_buf_add(g->at, tki_data(&out[0]), g->v.n);
  g->v.bytes = g->at->s;
  tki_release(t, &out[0]);
}

/* The value of an expression; bytes NULL: it has none here.  It stays until
 * another one is got into the same place. */
static value get(tkd *d, const char *text, const tki_frame *f, bool say,
                 tk_buf *at) {
  getting g = {.d = d, .text = text, .f = f, .at = at};
  size_t diags = d->env->ndiags;
  if (tk_protect(d->env, get_body, &g) != TK_OK) {
    if (say) tkd_say_reports(d, diags);
    tk_diag_truncate(d->env, diags);
    g.v.bytes = NULL;
  }
  tki_eval_free(g.x);
  return g.v;
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
  if (type->rank && !v->buf) return false;
  size_t n = (size_t)tk_numel(type) * tk_lane_size(type);
  bool same = w->known && w->raw_n == n && !memcmp(w->raw, tki_data(v), n);
  if (!same) keep(d, &w->raw, &w->raw_n, tki_data(v), n);
  return !same;
}

static void say_bytes(tkd *d, const char *name, const tk_type *type,
                      const void *bytes) {
  tkd_show_bytes(d, name, type, bytes);
}

static void say_lanes(tkd *d, const tk_type *type, const char *old,
                      const char *now) {
  size_t size = tk_lane_size(type), n = (size_t)tk_numel(type), changed = 0;
  int64_t first = -1;
  for (size_t i = 0; i < n; i++) {
    if (!memcmp(old + i * size, now + i * size, size)) continue;
    if (!changed++) first = (int64_t)i;
  }
  if (!type->rank) return;
  tkd_say(d, "%zu of %zu lanes changed, the first is ", changed, n);
  tkd_lane_index(&d->out, type, first);
  tkd_say(d, "\n");
}

static void say_writer(tkd *d, const tkd_watch *w) {
  if (!w->src) return;
  tkd_say(d, "by line %d of ", tk_source_line(w->src, w->by.lo));
  tkd_say(d, "program ");
  tkd_put_pid(&d->out, w->pid, NULL);
  tkd_say(d, "\n");
}

static void stop_changed(tkd *d, tkd_point *p) {
  d->stop = (tkd_stop){.reason = TKD_R_WATCH, .point = p};
  snprintf(d->stop.text, sizeof d->stop.text, "%.200s", p->where);
  d->stopped_by_watch = true;
}

static bool passes(tkd *d, tkd_point *p) {
  if (d->scanning) {
    if (d->sub == TKD_LATE && d->event >= d->scan_now) return false;
    if (d->event == d->scan_now && p == d->scan_skip) return false;
    d->hit = d->event;
    d->hit_sub = 0;
    d->hit_stop = (tkd_stop){.reason = TKD_R_WATCH, .point = p};
    snprintf(d->hit_stop.text, sizeof d->hit_stop.text, "%.150s, line %d",
             p->where, tk_source_line(p->watch.src, p->watch.by.lo));
    return false;
  }
  p->hits++;
  if (p->ignore) {
    p->ignore--;
    return false;
  }
  if (!p->cond) return true;
  value v = get(d, p->cond, d->strand->task->frame, false, &d->other_value);
  bool holds = false;
  for (size_t i = 0; v.bytes && i < v.n; i++) holds |= v.bytes[i] != 0;
  return holds;
}

static void report(tkd *d, tkd_point *p, const value *now) {
  tkd_watch *w = &p->watch;
  tkd_flush(d);
  if (w->known && w->kept_n == now->n) {
    say_bytes(d, "old", &w->type, w->kept);
    say_bytes(d, "new", &now->type, now->bytes);
    say_lanes(d, &w->type, w->kept, now->bytes);
  }
  say_writer(d, w);
  stop_changed(d, p);
}

/* On the main stack: the expression's value now, against the one kept. */
static void compare(tkd *d) {
  tkd_point *p = d->work_point;
  tkd_watch *w = &p->watch;
  value v = get(d, p->where, d->strand->task->frame, false, &d->value);
  if (!v.bytes) return;
  bool same = w->known && w->kept_n == v.n && !memcmp(w->kept, v.bytes, v.n);
  if ((w->known || w->absent) && !same && passes(d, p)) report(d, p, &v);
  w->absent = false;
  w->type = v.type;
  keep(d, &w->kept, &w->kept_n, v.bytes, v.n);
  w->known = true;
  const tki_frame *f = d->strand->task->frame;
  if (f->stmt) w->by = f->stmt->span;
}

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

static void stop_read(tkd *d, tkd_point *p) {
  if (!passes(d, p)) return;
  d->stopped_by_watch = true;
  tkd_stop_here(d, TKD_R_WATCH, p, "%.200s is read here", p->where);
}

/* Who looks back for the last writer means the first one as well: a variable
 * that gets its first value has then changed. */
static void look_for_birth(tkd *d, tkd_watch *w, const tki_frame *f) {
  if (!d->scanning || !w->base || base_slot(f, w->base) >= 0) return;
  w->absent = true;
  w->known = false;
}

static void look_variable(tkd *d, tkd_point *p, const tk_stmt *st) {
  tkd_watch *w = &p->watch;
  const tki_frame *f = d->t->frame;
  if (f->func != w->func) return;
  look_for_birth(d, w, f);
  if (w->index != d->strand->task->index) w->known = false;
  w->index = d->strand->task->index;
  if (raw_changed(d, w, f)) {
    d->work_point = p;
    d->work = compare;
    tki_task_pause(d->t);
    if (d->stopped_by_watch) return; /* the user may have deleted p */
  }
  int slot = w->base ? base_slot(f, w->base) : -1;
  w->by = st ? st->span : w->by;
  w->src = f->func->src;
  memcpy(w->pid, d->t->pid, sizeof w->pid);
  if (st && w->reads && slot >= 0 && reads_slot(&st->insts, slot))
    stop_read(d, p);
}

/* ---- memory ------------------------------------------------------------ */

static bool overlaps(const tkd_watch *w, const tki_access *a) {
  for (size_t i = 0; i < a->n; i++)
    if ((!a->mask || a->mask[i]) && a->addr[i] < w->hi &&
        a->addr[i] + a->size > w->lo)
      return true;
  return false;
}

void tkd_watches_access(tkd *d, const tki_access *a) {
  const tki_frame *f = tkd_user_frame(d->t->frame);
  if (d->replaying && !d->scanning) return;
  for (tkd_point *p = d->points; p; p = p->next) {
    tkd_watch *w = &p->watch;
    if (p->kind != TKD_WATCH || !w->memory || !p->enabled) continue;
    if ((!a->write && !w->reads) || !overlaps(w, a)) continue;
    w->touched = true;
    w->verb = a->verb;
    w->src = f->func->src;
    w->by = f->stmt->span;
    memcpy(w->pid, d->t->pid, sizeof w->pid);
  }
}

static void report_memory(tkd *d) {
  tkd_point *p = d->work_point;
  tkd_watch *w = &p->watch;
  value now = {w->type, w->host, w->kept_n};
  bool changed = w->known && memcmp(w->kept, w->host, w->kept_n) != 0;
  if ((changed || w->reads) && passes(d, p)) {
    if (changed)
      report(d, p, &now);
    else
      say_writer(d, w);
    stop_changed(d, p);
  }
  keep(d, &w->kept, &w->kept_n, w->host, (size_t)(w->hi - w->lo));
  w->known = true;
}

static void look_memory(tkd *d, tkd_point *p) {
  if (!p->watch.touched) return;
  p->watch.touched = false;
  d->work_point = p;
  d->work = report_memory;
  tki_task_pause(d->t);
}

/* ---- all of them ------------------------------------------------------- */

/* Work on the main stack may have found that this is a stop: then the loop
 * there ends, and what follows here happens when the program goes on. */
bool tkd_watches_look(tkd *d, const tk_stmt *st, bool ends) {
  uint64_t sub = d->sub;
  if (d->t->frame->func->library) return false;
  if (ends) d->sub = TKD_LATE;
  d->stopped_by_watch = false;
  for (tkd_point *p = d->points, *next; p; p = next) {
    next = p->next;
    if (p->kind != TKD_WATCH || !p->enabled) continue;
    if (p->watch.memory)
      look_memory(d, p);
    else
      look_variable(d, p, st);
    if (d->stopped_by_watch) break;
  }
  if (ends && d->sub == TKD_LATE) d->sub = sub;
  return d->stopped_by_watch;
}

void tkd_watches_forget(tkd *d) {
  for (tkd_point *p = d->points; p; p = p->next) {
    tkd_watch *w = &p->watch;
    if (p->kind != TKD_WATCH) continue;
    w->known = w->touched = w->absent = false;
    if (!w->memory || !d->t || !w->host) continue;
    keep(d, &w->kept, &w->kept_n, w->host, (size_t)(w->hi - w->lo));
    w->known = true;
  }
}

/* The same bytes of the tensor that has the name in this launch. */
static void find_again(tkd *d, tkd_watch *w) {
  uint64_t size = w->hi - w->lo;
  w->host = NULL;
  w->lo = w->hi = 0;
  for (size_t i = 0; i < d->t->nregions; i++) {
    const tki_region *r = &d->t->regions[i];
    if (!r->tensor || strcmp(r->name, w->base)) continue;
    if (w->from > r->hi - r->lo || size > r->hi - r->lo - w->from) continue;
    w->host = r->host + w->from;
    w->lo = r->lo + w->from;
  }
  w->hi = w->lo + size;
}

void tkd_watches_begin(tkd *d) {
  for (tkd_point *p = d->points; p; p = p->next)
    if (p->kind == TKD_WATCH && p->watch.memory) find_again(d, &p->watch);
  tkd_watches_forget(d);
}

void tkd_watches_refresh(tkd *d) {
  tkd_watches_forget(d);
  tki_frame *f = tkd_top(d);
  if (!f) return;
  for (tkd_point *p = d->points; p; p = p->next) {
    tkd_watch *w = &p->watch;
    if (p->kind != TKD_WATCH || w->memory || f->func != w->func) continue;
    value v = get(d, p->where, f, false, &d->value);
    if (!v.bytes) continue;
    w->type = v.type;
    keep(d, &w->kept, &w->kept_n, v.bytes, v.n);
    raw_changed(d, w, f);
    w->known = true;
    w->index = d->strand->task->index;
    w->by = f->stmt->span;
    w->src = f->func->src;
  }
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
static int64_t index_value(tkd *d, const char *text, size_t n) {
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  while (end < text + n && *end == ' ') end++;
  if (n && end == text + n && !errno) return number;
  if (!d->frame) tkd_fail(d, "No program is stopped: the launch has ended.");
  char *part = tkd_temp(d, text, n);
  char *wide = tkd_temp_bytes(d, n + 32);
  snprintf(wide, n + 32, "pid_0 * 0 + (%s)", part);
  value v = get(d, wide, d->frame, true, &d->other_value);
  int64_t i = 0;
  bool ok = v.bytes && !v.type.rank && !v.type.ptr &&
            tk_is_int((tk_dtype)v.type.elem);
  if (ok) i = tk_lane_int((tk_dtype)v.type.elem, v.bytes);
  if (!ok) tkd_fail(d, "An index must be a whole number.");
  return i;
}

/* How far the piece of an index list goes, up to a comma or bracket. */
static size_t piece(const char *s) {
  size_t n = 0;
  int depth = 0;
  while (s[n] && (depth || (s[n] != ',' && s[n] != ']'))) {
    depth += s[n] == '[' || s[n] == '(';
    depth -= s[n] == ']' || s[n] == ')';
    n++;
  }
  return n;
}

char *tkd_element(tkd *d, const tki_region *r, const char *index,
                  int *rank_left) {
  const tk_tensor *x = r->tensor;
  int64_t off = 0;
  int axis = 0;
  *rank_left = x->rank;
  if (*index != '[') return x->data;
  for (const char *s = index + 1; *s && *s != ']'; axis++) {
    size_t n = piece(s);
    if (axis >= x->rank) tkd_fail(d, "%s has %d axes.", r->name, x->rank);
    int64_t i = index_value(d, s, n), size = x->shape[axis];
    if (i < 0) i += size;
    if (i < 0 || i >= size)
      tkd_fail(d, "Index %lld is outside of axis %d of %s, which has %lld.",
               (long long)i, axis, r->name, (long long)size);
    off += i * x->strides[axis];
    s += n + (s[n] == ',');
  }
  *rank_left = x->rank - axis;
  return (char *)x->data + off * (int64_t)tk_dtype_size(x->dtype);
}

size_t tkd_lane(tkd *d, const char *name, const tk_type *type,
                const char *index) {
  size_t lane = 0;
  int axis = 0;
  if (*index == '[') {
    for (const char *s = index + 1; *s && *s != ']'; axis++) {
      size_t n = piece(s);
      if (axis >= type->rank)
        tkd_fail(d, "%s has %d ax%s.", name, type->rank,
                 type->rank == 1 ? "is" : "es");
      int64_t i = index_value(d, s, n), size = type->shape[axis];
      if (i < 0) i += size;
      if (i < 0 || i >= size)
        tkd_fail(d, "Index %lld is outside of axis %d of %s, which has %lld.",
                 (long long)i, axis, name, (long long)size);
      lane = lane * (size_t)size + (size_t)i;
      s += n + (s[n] == ',');
    }
  }
  if (axis < type->rank)
    tkd_fail(d, "%s has %d ax%s: a lane is named by an index for each.", name,
             type->rank, type->rank == 1 ? "is" : "es");
  return lane;
}

static bool watch_memory(tkd *d, tkd_point *p, const tki_region *r, size_t n) {
  tkd_watch *w = &p->watch;
  const tk_tensor *x = r->tensor;
  int left;
  char *host = tkd_element(d, r, p->where + n, &left);
  int64_t size = (int64_t)tk_dtype_size(x->dtype), count = 1;
  w->memory = true;
  w->base = tkd_strdup(d, r->name);
  w->type = tk_scalar(x->dtype);
  for (int i = x->rank - left; i < x->rank; i++) {
    if (x->strides[i] < 0)
      tkd_fail(d, "%s has a negative stride: watch one element.", r->name);
    count += (x->shape[i] - 1) * x->strides[i];
    if (x->shape[i] == 0) tkd_fail(d, "%s has no elements.", r->name);
  }
  if (left) {
    w->type.rank = 1;
    w->type.shape[0] = (int32_t)count;
  }
  w->host = host;
  w->from = (uint64_t)(host - r->host);
  w->lo = r->lo + w->from;
  w->hi = w->lo + (uint64_t)(count * size);
  keep(d, &w->kept, &w->kept_n, host, (size_t)(count * size));
  w->known = true;
  return true;
}

bool tkd_watch_begin(tkd *d, tkd_point *p) {
  tkd_watch *w = &p->watch;
  size_t n = name_length(p->where);
  const tki_region *r = n ? tkd_region(d, p->where, n) : NULL;
  const char *rest = p->where + n;
  if (r && (!*rest || (*rest == '[' && !strchr(rest, ':'))))
    return watch_memory(d, p, r, n);
  value v = get(d, p->where, d->frame, true, &d->value);
  if (!v.bytes) return false;
  w->type = v.type;
  keep(d, &w->kept, &w->kept_n, v.bytes, v.n);
  w->func = d->frame->func;
  w->func_name = tkd_strdup(d, w->func->name);
  if (*rest == '\0' || *rest == '[') {
    w->base = tkd_strndup(d, p->where, n);
    raw_changed(d, w, d->frame);
  }
  w->known = true;
  w->index = d->strand->task->index;
  w->by = d->frame->stmt->span;
  w->src = w->func->src;
  memcpy(w->pid, d->t->pid, sizeof w->pid);
  return true;
}
