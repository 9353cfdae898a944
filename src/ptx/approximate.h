/* approximate.h - what PTX's approximate instructions give of an fp32 number.
 *
 * PTX says how far they may be off (PTX ISA, "Floating Point Instructions"),
 * not what they give.  Here it is the correctly rounded result, or for few
 * arguments a neighbour of it: trans.h, in double, rounded once.  The PTX
 * interpreter, inline assembly and the interpreter's device numerics share
 * these, so that their bits agree; a GPU's are others, within PTX's bounds.
 */
#ifndef TK_PTX_APPROXIMATE_H
#define TK_PTX_APPROXIMATE_H

#include <math.h>
#include <stdbool.h>

#include "base/trans.h"

/* Of an instruction with .ftz: a subnormal number is zero. */
static inline float tkp_flushed(float a, bool ftz) {
  return ftz && fpclassify(a) == FP_SUBNORMAL ? copysignf(0, a) : a;
}
static inline double tkp_approximate_sqrt(double a) {
  return sqrtf((float)a);
}
static inline double tkp_approximate_ex2(double a) {
  return tkm_exp2f(a);
}
static inline double tkp_approximate_lg2(double a) {
  return tkm_log2f(a);
}
static inline double tkp_approximate_rsqrt(double a) {
  return tkm_rsqrtf(a);
}
static inline double tkp_approximate_sin(double a) {
  return tkm_sinf_any(a);
}
static inline double tkp_approximate_cos(double a) {
  return tkm_cosf_any(a);
}
static inline double tkp_approximate_tanh(double a) {
  return tkm_tanhf(a);
}

#endif
