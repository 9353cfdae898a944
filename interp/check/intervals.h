/* intervals.h - an interval map: the history of each byte of a stretch of
 * memory.
 *
 * Two numbers belong to every byte, 0 at first: its last write and its last
 * reads (shadow.h says what they stand for).  Programs mostly touch whole
 * rows, so a page is a list of intervals of bytes with the same history; a
 * page that falls into many is a table instead, with an entry for every few
 * bytes.
 */
#ifndef TK_CHECK_INTERVALS_H
#define TK_CHECK_INTERVALS_H

#include "base/env.h"

enum { TKC_PAGE = 4096 };

typedef struct tkc_history {
  uint32_t write, read;
} tkc_history;

typedef struct tkc_interval {
  tkc_history history;
  uint16_t from; /* its first byte in the page; it ends where the next begins */
} tkc_interval;

typedef struct tkc_page {
  tkc_interval *intervals;  /* NULL: the page is a table */
  uint32_t *writes, *reads; /* the table; reads is NULL while all are 0 */
  uint16_t n, cap;          /* how many intervals there are, and have room */
  uint8_t shift;            /* log2 of the bytes of an entry of the table */
  bool written;             /* some write is not 0 */
  char *before; /* the map's owner keeps the page's old bytes here */
} tkc_page;

typedef struct tkc_intervals {
  tk_arena *arena;
  uint64_t lo, hi;  /* the addresses that it is for, hi not among them */
  uint64_t base;    /* where the first page begins; a multiple of 64 */
  tkc_page **pages; /* a page is made when it is first touched */
  size_t npages;
  /* Room for 2^k intervals that no page needs any more; the first bytes point
   * to the next. */
  tkc_interval *spare[7];
} tkc_intervals;

tkc_intervals tkc_intervals_for(tk_arena *a, uint64_t lo, uint64_t hi);

/* Returns what the history of bytes lo .. hi - 1, which is old for all of
 * them, becomes. */
typedef tkc_history (*tkc_history_fn)(void *ud, tkc_history old, uint64_t lo,
                                      uint64_t hi);
/* Calls fn for each interval in lo .. hi - 1, from the lowest. */
void tkc_intervals_update(tkc_intervals *c, uint64_t lo, uint64_t hi,
                          tkc_history_fn fn, void *ud);

/* Lanes of size bytes each, aligned; mask may be NULL. */
typedef struct tkc_lanes {
  const uint64_t *addr;
  const uint8_t *mask;
  size_t n, size;
} tkc_lanes;
/* Makes {write, 0} the history of the lanes from i on, as long as they lie in
 * tables with entries that are small enough, of memory that nobody reads;
 * returns the first lane that does not. */
size_t tkc_intervals_write(tkc_intervals *c, const tkc_lanes *l, size_t i,
                           uint32_t write);

tkc_history tkc_intervals_at(const tkc_intervals *c, uint64_t addr);
/* Returns where the interval that holds the byte at lo ends, which is hi at
 * most, and gives its history. */
uint64_t tkc_intervals_end(const tkc_intervals *c, uint64_t lo, uint64_t hi,
                           tkc_history *history);
/* Returns the page of an address, or NULL if nobody has touched it yet. */
tkc_page *tkc_intervals_page(const tkc_intervals *c, uint64_t addr);
/* The same, but makes the page if there is none. */
tkc_page *tkc_intervals_make_page(tkc_intervals *c, uint64_t addr);

#endif
