/* index.c - places in arrays, and lists of numbers as text.
 */
#include "index.h"

#include <inttypes.h>

void tk_split_index(const int64_t *shape, int rank, size_t element,
                    int64_t *index) {
  for (int i = rank; i-- > 0;) {
    index[i] = (int64_t)(element % (size_t)shape[i]);
    element /= (size_t)shape[i];
  }
  TK_ASSERT(!element); /* it lies in the array */
}

void tk_buf_ints(tk_buf *out, const int64_t *v, int n) {
  for (int i = 0; i < n; i++)
    tk_buf_printf(out, "%s%" PRId64, i ? ", " : "", v[i]);
}

char *tk_ints_text(tk_arena *a, const int64_t *v, int n) {
  char *text = tk_arena_strdup(a, "");
  for (int i = 0; i < n; i++)
    text = tk_arena_printf(a, "%s%s%" PRId64, text, i ? ", " : "", v[i]);
  return text;
}

void tk_buf_index(tk_buf *out, const int64_t *index, int rank) {
  if (!rank) return;
  tk_buf_putc(out, '[');
  tk_buf_ints(out, index, rank);
  tk_buf_putc(out, ']');
}

void tk_buf_program(tk_buf *out, const int64_t *pid) {
  tk_buf_putc(out, '(');
  tk_buf_ints(out, pid, 3);
  tk_buf_putc(out, ')');
}
