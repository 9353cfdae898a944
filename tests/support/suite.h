/* suite.h - runs a suite of Check tests.
 *
 * The suite is owned by what runs it.  In this process, so that a debugger
 * and the sanitizers see it; CK_FORK=yes lets each test have its own.
 */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include <stdlib.h>

#include "support/assertions.h"

/* How many tests failed. */
static inline int run_suite(Suite *suite) {
  SRunner *r = srunner_create(suite);
  if (!getenv("CK_FORK")) srunner_set_fork_status(r, CK_NOFORK);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed;
}

#endif
