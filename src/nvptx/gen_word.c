/* gen_word.c - lanes that one access moves, as words of PTX. */
#include "nvptx/gen.h"

tkv_words tkv_words_of(const tk_type *t, int lanes) {
  int lane = (int)tk_lane_size(t) * 8, bits = lane * lanes;
  tkv_words w = {.lanes = lanes, .bits = lane, .n = lanes};
  if (lane < 32 && bits >= 32) {
    w.bits = 32;
    w.n = bits / 32;
  } else if (lane < 32) {
    w.bits = bits;
    w.n = 1;
  }
  w.constraint = w.bits == 64 ? 'l' : w.bits == 32 ? 'r' : 'h';
  return w;
}

int tkv_word_bits(const tkv_words *w) {
  return w->bits < 16 ? 16 : w->bits;
}

const char *tkv_pack_word(tkv_gen *g, const tkv_words *w, const tk_type *t,
                          const char *const *from) {
  int lane = (int)tk_lane_size(t) * 8, n = w->lanes / w->n,
      bits = tkv_word_bits(w);
  tk_type stored = tkv_stored_type(t);
  const char *sum = NULL;
  for (int i = 0; i < n; i++) {
    const char *x = tkv_convert_lane(g, &stored, t, false, from[i]);
    x = tkv_to_bits(g, &stored, x);
    if (lane < bits) x = tkv_emit(g, "zext i%d %s to i%d", lane, x, bits);
    if (i) x = tkv_emit(g, "shl i%d %s, %d", bits, x, i * lane);
    sum = sum ? tkv_emit(g, "or i%d %s, %s", bits, sum, x) : x;
  }
  return sum;
}

void tkv_unpack_word(tkv_gen *g, const tkv_words *w, const tk_type *t,
                     const char *word, const char **to) {
  int lane = (int)tk_lane_size(t) * 8, n = w->lanes / w->n,
      bits = tkv_word_bits(w);
  tk_type stored = tkv_stored_type(t);
  for (int i = 0; i < n; i++) {
    const char *x = word;
    if (i) x = tkv_emit(g, "lshr i%d %s, %d", bits, x, i * lane);
    if (lane < bits) x = tkv_emit(g, "trunc i%d %s to i%d", bits, x, lane);
    x = tkv_from_bits(g, &stored, x);
    to[i] = tkv_convert_lane(g, t, &stored, false, x);
  }
}
