/* test_bulk.c - copies by the tensor memory accelerator and barriers in shared
 * memory: boxes, their edges and swizzles, and what is found where nobody
 * waits.
 */
#include <stdio.h>
#include <string.h>

#include "support/ptx_run.h"
#include "support/suite.h"

enum { ROWS = 6, COLUMNS = 40, BOX = 8, INNER = 32 };

/* A tensor of 6 x 40 words; what a load leaves in shared memory, 8 x 32 words;
 * a tensor that is stored to. */
typedef struct memory {
  uint32_t from[ROWS][COLUMNS], box[BOX][INNER], to[ROWS][COLUMNS];
  uint8_t map[2][128] __attribute__((aligned(128)));
} memory;

/* The words of a kernel of 64 threads; thread 0 alone copies (%p0). */
typedef struct words {
  const char *init, *load, *wait, *fence, *store, *end;
  unsigned swizzle, fill;
  int row, column; /* of the box */
} words;

#define LOAD                                                                   \
  "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;\n"           \
  "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::"    \
  "bytes [w], [%d2, {%r2, %r3}], [bar];\n"
#define WAIT(parity)                                                           \
  "{ .reg .pred complete; waitLoop:\n"                                         \
  "mbarrier.try_wait.parity.shared::cta.b64 complete, [bar], " parity ";\n"    \
  "@!complete bra.uni waitLoop; }\n"
#define STORE                                                                  \
  "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "                \
  "[%d3, {%r2, %r3}], [w];\n@%p0 cp.async.bulk.commit_group;\n"

static const words right = {
    .init = "@%p0 mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0;",
    .load = LOAD,
    .wait = WAIT("0"),
    .fence = "fence.proxy.async.shared::cta; bar.sync 0;",
    .store = STORE,
    .end = "@%p0 cp.async.bulk.wait_group.read 0;"};

static void print_map(FILE *f, size_t at, size_t tensor, const words *w) {
  static const char name[] = "tensormap.replace.tile.";
  fprintf(f,
          "add.u64 %%d4, %%d1, %zu; add.u64 %%d5, %%d1, %zu;\n"
          "@%%p0 %sglobal_address.global.b1024.b64 [%%d4], %%d5;\n"
          "@%%p0 %srank.global.b1024.b32 [%%d4], 1;\n"
          "mov.u64 %%d5, %zu;\n"
          "@%%p0 %sglobal_stride.global.b1024.b64 [%%d4], 0, %%d5;\n"
          "@%%p0 %selemtype.global.b1024.b32 [%%d4], %d;\n"
          "@%%p0 %sswizzle_mode.global.b1024.b32 [%%d4], %u;\n"
          "@%%p0 %sfill_mode.global.b1024.b32 [%%d4], %u;\n",
          at, tensor, name, name, COLUMNS * sizeof(uint32_t), name, name, 7,
          name, w->swizzle, name, w->fill);
  const unsigned dims[] = {COLUMNS, ROWS}, box[] = {INNER, BOX};
  for (int i = 0; i < 2; i++)
    fprintf(f,
            "mov.u32 %%r1, %u; @%%p0 %sglobal_dim.global.b1024.b32 [%%d4], %d, "
            "%%r1;\nmov.u32 %%r1, %u; @%%p0 %sbox_dim.global.b1024.b32 "
            "[%%d4], %d, %%r1;\nmov.u32 %%r1, 1; @%%p0 "
            "%selement_stride.global.b1024.b32 [%%d4], %d, %%r1;\n",
            dims[i], name, i, box[i], name, i, name, i);
}

