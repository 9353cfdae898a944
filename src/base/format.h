/* format.h - arrays as text, the way NumPy 1.24 prints them.
 */
#ifndef TK_BASE_FORMAT_H
#define TK_BASE_FORMAT_H

#include "dtype.h"
#include "tkdbg/results.h"

/* A strided view to print; nothing is owned.  undefined, when not NULL, is
 * one byte a lane (row-major, contiguous); a lane with a nonzero byte prints
 * as ?.  pointers print as hexadecimal. */
typedef struct tk_array_view {
  const void *data;
  tk_dtype dtype;
  bool pointers; /* lanes are 64-bit addresses */
  bool hex;      /* print integers (and float bits) in hexadecimal */
  int rank;
  int64_t shape[TK_MAX_RANK];
  int64_t strides[TK_MAX_RANK]; /* in elements */
  const uint8_t *undefined;
} tk_array_view;

typedef struct tk_print_options {
  int64_t threshold; /* elide above this many lanes; NumPy: 1000 */
  int edge;          /* items kept at each end; NumPy: 3 */
  int precision;     /* digits after the point at most; NumPy: 8 */
  int width;         /* line width; NumPy: 75 */
} tk_print_options;

extern const tk_print_options tk_print_defaults;

/* Same text as str(numpy_array) (rank 0: str of the scalar); `indent` is the
 * column the text starts at, for continuation lines.  opt NULL: defaults. */
void tk_format_array(tk_buf *out, const tk_array_view *v, int indent,
                     const tk_print_options *opt);
/* One lane, shortest text that reads back the same: str(numpy scalar). */
void tk_format_lane(tk_buf *out, tk_dtype d, const void *p);
/* A lane as results hand it out: its bits, and its text in the arena.  `text`
 * is overwritten. */
tk_lane tk_lane_shown(tk_arena *a, tk_buf *text, tk_dtype d, const void *p);
/* Python's repr of a float: 0.1, 1e-05, inf, nan, 1.0 */
void tk_format_double(tk_buf *out, double v);
/* Python's format(v, spec) for ints and floats: "+08.3f", ">10", "#x", ",".
 * False when the spec is not valid for the kind. */
bool tk_format_spec_double(tk_buf *out, double v, const char *spec);
bool tk_format_spec_int(tk_buf *out, int64_t v, const char *spec);
bool tk_format_spec_str(tk_buf *out, const char *s, size_t n, const char *spec);

#endif
