/* engine.c - a launch under the debugger: its programs run (programs.c) until
 * one stops, the front end is called, and what it wants is carried out.
 */
#include "debug/engine.h"

#include <string.h>

#include "base/clock.h"
#include "debug/api.h"
#include "debug/describe.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/hooks.h"
#include "debug/launches.h"
#include "debug/raise.h"
#include "debug/points.h"
#include "debug/programs.h"
#include "debug/resume.h"
#include "debug/stop.h"

/* ---- stops ------------------------------------------------------------- */

/* The front end looks around and says how to go on. */
static void call_front(tkd *d) {
  const tk_debug_stop *s = tkd_describe_stop(d);
  d->at.reported = d->env->ndiags;
  if (d->at.event > d->at.furthest) d->at.furthest = d->at.event;
  TK_ASSERT(d->launch.over == !d->programs.task &&
            d->launch.over == !d->at.frame);
  TK_ASSERT(!d->mem.calls && !d->t->task && !tkd_has_intent(d));
  tkd_points_drop_used(d);
  if (d->front.stopped) {
    double before = tk_clock_seconds();
    d->front.stopped(d->front.ud, d, s);
    d->t->waited += tk_clock_seconds() - before;
  }
  tk_arena_free(&d->answers.arena);
  if (!d->at.elsewhere) return;
  memcpy(d->t->pid, d->programs.task->pid, sizeof d->t->pid);
  tkd_select(d, 0);
}

typedef struct carrying {
  tkd *d;
  bool positions;
} carrying;

static void carry_body(tk_env *e, void *ud) {
  carrying *c = ud;
  (void)e;
  c->positions = tkd_carry_out(c->d);
}

/* Whether the launch ends before its programs have. */
static bool ends_now(const tkd *d) {
  return d->launch.quit || (d->launch.leaves && d->launches.again);
}

/* Calls the front end until programs are to run; false: the launch is to
 * return.  What fails on the way leaves the launch at its end. */
static bool at_stop(tkd *d) {
  carrying c = {.d = d, .positions = true};
  d->course.steps.kind = TK_RESUME_CONTINUE;
  tkd_drop_temp(d);
  while (c.positions && !ends_now(d)) {
    call_front(d);
    d->clock = tkd_clock_from(d, d->at.event);
    size_t mark = tk_call_begins(&d->mem);
    bool failed = tk_protect(d->env, carry_body, &c) != TK_OK;
    tk_call_ends(&d->mem, mark);
    if (!failed) continue;
    tkd_recover(d);
    d->at.stop =
        (tkd_stop){.reason = d->launch.over ? TK_STOP_END : TK_STOP_EVENT};
    c.positions = true;
  }
  tkd_arm(d);
  return !ends_now(d) && !d->launch.over;
}

/* Whether the end of the launch is a stop. */
static bool stops_at_end(tkd *d) {
  tkd_point *p = d->points.catch_end;
  d->at.furthest = d->at.event + 1;
  if (d->launch.quit || tkd_is_left_alone(d) || d->launch.status != TK_OK)
    return false;
  if (p) p->hits++;
  if (p && p->ignore) p->ignore--, p = NULL;
  if (!p && !d->front.stop_at_end && !d->armed.interrupted &&
      d->course.steps.kind == TK_RESUME_CONTINUE)
    return false;
  d->at.stop = (tkd_stop){.reason = p ? TK_STOP_CATCH : TK_STOP_END,
                          .point = p ? p->number : 0};
  return true;
}

/* ---- a launch ---------------------------------------------------------- */

/* What programs print is not printed again when they run again. */
static void pass_output(void *ud, const char *text, size_t len) {
  tkd *d = ud;
  if (d->course.muted) return;
  if (d->front.output)
    d->front.output(d->front.ud, text, len);
  else if (d->launch.output)
    d->launch.output(d->launch.output_ud, text, len);
}

