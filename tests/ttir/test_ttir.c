/* test_ttir.c - Triton's IR as text: the files beside this one are read, and
 * texts that are cut off or changed at random are read or refused with a
 * report, whenever memory runs out too.
 *
 *   test_ttir [ROUNDS]   so many changed texts for each file
 */
#include <stdio.h>
#include <string.h>

#include "support/failing_heap.h"
#include "support/suite.h"
#include "tkdbg/ir.h"

static const char *const files[] = {"small", "softmax", "bucketize",
                                    "cross_entropy", "welford"};
static int rounds = 120;

static char *text_of(const char *name, size_t *n) {
  char path[128];
  snprintf(path, sizeof path, "tests/ttir/%s.ttir", name);
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f, "cannot read %s", path);
  char *text = malloc(1 << 16);
  *n = fread(text, 1, 1 << 16, f);
  fclose(f);
  return text;
}

static tk_status open_text(const char *text, size_t n, const char **message) {
  static char said[512];
  tk_session *s = tk_session_new();
  tk_function *f;
  tk_status st = tk_ir_open(s, "k.ttir", text, n, &f);
  const tk_finding *d = tk_report_finding(s, 0);
  snprintf(said, sizeof said, "%s%s", d ? d->message : "",
           d && !d->place.line ? " (no line)" : "");
  *message = said;
  tk_session_free(s);
  return st;
}

START_TEST(files_are_read) {
  size_t n;
  const char *message;
  char *text = text_of(files[_i], &n);
  ck_assert_msg(open_text(text, n, &message) == TK_OK, "%s: %s", files[_i],
                message);
  free(text);
}
END_TEST

/* What is wrong, and what is said of it: the first text is replaced in
 * small.ttir by the second. */
static const char *const wrong[][3] = {
    {"arith.trunci %k : i32 to i1", "tt.fp_to_fp %k, rounding = rs : i32 -> i1",
     "this rounding is not read"},
    {"arith.trunci", "arith.nothing", "the operation 'arith.nothing' is not"},
    {"arith.trunci %k", "arith.trunci %kk", "%kk is not defined before this"},
    {"i32 to i1 loc", "i32 to i7 loc", "values of type 'i7' are not read"},
    {"cmpi eq,", "cmpi equal,", "this predicate of 'arith.cmpi' is not read"},
    {"^bb1, ^bb2", "^bb1, ^bb7", "there is no block ^bb7"},
    {"@\"twice(1,)c\"(%u)", "@thrice(%u)", "there is no function @thrice"},
    {"public @small", "public @\"twice(1,)c\"",
     "there are two functions @twice(1,)c"},
    {"scf.yield %w, %z", "scf.yield %w", "this region must yield 2 values"},
    {"axis = 0 : i32}> ({", "axis = 3 : i32}> ({", "the block has no axis 3"},
    {"dense<0.000000e+00>", "dense<[1.0, 2.0]>", "constants of several values"},
    {"tensor<8xi32> loc", "tensor<0xi32> loc", "this is not the shape"},
    {"tt.func public", "tt.fun public", "expected 'tt.func' or '}' here"},
};

START_TEST(mistakes_are_said) {
  size_t n;
  const char *message = "";
  char *text = text_of("small", &n), changed[1 << 13];
  const char *const *w = wrong[_i];
  text[n] = 0;
  char *at = strstr(text, w[0]);
  ck_assert_ptr_nonnull(at);
  snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, w[1],
           at + strlen(w[0]));
  ck_assert_int_eq(open_text(changed, strlen(changed), &message), TK_USAGE);
  ck_assert_msg(strstr(message, w[2]) == message, "%s", message);
  free(text);
}
END_TEST

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* Cut off, bytes replaced by others of the text, or a stretch taken out. */
static size_t change(char *text, size_t n, uint32_t *state) {
  size_t at = next_random(state) % n, other = next_random(state) % n;
  switch (next_random(state) % 3) {
  case 0: return at;
  case 1:
    for (size_t i = 0; i < 1 + next_random(state) % 6; i++) {
      text[at] = text[other];
      at = (at + 1) % n;
      other = (other + 1) % n;
    }
    return n;
  default: {
    size_t gone = 1 + next_random(state) % 40;
    if (at + gone > n) gone = n - at;
    memmove(text + at, text + at + gone, n - at - gone);
    return n - gone;
  }
  }
}

START_TEST(changed_texts_are_read_or_refused) {
  size_t n;
  const char *message;
  char *text = text_of(files[_i], &n), *changed = malloc(n);
  for (int k = 0; k < rounds; k++) {
    uint32_t state = (uint32_t)(k * 31 + _i + 1);
    memcpy(changed, text, n);
    size_t left = change(changed, n, &state);
    tk_status st = open_text(changed, left, &message);
    ck_assert_msg(st == TK_OK || st == TK_USAGE, "%s %d: %d %s", files[_i], k,
                  st, message);
    ck_assert_msg(st == TK_OK || *message, "%s %d: nothing is said", files[_i],
                  k);
  }
  free(changed);
  free(text);
}
END_TEST

START_TEST(memory_may_run_out) {
  size_t n;
  char *text = text_of("small", &n);
  tk_status st = TK_INTERNAL;
  for (long left = 1; st != TK_OK && left < 100000; left += 1 + left / 40) {
    failing_heap heap = {.left = left};
    tk_function *f;
    tk_session *s = tk_session_new_with(failing_heap_resize, &heap);
    if (!s) continue;
    st = tk_ir_open(s, "k.ttir", text, n, &f);
    ck_assert(st == TK_OK || st == TK_INTERNAL);
    tk_session_free(s);
    ck_assert_int_eq(heap.live, 0);
  }
  ck_assert_int_eq(st, TK_OK);
  free(text);
}
END_TEST

int main(int argc, char **argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  Suite *suite = suite_create("ttir");
  TCase *tc = tcase_create("ttir");
  int n = (int)(sizeof files / sizeof *files);
  tcase_set_timeout(tc, 0);
  tcase_add_loop_test(tc, files_are_read, 0, n);
  tcase_add_loop_test(tc, mistakes_are_said, 0,
                      (int)(sizeof wrong / sizeof *wrong));
  tcase_add_loop_test(tc, changed_texts_are_read_or_refused, 0, n);
  tcase_add_test(tc, memory_may_run_out);
  suite_add_tcase(suite, tc);
  return run_suite(suite) != 0;
}
