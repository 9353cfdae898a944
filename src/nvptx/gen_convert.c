/* gen_convert.c - the same block in another layout: by other names where each
 * thread has what it needs, by shuffles where each warp has, and through
 * shared memory. */
#include "nvptx/gen.h"

#include <string.h>

enum {
  MOST_SHUFFLES = 16,    /* more take longer than shared memory does */
  MOST_BYTES = 48 << 10, /* at a time: what every GPU gives every program */
};

/* Whether each thread has what it needs; then only names change. */
static const char **renamed_registers(tkv_gen *g, const tkv_version *from,
                                      const tkv_dist *to) {
  if (memcmp(from->dist.lane, to->lane, sizeof to->lane) ||
      memcmp(from->dist.warp, to->warp, sizeof to->warp))
    return NULL;
  const char **reg = tkv_new_names(g, to);
  for (uint32_t r = 0; r < (uint32_t)1 << to->nreg; r++) {
    int at = tkv_dist_find(&from->dist, tkv_dist_reg(to, r));
    if (at < 0) return NULL;
    reg[r] = from->reg[at];
  }
  return reg;
}

/* ---- shuffles ------------------------------------------------------------ */

const char *tkv_shuffle(tkv_gen *g, const tk_type *t, const char *x,
                        const char *mode, const char *by) {
  int bits = tkv_lane_bits(t);
  const char *b = tkv_to_bits(g, t, x), *half[2];
  if (bits < 32) b = tkv_emit(g, "zext i%d %s to i32", bits, b);
  for (int i = 0; i < (bits == 64 ? 2 : 1); i++) {
    half[i] = b;
    if (bits == 64) {
      half[i] = i ? tkv_emit(g, "lshr i64 %s, 32", b) : b;
      half[i] = tkv_emit(g, "trunc i64 %s to i32", half[i]);
    }
    half[i] =
        tkv_emit(g,
                 "call i32 @llvm.nvvm.shfl.sync.%s.i32(i32 %d, i32 %s, "
                 "i32 %s, i32 31)",
                 mode, TKV_MUTANT(SHUFFLE_MASK) ? 65535 : -1, half[i], by);
  }
  b = half[0];
  if (bits == 64) {
    const char *low = tkv_emit(g, "zext i32 %s to i64", half[0]),
               *high = tkv_emit(g, "zext i32 %s to i64", half[1]);
    high = tkv_emit(g, "shl i64 %s, 32", high);
    b = tkv_emit(g, "or i64 %s, %s", low, high);
  } else if (bits < 32) {
    b = tkv_emit(g, "trunc i32 %s to i%d", b, bits);
  }
  return tkv_from_bits(g, t, b);
}

/* The lane that holds a number, as far as its bits are in `number`. */
static uint32_t lane_of_number(const tkv_dist *d, uint32_t number) {
  uint32_t lane = 0;
  for (int i = 0; i < TKV_LANE_BITS; i++)
    if (d->lane[i] & number) lane |= (uint32_t)1 << i;
  return lane;
}

/* Each warp has what it needs: a thread takes each register from the lane that
 * holds it.  Where a bit of that lane's register is one of the thread's own
 * number, both registers come, and one is chosen. */