static void launch_begins(tkd *d, tki *t) {
  d->t = t;
  tkd_launch_counted(d);
  d->at.event = d->at.sub = d->at.furthest = 0;
  d->programs.schedule = t->schedule;
  d->course.muted = d->launch.over = d->armed.instructions = d->at.gone = false;
  d->course.phase = TKD_RUNNING;
  d->course.steps = (tkd_steps){.kind = TK_RESUME_CONTINUE};
  d->course.replay = (tkd_replay){0};
  tkd_drop_intent(d);
  tkd_drop_temp(d);
  d->launch.status = TK_OK;
  d->launch.told = d->env->last_diag;
  tkd_history_clear(d);
  for (tkd_point *p = d->points.first; p; p = p->next) p->hit_at = 0;
  tkd_watches_begin(d);
  tkd_points_resolve(d);
  d->armed.caught_launch = d->points.catch_launch != NULL;
  if (d->armed.caught_launch) d->points.catch_launch->hits++;
  uint64_t n = d->launch.number;
  bool wanted = d->launches.again || (d->armed.launch && n >= d->armed.launch);
  d->armed.start =
      d->armed.caught_launch || wanted || (n == 1 && d->front.stop_at_start);
  if (wanted && !d->launches.again) d->armed.launch = 0;
  tkd_take_order(d);
  d->clock = tkd_clock_from(d, d->at.event);
  d->launch.output = d->session->output;
  d->launch.output_ud = d->session->output_ud;
  tk_session_output(d->session, pass_output, d);
  if (d->front.begins) d->front.begins(d->front.ud, d);
}

static void drive_body(tk_env *e, void *ud) {
  tkd *d = ud;
  (void)e;
  tkd_choose(d);
  d->launch.over = !d->programs.task;
  tkd_arm(d);
  bool more = true;
  while (more) {
    if (!d->launch.over) tkd_run_on(d);
    if (d->launch.over && !stops_at_end(d)) break;
    more = tkd_is_left_alone(d) || at_stop(d);
  }
}

static void drive(void *ud, tki *t) {
  tkd *d = ud;
  launch_begins(d, t);
  tk_status st = tk_protect(t->env, drive_body, d);
  bool left = d->launch.over && !d->launches.again; /* at its end */
  if (ends_now(d) && !left) d->launch.status = TK_INTERRUPTED;
  if (st != TK_OK) d->launch.status = st;
  tk_status ended = d->launch.status;
  tkd_drop_programs(d);
  tkd_sites_clear(d);
  if (d->front.ends) d->front.ends(d->front.ud, d);
  tk_session_output(d->session, d->launch.output, d->launch.output_ud);
  tkd_history_clear(d);
  tk_arena_free(&d->answers.arena);
  tk_temps_free(&d->mem);
  d->launch.leaves = false;
  d->t = NULL;
  if (ended != TK_OK) tk_throw(t->env, ended);
}

static bool calls_breakpoint(const tk_inst *in) {
  return in->op == TK_I_BREAKPOINT;
}

/* The interpreter counts events and is asked to tell by the engine alone. */
static void take_observer(tkd *d, tki *t) {
  d->launch.others = (tkd_others){.any = t->observers != NULL,
                                  .watch = t->wants_insts,
                                  .read = t->wants_loads,
                                  .each = t->wants_stmts};
  d->launch.observer = tkd_observer(d);
  tki_observe(t, &d->launch.observer);
  t->event = &d->at.event;
  t->wants_insts = d->launch.others.watch;
  t->wants_loads = d->launch.others.read;
  t->wants_stmts = d->launch.others.each;
}

static void begin_watching(void *ud, struct tki *t) {
  tkd *d = ud;
  if (d->t != t) d->launch.active = false;
  if (d->launch.detached || d->launch.quit || d->launch.ignoring) return;
  if (d->front.wait_for_call && !d->points.first &&
      !tk_program_has(t->program, calls_breakpoint))
    return;
  d->launch.active = true;
  take_observer(d, t);
  if (d->t == t) return; /* it is at its beginning again */
  d->launch.driver = (tki_driver){.ud = d, .run = drive};
  t->driver = &d->launch.driver;
}

