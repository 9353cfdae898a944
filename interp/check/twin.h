/* twin.h - a run beside itself in float64, for those who ask what memory would
 * then hold: the shadow of the detector 'precision', which here reports
 * nothing.
 */
#ifndef TK_CHECK_TWIN_H
#define TK_CHECK_TWIN_H

#include "interp/interp.h"

typedef struct tkc_twin tkc_twin;

/* Watches a run that is about to begin, from an arena that outlives it.  seed:
 * 0 computes exactly; any other moves each result, at random, by what the
 * operation may be off in a correct engine (precision_noise.c). */
tkc_twin *tkc_twin_new(tk_arena *a, tki *t, uint64_t seed);
/* What the element of `size` bytes at an address would hold, minus what it
 * holds. */
double tkc_twin_error(tkc_twin *w, uint64_t address, size_t size);
/* The type that programs stored from address lo to hi, where there was one and
 * nothing is left exact; else TK_DTYPE_COUNT. */
tk_dtype tkc_twin_stored(const tkc_twin *w, uint64_t lo, uint64_t hi);
/* Frees what the twin has; its run is over. */
void tkc_twin_free(tkc_twin *w);

#endif
