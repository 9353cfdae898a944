/* ask.h - what only a debugger's expression may do, as a table of hooks: the
 * walk calls them where tks.ask is set, and knows nothing else of expressions.
 */
#ifndef TK_TYPING_ASK_H
#define TK_TYPING_ASK_H

#include "typing/ops.h"

typedef struct tks_ask {
  /* Lanes of a block, x[0, 2:6]; elements of a tensor at whose start v points,
   * BUFFER[i, j] (false: v does not point to one). */
  sval (*pick)(tks *s, const sval *v, const sval *index);
  bool (*element)(tks *s, const sval *v, const sval *index, sval *out);
  /* Elements between two pointers. */
  sval (*difference)(tks *s, const sval *a, const sval *b);
  /* Reports a variable that the paused function assigns elsewhere; returns when
   * there is no such variable. */
  void (*unset_name)(tks *s, const char *name);
  /* A function by NumPy's name, or NULL. */
  const tks_op *(*numpy_op)(tks *s, const char *name);
  /* An attribute of a tensor (false: leave it to the language). */
  bool (*attr)(tks *s, const sval *v, const char *name, sval *out);
} tks_ask;

#endif
