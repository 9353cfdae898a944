/* swizzle.c - swizzles are found by trying them all. */
#include "nvptx/swizzle.h"

enum { BANKS = 32, BANK_BYTES = 4, ACCESS_BYTES = 16, LANES = 32 };

uint32_t tkv_swizzled(uint32_t number, const void *swizzle) {
  const tkv_swizzle *s = swizzle;
  uint32_t mask = ((uint32_t)1 << s->n) - 1;
  return number ^ (number >> s->from & mask) << s->to;
}

/* log2 of how many neighbours the lowest registers hold, that one access
 * takes. */
static int neighbours(const tkv_dist *places, size_t size) {
  int n = 0;
  while (n < places->nreg && places->reg[n] == (uint32_t)1 << n &&
         size << (n + 1) <= ACCESS_BYTES)
    n++;
  return n;
}

/* Lanes are served as many at a time as make up 128 bytes; each bank gives one
 * word a pass, to all that want it. */
int tkv_bank_passes(const tkv_dist *places, size_t size) {
  size_t width = size << neighbours(places, size);
  uint32_t together =
      width > BANK_BYTES ? LANES * BANK_BYTES / (uint32_t)width : LANES;
  int passes = 0;
  for (uint32_t begin = 0; begin < LANES; begin += together) {
    uint32_t word[LANES];
    int wanted[BANKS] = {0}, most = 1;
    for (uint32_t i = 0; i < together; i++) {
      uint32_t place = 0;
      bool again = false;
      for (int k = 0; k < TKV_LANE_BITS; k++)
        if ((begin + i) >> k & 1) place ^= places->lane[k];
      word[i] = (uint32_t)(place * size / BANK_BYTES);
      for (uint32_t j = 0; j < i; j++) again |= word[j] == word[i];
      int n = again ? 0 : ++wanted[word[i] % BANKS];
      if (n > most) most = n;
    }
    passes += most;
  }
  return passes;
}

static int passes_of_both(const tkv_dist *written, const tkv_dist *read,
                          size_t size, const tkv_swizzle *s) {
  tkv_dist w = tkv_dist_map(written, tkv_swizzled, s),
           r = tkv_dist_map(read, tkv_swizzled, s);
  return tkv_bank_passes(&w, size) + tkv_bank_passes(&r, size);
}

tkv_swizzle tkv_find_swizzle(const tkv_dist *written, const tkv_dist *read,
                             size_t size) {
  enum { HIGHEST = 16, BANK_BITS = 5, VECTOR_BITS = 4 };
  tkv_swizzle best = {0};
  int least = passes_of_both(written, read, size, &best);
  for (int to = 0; to <= VECTOR_BITS; to++)
    for (int n = 1; n <= BANK_BITS; n++)
      for (int from = to + n; from + n <= HIGHEST; from++) {
        tkv_swizzle s = {from, n, to};
        int passes = passes_of_both(written, read, size, &s);
        if (passes >= least) continue;
        best = s;
        least = passes;
      }
  return best;
}
