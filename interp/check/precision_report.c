/* precision_report.c - the report of a value that is off, and its withdrawal.
 *
 * An error is measured against what the same instruction has stored so far.
 * The first programs may store what is zero by the formula, where all digits
 * are rounding, so that what was reported is measured once more against all
 * that the launch has stored, and withdrawn where it is small beside that.
 */
#include <math.h>

#include "interp/check/precision.h"
#include "ir/lanes.h"

/* ---- reports ------------------------------------------------------------- */

const char *tkc_prec_number(tkc_prec *p, tk_dtype d, double x) {
  char lane[8];
  tk_type type = {.elem = (uint8_t)d};
  tk_lane_set_double(d, lane, x);
  return tkc_value(p->c, &type, lane);
}

/* Returns "off by 37 % (603 ulps of fp16)"; beside a number that is almost
 * zero, such ratios say nothing. */
static const char *off_by(tkc_prec *p, tk_dtype d, double value, double exact) {
  double off = fabs(value - exact), size = fabs(exact);
  if (size < off / 1000) return tk_arena_printf(&p->c->run, "off by %.3g", off);
  int e = ilogb(fmax(size, tkc_prec_smallest(d)));
  double ulps = off / ldexp(1, e + 1 - tk_float_digits(d));
  return tk_arena_printf(&p->c->run, "off by %.3g %% (%.3g ulps of %s)",
                         100 * off / size, ulps, tk_dtype_name(d));
}

static bool is_sum(const tkc_prec_source *b) {
  return b->chain >= TKC_PREC_CHAIN;
}

static bool cancels(const tkc_prec_source *b) {
  bool difference =
      b->in->op == TK_I_BINARY &&
      (tk_binary_op(b->in) == TK_B_SUB || tk_binary_op(b->in) == TK_B_ADD);
  return difference && fmax(fabs(b->exact), fabs(b->value)) <
                           0x1p-4 * fmax(fabs(b->x[0]), fabs(b->x[1]));
}

static const char *in_lane(tkc_prec *p, const tkc_prec_source *b) {
  const char *lane = tkc_lane(p->c, &b->in->type, b->lane);
  return tk_arena_printf(&p->c->run, "%s%s", *lane ? " in lane " : "", lane);
}

static const char *operation_name(const tk_inst *in) {
  const char *mode = in->op == TK_I_DOT ? "" : tk_mode_name(in);
  return *mode ? mode : tk_inst_name((tk_opcode)in->op);
}

static const char *operands_text(tkc_prec *p, const tkc_prec_source *b) {
  const tk_inst *in = b->in;
  tk_dtype d = b->d;
  if (in->op == TK_I_BINARY)
    return tk_arena_printf(&p->c->run, " of %s and %s",
                           tkc_prec_number(p, d, b->x[0]),
                           tkc_prec_number(p, d, b->x[1]));
  if (in->op == TK_I_UNARY)
    return tk_arena_printf(&p->c->run, " of %s",
                           tkc_prec_number(p, d, b->x[0]));
  return "";
}

/* Reports what went wrong at a source: a sum in a narrow format, cancellation,
 * or an error that grew. */
static const char *source_story(tkc_prec *p, const tkc_prec_source *b) {
  tk_arena *a = &p->c->run;
  const char *v = tkc_prec_number(p, b->d, b->value), *lane = in_lane(p, b);
  const char *off = off_by(p, b->d, b->value, b->exact);
  if (is_sum(b) && b->in->op == TK_I_ATOMIC)
    return tk_arena_printf(a,
                           "this sum is kept in %s: in memory it is %s, in "
                           "float64 %.9g, %s",
                           tk_dtype_name(b->kept), v, b->exact, off);
  if (is_sum(b))
    return tk_arena_printf(a,
                           "this sum is kept in %s: after %u additions it is "
                           "%s%s, in float64 %.9g, %s",
                           tk_dtype_name(b->kept), b->chain, v, lane, b->exact,
                           off);
  if (b->cast)
    return tk_arena_printf(a,
                           "this cast to %s drops digits that matter: %s of "
                           "its result is %s%s, in float64 %.9g, %s",
                           tk_dtype_name((tk_dtype)b->cast->type.elem),
                           operation_name(b->in), v, lane, b->exact, off);
  if (cancels(b))
    return tk_arena_printf(a,
                           "catastrophic cancellation%s: %s%s is %s, in "
                           "float64 %.9g, %s",
                           lane, operation_name(b->in), operands_text(p, b), v,
                           b->exact, off);
  return tk_arena_printf(
      a, "the error grows%s: %s%s is %s, in float64 %.9g, %s", lane,
      operation_name(b->in), operands_text(p, b), v, b->exact, off);
}

