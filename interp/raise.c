/* raise.c - findings of a running program: reported, noted, the run stopped.
 */
#include "interp/raise.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "interp/interp.h"

void tki_note_program(tki *t, tk_diag *d) {
  const int64_t *p = t->pid, *g = t->grid;
  if (d->f.count == 1) tk_diag_program(d, p);
  tk_diag_note(t->env, d, NULL, (tk_span){0, 0},
               "in program (%" PRId64 ", %" PRId64 ", %" PRId64
               ") of grid (%" PRId64 ", %" PRId64 ", %" PRId64 ")",
               p[0], p[1], p[2], g[0], g[1], g[2]);
  for (tki_frame *c = tki_user_frame(t->frame)->caller; c; c = c->caller)
    if (!c->func->library && c->inst)
      tk_diag_note(t->env, d, c->func->src, c->inst->span,
                   "in the call from %s", c->func->name);
  tki_note_remarks(t, d);
}

void tki_note_remarks(const tki *t, tk_diag *d) {
  if (!d) return;
  for (size_t i = 0; i < t->launch->fn->remarks.n; i++)
    tk_diag_note(t->env, d, NULL, (tk_span){0, 0}, "%s",
                 t->launch->fn->remarks.items[i]);
}

tk_diag *tki_finding(tki *t, tk_diag_id id, const char *fmt, ...) {
  const tki_frame *f = tki_user_frame(t->frame);
  TK_ASSERT(f && (f->inst || f->stmt));
  if (t->draft) tk_throw(t->env, TK_FINDING);
  tk_span at = f->inst ? f->inst->span : f->stmt->span;
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = tk_diag_vadd(t->env, id, f->func->src, at, fmt, ap);
  va_end(ap);
  if (!d->f.function) tk_diag_function(t->env, d, f->func->name);
  tki_note_program(t, d);
  return d;
}

void tki_stop(tki *t) {
  TKI_TELL(t, stop, t);
  tk_throw(t->env, TK_FINDING);
}
