/* precision_judge.c - how far a value may be off, and what is to blame for one
 * that is further off.
 *
 * An operation is to blame when its result's error passes the bound of the
 * formats that the value went through.  Whether that matters is seen where it
 * is stored: an error is measured against the value, or against the median of
 * what the same instruction has stored so far where that is larger, so that a
 * lane that merely happens to lie near zero is not reported.
 */
#include <math.h>
#include <string.h>

#include "interp/check/precision.h"
#include "interp/kernels.h"
#include "ir/lanes.h"

/* ---- bounds -------------------------------------------------------------- */

/* How far a result may be off; the bound of a running sum is the strict one. */
static double bound_of(const tkc_prec_shadow *s) {
  bool narrow = tk_float_digits(s->kept) <= 11 && s->kept == s->coarsest;
  return tkc_prec_bound(s->coarsest,
                        s->adds && s->chain >= TKC_PREC_CHAIN && narrow);
}

/* ---- lanes --------------------------------------------------------------- */

void tkc_prec_widen(tk_dtype d, double *to, const void *from, size_t n) {
  tki_unary_fn cast = tki_cast_kernel(d, TK_FP64, false);
  size_t size = tk_dtypes[d].size;
  float row[TKC_PREC_ROW];
  if (d == TK_FP64) {
    memcpy(to, from, n * sizeof *to);
    return;
  }
  if (cast) {
    cast(to, from, n);
    return;
  }
  cast = tki_cast_kernel(TK_FP32, TK_FP64, false);
  for (size_t at = 0; at < n; at += TKC_PREC_ROW) {
    size_t m = n - at < TKC_PREC_ROW ? n - at : TKC_PREC_ROW;
    tki_widen(d, row, (const char *)from + at * size, m);
    cast(to + at, row, m);
  }
}

/* Sums up a row: bit 0 says that a lane is not exact, bit 1 that one is off by
 * more than the bound. Most rows need no closer look. */
TKI_CLONES static unsigned look_f64(const double *v, const double *e,
                                    double bound, double least, size_t n) {
  uint64_t differs = 0, bad = 0;
  for (size_t i = 0; i < n; i++) {
    double off = fabs(v[i] - e[i]);
    uint64_t other = v[i] != e[i];
    differs |= other;
    bad |= other & (uint64_t) !(off <= bound * fabs(e[i]) + least);
  }
  return (unsigned)(differs | bad << 1);
}

TKI_CLONES static unsigned look_f32(const float *x, const double *e,
                                    double bound, double least, size_t n) {
  uint64_t differs = 0, bad = 0;
  for (size_t i = 0; i < n; i++) {
    double v = (double)x[i], off = fabs(v - e[i]);
    uint64_t other = v != e[i];
    differs |= other;
    bad |= other & (uint64_t) !(off <= bound * fabs(e[i]) + least);
  }
  return (unsigned)(differs | bad << 1);
}

/* ---- sources ------------------------------------------------------------ */

/* Operand k's lane as the program has it; uniform blocks have one. */
static double operand_value(const tkc_prec_result *r, int k, size_t lane) {
  const tk_type *type = &r->t->frame->func->slots[r->in->args[k]].type;
  const tki_val *v = &r->args[k];
  if (type->ptr || !tk_is_float((tk_dtype)type->elem)) return 0;
  size_t own = (size_t)tk_numel(type);
  if (lane >= own) lane = 0;
  return tk_lane_double((tk_dtype)type->elem,
                        tki_lane(v, lane, tk_lane_size(type)));
}

/* The cast to a narrower format that an operand is the result of, perhaps in
 * another arrangement; NULL: it is not. */
static const tk_inst *narrowing_cast(const tk_func *f, int slot) {
  for (;;) {
    const tk_inst *in = tk_set_by(f, slot);
    if (!in) return NULL;
    if (in->op == TK_I_CAST) {
      const tk_type *from = &f->slots[in->args[0]].type;
      bool narrows = tkc_prec_is_float(from) && tkc_prec_is_float(&in->type) &&
                     tk_float_digits((tk_dtype)in->type.elem) <
                         tk_float_digits((tk_dtype)from->elem);
      return narrows ? in : NULL;
    }
    if (!tk_lanes_kept(in) && in->op != TK_I_PERMUTE &&
        in->op != TK_I_BROADCAST)
      return NULL;
    slot = in->args[0];
  }
}

