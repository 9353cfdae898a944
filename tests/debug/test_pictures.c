/* test_pictures.c - what is said and drawn of blocks whose lanes are known. */
#include <stdio.h>
#include <math.h>
#include <string.h>

#include "command/look.h"
#include "interp/explain/touch.h"
#include "report/report.h"
#include "support/suite.h"

static tk_env env;
static tk_buf out;

static void start(void) {
  tk_env_init(&env, NULL, NULL);
  tk_buf_init(&out, &env);
}

static void finish(void) {
  tk_buf_free(&out);
  ck_assert_uint_eq(env.held, 0);
}

static void expect(const char *want) {
  if (strcmp(tk_buf_str(&out), want))
    ck_abort_msg("expected:\n%s\ngot:\n%s", want, tk_buf_str(&out));
}

static tkt_block block(tk_dtype d, int rows, int cols, const void *data) {
  tk_type t = tk_scalar(d);
  t.rank = rows ? 2 : 1;
  t.shape[0] = rows ? rows : cols;
  t.shape[1] = rows ? cols : 0;
  tkt_block b = {.type = t, .data = data, .strides = {rows ? cols : 1, 1}};
  return b;
}

START_TEST(stats_of_floats) {
  float x[8] = {0, 1, -2, 3, NAN, INFINITY, 4, 4};
  uint8_t undefined[8] = {0, 0, 0, 0, 0, 0, 0, 1};
  tkt_block b = block(TK_FP32, 2, 4, x);
  b.undefined = undefined;
  tkt_stats(&out, &b, 50);
  expect("fp32[2, 4]: 8 lanes\n"
         "  min  -2.0 at [0, 2]\n"
         "  max  4.0 at [1, 2]\n"
         "  mean 1.2   deviation 2.13542\n"
         "  zero 1   NaN 1   +inf 1   -inf 0   undefined 1\n"
         "           -2 .. -1.25              1 ##########\n"
         "        -1.25 .. -0.5               0\n"
         "         -0.5 .. 0.25               1 ##########\n"
         "         0.25 .. 1                  0\n"
         "            1 .. 1.75               1 ##########\n"
         "         1.75 .. 2.5                0\n"
         "          2.5 .. 3.25               1 ##########\n"
         "         3.25 .. 4                  1 ##########\n");
}
END_TEST

START_TEST(stats_of_a_scalar) {
  int32_t x = -7;
  tkt_block b = {.type = tk_scalar(TK_INT32), .data = &x};
  tkt_stats(&out, &b, 80);
  expect("int32: 1 lane\n  min  -7\n  max  -7\n"
         "  mean -7   deviation 0\n  zero 0\n");
}
END_TEST

START_TEST(picture_of_a_mask) {
  uint8_t m[8] = {1, 1, 1, 0, 1, 1, 0, 0};
  tkt_block b = block(TK_INT1, 2, 4, m);
  tkt_picture(&out, &b, false, 80, false);
  expect("int1[2, 4]\n"
         "     0 ###.\n"
         "     1 ##..\n"
         "       . false  # true\n");
}
END_TEST

START_TEST(picture_of_numbers) {
  float x[4] = {0, 9, NAN, INFINITY};
  tkt_block b = block(TK_FP32, 0, 4, x);
  tkt_picture(&out, &b, false, 80, false);
  expect("fp32[4]\n"
         "     0  @NI\n"
         "       0 | .:-=+*#%@| 9  N NaN  I infinite\n");
  tk_buf_clear(&out);
  tkt_picture(&out, &b, false, 80, true);
  ck_assert_ptr_nonnull(strstr(tk_buf_str(&out), "\033[38;5;16;48;5;226m@"));
  ck_assert_ptr_nonnull(strstr(tk_buf_str(&out), "\033[38;5;16;48;5;201mN"));
}
END_TEST

