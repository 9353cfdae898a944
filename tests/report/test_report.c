/* test_report.c - results as text, from structs that no run has made.
 */
#include <string.h>

#include "report/report.h"
#include "support/suite.h"

static const tk_place place = {.file = "folder/k.py",
                               .line = 7,
                               .text = "    tl.store(x + i, v)",
                               .text_length = 22};

/* ---- what is written ----------------------------------------------------- */

typedef void write_fn(tk_buf *out);

static void write_ranges(tk_buf *out) {
  static const tk_range few[] = {{0, 31, 1}, {64, 70, 2}, {99, 99, 1}};
  static const tk_range periodic[] = {{0, 3, 1}, {8, 11, 1}, {16, 19, 1}};
  static const tk_range many[] = {{0, 0, 1}, {2, 2, 1},   {5, 5, 1},
                                  {9, 9, 1}, {14, 14, 1}, {20, 21, 1}};
  tk_report_ranges(out, few, 3);
  tk_buf_putc(out, '\n');
  tk_report_ranges(out, periodic, 3);
  tk_buf_putc(out, '\n');
  tk_report_ranges(out, many, 6);
}

static void write_source(tk_buf *out) {
  static const tk_place accents = {.text = "  caf\xC3\xA9 = 1",
                                   .text_length = 11};
  tk_report_source(out, &place, 60);
  tk_buf_putc(out, '\n');
  tk_report_source(out, &place, 11);
  tk_buf_putc(out, '\n');
  tk_report_source(out, &accents, 7); /* the cut is within a character */
}

static void write_blame(tk_buf *out) {
  tk_write w = {.program = {1, 0, 0},
                .place = place,
                .element = {.text = "x[3]"},
                .value = {.text = "2.0"},
                .masked = true};
  tk_write several[5];
  for (int i = 0; i < 5; i++) several[i] = w;
  tk_blame b = {.element = {.text = "x[3]"},
                .value = {.text = "2.0"},
                .times = 1,
                .nwrites = 1,
                .writes = &w,
                .first = &w};
  tk_report_blame(out, &b);
  b.times = 6;
  b.nwrites = 5;
  b.writes = several;
  tk_report_blame(out, &b);
}

static void write_nobody(tk_buf *out) {
  tk_write w = {
      .program = {0, 2, 0}, .place = place, .element = {.text = "x[2]"}};
  tk_blame b = {.element = {.text = "x[3]"}, .before = &w};
  tk_report_blame(out, &b);
}

static void write_access(tk_buf *out) {
  static const tk_range all = {0, 7, 1};
  tk_access_picture p = {.verb = "store",
                         .tensor = "x",
                         .whole_grid = true,
                         .programs = 2,
                         .traffic = {.times = 2,
                                     .lanes = 8,
                                     .active = 6,
                                     .wanted = 24,
                                     .moved = 64,
                                     .sectors = 2,
                                     .lines = 2,
                                     .warps = 2,
                                     .runs = 2,
                                     .longest = 3},
                         .counted = true,
                         .rank = 1,
                         .ranges = {&all},
                         .nranges = {1},
                         .elements = 5,
                         .total = 8,
                         .shared = 1,
                         .sharers = 2,
                         .has_most = true,
                         .most = {3},
                         .sharer_last = {1, 0, 0}};
  tk_report_access(out, &p);
}

static void write_difference(tk_buf *out) {
  static const tk_range tail = {4, 7, 1};
  tk_pattern shifted = {.kind = TK_PATTERN_SHIFTED, .distance = -1};
  tk_difference d = {
      .tensor = "y",
      .rank = 1,
      .shape = {8},
      .total = 8,
      .wrong = 4,
      .ranges = {&tail},
      .nranges = {1},
      .exact = true,
      .patterns = &shifted,
      .npatterns = 1,
      .first = {.index = {4},
                .found = {.text = "3.0"},
                .expected = {.text = "4.0"},
                .written = true,
                .program = {1, 0, 0},
                .place = place},
      .worst = {.index = {7},
                .found = {.text = "6.0"},
                .expected = {.text = "7.0"}},
  };
  tk_report_difference(out, &d, 10);
  d.wrong = 0;
  tk_report_difference(out, &d, 10); /* says nothing */
}