/* A product in a wide format of operands in a narrow one rounds little itself:
 * what is off has been lost where an operand was cast. */
static void find_cast(const tkc_prec_result *r, tkc_prec_source *b) {
  const tk_func *f = r->t->frame->func;
  for (int k = 0; k < 2 && r->in->op == TK_I_DOT && !b->cast; k++) {
    const tk_inst *cast = tkc_prec_of(r->t, r->in->args[k])
                              ? narrowing_cast(f, r->in->args[k])
                              : NULL;
    if (!cast ||
        tk_float_digits((tk_dtype)cast->type.elem) >= tk_float_digits(r->d))
      continue;
    b->cast = cast;
    b->used = b->at;
    b->at = tkc_place_of(f, cast);
  }
}

/* Returns the mark of an operation whose error has passed the bound; makes it
 * with the first lane that does. */
static tkc_prec_id begin_source(tkc_prec_result *r, size_t lane, double v,
                                double e, double bound) {
  tkc_prec *p = r->p;
  const tki_loop *loop = r->t->frame->loops;
  tkc_prec_id *last = &p->last[r->in->id];
  if (*last) return *last;
  if (p->sources.n == UINT16_MAX - 1) return UINT16_MAX - 1;
  tkc_prec_source b = {.in = r->in,
                       .at = tkc_here(r->t),
                       .lane = lane,
                       .value = v,
                       .exact = e,
                       .trip = loop ? loop->trip + 1 : 0,
                       .bound = bound,
                       .chain = r->s->adds ? r->s->chain : 0,
                       .kept = r->s->kept,
                       .d = r->d};
  for (int k = 0; k < 2 && k < r->in->nargs; k++)
    b.x[k] = operand_value(r, k, lane);
  find_cast(r, &b);
  TK_PUSH(&p->c->run, &p->sources, b);
  return *last = (tkc_prec_id)p->sources.n;
}

static tkc_prec_id first_mark(const tkc_prec_id *m, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (m[i]) return m[i];
  return 0;
}

static bool is_by_lane(const tk_inst *in) {
  return in->op != TK_I_REDUCE && in->op != TK_I_SCAN && in->op != TK_I_DOT &&
         in->op != TK_I_SORT;
}

static const tkc_prec_shadow *marked_operand(const tkc_prec_result *r, int k) {
  const tkc_prec_shadow *s = tkc_prec_of(r->t, r->in->args[k]);
  return s && !tki_is_zero(&s->marks) ? s : NULL;
}

static size_t operand_lanes(const tkc_prec_result *r, int k) {
  return (size_t)tk_numel(&r->t->frame->func->slots[r->in->args[k]].type);
}

/* A lane of an operand: what it is, what it would be, and its mark. */
typedef struct term {
  double value, exact;
  tkc_prec_id mark;
} term;

static term term_of(const tkc_prec_result *r, int k, size_t lane) {
  const tkc_prec_shadow *s = tkc_prec_of(r->t, r->in->args[k]);
  term x = {.value = operand_value(r, k, lane)};
  x.exact =
      s ? *(const double *)tki_lane(&s->exact, lane, sizeof(double)) : x.value;
  if (s && !tki_is_zero(&s->marks))
    x.mark = *(const tkc_prec_id *)tki_lane(&s->marks, lane, sizeof x.mark);
  return x;
}

/* What marked terms add to the error of a sum, and the mark of the one that
 * adds most. */
typedef struct share {
  double error, largest;
  tkc_prec_id mark;
} share;

static void add_share(share *s, tkc_prec_id mark, double error) {
  if (!mark) return;
  s->error += error;
  if (s->mark && fabs(error) <= s->largest) return;
  s->mark = mark;
  s->largest = fabs(error);
}

static share share_in_product(const tkc_prec_result *r, size_t lane) {
  tk_product p = tk_product_of(r->in);
  size_t row = lane / p.n, column = lane % p.n, batch = row / p.m;
  share s = {0};
  for (size_t i = 0; i < p.k; i++) {
    term a = term_of(r, 0, row * p.k + i);
    term b = term_of(r, 1, (batch * p.k + i) * p.n + column);
    add_share(&s, a.mark, (a.value - a.exact) * b.value);
    add_share(&s, b.mark, a.exact * (b.value - b.exact));
  }
  if (r->in->nargs < 3) return s;
  term sum = term_of(r, 2, lane);
  add_share(&s, sum.mark, sum.value - sum.exact);
  return s;
}

