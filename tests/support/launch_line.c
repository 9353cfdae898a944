/* launch_line.c - see launch_line.h. */
#include "support/launch_line.h"

#include <stdio.h>
#include <string.h>

void put_kernel(char *text, const char *launch, const char *body) {
  strcat(text, "@triton.jit\ndef k(");
  const char *p = strchr(launch, ' ');
  for (int first = 1; p; first = 0, p = strchr(p, ' ')) {
    size_t n = strcspn(++p, "=");
    if (!first) strcat(text, ", ");
    strncat(text, p, n);
    if (p[0] >= 'A' && p[0] <= 'Z') strcat(text, ": tl.constexpr");
  }
  strcat(strcat(text, "):\n"), body);
}

tk_status give_args(tk_launch *l, const char *launch) {
  char copy[4096], *save = NULL;
  snprintf(copy, sizeof copy, "%s", launch);
  tk_status st = tk_launch_grid_text(l, strtok_r(copy, " ", &save));
  for (char *a; st == TK_OK && (a = strtok_r(NULL, " ", &save));)
    st = tk_launch_arg_text(l, a);
  return st;
}
