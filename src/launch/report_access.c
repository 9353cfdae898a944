/* report_access.c - which elements accesses touch, in words.
 */
#include "report.h"

#include <inttypes.h>

enum { MOST_RANGES = 4 };

static double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static const char *plural(uint64_t n) {
  return n == 1 ? "" : "s";
}

/* Stretches of one length that follow each other at one distance, which must
 * be at least three. */
static bool is_periodic(const tk_range *r, size_t n) {
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

/* "C[0:32, 0:320]", with "within" before it if that is more than there is. */
static void put_elements(tk_buf *out, const tk_access_picture *p) {
  tk_buf_puts(out, "  elements ");
  if (!p->counted) {
    tk_buf_puts(out, "too many to be counted one by one\n");
    return;
  }
  tk_buf_printf(out, "%s%s[", p->exact ? "" : "within ", p->tensor);
  for (int i = 0; i < p->rank; i++) {
    if (i) tk_buf_puts(out, ", ");
    tk_report_ranges(out, p->ranges[i], p->nranges[i]);
  }
  tk_buf_printf(out, "], %" PRIu64 " of %" PRId64 " element%s\n", p->elements,
                p->total, p->total == 1 ? "" : "s");
  if (p->outside)
    tk_buf_printf(out, "  %" PRIu64 " of them outside of the tensor's view\n",
                  p->outside);
}

static void put_runs(tk_buf *out, const tk_traffic *f) {
  if (f->runs == 1)
    tk_buf_puts(out, ", in one contiguous run");
  else if (f->longest == 1)
    tk_buf_puts(out, ", no two of them contiguous");
  else if (f->runs)
    tk_buf_printf(out, ", in %" PRIu64 " runs of up to %" PRIu64, f->runs,
                  f->longest);
}

static void put_traffic(tk_buf *out, const tk_traffic *f) {
  tk_buf_printf(out, "  lanes    %" PRIu64 " of %" PRIu64 " active", f->active,
                f->lanes);
  if (f->active < f->lanes)
    tk_buf_printf(out, ", %" PRIu64 " wasted (%.0f %%)", f->lanes - f->active,
                  percent(f->lanes - f->active, f->lanes));
  if (f->lanes > f->times) put_runs(out, f); /* not of scalars */
  tk_buf_putc(out, '\n');
  if (!f->active) return;
  tk_buf_printf(out,
                "  traffic  %" PRIu64 " bytes requested, %" PRIu64
                " moved (%.0f %% useful)\n",
                f->wanted, f->moved, percent(f->wanted, f->moved));
  tk_buf_printf(
      out,
      "           a warp takes %.3g sector%s of 32 bytes in %.3g "
      "line%s of 128\n",
      (double)f->sectors / (double)f->warps, f->sectors == f->warps ? "" : "s",
      (double)f->lines / (double)f->warps, f->lines == f->warps ? "" : "s");
}

static void put_program(tk_buf *out, const int64_t *p) {
  tk_buf_printf(out, "(%" PRId64 ", %" PRId64 ", %" PRId64 ")", p[0], p[1],
                p[2]);
}

static void put_overlap(tk_buf *out, const tk_access_picture *p) {
  if (!p->shared) {
    tk_buf_puts(out, "  overlap  none: each element belongs to one program\n");
    return;
  }
  tk_buf_printf(out,
                "  overlap  %" PRIu64
                " element%s touched by several programs, up to "
                "%" PRIu64 "\n",
                p->shared, plural(p->shared), p->sharers);
  if (!p->has_most) return;
  tk_buf_printf(out, "           %s[", p->tensor);
  for (int i = 0; i < p->rank; i++)
    tk_buf_printf(out, "%s%" PRId64, i ? ", " : "", p->most[i]);
  tk_buf_puts(out, p->sharers > 2 ? "]: from " : "]: ");
  put_program(out, p->sharer_first);
  tk_buf_puts(out, p->sharers > 2 ? " to " : " and ");
  put_program(out, p->sharer_last);
  tk_buf_putc(out, '\n');
}

void tk_report_access(tk_buf *out, const tk_access_picture *p) {
  const tk_traffic *f = &p->traffic;
  tk_buf_printf(out, "%s %s, ", p->verb, p->tensor ? p->tensor : "nothing");
  if (p->whole_grid)
    tk_buf_puts(out, "the grid");
  else
    tk_buf_puts(out, "program "), put_program(out, p->program);
  tk_buf_printf(out, ": %" PRIu64 " time%s", f->times, plural(f->times));
  if (p->whole_grid)
    tk_buf_printf(out, " by %" PRIu64 " program%s", p->programs,
                  plural(p->programs));
  tk_buf_putc(out, '\n');
  if (!p->whole_grid && !f->times) return;
  if (f->active) put_elements(out, p);
  put_traffic(out, f);
  if (p->whole_grid && f->active && p->counted) put_overlap(out, p);
}
