/* test_no_memory.c - every stage of the compiler with every allocation failing
 * in turn: it ends with a status and a report that says so, crashes nowhere and
 * leaks nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tkdbg/compile.h"
#include "tkdbg/tkdbg.h"
#include "support/failing_heap.h"
#include "support/suite.h"

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def add(a, b):\n"
    "    return a + b\n"
    "@triton.jit\n"
    "def k(x, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    v = tl.load(x + i, mask=i < n, other=0.0)\n"
    "    for j in range(n):\n"
    "        v = v * 2.0 + tl.exp(v)\n"
    "    s = tl.reduce(v, 0, add)\n"
    "    m = tl.broadcast_to(v[:, None], (B, B)).to(tl.float16)\n"
    "    d = tl.sum(tl.dot(m, m), 1)\n"
    "    tl.device_print('s', s)\n"
    "    tl.store(x + i, v + d, mask=i < n)\n";

static tk_status compile_to(tk_session *s, const char *stage) {
  /* More values than a thread has registers for: there is a note beside. */
  static const char *const args[] = {"x=f32[512]:ones", "n=4", "B=256"};
  tk_emit_options o = {.size = sizeof o, .emit = stage};
  const char *text;
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  tk_status st = tk_module_open(s, "k.py", source, sizeof source - 1, &m);
  if (st == TK_OK) st = tk_function_named(m, "k", &f);
  if (st == TK_OK) st = tk_launch_new(s, f, &l);
  for (int i = 0; i < 3 && st == TK_OK; i++)
    st = tk_launch_arg_text(l, args[i]);
  return st == TK_OK ? tk_launch_emit(l, &o, &text) : st;
}

/* Whether it failed, and how, is said. */
static void check_report(tk_session *s, tk_status st) {
  if (st == TK_OK) return;
  ck_assert_int_eq(st, TK_INTERNAL);
  ck_assert_ptr_nonnull(strstr(tk_report(s, false), "out of memory"));
}

/* From the allocation of that number on; how many there are. */
static long fail_each(const char *stage, long from) {
  bool complete = false;
  long n = from;
  for (; n < from + 20000 && !complete; n++) {
    failing_heap h = {n, 0};
    tk_session *s = tk_session_new_with(failing_heap_resize, &h);
    if (!s) continue;
    tk_status st = compile_to(s, stage);
    complete = h.left > 0;
    if (complete) ck_assert_int_eq(st, TK_OK);
    check_report(s, st);
    tk_session_free(s);
    ck_assert_int_eq(h.live, 0);
  }
  ck_assert(complete);
  return n;
}

START_TEST(every_stage) {
  static const char *const stages[] = {"ttir", "axis", "layouts", "llir"};
  fail_each(stages[_i], 0);
}
END_TEST

/* With code of the cache, which LLVM runs but once for; then LLVM runs for each
 * of the last allocations. */
START_TEST(ptx_code) {
  tk_cache_summary kept;
  char folder[] = "/tmp/tkdbg-test-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("TKDBG_CACHE_DIR", folder, 1);
  failing_heap h = {1000000, 0};
  tk_session *s = tk_session_new_with(failing_heap_resize, &h);
  tk_status st = compile_to(s, "ptx");
  tk_session_free(s);
  if (st == TK_OK) { /* else LLVM is not there */
    long all = fail_each("ptx", 0);
    ck_assert(tk_cache_look(&kept, true) && kept.entries == 1);
    ck_assert_int_gt(fail_each("ptx", all - 3), all);
    ck_assert(tk_cache_look(&kept, true) && kept.entries == 1);
  }
  ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("memory");
  TCase *tc = tcase_create("compile");
  tcase_set_timeout(tc, 120);
  setenv("TKDBG_PTXAS", "", 1);
  tcase_add_loop_test(tc, every_stage, 0, 4);
  tcase_add_test(tc, ptx_code);
  suite_add_tcase(suite, tc);
  return run_suite(suite) != 0;
}
