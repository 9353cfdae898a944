/* precision_sizes.c - how far a number of a format may be off, and how large
 * the numbers of a launch are. */
#include <math.h>
#include <string.h>

#include "interp/check/precision.h"

/* ---- bounds -------------------------------------------------------------- */

double tkc_prec_smallest(tk_dtype d) {
  switch (d) {
  case TK_FP64: return 0x1p-1022;
  case TK_FP16: return 0x1p-14;
  case TK_FP32:
  case TK_BF16: return 0x1p-126;
  case TK_FP8E5:
  case TK_FP8E5B16: return 0x1p-14;
  default: return 0x1p-6;
  }
}

/* fp32 must keep ten bits; narrow formats may be off by 32 units of rounding,
 * and by 4 if a running sum is kept in them. */
double tkc_prec_bound(tk_dtype d, bool sum) {
  int digits = tk_float_digits(d);
  if (digits > 11) return 0x1p-10;
  return ldexp(sum && digits > 4 ? 4 : 32, -digits);
}

tk_dtype tkc_prec_coarser(tk_dtype a, tk_dtype b) {
  return tk_float_digits(b) < tk_float_digits(a) ? b : a;
}

/* ---- sizes of numbers ---------------------------------------------------- */

void tkc_prec_size(tkc_prec_sizes *s, double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  if (x == 0 || !isfinite(x)) return;
  s->count[u >> 52 & (TKC_PREC_SIZES - 1)]++;
  s->n++;
  s->squares += x * x;
}

/* A power of two near the median; 0 when nothing is known. */
double tkc_prec_median(const tkc_prec_sizes *s) {
  uint32_t seen = 0;
  for (int i = 0; s && s->n && i < TKC_PREC_SIZES; i++) {
    seen += s->count[i];
    if (2 * seen >= s->n) return ldexp(1, i - 1023);
  }
  return 0;
}

double tkc_prec_rms(const tkc_prec_sizes *s) {
  return s && s->n ? sqrt(s->squares / s->n) : 0;
}

/* An error of a few units of rounding of numbers that are 32 times as large as
 * the kernel's inputs, or as 1 if those are large, is not reported: sums of
 * a thousand products are that large, and what they leave where they cancel
 * by the formula is no more. */
double tkc_prec_noise(const tkc_prec *p) {
  double inputs = p->inputs.n ? tkc_prec_median(&p->inputs) : 1;
  return 0x1p-16 * fmin(1, inputs);
}
