/* engine.c - runs the programs of a launch (turns.c) and stops them.
 *
 * The interpreter counts statements; the hook before a statement is called
 * only when something may be due (`alarm`, `quick`, a site).  Whatever decides
 * to stop does it by tkd_stop_here, on the program's fiber; tkd_run_on, on the
 * main stack, then returns to the loop that asks for commands.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "debug/debug.h"

/* ---- frames ------------------------------------------------------------ */

const tki_frame *tkd_user_frame(const tki_frame *f) {
  while (f && f->func->library) f = f->caller;
  return f;
}

int tkd_depth(const tki_frame *f) {
  int n = 0;
  for (; f; f = f->caller) n += !f->func->library;
  return n;
}

int tkd_line_of(const tki_frame *f) {
  tk_span at = f->stmt ? f->stmt->span : f->func->span;
  return tk_source_line(f->func->src, at.lo);
}

tki_frame *tkd_top(const tkd *d) {
  if (!d->strand || !d->strand->task) return NULL;
  return (tki_frame *)tkd_user_frame(d->strand->task->frame);
}

void tkd_select(tkd *d, int level) {
  tki_frame *f = tkd_top(d);
  for (int i = 0; f && i < level; i++)
    f = (tki_frame *)tkd_user_frame(f->caller);
  d->frame = f;
  d->level = level;
  d->list_first = d->list_line = 0;
}

/* ---- stopping ---------------------------------------------------------- */

void tkd_stop_here(tkd *d, tkd_reason r, const tkd_point *p, const char *fmt,
                   ...) {
  tkd_stop stop = {.reason = r, .point = p};
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(stop.text, sizeof stop.text, fmt, ap);
  va_end(ap);
  if (d->scanning) {
    if (d->sub == TKD_LATE && d->event >= d->scan_now) return;
    d->hit = d->event;
    d->hit_sub = d->sub == TKD_LATE ? 0 : d->sub;
    d->hit_stop = stop;
    return;
  }
  d->stop = stop;
  tki_task_pause(d->t);
}

/* What the interpreter is to tell. */
static void arm_launch(tkd *d) {
  tki *t = d->t;
  t->watched = d->others_watch || d->fine || t->unassigned;
  t->reads = d->others_read || d->has_memory_watch;
  t->each = d->others_each || d->quick || d->fine || d->sub;
  t->due = d->alarm;
}

/* What of `quick` and `alarm` there is to look at. */
void tkd_arm(tkd *d) {
  d->quick = d->go != TKD_GO || d->has_watch || d->want_program ||
             d->interrupted || d->back || d->want_start || d->catch_program;
  if (d->replaying && !d->scanning) d->quick = 0;
  d->alarm = d->target;
  if (d->deed < d->ndeeds && d->replaying) {
    uint64_t due = d->deeds[d->deed].event;
    if (!d->alarm || due < d->alarm) d->alarm = due;
  }
  if (d->muted && (!d->alarm || d->furthest < d->alarm)) d->alarm = d->furthest;
  if (d->t) arm_launch(d);
}

static void unmute(tkd *d) {
  d->muted = false;
  tkd_arm(d);
}

/* Something was to happen at this event; true: the replay ends here.  What
 * programs printed so far reaches us when one pauses. */
static bool due(tkd *d) {
  if (d->muted && d->event >= d->furthest && d->target != d->event) {
    d->work = unmute;
    tki_task_pause(d->t);
  }
  bool here = d->target == d->event && d->target_sub == d->sub;
  if (here) {
    if (d->scanning && d->has_watch && d->back == TKD_BACK_HIT && !d->sub)
      tkd_watches_look(d, NULL, false);
    d->scanning = false;
    d->target = 0;
    tkd_stop_here(d, TKD_R_EVENT, NULL, "%s", "");
  }
  tkd_arm(d);
  return here;
}

/* ---- stepping ---------------------------------------------------------- */

/* Others may have turns while the program that is stepped waits. */
static bool other_program(const tkd *d) {
  return !d->from_ended && d->t->task->index != d->from_index;
}

