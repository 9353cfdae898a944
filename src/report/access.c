/* access.c - which elements the accesses of a line touch, and what that costs.
 */
#include <inttypes.h>

#include "report/report.h"

static double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

/* "C[0:32, 0:320]"; "within C[0:32, 0:320]" if some elements of that box are
 * not touched. */
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
                p->total, tk_report_s((uint64_t)p->total));
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
  if (f->lanes > f->times) put_runs(out, f); /* a scalar has none */
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

static void put_overlap(tk_buf *out, const tk_access_picture *p) {
  if (!p->shared) {
    tk_buf_puts(out, "  overlap  none: each element belongs to one program\n");
    return;
  }
  tk_buf_printf(out,
                "  overlap  %" PRIu64
                " element%s touched by several programs, up to "
                "%" PRIu64 "\n",
                p->shared, tk_report_s(p->shared), p->sharers);
  if (!p->has_most) return;
  tk_buf_printf(out, "           %s", p->tensor);
  tk_buf_index(out, p->most, p->rank);
  tk_buf_puts(out, p->sharers > 2 ? ": from " : ": ");
  tk_buf_program(out, p->sharer_first);
  tk_buf_puts(out, p->sharers > 2 ? " to " : " and ");
  tk_buf_program(out, p->sharer_last);
  tk_buf_putc(out, '\n');
}

void tk_report_access(tk_buf *out, const tk_access_picture *p) {
  const tk_traffic *f = &p->traffic;
  tk_buf_printf(out, "%s %s, ", p->verb, p->tensor ? p->tensor : "nothing");
  if (p->whole_grid)
    tk_buf_puts(out, "the grid");
  else
    tk_buf_puts(out, "program "), tk_buf_program(out, p->program);
  tk_buf_printf(out, ": %" PRIu64 " time%s", f->times, tk_report_s(f->times));
  if (p->whole_grid)
    tk_buf_printf(out, " by %" PRIu64 " program%s", p->programs,
                  tk_report_s(p->programs));
  tk_buf_putc(out, '\n');
  if (!p->whole_grid && !f->times) return;
  if (f->active) put_elements(out, p);
  put_traffic(out, f);
  if (p->whole_grid && f->active && p->counted) put_overlap(out, p);
}
