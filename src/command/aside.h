/* aside.h - what is said of programs that ran aside.
 */
#ifndef TK_COMMAND_ASIDE_H
#define TK_COMMAND_ASIDE_H

#include "command/command.h"

void tkt_say_left_out(tkt *d, const tk_debug_aside *x); /* what did not run */
/* Says so if the user changed something: programs that ran aside know nothing
 * of it. */
void tkt_say_untouched(tkt *d, const tk_debug_aside *x);

#endif
