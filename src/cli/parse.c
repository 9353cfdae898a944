/* parse.c - from argv to options and operands, by the two tables.
 *
 * One pass.  An option may stand anywhere, as --name VALUE, as --name=VALUE or
 * by its letter; '--' ends the options.  With commands that run scripts, what
 * follows FILE belongs to the script, unless it contains an option that can
 * only be meant for tkdbg (CLI_FOLLOWS), or FILE is a launch file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The option that a word spells, or -1; *value is what follows '='.  If two
 * options have that name, it is the one that the command takes. */
static int match(const cli_args *a, const char *word, const char **value) {
  int other = -1;
  *value = NULL;
  if (word[0] != '-' || !word[1]) return -1;
  size_t n = strcspn(word, "=");
  if (word[n]) *value = word + n + 1;
  for (int i = 0; i < CLI_OPTIONS; i++) {
    const cli_option *o = &cli_options[i];
    if (word[1] != '-' && word[1] == o->letter && n == 2) return i;
    if (i == OPT_EX && n == 3 && !strncmp(word, "-ex", n)) return i;
    if (i == OPT_NX && !strcmp(word, "-nx")) return i;
    if (word[1] != '-' || n != strlen(o->name) + 2 ||
        strncmp(word + 2, o->name, n - 2))
      continue;
    if (a->command >= 0 && o->commands >> a->command & 1) return i;
    if (other < 0) other = i;
  }
  return other;
}

static const char *option_name(size_t i) {
  return i < CLI_OPTIONS ? cli_options[i].name : NULL;
}

static bool unknown_option(const cli_args *a, const char *word) {
  CLI_ASSERT(*word == '-');
  const char *near = cli_nearest(word + strspn(word, "-"), option_name);
  if (near)
    cli_usage(a, "unknown option '%s'; did you mean '--%s'?", word, near);
  else
    cli_usage(a, "unknown option '%s'", word);
  return false;
}

/* Whether the value is one of the words of a list, which '|' separates. */
static bool is_word(const char *list, const char *value) {
  size_t n = strlen(value);
  while (*list) {
    size_t k = strcspn(list, "|");
    if (k == n && !strncmp(list, value, n)) return true;
    list += k + (list[k] == '|');
  }
  return false;
}

/* Whether the value is a number from 1 to 999999999, in digits alone. */
static bool is_number(const char *value) {
  size_t n = strspn(value, "0123456789");
  return n && n < 10 && !value[n] && *value != '0';
}

/* Whether the value is the word that stands for not giving a number, as in
 * "N|auto". */
static bool is_no_number(const cli_option *o, const char *value) {
  const char *word = strchr(o->arg, '|');
  return word && !strcmp(word + 1, value);
}

static void forget(cli_args *a, cli_option_id id) {
  size_t kept = 0;
  for (size_t i = 0; i < a->nuses; i++)
    if (a->uses[i].id != id) a->uses[kept++] = a->uses[i];
  a->nuses = kept;
  a->given[id] = false;
}

static bool add_option(cli_args *a, cli_option_id id, const char *value) {
  const cli_option *o = &cli_options[id];
  CLI_ASSERT(o->commands >> a->command & 1); /* the command takes it */
  CLI_ASSERT(!value == (o->kind == TK_OPTION_FLAG));
  if (o->kind == TK_OPTION_WORD && !is_word(o->arg, value)) {
    cli_usage(a, "--%s takes %s, not '%s'", o->name, o->arg, value);
    return false;
  }
  if (o->kind == TK_OPTION_NUMBER && is_no_number(o, value)) {
    forget(a, id);
    return true;
  }
  if (o->kind == TK_OPTION_NUMBER && !is_number(value)) {
    cli_usage(a, "--%s takes a whole number from 1 to 999999999, not '%s'",
              o->name, value);
    return false;
  }
  if (o->kind == TK_OPTION_FILE && !*value) {
    cli_usage(a, "--%s takes the name of a file, not ''", o->name);
    return false;
  }
  a->uses[a->nuses++] = (cli_use){id, value};
  a->given[id] = true;
  return true;
}

/* Reads the option at argv[*i] and its value; moves *i to its last word. */
static bool read_option(cli_args *a, int argc, char **argv, int *i) {
  const char *value;
  int id = match(a, argv[*i], &value);
  if (id < 0) return unknown_option(a, argv[*i]);
  const cli_option *o = &cli_options[id];
  const char *command = cli_commands[a->command].name;
  if (!(o->commands >> a->command & 1)) {
    cli_usage(a, "'%s' has no option --%s", command, o->name);
    return false;
  }
  if (o->kind == TK_OPTION_FLAG && value) {
    cli_usage(a, "--%s takes no value", o->name);
    return false;
  }
  if (o->kind == TK_OPTION_FLAG) return add_option(a, (cli_option_id)id, NULL);
  if (o->kind == TK_OPTION_OPTIONAL && !value) {
    const char *next = *i + 1 < argc ? argv[*i + 1] : "";
    bool list = tk_check_is_list(next) || !strcmp(next, "help");
    value = list ? argv[++*i] : "all";
  }
  if (!value && *i + 1 < argc) value = argv[++*i];
  if (!value) {
    cli_usage(a, "--%s needs a value: %s", o->name, o->arg);
    return false;
  }
  if (id == OPT_LAUNCH && cli_is_launch_file(value)) {
    /* a launch that is a file is FILE; value lies in argv[*i] */
    a->words[a->nwords++] = argv[*i] + (value - argv[*i]);
    return true;
  }
  return add_option(a, (cli_option_id)id, value);
}

