/* main.c - tkdbg: finds the command and runs it. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static int (*const functions[CLI_COMMANDS])(const cli_args *a) = {
#define COMMAND(id, name, fn, operands, summary, text) fn,
#include "command.def"
#undef COMMAND
};

static const char *command_name(size_t i) {
  return i < CLI_COMMANDS ? cli_commands[i].name : NULL;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), k = strlen(end);
  return n > k && !strcmp(s + n - k, end);
}

static int unknown_command(const char *word) {
  const char *near = cli_nearest(word, command_name);
  if (ends_with(word, ".py"))
    return cli_usage(NULL,
                     "'%s' is not a command; did you mean 'tkdbg run %s'?",
                     word, word);
  if (near)
    return cli_usage(NULL, "unknown command '%s'; did you mean '%s'?", word,
                     near);
  return cli_usage(NULL, "unknown command '%s'", word);
}

static int print_python_path(void) {
  char *dir = cli_python_dir();
  if (!dir) {
    fputs(
        "tkdbg: cannot find the Python package of tkdbg; TKDBG_PYTHONPATH can "
        "name the folder that holds it\n",
        stderr);
    return TK_INTERNAL;
  }
  puts(dir);
  free(dir);
  return TK_OK;
}

/* What may stand in place of a command; -1 if word is not one of them. */
static int global_option(const char *word) {
  if (!strcmp(word, "--python-path")) return print_python_path();
  if (!strcmp(word, "--version")) return puts("tkdbg " TK_VERSION), TK_OK;
  if (strcmp(word, "--help") != 0 && strcmp(word, "-h") != 0) return -1;
  cli_help_overview(stdout);
  return TK_OK;
}

static int carry_out(const cli_args *a) {
  if (cli_has(a, OPT_HELP)) return cli_help_command(a->command);
  if (cli_wants_check_list(a)) return TK_OK;
  CLI_ASSERT(functions[a->command]);
  return functions[a->command](a);
}

static int run_command(cli_command_id id, int argc, char **argv) {
  cli_args a;
  int code = TK_USAGE;
  if (cli_parse(&a, id, argc, argv)) code = carry_out(&a);
  free(a.uses);
  free(a.words);
  return code;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    cli_help_first(stderr);
    return TK_USAGE;
  }
  int code = global_option(argv[1]);
  if (code >= 0) return cli_flush(code);
  int id = cli_find_command(argv[1]);
  if (id < 0) return unknown_command(argv[1]);
  return cli_flush(run_command((cli_command_id)id, argc - 2, argv + 2));
}
