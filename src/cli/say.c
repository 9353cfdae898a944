/* say.c - messages of the command itself, all on standard error. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#ifdef TK_ASSERTS
void cli_assert_failed(const char *file, int line, const char *condition) {
  fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  abort();
}
#endif

int cli_usage(const cli_args *a, const char *fmt, ...) {
  va_list ap;
  const char *name = a ? cli_commands[a->command].name : NULL;
  fprintf(stderr, "tkdbg%s%s: ", name ? " " : "", name ? name : "");
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fprintf(stderr, "\nTry 'tkdbg help%s%s'.\n", name ? " " : "",
          name ? name : "");
  return TK_USAGE;
}

bool cli_one_file(const cli_args *a) {
  if (a->nwords == 1) return true;
  if (a->nwords)
    cli_usage(a, "one FILE is expected, but '%s' follows '%s'", a->words[1],
              a->words[0]);
  else
    cli_usage(a, "no FILE is given");
  return false;
}

int cli_flush(int status) {
  bool lost = fflush(stdout) != 0 || ferror(stdout);
  if (!lost) return status;
  fprintf(stderr, "tkdbg: cannot write to standard output: %s\n",
          strerror(errno));
  clearerr(stdout);
  return status == TK_OK ? TK_USAGE : status;
}

char *cli_read_rest(FILE *f) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  for (int c; f && to && (c = getc(f)) != EOF;) putc(c, to);
  if (to) fclose(to);
  return text;
}

void cli_no_memory(void) {
  fputs("tkdbg: out of memory\n", stderr);
  exit(TK_INTERNAL);
}

char *cli_format(const char *fmt, ...) {
  va_list ap;
  char *s;
  va_start(ap, fmt);
  int n = vasprintf(&s, fmt, ap);
  va_end(ap);
  if (n < 0) cli_no_memory();
  return s;
}

static int min3(int a, int b, int c) {
  int m = a < b ? a : b;
  return m < c ? m : c;
}

/* Returns the edit distance of two short words; a long word counts as far from
 * every other. */
static int distance(const char *a, const char *b) {
  enum { MAX = 32 };
  int row[MAX + 1];
  size_t n = strlen(a), m = strlen(b);
  if (n > MAX || m > MAX) return MAX;
  for (size_t j = 0; j <= m; j++) row[j] = (int)j;
  for (size_t i = 1; i <= n; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= m; j++) {
      int change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = min3(change, row[j] + 1, row[j - 1] + 1);
    }
  }
  return row[m];
}

const char *cli_nearest(const char *name, const char *(*next)(size_t i)) {
  const char *best = NULL, *s;
  int least = (int)strlen(name) / 3 + 2;
  for (size_t i = 0; (s = next(i)); i++) {
    int d = distance(name, s);
    if (d < least) best = s, least = d;
  }
  return best;
}

void cli_json_string(FILE *f, const char *s) {
  putc('"', f);
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      fprintf(f, "\\%c", c);
    else if (c < 0x20)
      fprintf(f, "\\u%04x", c);
    else
      putc(c, f);
  }
  putc('"', f);
}
