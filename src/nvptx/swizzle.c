/* swizzle.c - swizzles are found by trying them all. */
#include "nvptx/swizzle.h"

#include <string.h>

enum { BANKS = 32, BANK_BYTES = 4, ACCESS_BYTES = 16 };

static uint32_t swizzled_place(uint32_t number, const tkv_swizzle *s) {
  uint32_t mask = ((uint32_t)1 << s->n) - 1;
  return number ^ (number >> s->from & mask) << s->to;
}

/* Whether all places but those of the lowest n registers are multiples of
 * 2^n. */
static bool is_aligned(const tkv_dist *places, int n) {
  uint32_t rest = tkv_dist_threads(places);
  for (int i = n; i < places->nreg; i++) rest |= places->reg[i];
  return !(rest & (((uint32_t)1 << n) - 1));
}

int tkv_neighbours(const tkv_dist *places, size_t size) {
  int n = 0;
  while (n < places->nreg && places->reg[n] == (uint32_t)1 << n &&
         size << (n + 1) <= ACCESS_BYTES)
    n++;
  while (!is_aligned(places, n)) n--;
  return n;
}

bool tkv_find_matrices(const tkv_dist *places, size_t size, uint32_t apart,
                       tkv_matrices *m) {
  enum { ROW_BYTES = 16, WORD_BYTES = 4 };
  if (size > WORD_BYTES) return false;
  const uint32_t *reg = places->reg, *lane = places->lane;
  int word = tkv_log2(WORD_BYTES / (int64_t)size), row = word + 2;
  bool straight = places->nreg >= word && lane[0] == (uint32_t)1 << word &&
                  lane[1] == (uint32_t)2 << word;
  for (int i = 0; straight && i < word; i++)
    straight = reg[i] == (uint32_t)1 << i;
  bool turned = size == 2 && places->nreg >= 1 && lane[2] == 1 &&
                lane[3] == 2 && lane[4] == 4;
  if (!straight && !turned) return false;
  *m = (tkv_matrices){.turned = !straight, .word = word};
  m->rows = (tkv_dist){.nreg = row, .nwarp = places->nwarp};
  for (int i = 0; i < row; i++) m->rows.reg[i] = (uint32_t)1 << i;
  memcpy(m->rows.warp, places->warp, sizeof m->rows.warp);
  for (int i = 0; i < 3; i++)
    m->rows.lane[i] = straight ? lane[2 + i] : i ? lane[i - 1] : reg[0];
  for (int i = word; i < places->nreg; i++) {
    bool free = reg[i] && !(apart >> i & 1);
    if (reg[i] & (((uint32_t)1 << row) - 1)) return false;
    if (free && m->n < 2) m->rows.lane[3 + m->n] = reg[i];
    if (free && m->n < 2) m->bit[m->n++] = i;
  }
  return is_aligned(&m->rows, row);
}

/* The rank of n words of which the bits in mask count: how many bits of a
 * lane's number lead to places of their own. */
static int swizzle_rank(const uint32_t *words, int n, uint32_t mask) {
  uint32_t found[TKV_LANE_BITS];
  int rank = 0;
  for (int i = 0; i < n; i++) {
    uint32_t rest = words[i] & mask;
    for (int k = 0; k < rank; k++)
      if ((rest ^ found[k]) < rest) rest ^= found[k];
    if (rest) found[rank++] = rest;
  }
  return rank;
}

/* How many passes over shared memory the accesses of a warp to a register, or
 * to as many as go together, take; 1 is best for 4 bytes and less a thread.
 *
 * Lanes are served as many at a time as make up 128 bytes; each bank gives one
 * word a pass, to all that want it.  Places are linear in the lanes' numbers,
 * so each bank that is hit has as many different words to give. */
typedef struct passes {
  int least, conflicts; /* as many as the bytes take; times so many */
} passes;

static passes passes_of(const tkv_dist *places, size_t size) {
  size_t width = size << tkv_neighbours(places, size);
  int bits = TKV_LANE_BITS; /* of lanes that are served at once */
  uint32_t words[TKV_LANE_BITS];
  for (size_t w = BANK_BYTES; w < width; w *= 2) bits--;
  for (int k = 0; k < bits; k++)
    words[k] = (uint32_t)(places->lane[k] * size / BANK_BYTES);
  int each = swizzle_rank(words, bits, UINT32_MAX) -
             swizzle_rank(words, bits, BANKS - 1);
  return (passes){1 << (TKV_LANE_BITS - bits), 1 << each};
}

