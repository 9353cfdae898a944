/* digest.h - one number for many bytes that come in pieces.
 *
 * It detects every changed bit, but does not protect against an attacker who
 * makes two files with one digest.
 */
#ifndef TK_BASE_DIGEST_H
#define TK_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* Begins with zeros. */
typedef struct tk_digest {
  uint64_t value, bytes;
  uint64_t word; /* bytes that do not make a word yet */
  unsigned pending;
} tk_digest;

void tk_digest_add(tk_digest *d, const void *bytes, size_t n);
/* That of all bytes until now; more may follow. */
uint64_t tk_digest_end(const tk_digest *d);
uint64_t tk_digest_of(const void *bytes, size_t n);

#endif
