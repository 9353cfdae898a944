/* test_footprint.c - where programs of threads have stored. */
#include <string.h>

#include "interp/footprint.h"
#include "support/suite.h"

enum { PRINTS = 3, MEMORY = 4096 };

static tk_env env;
static char memory[MEMORY];
static tki_footprint print[PRINTS];

static void begin(void) {
  tk_env_init(&env, NULL, NULL);
  memset(print, 0, sizeof print);
  for (int i = 1; i < PRINTS; i++) print[i - 1].next = &print[i];
}

static void end(void) {
  for (int i = 0; i < PRINTS; i++) tki_footprint_free(&print[i], &env);
}

static void add(int i, size_t at, size_t bytes) {
  tki_footprint_add(&print[i], &env, memory + at, bytes);
}

static bool apart(void) {
  for (int i = 0; i < PRINTS; i++) {
    tki_footprint_settle(&print[i]);
    print[i].seen = 0;
  }
  return tki_footprints_apart(print);
}

/* Neighbours are one run, in whatever order they come. */
START_TEST(neighbours) {
  begin();
  ck_assert(apart());
  for (size_t i = 0; i < 10; i++) add(0, i * 8, 8);
  ck_assert_uint_eq(print[0].n, 1);
  for (size_t i = 10; i-- > 0;) add(1, 100 + i * 8, 8);
  ck_assert_uint_eq(print[1].n, 10);
  ck_assert(apart());
  ck_assert_uint_eq(print[1].n, 1);
  ck_assert(print[1].runs[0].lo == memory + 100);
  ck_assert(print[1].runs[0].hi == memory + 180);
  end();
}
END_TEST

/* A byte in common is seen wherever it is; a thread's own do not count. */
START_TEST(overlaps) {
  for (size_t at = 0; at < 64; at++) {
    begin();
    add(0, 10, 4), add(0, 10, 4), add(0, 40, 8);
    add(1, 14, 2), add(1, 30, 10);
    add(2, at, 1);
    bool common = (at >= 10 && at < 16) || (at >= 30 && at < 48);
    ck_assert_msg(apart() == !common, "at %zu", at);
    end();
  }
}
END_TEST

/* The active lanes of a tile, row by row of memory. */
START_TEST(tiles) {
  tki_tile t = {.size = 4, .lanes = 8 * 16, .memory = memory, .rank = 2};
  t.axis[0] = (struct tki_tile_axis){8, 0, 6, 4, 16};
  t.axis[1] = (struct tki_tile_axis){16, 3, 5, 200, 1};
  begin();
  tki_footprint_add_tile(&print[0], &env, &t);
  ck_assert_uint_eq(print[0].n, 2);
  ck_assert(print[0].runs[1].lo == memory + 200);
  ck_assert(print[0].runs[1].hi == memory + 200 + 6 * 4);
  t.memory = NULL;
  tki_footprint_add_tile(&print[1], &env, &t);
  ck_assert_uint_eq(print[1].n, 0);
  end();
}
END_TEST

/* One that cannot hold them all does not know. */
START_TEST(too_many) {
  begin();
  for (size_t i = 0; !print[0].full && i < (size_t)1 << 22; i++)
    add(0, i % 2 * 8, 4);
  ck_assert(print[0].full);
  ck_assert(tki_footprint_is_scattered(&print[0]));
  ck_assert(!apart());
  end();
}
END_TEST

int main(void) {
  Suite *suite = suite_create("footprint");
  TCase *tc = tcase_create("runs");
  tcase_add_test(tc, neighbours);
  tcase_add_test(tc, overlaps);
  tcase_add_test(tc, tiles);
  tcase_add_test(tc, too_many);
  suite_add_tcase(suite, tc);
  return run_suite(suite) != 0;
}
