/* wait.c - programs that wait for each other, and launches that never end.
 *
 * The interpreter does the same each time that all programs are in the same
 * state and memory holds the same.  So when nothing has changed in memory since
 * a moment whose state comes again, it comes again for ever.  Which moment to
 * compare with is chosen as in Brent's search for cycles: it is kept for 1, 2,
 * 4, ... looks.
 */
#include "ptx/wait.h"

#include "base/assert.h"

enum { MAX_NOTES = 6 };

/* ---- who changed a word -------------------------------------------------- */

static size_t words_of(const tkp_range *r) {
  return r->size / 4 + 2;
}

void tkp_watch_changes(tkp_machine *m) {
  const tkp_kernel *k = m->k;
  const uint32_t *grid = m->launch->grid;
  if ((uint64_t)grid[0] * grid[1] * grid[2] > UINT32_MAX) return;
  for (size_t i = 0; i < k->code.n && !m->writers; i++)
    if (k->code.items[i].polls)
      m->writers = tk_calloc(m->env, m->nranges + 1, sizeof *m->writers);
}

void tkp_note_change(const tkp_warp *w, const tkp_access *a) {
  const tkp_machine *m = w->b->m;
  const tkp_range *r = w->range;
  if (!m->writers) return;
  TK_ASSERT(r >= m->ranges && r < m->ranges + m->nranges);
  tkp_writer **all = &m->writers[r - m->ranges];
  if (!*all) *all = tk_calloc(m->env, words_of(r), sizeof **all);
  uint64_t at = a->addr - r->base;
  for (uint64_t k = at / 4; k <= (at + a->size - 1) / 4; k++) {
    TK_ASSERT(k < words_of(r));
    (*all)[k].in = (uint32_t)(a->in - m->k->code.items) + 1;
    (*all)[k].program = (uint32_t)w->b->index;
  }
}

void tkp_free_writers(tkp_machine *m) {
  if (!m->writers) return;
  for (size_t i = 0; i < m->nranges; i++)
    if (m->writers[i])
      tk_free(m->env, m->writers[i],
              words_of(&m->ranges[i]) * sizeof **m->writers);
  tk_free(m->env, m->writers, (m->nranges + 1) * sizeof *m->writers);
}

/* ---- the state of all programs ------------------------------------------- */

static uint64_t mixed(uint64_t h, uint64_t v) {
  h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
  return h ^ h >> 29;
}

static uint64_t mixed_bytes(uint64_t h, const void *from, size_t n) {
  const uint8_t *p = from;
  uint64_t v;
  for (; n >= sizeof v; n -= sizeof v, p += sizeof v) {
    memcpy(&v, p, sizeof v);
    h = mixed(h, v);
  }
  v = 0;
  if (n) memcpy(&v, p, n);
  return mixed(h, v);
}

/* All that decides what the warp does next, but for memory. */
static uint64_t mixed_warp(uint64_t h, const tkp_warp *w) {
  const tkp_kernel *k = w->b->m->k;
  const uint64_t own[] = {w->pc,     w->active,  w->rejoin, w->alive,
                          w->parked, w->tried,   w->carry,  w->carry_set,
                          w->state,  w->barrier, w->ncopies};
  h = mixed_bytes(h, own, sizeof own);
  h = mixed_bytes(h, w->pcs, sizeof w->pcs);
  h = mixed_bytes(h, w->file, k->file_bytes);
  h = mixed_bytes(h, w->local, k->local * TKP_WARP);
  /* Of the number of turns only the rest matters, and groups only while there
   * are copies in them. */
  h = mixed(h, w->turns % (2 * TKP_OTHERS_TURN));
  return w->ncopies ? mixed(h, w->group) : h;
}

static uint64_t mixed_block(uint64_t h, const tkp_block *b) {
  for (int i = 0; i < TKP_BARRIERS; i++) {
    h = mixed(h, b->barriers[i].expected);
    h = mixed(h, b->barriers[i].arrived);
    h = mixed(h, b->barriers[i].count);
  }
  h = mixed_bytes(h, b->shared, b->m->shared);
  for (uint32_t i = 0; i < b->m->nwarps; i++) h = mixed_warp(h, &b->warps[i]);
  return h;
}

