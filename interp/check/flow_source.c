/* flow_source.c - lanes that go wrong: NaN and infinity from operands that
 * were neither, integers that wrap or are divided by 0, floats that do not fit
 * the type that they are cast to.  The common case, nothing wrong, is one pass
 * over the result.
 */
#include <math.h>
#include <string.h>

#include "interp/check/flow.h"
#include "interp/kernels.h"
#include "interp/wrapped.h"
#include "ir/lanes.h"

/* ---- NaN and infinity ---------------------------------------------------- */

/* A float without its sign is NaN or infinite from that of infinity on. */
#define ANY_BAD(NAME, T, INFINITY)                                             \
  TKI_CLONES static bool NAME(const T *x, size_t n) {                          \
    const T rest = (T)(((T) ~(T)0) >> 1);                                      \
    T most = 0;                                                                \
    for (size_t i = 0; i < n; i++) {                                           \
      T lane = x[i] & rest;                                                    \
      most = lane > most ? lane : most;                                        \
    }                                                                          \
    return most >= (T)INFINITY;                                                \
  }
ANY_BAD(bad_64, uint64_t, 0x7ff0000000000000)
ANY_BAD(bad_32, uint32_t, 0x7f800000)
ANY_BAD(bad_f16, uint16_t, 0x7c00)
ANY_BAD(bad_bf16, uint16_t, 0x7f80)

static bool any_bad(tk_dtype d, const void *x, size_t n) {
  switch (d) {
  case TK_FP64: return bad_64(x, n);
  case TK_FP32: return bad_32(x, n);
  case TK_FP16: return bad_f16(x, n);
  case TK_BF16: return bad_bf16(x, n);
  default: return false;
  }
}

/* Whether a lane of d is NaN where no operand is, or infinite where each is
 * finite. */
#define ANY_ARISES(NAME, T, INFINITY)                                          \
  TKI_CLONES static bool NAME(const T *d, const T *a, const T *b, size_t n) {  \
    const T rest = (T)(((T) ~(T)0) >> 1), inf = (T)INFINITY;                   \
    T any = 0;                                                                 \
    for (size_t i = 0; i < n; i++) {                                           \
      T lane = d[i] & rest, x = a[i] & rest, y = b[i] & rest;                  \
      T most = x > y ? x : y;                                                  \
      T limit = lane > inf ? (T)(inf + 1) : inf;                               \
      any |= (T)((lane >= inf) & (most < limit));                              \
    }                                                                          \
    return any != 0;                                                           \
  }
ANY_ARISES(arises_32, uint32_t, 0x7f800000)
ANY_ARISES(arises_f16, uint16_t, 0x7c00)
ANY_ARISES(arises_bf16, uint16_t, 0x7f80)

static bool any_arises(tk_dtype d, const void *x, const void *a, const void *b,
                       size_t n) {
  switch (d) {
  case TK_FP32: return arises_32(x, a, b, n);
  case TK_FP16: return arises_f16(x, a, b, n);
  case TK_BF16: return arises_bf16(x, a, b, n);
  default: return true;
  }
}

static bool is_wide_float(const tk_type *t) {
  tk_dtype d = (tk_dtype)t->elem;
  return !t->ptr &&
         (d == TK_FP64 || d == TK_FP32 || d == TK_FP16 || d == TK_BF16);
}

/* ---- operands ------------------------------------------------------------ */

static const tk_type *type_of_arg(const tki *t, const tk_inst *in, int k) {
  return &t->frame->func->slots[in->args[k]].type;
}

static const void *lane_of(const tki_val *v, const tk_type *type, size_t i) {
  return tki_lane(v, i, tk_lane_size(type));
}

static double double_of(const tk_type *type, const void *lane) {
  tk_dtype d = (tk_dtype)type->elem;
  return tk_is_float(d) ? tk_lane_double(d, lane)
                        : (double)tk_lane_int(d, lane);
}

