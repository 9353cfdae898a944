/* precision_ops.c - each kind of instruction in float64.
 *
 * What works lane by lane goes in short rows: operands become doubles, the
 * interpreter's own loop for fp64 runs over them, and the result is judged
 * while it is still in the cache.  What moves lanes runs on the doubles as it
 * is.  Where there is no meaning in float64 (bits seen as floats, inline
 * assembly), or the result jumps (floor, integers, comparisons), the program's
 * own value is the exact one.
 */
#include <math.h>
#include <string.h>

#include "interp/check/precision.h"
#include "interp/kernels.h"
#include "interp/retyped.h"
#include "base/trans.h"
#include "ir/lanes.h"
#include "ir/libdevice.h"

static const tk_type *arg_type(const tki *t, const tk_inst *in, int k) {
  return &t->frame->func->slots[in->args[k]].type;
}

static void clear_results(tki *t, const tk_inst *in) {
  for (int k = 0; k < in->nres; k++) tkc_prec_clear(t, in->res[k]);
}

static bool any_present(const tki *t, const tk_inst *in) {
  for (int k = 0; k < in->nargs; k++)
    if (tkc_prec_of(t, in->args[k])) return true;
  return false;
}

/* ---- lanes of operands --------------------------------------------------- */

typedef struct operand {
  const char *value;
  const double *exact; /* NULL: value is */
  size_t size, step, exact_step;
  tk_dtype d;
} operand;

static operand operand_of(const tki *t, const tk_inst *in, const tki_val *args,
                          int k) {
  const tk_type *type = arg_type(t, in, k);
  const tkc_prec_shadow *s = tkc_prec_of(t, in->args[k]);
  operand o = {.value = tki_lanes(&args[k]),
               .size = tk_lane_size(type),
               .step = !tki_is_uniform(&args[k]),
               .d = (tk_dtype)type->elem};
  if (s) {
    o.exact = tki_lanes(&s->exact);
    o.exact_step = !tki_is_uniform(&s->exact);
  }
  return o;
}

static bool is_one(const operand *o) {
  return o->exact ? !o->exact_step : !o->step;
}

/* n lanes from `at` on as doubles; one that stands for all when is_one. */
static const double *row_of(const operand *o, size_t at, size_t n,
                            double *room) {
  if (o->exact) return o->exact + at * o->exact_step;
  tkc_prec_widen(o->d, room, o->value + at * o->step * o->size,
                 o->step ? n : 1);
  return room;
}

/* ---- results ------------------------------------------------------------- */

/* Formats and running sums, as the operands' shadows have them. */
static void mix_formats(const tki *t, const tk_inst *in, tkc_prec_shadow *s) {
  s->coarsest = tkc_prec_coarser(TK_FP64, (tk_dtype)in->type.elem);
  for (int k = 0; k < in->nargs; k++) {
    const tkc_prec_shadow *x = tkc_prec_of(t, in->args[k]);
    if (!x) continue;
    s->coarsest = tkc_prec_coarser(s->coarsest, x->coarsest);
    s->rounded |= x->rounded;
  }
  s->kept = s->cast = TK_FP64;
}

/* Whether operand k is the running sum itself. */
static bool goes_on(const tki *t, const tk_inst *in, int k,
                    tkc_prec_shadow *s) {
  const tkc_prec_shadow *x = tkc_prec_of(t, in->args[k]);
  if (!x || x->adds != in) return false;
  s->chain = x->chain + 1;
  s->kept = tkc_prec_coarser(tkc_prec_coarser(x->kept, x->cast),
                             (tk_dtype)in->type.elem);
  return true;
}

static void follow_sum(const tki *t, const tk_inst *in, tkc_prec_shadow *s) {
  const tkc_prec_shadow *x = tkc_prec_of(t, in->args[0]);
  bool binary = in->op == TK_I_BINARY &&
                (tk_binary_op(in) == TK_B_ADD || tk_binary_op(in) == TK_B_SUB);
  if (in->op == TK_I_CAST && x && x->adds) {
    s->adds = x->adds;
    s->chain = x->chain;
    s->kept = x->kept;
    s->cast = tkc_prec_coarser(x->cast, (tk_dtype)in->type.elem);
  }
  if (!binary && in->op != TK_I_FMA && in->op != TK_I_DOT) return;
  s->adds = in;
  s->chain = 1;
  s->kept = (tk_dtype)in->type.elem;
  for (int k = 0; k < in->nargs; k++)
    if (goes_on(t, in, k, s)) break;
}

