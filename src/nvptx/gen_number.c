/* gen_number.c - which lane a register of this thread holds: its number. */
#include "nvptx/gen.h"

/* Bits of `x` that become bits of the number: those whose bases follow one
 * another, at once.  Xors what they make of it to `sum`. */
static const char *add_bits(tkv_gen *g, const char *sum, const char *x,
                            const uint32_t *basis, int n) {
  uint32_t rest[TKV_LANE_BITS + TKV_WARP_BITS] = {0}, more = 0;
  for (int i = 0, k; i < n; i = k) {
    uint32_t low = basis[i] & -basis[i];
    for (k = i + 1; k < n && low && (basis[k] & -basis[k]) == low << (k - i);)
      k++;
    for (int j = i; j < k; j++) more |= rest[j] = basis[j] & (basis[j] - 1);
    if (!low) continue;
    int up = __builtin_ctz(low) - i;
    uint32_t mask = (((uint32_t)1 << (k - i)) - 1) << i;
    const char *part = tkv_emit(g, "and i32 %s, %u", x, mask);
    if (up)
      part = tkv_emit(g, "%s i32 %s, %d", up > 0 ? "shl" : "lshr", part,
                      up > 0 ? up : -up);
    sum = sum ? tkv_emit(g, "xor i32 %s, %s", sum, part) : part;
  }
  return more ? add_bits(g, sum, x, rest, n) : sum;
}

const char *tkv_thread_number(tkv_gen *g, const tkv_dist *d) {
  const char *sum = add_bits(g, NULL, g->lane, d->lane, TKV_LANE_BITS);
  sum = add_bits(g, sum, g->warp, d->warp, d->nwarp);
  return sum ? sum : "0";
}

const char *tkv_number_with(tkv_gen *g, const tkv_dist *d, const char *thread,
                            uint32_t part) {
  uint32_t both = part & tkv_dist_threads(d);
  if (both) thread = tkv_emit(g, "xor i32 %s, %u", thread, both);
  part &= ~both;
  return part ? tkv_emit(g, "add i32 %s, %u", thread, part) : thread;
}

const char *tkv_number(tkv_gen *g, const tkv_dist *d, const char *thread,
                       uint32_t r) {
  return tkv_number_with(g, d, thread, tkv_dist_reg(d, r));
}

const char *tkv_is_first(tkv_gen *g, const tkv_dist *d) {
  uint32_t lanes = 0, warps = 0;
  const char *lane = NULL, *warp = NULL;
  for (int i = 0; i < TKV_LANE_BITS; i++)
    if (!d->lane[i]) lanes |= (uint32_t)1 << i;
  for (int i = 0; i < d->nwarp; i++)
    if (!d->warp[i]) warps |= (uint32_t)1 << i;
  if (lanes) lane = tkv_emit(g, "and i32 %s, %u", g->lane, lanes);
  if (warps) warp = tkv_emit(g, "and i32 %s, %u", g->warp, warps);
  if (!lane && !warp) return NULL;
  if (lane && warp) lane = tkv_emit(g, "or i32 %s, %s", lane, warp);
  return tkv_emit(g, "icmp eq i32 %s, 0", lane ? lane : warp);
}

const char *tkv_index_of(tkv_gen *g, const tk_type *t, int axis,
                         const char *number) {
  const char *x = tkv_emit(g, "lshr i32 %s, %d", number, tkv_axis_low(t, axis));
  return tkv_emit(g, "and i32 %s, %d", x, t->shape[axis] - 1);
}
