/* test_convert.c - conversions between floats, every input or nearly.
 *
 * All codes of 8 and 16 bits; of fp32 and fp64 every number beside a value of
 * the narrower type and beside the middle of two, with both signs, and a
 * dense sample.  What must come out is worked out with integers
 * (tests/support/float_format.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/interp.h"
#include "interp/kernels.h"
#include "support/float_format.h"
#include "tkdbg/tkdbg.h"
#include "support/suite.h"

enum { BLOCK = 1 << 16, STRIDE = 8191 };

typedef struct pair {
  const char *from, *to;
  bool rtz;
} pair;

static const pair pairs[] = {
    {"fp8e4nv", "fp16", 0},  {"fp8e4nv", "bf16", 0},   {"fp8e4nv", "fp32", 0},
    {"fp8e4nv", "fp64", 0},  {"fp8e4b8", "fp16", 0},   {"fp8e4b8", "bf16", 0},
    {"fp8e4b8", "fp32", 0},  {"fp8e4b15", "fp16", 0},  {"fp8e4b15", "fp32", 0},
    {"fp8e5", "fp16", 0},    {"fp8e5", "bf16", 0},     {"fp8e5", "fp32", 0},
    {"fp8e5", "fp64", 0},    {"fp8e5b16", "fp16", 0},  {"fp8e5b16", "bf16", 0},
    {"fp8e5b16", "fp32", 0}, {"fp8e5", "fp8e4nv", 0},  {"fp8e4nv", "fp8e5", 0},
    {"fp8e4b8", "fp8e5", 0}, {"fp8e5b16", "fp8e5", 0}, {"fp16", "fp8e4nv", 0},
    {"fp16", "fp8e4b8", 0},  {"fp16", "fp8e4b15", 0},  {"fp16", "fp8e5", 0},
    {"fp16", "fp8e5b16", 0}, {"fp16", "fp8e5", 1},     {"fp16", "fp8e4nv", 1},
    {"fp16", "bf16", 0},     {"fp16", "fp32", 0},      {"fp16", "fp64", 0},
    {"bf16", "fp8e4nv", 0},  {"bf16", "fp8e4b8", 0},   {"bf16", "fp8e5", 0},
    {"bf16", "fp8e5b16", 0}, {"bf16", "fp16", 0},      {"bf16", "fp32", 0},
    {"bf16", "fp64", 0},     {"fp32", "fp16", 0},      {"fp32", "fp16", 1},
    {"fp32", "bf16", 0},     {"fp32", "bf16", 1},      {"fp32", "fp8e4nv", 0},
    {"fp32", "fp8e4nv", 1},  {"fp32", "fp8e4b8", 0},   {"fp32", "fp8e4b15", 0},
    {"fp32", "fp8e5", 0},    {"fp32", "fp8e5", 1},     {"fp32", "fp8e5b16", 0},
    {"fp32", "fp64", 0},     {"fp64", "fp16", 0},      {"fp64", "fp16", 1},
    {"fp64", "bf16", 0},     {"fp64", "bf16", 1},      {"fp64", "fp32", 0},
    {"fp64", "fp32", 1},     {"fp64", "fp8e4nv", 0},   {"fp64", "fp8e5", 0},
};

typedef struct run {
  const ff_format *from, *to;
  bool rtz;
  size_t from_size, to_size;
  tk_session *s;
  tk_launch *l;
  unsigned char *x, *y;
  size_t n; /* lanes waiting */
  long done, failed;
} run;

/* ---- what must come out ------------------------------------------------ */

static uint64_t sign_of(const ff_format *f) {
  return (uint64_t)1 << (ff_bits(f) - 1);
}

/* Sign and payload of a NaN: its top bits survive and it becomes quiet, except
 * that bf16 is widened by moving its bits. */
