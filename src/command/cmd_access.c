/* cmd_access.c - access: what a statement touches, found by running the grid
 * aside.
 */
#include <string.h>

#include "command/aside.h"
#include "command/cmd.h"
#include "command/operand.h"
#include "command/say.h"
#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/programs.h"
#include "interp/check/touch.h"
#include "interp/grid.h"
#include "interp/describe.h"
#include "launch/report.h"

typedef struct accesses {
  tkt *d;
  tkc_touches found;
  uint64_t reached;
  tk_arena arena; /* of pictures */
} accesses;

static void note_statement(void *ud, tki *t, const tk_stmt *st) {
  accesses *x = ud;
  x->reached += t->frame->func->src == x->found.src &&
                tk_source_line(x->found.src, st->span.lo) == x->found.line;
}

static void note_access(void *ud, tki *t, const tki_access *a) {
  accesses *x = ud;
  tkc_touches_add(&x->found, t, a);
}

/* ---- saying it --------------------------------------------------------- */

static void put_source(tkt *d, const accesses *x) {
  size_t n;
  const char *text = tk_source_line_text(x->found.src, x->found.line, &n);
  while (n && (*text == ' ' || *text == '\t')) text++, n--;
  tkt_say(d, "line %d: %.*s\n", x->found.line, (int)n, text);
}

static void put_touch(tkt *d, accesses *x, const tkc_touch *c) {
  const tki *t = d->e->t;
  bool one = x->found.mine != TKD_ALL_PROGRAMS;
  tk_access_picture p;
  if (one) {
    p = tkc_touch_picture(c, &x->arena, t, true);
    tki_pid_of(t, x->found.mine, p.program);
    tk_report_access(&d->out, &p);
  }
  if (one && tki_programs(t) == 1) return;
  p = tkc_touch_picture(c, &x->arena, t, false);
  tk_report_access(&d->out, &p);
}

static void put_limits(tkt *d, const accesses *x, const tkd_aside *w) {
  if (x->found.more) tkt_say(d, "(there are more tensors than are shown)\n");
  tkt_say_left_out(d, w);
  if (w->full)
    tkt_say(d, "Only the first programs: the others overwrite more than 'set "
               "history' allows.\n");
  else if (w->status == TK_INTERRUPTED)
    tkt_say(d, "Only the programs up to here: it was interrupted.\n");
  else if (w->status != TK_OK)
    tkt_say(d, "Only up to where a program ended with: %s.\n", w->why);
}

static void nothing(tkt *d, const accesses *x) {
  if (!x->reached) tkt_fail(d, "No program comes to line %d.", x->found.line);
  tkt_fail(d, "Line %d touches no memory: 'info line' says what it does.",
           x->found.line);
}

/* ---- the command ------------------------------------------------------- */

static const tk_func *function_at(tkt *d, int line) {
  const tk_program *p = d->e->t->program;
  const tk_source *src =
      d->e->frame ? d->e->frame->func->src : d->e->t->program->kernel->src;
  for (size_t i = 0; i < p->nfuncs; i++) {
    const tk_func *f = p->funcs[i];
    if (f->library || f->src != src) continue;
    if (line >= tk_source_line(f->src, f->span.lo) && line <= tkd_last_line(f))
      return f;
  }
  return NULL;
}

static void find_line(tkt *d, accesses *x, const char *text) {
  if (!*text && !d->e->frame)
    tkt_fail(d, "The launch has ended: access LINE says which statement.");
  int line = *text ? (int)tkt_number(d, text, 0) : tkd_line_of(d->e->frame);
  const tk_func *f = *text ? function_at(d, line) : d->e->frame->func;
  const tk_stmt *st = f ? tkd_stmt_at(f, line) : NULL;
  if (!st) tkt_fail(d, "No statement at line %d of a function here.", line);
  x->found.src = f->src;
  x->found.line = tk_source_line(f->src, st->span.lo);
}

static void look_body(tk_env *e, void *ud) {
  accesses *x = ud;
  (void)e;
  tki_observer o = {.ud = x, .stmt = note_statement, .access = note_access};
  tkd_aside w = {.observer = &o, .program = TKD_ALL_PROGRAMS};
  tkd_run_aside(x->d->e, &w);
  if (x->found.n) put_source(x->d, x);
  for (size_t i = 0; i < x->found.n; i++)
    put_touch(x->d, x, &x->found.items[i]);
  put_limits(x->d, x, &w);
  tkt_say_untouched(x->d);
  if (!x->found.n) nothing(x->d, x);
}

void tkt_cmd_ACCESS(tkt *d, tkt_args *a) {
  accesses x = {.d = d, .found = {.mine = TKD_ALL_PROGRAMS}};
  tk_arena_init(&x.arena, d->env);
  find_line(d, &x, a->text);
  if (d->e->task) x.found.mine = d->e->task->index;
  tk_status st = tk_protect(d->env, look_body, &x);
  tkc_touches_free(&x.found);
  tk_arena_free(&x.arena);
  if (st != TK_OK) tk_throw(d->env, st);
}
