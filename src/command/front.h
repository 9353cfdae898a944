/* front.h - the text front end's object; its calls are declared in tkdbg.h and
 * debugger.h.
 */
#ifndef TK_COMMAND_FRONT_H
#define TK_COMMAND_FRONT_H

#include "command/command.h"

#endif
