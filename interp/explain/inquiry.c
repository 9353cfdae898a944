/* inquiry.c - all that a run can be asked, as one watcher of it.
 */
#include "interp/explain/inquiry.h"

#include "report/report.h"

static void touch_access(void *ud, tki *t, const tki_access *a) {
  tke_inquiry *q = ud;
  tke_touches_add(&q->touches, t, a);
}

static void log_access(void *ud, tki *t, const tki_access *a) {
  tke_inquiry *q = ud;
  tke_access_log_add(&q->log, t, a);
}

/* Called again, for the same run, when a debugger takes it back to its
 * beginning. */
static void inquiry_begins(void *ud, tki *t) {
  tke_inquiry *q = ud;
  bool again = q->t == t;
  q->t = t;
  if (q->blame_elements && !again)
    tke_blame_new(t, "--blame", q->blame_elements, &q->blame);
  if (q->explain_elements && !again)
    tke_explain_new(t, q->explain_elements, &q->explain);
  if (q->stop_pid)
    tke_stopped_begin(&q->stopped, t, q->stop_pid, &q->launch->answers);
  if (q->blame) tke_blame_attach(q->blame);
  if (q->explain) tke_explain_attach(q->explain);
  tke_touches_free(&q->touches);
  q->touches.src = t->program->kernel->src;
  q->toucher = (tki_observer){.ud = q, .access = touch_access};
  if (q->touches.line) tki_observe(t, &q->toucher);
  tke_access_log_begin(&q->log, &q->launch->answers);
  q->logger = (tki_observer){.ud = q, .access = log_access};
  if (q->logs) tki_observe(t, &q->logger);
}

/* Finds all answers.  None is printed before all have been found, so that if
 * the user interrupts an explanation nothing is printed at all. */
static void find_answers(tke_inquiry *q) {
  const tke_touches *touches = &q->touches;
  tk_launch *l = q->launch;
  tk_arena *a = &l->answers;
  const tke_target *x = q->blame ? q->blame->targets : NULL;
  for (; x; x = x->next) {
    tk_blame found = tke_blame_found(q->blame, a, x);
    TK_PUSH(a, &l->blames, found);
  }
  for (size_t i = 0; i < touches->n; i++) {
    tk_access_picture found =
        tke_touch_picture(&touches->items[i], a, q->t, false);
    TK_ASSERT(touches->line > 0 && touches->line <= (int)touches->src->nlines);
    uint32_t at = touches->src->lines[touches->line - 1];
    found.place = tk_place_of(touches->src, (tk_span){at, at});
    TK_PUSH(a, &l->pictures, found);
  }
  if (q->logs) l->log = tke_access_log_found(&q->log);
  x = q->explain ? tke_explain_targets(q->explain) : NULL;
  for (; x; x = x->next) {
    tk_explanation found = tke_explain_found(q->explain, a, x);
    TK_PUSH(a, &l->explanations, found);
  }
  if (q->stopped.found.nsteps) TK_PUSH(a, &l->explanations, q->stopped.found);
  tke_stopped_end(&q->stopped, true);
}

static void write_answers(const tk_launch *l, tk_session *s) {
  tk_buf b;
  tk_buf_init(&b, &s->env);
  for (size_t i = 0; i < l->blames.n; i++)
    tk_report_blame(&b, &l->blames.items[i]);
  for (size_t i = 0; i < l->explanations.n; i++)
    tk_report_explanation(&b, &l->explanations.items[i]);
  if (b.n) s->output(s->output_ud, b.s, b.n);
  tk_buf_free(&b);
}

static void inquiry_answers(void *ud, tki *t, tk_status st) {
  tke_inquiry *q = ud;
  if (q->t != t || st == TK_USAGE) return;
  find_answers(q);
  if (q->session->output && !q->silent) write_answers(q->launch, q->session);
}

void tke_inquiry_begin(tke_inquiry *q, tk_launch *l,
                       const tk_run_options *options) {
  const char *blame = options->blame, *explain = options->explain;
  tk_session *s = l->session;
  *q = (tke_inquiry){
      .session = s,
      .launch = l,
      .blame_elements = blame,
      .explain_elements = explain,
      .stop_pid = options->explain_stop,
      .touches = {.line = options->access_line > 0 ? options->access_line : 0,
                  .mine = UINT64_MAX},
      .silent = options->silent_answers,
      .logs = options->log_accesses};
  tk_launch_forget_answers(l);
  if (!blame && !explain && !q->stop_pid && !q->logs &&
      options->access_line <= 0)
    return;
  q->watcher = (tk_watcher){.next = s->watchers,
                            .ud = q,
                            .begin = inquiry_begins,
                            .end = inquiry_answers};
  s->watchers = &q->watcher;
}

void tke_inquiry_end(tke_inquiry *q) {
  tk_watcher **at = &q->session->watchers;
  while (*at && *at != &q->watcher) at = &(*at)->next;
  TK_ASSERT(!*at == !q->watcher.begin); /* it watches if it was asked */
  if (*at) *at = q->watcher.next;
  tke_touches_free(&q->touches);
  tke_stopped_end(&q->stopped, false);
  tke_blame_free(&q->session->env, q->blame);
  tke_explain_free(&q->session->env, q->explain);
}
