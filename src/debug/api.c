/* api.c - the calls of debugger.h that tell the engine something. */
#include "debug/api.h"

#include <string.h>

#include "debug/edit.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/points.h"
#include "debug/resume.h"
#include "debug/stop.h"
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

/* The source of an expression goes with the call; what is said of it stays. */
static void keep_place(tkd *d, tk_place *p) {
  tk_arena *a = &d->answers.arena;
  if (p->file) p->file = tk_arena_strdup(a, p->file);
  if (p->text) p->text = tk_arena_strndup(a, p->text, p->text_length);
  if (p->origin) p->origin = tk_arena_strdup(a, p->origin);
}

static void keep_places(tkd *d, tk_diag *x) {
  keep_place(d, &x->f.place);
  keep_place(d, &x->f.from);
  for (const tk_finding_note *n = x->f.notes; n; n = n->next)
    keep_place(d, (tk_place *)&n->place);
}

static const tk_debug_fault no_fault = {.message = "", .text = "", .about = ""};

static const tk_remedy remedies[TK_FAULTS] = {
#define FAULT(id, remedy, text) [TK_FAULT_##id] = TK_REMEDY_##remedy,
#include "tkdbg/fault.def"
#undef FAULT
};

/* Lists the findings that the call has left, and adds their text. */
static void list_findings(tk_env *e, tkd *d) {
  tkd_answers *a = &d->answers;
  size_t n = 0;
  for (const tk_diag *x = a->findings; x; x = x->next) n++;
  a->list = tk_calloc(e, n + 1, sizeof *a->list);
  a->list_size = (n + 1) * sizeof *a->list;
  a->fault.findings = a->list;
  for (tk_diag *x = a->findings; x; x = x->next) {
    keep_places(d, x);
    a->list[a->fault.nfindings++] = &x->f;
    tk_finding_text(&a->text, &x->f, false);
  }
}

/* The first of the findings says where it is, and what may help. */
static void note_finding(tkd_answers *a, const tk_diag *x) {
  a->fault.id = TK_FAULT_FINDINGS;
  tk_buf_puts(&a->message, x->f.message);
  if (x->f.help) {
    tk_buf_puts(&a->help, x->f.help);
    a->fault.help = tk_buf_str(&a->help);
  }
  if (!x->src) return;
  a->fault.from = x->span.lo;
  a->fault.to = x->span.hi;
}

static void note_raised(tkd_answers *a, const tkd_raised *r) {
  TK_ASSERT(r->id > TK_FAULT_FINDINGS && r->id < TK_FAULTS);
  a->fault.id = r->id;
  a->fault.remedy = remedies[r->id];
  tk_buf_clear(&a->message);
  tk_buf_add(&a->message, r->message.s, r->message.n);
  tk_buf_add(&a->text, r->message.s, r->message.n);
  tk_buf_add(&a->about, r->about.s, r->about.n);
}

/* What was raised, or the first of what was reported, which leaves the
 * report. */
static void note_fault(tk_env *e, void *ud) {
  guarded *g = ud;
  tkd *d = g->d;
  tkd_answers *a = &d->answers;
  list_findings(e, d);
  if (a->findings) note_finding(a, a->findings);
  if (d->raised.id) note_raised(a, &d->raised);
  a->fault.message = tk_buf_str(&a->message);
  a->fault.text = tk_buf_str(&a->text);
  a->fault.about = tk_buf_str(&a->about);
}

void tkd_drop_fault(tkd *d) {
  tkd_answers *a = &d->answers;
  tk_diag_free(d->env, a->findings);
  tk_free(d->env, a->list, a->list_size);
  tk_buf_clear(&a->message);
  tk_buf_clear(&a->text);
  tk_buf_clear(&a->help);
  tk_buf_clear(&a->about);
  a->findings = NULL;
  a->list = NULL;
  a->list_size = 0;
  a->fault = no_fault;
}

