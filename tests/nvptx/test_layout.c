/* Layouts as text: what they are drawn as, and texts that are none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkdbg/compile.h"
#include "support/suite.h"

#define BLOCKED                                                                \
  "#blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], "               \
  "warpsPerCTA = [4, 1], order = [1, 0]}>"
#define MMA                                                                    \
  "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "                      \
  "warpsPerCTA = [2, 2], instrShape = [16, 8]}>"

/* The bases are those that Triton 3.6 gives (peer_layouts.py asks it); the
 * cells are worked out from them. */
static const struct drawn {
  const char *layout;
  int64_t shape[2];
  int rank;
  const char
      *want; /* lines that stand in the text, each after the one before */
} drawings[] = {
    {BLOCKED,
     {16, 16},
     2,
     "4 warps of 32 lanes, 8 registers a lane; every element is held 4 times\n"
     "register=4 -> (8, 0)\nlane=2 -> (0, 8)\nlane=4 -> (0, 0)\n"
     "lane=16 -> (1, 0)\nwarp=2 -> (4, 0)\n     9  T16:4  T16:5\n"},
    {MMA,
     {64, 64},
     2,
     "register=1 -> (0, 1)\nregister=2 -> (8, 0)\nregister=4 -> (0, 16)\n"
     "register=16 -> (32, 0)\nlane=2 -> (0, 4)\nlane=4 -> (1, 0)\n"
     "warp=1 -> (0, 8)\nwarp=2 -> (16, 0)\n"},
    {"#dot_op<{opIdx = 0, parent = " MMA ", kWidth = 2}>",
     {64, 64},
     2,
     "every element is held 2 times\nregister=4 -> (0, 8)\n"
     "register=32 -> (32, 0)\nwarp=1 -> (0, 0)\nwarp=2 -> (16, 0)\n"},
    {"#slice<{dim = 0, parent = " BLOCKED "}>",
     {16},
     1,
     "4 registers a lane; every element is held 32 times\n"
     "register=2 -> (2)\nlane=2 -> (8)\nlane=16 -> (0)\n"
     "     0 T0:0 T0:1 T0:2 T0:3 T1:0\n"},
    {"#swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>",
     {8, 32},
     2,
     "in shared memory\noffset=64 -> (2, 8)\noffset=128 -> (4, 16)\n"
     "     2  72  73  74\n"},
    {"#linear<{register = [[0, 1]], lane = [[1, 0], [0, 2]], warp = [], "
     "block = []}>",
     {2, 4},
     2,
     "1 warp of 4 lanes, 2 registers a lane\n     1 T1:0 T1:1 T3:0"},
    {BLOCKED, {128, 128}, 2, "T15:3 ...\n   ... 64 more rows\n"},
};

enum { DRAWINGS = sizeof drawings / sizeof *drawings };

START_TEST(is_drawn) {
  const struct drawn *d = &drawings[_i];
  tk_session *s = tk_session_new();
  const char *text;
  tk_status st = tk_layout_draw(s, d->layout, d->shape, d->rank, &text);
  ck_assert_msg(st == TK_OK, "%s", tk_report(s, false));
  char *want = strdup(d->want), *save;
  const char *at = text;
  for (char *line = strtok_r(want, "\n", &save); line;
       line = strtok_r(NULL, "\n", &save)) {
    const char *found = strstr(at, line);
    ck_assert_msg(found, "no '%s' there in:\n%.900s", line, text);
    at = found;
  }
  free(want);
  tk_session_free(s);
}
END_TEST

