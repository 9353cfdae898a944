/* precision_stall.c - sums in fp32 that stall.
 *
 * From 2^24 on, x + 1 is x: a counter in fp32 stops there, and so does any sum
 * whose terms are below half a unit in its last place.  Its relative error
 * stays small for long, so that no bound catches it; but a lane to which
 * something is added in each trip, while only the sum in float64 changes, is
 * not due to rounding.
 */
#include <math.h>

#include "interp/check/precision.h"
#include "interp/kernels.h"

enum {
  TRIPS = 8
}; /* trips without a change, while the error grows by as many halves of a unit
      in the last place */

/* A term below this fraction of the sum is too small to count. */
#define STILL 0x1p-28

/* Returns which operand, 0 or 1, is the sum itself. */
static int sum_operand(const tkc_prec_result *r) {
  const tkc_prec_shadow *s = tkc_prec_of(r->t, r->in->args[0]);
  return s && s->adds == r->in ? 0 : 1;
}

static double value_of(const tkc_prec_result *r, int k, size_t lane) {
  const tki_val *v = &r->args[k];
  return (double)*(const float *)tki_lane(v, lane, sizeof(float));
}

/* Whether adding to the lane did not change it, though what was added is large
 * enough to count. */
static bool stands_still(const tkc_prec_result *r, int sum, size_t lane) {
  double x = (double)((const float *)(const void *)r->value)[lane];
  double more = fabs(value_of(r, 1 - sum, lane));
  return x == value_of(r, sum, lane) && more > 0 && more >= fabs(x) * STILL;
}

/* Most blocks have no such lane. */
TKI_CLONES static bool any_still(const float *x, tki_span sum, tki_span more,
                                 size_t n) {
  const float *s = (const void *)sum.at, *m = (const void *)more.at;
  size_t s_by = sum.step != 0, m_by = more.step != 0;
  uint32_t any = 0;
  for (size_t i = 0; i < n; i++) {
    double by = fabs((double)m[i * m_by]), least = fabs((double)x[i]) * STILL;
    any |= (uint32_t)((x[i] == s[i * s_by]) & (by > 0) & (by >= least));
  }
  return any != 0;
}

static double error_of(const tkc_prec_result *r, size_t lane) {
  double x = (double)((const float *)(const void *)r->value)[lane];
  return fabs(((const double *)tki_lanes(&r->s->exact))[lane] - x);
}

static void report_stall(tkc_prec_result *r, int sum, const tkc_prec_stall *s) {
  tkc_prec *p = r->p;
  const char *x = tkc_prec_number(p, TK_FP32, value_of(r, sum, s->lane));
  const char *lane = tkc_lane(p->c, &r->in->type, s->lane);
  tk_diag *d =
      tkc_report(p->c, r->t, TK_D_PRECISION, NULL, NULL,
                 "this sum in fp32 no longer changes%s%s: %s of %s and %s is "
                 "%s, %u times in a "
                 "row; in float64 it is %.9g by now",
                 *lane ? " in lane " : "", lane, tk_mode_name(r->in), x,
                 tkc_prec_number(p, TK_FP32, value_of(r, 1 - sum, s->lane)), x,
                 s->trips, ((const double *)tki_lanes(&r->s->exact))[s->lane]);
  tkc_help(p->c, d,
           "count in tl.int32 or tl.int64; add up small terms among themselves "
           "before they meet a large sum");
  tkc_reported(p->c, r->t, d);
}

/* Finds a lane that stalls: the one that stalled before, or else the first. */
static bool find_lane(const tkc_prec_result *r, int sum, tkc_prec_stall *s) {
  if (s->trips && stands_still(r, sum, s->lane)) return true;
  s->trips = 0;
  for (size_t i = 0; i < r->n; i++) {
    if (!stands_still(r, sum, i)) continue;
    s->lane = i;
    s->error = error_of(r, i);
    s->lost = 0;
    return true;
  }
  return false;
}

void tkc_prec_stalls(tkc_prec_result *r) {
  int sum = sum_operand(r);
  tkc_prec_stall **at = &r->p->stalls[r->in->id], *s = *at;
  if (r->in->op != TK_I_BINARY) return;
  if (!s) s = *at = TK_NEW(&r->p->c->run, tkc_prec_stall);
  if (r->s->chain != s->chain + 1) s->trips = 0;
  s->chain = r->s->chain;
  if (!any_still((const float *)(const void *)r->value,
                 tki_span_of(&r->args[sum], sizeof(float)),
                 tki_span_of(&r->args[1 - sum], sizeof(float)), r->n) ||
      !find_lane(r, sum, s)) {
    s->trips = 0;
    return;
  }
  double x = fabs(value_of(r, sum, s->lane));
  double growth = error_of(r, s->lane) - s->error;
  s->lost += value_of(r, 1 - sum, s->lane);
  /* Of an iteration that has converged the error comes from elsewhere, and
   * most of it was there before. */
  bool grown = growth >= ldexp(x, -24) * TRIPS / 2 &&
               growth <= 2 * fabs(s->lost) && growth >= s->error;
  if (++s->trips >= TRIPS && grown) {
    report_stall(r, sum, s);
    s->trips = 0;
  }
}
