/* api.c - the calls of debugger.h that tell the engine something. */
#include "debug/api.h"

#include <string.h>

#include "debug/edit.h"
#include "debug/history.h"
#include "debug/raise.h"
#include "debug/points.h"
#include "debug/resume.h"
#include "interp/check/check.h"

/* ---- failing ----------------------------------------------------------- */

typedef struct guarded {
  tkd *d;
  void (*fn)(tkd *d, void *ud);
  void *ud;
  size_t diags;
} guarded;

static void run_guarded(tk_env *e, void *ud) {
  guarded *g = ud;
  (void)e;
  g->fn(g->d, g->ud);
}

/* What was raised, or the first of what was reported. */
static void note_fault(tk_env *e, void *ud) {
  guarded *g = ud;
  tkd *d = g->d;
  const tk_diag *first = e->diags;
  for (size_t i = 0; first && i < g->diags; i++) first = first->next;
  tk_buf_puts(&d->answers.message, *tkd_message(d) ? tkd_message(d)
                                   : first         ? first->f.message
                                                   : "");
  for (const tk_diag *x = first; x; x = x->next)
    tk_finding_text(&d->answers.text, &x->f, false);
  if (*tkd_message(d)) tk_buf_puts(&d->answers.text, tkd_message(d));
  if (first && first->f.help) tk_buf_puts(&d->answers.help, first->f.help);
  d->answers.fault.message = tk_buf_str(&d->answers.message);
  d->answers.fault.text = tk_buf_str(&d->answers.text);
  if (first && first->f.help)
    d->answers.fault.help = tk_buf_str(&d->answers.help);
  if (!first || !first->src) return;
  d->answers.fault.from = first->span.lo;
  d->answers.fault.to = first->span.hi;
}

tk_status tkd_guard(tkd *d, void (*fn)(tkd *d, void *ud), void *ud) {
  static const char no_memory[] = "out of memory";
  guarded g = {d, fn, ud, d->env->ndiags};
  size_t mark = tk_call_begins(&d->mem);
  tkd_drop_message(d);
  tk_buf_clear(&d->answers.message);
  tk_buf_clear(&d->answers.text);
  tk_buf_clear(&d->answers.help);
  d->answers.fault = (tk_debug_fault){.message = "", .text = ""};
  tk_status st = tk_protect(d->env, run_guarded, &g);
  if (st != TK_OK) {
    d->answers.fault.message = d->answers.fault.text = no_memory;
    if (st != TK_INTERNAL) tk_protect(d->env, note_fault, &g);
    if (d->env->ndiags > g.diags) tk_diag_truncate(d->env, g.diags);
  }
  tkd_drop_message(d);
  tk_call_ends(&d->mem, mark);
  return st;
}

const tk_debug_fault *tk_debug_error(tk_debug *d) {
  if (!d->answers.fault.message)
    d->answers.fault = (tk_debug_fault){.message = "", .text = ""};
  return &d->answers.fault;
}

void tk_debug_forget(tk_debug *d) {
  tk_arena_free(&d->answers.arena);
}

/* ---- going on ---------------------------------------------------------- */

static void intend(tkd *d, void *ud) {
  tkd_intend(d, ud);
}

tk_status tk_debug_resume(tk_debug *d, const tk_resume *how) {
  tk_resume r = *how;
  return tkd_guard(d, intend, &r);
}

bool tk_debug_will_resume(const tk_debug *d) {
  return tkd_has_intent(d);
}

/* ---- time -------------------------------------------------------------- */

void tk_debug_when(const tk_debug *d, tk_debug_time *out) {
  *out = (tk_debug_time){.launch = d->launches,
                         .event = d->event,
                         .operation = d->sub == TKD_LATE ? 0 : d->sub,
                         .first =
                             d->ncheckpoints ? d->checkpoints[0].event + 1 : 0,
                         .furthest = d->furthest,
                         .over = d->over,
                         .status = d->status};
}

