/* raise.h - findings of a running program: reported, noted, the run stopped.
 *
 * A report belongs to the session's environment.
 */
#ifndef TK_INTERP_RAISE_H
#define TK_INTERP_RAISE_H

#include "interp/value.h"

/* Notes in which program it was, the calls that led there, and remarks. */
void tki_note_program(tki *t, tk_diag *d);
/* Notes what is remarked on the kernel (tk_function_remark); d may be NULL. */
void tki_note_remarks(const tki *t, tk_diag *d);
/* A finding at the instruction being executed, with program and callers;
 * tki_stop ends the run. */
tk_diag *tki_finding(tki *t, tk_diag_id id, const char *fmt, ...)
    TK_PRINTF(3, 4);
void tki_stop(tki *t) TK_NORETURN;

#endif
