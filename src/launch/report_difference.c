/* report_difference.c - how a tensor differs from what was expected, in words,
 * and the lines that its first wrong value came from.
 */
#include "report.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { SOURCE = 46, NOTE = 44 };

/* ---- what differs ---------------------------------------------------------
 */

static void put_index(tk_buf *out, const tk_difference *d,
                      const int64_t *index) {
  tk_buf_puts(out, d->tensor);
  for (int i = 0; i < d->rank; i++)
    tk_buf_printf(out, "%s%" PRId64, i ? ", " : "[", index[i]);
  if (d->rank) tk_buf_putc(out, ']');
}

static void put_where(tk_buf *out, const tk_difference *d) {
  if (d->wrong == d->total) {
    tk_buf_putc(out, '\n');
    return;
  }
  tk_buf_printf(out, ", %s%s[", d->exact ? "all of " : "within ", d->tensor);
  for (int i = 0; i < d->rank; i++) {
    if (i) tk_buf_puts(out, ", ");
    tk_report_ranges(out, d->ranges[i], d->nranges[i]);
  }
  tk_buf_puts(out, "]\n");
}

/* Where the wrong elements of each axis end, if the tensor ends there too. */
static void put_tail(tk_buf *out, const tk_difference *d) {
  for (int i = 0; i < d->rank && d->exact; i++) {
    const tk_range *r = d->ranges[i];
    if (d->nranges[i] != 1 || r->step != 1 || !r->first ||
        r->last + 1 != d->shape[i])
      continue;
    tk_buf_printf(out,
                  "  only the tail is wrong: axis %d is right up to %" PRId64
                  " of %" PRId64 "\n",
                  i, r->first, d->shape[i]);
  }
}

static void put_unwritten(tk_buf *out, const tk_difference *d) {
  if (d->unwritten && d->unwritten < d->wrong)
    tk_buf_printf(out, "  no program wrote %" PRIu64 " of them\n",
                  d->unwritten);
}

static void put_programs(tk_buf *out, const tk_difference *d) {
  if (!d->wrong_programs || d->programs < 2) return;
  if (d->wrong_programs == d->programs) {
    tk_buf_printf(out, "  written by all %" PRIu64 " programs", d->programs);
  } else {
    tk_buf_printf(out, "  written by %" PRIu64 " of the %" PRIu64 " programs",
                  d->wrong_programs, d->programs);
    tk_buf_puts(out, d->programs_exact ? ": (" : ", within (");
    for (int i = 0; i < 3; i++) {
      if (i) tk_buf_puts(out, ", ");
      tk_report_ranges(out, d->program_ranges[i], d->nprogram_ranges[i]);
    }
    tk_buf_putc(out, ')');
  }
  tk_buf_puts(out, d->programs_whole
                       ? ", and nothing that they wrote is right\n"
                       : "\n");
}

static const char *axis_word(const tk_difference *d, int axis) {
  if (d->rank == 1) return "element";
  if (d->rank == 2) return axis ? "column" : "row";
  return "index";
}

/* What is said of a pattern that has no numbers. */
static const char *const pattern_words[TK_PATTERN_KINDS] = {
    [TK_PATTERN_UNWRITTEN] = "no program wrote them",
    [TK_PATTERN_NOT_FINITE] = "they are NaN or infinite",
    [TK_PATTERN_TRANSPOSED] = "transposed: rows and columns are exchanged",
    [TK_PATTERN_TRUNCATED] = "their fractional part is missing",
    [TK_PATTERN_PERMUTED] = "the values are right, but in another order",
    [TK_PATTERN_ABOVE_DIAGONAL] = "only above the diagonal",
    [TK_PATTERN_BELOW_DIAGONAL] = "only below the diagonal",
    [TK_PATTERN_ON_DIAGONAL] = "only on the diagonal",
};

static void put_factor(tk_buf *out, const tk_pattern *p) {
  if (p->least < -0.999 && p->least > -1.001)
    tk_buf_puts(out, "their sign is wrong");
  else
    tk_buf_printf(out, "they are the expected values times %.5g", p->least);
}

