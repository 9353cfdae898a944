/* test_checks.c - what the PTX interpreter finds, and where: kernels with one
 * mistake each, and texts that it refuses.
 */
#include <stdio.h>
#include <string.h>

#include "support/ptx_run.h"
#include "support/suite.h"

typedef struct check_case {
  const char *code;     /* of a kernel with 64 threads, after its loads */
  const char *expected; /* pieces of the report, separated by | */
} check_case;

/* %r1 is the thread, %d1 the address of 256 bytes, %d2 its own word there;
 * words is shared. */
static const char frame[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"/x/kernel.py\"\n"
    ".visible .entry k(.param .u64 io)\n{\n"
    ".reg .b32 %%r<16>; .reg .b64 %%d<8>; .reg .pred %%p<8>;\n"
    ".shared .align 16 .b8 words[512]; .local .align 8 .b8 stack[16];\n"
    "ld.param.u64 %%d1, [io]; mov.u32 %%r1, %%tid.x;\n"
    "mad.wide.u32 %%d2, %%r1, 4, %%d1; mov.u32 %%r2, words;\n"
    "shl.b32 %%r3, %%r1, 2; add.u32 %%r3, %%r3, %%r2;\n"
    ".loc 1 7 3\n%s\nret;\n}\n";

static const check_case cases[] = {
    {"ld.global.u32 %r4, [%d2];", ""},
    {"ld.global.u32 %r4, [%d2+4];",
     "error: load of 4 bytes at io + 256 bytes, which has 256 bytes"
     "|[out-of-bounds]|ld.global.u32 %r4|in thread 63 of program (0, 0, "
     "0)|kernel.py:7:3"},
    {"st.global.u32 [%d1-4], %r1;", "at io - 4 bytes"},
    {"mov.u64 %d3, 0; ld.global.u32 %r4, [%d3];",
     "at address 0|[null-pointer]"},
    {"mov.u64 %d3, 4096; ld.u32 %r4, [%d3];", "in no argument|[wild-pointer]"},
    {"ld.global.u32 %r4, [%d2+2];", "not a multiple of 4|[misaligned]"},
    {"ld.shared.u32 %r4, [%r2+512];", "byte 512 of static shared memory"},
    {"mov.u64 %d3, stack; ld.local.u64 %d4, [%d3+16];",
     "of local memory, which has 16"},
    {"ld.param.u64 %d3, [io+8];", "[out-of-bounds]"},
    /* Of a register that has a value in part, that part may be used. */
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; st.global.u8 [%d2], %r5;", ""},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; st.global.u16 [%d2], %r5;",
     "stored to global memory depends on a register that was never set"},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; prmt.b32 %r6, %r5, %r1, "
     "0x6540; st.global.u32 [%d2], %r6;",
     ""},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; prmt.b32 %r6, %r5, %r1, "
     "0x6541; st.global.u32 [%d2], %r6;",
     "never set"},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; shl.b32 %r6, %r5, 24; "
     "st.global.u32 [%d2], %r6;",
     ""},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; and.b32 %r6, %r5, 15; "
     "st.global.u32 [%d2], %r6;",
     ""},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; xor.b32 %r6, %r5, %r5; "
     "st.global.u32 [%d2], %r6;",
     "never set"},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; mul.lo.u32 %r6, %r5, 1; "
     "st.global.u8 [%d2], %r6;",
     "never set"},
    {".reg .b16 %h<3>; mov.u16 %h0, 7; mov.b32 %r5, {%h0, %h1}; "
     "mov.b32 {%h2, %h1}, %r5; st.global.u16 [%d2], %h2;",
     ""},
    {".reg .b16 %h<3>; mov.u16 %h0, 7; mov.b32 %r5, {%h0, %h1}; "
     "mov.b32 {%h2, %h1}, %r5; st.global.u16 [%d2], %h1;",
     "never set"},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; st.shared.u32 [%r3], %r5; "
     "ld.shared.s8 %r6, [%r3]; st.global.u32 [%d2], %r6;",
     ""},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; st.shared.u32 [%r3], %r5; "
     "ld.shared.u8 %r6, [%r3+1]; st.global.u8 [%d2], %r6;",
     "never set"},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; shfl.sync.bfly.b32 %r6, %r5, "
     "1, 31, -1; st.global.u8 [%d2], %r6;",
     ""},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; shfl.sync.bfly.b32 %r6, %r5, "
     "1, 31, -1; st.global.u32 [%d2], %r6;",
     "never set"},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 8, 24; setp.gt.u32 %p1, %r1, 99; "
     "selp.b32 %r6, %u, %r5, %p1; st.global.u8 [%d2], %r6;",
     ""},
    /* Of two halves in a register each comes from its own, and sums of low
     * bytes from those alone. */
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 16, 16; min.f16x2 %r5, %r5, %r5;"
     "add.u32 %r6, %r5, 3; st.global.u8 [%d2], %r6;",
     ""},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 16, 16; min.f16x2 %r5, %r5, %r5;"
     "shr.u32 %r6, %r5, 16; st.global.u8 [%d2], %r6;",
     "never set"},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 16, 16;"
     "setp.le.f16x2 %p1|%p2, %r5, %r5; @%p2 bra L; L:",
     "a predicate depends"},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 16, 16;"
     "setp.le.f16x2 %p1|%p2, %r5, %r5; @%p1 bra L; L:",
     ""},
    {".reg .b32 %u; .reg .pred %n; bfi.b32 %r5, %u, %r1, 16, 16;"
     "setp.le.and.f16x2 %p1|%p2, %r5, %r5, %n; @%p1 bra L; L:",
     "a predicate depends"},
    {".reg .b32 %u; bfi.b32 %r5, %u, %r1, 0, 8; add.u32 %r6, %r5, 3;"
     "shr.u32 %r6, %r6, 8; st.global.u8 [%d2], %r6;",
     "never set"},
    {"st.global.u32 [%d2], %r9;", "never set|[undef]|st.global.u32"},
    {"mov.u32 %r5, %r9; add.u32 %r6, %r5, 1; ld.shared.u32 %r4, [%r6];",
     "an address depends on a register that was never set"},
    {"setp.eq.u32 %p1, %r9, 1; @%p1 bra L; L:", "a predicate depends"},
    {"setp.eq.u32 %p1, %r9, 1; setp.gt.u32 %p2, %r1, 99; and.pred %p3, %p1,"
     "%p2; @%p3 bra L; L:",
     ""},
    {"setp.gt.u32 %p2, %r1, 99; selp.u32 %r4, %r9, 5, %p2;"
     "st.global.u32 [%d2], %r4;",
     ""},
    {"mov.b64 %d3, {%r1, %r9}; st.global.u32 [%d2], %d3;", ""},
    {"ld.shared.u32 %r4, [%r3]; st.global.u32 [%d2], %r4;", "never set"},
    {"st.shared.u32 [%r3], %r1; bar.sync 0; xor.b32 %r5, %r1, 32;"
     "mad.lo.u32 %r5, %r5, 4, %r2; ld.shared.u32 %r4, [%r5];"
     "st.global.u32 [%d2], %r4;",
     ""},
    {"st.shared.u32 [%r3], %r1; xor.b32 %r5, %r1, 32;"
     "mad.lo.u32 %r5, %r5, 4, %r2; ld.shared.u32 %r4, [%r5];",
     "reads shared memory that another thread wrote|[race]|wrote it here"
     "|kernel.py:7:3"},
    {"st.shared.u32 [%r2], %r1;", "by the same instruction [suspicious]"},
    {"st.shared.u32 [%r2], 5;", ""},
    {"st.shared.u32 [%r3], %r1; xor.b32 %r5, %r1, 1;"
     "mad.lo.u32 %r5, %r5, 4, %r2; bar.warp.sync -1; ld.shared.u32 %r4, [%r5];",
     ""},
    {"atom.shared.add.u32 %r4, [%r2], 1;", ""},
    {"mov.u32 %r4, 3; st.shared.u32 [%r3], %r4; bar.sync 0;"
     "ld.shared.u32 %r4, [%r2]; st.shared.u32 [%r3+256], %r4;"
     "st.shared.u32 [%r3], %r1;",
     "writes shared memory that another thread"},
    {"setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0;",
     "warp 0 waits at barrier 0 for 64 threads, of which 32 came|[deadlock]"
     "|warp 1 has left"},
    {"setp.lt.u32 %p1, %r1, 7; @%p1 bar.sync 0;",
     "the warp waits at a barrier without 25 of its threads|[deadlock]"},
    {"setp.lt.u32 %p1, %r1, 7; @%p1 shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;",
     "[deadlock]|shfl.sync.bfly"},
    {"shfl.sync.bfly.b32 %r4, %r1, 1, 31, 1;", "not in its own mask"},
    {"bar.sync 16;", "there are 16 barriers"},
    {"L: bra L;", "the launch never ends|L: bra L|kernel.py:7:3|[runaway]"},
    {"mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; bra L;",
     "the launch has not ended after|[runaway]"},
    {"L: ld.volatile.global.u32 %r4, [%d1+8]; setp.ne.u32 %p1, %r4, 7;"
     "@%p1 bra L;",
     "deadlock: a program waits here|[deadlock]|ld.volatile|kernel.py:7:3"
     "|program (0, 0, 0) waits for io[2] to change; it holds 0"
     "|no program has changed io[2] since the launch began"
     "|0 of 1 programs ran to their end"},
    {"st.global.u32 [%d1+8], 3; L: atom.global.cas.b32 %r4, [%d1+8], 5, 6;"
     "setp.ne.u32 %p1, %r4, 5; @%p1 bra L;",
     "waits for io[2] to change; it holds 3|st.global.u32 [%d1+8], 3"
     "|io[2] was last changed here, by program (0, 0, 0)"},
    {"L: ld.volatile.global.u32 %r4, [%d2]; setp.ne.u32 %p1, %r4, 7;"
     "@%p1 bra L;",
     " and 31 more to change; it holds 0|[deadlock]"},
    /* Neither a count nor a clock is the same again. */
    {"mov.u32 %r4, 0; L: ld.volatile.global.u32 %r5, [%d1]; add.u32 %r4, %r4, "
     "1; setp.lt.u32 %p1, %r4, 20000; @%p1 bra L;",
     ""},
    {"L: mov.u32 %r4, %clock; shr.u32 %r4, %r4, 16; setp.eq.u32 %p1, %r4, 0;"
     "@%p1 bra L;",
     ""},
    {"trap;", "the kernel traps|[assert]"},
    {"mov.u32 %r4, %tidy.x;", "%tidy is not a register or a variable"},
    {"tcgen05.alloc;",
     "tcgen05.alloc is not run by the PTX interpreter (tensor cores of "
     "sm_100a; compile for sm_90)|[unsupported]"},
    {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r4}, {%r4}, {%r4},"
     "{%r4};",
     "is not run by the PTX interpreter"},
    {"ad.s32 %r1, %r2, %r3;", "did you mean"},
    {"add.s32 %r4, %r1;", "operands"},
    {"add.s32 %r4, %d1, %r1;", "an operand of 32 bits"},
    {"add.s32.wide %r4, %r1, %r1;", ".wide does not go with add"},
    {"ld.global.b128 %r4, [%d1];", "is not run by the PTX interpreter"},
    {"bra nowhere;", "no label nowhere"},
    {"@%r1 bra L; L:", "expected a predicate"},
    {"call f, (%r1);", "f is not in this file"},
    {"{ add.s32 %r4, %r1, 1;", "the text ends before this { is closed"},
    {".reg .b32 %r<4>;", "declared twice"},
    {"ld.shared.u32 %r4, [%r3]; xor.b32 %r5, %r3, 128;"
     "cp.async.ca.shared.global [%r5], [%d1], 4; bar.sync 0;"
     "cp.async.wait_all; bar.sync 0;",
     "shared memory that another thread|cp.async.ca|[race]"},
    {"ld.shared.u32 %r4, [%r3]; xor.b32 %r5, %r3, 128; bar.sync 0;"
     "cp.async.ca.shared.global [%r5], [%d1], 4;"
     "cp.async.wait_all; bar.sync 0; ld.shared.u32 %r4, [%r3];",
     ""},
    {"cp.async.ca.shared.global [%r3], [%d1], 4; xor.b32 %r5, %r3, 128;"
     "cp.async.wait_all; ld.shared.u32 %r4, [%r5];",
     "reads shared memory that another thread wrote"},
};

