/* test_instructions.c - PTX instructions, one thread or one warp at a time,
 * beside values worked out in C.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "support/ptx_run.h"
#include "support/suite.h"

/* A result is in %r0, %h0, %d0 or %p0: the letter says which.  The operands
 * are in %r1, %h1, %d1, %p1 (a's bits), and so on for b and c. */
typedef struct number_case {
  char letter;
  const char *code;
  uint64_t a, b, c, want;
} number_case;

#define F(x) (uint64_t) tk_f32_bits(x)
#define D(x) tk_f64_bits(x)
#define NEG(x) (uint64_t)(int64_t)(-(x))

static const char frame[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".const .align 4 .u32 table[3] = {11, 22, 33};\n"
    ".global .u32 table_of = 7;\n"
    ".func (.param .b32 r) twice(.param .b32 x)\n"
    "{ .reg .b32 %%r<3>; ld.param.b32 %%r1, [x]; add.s32 %%r2, %%r1, %%r1;\n"
    "  st.param.b32 [r], %%r2; ret; }\n"
    ".visible .entry k(.param .u64 io)\n{\n"
    ".reg .b16 %%h<8>; .reg .b32 %%r<8>; .reg .b64 %%d<8>; .reg .pred %%p<8>;\n"
    ".reg .b64 %%io; .local .align 8 .b8 stack[64];\n"
    ".shared .align 8 .b8 words[64]; .param .b32 given; .param .b32 result;\n"
    "ld.param.u64 %%io, [io];\n"
    "ld.global.v2.b64 {%%d1, %%d2}, [%%io]; ld.global.b64 %%d3, [%%io+16];\n"
    "cvt.u32.u64 %%r1, %%d1; cvt.u32.u64 %%r2, %%d2; cvt.u32.u64 %%r3, %%d3;\n"
    "cvt.u16.u64 %%h1, %%d1; cvt.u16.u64 %%h2, %%d2; cvt.u16.u64 %%h3, %%d3;\n"
    "setp.ne.s64 %%p1, %%d1, 0; setp.ne.s64 %%p2, %%d2, 0;\n"
    "setp.ne.s64 %%p3, %%d3, 0; st.param.b32 [given], %%r1;\n"
    "%s\n%s st.global.b64 [%%io+24], %%d0;\nret;\n}\n";

static const char *ending(const number_case *c) {
  if (strstr(c->code, "result"))
    return "ld.param.b32 %r0, [result]; cvt.u64.u32 %d0, %r0;";
  switch (c->letter) {
  case 'r': return "cvt.u64.u32 %d0, %r0;";
  case 'h': return "cvt.u64.u16 %d0, %h0;";
  case 'p': return "selp.b64 %d0, 1, 0, %p0;";
  default: return "";
  }
}

static void try_number(const number_case *c) {
  char text[4096];
  uint64_t io[4] = {c->a, c->b, c->c, 0};
  snprintf(text, sizeof text, frame, c->code, ending(c));
  char *report = ptx_run_text(text, 1, 1, io, sizeof io, NULL);
  if (*report) ck_abort_msg("%s\n%s", c->code, report);
  if (io[3] != c->want)
    ck_abort_msg("%s gives 0x%llx, not 0x%llx", c->code,
                 (unsigned long long)io[3], (unsigned long long)c->want);
  free(report);
}

static void try_numbers(const number_case *numbers, size_t n) {
  for (size_t i = 0; i < n; i++) try_number(&numbers[i]);
}

#define TRY_NUMBERS(numbers)                                                   \
  try_numbers(numbers, sizeof(numbers) / sizeof *(numbers))

/* The tables are not static: what a float is as bits is no constant for the
 * compiler. */
START_TEST(integers) {
  const number_case numbers[] = {
      {'r', "add.s32 %r0, %r1, %r2;", 5, NEG(7), 0, (uint32_t)-2},
      {'r', "add.sat.s32 %r0, %r1, %r2;", INT32_MAX, 1, 0, INT32_MAX},
      {'h', "add.u16 %h0, %h1, %h2;", 65535, 2, 0, 1},
      {'d', "sub.s64 %d0, %d1, %d2;", 5, 7, 0, NEG(2)},
      {'r', "mul.lo.s32 %r0, %r1, %r2;", 100000, 100000, 0, 1410065408},
      {'r', "mul.hi.u32 %r0, %r1, %r2;", UINT32_MAX, UINT32_MAX, 0, 0xFFFFFFFE},
      {'r', "mul.hi.s32 %r0, %r1, %r2;", NEG(1), 1, 0, UINT32_MAX},
      {'d', "mul.hi.u64 %d0, %d1, %d2;", UINT64_MAX, 2, 0, 1},
      {'d', "mul.wide.s32 %d0, %r1, %r2;", NEG(3), 1000000000, 0,
       (uint64_t)-3000000000ll},
      {'r', "mul.wide.u16 %r0, %h1, %h2;", 65535, 65535, 0, 4294836225},
      {'d', "mad.wide.u32 %d0, %r1, %r2, %d3;", UINT32_MAX, 2, 5,
       UINT64_C(8589934595)},
      {'r', "mad.lo.s32 %r0, %r1, %r2, %r3;", 3, 4, 5, 17},
      {'r', "mul24.lo.u32 %r0, %r1, %r2;", 0x1000003, 2, 0, 6},
      {'r', "add.cc.u32 %r4, %r1, %r2; addc.u32 %r0, %r3, 0;", UINT32_MAX, 1, 7,
       8},
      {'r', "sub.cc.u32 %r4, %r1, %r2; subc.u32 %r0, %r3, 0;", 0, 1, 7, 6},
      {'r', "mad.lo.cc.u32 %r4, %r1, %r2, %r3; madc.hi.u32 %r0, %r1, %r2, 0;",
       0x80000000, 3, 0x80000000, 2},
      {'r', "div.s32 %r0, %r1, %r2;", NEG(7), 2, 0, (uint32_t)-3},
      {'r', "rem.s32 %r0, %r1, %r2;", NEG(7), 2, 0, (uint32_t)-1},
      {'r', "abs.s32 %r0, %r1;", NEG(7), 0, 0, 7},
      {'r', "min.s32 %r0, %r1, %r2;", NEG(7), 2, 0, (uint32_t)-7},
      {'r', "min.u32 %r0, %r1, %r2;", NEG(7), 2, 0, 2},
      {'r', "max.s32 %r0, %r1, %r2;", NEG(7), 2, 0, 2},
      {'r', "sad.u32 %r0, %r1, %r2, %r3;", 3, 10, 1, 8},
      {'r', "popc.b32 %r0, %r1;", 0xF0F, 0, 0, 8},
      {'r', "clz.b64 %r0, %d1;", 1, 0, 0, 63},
      {'r', "clz.b32 %r0, %r1;", 0, 0, 0, 32},
      {'r', "brev.b32 %r0, %r1;", 1, 0, 0, 0x80000000},
      {'r', "bfind.u32 %r0, %r1;", 0x400, 0, 0, 10},
      {'r', "bfind.shiftamt.u32 %r0, %r1;", 0x400, 0, 0, 21},
      {'r', "bfe.u32 %r0, %r1, 4, 8;", 0xABCD, 0, 0, 0xBC},
      {'r', "bfe.s32 %r0, %r1, 4, 8;", 0xABCD, 0, 0, 0xFFFFFFBC},
      {'r', "bfi.b32 %r0, %r1, %r2, 8, 4;", 0xF, 0, 0, 0xF00},
      {'r', "lop3.b32 %r0, %r1, %r2, %r3, 0x96;", 0xFF00, 0x0FF0, 0x3333,
       0xFF00 ^ 0x0FF0 ^ 0x3333},
      {'r', "shf.l.wrap.b32 %r0, %r1, %r2, 8;", 0x12345678, 0x9ABCDEF0, 0,
       0xBCDEF012},
      {'r', "shf.r.wrap.b32 %r0, %r1, %r2, 8;", 0x12345678, 0x9ABCDEF0, 0,
       0xF0123456},
      {'r', "prmt.b32 %r0, %r1, %r2, 0x5410;", 0x11112222, 0x33334444, 0,
       0x44442222},
      {'r', "shl.b32 %r0, %r1, 33;", 1, 0, 0, 0},
      {'r', "shr.s32 %r0, %r1, 40;", NEG(5), 0, 0, UINT32_MAX},
      {'d', "shr.u64 %d0, %d1, %r2;", UINT64_MAX, 60, 0, 15},
      {'d', "shl.b64 %d0, %d1, %r2;", 3, 62, 0, UINT64_C(3) << 62},
      {'d', "shr.s64 %d0, %d1, 64;", NEG(9), 0, 0, UINT64_MAX},
      {'r', "selp.b32 %r0, %r1, %r2, %p3;", 1, 2, 1, 1},
      {'r', "slct.s32.s32 %r0, %r1, %r2, %r3;", 1, 2, NEG(1), 2},
      {'r', "dp4a.s32.s32 %r0, %r1, %r2, %r3;", 0xFF020304, 0x01010101, 10, 18},
      {'r', "not.b32 %r0, %r1;", 0xF, 0, 0, 0xFFFFFFF0},
      {'r', "cnot.b32 %r0, %r1;", 0, 0, 0, 1},
  };
  TRY_NUMBERS(numbers);
}
END_TEST

START_TEST(comparisons) {
  const number_case numbers[] = {
      {'p', "setp.lt.s32 %p0, %r1, %r2;", NEG(1), 1, 0, 1},
      {'p', "setp.lo.u32 %p0, %r1, %r2;", NEG(1), 1, 0, 0},
      {'p', "setp.gt.and.s64 %p0|%p4, %d1, %d2, %p3;", 4, 1, 0, 0},
      {'p', "setp.neu.f32 %p0, %r1, %r2;", F(NAN), F(1), 0, 1},
      {'p', "setp.num.f32 %p0, %r1, %r2;", F(NAN), F(1), 0, 0},
      {'p', "setp.eq.f64 %p0, %d1, %d2;", D(-0.0), D(0.0), 0, 1},
      {'p', "setp.lt.f16x2 %p4|%p0, %r1, %r2;", 0x3C003C00, 0x40003800, 0, 1},
      {'p', "setp.lt.f16x2 %p0|%p4, %r1, %r2;", 0x3C003C00, 0x40003800, 0, 0},
      {'p', "and.pred %p0, %p1, %p2;", 1, 1, 0, 1},
      {'p', "not.pred %p0, %p1;", 1, 0, 0, 0},
      {'p', "xor.pred %p0, %p1, %p2;", 1, 1, 0, 0},
      {'p', "testp.infinite.f32 %p0, %r1;", F(INFINITY), 0, 0, 1},
      {'r', "set.gt.u32.s32 %r0, %r1, %r2;", 3, 2, 0, UINT32_MAX},
      {'r', "set.lt.f32.u32 %r0, %r1, %r2;", 2, 3, 0, F(1)},
      {'r', "set.lt.f16x2.f16x2 %r0, %r1, %r2;", 0x3C004000, 0x40003C00, 0,
       0x3C000000},
      {'r', "set.nan.f16x2.f16x2 %r0, %r1, %r2;", 0x3C007E00, 0x40003C00, 0,
       0x00003C00},
      {'r', "set.ge.bf16x2.bf16x2 %r0, %r1, %r2;", 0x3F803F80, 0x3F803F80, 0,
       0x3F803F80},
  };
  TRY_NUMBERS(numbers);
}
END_TEST

START_TEST(floats) {
  const number_case numbers[] = {
      {'r', "add.f32 %r0, %r1, %r2;", F(1.5f), F(2), 0, F(3.5f)},
      {'r', "add.rz.f32 %r0, %r1, %r2;", F(1), F(0x1.8p-24f), 0, F(1)},
      {'r', "add.rp.f32 %r0, %r1, %r2;", F(1), F(0x1p-30f), 0,
       F(0x1.000002p0f)},
      {'r', "mul.rm.f32 %r0, %r1, %r2;", F(0x1.000002p0f), F(-0x1.000002p0f), 0,
       F(-0x1.000006p0f)},
      {'r', "add.sat.f32 %r0, %r1, %r2;", F(1.5f), F(2), 0, F(1)},
      {'r', "mul.ftz.f32 %r0, %r1, %r2;", F(0x1p-100f), F(0x1p-40f), 0, 0},
      {'r', "fma.rn.f32 %r0, %r1, %r2, %r3;", F(0x1.001p0f), F(0x1.001p0f),
       F(-0x1.002p0f), F(0x1p-24f)},
      {'r', "div.rn.f32 %r0, %r1, %r2;", F(1), F(3), 0, F(1.0f / 3)},
      {'r', "div.full.f32 %r0, %r1, %r2;", F(1), F(3), 0, F(1.0f / 3)},
      {'r', "rcp.approx.ftz.f32 %r0, %r1;", F(4), 0, 0, F(0.25f)},
      {'r', "sqrt.rn.f32 %r0, %r1;", F(2), 0, 0, F(0x1.6a09e6p0f)},
      {'r', "rsqrt.approx.f32 %r0, %r1;", F(4), 0, 0, F(0.5f)},
      {'r', "ex2.approx.ftz.f32 %r0, %r1;", F(10), 0, 0, F(1024)},
      {'r', "lg2.approx.f32 %r0, %r1;", F(8), 0, 0, F(3)},
      {'r', "max.f32 %r0, %r1, %r2;", F(NAN), F(1), 0, F(1)},
      {'r', "max.NaN.f32 %r0, %r1, %r2;", F(NAN), F(1), 0, 0x7FFFFFFF},
      {'r', "min.f32 %r0, %r1, %r2;", F(-0.0f), F(0), 0, F(-0.0f)},
      {'r', "min.xorsign.abs.f32 %r0, %r1, %r2;", F(-3), F(2), 0, F(-2)},
      {'r', "copysign.f32 %r0, %r1, %r2;", F(-1), F(3), 0, F(-3)},
      {'r', "neg.f32 %r0, %r1;", F(1), 0, 0, F(-1)},
      {'d', "fma.rn.f64 %d0, %d1, %d2, %d3;", D(3), D(4), D(5), D(17)},
      {'d', "div.rn.f64 %d0, %d1, %d2;", D(1), D(3), 0, D(1.0 / 3)},
      {'d', "add.rm.f64 %d0, %d1, %d2;", D(1), D(-0x1p-60), 0,
       D(0x1.fffffffffffffp-1)},
      {'h', "add.f16 %h0, %h1, %h2;", 0x3C00, 0x4000, 0, 0x4200},
      {'h', "fma.rn.f16 %h0, %h1, %h2, %h3;", 0x4000, 0x4000, 0x3C00, 0x4500},
      {'h', "mul.bf16 %h0, %h1, %h2;", 0x4000, 0x4040, 0, 0x40C0},
      {'r', "add.f16x2 %r0, %r1, %r2;", 0x3C004000, 0x3C003C00, 0, 0x40004200},
      {'r', "fma.rn.relu.bf16x2 %r0, %r1, %r2, %r3;", 0x3F80BF80, 0x3F803F80, 0,
       0x3F800000},
      {'h', "max.f16 %h0, %h1, %h2;", 0xBC00, 0x3C00, 0, 0x3C00},
  };
  TRY_NUMBERS(numbers);
}
END_TEST

START_TEST(conversions) {
  const number_case numbers[] = {
      {'r', "cvt.rn.f32.s32 %r0, %r1;", NEG(3), 0, 0, F(-3)},
      {'r', "cvt.rzi.s32.f32 %r0, %r1;", F(-3.7f), 0, 0, (uint32_t)-3},
      {'r', "cvt.rni.s32.f32 %r0, %r1;", F(2.5f), 0, 0, 2},
      {'r', "cvt.rzi.u32.f32 %r0, %r1;", F(-1), 0, 0, 0},
      {'r', "cvt.rmi.f32.f32 %r0, %r1;", F(-1.5f), 0, 0, F(-2)},
      {'r', "cvt.s32.s8 %r0, %r1;", 0xFF, 0, 0, UINT32_MAX},
      {'r', "cvt.u32.u8 %r0, %r1;", 0x1FF, 0, 0, 0xFF},
      {'r', "cvt.sat.s8.s32 %r0, %r1;", 1000, 0, 0, 127},
      {'d', "cvt.s64.s32 %d0, %r1;", NEG(2), 0, 0, NEG(2)},
      {'d', "cvt.u64.u32 %d0, %r1;", NEG(2), 0, 0, 0xFFFFFFFE},
      {'r', "cvt.u32.u64 %r0, %d1;", UINT64_C(0x123456789A), 0, 0, 0x3456789A},
      {'h', "cvt.u16.u32 %h0, %r1;", 0x12345, 0, 0, 0x2345},
      {'h', "cvt.rn.f16.f32 %h0, %r1;", F(65520), 0, 0, 0x7C00},
      {'h', "cvt.rz.f16.f32 %h0, %r1;", F(65520), 0, 0, 0x7BFF},
      {'h', "cvt.rn.bf16.f32 %h0, %r1;", F(0x1.01p0f), 0, 0, 0x3F80},
      {'r', "cvt.f32.f16 %r0, %h1;", 0xC000, 0, 0, F(-2)},
      {'r', "cvt.f32.bf16 %r0, %h1;", 0xC000, 0, 0, F(-2)},
      {'r', "cvt.rn.f16x2.f32 %r0, %r1, %r2;", F(1), F(2), 0, 0x3C004000},
      {'r', "cvt.rn.relu.bf16x2.f32 %r0, %r1, %r2;", F(-1), F(2), 0, 0x4000},
      {'r', "cvt.rna.tf32.f32 %r0, %r1;", F(0x1.002p0f), 0, 0, F(0x1.004p0f)},
      {'h', "cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;", F(1), F(1000), 0,
       0x387E},
      {'h', "cvt.rn.satfinite.e5m2x2.f32 %h0, %r1, %r2;", F(1), F(-2), 0,
       0x3CC0},
      {'r', "cvt.rn.f16x2.e4m3x2 %r0, %h1;", 0x3840, 0, 0, 0x3C004000},
      {'d', "cvt.f64.f32 %d0, %r1;", F(1.5f), 0, 0, D(1.5)},
      {'r', "cvt.rn.f32.f64 %r0, %d1;", D(1e300), 0, 0, F(INFINITY)},
  };
  TRY_NUMBERS(numbers);
}
END_TEST

START_TEST(moves_and_control) {
  const number_case numbers[] = {
      {'d', "mov.b64 %d0, {%r1, %r2};", 1, 2, 0, UINT64_C(0x200000001)},
      {'r', "mov.b64 {%r4, %r0}, %d1;", UINT64_C(0x700000001), 0, 0, 7},
      {'r', "mov.b32 %r0, {%h1, %h2};", 1, 2, 0, 0x20001},
      {'r', "mov.b64 {_, %r0}, %d1;", UINT64_C(0x700000001), 0, 0, 7},
      {'r', "mov.f32 %r0, 0f3F800000;", 0, 0, 0, F(1)},
      {'r', "mov.f32 %r0, 1.5;", 0, 0, 0, F(1.5f)},
      {'d', "mov.f64 %d0, 0d4000000000000000;", 0, 0, 0, D(2)},
      {'r', "mov.u32 %r0, 0x10U;", 0, 0, 0, 16},
      {'r', "mov.u32 %r0, -1;", 0, 0, 0, UINT32_MAX},
      {'r', "mov.u32 %r0, %ntid.x;", 0, 0, 0, 1},
      {'r', "mov.u32 %r0, 5; @%p1 mov.u32 %r0, 6;", 0, 0, 0, 5},
      {'r', "mov.u32 %r0, 5; @!%p1 mov.u32 %r0, 6;", 0, 0, 0, 6},
      {'r', "{ .reg .b32 t; mov.b32 t, %r1; add.s32 %r0, t, t; }", 4, 0, 0, 8},
      {'r',
       "{ .reg .b32 t, t<2>; mov.b32 t, %r1; mov.b32 t1, t;\n"
       "add.s32 t, t, t1; sub.s32 %r0, t, 1; }",
       4, 0, 0, 7},
      {'r', "bra L; mov.u32 %r1, 0; L: mov.u32 %r0, %r1;", 3, 0, 0, 3},
      {'r',
       "list: .branchtargets A, B; brx.idx %r1, list;"
       "A: mov.u32 %r0, 10; bra C; B: mov.u32 %r0, 20; C:",
       1, 0, 0, 20},
  };
  TRY_NUMBERS(numbers);
}
END_TEST

START_TEST(memory) {
  const number_case numbers[] = {
      {'r', "st.local.b32 [stack+4], %r1; ld.local.b32 %r0, [stack+4];", 9, 0,
       0, 9},
      {'r',
       "mov.u64 %d4, stack; cvta.local.u64 %d4, %d4; st.b16 [%d4+2], %h1;"
       "st.b16 [%d4], %h2; ld.b32 %r0, [%d4];",
       1, 2, 0, 0x10002},
      {'r', "st.shared.b32 [words], %r1; ld.shared.s8 %r0, [words+1];", 0x8000,
       0, 0, 0xFFFFFF80},
      {'p',
       "mov.u64 %d4, words; cvta.shared.u64 %d4, %d4;"
       "isspacep.shared %p0, %d4;",
       0, 0, 0, 1},
      {'r', "ld.const.u32 %r0, [table+8];", 0, 0, 0, 33},
      {'r', "ld.global.u32 %r0, [table_of];", 0, 0, 0, 7},
      {'r', "call (result), twice, (given);", 21, 0, 0, 42},
  };
  TRY_NUMBERS(numbers);
}
END_TEST

/* ---- lanes together ------------------------------------------------------ */

/* Each lane has its number in %r1 and leaves its result in %r0. */
typedef struct lane_case {
  const char *code;
  uint32_t (*want)(uint32_t lane);
} lane_case;

static uint32_t neighbour(uint32_t i) {
  return i ^ 1;
}
static uint32_t from_below(uint32_t i) {
  return i < 2 ? i : i - 2;
}
static uint32_t from_above(uint32_t i) {
  return i > 28 ? i : i + 3;
}
static uint32_t of_segment(uint32_t i) {
  return (i & ~7u) + 5;
}
static uint32_t ballot_odd(uint32_t i) {
  return i * 0 + 0xAAAAAAAA;
}
static uint32_t sum_all(uint32_t i) {
  return i * 0 + 496;
}
static uint32_t most(uint32_t i) {
  return i * 0 + 31;
}
static uint32_t same_rest(uint32_t i) {
  return 0x11111111u << (i % 4);
}
static uint32_t first(uint32_t i) {
  return i == 0;
}
static uint32_t collatz(uint32_t i) {
  uint32_t n = 0;
  for (i += 1; i != 1; n++) i = i & 1 ? 3 * i + 1 : i / 2;
  return n;
}
static uint32_t halves(uint32_t i) {
  return i < 16 ? 120 : 376;
}
static uint32_t sixteen(uint32_t i) {
  return i * 0 + 16;
}
static uint32_t below(uint32_t i) {
  return (1u << i) - 1;
}
static uint32_t queue(uint32_t i) {
  return i;
}

static const lane_case lanes[] = {
    {"shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;", neighbour},
    {"shfl.sync.up.b32 %r0, %r1, 2, 0, -1;", from_below},
    {"shfl.sync.down.b32 %r0|%p1, %r1, 3, 31, 0xffffffff;", from_above},
    {"shfl.sync.idx.b32 %r0, %r1, 5, 0x181f, -1;", of_segment},
    {"and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1;"
     "vote.sync.ballot.b32 %r0, %p1, -1;",
     ballot_odd},
    {"redux.sync.add.u32 %r0, %r1, -1;", sum_all},
    {"redux.sync.max.s32 %r0, %r1, -1;", most},
    {"and.b32 %r2, %r1, 3; match.any.sync.b32 %r0, %r2, -1;", same_rest},
    {"elect.sync _|%p1, -1; selp.u32 %r0, 1, 0, %p1;", first},
    {"mov.u32 %r0, %lanemask_lt;", below},
    /* Lanes leave a loop one after the other, and meet again. */
    {"add.u32 %r2, %r1, 1; mov.u32 %r0, 0;"
     "T: setp.eq.u32 %p1, %r2, 1; @%p1 bra E;"
     "and.b32 %r3, %r2, 1; setp.eq.u32 %p2, %r3, 1; @%p2 bra O;"
     "shr.u32 %r2, %r2, 1; bra N; O: mad.lo.u32 %r2, %r2, 3, 1;"
     "N: add.u32 %r0, %r0, 1; bra T; E: bar.warp.sync -1;",
     collatz},
    /* Half of the warp each in a branch of its own. */
    {"setp.lt.u32 %p1, %r1, 16; @%p1 bra A;"
     "redux.sync.add.u32 %r0, %r1, 0xffff0000; bra B;"
     "A: redux.sync.add.u32 %r0, %r1, 0x0000ffff; B:",
     halves},
    {"setp.lt.u32 %p1, %r1, 16; bar.red.popc.u32 %r0, 0, %p1;", sixteen},
    /* A lock that lanes of one warp take one after the other. */
    {"mov.u32 %r0, 0; mov.u32 %r4, words;"
     "setp.ne.u32 %p1, %r1, 0; @%p1 bra S; st.shared.b32 [%r4], 0;"
     "st.shared.b32 [%r4+4], 0; S: bar.warp.sync -1;"
     "W: atom.shared.cas.b32 %r2, [%r4], %r1, 1000; setp.ne.u32 %p1, %r2, %r1;"
     "@%p1 bra W; atom.shared.add.u32 %r0, [%r4+4], 1; add.u32 %r3, %r1, 1;"
     "atom.shared.exch.b32 %r2, [%r4], %r3;",
     queue},
};

START_TEST(one_warp) {
  static const char text[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 io)\n{\n"
      ".reg .b32 %%r<8>; .reg .b64 %%d<4>; .reg .pred %%p<4>;\n"
      ".shared .align 8 .b8 words[64];\n"
      "ld.param.u64 %%d1, [io]; mov.u32 %%r1, %%tid.x;\n%s\n"
      "mad.wide.u32 %%d2, %%r1, 4, %%d1; st.global.b32 [%%d2], %%r0; ret;\n}\n";
  char all[4096];
  uint32_t out[32] = {0};
  snprintf(all, sizeof all, text, lanes[_i].code);
  char *report = ptx_run_text(all, 32, 1, out, sizeof out, NULL);
  if (*report) ck_abort_msg("%s\n%s", lanes[_i].code, report);
  for (uint32_t i = 0; i < 32; i++)
    if (out[i] != lanes[_i].want(i))
      ck_abort_msg("%s: lane %u has %u, not %u", lanes[_i].code, i, out[i],
                   lanes[_i].want(i));
  free(report);
}
END_TEST

int main(void) {
  Suite *s = suite_create("PTX instructions");
  TCase *c = tcase_create("numbers");
  tcase_add_test(c, integers);
  tcase_add_test(c, comparisons);
  tcase_add_test(c, floats);
  tcase_add_test(c, conversions);
  tcase_add_test(c, moves_and_control);
  tcase_add_test(c, memory);
  tcase_add_loop_test(c, one_warp, 0, sizeof lanes / sizeof *lanes);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
