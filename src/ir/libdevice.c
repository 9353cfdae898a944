/* libdevice.c - libdevice.def as a table. */
#include "ir/libdevice.h"

enum {
  TYPE_b = TK_INT1,
  TYPE_i = TK_INT32,
  TYPE_u = TK_UINT32,
  TYPE_l = TK_INT64,
  TYPE_q = TK_UINT64,
  TYPE_f = TK_FP32,
  TYPE_F = TK_FP32,
  TYPE_d = TK_FP64,
};

static const tk_extern table[] = {
#define EXACT 0, 0, 0
#define ROUNDED 0.5, 0.5, 0
#define WITHIN(f32, f64) f32, f64, 0
#define WITHIN32(bound) bound, 0, 0
#define WITHIN64(bound) 0, bound, 0
#define NEAR(f32, f64) f32, f64, 1
#define LIBDEVICE(id, params, accuracy, doc, overloads)                        \
  {#id, accuracy, {overloads}},
#define LANE1(name, R, A, value) {1, TYPE_##R, {TYPE_##A}},
#define LANE2(name, R, A, B, value) {2, TYPE_##R, {TYPE_##A, TYPE_##B}},
#define LANE3(name, R, A, B, C, value)                                         \
  {3, TYPE_##R, {TYPE_##A, TYPE_##B, TYPE_##C}},
#define LANE4(name, R, A, B, C, D, value)                                      \
  {4, TYPE_##R, {TYPE_##A, TYPE_##B, TYPE_##C, TYPE_##D}},
#define ROUND1(name, mode, R, A, value) LANE1(name, R, A, value)
#define ROUND2(name, mode, R, A, B, value) LANE2(name, R, A, B, value)
#define ROUND3(name, mode, R, A, B, C, value) LANE3(name, R, A, B, C, value)
#include "ir/libdevice.def"
};

const tk_extern *tk_extern_at(size_t row) {
  return row < TK_COUNT(table) ? &table[row] : NULL;
}
