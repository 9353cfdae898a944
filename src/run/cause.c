/* cause.c - why two engines give different values for the same operands.
 *
 * A cause is named only if the difference is as large as that cause can make
 * it; what is larger is a wrong value.
 */
#include "run/cause.h"

#include <float.h>
#include <math.h>

#include "ir/inst.h"
#include "ir/lanes.h"

/* ---- sizes -------------------------------------------------------------- */

typedef struct sides {
  tk_dtype dtype;
  double own, other;
  uint64_t ulp;
} sides;

static sides sides_of(const tkr_disagreement *d) {
  tk_dtype t = (tk_dtype)d->site->type.elem;
  size_t size = tk_dtype_size(t);
  const char *own = d->own + d->lane * size, *other = d->other + d->lane * size;
  sides s = {.dtype = t, .ulp = tk_lane_distance(t, own, other)};
  if (!tk_is_float(t)) return s;
  s.own = tk_lane_double(t, own);
  s.other = tk_lane_double(t, other);
  return s;
}

/* The largest lane of an operand; 1 if it is unknown. */
static double largest_operand(const tkr_disagreement *d, int k) {
  const tk_type *t = &d->site->func->slots[d->site->inst->args[k]].type;
  size_t n = (size_t)tk_numel(t), size = tk_lane_size(t);
  double largest = 0;
  if (!d->blocks[k]) return 1;
  for (size_t i = 0; i < n; i++) {
    double v = fabs(tk_lane_double((tk_dtype)t->elem, d->blocks[k] + i * size));
    if (isfinite(v) && v > largest) largest = v;
  }
  return largest;
}

static bool is_flushed(const sides *s) {
  double least = s->dtype == TK_FP64 ? DBL_MIN : (double)FLT_MIN;
  return s->other == 0 && s->own != 0 && fabs(s->own) < least;
}

/* Half a unit in the last place of 1. */
static double unit_of(const sides *s) {
  return ldexp(1, -tk_float_digits(s->dtype));
}

/* ---- by instruction ----------------------------------------------------- */

/* Whether sums of n terms as large as that, in two orders, may be so far
 * apart: errors of single roundings grow as sqrt(n) if they are independent
 * (Higham and Mary, "A New Approach to Probabilistic Rounding Error Analysis",
 * 2019), and so may the sum of the terms' sizes, n. */
static bool is_reordered(const sides *s, double n, double term, double unit) {
  double error = fabs(s->own - s->other);
  return isfinite(error) && error <= 4 * n * sqrt(n) * term * unit;
}

static tk_cause cause_of_sum(const tkr_disagreement *d, const sides *s) {
  double n = (double)tk_lines_read(d->site->inst).n;
  bool rounds = tk_is_float(s->dtype);
  return rounds && is_reordered(s, n, largest_operand(d, 0), unit_of(s))
             ? TK_CAUSE_ORDER
             : TK_CAUSE_MISCOMPILE;
}

static tk_cause cause_of_dot(const tkr_disagreement *d, const sides *s) {
  const tk_inst *in = d->site->inst;
  const tk_type *left = &d->site->func->slots[in->args[0]].type;
  double n = (double)tk_product_of(in).k;
  double term = largest_operand(d, 0) * largest_operand(d, 1);
  int acc = tk_dot_accumulator(in);
  if (!tk_is_float(s->dtype)) return TK_CAUSE_MISCOMPILE;
  if (acc >= 0 && largest_operand(d, acc) > term)
    term = largest_operand(d, acc);
  if (is_reordered(s, n + 1, term, unit_of(s))) return TK_CAUSE_ORDER;
  bool tf32 = tk_dot_precision(in) == TK_P_TF32 && left->elem == TK_FP32;
  return tf32 && is_reordered(s, n + 1, term, ldexp(1, -11))
             ? TK_CAUSE_TF32
             : TK_CAUSE_MISCOMPILE;
}

static tk_cause cause_of_binary(const tkr_disagreement *d, const sides *s) {
  const tk_inst *in = d->site->inst;
  if (!tk_is_float(s->dtype)) return TK_CAUSE_MISCOMPILE;
  tk_binary op = tk_binary_op(in);
  if (op == TK_B_MOD) return TK_CAUSE_REMAINDER;
  if (op == TK_B_DIV && s->ulp <= 4) return TK_CAUSE_APPROXIMATION;
  return d->has_fused && d->fused == s->other ? TK_CAUSE_CONTRACTION
                                              : TK_CAUSE_MISCOMPILE;
}

static tk_cause cause_of_function(const sides *s) {
  double error = fabs(s->own - s->other);
  /* An exponential is off by as many units as its argument has, which is at
   * most 88 in fp32. */
  bool near = s->ulp <= 256 || error <= ldexp(1, -20);
  return near ? TK_CAUSE_APPROXIMATION : TK_CAUSE_MISCOMPILE;
}

static tk_cause cause_of_cast(const tkr_disagreement *d, const sides *s) {
  const tk_inst *in = d->site->inst;
  bool from_float = !in->from.ptr && tk_is_float((tk_dtype)in->from.elem);
  if (!tk_is_float(s->dtype))
    return from_float ? TK_CAUSE_OVERFLOW : TK_CAUSE_MISCOMPILE;
  return s->ulp == 1 ? TK_CAUSE_ROUNDING : TK_CAUSE_MISCOMPILE;
}

/* A lane whose mask is off has the other value; if there is none, it is not
 * defined. */
static tk_cause cause_of_load(const tkr_disagreement *d) {
  const tk_inst *in = d->site->inst;
  int mask = tk_load_mask(in);
  const char *on = mask >= 0 ? d->operands[mask] : NULL;
  if (!on || *on) return TK_CAUSE_RACE;
  return tk_load_other(in) < 0 ? TK_CAUSE_UNDEFINED : TK_CAUSE_MISCOMPILE;
}

tk_cause tkr_cause_of(const tkr_disagreement *d) {
  const tk_inst *in = d->site->inst;
  sides s = sides_of(d);
  if (is_flushed(&s)) return TK_CAUSE_FLUSH;
  tk_lanes lanes = tk_inst_lanes(in);
  if (lanes == TK_LANES_PRODUCT) return cause_of_dot(d, &s);
  if (lanes == TK_LANES_REDUCES || lanes == TK_LANES_SCANS)
    return cause_of_sum(d, &s);
  if (in->op == TK_I_LOAD) return cause_of_load(d);
  if (in->op == TK_I_ATOMIC || in->op == TK_I_CAS) return TK_CAUSE_RACE;
  if (in->op == TK_I_BINARY) return cause_of_binary(d, &s);
  if (in->op == TK_I_CAST) return cause_of_cast(d, &s);
  if (in->op == TK_I_EXTERN) return cause_of_function(&s);
  if (in->op != TK_I_UNARY) return TK_CAUSE_MISCOMPILE;
  bool exact = tk_unary_op(in) == TK_U_NEG || tk_unary_op(in) == TK_U_ABS;
  return exact || !tk_is_float(s.dtype) ? TK_CAUSE_MISCOMPILE
                                        : cause_of_function(&s);
}
