/* explanation.c - where a value came from, as a tree of lines.
 *
 * Each step is a line that is indented by its depth.  The place of a step is
 * named where it differs from that of the step above it.  A line that is too
 * long is folded at a blank.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report.h"

/* The deepest indentation in steps, the columns of a line, and the bytes of
 * source that are shown. */
enum { DEEPEST = 14, WIDTH = 80, TEXT = 48 };

typedef struct writer {
  const tk_explanation *x;
  tk_buf *out;
  int indent;
} writer;

/* ---- pieces -------------------------------------------------------------- */

/* What stands for a value: its name and lane, "acc[3, 5]", or else the
 * expression that gave it. */
static void put_label(tk_buf *out, const tk_step *s) {
  const char *expression = s->source ? s->source : "";
  tk_buf_puts(out, s->name ? s->name : expression);
  if (s->name) tk_buf_index(out, s->lane, s->lane_rank);
}

static void put_role(tk_buf *out, tk_step_role role) {
  static const char *const words[] = {
      [TK_ROLE_OPERAND] = "",
      [TK_ROLE_MASK] = "mask: ",
      [TK_ROLE_OTHER] = "other: ",
      [TK_ROLE_INDEX] = "index: ",
      [TK_ROLE_ADDRESS] = "address: ",
      [TK_ROLE_ATOMIC_OPERAND] = "operand: ",
      [TK_ROLE_STORED] = "stored before: ",
      [TK_ROLE_CONDITION] = "as ",
      [TK_ROLE_CHOSEN] = "takes ",
      [TK_ROLE_BEFORE_LOOP] = "before the loop: ",
      [TK_ROLE_FIRST_TERM] = "the first: ",
      [TK_ROLE_ODD_TERM] = "the first that is not finite: ",
  };
  TK_ASSERT(role <= TK_ROLE_ODD_TERM);
  tk_buf_puts(out, words[role]);
}

static void put_memory(tk_buf *out, const tk_step *s) {
  switch (s->memory) {
  case TK_MEMORY_NONE: break;
  case TK_MEMORY_READ: tk_buf_puts(out, s->element.text); break;
  case TK_MEMORY_READ_MASKED:
    tk_buf_printf(out, "%s, mask true", s->element.text);
    break;
  case TK_MEMORY_OTHER: tk_buf_puts(out, "masked off, so other="); break;
  case TK_MEMORY_UNDEFINED:
    tk_buf_puts(out, "masked off, no other: undefined");
    break;
  case TK_MEMORY_HELD:
    tk_buf_printf(out, "what %s held", s->element.text);
    break;
  }
}

/* What follows a value: how the instruction came to it. */
static void put_how(tk_buf *out, const tk_step *s) {
  if (s->memory != TK_MEMORY_NONE) {
    tk_buf_puts(out, ": ");
    put_memory(out, s);
    return;
  }
  if (s->name) tk_buf_printf(out, ": %s", s->source);
  if (s->sign)
    tk_buf_printf(out, "%s%s %s %s", s->name ? ", " : ": ", s->sides[0].text,
                  s->sign, s->sides[1].text);
}

static void put_place(const writer *w, const tk_step *s) {
  const tk_step *up = s->parent >= 0 ? &w->x->steps[s->parent] : NULL;
  int scope = up ? up->scope : w->x->scope;
  int line = up ? up->place.line : w->x->place.line;
  if (s->scope != scope || s->place.line != line)
    tk_buf_printf(w->out, ", line %d", s->place.line);
  if (s->scope != scope && !s->in_kernel)
    tk_buf_printf(w->out, " in %s", s->function);
  if (s->library) tk_buf_printf(w->out, " (tl.%s)", s->library);
}

/* ---- kinds of lines ------------------------------------------------------ */

