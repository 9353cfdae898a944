/* test_watched_runs.c - results do not depend on who watches.
 *
 * Each launch here has programs that wait for each other, or take turns.  In
 * every order and schedule it is run plainly, under the debugger (with a
 * breakpoint that never stops, and gone back to its middle), and under each
 * detector: every byte of every tensor and all that is printed is the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/session.h"
#include "support/suite.h"

/* ---- launches ------------------------------------------------------------ */

typedef struct program {
  const char *name;
  const char *file; /* of examples/, with the function `name`; or NULL */
  const char *before, *body; /* of a kernel made here, and what it calls */
  const char *launch;
  bool waits; /* serial: it may be a deadlock */
} program;

static const program programs[] = {
    {"heat_kernel", "grid_barrier", NULL, NULL,
     "5 u_ptr=f32[2,150]:rand(1) count_ptr=i32[1]:zeros n=150 steps=4 "
     "rate=0.25 BLOCK=32",
     true},
    {"lookback_scan_kernel", "lookback_scan", NULL, NULL,
     "8 x_ptr=f32[500]:randn(0) y_ptr=f32[500]:zeros word_ptr=i64[8]:zeros "
     "next_ptr=i32[1]:zeros n=500 BLOCK=64",
     true},
    {"stream_k_kernel", "stream_k", NULL, NULL,
     "5 a_ptr=f32[20,100]:randn(0) b_ptr=f32[100,50]:randn(1) "
     "c_ptr=f32[20,50]:zeros part_ptr=f32[5,16,32]:zeros "
     "ready_ptr=i32[5]:zeros M=20 N=50 K=100 steps_per_program=6 BLOCK_M=16 "
     "BLOCK_N=32 BLOCK_K=16",
     true},
    {"split_k_kernel", "split_k", NULL, NULL,
     "2,2,3 a_ptr=f32[20,130]:randn(0) b_ptr=f32[130,50]:randn(1) "
     "c_ptr=f32[20,50]:zeros M=20 N=50 K=130 stride_am=130 stride_ak=1 "
     "stride_bk=50 stride_bn=1 stride_cm=50 stride_cn=1 BLOCK_M=16 "
     "BLOCK_N=32 BLOCK_K=32 SPLIT=3",
     false},
    {"layer_norm_backward_rows", "layer_norm", NULL, NULL,
     "9 dx_ptr=f32[9,50]:zeros dy_ptr=f32[9,50]:randn(0) "
     "dw_ptr=f32[2,50]:zeros db_ptr=f32[2,50]:zeros x_ptr=f32[9,50]:randn(1) "
     "w_ptr=f32[50]:randn(2) mean_ptr=f32[9]:randn(3) rstd_ptr=f32[9]:rand(4) "
     "lock_ptr=i32[4]:zeros row_stride=50 n_cols=50 GROUP=2 BLOCK=64",
     true},
    {"compact_kernel", "compaction", NULL, NULL,
     "4 x_ptr=f32[500]:randn(0) value_ptr=f32[500]:zeros "
     "position_ptr=i32[500]:zeros count_ptr=i32[1]:zeros n=500 threshold=0.5 "
     "BLOCK=128",
     false},
    {"a counter", NULL, "",
     "    pid = tl.program_id(0)\n"
     "    i = 0\n"
     "    while tl.load(flag) + i < 3:\n"
     "        t = tl.atomic_add(counter, 1)\n"
     "        tl.store(out + t, pid)\n"
     "        i += 1\n",
     "6 flag=i32[1]:zeros counter=i32[1]:zeros out=i32[18]:zeros", false},
    {"two locks", NULL,
     "@triton.jit\n"
     "def take(lock):\n"
     "    while tl.atomic_cas(lock, 0, 1) == 1:\n"
     "        pass\n",
     "    pid = tl.program_id(0)\n"
     "    take(locks + pid % 2)\n"
     "    at = tl.load(log)\n"
     "    tl.store(log + 1 + at, pid)\n"
     "    tl.debug_barrier()\n"
     "    tl.store(log, at + 1)\n"
     "    tl.debug_barrier()\n"
     "    tl.atomic_xchg(locks + pid % 2, 0)\n"
     "    take(locks + 2)\n"
     "    tl.device_print('has', pid)\n"
     "    tl.store(last, tl.load(last) * 7 + pid)\n"
     "    tl.debug_barrier()\n"
     "    tl.atomic_xchg(locks + 2, 0)\n",
     "7 locks=i32[3]:zeros log=i32[64]:zeros last=i32[1]:zeros", true},
    {"a chain", NULL, "",
     "    pid = tl.program_id(0)\n"
     "    n = tl.num_programs(0)\n"
     "    for r in range(3):\n"
     "        while tl.atomic_add(flags + pid, 0) != r:\n"
     "            pass\n"
     "        s = tl.atomic_add(seen, 1)\n"
     "        tl.store(log + s, pid * 10 + r)\n"
     "        tl.debug_barrier()\n"
     "        if pid + 1 < n:\n"
     "            tl.atomic_xchg(flags + pid + 1, r)\n"
     "        tl.atomic_xchg(flags + pid, r + 1)\n",
     "5 flags=i32[6]:zeros seen=i32[1]:zeros log=i32[32]:zeros", true},
    {"producers", NULL, "",
     "    pid = tl.program_id(0)\n"
     "    if pid % 2 == 0:\n"
     "        for i in range(4):\n"
     "            at = tl.atomic_add(ends, 1)\n"
     "            tl.store(ring + at, pid * 100 + i + 1)\n"
     "            tl.debug_barrier()\n"
     "            tl.atomic_add(ends + 2, 1)\n"
     "    else:\n"
     "        for i in range(4):\n"
     "            at = tl.atomic_add(ends + 1, 1)\n"
     "            while tl.load(ring + at, volatile=True) == 0:\n"
     "                pass\n"
     "            t = tl.atomic_add(ends + 3, 1)\n"
     "            tl.store(out + t, tl.load(ring + at) * 10 + pid)\n",
     "6 ends=i32[4]:zeros ring=i32[12]:zeros out=i32[12]:zeros", true},
    {"tickets", NULL,
     "@triton.jit\n"
     "def wait_for(serving, mine):\n"
     "    n = 0\n"
     "    while tl.atomic_add(serving, 0) < mine:\n"
     "        n += 1\n"
     "    return n\n",
     "    pid = tl.program_id(0)\n"
     "    for i in range(2):\n"
     "        mine = tl.atomic_add(next_, 1)\n"
     "        wait_for(serving, mine)\n"
     "        old = tl.load(log + tl.arange(0, 32))\n"
     "        new = tl.where(tl.arange(0, 32) == mine, pid + 1, old)\n"
     "        tl.store(log + tl.arange(0, 32), new)\n"
     "        tl.debug_barrier()\n"
     "        tl.atomic_add(serving, 1)\n",
     "9 next_=i32[1]:zeros serving=i32[1]:zeros log=i32[32]:zeros", true},
    {"nested loops", NULL,
     "@triton.jit\n"
     "def some(counter, out, pid, most):\n"
     "    k = 0\n"
     "    while k < most:\n"
     "        t = tl.atomic_add(counter, 1)\n"
     "        tl.store(out + t, pid * 10 + k)\n"
     "        k += 1\n"
     "    return k\n",
     "    pid = tl.program_id(0)\n"
     "    total = 0\n"
     "    while total + tl.load(flag) < 5:\n"
     "        inner = 0\n"
     "        while inner < 2:\n"
     "            total += some(counter, out, pid, inner + 1)\n"
     "            inner += 1\n"
     "    tl.device_print('total', total)\n",
     "5 flag=i32[1]:zeros counter=i32[1]:zeros out=i32[64]:zeros", false},
    {"atomics last", NULL, "",
     "    pid = tl.program_id(0)\n"
     "    while tl.load(flag) > 0:\n"
     "        pass\n"
     "    tl.store(out + pid, tl.atomic_add(counter, pid + 1))\n"
     "    tl.store(out + 8 + pid, tl.load(counter))\n"
     "    tl.atomic_max(counter + 1, tl.load(counter))\n",
     "8 flag=i32[1]:zeros counter=i32[2]:zeros out=i32[16]:zeros", false},
    {"many", NULL, "",
     "    pid = tl.program_id(0)\n"
     "    n = tl.num_programs(0)\n"
     "    tl.store(out + pid, tl.atomic_add(counter, 1))\n"
     "    while tl.atomic_add(counter, 0) < n // 2:\n"
     "        pass\n"
     "    tl.store(out + n + pid, tl.atomic_add(counter + 1, 1))\n",
     "150 counter=i32[2]:zeros out=i32[300]:zeros", true},
    {"a deadlock", NULL, "",
     "    pid = tl.program_id(0)\n"
     "    tl.store(out + tl.atomic_add(counter, 1), pid)\n"
     "    while tl.atomic_add(counter, 0) < 9:\n"
     "        pass\n",
     "6 counter=i32[1]:zeros out=i32[8]:zeros", true},
};

