/* test_symbolic.c - symbolic blocks against lanes.
 *
 * Each operation is done on blocks of a few shapes with bases, steps and boxes
 * at and around the ends of every integer type, and on their lanes, by the
 * loops that instructions run.  Where the operation says what its result is,
 * every lane must be that; and it must say so often enough to be of use.
 */
#include <string.h>

#include "interp/interp.h"
#include "interp/kernels.h"
#include "support/random_kernel.h"
#include "support/suite.h"

enum { MOST = 64, SHAPES = 5 };

static const tk_dtype types[] = {TK_INT8,  TK_UINT8,  TK_INT16, TK_UINT16,
                                 TK_INT32, TK_UINT32, TK_INT64, TK_UINT64};

static tk_type type_of(tk_dtype d, int shape) {
  static const int32_t shapes[SHAPES][3] = {
      {8}, {4, 8}, {1, 8}, {8, 1}, {2, 4, 8}};
  static const uint8_t ranks[SHAPES] = {1, 2, 2, 2, 3};
  tk_type t = {.elem = (uint8_t)d, .rank = ranks[shape]};
  memcpy(t.shape, shapes[shape], sizeof shapes[shape]);
  return t;
}

static void write_lanes(const tki_sym *s, uint8_t *lanes) {
  ck_assert_uint_le(tki_sym_bytes(s), MOST * 8);
  tki_sym_write(s, lanes);
}

/* Fails unless the lanes of a result are those wanted. */
static void same(const char *what, int op, tk_dtype d, const tki_sym *r,
                 const uint8_t *want) {
  uint8_t got[MOST * 8];
  write_lanes(r, got);
  if (memcmp(got, want, tki_sym_bytes(r)))
    ck_abort_msg("%s %d of %s: a lane is not what it is said to be", what, op,
                 tk_dtypes[d].name);
  const uint8_t *one = tki_sym_one(r);
  if (one) ck_assert_int_eq(*one, got[0]);
}

/* ---- blocks -------------------------------------------------------------- */

/* A number at an end of a type, near 0, or anywhere. */
static uint64_t number(uint64_t *state, tk_dtype d) {
  uint64_t small = (uint64_t)(int64_t)(random_below(state, 9) - 4);
  switch (random_below(state, 4)) {
  case 0: return ((uint64_t)1 << (tk_dtypes[d].bits - 1)) + small;
  case 1: return random_next(state);
  case 2: return small * (uint64_t)random_below(state, 12);
  default: return small;
  }
}

/* base + step of each axis: sums of ranges, in the ways that programs make
 * them. */
static tki_sym affine(uint64_t *state, tk_dtype d, const tk_type *type) {
  tki_sym r;
  ck_assert(tki_sym_splat(&r, type, number(state, d)));
  for (int k = 0; k < type->rank; k++) {
    if (random_below(state, 3) == 0) continue;
    tk_type line = {.elem = (uint8_t)d, .rank = 1, .shape = {type->shape[k]}};
    tk_type thin = *type;
    tki_sym s;
    for (int i = 0; i < thin.rank; i++)
      if (i != k) thin.shape[i] = 1;
    tki_sym_range(&s, &line, random_below(state, 5));
    tki_sym by;
    tki_sym_alike(&by, &s, number(state, d));
    ck_assert(tki_sym_binary(&s, TK_B_MUL, d, &s, &by));
    ck_assert(tki_sym_reshape(&s, &s, &thin));
    ck_assert(tki_sym_broadcast(&s, &s, type));
    ck_assert(tki_sym_binary(&r, TK_B_ADD, d, &r, &s));
  }
  return r;
}

/* A block of equal lanes as the scalar that may stand for it. */
static void as_number(tki_sym *s) {
  tki_sym_number(s, tki_sym_lane_size(s), tki_sym_base(s));
}

/* An interval on each axis, perhaps empty or whole. */
static tki_sym box(uint64_t *state, const tk_type *type) {
  tki_sym r;
  tk_type mask = tk_with_elem(*type, TK_INT1);
  ck_assert(tki_sym_splat(&r, &mask, 1));
  for (int k = 0; k < type->rank; k++) {
    tk_type line = {.elem = TK_INT32, .rank = 1, .shape = {type->shape[k]}};
    tk_type thin = *type;
    tki_sym s, m;
    for (int i = 0; i < thin.rank; i++)
      if (i != k) thin.shape[i] = 1;
    if (random_below(state, 3) == 0) continue;
    tki_sym_range(&s, &line, 0);
    tki_sym limit;
    tki_sym_alike(&limit, &s, (uint64_t)random_below(state, 10));
    tk_compare op = random_below(state, 2) ? TK_C_LT : TK_C_GE;
    ck_assert(tki_sym_compare(&m, op, TK_INT32, &s, &limit));
    ck_assert(tki_sym_reshape(&m, &m, &thin));
    ck_assert(tki_sym_broadcast(&m, &m, &mask));
    ck_assert(tki_sym_binary(&r, TK_B_AND, TK_INT1, &r, &m));
  }
  return r;
}