/* A shadow for in's result, its lanes to be filled. */
static tkc_prec_shadow shadow_for(tki *t, const tk_inst *in) {
  tki_val *v = &t->frame->slots[in->res[0]];
  tkc_prec_shadow s = {.present = true};
  s.exact = tki_val_like(t, v, (size_t)in->n, sizeof(double));
  mix_formats(t, in, &s);
  follow_sum(t, in, &s);
  return s;
}

static tkc_prec_result exact_result(tkc_prec *p, tki *t, const tk_inst *in,
                                    const tki_val *args, tkc_prec_shadow *s) {
  tki_val *v = &t->frame->slots[in->res[0]];
  return (tkc_prec_result){.p = p,
                           .t = t,
                           .in = in,
                           .args = args,
                           .value = tki_lanes(v),
                           .d = (tk_dtype)in->type.elem,
                           .n = tki_is_uniform(v) ? 1 : (size_t)in->n,
                           .s = s};
}

/* Keeps the shadow unless it is exact.  That of a sum in a narrow format also
 * holds how long the sum is. */
static void keep_shadow(tkc_prec_result *r) {
  int slot = r->in->res[0];
  bool sum = r->s->adds && r->d != TK_FP32 && r->d != TK_FP64;
  if (r->differs || sum) {
    tkc_prec_set(r->t, slot, *r->s);
    return;
  }
  tkc_prec_drop(r->t, r->s);
  tkc_prec_clear(r->t, slot);
}

static void judge_all(tkc_prec_result *r) {
  for (size_t at = 0; at < r->n; at += TKC_PREC_ROW)
    tkc_prec_judge(r, at, r->n - at < TKC_PREC_ROW ? r->n - at : TKC_PREC_ROW);
  keep_shadow(r);
}

/* ---- functions of one number --------------------------------------------- */

/* The functions of trans.h are exact far beyond fp32, and fast. */
#define QUICK(NAME, EXPR)                                                      \
  TKI_CLONES static void quick_##NAME(void *vd, const void *va, size_t n) {    \
    double *d = vd;                                                            \
    const double *p = va;                                                      \
    for (size_t i = 0; i < n; i++) {                                           \
      double a = p[i];                                                         \
      d[i] = (EXPR);                                                           \
    }                                                                          \
  }
QUICK(exp, tkm_expf(a))
QUICK(exp2, tkm_exp2f(a))
QUICK(log, tkm_logf(a))
QUICK(log2, tkm_log2f(a))
QUICK(erf, tkm_erff(a))
QUICK(rsqrt, tkm_rsqrtf(a))

static tki_unary_fn unary_kernel(tk_unary op, tk_dtype d) {
  static const tki_unary_fn quick[TK_U_COUNT] = {
      [TK_U_EXP] = quick_exp, [TK_U_EXP2] = quick_exp2,
      [TK_U_LOG] = quick_log, [TK_U_LOG2] = quick_log2,
      [TK_U_ERF] = quick_erf, [TK_U_RSQRT] = quick_rsqrt,
  };
  if (d != TK_FP64 && quick[op]) return quick[op];
  return tki_unary_kernel(op, TK_FP64);
}

/* ---- lane by lane -------------------------------------------------------- */

enum { MOST = 4 };

/* What runs over a row of doubles. */
typedef struct loop {
  tki_unary_fn unary;
  tki_binary_fn binary;
  tki_extern_fn external;
} loop;

static void fma_row(double *d, const double *const *x, size_t n) {
  for (size_t i = 0; i < n; i++) d[i] = fma(x[0][i], x[1][i], x[2][i]);
}

static void run_row(const loop *l, double *d, const double **x, size_t n,
                    const operand *o, const tk_inst *in) {
  const void *args[MOST];
  for (int k = 0; k < in->nargs; k++) args[k] = x[k];
  if (l->binary)
    l->binary(d, x[0], x[1], n,
              n == 1          ? 0
              : is_one(&o[1]) ? 1
              : is_one(&o[0]) ? 2
                              : 0);
  else if (l->unary)
    l->unary(d, x[0], n);
  else if (l->external)
    l->external(d, args, n);
  else if (in->op == TK_I_FMA)
    fma_row(d, x, n);
  else
    memcpy(d, x[0], n * sizeof *d);
}

