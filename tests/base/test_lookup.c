/* test_lookup.c - numbers by text: many of them, several of one text, and
 * entries that are lent. */
#include <stdio.h>

#include "base/lookup.h"
#include "support/suite.h"

enum { MANY = 20000 };

static void *plain_alloc(void *ud, void *p, size_t old, size_t size) {
  (void)ud, (void)old;
  if (size) return realloc(p, size);
  free(p);
  return NULL;
}

typedef struct looked_up {
  tk_env env;
  tk_arena arena;
  tk_lookup t;
} looked_up;

static void begin(looked_up *x) {
  *x = (looked_up){.t = {.nbuckets = 0}};
  tk_env_init(&x->env, plain_alloc, NULL);
  tk_arena_init(&x->arena, &x->env);
}

static void end(looked_up *x) {
  tk_arena_free(&x->arena);
  ck_assert_uint_eq(x->env.held, 0);
}

static void add_many(looked_up *x) {
  for (int i = 0; i < MANY; i++) {
    const char *name = tk_arena_printf(&x->arena, "v%d", i % (MANY / 2));
    tk_lookup_add(&x->arena, &x->t, name, 3 * i);
  }
}

START_TEST(each_text_is_found) {
  looked_up x;
  char name[20];
  begin(&x);
  ck_assert_int_eq(tk_lookup_find(&x.t, "v0"), -1);
  add_many(&x);
  for (int i = 0; i < MANY / 2; i++) {
    snprintf(name, sizeof name, "v%d", i);
    int at = tk_lookup_find(&x.t, name), old = tk_lookup_older(&x.t, at);
    ck_assert_int_eq(x.t.list.items[at].number, 3 * (i + MANY / 2));
    ck_assert_int_eq(x.t.list.items[old].number, 3 * i);
    ck_assert_int_eq(tk_lookup_older(&x.t, old), -1);
  }
  tk_lookup_clear(&x.t);
  ck_assert_int_eq(tk_lookup_find(&x.t, "v0"), -1);
  end(&x);
}
END_TEST

/* The bucket that a text falls into is one of as many as there are entries. */
START_TEST(buckets_are_short) {
  looked_up x;
  begin(&x);
  add_many(&x);
  ck_assert_uint_ge(x.t.nbuckets, x.t.list.n);
  end(&x);
}
END_TEST

START_TEST(what_is_lent_stays) {
  looked_up x;
  begin(&x);
  add_many(&x);
  tk_lookup a = tk_lookup_lend(&x.t), b = tk_lookup_lend(&x.t);
  tk_lookup_add(&x.arena, &a, "a", 7);
  tk_lookup_add(&x.arena, &b, "b", 8);
  ck_assert_int_eq(tk_lookup_find(&a, "a"), MANY);
  ck_assert_int_eq(tk_lookup_find(&a, "b"), -1);
  ck_assert_int_eq(tk_lookup_find(&b, "a"), -1);
  ck_assert_int_eq(tk_lookup_find(&x.t, "a"), -1);
  ck_assert_int_eq(tk_lookup_find(&b, "v9"), tk_lookup_find(&x.t, "v9"));
  end(&x);
}
END_TEST

int main(void) {
  Suite *s = suite_create("lookup");
  TCase *t = tcase_create("lookup");
  tcase_add_test(t, each_text_is_found);
  tcase_add_test(t, buckets_are_short);
  tcase_add_test(t, what_is_lent_stays);
  suite_add_tcase(s, t);
  return run_suite(s) != 0;
}
