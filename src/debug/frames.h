/* frames.h - calls of a program that is stopped, as a user sees them: those of
 * tkdbg's own library are left out.  Frames are the interpreter's.
 */
#ifndef TK_DEBUG_FRAMES_H
#define TK_DEBUG_FRAMES_H

#include "debug/debug.h"

const tki_frame *tkd_user_frame(const tki_frame *f); /* out of the library */
int tkd_depth(const tki_frame *f);
int tkd_line_of(const tki_frame *f);
/* The innermost frame of the program that is stopped; NULL: none. */
tki_frame *tkd_top(const tkd *d);
void tkd_select(tkd *d, int level);
/* The selected frame; fails when no program is stopped. */
tki_frame *tkd_need_frame(tkd *d);
/* A frame that is at a statement before it was ever reached; temporary. */
tki_frame tkd_frame_before(tkd *d, const tk_func *f, const tk_stmt *st);
/* Puts a value into a slot; what watches it, and undoing, are the caller's. */
void tkd_put_slot(tkd *d, tki_frame *f, int slot, const char *bytes, size_t n);
/* The tensor that a name stands for in the selected frame; NULL: none. */
const tki_region *tkd_region(tkd *d, const char *text, size_t n);

#endif
