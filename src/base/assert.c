/* assert.c - how a failed assertion ends the process. */
#include "base/assert.h"

#ifdef TK_ASSERTS
#include <stdio.h>
#include <stdlib.h>

void tk_assert_failed(const char *file, int line, const char *condition) {
  fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  abort();
}
#else
typedef int tk_no_assertions; /* C wants a declaration in every file */
#endif