static void write_steps(tk_buf *out) {
  static const tk_step steps[] = {{.kind = TK_STEP_VALUE,
                                   .parent = -1,
                                   .scope = 0,
                                   .name = "v",
                                   .lane = {3},
                                   .lane_rank = 1,
                                   .source = "a + b",
                                   .value = {.text = "5.0"},
                                   .place = {.line = 6},
                                   .in_kernel = true},
                                  {.kind = TK_STEP_ARGUMENT,
                                   .parent = 0,
                                   .depth = 1,
                                   .scope = -1,
                                   .name = "a",
                                   .value = {.text = "2.0"}},
                                  {.kind = TK_STEP_HELD,
                                   .parent = 0,
                                   .depth = 1,
                                   .scope = -1,
                                   .role = TK_ROLE_STORED,
                                   .element = {.text = "x[3]"},
                                   .value = {.text = "3.0"}}};
  tk_explanation x = {
      .steps = steps, .nsteps = TK_COUNT(steps), .place = place, .cut = true};
  tk_report_steps(out, &x, 2);
}

/* ---- what is expected ---------------------------------------------------- */

typedef struct expectation {
  write_fn *write;
  const char *text;
} expectation;

static const expectation expectations[] = {
    {write_ranges, "0:32 64:71:2 99\n"
                   "0:4, 8:12 and so on, 3 times\n"
                   "0 2 5 9 ... 21"},
    {write_source, "tl.store(x + i, v)\n"
                   "tl.store...\n"
                   "caf..."},
    {write_blame, "x[3] = 2.0: written once\n"
                  "  program (1, 0, 0): value 2.0, mask true\n"
                  "    k.py:7: tl.store(x + i, v)\n"
                  "x[3] = 2.0: written 6 times, last first\n"
                  "  program (1, 0, 0): value 2.0, mask true\n"
                  "    k.py:7: tl.store(x + i, v)\n"
                  "  program (1, 0, 0): value 2.0, mask true\n"
                  "    k.py:7: tl.store(x + i, v)\n"
                  "  program (1, 0, 0): value 2.0, mask true\n"
                  "    k.py:7: tl.store(x + i, v)\n"
                  "  program (1, 0, 0): value 2.0, mask true\n"
                  "    k.py:7: tl.store(x + i, v)\n"
                  "  and 2 times before that, first by\n"
                  "  program (1, 0, 0): value 2.0, mask true\n"
                  "    k.py:7: tl.store(x + i, v)\n"},
    {write_nobody, "x[3] = : no program wrote it\n"
                   "  the nearest write before it: x[2], by program (0, 2, 0)\n"
                   "    k.py:7: tl.store(x + i, v)\n"},
    {write_access,
     "store x, the grid: 2 times by 2 programs\n"
     "  elements within x[0:8], 5 of 8 elements\n"
     "  lanes    6 of 8 active, 2 wasted (25 %), in 2 runs of up to 3\n"
     "  traffic  24 bytes requested, 64 moved (38 % useful)\n"
     "           a warp takes 1 sector of 32 bytes in 1 line of 128\n"
     "  overlap  1 element touched by several programs, up to 2\n"
     "           x[3]: (0, 0, 0) and (1, 0, 0)\n"},
    {write_difference,
     "y differs from what is expected in 4 of 8 elements, all of y[4:8]\n"
     "  only the tail is wrong: axis 0 is right up to 4 of 8\n"
     "  shifted: each element holds what belongs 1 before it\n"
     "  first y[4] is 3.0, expected 4.0, by program (1, 0, 0) at line 7\n"
     "  worst y[7] is 6.0, expected 7.0\n"},
    {write_steps, "  v[3] = 5.0: a + b, line 6\n"
                  "    a = 2.0, an argument\n"
                  "    stored before: x[3] held 3.0 before\n"
                  "  ... and more than is shown\n"},
};

typedef struct job {
  write_fn *write;
  tk_buf out;
} job;

static void write_text(tk_env *e, void *ud) {
  job *j = ud;
  (void)e;
  j->write(&j->out);
}

START_TEST(results_are_written_so) {
  const expectation *x = &expectations[_i];
  tk_env e;
  tk_env_init(&e, NULL, NULL);
  job j = {.write = x->write};
  tk_buf_init(&j.out, &e);
  ck_assert_int_eq(tk_protect(&e, write_text, &j), TK_OK);
  ck_assert_str_eq(tk_buf_str(&j.out), x->text);
  tk_buf_free(&j.out);
  ck_assert_uint_eq(e.held, 0);
}
END_TEST

int main(void) {
  Suite *s = suite_create("report");
  TCase *t = tcase_create("report");
  tcase_add_loop_test(t, results_are_written_so, 0, TK_COUNT(expectations));
  suite_add_tcase(s, t);
  return run_suite(s) != 0;
}
