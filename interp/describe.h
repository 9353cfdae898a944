/* describe.h - what stands at an address, in words.
 */
#ifndef TK_INTERP_DESCRIBE_H
#define TK_INTERP_DESCRIBE_H

#include "interp/grid.h"

/* "C[32, 0]" for an address inside a region; "C byte 130" for one that is no
 * element of the view; "address 0x..." for one in no region. */
void tki_describe_address(tk_buf *out, const tki *t, uint64_t addr);
/* The same for a region that is known, as several may share memory; r NULL:
 * none. */
void tki_describe_address_in(tk_buf *out, const tki_region *r, uint64_t addr);
/* The value there, as its tensor's elements read. */
void tki_describe_value(tk_buf *out, const tki *t, uint64_t addr);
/* What stands at an address of a region (NULL: of none), without its text. */
tk_element tki_element(const tki_region *r, uint64_t addr);
/* Says in a report which element it is about. */
void tki_note_element(tki *t, tk_diag *d, const tki_region *r, uint64_t addr);
/* The element's index along each axis; false when the address is none. */
bool tki_element_index(const tki_region *r, uint64_t addr, int64_t *index);

/* "(3, 0, 0)" */
void tki_describe_program(tk_buf *out, const tki *t, uint64_t index);
/* "program (3, 0, 0)", or "5 programs, (0, 0, 0) to (4, 0, 0) and (9, 0, 0)":
 * n ascending indices, runs of neighbours folded. */
void tki_describe_programs(tk_buf *out, const tki *t, const uint64_t *index,
                           size_t n);

#endif
