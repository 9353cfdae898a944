/* describe.c - stops, places and values as data. */
#include "debug/describe.h"

#include <string.h>

#include "debug/frames.h"
#include "debug/points.h"
#include "debug/programs.h"
#include "debug/stop.h"
#include "ir/view.h"

static const char *answer_text(tkd *d, const char *s) {
  return s ? tk_arena_strdup(&d->answers.arena, s) : NULL;
}

tk_place tkd_place_of_frame(const tki_frame *f) {
  return tk_place_of(f->func->src, f->stmt ? f->stmt->span : f->func->span);
}

static void *answer_bytes(tkd *d, const void *bytes, size_t n) {
  char *copy = tk_arena_alloc(&d->answers.arena, n + 1);
  if (n) memcpy(copy, bytes, n);
  return copy;
}

tk_debug_value tkd_describe_value(tkd *d, const char *name,
                                  const tkd_value *v) {
  const char *path = v->path ? v->path : "";
  tk_debug_value x = {
      .name = tk_arena_printf(&d->answers.arena, "%s%s", name, path),
      .path = answer_text(d, v->path),
      .before = answer_text(d, v->before),
      .known = answer_text(d, v->known),
      .type = tk_type_view(&v->type)};
  if (!v->bytes) return x;
  if (v->region >= 0 && d->t && (size_t)v->region < d->t->nregions)
    x.tensor = d->t->regions[v->region].name;
  x.size = v->n;
  x.lanes = answer_bytes(d, v->bytes, v->n);
  if (v->undefined)
    x.undefined = answer_bytes(d, v->undefined, (size_t)tk_numel(&v->type));
  return x;
}

/* ---- stops ------------------------------------------------------------- */

static void count_changed_lanes(tk_debug_change *c, const tkd_watch *w) {
  size_t size = tk_lane_size(&w->became.type);
  size_t n = (size_t)tk_numel(&w->became.type);
  if (!c->was_known || w->was.n != w->became.n) return;
  for (size_t i = 0; i < n; i++) {
    if (!memcmp(w->was.bytes + i * size, w->became.bytes + i * size, size))
      continue;
    if (!c->lanes++) c->first_lane = (int64_t)i;
  }
}

static tk_debug_change describe_change(tkd *d, const tkd_point *p) {
  const tkd_watch *w = &p->watch;
  const tkd_writer *by = &w->wrote;
  tkd_value was = tkd_kept_value(&w->was), now = tkd_kept_value(&w->became);
  tk_debug_change c = {.point = p->number,
                       .watched = answer_text(d, p->where),
                       .changed = w->changed,
                       .first = w->first_value,
                       .reads = w->by_reading,
                       .was_known = w->changed && !w->first_value,
                       .where = tk_place_of(by->src, by->at),
                       .function = by->func};
  was.path = now.path = w->about;
  c.now = tkd_describe_value(d, p->where, &now);
  if (c.was_known) c.old = tkd_describe_value(d, p->where, &was);
  count_changed_lanes(&c, w);
  memcpy(c.pid, by->pid, sizeof c.pid);
  return c;
}

static void describe_changes(tkd *d, tk_debug_stop *s) {
  size_t n = 0;
  for (const tkd_point *p = d->points.first; p; p = p->next)
    n += tkd_watch_was_hit(d, p);
  tk_debug_change *at = TK_NEWN(&d->answers.arena, tk_debug_change, n + 1);
  s->changes = at;
  s->nchanges = n;
  for (const tkd_point *p = d->points.first; p; p = p->next)
    if (tkd_watch_was_hit(d, p)) *at++ = describe_change(d, p);
}

static void describe_hits(tkd *d, tk_debug_stop *s) {
  size_t n = 0;
  for (const tkd_point *p = d->points.first; p; p = p->next) n++;
  int *at = TK_NEWN(&d->answers.arena, int, n + 1);
  s->hit = at;
  for (const tkd_point *p = d->points.first; p; p = p->next)
    if (tkd_point_was_hit(d, p)) at[s->nhit++] = p->number;
}

