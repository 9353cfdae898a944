/* index.h - places in arrays: the index of an element along each axis, in
 * row-major order, and lists of numbers as text.
 */
#ifndef TK_BASE_INDEX_H
#define TK_BASE_INDEX_H

#include "env.h"

/* The index along each axis of an element, given by its number in row-major
 * order. */
void tk_split_index(const int64_t *shape, int rank, size_t element,
                    int64_t *index);

/* "8, 4"; tk_ints_text makes it in an arena. */
void tk_buf_ints(tk_buf *out, const int64_t *v, int n);
char *tk_ints_text(tk_arena *a, const int64_t *v, int n);
/* "[3, 5]"; nothing if the rank is 0. */
void tk_buf_index(tk_buf *out, const int64_t *index, int rank);
/* "(1, 0, 0)": which program of the grid. */
void tk_buf_program(tk_buf *out, const int64_t *pid);

#endif
