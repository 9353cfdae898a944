/* remedy.h - faults of the debugger's engine as a front end tells of them. */
#ifndef TK_BASE_REMEDY_H
#define TK_BASE_REMEDY_H

#include "base/env.h"
#include "tkdbg/debugger.h"

/* What a user of that front end can do, with '@' for what the fault is about;
 * NULL: nothing is known. */
const char *tk_remedy_words(tk_remedy remedy, tk_front front);
/* Adds the fault's message or, if full, its text with source lines; what can
 * be done about it comes after a colon. */
void tk_put_fault(tk_buf *out, const tk_debug_fault *f, bool full,
                  tk_front front);

#endif