static const char *const orders[] = {"serial", "reverse", "shuffle:5"};
static const char *const schedules[] = {"auto", "yield", "serial"};

/* ---- one run ------------------------------------------------------------- */

enum { MOST_BYTES = 1 << 17 };

typedef struct outcome {
  tk_status status;
  size_t n;
  char bytes[MOST_BYTES]; /* of the tensors, then what was printed */
} outcome;

typedef enum watcher { NOBODY, DEBUGGER, TRAVELLER } watcher;

typedef struct run {
  const program *p;
  const char *order, *schedule;
  watcher watcher;
  const char *checks; /* or NULL */
  tk_debugger *d;
  size_t commands;
  char line[64];
  size_t nprinted;
  char print[1 << 12];
} run;

static const char *read_command(void *ud, const char *prompt) {
  static const char *const travels[] = {"continue", "goto 40",  "next 3",
                                        "goto 90",  "step 2",   "goto 25",
                                        "continue", "continue", "continue"};
  run *r = ud;
  size_t i = r->commands++;
  (void)prompt;
  if (r->watcher == DEBUGGER && i == 0) {
    snprintf(r->line, sizeof r->line, "break %s if 1 > 2",
             r->p->file ? r->p->name : "k");
    return r->line;
  }
  if (r->watcher == DEBUGGER) return i < 4 ? "continue" : NULL;
  return i < TK_COUNT(travels) ? travels[i] : NULL;
}

