/* test_wgmma.c - products of matrices by a warpgroup, beside sums worked out in
 * C, and what is found where one is used wrongly.
 */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/dtype.h"
#include "support/ptx_run.h"
#include "support/suite.h"

enum { M = 64, N = 16, K = 16, THREADS = 128 };

typedef struct memory {
  uint16_t a[M][K], b[N][K]; /* b transposed: [K][N] */
  float d[M][N];
} memory;

/* Where 16 bytes go: of A and of B, in a layout with swizzles of WIDTH bytes.
 * A descriptor's fields count units of 16 bytes. */
typedef struct layout {
  unsigned width, swizzle;
  unsigned leading, stride; /* of A and of B */
  bool mn;                  /* B is transposed */
  bool registers;           /* A is in registers */
} layout;

static const layout layouts[] = {
    {16, 0, 1024, 128, false, false}, {16, 0, 1024, 128, false, true},
    {16, 0, 128, 1024, true, false},  {32, 3, 16, 256, false, false},
    {64, 2, 16, 512, false, false},   {128, 1, 16, 1024, false, false},
    {32, 3, 16, 256, true, false},    {128, 1, 16, 1024, true, true},
};

/* The words of a kernel that may be missing or wrong. */
typedef struct words {
  const char *proxy, *barrier, *fence, *before, *flags, *between, *wait;
} words;

static const words right = {"fence.proxy.async.shared::cta;",
                            "bar.sync 0;",
                            "wgmma.fence.sync.aligned;",
                            "",
                            "",
                            "",
                            "wgmma.wait_group.sync.aligned 0;"};

/* %place of the 16 bytes of a line and chunk. */
static void print_place(FILE *f, const layout *l, bool mn) {
  fprintf(f,
          "shr.u32 %%line, %%t, 1; and.b32 %%chunk, %%t, 1;\n"
          "shr.u32 %%eight, %%line, 3; and.b32 %%in, %%line, 7;\n"
          "mul.lo.u32 %%place, %%in, %u;\n"
          "mad.lo.u32 %%place, %%eight, %u, %%place;\n"
          "mad.lo.u32 %%place, %%chunk, %u, %%place;\n",
          l->width, l->width == 16 && mn ? l->leading : l->stride,
          l->width > 16 ? 16
          : mn          ? l->stride
                        : l->leading);
  fprintf(f,
          "shr.u32 %%in, %%place, 7; and.b32 %%in, %%in, %u;\n"
          "shl.b32 %%in, %%in, 4; xor.b32 %%place, %%place, %%in;\n",
          l->width / 16 - 1);
}

static void print_copy(FILE *f, const layout *l, bool mn, unsigned from,
                       unsigned to, const char *guard) {
  print_place(f, l, mn);
  fprintf(f,
          "mad.wide.u32 %%d2, %%t, 16, %%d1;\n"
          "ld.global.v4.b32 {%%r1, %%r2, %%r3, %%r4}, [%%d2+%u];\n"
          "add.u32 %%place, %%place, w;\n"
          "%s st.shared.v4.b32 [%%place+%u], {%%r1, %%r2, %%r3, %%r4};\n",
          from, guard, to);
}

/* A's registers a0 to a3, as mma.m16n8k16 has them. */
static void print_fragment(FILE *f) {
  fprintf(f, "shr.u32 %%line, %%t, 5; shl.b32 %%line, %%line, 4;\n"
             "and.b32 %%in, %%t, 31; shr.u32 %%in, %%in, 2;\n"
             "add.u32 %%line, %%line, %%in; and.b32 %%in, %%t, 3;\n"
             "shl.b32 %%line, %%line, 5; mad.lo.u32 %%line, %%in, 4, %%line;\n"
             "cvt.u64.u32 %%d2, %%line; add.u64 %%d2, %%d1, %%d2;\n"
             "ld.global.b32 %%a0, [%%d2]; ld.global.b32 %%a1, [%%d2+256];\n"
             "ld.global.b32 %%a2, [%%d2+16]; ld.global.b32 %%a3, "
             "[%%d2+272];\n");
}

static void print_store(FILE *f) {
  fprintf(f, "shr.u32 %%line, %%t, 5; shl.b32 %%line, %%line, 4;\n"
             "and.b32 %%in, %%t, 31; shr.u32 %%in, %%in, 2;\n"
             "add.u32 %%line, %%line, %%in; and.b32 %%in, %%t, 3;\n"
             "shl.b32 %%line, %%line, 6; mad.lo.u32 %%line, %%in, 8, %%line;\n"
             "cvt.u64.u32 %%d2, %%line; add.u64 %%d2, %%d1, %%d2;\n");
  for (unsigned i = 0; i < 8; i++)
    fprintf(f, "st.global.f32 [%%d2+%u], %%f%u;\n",
            2560 + i / 2 % 2 * 8 * 64 + i / 4 * 32 + i % 2 * 4, i);
}

