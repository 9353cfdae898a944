/* test_format.c - element types, digits and arrays as text.
 *
 * What arrays look like is compared with NumPy's own output, recorded in
 * format_cases.inc by make_format_cases.py.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/format.h"
#include "support/suite.h"

/* ---- running under an environment -------------------------------------- */

typedef struct job {
  const tk_array_view *view;
  const tk_print_options *opt;
  int indent;
  const char *spec;
  double d;
  int64_t i;
  const char *s;
  char kind; /* a array, l double, f i s spec of float, int, str */
  bool ok;
  tk_buf out;
} job;

static void run(tk_env *e, void *ud) {
  job *j = ud;
  (void)e;
  j->ok = true;
  switch (j->kind) {
  case 'a': tk_format_array(&j->out, j->view, j->indent, j->opt); break;
  case 'l': tk_format_double(&j->out, j->d); break;
  case 'f': j->ok = tk_format_spec_double(&j->out, j->d, j->spec); break;
  case 'i': j->ok = tk_format_spec_int(&j->out, j->i, j->spec); break;
  default: j->ok = tk_format_spec_str(&j->out, j->s, strlen(j->s), j->spec);
  }
}

/* The text, or "invalid"; want is what it must be. */
static void expect(job j, const char *want) {
  tk_env e;
  tk_env_init(&e, NULL, NULL);
  tk_buf_init(&j.out, &e);
  ck_assert_int_eq(tk_protect(&e, run, &j), TK_OK);
  ck_assert_str_eq(j.ok ? tk_buf_str(&j.out) : "invalid", want);
  tk_buf_free(&j.out);
  ck_assert_uint_eq(e.held, 0);
}

static tk_array_view view(tk_dtype d, const void *data, int rank,
                          const int64_t *shape) {
  tk_array_view v = {.data = data, .dtype = d, .rank = rank};
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; i--) {
    v.shape[i] = shape[i];
    v.strides[i] = stride;
    stride *= shape[i];
  }
  return v;
}

static void expect_array(const tk_array_view *v, const char *want) {
  expect((job){.kind = 'a', .view = v}, want);
}

/* ---- names ------------------------------------------------------------- */

static const struct {
  const char *name;
  int dtype;
} names[] = {
    {"f32", TK_FP32},
    {"fp32", TK_FP32},
    {"float32", TK_FP32},
    {"torch.float32", TK_FP32},
    {"tl.float32", TK_FP32},
    {"triton.language.float32", TK_FP32},
    {"i32", TK_INT32},
    {"int32", TK_INT32},
    {"u8", TK_UINT8},
    {"uint8", TK_UINT8},
    {"bool", TK_INT1},
    {"i1", TK_INT1},
    {"int1", TK_INT1},
    {"bf16", TK_BF16},
    {"bfloat16", TK_BF16},
    {"f16", TK_FP16},
    {"half", TK_FP16},
    {"float16", TK_FP16},
    {"f64", TK_FP64},
    {"double", TK_FP64},
    {"i64", TK_INT64},
    {"u64", TK_UINT64},
    {"fp8e4nv", TK_FP8E4NV},
    {"float8e4nv", TK_FP8E4NV},
    {"f8e5", TK_FP8E5},
    {"float8_e4m3fn", TK_FP8E4NV},
    {"float8_e5m2", TK_FP8E5},
    {"float8_e4m3fnuz", TK_FP8E4B8},
    {"fp8e4b15", TK_FP8E4B15},
    {"float8_e5m2fnuz", TK_FP8E5B16},
    {"fp8e5b16", TK_FP8E5B16},
    {"", -1},
    {"f33", -1},
    {"float", TK_FP32},
    {"F32", -1},
    {"tl.", -1},
};

START_TEST(dtype_names) {
  ck_assert_int_eq(tk_dtype_from_name(names[_i].name), names[_i].dtype);
}
END_TEST

START_TEST(dtype_table) {
  for (int d = 0; d < TK_DTYPE_COUNT; d++) {
    ck_assert_int_eq(tk_dtype_from_name(tk_dtype_name((tk_dtype)d)), d);
    ck_assert_uint_eq(tk_dtype_size((tk_dtype)d), tk_dtypes[d].size);
  }
  ck_assert_uint_eq(tk_dtype_size(TK_INT1), 1);
  ck_assert_uint_eq(tk_dtype_size(TK_BF16), 2);
  ck_assert_str_eq(tk_dtype_name((tk_dtype)99), "?");
}
END_TEST

/* ---- small floats ------------------------------------------------------ */

