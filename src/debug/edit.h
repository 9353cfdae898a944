/* edit.h - what a user changes in a program that is stopped.  All of it is
 * undone on going back, and done again on going on from before.
 */
#ifndef TK_DEBUG_EDIT_H
#define TK_DEBUG_EDIT_H

#include "debug/part.h"

/* NAME = EXPR in the selected call, converted to the variable's type.  Fails.
 */
void tkd_assign(tkd *d, const char *name, const char *text);
/* The same with lanes as they lie in memory. */
void tkd_assign_lanes(tkd *d, const char *name, const char *lanes, size_t n);
/* BUFFER[index] = EXPR. */
void tkd_assign_elements(tkd *d, const tki_region *r, const char *index,
                         const char *text);
/* Bytes of a region. */
void tkd_write_memory(tkd *d, char *host, const char *bytes, size_t n);

#endif
