/* gen_convert.c - converts a block to another layout: by renaming registers if
 * every thread already holds what it needs, by shuffles if every warp does,
 * and through shared memory otherwise. */
#include "nvptx/shared.h"

#include <string.h>

enum {
  MOST_SHUFFLES = 16, /* more would take longer than shared memory */
  /* bytes that are exchanged at a time: every GPU has that much shared
   * memory */
  MOST_BYTES = 48 << 10,
};

/* The registers by their new names; NULL: a thread needs lanes that it does
 * not hold. */
static tkv_reg *renamed_registers(tkv_gen *g, const tkv_version *from,
                                  const tkv_dist *to) {
  if (memcmp(from->dist.lane, to->lane, sizeof to->lane) ||
      memcmp(from->dist.warp, to->warp, sizeof to->warp))
    return NULL;
  tkv_reg *reg = tkv_new_regs(g, to);
  for (uint32_t r = 0; r < (uint32_t)1 << to->nreg; r++) {
    int at = tkv_dist_find(&from->dist, tkv_dist_reg(to, r));
    if (at < 0) return NULL;
    reg[r] = from->reg[at];
  }
  return reg;
}

/* ---- shuffles ------------------------------------------------------------ */

tkv_reg tkv_shuffle(tkv_code *c, const tk_type *t, tkv_reg x, const char *mode,
                    tkv_reg by) {
  int bits = tkv_lane_bits(t), halves = bits == 64 ? 2 : 1;
  int32_t lanes = TKV_MUTANT(SHUFFLE_MASK) ? 65535 : -1;
  tkv_reg b = tkv_to_bits(c, x), half[2];
  if (bits < 32) b = tkv_zext(c, b, TKV_I32);
  for (int i = 0; i < halves; i++) {
    half[i] = b;
    if (bits == 64)
      half[i] = tkv_trunc(c, i ? tkv_lshr_n(c, b, 32) : b, TKV_I32);
    half[i] = tkv_shuffle_word(c, mode, lanes, half[i], by);
  }
  b = half[0];
  if (bits == 64) {
    tkv_reg low = tkv_zext(c, half[0], TKV_I64),
            high = tkv_zext(c, half[1], TKV_I64);
    high = tkv_shl_n(c, high, 32);
    b = tkv_or(c, low, high);
  } else if (bits < 32) {
    b = tkv_trunc(c, b, TKV_INT_OF(bits));
  }
  return tkv_from_bits(c, t, b);
}

/* The lane of a warp, as far as these bits of a block's number decide it. */
static uint32_t lane_of_number(const tkv_dist *d, uint32_t number) {
  uint32_t lane = 0;
  for (int i = 0; i < TKV_LANE_BITS; i++)
    if (d->lane[i] & number) lane |= (uint32_t)1 << i;
  return lane;
}

/* The lane of the warp that holds what a thread needs, as far as the thread's
 * own number decides it. */
static tkv_reg source_lane(tkv_code *c, const tkv_dist *d, tkv_reg number,
                           uint32_t threads) {
  tkv_reg lane = tkv_i32(0);
  for (int i = 0; i < TKV_LANE_BITS; i++) {
    if (!(d->lane[i] & threads)) continue;
    tkv_reg bit = tkv_and_n(c, number, d->lane[i]);
    bit = tkv_move_bits(c, bit, i - __builtin_ctz(d->lane[i]));
    lane = tkv_or(c, lane, bit);
  }
  return lane;
}

/* Each thread takes its registers from the lanes that hold them; NULL: another
 * warp holds them, or it would take too many shuffles. If the thread's own
 * number decides which register of the other lane is needed, both candidates
 * are shuffled and one is selected. */
static tkv_reg *shuffled_registers(tkv_gen *g, const tk_type *t,
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
  tkv_code *c = g->code;
  tkv_reg number = tkv_thread_number(c, to),
          lane = source_lane(c, d, number, threads), second = TKV_NO_REG,
          *reg = tkv_new_regs(g, to);
  if (chosen)
    second = tkv_compare_n(c, TKV_NE, tkv_and_n(c, number, chosen), 0);
  for (uint32_t r = 0; r < (uint32_t)1 << to->nreg; r++) {
    uint32_t first = tkv_dist_canonical(to, r), part = tkv_dist_reg(to, r);
    reg[r] = reg[first];
    if (first < r) continue;
    tkv_reg source = tkv_or_n(c, lane, lane_of_number(d, part));
    int own = tkv_dist_find(d, part & held),
        other = tkv_dist_find(d, (part & held) | chosen);
    TK_ASSERT(own >= 0 && other >= 0);
    reg[r] = tkv_shuffle(c, t, from->reg[own], "idx", source);
    if (chosen)
      reg[r] = tkv_select(c, second,
                          tkv_shuffle(c, t, from->reg[other], "idx", source),
                          reg[r]);
  }
  return reg;
}

/* ---- shared memory ------------------------------------------------------- */

/* The bits of lanes' numbers that split a block into rounds of at most
 * MOST_BYTES. Bits that registers stand for in both layouts are taken first,
 * so that no thread has to check whether it takes part in a round; among them,
 * the highest first. */
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

tkv_reg *tkv_convert_in_warp(tkv_gen *g, const tk_type *t,
                             const tkv_version *from, const tkv_dist *to) {
  tkv_reg *reg = renamed_registers(g, from, to);
  return reg ? reg : shuffled_registers(g, t, from, to);
}

tkv_reg *tkv_convert(tkv_gen *g, const tk_type *t, const tkv_version *from,
                     const tkv_dist *to) {
  tkv_reg *reg = tkv_convert_in_warp(g, t, from, to);
  if (reg) return reg;
  uint32_t mask = bits_of_rounds(t, &from->dist, to), round = 0;
  tkv_dist written = tkv_dist_map(&from->dist, without_bits, &mask),
           read = tkv_dist_map(to, without_bits, &mask);
  tk_type in_a_round = *t;
  if (mask) { /* a round has no axes */
    in_a_round.rank = 1;
    in_a_round.shape[0] = (int32_t)(tk_numel(t) >> __builtin_popcount(mask));
  }
  tkv_places p = tkv_find_places(&in_a_round, &written, &read);
  tkv_dist all = tkv_all_numbers(t);
  all = tkv_dist_map(&all, without_bits, &mask);
  tkv_note_exchange(g, &(tkv_exchange){g->inst, *t, all, written, read, p});
  written = tkv_dist_map(&written, tkv_place, &p);
  if (TKV_MUTANT(SWIZZLE)) p.swizzle.from++;
  read = tkv_dist_map(&read, tkv_place, &p);
  reg = tkv_new_regs(g, to);
  do {
    tkv_part part = {mask, round};
    bool last = mask && round == mask;
    tkv_stretch in = {t, &written, part, TKV_NO_REG};
    if (!(TKV_MUTANT(ROUNDS) && last)) tkv_share_part(g, from, &in, 0);
    if (!TKV_MUTANT(BARRIER_READ)) tkv_meet(g->code);
    tkv_stretch out = {t, &read, part, tkv_scratch_at(g, 0)};
    tkv_read_part(g, to, &out, reg);
    round = (round - mask) & mask; /* the next value of these bits */
  } while (round);
  return reg;
}
