/* trans.c - sines of large numbers: reduction with as many digits of pi as
 * the argument has powers of two (Payne and Hanek, 1983).
 */
#include "base/trans.h"

typedef unsigned __int128 wide;

/* 2/pi in binary, from 2^-1 on. */
static const uint32_t TWO_OVER_PI[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                       0xf534ddc0, 0xdb629599, 0x3c439041,
                                       0xfe5163ab, 0xdebbc561, 0xb7246e3a};

/* 104 bits of 2/pi, the first worth 2^-(from + 1). */
static wide window(int from) {
  wide w = 0;
  for (int i = 0; i < 104; i++) {
    int bit = from + i;
    uint32_t word = bit < 0 ? 0 : TWO_OVER_PI[bit / 32];
    w = w << 1 | (bit < 0 ? 0 : word >> (31 - bit % 32) & 1);
  }
  return w;
}

/* a's 24 digits m are worth 2^e; bits of 2/pi worth more than 2^(1 - e) only
 * add multiples of four to m 2^e 2/pi.  Gives r in [-pi/4, pi/4] and the
 * quarters. */
static double reduce_large(double a, uint64_t *quarters) {
  int e = ilogb(a) - 23;
  wide m = (wide)scalbn(fabs(a), -e);
  /* The window's first bit is worth 2^(1 - e): the product, modulo 2^104,
   * is the quarters (2 bits) and a fraction of 102 bits. */
  wide p = (m * window(e - 2)) << 24;
  *quarters = (uint64_t)(p >> 126);
  wide rest = p << 2;
  int up = (int)(rest >> 127);
  *quarters += (uint64_t)up;
  wide size = up ? -rest : rest;
  double f =
      ((double)(uint64_t)(size >> 64) + (double)(uint64_t)size * 0x1p-64) *
      0x1p-64;
  double r = f * 0x1.921fb54442d18p+0;
  return up ? -r : r;
}

static double sin_large(double a, uint64_t more) {
  uint64_t q;
  double r = reduce_large(a, &q);
  if (a < 0) { /* everything was done for |a| */
    r = -r;
    q = -q;
  }
  return tkm_sin_quarter(r, q + more);
}

double tkm_sinf_any(double a) {
  if (fabs(a) <= TKM_REDUCE_MAX) return tkm_sinf(a);
  return isfinite(a) ? sin_large(a, 0) : NAN;
}

double tkm_cosf_any(double a) {
  if (fabs(a) <= TKM_REDUCE_MAX) return tkm_cosf(a);
  return isfinite(a) ? sin_large(a, 1) : NAN;
}