static uint64_t nan_code(const run *r, uint64_t code) {
  const ff_format *f = r->from, *t = r->to;
  uint64_t quiet = (((uint64_t)2 << t->ebits) - 1) << (t->mbits - 1);
  uint64_t payload = code & (((uint64_t)1 << f->mbits) - 1);
  int less = f->mbits - t->mbits;
  if (f->mbits == 7 && t->mbits == 23) return code << 16;
  payload = less > 0 ? payload >> less : payload << -less;
  return quiet | payload | (code & sign_of(f) ? sign_of(t) : 0);
}

/* By way of fp16 toward zero, at most 1.75, ties away from zero. */
static uint64_t to_e4b15(ff_value v) {
  const ff_format *half = ff_named("fp16");
  uint64_t h = 0x3f00;
  if (v.kind != FF_NAN) h = ff_encode(half, v, FF_TOWARD_ZERO, false) & 0x7fff;
  ff_value limited = ff_decode(half, h > 0x3f00 ? 0x3f00 : h);
  limited.negative = v.negative;
  return ff_encode(ff_named("fp8e4b15"), limited, FF_NEAREST_AWAY, false);
}

static bool nvidia_fp8(const ff_format *t) {
  return !strcmp(t->name, "fp8e4nv") || !strcmp(t->name, "fp8e5");
}

/* Whether got is right for code. */
static bool right(const run *r, uint64_t code, uint64_t got) {
  const ff_format *t = r->to;
  ff_value v = ff_decode(r->from, code);
  if (!strcmp(t->name, "fp8e4b15")) return got == to_e4b15(v);
  bool no_inf = t->special == FF_FNUZ && v.kind == FF_INFINITE;
  if (v.kind == FF_NAN || no_inf) {
    bool halves = t->mbits > 3 && r->from->mbits > 3;
    if (halves && got != nan_code(r, code)) return false;
    return ff_decode(t, got).kind == FF_NAN;
  }
  ff_mode mode = r->rtz ? FF_TOWARD_ZERO : FF_NEAREST_EVEN;
  bool clamp = nvidia_fp8(t) && !(r->rtz && v.kind == FF_INFINITE);
  return got == ff_encode(t, v, mode, clamp);
}

/* ---- launches ---------------------------------------------------------- */

/* The typed form of a kernel that converts a block: the front end refuses some
 * pairs, as Triton's compiler has no code for them on any one device. */
static const char form[] =
    "tkdbg-ir 1\narg x\narg y\n\n"
    "kernel @k(%%x: pointer<%s> from x, %%y: pointer<%s> from y) "
    "source 0 at 1:5-6 {\n"
    "  var %%i: <[%d], int32>\n"
    "  stmt at 1:1-4 {\n"
    "    %%i = arange {start = 0} : <[%d], int32> at 1:1-4\n"
    "    %%0 = addptr %%y, %%i : <[%d], pointer<%s>> at 1:1-4\n"
    "    %%1 = addptr %%x, %%i : <[%d], pointer<%s>> at 1:1-4\n"
    "    %%2 = load %%1 : <[%d], %s> at 1:1-4\n"
    "    %%3 = cast %%2 {rounding = %s} : <[%d], %s> at 1:1-4\n"
    "    store %%0, %%3 : <[%d], %s>\n"
    "  }\n}\n\nsource 0 \"k.py\" from 1\n|def k(x, y): pass\n";

static size_t give(run *r, const char *name, const char *type,
                   unsigned char *data) {
  tk_tensor t = {.data = data, .rank = 1, .shape = {BLOCK}, .strides = {1}};
  t.dtype = (tk_dtype)tk_dtype_from_name(type);
  ck_assert_int_eq(tk_launch_tensor(r->l, name, &t), TK_OK);
  return tk_dtypes[t.dtype].size;
}