static tkp_moment moment_of(const tkp_crowd *c) {
  const tkp_machine *m = c->m;
  tkp_moment now = {.nlive = c->n,
                    .ended = c->ended,
                    .changes = m->changes,
                    .polls = m->polls,
                    .clocks = m->clocks,
                    .most = 1};
  for (size_t i = 0; i < c->n; i++)
    now.hash = mixed_block(now.hash, c->live[i]);
  return now;
}

/* ---- the report ---------------------------------------------------------- */

static const tkp_range *range_at(const tkp_machine *m, uint64_t addr) {
  const tkp_range *found = NULL;
  for (size_t i = 0; i < m->nranges; i++)
    if (addr - m->ranges[i].base < m->ranges[i].size) found = &m->ranges[i];
  return found;
}

static long long word_at(const tkp_range *r, uint64_t addr, unsigned bytes) {
  uint64_t v = 0;
  const uint8_t *p =
      r->host ? r->host + (addr - r->base) : (const uint8_t *)(uintptr_t)addr;
  memcpy(&v, p, bytes);
  return (long long)((int64_t)(v << (64 - 8 * bytes)) >> (64 - 8 * bytes));
}

static bool waits_since(const tkp_block *b, const tkp_moment *then) {
  return b->poll.in && b->poll.at > then->polls;
}

static bool same_poll(const tkp_block *a, const tkp_block *b) {
  return a->poll.in == b->poll.in && a->poll.addr == b->poll.addr &&
         !a->poll.note;
}

/* Adds who changed the word that a program asks for last. */
static void note_writer(tk_diag *d, const tkp_block *b, const tkp_range *r,
                        unsigned long long at) {
  const tkp_machine *m = b->m;
  if (!m->writers) return;
  const tkp_writer *all = m->writers[r - m->ranges];
  const tkp_writer *by = all ? &all[(b->poll.addr - r->base) / 4] : NULL;
  if (!by || !by->in) {
    tk_diag_note(m->env, d, NULL, (tk_span){0, 0},
                 "no program has changed %s[%llu] since the launch began",
                 r->name, at);
    return;
  }
  const tkp_inst *in = &m->k->code.items[by->in - 1];
  const uint32_t *grid = m->launch->grid;
  tk_diag_note(m->env, d, m->p->src, in->span,
               "%s[%llu] was last changed here, by program (%u, %u, %u)",
               r->name, at, by->program % grid[0],
               by->program / grid[0] % grid[1],
               by->program / grid[0] / grid[1]);
  tkp_report_place(b->poll.warp, d, in, "in the kernel");
}

/* Adds what n programs, of which b is the first, ask for. */
static void note_poll(tk_diag *d, const tkp_block *b, size_t n) {
  const tkp_machine *m = b->m;
  const tkp_poll *p = &b->poll;
  if (p->note) {
    p->note(p, d);
    return;
  }
  const tkp_range *r = range_at(m, p->addr);
  if (!r || !p->in->bytes || p->in->bytes > 8) return;
  unsigned long long at = (p->addr - r->base) / p->in->bytes;
  tk_buf t;
  tk_buf_init(&t, m->env);
  if (n > 1) tk_buf_printf(&t, "%zu programs, the first of which is ", n);
  if (n == 1) tk_buf_puts(&t, "program ");
  tk_buf_printf(&t, "(%u, %u, %u)%s for %s[%llu]", b->pid[0], b->pid[1],
                b->pid[2], n > 1 ? ", wait" : " waits", r->name, at);
  if (p->more) tk_buf_printf(&t, " and %u more", p->more);
  tk_buf_printf(&t, " to change; it holds %lld",
                word_at(r, p->addr, p->in->bytes));
  tk_diag_note(m->env, d, NULL, (tk_span){0, 0}, "%s", tk_buf_str(&t));
  tk_buf_free(&t);
  note_writer(d, b, r, at);
}

