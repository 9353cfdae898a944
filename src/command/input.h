/* input.h - lines of input.
 */
#ifndef TK_COMMAND_INPUT_H
#define TK_COMMAND_INPUT_H

#include "command/command.h"

/* A line of input; NULL at its end; with another prompt for bodies. */
const char *tkt_read(tkt *d, const char *prompt);
/* Lines to be run before any other input; of a file, or NULL. */
void tkt_push_lines(tkt *d, const char *text, const char *file);
/* 1: the line begins lines up to an 'end' of its own; -1: it is one; or 0. */
int tkt_body_depth(const char *line);
char *tkt_read_body(tkt *d); /* lines up to 'end'; temporary */

#endif
