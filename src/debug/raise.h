/* raise.h - how a call of the engine fails.
 */
#ifndef TK_DEBUG_RAISE_H
#define TK_DEBUG_RAISE_H

#include "debug/debug.h"

/* Fails with a message, which whoever catches it reports or drops. */
void tkd_raise(tkd *d, const char *fmt, ...) TK_PRINTF(2, 3) TK_NORETURN;
/* The message; "" when something else failed. */
const char *tkd_message(tkd *d);
void tkd_drop_message(tkd *d);

#endif
