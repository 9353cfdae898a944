/* base64.h - bytes as text, in base 64. */
#ifndef TK_BASE_BASE64_H
#define TK_BASE_BASE64_H

#include "base/env.h"

void tk_put_base64(tk_buf *out, const void *bytes, size_t n);
/* Bytes that the text stands for, at most as many as it has characters; false:
 * it is not base 64. */
bool tk_read_base64(const char *text, unsigned char *to, size_t *n);

#endif
