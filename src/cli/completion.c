/* completion.c - completion scripts for shells, made from the tables. */
#include "cli.h"

#include <string.h>

/* ---- bash ---------------------------------------------------------------- */

static const char bash_head[] =
    "# Completion of tkdbg for bash. In ~/.bashrc:\n"
    "#   eval \"$(tkdbg help --completion bash)\"\n"
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

static const char bash_tail[] =
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

/* Whether the value is one of a list of words. */
static bool has_words(const cli_option *o) {
  return o->kind == TK_OPTION_WORD || strchr(o->arg, '|');
}

static void bash_values(FILE *f) {
  for (int i = 0; i < CLI_OPTIONS; i++) {
    const cli_option *o = &cli_options[i];
    if (!has_words(o)) continue;
    fprintf(f, "    --%s) words='", o->name);
    put_words(f, o->arg);
    fputs("' ;;\n", f);
  }
}

static void bash_commands(FILE *f) {
  for (int i = 0; i < CLI_COMMANDS; i++)
    fprintf(f, "%s%s", i ? " " : "", cli_commands[i].name);
}

static void bash_options(FILE *f, int command) {
  const char *space = "";
  fprintf(f, "        %s:-*) words='", cli_commands[command].name);
  for (int i = 0; i < CLI_OPTIONS; i++) {
    if (!(cli_options[i].commands >> command & 1)) continue;
    fprintf(f, "%s--%s", space, cli_options[i].name);
    space = " ";
  }
  fputs("' ;;\n", f);
}

static void complete_bash(FILE *f) {
  fputs(bash_head, f);
  bash_values(f);
  fputs("    tkdbg|*/tkdbg)\n      words='", f);
  bash_commands(f);
  fputs(" --version --python-path --help' ;;\n    help) words='", f);
  bash_commands(f);
  fputs(" --man --completion' ;;\n    *)\n"
        "      case ${COMP_WORDS[1]}:$cur in\n",
        f);
  for (int i = 0; i < CLI_COMMANDS; i++) bash_options(f, i);
  fputs("      esac ;;\n", f);
  fputs(bash_tail, f);
}

/* ---- what zsh and fish show beside a word -------------------------------- */

/* What an option does, up to its first clause, in single quotes; `escaped`:
 * what also wants a backslash before it. */
static void put_summary(FILE *f, const char *help, const char *escaped) {
  size_t n = strcspn(help, ";:");
  for (size_t i = 0; i < n; i++) {
    if (help[i] == '\'') {
      fputs("'\\''", f);
      continue;
    }
    if (strchr(escaped, help[i])) putc('\\', f);
    putc(help[i], f);
  }
}

/* ---- zsh ----------------------------------------------------------------- */

static const char zsh_head[] =
    "#compdef tkdbg\n"
    "# Completion of tkdbg for zsh. In ~/.zshrc, after compinit:\n"
    "#   source <(tkdbg help --completion zsh)\n"
    "_tkdbg_kernels() {\n"
    "  local file=${words[(R)*.py]} out\n"
    "  out=$(\"$tkdbg\" kernels \"$file\" 2>/dev/null)\n"
    "  compadd -- ${${(f)out}%%\\(*}\n"
    "}\n"
    "_tkdbg() {\n"
    "  local tkdbg=$words[1]\n"
    "  local -a commands options\n"
    "  commands=(\n";

static const char zsh_tail[] = "  esac\n"
                               "  shift words; (( CURRENT-- ))\n"
                               "  _arguments $options '*:file:_files'\n"
                               "}\n"
                               "if [[ $funcstack[1] == _tkdbg ]]; then\n"
                               "  _tkdbg \"$@\"\n"
                               "else\n"
                               "  compdef _tkdbg tkdbg\n"
                               "fi\n";

/* What follows the description: the value's name, and how to complete it. */
static void zsh_value(FILE *f, const cli_option *o) {
  if (!*o->arg) return;
  fputs(o->kind == TK_OPTION_OPTIONAL ? "::" : ":", f);
  fputs(has_words(o) ? "value" : o->name, f);
  if (!strcmp(o->name, "kernel")) {
    fputs(":_tkdbg_kernels", f);
  } else if (has_words(o)) {
    fputs(":(", f);
    put_words(f, o->arg);
    putc(')', f);
  } else {
    fputs(o->kind == TK_OPTION_FILE ? ":_files" : ":", f);
  }
}

