/* report.h - the results of a run as text.
 *
 * Everything here is written from the public structs of tkdbg/results.h and
 * from nothing else: no launch, no session and no run is needed, so that the
 * interpreter, the debugger and whoever calls the API can all print a result
 * in the same words.
 */
#ifndef TK_REPORT_H
#define TK_REPORT_H

#include "base/index.h"

/* ---- pieces (piece.c) ---------------------------------------------------- */

/* The line of source at a place, without its indentation.  A line of more than
 * `most` bytes is cut and ends in "...". */
void tk_report_source(tk_buf *out, const tk_place *p, size_t most);
/* The indices along one axis: "0:32", "0:64:2", "0:4 8:12". */
void tk_report_ranges(tk_buf *out, const tk_range *r, size_t n);
/* The plural's "s", unless n is 1. */
static inline const char *tk_report_s(uint64_t n) {
  return n == 1 ? "" : "s";
}

/* ---- where a value came from (blame.c, explanation.c) -------------------- */

/* Who wrote an element. */
void tk_report_blame(tk_buf *out, const tk_blame *b);
/* The same, followed by the steps that led to its value. */
void tk_report_explanation(tk_buf *out, const tk_explanation *x);
/* The steps alone, indented by `indent` blanks. */
void tk_report_steps(tk_buf *out, const tk_explanation *x, int indent);
/* What one step reads: "reads A[0, 0..319]". */
void tk_report_reads(tk_buf *out, const tk_step *s);

/* ---- the source of a value (source_lines.c) ------------------------------ */

/* How many lines of source the command line shows. */
enum { TK_REPORT_LINES = 10 };
/* The lines of source that a value came from, `most` of them at most, each with
 * the value that it gave. */
void tk_report_source_lines(tk_buf *out, const tk_explanation *why,
                            size_t most);

/* ---- whole results (access.c, difference.c, divergence.c) ---------------- */

/* Which elements an access touches, and at what cost. */
void tk_report_access(tk_buf *out, const tk_access_picture *p);
/* How a tensor differs from what was expected, with at most `most` lines of
 * source; nothing if it does not differ. */
void tk_report_difference(tk_buf *out, const tk_difference *d, size_t most);
/* The first operation that two engines disagree about, and the cause. */
void tk_report_divergence(tk_buf *out, const tk_divergence *d);

#endif