static char *kernel_text(const words *w) {
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  fprintf(f, ".version 8.0\n.target sm_90a\n.address_size 64\n"
             ".visible .entry k(.param .u64 io)\n{\n"
             ".reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .pred %%p<3>;\n"
             ".shared .align 1024 .b8 w[1024]; .shared .align 8 .b64 bar;\n"
             "ld.param.u64 %%d1, [io]; mov.u32 %%r0, %%tid.x;\n"
             "setp.eq.u32 %%p0, %%r0, 0;\n");
  print_map(f, offsetof(memory, map), offsetof(memory, from), w);
  print_map(f, offsetof(memory, map) + 128, offsetof(memory, to), w);
  fprintf(f,
          "add.u64 %%d2, %%d1, %zu; add.u64 %%d3, %%d2, 128;\n"
          "mov.u32 %%r2, %d; mov.u32 %%r3, %d; bar.sync 0;\n"
          "%s\n%s\n%s\n",
          offsetof(memory, map), w->column, w->row, w->init, w->load, w->wait);
  fprintf(f,
          "shl.b32 %%r4, %%r0, 4; add.u32 %%r5, %%r4, w;\n"
          "ld.shared.v4.b32 {%%r1, %%r6, %%r7, %%r8}, [%%r5];\n"
          "mad.wide.u32 %%d4, %%r0, 16, %%d1;\n"
          "st.global.v4.b32 [%%d4+%zu], {%%r1, %%r6, %%r7, %%r8};\n"
          "add.u32 %%r1, %%r1, 1; bar.sync 0;\n"
          "st.shared.v4.b32 [%%r5], {%%r1, %%r6, %%r7, %%r8};\n"
          "%s\n%s\n%s\nret;\n}\n",
          offsetof(memory, box), w->fence, w->store, w->end);
  fclose(f);
  return text;
}

static memory *new_memory(void) {
  memory *m = NULL;
  if (posix_memalign((void **)&m, 128, sizeof *m)) abort();
  memset(m, 0, sizeof *m);
  for (unsigned i = 0; i < ROWS * COLUMNS; i++)
    m->from[i / COLUMNS][i % COLUMNS] = 1000 + i;
  return m;
}

/* What the box holds at a row and column, which may lie outside. */
static uint32_t element(const memory *m, int i, int j, uint32_t outside) {
  bool inside = i >= 0 && i < ROWS && j >= 0 && j < COLUMNS;
  return inside ? m->from[i][j] : outside;
}

static const words boxes[] = {
    {.row = 0, .column = 0},
    {.row = 2, .column = 4},
    {.row = -3, .column = 12},
    {.row = 1, .column = -5},
    {.row = 9, .column = 0},
    {.row = 0, .column = 99},
    {.row = 0, .column = 4, .swizzle = 3},
    {.row = -1, .column = 20, .fill = 1},
};

START_TEST(loads_and_stores) {
  words w = right;
  w.row = boxes[_i].row;
  w.column = boxes[_i].column;
  w.swizzle = boxes[_i].swizzle;
  w.fill = boxes[_i].fill;
  memory *m = new_memory();
  char *text = kernel_text(&w);
  char *report = ptx_run_text(text, 64, 1, m, sizeof *m, NULL);
  if (*report) ck_abort_msg("box %d: %s", _i, report);
  uint32_t outside = w.fill ? 0x7FFFFFFF : 0;
  for (int i = 0; i < BOX; i++)
    for (int j = 0; j < INNER; j++) {
      int at = w.swizzle ? j ^ (i & 7) << 2 : j;
      uint32_t is = m->box[i][at];
      uint32_t want = element(m, w.row + i, w.column + j, outside);
      if (is != want)
        ck_abort_msg("box %d: %d, %d is %u, not %u", _i, i, j, is, want);
    }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      int row = i - w.row, column = j - w.column;
      bool in = row >= 0 && row < BOX && column >= 0 && column < INNER;
      /* The first of every four words has become one more. */
      uint32_t want = in ? m->from[i][j] + (column % 4 == 0) : 0;
      if (m->to[i][j] != want)
        ck_abort_msg("box %d: stored %d, %d is %u, not %u", _i, i, j,
                     m->to[i][j], want);
    }
  free(report);
  free(text);
  free(m);
}
END_TEST

/* A kernel makes a map of one axis from a word of zeros, and leaves out what
 * is 0 anyway, as Triton 3.9 does: the number of outer axes among it. */
