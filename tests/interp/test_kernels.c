/* test_kernels.c - the typed form says for which element types an operation is
 * defined (ir/mode.h), and the interpreter has a loop for just those.
 */
#include "interp/kernels.h"
#include "ir/mode.h"
#include "support/suite.h"

static bool has_kernel(tk_list list, int64_t op, tk_dtype d) {
  switch (list) {
  case TK_LIST_UNARY: return tki_unary_kernel((tk_unary)op, d) != NULL;
  case TK_LIST_BINARY: return tki_binary_kernel((tk_binary)op, d) != NULL;
  case TK_LIST_COMPARE: return tki_compare_kernel((tk_compare)op, d) != NULL;
  case TK_LIST_REDUCTION:
    return tki_binary_kernel(tki_reduction_op((tk_reduction)op), d) != NULL;
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

int main(void) {
  Suite *s = suite_create("kernels and types");
  TCase *c = tcase_create("kernels");
  tcase_add_loop_test(c, operations_have_loops_for_their_types, 0, 4);
  tcase_add_test(c, words_are_found_where_they_stand);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
