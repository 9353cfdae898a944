/* race.c - races on shared memory.
 *
 * Each warp has a clock, which goes on when it meets others at a barrier, and
 * knows of each other warp's clock what it was when they last met, by way of
 * others too.  An access is after another if the other's clock is one that the
 * warp knows of.  A word of shared memory remembers who wrote it last and two
 * who read it since.
 *
 * The asynchronous proxy (wgmma, bulk copies) sees what a thread wrote only
 * behind a fence of its own, fence.proxy.async: what a warp knows to be fenced
 * is a second set of clocks, which barriers pass on as well (PTX ISA, "Memory
 * Consistency Model", proxies).
 *
 * Lanes of one warp are in order too once the warp has met (bar.warp.sync, a
 * shuffle).  Two that write the same bits at the same time do no
 * harm. */
#include <string.h>

#include "ptx/exec.h"

/* The clock of a bulk load until it has ended: nobody knows it. */
static const uint32_t in_flight = UINT32_MAX;

static inline bool happened_before(const tkp_warp *w, const uint32_t *known,
                                   int lane, const tkp_touch *t) {
  if (TK_UNLIKELY(t->clock == in_flight)) return false;
  uint32_t warp = t->thread / TKP_WARP;
  TK_ASSERT(warp < w->b->m->nwarps || !t->bytes);
  if (warp != w->index) return t->clock <= known[warp];
  return t->thread % TKP_WARP == lane || t->clock < known[warp];
}

static const uint32_t *known_clocks(const tkp_warp *w) {
  return &w->b->clocks[w->index * TKP_MAX_WARPS];
}

static tkp_touch touch_of(const tkp_warp *w, const tkp_access *a,
                          uint8_t bytes) {
  return (tkp_touch){.clock = tkp_own_clock(w),
                     .inst = (uint32_t)(a->in - w->b->m->k->code.items),
                     .thread =
                         (uint16_t)(w->index * TKP_WARP + (uint32_t)a->lane),
                     .bytes = bytes,
                     .atomic = a->atomic,
                     .async = a->async};
}

/* Threads that hold the same element store it by the same instruction. They
 * need no order, but should store the same value. */
static bool report_collision(tkp_warp *w, const tkp_access *a,
                             const tkp_touch *t) {
  const tkp_machine *m = w->b->m;
  if (&m->k->code.items[t->inst] != a->in) return false;
  tk_diag *d = tkp_report(w, a->in, a->lane, TK_D_SUSPICIOUS,
                          "threads store different values to the same shared "
                          "memory by the same instruction");
  if (d->f.count == 1)
    tk_diag_help(m->env, d,
                 "which one remains is undefined; sums that are fused with a "
                 "product differ in the last bit from thread to thread");
  return true;
}

static void report_race(tkp_warp *w, const tkp_access *a, const tkp_touch *t,
                        bool wrote) {
  const tkp_inst *other = &w->b->m->k->code.items[t->inst];
  const tkp_machine *m = w->b->m;
  TK_ASSERT(t->inst < m->k->code.n);
  bool flies = t->clock == in_flight;
  if (a->write && wrote && !flies && report_collision(w, a, t)) return;
  tk_diag *d = tkp_report(
      w, a->in, a->lane, TK_D_RACE,
      flies ? "%s shared memory that a bulk copy has not written yet"
            : "%s shared memory that another thread %s, with no barrier in "
              "between",
      a->write ? "writes" : "reads", wrote ? "wrote" : "read");
  if (d->f.count > 1) return;
  if (flies) {
    tk_diag_note(m->env, d, m->p->src, other->span, "it was begun here");
    tk_diag_help(m->env, d, "a wait for the copy's mbarrier is missing");
    return;
  }
  tk_diag_note(m->env, d, m->p->src, other->span, "thread %u %s it here",
               t->thread, wrote ? "wrote" : "read");
  tkp_report_place(w, d, other, "in the kernel");
  tk_diag_help(m->env, d, "a barrier is missing between the two");
}

/* Whether a write by an ordinary instruction is one that the asynchronous proxy
 * may not see. */
static bool is_unfenced(const tkp_warp *w, const tkp_touch *t) {
  const tkp_block *b = w->b;
  return !t->async && t->clock > b->start &&
         t->clock > b->fenced[w->index * TKP_MAX_WARPS + t->thread / TKP_WARP];
}

static void report_unfenced(tkp_warp *w, const tkp_access *a,
                            const tkp_touch *t) {
  const tkp_machine *m = w->b->m;
  const tkp_inst *other = &m->k->code.items[t->inst];
  tk_diag *d = tkp_report(w, a->in, a->lane, TK_D_RACE,
                          "reads shared memory by the asynchronous proxy that "
                          "thread %u wrote, with no fence.proxy.async in "
                          "between",
                          t->thread);
  if (d->f.count > 1) return;
  tk_diag_note(m->env, d, m->p->src, other->span, "it was written here");
  tkp_report_place(w, d, other, "in the kernel");
  tk_diag_help(m->env, d,
               "fence.proxy.async belongs behind the write, before the barrier "
               "or behind it");
}

