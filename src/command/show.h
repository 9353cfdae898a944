/* show.h - how values, calls, source lines and stops are said.
 */
#ifndef TK_COMMAND_SHOW_H
#define TK_COMMAND_SHOW_H

#include "command/command.h"
#include "command/look.h"

/* ---- show_value.c ------------------------------------------------------ */

tk_type tkt_type_from(tk_ir_type t);
tk_type tkt_type_of(const tk_debug_value *v);
/* The value of an expression that is one block or scalar; fails, saying that
 * it is `what`. */
const tk_debug_value *tkt_one_value(tkt *d, const char *text, const char *what);
/* name: type = value, in a format ("": as NumPy prints). */
void tkt_show_value(tkt *d, const char *name, const char *fmt,
                    const tk_debug_value *v);
void tkt_show_lanes(tkt *d, const tk_debug_value *v); /* the value alone */
/* A lane as print shows it. */
void tkt_put_lane(tkt *d, const tk_type *type, const void *lane);
/* Text with {EXPR}, as of a logpoint. */
void tkt_print_format(tkt *d, const char *format);
void tkt_show_expr(tkt *d, const char *fmt, const char *text); /* fails */
void tkt_show_variable(tkt *d, const tk_debug_variable *v);
/* ... as one of many: of a large block only the corners. */
void tkt_list_variable(tkt *d, const tk_debug_variable *v);
void tkt_display_all(tkt *d);

/* By element of a tensor in memory (b), whether it was never written; NULL:
 * all were.  Temporary. */
const uint8_t *tkt_unwritten(tkt *d, const tk_debug_region *r,
                             const tkt_block *b);

/* ---- show_stop.c ------------------------------------------------------- */

/* The last launches of a script, a line each; how many bytes are kept of those.
 */
size_t tkt_list_launches(tkt *d, size_t most);
void tkt_show_stop(tkt *d, const tk_debug_stop *s);
/* What watchpoints saw. */
void tkt_show_watched(tkt *d, const tk_debug_stop *s);
void tkt_tell_output(tkt *d, const char *text, size_t n); /* a program's */
/* The i-th parameter among variables; NULL: there are no more. */
const tk_debug_variable *tkt_parameter(const tk_debug_variable *v, size_t n,
                                       int i);
void tkt_show_frame(tkt *d, const tk_debug_frame *f, int level);
/* A file's lines; `at` is the current one, 0: none of them. */
void tkt_show_lines(tkt *d, const char *file, int from, int to, int at);
/* The text of a file with its lines; temporary. */
const tk_source *tkt_source(tkt *d, const char *file);
/* Whether a detector does nothing under the debugger. */
bool tkt_is_inactive(const char *detector);
/* Says which detectors that are on do nothing under the debugger. */
void tkt_say_inactive(tkt *d);

#endif
