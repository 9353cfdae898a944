/* deadlock.c - who waits for what when nobody can go on.
 */
#include "interp/grid.h"
#include "interp/schedule.h"
#include "interp/site.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { MAX_GROUPS = 6 };

/* A program that waits, and the read that it waits for. */
typedef struct waiter {
  const tki_spin *spin;
  const tki_read *read;
} waiter;

/* Returns which of its reads a loop waits for: that of an atomic operation, or
 * else the last one, which is the nearest to its condition. */
static const tki_read *awaited(const tki_spin *s) {
  for (size_t i = 0; i < s->n; i++)
    if (s->reads[i].in->op != TK_I_LOAD) return &s->reads[i];
  return s->n ? &s->reads[s->n - 1] : NULL;
}

static int by_place(const void *a, const void *b) {
  const waiter *x = a, *y = b;
  if (x->read->in != y->read->in)
    return x->read->in->id < y->read->in->id ? -1 : 1;
  if (x->read->addr != y->read->addr)
    return x->read->addr < y->read->addr ? -1 : 1;
  return x->spin->index < y->spin->index ? -1 : x->spin->index > y->spin->index;
}

static const tk_func *owner(tki *t, const tk_inst *in) {
  const tki_site_info *s = tki_site_at(t, in->id);
  return s ? s->func : NULL;
}

static tk_span span_of(const tki_spin *s) {
  const tki_frame *f = tki_user_frame(s->at);
  if (f != s->at && f->inst) return f->inst->span;
  return f->stmt->span;
}

static void note_writer(tki *t, tk_diag *d, uint64_t addr) {
  const tki_region *r = tki_region_at(t, addr, 1);
  const tki_writers *w = r ? &t->schedule->writers[r - t->regions] : NULL;
  tk_buf b;
  if (!w || !w->n) return;
  uint64_t k = (addr - r->lo) / 4;
  tk_buf_init(&b, t->env);
  tki_describe_address(&b, t, addr);
  if (!w->program[k]) {
    tk_diag_note(t->env, d, NULL, (tk_span){0, 0},
                 "no program has changed %s since the launch began",
                 tk_buf_str(&b));
  } else {
    const tki_site_info *s = tki_site_at(t, w->site[k]);
    tk_buf_puts(&b, " was last changed here, by program ");
    tki_describe_program(&b, t, w->program[k] - 1);
    tk_diag_note(t->env, d, s->func->src, s->inst->span, "%s", tk_buf_str(&b));
  }
  tk_buf_free(&b);
}

/* Adds a note on the first group of waiters, those for which the same
 * instruction has read the same address; returns how many they are. */
static size_t note_group(tki *t, tk_diag *d, const waiter *w, size_t n) {
  uint64_t *index = TK_NEWN(&t->schedule->spins.arena, uint64_t, n);
  size_t k = 0;
  while (k < n && w[k].read->in == w->read->in &&
         w[k].read->addr == w->read->addr)
    index[k] = w[k].spin->index, k++;
  tk_buf b;
  tk_buf_init(&b, t->env);
  tki_describe_programs(&b, t, index, k);
  tk_buf_puts(&b, k == 1 ? " waits for " : ", wait for ");
  tki_describe_address(&b, t, w->read->addr);
  tk_buf_puts(&b, " to change; it holds ");
  tki_describe_value(&b, t, w->read->addr);
  const tki_frame *f = tki_user_frame(w->spin->at);
  const tk_func *src = f == w->spin->at ? owner(t, w->read->in) : f->func;
  tk_diag_note(t->env, d, src ? src->src : NULL,
               f == w->spin->at ? w->read->in->span : span_of(w->spin), "%s",
               tk_buf_str(&b));
  tk_buf_free(&b);
  note_writer(t, d, w->read->addr);
  return k;
}

/* Lists the programs that wait, or only one of them, unless w is NULL; returns
 * how many they are. */
static size_t collect(const tki_schedule *s, const tki_task *only, waiter *w) {
  size_t n = 0;
  for (const tki_task *k = s->tasks; k; k = k->next) {
    if (!k->own->waits || (only && k != only)) continue;
    if (w) w[n] = (waiter){k->own, awaited(k->own)};
    TK_ASSERT(!w || (w[n].read && w[n].spin->at));
    n++;
  }
  return n;
}

/* The report points to the place of the first of them. */
static tk_diag *deadlock_diag(tki_schedule *s, const waiter *w, size_t n) {
  tki *t = s->t;
  const tki_frame *f = tki_user_frame(w->spin->at);
  return n == 1
             ? tk_diag_add(t->env, TK_D_DEADLOCK, f->func->src,
                           span_of(w->spin),
                           "deadlock: a program waits here and no other "
                           "program can help it")
             : tk_diag_add(t->env, TK_D_DEADLOCK, f->func->src,
                           span_of(w->spin),
                           "deadlock: %zu programs wait and none can go on", n);
}

/* Notes how many programs are done, and says what may help. */
static void note_rest(tki_schedule *s, tk_diag *d, size_t n) {
  tki *t = s->t;
  unsigned long long total = (unsigned long long)tki_programs(t);
  unsigned long long begun = (unsigned long long)(t->done + n);
  tk_span none = {0, 0};
  tk_diag_note(t->env, d, NULL, none, "%llu of %llu programs ran to their end",
               (unsigned long long)t->done, total);
  if (s->mode == TKI_SERIAL)
    tk_diag_help(t->env, d,
                 "with --schedule serial no other program runs "
                 "while one waits; leave the option out");
  else if (begun < total)
    tk_diag_help(t->env, d,
                 "--pid left %llu of the %llu programs out: the one "
                 "that would write it may be among them",
                 total - begun, total);
  else
    tk_diag_help(t->env, d,
                 "every path that takes a lock must give it back, "
                 "and every flag waited for must be set by some "
                 "program, whatever the order");
}

void tki_deadlock_report(tki_schedule *s, const tki_task *only) {
  tki *t = s->t;
  size_t n = collect(s, only, NULL), groups = 0, at = 0;
  waiter *w = TK_NEWN(&s->spins.arena, waiter, n);
  TK_ASSERT(n > 0);
  collect(s, only, w);
  qsort(w, n, sizeof *w, by_place);
  tk_diag *d = deadlock_diag(s, w, n);
  for (; at < n && groups < MAX_GROUPS; groups++)
    at += note_group(t, d, w + at, n - at);
  if (at < n)
    tk_diag_note(t->env, d, NULL, (tk_span){0, 0}, "and %zu more programs",
                 n - at);
  note_rest(s, d, n);
}

void tki_deadlock(tki_schedule *s, const tki_task *only) {
  tki *t = s->t;
  tki_deadlock_report(s, only);
  if (t->frame) tki_stop(t);
  tk_throw(t->env, TK_FINDING);
}