/* Every code reads back as itself; NaN as NaN. */
static void round_trip(tk_dtype d, unsigned codes) {
  size_t size = tk_dtype_size(d);
  for (unsigned c = 0; c < codes; c++) {
    uint16_t wide = (uint16_t)c, out = 0;
    uint8_t narrow = (uint8_t)c;
    double v = tk_lane_double(d, size == 1 ? (void *)&narrow : &wide);
    tk_lane_set_double(d, &out, v);
    if (v != v) {
      ck_assert(isnan(tk_lane_double(d, &out)));
      continue;
    }
    bool inf_fp8 = d == TK_FP8E5 && isinf(v);         /* saturates */
    bool last = d == TK_FP8E4B15 && fabs(v) == 1.875; /* beyond its limit */
    if (!inf_fp8 && !last) ck_assert_uint_eq(out, c);
  }
}

START_TEST(small_floats_round_trip) {
  round_trip(TK_FP16, 65536);
  round_trip(TK_BF16, 65536);
  for (int d = TK_FP8E4NV; d <= TK_FP8E5B16; d++) round_trip((tk_dtype)d, 256);
}
END_TEST

/* Halfway between neighbours the even code wins; a hair off, the nearer. */
static void rounds_to_even(tk_dtype d, unsigned last) {
  for (unsigned c = 0; c < last; c++) {
    uint16_t lo = (uint16_t)c, hi = (uint16_t)(c + 1), out = 0;
    double a = tk_lane_double(d, &lo), b = tk_lane_double(d, &hi);
    double mid = a + (b - a) / 2;
    tk_lane_set_double(d, &out, mid);
    ck_assert_uint_eq(out, c & 1 ? c + 1 : c);
    out = 0;
    tk_lane_set_double(d, &out, nextafter(mid, INFINITY));
    ck_assert_uint_eq(out, c + 1);
    out = 0;
    tk_lane_set_double(d, &out, nextafter(mid, 0));
    ck_assert_uint_eq(out, c);
  }
}

START_TEST(small_floats_round_once) {
  rounds_to_even(TK_FP16, 0x7bff);
  rounds_to_even(TK_BF16, 0x7f7f);
  rounds_to_even(TK_FP8E4NV, 0x7e);
  rounds_to_even(TK_FP8E4B8, 0x7f);
  rounds_to_even(TK_FP8E5, 0x7b);
  rounds_to_even(TK_FP8E5B16, 0x7f);
}
END_TEST

static const struct {
  int dtype;
  double in;
  unsigned code;
} edges[] = {
    {TK_FP16, 65504, 0x7bff},
    {TK_FP16, 65519.99, 0x7bff},
    {TK_FP16, 65520, 0x7c00},
    {TK_FP16, -INFINITY, 0xfc00},
    {TK_FP16, 0x1p-24, 1},
    {TK_FP16, 0x1p-25, 0},
    {TK_FP16, 0x1.000001p-25, 1},
    {TK_FP16, -0.0, 0x8000},
    {TK_FP16, 1e-300, 0},
    {TK_BF16, 1e300, 0x7f80},
    {TK_BF16, 3.3895314e38, 0x7f7f},
    {TK_BF16, 1.00390625, 0x3f80},
    {TK_FP8E4NV, 448, 0x7e},
    {TK_FP8E4NV, 1e9, 0x7e},
    {TK_FP8E4NV, -INFINITY, 0xfe},
    {TK_FP8E4NV, NAN, 0x7f},
    {TK_FP8E4NV, -0.0, 0x80},
    {TK_FP8E4NV, 0x1p-10, 0},
    {TK_FP8E5, 57344, 0x7b},
    {TK_FP8E5, INFINITY, 0x7b},
    {TK_FP8E5, -1e9, 0xfb},
    {TK_FP8E5, NAN, 0x7f},
    {TK_FP8E4B8, 240, 0x7f},
    {TK_FP8E4B8, 1e9, 0x7f},
    {TK_FP8E4B8, NAN, 0x80},
    {TK_FP8E4B8, INFINITY, 0x80},
    {TK_FP8E4B8, -0.0, 0},
    {TK_FP8E4B8, -1e-9, 0},
    {TK_FP8E4B15, 1.75, 0x7e},
    {TK_FP8E4B15, 1.875, 0x7e},
    {TK_FP8E4B15, 99, 0x7e},
    {TK_FP8E4B15, -99, 0xfe},
    {TK_FP8E4B15, 1.0625, 0x79}, /* a tie goes away from zero */
    {TK_FP8E5B16, 57344, 0x7f},
    {TK_FP8E5B16, NAN, 0x80},
    {TK_FP8E5B16, 1e9, 0x7f},
};