static const char **shuffled_registers(tkv_gen *g, const tk_type *t,
                                       const tkv_version *from,
                                       const tkv_dist *to) {
  const tkv_dist *d = &from->dist;
  uint32_t held = 0, threads = tkv_dist_threads(to), kept = 0;
  for (int i = 0; i < d->nwarp; i++)
    if (d->warp[i] && d->warp[i] != to->warp[i]) return NULL;
  for (int i = 0; i < d->nreg; i++) held |= d->reg[i];
  for (int i = 0; i < to->nreg; i++) kept += to->reg[i] != 0;
  uint32_t chosen = held & threads;
  int each = (chosen ? 2 : 1) * (tkv_lane_bits(t) == 64 ? 2 : 1);
  if ((chosen & (chosen - 1)) || each << kept > MOST_SHUFFLES) return NULL;
  const char *number = tkv_thread_number(g, to), *lane = "0", *second = NULL;
  for (int i = 0; i < TKV_LANE_BITS; i++) {
    if (!(d->lane[i] & threads)) continue;
    int down = __builtin_ctz(d->lane[i]) - i;
    const char *bit = tkv_emit(g, "and i32 %s, %u", number, d->lane[i]);
    if (down)
      bit = tkv_emit(g, "%s i32 %s, %d", down > 0 ? "lshr" : "shl", bit,
                     down > 0 ? down : -down);
    lane = tkv_emit(g, "or i32 %s, %s", lane, bit);
  }
  if (chosen) {
    second = tkv_emit(g, "and i32 %s, %u", number, chosen);
    second = tkv_emit(g, "icmp ne i32 %s, 0", second);
  }
  const char **reg = tkv_new_names(g, to), *type = tkv_lane_type(t);
  for (uint32_t r = 0; r < (uint32_t)1 << to->nreg; r++) {
    uint32_t first = tkv_dist_canonical(to, r), part = tkv_dist_reg(to, r);
    reg[r] = reg[first];
    if (first < r) continue;
    const char *source =
        tkv_emit(g, "or i32 %s, %u", lane, lane_of_number(d, part));
    reg[r] = tkv_shuffle(g, t, from->reg[tkv_dist_find(d, part & held)], "idx",
                         source);
    if (!second) continue;
    int other = tkv_dist_find(d, (part & held) | chosen);
    reg[r] = tkv_emit(g, "select i1 %s, %s %s, %s %s", second, type,
                      tkv_shuffle(g, t, from->reg[other], "idx", source), type,
                      reg[r]);
  }
  return reg;
}

/* ---- shared memory
 * ------------------------------------------------------------------ */

/* Bits of lanes' numbers that tell apart what is exchanged at a time: those
 * that are registers' in both layouts first, since no thread then has to look
 * whether it takes part; the highest first. */
static uint32_t bits_of_rounds(const tk_type *t, const tkv_dist *from,
                               const tkv_dist *to) {
  uint32_t a = 0, b = 0, mask = 0;
  int64_t bytes = tk_numel(t) * (int64_t)tk_lane_size(t);
  for (int i = 0; i < from->nreg; i++) a |= from->reg[i];
  for (int i = 0; i < to->nreg; i++) b |= to->reg[i];
  for (int both = 1; both >= 0; both--)
    for (int64_t bit = tk_numel(t) / 2; bit && bytes > MOST_BYTES; bit /= 2) {
      if ((mask & bit) || (both && !(a & b & bit))) continue;
      mask |= (uint32_t)bit;
      bytes /= 2;
    }
  return mask;
}

static uint32_t without_bits(uint32_t number, const void *ud) {
  uint32_t mask = *(const uint32_t *)ud, out = 0;
  for (int i = 0, to = 0; i < 32; i++)
    if (!(mask >> i & 1)) out |= (number >> i & 1) << to++;
  return out;
}

const char **tkv_convert_in_warp(tkv_gen *g, const tk_type *t,
                                 const tkv_version *from, const tkv_dist *to) {
  const char **reg = renamed_registers(g, from, to);
  return reg ? reg : shuffled_registers(g, t, from, to);
}

const char **tkv_convert(tkv_gen *g, const tk_type *t, const tkv_version *from,
                         const tkv_dist *to) {
  const char **reg = tkv_convert_in_warp(g, t, from, to);
  if (reg) return reg;
  uint32_t mask = bits_of_rounds(t, &from->dist, to), round = 0;
  tkv_dist written = tkv_dist_map(&from->dist, without_bits, &mask),
           read = tkv_dist_map(to, without_bits, &mask);
  tk_type in_a_round = *t;
  if (mask) { /* axes are no more */
    in_a_round.rank = 1;
    in_a_round.shape[0] = (int32_t)(tk_numel(t) >> __builtin_popcount(mask));
  }
  tkv_places p = tkv_find_places(&in_a_round, &written, &read);
  written = tkv_dist_map(&written, tkv_place, &p);
  if (TKV_MUTANT(SWIZZLE)) p.swizzle.from++;
  read = tkv_dist_map(&read, tkv_place, &p);
  reg = tkv_new_names(g, to);
  do {
    tkv_part part = {mask, round};
    bool last = mask && round == mask;
    if (!(TKV_MUTANT(ROUNDS) && last))
      tkv_share_part(g, t, from, &written, part, 0);
    if (!TKV_MUTANT(BARRIER_READ)) tkv_barrier(g);
    tkv_read_part(g, t, to, &read, part, tkv_scratch_at(g, 0), reg);
    round = (round - mask) & mask; /* the next number of these bits */
  } while (round);
  return reg;
}
