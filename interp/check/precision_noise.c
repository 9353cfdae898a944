/* precision_noise.c - what a correct engine may compute instead.
 *
 * Monte Carlo arithmetic (Parker, "Monte Carlo Arithmetic", UCLA 1997): a
 * kernel runs in float64, and each result is moved at random by as much as the
 * operation may be off where it is done in its own type, by whatever engine.
 * What reaches memory is then as far from the exact result as another
 * engine's is likely to be: errors that grow, cancel or belong together do so
 * here too, as they are followed by the arithmetic itself.
 *
 * An operation that rounds is off by half a unit in the last place at most.
 * Hardware approximates functions and quotients ("CUDA C++ Programming Guide",
 * table of intrinsic functions; "PTX ISA", .approx and .full).  A sum of n
 * terms is off by about sqrt(n) units of its partial sums, as roundings are as
 * good as independent (Higham and Mary, "A New Approach to Probabilistic
 * Rounding Error Analysis", 2019).  Products on tensor cores cut off what an
 * addition does not hold (Fasi et al., "Numerical Behavior of NVIDIA Tensor
 * Cores", 2021); of fp8 operands, Hopper's keep 14 bits of a sum.
 */
#include <math.h>
#include <string.h>

#include "interp/check/precision.h"
#include "interp/kernels.h"
#include "ir/libdevice.h"
#include "ir/lanes.h"

/* From -1 to 1, uniformly: SplitMix64. */
static inline double random_of(tkc_prec *p) {
  uint64_t z = p->noise += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (double)(int64_t)(z ^ z >> 31) * 0x1p-63;
}

static double unit_of(tk_dtype d) {
  return ldexp(1, -tk_float_digits(d));
}

/* How far a result may be off: by rounding, in units of the power of two below
 * it; relative to its size; by that times the size of its operand; and
 * absolutely. */
typedef struct noise {
  double rounding, relative, by_operand, absolute;
} noise;

