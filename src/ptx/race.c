/* race.c - races on shared memory.
 *
 * Each warp has a clock, which goes on when it meets others at a barrier, and
 * knows of each other warp's clock what it was when they last met, by way of
 * others too.  An access is after another if the other's clock is one that the
 * warp knows of.  A word of shared memory remembers who wrote it last and two
 * who read it since.
 *
 * Lanes of one warp are in order too once the warp has met (bar.warp.sync, a
 * shuffle).  Two that write the same bits at the same time do no harm.
 */
#include <string.h>

#include "ptx/exec.h"

static bool happened_before(const tkp_warp *w, int lane, const tkp_touch *t) {
  uint32_t warp = t->thread / TKP_WARP;
  const uint32_t *known = &w->b->clocks[w->index * TKP_MAX_WARPS];
  if (warp != w->index) return t->clock <= known[warp];
  return t->thread % TKP_WARP == lane || t->clock < known[warp];
}

static tkp_touch touch_of(const tkp_warp *w, const tkp_access *a,
                          uint8_t bytes) {
  return (tkp_touch){.clock = w->b->clocks[w->index * TKP_MAX_WARPS + w->index],
                     .inst = (uint32_t)(a->in - w->b->m->k->code.items),
                     .thread =
                         (uint16_t)(w->index * TKP_WARP + (uint32_t)a->lane),
                     .bytes = bytes,
                     .atomic = a->atomic};
}

static void report_race(tkp_warp *w, const tkp_access *a, const tkp_touch *t,
                        bool wrote) {
  const tkp_inst *other = &w->b->m->k->code.items[t->inst];
  const tkp_machine *m = w->b->m;
  tk_diag *d = tkp_report(
      w, a->in, a->lane, TK_D_RACE,
      "%s shared memory that another thread %s, with no barrier in between",
      a->write ? "writes" : "reads", wrote ? "wrote" : "read");
  if (d->f.count > 1) return;
  tk_diag_note(m->env, d, m->p->src, other->span, "thread %u %s it here",
               t->thread, wrote ? "wrote" : "read");
  tkp_report_place(w, d, other, "in the kernel");
  tk_diag_help(m->env, d, "a barrier is missing between the two");
}

/* The next word that an access covers, and which of its bytes. */
static tkp_word_shadow *next_word(tkp_warp *w, uint64_t *at, uint64_t end,
                                  uint8_t *bytes) {
  const tkp_machine *m = w->b->m;
  uint64_t offset =
      *at >= TKP_DYNAMIC_SHARED ? *at - TKP_DYNAMIC_SHARED + m->fixed : *at;
  unsigned first = *at & 3;
  uint64_t stop = (*at | 3) + 1 < end ? (*at | 3) + 1 : end;
  *bytes = (uint8_t)(((1u << (stop - *at)) - 1) << first);
  *at = stop;
  return &w->b->shadow[offset / 4];
}

void tkp_race_write(tkp_warp *w, const tkp_access *a, const void *old,
                    const void *new_bytes, bool set) {
  uint8_t bytes;
  bool told = !memcmp(old, new_bytes, a->size);
  for (uint64_t at = a->addr, end = a->addr + a->size; at < end;) {
    tkp_word_shadow *s = next_word(w, &at, end, &bytes);
    const tkp_touch *t = &s->write;
    if (t->bytes & bytes && !told && !happened_before(w, a->lane, t) &&
        !(t->atomic && a->atomic))
      report_race(w, a, t, true), told = true;
    for (int k = 0; k < 2 && !told; k++) {
      t = &s->reads[k];
      if (t->bytes & bytes && !happened_before(w, a->lane, t) &&
          !(t->atomic && a->atomic))
        report_race(w, a, t, false), told = true;
    }
    s->write = touch_of(w, a, bytes);
    s->reads[0].bytes = s->reads[1].bytes = 0;
    s->set = set ? s->set | bytes : s->set & (uint8_t)~bytes;
  }
}

bool tkp_race_read(tkp_warp *w, const tkp_access *a) {
  uint8_t bytes;
  bool set = true, told = false;
  for (uint64_t at = a->addr, end = a->addr + a->size; at < end;) {
    tkp_word_shadow *s = next_word(w, &at, end, &bytes);
    const tkp_touch *t = &s->write;
    if (t->bytes & bytes && !told && !happened_before(w, a->lane, t) &&
        !(t->atomic && a->atomic))
      report_race(w, a, t, true), told = true;
    if ((s->set & bytes) != bytes) set = false;
    /* A read that this one is after need not be remembered. */
    int k =
        !s->reads[0].bytes || happened_before(w, a->lane, &s->reads[0]) ? 0 : 1;
    s->reads[k] = touch_of(w, a, bytes);
  }
  return set;
}
