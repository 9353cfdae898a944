/* test_places.c - the index of an element along each axis, stretches of memory
 * that overlap, and where lines of a source come from.
 */
#include <string.h>

#include "base/diag.h"
#include "base/extent.h"
#include "base/index.h"
#include "support/suite.h"

START_TEST(elements_are_counted_in_row_major_order) {
  static const int64_t shape[] = {2, 3, 4};
  size_t element = 0;
  int64_t index[3];
  for (int64_t i = 0; i < 2; i++)
    for (int64_t j = 0; j < 3; j++)
      for (int64_t k = 0; k < 4; k++) {
        tk_split_index(shape, 3, element++, index);
        ck_assert_int_eq(index[0], i);
        ck_assert_int_eq(index[1], j);
        ck_assert_int_eq(index[2], k);
      }
}
END_TEST

typedef struct joining {
  tk_extent extents[5];
  size_t n, groups[5];
  size_t left;
  tk_extent joined[3];
} joining;

static const joining joinings[] = {
    {.n = 0, .left = 0},
    /* neighbours do not overlap */
    {{{0, 4}, {4, 8}}, 2, {0, 1}, 2, {{0, 4}, {4, 8}}},
    {{{0, 4}, {3, 8}}, 2, {0, 0}, 1, {{0, 8}}},
    /* the last one joins those before it; what stands between moves up */
    {{{0, 4}, {20, 24}, {8, 12}, {3, 9}},
     4,
     {0, 1, 0, 0},
     2,
     {{0, 12}, {20, 24}}},
    /* what has grown meets one that was passed over */
    {{{8, 10}, {0, 4}, {9, 20}, {3, 9}, {19, 21}},
     5,
     {0, 0, 0, 0, 0},
     1,
     {{0, 21}}},
    /* empty ones: at one place, at the edge of another, and inside it */
    {{{4, 4}, {4, 4}, {4, 8}, {6, 6}}, 4, {0, 0, 1, 1}, 2, {{4, 4}, {4, 8}}},
};

START_TEST(extents_that_overlap_are_joined) {
  const joining *j = &joinings[_i];
  tk_extent x[5];
  size_t group[5];
  for (size_t i = 0; i < j->n; i++) x[i] = j->extents[i];
  tk_env env;
  tk_arena a;
  tk_env_init(&env, NULL, NULL);
  tk_arena_init(&a, &env);
  ck_assert_uint_eq(tk_extents_join(&a, x, j->n, group), j->left);
  tk_arena_free(&a);
  for (size_t i = 0; i < j->n; i++) ck_assert_uint_eq(group[i], j->groups[i]);
  for (size_t i = 0; i < j->left; i++) {
    ck_assert_uint_eq(x[i].lo, j->joined[i].lo);
    ck_assert_uint_eq(x[i].hi, j->joined[i].hi);
  }
}
END_TEST

static const struct {
  const char *line, *origin;
} written[] = {
    {"@triton.jit", NULL},
    {"def _helion_k(x):", NULL},
    {"    offset = 0", NULL},
    {"    # src[k.py:12]: for tile in hl.tile(n):",
     "k.py:12: for tile in hl.tile(n):"},
    {"    for i in range(4):", "k.py:12: for tile in hl.tile(n):"},
    {"        # src[k.py:13]: y = torch.where(", "k.py:13: y = torch.where("},
    {"        # src[k.py:14]:     x[tile] > 0,", "k.py:13: y = torch.where("},
    {"        # src[k.py:13-16]: ...", "k.py:13: y = torch.where("},
    {"        y = x", "k.py:13: y = torch.where("},
    {"", "k.py:13: y = torch.where("},
    {"        # another comment", "k.py:13: y = torch.where("},
    {"        z = y", "k.py:13: y = torch.where("},
    {"    # src[unknown]: [source unavailable]", NULL},
    {"    w = z", NULL},
    {"    # src[k.py:0]: [source unavailable]", NULL},
    {"    w = z", NULL},
    {"    # src[k.py:17]: s = \"]: \"", "k.py:17: s = \"]: \""},
    {"    w = z", "k.py:17: s = \"]: \""},
    {"def other():", NULL},
    {"    # src[k.py:18]:", NULL},
    {"    w = z", NULL},
    {"    # src[:19]: x", NULL},
    {"    w = z", NULL},
    {"    # src[", NULL},
    {"    # src[k.py:20]: return w", NULL}, /* of the comment that began */
    {"    return 1", NULL},
};

/* What lines of it name: the last one of several. */
static const struct {
  int at, line;
} named[] = {{4, 12}, {5, 0}, {6, 13}, {7, 14}, {8, 16}, {13, 0}, {24, 0}};

START_TEST(lines_know_what_they_were_made_of) {
  tk_env env;
  tk_arena a;
  tk_buf text;
  tk_env_init(&env, NULL, NULL);
  tk_arena_init(&a, &env);
  tk_buf_init(&text, &env);
  for (size_t i = 0; i < TK_COUNT(written); i++)
    tk_buf_printf(&text, "%s\n", written[i].line);
  const tk_source *s = tk_source_new(&a, "made.py", tk_buf_str(&text), text.n);
  for (size_t i = 0; i < TK_COUNT(written); i++) {
    tk_place p = tk_place_of(s, (tk_span){s->lines[i], s->lines[i]});
    ck_assert_int_eq(p.line, (int)i + 1);
    ck_assert_pstr_eq(p.origin, written[i].origin);
  }
  for (size_t i = 0; i < TK_COUNT(named); i++) {
    const char *file;
    size_t n;
    int line = tk_source_names(s, named[i].at, &file, &n);
    ck_assert_int_eq(line, named[i].line);
    if (line) ck_assert_int_eq(strncmp(file, "k.py", n), 0);
  }
  s = tk_source_new(&a, "k.py", "x = 1\n", 6);
  ck_assert_ptr_null(tk_place_of(s, (tk_span){0, 0}).origin);
  tk_buf_free(&text);
  tk_arena_free(&a);
}
END_TEST

int main(void) {
  Suite *s = suite_create("places");
  TCase *t = tcase_create("places");
  tcase_add_test(t, elements_are_counted_in_row_major_order);
  tcase_add_loop_test(t, extents_that_overlap_are_joined, 0,
                      TK_COUNT(joinings));
  tcase_add_test(t, lines_know_what_they_were_made_of);
  suite_add_tcase(s, t);
  return run_suite(s) != 0;
}