static bool step_is_done(const tkd *d, const tki_frame *f) {
  int depth = tkd_depth(f);
  if (d->go == TKD_TO_PROGRAM) return d->from_ended || other_program(d);
  if (other_program(d)) return false;
  if (d->from_ended || d->go == TKD_STEP) return true;
  switch (d->go) {
  case TKD_STEPI: return true;
  case TKD_NEXT: return depth <= d->depth;
  case TKD_FINISH: return depth < d->depth;
  case TKD_UNTIL:
    return depth < d->depth ||
           (depth == d->depth && tkd_line_of(f) > d->from_line);
  default: return false;
  }
}

static bool back_is_here(const tkd *d, const tki_frame *f) {
  switch (d->back) {
  case TKD_BACK_STEP:
  case TKD_BACK_STEPI: return true;
  case TKD_BACK_NEXT: return tkd_depth(f) <= d->depth || d->new_program;
  case TKD_BACK_FINISH: return tkd_depth(f) < d->depth;
  default: return false;
  }
}

/* The steps that are left are those of the program that goes on. */
static void step_from(tkd *d, const tki_frame *f) {
  d->from_index = d->t->task->index;
  d->from_ended = false;
  d->depth = tkd_depth(f);
}

static void check_steps(tkd *d, const tki_frame *f) {
  if (d->back) {
    if (back_is_here(d, f)) tkd_stop_here(d, TKD_R_STEP, NULL, "%s", "");
    return;
  }
  if (d->go == TKD_GO || !step_is_done(d, f)) return;
  if (--d->count > 0 && d->go != TKD_FINISH) {
    if (d->from_ended || d->go == TKD_TO_PROGRAM) step_from(d, f);
    return;
  }
  tkd_reason r = d->go == TKD_FINISH       ? TKD_R_FINISH
                 : d->go == TKD_TO_PROGRAM ? TKD_R_PROGRAM
                                           : TKD_R_STEP;
  bool crossed = d->from_ended && r == TKD_R_STEP;
  tkd_stop_here(d, r, NULL, "%s", crossed ? "The program before ended" : "");
}

/* The reasons that need no breakpoint; true: it stopped. */
static bool check_events(tkd *d) {
  if (d->interrupted && !d->scanning) {
    d->interrupted = false;
    tkd_stop_here(d, TKD_R_INTERRUPT, NULL, "%s", "");
    return true;
  }
  if (!d->new_program || d->scanning) return false;
  if (d->want_start) {
    const tkd_point *p = d->caught_launch ? d->catch_launch : NULL;
    d->want_start = d->caught_launch = false;
    tkd_stop_here(d, p ? TKD_R_CATCH : TKD_R_START, p, "%s", "");
    return true;
  }
  if (!d->catch_program) return false;
  d->catch_program->hits++;
  tkd_stop_here(d, TKD_R_CATCH, d->catch_program, "%s", "");
  return true;
}

/* Everything that may stop at a statement, once. */
static void look_for_stop(tkd *d, tki *t, const tk_stmt *st) {
  if (d->has_watch && tkd_watches_look(d, st, false)) {
    d->new_program = false;
    return;
  }
  if (t->frame->func->library) return;
  bool stopped = d->scanning ? false : check_events(d);
  if (!stopped) stopped = tkd_is_site(d, st) && tkd_points_hit(d, st);
  if (!stopped) check_steps(d, t->frame);
  d->new_program = false;
}

/* What the user did here came after the stop, if there was one. */
static void look(tkd *d, tki *t, const tk_stmt *st) {
  if (d->event == d->alarm && due(d)) return;
  if (!d->replaying || d->scanning) look_for_stop(d, t, st);
  if (d->replaying) tkd_redo(d);
}

/* ---- hooks ------------------------------------------------------------- */

static void on_stmt(void *ud, tki *t, const tk_stmt *st) {
  tkd *d = ud;
  if (d->sub && !d->fine) d->sub = 0, tkd_arm(d);
  d->sub = d->insts = 0;
  if (TK_LIKELY(d->event != d->alarm && !d->quick && !tkd_is_site(d, st)))
    return;
  look(d, t, st);
}

static void on_program(void *ud, tki *t, bool begins) {
  tkd *d = ud;
  if (begins) {
    d->new_program = true;
    if (d->strands && !d->strands->next)
      tkd_begin_base(d, d->strand->task->index);
    return;
  }
  if (d->has_watch && (!d->replaying || d->scanning))
    tkd_watches_look(d, NULL, true);
  d->from_ended |= t->task->index == d->from_index;
}

