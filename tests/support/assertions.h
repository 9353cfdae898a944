/* assertions.h - Check's assertions, for tests that make millions of them.
 *
 * Check writes the place of every assertion that holds to a file, so that it
 * can tell where a test crashed; that takes half of the time of the tests of
 * the language.  What fails is told as before. */
#ifndef TK_TESTS_ASSERTIONS_H
#define TK_TESTS_ASSERTIONS_H

#include <check.h>

#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                               \
  ((expr) ? (void)0                                                            \
          : _ck_assert_failed(__FILE__, __LINE__,                              \
                              "Assertion '" #expr "' failed", ##__VA_ARGS__))

#endif