tk_status tkd_try(tkd *d, void (*fn)(tkd *d, void *ud), void *ud) {
  guarded g = {d, fn, ud, d->env->ndiags};
  tk_status st = tk_protect(d->env, run_guarded, &g);
  if (st != TK_OK) tkd_drop_raised(d);
  return st;
}

tk_status tkd_guard(tkd *d, void (*fn)(tkd *d, void *ud), void *ud) {
  static const char no_memory[] = "out of memory";
  guarded g = {d, fn, ud, d->env->ndiags};
  size_t mark = tk_call_begins(&d->mem);
  tkd_drop_raised(d);
  tkd_drop_fault(d);
  tk_status st = tk_protect(d->env, run_guarded, &g);
  if (st != TK_OK) {
    tkd_drop_fault(d); /* that of a call within this one */
    d->answers.fault.message = d->answers.fault.text = no_memory;
    d->answers.fault.id = TK_FAULT_MEMORY;
    d->answers.findings = tk_diag_take(d->env, g.diags);
    if (st != TK_INTERNAL) tk_protect(d->env, note_fault, &g);
  }
  tkd_drop_raised(d);
  tk_call_ends(&d->mem, mark);
  return st;
}

const tk_debug_fault *tk_debug_error(tk_debug *d) {
  if (!d->answers.fault.message) d->answers.fault = no_fault;
  return &d->answers.fault;
}

void tk_debug_forget(tk_debug *d) {
  tk_arena_free(&d->answers.arena);
}

/* Blocks that are too many are one with the last. */
void tk_debug_block_begins(tk_debug *d) {
  tkd_answers *a = &d->answers;
  if (a->nouter++ >= TKD_BLOCKS) return;
  a->outer[a->nouter - 1] = a->arena;
  tk_arena_init(&a->arena, d->env);
}

void tk_debug_block_ends(tk_debug *d) {
  tkd_answers *a = &d->answers;
  TK_ASSERT(a->nouter > 0);
  if (--a->nouter >= TKD_BLOCKS) return;
  tk_arena_free(&a->arena);
  a->arena = a->outer[a->nouter];
}

/* ---- going on ---------------------------------------------------------- */

static void intend(tkd *d, void *ud) {
  const tk_resume *how = ud;
  if (how->kind == TK_RESUME_NONE) {
    tkd_drop_intent(d);
    return;
  }
  if (d->at.visiting) tkd_raise(d, VISITING_MOVE);
  tkd_intend(d, how);
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
  *out = (tk_debug_time){
      .launch = d->launch.number,
      .event = d->at.event,
      .operation = tkd_operation(d),
      .first = d->time.ncheckpoints ? d->time.checkpoints[0].event + 1 : 0,
      .furthest = d->at.furthest,
      .done = d->t ? d->t->done : 0,
      .aside = d->at.aside,
      .kept =
          tkd_journal_at(d->time.journal) - tkd_journal_first(d->time.journal),
      .most = d->time.limit,
      .over = d->launch.over,
      .raised = d->launches.raised && !d->t,
      .status = d->launch.status};
}

void tk_debug_interrupt(tk_debug *d) {
  d->env->pauses = 1;
  d->env->interrupted = 1;
}

void tk_debug_call(tk_debug *d) {
  d->launch.called = true;
  tk_debug_interrupt(d);
}

void tk_debug_call_off(tk_debug *d) {
  if (d->launch.called) d->env->interrupted = d->env->pauses = 0;
  d->launch.called = false;
}

void tk_debug_history(tk_debug *d, uint64_t bytes) {
  tkd_set_history(d, bytes);
}

static void new_mark(tkd *d, void *ud) {
  int *number = ud;
  if (!d->t) tkd_raise(d, NO_LAUNCH);
  tkd_mark_new(d);
  *number = (int)d->time.nmarks;
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
  if (a->number < 1 || (size_t)a->number > d->time.nmarks)
    tkd_raise(d, NO_MARK, d->time.nmarks);
  const tkd_mark *m = &d->time.marks[a->number - 1];
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
                    .waits_for_value = p->watch.waits_for_value,
                    .function = placed ? p->func : p->watch.func_name,
                    .line = placed ? p->line : 0,
                    .program_line = placed ? p->program_line : 0,
                    .statement = p->statement};
}