/* Whether no operand of lane i was NaN, or infinite where that matters. */
static bool operands_fine(const tki *t, const tk_inst *in, const tki_val *args,
                          size_t i, bool nan) {
  for (int k = 0; k < in->nargs; k++) {
    const tk_type *type = type_of_arg(t, in, k);
    if (type->ptr) continue;
    double x = double_of(type, lane_of(&args[k], type, i));
    if (x != x || (!nan && isinf(x))) return false;
  }
  return true;
}

/* The same for all lanes that a reduction, scan or product may have used. */
static bool blocks_fine(const tki *t, const tk_inst *in, const tki_val *args) {
  for (int k = 0; k < in->nargs; k++) {
    const tk_type *type = type_of_arg(t, in, k);
    const void *x = tki_lanes(&args[k]);
    if (any_bad((tk_dtype)type->elem, x, (size_t)tk_numel(type))) return false;
  }
  return true;
}

static const char *operand_list(tkc_flow *f, const tki *t, const tk_inst *in,
                                const tki_val *args, size_t i) {
  char *text = tk_arena_strdup(&f->c->run, "");
  for (int k = 0; k < in->nargs; k++) {
    const tk_type *type = type_of_arg(t, in, k);
    text = tk_arena_printf(&f->c->run, "%s%s%s", text, k ? ", " : "",
                           tkc_value(f->c, type, lane_of(&args[k], type, i)));
  }
  return text;
}

static const char *operation_name(const tk_inst *in) {
  const char *mode = tk_mode_name(in);
  return *mode ? mode : tk_inst_name((tk_opcode)in->op);
}

static bool works_on_blocks(const tk_inst *in) {
  return tk_inst_lanes(in) == TK_LANES_PRODUCT || tk_inst_repeats(in);
}

static tkc_flow_id float_source(tkc_flow *f, tki *t, const tk_inst *in,
                                const tki_val *args, size_t i, bool nan) {
  tkc_flow_kind kind = nan ? TKC_FLOW_NAN : TKC_FLOW_INF;
  tkc_flow_id known = tkc_flow_known(f, t, kind, 0);
  if (known) return known;
  const char *lane = tkc_lane(f->c, &in->type, i), *text;
  const char *what = nan ? "NaN" : "infinity";
  if (tk_lanes_computed(in))
    text = tk_arena_printf(&f->c->run, "%s arises%s%s: %s of %s", what,
                           *lane ? " in lane " : "", lane, operation_name(in),
                           operand_list(f, t, in, args, i));
  else
    text = tk_arena_printf(&f->c->run, "%s arises%s%s: %s of finite lanes",
                           what, *lane ? " in lane " : "", lane,
                           tk_inst_name((tk_opcode)in->op));
  return tkc_flow_begin(f, t, kind, 0, i, text);
}

/* Whether a lane of a sum or product would be infinite without the mark, by an
 * operand that has none: in m + log(l), where m is -inf and l is 0 for a row
 * that nothing was seen of. */
static bool infinite_anyway(const tki *t, const tk_inst *in,
                            const tki_val *args, size_t i) {
  if (in->op != TK_I_BINARY) return false;
  tk_binary op = tk_binary_op(in);
  if (op != TK_B_ADD && op != TK_B_SUB && op != TK_B_MUL) return false;
  for (int k = 0; k < in->nargs; k++) {
    const tk_type *type = type_of_arg(t, in, k);
    tkc_flow_marks m = tkc_flow_of(t, in->args[k]);
    if (!tkc_flow_at(&m, i) &&
        isinf(double_of(type, lane_of(&args[k], type, i))))
      return true;
  }
  return false;
}

static bool is_log(const tk_inst *in) {
  return in->op == TK_I_UNARY &&
         (tk_unary_op(in) == TK_U_LOG || tk_unary_op(in) == TK_U_LOG2);
}

/* Returns the mark of a lane x of a float result; id is what its operands give
 * it, `blocks` says that all lanes of block operands were finite. */
