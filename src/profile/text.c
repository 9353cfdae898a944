/* text.c - a profile as a table for a terminal.
 *
 * Lines that took next to no time are left out, and so are operations; the
 * other writers have all of them.
 */
#include <string.h>

#include "profile/profile.h"

/* Parts of the whole time below which a line, an operation is not shown, and
 * the system's pauses are not. */
static const double LEAST_LINE = 0.002, LEAST_OP = 0.01, LEAST_PAUSE = 0.01;

typedef struct table {
  tk_buf *out;
  const tk_profile_data *d;
  double whole; /* seconds */
  bool colour;
  tk_buf cell;
} table;

/* Bytes that continue a character are not counted. */
static size_t width_of(const char *s) {
  size_t n = 0;
  for (; *s; s++) n += (*s & 0xC0) != 0x80;
  return n;
}

/* Puts the cell to the right of a column, and empties it. */
static void put_cell(table *t, size_t width) {
  const char *s = tk_buf_str(&t->cell);
  size_t n = width_of(s);
  tk_buf_pad(t->out, ' ', n < width ? width - n : 1);
  tk_buf_puts(t->out, s);
  tk_buf_clear(&t->cell);
}

static void put_style(const table *t, const char *codes) {
  if (t->colour) tk_buf_printf(t->out, "\033[%sm", codes);
}

/* Time, part of the whole, calls, and what moves and computes. */
static void table_columns(table *t, const tk_profile_counts *c) {
  double reached = tk_profile_reached(c, &t->d->ceilings);
  double bytes = (double)(c->read + c->written);
  tkf_put_seconds(&t->cell, c->seconds), put_cell(t, 9);
  tk_buf_printf(&t->cell, "%.1f",
                t->whole > 0 ? 100 * c->seconds / t->whole : 0);
  put_cell(t, 6);
  if (c->calls) tkf_put_count(&t->cell, (double)c->calls);
  put_cell(t, 8);
  if (bytes > 0) tkf_put_bytes(&t->cell, bytes);
  put_cell(t, 9);
  if (c->lanes)
    tk_buf_printf(&t->cell, "%.1f", 100 * (double)c->off / (double)c->lanes);
  put_cell(t, 6);
  if (c->flops) tkf_put_count(&t->cell, (double)c->flops);
  put_cell(t, 7);
  if (c->flops && bytes > 0)
    tk_buf_printf(&t->cell, "%.2f", tk_profile_intensity(c));
  put_cell(t, 8);
  if (reached >= 0) tk_buf_printf(&t->cell, "%.1f", 100 * reached);
  put_cell(t, 7);
}

/* Whether there is something to say of how the interpreter did it. */
static bool has_way(const tk_profile_op *op) {
  return op->function || op->counts.lanes > op->counts.calls ||
         op->counts.known;
}

static void table_way(table *t, const tk_profile_op *op) {
  const tk_profile_counts *c = &op->counts;
  if (op->function) tk_buf_printf(t->out, " in tl.%s", op->function);
  if (c->lanes > c->calls)
    tk_buf_printf(t->out, c->rows == c->calls ? ", by rows"
                          : c->rows           ? ", partly by rows"
                                              : ", lane by lane");
  if (c->known)
    tk_buf_puts(t->out, c->known == c->blocks ? ", no lanes written"
                                              : ", lanes partly written");
}

static void table_line(table *t, const tk_profile_line *l) {
  put_style(t, l->counts.seconds >= 0.1 * t->whole ? "1" : "0");
  table_columns(t, &l->counts);
  tk_buf_printf(t->out, " %5d | %.*s\n", l->place.line,
                (int)l->place.text_length, l->place.text);
  put_style(t, "0;2");
  if (l->total > l->counts.seconds * 1.001) {
    tkf_put_seconds(&t->cell, l->total), put_cell(t, 9);
    tk_buf_puts(t->out, "  with the functions that it calls\n");
  }
  for (size_t i = 0; i < l->nops; i++) {
    const tk_profile_op *op = &l->ops[i];
    if (op->counts.seconds < LEAST_OP * t->whole) continue;
    if (l->nops == 1 && !has_way(op)) continue;
    table_columns(t, &op->counts);
    tk_buf_printf(t->out, "       |   %s %s", op->name, op->type);
    table_way(t, op);
    tk_buf_putc(t->out, '\n');
  }
  put_style(t, "0");
}