static void describe_returned(tkd *d, tk_debug_stop *s) {
  if (d->at.stop.reason != TK_STOP_FINISH && !tkd_is_leaving(d)) return;
  tk_debug_value *at =
      TK_NEWN(&d->answers.arena, tk_debug_value, d->returned.n + 1);
  for (size_t i = 0; i < d->returned.n; i++) {
    tkd_value v = tkd_kept_value(&d->returned.list[i]);
    at[i] = tkd_describe_value(d, "", &v);
  }
  s->returned = at;
  s->nreturned = d->returned.n;
}

/* Where the program stands that runs next. */
static void describe_program(tkd *d, tk_debug_stop *s) {
  const tki_frame *f = d->at.frame;
  s->program = TK_DEBUG_NO_PROGRAM;
  s->statement = TK_DEBUG_NO_STATEMENT;
  if (!f) return;
  TK_ASSERT(d->programs.task && d->programs.task->frame);
  s->program = d->programs.task->index;
  memcpy(s->pid, d->t->pid, sizeof s->pid);
  s->function = f->func->name;
  s->place = tkd_place_of_frame(f);
  if (f->stmt) s->statement = f->stmt->id;
  if (d->at.sub && d->at.sub != TKD_LATE && f->inst) {
    const char *mode = tk_mode_name(f->inst);
    s->opcode = tk_arena_printf(&d->answers.arena, "%s%s%s",
                                tk_inst_name((tk_opcode)f->inst->op),
                                *mode ? " " : "", mode);
    s->operation_at = tk_place_of(f->func->src, f->inst->span);
  }
  s->in_loop = f->loops != NULL;
  if (f->loops) s->trip = f->loops->trip;
}

/* More about the stop: of a watchpoint, what it watches. */
static const char *text_of_stop(tkd *d, const tkd_point *p) {
  const tkd_stop *s = &d->at.stop;
  tk_arena *a = &d->answers.arena;
  if (s->text) return tk_arena_strdup(a, s->text);
  if (s->reason != TK_STOP_WATCH || !p) return "";
  if (s->read) return tk_arena_printf(a, "%s is read here", p->where);
  if (s->line) return tk_arena_printf(a, "%s, line %d", p->where, s->line);
  return tk_arena_strdup(a, p->where);
}

const tk_debug_stop *tkd_describe_stop(tkd *d) {
  tk_debug_stop *s = TK_NEW(&d->answers.arena, tk_debug_stop);
  /* A deadlock's report is dropped when the user resolves it. */
  size_t n = d->env->ndiags, shown = d->at.reported < n ? d->at.reported : n;
  TK_ASSERT(d->t && !d->t->task);
  const tkd_point *p = tkd_point_that_stopped(d);
  bool caught = p && p->kind == TK_POINT_CATCH;
  *s = (tk_debug_stop){.reason = d->at.stop.reason,
                       .point = p ? p->number : 0,
                       .text = text_of_stop(d, p),
                       .caught = caught ? answer_text(d, p->where) : NULL,
                       .over = d->launch.over,
                       .travelled = d->at.gone,
                       .launch = d->launch.number,
                       .again = d->launches.again != 0,
                       .kernel = d->t->program->kernel->name,
                       .event = d->at.event,
                       .operation = tkd_operation(d)};
  memcpy(s->grid, d->t->grid, sizeof s->grid);
  s->findings = tkd_findings_from(d, d->at.gone ? n : shown, &s->nfindings);
  describe_program(d, s);
  describe_changes(d, s);
  describe_hits(d, s);
  describe_returned(d, s);
  return s;
}

const char *tk_stop_reason_name(tk_stop_reason r) {
  static const char *const names[] = {
#define STOP(id, name, text) name,
#include "tkdbg/stop.def"
#undef STOP
  };
  return (size_t)r < TK_COUNT(names) ? names[r] : NULL;
}