static tkc_flow_id float_mark(tkc_flow *f, tki *t, const tk_inst *in,
                              const tki_val *args, size_t i, tkc_flow_id id,
                              double x, bool blocks) {
  bool nan = x != x, inf = isinf(x);
  unsigned soft = TKC_FLOW_NAN | TKC_FLOW_INF;
  if (tkc_flow_is_zero(id)) {
    if (x == 0 || (id == TKC_FLOW_EXACT && inf && is_log(in)))
      return x ? 0 : id;
    id = 0;
  }
  if (id && inf && tkc_flow_source_of(f, id)->kind == TKC_FLOW_INF &&
      infinite_anyway(t, in, args, i))
    return 0;
  if (id && (nan || inf || !(tkc_flow_source_of(f, id)->kind & soft)))
    return id;
  if (!(nan || inf) || !(f->kinds & soft)) return 0;
  bool arises =
      tk_lanes_computed(in) ? operands_fine(t, in, args, i, nan) : blocks;
  return arises ? float_source(f, t, in, args, i, nan) : 0;
}

/* Whether a result with NaN or infinity may have made them: false when the
 * operands are blocks like it that say otherwise. */
static bool may_arise(const tki *t, const tk_inst *in, const tki_val *args,
                      const void *d) {
  const void *x[2] = {NULL, NULL};
  if (!tk_lanes_computed(in) || in->nargs > 2) return true;
  for (int k = 0; k < in->nargs; k++) {
    if (type_of_arg(t, in, k)->elem != in->type.elem) return true;
    x[k] = tki_lanes(&args[k]);
    if (!tki_is_uniform(&args[k]) || !in->type.rank) continue;
    if (any_bad((tk_dtype)in->type.elem, x[k], 1)) return true;
    x[k] = NULL;
  }
  if (!x[0]) x[0] = x[1];
  return !x[0] || any_arises((tk_dtype)in->type.elem, d, x[0],
                             x[1] ? x[1] : x[0], (size_t)in->n);
}

/* Whether there is no marked lane that is finite again, so that no mark ends
 * here. */
static bool outlive(const tkc_flow *f, const tkc_flow_marks *m, size_t n) {
  unsigned soft = TKC_FLOW_NAN | TKC_FLOW_INF | TKC_FLOW_ZERO;
  for (size_t i = 0; i < n; i = tkc_flow_run_end(m, i, n)) {
    tkc_flow_id id = tkc_flow_at(m, i);
    if (id && tkc_flow_source_of(f, id)->kind & soft) return false;
  }
  return true;
}

/* Operations that give a NaN or an infinity only if an operand is one. */
static bool is_tame(const tk_inst *in) {
  if (in->op == TK_I_UNARY)
    return tk_unary_op(in) == TK_U_NEG || tk_unary_op(in) == TK_U_ABS;
  return in->op == TK_I_BINARY &&
         (tk_binary_op(in) == TK_B_MAX || tk_binary_op(in) == TK_B_MIN);
}

/* Marks lanes of a float result that became NaN or infinite here, and ends
 * marks of lanes that are numbers again. */
static void find_float_sources(tkc_flow *f, tki *t, const tk_inst *in,
                               const tki_val *args) {
  tki_val *r = &t->frame->slots[in->res[0]];
  tk_dtype d = (tk_dtype)in->type.elem;
  size_t n = (size_t)in->n;
  bool arithmetic = tk_lanes_computed(in) || works_on_blocks(in);
  bool marked = tkc_flow_marked(t, in->res[0]);
  if (!(f->kinds & (TKC_FLOW_NAN | TKC_FLOW_INF))) return;
  if (!marked && (!arithmetic || is_tame(in))) return;
  bool bad = arithmetic && any_bad(d, tki_lanes(r), n);
  if (!marked && !(bad && may_arise(t, in, args, tki_lanes(r)))) return;
  bool blocks = bad && works_on_blocks(in) && blocks_fine(t, in, args);
  tkc_flow_marks old = tkc_flow_of(t, in->res[0]);
  if (!bad && outlive(f, &old, n)) return;
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *m = tki_writable(&v);
  for (size_t i = 0; i < n; i++) {
    double x = tk_lane_double(d, lane_of(r, &in->type, i));
    m[i] = float_mark(f, t, in, args, i, tkc_flow_at(&old, i), x, blocks);
  }
  tkc_flow_set(t, in->res[0], v, n);
}

/* ---- zeros whose logarithm may be taken ---------------------------------- */

