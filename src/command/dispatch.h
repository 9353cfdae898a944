/* dispatch.h - carrying out command lines.
 */
#ifndef TK_COMMAND_DISPATCH_H
#define TK_COMMAND_DISPATCH_H

#include "command/command.h"

/* Runs one line; false: it failed, and said why. */
bool tkt_execute(tkt *d, const char *line);
/* Asks for commands until one goes on (or the input ends). */
void tkt_prompt(tkt *d);
/* Runs the commands of a file now, before any launch. */
void tkt_source_now(tkt *d, const char *path);
/* Whether 'set safe-path' lets files of a folder be read. */
bool tkt_is_safe(const tkt *d, const char *folder);

#endif