/* Of a pattern that has numbers, those of `p`. */
static void put_measured(tk_buf *out, const tk_difference *d,
                         const tk_pattern *p) {
  const char *word = axis_word(d, p->axis);
  switch (p->kind) {
  case TK_PATTERN_CONSTANT:
    tk_buf_printf(out, "they all hold %s", d->first.found.text);
    break;
  case TK_PATTERN_SCALED: put_factor(out, p); break;
  case TK_PATTERN_OFFSET:
    tk_buf_printf(out, "they are the expected values %s %.6g",
                  p->least < 0 ? "minus" : "plus", fabs(p->least));
    break;
  case TK_PATTERN_REVERSED:
    tk_buf_printf(out, "reversed along axis %d", p->axis);
    break;
  case TK_PATTERN_SHIFTED:
    tk_buf_printf(out, "shifted: each %s holds what belongs %" PRId64 " %s it",
                  word, p->distance < 0 ? -p->distance : p->distance,
                  p->distance < 0 ? "before" : "after");
    break;
  case TK_PATTERN_REPEATED:
    tk_buf_printf(out, "repeated: each %s holds what belongs to %s %" PRId64,
                  word, word, p->distance);
    break;
  case TK_PATTERN_SCALED_ROWS:
    tk_buf_printf(out,
                  "each row is the expected one times a factor of its own, "
                  "%.4g to %.4g",
                  p->least, p->most);
    break;
  case TK_PATTERN_ROUNDED:
    tk_buf_printf(out,
                  "off by at most %.2g of the largest value: this looks like "
                  "rounding, such as to fp16, bf16 or tf32",
                  p->least);
    break;
  case TK_PATTERN_MAGNITUDE:
    tk_buf_printf(out, "half of them are more than %.3g times too %s",
                  p->least > 1 ? p->least : 1 / p->least,
                  p->least > 1 ? "large" : "small");
    break;
  default: break;
  }
}

static void put_pattern(tk_buf *out, const tk_difference *d,
                        const tk_pattern *p) {
  tk_buf_puts(out, "  ");
  if (pattern_words[p->kind])
    tk_buf_puts(out, pattern_words[p->kind]);
  else
    put_measured(out, d, p);
  tk_buf_putc(out, '\n');
}

static void put_mismatch(tk_buf *out, const tk_difference *d,
                         const tk_mismatch *m, const char *which) {
  tk_buf_printf(out, "  %s ", which);
  put_index(out, d, m->index);
  if (d->engine)
    tk_buf_printf(out, " is %s by '%s', %s by the interpreter", m->found.text,
                  d->engine, m->expected.text);
  else
    tk_buf_printf(out, " is %s, expected %s", m->found.text, m->expected.text);
  if (m->written)
    tk_buf_printf(
        out, ", by program (%" PRId64 ", %" PRId64 ", %" PRId64 ") at line %d",
        m->program[0], m->program[1], m->program[2], m->place.line);
  tk_buf_putc(out, '\n');
}

/* ---- the lines that a value came from --------------------------------------
 */

/* A line of the source, with what is to be said of it. */
typedef struct source_line {
  tk_place place;
  const tk_step *step; /* the first value of the line; NULL: the store */
  const tk_step *memory;
  int weight; /* which lines go first when there are too many: the lightest */
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

/* Adds the lines of a stretch of source; those of a kernel's own statements
 * have a value, and keep their weight. */
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
  int mask = INT_MAX; /* the depth of a mask whose operands these are */
  if (store) store->weight = 5;
  for (size_t i = 0; i < why->nsteps; i++) {
    const tk_step *s = &why->steps[i];
    source_line *loop = s->loop.file ? line_at_place(x, &s->loop) : NULL;
    if (loop && !loop->weight) loop->weight = 3;
    if (s->combined.file) add_lines_of(x, &s->combined, 3);
    source_line *address =
        s->address.file ? line_at_place(x, &s->address) : NULL;
    if (address && address->weight < 3) address->weight = 3;
    bool told = !s->constant || s->name || s->role == TK_ROLE_BEFORE_LOOP;
    source_line *line =
        s->place.file && told ? line_at_place(x, &s->place) : NULL;
    if (!line || s->kind == TK_STEP_AGAIN) continue;
    /* beside the store stands what it stores, not what its mask is */
    if (s->role == TK_ROLE_MASK) mask = s->depth;
    if (s->depth < mask) mask = INT_MAX;
    if (s->depth >= mask && !s->name && is_same_line(&s->place, &why->place))
      continue;
    if (!line->step || (!line->step->name && s->name)) line->step = s;
    if (!line->memory && s->memory != TK_MEMORY_NONE) line->memory = s;
    if (weight_of(s) > line->weight) line->weight = weight_of(s);
  }
}

