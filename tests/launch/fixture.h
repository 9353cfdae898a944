/* fixture.h - a session with a launch in it, for the tests of this room.
 */
#ifndef TK_TESTS_LAUNCH_FIXTURE_H
#define TK_TESTS_LAUNCH_FIXTURE_H

#include <string.h>

#include "launch/internal.h"
#include "support/assertions.h"

static const char source[] =
    "import torch, triton\n"
    "import triton.language as tl\n"
    "\n"
    "@triton.jit\n"
    "def helper(a):\n"
    "    return a + SCALE\n"
    "\n"
    "@triton.autotune(configs=[], key=['n'])\n"
    "@triton.jit\n"
    "def add_kernel(x_ptr, y_ptr, n, eps, B: tl.constexpr,\n"
    "               act: 'tl.constexpr' = 'relu'):\n"
    "    pass\n"
    "\n"
    "def plain(a, b):\n"
    "    return a\n"
    "\n"
    "def later(x):\n"
    "    pass\n"
    "\n"
    "wrapped = triton.jit(later)\n";

/* ---- a session and what it says ---------------------------------------- */

typedef struct fixture {
  tk_session *s;
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  char out[4096];
  size_t n;
} fixture;

static inline void hear(void *ud, const char *text, size_t len) {
  fixture *x = ud;
  if (len > sizeof x->out - 1 - x->n) len = sizeof x->out - 1 - x->n;
  memcpy(x->out + x->n, text, len);
  x->n += len;
  x->out[x->n] = 0;
}

static inline fixture begin(void) {
  fixture x = {.s = tk_session_new()};
  ck_assert_int_eq(tk_module_open(x.s, "k.py", source, sizeof source - 1, &x.m),
                   TK_OK);
  ck_assert_int_eq(tk_function_named(x.m, "add_kernel", &x.f), TK_OK);
  ck_assert_int_eq(tk_launch_new(x.s, x.f, &x.l), TK_OK);
  return x;
}

static inline void end(fixture *x) {
  tk_session_free(x->s);
}

static inline void says(tk_session *s, const char *part) {
  const char *report = tk_report(s, false);
  if (!strstr(report, part))
    ck_abort_msg("'%s' is not in the report:\n%s", part, report);
  tk_report_clear(s);
}

static inline tk_arg *arg(fixture *x, const char *name) {
  return tkn_arg_find(x->l, name);
}

static inline void accept(fixture *x, const char *text) {
  if (tk_launch_arg_text(x->l, text) != TK_OK)
    ck_abort_msg("%s: %s", text, tk_report(x->s, false));
}

#endif