#define ANY_ZERO(NAME, T)                                                      \
  TKI_CLONES static bool NAME(const T *x, size_t n) {                          \
    const T rest = (T)(((T) ~(T)0) >> 1);                                      \
    T any = 0;                                                                 \
    for (size_t i = 0; i < n; i++) any |= (T)((x[i] & rest) == 0);             \
    return any != 0;                                                           \
  }
ANY_ZERO(zero_64, uint64_t)
ANY_ZERO(zero_32, uint32_t)
ANY_ZERO(zero_16, uint16_t)

static bool any_zero(tk_dtype d, const void *x, size_t n) {
  switch (tk_dtypes[d].bits) {
  case 64: return zero_64(x, n);
  case 32: return zero_32(x, n);
  default: return zero_16(x, n);
  }
}

bool tkc_flow_has_log(const tk_program *p) {
  return tk_program_has(p, is_log);
}

static bool is_exp(const tk_inst *in) {
  return in->op == TK_I_UNARY &&
         (tk_unary_op(in) == TK_U_EXP || tk_unary_op(in) == TK_U_EXP2);
}

/* log(sum(exp(v - m))) of a row of -inf alone is -inf, as it should be; not
 * so where exp of a number was too small. */
static void find_zero_sources(tkc_flow *f, tki *t, const tk_inst *in,
                              const tki_val *args) {
  tki_val *r = &t->frame->slots[in->res[0]];
  tk_dtype d = (tk_dtype)in->type.elem;
  size_t n = (size_t)in->n;
  if (!f->logs || !(f->kinds & TKC_FLOW_INF) || !is_exp(in)) return;
  if (!any_zero(d, tki_lanes(r), n)) return;
  tkc_flow_marks old = tkc_flow_of(t, in->res[0]);
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *m = tki_writable(&v);
  for (size_t i = 0; i < n; i++) {
    m[i] = tkc_flow_at(&old, i);
    if (m[i] || tk_lane_double(d, lane_of(r, &in->type, i)) != 0) continue;
    double x = tk_lane_double(d, lane_of(&args[0], &in->type, i));
    m[i] = isinf(x) ? TKC_FLOW_EXACT : TKC_FLOW_UNDERFLOWN;
  }
  tkc_flow_set(t, in->res[0], v, n);
}

/* ---- integers ------------------------------------------------------------ */

/* The least and the largest lane of an int32 block. */
typedef struct range {
  int32_t lo, hi;
} range;

TKI_CLONES static range range_32(const int32_t *x, size_t n) {
  int32_t lo = x[0], hi = x[0];
  for (size_t i = 1; i < n; i++) {
    lo = x[i] < lo ? x[i] : lo;
    hi = x[i] > hi ? x[i] : hi;
  }
  return (range){lo, hi};
}

static range range_of(const tki_val *v, const tk_type *type, size_t n) {
  const tki_sym *s = tki_symbol(v);
  int64_t lo, hi;
  if (s && tki_sym_bounds(s, TK_INT32, &lo, &hi))
    return (range){(int32_t)lo, (int32_t)hi};
  return range_32(lane_of(v, type, 0), tki_is_uniform(v) ? 1 : n);
}

/* Most blocks cannot wrap, as the ends of the operands' ranges show. */
static bool may_wrap(const tk_inst *in, const tki_val *args) {
  if (in->type.elem != TK_INT32) return true;
  range a = range_of(&args[0], &in->type, (size_t)in->n);
  range b = range_of(&args[1], &in->type, (size_t)in->n);
  tk_binary op = tk_binary_op(in);
  return tki_wraps(op, a.lo, b.lo, 32) || tki_wraps(op, a.lo, b.hi, 32) ||
         tki_wraps(op, a.hi, b.lo, 32) || tki_wraps(op, a.hi, b.hi, 32);
}

static bool is_index_arithmetic(const tk_inst *in) {
  if (in->op != TK_I_BINARY) return false;
  tk_binary op = tk_binary_op(in);
  bool kind = op == TK_B_ADD || op == TK_B_SUB || op == TK_B_MUL;
  return kind && !in->type.ptr && in->type.elem != TK_INT1 &&
         tk_is_int((tk_dtype)in->type.elem) &&
         tk_is_signed((tk_dtype)in->type.elem);
}