static void open_run(run *r, const pair *p) {
  char text[2048];
  tk_function *f;
  r->from = ff_named(p->from);
  r->to = ff_named(p->to);
  r->rtz = p->rtz;
  r->x = calloc(BLOCK, 8);
  r->y = calloc(BLOCK, 8);
  snprintf(text, sizeof text, form, p->from, p->to, BLOCK, BLOCK, BLOCK, p->to,
           BLOCK, p->from, BLOCK, p->from, p->rtz ? "zero" : "nearest", BLOCK,
           p->to, BLOCK, p->to);
  r->s = tk_session_new();
  ck_assert_msg(tk_ir_open(r->s, "k.tk", text, strlen(text), &f) == TK_OK, "%s",
                tk_report(r->s, false));
  ck_assert_int_eq(tk_launch_new(r->s, f, &r->l), TK_OK);
  r->from_size = give(r, "x", p->from, r->x);
  r->to_size = give(r, "y", p->to, r->y);
}

static void close_run(run *r) {
  tk_session_free(r->s);
  free(r->x);
  free(r->y);
}

static void check_lane(run *r, size_t i) {
  uint64_t code = 0, got = 0;
  memcpy(&code, r->x + i * r->from_size, r->from_size);
  memcpy(&got, r->y + i * r->to_size, r->to_size);
  r->done++;
  if (!right(r, code, got) && r->failed++ < 5)
    printf("%s to %s%s: 0x%llx gives 0x%llx\n", r->from->name, r->to->name,
           r->rtz ? " toward zero" : "", (unsigned long long)code,
           (unsigned long long)got);
}

static void flush(run *r) {
  if (!r->n) return;
  tk_status st = tk_launch_run(r->l, NULL, NULL);
  ck_assert_msg(st == TK_OK, "%s", tk_report(r->s, false));
  for (size_t i = 0; i < r->n; i++) check_lane(r, i);
  r->n = 0;
}

static void add(run *r, uint64_t code) {
  memcpy(r->x + r->n++ * r->from_size, &code, r->from_size);
  if (r->n == BLOCK) flush(r);
}

/* ---- inputs ------------------------------------------------------------ */

static void add_around(run *r, ff_value v) {
  uint64_t code = ff_encode(r->from, v, FF_TOWARD_ZERO, true);
  for (uint64_t c = code < 2 ? 0 : code - 2; c <= code + 2; c++) {
    add(r, c);
    add(r, c | sign_of(r->from));
  }
}

/* Every code of the narrower type, and the middle between it and the next. */
static void boundaries(run *r) {
  uint64_t last = ff_max_code(r->to);
  uint64_t step = last > 0xffff ? last / 50000 : 1;
  for (uint64_t c = 0; c <= last; c += step) {
    ff_value v = ff_decode(r->to, c);
    add_around(r, v);
    int shift = v.m ? 0 : 1; /* zero has the exponent of the smallest */
    ff_value middle = {FF_FINITE, false, (v.m << 1) + 1, v.e - 1};
    if (shift) middle.e = 1 - r->to->bias - r->to->mbits - 1;
    add_around(r, middle);
  }
}

static void dense_sample(run *r) {
  if (ff_bits(r->from) == 32) {
    for (uint64_t c = 0; c >> 32 == 0; c += STRIDE) add(r, c);
    return;
  }
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 300000; i++) { /* xorshift64 */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    /* every other one near the narrower type's range */
    uint64_t near = (state & ~((uint64_t)0x7f << 56)) | (uint64_t)0x3f << 56;
    add(r, i & 1 ? near : state);
  }
}

START_TEST(one_pair) {
  run r = {0};
  open_run(&r, &pairs[_i]);
  if (ff_bits(r.from) <= 16) {
    for (uint64_t c = 0; c >> ff_bits(r.from) == 0; c++) add(&r, c);
  } else {
    if (ff_bits(r.to) < ff_bits(r.from)) boundaries(&r);
    dense_sample(&r);
  }
  flush(&r);
  close_run(&r);
  ck_assert_msg(!r.failed, "%s to %s%s: %ld of %ld inputs are wrong",
                r.from->name, r.to->name, r.rtz ? " toward zero" : "", r.failed,
                r.done);
}
END_TEST

