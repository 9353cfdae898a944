/* help.c - tkdbg help and tkdbg version: text for a terminal, made from the
 * tables. */
#include "help.h"

#include <string.h>

enum { WIDTH = 78, TERM = 2, TEXT = 26 };

enum {
#define SECTION(id, title, commands, intro) SECTION_##id,
#define TOPIC(section, term, text)
#include "topic.def"
#undef SECTION
#undef TOPIC
};

const cli_section cli_sections[] = {
#define SECTION(id, title, commands, intro) {title, commands, intro},
#define TOPIC(section, term, text)
#include "topic.def"
#undef SECTION
#undef TOPIC
};
const size_t cli_section_count = CLI_COUNT(cli_sections);

const cli_topic cli_topics[] = {
#define SECTION(id, title, commands, intro)
#define TOPIC(section, term, text) {SECTION_##section, term, text},
#include "topic.def"
#undef SECTION
#undef TOPIC
};
const size_t cli_topic_count = CLI_COUNT(cli_topics);

/* Writes the explanation of a term, which has been written up to `column`. */
static void explain(FILE *f, int column, const char *text) {
  if (column + 2 > TEXT) {
    putc('\n', f);
    column = 0;
  }
  fprintf(f, "%*s", TEXT - column, "");
  cli_wrap(f, text, TEXT, TEXT);
}

static int option_width(const cli_option *o) {
  int n = (int)(strlen(o->name) + strlen(o->arg));
  return n + (o->letter ? 6 : 2) + (*o->arg ? 1 : 0);
}

/* Writes an option as help names it: "--dot blas|exact". */
static void put_option_term(FILE *f, const cli_option *o) {
  if (o->letter) fprintf(f, "-%c, ", o->letter);
  fprintf(f, "--%s%s%s", o->name, *o->arg ? " " : "", o->arg);
}

/* ---- options ------------------------------------------------------------- */

/* An option that more commands than FEW have is common; where a command has
 * more of those than MANY, only their names are listed. */
enum { FEW = 3, MANY = 12 };

static bool is_common(const cli_option *o) {
  int commands = 0;
  for (int i = 0; i < CLI_COMMANDS; i++) commands += o->commands >> i & 1;
  return commands > FEW && o->commands >> CLI_RUN & 1;
}

/* Whether common options are explained elsewhere: by the help of run. */
static bool is_brief(cli_command_id id) {
  int common = 0;
  for (int i = 0; i < CLI_OPTIONS; i++)
    common += cli_options[i].commands >> id & is_common(&cli_options[i]);
  return id != CLI_RUN && common > MANY;
}

static void explain_options(FILE *f, cli_command_id id, bool brief) {
  const char *heading = brief ? "\nOptions of its own:\n" : "\nOptions:\n";
  for (int i = 0; i < CLI_OPTIONS; i++) {
    const cli_option *o = &cli_options[i];
    if (!(o->commands >> id & 1) || (brief && is_common(o))) continue;
    fprintf(f, "%s%*s", heading, TERM, "");
    put_option_term(f, o);
    explain(f, TERM + option_width(o), o->help);
    heading = "";
  }
}

static void list_common_options(FILE *f, cli_command_id id) {
  int column = TERM;
  const char *comma = "";
  fputs("\nOptions that 'tkdbg help run' explains:\n", f);
  fprintf(f, "%*s", TERM, "");
  for (int i = 0; i < CLI_OPTIONS; i++) {
    const cli_option *o = &cli_options[i];
    if (!(o->commands >> id & 1) || !is_common(o)) continue;
    int width = option_width(o) + 1; /* and the comma after it */
    bool wraps = column + 1 + width > WIDTH;
    fprintf(f, wraps ? "%s\n%*s" : "%s%*s", comma, wraps ? TERM : *comma != 0,
            "");
    column = (wraps ? TERM : column + (*comma != 0)) + width;
    put_option_term(f, o);
    comma = ",";
  }
  putc('\n', f);
}

static void print_options(FILE *f, cli_command_id id) {
  bool brief = is_brief(id);
  explain_options(f, id, brief);
  if (brief) list_common_options(f, id);
}

