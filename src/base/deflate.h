/* deflate.h - text made shorter, as RFC 1951 says (DEFLATE). */
#ifndef TK_BASE_DEFLATE_H
#define TK_BASE_DEFLATE_H

#include "base/env.h"

/* Adds what n bytes become, which browsers and Python's zlib take apart. */
void tk_put_deflated(tk_buf *out, const char *s, size_t n);

#endif