static void run_lanes(tkc_prec *p, tki *t, const tk_inst *in,
                      const tki_val *args, const loop *l) {
  double room[MOST][TKC_PREC_ROW];
  const double *x[MOST];
  operand o[MOST];
  tkc_prec_shadow s = shadow_for(t, in);
  tkc_prec_result r = exact_result(p, t, in, args, &s);
  for (int k = 0; k < in->nargs; k++) o[k] = operand_of(t, in, args, k);
  for (size_t at = 0; at < r.n; at += TKC_PREC_ROW) {
    size_t n = r.n - at < TKC_PREC_ROW ? r.n - at : TKC_PREC_ROW;
    for (int k = 0; k < in->nargs; k++) x[k] = row_of(&o[k], at, n, room[k]);
    run_row(l, (double *)tki_writable(&s.exact) + at, x, n, o, in);
    if (p->noise) tkc_prec_disturb(&r, at, n, x[0], is_one(&o[0]));
    tkc_prec_judge(&r, at, n);
  }
  if (r.d == TK_FP32 && s.chain > 1 && !p->twin) tkc_prec_stalls(&r);
  keep_shadow(&r);
}

/* Returns the same function of doubles; NULL where its result jumps, unless
 * that may be followed. */
static tki_extern_fn extern_kernel(const tk_inst *in, bool jumps) {
  const tk_extern *e = tk_extern_at(tk_extern_function(in));
  if (e->bound32 == 0 && !jumps) return NULL;
  for (size_t i = 0; i < TK_OVERLOADS; i++) {
    const tk_overload *o = &e->overloads[i];
    bool wide = o->nargs == in->nargs && o->result == TK_FP64;
    for (int k = 0; wide && k < o->nargs; k++) wide = o->args[k] == TK_FP64;
    if (wide) return tki_extern_kernel(tk_extern_function(in), i);
  }
  return NULL;
}

static bool all_floats(const tki *t, const tk_inst *in) {
  for (int k = 0; k < in->nargs; k++)
    if (!tkc_prec_is_float(arg_type(t, in, k))) return false;
  return true;
}

/* Whether the instruction can be computed in doubles, and by which loop. */
static bool loop_of(const tki *t, const tk_inst *in, bool jumps, loop *l) {
  *l = (loop){NULL, NULL, NULL};
  if (in->op == TK_I_UNARY) {
    bool whole = tk_unary_op(in) == TK_U_FLOOR || tk_unary_op(in) == TK_U_CEIL;
    if (whole && !jumps) return false;
    l->unary = unary_kernel(tk_unary_op(in), (tk_dtype)in->type.elem);
    return l->unary != NULL;
  }
  if (in->op == TK_I_BINARY) {
    if (tk_binary_op(in) == TK_B_MOD) return false;
    l->binary = tki_binary_kernel(tk_binary_op(in), TK_FP64);
    return l->binary != NULL;
  }
  if (in->op == TK_I_EXTERN) {
    l->external = all_floats(t, in) ? extern_kernel(in, jumps) : NULL;
    return l->external != NULL;
  }
  return in->op == TK_I_FMA || (in->op == TK_I_CAST && !in->from.ptr);
}

/* Whether the result of exact operands is exact. */
static bool keeps_exact(const tk_inst *in) {
  tk_dtype to = (tk_dtype)in->type.elem, from = (tk_dtype)in->from.elem;
  if (to == TK_FP64) return true;
  if (in->op == TK_I_UNARY)
    return tk_unary_op(in) == TK_U_NEG || tk_unary_op(in) == TK_U_ABS;
  if (in->op == TK_I_BINARY)
    return tk_binary_op(in) == TK_B_MIN || tk_binary_op(in) == TK_B_MAX ||
           tk_binary_op(in) == TK_B_MIN_NAN || tk_binary_op(in) == TK_B_MAX_NAN;
  return in->op == TK_I_CAST && tk_is_float(from) && tk_is_float(to) &&
         tkc_prec_coarser(from, to) == from && !tk_is_fp8(to);
}

