/* table.h - command.def as a table.
 */
#ifndef TK_COMMAND_TABLE_H
#define TK_COMMAND_TABLE_H

#include "command/command.h"

typedef enum tkt_words { /* what the operand of a command is completed from */
                         TKT_NOTHING,
                         TKT_LOCATION,
                         TKT_EXPR,
                         TKT_COMMAND,
                         TKT_FILE_NAME,
                         TKT_INFO,
                         TKT_SETTING,
                         TKT_EVENT,
} tkt_words;

typedef struct tkt_command {
  const char *name;
  const char *aliases; /* separated by spaces */
  const char *args;    /* for the usage line */
  const char *flags;   /* L needs a launch, P a program, R repeats */
  tkt_words words;
  const char *summary, *text;
} tkt_command;

enum {
#define COMMAND(id, name, aliases, args, flags, words, summary, text)          \
  TKT_C_##id,
#include "command/command.def"
#undef COMMAND
  TKT_COMMANDS
};
extern const tkt_command tkt_commands[TKT_COMMANDS];

/* Bytes of the command's name that s begins with. */
size_t tkt_name_length(const char *s);
/* The command with that name or alias; else the first whose name begins so,
 * and how many do; NULL: none. */
const tkt_command *tkt_command_named(const char *name, size_t n, int *count);
/* The same, but fails unless it is one. */
const tkt_command *tkt_find_command(tkt *d, const char *name);
/* A command of the user's own; NULL: none. */
tkt_named *tkt_find_named(tkt *d, const char *name);
/* Whether the selected call knows a variable of that name. */
bool tkt_is_variable(const tkt *d, const char *name);

#endif