static void on_frame(void *ud, tki *t, bool begins) {
  tkd *d = ud;
  if (!begins && d->go == TKD_FINISH && !d->replaying && !other_program(d))
    tkd_keep_result(d, t->frame);
}

static void on_before(void *ud, tki *t, const tk_inst *in,
                      const tki_val *args) {
  tkd *d = ud;
  (void)in, (void)args;
  if (!d->fine || t->frame->func->library) return;
  d->sub = d->insts++;
  if (!d->sub) return;
  if (d->target == d->event && d->target_sub == d->sub) {
    due(d);
  } else if (d->go == TKD_STEPI && !d->replaying && !other_program(d) &&
             --d->count == 0) {
    tkd_stop_here(d, TKD_R_STEP, NULL, "%s", "");
  } else if (d->back == TKD_BACK_STEPI && d->scanning) {
    tkd_stop_here(d, TKD_R_STEP, NULL, "%s", "");
  }
  if (d->replaying) tkd_redo(d);
}

static void on_access(void *ud, tki *t, const tki_access *a) {
  tkd *d = ud;
  (void)t;
  if (a->write && d->set.history) tkd_journal_access(d->journal, a);
  if (d->has_memory_watch) tkd_watches_access(d, a);
}

/* In the middle of a statement; what the user did there is done again. */
static void stop_late(tkd *d, tkd_reason r, const tkd_point *p,
                      const char *text) {
  if (d->detached) return;
  d->sub = TKD_LATE;
  d->t->each = true; /* the next statement ends that */
  if (!d->replaying || d->scanning) tkd_stop_here(d, r, p, "%s", text);
  if (d->replaying) tkd_redo(d);
}

/* breakpoint() in a kernel. */
static void on_breakpoint(void *ud, tki *t, const tk_inst *in) {
  (void)t, (void)in;
  stop_late(ud, TKD_R_CALL, NULL, "");
}

/* The catchpoint for what was reported last; NULL: there is none. */
static tkd_point *catches(tkd *d) {
  const tk_diag *last = d->env->last_diag;
  for (tkd_point *p = d->points; p; p = p->next) {
    if (p->kind != TKD_CATCH || !p->enabled) continue;
    if (p->caught == TKD_CATCH_FINDING) return p;
    if (p->caught == TKD_CATCH_ASSERT && last && last->id == TK_D_ASSERT)
      return p;
  }
  return NULL;
}

static void stop_reported(tkd *d, tkd_point *p) {
  const tk_diag *last = d->env->last_diag;
  if (p && !d->replaying) p->hits++;
  stop_late(d, p ? TKD_R_CATCH : TKD_R_FINDING, p,
            last ? tk_diag_name(last->id) : "");
}

static void on_stop(void *ud, tki *t) {
  stop_reported(ud, catches(ud));
  (void)t;
}

/* The program goes on after it. */
static void on_finding(void *ud, tki *t, bool stops) {
  tkd *d = ud;
  if (d->detached && stops) tki_stop(t);
  tkd_point *p = catches(d);
  bool passes = p && p->ignore && !d->replaying;
  if (passes) p->ignore--, p->hits++;
  bool again = d->replaying && !d->scanning;
  if (again || (!passes && (p || stops))) stop_reported(d, p);
}

/* A replay ends at the next statement, wherever that is. */
void tkd_ctrl_c(tkd *d) {
  if (d->replaying) {
    d->cut = true;
    d->scanning = false;
    d->back = TKD_BACK_NONE;
    d->target = d->event + 1;
    d->target_sub = 0;
  } else {
    d->interrupted = true;
  }
  tkd_arm(d);
}

static bool on_interrupt(void *ud, tki *t) {
  tkd *d = ud;
  if (d->detached) return false;
  t->env->interrupted = 0;
  tkd_ctrl_c(d);
  return true;
}

/* What programs print is not printed again when they run again. */
static void on_output(void *ud, const char *text, size_t len) {
  tkd *d = ud;
  if (d->muted) return;
  tkd_flush(d);
  if (d->opt.event)
    tkd_tell_output(d, text, len);
  else if (d->output)
    d->output(d->output_ud, text, len);
}