static void add_point(tkd *d, void *ud) {
  point_asked *a = ud;
  const tk_point_spec *s = a->spec;
  bool somewhere = s->kind == TK_POINT_WATCH   ? s->size
                   : s->kind == TK_POINT_CATCH ? false
                                               : s->statement != NULL;
  if (!s->where && !somewhere) tkd_raise(d, WHERE);
  a->number = tkd_point_add(d, a->spec)->number;
}

tk_status tk_debug_add_point(tk_debug *d, const tk_point_spec *spec,
                             int *number) {
  point_asked a = {.spec = spec};
  tk_status st = tkd_guard(d, add_point, &a);
  if (number) *number = st == TK_OK ? a.number : 0;
  return st;
}

static void try_point(tkd *d, void *ud) {
  add_point(d, ud);
  tkd_point_take_back(d);
}

tk_status tk_debug_try_point(tk_debug *d, const tk_point_spec *spec) {
  point_asked a = {.spec = spec};
  return tkd_guard(d, try_point, &a);
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
  const char *index = strchr(a->name, '[');
  const tki_region *r = index && a->text
                            ? tkd_region(d, a->name, (size_t)(index - a->name))
                            : NULL;
  tkd_need_current(d);
  if (r)
    tkd_assign_elements(d, r, index, a->text);
  else if (index)
    tkd_raise_about(
        d, tk_arena_strndup(&d->mem.arena, a->name, (size_t)(index - a->name)),
        SET_LANE);
  else if (a->text)
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

/* ---- the launch -------------------------------------------------------- */

tk_session *tk_debug_session(const tk_debug *d) {
  return d->session;
}

tk_launch *tk_debug_launch(const tk_debug *d) {
  return d->t ? d->t->launch : NULL;
}

static void set_order(tkd *d, void *ud) {
  const char *text = *(const char **)ud;
  tk_order order;
  if (text && !tk_order_parse(d->env, text, 1, &order))
    tk_throw(d->env, TK_USAGE);
  tk_text_set(d->env, &d->time.order, text);
}

tk_status tk_debug_order(tk_debug *d, const char *order) {
  return tkd_guard(d, set_order, &order);
}

const char *tk_debug_order_of(const tk_debug *d) {
  return d->time.order;
}

bool tk_debug_asserts(const tk_debug *d) {
  return d->t && d->t->asserts;
}

void tk_debug_pass_output(tk_debug *d, const char *text, size_t len) {
  if (d->launch.output) d->launch.output(d->launch.output_ud, text, len);
}

typedef struct line_asked {
  const char *location;
  int line;
} line_asked;

static void find_line(tkd *d, void *ud) {
  line_asked *a = ud;
  a->line = tkd_line_at(d, a->location);
}

int tk_debug_line_of(tk_debug *d, const char *location) {
  line_asked a = {location, 0};
  return tkd_guard(d, find_line, &a) == TK_OK ? a.line : 0;
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

static void choose_detectors(tkd *d, void *ud) {
  const char *list = *(const char **)ud;
  if (d->at.visiting) tkd_raise(d, VISITING_CHECK);
  bool begun = d->t && (d->time.ncheckpoints || d->at.event);
  if (begun && (!d->time.ncheckpoints || d->time.checkpoints[0].event))
    tkd_raise(d, BEGINNING_DROPPED);
  tkc_choose(d->session, list);
  if (begun) tkd_watch_again(d);
}

tk_status tk_debug_check(tk_debug *d, const char *list) {
  tk_status st = tkd_guard(d, choose_detectors, &list);
  if (st != TK_OK) tkd_recover(d);
  return st;
}

bool tk_debug_is_checked(const tk_debug *d, const char *name) {
  for (tkc_id i = 0; i < TKC_COUNT; i++)
    if (!strcmp(tk_check_name(i), name)) return tkc_is_on(d->session, i);
  return false;
}
