/* kernels_rows.c - copies of a tile's rows.
 */
#include <string.h>

#include "interp/kernels.h"

/* Rows of one or two vectors: the two may overlap. */
#define SHORT_ROWS(NAME, BYTES)                                                \
  typedef char NAME##_piece __attribute__((vector_size(BYTES)));               \
  TKI_CLONES static void NAME(char *d, int64_t by, const char *s,              \
                              int64_t step, size_t bytes, size_t rows) {       \
    size_t last = bytes - BYTES;                                               \
    for (; rows; rows--, d += by, s += step) {                                 \
      NAME##_piece first, second;                                              \
      memcpy(&first, s, BYTES);                                                \
      memcpy(&second, s + last, BYTES);                                        \
      memcpy(d, &first, BYTES);                                                \
      memcpy(d + last, &second, BYTES);                                        \
    }                                                                          \
  }
SHORT_ROWS(rows_of_16, 16)
SHORT_ROWS(rows_of_32, 32)

/* Rows are copied without a call for each, by whole vectors where a line has
 * some, so that the processor waits for several rows at the same time. */
TKI_CLONES static void long_rows(char *d, int64_t by, const char *s,
                                 int64_t step, size_t bytes, size_t rows) {
  enum { LINE = 64, PIECE = 16 };
  for (; rows; rows--, d += by, s += step) {
    size_t at = 0;
    for (; at + LINE <= bytes; at += LINE) memcpy(d + at, s + at, LINE);
    for (; at + PIECE <= bytes; at += PIECE) memcpy(d + at, s + at, PIECE);
    if (at < bytes) memcpy(d + at, s + at, bytes - at);
  }
}

void tki_copy_rows(char *d, int64_t by, const char *s, int64_t step,
                   size_t bytes, size_t rows) {
  if (bytes >= 16 && bytes <= 32)
    rows_of_16(d, by, s, step, bytes, rows);
  else if (bytes > 32 && bytes <= 64)
    rows_of_32(d, by, s, step, bytes, rows);
  else
    long_rows(d, by, s, step, bytes, rows);
}
