/* fault.h - reports of accesses that must not happen. */
#ifndef TK_INTERP_FAULT_H
#define TK_INTERP_FAULT_H

#include "interp/interp.h"

/* Each reports the first of `lanes` lanes that are wrong in that way, to
 * t->keeper if there is one.  The run has to be stopped by who calls. */
/* The lane's address is not in r, the region of its pointer. */
void tki_fault_outside(const tki_access *a, size_t lane, const tki_region *r,
                       size_t lanes);
/* Whether a load is from a tensor without elements, and nothing is made of its
 * value, so that a compiler leaves it out; it is reported. */
bool tki_load_left_out(const tki_access *a);
/* The lane's address is in no region. */
void tki_fault_wild(const tki_access *a, size_t lane, size_t lanes);
/* The lane's address is not a multiple of the lane's size. */
void tki_fault_misaligned(const tki_access *a, size_t lane, size_t lanes);
/* The lane is to be written, but r may only be read. */
void tki_fault_read_only(const tki_access *a, size_t lane, const tki_region *r,
                         size_t lanes);

#endif