/* Root of the mean square of finite lanes. */
static double size_of(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += isfinite(x[i]) ? x[i] * x[i] : 0;
  return n ? sqrt(sum / (double)n) : 0;
}

/* The error of an operand as a part of its size. */
static double error_of(const tki *t, const tk_inst *in, const tki_val *args,
                       int k) {
  const tk_type *type = &t->frame->func->slots[in->args[k]].type;
  const tkc_prec_shadow *s = tkc_prec_of(t, in->args[k]);
  if (!s || !tkc_prec_is_float(type)) return 0;
  size_t n = tki_is_uniform(&s->exact) ? 1 : (size_t)tk_numel(type);
  const tki_val *v = &args[k];
  double error = 0, size = size_of(tki_lanes(&s->exact), n);
  for (size_t i = 0; i < n; i++) {
    const double *e = tki_lane(&s->exact, i, sizeof *e);
    const void *own = tki_lane(v, i, tk_lane_size(type));
    double off = fabs(tk_lane_double((tk_dtype)type->elem, own) - *e);
    if (isfinite(off)) error += off * off;
  }
  return size > 0 ? sqrt(error / (double)n) / size : 0;
}

/* Whether a function that reduces or scans has only picked the lane, as a
 * maximum does: then the exact lane is the operand's. */
static bool is_picked(const tki *t, const tk_inst *in, const tki_val *args,
                      int result, size_t lane, double *e) {
  tk_lanes lanes = tk_inst_lanes(in);
  if (lanes != TK_LANES_REDUCES && lanes != TK_LANES_SCANS) return false;
  if (result >= in->nargs) return false;
  operand x = operand_of(t, in, args, result);
  tk_lines read = tk_lines_read(in), made = tk_lines_made(in);
  size_t first = tk_line_first(&read, tk_line_of(&made, lane));
  for (size_t i = 0; i < read.n; i++) {
    size_t at = first + i * read.step;
    const char *own = x.value + at * x.step * x.size;
    if (!tk_is_float(x.d) || tk_lane_double(x.d, own) != *e) continue;
    if (x.exact) *e = x.exact[at * x.exact_step];
    return true;
  }
  return false;
}

/* The program's own result, disturbed by what the operation may be off and by
 * the errors of its operands. */
static void disturb_unknown(tkc_prec *p, tki *t, const tk_inst *in,
                            const tki_val *args, int result) {
  int slot = in->res[result];
  const tk_type *type = &t->frame->func->slots[slot].type;
  if (!tkc_prec_is_float(type)) return;
  tk_dtype d = (tk_dtype)type->elem;
  const tki_val *v = &t->frame->slots[slot];
  size_t n = tki_is_uniform(v) ? 1 : (size_t)tk_numel(type);
  tkc_prec_shadow s = {.present = true, .coarsest = d};
  s.exact = tki_val_like(t, v, n, sizeof(double));
  double *e = tki_writable(&s.exact), most = tkc_prec_unknown_noise(in, d);
  tkc_prec_widen(d, e, tki_lanes(v), n);
  for (int k = 0; k < in->nargs; k++) most += 2 * error_of(t, in, args, k);
  bool folds = tk_inst_lanes(in) != TK_LANES_GROUPS;
  double size = folds ? size_of(e, n) : 0;
  for (size_t i = 0; i < n; i++)
    if (!is_picked(t, in, args, result, i, &e[i]))
      tkc_prec_disturb_lanes(p, &e[i], 1, most, size);
  tkc_prec_set(t, slot, s);
}

/* Where nothing is known in float64, the result is exact; a twin disturbs it by
 * what another engine may give. */
static void pass_unknown(tkc_prec *p, tki *t, const tk_inst *in,
                         const tki_val *args) {
  clear_results(t, in);
  if (!p->noise) return;
  for (int k = 0; k < in->nres; k++) disturb_unknown(p, t, in, args, k);
}