/* ---- moving ------------------------------------------------------------ */

void tkd_move(tkd *d, tkd_go go, uint64_t count) {
  tki_frame *f = d->frame;
  if (d->over && go != TKD_GO)
    tkd_fail(d, "The launch has ended: 'reverse-step' goes back into it, 'run' "
                "runs it again,\n'continue' leaves it.");
  d->go = go;
  d->from_index = d->strand ? d->strand->task->index : UINT64_MAX;
  d->from_ended = !d->strand;
  d->count = count;
  d->new_program = false;
  d->depth = f ? tkd_depth(f) : 0;
  d->from_line = f ? tkd_line_of(f) : 0;
  d->moves = true;
  tk_buf_clear(&d->result);
  if (go == TKD_STEPI && !d->fine && !d->over && d->sub != TKD_LATE) {
    d->fine = true;
    tkd_goto(d, d->event, 0);
    d->go = go;
    d->count = count;
    d->stop = (tkd_stop){0};
    d->gone = false;
  }
}

/* ---- a launch ---------------------------------------------------------- */

static void take_observer(tkd *d, tki *t) {
  d->others_watch = t->watched;
  d->others_read = t->reads;
  d->others_each = t->each;
  d->observer = (tki_observer){.ud = d,
                               .program = on_program,
                               .frame = on_frame,
                               .stmt = on_stmt,
                               .before = on_before,
                               .access = on_access,
                               .breakpoint = on_breakpoint,
                               .stop = on_stop,
                               .finding = on_finding,
                               .interrupt = on_interrupt};
  tki_observe(t, &d->observer);
  t->event = &d->event;
  t->watched = d->others_watch;
  t->reads = d->others_read;
  t->each = d->others_each;
}

static void launch_begins(tkd *d, tki *t) {
  d->t = t;
  d->launches++;
  d->event = d->sub = d->furthest = d->next = d->target = 0;
  d->nahead = 0;
  d->muted = d->over = d->fine = d->replaying = d->scanning = d->moves = false;
  d->go = TKD_GO;
  d->back = TKD_BACK_NONE;
  d->status = TK_OK;
  memset(d->seen_valid, 0, sizeof d->seen_valid);
  tkd_history_clear(d);
  for (tkd_point *p = d->points; p; p = p->next) p->hit_at = 0;
  tkd_watches_begin(d);
  tkd_points_resolve(d);
  d->caught_launch = d->catch_launch != NULL;
  if (d->caught_launch) d->catch_launch->hits++;
  d->want_start = d->caught_launch || d->want_launch ||
                  (d->launches == 1 && d->opt.stop_at_start);
  d->want_launch = false;
  if (d->set.order) tk_order_parse(d->env, d->set.order, t->order.n, &t->order);
  d->output = d->session->output;
  d->output_ud = d->session->output_ud;
  tk_session_output(d->session, on_output, d);
}

/* The launch has ended: does anybody want to look at that? */
static bool wants_end(const tkd *d) {
  if (d->quit || d->detached || d->status != TK_OK) return false;
  return d->opt.stop_at_end || d->go != TKD_GO || d->interrupted;
}

static bool stop_at_end(tkd *d) {
  d->furthest = d->event + 1;
  if (!wants_end(d)) return false;
  d->stop = (tkd_stop){.reason = TKD_R_END};
  return true;
}

/* What the breakpoints that were hit have to do; their commands come next. */
static void act(tkd *d) {
  const tkd_point *stop = d->stop.point;
  tk_buf *lines = tkd_temp_buf(d);
  if (!stop) return;
  bool more = d->stop.reason == TKD_R_BREAKPOINT;
  for (tkd_point *p = d->points, *next; p; p = next) {
    next = p->next;
    bool hit = p == stop || (more && p->kind == TKD_BREAK && p->enabled &&
                             p->hit_at == d->event);
    if (hit && p->commands) tk_buf_puts(lines, p->commands);
    if (hit && p->once) tkd_point_drop(d, p);
  }
  tkd_push_lines(d, tk_buf_str(lines));
}

