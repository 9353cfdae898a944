/* test_diff.c - what tensors that differ have in common.
 *
 * A kernel copies its input; what is expected is made from the input as a
 * wrong kernel's output would be made from what is right.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/assertions.h"
#include "support/suite.h"
#include "tkdbg/tkdbg.h"

enum { ROWS = 8, COLUMNS = 12, N = ROWS * COLUMNS };

static const char kernel[] = "import triton.language as tl\n"
                             "@triton.jit\n"
                             "def copy(x, y, n, B: tl.constexpr):\n"
                             "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
                             "    v = tl.load(x + at, mask=at < n, other=0.0)\n"
                             "    tl.store(y + at, v, mask=at < n)\n";

typedef struct fixture {
  tk_session *s;
  tk_launch *l;
  float found[N], expected[N], out[N];
  char text[8192];
} fixture;

static void hear(void *ud, const char *text, size_t len) {
  fixture *f = ud;
  strncat(f->text, text, len);
}

static tk_tensor tensor_of(float *data, int rank) {
  tk_tensor t = {.data = data, .dtype = TK_FP32, .rank = rank};
  t.shape[0] = rank == 2 ? ROWS : N;
  t.strides[0] = rank == 2 ? COLUMNS : 1;
  if (rank == 2) t.shape[1] = COLUMNS, t.strides[1] = 1;
  return t;
}

/* A value of its own for each element. */
static float value_at(int i) {
  return sinf((float)(i * i + 1)) * 3 + 4;
}

static void begin(fixture *f, int n) {
  tk_module *m;
  tk_function *fn;
  char text[32];
  snprintf(text, sizeof text, "n=%d", n);
  *f = (fixture){.s = tk_session_new()};
  for (int i = 0; i < N; i++) f->found[i] = f->expected[i] = value_at(i);
  tk_session_output(f->s, hear, f);
  tk_module_open(f->s, "k.py", kernel, sizeof kernel - 1, &m);
  ck_assert_int_eq(tk_function_named(m, "copy", &fn), TK_OK);
  ck_assert_int_eq(tk_launch_new(f->s, fn, &f->l), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(f->l, text), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(f->l, "B=8"), TK_OK);
  ck_assert_int_eq(tk_launch_grid(f->l, N / 8, 1, 1), TK_OK);
}

/* Runs and gives the difference from what is expected. */
static const tk_difference *differ(fixture *f, int rank) {
  tk_tensor x = tensor_of(f->found, rank), y = tensor_of(f->out, rank);
  tk_tensor e = tensor_of(f->expected, rank);
  ck_assert_int_eq(tk_launch_tensor(f->l, "x", &x), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(f->l, "y", &y), TK_OK);
  ck_assert_int_eq(tk_launch_expect_tensor(f->l, "y", &e, -1, -1), TK_OK);
  ck_assert_int_eq(tk_launch_run(f->l, NULL, NULL), TK_OK);
  return tk_launch_difference(f->l, 0);
}

/* How what is found differs from what is expected, and what that is. */
typedef struct row {
  tk_pattern_kind kind;
  int rank;
  float (*found)(int i);
  double least;
  int64_t distance;
} row;

static float scaled(int i) {
  return value_at(i) * 0.125f;
}
static float negated(int i) {
  return -value_at(i);
}
static float raised(int i) {
  return value_at(i) + 2;
}
static float constant(int i) {
  return (void)i, 7;
}
static float infinite(int i) {
  return i % 2 ? INFINITY : NAN;
}
static float transposed(int i) {
  return value_at(i % ROWS * COLUMNS + i / ROWS);
}
static float reversed(int i) {
  return value_at(i / COLUMNS * COLUMNS + COLUMNS - 1 - i % COLUMNS);
}
static float shifted(int i) {
  return i + 3 < N ? value_at(i + 3) : 0;
}
static float repeated(int i) {
  return value_at(i % COLUMNS);
}
static float scaled_rows(int i) {
  return value_at(i) * (float)(i / COLUMNS + 2);
}
static float truncated(int i) {
  return truncf(value_at(i));
}
static float permuted(int i) {
  return value_at(i * 5 % N);
}
static float below(int i) {
  return i % COLUMNS < i / COLUMNS ? value_at(i) * value_at(i + 9)
                                   : value_at(i);
}
static float rounded(int i) {
  return value_at(i) * (1 + (float)(i % 7 - 3) * 0x1p-10f);
}
static float large(int i) {
  return value_at(i) * (float)(50 + i);
}

