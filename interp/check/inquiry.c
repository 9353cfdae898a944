/* inquiry.c - blame and explain as a watcher of one run.
 */
#include "interp/check/inquiry.h"

/* A run that a debugger takes back to its beginning begins again. */
static void inquiry_begins(void *ud, tki *t) {
  tkc_inquiry *q = ud;
  bool again = q->t == t;
  q->t = t;
  if (q->blame_elements && !again)
    tkc_blame_new(t, "--blame", q->blame_elements, &q->blame);
  if (q->explain_elements && !again)
    tkc_explain_new(t, q->explain_elements, &q->explain);
  if (q->blame) tkc_blame_attach(q->blame);
  if (q->explain) tkc_explain_attach(q->explain);
}

static void inquiry_answers(void *ud, tki *t, tk_status st) {
  tkc_inquiry *q = ud;
  tk_buf b;
  if (q->t != t || st == TK_USAGE) return;
  tk_buf_init(&b, t->env);
  if (q->blame) tkc_blame_text(q->blame, &b);
  if (q->explain) tkc_explain_text(q->explain, &b);
  if (b.n && t->session->output)
    t->session->output(t->session->output_ud, b.s, b.n);
  tk_buf_free(&b);
}

void tkc_inquiry_begin(tkc_inquiry *q, tk_session *s, const char *blame,
                       const char *explain) {
  *q = (tkc_inquiry){
      .session = s, .blame_elements = blame, .explain_elements = explain};
  if (!blame && !explain) return;
  q->watcher = (tk_watcher){.next = s->watchers,
                            .ud = q,
                            .begin = inquiry_begins,
                            .end = inquiry_answers};
  s->watchers = &q->watcher;
}

void tkc_inquiry_end(tkc_inquiry *q) {
  tk_watcher **at = &q->session->watchers;
  while (*at && *at != &q->watcher) at = &(*at)->next;
  if (*at) *at = q->watcher.next;
  tkc_blame_free(&q->session->env, q->blame);
  tkc_explain_free(&q->session->env, q->explain);
}
