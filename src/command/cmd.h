/* cmd.h - the functions of the commands: one for each row of command.def.
 */
#ifndef TK_COMMAND_CMD_H
#define TK_COMMAND_CMD_H

#include "command/command.h"

#define COMMAND(id, name, aliases, args, flags, words, summary, text)          \
  void tkt_cmd_##id(tkt *d, tkt_args *a);
#include "command/command.def"
#undef COMMAND

#endif