START_TEST(small_float_edges) {
  uint16_t out = 0;
  tk_lane_set_double((tk_dtype)edges[_i].dtype, &out, edges[_i].in);
  ck_assert_uint_eq(out, edges[_i].code);
}
END_TEST

static float from_bits(uint32_t u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

static uint32_t to_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

START_TEST(nan_payloads) {
  ck_assert_uint_eq(tk_f32_to_f16(from_bits(0x7fc00000)), 0x7e00);
  ck_assert_uint_eq(tk_f32_to_f16(from_bits(0xffa02000)), 0xff01);
  ck_assert_uint_eq(tk_f32_to_bf16(from_bits(0xff812345)), 0xffc1);
  ck_assert_uint_eq(to_bits(tk_f16_to_f32(0x7d01)), 0x7fe02000);
  ck_assert_uint_eq(to_bits(tk_f16_to_f32(0xfc00)), 0xff800000);
  ck_assert_uint_eq(to_bits(tk_bf16_to_f32(0xffc1)), 0xffc10000);
  ck_assert(isnan(tk_fp8_to_f32(TK_FP8E4NV, 0xff)));
  ck_assert(isinf(tk_fp8_to_f32(TK_FP8E5, 0x7c)));
}
END_TEST

/* Rounding a double to float first and then to half gives other results. */
START_TEST(no_double_rounding) {
  uint16_t h = 0;
  double v = 1 + 0x1p-11 + 0x1p-40; /* as float exactly halfway */
  tk_lane_set_double(TK_FP16, &h, v);
  ck_assert_uint_eq(h, 0x3c01);
  ck_assert_uint_eq(tk_f32_to_f16((float)v), 0x3c00);
  tk_lane_set_int(TK_BF16, &h, ((int64_t)0x101 << 50) + 1);
  ck_assert_uint_eq(h, 0x5c81); /* 0x1.01p58 and a little more: up */
  tk_lane_set_int(TK_BF16, &h, (int64_t)0x101 << 50);
  ck_assert_uint_eq(h, 0x5c80); /* halfway: to even */
  float f;
  tk_lane_set_int(TK_FP32, &f, INT64_MAX);
  ck_assert(f == 0x1p63f);
}
END_TEST

START_TEST(integer_lanes) {
  int8_t b;
  uint64_t u;
  uint8_t bit;
  tk_lane_set_int(TK_INT8, &b, 300);
  ck_assert_int_eq(b, 44);
  ck_assert_int_eq(tk_lane_int(TK_INT8, &b), 44);
  tk_lane_set_int(TK_INT8, &b, -1);
  ck_assert_int_eq(tk_lane_int(TK_INT8, &b), -1);
  ck_assert_int_eq(tk_lane_int(TK_UINT8, &b), 255);
  tk_lane_set_int(TK_INT1, &bit, 256);
  ck_assert_int_eq(bit, 1);
  tk_lane_set_double(TK_UINT64, &u, 0x1p63);
  ck_assert(u == (uint64_t)1 << 63);
  ck_assert(tk_lane_double(TK_UINT64, &u) == 0x1p63);
  tk_lane_set_double(TK_UINT64, &u, NAN);
  ck_assert(u == 0);
  tk_lane_set_double(TK_UINT64, &u, -1.5);
  ck_assert(u == UINT64_MAX);
}
END_TEST

/* ---- arrays ------------------------------------------------------------ */

static const struct {
  int dtype, rank;
  int64_t shape[4];
  const char *data, *want;
} cases[] = {
#include "format_cases.inc"
};

START_TEST(like_numpy) {
  int rank = cases[_i].rank;
  tk_array_view v =
      view((tk_dtype)cases[_i].dtype, cases[_i].data, rank, cases[_i].shape);
  expect_array(&v, cases[_i].want);
}
END_TEST

START_TEST(elision) {
  int32_t lanes[2000];
  for (int i = 0; i < 2000; i++) lanes[i] = i;
  tk_array_view v = view(TK_INT32, lanes, 1, (int64_t[]){2000});
  expect_array(&v, "[   0    1    2 ... 1997 1998 1999]");
  v = view(TK_INT32, lanes, 1, (int64_t[]){1001});
  expect_array(&v, "[   0    1    2 ...  998  999 1000]");
  v = view(TK_INT32, lanes, 2, (int64_t[]){500, 4});
  expect_array(&v, "[[   0    1    2    3]\n [   4    5    6    7]\n"
                   " [   8    9   10   11]\n ...\n [1988 1989 1990 1991]\n"
                   " [1992 1993 1994 1995]\n [1996 1997 1998 1999]]");
  tk_print_options opt = {4, 1, 8, 75};
  expect((job){.kind = 'a', .view = &v, .opt = &opt},
         "[[   0 ...    3]\n ...\n [1996 ... 1999]]");
}
END_TEST

START_TEST(wrapping) {
  float lanes[12];
  for (int i = 0; i < 12; i++) lanes[i] = (float)i + 0.25f;
  tk_array_view v = view(TK_FP32, lanes, 1, (int64_t[]){12});
  expect_array(&v, "[ 0.25  1.25  2.25  3.25  4.25  5.25  6.25  7.25  8.25  "
                   "9.25 10.25 11.25]");
  expect((job){.kind = 'a', .view = &v, .indent = 4},
         "[ 0.25  1.25  2.25  3.25  4.25  5.25  6.25  7.25  8.25  9.25 10.25\n"
         "     11.25]");
}
END_TEST

START_TEST(strided_views) {
  int16_t lanes[6] = {1, 2, 3, 4, 5, 6};
  tk_array_view v = view(TK_INT16, lanes, 2, (int64_t[]){3, 2});
  v.strides[0] = 1;
  v.strides[1] = 3;
  expect_array(&v, "[[1 4]\n [2 5]\n [3 6]]");
  v = view(TK_INT16, lanes + 5, 1, (int64_t[]){3});
  v.strides[0] = -2;
  expect_array(&v, "[6 4 2]");
  v.strides[0] = 0;
  expect_array(&v, "[6 6 6]");
  v = view(TK_INT16, lanes, 2, (int64_t[]){3, 0});
  expect_array(&v, "[]");
}
END_TEST

START_TEST(undefined_lanes) {
  float lanes[4] = {1.5f, 1e30f, -2, 7};
  uint8_t no[4] = {0, 1, 0, 0}, all[4] = {1, 1, 1, 1};
  tk_array_view v = view(TK_FP32, lanes, 1, (int64_t[]){4});
  v.undefined = no;
  expect_array(&v, "[ 1.5    ? -2.   7. ]");
  v.undefined = all;
  expect_array(&v, "[? ? ? ?]");
  v.rank = 0;
  expect_array(&v, "?");
}
END_TEST

START_TEST(hexadecimal) {
  uint64_t p[2] = {0x10, 0x100000000000};
  int16_t i[2] = {-1, 10};
  float f[1] = {1};
  tk_array_view v = view(TK_UINT64, p, 1, (int64_t[]){2});
  v.pointers = true;
  expect_array(&v, "[          0x10 0x100000000000]");
  v = view(TK_INT16, i, 1, (int64_t[]){2});
  v.hex = true;
  expect_array(&v, "[0xffff 0x000a]");
  v = view(TK_FP32, f, 0, NULL);
  v.hex = true;
  expect_array(&v, "0x3f800000");
}
END_TEST

/* Types without NumPy: the shortest digits that read back in that type. */
START_TEST(narrow_types) {
  uint16_t b[3] = {0x3dcd, 0x4049, 0x7f7f};
  uint8_t e4[4] = {0x7e, 0x01, 0x1d, 0x7f};
  tk_array_view v = view(TK_BF16, b, 1, (int64_t[]){2});
  expect_array(&v, "[0.1  3.14]");
  v = view(TK_BF16, b + 2, 0, NULL);
  expect_array(&v, "3.39e+38");
  v = view(TK_FP8E4NV, e4, 0, NULL);
  expect_array(&v, "448.0");
  v.data = e4 + 1;
  expect_array(&v, "0.002");
  v.data = e4 + 2;
  expect_array(&v, "0.1");
  v.data = e4 + 3;
  expect_array(&v, "nan");
}
END_TEST

/* ---- Python's text of numbers ------------------------------------------ */

static const struct {
  double v;
  const char *want;
} reprs[] = {
    {0.1, "0.1"},
    {1, "1.0"},
    {-0.0, "-0.0"},
    {1e-5, "1e-05"},
    {0.0001, "0.0001"},
    {1e16, "1e+16"},
    {9999999999999998, "9999999999999998.0"},
    {123456789.125, "123456789.125"},
    {5e-324, "5e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {0x1p-44, "5.684341886080802e-14"},
    {9007199254740992, "9007199254740992.0"},
    {2.5e-7, "2.5e-07"},
    {INFINITY, "inf"},
    {-INFINITY, "-inf"},
    {NAN, "nan"},
};

START_TEST(float_repr) {
  expect((job){.kind = 'l', .d = reprs[_i].v}, reprs[_i].want);
}
END_TEST

static const struct {
  char kind;
  double d;
  int64_t i;
  const char *s, *spec, *want;
} specs[] = {
    {'f', 3.14159, 0, 0, ".2f", "3.14"},
    {'f', 3.14159, 0, 0, "+08.3f", "+003.142"},
    {'f', 1234567.891, 0, 0, ",.1f", "1,234,567.9"},
    {'f', 1234.5, 0, 0, "_", "1_234.5"},
    {'f', 0.25, 0, 0, ".1%", "25.0%"},
    {'f', 12345, 0, 0, "e", "1.234500e+04"},
    {'f', 12345, 0, 0, ".3", "1.23e+04"},
    {'f', 12, 0, 0, ".3", "12.0"},
    {'f', 0.00001234, 0, 0, "g", "1.234e-05"},
    {'f', 1e6, 0, 0, "G", "1E+06"},
    {'f', 100000, 0, 0, "#g", "100000."},
    {'f', 2.5, 0, 0, ".0f", "2"},
    {'f', 3.5, 0, 0, ".0f", "4"},
    {'f', 1.5, 0, 0, "", "1.5"},
    {'f', -1.5, 0, 0, "*^9", "**-1.5***"},
    {'f', NAN, 0, 0, "06", "000nan"},
    {'f', INFINITY, 0, 0, "F", "INF"},
    {'f', -0.001, 0, 0, "z.1f", "0.0"},
    {'f', 1, 0, 0, "d", "invalid"},
    {'f', 1, 0, 0, ".f", "invalid"},
    {'f', 1, 0, 0, "10q", "invalid"},
    {'i', 0, 42, 0, "", "42"},
    {'i', 0, 42, 0, ">10", "        42"},
    {'i', 0, 42, 0, "<5", "42   "},
    {'i', 0, -42, 0, "06", "-00042"},
    {'i', 0, 255, 0, "#x", "0xff"},
    {'i', 0, 255, 0, "#010X", "0X000000FF"},
    {'i', 0, 5, 0, "08b", "00000101"},
    {'i', 0, 1234567, 0, ",", "1,234,567"},
    {'i', 0, 1234, 0, "010,", "00,001,234"},
    {'i', 0, 0x12345678, 0, "_x", "1234_5678"},
    {'i', 0, 65, 0, "c", "A"},
    {'i', 0, 8364, 0, "c", "\xe2\x82\xac"},
    {'i', 0, 3, 0, ".2f", "3.00"},
    {'i', 0, 3, 0, ".2", "invalid"},
    {'i', 0, 3, 0, ",x", "invalid"},
    {'i', 0, 3, 0, "s", "invalid"},
    {'i', 0, INT64_MIN, 0, "d", "-9223372036854775808"},
    {'s', 0, 0, "abc", "", "abc"},
    {'s', 0, 0, "abc", "6", "abc   "},
    {'s', 0, 0, "abc", ">6.2", "    ab"},
    {'s', 0, 0, "\xc3\xa9t\xc3\xa9", "^5", " \xc3\xa9t\xc3\xa9 "},
    {'s', 0, 0, "abc", "=6", "invalid"},
    {'s', 0, 0, "abc", "+", "invalid"},
    {'s', 0, 0, "abc", "d", "invalid"},
};

START_TEST(format_specs) {
  job j = {.kind = specs[_i].kind,
           .d = specs[_i].d,
           .i = specs[_i].i,
           .s = specs[_i].s,
           .spec = specs[_i].spec};
  expect(j, specs[_i].want);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base");
  TCase *types = tcase_create("dtype"), *text = tcase_create("format");
  tcase_add_loop_test(types, dtype_names, 0, TK_COUNT(names));
  tcase_add_test(types, dtype_table);
  tcase_add_test(types, small_floats_round_trip);
  tcase_add_test(types, small_floats_round_once);
  tcase_add_loop_test(types, small_float_edges, 0, TK_COUNT(edges));
  tcase_add_test(types, nan_payloads);
  tcase_add_test(types, no_double_rounding);
  tcase_add_test(types, integer_lanes);
  suite_add_tcase(s, types);
  tcase_add_loop_test(text, like_numpy, 0, TK_COUNT(cases));
  tcase_add_test(text, elision);
  tcase_add_test(text, wrapping);
  tcase_add_test(text, strided_views);
  tcase_add_test(text, undefined_lanes);
  tcase_add_test(text, hexadecimal);
  tcase_add_test(text, narrow_types);
  tcase_add_loop_test(text, float_repr, 0, TK_COUNT(reprs));
  tcase_add_loop_test(text, format_specs, 0, TK_COUNT(specs));
  suite_add_tcase(s, text);
  return s;
}

int main(void) {
  return run_suite(suite()) != 0;
}