/* The line of the program that the next lines were made of. */
static void table_origin(table *t, const char *before, const char *origin) {
  if (!origin || (before && !strcmp(before, origin))) return;
  tk_buf_pad(t->out, ' ', 60);
  tk_buf_printf(t->out, "       | of %s\n", origin);
}

static void table_heading(table *t) {
  static const struct {
    const char *text;
    size_t width;
  } columns[] = {{"time", 9}, {"%", 6},     {"calls", 8},  {"moved", 9},
                 {"off%", 6}, {"flops", 7}, {"flop/B", 8}, {"roof%", 7}};
  for (size_t i = 0; i < TK_COUNT(columns); i++) {
    tk_buf_puts(&t->cell, columns[i].text);
    put_cell(t, columns[i].width);
  }
  tk_buf_puts(t->out, "  line\n");
}

static void put_counted(tk_buf *out, uint64_t n, const char *one,
                        const char *many) {
  tk_buf_printf(out, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

static void table_function(table *t, const tk_profile_function *f) {
  const char *before = NULL;
  size_t left = 0;
  double seconds = 0;
  tk_buf_printf(t->out, "\n%s (%s:%d): ", f->name, f->place.file,
                f->place.line);
  tkf_put_seconds(t->out, f->seconds);
  if (f->total > f->seconds * 1.001) {
    tk_buf_puts(t->out, ", with what it calls ");
    tkf_put_seconds(t->out, f->total);
  }
  tk_buf_puts(t->out, ", ");
  if (f->kernel) {
    put_counted(t->out, f->calls, "program", "programs");
    tk_buf_puts(t->out, " in ");
    put_counted(t->out, f->launches, "launch\n", "launches\n");
  } else {
    put_counted(t->out, f->calls, "call\n", "calls\n");
  }
  for (size_t i = 0; i < f->nremarks; i++)
    tk_buf_printf(t->out, "  %s\n", f->remarks[i]);
  table_heading(t);
  for (size_t i = 0; i < f->nlines; i++) {
    const tk_profile_line *l = &f->lines[i];
    if (l->total >= LEAST_LINE * t->whole) {
      table_origin(t, before, l->place.origin);
      before = l->place.origin;
      table_line(t, l);
      continue;
    }
    left++;
    seconds += l->counts.seconds;
  }
  if (!left) return;
  tkf_put_seconds(&t->cell, seconds), put_cell(t, 9);
  tk_buf_puts(t->out, "  in ");
  put_counted(t->out, left, "line more\n", "lines more\n");
}

static void put_pauses(tk_buf *out, const tk_profile_data *d) {
  if (d->paused < LEAST_PAUSE * d->seconds) return;
  tk_buf_puts(out, "interrupted by the system: ");
  tkf_put_seconds(out, d->paused);
  tk_buf_puts(out, ", which no line is charged for\n");
}

void tkf_write_text(tk_buf *out, const tk_profile_data *d, bool colour) {
  table t = {.out = out, .d = d, .colour = colour};
  t.whole = d->counts.seconds;
  tk_buf_puts(out, "profile of ");
  put_counted(out, d->launches, "launch", "launches");
  if (!d->launches) {
    tk_buf_puts(out, ": no kernel was launched\n");
    return;
  }
  tk_buf_init(&t.cell, out->env);
  tk_buf_puts(out, ", ");
  put_counted(out, d->programs, "program", "programs");
  tk_buf_puts(out, ": ");
  tkf_put_seconds(out, d->seconds);
  tk_buf_puts(out, ", of which ");
  tkf_put_seconds(out, t.whole);
  tk_buf_puts(out, " in ");
  put_counted(out, d->counts.calls, "operation\n", "operations\n");
  put_pauses(out, d);
  tk_buf_puts(out, "one core of this machine: ");
  tkf_put_bytes(out, d->ceilings.bandwidth);
  tk_buf_puts(out, "/s, ");
  tkf_put_speed(out, d->ceilings.flops);
  tk_buf_printf(out, " (%s)\n", d->ceilings.cpu);
  for (size_t i = 0; i < d->nfunctions; i++)
    table_function(&t, &d->functions[i]);
  tk_buf_free(&t.cell);
}
