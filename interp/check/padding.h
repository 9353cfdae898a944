/* padding.h - lanes that other= filled, and lanes made of such lanes alone.
 */
#ifndef TK_CHECK_PADDING_H
#define TK_CHECK_PADDING_H

#include "interp/check/check.h"

/* What is known of a lane. */
enum {
  TKC_LANE_FILLED, /* nothing but other= went into it */
  TKC_LANE_LOADED, /* something that was loaded went into it */
  TKC_LANE_ASIDE /* ... through a reduction or a broadcast; beside a filled lane
                    it counts as a constant */
};

/* The lanes that an instruction made when it ran last. */
typedef struct tkc_fill {
  uint8_t *mask; /* TKC_LANE_ by lane */
  size_t n;
  uint32_t version; /* how often these were others than when it ran before */
  tkc_place at;     /* the load that left lanes out */
  tk_window window; /* of that load */
  bool derived;     /* the lanes are made of lanes that it left out */
} tkc_fill;

/* What the lanes are now. */
void tkc_fill_set(tkc_fill *f, const uint8_t *lanes);

enum { TKC_FILLED_OPERANDS = 4 };

/* An operand's lanes: all are loaded (data), or as mask says; else they come
 * from no load. */
typedef struct tkc_filled_operand {
  const uint8_t *mask;
  size_t n;
  bool data;
} tkc_filled_operand;

/* An instruction that has just run, some operand of which has filled lanes. */
typedef struct tkc_filled {
  const tk_func *func;
  const tk_inst *in;
  const tki_val *args, *result;
  tkc_filled_operand of[TKC_FILLED_OPERANDS];
  const tkc_fill *from; /* of the last operand that has any */
} tkc_filled;

/* Whether it moves lanes, multiplies matrices or reduces, so that
 * tkc_filled_lanes can follow it. */
bool tkc_fill_moves(const tk_inst *in);
/* Says of every lane of the result what it is; returns whether any lane is
 * filled. */
bool tkc_filled_lanes(const tkc_filled *x, uint8_t *lanes);
/* Whether a maximum that the running function finds is only subtracted from
 * what an exponential is then taken of, as in a softmax: that comes out the
 * same whatever is subtracted. */
bool tkc_is_of_softmax(tki *t, const tk_inst *in);
/* Whether a maximum that the running function finds only goes on through a
 * minimum with a constant that is below the filled value, or the other way
 * round: the program expects that value, and keeps it out. */
bool tkc_is_bounded(tki *t, const tk_inst *in, double filled);

#endif
