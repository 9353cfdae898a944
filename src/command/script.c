/* script.c - the command lines of points. */
#include "command/script.h"

#include <string.h>

#include "command/input.h"

static tkt_script *find_script(const tkt *d, int point) {
  tkt_script *x = d->scripts;
  while (x && x->point != point) x = x->next;
  return x;
}

const char *tkt_script_of(const tkt *d, int point) {
  const tkt_script *x = find_script(d, point);
  return x ? x->lines : NULL;
}

void tkt_set_script(tkt *d, int point, const char *lines) {
  tkt_script *x = find_script(d, point);
  if (!x) {
    x = tk_calloc(d->env, 1, sizeof *x);
    x->point = point;
    x->next = d->scripts;
    d->scripts = x;
  }
  tk_text_set(d->env, &x->lines, lines);
}

/* The lines after a first line 'silent', or all lines if there is no such
 * line. */
static const char *behind_silent(const char *lines) {
  const char *word = lines + strspn(lines, " \t");
  size_t n = strcspn(word, "\n"), k = n;
  while (k && (word[k - 1] == ' ' || word[k - 1] == '\t')) k--;
  if (k != 6 || strncmp(word, "silent", k)) return lines;
  return word + n + (word[n] == '\n');
}

bool tkt_is_silent(const tkt *d, const tk_debug_stop *s) {
  const char *script = s->point ? tkt_script_of(d, s->point) : NULL;
  return script && behind_silent(script) != script;
}

void tkt_push_scripts(tkt *d, const tk_debug_stop *s) {
  tk_buf *lines = tk_temp_buf(&d->mem);
  for (size_t i = 0; i < s->nhit; i++) {
    const char *script = tkt_script_of(d, s->hit[i]);
    if (script) tk_buf_puts(lines, behind_silent(script));
  }
  tkt_push_lines(d, tk_buf_str(lines), NULL);
}
