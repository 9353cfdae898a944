/* man.c - the manual page, in the man macros of roff. */
#include "help.h"

#include <ctype.h>
#include <string.h>

/* The first n bytes of s, with what roff would take as its own escaped. */
static void text_n(FILE *f, const char *s, size_t n) {
  if (n && (*s == '.' || *s == '\'')) fputs("\\&", f);
  for (size_t i = 0; i < n; i++) {
    switch (s[i]) {
    case '-': fputs("\\-", f); break;
    case '\'': fputs("\\(aq", f); break;
    case '\\': fputs("\\e", f); break;
    default: putc(s[i], f);
    }
  }
}

static void text(FILE *f, const char *s) {
  text_n(f, s, strlen(s));
}

/* Paragraphs, separated in s by empty lines. */
static void paragraphs(FILE *f, const char *s) {
  while (*s) {
    const char *end = strstr(s, "\n\n");
    size_t n = end ? (size_t)(end - s) : strlen(s);
    fputs(".PP\n", f);
    text_n(f, s, n);
    putc('\n', f);
    s += n + (end ? 2 : 0);
  }
}

static void heading(FILE *f, const char *s) {
  fputs(".SH ", f);
  for (; *s; s++) putc(*s == ' ' ? ' ' : toupper((unsigned char)*s), f);
  putc('\n', f);
}

static void commands(FILE *f) {
  heading(f, "commands");
  for (int i = 0; i < CLI_COMMANDS; i++) {
    const cli_command *c = &cli_commands[i];
    fprintf(f, ".SS \"tkdbg %s [OPTIONS]%s%s\"\n", c->name,
            *c->operands ? " " : "", c->operands);
    paragraphs(f, c->text);
  }
}

static void option_commands(FILE *f, const cli_option *o) {
  const char *before = "Commands:";
  if (o->commands == IN_ALL) return;
  for (int i = 0; i < CLI_COMMANDS; i++) {
    if (!(o->commands >> i & 1)) continue;
    fprintf(f, "%s %s", before, cli_commands[i].name);
    before = ",";
  }
  fputs(".\n", f);
}

static void options(FILE *f) {
  heading(f, "options");
  for (int i = 0; i < CLI_OPTIONS; i++) {
    const cli_option *o = &cli_options[i];
    fputs(".TP\n.B ", f);
    if (o->letter) fprintf(f, "\\-%c, ", o->letter);
    fputs("\\-\\-", f);
    text(f, o->name);
    if (*o->arg) fprintf(f, " \\fI%s\\fR", o->arg);
    putc('\n', f);
    text(f, o->help);
    fputs(".\n", f);
    option_commands(f, o);
  }
}

static void section(FILE *f, int id) {
  heading(f, cli_sections[id].title);
  text(f, cli_sections[id].intro);
  if (*cli_sections[id].intro) putc('\n', f);
  for (size_t i = 0; i < cli_topic_count; i++) {
    if (cli_topics[i].section != id) continue;
    fputs(".TP\n.B ", f);
    text(f, cli_topics[i].term);
    putc('\n', f);
    text(f, cli_topics[i].text);
    fputs(".\n", f);
  }
}

void cli_man(FILE *f) {
  fputs(".TH TKDBG 1 \"\" \"tkdbg " TK_VERSION "\" \"User Commands\"\n"
        ".SH NAME\n"
        "tkdbg \\- run and debug kernels written in the Triton language\n"
        ".SH SYNOPSIS\n.B tkdbg\n.I COMMAND\n[OPTIONS] ...\n"
        ".SH DESCRIPTION\n"
        "tkdbg runs kernels written in the Triton language on the CPU,\n"
        "without a GPU, and says what is wrong with them.\n",
        f);
  commands(f);
  options(f);
  for (size_t i = 0; i < cli_section_count; i++) section(f, (int)i);
  fputs(".SH SEE ALSO\n.BR python3 (1)\n", f);
}
