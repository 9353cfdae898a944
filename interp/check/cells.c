/* cells.c - runs of bytes with the same history, and tables.
 */
#include "interp/check/cells.h"

#include <string.h>

/* With more runs a table takes less time, and little more memory. */
enum { FIRST_RUNS = 4, MOST_RUNS = 64, WIDEST = 3 };

tkc_cells tkc_cells_for(tk_arena *a, uint64_t lo, uint64_t hi) {
  uint64_t base = lo & ~(uint64_t)63;
  tkc_cells c = {.arena = a, .lo = lo, .hi = hi, .base = base};
  c.npages = hi > base ? (size_t)((hi - base + TKC_PAGE - 1) / TKC_PAGE) : 0;
  return c;
}

static bool same_cell(tkc_cell a, tkc_cell b) {
  return a.write == b.write && a.read == b.read;
}

/* ---- pages ------------------------------------------------------------- */

static tkc_page *make_page(tkc_cells *c, size_t i) {
  if (!c->pages) c->pages = TK_NEWN(c->arena, tkc_page *, c->npages);
  if (c->pages[i]) return c->pages[i];
  tkc_page *p = TK_NEW(c->arena, tkc_page);
  p->runs = TK_NEWN(c->arena, tkc_run, FIRST_RUNS);
  p->cap = FIRST_RUNS;
  p->n = 1;
  return c->pages[i] = p;
}

tkc_page *tkc_cells_page(const tkc_cells *c, uint64_t addr) {
  TK_ASSERT(addr >= c->base && (addr - c->base) / TKC_PAGE < c->npages);
  return c->pages ? c->pages[(addr - c->base) / TKC_PAGE] : NULL;
}

tkc_page *tkc_cells_page_made(tkc_cells *c, uint64_t addr) {
  TK_ASSERT(addr >= c->base && (addr - c->base) / TKC_PAGE < c->npages);
  return make_page(c, (size_t)((addr - c->base) / TKC_PAGE));
}

