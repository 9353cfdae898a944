/* args.c - what a command line says, once it has been parsed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* ---- options ------------------------------------------------------------- */

int cli_find_option(const cli_args *a, const char *name) {
  int other = -1;
  for (int i = 0; i < CLI_OPTIONS; i++) {
    if (strcmp(cli_options[i].name, name)) continue;
    if (cli_options[i].commands >> a->command & 1) return i;
    if (other < 0) other = i;
  }
  return other;
}

bool cli_has(const cli_args *a, cli_option_id id) {
  CLI_ASSERT(id < CLI_OPTIONS);
  return a->given[id];
}

const char *cli_value(const cli_args *a, cli_option_id id) {
  CLI_ASSERT(cli_options[id].kind != TK_OPTION_FLAG);
  const char *value = NULL;
  for (size_t i = 0; i < a->nuses; i++)
    if (a->uses[i].id == id) value = a->uses[i].value;
  return value;
}

char *cli_joined(const cli_args *a, cli_option_id id) {
  CLI_ASSERT(cli_options[id].kind == TK_OPTION_LIST);
  char *text = cli_format("%s", "");
  for (size_t i = 0; i < a->nuses; i++) {
    if (a->uses[i].id != id) continue;
    char *longer = cli_format("%s%s\n", text, a->uses[i].value);
    free(text);
    text = longer;
  }
  return text;
}

/* ---- what they mean ------------------------------------------------------ */

bool cli_is_ptx(const cli_args *a) {
  const char *dot = a->nwords ? strrchr(a->words[0], '.') : NULL;
  return a->command == CLI_RUN && dot && !strcmp(dot, ".ptx");
}

bool cli_is_direct(const cli_args *a) {
  return cli_has(a, OPT_GRID) || cli_has(a, OPT_ARG) || cli_is_ptx(a);
}

/* Whether a file begins like a launch file: with the length of a header, in
 * eight bytes of which the last are 0.  No source text begins like that. */
static bool has_header(const char *path) {
  struct stat is;
  unsigned char head[9];
  FILE *f = !stat(path, &is) && S_ISREG(is.st_mode) ? fopen(path, "rb") : NULL;
  if (!f) return false;
  bool whole = fread(head, 1, sizeof head, f) == sizeof head;
  fclose(f);
  return whole && !head[6] && !head[7] && head[8] == '{';
}

bool cli_is_launch_file(const char *path) {
  static const char end[] = ".safetensors";
  size_t n = strlen(path), k = sizeof end - 1;
  return (n > k && !strcmp(path + n - k, end)) || has_header(path);
}

bool cli_takes_script(const cli_args *a) {
  return IN_SCRIPT >> a->command & 1;
}

bool cli_is_check_help(const cli_args *a) {
  const char *list = cli_value(a, OPT_CHECK);
  return list && !strcmp(list, "help");
}

bool cli_colour(const cli_args *a, int fd) {
  const char *when = cli_value(a, OPT_COLOR);
  if (when && strcmp(when, "auto") != 0) return !strcmp(when, "always");
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no && *no) return false;
  return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

/* FILE without its folder and ending, with .html. */
char *cli_page_path(const cli_args *a) {
  const char *given = cli_value(a, OPT_OUTPUT);
  if (given) return cli_format("%s", given);
  const char *slash = strrchr(a->words[0], '/');
  const char *name = slash ? slash + 1 : a->words[0];
  const char *dot = strrchr(name, '.');
  if (*name == '-') name = "tkdbg-view", dot = NULL; /* -c, -m, - */
  int n = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
  return cli_format("%.*s.html", n, name);
}