/* A number that becomes an integer, for a twin: it may become the next one. */
static void pass_whole(tkc_prec *p, tki *t, const tk_inst *in,
                       const tki_val *args) {
  tki_val *v = &t->frame->slots[in->res[0]];
  tkc_prec_shadow s = {
      .present = true, .coarsest = TK_FP64, .kept = TK_FP64, .cast = TK_FP64};
  s.exact = tki_val_like(t, v, (size_t)in->n, sizeof(double));
  tkc_prec_result r = exact_result(p, t, in, args, &s);
  operand x = operand_of(t, in, args, 0);
  double *e = tki_writable(&s.exact);
  size_t size = tk_dtypes[r.d].size;
  for (size_t i = 0; i < r.n; i++) {
    double own = (double)tk_lane_int(r.d, r.value + i * size);
    double whole = trunc(x.exact[i * x.exact_step]);
    bool next = fabs(whole - own) <= 1;
    e[i] = next ? whole : own;
    r.differs |= e[i] != own;
  }
  keep_shadow(&r);
}

static void pass_lanes(tkc_prec *p, tki *t, const tk_inst *in,
                       const tki_val *args) {
  loop l;
  bool exact = keeps_exact(in) && !any_present(t, in);
  bool whole = p->twin && in->op == TK_I_CAST && !in->from.ptr &&
               !in->type.ptr && tk_is_int((tk_dtype)in->type.elem) &&
               in->type.elem != TK_INT1 && any_present(t, in);
  if (whole)
    pass_whole(p, t, in, args);
  else if (exact || !tkc_prec_is_float(&in->type))
    clear_results(t, in);
  else if (in->nargs > MOST || !loop_of(t, in, p->twin, &l))
    pass_unknown(p, t, in, args);
  else
    run_lanes(p, t, in, args, &l);
}

/* ---- what moves lanes ---------------------------------------------------- */

/* Operand k in doubles, as a value of its own. */
static tki_val whole_operand(tki *t, const tk_inst *in, const tki_val *args,
                             int k) {
  const tk_type *type = arg_type(t, in, k);
  const tkc_prec_shadow *s = tkc_prec_of(t, in->args[k]);
  if (s) return tki_share(&s->exact);
  size_t n = tki_is_uniform(&args[k]) ? 1 : (size_t)tk_numel(type);
  tki_val v = tki_val_like(t, &args[k], n, sizeof(double));
  tkc_prec_widen((tk_dtype)type->elem, tki_writable(&v), tki_lanes(&args[k]),
                 n);
  return v;
}

static tki_val marks_of(tki *t, const tk_inst *in, int k) {
  const tkc_prec_shadow *s = tkc_prec_of(t, in->args[k]);
  size_t n = (size_t)tk_numel(arg_type(t, in, k));
  if (s && !tki_is_uniform(&s->marks)) return tki_share(&s->marks);
  if (s && tki_is_uniform(&s->exact)) return s->marks;
  if (!arg_type(t, in, k)->rank) return tki_make_scalar(0);
  return tki_block_zero(t, n, sizeof(tkc_prec_id));
}

static bool any_marks(const tki *t, const tk_inst *in) {
  for (int k = 0; k < in->nargs; k++) {
    const tkc_prec_shadow *s = tkc_prec_of(t, in->args[k]);
    if (s && !tki_is_zero(&s->marks)) return true;
  }
  return false;
}

/* Runs the instruction itself on the doubles, and on the marks if there are
 * any. */
static void pass_moved(tki *t, const tk_inst *in, const tki_val *args) {
  tki_val lanes[TKI_RETYPED_SLOTS] = {{0}};
  tki_val marks[TKI_RETYPED_SLOTS] = {{0}};
  bool marked = any_marks(t, in);
  tkc_prec_shadow s = {.present = true};
  mix_formats(t, in, &s);
  const tkc_prec_shadow *x = tkc_prec_of(t, in->args[0]);
  if (x) {
    s.adds = x->adds, s.chain = x->chain;
    s.kept = x->kept, s.cast = x->cast;
  }
  for (int k = 0; k < in->nargs; k++) {
    lanes[k] = whole_operand(t, in, args, k);
    if (marked) marks[k] = marks_of(t, in, k);
  }
  tki_run_retyped(t, in, TK_FP64, NULL, lanes);
  if (marked) tki_run_retyped(t, in, TK_UINT16, NULL, marks);
  for (int k = 0; k < in->nres; k++) {
    tkc_prec_shadow to = s;
    to.exact = lanes[in->nargs + k];
    to.marks = marks[in->nargs + k];
    tkc_prec_set(t, in->res[k], to);
  }
}

