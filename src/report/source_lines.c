/* source_lines.c - the lines of source that a value came from, each with the
 * value that it gave.
 *
 * The steps of an explanation are gathered by line.  When there are more lines
 * than may be shown, those that say least are left out; how much a line says
 * is its weight.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "report/report.h"

/* Columns of a line of source, and of the note beside it. */
enum { SOURCE = 46, NOTE = 44 };

/* A line of source and what the note beside it says. */
typedef struct source_line {
  tk_place place;
  const tk_step *step;   /* the first value of the line; NULL for the store */
  const tk_step *memory; /* its first access to memory, or NULL */
  int weight;            /* the lightest lines are left out first */
} source_line;

typedef struct source_lines {
  source_line items[64];
  size_t n;
} source_lines;

static int weight_of(const tk_step *s) {
  if (s->memory != TK_MEMORY_NONE) return 4;
  if (s->kind == TK_STEP_LOOP || s->kind == TK_STEP_READS) return 4;
  if (s->role == TK_ROLE_MASK || s->role == TK_ROLE_CONDITION) return 3;
  return s->name ? 2 : 1;
}

static bool is_same_line(const tk_place *a, const tk_place *b) {
  return a->line == b->line && !strcmp(a->file, b->file);
}

/* The line of a place, which is added if it is not there yet; NULL if there is
 * no room for another.  Lines are kept in the order of the file. */
static source_line *line_at_place(source_lines *x, const tk_place *p) {
  for (size_t i = 0; i < x->n; i++)
    if (is_same_line(&x->items[i].place, p)) return &x->items[i];
  if (x->n == TK_COUNT(x->items)) return NULL;
  size_t k = x->n++;
  for (; k && x->items[k - 1].place.line > p->line; k--)
    x->items[k] = x->items[k - 1];
  x->items[k] = (source_line){.place = *p};
  return &x->items[k];
}

/* Whether a line of source has code on it. */
static bool has_code(const char *text, size_t n) {
  while (n && (*text == ' ' || *text == '\t')) text++, n--;
  return n && !strchr("#\r\n", *text);
}

/* Adds the lines of a stretch of source.  A line that is there already keeps
 * its weight if that is larger. */
static void add_lines_of(source_lines *x, const tk_place *p, int weight) {
  tk_place line = *p;
  for (; line.line <= p->end_line; line.line++) {
    line.text_length = strcspn(line.text, "\r\n");
    source_line *l =
        has_code(line.text, line.text_length) ? line_at_place(x, &line) : NULL;
    if (l && l->weight < weight) l->weight = weight;
    line.text += strcspn(line.text, "\n");
    if (!*line.text++) return;
  }
}

static void gather_lines(source_lines *x, const tk_explanation *why) {
  source_line *store = why->place.file ? line_at_place(x, &why->place) : NULL;
  /* The depth of the mask whose operands are being visited. */
  int mask = INT_MAX;
  if (store) store->weight = 5;
  for (size_t i = 0; i < why->nsteps; i++) {
    const tk_step *s = &why->steps[i];
    source_line *loop = s->loop.file ? line_at_place(x, &s->loop) : NULL;
    if (loop && !loop->weight) loop->weight = 3;
    if (s->combined.file) add_lines_of(x, &s->combined, 3);
    source_line *address =
        s->address.file ? line_at_place(x, &s->address) : NULL;
    if (address && address->weight < 3) address->weight = 3;
    bool shown = !s->constant || s->name || s->role == TK_ROLE_BEFORE_LOOP;
    source_line *line =
        s->place.file && shown ? line_at_place(x, &s->place) : NULL;
    if (!line || s->kind == TK_STEP_AGAIN) continue;
    /* The store's own line shows what is stored, not how its mask came
     * about. */
    if (s->role == TK_ROLE_MASK) mask = s->depth;
    if (s->depth < mask) mask = INT_MAX;
    if (s->depth >= mask && !s->name && is_same_line(&s->place, &why->place))
      continue;
    if (!line->step || (!line->step->name && s->name)) line->step = s;
    if (!line->memory && s->memory != TK_MEMORY_NONE) line->memory = s;
    if (weight_of(s) > line->weight) line->weight = weight_of(s);
  }
}

/* Drops the lightest lines; among equals, the first. */
static void drop_lines(source_lines *x, size_t most) {
  while (x->n > most) {
    size_t least = 0;
    for (size_t i = 1; i < x->n; i++)
      if (x->items[i].weight < x->items[least].weight) least = i;
    memmove(&x->items[least], &x->items[least + 1],
            (--x->n - least) * sizeof x->items[0]);
  }
}

static void put_value_of(tk_buf *out, const tk_step *s) {
  if (!s->value.text) return;
  if (s->name) {
    tk_buf_puts(out, s->name);
    tk_buf_index(out, s->lane, s->lane_rank);
    tk_buf_puts(out, " = ");
  }
  tk_buf_puts(out, s->value.text);
  if (s->kind == TK_STEP_LOOP)
    tk_buf_printf(out, ", trips %" PRIu64 "..%" PRIu64, s->trip, s->last_trip);
}

static void put_note(tk_buf *out, const source_line *l) {
  if (l->step && l->step->kind == TK_STEP_READS)
    tk_report_reads(out, l->step);
  else if (l->step)
    put_value_of(out, l->step);
  if (!l->memory) return;
  switch (l->memory->memory) {
  case TK_MEMORY_OTHER: tk_buf_puts(out, ", masked off: other="); break;
  case TK_MEMORY_UNDEFINED: tk_buf_puts(out, ", masked off: undefined"); break;
  case TK_MEMORY_NONE: break;
  default:
    if (l->memory->element.text)
      tk_buf_printf(out, " of %s", l->memory->element.text);
    break;
  }
}

static void put_source_line(tk_buf *out, const source_line *l) {
  size_t start = out->n;
  tk_buf_printf(out, "  %5d | ", l->place.line);
  tk_report_source(out, &l->place, SOURCE);
  size_t wide = out->n - start, column = 10 + SOURCE + 1;
  size_t note = out->n;
  if (wide < column) tk_buf_pad(out, ' ', column - wide);
  size_t text = out->n;
  put_note(out, l);
  if (out->n == text) out->n = note; /* no note, hence no padding */
  if (out->n > text + NOTE) {
    out->n = text + NOTE - strlen("...");
    tk_buf_puts(out, "...");
  }
  tk_buf_putc(out, '\n');
}

/* The line of the program that the next lines were made of. */
static void put_origin(tk_buf *out, const char *before, const char *origin) {
  if (origin && (!before || strcmp(before, origin) != 0))
    tk_buf_printf(out, "        | of %s\n", origin);
}

void tk_report_source_lines(tk_buf *out, const tk_explanation *why,
                            size_t most) {
  source_lines x = {.n = 0};
  if (!why->nsteps) return;
  gather_lines(&x, why);
  drop_lines(&x, most);
  for (size_t i = 0; i < x.n; i++) {
    put_origin(out, i ? x.items[i - 1].place.origin : NULL,
               x.items[i].place.origin);
    put_source_line(out, &x.items[i]);
  }
}
