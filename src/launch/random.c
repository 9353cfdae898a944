/* random.c - PyTorch's CPU generator.
 *
 * torch.manual_seed(s) seeds a 32-bit Mersenne twister (Matsumoto and
 * Nishimura, init_genrand) with the low 32 bits of s.  torch.rand takes the
 * low 24 bits of one draw a lane, rounded where the type is smaller; a double
 * takes 53 bits of two draws, the first of them the upper half.  torch.randn of
 * 16 or more lanes fills all with uniforms and turns each 16 of them into
 * normals (Box-Muller: 8 radii, 8 angles); lanes left over at the end are made
 * by redoing the last 16 with fresh draws.  Fewer lanes are made one by one in
 * double, two a draw pair.
 *
 * rand and randint have PyTorch's bits.  randn takes the same draws through
 * the same steps, each rounded to the type; PyTorch's vectorised logarithm
 * and cosine differ from the C library's in the last place of some lanes.
 */
#include "internal.h"

#include <math.h>
#include <string.h>

enum { N = 624, M = 397 };

/* ---- the twister ------------------------------------------------------- */

void tkn_random_start(tkn_random *r, tk_env *e, uint64_t seed) {
  memset(r, 0, sizeof *r);
  r->env = e;
  r->mt[0] = (uint32_t)seed;
  for (uint32_t i = 1; i < N; i++)
    r->mt[i] = 1812433253u * (r->mt[i - 1] ^ r->mt[i - 1] >> 30) + i;
  r->at = N;
}

/* Whoever draws values comes here once in 624 of them, so that Ctrl-C is looked
 * for here. */
static void twist(tkn_random *r) {
  if (r->env) tk_check_interrupt(r->env);
  uint32_t *mt = r->mt;
  for (int i = 0; i < N; i++) {
    uint32_t y = (mt[i] & 0x80000000) | (mt[(i + 1) % N] & 0x7fffffff);
    mt[i] = mt[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0df : 0);
  }
  r->at = 0;
}

static uint32_t draw(tkn_random *r) {
  if (r->at == N) twist(r);
  uint32_t y = r->mt[r->at++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680;
  y ^= y << 15 & 0xefc60000;
  return y ^ y >> 18;
}

static uint64_t draw64(tkn_random *r) {
  uint64_t hi = draw(r);
  return hi << 32 | draw(r);
}

/* ---- uniforms ---------------------------------------------------------- */

static double uniform(tkn_random *r, int bits) {
  uint64_t u = bits > 32 ? draw64(r) : draw(r);
  return ldexp((double)(u & (((uint64_t)1 << bits) - 1)), -bits);
}

/* A float that a smaller type rounds to 1 becomes 0: the range is [0, 1).
 * (PyTorch has no 8-bit rand; ours follows the same rule.) */
void tkn_rand(tkn_random *r, tk_dtype d, void *out, size_t n) {
  size_t size = tk_dtypes[d].size;
  for (size_t i = 0; i < n; i++) {
    char *lane = (char *)out + i * size;
    tk_lane_set_double(d, lane, uniform(r, d == TK_FP64 ? 53 : 24));
    if (tk_lane_double(d, lane) >= 1) memset(lane, 0, size);
  }
}

void tk_random_rand(uint64_t seed, float *out, size_t n) {
  tkn_random r;
  tkn_random_start(&r, NULL, seed);
  tkn_rand(&r, TK_FP32, out, n);
}

/* From 2^28 values on, PyTorch takes 64 bits to keep the modulo fair. */
void tkn_randint(tkn_random *r, tk_dtype d, void *out, size_t n, int64_t lo,
                 int64_t hi) {
  uint64_t range = (uint64_t)hi - (uint64_t)lo;
  bool wide = range >= (uint64_t)1 << 28;
  for (size_t i = 0; i < n; i++) {
    uint64_t u = wide ? draw64(r) : draw(r);
    int64_t v = (int64_t)(u % range + (uint64_t)lo);
    tk_lane_set_int(d, (char *)out + i * tk_dtypes[d].size, v);
  }
}

/* ---- normals ----------------------------------------------------------- */

static const double two_pi = 6.283185307179586476925286766559;

/* v, as the type holds it. */
static double in(tk_dtype d, double v) {
  uint64_t lane;
  tk_lane_set_double(d, &lane, v);
  return tk_lane_double(d, &lane);
}

/* 8 radii and 8 angles, as uniforms, become 16 normals; d is a float or a
 * double. */
static void box_muller(tk_dtype d, char *data) {
  size_t size = tk_dtypes[d].size;
  for (int i = 0; i < 8; i++) {
    char *a = data + (size_t)i * size, *b = a + 8 * size;
    double u1 = in(d, 1 - tk_lane_double(d, a)), u2 = tk_lane_double(d, b);
    double radius = in(d, sqrt(in(d, -2 * in(d, log(u1)))));
    double theta = in(d, in(d, two_pi) * u2);
    tk_lane_set_double(d, a, radius * in(d, cos(theta)));
    tk_lane_set_double(d, b, radius * in(d, sin(theta)));
  }
}

static double normal(tkn_random *r) {
  r->has_next = !r->has_next;
  if (!r->has_next) return r->next;
  double u1 = uniform(r, 53), u2 = uniform(r, 53);
  double radius = sqrt(-2 * log1p(-u2)), theta = two_pi * u1;
  r->next = radius * sin(theta);
  return radius * cos(theta);
}

static void randn_wide(tkn_random *r, tk_dtype d, char *out, size_t n) {
  size_t size = tk_dtypes[d].size;
  tkn_rand(r, d, out, n);
  for (size_t i = 0; i + 16 <= n; i += 16) {
    if (r->env) tk_check_step(r->env, i / 16);
    box_muller(d, out + i * size);
  }
  if (n % 16 == 0) return;
  tkn_rand(r, d, out + (n - 16) * size, 16);
  box_muller(d, out + (n - 16) * size);
}

/* Types below float are made in float, a block at a time. */
static void randn_narrow(tkn_random *r, tk_dtype d, char *out, size_t n) {
  float block[16];
  for (size_t i = 0; i < n; i += 16) {
    if (i + 16 > n) i = n - 16;
    tkn_rand(r, TK_FP32, block, 16);
    box_muller(TK_FP32, (char *)block);
    for (size_t j = 0; j < 16; j++)
      tk_lane_set_double(d, out + (i + j) * tk_dtypes[d].size,
                         (double)block[j]);
  }
}

void tkn_randn(tkn_random *r, tk_dtype d, void *out, size_t n) {
  size_t size = tk_dtypes[d].size;
  if (n >= 16 && size >= 4)
    randn_wide(r, d, out, n);
  else if (n >= 16)
    randn_narrow(r, d, out, n);
  else
    for (size_t i = 0; i < n; i++)
      tk_lane_set_double(d, (char *)out + i * size, normal(r));
}

void tk_random_randn(tk_env *e, uint64_t seed, float *out, size_t n) {
  (void)e;
  tkn_random r;
  tkn_random_start(&r, NULL, seed);
  tkn_randn(&r, TK_FP32, out, n);
}
