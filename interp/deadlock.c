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

/* ---- who changed what is waited for -------------------------------------- */

enum { MAX_NAMED = 4 };

/* Who changed an address last, but for a program that waits for it: what it
 * wrote is not what it waits for. */
static tki_writer last_change(const tki *t, const waiter *w, bool *known) {
  const tki_region *r = tki_region_at(t, w->read->addr, 1);
  const tki_writers *all = r ? &t->schedule->writers[r - t->regions] : NULL;
  *known = all && all->n;
  if (!*known) return (tki_writer){0, 0};
  uint64_t k = (w->read->addr - r->lo) / 4;
  bool own = all->last[k].program == w->spin->index + 1;
  return own ? all->before[k] : all->last[k];
}

static bool same_read(const waiter *a, const waiter *b) {
  return a->read->in == b->read->in && a->read->addr == b->read->addr;
}

/* Puts "flag[0], flag[1] and 3 more" of the n waiters' addresses that are not
 * left out; returns how many they are. */
static size_t put_addresses(tki *t, tk_buf *b, const waiter *w, size_t n,
                            const bool *left_out) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    if (left_out[i] || (i && same_read(&w[i], &w[i - 1]))) continue;
    if (count++ >= MAX_NAMED) continue;
    if (count > 1) tk_buf_puts(b, ", ");
    tki_describe_address(b, t, w[i].read->addr);
  }
  if (count > MAX_NAMED) tk_buf_printf(b, " and %zu more", count - MAX_NAMED);
  return count;
}

/* One note for all of the waiters' addresses that one instruction changed last,
 * or that nobody did. */
static void note_change(tki *t, tk_diag *d, const waiter *w, size_t n,
                        tki_writer by, const bool *left_out) {
  tk_buf b;
  tk_buf_init(&b, t->env);
  if (!by.program) tk_buf_puts(&b, "no program has changed ");
  size_t count = put_addresses(t, &b, w, n, left_out);
  if (!by.program) {
    tk_buf_puts(&b, " since the launch began");
    tk_diag_note(t->env, d, NULL, (tk_span){0, 0}, "%s", tk_buf_str(&b));
  } else {
    const tki_site_info *s = tki_site_at(t, by.site);
    tk_buf_puts(&b, count > 1 ? " were last changed here"
                              : " was last changed here, by program ");
    if (count == 1) tki_describe_program(&b, t, by.program - 1);
    tk_diag_note(t->env, d, s->func->src, s->inst->span, "%s", tk_buf_str(&b));
  }
  tk_buf_free(&b);
}

/* Notes who changed what the n waiters of one instruction wait for; each
 * address is that of the first that waits for it. */
static void note_changes(tki *t, tk_diag *d, const waiter *w, size_t n) {
  tk_arena *a = &t->schedule->spins.arena;
  tki_writer *by = TK_NEWN(a, tki_writer, n);
  bool *done = TK_NEWN(a, bool, n), *left_out = TK_NEWN(a, bool, n);
  for (size_t i = 0; i < n; i++) {
    bool known;
    by[i] = last_change(t, &w[i], &known);
    done[i] = !known || (i && same_read(&w[i], &w[i - 1]));
    for (size_t k = i; done[i] && known && k-- && same_read(&w[k], &w[i]);)
      if (!by[k].program) by[k] = by[i];
  }
  for (size_t i = 0; i < n; i++) {
    if (done[i]) continue;
    for (size_t k = 0; k < n; k++) {
      bool alike = !by[k].program == !by[i].program &&
                   (!by[i].program || by[k].site == by[i].site);
      left_out[k] = done[k] || !alike;
    }
    note_change(t, d, w, n, by[i], left_out);
    for (size_t k = 0; k < n; k++) done[k] |= !left_out[k];
  }
}

/* ---- notes --------------------------------------------------------------- */

/* Adds what waiters of one instruction wait for. */
static void put_awaited(tki *t, tk_buf *b, const waiter *w, size_t n) {
  bool *none = TK_NEWN(&t->schedule->spins.arena, bool, n);
  tk_buf_puts(b, n == 1 ? " waits for " : ", wait for ");
  size_t addresses = put_addresses(t, b, w, n, none);
  if (addresses > 1) {
    tk_buf_puts(b, " to change, each for one of them");
    return;
  }
  tk_buf_puts(b, " to change; it holds ");
  tki_describe_value(b, t, w->read->addr);
}

static int by_index(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* Whether the waiters of w's instruction wait for so many addresses that they
 * share a note. */
static bool share_note(const waiter *w, size_t n) {
  size_t addresses = 0;
  for (size_t i = 0; i < n && w[i].read->in == w->read->in; i++)
    addresses += !i || !same_read(&w[i], &w[i - 1]);
  return addresses >= MAX_NAMED;
}

/* Adds a note on the first group of waiters, those of which the same
 * instruction reads the same address, or one of many; returns how many they
 * are. */
static size_t note_group(tki *t, tk_diag *d, const waiter *w, size_t n) {
  uint64_t *index = TK_NEWN(&t->schedule->spins.arena, uint64_t, n);
  size_t k = 0;
  bool many = share_note(w, n);
  while (k < n && (many ? w[k].read->in == w->read->in : same_read(&w[k], w)))
    index[k] = w[k].spin->index, k++;
  qsort(index, k, sizeof *index, by_index);
  tk_buf b;
  tk_buf_init(&b, t->env);
  tki_describe_programs(&b, t, index, k);
  put_awaited(t, &b, w, k);
  const tki_frame *f = tki_user_frame(w->spin->at);
  const tk_func *src = f == w->spin->at ? owner(t, w->read->in) : f->func;
  tk_diag_note(t->env, d, src ? src->src : NULL,
               f == w->spin->at ? w->read->in->span : span_of(w->spin), "%s",
               tk_buf_str(&b));
  tk_buf_free(&b);
  note_changes(t, d, w, k);
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
