/* report.c - findings of a run: at the PTX line, with the kernel's own line
 * as a note.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/exec.h"

static const tk_source *source_named(const tkp_machine *m, const char *name) {
  const tkp_launch *l = m->launch;
  for (size_t i = 0; name && i < l->nsources; i++)
    if (!strcmp(tk_base_name(l->sources[i]->name), tk_base_name(name)))
      return l->sources[i];
  return NULL;
}

static void place_note(const tkp_machine *m, tk_diag *d, const tkp_loc *l,
                       const char *what) {
  const tkp_program *p = m->p;
  const char *name = tkp_loc_file(p, l);
  const tk_source *src = source_named(m, name);
  tk_span at = {0, 0};
  if (src && l->line && l->line <= src->nlines) {
    size_t len;
    tk_source_line_text(src, (int)l->line, &len);
    size_t column = l->column && l->column <= len ? l->column - 1 : 0;
    at.lo = src->lines[l->line - 1] + (uint32_t)column;
    at.hi = at.lo;
    tk_diag_note(m->env, d, src, at, "%s", what);
  } else {
    tk_diag_note(m->env, d, NULL, at, "%s: %s:%u:%u", what,
                 name ? tk_base_name(name) : "?", l->line, l->column);
  }
}

void tkp_report_place(const tkp_warp *w, tk_diag *d, const tkp_inst *in,
                      const char *what) {
  const tkp_machine *m = w->b->m;
  for (uint32_t i = in->loc; i; i = m->p->locs.items[i].outer) {
    TK_ASSERT(i < m->p->locs.n);
    const tkp_loc *l = &m->p->locs.items[i];
    if (l->line) place_note(m, d, l, i == in->loc ? what : "called from here");
  }
}

tk_diag *tkp_report(const tkp_warp *w, const tkp_inst *in, int lane,
                    tk_diag_id id, const char *fmt, ...) {
  tkp_machine *m = w->b->m;
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = tk_diag_vadd(m->env, id, m->p->src, in->span, fmt, ap);
  va_end(ap);
  m->findings += d->f.severity == TK_SEV_ERROR;
  if (d->f.count > 1) return d;
  int64_t pid[3] = {w->b->pid[0], w->b->pid[1], w->b->pid[2]};
  tk_diag_program(d, pid);
  tk_diag_function(m->env, d, m->k->name);
  if (lane >= 0)
    tk_diag_note(m->env, d, NULL, (tk_span){0, 0},
                 "in thread %d of program (%u, %u, %u)",
                 (int)(w->index * TKP_WARP) + lane, w->b->pid[0], w->b->pid[1],
                 w->b->pid[2]);
  tkp_report_place(w, d, in, "the kernel is here");
  return d;
}

void tkp_stop(const tkp_warp *w) {
  tk_throw(w->b->m->env, TK_FINDING);
}

void tkp_need_set(tkp_warp *w, const tkp_inst *in, tkp_reg r, uint32_t lanes,
                  const char *what) {
  TK_ASSERT(r.id < w->b->m->k->nregs);
  uint32_t wrong = lanes & ~w->set[r.id];
  if (TK_LIKELY(!wrong) || w->b->m->launch->unchecked) return;
  tk_diag *d = tkp_report(w, in, __builtin_ctz(wrong), TK_D_UNDEF,
                          "%s depends on a register that was never set", what);
  if (d->f.count == 1)
    tk_diag_help(w->b->m->env, d,
                 "no instruction gave it a value on the way to here, or it was "
                 "loaded from shared or local memory that was never written");
  w->set[r.id] |= wrong; /* said once */
}