/* A gather's index is an operand of its own type. */
static void pass_gather(tki *t, const tk_inst *in, const tki_val *args) {
  const tk_type *index = arg_type(t, in, 1);
  const tkc_prec_shadow *from = tkc_prec_of(t, in->args[0]);
  tk_lines read = tk_lines_read(in), made = tk_lines_made(in);
  size_t size = tk_lane_size(index);
  tkc_prec_shadow s = tkc_prec_share(from);
  tki_release(t, &s.exact);
  tki_release(t, &s.marks);
  s.exact = tki_block_new(t, (size_t)in->n, sizeof(double));
  bool marked = !tki_is_uniform(&from->marks);
  if (marked) s.marks = tki_block_new(t, (size_t)in->n, sizeof(tkc_prec_id));
  double *to = tki_writable(&s.exact);
  tkc_prec_id *mark = tki_writable(&s.marks);
  const double *x = tki_lanes(&from->exact);
  const tkc_prec_id *m = tki_lanes(&from->marks);
  for (size_t i = 0; i < (size_t)in->n; i++) {
    const char *at = (const char *)tki_lanes(&args[1]) + i * size;
    size_t k = (size_t)tk_lane_int((tk_dtype)index->elem, at);
    size_t lane = tk_line_first(&read, tk_line_of(&made, i)) + k * read.step;
    to[i] = x[lane];
    if (marked) mark[i] = m[lane];
  }
  tkc_prec_set(t, in->res[0], s);
}

static void pass_select(tkc_prec *p, tki *t, const tk_inst *in,
                        const tki_val *args) {
  tkc_prec_shadow s = shadow_for(t, in);
  tkc_prec_result r = exact_result(p, t, in, args, &s);
  operand x = operand_of(t, in, args, 1), y = operand_of(t, in, args, 2);
  double room[2][TKC_PREC_ROW], *d = tki_writable(&s.exact);
  const uint8_t *c = tki_lanes(&args[0]);
  size_t step = !tki_is_uniform(&args[0]);
  for (size_t at = 0; at < r.n; at += TKC_PREC_ROW) {
    size_t n = r.n - at < TKC_PREC_ROW ? r.n - at : TKC_PREC_ROW;
    const double *a = row_of(&x, at, n, room[0]),
                 *b = row_of(&y, at, n, room[1]);
    size_t sa = !is_one(&x), sb = !is_one(&y);
    for (size_t i = 0; i < n; i++)
      d[at + i] = c[(at + i) * step] ? a[i * sa] : b[i * sb];
    tkc_prec_judge(&r, at, n);
  }
  keep_shadow(&r);
}

/* ---- along an axis ------------------------------------------------------- */

static bool only_picks(const tk_inst *in) {
  return !tk_inst_repeats(in) || (tk_inst_reduction(in) != TK_R_SUM &&
                                  tk_inst_reduction(in) != TK_R_PROD);
}

/* Numbers that add up to almost nothing, such as those that a normalisation has
 * centred, leave only the rounding errors of their sum: up to sixteen units of
 * what was added to a lane on average. */
static double slack_of(const tk_inst *in, const tki_val *x) {
  bool sum = tk_inst_lanes(in) == TK_LANES_REDUCES &&
             tk_inst_reduction(in) == TK_R_SUM;
  if (!sum || tki_is_uniform(x) || in->type.elem != TK_FP32) return 0;
  const double *v = tki_lanes(x);
  size_t n = (size_t)tk_numel(&in->from);
  double size = 0;
  for (size_t i = 0; i < n; i++) size += isfinite(v[i]) ? fabs(v[i]) : 0;
  return 0x1p-20 * size / (double)tk_numel(&in->type);
}

static tki_val squares_of(tki *t, const tki_val *x, size_t n) {
  if (tki_is_uniform(x)) n = 1;
  tki_val v = tki_val_like(t, x, n, sizeof(double));
  double *to = tki_writable(&v);
  const double *from = tki_lanes(x);
  for (size_t i = 0; i < n; i++) to[i] = from[i] * from[i];
  return v;
}

