/* raise.h - how a call of the engine fails: with a code of tkdbg/fault.def,
 * which whoever catches it reports or drops.
 */
#ifndef TK_DEBUG_RAISE_H
#define TK_DEBUG_RAISE_H

#include "debug/debug.h"

/* Constants of the text itself, so that the compiler checks the arguments that
 * each fault is given. */
#define FAULT(id, remedy, text) static const char tkd_text_##id[] = text;
#include "tkdbg/fault.def"
#undef FAULT

/* tkd_raise(d, ID, arguments of the row's text) */
#define tkd_raise(d, ID, ...) tkd_raise_about(d, "", ID, ##__VA_ARGS__)
/* ... with a text for its remedy: an expression, a program. */
#define tkd_raise_about(d, about, ID, ...)                                     \
  tkd_raise_fault(d, TK_FAULT_##ID, about, tkd_text_##ID, ##__VA_ARGS__)

void tkd_raise_fault(tkd *d, tk_fault id, const char *about, const char *fmt,
                     ...) TK_PRINTF(4, 5) TK_NORETURN;
void tkd_drop_raised(tkd *d);

#endif