static char *kernel_text(const layout *l, const words *w) {
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  fprintf(f,
          ".version 8.0\n.target sm_90a\n.address_size 64\n"
          ".file 1 \"/x/kernel.py\"\n"
          ".visible .entry k(.param .u64 io)\n{\n"
          ".reg .b32 %%r<9>, %%t, %%line, %%chunk, %%eight, %%in, %%place, "
          "%%a<4>;\n.reg .b64 %%d<5>; .reg .f32 %%f<8>; .reg .pred %%p<3>;\n"
          ".shared .align 1024 .b8 w[%u];\n.loc 1 7 3\n"
          "ld.param.u64 %%d1, [io]; mov.u32 %%t, %%tid.x;\n"
          "setp.lt.u32 %%p1, %%t, 32;\n",
          8192 + 4096);
  print_copy(f, l, false, 0, 0, "");
  print_copy(f, l, l->mn, 2048, 8192, "@%p1");
  if (l->registers) print_fragment(f);
  for (unsigned i = 0; i < 8; i++)
    fprintf(f, "mov.f32 %%f%u, 0f3F800000;\n", i);
  fprintf(f, "setp.eq.u32 %%p2, 0, 0;\n%s %s %s\n", w->proxy, w->barrier,
          w->fence);
  unsigned long long d = (unsigned long long)l->swizzle << 62 |
                         (unsigned long long)(l->stride / 16) << 32 |
                         (unsigned long long)(l->leading / 16) << 16;
  fprintf(f, "mov.u64 %%d3, 0x%llx; add.u64 %%d4, %%d3, 512;\n%s\n", d,
          w->before);
  fprintf(f,
          "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
          "{%%f0, %%f1, %%f2, %%f3, %%f4, %%f5, %%f6, %%f7}, %s, %%d4, %%p2, "
          "%s%s%u;\nwgmma.commit_group.sync.aligned;\n%s\n%s\n",
          l->registers ? "{%a0, %a1, %a2, %a3}" : "%d3",
          *w->flags ? w->flags : "1, 1, ", l->registers ? "" : "0, ", l->mn,
          w->between, w->wait);
  print_store(f);
  fprintf(f, "wgmma.wait_group.sync.aligned 0; ret;\n}\n");
  fclose(f);
  return text;
}

static void fill(memory *m) {
  memset(m, 0, sizeof *m);
  for (int i = 0; i < M * K; i++)
    m->a[i / K][i % K] = tk_f32_to_f16((float)(i * 7 % 11 - 5));
  for (int i = 0; i < N * K; i++)
    m->b[i / K][i % K] = tk_f32_to_f16((float)(i * 5 % 13 - 6));
}

static float expected(const memory *m, bool mn, int i, int j) {
  float sum = 1;
  for (int k = 0; k < K; k++)
    sum +=
        tk_f16_to_f32(m->a[i][k]) * tk_f16_to_f32(mn ? m->b[k][j] : m->b[j][k]);
  return sum;
}

START_TEST(products) {
  const layout *l = &layouts[_i];
  memory m;
  fill(&m);
  char *text = kernel_text(l, &right);
  char *report = ptx_run_text(text, THREADS, 1, &m, sizeof m, NULL);
  if (*report) ck_abort_msg("layout %d: %s", _i, report);
  for (int i = 0; i < M * N; i++)
    if (m.d[i / N][i % N] != expected(&m, l->mn, i / N, i % N))
      ck_abort_msg("layout %d: element %d, %d is %g, not %g", _i, i / N, i % N,
                   (double)m.d[i / N][i % N],
                   (double)expected(&m, l->mn, i / N, i % N));
  free(report);
  free(text);
}
END_TEST

/* -1 turns the sign of A, and a predicate that does not hold leaves D out. */
START_TEST(signs_and_scale) {
  words w = right;
  memory m;
  fill(&m);
  w.flags = "-1, 1, ";
  w.before = "setp.eq.u32 %p2, 0, 1;";
  char *text = kernel_text(&layouts[0], &w);
  char *report = ptx_run_text(text, THREADS, 1, &m, sizeof m, NULL);
  ck_assert_str_eq(report, "");
  for (int i = 0; i < M * N; i++)
    ck_assert(m.d[i / N][i % N] == 1 - expected(&m, false, i / N, i % N));
  free(report);
  free(text);
}
END_TEST

