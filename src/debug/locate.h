/* locate.h - places in the functions of a launch: LINE, FILE:LINE, FUNCTION,
 * FILE:FUNCTION, "op NAME".
 */
#ifndef TK_DEBUG_LOCATE_H
#define TK_DEBUG_LOCATE_H

#include "debug/points.h"

/* Calls fn for each statement that a point is at; how many there are.
 * The first of them is noted in the point.  fn may be NULL. */
size_t tkd_find_statements(tkd *d, tkd_point *p,
                           void (*fn)(tkd *d, tkd_point *p, const tk_stmt *st));
/* A location as it is kept, once it is known to be a place of this launch, and
 * the file that a LINE is of (or NULL).  "" and +N, -N count from the selected
 * line.  Fails. */
const char *tkd_location(tkd *d, const char *text, bool later,
                         const char **file);
/* Fails if the launch has no function of that name. */
void tkd_need_function(tkd *d, const char *name);
int tkd_line_at(tkd *d, const char *text); /* 0: none */
/* The statement of the function at or after a line; NULL: none. */
const tk_stmt *tkd_stmt_at(const tk_func *f, int line);
int tkd_last_line(const tk_func *f);
/* The body of the function that a statement is in; NULL: none. */
const tk_body *tkd_body_of(const tk_func *f, const tk_stmt *st);
/* The function that a statement is of; NULL: none. */
const tk_func *tkd_func_of(const tkd *d, const tk_stmt *st);
/* How many calls of functions of the user's the statement makes before this
 * instruction and with it; NULL: in all. */
size_t tkd_calls_until(const tk_func *f, const tk_stmt *st,
                       const tk_inst *last);
/* The statement with a number, and its function; NULL: there is none. */
const tk_stmt *tkd_stmt_numbered(const tk_program *p, size_t id,
                                 const tk_func **f);

#endif
