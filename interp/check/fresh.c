/* fresh.c - which bytes of a region were never written; see fresh.h. */
#include "interp/check/fresh.h"

#include <string.h>

enum { FRESH_PAGE = 4096 };

tkc_fresh *tkc_fresh_new(tk_arena *a, unsigned char *before, size_t size) {
  tkc_fresh *f = TK_NEW(a, tkc_fresh);
  *f = (tkc_fresh){.arena = a, .before = before, .size = size};
  f->pages = TK_NEWN(a, uint8_t *, size / FRESH_PAGE + 1);
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
  for (size_t k; n; at += k, n -= k) {
    k = bytes_in_page(at, n);
    const uint8_t *page = f->pages[at / FRESH_PAGE];
    if (page ? memchr(page + at % FRESH_PAGE, 0, k) != NULL
             : tkc_fresh_any_before(f, at, k))
      return true;
  }
  return false;
}

static uint8_t *make_fresh_page(tkc_fresh *f, size_t number) {
  uint8_t *page = TK_NEWN(f->arena, uint8_t, FRESH_PAGE);
  size_t at = number * FRESH_PAGE;
  if (f->before) memcpy(page, f->before + at, bytes_in_page(at, f->size - at));
  return f->pages[number] = page;
}

void tkc_fresh_write(tkc_fresh *f, size_t at, size_t n) {
  for (size_t k; n; at += k, n -= k) {
    k = bytes_in_page(at, n);
    uint8_t *page = f->pages[at / FRESH_PAGE];
    if (!page) page = make_fresh_page(f, at / FRESH_PAGE);
    memset(page + at % FRESH_PAGE, 1, k);
  }
}

void tkc_fresh_keep(tkc_fresh *f) {
  for (size_t at = 0; f->before && at < f->size; at += FRESH_PAGE) {
    const uint8_t *page = f->pages[at / FRESH_PAGE];
    if (page) memcpy(f->before + at, page, bytes_in_page(at, f->size - at));
  }
}