static share share_in_sum(const tkc_prec_result *r, size_t lane) {
  tk_lines lines = tk_lines_read(r->in);
  size_t first = tk_line_first(&lines, lane);
  share s = {0};
  for (size_t i = 0; i < lines.n; i++) {
    term x = term_of(r, 0, first + i * lines.step);
    add_share(&s, x.mark, x.value - x.exact);
  }
  return s;
}

static bool is_sum_of_lanes(const tk_inst *in) {
  return in->op == TK_I_REDUCE && tk_inst_repeats(in) &&
         tk_inst_reduction(in) == TK_R_SUM;
}

/* Returns the mark that an operand of the lane has, or 0.  In a sum of many
 * terms, those that are marked must account for half of its error: a single
 * one near zero, however wrong, may be no part of it. */
static tkc_prec_id inherited(const tkc_prec_result *r, size_t lane,
                             double off) {
  if (r->mark && (r->in->op == TK_I_DOT || is_sum_of_lanes(r->in))) {
    share s = r->in->op == TK_I_DOT ? share_in_product(r, lane)
                                    : share_in_sum(r, lane);
    return fabs(s.error) >= off / 2 ? s.mark : 0;
  }
  if (r->mark) return r->mark;
  for (int k = 0; k < r->in->nargs; k++) {
    const tkc_prec_shadow *s = marked_operand(r, k);
    if (!s) continue;
    bool has = tki_is_uniform(&s->marks) || lane < operand_lanes(r, k);
    const tkc_prec_id *id = tki_lane(&s->marks, has ? lane : 0, sizeof *id);
    if (has && *id) return *id;
  }
  return 0;
}

static tkc_prec_id *marks_of(tkc_prec_result *r) {
  tkc_prec_shadow *s = r->s;
  if (tki_is_uniform(&s->marks) && !tki_is_uniform(&s->exact))
    s->marks = tki_block_zero(r->t, r->n, sizeof(tkc_prec_id));
  return tki_writable(&s->marks);
}

/* Whether a lane is off.  Lanes that are not finite are left to other
 * detectors. */
static void judge_lane(tkc_prec_result *r, size_t lane, double v, double *e) {
  if (!isfinite(v) || !isfinite(*e)) {
    *e = v;
    return;
  }
  double off = fabs(v - *e);
  tkc_prec_id id = r->marked ? inherited(r, lane, off) : 0;
  double size = fmax(fabs(*e), tkc_prec_smallest(r->d));
  if (!id && off <= r->slack) {
    *e = v;
    return;
  }
  if (id && !(off <= r->strict * size))
    marks_of(r)[lane] = id;
  else if (!(off <= r->bound * size))
    marks_of(r)[lane] = begin_source(r, lane, v, *e, r->bound);
}

static void find_bounds(tkc_prec_result *r) {
  r->bound = bound_of(r->s);
  r->strict = tkc_prec_bound(r->s->coarsest, true);
  for (int k = 0; k < r->in->nargs; k++) {
    const tkc_prec_shadow *s = marked_operand(r, k);
    if (!s) continue;
    r->marked = true;
    if (is_by_lane(r->in) || r->mark) continue;
    r->mark = first_mark(tki_lanes(&s->marks),
                         tki_is_uniform(&s->marks) ? 1 : operand_lanes(r, k));
  }
}

void tkc_prec_judge(tkc_prec_result *r, size_t at, size_t n) {
  double wide[TKC_PREC_ROW], *e = (double *)tki_writable(&r->s->exact) + at;
  const char *v = r->value + at * tk_dtypes[r->d].size;
  if (!r->bound && !r->p->twin) find_bounds(r);
  double bound = r->marked ? r->strict : r->bound;
  double least = bound * tkc_prec_smallest(r->d);
  unsigned seen;
  if (r->d == TK_FP32) {
    seen = look_f32((const float *)(const void *)v, e, bound, least, n);
  } else {
    tkc_prec_widen(r->d, wide, v, n);
    seen = look_f64(wide, e, bound, least, n);
  }
  r->differs |= seen & 1;
  if (!(seen & 2) || r->p->twin) return;
  if (r->d == TK_FP32) tkc_prec_widen(r->d, wide, v, n);
  for (size_t i = 0; i < n; i++)
    if (!(fabs(wide[i] - e[i]) <= bound * fabs(e[i]) + least))
      judge_lane(r, at + i, wide[i], &e[i]);
}
