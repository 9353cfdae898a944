/* cmd_access.c - access: what a statement touches, found by running the grid
 * aside.
 */
#include <string.h>

#include "command/aside.h"
#include "command/cmd.h"
#include "command/look.h"
#include "command/operand.h"
#include "command/say.h"
#include "debug/frames.h"
#include "debug/locate.h"
#include "debug/programs.h"
#include "interp/grid.h"
#include "interp/place.h"

enum { MOST_TOUCHES = 16 };

typedef struct accesses {
  tkt *d;
  const tk_source *src;
  int line;
  uint64_t mine; /* the program that is selected, or TKD_ALL_PROGRAMS */
  uint64_t reached;
  tkt_touch touches[MOST_TOUCHES];
  size_t n;
  bool more; /* touches that found no room */
  tk_buf text;
} accesses;

/* Whether a statement of the line is being executed, or called what is. */
static bool is_here(const accesses *x, const tki_frame *f) {
  for (; f; f = f->caller)
    if (f->func->src == x->src && f->stmt &&
        tk_source_line(x->src, f->stmt->span.lo) == x->line)
      return true;
  return false;
}

static void note_statement(void *ud, tki *t, const tk_stmt *st) {
  accesses *x = ud;
  x->reached += t->frame->func->src == x->src &&
                tk_source_line(x->src, st->span.lo) == x->line;
}

static const tki_region *accessed_region(const tki_access *a) {
  size_t i = 0;
  while (i < a->n && a->mask && !a->mask[i]) i++;
  return i < a->n ? tki_access_region(a, i) : NULL;
}

/* The one that an access belongs to.  One without an active lane belongs to
 * any of its instruction. */
static tkt_touch *touch_of(accesses *x, const tki_access *a) {
  const tki_region *r = accessed_region(a);
  for (size_t i = 0; i < x->n; i++) {
    tkt_touch *c = &x->touches[i];
    if (c->in != a->in || (r && c->region && c->region != r)) continue;
    if (r && !c->region) break;
    return c;
  }
  if (x->n == MOST_TOUCHES) return NULL;
  x->touches[x->n] = tkt_touch_new(x->d->env, a, r);
  return &x->touches[x->n++];
}

static void note_access(void *ud, tki *t, const tki_access *a) {
  accesses *x = ud;
  if (a->in->op == TK_I_BARRIER || !is_here(x, t->frame)) return;
  tkt_touch *c = touch_of(x, a);
  uint64_t index = tki_program_index(t);
  if (c)
    tkt_touch_add(c, a, index, index == x->mine);
  else
    x->more = true;
}

/* ---- saying it --------------------------------------------------------- */

static void put_source(tkt *d, const accesses *x) {
  size_t n;
  const char *text = tk_source_line_text(x->src, x->line, &n);
  while (n && (*text == ' ' || *text == '\t')) text++, n--;
  tkt_say(d, "line %d: %.*s\n", x->line, (int)n, text);
}

static void put_touch(tkt *d, const accesses *x, const tkt_touch *c) {
  char name[100];
  tk_buf_clear(&d->scratch);
  tk_buf_puts(&d->scratch, "program ");
  int64_t pid[3];
  if (x->mine != TKD_ALL_PROGRAMS) {
    tki_pid_of(d->e->t, x->mine, pid);
    tkt_put_pid(&d->scratch, pid, NULL);
    snprintf(name, sizeof name, "%s", tk_buf_str(&d->scratch));
    tkt_touch_mine(&d->out, c, name);
  }
  if (x->mine == TKD_ALL_PROGRAMS || tki_programs(d->e->t) > 1)
    tkt_touch_all(&d->out, c, d->e->t, "the grid");
}

static void put_limits(tkt *d, const accesses *x, const tkd_away *w) {
  if (x->more) tkt_say(d, "(there are more tensors than are shown)\n");
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
  if (!x->reached) tkt_fail(d, "No program comes to line %d.", x->line);
  tkt_fail(d, "Line %d touches no memory: 'info line' says what it does.",
           x->line);
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
  x->src = f->src;
  x->line = tk_source_line(f->src, st->span.lo);
}

static void look_body(tk_env *e, void *ud) {
  accesses *x = ud;
  (void)e;
  tki_observer o = {.ud = x, .stmt = note_statement, .access = note_access};
  tkd_away w = {.observer = &o, .program = TKD_ALL_PROGRAMS};
  tkd_run_away(x->d->e, &w);
  if (x->n) put_source(x->d, x);
  for (size_t i = 0; i < x->n; i++) put_touch(x->d, x, &x->touches[i]);
  put_limits(x->d, x, &w);
  tkt_say_untouched(x->d);
  if (!x->n) nothing(x->d, x);
}

void tkt_cmd_ACCESS(tkt *d, tkt_args *a) {
  accesses x = {.d = d, .mine = TKD_ALL_PROGRAMS};
  find_line(d, &x, a->text);
  if (d->e->strand) x.mine = d->e->strand->task->index;
  tk_status st = tk_protect(d->env, look_body, &x);
  for (size_t i = 0; i < x.n; i++) tkt_touch_free(&x.touches[i]);
  if (st != TK_OK) tk_throw(d->env, st);
}