/* Whether the words after FILE contain an option that can only be meant for
 * tkdbg. */
static bool rest_is_ours(const cli_args *a, int argc, char **argv) {
  const char *value;
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
    int id = match(a, argv[i], &value);
    if (id >= 0 && cli_options[id].mode & CLI_FOLLOWS) return true;
  }
  return false;
}

/* Whether FILE is a launch or PTX, which take no arguments of their own. */
static bool takes_none(const cli_args *a) {
  return a->nwords && (cli_is_launch_file(a->words[0]) || cli_is_ptx(a));
}

/* -m MODULE and -c CODE stand in place of FILE, as for python. */
static bool is_python_word(const cli_args *a, const char *word) {
  if (!cli_takes_script(a) || a->nwords) return false;
  return !strcmp(word, "-m") || !strcmp(word, "-c");
}

/* Passes what follows FILE to the script.  Warns of the first word that was
 * most likely meant for tkdbg. */
static void take_rest(cli_args *a, int argc, char **argv) {
  const char *value;
  bool ours = true, said = cli_has(a, OPT_QUIET);
  for (int i = 0; i < argc; i++) {
    int id = ours ? match(a, argv[i], &value) : -1;
    if (!strcmp(argv[i], "--")) ours = false;
    bool spelled = id == OPT_EX || !strncmp(argv[i], "--", 2);
    if (id >= 0 && spelled && cli_options[id].mode & CLI_RARE && !said) {
      fprintf(stderr,
              "tkdbg %s: warning: '%s' after %s is an argument of the script; "
              "options of tkdbg come before the file\n",
              cli_commands[a->command].name, argv[i], a->words[0]);
      said = true;
    }
    a->words[a->nwords++] = argv[i];
  }
}

/* Whether the operand just read is a script, so that the rest belongs to it. */
static bool script_follows(const cli_args *a, bool ours, int argc,
                           char **argv) {
  if (!cli_takes_script(a) || a->nwords != 1 || takes_none(a)) return false;
  CLI_ASSERT(argc >= 0);
  return !ours || !rest_is_ours(a, argc, argv);
}

/* The first word of gdbserver is where it listens. */
static bool needs_address(const cli_args *a) {
  return a->command == CLI_GDBSERVER && !cli_has(a, OPT_LISTEN) &&
         !cli_has(a, OPT_STDIO);
}

/* All words after puzzles belong to its own commands, except a request for
 * tkdbg's help on it. */
static bool is_puzzles_word(const cli_args *a, const char *word) {
  const char *value;
  return a->command == CLI_PUZZLES &&
         (a->nwords || match(a, word, &value) != OPT_HELP);
}

/* diff takes --ir FORM for a launch file; where a launch is described, FORM is
 * its FILE. */
static void take_form_for_file(cli_args *a) {
  if (a->command != CLI_DIFF || a->nwords || !cli_is_direct(a)) return;
  for (size_t i = 0; i < a->nuses; i++)
    if (a->uses[i].id == OPT_FORM && !a->nwords)
      a->words[a->nwords++] = (char *)(uintptr_t)a->uses[i].value;
  a->given[OPT_FORM] = false;
  a->given[OPT_IR] = a->nwords;
}

bool cli_parse(cli_args *a, cli_command_id command, int argc, char **argv) {
  bool ours = true;
  *a = (cli_args){.command = command};
  a->uses = calloc((size_t)argc + 1, sizeof *a->uses);
  a->words = calloc((size_t)argc + 1, sizeof *a->words);
  if (!a->uses || !a->words) cli_no_memory();
  for (int i = 0; i < argc; i++) {
    if (is_puzzles_word(a, argv[i])) ours = false;
    if (ours && is_python_word(a, argv[i])) ours = false;
    if (ours && !strcmp(argv[i], "--")) {
      ours = false;
    } else if (ours && argv[i][0] == '-' && argv[i][1]) {
      if (!read_option(a, argc, argv, &i)) return false;
    } else if (ours && needs_address(a)) {
      if (!add_option(a, OPT_LISTEN, argv[i])) return false;
    } else {
      a->words[a->nwords++] = argv[i];
      if (!script_follows(a, ours, argc - i - 1, argv + i + 1)) continue;
      take_rest(a, argc - i - 1, argv + i + 1);
      break;
    }
  }
  CLI_ASSERT(a->nuses + a->nwords <= (size_t)argc); /* they have room */
  take_form_for_file(a);
  return cli_options_fit(a);
}
