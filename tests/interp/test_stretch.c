/* test_stretch.c - the stretches of an access: every active lane is in one,
 * in order, and the lanes of each follow each other in memory. */
#include <string.h>

#include "interp/interp.h"
#include "support/suite.h"

enum { ROUNDS = 20000, MOST = 96 };

typedef struct lanes {
  uint64_t addr[MOST];
  uint8_t mask[MOST];
  tk_inst in;
  tki_access a;
  tk_env env; /* nobody interrupts it */
  tki t;
  uint32_t seed;
} lanes;

static uint32_t draw(lanes *x, uint32_t below) {
  x->seed = x->seed * 1664525 + 1013904223;
  return (uint32_t)((uint64_t)x->seed * below >> 32);
}

/* Rows that mostly go on where the lane before was, at times elsewhere. */
static void make(lanes *x) {
  static const uint32_t sizes[] = {1, 2, 4, 8};
  uint32_t rows = 1u << draw(x, 3), row = 1u << draw(x, 5), jumps = draw(x, 9);
  uint64_t at = 4096;
  x->in.type = (tk_type){.rank = 2, .elem = TK_INT32};
  x->in.type.shape[0] = rows;
  x->in.type.shape[1] = row;
  x->in.n = rows * row;
  x->a =
      (tki_access){.t = &x->t, .in = &x->in, .addr = x->addr, .n = rows * row};
  if (x->a.n > MOST) x->a.n = MOST / row * row;
  x->a.size = sizes[draw(x, 4)];
  if (draw(x, 2)) x->a.mask = x->mask;
  uint32_t off = draw(x, 4);
  for (size_t i = 0; i < x->a.n; i++, at += x->a.size) {
    if (jumps && !draw(x, jumps * 4)) at += x->a.size * draw(x, 9);
    x->addr[i] = at;
    x->mask[i] = !off || draw(x, off * off * 4) != 0;
  }
}

static void check_stretches(lanes *x) {
  bool seen[MOST] = {false};
  tki_stretch s = {0};
  for (size_t at = 0; tki_next_stretch(&x->a, &s); at = s.lane + s.n) {
    ck_assert_uint_ge(s.lane, at);
    ck_assert_uint_gt(s.n, 0);
    ck_assert_uint_le(s.lane + s.n, x->a.n);
    ck_assert_uint_eq(s.addr, x->addr[s.lane]);
    for (size_t i = 0; i < s.n; i++) {
      ck_assert_uint_eq(x->addr[s.lane + i], s.addr + i * x->a.size);
      seen[s.lane + i] = true;
    }
  }
  for (size_t i = 0; i < x->a.n; i++)
    ck_assert_int_eq(seen[i], !x->a.mask || x->mask[i]);
}

START_TEST(random_lanes) {
  lanes x;
  memset(&x, 0, sizeof x);
  x.t.env = &x.env;
  for (int i = 0; i < ROUNDS; i++) {
    make(&x);
    check_stretches(&x);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("stretch");
  TCase *t = tcase_create("stretch");
  tcase_add_test(t, random_lanes);
  suite_add_tcase(suite, t);
  return run_suite(suite) != 0;
}
