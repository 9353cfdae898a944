/* fuzz.h - what the fuzz targets share.
 *
 * A target takes any bytes and must return, without a crash, a leak or an
 * unbounded wait.  Memory is limited, so that an input that asks for a lot
 * ends in an error instead.
 */
#ifndef TK_TESTS_FUZZ_H
#define TK_TESTS_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "tkdbg/tkdbg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void *fuzz_alloc(void *ud, void *p, size_t old, size_t size) {
  (void)ud;
  (void)old;
  if (size > (size_t)1 << 22) return NULL;
  if (size) return realloc(p, size);
  free(p);
  return NULL;
}

static inline tk_session *fuzz_session(void) {
  tk_session *s = tk_session_new_with(fuzz_alloc, NULL);
  if (!s) abort();
  return s;
}

/* Ends a session; its report must be sound whatever happened. */
static inline void fuzz_end(tk_session *s) {
  size_t n = tk_report_count(s);
  const char *text = tk_report(s, true);
  if (n && (!text || !*text)) abort();
  if (!tk_report_json(s)) abort();
  tk_session_free(s);
}

/* The input as a string; free it. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) abort();
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

/* A launch of f(x, n, B: constexpr). */
static inline tk_launch *fuzz_launch(tk_session *s) {
  static const char source[] = "import triton\n"
                               "@triton.jit\n"
                               "def f(x, n, B: triton.language.constexpr):\n"
                               "    pass\n";
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  if (tk_module_open(s, "f.py", source, sizeof source - 1, &m) ||
      tk_function_named(m, "f", &f) || tk_launch_new(s, f, &l))
    abort();
  return l;
}

#endif