static void hear(void *ud, const char *text, size_t n) {
  (void)ud, (void)text, (void)n;
}

static void print(void *ud, const char *text, size_t n) {
  run *r = ud;
  if (r->nprinted + n > sizeof r->print) return;
  memcpy(r->print + r->nprinted, text, n);
  r->nprinted += n;
}

/* "def k(x, n, BLOCK: tl.constexpr):" for the arguments of a launch. */
static void put_kernel(char *text, const program *p) {
  strcat(text, "@triton.jit\ndef k(");
  for (const char *a = strchr(p->launch, ' '); a; a = strchr(a, ' ')) {
    strncat(text, a + 1, strcspn(a + 1, "="));
    strcat(text, *++a >= 'A' && *a <= 'Z' ? ": tl.constexpr, " : ", ");
  }
  strcat(strcat(text, "):\n"), p->body);
}

static void give_arguments(tk_launch *l, const program *p) {
  char copy[1024], *save = NULL;
  snprintf(copy, sizeof copy, "%s", p->launch);
  ck_assert_int_eq(tk_launch_grid_text(l, strtok_r(copy, " ", &save)), TK_OK);
  for (char *a; (a = strtok_r(NULL, " ", &save));)
    ck_assert_int_eq(tk_launch_arg_text(l, a), TK_OK);
}

static tk_module *open_module(tk_session *s, const program *p) {
  char text[1 << 14] = "import triton\nimport triton.language as tl\n";
  char path[64];
  tk_module *m;
  if (!p->file) {
    strcat(text, p->before);
    put_kernel(text, p);
  } else {
    snprintf(path, sizeof path, "examples/%s.py", p->file);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
  }
  ck_assert_int_eq(tk_module_open(s, "k.py", text, strlen(text), &m), TK_OK);
  return m;
}

static void keep_tensors(outcome *o, const tk_launch *l) {
  for (size_t i = 0; i < l->nargs; i++) {
    const tk_tensor *x = &l->args[i].tensor;
    size_t n = tk_dtype_size(x->dtype);
    if (l->args[i].kind != TK_ARG_TENSOR) continue;
    for (int k = 0; k < x->rank; k++) n *= (size_t)x->shape[k];
    ck_assert_uint_le(o->n + n, sizeof o->bytes);
    memcpy(o->bytes + o->n, x->data, n);
    o->n += n;
  }
}

