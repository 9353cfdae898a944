/* cmd_access.c - access: what a statement touches, found by running the grid
 * aside.
 */
#include <string.h>

#include "command/cmd.h"
#include "interp/grid.h"
#include "interp/place.h"

enum { MOST_TOUCHES = 16 };

typedef struct accesses {
  tkd *d;
  const tk_source *src;
  int line;
  uint64_t mine; /* the program that is selected, or TKD_ALL_PROGRAMS */
  uint64_t reached;
  tkd_touch touches[MOST_TOUCHES];
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

static void on_stmt(void *ud, tki *t, const tk_stmt *st) {
  accesses *x = ud;
  x->reached += t->frame->func->src == x->src &&
                tk_source_line(x->src, st->span.lo) == x->line;
}

static const tki_region *region_of(const tki_access *a) {
  size_t i = 0;
  while (i < a->n && a->mask && !a->mask[i]) i++;
  return i < a->n ? tki_access_region(a, i) : NULL;
}

/* The one that an access belongs to.  One without an active lane belongs to
 * any of its instruction. */
static tkd_touch *touch_of(accesses *x, const tki_access *a) {
  const tki_region *r = region_of(a);
  for (size_t i = 0; i < x->n; i++) {
    tkd_touch *c = &x->touches[i];
    if (c->in != a->in || (r && c->region && c->region != r)) continue;
    if (r && !c->region) break;
    return c;
  }
  if (x->n == MOST_TOUCHES) return NULL;
  x->touches[x->n] = tkd_touch_new(x->d->env, a, r);
  return &x->touches[x->n++];
}

static void on_access(void *ud, tki *t, const tki_access *a) {
  accesses *x = ud;
  if (a->in->op == TK_I_BARRIER || !is_here(x, t->frame)) return;
  tkd_touch *c = touch_of(x, a);
  uint64_t index = tki_program_index(t);
  if (c)
    tkd_touch_add(c, a, index, index == x->mine);
  else
    x->more = true;
}

/* ---- saying it --------------------------------------------------------- */

static void put_source(tkd *d, const accesses *x) {
  size_t n;
  const char *text = tk_source_line_text(x->src, x->line, &n);
  while (n && (*text == ' ' || *text == '\t')) text++, n--;
  tkd_say(d, "line %d: %.*s\n", x->line, (int)n, text);
}

static void put_touch(tkd *d, const accesses *x, const tkd_touch *c) {
  char name[100];
  tk_buf_clear(&d->scratch);
  tk_buf_puts(&d->scratch, "program ");
  int64_t pid[3];
  if (x->mine != TKD_ALL_PROGRAMS) {
    tki_pid_of(d->t, x->mine, pid);
    tkd_put_pid(&d->scratch, pid, NULL);
    snprintf(name, sizeof name, "%s", tk_buf_str(&d->scratch));
    tkd_touch_mine(&d->out, c, name);
  }
  if (x->mine == TKD_ALL_PROGRAMS || tki_programs(d->t) > 1)
    tkd_touch_all(&d->out, c, d->t, "the grid");
}

static void put_limits(tkd *d, const accesses *x, const tkd_away *w) {
  if (x->more) tkd_say(d, "(there are more tensors than are shown)\n");
  tkd_say_left_out(d, w);
  if (w->full)
    tkd_say(d, "Only the first programs: the others overwrite more than 'set "
               "history' allows.\n");
  else if (w->status == TK_INTERRUPTED)
    tkd_say(d, "Only the programs up to here: it was interrupted.\n");
  else if (w->status != TK_OK)
    tkd_say(d, "Only up to where a program ended with: %s.\n", w->why);
}

static void nothing(tkd *d, const accesses *x) {
  if (!x->reached) tkd_fail(d, "No program comes to line %d.", x->line);
  tkd_fail(d, "Line %d touches no memory: 'info line' says what it does.",
           x->line);
}

/* ---- the command ------------------------------------------------------- */

static const tk_func *function_at(tkd *d, int line) {
  const tk_program *p = d->t->program;
  const tk_source *src =
      d->frame ? d->frame->func->src : d->t->program->kernel->src;
  for (size_t i = 0; i < p->nfuncs; i++) {
    const tk_func *f = p->funcs[i];
    if (f->library || f->src != src) continue;
    if (line >= tk_source_line(f->src, f->span.lo) && line <= tkd_last_line(f))
      return f;
  }
  return NULL;
}

static void find_line(tkd *d, accesses *x, const char *text) {
  if (!*text && !d->frame)
    tkd_fail(d, "The launch has ended: access LINE says which statement.");
  int line = *text ? (int)tkd_number(d, text, 0) : tkd_line_of(d->frame);
  const tk_func *f = *text ? function_at(d, line) : d->frame->func;
  const tk_stmt *st = f ? tkd_stmt_at(f, line) : NULL;
  if (!st) tkd_fail(d, "No statement at line %d of a function here.", line);
  x->src = f->src;
  x->line = tk_source_line(f->src, st->span.lo);
}

static void look_body(tk_env *e, void *ud) {
  accesses *x = ud;
  (void)e;
  tki_observer o = {.ud = x, .stmt = on_stmt, .access = on_access};
  tkd_away w = {.observer = &o, .program = TKD_ALL_PROGRAMS};
  tkd_run_away(x->d, &w);
  if (x->n) put_source(x->d, x);
  for (size_t i = 0; i < x->n; i++) put_touch(x->d, x, &x->touches[i]);
  put_limits(x->d, x, &w);
  tkd_say_untouched(x->d);
  if (!x->n) nothing(x->d, x);
}

void tkd_cmd_ACCESS(tkd *d, tkd_args *a) {
  accesses x = {.d = d, .mine = TKD_ALL_PROGRAMS};
  find_line(d, &x, a->text);
  if (d->strand) x.mine = d->strand->task->index;
  tk_status st = tk_protect(d->env, look_body, &x);
  for (size_t i = 0; i < x.n; i++) tkd_touch_free(&x.touches[i]);
  if (st != TK_OK) tk_throw(d->env, st);
}
