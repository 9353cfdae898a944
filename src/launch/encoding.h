/* encoding.h - the text of a file of Python as UTF-8.
 */
#ifndef TK_LAUNCH_ENCODING_H
#define TK_LAUNCH_ENCODING_H

#include "base/env.h"

/* Returns the text, or a UTF-8 copy in the arena if a comment in it says that
 * it is Latin-1; *n is its length, before and after.  Reports the first byte
 * that no known encoding explains, and throws. */
const char *tkn_as_utf8(tk_env *e, tk_arena *a, const char *name,
                        const char *text, size_t *n);

#endif
