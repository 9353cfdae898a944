/* say.h - what is said to the user.
 *
 * Text is collected in the front end's buffer and written by tkt_flush; the
 * engine's errors and reports are said here too.
 */
#ifndef TK_COMMAND_SAY_H
#define TK_COMMAND_SAY_H

#include "command/command.h"

void tkt_say(tkt *d, const char *fmt, ...) TK_PRINTF(2, 3);
/* A text of tkdbg's own, without conversions. */
void tkt_say_words(tkt *d, const char *text);
/* Says why a command fails, and ends it. */
void tkt_fail(tkt *d, const char *fmt, ...) TK_PRINTF(2, 3) TK_NORETURN;
/* Folds the lines that were said from a position of d->out on. */
void tkt_fold(tkt *d, size_t from);
void tkt_flush(tkt *d);
int tkt_width(const tkt *d);
void tkt_put_pid(tk_buf *b, const int64_t pid[3], const int64_t grid[3]);

void tkt_tell_finding(tkt *d, const tk_finding *f); /* it has been seen now */
/* Says and drops what was reported after the first n. */
void tkt_say_reports(tkt *d, size_t n);
void tkt_say_refused(tkt *d); /* allocations, if there were any */
/* Says why a call of the engine failed, and ends the command; TK_OK: nothing.
 */
void tkt_need(tkt *d, tk_status st);

#endif
