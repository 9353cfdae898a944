/* base64.c - bytes as text, in base 64. */
#include "base/base64.h"

#include <string.h>

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void tk_put_base64(tk_buf *out, const void *bytes, size_t n) {
  const unsigned char *s = bytes;
  for (size_t i = 0; i < n; i += 3) {
    size_t k = n - i < 3 ? n - i : 3;
    uint32_t bits = (uint32_t)s[i] << 16;
    char text[4];
    if (k > 1) bits |= (uint32_t)s[i + 1] << 8;
    if (k > 2) bits |= s[i + 2];
    for (size_t j = 0; j < 4; j++)
      text[j] = j > k ? '=' : digits[bits >> (18 - 6 * j) & 63];
    tk_buf_add(out, text, sizeof text);
  }
}

bool tk_read_base64(const char *text, unsigned char *to, size_t *n) {
  const char *s = text;
  uint32_t bits = 0;
  int have = 0;
  for (*n = 0; *s && *s != '='; s++) {
    const char *digit = strchr(digits, *s);
    if (!digit) return false;
    bits = bits << 6 | (uint32_t)(digit - digits);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    to[(*n)++] = (unsigned char)(bits >> have);
  }
  return strspn(s, "=") == strlen(s);
}