START_TEST(picture_of_signed_numbers) {
  float x[7] = {-8, -2, -0.5f, 0, 0.5f, 4, 6};
  tkt_block b = block(TK_FP32, 0, 7, x);
  tkt_picture(&out, &b, false, 80, false);
  expect("fp32[7]\n"
         "     0 daa.123\n"
         "       -8 |dcba.1234| 8, 0 is .\n");
}
END_TEST

START_TEST(picture_of_many_lanes) {
  static int32_t x[128 * 256];
  for (int i = 0; i < 128 * 256; i++) x[i] = i;
  tkt_block b = block(TK_INT32, 128, 256, x);
  tkt_picture(&out, &b, false, 72, false);
  ck_assert_ptr_nonnull(
      strstr(tk_buf_str(&out), "each cell shows the mean of 3 x 4 lanes"));
  tk_buf_clear(&out);
  tkt_picture(&out, &b, true, 72, false);
  ck_assert_ptr_nonnull(strstr(tk_buf_str(&out), "farthest from 0 of 3 x 4"));
  tk_buf_clear(&out);
  tkt_caption caption = {.title = "x < 1: int32[128, 256]", .under = "in k"};
  tkt_svg(&out, &b, false, &caption, 0);
  ck_assert_ptr_nonnull(strstr(tk_buf_str(&out), "x &lt; 1: int32"));
  ck_assert_ptr_nonnull(strstr(tk_buf_str(&out), "</svg>"));
  ck_assert_ptr_nonnull(strstr(tk_buf_str(&out), "width=\"832\""));
}
END_TEST

START_TEST(axis_of_offsets) {
  int32_t x[32];
  for (int i = 0; i < 32; i++) x[i] = 64 * (i / 8) + 16 + i % 8;
  tkt_block b = block(TK_INT32, 4, 8, x);
  tkt_axis(&out, &b);
  expect("int32[4, 8]\n"
         "  axis 0: contiguity 1, divisibility 1, constancy 1\n"
         "  axis 1: contiguity 8, divisibility 16, constancy 1\n");
}
END_TEST

START_TEST(axis_of_equal_lanes) {
  int32_t x[8] = {12, 12, 12, 12, 12, 12, 12, 12};
  tkt_block b = block(TK_INT32, 0, 8, x);
  tkt_axis(&out, &b);
  expect("int32[8]\n"
         "  axis 0: contiguity 1, divisibility 4, constancy 8\n");
}
END_TEST

START_TEST(axis_of_floats) {
  float x[2] = {1, 2};
  tkt_block b = block(TK_FP32, 0, 2, x);
  tkt_axis(&out, &b);
  expect("fp32[2]: floats have no contiguity\n");
}
END_TEST

START_TEST(layouts) {
  tk_type t = tk_scalar(TK_FP32);
  t.rank = 2, t.shape[0] = 64, t.shape[1] = 64;
  tkt_layout(&out, &t, 4);
  expect("fp32[64, 64]\n"
         "  #blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32],\n"
         "             warpsPerCTA = [2, 2], order = [1, 0]}>\n"
         "  4 warps; each thread holds 32 lanes\n");
  tk_buf_clear(&out);
  t.rank = 1, t.shape[0] = 1024;
  tkt_layout(&out, &t, 4);
  expect("fp32[1024]\n"
         "  #blocked<{sizePerThread = [1], threadsPerWarp = [32],\n"
         "             warpsPerCTA = [4], order = [0]}>\n"
         "  4 warps; each thread holds 8 lanes\n");
}
END_TEST

/* Program 3, or the grid; frees what was gathered. */
static void put_picture(tke_touch *touch, const tki *t, bool mine) {
  tk_arena a;
  tk_arena_init(&a, &env);
  tk_access_picture p = tke_touch_picture(touch, &a, t, mine);
  p.program[0] = 3;
  tk_report_access(&out, &p);
  tk_arena_free(&a);
  tke_touch_free(touch);
}

