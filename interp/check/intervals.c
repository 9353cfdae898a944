/* intervals.c - intervals of bytes with the same history, and tables.
 */
#include "interp/check/intervals.h"

#include <string.h>

/* Beyond MOST_INTERVALS intervals, a table takes less time and little more
 * memory. */
enum { FIRST_INTERVALS = 4, MOST_INTERVALS = 64, WIDEST = 3 };

tkc_intervals tkc_intervals_for(tk_arena *a, uint64_t lo, uint64_t hi) {
  uint64_t base = lo & ~(uint64_t)63;
  tkc_intervals c = {.arena = a, .lo = lo, .hi = hi, .base = base};
  c.npages = hi > base ? (size_t)((hi - base + TKC_PAGE - 1) / TKC_PAGE) : 0;
  return c;
}

static bool same_history(tkc_history a, tkc_history b) {
  return a.write == b.write && a.read == b.read;
}

/* ---- pages ------------------------------------------------------------- */

/* The spare intervals of a size are a list, whose links lie where the first
 * interval of each lay. */
typedef struct spare_link {
  tkc_interval *next;
} spare_link;

/* Gives the intervals of a page back, for another one. */
static void spare_intervals(tkc_intervals *c, tkc_page *p) {
  tkc_interval **spare = &c->spare[__builtin_ctz(p->cap)];
  spare_link to = {*spare};
  memcpy(p->intervals, &to, sizeof to);
  *spare = p->intervals;
}

static tkc_interval *take_intervals(tkc_intervals *c, size_t cap) {
  tkc_interval **spare = &c->spare[__builtin_ctzll(cap)], *r = *spare;
  TK_ASSERT(cap <= MOST_INTERVALS && !(cap & (cap - 1)));
  if (!r) return TK_NEWN(c->arena, tkc_interval, cap);
  spare_link to;
  memcpy(&to, r, sizeof to);
  *spare = to.next;
  return r;
}

static tkc_page *make_page(tkc_intervals *c, size_t i) {
  if (!c->pages) c->pages = TK_NEWN(c->arena, tkc_page *, c->npages);
  if (c->pages[i]) return c->pages[i];
  tkc_page *p = TK_NEW(c->arena, tkc_page);
  p->intervals = take_intervals(c, FIRST_INTERVALS);
  p->intervals[0] = (tkc_interval){{0, 0}, 0};
  p->cap = FIRST_INTERVALS;
  p->n = 1;
  return c->pages[i] = p;
}

tkc_page *tkc_intervals_page(const tkc_intervals *c, uint64_t addr) {
  TK_ASSERT(addr >= c->base && (addr - c->base) / TKC_PAGE < c->npages);
  return c->pages ? c->pages[(addr - c->base) / TKC_PAGE] : NULL;
}

tkc_page *tkc_intervals_make_page(tkc_intervals *c, uint64_t addr) {
  TK_ASSERT(addr >= c->base && (addr - c->base) / TKC_PAGE < c->npages);
  return make_page(c, (size_t)((addr - c->base) / TKC_PAGE));
}