static void put_count(tk_buf *out, const tk_step *s) {
  if (s->picked_of) {
    tk_buf_printf(out, ", the %s of %" PRIu64 ", lane ",
                  s->picked_smallest ? "smallest" : "largest", s->picked_of);
    tk_buf_index(out, s->picked, s->picked_rank);
  }
  if (s->count < 2) return;
  tk_buf_printf(out, ", %" PRIu64 " %s", s->count,
                !strcmp(s->operation, "dot")         ? "products"
                : !strcmp(s->operation, "histogram") ? "lanes counted"
                                                     : "lanes");
}

/* "acc[3] = 0.5: acc + x, line 19".  A constant that stands for masked lanes
 * has its value alone. */
static void put_value(const writer *w, const tk_step *s) {
  if (!s->constant || s->role != TK_ROLE_OTHER) {
    put_label(w->out, s);
    tk_buf_puts(w->out, " = ");
  }
  tk_buf_puts(w->out, s->value.text);
  put_how(w->out, s);
  put_place(w, s);
  put_count(w->out, s);
}

static void put_loop(const writer *w, const tk_step *s) {
  put_label(w->out, s);
  tk_buf_printf(w->out, " = %s", s->value.text);
  put_how(w->out, s);
  put_place(w, s);
  tk_buf_puts(w->out, ", ");
  if (s->nested) tk_buf_printf(w->out, "%" PRIu64 " times in ", s->times);
  tk_buf_printf(w->out, "trips %" PRIu64 "..%" PRIu64 " of the loop at line %d",
                s->trip, s->last_trip, s->loop.line);
}

static void put_trips(tk_buf *out, const tk_step *s) {
  tk_buf_puts(out, "after each trip: ");
  for (size_t i = 0; i < s->nvalues; i++) {
    if (i) tk_buf_puts(out, i == 1 && s->from_start ? " -> " : ", ");
    if (s->skipped && i + 1 == s->nvalues) tk_buf_puts(out, "..., ");
    tk_buf_puts(out, s->values[i].text);
  }
}

static void put_term(tk_buf *out, const tk_step *s) {
  const char *between = s->product ? " * " : ", ";
  for (size_t i = 0; i < s->nfactors; i++)
    tk_buf_printf(out, "%s%s", i ? between : "", s->factors[i].text);
  tk_buf_puts(out, " = ");
  for (size_t i = 0; i < s->nfactors; i++)
    tk_buf_printf(out, "%s%s", i ? between : "", s->factors[i].value.text);
  if (s->product) tk_buf_printf(out, " = %s", s->value.text);
}

void tk_report_reads(tk_buf *out, const tk_step *s) {
  const tk_element *x = &s->element;
  uint64_t volume = 1;
  tk_buf_puts(out, "reads ");
  if (!s->has_element) {
    tk_buf_puts(out, "more than is listed");
    return;
  }
  if (!s->is_box) {
    tk_buf_puts(out, x->text);
    if (s->count > 1) tk_buf_printf(out, " and %" PRIu64 " more", s->count - 1);
    return;
  }
  for (int i = 0; i < x->rank; i++)
    volume *= (uint64_t)(s->last[i] - x->index[i] + 1);
  if (volume != s->count)
    tk_buf_printf(out, "%" PRIu64 " elements of ", s->count);
  tk_buf_puts(out, x->tensor);
  for (int i = 0; i < x->rank; i++) {
    tk_buf_printf(out, "%s%" PRId64, i ? ", " : "[", x->index[i]);
    if (s->last[i] != x->index[i]) tk_buf_printf(out, "..%" PRId64, s->last[i]);
  }
  if (x->rank) tk_buf_putc(out, ']');
}

static void put_written(tk_buf *out, const tk_step *s) {
  if (s->same_program)
    tk_buf_puts(out, "written by this program");
  else
    tk_buf_puts(out, "written by program "), tk_buf_program(out, s->program);
  tk_buf_printf(out, " at line %d: ", s->place.line);
  tk_report_source(out, &s->place, TEXT);
}

