/* digest.c - one number for many bytes; see digest.h. */
#include "base/digest.h"

#include <string.h>

static uint64_t digest_word(uint64_t value, uint64_t word) {
  value = (value ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return value ^ value >> 29;
}

void tk_digest_add(tk_digest *d, const void *bytes, size_t n) {
  const char *p = bytes;
  uint64_t word;
  d->bytes += n;
  for (; n && d->pending; n--) {
    d->word |= (uint64_t)(unsigned char)*p++ << 8 * d->pending;
    d->pending = (d->pending + 1) % 8;
    if (d->pending) continue;
    d->value = digest_word(d->value, d->word);
    d->word = 0;
  }
  for (; n >= 8; p += 8, n -= 8) {
    memcpy(&word, p, 8);
    d->value = digest_word(d->value, word);
  }
  for (; n; n--) d->word |= (uint64_t)(unsigned char)*p++ << 8 * d->pending++;
}

uint64_t tk_digest_end(const tk_digest *d) {
  return digest_word(digest_word(d->value, d->word), d->bytes);
}

uint64_t tk_digest_of(const void *bytes, size_t n) {
  tk_digest d = {0};
  tk_digest_add(&d, bytes, n);
  return tk_digest_end(&d);
}