/* ---- tests --------------------------------------------------------------- */

enum { ROUNDS = 1500 };

START_TEST(operations_on_integers_are_exact) {
  tk_dtype d = types[_i];
  uint64_t state = 88172645463325252u + (uint64_t)_i;
  long said[TK_B_COUNT] = {0};
  for (int round = 0; round < ROUNDS; round++) {
    tk_type type = type_of(d, round % SHAPES);
    size_t n = (size_t)tk_numel(&type);
    tki_sym a = affine(&state, d, &type), b = affine(&state, d, &type), r;
    if (round % 3) tki_sym_alike(&b, &a, number(&state, d));
    uint64_t x[MOST], y[MOST], want[MOST];
    write_lanes(&a, (void *)x);
    write_lanes(&b, (void *)y);
    if (round % 3 == 1) as_number(&b);
    for (int op = 0; op < TK_B_COUNT; op++) {
      tki_binary_fn fn = tki_binary_kernel((tk_binary)op, d);
      if (!fn || !tki_sym_binary(&r, (tk_binary)op, d, &a, &b)) continue;
      fn(want, x, y, n, 0);
      same("binary", op, d, &r, (void *)want);
      said[op]++;
    }
  }
  static const tk_binary known[] = {TK_B_ADD, TK_B_SUB, TK_B_MUL,
                                    TK_B_DIV, TK_B_MOD, TK_B_AND,
                                    TK_B_SHL, TK_B_MIN, TK_B_MAX};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    ck_assert_int_gt(said[known[i]], ROUNDS / 200);
}
END_TEST

START_TEST(comparisons_are_exact) {
  tk_dtype d = types[_i];
  uint64_t state = 362436069u + (uint64_t)_i;
  long said = 0;
  for (int round = 0; round < ROUNDS; round++) {
    tk_type type = type_of(d, round % SHAPES);
    size_t n = (size_t)tk_numel(&type);
    tki_sym a = affine(&state, d, &type), b = affine(&state, d, &type), r;
    if (round % 3) tki_sym_alike(&b, &a, number(&state, d));
    uint64_t x[MOST], y[MOST], want[MOST];
    write_lanes(&a, (void *)x);
    write_lanes(&b, (void *)y);
    if (round % 3 == 1) as_number(&b);
    for (int op = 0; op < TK_C_COUNT; op++) {
      if (!tki_sym_compare(&r, (tk_compare)op, d, &a, &b)) continue;
      tki_compare_kernel((tk_compare)op, d)(want, x, y, n, 0);
      same("compare", op, d, &r, (void *)want);
      said++;
    }
  }
  ck_assert_int_gt(said, ROUNDS / 10);
}
END_TEST

/* i < n, n <= i and so on for every i8 range and limit there is. */
START_TEST(every_comparison_of_a_small_range) {
  tk_type type = {.elem = (uint8_t)(_i ? TK_UINT8 : TK_INT8), .rank = 1};
  tk_dtype d = (tk_dtype)type.elem;
  type.shape[0] = 8;
  for (int base = 0; base < 256; base++)
    for (int limit = 0; limit < 256; limit++)
      for (int op = 0; op < TK_C_COUNT; op++) {
        tki_sym a, r, b;
        uint64_t x[1], y[1], want[1];
        tki_sym_range(&a, &type, base);
        tki_sym_alike(&b, &a, (uint64_t)limit);
        if (!tki_sym_compare(&r, (tk_compare)op, d, &a, &b)) continue;
        write_lanes(&a, (void *)x);
        write_lanes(&b, (void *)y);
        tki_compare_kernel((tk_compare)op, d)(want, x, y, 8, 0);
        same("compare", op, d, &r, (void *)want);
      }
}
END_TEST

START_TEST(conversions_are_exact) {
  tk_dtype d = types[_i];
  uint64_t state = 521288629u + (uint64_t)_i;
  long said = 0;
  for (int round = 0; round < ROUNDS; round++) {
    tk_type type = type_of(d, round % SHAPES);
    size_t n = (size_t)tk_numel(&type);
    tki_sym a = affine(&state, d, &type), r;
    uint64_t x[MOST], want[MOST];
    write_lanes(&a, (void *)x);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
      if (!tki_sym_cast(&r, d, types[k], &a)) continue;
      tki_cast_kernel(d, types[k], false)(want, x, n);
      same("cast", types[k], d, &r, (void *)want);
      said++;
    }
    for (int op = 0; op < TK_U_COUNT; op++) {
      tki_unary_fn fn = tki_unary_kernel((tk_unary)op, d);
      if (!fn || !tki_sym_unary(&r, (tk_unary)op, d, &a)) continue;
      fn(want, x, n);
      same("unary", op, d, &r, (void *)want);
    }
  }
  ck_assert_int_gt(said, ROUNDS);
}
END_TEST

