/* lint_fp64.c - literals that make fp64 of everything that they meet.
 *
 * A number that fp32 cannot hold as a normal one, such as 1e-40, is an fp64
 * literal, and the other operand is cast to fp64 beside it.  A cast that the
 * kernel itself asks for has another place in the text than the operation.
 */
#include <math.h>
#include <string.h>

#include "interp/check/lint.h"
#include "ir/lanes.h"

static const tk_inst *made_by(const tkc_lint *l, int slot) {
  const tk_inst *d = l->def[slot];
  while (d && (tk_lanes_kept(d) || d->op == TK_I_BROADCAST))
    d = l->def[d->args[0]];
  return d;
}

/* Whether an operand is such a literal. */
static bool is_literal(const tk_inst *d, double *x) {
  if (!d || d->op != TK_I_CONST || d->type.ptr || d->type.elem != TK_FP64)
    return false;
  uint64_t bits = (uint64_t)tk_const_bits(d);
  memcpy(x, &bits, sizeof *x);
  double size = fabs(*x);
  return isfinite(size) && size > 0 &&
         (size < 0x1p-126 || size > 0x1.fffffep127);
}

/* Whether an operand was a narrower float before the operation cast it. */
static bool is_widened(const tkc_lint *l, const tk_inst *in, const tk_inst *d) {
  const tk_type *from =
      d && d->op == TK_I_CAST ? tkc_lint_type(l, d->args[0]) : NULL;
  return from && !from->ptr && tk_is_float((tk_dtype)from->elem) &&
         from->elem != TK_FP64 && d->span.lo == in->span.lo &&
         d->span.hi == in->span.hi;
}

static void say_fp64(tkc_lint *l, const tk_inst *in, double x) {
  tkc_place at = tkc_place_of(l->f, in);
  tk_diag *d =
      tkc_report(l->c, NULL, TK_D_LINT_FP64, &at, NULL,
                 "%g is not a normal fp32 number, so it is an fp64 literal, "
                 "and this whole expression is computed in fp64",
                 x);
  tkc_help(l->c, d, "use a literal that fp32 can hold, such as %s",
           fabs(x) < 1 ? "1e-37" : "1e38, or float(\"inf\")");
}

static void check_literal(tkc_lint *l, const tk_inst *in) {
  bool lanewise = in->op == TK_I_BINARY || in->op == TK_I_COMPARE;
  double x;
  for (int k = 0; lanewise && k < 2; k++) {
    if (!is_literal(made_by(l, in->args[k]), &x) ||
        !is_widened(l, in, made_by(l, in->args[!k])))
      continue;
    say_fp64(l, in, x);
    return;
  }
}

void tkc_lint_fp64(tkc_lint *l) {
  for (size_t i = 0; i < l->all.n; i++) check_literal(l, l->all.items[i]);
}