static const char *source_advice(const tkc_prec_source *b) {
  if (is_sum(b) && b->kept != TK_FP32)
    return "keep the sum in tl.float32 and cast it when it is complete";
  if (is_sum(b))
    return "add up in blocks, with compensation (Kahan) or in tl.float64";
  if (b->cast)
    return "leave this operand in a wider format, or subtract what cancels "
           "before it is cast";
  if (cancels(b))
    return "rewrite the difference so that the large terms do not meet, or "
           "compute its operands in tl.float64";
  return "compute this in a wider format";
}

/* ---- reports and withdrawals --------------------------------------------- */

/* Withdraws what is small beside what has been stored since it was reported, at
 * a place or, if `at` is NULL, everywhere. */
static void withdraw_small(tkc_prec *p, const tkc_place *at) {
  for (size_t i = 0; i < p->told.n; i++) {
    tkc_prec_told *x = &p->told.items[i];
    bool small = x->off.beside <= tkc_prec_median(x->off.stored);
    if (!x->diag || !small || (at && !tkc_same_place(&x->at, at))) continue;
    tkc_withdraw(p->c, x->diag);
    x->diag = NULL;
  }
}

/* A place is reported once; the largest error there decides whether the report
 * stands. */
static void keep_largest(tkc_prec *p, const tkc_place *at, tkc_prec_off off) {
  for (size_t i = 0; i < p->told.n; i++) {
    tkc_prec_told *x = &p->told.items[i];
    if (!x->diag || !tkc_same_place(&x->at, at)) continue;
    if (x->off.beside < off.beside) x->off = off;
  }
}

static void add_notes(tkc_prec *p, tki *t, const tkc_prec_source *b,
                      const tkc_prec_off *off, tk_diag *g) {
  tkc *c = p->c;
  tkc_place here = tkc_here(t);
  if (b->cast)
    tkc_note(c, g, &b->used, "it is used by this %s", operation_name(b->in));
  tkc_note(c, g, &here, "%s gets %s, in float64 %.9g: %s",
           tkc_element(c, t, off->addr, tk_dtypes[off->d].size),
           tkc_prec_number(p, off->d, off->value), off->exact,
           off_by(p, off->d, off->value, off->exact));
  tkc_at_element(g, t, off->addr);
  if (b->trip)
    tkc_note(c, g, NULL, "first in trip %llu of the loop",
             (unsigned long long)b->trip);
  tkc_help(c, g, "%s", source_advice(b));
}

void tkc_prec_report(tkc_prec *p, tki *t, const tkc_prec_source *b,
                     tkc_prec_off off) {
  withdraw_small(p, &b->at);
  keep_largest(p, &b->at, off);
  tk_diag *g = tkc_report(p->c, t, TK_D_PRECISION, &b->at, NULL, "%s",
                          source_story(p, b));
  if (!g) return;
  tkc_prec_told told = {.diag = g, .at = b->at, .off = off};
  TK_PUSH(&p->c->run, &p->told, told);
  add_notes(p, t, b, &off, g);
  tkc_reported(p->c, t, g);
}

void tkc_prec_conclude(tkc_prec *p) {
  withdraw_small(p, NULL);
}
