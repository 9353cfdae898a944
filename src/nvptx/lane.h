/* lane.h - lane-wise arithmetic on one lane at a time; which lanes a thread
 * holds; lanes as the words of PTX that one access moves. */
#ifndef TK_NVPTX_LANE_H
#define TK_NVPTX_LANE_H

#include "ir/ir.h"
#include "nvptx/call.h"
#include "nvptx/dist.h"

/* ---- lane.c: types, constants, conversions ------------------------------- */

/* What a lane is in a register; a pointer is an i64, an fp8 number an i8. */
tkv_type tkv_lane_type(const tk_type *t);
int tkv_lane_bits(const tk_type *t);
bool tkv_is_float_lane(const tk_type *t);
bool tkv_is_signed_lane(const tk_type *t);
/* A lane's type in memory, where a lane takes whole bytes. */
tk_type tkv_stored_type(const tk_type *t);
/* Whether registers hold lanes of that type. */
bool tkv_are_lanes(const tk_type *t, const tkv_reg *reg, size_t n);
/* What the kernel is given for a parameter: the host has no int1. */
tkv_type tkv_param_type(const tk_type *t);
/* A lane's bits as an integer of as many, and the reverse. */
tkv_reg tkv_to_bits(tkv_code *c, tkv_reg x);
tkv_reg tkv_from_bits(tkv_code *c, const tk_type *t, tkv_reg x);
tkv_reg tkv_literal(const tk_type *t, uint64_t bits);
tkv_reg tkv_convert_lane(tkv_code *c, const tk_type *to, const tk_type *from,
                         tkv_reg x);
/* The same, rounded toward zero where the result is a narrower float. */
tkv_reg tkv_cut_lane(tkv_code *c, const tk_type *to, const tk_type *from,
                     tkv_reg x);
/* Whether fp32 stands in for a type in arithmetic; an fp32 as a lane of a type,
 * and the reverse. */
bool tkv_is_narrow(const tk_type *t);
tkv_reg tkv_from_fp32(tkv_code *c, const tk_type *t, tkv_reg x);
tkv_reg tkv_to_fp32(tkv_code *c, const tk_type *t, tkv_reg x);

/* ---- arithmetic.c -------------------------------------------------------- */

tkv_reg tkv_lane_unary(tkv_code *c, tk_unary op, tk_accuracy accuracy,
                       const tk_type *t, tkv_reg x);
/* A quotient of floats. */
tkv_reg tkv_lane_divide(tkv_code *c, tk_accuracy accuracy, const tk_type *t,
                        tkv_reg a, tkv_reg b);
tkv_reg tkv_lane_binary(tkv_code *c, tk_binary op, const tk_type *t, tkv_reg a,
                        tkv_reg b);
tkv_reg tkv_lane_compare(tkv_code *c, tk_compare op, const tk_type *t,
                         tkv_reg a, tkv_reg b);

/* ---- number.c: which lanes a thread holds -------------------------------- */

/* The part of a lane's number that this thread stands for: i32. */
tkv_reg tkv_thread_number(tkv_code *c, const tkv_dist *d);
/* That number plus the bits of it that registers stand for, as an i32. */
tkv_reg tkv_number_with(tkv_code *c, const tkv_dist *d, tkv_reg thread,
                        uint32_t part);
/* The number of the lane that register r holds: i32. */
tkv_reg tkv_number(tkv_code *c, const tkv_dist *d, tkv_reg thread, uint32_t r);
/* The index along an axis of the lane of that number: i32. */
tkv_reg tkv_index_of(tkv_code *c, const tk_type *t, int axis, tkv_reg number);
/* Whether this thread is the first of those that hold the same lanes; no
 * register: each is. */
tkv_reg tkv_is_first(tkv_code *c, const tkv_dist *d);

/* ---- word.c -------------------------------------------------------------- */

/* Lanes that one access moves, as words of PTX. */
typedef struct tkv_words {
  int lanes, bits, n; /* bits of a word in memory; how many words */
} tkv_words;

tkv_words tkv_words_of(const tk_type *t, int lanes);
/* A word in a register, which holds 16 bits at least. */
tkv_type tkv_word_type(const tkv_words *w);
/* Packs the lanes from `from` on into a word, and unpacks them. */
tkv_reg tkv_pack_word(tkv_code *c, const tkv_words *w, const tk_type *t,
                      const tkv_reg *from);
void tkv_unpack_word(tkv_code *c, const tkv_words *w, const tk_type *t,
                     tkv_reg word, tkv_reg *to);

#endif
