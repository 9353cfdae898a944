/* bound.c - how far two engines may be apart on the same kernel. */
#include "run/bound.h"

#include <math.h>

#include "ir/inst.h"
#include "ir/lanes.h"

typedef struct rounding {
  double trips;
  double exact;       /* operations that the definition leaves no choice in */
  double approximate; /* and others, on the way to an element */
  bool multiplies, adds; /* which may be contracted */
  double unit;           /* the largest unit of roundoff */
} rounding;

/* How many lanes one of the result is made of. */
static double terms_of(const tk_inst *in) {
  tk_lanes lanes = tk_inst_lanes(in);
  if (lanes == TK_LANES_PRODUCT) return (double)tk_product_of(in).k;
  bool folds = lanes == TK_LANES_REDUCES || lanes == TK_LANES_SCANS;
  return folds ? (double)tk_inst_axis_lanes(in) : 1;
}

/* How many units of roundoff an operation may be off: an exponential is off by
 * what its argument is, which is at most 88 in fp32. */
static double weight_of(const tk_inst *in) {
  bool exponential = in->op == TK_I_UNARY && (tk_unary_op(in) == TK_U_EXP ||
                                              tk_unary_op(in) == TK_U_EXP2);
  return exponential ? 128 : 1;
}

/* Whether every engine gives the same bits: the result is one that the
 * operands hold, or is rounded to the nearest. */
static bool is_exact(const tk_inst *in) {
  static const tk_binary defined[] = {TK_B_ADD,    TK_B_SUB, TK_B_MUL,
                                      TK_B_MIN,    TK_B_MAX, TK_B_MIN_NAN,
                                      TK_B_MAX_NAN};
  tk_lanes lanes = tk_inst_lanes(in);
  if (in->op == TK_I_BINARY) {
    for (size_t i = 0; i < TK_COUNT(defined); i++)
      if (tk_binary_op(in) == defined[i]) return true;
    return false;
  }
  if (in->op == TK_I_UNARY)
    return tk_unary_op(in) == TK_U_NEG || tk_unary_op(in) == TK_U_ABS;
  return in->op != TK_I_EXTERN && in->op != TK_I_ASM && in->op != TK_I_ATOMIC &&
         (lanes == TK_LANES_SAME || lanes == TK_LANES_MOVES ||
          lanes == TK_LANES_NONE || lanes == TK_LANES_GATHERS ||
          lanes == TK_LANES_SORTS);
}

static bool add_rounding(void *ud, const tk_at *at, const tk_inst *in) {
  rounding *r = ud;
  (void)at;
  tk_dtype d = (tk_dtype)in->type.elem;
  if (!in->nres || in->type.ptr || !tk_is_float(d)) return true;
  bool tf32 = in->op == TK_I_DOT && tk_dot_precision(in) == TK_P_TF32;
  double unit = ldexp(1, tf32 ? -11 : -tk_float_digits(d));
  if (unit > r->unit) r->unit = unit;
  if (!is_exact(in)) r->approximate += terms_of(in) * weight_of(in) * r->trips;
  if (in->op != TK_I_BINARY) return true;
  r->exact += r->trips;
  r->multiplies |= tk_binary_op(in) == TK_B_MUL;
  r->adds |= tk_binary_op(in) == TK_B_ADD || tk_binary_op(in) == TK_B_SUB;
  return true;
}

tk_tolerance tkr_bound(const tk_program *p, tk_dtype result,
                       const tkr_run_facts *seen) {
  rounding r = {.trips = seen->trips ? (double)seen->trips : 1};
  tk_walk walk = {.ud = &r, .inst = add_rounding};
  tk_walk_program(p, &walk);
  double n = r.approximate + (double)seen->added;
  if (n > 0 || (r.multiplies && r.adds)) n += r.exact;
  double rtol = fmin(n * r.unit, 0.5);
  if (rtol == 0) return (tk_tolerance){0, 0, 0};
  if (!tk_is_float(result)) return (tk_tolerance){rtol, 1, 0};
  rtol = fmax(rtol, 2 * ldexp(1, -tk_float_digits(result)));
  return (tk_tolerance){rtol, rtol * seen->largest, 0};
}