void tk_debug_interrupt(tk_debug *d) {
  d->env->interrupted = 1;
}

void tk_debug_history(tk_debug *d, uint64_t bytes) {
  tkd_set_history(d, bytes);
}

static void new_mark(tkd *d, void *ud) {
  int *number = ud;
  if (!d->t) tkd_raise(d, "No launch is running.");
  tkd_mark_new(d);
  *number = (int)d->nmarks;
}

tk_status tk_debug_mark(tk_debug *d, int *number) {
  return tkd_guard(d, new_mark, number);
}

typedef struct mark_asked {
  int number;
  tk_resume *out;
} mark_asked;

static void find_mark(tkd *d, void *ud) {
  mark_asked *a = ud;
  if (a->number < 1 || (size_t)a->number > d->nmarks)
    tkd_raise(d, "Which checkpoint? There are %zu.", d->nmarks);
  const tkd_mark *m = &d->marks[a->number - 1];
  *a->out = (tk_resume){.kind = TK_RESUME_EVENT,
                        .event = m->event,
                        .operation = m->sub,
                        .program = m->index};
}

tk_status tk_debug_mark_at(tk_debug *d, int number, tk_resume *out) {
  mark_asked a = {number, out};
  return tkd_guard(d, find_mark, &a);
}

/* ---- points ------------------------------------------------------------ */

typedef struct point_asked {
  int number;
  const tk_point_spec *spec;
  const char *text;
  uint64_t count;
  bool on;
  tk_point *out;
} point_asked;

static void describe_point(tkd *d, const tkd_point *p, tk_point *out) {
  bool placed = p->func && p->kind != TK_POINT_WATCH;
  *out = (tk_point){.number = p->number,
                    .spec = {.kind = p->kind,
                             .where = p->where,
                             .statement = p->form ? &p->wanted : NULL,
                             .address = p->watch.bytes ? p->watch.lo : 0,
                             .size = p->watch.bytes,
                             .condition = p->cond,
                             .format = p->format,
                             .programs = p->programs,
                             .ignore = p->ignore,
                             .reads = p->watch.reads,
                             .writes = p->watch.writes,
                             .asks = p->asks,
                             .once = p->once,
                             .disabled = !p->enabled},
                    .hits = p->hits,
                    .pending = d->t && p->pending,
                    .ever_resolved = p->resolved,
                    .waits_for_value = p->watch.births,
                    .function = placed ? p->func : p->watch.func_name,
                    .line = placed ? p->line : 0,
                    .statement = p->statement};
}

static void add_point(tkd *d, void *ud) {
  point_asked *a = ud;
  const tk_point_spec *s = a->spec;
  bool somewhere = s->kind == TK_POINT_WATCH   ? s->size
                   : s->kind == TK_POINT_CATCH ? false
                                               : s->statement != NULL;
  if (!s->where && !somewhere) tkd_raise(d, "Where is the point to be?");
  a->number = tkd_point_add(d, a->spec)->number;
}

tk_status tk_debug_add_point(tk_debug *d, const tk_point_spec *spec,
                             int *number) {
  point_asked a = {.spec = spec};
  tk_status st = tkd_guard(d, add_point, &a);
  if (number) *number = st == TK_OK ? a.number : 0;
  return st;
}

bool tk_debug_point_at(tk_debug *d, size_t i, tk_point *out) {
  const tkd_point *p = d->points.first;
  while (p && i--) p = p->next;
  if (p) describe_point(d, p, out);
  return p != NULL;
}

static void find_point(tkd *d, void *ud) {
  point_asked *a = ud;
  describe_point(d, tkd_point_numbered(d, a->number), a->out);
}

tk_status tk_debug_point_numbered(tk_debug *d, int number, tk_point *out) {
  point_asked a = {.number = number, .out = out};
  return tkd_guard(d, find_point, &a);
}