static void zsh_option(FILE *f, const cli_option *o) {
  const char *equals = !*o->arg                        ? ""
                       : o->kind == TK_OPTION_OPTIONAL ? "=-"
                                                       : "=";
  const char *again = o->kind == TK_OPTION_LIST ? "*" : "";
  fprintf(f, "        '%s--%s%s[", again, o->name, equals);
  put_summary(f, o->help, "[]\\");
  putc(']', f);
  zsh_value(f, o);
  fputs("'\n", f);
}

static void complete_zsh(FILE *f) {
  fputs(zsh_head, f);
  for (int i = 0; i < CLI_COMMANDS; i++) {
    fprintf(f, "    '%s:", cli_commands[i].name);
    put_summary(f, cli_commands[i].summary, ":\\");
    fputs("'\n", f);
  }
  fputs("  )\n"
        "  if (( CURRENT == 2 )); then\n"
        "    _describe command commands; return\n"
        "  fi\n"
        "  case $words[2] in\n"
        "    help) (( CURRENT == 3 )) && _describe command commands ;|\n",
        f);
  for (int i = 0; i < CLI_COMMANDS; i++) {
    fprintf(f, "    %s) options=(\n", cli_commands[i].name);
    for (int k = 0; k < CLI_OPTIONS; k++)
      if (cli_options[k].commands >> i & 1) zsh_option(f, &cli_options[k]);
    fputs("      ) ;;\n", f);
  }
  fputs(zsh_tail, f);
}

/* ---- fish ---------------------------------------------------------------- */

static const char fish_head[] =
    "# Completion of tkdbg for fish. In ~/.config/fish/config.fish:\n"
    "#   tkdbg help --completion fish | source\n"
    "function __tkdbg_first\n"
    "  test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "function __tkdbg_in\n"
    "  set -l words (commandline -opc)\n"
    "  test (count $words) -gt 1; and contains -- $words[2] $argv\n"
    "end\n"
    "function __tkdbg_kernels\n"
    "  set -l words (commandline -opc)\n"
    "  for word in (string match -- '*.py' $words)\n"
    "    $words[1] kernels $word 2>/dev/null | string replace -r '\\(.*' ''\n"
    "  end\n"
    "end\n";

/* Whether a value must follow, and how to complete it. */
static void fish_value(FILE *f, const cli_option *o) {
  if (!*o->arg || o->kind == TK_OPTION_OPTIONAL) return;
  fputs(o->kind == TK_OPTION_FILE ? " -r" : " -x", f);
  if (!strcmp(o->name, "kernel")) {
    fputs(" -a '(__tkdbg_kernels)'", f);
  } else if (has_words(o)) {
    fputs(" -a '", f);
    put_words(f, o->arg);
    putc('\'', f);
  }
}

static void fish_option(FILE *f, const cli_option *o) {
  fputs("complete -c tkdbg -n '__tkdbg_in", f);
  for (int i = 0; i < CLI_COMMANDS; i++)
    if (o->commands >> i & 1) fprintf(f, " %s", cli_commands[i].name);
  fprintf(f, "' -l %s", o->name);
  if (o->letter) fprintf(f, " -s %c", o->letter);
  fish_value(f, o);
  fputs(" -d '", f);
  put_summary(f, o->help, "\\");
  fputs("'\n", f);
}

static void complete_fish(FILE *f) {
  fputs(fish_head, f);
  for (int i = 0; i < CLI_COMMANDS; i++) {
    const cli_command *c = &cli_commands[i];
    fprintf(f,
            "complete -c tkdbg -f -n '__tkdbg_first; or __tkdbg_in help' "
            "-a %s -d '",
            c->name);
    put_summary(f, c->summary, "\\");
    fputs("'\n", f);
  }
  for (int i = 0; i < CLI_OPTIONS; i++) fish_option(f, &cli_options[i]);
}

void cli_completion(FILE *f, const char *shell) {
  if (!strcmp(shell, "zsh"))
    complete_zsh(f);
  else if (!strcmp(shell, "fish"))
    complete_fish(f);
  else
    complete_bash(f);
}