static const tk_dtype narrow_types[] = {TK_FP16,    TK_BF16,     TK_FP8E4NV,
                                        TK_FP8E4B8, TK_FP8E4B15, TK_FP8E5,
                                        TK_FP8E5B16};

/* Every integer of 8 and 16 bits, and wider ones of every length, beside the
 * lane that one rounding of a double gives. */
START_TEST(integers_become_narrow_floats) {
  static const char *const integers[] = {"int1",   "int8",   "uint8",
                                         "int16",  "uint16", "int32",
                                         "uint32", "int64",  "uint64"};
  tk_dtype to = narrow_types[_i];
  for (size_t k = 0; k < sizeof integers / sizeof *integers; k++) {
    run r = {0};
    open_run(&r, &(pair){integers[k], tk_dtypes[to].name, false});
    tk_dtype from = (tk_dtype)tk_dtype_from_name(integers[k]);
    uint64_t state = 88172645463325252u, bits = 8 * r.from_size;
    for (uint64_t i = 0; i < BLOCK; i++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      uint64_t some = state >> (64 - bits) >> i % bits;
      uint64_t u = bits <= 16 ? i : state & 1 ? 0 - some : some;
      if (from == TK_INT1) u &= 1;
      memcpy(r.x + i * r.from_size, &u, r.from_size);
    }
    ck_assert_int_eq(tk_launch_run(r.l, NULL, NULL), TK_OK);
    for (size_t i = 0; i < BLOCK; i++) {
      uint64_t want = 0;
      tk_lane_set_double(to, &want,
                         tk_lane_to_round(from, r.x + i * r.from_size));
      if (memcmp(&want, r.y + i * r.to_size, r.to_size))
        ck_abort_msg("%s %lld to %s", integers[k],
                     (long long)tk_lane_int(from, r.x + i * r.from_size),
                     tk_dtypes[to].name);
    }
    close_run(&r);
  }
}
END_TEST

/* ---- loops beside single lanes ------------------------------------------- */

static float one_wide(tk_dtype d, uint16_t code) {
  if (d == TK_FP16) return tk_f16_to_f32(code);
  return d == TK_BF16 ? tk_bf16_to_f32(code) : tk_fp8_to_f32(d, (uint8_t)code);
}

static uint16_t one_narrow(tk_dtype d, float v) {
  if (d == TK_FP16) return tk_f32_to_f16(v);
  return d == TK_BF16 ? tk_f32_to_bf16(v) : tk_f32_to_fp8(d, v);
}

/* In one piece, and in pieces that are shorter than any vector. */
static void check_narrow(tk_dtype d, const float *v, size_t n) {
  static unsigned char all[2 * BLOCK], parts[2 * BLOCK];
  size_t size = tk_dtypes[d].size;
  tki_narrow(d, all, v, n);
  for (size_t at = 0; at < n; at += 7)
    tki_narrow(d, parts + at * size, v + at, n - at < 7 ? n - at : 7);
  ck_assert_int_eq(memcmp(all, parts, n * size), 0);
  for (size_t i = 0; i < n; i++) { /* an assertion takes longer than a lane */
    uint16_t got = 0, want = one_narrow(d, v[i]);
    memcpy(&got, all + i * size, size);
    if (got != want)
      ck_abort_msg("%s of %a is 0x%x, not 0x%x", tk_dtype_name(d), (double)v[i],
                   got, want);
  }
}

