/* test_kept.c - what a compiler needs is kept in the typed form: hints, cache
 * and eviction modifiers, options of loops, facts about arguments.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/session.h"
#include "support/suite.h"

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def k(x, y, n, m, BLOCK: tl.constexpr):\n"
    "    at = tl.multiple_of(tl.arange(0, BLOCK), 8)\n"
    "    at = tl.max_contiguous(at, BLOCK)\n"
    "    at = tl.max_constancy(at, 1)\n"
    "    n = tl.multiple_of(n, 4)\n"
    "    tl.assume(n > 0)\n"
    "    for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2,\n"
    "                      disallow_acc_multi_buffer=True, flatten=True,\n"
    "                      warp_specialize=True, disable_licm=True):\n"
    "        v = tl.load(x + at, cache_modifier='.cg',\n"
    "                    eviction_policy='evict_last')\n"
    "        tl.store(y + at, v, cache_modifier='.wt',\n"
    "                 eviction_policy='evict_first')\n";

/* The form of k, and what of it must be there. */
static const char *form_of(tk_session *s, const char *n) {
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  ck_assert_int_eq(tk_module_open(s, "k.py", source, strlen(source), &m),
                   TK_OK);
  ck_assert_int_eq(tk_function_named(m, "k", &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(s, f, &l), TK_OK);
  ck_assert_int_eq(tk_launch_option(l, "num_warps", 8), TK_OK);
  ck_assert_int_eq(tk_launch_option(l, "enable_fp_fusion", 0), TK_OK);
  ck_assert_int_eq(tk_launch_option_text(l, "num_stages=2"), TK_OK);
  ck_assert_int_eq(tk_launch_option_text(l, "maxnreg=128"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "x=f32[16]:zeros"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "y=f32[16]:zeros"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, n), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "m=3"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "BLOCK=16"), TK_OK);
  const char *text = tk_launch_ir(l);
  ck_assert_msg(text != NULL, "%s", tk_report(s, false));
  return text;
}

static void has(const char *form, const char *piece) {
  ck_assert_msg(strstr(form, piece) != NULL, "no '%s' in\n%s", piece, form);
}

START_TEST(hints_and_options) {
  tk_session *s = tk_session_new();
  const char *form = form_of(s, "n=2");
  has(form, "{kind = multiple_of, values = [8]} : <[16], int32>");
  has(form, "{kind = max_contiguous, values = [16]} : <[16], int32>");
  has(form, "{kind = max_constancy, values = [1]} : <[16], int32>");
  has(form, "{kind = multiple_of, values = [4]} : int32");
  has(form, "{assumed = true}");
  has(form, "{cache = cg, eviction = evict_last}");
  has(form, "{cache = wt, eviction = evict_first}");
  has(form, " with num_stages 3, unroll 2, disallow_acc_multi_buffer, "
            "flatten, warp_specialize, disable_licm {");
  has(form, "num_warps 8\nnum_stages 2\nmaxnreg 128\nenable_fp_fusion 0\n");
  has(form, "arg BLOCK = \"16\"\n");
  tk_session_free(s);
}
END_TEST

START_TEST(divisibility) {
  tk_session *s = tk_session_new();
  const char *form = form_of(s, "n=32");
  has(form, "%x: pointer<fp32> from x divisor 16");
  has(form, "%n: int32 from n divisor 16");
  has(form, "%m: int32 from m)");
  tk_session_free(s);
  s = tk_session_new();
  has(form_of(s, "n=2"), "%n: int32 from n, ");
  tk_session_free(s);
}
END_TEST

START_TEST(options_are_checked) {
  static const char *const bad[][2] = {
      {"num_stage=2", "'num_stage' is not a launch option"},
      {"num_warps=3", "num_warps is 3; it must be a power of two from 1 to 64"},
      {"maxnreg=-1", "maxnreg is -1; it must be a number from 0 to 1024"},
      {"maxnreg=many", "maxnreg: 'many' is not a number"},
      {"enable_fp_fusion=False", "1 for True, 0 for False"},
      {"maxnreg", "'maxnreg' is not NAME=NUMBER"},
      {"maxnreg=", "'maxnreg=' is not NAME=NUMBER"},
  };
  tk_session *s = tk_session_new();
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  ck_assert_int_eq(tk_module_open(s, "k.py", source, strlen(source), &m),
                   TK_OK);
  ck_assert_int_eq(tk_function_named(m, "k", &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(s, f, &l), TK_OK);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tk_report_clear(s);
    ck_assert_int_eq(tk_launch_option_text(l, bad[i][0]), TK_USAGE);
    has(tk_report(s, false), bad[i][1]);
  }
  tk_session_free(s);
}
END_TEST

/* Through a launch file, too. */
START_TEST(options_are_recorded) {
  char path[] = "/tmp/tkdbg-kept-XXXXXX";
  tk_session *s = tk_session_new();
  tk_launch *l;
  int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  close(fd);
  const char *form = form_of(s, "n=2");
  char *before = strndup(form, strcspn(form, "\n") + 80);
  ck_assert_int_eq(tk_launch_record(s->launches, path), TK_OK);
  ck_assert_int_eq(tk_launch_replay(s, path, &l), TK_OK);
  form = tk_launch_ir(l);
  ck_assert_msg(form && !strncmp(form, before, strlen(before)), "%s", form);
  unlink(path);
  free(before);
  tk_session_free(s);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("kept for a compiler");
  TCase *tc = tcase_create("form");
  tcase_add_test(tc, hints_and_options);
  tcase_add_test(tc, divisibility);
  tcase_add_test(tc, options_are_checked);
  tcase_add_test(tc, options_are_recorded);
  suite_add_tcase(suite, tc);
  return run_suite(suite);
}