static int bank_passes(const tkv_dist *places, size_t size) {
  passes n = passes_of(places, size);
  return n.least * n.conflicts;
}

uint32_t tkv_place(uint32_t number, const void *places) {
  const tkv_places *p = places;
  int first = p->n - p->last;
  uint32_t below = ((uint32_t)1 << p->low) - 1,
           axis = number >> p->low & (((uint32_t)1 << p->n) - 1),
           others = (number & below) | number >> (p->low + p->n) << p->low,
           place = (axis & (((uint32_t)1 << first) - 1)) | others << first;
  if (p->last) place |= axis >> first << (p->total - p->last);
  return swizzled_place(place, &p->swizzle);
}

bool tkv_places_of_tile(const tk_type *t, int fastest, tkv_places *out) {
  enum { CHUNK_BYTES = 16, EIGHT = 3, SWIZZLED_BYTE = 7 };
  if (t->rank != 2) return false;
  int size = tkv_log2((int64_t)tk_lane_size(t)), chunk = 4 - size,
      n = tkv_axis_bits(t, fastest), rows = tkv_axis_bits(t, !fastest),
      width = n < chunk + 3 ? n : chunk + 3;
  if (width <= chunk || rows < EIGHT) return false;
  *out = (tkv_places){tkv_axis_low(t, fastest),
                      n,
                      {SWIZZLED_BYTE - size, width - chunk, chunk},
                      n - width,
                      n + rows};
  return true;
}

tkv_dist tkv_rows_of_tile(const tk_type *t, const tkv_places *p, int warps) {
  tkv_dist d = {.nwarp = tkv_log2(warps)};
  int slow = p->low ? 0 : p->n;
  while (tk_lane_size(t) << d.nreg < 16) {
    d.reg[d.nreg] = (uint32_t)1 << (p->low + d.nreg);
    d.nreg++;
  }
  for (int i = 0; i < 3; i++) d.lane[i] = (uint32_t)1 << (slow + i);
  return d;
}

/* What it takes to read or write every register: passes over shared memory, and
 * an instruction for each access. */
static int cost_of_all(const tkv_dist *places, size_t size, bool matrices) {
  tkv_matrices m;
  if (matrices && tkv_find_matrices(places, size, 0, &m))
    return (bank_passes(&m.rows, size) + 1) << (places->nreg - m.word - m.n);
  return (bank_passes(places, size) + 1)
         << (places->nreg - tkv_neighbours(places, size));
}

static int cost_of_both(const tkv_dist *written, const tkv_dist *read,
                        size_t size, const tkv_places *p) {
  tkv_dist w = tkv_dist_map(written, tkv_place, p),
           r = tkv_dist_map(read, tkv_place, p);
  return cost_of_all(&w, size, false) + cost_of_all(&r, size, true);
}

tkv_conflicts tkv_conflicts_at(const tk_type *t, const tkv_dist *written,
                               const tkv_dist *read, const tkv_places *p) {
  size_t size = tk_lane_size(t);
  tkv_dist w = tkv_dist_map(written, tkv_place, p),
           r = tkv_dist_map(read, tkv_place, p);
  tkv_matrices m;
  bool matrices = tkv_find_matrices(&r, size, 0, &m);
  return (tkv_conflicts){passes_of(&w, size).conflicts,
                         passes_of(matrices ? &m.rows : &r, size).conflicts};
}

tkv_places tkv_find_places(const tk_type *t, const tkv_dist *written,
                           const tkv_dist *read) {
  enum { HIGHEST = 16, BANK_BITS = 5, VECTOR_BITS = 4 };
  size_t size = tk_lane_size(t);
  tkv_places best = {.n = 0};
  int least = cost_of_both(written, read, size, &best);
  for (int axis = t->rank - 1; axis >= 0; axis--)
    for (int to = 0; to <= VECTOR_BITS; to++)
      for (int n = 1; n <= BANK_BITS; n++)
        for (int from = to + n; from + n <= HIGHEST; from++) {
          tkv_places p = {.low = tkv_axis_low(t, axis),
                          .n = tkv_axis_bits(t, axis),
                          .swizzle = {from, n, to}};
          int cost = cost_of_both(written, read, size, &p);
          if (cost >= least) continue;
          best = p;
          least = cost;
        }
  return best;
}
