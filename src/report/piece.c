/* piece.c - pieces of text that several results have in common: a line of
 * source, ranges of indices.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report.h"

/* More ranges than these are shown as one. */
enum { MOST_RANGES = 4 };

void tk_report_source(tk_buf *out, const tk_place *p, size_t most) {
  const char *text = p->text;
  size_t n = p->text_length;
  while (n && (*text == ' ' || *text == '\t')) text++, n--;
  bool cut = n > most;
  size_t shown = cut ? most - strlen("...") : n;
  while (shown < n && shown && ((unsigned char)text[shown] & 0xC0) == 0x80)
    shown--; /* within a character of UTF-8 */
  tk_buf_add(out, text, shown);
  if (cut) tk_buf_puts(out, "...");
}

/* Whether the ranges, at least three, have the same length and follow each
 * other at the same distance. */
static bool is_periodic(const tk_range *r, size_t n) {
  TK_ASSERT(n > 2);
  int64_t length = r[0].last - r[0].first, period = r[1].first - r[0].first;
  for (size_t k = 0; k < n; k++) {
    bool last = k + 1 == n;
    if (r[k].step != 1 || r[k].last - r[k].first != length ||
        (!last && r[k + 1].first - r[k].first != period))
      return false;
  }
  return true;
}

void tk_report_ranges(tk_buf *out, const tk_range *r, size_t n) {
  if (n > 2 && is_periodic(r, n)) {
    tk_buf_printf(out,
                  "%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64
                  " and so on, %zu times",
                  r[0].first, r[0].last + 1, r[1].first, r[1].last + 1, n);
    return;
  }
  for (size_t k = 0; k < n; k++) {
    if (k == MOST_RANGES) { /* the rest as a whole */
      tk_buf_printf(out, " ... %" PRId64, r[n - 1].last);
      return;
    }
    tk_buf_printf(out, k ? " %" PRId64 : "%" PRId64, r[k].first);
    if (r[k].last == r[k].first) continue;
    tk_buf_printf(out, ":%" PRId64, r[k].last + 1);
    if (r[k].step > 1) tk_buf_printf(out, ":%" PRId64, r[k].step);
  }
}