static const row rows[] = {
    {TK_PATTERN_SCALED, 2, scaled, 0.125, 0},
    {TK_PATTERN_SCALED, 1, negated, -1, 0},
    {TK_PATTERN_OFFSET, 2, raised, 2, 0},
    {TK_PATTERN_CONSTANT, 2, constant, 7, 0},
    {TK_PATTERN_NOT_FINITE, 1, infinite, 0, 0},
    {TK_PATTERN_TRANSPOSED, 2, transposed, 0, 0},
    {TK_PATTERN_REVERSED, 2, reversed, 0, 0},
    {TK_PATTERN_SHIFTED, 1, shifted, 0, 3},
    {TK_PATTERN_REPEATED, 2, repeated, 0, 0},
    {TK_PATTERN_SCALED_ROWS, 2, scaled_rows, 2, 0},
    {TK_PATTERN_TRUNCATED, 1, truncated, 0, 0},
    {TK_PATTERN_PERMUTED, 1, permuted, 0, 0},
    {TK_PATTERN_BELOW_DIAGONAL, 2, below, 0, 0},
    {TK_PATTERN_MAGNITUDE, 1, large, 0, 0},
    {TK_PATTERN_ROUNDED, 1, rounded, 0, 0},
};

START_TEST(patterns_are_found) {
  const row *r = &rows[_i];
  fixture f;
  begin(&f, N);
  for (int i = 0; i < N; i++) f.found[i] = r->found(i);
  const tk_difference *d = differ(&f, r->rank);
  bool has = false;
  for (size_t i = 0; i < d->npatterns; i++) {
    const tk_pattern *p = &d->patterns[i];
    if (p->kind != r->kind) continue;
    has = true;
    if (r->least != 0) ck_assert_double_eq_tol(p->least, r->least, 1e-5);
    ck_assert_int_eq(p->distance, r->distance);
  }
  ck_assert_msg(has, "%s is not found", tk_pattern_name(r->kind));
  ck_assert_ptr_nonnull(strstr(f.text, "y differs from what is expected in"));
  tk_session_free(f.s);
}
END_TEST

/* ---- what chance explains ---------------------------------------------- */

/* What is expected, and what is found, of which a pattern must not be said. */
typedef struct chance {
  tk_pattern_kind kind;
  int rank;
  float (*expected)(int i);
  float (*found)(int i);
} chance;

/* All a little too large. */
static float biased(int i) {
  return value_at(i) + 0x1p-8f * (float)(1 + i % 5);
}
static float five_rounded(int i) {
  return value_at(i) * (i % 20 ? 1 : i % 40 ? 1.002f : 0.998f);
}
/* A block that lies below the diagonal, and above it. */
static float low_block(int i) {
  return i / COLUMNS >= 4 && i % COLUMNS < 4 ? 99 + (float)(i * i % 31)
                                             : value_at(i);
}
static float high_block(int i) {
  return i / COLUMNS < 4 && i % COLUMNS > 3 ? 99 + (float)(i * i % 31)
                                            : value_at(i);
}
static float two_on_diagonal(int i) {
  return i == 0 || i == COLUMNS + 1 ? 99 + (float)i : value_at(i);
}
static float sparse(int i) {
  return i % 2 ? value_at(i) : 0;
}
static float nothing(int i) {
  return i == 51 ? -5 : 0;
}
/* Each value is within rounding of the next larger one. */
static float dense(int i) {
  return 1 + 5e-5f * (float)i;
}
static float dense_elsewhere(int i) {
  return 1.00002f + 5e-5f * (float)((5 * i + 3) % N);
}

static const chance chances[] = {
    {TK_PATTERN_ROUNDED, 1, value_at, biased},
    {TK_PATTERN_ROUNDED, 1, value_at, five_rounded},
    {TK_PATTERN_BELOW_DIAGONAL, 2, value_at, low_block},
    {TK_PATTERN_ABOVE_DIAGONAL, 2, value_at, high_block},
    {TK_PATTERN_ON_DIAGONAL, 2, value_at, two_on_diagonal},
    {TK_PATTERN_REVERSED, 2, sparse, nothing},
    {TK_PATTERN_SHIFTED, 1, sparse, nothing},
    {TK_PATTERN_REPEATED, 2, sparse, nothing},
    {TK_PATTERN_PERMUTED, 1, dense, dense_elsewhere},
};