static void enable_point(tkd *d, void *ud) {
  point_asked *a = ud;
  tkd_point_enable(d, tkd_point_numbered(d, a->number), a->on);
  tkd_points_resolve(d);
}

tk_status tk_debug_enable_point(tk_debug *d, int number, bool enabled) {
  point_asked a = {.number = number, .on = enabled};
  return tkd_guard(d, enable_point, &a);
}

static void condition_point(tkd *d, void *ud) {
  point_asked *a = ud;
  tkd_point_condition(d, tkd_point_numbered(d, a->number), a->text);
}

tk_status tk_debug_condition_point(tk_debug *d, int number,
                                   const char *condition) {
  point_asked a = {.number = number, .text = condition};
  return tkd_guard(d, condition_point, &a);
}

static void ignore_point(tkd *d, void *ud) {
  point_asked *a = ud;
  tkd_point_numbered(d, a->number)->ignore = a->count;
}

tk_status tk_debug_ignore_point(tk_debug *d, int number, uint64_t hits) {
  point_asked a = {.number = number, .count = hits};
  return tkd_guard(d, ignore_point, &a);
}

static void delete_point(tkd *d, void *ud) {
  point_asked *a = ud;
  tkd_point_drop(d, tkd_point_numbered(d, a->number));
}

tk_status tk_debug_delete_point(tk_debug *d, int number) {
  point_asked a = {.number = number};
  return tkd_guard(d, delete_point, &a);
}

/* ---- changing values --------------------------------------------------- */

typedef struct assignment {
  const char *name, *text;
  const void *lanes;
  size_t size;
} assignment;

static void assign_value(tkd *d, void *ud) {
  assignment *a = ud;
  tkd_need_current(d);
  if (a->text)
    tkd_assign(d, a->name, a->text);
  else
    tkd_assign_lanes(d, a->name, a->lanes, a->size);
}

tk_status tk_debug_assign(tk_debug *d, const char *name, const char *text) {
  assignment a = {.name = name, .text = text};
  return tkd_guard(d, assign_value, &a);
}

tk_status tk_debug_assign_lanes(tk_debug *d, const char *name,
                                const void *lanes, size_t size) {
  assignment a = {.name = name, .lanes = lanes, .size = size};
  return tkd_guard(d, assign_value, &a);
}

/* ---- findings ---------------------------------------------------------- */

typedef struct finding_asked {
  const tk_finding *f;
  bool colour;
  const char *text;
} finding_asked;

static void write_finding(tkd *d, void *ud) {
  finding_asked *a = ud;
  tk_buf *b = tk_temp_buf(&d->mem);
  tk_finding_text(b, a->f, a->colour);
  a->text = tk_arena_strdup(&d->answers.arena, tk_buf_str(b));
}

const char *tk_debug_finding_text(tk_debug *d, const tk_finding *f,
                                  bool colour) {
  finding_asked a = {f, colour, NULL};
  return tkd_guard(d, write_finding, &a) == TK_OK ? a.text : NULL;
}

void tk_debug_told(tk_debug *d, const tk_finding *f) {
  for (tk_diag *x = d->env->diags; x; x = x->next)
    if (&x->f == f) x->f.shown = x->f.count;
}

/* ---- detectors --------------------------------------------------------- */

void tkd_choose_detectors(tkd *d, const char *list) {
  bool begun = d->t && (d->ncheckpoints || d->event);
  if (begun && (!d->ncheckpoints || d->checkpoints[0].event))
    tkd_raise(d, "Detectors need the beginning of the launch, whose history "
                 "was dropped: 'set check'\ncomes before it, and 'set "
                 "history'.");
  tkc_choose(d->session, list);
  if (begun) tkd_watch_again(d);
}

static void choose_detectors(tkd *d, void *ud) {
  tkd_choose_detectors(d, *(const char **)ud);
}

tk_status tk_debug_check(tk_debug *d, const char *list) {
  return tkd_guard(d, choose_detectors, &list);
}