START_TEST(leaves_out_zeros) {
  static const char text[] =
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 io)\n{\n"
      ".reg .b32 %r<5>; .reg .b64 %d<3>;\n"
      ".shared .align 128 .b8 w[64]; .shared .align 8 .b64 bar;\n"
      "ld.param.u64 %d1, [io]; add.u64 %d2, %d1, 128;\n"
      "tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;\n"
      "tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], 2;\n"
      "mov.u32 %r1, 16;\n"
      "tensormap.replace.tile.global_dim.global.b1024.b32 [%d1], 0, %r1;\n"
      "tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 0, %r1;\n"
      "mov.u32 %r1, 1;\n"
      "tensormap.replace.tile.element_stride.global.b1024.b32 [%d1], 0, %r1;\n"
      "mbarrier.init.shared::cta.b64 [bar], 1; mov.u32 %r2, 9;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
      "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::"
      "bytes [w], [%d1, {%r2}], [bar];\n" WAIT(
          "0") "ld.shared.b32 %r3, [w+24]; ld.shared.b32 %r4, [w+28];\n"
               "st.global.v2.b32 [%d1+192], {%r3, %r4}; ret;\n}\n";
  memory *m = new_memory();
  uint32_t *io = (uint32_t *)m;
  memset(m, 0, sizeof *m);
  for (unsigned i = 0; i < 16; i++) io[32 + i] = 100 + i;
  char *report = ptx_run_text(text, 1, 1, m, sizeof *m, NULL);
  ck_assert_str_eq(report, "");
  ck_assert_uint_eq(io[48], 115); /* the last of the axis */
  ck_assert_uint_eq(io[49], 0);   /* behind it */
  free(report);
  free(m);
}
END_TEST

typedef struct mistake {
  words words;
  const char *expected;
} mistake;