START_TEST(masks_are_exact) {
  uint64_t state = 5783321u;
  long said = 0;
  for (int round = 0; round < ROUNDS; round++) {
    tk_type type = type_of(TK_INT1, round % SHAPES);
    size_t n = (size_t)tk_numel(&type);
    tki_sym a = box(&state, &type), b = box(&state, &type), r;
    uint8_t x[MOST], y[MOST], want[MOST];
    write_lanes(&a, x);
    write_lanes(&b, y);
    for (int op = 0; op < TK_B_COUNT; op++) {
      tki_binary_fn fn = tki_binary_kernel((tk_binary)op, TK_INT1);
      if (!fn || !tki_sym_binary(&r, (tk_binary)op, TK_INT1, &a, &b)) continue;
      fn(want, x, y, n, 0);
      same("binary", op, TK_INT1, &r, want);
      said++;
    }
    if (!tki_sym_unary(&r, TK_U_NOT, TK_INT1, &a)) continue;
    tki_unary_kernel(TK_U_NOT, TK_INT1)(want, x, n);
    same("not", 0, TK_INT1, &r, want);
  }
  ck_assert_int_gt(said, 4 * ROUNDS);
}
END_TEST

START_TEST(addresses_are_exact) {
  uint64_t state = 1234567u;
  for (int round = 0; round < ROUNDS; round++) {
    tk_dtype d = round & 1 ? TK_INT32 : TK_INT64;
    tk_type type = type_of(d, round % SHAPES);
    tk_type pointers = tk_pointer(type);
    size_t n = (size_t)tk_numel(&type);
    tki_sym p, o = affine(&state, d, &type), r;
    int shift = random_below(&state, 4);
    uint64_t x[MOST], want[MOST];
    ck_assert(tki_sym_splat(&p, &pointers, random_next(&state) >> 20));
    if (!tki_sym_addptr(&r, &p, &o, d, shift)) continue;
    write_lanes(&o, (void *)x);
    for (size_t i = 0; i < n; i++) {
      const char *lane = (const char *)x + i * tk_lane_size(&type);
      want[i] = tki_sym_base(&p) + ((uint64_t)tk_lane_int(d, lane) << shift);
    }
    same("addptr", shift, d, &r, (void *)want);
  }
}
END_TEST

/* Lanes keep their order, whatever the shape. */
START_TEST(shapes_are_exact) {
  static const int64_t swapped[] = {1, 0}, turned[] = {2, 0, 1};
  uint64_t state = 777u;
  for (int round = 0; round < ROUNDS; round++) {
    tk_type a = type_of(TK_INT16, round % SHAPES), to = a;
    bool masks = round & 1;
    if (masks) a = tk_with_elem(a, TK_INT1);
    tki_sym s = masks ? box(&state, &a) : affine(&state, TK_INT16, &a), r;
    size_t size = tk_lane_size(&a);
    uint8_t x[MOST * 8], want[MOST * 8];
    write_lanes(&s, x);
    memset(to.shape, 0, sizeof to.shape);
    to.rank = 0;
    for (int k = 0; k < a.rank; k++) {
      if (random_below(&state, 2) && to.rank < 3) to.shape[to.rank++] = 1;
      to.shape[to.rank++] = a.shape[k];
      if (to.rank > TKI_SYM_AXES - 1) break;
    }
    if (tk_numel(&to) == tk_numel(&a) && tki_sym_reshape(&r, &s, &to))
      same("reshape", round, (tk_dtype)a.elem, &r, x);
    if (a.rank == 1) continue;
    const int64_t *axes = a.rank == 2 ? swapped : turned;
    size_t at[3] = {0}, n[3] = {0}, by[3] = {0}, lanes = 1;
    for (int k = a.rank; k-- > 0; lanes *= (size_t)a.shape[k]) by[k] = lanes;
    for (int k = 0; k < a.rank; k++) n[k] = (size_t)a.shape[axes[k]];
    for (size_t i = 0; i < lanes; i++) {
      size_t rest = i, from = 0;
      for (int k = a.rank; k-- > 0; rest /= n[k]) at[k] = rest % n[k];
      for (int k = 0; k < a.rank; k++) from += at[k] * by[axes[k]];
      memcpy(want + i * size, x + from * size, size);
    }
    tki_sym_permute(&r, &s, axes);
    same("permute", round, (tk_dtype)a.elem, &r, want);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("symbolic");
  TCase *c = tcase_create("symbolic");
  const int n = sizeof types / sizeof *types;
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, operations_on_integers_are_exact, 0, n);
  tcase_add_loop_test(c, comparisons_are_exact, 0, n);
  tcase_add_loop_test(c, every_comparison_of_a_small_range, 0, 2);
  tcase_add_loop_test(c, conversions_are_exact, 0, n);
  tcase_add_test(c, masks_are_exact);
  tcase_add_test(c, addresses_are_exact);
  tcase_add_test(c, shapes_are_exact);
  suite_add_tcase(s, c);
  return run_suite(s);
}
