/* cmd.h - the functions of the commands: one for each row of command.def.
 */
#ifndef TK_COMMAND_CMD_H
#define TK_COMMAND_CMD_H

#include "debug/debug.h"

#define COMMAND(id, name, aliases, args, flags, words, summary, text)          \
  void tkd_cmd_##id(tkd *d, tkd_args *a);
#include "command/command.def"
#undef COMMAND

#endif