static void print_section(FILE *f, int section) {
  const cli_section *s = &cli_sections[section];
  fprintf(f, "\n%s:\n", s->title);
  if (*s->intro) {
    fprintf(f, "%*s", TERM, "");
    cli_wrap(f, s->intro, TERM, TERM);
  }
  for (size_t i = 0; i < cli_topic_count; i++)
    if (cli_topics[i].section == section)
      explain(f, fprintf(f, "%*s%s", TERM, "", cli_topics[i].term),
              cli_topics[i].text);
}

int cli_help_command(cli_command_id id) {
  const cli_command *c = &cli_commands[id];
  printf("Usage: tkdbg %s [OPTIONS]%s%s\n\n", c->name, *c->operands ? " " : "",
         c->operands);
  cli_wrap(stdout, c->text, 0, 0);
  print_options(stdout, id);
  for (size_t i = 0; i < cli_section_count; i++) {
    bool values = i != SECTION_EXIT; /* of options */
    if (!(cli_sections[i].commands >> id & 1) || (values && is_brief(id)))
      continue;
    print_section(stdout, (int)i);
  }
  return TK_OK;
}

static void say_what_it_is(FILE *f) {
  fputs("tkdbg runs kernels written in the Triton language on the CPU and "
        "says what is\nwrong with them.\n\n"
        "Usage: tkdbg COMMAND [OPTIONS] ...\n",
        f);
}

void cli_help_first(FILE *f) {
  say_what_it_is(f);
  print_section(f, SECTION_FIRST);
}

void cli_help_overview(FILE *f) {
  say_what_it_is(f);
  fputs("\nCommands:\n", f);
  for (int i = 0; i < CLI_COMMANDS; i++)
    explain(f, fprintf(f, "%*s%s", TERM, "", cli_commands[i].name),
            cli_commands[i].summary);
  fputs("\n'tkdbg --version' prints the version, 'tkdbg --python-path' the "
        "folder that\n"
        "makes 'import tkdbg' work in any Python.\n",
        f);
  print_section(f, SECTION_EXAMPLE);
  print_section(f, SECTION_EXIT);
  fputs("\n'tkdbg help COMMAND' explains a command.\n", f);
}

/* Every operation of the language, or the one named. */
static int help_ops(const cli_args *a, const char *only) {
  bool found = false;
  for (size_t i = 0; tk_builtin_name(i); i++) {
    const char *name = tk_builtin_name(i), *sig = tk_builtin_signature(i);
    if (strstr(name, "._")) continue; /* helpers of our own */
    if (only && strcmp(name, only)) continue;
    found = true;
    printf("%s(%s)\n", name, *sig ? sig : "...");
    if (!*tk_builtin_doc(i)) continue;
    fputs("    ", stdout);
    cli_wrap(stdout, tk_builtin_doc(i), 4, 4);
  }
  return found ? TK_OK : cli_usage(a, "there is no operation '%s'", only);
}

int cli_help(const cli_args *a) {
  bool whole = cli_has(a, OPT_MAN) || cli_has(a, OPT_COMPLETION);
  if (a->nwords > !whole)
    return cli_usage(a,
                     whole ? "'%s': the page and the script are about all "
                             "commands"
                           : "one COMMAND is expected, but '%s' follows it",
                     a->words[!whole]);
  if (cli_has(a, OPT_MAN)) {
    cli_man(stdout);
  } else if (cli_has(a, OPT_COMPLETION)) {
    cli_completion(stdout, cli_value(a, OPT_COMPLETION));
  } else if (a->nwords && !strcmp(a->words[0], "ops")) {
    return help_ops(a, NULL);
  } else if (a->nwords && !strcmp(a->words[0], "semantics")) {
    cli_help_semantics(stdout);
  } else if (a->nwords && !strcmp(a->words[0], "versions")) {
    cli_help_versions(stdout);
  } else if (a->nwords && strchr(a->words[0], '.')) {
    return help_ops(a, a->words[0]);
  } else if (a->nwords) {
    int id = cli_find_command(a->words[0]);
    if (id < 0) return cli_usage(a, "there is no command '%s'", a->words[0]);
    return cli_help_command((cli_command_id)id);
  } else {
    cli_help_overview(stdout);
  }
  return TK_OK;
}

int cli_version(const cli_args *a) {
  if (a->nwords)
    return cli_usage(a, "no operand is expected, but '%s' is given",
                     a->words[0]);
  puts("tkdbg " TK_VERSION);
  return TK_OK;
}
