/* test_triton.c - Triton's own PTX of kernels, beside the interpreter. */
#include <string.h>

#include "support/ptx_case.h"
#include "support/suite.h"

#define KERNEL(name, grid, args, consts, shared, tolerance)                    \
  {                                                                            \
    "tests/ptx/" name ".ptx", "tests/ptx/triton_kernels.py", name, grid, args, \
        consts, shared, 2, tolerance                                           \
  }

static const ptx_case cases[] = {
    KERNEL("mm", "2,2",
           "a=f16[64,96]:rand b=f16[96,64]:rand c=f32[64,64] M=64 N=64 K=96",
           "BM=32 BN=32 BK=32", 16384, 1e-6),
    KERNEL("softmax", "5", "x=f32[5,300]:rand y=f32[5,300] n=300", "B=512", 64,
           1e-6),
    KERNEL(
        "integers", "4",
        "x=i32[1000]:randint(-900,900) y=i32[1000]:randint(-9,9) z=i32[1000] "
        "n=1000",
        "B=256", 0, 0),
    KERNEL("scan", "1", "x=i32[128]:randint(-99,99) y=i32[128] z=i32[128]",
           "B=128", 1024, 0),
    KERNEL("atomics", "8",
           "x=i32[1000]:randint(0,999) y=i32[1] h=i32[16] n=1000", "B=128", 64,
           0),
    KERNEL("halves", "4",
           "x=f16[1000]:rand y=f32[1000]:rand z=f16[1000] "
           "n=1000",
           "B=256", 0, 0),
    KERNEL("transpose", "2,3", "x=f32[64,96]:rand y=f32[96,64] M=64 N=96",
           "B=32", 8192, 0),
};

START_TEST(kernels) {
  const ptx_case *c = &cases[_i];
  const char *only = getenv("PTX_ONLY");
  tkp_summary sum;
  if (only && strcmp(only, c->kernel)) return;
  char *report = run_ptx_case(c, &sum);
  if (*report) ck_abort_msg("%s: %s", c->kernel, report);
  ck_assert_uint_gt(sum.programs, 0);
  free(report);
}
END_TEST

int main(void) {
  Suite *s = suite_create("Triton's PTX");
  TCase *c = tcase_create("kernels");
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, kernels, 0, sizeof cases / sizeof *cases);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