static void put_step(const writer *w, const tk_step *s) {
  tk_buf *out = w->out;
  switch (s->kind) {
  case TK_STEP_VALUE: put_value(w, s); break;
  case TK_STEP_ARGUMENT:
    put_label(out, s);
    tk_buf_printf(out, " = %s, an argument", s->value.text);
    break;
  case TK_STEP_LOOP_VARIABLE:
    put_label(out, s);
    tk_buf_printf(out, " = %s, trip %" PRIu64 " of the loop at line %d",
                  s->value.text, s->trip, s->loop.line);
    break;
  case TK_STEP_LOOP: put_loop(w, s); break;
  case TK_STEP_TRIPS: put_trips(out, s); break;
  case TK_STEP_AGAIN:
    put_label(out, s);
    tk_buf_printf(out, " = %s, see above", s->value.text);
    break;
  case TK_STEP_CARRIED:
    put_label(out, s);
    tk_buf_printf(out, " = %s, after trip %" PRIu64, s->value.text, s->trip);
    break;
  case TK_STEP_TERM: put_term(out, s); break;
  case TK_STEP_MORE:
    tk_buf_printf(out, "and %" PRIu64 " more", s->count);
    break;
  case TK_STEP_READS:
    tk_report_reads(out, s);
    if (s->has_element) tk_buf_printf(out, ", line %d", s->place.line);
    break;
  case TK_STEP_WRITTEN: put_written(out, s); break;
  case TK_STEP_HELD:
    tk_buf_printf(out, "%s held %s before", s->element.text, s->value.text);
    break;
  case TK_STEP_UNKNOWN:
    if (s->not_kept)
      tk_buf_printf(
          out, "its history is not kept: a trace holds %" PRIu64 " MiB at most",
          s->count);
    else
      tk_buf_puts(out, "where it came from is not known");
    break;
  }
}

/* ---- lines --------------------------------------------------------------- */

/* Where to break a line that is too long: at the last blank that fits, but not
 * within the first `least` bytes.  0 if there is no such blank. */
static size_t break_at(const tk_buf *out, size_t start, size_t least) {
  size_t at = start + WIDTH;
  while (at > start + least && out->s[at] != ' ') at--;
  return at > start + least ? at : 0;
}

/* Folds the line that begins at start.  What follows the first part is indented
 * by four columns more. */
static void fold_line(tk_buf *out, size_t start, size_t column) {
  size_t at;
  while (out->n - start > WIDTH &&
         (at = break_at(out, start, column + 16)) != 0) {
    size_t rest = out->n - at - 1;
    tk_buf_pad(out, ' ', column + 4); /* makes room for the indentation */
    memmove(out->s + at + 1 + column + 4, out->s + at + 1, rest);
    memset(out->s + at + 1, ' ', column + 4);
    out->s[at] = '\n';
    start = at + 1;
  }
  tk_buf_putc(out, '\n');
}

void tk_report_steps(tk_buf *out, const tk_explanation *x, int indent) {
  writer w = {x, out, indent};
  for (size_t i = 0; i < x->nsteps; i++) {
    const tk_step *s = &x->steps[i];
    int depth = s->depth < DEEPEST ? s->depth : DEEPEST;
    size_t start = out->n, column = (size_t)(indent + 2 * depth);
    tk_buf_pad(out, ' ', column);
    put_role(out, s->role);
    put_step(&w, s);
    fold_line(out, start, column);
  }
  if (!x->cut) return;
  tk_buf_pad(out, ' ', (size_t)indent);
  tk_buf_puts(out, "... and more than is shown\n");
}

void tk_report_explanation(tk_buf *out, const tk_explanation *x) {
  tk_report_blame(out, &x->blame);
  if (!x->nsteps && !x->why) return;
  tk_buf_puts(out, "  the last write, and what its value was made of\n");
  if (x->why) tk_buf_printf(out, "    %s\n", x->why);
  tk_report_steps(out, x, 4);
}
