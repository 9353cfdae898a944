/* touched.c - what a statement touches, found by running the grid aside. */
#include "debug/api.h"
#include "debug/aside.h"
#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "interp/explain/touch.h"
#include "interp/grid.h"

typedef struct touching {
  tkd *d;
  int line; /* 0: where it stands */
  tk_span span;
  tke_touches found;
  uint64_t reached;
  tk_debug_accesses *out;
} touching;

static void note_statement(void *ud, tki *t, const tk_stmt *st) {
  touching *x = ud;
  x->reached += t->frame->func->src == x->found.src &&
                tk_source_line(x->found.src, st->span.lo) == x->found.line;
}

static void note_touch(void *ud, tki *t, const tki_access *a) {
  touching *x = ud;
  tke_touches_add(&x->found, t, a);
}

static const tk_func *function_at_line(tkd *d, int line) {
  const tk_program *p = d->t->program;
  const tk_source *src = d->at.frame ? d->at.frame->func->src : p->kernel->src;
  for (size_t i = 0; i < p->nfuncs; i++) {
    const tk_func *f = p->funcs[i];
    if (f->library || f->src != src) continue;
    if (line >= tk_source_line(f->src, f->span.lo) && line <= tkd_last_line(f))
      return f;
  }
  return NULL;
}

static void find_touched_line(touching *x) {
  tkd *d = x->d;
  if (!d->t) tkd_raise(d, NO_LAUNCH);
  if (!x->line && !d->at.frame) tkd_raise(d, ENDED_ACCESS);
  int line = x->line ? x->line : tkd_line_of(d->at.frame);
  const tk_func *f = x->line ? function_at_line(d, line) : d->at.frame->func;
  const tk_stmt *st = f ? tkd_stmt_at(f, line) : NULL;
  if (!st) tkd_raise(d, NO_STATEMENT_AT, line);
  x->found.src = f->src;
  x->found.line = tk_source_line(f->src, st->span.lo);
  x->span = st->span;
}

static void describe_touch(touching *x, const tke_touch *c,
                           tk_access_picture *list) {
  tkd *d = x->d;
  tk_arena *a = &d->answers.arena;
  tk_debug_accesses *out = x->out;
  bool one = x->found.mine != TKD_ALL_PROGRAMS;
  if (one) {
    tk_access_picture p = tke_touch_picture(c, a, d->t, true);
    tki_pid_of(d->t, x->found.mine, p.program);
    list[out->npictures++] = p;
  }
  if (!one || tki_programs(d->t) > 1)
    list[out->npictures++] = tke_touch_picture(c, a, d->t, false);
}

static void run_touching(tk_env *e, void *ud) {
  touching *x = ud;
  tkd *d = x->d;
  (void)e;
  tki_observer o = {.ud = x, .stmt = note_statement, .access = note_touch};
  tkd_aside w = {.observer = &o, .program = TKD_ALL_PROGRAMS};
  tkd_run_aside(d, &w);
  tk_access_picture *list =
      TK_NEWN(&d->answers.arena, tk_access_picture, 2 * x->found.n + 1);
  *x->out = (tk_debug_accesses){.place = tk_place_of(x->found.src, x->span),
                                .reached = x->reached > 0,
                                .more = x->found.more,
                                .pictures = list,
                                .aside = tkd_describe_aside(d, &w)};
  for (size_t i = 0; i < x->found.n; i++)
    describe_touch(x, &x->found.items[i], list);
}

static void find_touches(tkd *d, void *ud) {
  touching *x = ud;
  x->d = d;
  x->found.mine = TKD_ALL_PROGRAMS;
  find_touched_line(x);
  if (d->programs.task) x->found.mine = d->programs.task->index;
  tk_status st = tk_protect(d->env, run_touching, x);
  tke_touches_free(&x->found);
  if (st != TK_OK) tk_throw(d->env, st);
}

tk_status tk_debug_access(tk_debug *d, int line, tk_debug_accesses *out) {
  touching x = {.line = line, .out = out};
  return tkd_guard(d, find_touches, &x);
}
