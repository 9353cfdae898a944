/* describe.h - what is at an address, in words.
 */
#ifndef TK_INTERP_DESCRIBE_H
#define TK_INTERP_DESCRIBE_H

#include "interp/grid.h"

/* Writes "C[32, 0]" for an address inside a region, "C byte 130" for one that
 * is no element of the view, "address 0x..." for one in no region. */
void tki_describe_address(tk_buf *out, const tki *t, uint64_t addr);
/* The same for a region that is known, since several may share memory; NULL:
 * the address lies in none. */
void tki_describe_address_in(tk_buf *out, const tki_region *r, uint64_t addr);
/* Writes the value at an address, as a number of its tensor's element type. */
void tki_describe_value(tk_buf *out, const tki *t, uint64_t addr);
/* The element at an address of a region (NULL: of none), without its text. */
tk_element tki_element(const tki_region *r, uint64_t addr);
/* Sets the element that a report is about. */
void tki_note_element(tki *t, tk_diag *d, const tki_region *r, uint64_t addr);
/* Gives the index along each axis of the element at an address; returns false
 * when the address is not that of an element. */
bool tki_element_index(const tki_region *r, uint64_t addr, int64_t *index);

/* Writes "(3, 0, 0)". */
void tki_describe_program(tk_buf *out, const tki *t, uint64_t index);
/* Writes "program (3, 0, 0)", or "5 programs, (0, 0, 0) to (4, 0, 0) and
 * (9, 0, 0)", for n ascending indices; runs of neighbours are folded. */
void tki_describe_programs(tk_buf *out, const tki *t, const uint64_t *index,
                           size_t n);

#endif
