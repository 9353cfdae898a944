/* input.c - lines that wait, before those that the front end reads. */
#include "command/input.h"

#include <stdio.h>
#include <string.h>

#include "command/say.h"

void tkt_push_lines(tkt *d, const char *text) {
  tkt_line **at = &d->lines;
  while (*text) {
    size_t n = strcspn(text, "\n");
    size_t mark = d->mem.nheld;
    tkt_line *x = tk_held_new(&d->mem, sizeof *x);
    x->text = tk_held_text(&d->mem, tk_temp(&d->mem, text, n));
    tk_held_keep(&d->mem, mark);
    x->next = *at;
    *at = x;
    at = &x->next;
    text += n + (text[n] == '\n');
  }
}

static const char *pop_line(tkt *d) {
  tkt_line *x = d->lines;
  TK_ASSERT(x);
  tk_buf_clear(&d->input);
  tk_buf_puts(&d->input, x->text);
  d->lines = x->next;
  tk_text_free(d->env, x->text);
  tk_free(d->env, x, sizeof *x);
  return tk_buf_str(&d->input);
}

void tkt_drop_lines(tkt *d) {
  while (d->lines) {
    tkt_line *x = d->lines;
    d->lines = x->next;
    tk_text_free(d->env, x->text);
    tk_free(d->env, x, sizeof *x);
  }
}

/* Ctrl-C drops the lines that wait: they may bring themselves back. */
const char *tkt_read(tkt *d, const char *prompt) {
  if (d->lines && d->env->interrupted) {
    tkt_drop_lines(d);
    tkt_say(d, "Interrupted.\n");
  }
  if (d->lines) return pop_line(d);
  tkt_flush(d);
  if (!d->opt.read) return NULL;
  const char *line = d->opt.read(d->opt.ud, prompt);
  if (line && d->transcript) fprintf(d->transcript, "%s%s\n", prompt, line);
  return line;
}

/* ---- bodies ------------------------------------------------------------ */

int tkt_body_depth(const char *line) {
  static const char *const names[] = {"define", "document", "commands"};
  const char *word = line + strspn(line, " \t");
  size_t n = strcspn(word, " \t\n");
  if (n == 3 && !strncmp(word, "end", 3)) return -1;
  for (size_t i = 0; i < TK_COUNT(names); i++)
    if (strlen(names[i]) == n && !strncmp(names[i], word, n)) return 1;
  return 0;
}

char *tkt_read_body(tkt *d) {
  tk_buf *b = tk_temp_buf(&d->mem);
  const char *line;
  int depth = 1;
  while ((line = tkt_read(d, ">")) && (depth += tkt_body_depth(line))) {
    const char *word = line + strspn(line, " \t");
    if (strcmp(word, "silent")) tk_buf_printf(b, "%s\n", line);
  }
  return (char *)tk_buf_str(b);
}
