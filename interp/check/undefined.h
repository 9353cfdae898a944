/* undefined.h - which lanes and bytes the detector undef takes for undefined;
 * for a debugger.
 *
 * Lanes come as a value of uint8 lanes, 1: undefined, to be released.  It is
 * empty (tkc_any_undefined says so) when all are defined.  While undef is off,
 * only variables that a jump left unassigned are known to be undefined.
 */
#ifndef TK_CHECK_UNDEFINED_H
#define TK_CHECK_UNDEFINED_H

#include "interp/eval.h"

/* Whether undef watches this run, or tkc_undefined_alone. */
bool tkc_knows_undefined(const tki *t);
/* Whether some detector follows lanes in it. */
bool tkc_follows_lanes(const tki *t);
static inline bool tkc_any_undefined(const tki_val *lanes) {
  return !tki_is_zero(lanes);
}

/* The undefined lanes of a slot of a frame. */
tki_val tkc_undefined_slot(tki *t, const tki_frame *f, int slot);
/* Those of the i-th value that the function which has just ended returns. */
tki_val tkc_undefined_result(tki *t, size_t i, const tk_type *type);
/* Does what tki_eval_run does, and gives the undefined lanes of each value.
 * What the expression reads from memory that was never written, or by a mask,
 * is undefined as it would be in a kernel. */
void tkc_undefined_eval(tki *t, const tki_eval *x, const tki_frame *f,
                        tki_val *out, tki_val *undefined);
/* Whether some of n bytes of a region was never written; `host` is where they
 * are in this process. */
bool tkc_undefined_memory(const tki *t, const tki_region *r, const void *host,
                          size_t n);

/* Whether that was so when the launch began. */
bool tkc_undefined_before(const tki *t, const tki_region *r, const void *host,
                          size_t n);

/* Follows what is undefined in a run, from its beginning, and reports nothing:
 * in a side run as undef does in this one (NULL: it is off), or in a run that
 * no detector follows lanes in. */
typedef struct tkc_undefined tkc_undefined;
tkc_undefined *tkc_undefined_new(tki *t);
tkc_undefined *tkc_undefined_alone(tki *t);
tki_observer *tkc_undefined_observer(tkc_undefined *w);
void tkc_undefined_free(tki *t, tkc_undefined *w); /* w may be NULL */

/* A user changed a slot, or bytes of memory: they are defined now. */
void tkc_defined_slot(tki *t, const tki_frame *f, int slot);
void tkc_defined_memory(const tki *t, const void *host, size_t n);

#endif