static tkc_flow_id wrap_source(tkc_flow *f, tki *t, const tk_inst *in,
                               const tki_val *args, size_t i) {
  tkc_flow_id known = tkc_flow_known(f, t, TKC_FLOW_OVERFLOW, 0);
  if (known) return known;
  const char *lane = tkc_lane(f->c, &in->type, i);
  const void *got = lane_of(&t->frame->slots[in->res[0]], &in->type, i);
  return tkc_flow_begin(
      f, t, TKC_FLOW_OVERFLOW, 0, i,
      tk_arena_printf(&f->c->run, "%s wraps%s%s: %s of %s is %s",
                      tk_dtype_name((tk_dtype)in->type.elem),
                      *lane ? " in lane " : "", lane, operation_name(in),
                      operand_list(f, t, in, args, i),
                      tkc_value(f->c, &in->type, got)));
}

static bool is_mixed(const tk_func *f, int slot, int depth);

/* A slot whose definitions are looked at; copies that may lie between. */
typedef struct mixing {
  int slot, depth;
} mixing;

/* Goes on until an instruction sets the slot by an exclusive or. */
static bool does_not_mix(void *ud, const tk_at *at, const tk_inst *in) {
  const mixing *m = ud;
  if (!in->nres || in->res[0] != m->slot) return true;
  if (in->op == TK_I_BINARY) return tk_binary_op(in) != TK_B_XOR;
  bool same =
      tk_lanes_kept(in) || in->op == TK_I_BROADCAST || in->op == TK_I_CAST;
  return !same || !m->depth || !is_mixed(at->func, in->args[0], m->depth - 1);
}

/* Whether what a slot holds may come straight from an exclusive or. */
static bool is_mixed(const tk_func *f, int slot, int depth) {
  mixing m = {slot, depth};
  return !tk_walk_func(f, &(tk_walk){.ud = &m, .inst = does_not_mix});
}

/* h = (h ^ x) * 16777619 is a hash, not an index. */
static bool is_hash(const tki *t, const tk_inst *in) {
  enum { COPIES = 3 };
  const tk_func *f = t->frame->func;
  return tk_binary_op(in) == TK_B_MUL &&
         (is_mixed(f, in->args[0], COPIES) || is_mixed(f, in->args[1], COPIES));
}

static bool lane_wraps(const tk_inst *in, const tki_val *args, size_t i) {
  tk_dtype d = (tk_dtype)in->type.elem;
  int64_t a = tk_lane_int(d, lane_of(&args[0], &in->type, i));
  int64_t b = tk_lane_int(d, lane_of(&args[1], &in->type, i));
  return tki_wraps(tk_binary_op(in), a, b, tk_dtypes[d].bits);
}

static void find_int_sources(tkc_flow *f, tki *t, const tk_inst *in,
                             const tki_val *args) {
  if (!may_wrap(in, args)) return;
  size_t n = (size_t)in->n, first = 0;
  tkc_flow_marks old = tkc_flow_of(t, in->res[0]);
  while (first < n &&
         (tkc_flow_at(&old, first) || !lane_wraps(in, args, first)))
    first++;
  if (first == n || is_hash(t, in)) return;
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *m = tki_writable(&v);
  for (size_t i = 0; i < n; i++) {
    m[i] = tkc_flow_at(&old, i);
    if (i >= first && !m[i] && lane_wraps(in, args, i))
      m[i] = wrap_source(f, t, in, args, i);
  }
  tkc_flow_set(t, in->res[0], v, n);
}

/* ---- division of integers by 0 ------------------------------------------- */

static bool divides_ints(const tk_inst *in) {
  return in->op == TK_I_BINARY && !in->type.ptr &&
         (tk_binary_op(in) == TK_B_DIV || tk_binary_op(in) == TK_B_MOD) &&
         tk_is_int((tk_dtype)in->type.elem);
}