/* Drops the lightest lines, of these the first. */
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
  tk_buf_printf(out, "%s", s->name ? s->name : "");
  for (int i = 0; s->name && i < s->lane_rank; i++)
    tk_buf_printf(out, "%s%" PRId64 "%s", i ? ", " : "[", s->lane[i],
                  i + 1 == s->lane_rank ? "]" : "");
  tk_buf_printf(out, "%s%s", s->name ? " = " : "", s->value.text);
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
  if (out->n == text) out->n = note; /* nothing to say */
  if (out->n > text + NOTE) {
    out->n = text + NOTE - strlen("...");
    tk_buf_puts(out, "...");
  }
  tk_buf_putc(out, '\n');
}

void tk_report_source_lines(tk_buf *out, const tk_explanation *why,
                            size_t most) {
  source_lines x = {.n = 0};
  if (!why->blame.nwrites) return;
  gather_lines(&x, why);
  drop_lines(&x, most);
  for (size_t i = 0; i < x.n; i++) put_source_line(out, &x.items[i]);
}

static void put_lines(tk_buf *out, const tk_difference *d, size_t most) {
  const tk_explanation *why = d->explanation;
  if (!why || !why->blame.nwrites) return;
  const int64_t *pid = why->blame.writes[0].program;
  tk_buf_printf(out,
                "  the lines that %s%s came from, in program (%" PRId64
                ", %" PRId64 ", %" PRId64 "):\n",
                d->explained_nearest ? "the nearest value, " : "",
                why->blame.element.text, pid[0], pid[1], pid[2]);
  tk_report_source_lines(out, why, most);
}

static void put_bound(tk_buf *out, const tk_difference *d) {
  tk_buf_printf(out, "    %s within ", d->wrong ? "the others are" : "that is");
  if (d->ulps) tk_buf_printf(out, "%" PRIu64 " ulp", d->ulps);
  if (d->ulps && (d->rtol > 0 || d->atol > 0)) tk_buf_puts(out, ", or ");
  if (!d->ulps || d->rtol > 0 || d->atol > 0)
    tk_buf_printf(out, "%.2g of the value plus %.2g", d->rtol, d->atol);
  tk_buf_puts(out, d->given ? ", as it was asked for\n"
                            : ", which rounding explains\n");
}

/* How two engines compare, in a line. */
static void put_engines(tk_buf *out, const tk_difference *d) {
  tk_buf_printf(out, "  %s: %" PRIu64 " element%s, ", d->tensor, d->total,
                d->total == 1 ? "" : "s");
  if (!d->unequal) {
    tk_buf_puts(out, "all bits agree\n");
    return;
  }
  tk_buf_printf(out,
                "%" PRIu64 " differ%s by at most %.3g (%.2g of the value, "
                "%" PRIu64 " ulp)\n",
                d->unequal, d->unequal == 1 ? "s" : "", d->absolute,
                d->relative, d->ulp);
  if (d->wrong < d->unequal) put_bound(out, d);
}

void tk_report_difference(tk_buf *out, const tk_difference *d, size_t most) {
  if (d->engine && (d->written || d->unequal)) put_engines(out, d);
  if (!d->wrong) return;
  tk_buf_printf(out, "%s differs from what %s in ", d->tensor,
                d->engine ? "the interpreter gives" : "is expected");
  if (d->total == 1)
    tk_buf_puts(out, "its only element");
  else if (d->wrong == d->total)
    tk_buf_printf(out, "all %" PRIu64 " elements", d->total);
  else
    tk_buf_printf(out, "%" PRIu64 " of %" PRIu64 " elements", d->wrong,
                  d->total);
  put_where(out, d);
  put_tail(out, d);
  for (size_t i = 0; i < d->npatterns; i++)
    put_pattern(out, d, &d->patterns[i]);
  if (d->tf32.line)
    tk_buf_printf(
        out,
        "  line %d multiplies fp32 in tf32, which keeps ten bits of a "
        "fraction: input_precision=\"ieee\" keeps all\n",
        d->tf32.line);
  put_unwritten(out, d);
  put_programs(out, d);
  put_mismatch(out, d, &d->first, "first");
  if (d->wrong > 1) put_mismatch(out, d, &d->worst, "worst");
  put_lines(out, d, most);
}