static void play(run *r, outcome *o) {
  const program *p = r->p;
  tk_session *s = tk_session_new();
  tk_function *f;
  tk_launch *l;
  tk_run_options opt = {.size = sizeof opt,
                        .order = r->order,
                        .schedule = r->schedule,
                        .dot = "exact"};
  tk_debugger_options debug = {.size = sizeof debug,
                               .ud = r,
                               .read = read_command,
                               .write = hear,
                               .stop_at_start = true,
                               .stop_at_end = r->watcher == TRAVELLER};
  tk_module *m = open_module(s, p);
  tk_session_output(s, print, r);
  if (r->checks) ck_assert_int_eq(tk_session_check(s, r->checks, NULL), TK_OK);
  if (r->watcher != NOBODY)
    ck_assert_int_eq(tk_debugger_new(s, &debug, &r->d), TK_OK);
  ck_assert_int_eq(tk_function_named(m, p->file ? p->name : "k", &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(s, f, &l), TK_OK);
  give_arguments(l, p);
  *o = (outcome){.n = 0};
  o->status = tk_launch_run(l, &opt, NULL);
  keep_tensors(o, l);
  ck_assert_uint_le(o->n + r->nprinted, sizeof o->bytes);
  memcpy(o->bytes + o->n, r->print, r->nprinted);
  o->n += r->nprinted;
  tk_session_free(s);
}

/* ---- the same, whoever watches ------------------------------------------- */

/* A detector's findings change the status, and nothing else. */
static void check_same(run r, const outcome *want, const char *who) {
  static outcome got;
  play(&r, &got);
  const char *text = "%s, --order %s --schedule %s: %s differs with %s";
  ck_assert_msg(r.checks || got.status == want->status, text, r.p->name,
                r.order, r.schedule, "the status", who);
  bool same = got.n == want->n && !memcmp(got.bytes, want->bytes, got.n);
  ck_assert_msg(same, text, r.p->name, r.order, r.schedule, "memory", who);
}

static void check_watched(run r) {
  static outcome want;
  run plain = r;
  play(&plain, &want);
  if (!r.p->waits) ck_assert_int_eq(want.status, TK_OK);
  check_same(r, &want, "nobody");
  r.watcher = DEBUGGER;
  check_same(r, &want, "a breakpoint that never stops");
  r.watcher = TRAVELLER;
  check_same(r, &want, "a debugger that goes back");
  r.watcher = NOBODY;
  for (size_t i = 0; (r.checks = tk_check_name(i)); i++)
    check_same(r, &want, r.checks);
  r.watcher = DEBUGGER;
  r.checks = "all";
  check_same(r, &want, "a debugger and all detectors");
}

START_TEST(whoever_watches) {
  const program *p = &programs[_i];
  for (size_t i = 0; i < TK_COUNT(orders); i++)
    for (size_t k = 0; k < TK_COUNT(schedules); k++)
      check_watched(
          (run){.p = p, .order = orders[i], .schedule = schedules[k]});
}
END_TEST

/* What every schedule makes of some of them, as a reader would work it out. */
static void check_numbers(size_t i, const char *schedule, size_t offset,
                          const int32_t *want, size_t n) {
  static outcome got;
  run r = {.p = &programs[i], .order = "serial", .schedule = schedule};
  play(&r, &got);
  ck_assert_int_eq(got.status, TK_OK);
  ck_assert_mem_eq(got.bytes + offset * sizeof *want, want, n * sizeof *want);
}

static size_t program_named(const char *name) {
  size_t i = 0;
  while (strcmp(programs[i].name, name)) i++;
  return i;
}

START_TEST(turns_are_as_described) {
  static const int32_t serial[] = {0, 0, 0, 1, 1, 1, 2, 2, 2,
                                   3, 3, 3, 4, 4, 4, 5, 5, 5};
  static const int32_t yield[] = {0, 1, 2, 3, 4, 5, 1, 2, 3,
                                  4, 5, 0, 1, 2, 3, 4, 5, 0};
  size_t i = program_named("a counter");
  check_numbers(i, "auto", 2, serial, TK_COUNT(serial));
  check_numbers(i, "yield", 2, yield, TK_COUNT(yield));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("schedules");
  TCase *c = tcase_create("schedules");
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, whoever_watches, 0, (int)TK_COUNT(programs));
  tcase_add_test(c, turns_are_as_described);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
