/* table.c - the tables of commands and options, as everybody reads them.
 *
 * The functions of commands stand in main.c, so that whoever looks a command up
 * does not need all of them.
 */
#include "cli.h"

#include <string.h>

const cli_option cli_options[CLI_OPTIONS] = {
#define OPTION(id, name, letter, kind, arg, commands, mode, key, help)         \
  {name, letter, TK_OPTION_##kind, arg, commands, CLI_##mode, key, help},
#include "tkdbg/option.def"
#undef OPTION
};

const cli_command cli_commands[CLI_COMMANDS] = {
#define COMMAND(id, name, fn, operands, summary, text)                         \
  {name, operands, summary, text},
#include "command.def"
#undef COMMAND
};

int cli_find_command(const char *name) {
  for (int i = 0; i < CLI_COMMANDS; i++)
    if (!strcmp(cli_commands[i].name, name)) return i;
  return -1;
}
