/* condition.c - a condition is compiled where it is first tested: its names
 * are those of the function that it stands in.
 */
#include "debug/condition.h"

#include <string.h>

#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/programs.h"
#include "debug/stop.h"
#include "debug/value.h"

typedef struct testing {
  tkd *d;
  const tki_eval *x;
  const tki_frame *f;
  bool holds;
} testing;

static void test_body(tk_env *e, void *ud) {
  testing *c = ud;
  (void)e;
  c->holds = tkd_is_true(c->d, c->x, c->f);
}

bool tkd_condition_holds(tkd *d, const tki_eval *x, const tki_frame *f,
                         bool *bad) {
  testing c = {d, x, f, false};
  *bad = tk_protect(d->env, test_body, &c) != TK_OK;
  return *bad || c.holds;
}

void tkd_bad_condition(tkd *d, const tkd_point *p, size_t before) {
  TK_ASSERT(!d->t || !d->t->task);
  TK_ASSERT(before <= d->env->ndiags);
  if (d->course.phase != TKD_SEARCHING) {
    tk_buf *text = tk_temp_buf(&d->mem);
    size_t i = 0;
    for (const tk_diag *x = d->env->diags; x; x = x->next)
      if (i++ >= before) tk_finding_text(text, &x->f, false);
    tk_notice n = {.kind = TK_NOTICE_CONDITION,
                   .point = p->number,
                   .text = tk_buf_str(text)};
    n.findings = tkd_findings_from(d, before, &n.nfindings);
    tkd_notice(d, &n);
  }
  tk_diag_truncate(d->env, before);
}

/* ---- at a site --------------------------------------------------------- */

static void report_condition(tkd *d) {
  tkd_bad_condition(d, d->points.work_site->point, d->points.work_diags);
}

static void compile_condition(tkd *d) {
  tkd_site *s = d->points.work_site;
  size_t before = d->env->ndiags;
  s->cond = tkd_compile(d, d->programs.task->frame, s->point->cond);
  s->bad = !s->cond;
  if (s->bad) tkd_bad_condition(d, s->point, before);
}

bool tkd_site_condition(tkd *d, tkd_site *s) {
  if (!s->point->cond) return true;
  d->points.work_site = s;
  if (!s->cond && !s->bad) tkd_on_main(d, compile_condition);
  if (s->bad) return true;
  bool bad;
  size_t before = d->env->ndiags;
  bool holds = tkd_condition_holds(d, s->cond, d->t->frame, &bad);
  if (bad) {
    d->points.work_site = s;
    d->points.work_diags = before;
    tkd_on_main(d, report_condition);
  }
  return holds;
}

/* ---- asking ------------------------------------------------------------ */

/* Counts as a call of its own (mem.calls), so that calls which the front end
 * makes meanwhile do not free what this one still needs. */
bool tkd_front_agrees(tkd *d, const tkd_point *p) {
  if (!p->asks || !d->front.asked) return true;
  d->mem.calls++;
  tkd_select(d, 0);
  bool hit = d->front.asked(d->front.ud, d, p->number);
  d->at.frame = NULL;
  d->mem.calls--;
  return hit;
}

static void ask_front(tkd *d) {
  d->points.says_hit = tkd_front_agrees(d, d->points.asking);
}

bool tkd_front_agrees_here(tkd *d, const tkd_point *p) {
  if (!p->asks) return true;
  d->points.asking = p;
  tkd_on_main(d, ask_front);
  return d->points.says_hit;
}

/* ---- beforehand -------------------------------------------------------- */

/* Of a function that was not called yet it is not known which tensors its
 * pointers are of: a condition that takes elements may do so there. */
static bool fits_at(tkd *d, const tkd_point *p, const tk_stmt *st) {
  const tk_func *f = tkd_func_of(d, st);
  if (!f || (f != d->t->program->kernel && strchr(p->cond, '['))) return true;
  tki_frame frame = tkd_frame_before(d, f, st);
  tki_eval *x = tkd_compile(d, &frame, p->cond);
  tki_eval_free(x);
  return x != NULL;
}

void tkd_need_condition(tkd *d, const tkd_point *p) {
  size_t before = d->env->ndiags;
  bool any = false, fits = false;
  if (!d->t || !p->cond) return;
  if (p->kind == TK_POINT_WATCH) {
    if (!p->watch.waits_for_value) tkd_watch_need_condition(d, p->cond);
    return;
  }
  for (size_t i = 0; i < d->points.cap_sites && !fits; i++) {
    if (d->points.sites[i].point != p) continue;
    tk_diag_truncate(d->env, before);
    any = true;
    fits = fits_at(d, p, d->points.sites[i].stmt);
  }
  if (any && !fits) tk_throw(d->env, TK_USAGE);
  tk_diag_truncate(d->env, before);
}
