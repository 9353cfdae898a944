/* wrapped.h - which integer operation made an offset wrap, found from the
 * address of an invalid access.
 */
#ifndef TK_INTERP_WRAPPED_H
#define TK_INTERP_WRAPPED_H

#include "interp/interp.h"

/* Whether a sum, difference or product of signed integers with this number of
 * bits does not fit into them. */
bool tki_wraps(tk_binary op, int64_t a, int64_t b, int bits);

/* An operation that wrapped. */
typedef struct tki_wrapped {
  const tk_func *func;
  const tk_inst *in;
  int64_t left, right;
  bool is_known; /* `lost` is known */
  int64_t lost;  /* what the offset, in elements, lacks because of it */
} tki_wrapped;

/* Looks for the first operation that wrapped on the way to the address of a
 * lane of the access that is running.  Returns false if none did, or if the
 * values that it was made of are no longer known. */
bool tki_find_wrapped(const tki_access *a, size_t lane, tki_wrapped *out);

#endif