static const mistake mistakes[] = {
    {{.wait = "bar.sync 0;"},
     "reads shared memory that a bulk copy has not written yet|[race]"
     "|it was begun here|a wait for the copy's mbarrier is missing"
     "|the program ends while this may still write to shared memory"},
    {{.wait = WAIT("1")}, "reads shared memory that a bulk copy has not"},
    {{.load = LOAD "@%p0 st.shared.b32 [w+64], 7;"},
     "writes shared memory that a bulk copy has not written yet"},
    {{.init = "st.shared.b64 [bar], 0; bar.sync 0;"},
     "there is no mbarrier at byte 1024 of shared memory|[value]"},
    {{.init = "@%p0 mbarrier.init.shared::cta.b64 [bar], 2; bar.sync 0;"},
     "deadlock: a program waits here and no other program can help it"
     "|mbarrier.try_wait|the phase of the mbarrier at byte 1024 of static "
     "shared memory still waits for 1 of 2 arrivals and for 0 bytes"},
    {{.load = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;"},
     "still waits for 0 of 1 arrivals and for 64 bytes|[deadlock]"},
    {{.load = LOAD "@%p0 mbarrier.arrive.shared::cta.b64 _, [bar];"},
     "1 arrivals at an mbarrier whose phase waits for 0"
     "|its mbarrier.init says 1"},
    {{.init = "@%p0 mbarrier.init.shared::cta.b64 [bar], 0; bar.sync 0;"},
     "1 to 1048575 arrivals, not 0"},
    {{.init = "@%p0 mbarrier.init.shared::cta.b64 [bar], 1;"},
     "there is no mbarrier at byte 1024 of shared memory|in thread 32"},
    {{.fence = "bar.sync 0;"},
     "reads shared memory by the asynchronous proxy that thread"
     "|no fence.proxy.async|cp.async.bulk.tensor.2d.global"},
    {{.fence = "fence.proxy.async;"}, "that another thread wrote"},
    {{.end = ""},
     "the thread ends while this may still read shared memory|it ends here"},
    {{.end = "@%p0 st.shared.b32 [w], 5; @%p0 cp.async.bulk.wait_group 0;"},
     "shared memory that this stores was changed before it was waited for"},
    {{.end = "bar.sync 0; setp.eq.u32 %p1, %r0, 32; "
             "@%p1 st.shared.b32 [w], 5; bar.sync 0; "
             "@%p0 cp.async.bulk.wait_group.read 0;"},
     "[race]|wait_group belongs before the write"},
    {{.load = "add.u64 %d2, %d2, 256;" LOAD}, "bulk|[out-of-bounds]"},
    {{.load = "add.u64 %d2, %d2, 8;" LOAD}, "[misaligned]"},
    {{.load = "add.u64 %d2, %d1, 128; and.b64 %d2, %d2, -64;" LOAD},
     "there is no tensor map here"},
    {{.swizzle = 2}, "rows of 128 bytes: a row is a multiple of 16 bytes"},
    {{.load = "mov.u32 %r1, 256; @%p0 tensormap.replace.tile.box_dim.global."
              "b1024.b32 [%d2], 1, %r1;" LOAD},
     "box of this tensor map has 32768 bytes|1040 bytes of shared memory"
     "|[out-of-bounds]"},
    {{.load = "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], "
              "1048575;" LOAD},
     "an mbarrier counts up to 1048575 bytes of copies, and this makes it "
     "1049599|[value]"},
    {{.load = "@%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], "
              "2147483648;" LOAD},
     "this makes it -2147483648"},
    {{.load = "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::"
              "complete_tx::bytes [w+64], [%d2, {%r2, %r3}], [bar];"},
     "not a multiple of 128"},
    {{.load = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::"
              "complete_tx::bytes [w], [%d2, {%r2}], [bar];"},
     "needs 2 coordinates here"},
    {{.load = "cp.async.bulk.shared::cta.global [w], [%d2], 64, [bar];"},
     "only cp.async.bulk.tensor is run|[unsupported]"},
    {{.load = "ld.shared.b32 %r1, [%r2, {%r3}];"}, "needs no coordinates here"},
};

START_TEST(wrong_uses) {
  const mistake *x = &mistakes[_i];
  words w = right;
#define TAKE(word)                                                             \
  if (x->words.word) w.word = x->words.word
  TAKE(init);
  TAKE(load);
  TAKE(wait);
  TAKE(fence);
  TAKE(store);
  TAKE(end);
  TAKE(swizzle);
#undef TAKE
  memory *m = new_memory();
  char *text = kernel_text(&w);
  char *report = ptx_run_text(text, 64, 1, m, sizeof *m, NULL);
  char *copy = strdup(x->expected), *rest = copy, *piece;
  while ((piece = strsep(&rest, "|")))
    if (!strstr(report, piece))
      ck_abort_msg("case %d has no \"%s\":\n%s", _i, piece, report);
  free(copy);
  free(report);
  free(text);
  free(m);
}
END_TEST

/* Two warps hand a word to each other, by phases of two barriers. */
START_TEST(hands_over) {
  static const char text[] =
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 io)\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<5>;\n"
      ".shared .align 8 .b64 full; .shared .align 8 .b64 empty;\n"
      ".shared .align 4 .b32 w;\n"
      "ld.param.u64 %d1, [io]; mov.u32 %r0, %tid.x;\n"
      "setp.eq.u32 %p0, %r0, 0; setp.ge.u32 %p1, %r0, 32; mov.u32 %r1, 0;\n"
      "@%p0 mbarrier.init.shared::cta.b64 [full], 1;\n"
      "@%p0 mbarrier.init.shared::cta.b64 [empty], 32;\n"
      "bar.sync 0; mov.u32 %r5, 0; @%p1 bra TAKE;\n"
      "GIVE: xor.b32 %r2, %r1, 1; and.b32 %r2, %r2, 1;\n"
      "A: mbarrier.try_wait.parity.shared::cta.b64 %p2, [empty], %r2;\n"
      "@!%p2 bra A; mul.lo.u32 %r3, %r1, %r1;\n"
      "@%p0 st.shared.b32 [w], %r3;\n"
      "@%p0 mbarrier.arrive.release.cta.shared::cta.b64 %d3, [full];\n"
      "add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 9; @%p3 bra GIVE; ret;\n"
      "TAKE: and.b32 %r2, %r1, 1;\n"
      "B: mbarrier.test_wait.parity.shared::cta.b64 %p2, [full], %r2;\n"
      "@!%p2 bra B; ld.shared.b32 %r3, [w]; add.u32 %r5, %r5, %r3;\n"
      "mbarrier.arrive.shared::cta.b64 _, [empty], 1;\n"
      "add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 9; @%p3 bra TAKE;\n"
      "setp.eq.u32 %p4, %r0, 32; @%p4 st.global.b32 [%d1], %r5; ret;\n}\n";
  uint32_t io[2] = {0};
  char *report = ptx_run_text(text, 64, 1, io, sizeof io, NULL);
  ck_assert_str_eq(report, "");
  ck_assert_uint_eq(io[0], 0 + 1 + 4 + 9 + 16 + 25 + 36 + 49 + 64);
  free(report);
}
END_TEST

int main(void) {
  Suite *s = suite_create("bulk copies");
  TCase *c = tcase_create("bulk copies");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, loads_and_stores, 0, sizeof boxes / sizeof *boxes);
  tcase_add_loop_test(c, wrong_uses, 0, sizeof mistakes / sizeof *mistakes);
  tcase_add_test(c, leaves_out_zeros);
  tcase_add_test(c, hands_over);
  suite_add_tcase(s, c);
  return run_suite(s) != 0;
}
