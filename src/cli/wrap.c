/* wrap.c - text in lines of a terminal's width. */
#include <string.h>

#include "help.h"

enum { WIDTH = 78 };

void cli_wrap(FILE *f, const char *text, int indent, int column) {
  const char *space = "";
  while (*text) {
    int n = (int)strcspn(text, " \n");
    if (*space && column + 1 + n > WIDTH) {
      fprintf(f, "\n%*s", indent, "");
      column = indent;
      space = "";
    }
    column += fprintf(f, "%s%.*s", space, n, text);
    text += n;
    space = " ";
    if (!strncmp(text, "\n\n", 2)) {
      fprintf(f, "\n\n%*s", indent, "");
      column = indent;
      space = "";
    }
    text += strspn(text, " \n");
  }
  putc('\n', f);
}