static const struct refused {
  const char *layout;
  int64_t shape[2];
  const char *want;
} refusals[] = {
    {"blocked<{}>", {16, 16}, "layout:1:1: error: expected a layout"},
    {"#block<{}>", {16, 16}, "layout:1:2: error: there is no such layout"},
    {"#blocked<{}>", {16, 16}, "this layout needs 'order'"},
    {"#blocked<{order = [0, 0]}>", {16, 16}, "1:23: error: this axis appears"},
    {"#blocked<{order = [0]}>", {16, 16}, "expected a list of 2"},
    {"#blocked<{order = [0, 2]}>", {16, 16}, "expected a number below 2"},
    {"#blocked<{order = [1, 0], sizePerThread = [1, 3]}>",
     {16, 16},
     "1:47: error: expected a power of two"},
    {"#blocked<{order = [1, 0]}", {16, 16}, "1:26: error: expected '>'"},
    {BLOCKED " x", {16, 16}, "unexpected text after the layout"},
    {"#blocked<{sizes = [1, 1], order = [1, 0], sizePerThread = [1, 1], "
     "threadsPerWarp = [1, 32], warpsPerCTA = [1, 1]}>",
     {16, 16},
     "1:11: error: this layout has no such key"},
    {"#blocked<{CTAsPerCGA = [2, 1], order = [1, 0], sizePerThread = [1, 1], "
     "threadsPerWarp = [1, 32], warpsPerCTA = [1, 1]}>",
     {16, 16},
     "clusters of several blocks are not supported"},
    {"#blocked<{order = [1, 0], sizePerThread = [1048576, 1048576], "
     "threadsPerWarp = [1, 32], warpsPerCTA = [1, 1]}>",
     {16, 16},
     "the layout is too large"},
    {"#dot_op<{opIdx = 2, parent = " MMA ", kWidth = 2}>",
     {16, 16},
     "expected a number below 2"},
    {"#dot_op<{opIdx = 1, parent = #linear<{}>, kWidth = 2}>",
     {16, 16},
     "expected #blocked or #nvidia_mma as the parent"},
    {BLOCKED, {16, 15}, "this is not the shape of a block"},
    {BLOCKED, {0, 16}, "this is not the shape of a block"},
    {BLOCKED, {1 << 20, 2}, "this is not the shape of a block"},
};

START_TEST(is_refused) {
  const struct refused *r = &refusals[_i];
  tk_session *s = tk_session_new();
  const char *text;
  ck_assert_int_eq(tk_layout_draw(s, r->layout, r->shape, 2, &text), TK_USAGE);
  ck_assert_ptr_null(text);
  const char *report = tk_report(s, false);
  ck_assert_msg(strstr(report, r->want), "no '%s' in:\n%s", r->want, report);
  tk_session_free(s);
}
END_TEST

/* Texts with a few bytes that are others end with a layout or a report. */
START_TEST(changed_texts_do_no_harm) {
  static const char bytes[] = "[]{}<>,=#0189ab ._";
  uint64_t state = 88172645463325252u + (uint64_t)_i;
  int drawn = 0;
  for (int n = 0; n < 3000; n++) {
    char layout[400];
    const struct drawn *d = &drawings[n % DRAWINGS];
    snprintf(layout, sizeof layout, "%s", d->layout);
    for (int k = 0; k < 1 + n % 3; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      layout[(state >> 33) % strlen(layout)] =
          bytes[(state >> 20) % (sizeof bytes - 1)];
    }
    tk_session *s = tk_session_new();
    const char *text;
    tk_status st = tk_layout_draw(s, layout, d->shape, d->rank, &text);
    ck_assert_msg(st == TK_OK || st == TK_USAGE, "%s", layout);
    ck_assert((st == TK_OK) == (text != NULL));
    drawn += st == TK_OK;
    tk_session_free(s);
  }
  ck_assert_int_gt(drawn, 30);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("layout");
  TCase *tc = tcase_create("text");
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, is_drawn, 0, DRAWINGS);
  tcase_add_loop_test(tc, is_refused, 0, sizeof refusals / sizeof *refusals);
  tcase_add_loop_test(tc, changed_texts_do_no_harm, 0, 2);
  suite_add_tcase(suite, tc);
  return run_suite(suite);
}
