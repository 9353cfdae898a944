/* table.c - the commands there are, and the one that is meant. */
#include "command/table.h"

#include <ctype.h>
#include <string.h>

#include "command/say.h"

const tkt_command tkt_commands[TKT_COMMANDS] = {
#define COMMAND(id, name, aliases, args, flags, words, summary, text)          \
  {name, aliases, args, flags, TKT_##words, summary, text},
#include "command/command.def"
#undef COMMAND
};

size_t tkt_name_length(const char *s) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '-' || s[n] == '_') n++;
  return n;
}

const tkt_command *tkt_command_named(const char *name, size_t n, int *count) {
  const tkt_command *found = NULL;
  *count = 1;
  for (int i = 0; i < TKT_COMMANDS; i++) {
    const tkt_command *c = &tkt_commands[i];
    if (tk_has_word(c->name, name, n) || tk_has_word(c->aliases, name, n))
      return c;
  }
  *count = 0;
  for (int i = TKT_COMMANDS; i-- > 0;)
    if (n && !strncmp(tkt_commands[i].name, name, n))
      found = &tkt_commands[i], ++*count;
  return found;
}

tkt_named *tkt_find_named(tkt *d, const char *name) {
  for (tkt_named *x = d->named; x; x = x->next)
    if (x->text && !strcmp(x->name, name)) return x;
  return NULL;
}

static void ambiguous(tkt *d, const char *name) TK_NORETURN;
static void ambiguous(tkt *d, const char *name) {
  size_t n = strlen(name);
  tkt_say(d, "Ambiguous command '%s':\n ", name);
  for (int i = 0; i < TKT_COMMANDS; i++)
    if (!strncmp(tkt_commands[i].name, name, n))
      tkt_say(d, " %s", tkt_commands[i].name);
  tkt_fail(d, ".");
}

static const struct {
  const char *name, *instead;
} foreign[] = {
#define FOREIGN(name, instead) {name, instead},
#include "command/foreign.def"
#undef FOREIGN
};

bool tkt_is_variable(const tkt *d, const char *name) {
  const char *const *names;
  size_t n;
  tk_debug_names(d->e, &names, &n);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(names[i], name)) return true;
  return false;
}

static void unknown_command(tkt *d, const char *name) TK_NORETURN;
static void unknown_command(tkt *d, const char *name) {
  tk_nearest near = tk_nearest_start(name);
  for (int i = 0; i < TKT_COMMANDS; i++)
    tk_nearest_try(&near, tkt_commands[i].name);
  const char *best = tk_nearest_best(&near);
  for (size_t i = 0; i < TK_COUNT(foreign); i++)
    if (!strcmp(foreign[i].name, name))
      tkt_fail(d, "There is no command '%s' here: %s.", name,
               foreign[i].instead);
  if (tkt_is_variable(d, name))
    tkt_fail(d,
             "There is no command '%s': 'print %s' shows the "
             "variable.",
             name, name);
  if (best)
    tkt_fail(d, "There is no command '%s'. Did you mean '%s'? Try 'help'.",
             name, best);
  tkt_fail(d,
           "There is no command '%s'. Try 'help'; 'print %s' evaluates "
           "an expression.",
           name, name);
}

const tkt_command *tkt_find_command(tkt *d, const char *name) {
  int count;
  const tkt_command *found = tkt_command_named(name, strlen(name), &count);
  if (!*name) tkt_fail(d, "Which command?");
  if (count > 1) ambiguous(d, name);
  if (!found) unknown_command(d, name);
  return found;
}

const char *tk_debugger_command_name(size_t i) {
  return i < TKT_COMMANDS ? tkt_commands[i].name : NULL;
}

const char *tk_debugger_command_help(size_t i) {
  return i < TKT_COMMANDS ? tkt_commands[i].text : NULL;
}
