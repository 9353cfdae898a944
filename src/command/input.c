/* input.c - command lines that wait: they run before the front end reads
 * more. */
#include "command/input.h"

#include <stdio.h>
#include <string.h>

#include "command/say.h"

void tkt_push_lines(tkt *d, const char *text, const char *file) {
  tkt_line **at = &d->lines;
  for (int number = 1; *text; number++) {
    size_t n = strcspn(text, "\n");
    size_t mark = d->mem.nheld;
    tkt_line *x = tk_held_new(&d->mem, sizeof *x);
    x->text = tk_held_text(&d->mem, tk_temp(&d->mem, text, n));
    if (file)
      x->origin = tk_held_text(
          &d->mem, tk_arena_printf(&d->mem.arena, "%s:%d", file, number));
    tk_held_keep(&d->mem, mark);
    x->next = *at;
    *at = x;
    at = &x->next;
    text += n + (text[n] == '\n');
  }
}

static void drop_line(tkt *d) {
  tkt_line *x = d->lines;
  TK_ASSERT(x);
  d->lines = x->next;
  tk_text_free(d->env, x->text);
  tk_text_free(d->env, x->origin);
  tk_free(d->env, x, sizeof *x);
}

static const char *pop_line(tkt *d) {
  tk_buf_clear(&d->input);
  tk_buf_puts(&d->input, d->lines->text);
  if (d->lines->origin) tk_buf_puts(&d->origin, d->lines->origin);
  drop_line(d);
  return tk_buf_str(&d->input);
}

static void drop_pushed_lines(tkt *d) {
  while (d->lines) drop_line(d);
}

/* Ctrl-C drops the lines that wait, because these may add themselves again and
 * again. */
const char *tkt_read(tkt *d, const char *prompt) {
  if (d->lines && d->env->interrupted) {
    drop_pushed_lines(d);
    tkt_say(d, "Interrupted.\n");
  }
  tk_buf_clear(&d->origin);
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
  while ((line = tkt_read(d, ">")) && (depth += tkt_body_depth(line)))
    tk_buf_printf(b, "%s\n", line);
  return (char *)tk_buf_str(b);
}
