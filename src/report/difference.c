/* difference.c - how a tensor differs from what was expected, and the lines
 * that its first wrong value came from.
 */
#include <inttypes.h>
#include <math.h>

#include "report/report.h"

/* ---- what differs ------------------------------------------------------- */

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

/* Says of each axis where the wrong elements begin, if they go on from there to
 * the end of the tensor, and at least half of it is right. */
static void put_tail(tk_buf *out, const tk_difference *d) {
  for (int i = 0; i < d->rank && d->exact; i++) {
    const tk_range *r = d->ranges[i];
    if (d->nranges[i] != 1 || r->step != 1 || 2 * r->first < d->shape[i] ||
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

/* The text of each pattern that needs no numbers. */
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

/* The text of a pattern that needs numbers. */
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
  default: TK_ASSERT(false); /* its text is one of pattern_words */
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
  tk_buf_puts(out, d->tensor);
  tk_buf_index(out, m->index, d->rank);
  if (d->engine)
    tk_buf_printf(out, " is %s by '%s', %s by the interpreter", m->found.text,
                  d->engine, m->expected.text);
  else if (d->elsewhere)
    tk_buf_printf(out, " is %s in %s, expected %s", m->found.text, d->elsewhere,
                  m->expected.text);
  else
    tk_buf_printf(out, " is %s, expected %s", m->found.text, m->expected.text);
  if (m->written) {
    tk_buf_puts(out, ", by program ");
    tk_buf_program(out, m->program);
    tk_buf_printf(out, " at line %d", m->place.line);
  }
  tk_buf_putc(out, '\n');
}

/* What the interpreter left where another run of the launch went wrong. */
static void put_here(tk_buf *out, const tk_difference *d) {
  uint64_t others = d->wrong - d->here_right - d->here_same;
  tk_buf_puts(out, "  the interpreter leaves ");
  if (d->here_right == d->wrong)
    tk_buf_puts(out,
                "what is expected in each of them: by its own text the\n"
                "  kernel is right for these inputs.  What differs is what "
                "compiled or ran it\n  (tkdbg diff), the order of its programs "
                "(tkdbg run --check=race), or inputs\n  that were others\n");
  else if (d->here_same == d->wrong)
    tk_buf_puts(out, "the same in each of them: the kernel says so itself\n");
  else
    tk_buf_printf(out,
                  "what is expected in %" PRIu64
                  " of them, the same in %" PRIu64
                  ", something\n  else in %" PRIu64 "\n",
                  d->here_right, d->here_same, others);
}

/* ---- the whole ---------------------------------------------------------- */

/* The lines that the value explained came from. */
static void put_lines(tk_buf *out, const tk_difference *d, size_t most) {
  const tk_explanation *why = d->explanation;
  if (!why || !why->blame.nwrites) return;
  tk_buf_printf(out, "  the lines that %s%s came from, in program ",
                d->explained_nearest ? "the nearest value, " : "",
                why->blame.element.text);
  tk_buf_program(out, why->blame.writes[0].program);
  tk_buf_puts(out, ":\n");
  tk_report_source_lines(out, why, most);
}

/* The tolerance that was asked for, and that elements are within. */
static void put_given(tk_buf *out, const tk_difference *d) {
  tk_buf_printf(out, "    %s within ", d->wrong ? "the others are" : "that is");
  if (d->ulps) tk_buf_printf(out, "%" PRIu64 " ulp", d->ulps);
  if (d->ulps && (d->rtol > 0 || d->atol > 0)) tk_buf_puts(out, ", or ");
  if (!d->ulps || d->rtol > 0 || d->atol > 0)
    tk_buf_printf(out, "%.2g of the value plus %.2g", d->rtol, d->atol);
  tk_buf_puts(out, ", as it was asked for\n");
}

/* What rounding explains. */
static void put_judged(tk_buf *out, const tk_difference *d) {
  tk_buf_printf(out,
                "    error (rms, against float64): %.2g by '%s', %.2g by the "
                "interpreter;\n    rounding explains %s%.2g%s\n",
                d->engine_error, d->engine, d->own_error,
                d->all_wrong ? "no more than " : "up to ", d->error_bound,
                d->all_wrong ? ""
                : d->wrong   ? ", but not all elements"
                             : "");
  if (d->weak)
    tk_buf_printf(out,
                  "    this bound is weak: it lets an element be off by more "
                  "than 5 %% of the\n    tensor's rms (%.3g), so that smaller "
                  "faults pass\n",
                  d->size);
}

/* One line that says how closely two engines agree.  Units in the last place
 * are counted where they say something. */
static void put_engines(tk_buf *out, const tk_difference *d) {
  enum { FEW = 1000 };
  tk_buf_printf(out, "  %s: %" PRIu64 " element%s, ", d->tensor, d->total,
                tk_report_s(d->total));
  if (!d->unequal) {
    tk_buf_puts(out, "all bits agree\n");
    return;
  }
  tk_buf_printf(out, "%" PRIu64 " differ%s by at most %.3g", d->unequal,
                d->unequal == 1 ? "s" : "", d->absolute);
  bool finite = isfinite(d->absolute) && d->size > 0;
  if (finite && d->ulp_of_most < FEW)
    tk_buf_printf(out, " (%" PRIu64 " ulp there, %.2g %% of the tensor's rms)",
                  d->ulp_of_most, 100 * d->absolute / d->size);
  else if (finite)
    tk_buf_printf(out, " (%.2g %% of the tensor's rms)",
                  100 * d->absolute / d->size);
  tk_buf_putc(out, '\n');
  if (d->judged) put_judged(out, d);
  if (d->given && d->wrong < d->unequal) put_given(out, d);
}

void tk_report_difference(tk_buf *out, const tk_difference *d, size_t most) {
  if (d->engine && (d->written || d->unequal)) put_engines(out, d);
  if (!d->wrong) return;
  tk_buf_puts(out, d->tensor);
  if (d->elsewhere) tk_buf_printf(out, ", as %s has it,", d->elsewhere);
  tk_buf_printf(out, " differs from what %s in ",
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
  if (d->elsewhere) put_here(out, d);
  put_lines(out, d, most);
}
