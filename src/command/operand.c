/* operand.c - what follows a command's name. */
#include "command/operand.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "command/say.h"

const char *tkt_word(tkt *d, const char **text) {
  *text += strspn(*text, " \t");
  size_t n = strcspn(*text, " \t");
  tk_buf_clear(&d->scratch);
  tk_buf_add(&d->scratch, *text, n);
  *text += n;
  *text += strspn(*text, " \t");
  return tk_buf_str(&d->scratch);
}

uint64_t tkt_number(tkt *d, const char *text, uint64_t missing) {
  char *end;
  if (!*text) return missing;
  unsigned long long v = strtoull(text, &end, 0);
  if (!isdigit((unsigned char)*text) || end[strspn(end, " \t")])
    tkt_fail(d, "A whole number was expected, not '%s'.", text);
  return v;
}

const tk_debug_stop *tkt_stand(tkt *d) {
  const tk_debug_stop *s;
  tkt_need(d, tk_debug_stand(d->e, &s));
  return s;
}

/* "3", "3,1" or "(3, 1, 0)" as an index in the grid. */
uint64_t tkt_program_index(tkt *d, const char *text) {
  int64_t pid[3] = {0, 0, 0}, grid[3];
  const char *s = text + strspn(text, "( ");
  memcpy(grid, tkt_stand(d)->grid, sizeof grid);
  for (int i = 0; i < 3; i++) {
    char *end;
    pid[i] = strtoll(s, &end, 10);
    if (end == s) tkt_fail(d, "A program was expected: X, X,Y or X,Y,Z.");
    s = end + strspn(end, " ");
    if (*s != ',') break;
    s++;
  }
  if (s[strspn(s, ") ")])
    tkt_fail(d, "A program was expected: X, X,Y or X,Y,Z, not '%s'.", text);
  for (int i = 0; i < 3; i++)
    if (pid[i] < 0 || pid[i] >= grid[i])
      tkt_fail(d, "Axis %d of the grid has %lld program%s: there is no %lld.",
               i, (long long)grid[i], grid[i] == 1 ? "" : "s",
               (long long)pid[i]);
  return (uint64_t)(pid[0] + grid[0] * (pid[1] + grid[1] * pid[2]));
}

const char *tkt_svg_file(tkt *d, const char **text) {
  const char *svg = strstr(*text, "--svg"), *file;
  if (!svg || (svg[5] && svg[5] != ' ')) return NULL;
  size_t n = (size_t)(svg - *text);
  while (n && (*text)[n - 1] == ' ') n--;
  *text = tk_temp(&d->mem, *text, n);
  file = svg + 5 + strspn(svg + 5, " ");
  if (!*file) tkt_fail(d, "No file is named: --svg FILE writes to FILE.");
  return file;
}

void tkt_write_svg(tkt *d, const char *file, const tk_buf *svg) {
  int error = tk_outfile_save(file, svg->s, svg->n);
  if (error) tkt_fail(d, "Cannot write %s: %s.", file, strerror(error));
  tkt_say(d, "Written to %s\n", file);
}
