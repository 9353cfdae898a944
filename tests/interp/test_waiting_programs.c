/* test_waiting_programs.c - programs that wait for each other: barriers,
 * locks and look-back complete in every order; what cannot complete is a
 * deadlock that names who waits for what; long loops are neither.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/schedule.h"
#include "support/suite.h"

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def barrier(cnt, x, y, n):\n"
    "    pid = tl.program_id(0)\n"
    "    tl.store(x + pid, pid * 10)\n"
    "    tl.debug_barrier()\n"
    "    tl.atomic_add(cnt, 1)\n"
    "    while tl.atomic_add(cnt, 0) < n:\n"
    "        pass\n"
    "    tl.device_print('past', pid)\n"
    "    tl.store(y + pid, tl.load(x + (pid + 1) % 6))\n"
    "@triton.jit\n"
    "def lookback(cnt, x, y, n):\n"
    "    pid = tl.program_id(0)\n"
    "    run = pid + 1\n"
    "    if pid > 0:\n"
    "        while tl.atomic_add(cnt + pid - 1, 0) != 1:\n"
    "            pass\n"
    "        run += tl.load(x + pid - 1)\n"
    "    tl.store(x + pid, run)\n"
    "    tl.debug_barrier()\n"
    "    tl.atomic_xchg(cnt + pid, 1)\n"
    "    tl.store(y + pid, run)\n"
    "@triton.jit\n"
    "def take(lock):\n"
    "    while tl.atomic_cas(lock, 0, 1) == 1:\n"
    "        pass\n"
    "@triton.jit\n"
    "def spinlock(cnt, x, y, n):\n"
    "    take(cnt)\n"
    "    tl.store(x, tl.load(x) + 1)\n"
    "    tl.debug_barrier()\n"
    "    if tl.program_id(0) != n:\n"
    "        tl.atomic_xchg(cnt, 0)\n"
    "    tl.store(y + tl.program_id(0), 1)\n"
    "@triton.jit\n"
    "def counted(cnt, x, y, n):\n"
    "    spins = 0\n"
    "    while (tl.load(cnt, volatile=True) == 0) & (spins < 5000):\n"
    "        spins += 1\n"
    "    tl.store(y + tl.program_id(0), spins)\n"
    "@triton.jit\n"
    "def idle(cnt, x, y, n):\n"
    "    spins = 0\n"
    "    while tl.load(cnt, volatile=True) == 0:\n"
    "        spins += 1\n"
    "@triton.jit\n"
    "def forever(cnt, x, y, n):\n"
    "    i = 0\n"
    "    while i < 10:\n"
    "        y += 1\n"
    "@triton.jit\n"
    "def swaps(cnt, x, y, n):\n"
    "    a = 0\n"
    "    b = 1\n"
    "    while a + b == 1:\n"
    "        c = a\n"
    "        a = b\n"
    "        b = c\n"
    "@triton.jit\n"
    "def long(cnt, x, y, n):\n"
    "    i = 0\n"
    "    while i < 100000:\n"
    "        i += 1\n"
    "    tl.store(y + tl.program_id(0), i)\n"
    "@triton.jit\n"
    "def queue(cnt, x, y, n):\n"
    "    t = tl.atomic_add(cnt, 1)\n"
    "    while t < n:\n"
    "        tl.store(y + t, 10 * t)\n"
    "        t = tl.atomic_add(cnt, 1)\n";

enum { N = 6 };

typedef struct result {
  tk_status st;
  int32_t y[N];
  int printed;
  char report[1 << 14];
} result;

static void count_lines(void *ud, const char *text, size_t n) {
  result *r = ud;
  for (size_t i = 0; i < n; i++) r->printed += text[i] == '\n';
}

static void give(tk_launch *l, const char *name, int32_t *data) {
  tk_tensor t = {
      .data = data, .dtype = TK_INT32, .rank = 1, .shape = {N}, .strides = {1}};
  ck_assert_int_eq(tk_launch_tensor(l, name, &t), TK_OK);
}

static result run(const char *kernel, const char *order, const char *schedule,
                  int n) {
  tk_session *s = tk_session_new();
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  result r = {.st = TK_OK};
  int32_t cnt[N] = {0}, x[N] = {0};
  char text[32];
  tk_run_options o = {.size = sizeof o, .order = order, .schedule = schedule};
  tk_session_output(s, count_lines, &r);
  ck_assert_int_eq(tk_module_open(s, "k.py", source, sizeof source - 1, &m),
                   TK_OK);
  ck_assert_int_eq(tk_function_named(m, kernel, &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(s, f, &l), TK_OK);
  tk_launch_grid(l, N, 1, 1);
  give(l, "cnt", cnt);
  give(l, "x", x);
  give(l, "y", r.y);
  snprintf(text, sizeof text, "n=%d", n);
  ck_assert_int_eq(tk_launch_arg_text(l, text), TK_OK);
  r.st = tk_launch_run(l, &o, NULL);
  snprintf(r.report, sizeof r.report, "%s", tk_report(s, false));
  tk_session_free(s);
  return r;
}

static const char *const orders[] = {"serial", "reverse", "shuffle:3",
                                     "shuffle:9"};

static void completes(const char *kernel, int n, const int32_t *want) {
  for (size_t i = 0; i < 2 * TK_COUNT(orders); i++) {
    result r = run(kernel, orders[i / 2], i % 2 ? "yield" : NULL, n);
    ck_assert_msg(r.st == TK_OK, "%s: %s", kernel, r.report);
    ck_assert_mem_eq(r.y, want, sizeof r.y);
    if (!strcmp(kernel, "barrier")) ck_assert_int_eq(r.printed, N);
  }
}

START_TEST(barrier_completes) {
  completes("barrier", N, (int32_t[]){10, 20, 30, 40, 50, 0});
}
END_TEST

START_TEST(lookback_completes) {
  completes("lookback", N, (int32_t[]){1, 3, 6, 10, 15, 21});
}
END_TEST

START_TEST(locks_complete) {
  completes("spinlock", 100, (int32_t[]){1, 1, 1, 1, 1, 1});
}
END_TEST

START_TEST(queues_complete) {
  completes("queue", N, (int32_t[]){0, 10, 20, 30, 40, 50});
}
END_TEST

START_TEST(finite_waits_end) {
  completes("counted", N, (int32_t[]){5000, 5000, 5000, 5000, 5000, 5000});
  completes("long", N,
            (int32_t[]){100000, 100000, 100000, 100000, 100000, 100000});
}
END_TEST

static void says(const char *kernel, const char *schedule, int n,
                 const char *const *lines) {
  for (size_t i = 0; i < TK_COUNT(orders); i++) {
    result r = run(kernel, orders[i], schedule, n);
    ck_assert_msg(r.st == TK_FINDING, "%s: status %d", kernel, r.st);
    for (const char *const *l = lines; *l; l++)
      ck_assert_msg(strstr(r.report, *l) != NULL, "expected: %s\nreport:\n%s",
                    *l, r.report);
  }
}

START_TEST(barrier_with_too_many) {
  says("barrier", NULL, N + 1,
       (const char *[]){"k.py:9:5: error: deadlock: 6 programs wait and none "
                        "can go on [deadlock]",
                        "6 programs, (0, 0, 0) to (5, 0, 0), wait for cnt[0] "
                        "to change; it holds 6",
                        "k.py:8:5: cnt[0] was last changed here, by program (",
                        "0 of 6 programs ran to their end", NULL});
}
END_TEST

/* The lock is kept by program 2, in a function that the kernel calls. */
START_TEST(lock_not_given_back) {
  says("spinlock", NULL, 2,
       (const char *[]){
           "k.py:27:5: error: deadlock", " for cnt[0] to change", "it holds 1",
           "cnt[0] was last changed here, by program (2, 0, 0)", NULL});
}
END_TEST

