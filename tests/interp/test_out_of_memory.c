/* test_out_of_memory.c - a whole launch with every allocation failing in turn:
 * it ends with a status, crashes nowhere and leaks nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "tkdbg/tkdbg.h"
#include "support/failing_heap.h"
#include "support/suite.h"

typedef struct memory_case {
  const char *source, *grid, *setting;
  tk_status ends;
  size_t jobs;
} memory_case;

static const char watched[] =
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
    "        v = v * 2.0 + tl.sigmoid(v)\n"
    "    s = tl.reduce(v, 0, add)\n"
    "    print(f'{s} {v}')\n"
    "    tl.store(x + i, v, mask=i < n)\n"
    "    tl.load(x + 100)\n"; /* a finding, whose report is memory too */

/* Programs that run at once; if they cannot, they run one by one. */
static const char together[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def add(a, b):\n"
    "    return a + b\n"
    "@triton.jit\n"
    "def k(x, n, B: tl.constexpr):\n"
    "    i = tl.program_id(0) % 2 * 2 + tl.arange(0, B) % 2\n"
    "    v = i * n\n"
    "    for j in range(n):\n"
    "        v += tl.sum(v, 0) + tl.reduce(v, 0, add)\n"
    "    tl.store(x + i, v, mask=i < n)\n";

static const memory_case cases[] = {
    {watched, "2", NULL, TK_FINDING, 1},
    {together, "8", "TKDBG_BATCHED", TK_OK, 1},
    {together, "8", "TKDBG_BATCHED", TK_OK, 3}, /* threads note their stores */
};

static tk_status launch(tk_session *s, const memory_case *c) {
  static const char *const args[] = {"x=f32[4]:ones", "n=4", "B=8"};
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  tk_status st = tk_module_open(s, "k.py", c->source, strlen(c->source), &m);
  if (st == TK_OK) st = tk_function_named(m, "k", &f);
  if (st == TK_OK) st = tk_launch_new(s, f, &l);
  for (int i = 0; i < 3 && st == TK_OK; i++)
    st = tk_launch_arg_text(l, args[i]);
  if (st == TK_OK) st = tk_launch_grid_text(l, c->grid);
  tk_run_options options = {.size = sizeof options, .jobs = c->jobs};
  return st == TK_OK ? tk_launch_run(l, &options, NULL) : st;
}

START_TEST(every_allocation) {
  const memory_case *c = &cases[_i];
  bool complete = false;
  if (c->setting) setenv(c->setting, "1", 1);
  for (long n = 0; n < 10000 && !complete; n++) {
    failing_heap h = {n, 0};
    tk_session *s = tk_session_new_with(failing_heap_resize, &h);
    if (!s) continue;
    tk_status st = launch(s, c);
    ck_assert_ptr_nonnull(tk_report(s, false));
    complete = h.left > 0;
    if (complete)
      ck_assert_int_eq(st, c->ends);
    else if (c->ends != TK_OK)
      ck_assert_int_ne(st, TK_OK);
    tk_session_free(s);
    ck_assert_int_eq(h.live, 0);
  }
  ck_assert(complete);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("memory");
  TCase *tc = tcase_create("launch");
  tcase_add_loop_test(tc, every_allocation, 0,
                      (int)(sizeof cases / sizeof *cases));
  suite_add_tcase(suite, tc);
  return run_suite(suite) != 0;
}
