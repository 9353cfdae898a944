/* format.h - the text of a logpoint, in which {EXPR} stands for a value and
 * {{ and }} for braces; tk_debug_log_piece takes it apart.
 */
#ifndef TK_DEBUG_FORMAT_H
#define TK_DEBUG_FORMAT_H

#include "debug/debug.h"

/* Fails where it could only be seen to be wrong at every hit. */
void tkd_check_format(tkd *d, const char *format);

#endif
