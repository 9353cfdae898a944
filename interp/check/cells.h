/* cells.h - the history of each byte of a stretch of memory.
 *
 * Two numbers belong to every byte, 0 at first: its last write and its last
 * reads (shadow.h says what they stand for).  Programs mostly touch whole
 * rows, so a page is a list of runs of bytes with the same history; a page
 * that falls into many is a table instead, with an entry for every few bytes.
 */
#ifndef TK_CHECK_CELLS_H
#define TK_CHECK_CELLS_H

#include "base/env.h"

enum { TKC_PAGE = 4096 };

typedef struct tkc_cell {
  uint32_t write, read;
} tkc_cell;

typedef struct tkc_run {
  tkc_cell cell;
  uint16_t from; /* in the page; up to where the next begins */
} tkc_run;

typedef struct tkc_page {
  tkc_run *runs;            /* NULL: a table */
  uint32_t *writes, *reads; /* the table; reads NULL: all 0 */
  uint16_t n, cap;          /* runs */
  uint8_t shift;            /* log2 of the bytes of an entry of the table */
  bool written;             /* some write is not 0 */
  char *before;             /* whoever owns the cells keeps bytes here */
} tkc_page;

typedef struct tkc_cells {
  tk_arena *arena;
  uint64_t lo, hi;  /* addresses */
  uint64_t base;    /* of the first page; a multiple of 64 */
  tkc_page **pages; /* made when touched first */
  size_t npages;
} tkc_cells;

tkc_cells tkc_cells_for(tk_arena *a, uint64_t lo, uint64_t hi);

/* What bytes lo .. hi - 1, which share a history, become. */
typedef tkc_cell (*tkc_cell_fn)(void *ud, tkc_cell old, uint64_t lo,
                                uint64_t hi);
/* Calls fn for each run of lo .. hi - 1, from the lowest. */
void tkc_cells_update(tkc_cells *c, uint64_t lo, uint64_t hi, tkc_cell_fn fn,
                      void *ud);

tkc_cell tkc_cells_at(const tkc_cells *c, uint64_t addr);
/* Where the run that holds the byte at lo ends, at most hi; its history. */
uint64_t tkc_cells_run(const tkc_cells *c, uint64_t lo, uint64_t hi,
                       tkc_cell *cell);
/* The page of an address; NULL: nobody touched it, unless it is to be made. */
tkc_page *tkc_cells_page(const tkc_cells *c, uint64_t addr);
tkc_page *tkc_cells_page_made(tkc_cells *c, uint64_t addr);

#endif
