/* alias.c - tensors that overlap, of the detector `race`.
 *
 * A strict language (ir/language.def) lets its compiler assume that no two
 * tensors of a launch share memory, so that what is written through one of
 * them may be missed, or seen too early, by what is read through the other.
 * Overlap alone harms nobody: a byte is reported that was touched through one
 * tensor and is touched through another, one of the two writing.
 */
#include "interp/check/alias.h"

#include "interp/check/intervals.h"
#include "interp/describe.h"
#include "ir/language.h"

typedef struct aliases {
  tkc *c;
  tki *t;
  tki_observer observer;
  /* By region: the sites + 1 that last wrote and read each byte through it; of
   * one that overlaps none, an empty range. */
  tkc_intervals *touched;
} aliases;

/* An access of some bytes, and an earlier one through another tensor. */
typedef struct meeting {
  const tki_access *access;
  const tki_region *mine, *other;
  uint64_t at;
  uint32_t site; /* of the earlier one */
  bool written;  /* by it */
} meeting;

static bool overlap(const tki_region *a, const tki_region *b) {
  return a->lo < b->hi && b->lo < a->hi;
}

static bool overlaps_any(const tki *t, size_t i) {
  for (size_t k = 0; k < t->nregions; k++)
    if (k != i && overlap(&t->regions[k], &t->regions[i])) return true;
  return false;
}

static const char *element_text(aliases *x, const tki_region *r,
                                uint64_t addr) {
  tk_buf b;
  tk_buf_init(&b, x->t->env);
  tki_describe_address_in(&b, r, addr);
  const char *s = tk_arena_strdup(&x->c->run, tk_buf_str(&b));
  tk_buf_free(&b);
  return s;
}

static void report_alias(aliases *x, const meeting *m) {
  tkc *c = x->c;
  const tki_site_info *site = tki_site_at(x->t, m->site);
  tkc_place from = tkc_place_of(site->func, site->inst);
  const char *mine = element_text(x, m->mine, m->at);
  const char *other = element_text(x, m->other, m->at);
  tk_diag *d = tkc_report(
      c, x->t, TK_D_ALIAS, NULL, &from,
      "%s is %s here, and the same memory was %s as %s: the tensors of a "
      "launch must not overlap where one of them is written",
      mine, m->access->write ? "written" : "read",
      m->written ? "written" : "read", other);
  tkc_note(c, d, &from, "%s is %s here", other,
           m->written ? "written" : "read");
  tkc_help(c, d,
           "give the kernel one argument for memory that it reads and writes, "
           "or memory of its own to write to");
  if (d) tkc_at_element(d, x->t, m->at);
  tkc_reported(c, x->t, d);
}

/* Finds the first byte of lo .. hi - 1 that another tensor's access meets. */
static bool find_meeting(aliases *x, meeting *m, uint64_t lo, uint64_t hi) {
  const tkc_intervals *of = &x->touched[m->other - x->t->regions];
  if (lo < of->lo) lo = of->lo;
  if (hi > of->hi) hi = of->hi;
  while (lo < hi) {
    tkc_history h;
    uint64_t end = tkc_intervals_end(of, lo, hi, &h);
    m->written = h.write != 0;
    if (h.write || (m->access->write && h.read)) {
      m->at = lo;
      m->site = (h.write ? h.write : h.read) - 1;
      return true;
    }
    lo = end;
  }
  return false;
}

static void look_for_others(aliases *x, const tki_access *a, uint64_t lo,
                            uint64_t hi) {
  const tki_region *mine = &x->t->regions[a->region];
  for (size_t k = 0; k < x->t->nregions; k++) {
    meeting m = {.access = a, .mine = mine, .other = &x->t->regions[k]};
    if (m.other != mine && overlap(mine, m.other) &&
        find_meeting(x, &m, lo, hi))
      report_alias(x, &m);
  }
}

typedef struct touching {
  uint32_t write, read;
} touching;

static tkc_history touch(void *ud, tkc_history old, uint64_t lo, uint64_t hi) {
  const touching *now = ud;
  (void)lo, (void)hi;
  if (now->write) old.write = now->write;
  if (now->read) old.read = now->read;
  return old;
}

static void see_access(void *ud, tki *t, const tki_access *a) {
  aliases *x = ud;
  if (a->region == TKI_ANY ||
      x->touched[a->region].lo == x->touched[a->region].hi)
    return;
  uint32_t site = tki_site(t) + 1;
  touching now = {a->write ? site : 0, a->read ? site : 0};
  for (tki_stretch s = {0}; tki_next_stretch(a, &s);) {
    uint64_t end = s.addr + s.n * a->size;
    look_for_others(x, a, s.addr, end);
    tkc_intervals_update(&x->touched[a->region], s.addr, end, touch, &now);
  }
}

void tkc_alias_begin(tkc *c, tki *t) {
  if (!tk_language_is_strict(t->program->language)) return;
  aliases *x = TK_NEW(&c->run, aliases);
  *x = (aliases){.c = c, .t = t};
  x->touched = TK_NEWN(&c->run, tkc_intervals, t->nregions + 1);
  bool any = false;
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    bool has = overlaps_any(t, i);
    x->touched[i] = tkc_intervals_for(&c->run, r->lo, has ? r->hi : r->lo);
    any |= has;
  }
  if (!any) return;
  x->observer = (tki_observer){.ud = x, .access = see_access, .rows = true};
  tki_observe(t, &x->observer);
}
