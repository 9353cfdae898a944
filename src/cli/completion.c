/* completion.c - the completion script for bash, made from the tables. */
#include "cli.h"

#include <string.h>

static const char head[] =
    "# bash completion for tkdbg; made by: tkdbg help --completion bash\n"
    "_tkdbg() {\n"
    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "  local words= word file=\n"
    "  [ \"$cur\" = = ] && cur=\n"
    "  [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "  for word in \"${COMP_WORDS[@]}\"; do\n"
    "    case $word in *.py) file=$word ;; esac\n"
    "  done\n"
    "  COMPREPLY=()\n"
    "  case $prev in\n"
    "    --kernel)\n"
    "      words=$(\"${COMP_WORDS[0]}\" kernels \"$file\" 2>/dev/null)\n"
    "      words=$(sed 's/(.*//' <<<\"$words\") ;;\n";

static const char tail[] =
    "  esac\n"
    "  if [ -z \"$words\" ]; then\n"
    "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
    "  else\n"
    "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "  fi\n"
    "}\n"
    "complete -o filenames -F _tkdbg tkdbg\n";

/* The words of a list separated by '|'; a word that the user must complete ends
 * at its colon. */
static void put_words(FILE *f, const char *list) {
  while (*list) {
    size_t n = strcspn(list, "|"), k = strcspn(list, "|:");
    fprintf(f, "%.*s", (int)(k < n ? k + 1 : n), list);
    list += n;
    if (*list) putc(' ', f), list++;
  }
}

static void option_values(FILE *f) {
  for (int i = 0; i < CLI_OPTIONS; i++) {
    const cli_option *o = &cli_options[i];
    if (o->kind != TK_OPTION_WORD && !strchr(o->arg, '|')) continue;
    fprintf(f, "    --%s) words='", o->name);
    put_words(f, o->arg);
    fputs("' ;;\n", f);
  }
}

static void command_names(FILE *f) {
  for (int i = 0; i < CLI_COMMANDS; i++)
    fprintf(f, "%s%s", i ? " " : "", cli_commands[i].name);
}

static void command_options(FILE *f, int command) {
  const char *space = "";
  fprintf(f, "        %s:-*) words='", cli_commands[command].name);
  for (int i = 0; i < CLI_OPTIONS; i++) {
    if (!(cli_options[i].commands >> command & 1)) continue;
    fprintf(f, "%s--%s", space, cli_options[i].name);
    space = " ";
  }
  fputs("' ;;\n", f);
}

void cli_completion_bash(FILE *f) {
  fputs(head, f);
  option_values(f);
  fputs("    tkdbg|*/tkdbg)\n      words='", f);
  command_names(f);
  fputs(" --version --python-path --help' ;;\n    help) words='", f);
  command_names(f);
  fputs(" --man --completion' ;;\n    *)\n"
        "      case ${COMP_WORDS[1]}:$cur in\n",
        f);
  for (int i = 0; i < CLI_COMMANDS; i++) command_options(f, i);
  fputs("      esac ;;\n", f);
  fputs(tail, f);
}