/* Returns the index of the interval that holds the byte at `at`. */
static size_t find_interval(const tkc_page *p, size_t at) {
  TK_ASSERT(p->n > 0 && p->intervals[0].from == 0 && at < TKC_PAGE);
  size_t lo = 0, hi = p->n;
  while (hi - lo > 1) {
    size_t mid = (lo + hi) / 2;
    if (p->intervals[mid].from <= at)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

static size_t interval_end(const tkc_page *p, size_t i) {
  return i + 1 < p->n ? p->intervals[i + 1].from : TKC_PAGE;
}

static void insert_interval(tkc_intervals *c, tkc_page *p, size_t i,
                            tkc_interval r) {
  if (p->n == p->cap) {
    tkc_interval *more = take_intervals(c, 2 * (size_t)p->cap);
    memcpy(more, p->intervals, p->n * sizeof *more);
    spare_intervals(c, p);
    p->intervals = more;
    p->cap = (uint16_t)(2 * p->cap);
  }
  TK_ASSERT(i > 0 && p->intervals[i - 1].from < r.from);
  TK_ASSERT(i == p->n || r.from < p->intervals[i].from);
  memmove(&p->intervals[i + 1], &p->intervals[i], (p->n - i) * sizeof r);
  p->intervals[i] = r;
  p->n++;
}

/* Makes an interval begin at `at` and returns its index, which is p->n at the
 * page's end. */
static size_t split_interval(tkc_intervals *c, tkc_page *p, size_t at) {
  if (at == TKC_PAGE) return p->n;
  size_t i = find_interval(p, at);
  if (p->intervals[i].from == at) return i;
  tkc_interval r = {p->intervals[i].history, (uint16_t)at};
  insert_interval(c, p, i + 1, r);
  return i + 1;
}

/* Joins neighbours that have become the same, from the interval before `from`
 * up to the one at `to`. */
static void join_intervals(tkc_page *p, size_t from, size_t to) {
  if (!from) from = 1;
  size_t keep = from;
  if (to >= p->n) to = p->n - 1u;
  for (size_t i = from; i <= to; i++)
    if (!same_history(p->intervals[keep - 1].history, p->intervals[i].history))
      p->intervals[keep++] = p->intervals[i];
  if (to < from || keep == to + 1) return;
  memmove(&p->intervals[keep], &p->intervals[to + 1],
          (p->n - to - 1) * sizeof *p->intervals);
  p->n = (uint16_t)(p->n - (to + 1 - keep));
}

/* ---- tables ------------------------------------------------------------ */

static tkc_history entry(const tkc_page *p, size_t g) {
  return (tkc_history){p->writes[g], p->reads ? p->reads[g] : 0};
}

static void fill_entries(tk_arena *a, tkc_page *p, size_t from, size_t to,
                         tkc_history history) {
  if (history.read && !p->reads)
    p->reads = TK_NEWN(a, uint32_t, (size_t)TKC_PAGE >> p->shift);
  for (size_t g = from; g < to; g++) p->writes[g] = history.write;
  for (size_t g = from; g < to && p->reads; g++) p->reads[g] = history.read;
}

/* The largest power of two, up to 8, that divides all bits seen. */
static uint8_t shift_of(size_t bits) {
  uint8_t s = 0;
  while (s < WIDEST && !(bits >> s & 1)) s++;
  return s;
}

/* Makes a table in place of the intervals, with entries that are small enough
 * for boundaries with these bits. */
static void make_page_table(tkc_intervals *c, tkc_page *p, size_t bits) {
  tk_arena *a = c->arena;
  for (size_t i = 0; i < p->n; i++) bits |= p->intervals[i].from;
  p->shift = shift_of(bits);
  p->writes = TK_NEWN(a, uint32_t, (size_t)TKC_PAGE >> p->shift);
  for (size_t i = 0; i < p->n; i++)
    fill_entries(a, p, p->intervals[i].from >> p->shift,
                 interval_end(p, i) >> p->shift, p->intervals[i].history);
  spare_intervals(c, p);
  p->intervals = NULL;
}

static uint32_t *spread_entries(tk_arena *a, const uint32_t *from, size_t n,
                                int by) {
  uint32_t *to = TK_NEWN(a, uint32_t, n);
  for (size_t i = 0; i < n; i++) to[i] = from[i >> by];
  return to;
}

/* Makes the entries smaller, each with the history of the one that it was a
 * part of. */
static void refine(tk_arena *a, tkc_page *p, uint8_t shift) {
  TK_ASSERT(shift < p->shift);
  int by = p->shift - shift;
  size_t n = (size_t)TKC_PAGE >> shift;
  p->writes = spread_entries(a, p->writes, n, by);
  if (p->reads) p->reads = spread_entries(a, p->reads, n, by);
  p->shift = shift;
}

static size_t same_entries(const tkc_page *p, size_t g, size_t to) {
  tkc_history history = entry(p, g);
  while (++g < to && same_history(entry(p, g), history)) continue;
  return g;
}

/* ---- updates ----------------------------------------------------------- */

/* A page's share of an update; the page begins at the address `base`. */
typedef struct update {
  tkc_intervals *map;
  tkc_page *p;
  uint64_t base;
  tkc_history_fn fn;
  void *ud;
} update;

static tkc_history ask(update *u, tkc_history old, size_t from, size_t to) {
  tkc_history history = u->fn(u->ud, old, u->base + from, u->base + to);
  u->p->written |= history.write != 0;
  return history;
}

static void update_intervals(update *u, size_t from, size_t to) {
  tkc_page *p = u->p;
  size_t first = split_interval(u->map, p, from),
         end = split_interval(u->map, p, to);
  for (size_t i = first; i < end; i++)
    p->intervals[i].history = ask(u, p->intervals[i].history,
                                  p->intervals[i].from, interval_end(p, i));
  join_intervals(p, first, end);
}

static void update_table(update *u, size_t from, size_t to) {
  tkc_page *p = u->p;
  uint8_t shift = shift_of(from | to);
  if (shift < p->shift) refine(u->map->arena, p, shift);
  for (size_t g = from >> p->shift, next; g < to >> p->shift; g = next) {
    next = same_entries(p, g, to >> p->shift);
    tkc_history old = entry(p, g);
    tkc_history now = ask(u, old, g << p->shift, next << p->shift);
    if (!same_history(old, now)) fill_entries(u->map->arena, p, g, next, now);
  }
}

void tkc_intervals_update(tkc_intervals *c, uint64_t lo, uint64_t hi,
                          tkc_history_fn fn, void *ud) {
  while (lo < hi) {
    size_t i = (size_t)((lo - c->base) / TKC_PAGE);
    uint64_t base = c->base + i * (uint64_t)TKC_PAGE;
    size_t from = (size_t)(lo - base);
    size_t to = hi - base < TKC_PAGE ? (size_t)(hi - base) : TKC_PAGE;
    update u = {c, make_page(c, i), base, fn, ud};
    if (u.p->intervals && u.p->n + 2 > MOST_INTERVALS)
      make_page_table(c, u.p, from | to);
    if (u.p->intervals)
      update_intervals(&u, from, to);
    else
      update_table(&u, from, to);
    lo = base + to;
  }
}

size_t tkc_intervals_write(tkc_intervals *c, const tkc_lanes *l, size_t i,
                           uint32_t write) {
  uint64_t base = 0; /* of the table's page */
  uint32_t *writes = NULL;
  size_t shift = 0, each = 0, n = l->n;
  const uint8_t *mask = l->mask;
  for (; i < n; i++) {
    if (mask && !mask[i]) continue;
    uint64_t off = l->addr[i] - c->base;
    TK_ASSERT(off / TKC_PAGE < c->npages && !(off & (l->size - 1)));
    if (!writes || off - base >= TKC_PAGE) {
      const tkc_page *p = c->pages ? c->pages[off / TKC_PAGE] : NULL;
      if (!p || p->intervals || p->reads || !(l->size >> p->shift)) return i;
      base = off - off % TKC_PAGE;
      writes = p->writes;
      shift = p->shift;
      each = l->size >> shift;
    }
    uint32_t *to = &writes[(off - base) >> shift];
    to[0] = write;
    for (size_t k = 1; k < each; k++) to[k] = write;
  }
  return i;
}

/* ---- looking ----------------------------------------------------------- */

uint64_t tkc_intervals_end(const tkc_intervals *c, uint64_t lo, uint64_t hi,
                           tkc_history *history) {
  const tkc_page *p = tkc_intervals_page(c, lo);
  uint64_t base = lo - (lo - c->base) % TKC_PAGE, end = base + TKC_PAGE;
  size_t at = (size_t)(lo - base);
  if (!p) {
    *history = (tkc_history){0, 0};
  } else if (p->intervals) {
    size_t i = find_interval(p, at);
    *history = p->intervals[i].history;
    end = base + interval_end(p, i);
  } else {
    *history = entry(p, at >> p->shift);
    size_t to = hi - base < TKC_PAGE ? (size_t)(hi - base) : TKC_PAGE;
    to += ((size_t)1 << p->shift) - 1; /* the last one may lie in it in part */
    end = base + (same_entries(p, at >> p->shift, to >> p->shift) << p->shift);
  }
  return end < hi ? end : hi;
}

tkc_history tkc_intervals_at(const tkc_intervals *c, uint64_t addr) {
  tkc_history history;
  tkc_intervals_end(c, addr, addr + 1, &history);
  return history;
}
