/* test_kept.c - an allocator that keeps large blocks (src/base/kept.c). */
#include <check.h>
#include <string.h>

#include "base/kept.h"
#include "support/suite.h"

static void *get(tk_kept *k, size_t size) {
  void *p = tk_kept_alloc(k, NULL, 0, size);
  ck_assert_ptr_nonnull(p);
  memset(p, 0x5A, size);
  return p;
}

static void give(tk_kept *k, void *p, size_t size) {
  ck_assert_ptr_null(tk_kept_alloc(k, p, size, 0));
}

START_TEST(takes_the_same_size_again) {
  tk_kept k = {{0}, 0};
  void *a = get(&k, 70000), *b = get(&k, 70000);
  give(&k, a, 70000);
  give(&k, b, 70000);
  ck_assert_uint_eq(k.bytes, 140000);
  ck_assert_ptr_eq(get(&k, 70000), b); /* the one that is in the cache */
  ck_assert_ptr_eq(get(&k, 70000), a);
  ck_assert_uint_eq(k.bytes, 0);
  give(&k, a, 70000);
  give(&k, b, 70000);
  tk_kept_free(&k);
  ck_assert_uint_eq(k.bytes, 0);
}
END_TEST

START_TEST(keeps_no_other_size) {
  tk_kept k = {{0}, 0};
  give(&k, get(&k, 70000), 70000);
  void *a = get(&k, 70001); /* of the same bin */
  ck_assert_uint_eq(k.bytes, 70000);
  give(&k, a, 70001);
  ck_assert_uint_eq(k.bytes, 70001);
  give(&k, get(&k, 100), 100); /* small ones are malloc's */
  ck_assert_uint_eq(k.bytes, 70001);
  give(&k, get(&k, 64 << 20), 64 << 20);
  ck_assert_uint_eq(k.bytes, 70001);
  tk_kept_free(&k);
}
END_TEST

START_TEST(has_a_limit) {
  tk_kept k = {{0}, 0};
  enum { SIZE = 5 << 20, N = 4 };
  void *all[N];
  for (int i = 0; i < N; i++) all[i] = get(&k, SIZE);
  for (int i = 0; i < N; i++) give(&k, all[i], SIZE);
  ck_assert_uint_eq(k.bytes, 15 << 20);
  tk_kept_free(&k);
}
END_TEST

START_TEST(resizes) {
  tk_kept k = {{0}, 0};
  char *a = get(&k, 5000);
  a = tk_kept_alloc(&k, a, 5000, 9000);
  ck_assert_ptr_nonnull(a);
  ck_assert_int_eq(a[4999], 0x5A);
  give(&k, a, 9000);
  ck_assert_uint_eq(k.bytes, 9000);
  ck_assert_ptr_null(tk_kept_alloc(&k, NULL, 0, 0));
  tk_kept_free(&k);
}
END_TEST

int main(void) {
  Suite *s = suite_create("kept memory");
  TCase *c = tcase_create("kept memory");
  tcase_add_test(c, takes_the_same_size_again);
  tcase_add_test(c, keeps_no_other_size);
  tcase_add_test(c, has_a_limit);
  tcase_add_test(c, resizes);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