static void expect_pieces(const char *code, const char *report,
                          const char *pieces) {
  char *copy = strdup(pieces), *rest = copy, *piece;
  if (!*pieces && *report)
    ck_abort_msg("%s: nothing is wrong with it, but\n%s", code, report);
  while ((piece = strsep(&rest, "|")))
    if (!strstr(report, piece))
      ck_abort_msg("%s: the report has no \"%s\":\n%s", code, piece, report);
  free(copy);
}

START_TEST(mistakes) {
  const check_case *c = &cases[_i];
  char text[2048], io[256] = {0};
  snprintf(text, sizeof text, frame, c->code);
  char *report = ptx_run_text(text, 64, 1, io, sizeof io, NULL);
  expect_pieces(c->code, report, c->expected);
  free(report);
}
END_TEST

/* A copy that is not waited for has not arrived. */
START_TEST(copies) {
  static const char text[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 io)\n{\n"
      ".reg .b32 %%r<8>; .reg .b64 %%d<8>; .shared .align 16 .b8 w[512];\n"
      "ld.param.u64 %%d1, [io]; mov.u32 %%r1, %%tid.x;\n"
      "mad.wide.u32 %%d2, %%r1, 4, %%d1; shl.b32 %%r2, %%r1, 2;\n"
      "st.shared.u32 [%%r2], 7;\n"
      "cp.async.ca.shared.global [%%r2], [%%d2], 4;\n"
      "cp.async.commit_group; %s bar.sync 0;\n"
      "ld.shared.u32 %%r3, [%%r2]; st.global.u32 [%%d2], %%r3; ret;\n}\n";
  static const char *const waits[] = {"", "cp.async.wait_group 0;",
                                      "cp.async.wait_group 1;",
                                      "cp.async.wait_all;"};
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
    char all[2048];
    uint32_t io[32];
    for (uint32_t k = 0; k < 32; k++) io[k] = k;
    snprintf(all, sizeof all, text, waits[i]);
    char *report = ptx_run_text(all, 32, 1, io, sizeof io, NULL);
    ck_assert_str_eq(report, "");
    ck_assert_uint_eq(io[5], i % 2 || i == 3 ? 5 : 7);
    free(report);
  }
}
END_TEST

/* Programs that wait for each other take turns. */
START_TEST(programs_wait) {
  static const char text[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 io)\n{\n"
      ".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p<2>;\n"
      "ld.param.u64 %d1, [io]; red.global.add.u32 [%d1], 1;\n"
      "L: ld.volatile.global.u32 %r1, [%d1]; setp.lt.u32 %p1, %r1, 96;\n"
      "@%p1 bra L; red.global.add.u32 [%d1+4], 1; ret;\n}\n";
  uint32_t io[2] = {0, 0};
  char *report = ptx_run_text(text, 32, 3, io, sizeof io, NULL);
  ck_assert_str_eq(report, "");
  ck_assert_uint_eq(io[1], 96);
  free(report);
}
END_TEST

int main(void) {
  Suite *s = suite_create("PTX checks");
  TCase *c = tcase_create("checks");
  tcase_add_loop_test(c, mistakes, 0, sizeof cases / sizeof *cases);
  tcase_add_test(c, copies);
  tcase_add_test(c, programs_wait);
  tcase_set_timeout(c, 60);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
