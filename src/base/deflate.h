/* deflate.h - text made shorter, as RFC 1951 says (DEFLATE). */
#ifndef TK_BASE_DEFLATE_H
#define TK_BASE_DEFLATE_H

#include "base/env.h"

/* One block with the codes that the format fixes, which a reader of a few lines
 * can take apart (src/page/inflate.js). */
void tk_put_deflated(tk_buf *out, const char *s, size_t n);

#endif