static tkc_flow_id division_source(tkc_flow *f, tki *t, const tk_inst *in,
                                   const tki_val *args, size_t i) {
  tkc_flow_id known = tkc_flow_known(f, t, TKC_FLOW_DIVISION, 0);
  if (known) return known;
  const char *lane = tkc_lane(f->c, &in->type, i);
  return tkc_flow_begin(
      f, t, TKC_FLOW_DIVISION, 0, i,
      tk_arena_printf(&f->c->run, "division by zero%s%s: %s of %s",
                      *lane ? " in lane " : "", lane, operation_name(in),
                      operand_list(f, t, in, args, i)));
}

/* In LLVM the quotient is undefined, and GPUs differ in what they give. */
static void find_division_sources(tkc_flow *f, tki *t, const tk_inst *in,
                                  const tki_val *args) {
  tk_dtype d = (tk_dtype)in->type.elem;
  size_t n = (size_t)in->n, zero = 0;
  const void *one = tki_one_lane(&args[1]);
  if (one && tk_lane_int(d, one)) return;
  while (!one && zero < n && tk_lane_int(d, lane_of(&args[1], &in->type, zero)))
    zero++;
  if (zero == n) return;
  tkc_flow_marks old = tkc_flow_of(t, in->res[0]);
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *m = tki_writable(&v);
  for (size_t i = 0; i < n; i++) {
    m[i] = tkc_flow_at(&old, i);
    if (!m[i] && !tk_lane_int(d, lane_of(&args[1], &in->type, i)))
      m[i] = division_source(f, t, in, args, i);
  }
  tkc_flow_set(t, in->res[0], v, n);
}

/* ---- sums of integers ---------------------------------------------------- */

static bool is_int_sum(const tk_inst *in) {
  return tk_inst_repeats(in) && tk_inst_reduction(in) == TK_R_SUM &&
         in->type.elem != TK_INT1 && tk_is_int((tk_dtype)in->type.elem) &&
         tk_is_signed((tk_dtype)in->type.elem);
}

/* No sum of a block can wrap if the sum of as many lanes, all as large as its
 * largest one, does not. */
static bool sums_may_wrap(const tk_inst *in, const tki_val *x, int64_t n) {
  if (in->from.elem != TK_INT32) return true;
  range r = range_of(x, &in->from, (size_t)tk_numel(&in->from));
  return tki_wraps(TK_B_MUL, r.lo, n, 32) || tki_wraps(TK_B_MUL, r.hi, n, 32);
}

static tkc_flow_id sum_source(tkc_flow *f, tki *t, const tk_inst *in, size_t i,
                              int64_t lanes) {
  tkc_flow_id known = tkc_flow_known(f, t, TKC_FLOW_OVERFLOW, 0);
  if (known) return known;
  const char *lane = tkc_lane(f->c, &in->type, i);
  const void *got = lane_of(&t->frame->slots[in->res[0]], &in->type, i);
  return tkc_flow_begin(
      f, t, TKC_FLOW_OVERFLOW, 0, i,
      tk_arena_printf(&f->c->run, "%s wraps%s%s: the sum of %lld lanes is %s",
                      tk_dtype_name((tk_dtype)in->type.elem),
                      *lane ? " in lane " : "", lane, (long long)lanes,
                      tkc_value(f->c, &in->type, got)));
}

/* Adds up the lanes along the axis from the one at `at`, and marks the results
 * that wrap.  A sum that comes back into its 32 bits is right in the end. */
static void sum_row(tkc_flow *f, tki *t, const tk_inst *in, const tki_val *x,
                    tk_lines l, size_t at, size_t result, tkc_flow_id *m) {
  tk_dtype d = (tk_dtype)in->type.elem;
  int bits = tk_dtypes[d].bits;
  bool scan = tk_inst_lanes(in) == TK_LANES_SCANS, lost = false, out = false;
  int64_t sum = 0;
  for (size_t k = 0; k < l.n; k++) {
    size_t lane = at + (scan && tk_inst_reverse(in) ? l.n - 1 - k : k) * l.step;
    int64_t v = tk_lane_int(d, lane_of(x, &in->from, lane));
    lost |= __builtin_add_overflow(sum, v, &sum);
    out = lost || tki_wraps(TK_B_ADD, sum, 0, bits);
    if (scan && out && !m[lane])
      m[lane] = sum_source(f, t, in, lane, (int64_t)k + 1);
  }
  if (!scan && out && !m[result])
    m[result] = sum_source(f, t, in, result, (int64_t)l.n);
}

