/* test_operation_types.c - the typed form says for which element types an
 * operation is defined (ir/mode.h), and the interpreter has a loop for just
 * those.  Rows that are reduced beside each other get the bits of rows reduced
 * alone, but for those of a NaN: of two NaNs the compiler may take either.
 */
#include <math.h>
#include <string.h>

#include "interp/kernels.h"
#include "ir/mode.h"
#include "support/suite.h"

static bool has_kernel(tk_list list, int64_t op, tk_dtype d) {
  switch (list) {
  case TK_LIST_UNARY: return tki_unary_kernel((tk_unary)op, d) != NULL;
  case TK_LIST_BINARY: return tki_binary_kernel((tk_binary)op, d) != NULL;
  case TK_LIST_COMPARE: return tki_compare_kernel((tk_compare)op, d) != NULL;
  case TK_LIST_REDUCTION:
    return tki_binary_kernel(tk_reduction_op((tk_reduction)op), d) != NULL;
  default: return false;
  }
}

START_TEST(operations_have_loops_for_their_types) {
  static const tk_list lists[] = {TK_LIST_UNARY, TK_LIST_BINARY,
                                  TK_LIST_COMPARE, TK_LIST_REDUCTION};
  tk_list list = lists[_i];
  for (int64_t op = 0; tk_list_word(list, op); op++)
    for (int d = 0; d < TK_DTYPE_COUNT; d++)
      ck_assert_msg(tk_list_takes(list, op, (tk_dtype)d) ==
                        has_kernel(list, op, (tk_dtype)d),
                    "%s of %s", tk_list_word(list, op), tk_dtypes[d].name);
}
END_TEST

START_TEST(words_are_found_where_they_stand) {
  for (int k = 0; k < TK_LIST_COUNT; k++) {
    int64_t i = 0;
    const char *word;
    for (; (word = tk_list_word((tk_list)k, i)); i++)
      ck_assert_int_eq(tk_list_find((tk_list)k, word), i);
    ck_assert_int_gt(i, 1);
    ck_assert_int_eq(tk_list_find((tk_list)k, "nothing"), -1);
    ck_assert_ptr_null(tk_list_word((tk_list)k, -1));
  }
}
END_TEST

/* Numbers of both signs, zeros of both signs, infinities and NaNs. */
static void fill_rows(float *x, size_t n) {
  static const float odd[] = {0.0f,       -0.0f, INFINITY, -INFINITY,
                              (float)NAN, 1.0f,  -1.0f};
  uint32_t seed = 1;
  for (size_t i = 0; i < n; i++) {
    seed = seed * 1664525 + 1013904223;
    x[i] = seed >> 28 ? (float)(int32_t)seed * 0x1p-20f
                      : odd[(seed >> 8) % TK_COUNT(odd)];
  }
}

static float reduce_alone(tki_binary_fn fn, float *row, size_t n) {
  for (n /= 2; n; n /= 2) fn(row, row, row + n, n, 0);
  return row[0];
}

enum { MOST_ROWS = 37, LONGEST = 256 };

/* Where `>` alone says which of two lanes it is, and where one lane, which is
 * -0 or a NaN, needs more: at the place where a comparison alone goes wrong. */
START_TEST(one_odd_lane_is_not_overlooked) {
  static const tk_binary ops[] = {TK_B_MIN, TK_B_MAX};
  static const float odd[] = {0.0f, -0.0f, (float)NAN};
  static float x[4 * LONGEST], y[4 * LONGEST];
  float d[4], scratch[LONGEST];
  tki_binary_fn one = tki_binary_kernel(ops[_i], TK_FP32);
  for (size_t n = 2; n <= LONGEST; n *= 2)
    for (size_t k = 0; k < TK_COUNT(odd); k++) {
      for (size_t i = 0; i < 4 * n; i++) x[i] = i % 7 ? 0.0f : (float)(i / n);
      x[ops[_i] == TK_B_MIN ? 3 * n : 4 * n - 1] = odd[k];
      memcpy(y, x, sizeof y);
      tki_rows_kernel(ops[_i], TK_FP32)(d, x, scratch, 4, n);
      for (size_t r = 0; r < 4; r++) {
        float want = reduce_alone(one, y + r * n, n);
        ck_assert_mem_eq(&d[r], &want, sizeof want);
      }
    }
}
END_TEST

START_TEST(rows_beside_each_other_get_the_bits_of_rows_alone) {
  static const tk_binary ops[] = {TK_B_ADD, TK_B_MIN, TK_B_MAX};
  static float x[MOST_ROWS * LONGEST], y[MOST_ROWS * LONGEST];
  float d[MOST_ROWS], scratch[LONGEST];
  tki_rows_fn rows = tki_rows_kernel(ops[_i], TK_FP32);
  tki_binary_fn one = tki_binary_kernel(ops[_i], TK_FP32);
  ck_assert_ptr_nonnull(rows);
  fill_rows(x, MOST_ROWS * LONGEST);
  for (size_t n = 2; n <= LONGEST; n *= 2)
    for (size_t count = 1; count <= MOST_ROWS; count++) {
      memcpy(y, x, sizeof y);
      rows(d, x, scratch, count, n);
      for (size_t r = 0; r < count; r++) {
        float want = reduce_alone(one, y + r * n, n);
        if (!isnan(d[r]) || !isnan(want))
          ck_assert_mem_eq(&d[r], &want, sizeof want);
      }
    }
}
END_TEST

int main(void) {
  Suite *s = suite_create("kernels and types");
  TCase *c = tcase_create("kernels");
  tcase_add_loop_test(c, operations_have_loops_for_their_types, 0, 4);
  tcase_add_test(c, words_are_found_where_they_stand);
  tcase_add_loop_test(c, one_odd_lane_is_not_overlooked, 0, 2);
  tcase_add_loop_test(c, rows_beside_each_other_get_the_bits_of_rows_alone, 0,
                      3);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