START_TEST(flag_nobody_sets) {
  says("idle", NULL, 0,
       (const char *[]){"k.py:46:5: error: deadlock: 6 programs wait",
                        "no program has changed cnt[0]", NULL});
}
END_TEST

START_TEST(loops_that_never_end) {
  says("forever", NULL, 0,
       (const char *[]){"k.py:51:11: error: this loop never ends", NULL});
  says("swaps", NULL, 0,
       (const char *[]){"k.py:57:11: error: this loop never ends", NULL});
}
END_TEST

START_TEST(serial_does_not_wait) {
  says("barrier", "serial", N,
       (const char *[]){"k.py:9:5: error: deadlock: a program waits here",
                        "with --schedule serial no other program runs", NULL});
}
END_TEST

START_TEST(unknown_schedule) {
  result r = run("long", NULL, "fair", 0);
  ck_assert_int_eq(r.st, TK_USAGE);
  ck_assert_ptr_nonnull(strstr(r.report, "unknown schedule 'fair'"));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("schedule");
  TCase *c = tcase_create("schedule");
  tcase_add_test(c, barrier_completes);
  tcase_add_test(c, lookback_completes);
  tcase_add_test(c, locks_complete);
  tcase_add_test(c, queues_complete);
  tcase_add_test(c, finite_waits_end);
  tcase_add_test(c, barrier_with_too_many);
  tcase_add_test(c, lock_not_given_back);
  tcase_add_test(c, flag_nobody_sets);
  tcase_add_test(c, loops_that_never_end);
  tcase_add_test(c, serial_does_not_wait);
  tcase_add_test(c, unknown_schedule);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