/* What a sum is of the squares of its terms. */
static tki_val sums_of_squares(tki *t, const tk_inst *in, tki_kernel kernel,
                               const tki_val *x) {
  tki_val slots[TKI_RETYPED_SLOTS] = {{0}};
  slots[0] = squares_of(t, x, (size_t)tk_numel(&in->from));
  tki_run_retyped(t, in, TK_FP64, kernel, slots);
  return slots[in->nargs];
}

/* Runs a reduction, scan or sort on doubles, and judges its result. */
static void pass_block(tkc_prec *p, tki *t, const tk_inst *in,
                       const tki_val *args) {
  tki_val slots[TKI_RETYPED_SLOTS] = {{0}};
  if (!tkc_prec_is_float(&in->type) ||
      (only_picks(in) && !any_present(t, in))) {
    clear_results(t, in);
    return;
  }
  tki_kernel kernel = NULL;
  if (tk_inst_repeats(in))
    kernel = (tki_kernel)tki_binary_kernel(
        tk_reduction_op(tk_inst_reduction(in)), TK_FP64);
  slots[0] = whole_operand(t, in, args, 0);
  double slack = p->twin ? 0 : slack_of(in, &slots[0]);
  tki_val squares = {0};
  bool adds = kernel && tk_inst_reduction(in) == TK_R_SUM;
  if (p->noise && adds) squares = sums_of_squares(t, in, kernel, &slots[0]);
  tki_run_retyped(t, in, TK_FP64, kernel, slots);
  tkc_prec_shadow s = shadow_for(t, in);
  s.rounded |= adds && tk_float_digits(s.coarsest) <= 11;
  tkc_prec_result r = exact_result(p, t, in, args, &s);
  r.slack = slack;
  tki_release(t, &s.exact);
  s.exact = slots[in->nargs];
  if (in->nres > 1) tki_release(t, &slots[in->nargs + 1]);
  if (p->noise && !only_picks(in))
    tkc_prec_disturb_sums(&r, tk_inst_axis_lanes(in),
                          adds ? tki_lanes(&squares) : NULL);
  tki_release(t, &squares);
  judge_all(&r);
}

/* ---- products ------------------------------------------------------------ */

/* fp32 sums of products are accurate enough: large ones are left out of a
 * sampled run. */
enum { LARGE = 32 * 32 * 32 };

static bool is_large(const tk_inst *in) {
  return (size_t)in->n * tk_product_of(in).k > LARGE;
}

static void multiply_f64(tki *t, const tk_product *x, double *c,
                         const tki_val *a, const tki_val *b) {
  for (size_t i = 0; i < x->batch; i++)
    tki_dot_f64(
        t, c + i * x->m * x->n, (const double *)tki_lanes(a) + i * x->m * x->k,
        (const double *)tki_lanes(b) + i * x->k * x->n, x->m, x->n, x->k);
}

static void disturb_operand(tkc_prec *p, tki *t, const tk_inst *in, int k,
                            tki_val *v) {
  size_t n = (size_t)tk_numel(arg_type(t, in, k));
  tki_val to = tki_block_new(t, n, sizeof(double));
  memcpy(tki_writable(&to), tki_lanes(v), n * sizeof(double));
  tkc_prec_disturb_operand(p, in, tki_writable(&to), n);
  tki_release(t, v);
  *v = to;
}

/* A product in a narrower type than its operands rounds these. */
static void disturb_operands(tkc_prec *p, tki *t, const tk_inst *in, tki_val *a,
                             tki_val *b) {
  if (tk_dot_precision(in) == TK_P_IEEE || in->from.elem != TK_FP32) return;
  disturb_operand(p, t, in, 0, a);
  disturb_operand(p, t, in, 1, b);
}

static void disturb_product(tkc_prec_result *r, const tk_product *x,
                            const tki_val *a, const tki_val *b) {
  tki *t = r->t;
  tki_val a2 = squares_of(t, a, x->batch * x->m * x->k);
  tki_val b2 = squares_of(t, b, x->batch * x->k * x->n);
  tki_val c2 = tki_block_zero(t, (size_t)r->in->n, sizeof(double));
  multiply_f64(t, x, tki_writable(&c2), &a2, &b2);
  tkc_prec_disturb_sums(r, x->k + 1, tki_lanes(&c2));
  tki_release(t, &a2);
  tki_release(t, &b2);
  tki_release(t, &c2);
}

