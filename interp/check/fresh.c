/* fresh.c - which bytes of a region were never written; see fresh.h. */
#include "interp/check/fresh.h"

#include <string.h>

#include "interp/kernels.h"

enum { FRESH_PAGE = 4096 };

struct tkc_fresh_page {
  tkc_fresh_page *next;      /* of those to spare */
  size_t missing;            /* bytes that were never written */
  uint8_t bytes[FRESH_PAGE]; /* 1: it was */
};

tkc_fresh *tkc_fresh_new(tk_arena *a, unsigned char *before, size_t size) {
  tkc_fresh *f = TK_NEW(a, tkc_fresh);
  *f = (tkc_fresh){.arena = a, .before = before, .size = size};
  f->pages = TK_NEWN(a, tkc_fresh_page *, size / FRESH_PAGE + 1);
  f->full = TK_NEW(a, tkc_fresh_page);
  memset(f->full->bytes, 1, FRESH_PAGE);
  return f;
}

/* How many of n bytes from at on lie in the same page. */
static size_t bytes_in_page(size_t at, size_t n) {
  size_t rest = FRESH_PAGE - at % FRESH_PAGE;
  return n < rest ? n : rest;
}

bool tkc_fresh_any_before(const tkc_fresh *f, size_t at, size_t n) {
  return n && (!f->before || memchr(f->before + at, 0, n));
}

bool tkc_fresh_any(const tkc_fresh *f, size_t at, size_t n) {
  TK_ASSERT(at + n <= f->size);
  for (size_t k; n; at += k, n -= k) {
    k = bytes_in_page(at, n);
    const tkc_fresh_page *page = f->pages[at / FRESH_PAGE];
    if (page == f->full) continue;
    if (page ? memchr(page->bytes + at % FRESH_PAGE, 0, k) != NULL
             : tkc_fresh_any_before(f, at, k))
      return true;
  }
  return false;
}

TKI_CLONES static size_t count_written(const uint8_t *bytes, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += bytes[i];
  return count;
}

static tkc_fresh_page *make_fresh_page(tkc_fresh *f, size_t at) {
  size_t n = bytes_in_page(at, f->size - at);
  tkc_fresh_page *page = f->spare;
  if (page)
    f->spare = page->next;
  else
    page = TK_NEW(f->arena, tkc_fresh_page);
  if (f->before)
    for (size_t i = 0; i < n; i++) page->bytes[i] = f->before[at + i] != 0;
  else
    memset(page->bytes, 0, n);
  page->missing = n - count_written(page->bytes, n);
  return page;
}

/* Notes that k bytes of one page were written, not all of them. */
static void write_part(tkc_fresh *f, size_t at, size_t k) {
  tkc_fresh_page **slot = &f->pages[at / FRESH_PAGE], *page = *slot;
  if (!page) page = *slot = make_fresh_page(f, at - at % FRESH_PAGE);
  uint8_t *bytes = page->bytes + at % FRESH_PAGE;
  TK_ASSERT(page != f->full && page->missing <= FRESH_PAGE);
  page->missing -= memchr(bytes, 1, k) ? k - count_written(bytes, k) : k;
  memset(bytes, 1, k);
  if (page->missing) return;
  page->next = f->spare;
  f->spare = page;
  *slot = f->full;
}

void tkc_fresh_write(tkc_fresh *f, size_t at, size_t n) {
  TK_ASSERT(at + n <= f->size);
  for (size_t k; n; at += k, n -= k) {
    k = bytes_in_page(at, n);
    tkc_fresh_page **slot = &f->pages[at / FRESH_PAGE];
    if (*slot == f->full) continue;
    if (k == FRESH_PAGE && !*slot)
      *slot = f->full;
    else
      write_part(f, at, k);
  }
}

void tkc_fresh_keep(tkc_fresh *f) {
  for (size_t at = 0; f->before && at < f->size; at += FRESH_PAGE) {
    const tkc_fresh_page *page = f->pages[at / FRESH_PAGE];
    if (page)
      memcpy(f->before + at, page->bytes, bytes_in_page(at, f->size - at));
  }
}