typedef struct mistake {
  int layout;
  words words; /* NULL: the right ones */
  const char *expected;
} mistake;

static const mistake mistakes[] = {
    {0,
     {.wait = ""},
     "a register is read that a wgmma computes before that was waited for"
     "|st.global.f32|kernel.py:7:3|[race]"},
    {0,
     {.wait = "wgmma.wait_group.sync.aligned 1;"},
     "a register is read that a wgmma computes"},
    {0,
     {.between = "mov.f32 %f0, %f1; mul.f32 %f1, %f0, %f0;"},
     "a register is read that a wgmma computes|mul.f32"},
    {0,
     {.between = "ld.global.f32 %f2, [%d1];"},
     "a register is set that a wgmma computes|ld.global"},
    {1,
     {.between = "add.u32 %a0, %a1, 1;"},
     "a register is set that a wgmma reads|add.u32"},
    {0,
     {.between = "@%p1 st.shared.b32 [w+8192], 77;"},
     "shared memory that this reads was changed before it was waited for"
     "|wgmma.mma_async|wait_group belongs before the write to B"},
    {0,
     {.between = "setp.eq.u32 %p1, %t, 64; bar.sync 0; "
                 "@%p1 st.shared.b32 [w+8192], 77;"},
     "writes shared memory that another thread read|[race]"},
    {0,
     {.proxy = ""},
     "reads shared memory by the asynchronous proxy that thread "
     "|with no fence.proxy.async in between|it was written here|st.shared.v4"},
    /* It may be before the barrier or behind it, but not before the write. */
    {0, {.barrier = "", .proxy = "bar.sync 0; fence.proxy.async;"}, ""},
    {0,
     {.barrier = "bar.sync 0; st.shared.b32 [%place+0], %r1;",
      .before = "bar.sync 0;"},
     "no fence.proxy.async in between"},
    {0,
     {.barrier = ""},
     "reads shared memory that another thread wrote|[race]"},
    {0, {.fence = ""}, "no wgmma.fence comes before the first wgmma|[race]"},
    {0,
     {.before = "add.f32 %f3, %f4, %f4;"},
     "no wgmma.fence lies between this and the instruction that computed"},
    {0, {.before = "mov.f32 %f3, %f4;"}, ""},
    {0,
     {.before = "or.b64 %d4, %d4, 0x2000000000000;"},
     "has a base offset|[unsupported]"},
    {0,
     {.before = "cvt.u64.u32 %d2, %t; add.u64 %d4, %d4, %d2;"},
     "a matrix descriptor is not the same in all threads of the warp"},
    {0,
     {.before = "setp.lt.u32 %p2, %t, 7;"},
     "scale-d is not the same in all threads"},
    {0,
     {.before = "mov.u64 %d4, 1024;"},
     "read of a matrix of 16 bytes at byte 16384 of static shared memory"},
    {0, {.flags = "1, 2, "}, "needs 1 or -1 here"},
    {0, {.flags = "1, "}, "takes 8 operands here"},
};

START_TEST(wrong_uses) {
  const mistake *x = &mistakes[_i];
  words w = right;
  memory m;
  fill(&m);
#define TAKE(word)                                                             \
  if (x->words.word) w.word = x->words.word
  TAKE(proxy);
  TAKE(barrier);
  TAKE(fence);
  TAKE(before);
  TAKE(flags);
  TAKE(between);
  TAKE(wait);
#undef TAKE
  char *text = kernel_text(&layouts[x->layout], &w);
  char *report = ptx_run_text(text, THREADS, 1, &m, sizeof m, NULL);
  char *copy = strdup(x->expected), *rest = copy, *piece;
  if (!*x->expected) ck_assert_str_eq(report, "");
  while ((piece = strsep(&rest, "|")))
    if (!strstr(report, piece))
      ck_abort_msg("case %d has no \"%s\":\n%s", _i, piece, report);
  free(copy);
  free(report);
  free(text);
}
END_TEST

START_TEST(too_few_warps) {
  memory m;
  fill(&m);
  char *text = kernel_text(&layouts[0], &right);
  char *report = ptx_run_text(text, 96, 1, &m, sizeof m, NULL);
  ck_assert(strstr(report, "needs the four warps of a warpgroup, and the "
                           "program has 3 warps"));
  free(report);
  free(text);
}
END_TEST

int main(void) {
  Suite *s = suite_create("wgmma");
  TCase *c = tcase_create("wgmma");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, products, 0, sizeof layouts / sizeof *layouts);
  tcase_add_test(c, signs_and_scale);
  tcase_add_loop_test(c, wrong_uses, 0, sizeof mistakes / sizeof *mistakes);
  tcase_add_test(c, too_few_warps);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