/* The run that holds the byte at `at`. */
static size_t find_run(const tkc_page *p, size_t at) {
  TK_ASSERT(p->n > 0 && p->runs[0].from == 0 && at < TKC_PAGE);
  size_t lo = 0, hi = p->n;
  while (hi - lo > 1) {
    size_t mid = (lo + hi) / 2;
    if (p->runs[mid].from <= at)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

static size_t run_end(const tkc_page *p, size_t i) {
  return i + 1 < p->n ? p->runs[i + 1].from : TKC_PAGE;
}

static void insert_run(tk_arena *a, tkc_page *p, size_t i, tkc_run r) {
  if (p->n == p->cap) {
    size_t cap = p->cap;
    p->runs = tk_arena_grow(a, p->runs, sizeof *p->runs, &cap);
    p->cap = (uint16_t)cap;
  }
  TK_ASSERT(i > 0 && p->runs[i - 1].from < r.from);
  TK_ASSERT(i == p->n || r.from < p->runs[i].from);
  memmove(&p->runs[i + 1], &p->runs[i], (p->n - i) * sizeof r);
  p->runs[i] = r;
  p->n++;
}

/* Makes a run begin at `at`; its index, p->n at the page's end. */
static size_t split_run(tk_arena *a, tkc_page *p, size_t at) {
  if (at == TKC_PAGE) return p->n;
  size_t i = find_run(p, at);
  if (p->runs[i].from == at) return i;
  tkc_run r = {p->runs[i].cell, (uint16_t)at};
  insert_run(a, p, i + 1, r);
  return i + 1;
}

/* Joins neighbours that have become the same, from the run before `from` up
 * to the one at `to`. */
static void join_runs(tkc_page *p, size_t from, size_t to) {
  if (!from) from = 1;
  size_t keep = from;
  if (to >= p->n) to = p->n - 1u;
  for (size_t i = from; i <= to; i++)
    if (!same_cell(p->runs[keep - 1].cell, p->runs[i].cell))
      p->runs[keep++] = p->runs[i];
  if (to < from || keep == to + 1) return;
  memmove(&p->runs[keep], &p->runs[to + 1], (p->n - to - 1) * sizeof *p->runs);
  p->n = (uint16_t)(p->n - (to + 1 - keep));
}

/* ---- tables ------------------------------------------------------------ */

static tkc_cell entry(const tkc_page *p, size_t g) {
  return (tkc_cell){p->writes[g], p->reads ? p->reads[g] : 0};
}

static void fill_entries(tk_arena *a, tkc_page *p, size_t from, size_t to,
                         tkc_cell cell) {
  if (cell.read && !p->reads)
    p->reads = TK_NEWN(a, uint32_t, (size_t)TKC_PAGE >> p->shift);
  for (size_t g = from; g < to; g++) p->writes[g] = cell.write;
  for (size_t g = from; g < to && p->reads; g++) p->reads[g] = cell.read;
}

/* The largest power of two, up to 8, that divides all bits seen. */
static uint8_t shift_of(size_t bits) {
  uint8_t s = 0;
  while (s < WIDEST && !(bits >> s & 1)) s++;
  return s;
}

/* A table in place of runs, fit for boundaries with these bits. */
static void make_page_table(tk_arena *a, tkc_page *p, size_t bits) {
  for (size_t i = 0; i < p->n; i++) bits |= p->runs[i].from;
  p->shift = shift_of(bits);
  p->writes = TK_NEWN(a, uint32_t, (size_t)TKC_PAGE >> p->shift);
  for (size_t i = 0; i < p->n; i++)
    fill_entries(a, p, p->runs[i].from >> p->shift, run_end(p, i) >> p->shift,
                 p->runs[i].cell);
  p->runs = NULL;
}

static uint32_t *spread_entries(tk_arena *a, const uint32_t *from, size_t n,
                                int by) {
  uint32_t *to = TK_NEWN(a, uint32_t, n);
  for (size_t i = 0; i < n; i++) to[i] = from[i >> by];
  return to;
}

/* Smaller entries, each with the history of the one it was part of. */
static void refine(tk_arena *a, tkc_page *p, uint8_t shift) {
  TK_ASSERT(shift < p->shift);
  int by = p->shift - shift;
  size_t n = (size_t)TKC_PAGE >> shift;
  p->writes = spread_entries(a, p->writes, n, by);
  if (p->reads) p->reads = spread_entries(a, p->reads, n, by);
  p->shift = shift;
}

static size_t same_entries(const tkc_page *p, size_t g, size_t to) {
  tkc_cell cell = entry(p, g);
  while (++g < to && same_cell(entry(p, g), cell)) continue;
  return g;
}

/* ---- updates ----------------------------------------------------------- */

/* What a page's share of an update is: the page begins at `base`. */
typedef struct update {
  tk_arena *arena;
  tkc_page *p;
  uint64_t base;
  tkc_cell_fn fn;
  void *ud;
} update;

static tkc_cell ask(update *u, tkc_cell old, size_t from, size_t to) {
  tkc_cell cell = u->fn(u->ud, old, u->base + from, u->base + to);
  u->p->written |= cell.write != 0;
  return cell;
}

static void update_runs(update *u, size_t from, size_t to) {
  tkc_page *p = u->p;
  size_t first = split_run(u->arena, p, from), end = split_run(u->arena, p, to);
  for (size_t i = first; i < end; i++)
    p->runs[i].cell = ask(u, p->runs[i].cell, p->runs[i].from, run_end(p, i));
  join_runs(p, first, end);
}

static void update_table(update *u, size_t from, size_t to) {
  tkc_page *p = u->p;
  uint8_t shift = shift_of(from | to);
  if (shift < p->shift) refine(u->arena, p, shift);
  for (size_t g = from >> p->shift, next; g < to >> p->shift; g = next) {
    next = same_entries(p, g, to >> p->shift);
    tkc_cell old = entry(p, g);
    tkc_cell now = ask(u, old, g << p->shift, next << p->shift);
    if (!same_cell(old, now)) fill_entries(u->arena, p, g, next, now);
  }
}

void tkc_cells_update(tkc_cells *c, uint64_t lo, uint64_t hi, tkc_cell_fn fn,
                      void *ud) {
  while (lo < hi) {
    size_t i = (size_t)((lo - c->base) / TKC_PAGE);
    uint64_t base = c->base + i * (uint64_t)TKC_PAGE;
    size_t from = (size_t)(lo - base);
    size_t to = hi - base < TKC_PAGE ? (size_t)(hi - base) : TKC_PAGE;
    update u = {c->arena, make_page(c, i), base, fn, ud};
    if (u.p->runs && u.p->n + 2 > MOST_RUNS)
      make_page_table(u.arena, u.p, from | to);
    if (u.p->runs)
      update_runs(&u, from, to);
    else
      update_table(&u, from, to);
    lo = base + to;
  }
}

/* ---- looking ----------------------------------------------------------- */

uint64_t tkc_cells_run(const tkc_cells *c, uint64_t lo, uint64_t hi,
                       tkc_cell *cell) {
  const tkc_page *p = tkc_cells_page(c, lo);
  uint64_t base = lo - (lo - c->base) % TKC_PAGE, end = base + TKC_PAGE;
  size_t at = (size_t)(lo - base);
  if (!p) {
    *cell = (tkc_cell){0, 0};
  } else if (p->runs) {
    size_t i = find_run(p, at);
    *cell = p->runs[i].cell;
    end = base + run_end(p, i);
  } else {
    *cell = entry(p, at >> p->shift);
    end = base + (same_entries(p, at >> p->shift, (size_t)TKC_PAGE >> p->shift)
                  << p->shift);
  }
  return end < hi ? end : hi;
}

tkc_cell tkc_cells_at(const tkc_cells *c, uint64_t addr) {
  tkc_cell cell;
  tkc_cells_run(c, addr, addr + 1, &cell);
  return cell;
}
