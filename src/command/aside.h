/* aside.h - what is said of programs that ran aside (debug/aside.h).
 */
#ifndef TK_COMMAND_ASIDE_H
#define TK_COMMAND_ASIDE_H

#include "command/command.h"
#include "debug/aside.h"

void tkt_say_left_out(tkt *d, const tkd_aside *x); /* what did not run */
/* Says so if the user changed something: programs that ran aside know nothing
 * of it. */
void tkt_say_untouched(tkt *d);

#endif
