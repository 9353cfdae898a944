/* number.c - which lane a register of this thread holds: its number. */
#include "nvptx/lane.h"

static tkv_reg lane_of_thread(void) {
  return tkv_named_reg(TKV_LANE);
}

static tkv_reg warp_of_thread(void) {
  return tkv_named_reg(TKV_WARP);
}

/* Adds to a sum, which may be "no register" so far. */
static tkv_reg xor_to(tkv_code *c, tkv_reg sum, tkv_reg x) {
  return tkv_exists(sum) ? tkv_xor(c, sum, x) : x;
}

/* Adds to `sum` what the n bits of `x` contribute to the number; consecutive
 * bits with consecutive bases are moved together. */
static tkv_reg add_bits(tkv_code *c, tkv_reg sum, tkv_reg x,
                        const uint32_t *basis, int n) {
  uint32_t rest[TKV_LANE_BITS + TKV_WARP_BITS] = {0}, more = 0;
  TK_ASSERT(n <= TKV_LANE_BITS + TKV_WARP_BITS);
  for (int i = 0, k; i < n; i = k) {
    uint32_t low = basis[i] & -basis[i];
    for (k = i + 1; k < n && low && (basis[k] & -basis[k]) == low << (k - i);)
      k++;
    for (int j = i; j < k; j++) more |= rest[j] = basis[j] & (basis[j] - 1);
    if (!low) continue;
    uint32_t mask = (((uint32_t)1 << (k - i)) - 1) << i;
    tkv_reg part = tkv_and_n(c, x, mask);
    sum = xor_to(c, sum, tkv_move_bits(c, part, __builtin_ctz(low) - i));
  }
  return more ? add_bits(c, sum, x, rest, n) : sum;
}

tkv_reg tkv_thread_number(tkv_code *c, const tkv_dist *d) {
  tkv_reg sum =
      add_bits(c, TKV_NO_REG, lane_of_thread(), d->lane, TKV_LANE_BITS);
  sum = add_bits(c, sum, warp_of_thread(), d->warp, d->nwarp);
  return tkv_exists(sum) ? sum : tkv_i32(0);
}

tkv_reg tkv_number_with(tkv_code *c, const tkv_dist *d, tkv_reg thread,
                        uint32_t part) {
  uint32_t both = part & tkv_dist_threads(d);
  if (both) thread = tkv_xor_n(c, thread, both);
  part &= ~both;
  return part ? tkv_add_n(c, thread, part) : thread;
}

tkv_reg tkv_number(tkv_code *c, const tkv_dist *d, tkv_reg thread, uint32_t r) {
  return tkv_number_with(c, d, thread, tkv_dist_reg(d, r));
}

/* The bits of a thread's place that choose between copies. */
static uint32_t copies_among(const uint32_t *basis, int n) {
  uint32_t mask = 0;
  for (int i = 0; i < n; i++)
    if (!basis[i]) mask |= (uint32_t)1 << i;
  return mask;
}

tkv_reg tkv_is_first(tkv_code *c, const tkv_dist *d) {
  uint32_t lanes = copies_among(d->lane, TKV_LANE_BITS),
           warps = copies_among(d->warp, d->nwarp);
  tkv_reg lane = TKV_NO_REG, warp = TKV_NO_REG;
  if (lanes) lane = tkv_and_n(c, lane_of_thread(), lanes);
  if (warps) warp = tkv_and_n(c, warp_of_thread(), warps);
  if (!lanes && !warps) return TKV_NO_REG;
  if (lanes && warps) lane = tkv_or(c, lane, warp);
  return tkv_compare_n(c, TKV_EQ, lanes ? lane : warp, 0);
}

tkv_reg tkv_index_of(tkv_code *c, const tk_type *t, int axis, tkv_reg number) {
  tkv_reg x = tkv_lshr_n(c, number, tkv_axis_low(t, axis));
  return tkv_and_n(c, x, t->shape[axis] - 1);
}