/* Multiplies in float64 what the operands would be, and judges the product. */
static void pass_dot(tkc_prec *p, tki *t, const tk_inst *in,
                     const tki_val *args) {
  bool plain = in->type.elem == TK_FP32 && !any_present(t, in);
  if (!tkc_prec_is_float(&in->type) || (p->sampled && plain && is_large(in))) {
    clear_results(t, in);
    return;
  }
  tk_product x = tk_product_of(in);
  tki_val a = whole_operand(t, in, args, 0), b = whole_operand(t, in, args, 1);
  tkc_prec_shadow s = shadow_for(t, in);
  /* tf32 truncates both operands, where fp16 rounds them: the errors add up,
   * and rows with a few large terms are far above the median of the others. */
  if (tk_dot_precision(in) != TK_P_IEEE && in->from.elem == TK_FP32) {
    s.coarsest = tkc_prec_coarser(s.coarsest, TK_BF16);
    s.rounded = true;
  }
  s.rounded |= in->from.elem != TK_FP32 &&
               (tkc_prec_of(t, in->args[0]) || tkc_prec_of(t, in->args[1]));
  double *c = tki_writable(&s.exact);
  memset(c, 0, (size_t)in->n * sizeof *c);
  if (in->nargs > 2) {
    tki_val acc = whole_operand(t, in, args, 2);
    memcpy(c, tki_lanes(&acc), (size_t)in->n * sizeof *c);
    tki_release(t, &acc);
  }
  if (p->noise) disturb_operands(p, t, in, &a, &b);
  multiply_f64(t, &x, c, &a, &b);
  tkc_prec_result r = exact_result(p, t, in, args, &s);
  if (p->noise) disturb_product(&r, &x, &a, &b);
  tki_release(t, &a);
  tki_release(t, &b);
  judge_all(&r);
}

/* ---- dispatch ------------------------------------------------------------ */

/* For instructions whose lanes are lanes of an operand. */
static void pass_picked(tkc_prec *p, tki *t, const tk_inst *in,
                        const tki_val *args) {
  if (!any_present(t, in))
    clear_results(t, in);
  else if (in->op == TK_I_SELECT)
    pass_select(p, t, in, args);
  else if (tk_inst_lanes(in) == TK_LANES_GATHERS)
    pass_gather(t, in, args);
  else if (tk_same_elem(&in->type, &in->from))
    pass_moved(t, in, args);
  else
    clear_results(t, in); /* bits seen as another type */
}

static void pass_same(tkc_prec *p, tki *t, const tk_inst *in,
                      const tki_val *args) {
  if (in->op == TK_I_SELECT)
    pass_picked(p, t, in, args);
  else if (in->op == TK_I_LOAD)
    tkc_prec_load(p, t, in, args);
  else if (tk_lanes_computed(in))
    pass_lanes(p, t, in, args);
  else
    clear_results(t, in);
}

void tkc_prec_pass(tkc_prec *p, tki *t, const tk_inst *in,
                   const tki_val *args) {
  switch (tk_inst_lanes(in)) {
  case TK_LANES_SAME: pass_same(p, t, in, args); break;
  case TK_LANES_MOVES:
  case TK_LANES_GATHERS: pass_picked(p, t, in, args); break;
  case TK_LANES_REDUCES:
  case TK_LANES_SCANS:
    if (tk_inst_repeats(in))
      pass_block(p, t, in, args);
    else
      pass_unknown(p, t, in, args);
    break;
  case TK_LANES_SORTS: pass_block(p, t, in, args); break;
  case TK_LANES_PRODUCT: pass_dot(p, t, in, args); break;
  case TK_LANES_CALLS: /* a body's instructions set its results */
    if (in->op != TK_I_COND) clear_results(t, in);
    break;
  case TK_LANES_GROUPS: pass_unknown(p, t, in, args); break;
  case TK_LANES_NONE:
  case TK_LANES_COUNTS:
  case TK_LANES_SCALES: clear_results(t, in); break;
  }
}