START_TEST(loops_widen_as_lanes) {
  tk_dtype d = narrow_types[_i];
  size_t size = tk_dtypes[d].size, n = (size_t)1 << tk_dtypes[d].bits;
  unsigned char *codes = calloc(n, size);
  float *all = calloc(n, sizeof *all), *parts = calloc(n, sizeof *parts);
  for (size_t i = 0; i < n; i++) memcpy(codes + i * size, &i, size);
  tki_widen(d, all, codes, n);
  for (size_t at = 0; at < n; at += 7)
    tki_widen(d, parts + at, codes + at * size, n - at < 7 ? n - at : 7);
  ck_assert_int_eq(memcmp(all, parts, n * sizeof *all), 0);
  for (size_t i = 0; i < n; i++) {
    float want = one_wide(d, (uint16_t)i);
    ck_assert_msg(!memcmp(&all[i], &want, sizeof want),
                  "%s 0x%zx is %a, not %a", tk_dtype_name(d), i, (double)all[i],
                  (double)want);
  }
  free(codes);
  free(all);
  free(parts);
}
END_TEST

/* 2^24 numbers at random, most of them near the type's range; every code, the
 * middle between two, and the numbers next to each. */
START_TEST(loops_narrow_as_lanes) {
  static float v[BLOCK];
  tk_dtype d = narrow_types[_i];
  uint32_t codes = 1u << tk_dtypes[d].bits, state = 2463534242u;
  for (int block = 0; block < (1 << 24) / BLOCK; block++) {
    for (size_t i = 0; i < BLOCK; i++) {
      state ^= state << 13, state ^= state >> 17, state ^= state << 5;
      uint32_t near =
          (state & 0x87ffffff) | (state >> 27 & 1 ? 0x38000000 : 0x30000000);
      uint32_t u = block & 3 ? near : state;
      memcpy(&v[i], &u, sizeof u);
    }
    check_narrow(d, v, BLOCK);
  }
  size_t n = 0;
  for (uint32_t c = 0; c < codes; c++) {
    float here = one_wide(d, (uint16_t)c);
    float next = one_wide(d, (uint16_t)(c + 1 < codes ? c + 1 : c));
    float middle = here / 2 + next / 2, points[2] = {here, middle};
    for (int k = 0; k < 6; k++) {
      uint32_t u;
      memcpy(&u, &points[k / 3], sizeof u);
      u += (uint32_t)(k % 3) - 1;
      memcpy(&v[n++], &u, sizeof u);
      if (n == BLOCK) check_narrow(d, v, n), n = 0;
    }
  }
  check_narrow(d, v, n);
}
END_TEST

/* ---- tf32: operands of tl.dot ------------------------------------------ */

static void check_tf32(void (*fn)(float *, const float *, size_t),
                       ff_mode mode) {
  const ff_format *single = ff_named("fp32"), *tf32 = ff_named("tf32");
  for (uint64_t c = 0; c >> 32 == 0; c += STRIDE) {
    uint32_t in = (uint32_t)c, out;
    float x, y;
    memcpy(&x, &in, sizeof x);
    fn(&y, &x, 1);
    memcpy(&out, &y, sizeof out);
    ff_value v = ff_decode(single, in);
    if (v.kind == FF_NAN)
      ck_assert(y != y);
    else
      ck_assert_uint_eq(out, ff_encode(tf32, v, mode, false) << 13);
  }
}

START_TEST(tf32) {
  check_tf32(tki_round_tf32, FF_NEAREST_AWAY);
  check_tf32(tki_cut_tf32, FF_TOWARD_ZERO);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("conversions");
  TCase *tc = tcase_create("pairs");
  tcase_set_timeout(tc, 120);
  int n = (int)(sizeof pairs / sizeof *pairs);
  tcase_add_loop_test(tc, one_pair, 0, n);
  tcase_add_test(tc, tf32);
  n = (int)(sizeof narrow_types / sizeof *narrow_types);
  tcase_add_loop_test(tc, integers_become_narrow_floats, 0, n);
  tcase_add_loop_test(tc, loops_widen_as_lanes, 0, n);
  tcase_add_loop_test(tc, loops_narrow_as_lanes, 0, n);
  suite_add_tcase(suite, tc);
  return run_suite(suite) != 0;
}
