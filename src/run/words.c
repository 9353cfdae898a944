/* words.c - the results of a launch as text, for callers of the API.
 */
#include "launch/session.h"
#include "report/report.h"

/* A text that is asked for; the launch keeps it until the next one. */
typedef struct text_call {
  tk_launch *l;
  const tk_difference *difference; /* one of the two; the other is NULL */
  const tk_explanation *explanation;
  size_t lines;
} text_call;

static void write_text(tk_env *e, void *ud) {
  text_call *c = ud;
  (void)e;
  tk_buf_clear(&c->l->text);
  if (c->difference)
    tk_report_difference(&c->l->text, c->difference, c->lines);
  else
    tk_report_source_lines(&c->l->text, c->explanation, c->lines);
}

static const char *words_of(text_call *c) {
  if (tk_session_guard(c->l->session, write_text, c) != TK_OK) return "";
  return tk_buf_str(&c->l->text);
}

const char *tk_launch_difference_text(tk_launch *l, size_t i, size_t lines) {
  text_call c = {l, tk_launch_difference(l, i), NULL, lines};
  return c.difference ? words_of(&c) : "";
}

const char *tk_launch_source_lines(tk_launch *l, const tk_explanation *x,
                                   size_t most) {
  text_call c = {l, NULL, x, most};
  return words_of(&c);
}