/* The next word that an access covers, and which of its bytes. */
static tkp_word_shadow *next_word(tkp_warp *w, uint64_t *at, uint64_t end,
                                  uint8_t *bytes) {
  const tkp_machine *m = w->b->m;
  uint64_t offset =
      *at >= TKP_DYNAMIC_SHARED ? *at - TKP_DYNAMIC_SHARED + m->fixed : *at;
  unsigned first = *at & 3;
  TK_ASSERT(*at < end && offset < m->shared); /* it was reached */
  uint64_t stop = (*at | 3) + 1 < end ? (*at | 3) + 1 : end;
  *bytes = (uint8_t)(((1u << (stop - *at)) - 1) << first);
  *at = stop;
  return &w->b->shadow[offset / 4];
}

/* What was written before this program began is of another. */
static void forget_program(const tkp_block *b, tkp_word_shadow *s) {
  if (s->write.clock <= b->start) s->set = 0;
}

/* set: which bytes have a value then; NULL: those that had one. */
static void mark_written(tkp_warp *w, const tkp_access *a, const void *old,
                         const void *new_bytes, const uint64_t *set) {
  const uint32_t *known = known_clocks(w);
  tkp_touch now = touch_of(w, a, 0);
  bool told = !memcmp(old, new_bytes, a->size);
  for (uint64_t at = a->addr, end = a->addr + a->size; at < end;) {
    uint8_t bytes;
    uint64_t from = at;
    tkp_word_shadow *s = next_word(w, &at, end, &bytes);
    const tkp_touch *touches[3] = {&s->write, &s->reads[0], &s->reads[1]};
    for (int k = 0; k < 3 && !told; k++) {
      const tkp_touch *t = touches[k];
      if (!(t->bytes & bytes) || happened_before(w, known, a->lane, t) ||
          (t->atomic && a->atomic))
        continue;
      report_race(w, a, t, k == 0);
      told = true;
    }
    forget_program(w->b, s);
    now.bytes = bytes;
    s->write = now;
    s->reads[0].bytes = s->reads[1].bytes = 0;
    if (set)
      s->set = (uint8_t)((s->set & ~bytes) |
                         (*set >> (from - a->addr) << (from & 3) & bytes));
  }
}

void tkp_race_write(tkp_warp *w, const tkp_access *a, const void *old,
                    const void *new_bytes, uint64_t set) {
  mark_written(w, a, old, new_bytes, &set);
}

void tkp_race_begin_copy(tkp_warp *w, const tkp_access *a, const void *old,
                         const void *new_bytes) {
  mark_written(w, a, old, new_bytes, NULL);
}

void tkp_race_begin_bulk(tkp_warp *w, const tkp_access *a, const void *old,
                         const void *new_bytes) {
  static const uint64_t none = 0;
  mark_written(w, a, old, new_bytes, &none);
  for (uint64_t at = a->addr, end = a->addr + a->size; at < end;) {
    uint8_t bytes;
    next_word(w, &at, end, &bytes)->write.clock = in_flight;
  }
}

void tkp_race_end_bulk(tkp_warp *w, const tkp_access *a, uint32_t clock) {
  for (uint64_t at = a->addr, end = a->addr + a->size; at < end;) {
    uint8_t bytes;
    tkp_word_shadow *s = next_word(w, &at, end, &bytes);
    if (s->write.clock != in_flight) continue;
    s->write.clock = clock;
    s->set |= bytes;
  }
}

/* Lanes of one warp often read the same word at a time: one stands for all. */
static bool is_noted(const tkp_touch *t, const tkp_touch *now, uint8_t bytes) {
  return t->clock == now->clock && (t->bytes & bytes) == bytes &&
         t->thread / TKP_WARP == now->thread / TKP_WARP;
}

uint64_t tkp_race_read(tkp_warp *w, const tkp_access *a) {
  const uint32_t *known = known_clocks(w);
  tkp_touch now = touch_of(w, a, 0);
  bool told = false;
  uint64_t set = 0;
  for (uint64_t at = a->addr, end = a->addr + a->size; at < end;) {
    uint8_t bytes;
    uint64_t from = at;
    tkp_word_shadow *s = next_word(w, &at, end, &bytes);
    const tkp_touch *t = &s->write;
    if (TK_UNLIKELY(t->bytes & bytes && !told &&
                    !happened_before(w, known, a->lane, t) &&
                    !(t->atomic && a->atomic))) {
      report_race(w, a, t, true);
      told = true;
    }
    if (TK_UNLIKELY(a->async && t->bytes & bytes && !told &&
                    is_unfenced(w, t))) {
      report_unfenced(w, a, t);
      told = true;
    }
    if (t->clock > w->b->start)
      set |= (uint64_t)((s->set & bytes) >> (from & 3)) << (from - a->addr);
    if (is_noted(&s->reads[0], &now, bytes)) continue;
    /* A read that this one is after need not be remembered. */
    bool after =
        !s->reads[0].bytes || happened_before(w, known, a->lane, &s->reads[0]);
    now.bytes = bytes;
    s->reads[after ? 0 : 1] = now;
  }
  return set;
}