static void note_polls(tk_diag *d, const tkp_crowd *c, const tkp_moment *then) {
  size_t notes = 0;
  for (size_t i = 0; i < c->n && notes < MAX_NOTES; i++) {
    size_t alike = 0, before = 0;
    if (!waits_since(c->live[i], then)) continue;
    for (size_t k = 0; k < c->n; k++) {
      if (k == i) alike++;
      if (k == i || !waits_since(c->live[k], then)) continue;
      if (!same_poll(c->live[i], c->live[k])) continue;
      alike++;
      before += k < i;
    }
    if (before) continue;
    note_poll(d, c->live[i], alike);
    notes++;
  }
}

static void report_deadlock(const tkp_crowd *c, const tkp_moment *then,
                            const tkp_block *b, size_t waiting) {
  tk_env *e = c->m->env;
  const tkp_poll *p = &b->poll;
  tk_diag *d =
      waiting == 1
          ? tkp_report(p->warp, p->in, p->lane, TK_D_DEADLOCK,
                       "deadlock: a program waits here and no other program "
                       "can help it")
          : tkp_report(p->warp, p->in, p->lane, TK_D_DEADLOCK,
                       "deadlock: %zu programs wait and none can go on",
                       waiting);
  note_polls(d, c, then);
  if (c->n > waiting)
    tk_diag_note(e, d, NULL, (tk_span){0, 0},
                 "%zu more run for ever and ask for nothing", c->n - waiting);
  tk_diag_note(e, d, NULL, (tk_span){0, 0},
               "%llu of %llu programs ran to their end",
               (unsigned long long)c->ended, (unsigned long long)c->total);
  if (p->note)
    tk_diag_help(e, d,
                 "each phase needs as many arrivals as mbarrier.init says, and "
                 "all the bytes that are expected of copies");
  else if (c->begun < c->total)
    tk_diag_help(e, d,
                 "no more than %zu programs run at a time, as on a GPU, whose "
                 "number depends on its size: a program must not wait for one "
                 "that may begin later",
                 c->n);
  else
    tk_diag_help(e, d,
                 "every path that takes a lock must give it back, and every "
                 "flag waited for must be set by some program, whatever the "
                 "order");
}

static void report_endless(const tkp_crowd *c) {
  const tkp_warp *w = &c->live[0]->warps[0];
  for (uint32_t i = 0; i < c->m->nwarps && w->state != TKP_RUNS; i++)
    w = &c->live[0]->warps[i];
  TK_ASSERT(w->pc < c->m->k->code.n);
  tk_diag *d = tkp_report(w, &c->m->k->code.items[w->pc], -1, TK_D_RUNAWAY,
                          "the launch never ends: what a program does here "
                          "leaves everything that it depends on as it was");
  tk_diag_help(c->m->env, d,
               "change what the loop's condition tests in its body");
}

static void never_ends(const tkp_crowd *c, const tkp_moment *then) TK_NORETURN;
static void never_ends(const tkp_crowd *c, const tkp_moment *then) {
  const tkp_block *first = NULL;
  size_t waiting = 0;
  for (size_t i = c->n; i-- > 0;) {
    if (!waits_since(c->live[i], then)) continue;
    first = c->live[i];
    waiting++;
  }
  if (first)
    report_deadlock(c, then, first, waiting);
  else
    report_endless(c);
  tk_throw(c->m->env, TK_FINDING);
}

void tkp_look_for_end(tkp_moment *then, const tkp_crowd *c) {
  const tkp_machine *m = c->m;
  tkp_moment now = moment_of(c);
  bool same = then->nlive == c->n && then->ended == c->ended &&
              then->changes == m->changes && then->clocks == m->clocks;
  if (same && then->hash == now.hash) never_ends(c, then);
  if (same && ++then->age < then->most) return;
  if (same) now.most = 2 * then->most;
  *then = now;
}
