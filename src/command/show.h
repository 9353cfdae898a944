/* show.h - how values, calls, source lines and stops are said.
 */
#ifndef TK_COMMAND_SHOW_H
#define TK_COMMAND_SHOW_H

#include "command/command.h"
#include "command/look.h"
#include "debug/value.h"
#include "interp/check/check.h"

/* ---- show_value.c ------------------------------------------------------ */

/* name: type = value, in a format ("": as NumPy prints). */
void tkt_show_value(tkt *d, const char *name, const char *fmt,
                    const tkd_value *v);
/* A lane as print shows it. */
void tkt_put_lane(tkt *d, const tk_type *type, const void *lane);
/* Text with {EXPR}, as of a logpoint. */
void tkt_print_format(tkt *d, const char *format);
void tkt_show_expr(tkt *d, const char *fmt, const char *text); /* fails */
/* A variable of a call; an argument's value alone. */
void tkt_show_variable(tkt *d, const tki_frame *f, const char *name);
void tkt_show_argument(tkt *d, const tki_frame *f, int slot);
void tkt_display_all(tkt *d);

/* By element of a tensor in memory, whether it was never written (b: the
 * tensor, as it lies in memory now); NULL: all were.  Temporary. */
typedef bool (*tkt_unwritten_fn)(const tki *t, const tki_region *r,
                                 const void *host, size_t n);
const uint8_t *tkt_unwritten(tkt *d, const tki_region *r, const tkt_block *b,
                             tkt_unwritten_fn is_unwritten);

/* ---- show_stop.c ------------------------------------------------------- */

void tkt_show_stop(tkt *d, const tk_debug_stop *s);
/* What watchpoints saw. */
void tkt_show_watched(tkt *d, const tk_debug_stop *s);
void tkt_tell_output(tkt *d, const char *text, size_t n); /* a program's */
void tkt_show_frame(tkt *d, const tki_frame *f, int level);
void tkt_show_lines(tkt *d, const tk_source *src, int from, int to, int at);
/* Whether a detector does nothing under the debugger. */
bool tkt_is_asleep(tkc_id check);
/* Says which detectors that are on do nothing under the debugger. */
void tkt_say_asleep(tkt *d);

#endif
