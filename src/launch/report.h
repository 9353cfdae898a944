/* report.h - results as text, written from the structs of tkdbg/results.h and
 * from nothing else.
 */
#ifndef TK_LAUNCH_REPORT_H
#define TK_LAUNCH_REPORT_H

#include "base/env.h"

/* The line of a place without its indentation, cut with "..." to `most`
 * bytes. */
void tk_report_source(tk_buf *out, const tk_place *p, size_t most);

void tk_report_blame(tk_buf *out, const tk_blame *b);
void tk_report_access(tk_buf *out, const tk_access_picture *p);
/* Only the steps, indented by `indent` blanks. */
void tk_report_steps(tk_buf *out, const tk_explanation *x, int indent);
/* What a step reads, as "reads A[0, 0..319]". */
void tk_report_reads(tk_buf *out, const tk_step *s);
/* The indices of an axis: "0:32", "0:64:2", "0:4 8:12". */
void tk_report_ranges(tk_buf *out, const tk_range *r, size_t n);
enum { TK_REPORT_LINES = 10 };
/* The lines of the source that a value came from, at most `most`. */
void tk_report_source_lines(tk_buf *out, const tk_explanation *why,
                            size_t most);
/* How the tensor differs, in at most ten lines and `most` lines of source;
 * nothing if it does not. */
void tk_report_difference(tk_buf *out, const tk_difference *d, size_t most);
/* The first operation that two engines disagree about, and why. */
void tk_report_divergence(tk_buf *out, const tk_divergence *d);
/* Who wrote the element, and the steps. */
void tk_report_explanation(tk_buf *out, const tk_explanation *x);

#endif