/* Asks for commands at a stop; false: the launch is to return. */
static bool at_stop(tkd *d) {
  if (d->event > d->furthest) d->furthest = d->event;
  d->go = TKD_GO;
  tkd_drop_temp(d);
  bool again = true;
  while (again) {
    tkd_show_stop(d);
    tkd_say_refused(d);
    act(d);
    d->moves = d->gone = false;
    tkd_prompt(d);
    again = d->gone && !d->quit; /* backwards: it stands again */
  }
  tkd_arm(d);
  return !d->quit && !(d->over && d->moves);
}

static void run_launch(tkd *d) {
  tkd_begin_programs(d);
  d->over = !d->strand;
  tkd_arm(d);
  bool more = true;
  while (more) {
    if (!d->over) tkd_run_on(d);
    if (d->over && !stop_at_end(d)) break;
    more = d->detached || at_stop(d);
  }
}

static void drive_body(tk_env *e, void *ud) {
  (void)e;
  run_launch(ud);
}

static void drive(void *ud, tki *t) {
  tkd *d = ud;
  launch_begins(d, t);
  tk_status st = tk_protect(t->env, drive_body, d);
  bool ended = d->status != TK_OK;
  tkd_drop_strands(d);
  tkd_sites_clear(d);
  tkd_flush(d);
  tk_session_output(d->session, d->output, d->output_ud);
  tkd_history_clear(d);
  d->t = NULL;
  if (st != TK_OK) tk_throw(t->env, st);
  if (d->quit) tk_throw(t->env, TK_INTERRUPTED);
  if (ended) tk_throw(t->env, d->status);
}

static bool calls_breakpoint(const tk_inst *in) {
  return in->op == TK_I_BREAKPOINT;
}

static void begin(void *ud, struct tki *t) {
  tkd *d = ud;
  if (d->t != t) d->active = false;
  if (d->detached || d->quit || d->ignoring) return;
  if (d->opt.wait_for_call && !d->points &&
      !tk_program_has(t->program, calls_breakpoint))
    return;
  d->active = true;
  bool others = t->observers != NULL;
  take_observer(d, t);
  d->others = others;
  if (d->t == t) return;
  d->driver = (tki_driver){.ud = d, .run = drive, .waits = tkd_waits};
  t->driver = &d->driver;
}

/* ---- the object -------------------------------------------------------- */

static void free_debugger(tk_env *e, void *ud) {
  tkd *d = ud;
  tkd_free_all(d);
  tkd_journal_free(d->journal);
  tk_free(e, d, sizeof *d);
}

typedef struct making {
  tk_session *s;
  const tk_debugger_options *o;
  tk_debugger *d;
} making;

static void make(tk_env *e, void *ud) {
  making *m = ud;
  tkd *d = m->d = tk_calloc(e, 1, sizeof *d);
  size_t n = m->o->size < sizeof d->opt ? m->o->size : sizeof d->opt;
  memcpy(&d->opt, m->o, n);
  d->session = m->s;
  d->env = e;
  d->set = tkd_default_settings;
  tk_buf_init(&d->out, e);
  tk_buf_init(&d->result, e);
  tk_buf_init(&d->scratch, e);
  tk_buf_init(&d->input, e);
  tk_buf_init(&d->value, e);
  tk_buf_init(&d->other_value, e);
  tk_arena_init(&d->temps, e);
  d->journal = tkd_journal_new(e);
  d->watcher = (tk_watcher){.ud = d, .begin = begin, .free = free_debugger};
  tk_watcher **at = &m->s->watchers;
  while (*at) at = &(*at)->next;
  *at = &d->watcher;
}

tk_status tk_debugger_new(tk_session *s, const tk_debugger_options *o,
                          tk_debugger **out) {
  making m = {s, o, NULL};
  tk_status st = tk_session_guard(s, make, &m);
  *out = st == TK_OK ? m.d : NULL;
  if (st != TK_OK && m.d) {
    tkd_journal_free(m.d->journal);
    tk_free(&s->env, m.d, sizeof *m.d);
  }
  return st;
}

bool tk_debugger_has_quit(const tk_debugger *d) {
  return d->quit;
}

void tk_debugger_ignore(tk_debugger *d, bool launches) {
  d->ignoring = launches;
}

bool tk_debugger_is_active(const tk_debugger *d) {
  return d->active;
}
