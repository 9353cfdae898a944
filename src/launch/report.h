/* report.h - results as text, written from the structs of tkdbg/results.h and
 * from nothing else.
 */
#ifndef TK_LAUNCH_REPORT_H
#define TK_LAUNCH_REPORT_H

#include "base/env.h"

/* The line of a place without its indentation, at most so many bytes. */
void tk_report_source(tk_buf *out, const tk_place *p, size_t most);

void tk_report_blame(tk_buf *out, const tk_blame *b);
void tk_report_access(tk_buf *out, const tk_access_picture *p);
/* The steps alone, indented by so many blanks. */
void tk_report_steps(tk_buf *out, const tk_explanation *x, int indent);
/* Who wrote the element, and the steps. */
void tk_report_explanation(tk_buf *out, const tk_explanation *x);

#endif