START_TEST(chance_is_no_pattern) {
  const chance *c = &chances[_i];
  fixture f;
  begin(&f, N);
  for (int i = 0; i < N; i++) {
    f.expected[i] = c->expected(i);
    f.found[i] = c->found(i);
  }
  const tk_difference *d = differ(&f, c->rank);
  ck_assert_uint_gt(d->wrong, 1);
  for (size_t i = 0; i < d->npatterns; i++)
    ck_assert_msg(d->patterns[i].kind != c->kind, "%s is said",
                  tk_pattern_name(c->kind));
  tk_session_free(f.s);
}
END_TEST

/* All but the first row is no tail. */
START_TEST(most_is_no_tail) {
  for (int from = 1; from < ROWS; from += 5) {
    fixture f;
    begin(&f, N);
    for (int i = from * COLUMNS; i < N; i++) f.expected[i] += (float)i;
    differ(&f, 2);
    bool said = strstr(f.text, "only the tail is wrong: axis 0");
    ck_assert(said == (from > ROWS / 2));
    tk_session_free(f.s);
  }
}
END_TEST

/* Rounding is no factor. */
START_TEST(factors_of_one_are_not_found) {
  fixture f;
  begin(&f, N);
  for (int i = 0; i < N; i++)
    f.found[i] = value_at(i) * (1 + (float)(i % 3 + 1) * 0x1p-13f);
  const tk_difference *d = differ(&f, 2);
  ck_assert_uint_gt(d->wrong, 1);
  for (size_t i = 0; i < d->npatterns; i++) {
    ck_assert_int_ne(d->patterns[i].kind, TK_PATTERN_SCALED);
    ck_assert_int_ne(d->patterns[i].kind, TK_PATTERN_SCALED_ROWS);
  }
  tk_session_free(f.s);
}
END_TEST

/* Small integers, and one element alone, are not called rounded. */
START_TEST(what_is_not_rounded) {
  for (int alone = 0; alone < 2; alone++) {
    fixture f;
    begin(&f, N);
    for (int i = 0; i < N; i++) {
      float expected = alone ? value_at(i) : (float)(i % 200);
      bool wrong = alone ? i == 5 : i % 3 == 1;
      f.expected[i] = expected;
      f.found[i] = expected + (wrong ? alone ? 0x1p-9f : 1 : 0);
    }
    const tk_difference *d = differ(&f, 1);
    for (size_t i = 0; i < d->npatterns; i++)
      ck_assert_int_ne(d->patterns[i].kind, TK_PATTERN_ROUNDED);
    tk_session_free(f.s);
  }
}
END_TEST

START_TEST(what_is_as_expected) {
  fixture f;
  begin(&f, N);
  const tk_difference *d = differ(&f, 2);
  ck_assert_uint_eq(d->wrong, 0);
  ck_assert_uint_eq(d->total, N);
  ck_assert_str_eq(f.text, "");
  ck_assert_str_eq(tk_launch_difference_text(f.l, 0, 9), "");
  ck_assert_ptr_null(tk_launch_difference(f.l, 1));
  tk_session_free(f.s);
}
END_TEST

START_TEST(a_tail_that_nobody_wrote) {
  fixture f;
  begin(&f, N - 5);
  const tk_difference *d = differ(&f, 1);
  ck_assert_uint_eq(d->wrong, 5);
  ck_assert_uint_eq(d->unwritten, 5);
  ck_assert(d->exact && d->nranges[0] == 1);
  ck_assert_int_eq(d->ranges[0]->first, N - 5);
  ck_assert_int_eq(d->ranges[0]->last, N - 1);
  ck_assert_int_eq(d->patterns[0].kind, TK_PATTERN_UNWRITTEN);
  ck_assert_uint_eq(d->npatterns, 1); /* what it holds is nobody's */
  ck_assert(!d->first.written && d->explained_nearest);
  ck_assert_ptr_nonnull(d->explanation);
  ck_assert_str_eq(d->explanation->blame.element.text, "y[90]");
  ck_assert_ptr_nonnull(strstr(f.text, "only the tail is wrong"));
  ck_assert_ptr_nonnull(strstr(f.text, "tl.store(y + at, v, mask=at < n)"));
  tk_session_free(f.s);
}
END_TEST

