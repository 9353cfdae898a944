/* kernels_rows.c - copies of a tile's rows.
 */
#include <string.h>

#include "interp/kernels.h"

/* There is no call for each row, and lines go by whole vectors where there are
 * such, so that the processor waits for several rows at a time. */
TKI_CLONES void tki_copy_rows(char *d, int64_t by, const char *s, int64_t step,
                              size_t bytes, size_t rows) {
  enum { LINE = 64, PIECE = 16 };
  for (; rows; rows--, d += by, s += step) {
    size_t at = 0;
    for (; at + LINE <= bytes; at += LINE) memcpy(d + at, s + at, LINE);
    for (; at + PIECE <= bytes; at += PIECE) memcpy(d + at, s + at, PIECE);
    if (at < bytes) memcpy(d + at, s + at, bytes - at);
  }
}
