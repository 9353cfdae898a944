/* divergence.c - the first operation that two engines disagree about, and the
 * names and texts of causes.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report.h"

/* Bytes of source that are shown of a line. */
enum { SOURCE = 66 };

const char *tk_cause_name(tk_cause c) {
  static const char *const names[] = {
#define CAUSE(id, name, words) name,
#include "tkdbg/cause.def"
#undef CAUSE
  };
  return (size_t)c < TK_COUNT(names) ? names[c] : NULL;
}

const char *tk_cause_words(tk_cause c) {
  static const char *const all[] = {
#define CAUSE(id, name, words) words,
#include "tkdbg/cause.def"
#undef CAUSE
  };
  return (size_t)c < TK_COUNT(all) ? all[c] : NULL;
}

static void put_lane(tk_buf *out, const tk_divergence *d) {
  if (!d->lane_rank) return;
  tk_buf_puts(out, " in lane ");
  tk_buf_index(out, d->lane, d->lane_rank);
}

static void put_operands(tk_buf *out, const tk_divergence *d) {
  for (size_t i = 0; i < d->noperands; i++) {
    tk_buf_puts(out, i ? ", " : "    of ");
    if (d->names[i]) tk_buf_printf(out, "%s = ", d->names[i]);
    tk_buf_puts(out, d->operands[i].text);
  }
  if (d->noperands) tk_buf_putc(out, '\n');
}

static void put_recorder(tk_buf *out, const tk_divergence *d) {
  if (strcmp(d->engine, d->recorder))
    tk_buf_printf(out,
                  "  '%s' is Triton's own code, whose operations cannot be "
                  "recorded; '%s' runs in its place:\n",
                  d->engine, d->recorder);
  tk_buf_printf(out, "  %s, in program ",
                d->found ? "the first operation that differs"
                         : "no operation differs");
  tk_buf_program(out, d->program);
  tk_buf_puts(out, ":\n");
}

static void put_place(tk_buf *out, const tk_divergence *d) {
  tk_buf_printf(out, "  %5d | ", d->place.line);
  tk_report_source(out, &d->place, SOURCE);
  tk_buf_putc(out, '\n');
}

static void put_others(tk_buf *out, const tk_divergence *d) {
  tk_buf_puts(out, ";\n    the code has ");
  for (size_t i = 0; i < d->nothers; i++)
    tk_buf_printf(out, "%s%s", i ? ", " : "", d->others[i].text);
  if (d->more_others) tk_buf_puts(out, " and others");
  if (!d->nothers) tk_buf_puts(out, "no such value");
}

/* What the code of a compiler that records nothing has of the kernel's
 * statements, by its lines. */
static void put_statement(tk_buf *out, const tk_divergence *d) {
  if (d->recorder)
    tk_buf_printf(out, "  '%s' gives what the interpreter gives\n",
                  d->recorder);
  if (!d->found) {
    tk_buf_printf(out,
                  "  it is not known which statement '%s' gets wrong: %s\n",
                  d->engine, d->says);
    return;
  }
  tk_buf_printf(out, "  by its lines, '%s' has another value here, in program ",
                d->engine);
  tk_buf_program(out, d->program);
  tk_buf_puts(out, ":\n");
  put_place(out, d);
  if (d->says) {
    tk_buf_printf(
        out,
        "    this stores %s by the interpreter, where the code leaves "
        "%s;\n    %s",
        d->own.text, d->other.text, d->says);
  } else {
    tk_buf_printf(out, "    '%s'", d->operation);
    put_lane(out, d);
    tk_buf_printf(out, " is %s by the interpreter", d->own.text);
    put_others(out, d);
  }
  if (d->code_line) tk_buf_printf(out, " (line %d of the PTX)", d->code_line);
  tk_buf_putc(out, '\n');
  put_operands(out, d);
}

void tk_report_divergence(tk_buf *out, const tk_divergence *d) {
  if (d->cause == TK_CAUSE_COMPILER) {
    put_statement(out, d);
    tk_buf_printf(out, "    cause: %s: %s\n", tk_cause_name(d->cause),
                  tk_cause_words(d->cause));
    return;
  }
  if (d->unfused)
    tk_buf_printf(out,
                  "  with enable_fp_fusion=False '%s' gives what the "
                  "interpreter gives\n",
                  d->engine);
  else
    put_recorder(out, d);
  if (d->race) {
    put_place(out, d);
    tk_buf_printf(out, "    %s\n", d->race);
  }
  if (d->found) {
    put_place(out, d);
    tk_buf_printf(out, "    '%s'", d->operation);
    put_lane(out, d);
    tk_buf_printf(out, " is %s by '%s', %s by the interpreter", d->other.text,
                  d->recorder, d->own.text);
    if (d->ulp < 1u << 24)
      tk_buf_printf(out, ", %" PRIu64 " ulp apart", d->ulp);
    if (d->lanes > 1)
      tk_buf_printf(out, "; %" PRIu64 " of %" PRIu64 " lanes differ",
                    d->different, d->lanes);
    if (d->before)
      tk_buf_printf(out, ", after %" PRIu64 " time%s without a difference",
                    d->before, tk_report_s(d->before));
    tk_buf_putc(out, '\n');
    put_operands(out, d);
  }
  tk_buf_printf(out, "    cause: %s: %s\n", tk_cause_name(d->cause),
                tk_cause_words(d->cause));
}