/* ---- the object -------------------------------------------------------- */

static void free_buffers(tkd *d) {
  tk_buf_free(&d->raised.message);
  tk_buf_free(&d->raised.about);
  tk_buf_free(&d->answers.text);
  tk_buf_free(&d->answers.message);
  tk_buf_free(&d->answers.help);
  tk_buf_free(&d->answers.about);
  for (int i = 0; i < d->answers.nouter; i++)
    tk_arena_free(&d->answers.outer[i]);
}

static void free_engine(tk_env *e, void *ud) {
  tkd *d = ud;
  tk_scratch_free(&d->mem);
  tkd_drop_fault(d);
  tk_arena_free(&d->answers.arena);
  tkd_points_free(d);
  tkd_launches_free(d);
  for (size_t i = 0; i < d->returned.cap; i++)
    tkd_drop_value(d, &d->returned.list[i]);
  tk_free(e, d->returned.list, d->returned.cap * sizeof *d->returned.list);
  tk_text_free(d->env, d->time.order);
  tk_text_free(d->env, d->course.location);
  tk_free(e, d->time.checkpoints,
          d->time.cap_checkpoints * sizeof *d->time.checkpoints);
  tk_free(e, d->time.edits, d->time.cap_edits * sizeof *d->time.edits);
  tk_free(e, d->time.marks, d->time.cap_marks * sizeof *d->time.marks);
  free_buffers(d);
  tkd_journal_free(d->time.journal);
  tk_free(e, d, sizeof *d);
}

typedef struct engine_making {
  tk_session *s;
  tkd *d;
} engine_making;

static void make_engine(tk_env *e, void *ud) {
  engine_making *m = ud;
  tkd *d = m->d = tk_calloc(e, 1, sizeof *d);
  d->session = m->s;
  d->env = e;
  d->time.limit = TKD_HISTORY;
  d->launches.most = TKD_LAUNCHES;
  d->course.steps.kind = TK_RESUME_CONTINUE;
  tk_buf_init(&d->raised.message, e);
  tk_buf_init(&d->raised.about, e);
  tk_buf_init(&d->answers.text, e);
  tk_buf_init(&d->answers.message, e);
  tk_buf_init(&d->answers.help, e);
  tk_buf_init(&d->answers.about, e);
  tk_scratch_init(&d->mem, e);
  tk_arena_init(&d->answers.arena, e);
  d->time.journal = tkd_journal_new(e);
  d->launch.watcher =
      (tk_watcher){.ud = d, .begin = begin_watching, .free = free_engine};
  tk_session_watch(m->s, &d->launch.watcher);
}

void tk_debug_hand_over(tk_debug *d, const tk_debug_front *front,
                        tk_debug_front *old) {
  tk_debug_front now = {.size = sizeof now};
  size_t n = front->size < sizeof now ? front->size : sizeof now;
  if (old) *old = d->front;
  memcpy(&now, front, n);
  d->front = now;
  d->launch.watcher.wants_interp = !now.wait_for_call;
}

tk_status tk_debug_new(tk_session *s, const tk_debug_front *front,
                       tk_debug **out) {
  engine_making m = {.s = s};
  tk_status st = tk_session_guard(s, make_engine, &m);
  *out = st == TK_OK ? m.d : NULL;
  if (st == TK_OK) tk_debug_hand_over(m.d, front, NULL);
  if (st != TK_OK && m.d) tk_free(&s->env, m.d, sizeof *m.d);
  return st;
}

bool tk_debug_has_quit(const tk_debug *d) {
  return d->launch.quit;
}

void tk_debug_quit(tk_debug *d) {
  d->launch.quit = true;
}

void tk_debug_ignore(tk_debug *d, bool launches) {
  d->launch.ignoring = launches;
}

bool tk_debug_is_active(const tk_debug *d) {
  return d->launch.active;
}