START_TEST(one_program_is_wrong) {
  fixture f;
  begin(&f, N);
  for (int i = 16; i < 24; i++) f.expected[i] += (float)i;
  const tk_difference *d = differ(&f, 1);
  ck_assert_uint_eq(d->wrong_programs, 1);
  ck_assert_uint_eq(d->programs, N / 8);
  ck_assert(d->programs_exact && d->programs_whole);
  ck_assert_int_eq(d->program_ranges[0]->first, 2);
  ck_assert_int_eq(d->first.program[0], 2);
  ck_assert_int_eq(d->first.place.line, 6);
  ck_assert_int_eq(d->worst.index[0], 23);
  ck_assert_double_eq_tol(d->worst.error, 23, 1e-5);
  ck_assert_str_eq(d->explanation->blame.element.text, "y[16]");
  ck_assert(!memcmp(f.out, f.found, sizeof f.out)); /* as the run left it */
  tk_session_free(f.s);
}
END_TEST

/* A run of what changes its own input starts again with what was there. */
START_TEST(memory_is_put_back_for_the_second_run) {
  fixture f;
  begin(&f, N);
  tk_tensor x = tensor_of(f.found, 1), e = tensor_of(f.expected, 1);
  tk_module *m;
  tk_function *fn;
  static const char text[] = "import triton.language as tl\n"
                             "@triton.jit\n"
                             "def bump(x):\n"
                             "    v = tl.load(x)\n"
                             "    tl.store(x, v + 1)\n";
  tk_module_open(f.s, "b.py", text, sizeof text - 1, &m);
  tk_launch *l;
  ck_assert_int_eq(tk_function_named(m, "bump", &fn), TK_OK);
  ck_assert_int_eq(tk_launch_new(f.s, fn, &l), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(l, "x", &x), TK_OK);
  ck_assert_int_eq(tk_launch_expect_tensor(l, "x", &e, 0, 0), TK_OK);
  ck_assert_int_eq(tk_launch_run(l, NULL, NULL), TK_OK);
  const tk_difference *d = tk_launch_difference(l, 0);
  ck_assert_uint_eq(d->wrong, 1);
  ck_assert_float_eq(f.found[0], value_at(0) + 1);
  ck_assert_str_eq(d->explanation->blame.value.text, d->first.found.text);
  tk_session_free(f.s);
}
END_TEST

START_TEST(what_cannot_be_expected) {
  fixture f;
  begin(&f, N);
  tk_tensor x = tensor_of(f.found, 1), two = tensor_of(f.expected, 2);
  ck_assert_int_eq(tk_launch_tensor(f.l, "x", &x), TK_OK);
  ck_assert_int_eq(tk_launch_expect_tensor(f.l, "x", &two, -1, -1), TK_USAGE);
  ck_assert_int_eq(tk_launch_expect_tensor(f.l, "n", &x, -1, -1), TK_USAGE);
  ck_assert_int_eq(tk_launch_expect_tensor(f.l, "z", &x, -1, -1), TK_USAGE);
  ck_assert_int_eq(tk_launch_expect(f.l, "x", -1, -1), TK_USAGE);
  ck_assert_int_eq(tk_launch_expect(f.l, "x=@/nowhere.npy", -1, -1), TK_USAGE);
  ck_assert_ptr_nonnull(strstr(tk_report(f.s, false), "NAME=@FILE.npy"));
  tk_session_free(f.s);
}
END_TEST

int main(void) {
  Suite *s = suite_create("diff");
  TCase *c = tcase_create("diff");
  tcase_add_loop_test(c, patterns_are_found, 0,
                      (int)(sizeof rows / sizeof rows[0]));
  tcase_add_test(c, factors_of_one_are_not_found);
  tcase_add_loop_test(c, chance_is_no_pattern, 0,
                      sizeof chances / sizeof *chances);
  tcase_add_test(c, most_is_no_tail);
  tcase_add_test(c, what_is_not_rounded);
  tcase_add_test(c, what_is_as_expected);
  tcase_add_test(c, a_tail_that_nobody_wrote);
  tcase_add_test(c, one_program_is_wrong);
  tcase_add_test(c, memory_is_put_back_for_the_second_run);
  tcase_add_test(c, what_cannot_be_expected);
  suite_add_tcase(s, c);
  return run_suite(s) ? EXIT_FAILURE : EXIT_SUCCESS;
}
