/* ask_parts.h - the parts of a debugger's expressions, for eval.c to make one
 * table of (ask.h).
 */
#ifndef TK_TYPING_ASK_PARTS_H
#define TK_TYPING_ASK_PARTS_H

#include "typing/ask.h"

sval tks_ask_pick(tks *s, const sval *v, const sval *index);
bool tks_ask_element(tks *s, const sval *v, const sval *index, sval *out);
sval tks_ask_difference(tks *s, const sval *a, const sval *b);
const tks_op *tks_ask_numpy(tks *s, const char *name);
bool tks_ask_attr(tks *s, const sval *v, const char *name, sval *out);

/* The tensor at whose start a pointer points, or NULL. */
const tk_tensor *tks_asked_tensor(tks *s, const sval *v);
/* v in another shape; fails where that has too many axes. */
sval tks_ask_reshape(tks *s, const sval *v, const int64_t *shape, int rank);

#endif
