/* script.h - the command lines that run when a point stops a program.
 */
#ifndef TK_COMMAND_SCRIPT_H
#define TK_COMMAND_SCRIPT_H

#include "command/command.h"

/* The lines of a point; NULL: none. */
const char *tkt_script_of(const tkt *d, int point);
void tkt_set_script(tkt *d, int point, const char *lines);
/* Whether the commands of the point that stopped it begin with 'silent': then
 * nothing is said of the stop. */
bool tkt_is_silent(const tkt *d, const tk_debug_stop *s);
/* Those of the points that were hit are the next input. */
void tkt_push_scripts(tkt *d, const tk_debug_stop *s);

#endif