static void find_sum_sources(tkc_flow *f, tki *t, const tk_inst *in,
                             const tki_val *args) {
  tk_lines l = tk_lines_read(in);
  if (!sums_may_wrap(in, &args[0], (int64_t)l.n)) return;
  size_t n = (size_t)tk_numel(&in->type);
  tkc_flow_marks old = tkc_flow_of(t, in->res[0]);
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *m = tki_writable(&v);
  for (size_t i = 0; i < n; i++) m[i] = tkc_flow_at(&old, i);
  for (size_t i = 0; i < l.count; i++)
    sum_row(f, t, in, &args[0], l, tk_line_first(&l, i), i, m);
  tkc_flow_set(t, in->res[0], v, n);
}

/* ---- casts of floats to integers ----------------------------------------- */

static bool fits_integer(double x, tk_dtype d) {
  int bits = tk_dtypes[d].bits;
  double hi = ldexp(1, tk_is_signed(d) ? bits - 1 : bits);
  double lo = tk_is_signed(d) ? -hi : 0;
  x = trunc(x);
  return x >= lo && x < hi;
}

static tkc_flow_id cast_source(tkc_flow *f, tki *t, const tk_inst *in,
                               const tki_val *args, size_t i) {
  tkc_flow_id known = tkc_flow_known(f, t, TKC_FLOW_OVERFLOW, 1);
  if (known) return known;
  const char *lane = tkc_lane(f->c, &in->type, i);
  return tkc_flow_begin(f, t, TKC_FLOW_OVERFLOW, 1, i,
                        tk_arena_printf(&f->c->run,
                                        "%s does not fit into %s%s%s",
                                        operand_list(f, t, in, args, i),
                                        tk_dtype_name((tk_dtype)in->type.elem),
                                        *lane ? ", lane " : "", lane));
}

static void find_cast_sources(tkc_flow *f, tki *t, const tk_inst *in,
                              const tki_val *args) {
  size_t n = (size_t)in->n;
  tkc_flow_marks old = tkc_flow_of(t, in->res[0]);
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *m = tki_writable(&v);
  for (size_t i = 0; i < n; i++) {
    double x = double_of(&in->from, lane_of(&args[0], &in->from, i));
    m[i] = tkc_flow_at(&old, i);
    if (m[i] &&
        tkc_flow_source_of(f, m[i])->kind & (TKC_FLOW_NAN | TKC_FLOW_INF))
      m[i] = 0;
    if (!m[i] && !fits_integer(x, (tk_dtype)in->type.elem))
      m[i] = cast_source(f, t, in, args, i);
  }
  tkc_flow_set(t, in->res[0], v, n);
}

/* ---- marks that an instruction ends -------------------------------------- */

/* What is wrapped stays wrong through index arithmetic alone: hashes mix
 * their bits on purpose. */
static bool keeps_overflow(const tk_inst *in) {
  return tk_inst_moves(in) || tk_inst_lanes(in) == TK_LANES_GATHERS ||
         in->op == TK_I_SELECT || in->op == TK_I_CAST ||
         in->op == TK_I_ADDPTR || is_index_arithmetic(in);
}

/* Operations that bring a quotient back into bounds, whatever it was. */
static bool bounds_it(const tk_inst *in) {
  return in->op == TK_I_BINARY && in->type.elem != TK_INT1 &&
         (tk_binary_op(in) == TK_B_MIN || tk_binary_op(in) == TK_B_MAX ||
          tk_binary_op(in) == TK_B_AND);
}

/* A NaN cannot be seen any more in an integer or a comparison. */
static bool ends_mark(const tk_inst *in, tkc_flow_kind kind) {
  if (kind == TKC_FLOW_UNDEF) return false;
  if (kind == TKC_FLOW_DIVISION) return bounds_it(in);
  if (kind == TKC_FLOW_OVERFLOW) return !keeps_overflow(in);
  return !is_wide_float(&in->type);
}

