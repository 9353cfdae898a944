/* word.c - lanes that one access moves, as words of PTX. */
#include "nvptx/lane.h"

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
  TK_ASSERT(w.n >= 1 && w.lanes % w.n == 0);
  return w;
}

tkv_type tkv_word_type(const tkv_words *w) {
  return TKV_INT_OF(w->bits < 16 ? 16 : w->bits);
}

tkv_reg tkv_pack_word(tkv_code *c, const tkv_words *w, const tk_type *t,
                      const tkv_reg *from) {
  int lane = (int)tk_lane_size(t) * 8;
  tkv_type type = tkv_word_type(w);
  tk_type stored = tkv_stored_type(t);
  tkv_reg sum = TKV_NO_REG;
  for (int i = 0; i < w->lanes / w->n; i++) {
    tkv_reg x = tkv_convert_lane(c, &stored, t, from[i]);
    x = tkv_to_bits(c, x);
    if (lane < type.bits) x = tkv_zext(c, x, type);
    x = tkv_move_bits(c, x, i * lane);
    sum = i ? tkv_or(c, sum, x) : x;
  }
  return sum;
}

void tkv_unpack_word(tkv_code *c, const tkv_words *w, const tk_type *t,
                     tkv_reg word, tkv_reg *to) {
  int lane = (int)tk_lane_size(t) * 8;
  TK_ASSERT(tkv_same_type(word.type, tkv_word_type(w)));
  tk_type stored = tkv_stored_type(t);
  for (int i = 0; i < w->lanes / w->n; i++) {
    tkv_reg x = tkv_move_bits(c, word, -i * lane);
    if (lane < x.type.bits) x = tkv_trunc(c, x, TKV_INT_OF(lane));
    x = tkv_from_bits(c, &stored, x);
    to[i] = tkv_convert_lane(c, t, &stored, x);
  }
}
