/* test_llvm.c - what LLVM's NVPTX back end prints (llvm.ll, llvm.ptx): a loop
 * in a function, shared memory, a shuffle, halves, a switch, vprintf.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "launch/internal.h"
#include "ptx/ptx.h"
#include "support/ptx_case.h"
#include "support/suite.h"

enum { THREADS = 64 };

typedef struct llvm_run {
  tk_arena arena;
  float x[2 * THREADS];
  char printed[256];
  tk_status st;
} llvm_run;

static void hear_text(void *ud, const char *text, size_t n) {
  llvm_run *r = ud;
  strncat(r->printed, text, n);
}

static void run_kernel(tk_env *e, void *ud) {
  llvm_run *r = ud;
  size_t size;
  char *text = read_whole_file("tests/ptx/llvm.ptx", &size);
  tkp_program *p = tkp_parse(&r->arena, "llvm.ptx", text, size);
  const float *x = r->x;
  int n = 3;
  const void *params[] = {&x, &n};
  tkp_range range = {(uint64_t)(uintptr_t)x, sizeof r->x, "x", true, NULL};
  tkp_launch l = {.grid = {1, 1, 1},
                  .block = {THREADS, 1, 1},
                  .dynamic_shared = 4 * THREADS,
                  .params = params,
                  .nparams = 2,
                  .ranges = &range,
                  .nranges = 1,
                  .print = hear_text,
                  .print_ud = r};
  (void)e;
  r->st = tkp_run(p, &l, NULL);
  free(text);
}

/* What the kernel computes, up to the switch. */
static float expected(int t) {
  static const float added[] = {2.5f, 3, -1, 7, 1};
  float h[THREADS];
  for (int i = 0; i < THREADS; i++) {
    h[i] = (float)i / THREADS;
    for (int k = 0; k < 3; k++) h[i] = fmaf(h[i], 0.5f, 1);
  }
  float w = h[t ^ 33], other = h[t ^ 1 ^ 33];
  float d = (float)exp2(other) / w;
  float half = tk_f16_to_f32(tk_f32_to_f16(d));
  float b = tk_bf16_to_f32(tk_f32_to_bf16(half));
  b = tk_bf16_to_f32(tk_f32_to_bf16(b + b));
  return b + added[t % 5];
}

START_TEST(by_llvm) {
  tk_session *s = tk_session_new();
  llvm_run r = {.st = TK_OK};
  for (int i = 0; i < THREADS; i++) r.x[i] = (float)i / THREADS;
  tk_arena_init(&r.arena, &s->env);
  tk_protect(&s->env, run_kernel, &r);
  ck_assert_str_eq(tk_report(s, false), "");
  ck_assert_int_eq(r.st, TK_OK);
  ck_assert_float_eq(r.x[0], THREADS);
  for (int t = 0; t < THREADS; t++)
    ck_assert_float_eq(r.x[THREADS + t], expected(t));
  char text[64];
  snprintf(text, sizeof text, "v 3 %f\n", expected(3) - 7);
  ck_assert_str_eq(r.printed, text);
  tk_arena_free(&r.arena);
  tk_session_free(s);
}
END_TEST

int main(void) {
  Suite *s = suite_create("LLVM's PTX");
  TCase *c = tcase_create("kernel");
  tcase_add_test(c, by_llvm);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