static bool any_ends(const tkc_flow *f, const tk_inst *in,
                     const tkc_flow_marks *m, size_t n) {
  for (size_t i = 0; i < n; i = tkc_flow_run_end(m, i, n)) {
    tkc_flow_id id = tkc_flow_at(m, i);
    if (id && ends_mark(in, tkc_flow_source_of(f, id)->kind)) return true;
  }
  return false;
}

static void drop_ended(tkc_flow *f, tki *t, const tk_inst *in, int slot) {
  if (!tkc_flow_marked(t, slot)) return;
  const tk_type *type = &t->frame->func->slots[slot].type;
  size_t n = (size_t)tk_numel(type);
  tkc_flow_marks old = tkc_flow_of(t, slot);
  if (!any_ends(f, in, &old, n)) return;
  tki_val v = tkc_flow_new(t, type, n);
  tkc_flow_id *m = tki_writable(&v);
  for (size_t i = 0; i < n; i++) {
    tkc_flow_id id = tkc_flow_at(&old, i);
    m[i] = id && ends_mark(in, tkc_flow_source_of(f, id)->kind) ? 0 : id;
  }
  tkc_flow_set(t, slot, v, n);
}

static bool to_int(const tk_type *t) {
  return tk_is_int((tk_dtype)t->elem) && t->elem != TK_INT1;
}

/* What can go wrong in an instruction that computes its result. */
typedef enum source {
  SOURCE_NONE,
  SOURCE_FLOAT,
  SOURCE_WRAP,
  SOURCE_DIVISION,
  SOURCE_SUM,
  SOURCE_CAST,
} source;

static source source_of(const tkc_flow *f, const tk_inst *in) {
  bool overflow = f->kinds & TKC_FLOW_OVERFLOW;
  if (is_wide_float(&in->type)) return SOURCE_FLOAT;
  if (overflow && is_index_arithmetic(in)) return SOURCE_WRAP;
  if (f->kinds & TKC_FLOW_DIVISION && divides_ints(in)) return SOURCE_DIVISION;
  if (overflow && is_int_sum(in)) return SOURCE_SUM;
  bool cast = in->op == TK_I_CAST && !in->from.ptr && !in->type.ptr &&
              tk_is_float((tk_dtype)in->from.elem) && to_int(&in->type);
  return overflow && cast ? SOURCE_CAST : SOURCE_NONE;
}

/* An access marks what it loaded; calls and choices take marks over. */
bool tkc_flow_is_idle(const tkc_flow *f, const tk_inst *in) {
  if (in->op == TK_I_LOAD || in->op == TK_I_ATOMIC || in->op == TK_I_CAS ||
      in->op == TK_I_UNDEF || tk_inst_lanes(in) == TK_LANES_CALLS)
    return false;
  if (!in->nres || !(f->kinds & ~(unsigned)TKC_FLOW_UNDEF)) return true;
  if (source_of(f, in) != SOURCE_FLOAT) return source_of(f, in) == SOURCE_NONE;
  return !is_exp(in) &&
         (is_tame(in) || !(tk_lanes_computed(in) || works_on_blocks(in)));
}

void tkc_flow_find_sources(tkc_flow *f, tki *t, const tk_inst *in,
                           const tki_val *args) {
  if (in->op == TK_I_LOAD || in->op == TK_I_CONST) return;
  for (int k = 0; k < in->nres; k++) drop_ended(f, t, in, in->res[k]);
  switch (source_of(f, in)) {
  case SOURCE_NONE: break;
  case SOURCE_FLOAT:
    find_zero_sources(f, t, in, args);
    find_float_sources(f, t, in, args);
    break;
  case SOURCE_WRAP: find_int_sources(f, t, in, args); break;
  case SOURCE_DIVISION: find_division_sources(f, t, in, args); break;
  case SOURCE_SUM: find_sum_sources(f, t, in, args); break;
  case SOURCE_CAST: find_cast_sources(f, t, in, args); break;
  }
}