START_TEST(touched_elements) {
  float data[64];
  tk_tensor x = {.data = data,
                 .dtype = TK_FP32,
                 .rank = 2,
                 .shape = {8, 8},
                 .strides = {8, 1}};
  tki_region r = {.name = "x",
                  .tensor = &x,
                  .lo = 4096,
                  .hi = 4096 + 256,
                  .host = (char *)data};
  tki t = {.env = &env, .regions = &r, .nregions = 1};
  tk_inst in = {.op = TK_I_LOAD, .n = 32};
  uint64_t addr[32];
  uint8_t mask[32];
  for (int i = 0; i < 32; i++) addr[i] = 4096 + 8 * (uint64_t)i;
  for (int i = 0; i < 32; i++) mask[i] = i < 24;
  tki_access a = {.t = &t,
                  .in = &in,
                  .addr = addr,
                  .mask = mask,
                  .n = 32,
                  .size = 4,
                  .verb = "load",
                  .region = 0};
  tke_touch touch = tke_touch_new(&env, &a, &r);
  tke_touch_add(&touch, &a, 3, true);
  put_picture(&touch, &t, true);
  expect("load x, program (3, 0, 0): 1 time\n"
         "  elements x[0:6, 0:7:2], 24 of 64 elements\n"
         "  lanes    24 of 32 active, 8 wasted (25 %), no two of them "
         "contiguous\n"
         "  traffic  96 bytes requested, 192 moved (50 % useful)\n"
         "           a warp takes 6 sectors of 32 bytes in 2 lines of 128\n");
}
END_TEST

/* Programs 0 and 1 write lanes 0..31 and 16..47 of two-byte elements, a
 * program of another grid column nothing. */
START_TEST(touched_by_several) {
  int16_t data[48];
  tk_tensor x = {.data = data,
                 .dtype = TK_INT16,
                 .rank = 1,
                 .shape = {48},
                 .strides = {1}};
  tki_region r = {
      .name = "x", .tensor = &x, .lo = 4096, .hi = 4192, .host = (char *)data};
  tki t = {.env = &env, .regions = &r, .nregions = 1, .grid = {2, 2, 1}};
  tk_inst in = {.op = TK_I_STORE, .n = 32};
  uint64_t addr[32];
  tki_access a = {.t = &t,
                  .in = &in,
                  .addr = addr,
                  .n = 32,
                  .size = 2,
                  .verb = "store",
                  .write = true};
  tke_touch touch = tke_touch_new(&env, &a, &r);
  for (uint64_t program = 0; program < 2; program++) {
    for (uint64_t i = 0; i < 32; i++) addr[i] = 4096 + 2 * (i + 16 * program);
    tke_touch_add(&touch, &a, program, false);
  }
  put_picture(&touch, &t, false);
  expect("store x, the grid: 2 times by 2 programs\n"
         "  elements x[0:48], 48 of 48 elements\n"
         "  lanes    64 of 64 active, in 2 runs of up to 32\n"
         "  traffic  128 bytes requested, 128 moved (100 % useful)\n"
         "           a warp takes 2 sectors of 32 bytes in 1 line of 128\n"
         "  overlap  16 elements touched by several programs, up to 2\n"
         "           x[16]: (0, 0, 0) and (1, 0, 0)\n");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("look");
  TCase *c = tcase_create("look");
  tcase_add_checked_fixture(c, start, finish);
  tcase_add_test(c, stats_of_floats);
  tcase_add_test(c, stats_of_a_scalar);
  tcase_add_test(c, picture_of_a_mask);
  tcase_add_test(c, picture_of_numbers);
  tcase_add_test(c, picture_of_signed_numbers);
  tcase_add_test(c, picture_of_many_lanes);
  tcase_add_test(c, axis_of_offsets);
  tcase_add_test(c, axis_of_equal_lanes);
  tcase_add_test(c, axis_of_floats);
  tcase_add_test(c, layouts);
  tcase_add_test(c, touched_elements);
  tcase_add_test(c, touched_by_several);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
