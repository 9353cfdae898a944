/* test_intervals.c - intervals of bytes with the same history against a model
 * that keeps two numbers for every byte: random accesses of every kind. */
#include <stdlib.h>
#include <string.h>

#include "interp/check/intervals.h"
#include "support/suite.h"

enum { BYTES = 3 * TKC_PAGE + 200, ROUNDS = 40, STEPS = 200 };
static const uint64_t LO = 0x10008; /* not where a page would begin */

typedef struct model {
  tk_env env;
  tk_arena arena;
  tkc_intervals history;
  tkc_history byte[BYTES];
  uint64_t next; /* where the next interval that fn gets must begin */
  uint32_t event;
  bool write;
  uint32_t seed;
} model;

static uint32_t draw(model *m, uint32_t below) {
  m->seed = m->seed * 1664525 + 1013904223;
  return (uint32_t)((uint64_t)m->seed * below >> 32);
}

static tkc_history after(const model *m, tkc_history old) {
  if (m->write) return (tkc_history){m->event, 0};
  return (tkc_history){old.write, m->event};
}

static bool same(tkc_history a, tkc_history b) {
  return a.write == b.write && a.read == b.read;
}

static tkc_history see(void *ud, tkc_history old, uint64_t lo, uint64_t hi) {
  model *m = ud;
  ck_assert_uint_eq(lo, m->next);
  ck_assert_uint_lt(lo, hi);
  for (uint64_t a = lo; a < hi; a++) {
    if (!same(m->byte[a - LO], old)) ck_abort_msg("byte %d", (int)(a - LO));
    m->byte[a - LO] = after(m, old);
  }
  m->next = hi;
  return after(m, old);
}

static void touch(model *m, uint64_t lo, uint64_t hi) {
  if (hi > LO + BYTES) hi = LO + BYTES;
  if (lo >= hi) return;
  m->next = lo;
  tkc_intervals_update(&m->history, lo, hi, see, m);
  ck_assert_uint_eq(m->next, hi);
}

/* A row, a column, or single elements here and there. */
static void any_access(model *m) {
  uint32_t size = 1u << draw(m, 4), at = draw(m, BYTES) / size * size;
  m->event = 1 + draw(m, 6);
  m->write = draw(m, 3) != 0;
  switch (draw(m, 4)) {
  case 0: touch(m, LO + at, LO + at + size * (1 + draw(m, 1500))); break;
  case 1: touch(m, LO + at, LO + at + size); break;
  case 2:
    for (uint32_t i = 0, step = size * (1 + draw(m, 8)); i < 200; i++)
      touch(m, LO + at + i * step, LO + at + i * step + size);
    break;
  default:
    for (int i = 0; i < 20; i++) {
      uint64_t a = LO + draw(m, BYTES) / size * size;
      touch(m, a, a + size);
    }
  }
}

/* Writes lanes, of which those that tables cannot take go one by one; all lie
 * in memory that nobody reads. */
static void write_lanes(model *m) {
  enum { LANES = 300 };
  uint64_t addr[LANES];
  uint8_t mask[LANES];
  uint32_t size = 1u << draw(m, 4);
  tkc_lanes l = {addr, draw(m, 2) ? mask : NULL, LANES, size};
  m->event = 1 + draw(m, 6);
  m->write = true;
  for (size_t i = 0; i < LANES; i++) {
    addr[i] = LO + draw(m, BYTES / size) * size;
    mask[i] = draw(m, 4) != 0;
  }
  for (size_t i = 0, next; i < LANES; i = next) {
    next = tkc_intervals_write(&m->history, &l, i, m->event);
    for (; i < next; i++)
      for (uint64_t b = 0; b < size && (!l.mask || mask[i]); b++)
        m->byte[addr[i] - LO + b] = (tkc_history){m->event, 0};
    if (i == LANES) break;
    if (!l.mask || mask[i]) touch(m, addr[i], addr[i] + size);
    next++;
  }
}

static void compare(const model *m) {
  bool written[4] = {false};
  for (uint64_t a = LO, end; a < LO + BYTES; a = end) {
    tkc_history history;
    end = tkc_intervals_end(&m->history, a, LO + BYTES, &history);
    ck_assert_uint_gt(end, a);
    for (uint64_t b = a; b < end; b++) {
      tkc_history one = tkc_intervals_at(&m->history, b);
      if (!same(m->byte[b - LO], history) || !same(one, history))
        ck_abort_msg("byte %d", (int)(b - LO));
      written[(b - m->history.base) / TKC_PAGE] |= history.write != 0;
    }
  }
  for (uint64_t i = 0; i < 4; i++) {
    uint64_t a = m->history.base + i * TKC_PAGE;
    const tkc_page *p = tkc_intervals_page(&m->history, a < LO ? LO : a);
    ck_assert(!written[i] || (p && p->written));
  }
}

START_TEST(random_accesses) {
  model *m = calloc(1, sizeof *m);
  tk_env_init(&m->env, NULL, NULL);
  tk_arena_init(&m->arena, &m->env);
  m->history = tkc_intervals_for(&m->arena, LO, LO + BYTES);
  m->seed = (uint32_t)_i;
  uint32_t steps = 1 + draw(m, STEPS);
  for (uint32_t i = 0; i < steps; i++) any_access(m);
  compare(m);
  tk_arena_free(&m->arena);
  free(m);
}
END_TEST

START_TEST(random_lanes) {
  model *m = calloc(1, sizeof *m);
  tk_env_init(&m->env, NULL, NULL);
  tk_arena_init(&m->arena, &m->env);
  m->history = tkc_intervals_for(&m->arena, LO, LO + BYTES);
  m->seed = (uint32_t)_i;
  for (uint32_t i = 0; i < 20; i++) {
    if (draw(m, 8) == 0) any_access(m);
    write_lanes(m);
  }
  compare(m);
  tk_arena_free(&m->arena);
  free(m);
}
END_TEST

/* Rows that follow each other are one interval again; a page of single elements
 * takes two numbers for each, and no more. */
START_TEST(memory) {
  model *m = calloc(1, sizeof *m);
  tk_env_init(&m->env, NULL, NULL);
  tk_arena_init(&m->arena, &m->env);
  m->history = tkc_intervals_for(&m->arena, LO, LO + BYTES);
  m->event = 1;
  m->write = true;
  for (uint64_t a = LO; a < LO + BYTES; a += 64) touch(m, a, a + 64);
  ck_assert_uint_eq(tkc_intervals_page(&m->history, LO)->n, 2);
  ck_assert_uint_eq(tkc_intervals_page(&m->history, LO + TKC_PAGE)->n, 1);
  ck_assert_uint_le(m->env.peak, BYTES);
  m->event = 2;
  for (uint64_t a = LO; a < LO + BYTES; a += 8) touch(m, a, a + 4);
  m->write = false;
  for (uint64_t a = LO; a < LO + BYTES; a += 8) touch(m, a, a + 4);
  ck_assert_uint_le(m->env.peak, 3 * 4 * TKC_PAGE); /* pages */
  compare(m);
  tk_arena_free(&m->arena);
  free(m);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("intervals");
  TCase *t = tcase_create("intervals");
  tcase_add_loop_test(t, random_accesses, 0, ROUNDS);
  tcase_add_loop_test(t, random_lanes, 0, ROUNDS);
  tcase_add_test(t, memory);
  suite_add_tcase(suite, t);
  return run_suite(suite) != 0;
}
