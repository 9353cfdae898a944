/* matches.c - how a word can go on: what of it is certain, and a list. */
#include "repl/matches.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command/complete.h"

enum { GAP = 2 }; /* between two columns */

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add(tkt_matches *m, const char *name) {
  char **names = realloc(m->names, (m->n + 1) * sizeof *names);
  if (!names) return false;
  m->names = names;
  names[m->n] = strdup(name);
  return names[m->n] && ++m->n;
}

static void sort(tkt_matches *m) {
  size_t n = 0;
  if (!m->n) return;
  qsort(m->names, m->n, sizeof *m->names, by_name);
  for (size_t i = 1; i < m->n; i++)
    if (strcmp(m->names[n], m->names[i]))
      m->names[++n] = m->names[i];
    else
      free(m->names[i]);
  m->n = n + 1;
}

void tkt_matches_find(tkt_matches *m, const tkt_asker *asker,
                      const char *line) {
  const char *name, *word = line + strlen(line);
  while (word > line && !strchr(tkt_word_breaks, word[-1])) word--;
  *m = (tkt_matches){.typed = strlen(word)};
  for (size_t i = 0; (name = asker->match(asker->ud, line, i)); i++)
    if (!strncmp(name, word, m->typed) && !add(m, name)) break;
  sort(m);
}

void tkt_matches_free(tkt_matches *m) {
  for (size_t i = 0; i < m->n; i++) free(m->names[i]);
  free(m->names);
}

/* They are sorted: what the first and the last have in common, all have.  A
 * character of several bytes is not cut. */
size_t tkt_matches_common(const tkt_matches *m) {
  if (!m->n) return 0;
  const char *first = m->names[0], *last = m->names[m->n - 1];
  size_t k = m->typed;
  while (first[k] && first[k] == last[k]) k++;
  while (k > m->typed && (first[k] & 0xC0) == 0x80) k--;
  return k - m->typed;
}

/* What a name takes, if each of its characters takes a column. */
static int name_columns(const char *name) {
  int n = 0;
  for (; *name; name++) n += (*name & 0xC0) != 0x80;
  return n;
}

void tkt_matches_print(const tkt_matches *m, FILE *out, int width) {
  int widest = 0;
  for (size_t i = 0; i < m->n; i++)
    if (name_columns(m->names[i]) > widest) widest = name_columns(m->names[i]);
  int across = (width + GAP) / (widest + GAP);
  size_t each = across > 1 ? (size_t)across : 1;
  size_t rows = (m->n + each - 1) / each;
  for (size_t row = 0; row < rows; row++)
    for (size_t i = row; i < m->n; i += rows) {
      bool is_last = i + rows >= m->n;
      int pad = is_last ? 0 : widest + GAP - name_columns(m->names[i]);
      fprintf(out, "%s%*s%s", m->names[i], pad, "", is_last ? "\n" : "");
    }
}

int tkt_terminal_width(void) {
  struct winsize w;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 20)
    return w.ws_col;
  return 80;
}