/* The power of two at or below a normal number's size. */
static inline double power_below(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  u &= 0x7ff0000000000000;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* Functions are computed in fp32, and by approximation, also for narrower
 * types. */
static double units32(tk_dtype d, double n) {
  return n * unit_of(d == TK_FP64 ? TK_FP64 : TK_FP32);
}

static noise unary_noise(tk_unary op, tk_dtype d) {
  noise x = {.rounding = unit_of(d), .relative = units32(d, 4)};
  if (op == TK_U_NEG || op == TK_U_ABS || op == TK_U_FLOOR || op == TK_U_CEIL)
    return (noise){0, 0, 0, 0};
  if (op == TK_U_EXP || op == TK_U_EXP2) x.by_operand = units32(d, 1.5);
  if (op == TK_U_LOG || op == TK_U_LOG2) x.absolute = units32(d, 4);
  if (op == TK_U_SIN || op == TK_U_COS) x.absolute = units32(d, 8);
  return x;
}

static noise binary_noise(tk_binary op, tk_dtype d) {
  noise x = {.rounding = unit_of(d)};
  if (op == TK_B_DIV) x.relative = units32(d, 4);
  bool rounds = op == TK_B_ADD || op == TK_B_SUB || op == TK_B_MUL;
  return rounds || op == TK_B_DIV ? x : (noise){0, 0, 0, 0};
}

static noise cast_noise(const tk_inst *in) {
  tk_dtype from = (tk_dtype)in->from.elem, to = (tk_dtype)in->type.elem;
  bool widens =
      tk_is_float(from) && tk_float_digits(from) <= tk_float_digits(to);
  return (noise){.rounding = widens ? 0 : unit_of(to)};
}

static noise extern_noise(const tk_inst *in, tk_dtype d) {
  const tk_extern *e = tk_extern_at(tk_extern_function(in));
  double ulp = d == TK_FP64 ? e->bound64 : e->bound32;
  if (ulp == 0) return (noise){0, 0, 0, 0};
  /* The bounds are those of the interpreter: CUDA's are up to 8 ULP. */
  return (noise){.relative = fmax(2 * ulp, 16) * unit_of(d),
                 .absolute = units32(d, 1)};
}

static noise noise_of(const tk_inst *in) {
  tk_dtype d = (tk_dtype)in->type.elem;
  if (in->op == TK_I_UNARY) return unary_noise(tk_unary_op(in), d);
  if (in->op == TK_I_BINARY) return binary_noise(tk_binary_op(in), d);
  if (in->op == TK_I_CAST) return cast_noise(in);
  if (in->op == TK_I_EXTERN) return extern_noise(in, d);
  return (noise){.rounding = in->op == TK_I_FMA ? unit_of(d) : 0};
}

void tkc_prec_disturb(tkc_prec_result *r, size_t at, size_t n, const double *x,
                      bool one) {
  noise how = noise_of(r->in);
  double *e = (double *)tki_writable(&r->s->exact) + at;
  if (how.rounding == 0 && how.relative == 0 && how.absolute == 0) return;
  for (size_t i = 0; i < n; i++) {
    double size = how.by_operand > 0 ? fabs(x[one ? 0 : i]) : 0;
    if (!isfinite(e[i]) || !isfinite(size)) continue; /* as it is */
    double most = fabs(e[i]) * (how.relative + how.by_operand * size);
    most += power_below(e[i]) * how.rounding + how.absolute;
    e[i] += most * random_of(r->p);
  }
}

/* ---- sums and products of many lanes ------------------------------------- */

/* The unit that a sum is rounded in, and how many of n additions are. */
static double unit_of_sum(const tk_inst *in, tk_dtype d, size_t terms) {
  bool product = in->op == TK_I_DOT;
  if (product && tk_is_fp8((tk_dtype)in->from.elem))
    return 0x1p-13 * sqrt(1 + (double)terms / 32);
  return (product ? 2 : 1) * unit_of(d) * sqrt((double)terms);
}

void tkc_prec_disturb_sums(tkc_prec_result *r, size_t terms,
                           const double *squares) {
  double *e = tki_writable(&r->s->exact);
  double unit = unit_of_sum(r->in, r->d, terms);
  for (size_t i = 0; i < r->n; i++) {
    double size = fabs(e[i]);
    if (squares) size = fmax(size, sqrt(squares[i]));
    if (isfinite(size)) e[i] += unit * size * random_of(r->p);
  }
}

/* tf32 and bf16 cut off or round what they do not hold; that of several
 * products of parts is what the smallest part does not hold. */
void tkc_prec_disturb_operand(tkc_prec *p, const tk_inst *in, double *x,
                              size_t n) {
  static const double units[TK_P_COUNT] = {[TK_P_TF32] = 0x1p-10,
                                           [TK_P_TF32X3] = 0x1p-21,
                                           [TK_P_BF16X3] = 0x1p-16,
                                           [TK_P_BF16X6] = 0x1p-23};
  double unit = units[tk_dot_precision(in)];
  for (size_t i = 0; i < n; i++)
    if (isfinite(x[i])) x[i] -= x[i] * unit * (0.5 + 0.5 * random_of(p));
}

/* ---- the rest ------------------------------------------------------------ */

/* A function of the kernel that sums up n lanes rounds n times and more;
 * inline assembly may hold tanh.approx, which is off by 2^-11 (PTX ISA). */
double tkc_prec_unknown_noise(const tk_inst *in, tk_dtype d) {
  tk_lanes lanes = tk_inst_lanes(in);
  bool folds = lanes == TK_LANES_REDUCES || lanes == TK_LANES_SCANS;
  double terms = folds ? (double)tk_inst_axis_lanes(in) : 1;
  double most = unit_of(d) + units32(d, 4) * sqrt(terms);
  return in->op == TK_I_ASM && d != TK_FP64 ? most + 0x1p-11 : most;
}

void tkc_prec_disturb_lanes(tkc_prec *p, double *e, size_t n, double relative,
                            double least) {
  for (size_t i = 0; i < n; i++)
    if (isfinite(e[i]))
      e[i] += relative * fmax(fabs(e[i]), least) * random_of(p);
}

double tkc_prec_disturb_added(tkc_prec *p, tk_dtype d, double sum,
                              double term) {
  return sum + unit_of(d) * fmax(fabs(sum), fabs(term)) * random_of(p);
}
