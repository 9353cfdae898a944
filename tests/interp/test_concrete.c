/* test_concrete.c - symbolic blocks and batches of programs change nothing that
 * anybody can see.
 *
 * Kernels run with symbolic blocks and with none (TKDBG_CONCRETE), in batches
 * (TKDBG_BATCHED) and one program after the other: every tensor must have the
 * same bits, and reports must be the same text.  The kernels are those of `make
 * bench`, and random ones whose offsets, masks and shapes come from ranges;
 * about half of those leave their tensors somewhere.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/random_kernel.h"
#include "support/suite.h"
#include "tkdbg/tkdbg.h"

enum { ARGS = 12, REPORT = 1 << 16, TEXT = 1 << 14, MOST = 40 };

/* A launch as text: arguments, of which those with a ':' are tensors. */
typedef struct job {
  const char *path, *text; /* NULL: the file's own */
  const char *kernel;
  int grid[2];
  const char *args[ARGS];
  const char *checks, *schedule;
  size_t jobs;
} job;

typedef struct outcome {
  tk_session *s;
  tk_launch *l;
  tk_status st;
  char said[REPORT];
  size_t n;
} outcome;

static void hear(void *ud, const char *text, size_t n) {
  outcome *o = ud;
  if (o->n + n >= REPORT) n = REPORT - 1 - o->n;
  memcpy(o->said + o->n, text, n);
  o->n += n;
}

/* setting: a variable of the environment that is set meanwhile, or NULL */
static void run_job(outcome *o, const job *j, const char *setting) {
  tk_module *m;
  tk_function *f;
  tk_run_options options = {
      .size = sizeof options, .schedule = j->schedule, .jobs = j->jobs};
  *o = (outcome){.s = tk_session_new()};
  tk_session_output(o->s, hear, o);
  tk_status st =
      j->text ? tk_module_open(o->s, j->path, j->text, strlen(j->text), &m)
              : tk_module_open_file(o->s, j->path, &m);
  ck_assert_int_eq(st, TK_OK);
  ck_assert_int_eq(tk_function_named(m, j->kernel, &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(o->s, f, &o->l), TK_OK);
  tk_launch_grid(o->l, j->grid[0], j->grid[1], 1);
  for (int i = 0; i < ARGS && j->args[i]; i++)
    if (tk_launch_arg_text(o->l, j->args[i]) != TK_OK)
      ck_abort_msg("%s\n%s", j->args[i], o->said);
  if (j->checks)
    ck_assert_int_eq(tk_session_check(o->s, j->checks, NULL), TK_OK);
  if (setting) setenv(setting, "1", 1);
  o->st = tk_launch_run(o->l, &options, NULL);
  if (setting) unsetenv(setting);
  o->said[o->n] = '\0';
}

static void same_tensors(const job *j, const outcome *a, const outcome *b) {
  const char *text = j->text ? j->text : "";
  for (int i = 0; i < ARGS && j->args[i]; i++) {
    char name[32];
    if (!strchr(j->args[i], '[')) continue;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(j->args[i], "="),
             j->args[i]);
    const tk_tensor *x = tk_launch_get_tensor(a->l, name);
    const tk_tensor *y = tk_launch_get_tensor(b->l, name);
    size_t bytes = tk_dtype_size(x->dtype);
    for (int k = 0; k < x->rank; k++) bytes *= (size_t)x->shape[k];
    if (memcmp(x->data, y->data, bytes))
      ck_abort_msg("%s\n%s differs", text, name);
  }
}

/* Fails unless both ways of running give the same; returns how it ended. */
static tk_status both_ways(const job *j) {
  static outcome a, b;
  run_job(&a, j, NULL);
  run_job(&b, j, "TKDBG_CONCRETE");
  const char *text = j->text ? j->text : "";
  if (a.st != b.st || strcmp(a.said, b.said))
    ck_abort_msg("%s\n%d, symbolic:\n%s\n%d, concrete:\n%s", text, (int)a.st,
                 a.said, (int)b.st, b.said);
  same_tensors(j, &a, &b);
  tk_status st = a.st;
  tk_session_free(a.s);
  tk_session_free(b.s);
  return st;
}

/* ---- the kernels of make bench ------------------------------------------- */

static const job bench[] = {
    {.kernel = "add_kernel",
     .grid = {7, 1},
     .args = {"x_ptr=f32[6500]:rand(1)", "y_ptr=f32[6500]:rand(2)",
              "output_ptr=f32[6500]:zeros", "n=6500", "BLOCK=1024"}},
    {.kernel = "softmax_kernel",
     .grid = {9, 1},
     .args = {"x_ptr=f32[9,781]:rand(1)", "y_ptr=f32[9,781]:zeros",
              "n_cols=781", "BLOCK=1024"}},
    {.kernel = "matmul_kernel",
     .grid = {2, 2},
     .args = {"a_ptr=f16[64,50]:rand(1)", "b_ptr=f16[50,64]:rand(2)",
              "c_ptr=f32[64,64]:zeros", "M=64", "N=64", "K=50", "BLOCK_M=32",
              "BLOCK_N=32", "BLOCK_K=16"}},
    {.kernel = "layer_norm_kernel",
     .grid = {4, 1},
     .args = {"x_ptr=f32[4,3000]:rand(1)", "y_ptr=f32[4,3000]:zeros",
              "w_ptr=f32[3000]:rand(2)", "b_ptr=f32[3000]:rand(3)",
              "n_cols=3000", "eps=1e-5", "BLOCK=1024"}},
    {.kernel = "attention_kernel",
     .grid = {3, 2},
     .args = {"q_ptr=f32[2,96,32]:rand(1)", "k_ptr=f32[2,96,32]:rand(2)",
              "v_ptr=f32[2,96,32]:rand(3)", "o_ptr=f32[2,96,32]:zeros",
              "n_ctx=96", "scale=0.125", "BLOCK=32", "D=32"}},
    {.kernel = "abs_max_kernel",
     .grid = {5, 1},
     .args = {"x_ptr=f32[5000]:rand(1)", "out_ptr=f32[1]:zeros", "n=5000",
              "BLOCK=1024"}},
};

static const char *const watching[] = {NULL, "all", "undefined", "race"};

START_TEST(bench_kernels_keep_their_bits) {
  char path[1024];
  snprintf(path, sizeof path, "%.*s/../bench/kernels.py",
           (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__);
  for (size_t i = 0; i < sizeof bench / sizeof *bench; i++) {
    job j = bench[i];
    j.path = path;
    j.checks = watching[_i];
    tk_status st = both_ways(&j);
    if (!j.checks) ck_assert_int_eq(st, TK_OK);
  }
}
END_TEST

/* ---- nobody watches ------------------------------------------------------ */

/* Fails unless tensors have the same bits where every instruction is watched,
 * and so is carried out. */
static void watched_or_not(const job *j) {
  static outcome a, b;
  job watched = *j;
  watched.checks = "undefined";
  run_job(&a, j, "TKDBG_BATCHED");
  run_job(&b, &watched, NULL);
  if (a.st != TK_OK || b.st != TK_OK)
    ck_abort_msg("%s\n%s%s", j->text ? j->text : j->kernel, a.said, b.said);
  same_tensors(j, &a, &b);
  tk_session_free(a.s);
  tk_session_free(b.s);
}

START_TEST(bench_kernels_need_no_watcher) {
  char path[1024];
  job j = bench[_i];
  snprintf(path, sizeof path, "%.*s/../bench/kernels.py",
           (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__);
  j.path = path;
  watched_or_not(&j);
}
END_TEST

/* What is the same in every program, and what only seems to be. */
static const char *const settled[] = {
    /* parameters that are assigned, or are not */
    "def k(x, y, n, m):\n"
    "    at = tl.arange(0, 8)\n"
    "    fixed = at * m + 1\n"
    "    n += tl.program_id(0)\n"
    "    x += n\n"
    "    tl.store(y + tl.program_id(0) * 8 + at, fixed * n + m)\n",
    /* assigned in branches, once or twice */
    "def k(x, y, n, m):\n"
    "    at = tl.arange(0, 8)\n"
    "    late = at * 0\n"
    "    if tl.program_id(0) % 2 == 0:\n"
    "        b = at + 5\n"
    "        late = b * m\n"
    "    else:\n"
    "        b = at * m\n"
    "    tl.store(y + tl.program_id(0) * 8 + at, b + late)\n",
    /* temporaries that die in a loop, and are needed in the next trip */
    "def k(x, y, n, m):\n"
    "    at = tl.arange(0, 8)\n"
    "    sum = tl.zeros([8], tl.int32)\n"
    "    for i in range(n):\n"
    "        sum += tl.where((at * 3 + m) % 5 < i, at * m + 2, 7)\n"
    "        if i == 2:\n"
    "            sum += at[:, None].reshape(8) + m * 9\n"
    "    i = 0\n"
    "    while i < n:\n"
    "        sum -= at // 2 + m\n"
    "        i += 1 + 0 * m\n"
    "    tl.store(y + tl.program_id(0) * 8 + at, sum)\n",
    /* functions: of settled values alone, of others, with constants inside */
    "def twice(v, w):\n"
    "    return v * 2 + tl.arange(0, 8) * 3, w - 1\n"
    "@triton.jit\n"
    "def look(p, at):\n"
    "    return tl.load(p + at + tl.num_programs(0))\n"
    "@triton.jit\n"
    "def k(x, y, n, m):\n"
    "    at = tl.arange(0, 8)\n"
    "    a, c = twice(at, m)\n"
    "    b, d = twice(a + tl.program_id(0), c)\n"
    "    b, d = twice(b, d)\n"
    "    e = tl.where(at < tl.cdiv(n, 2), look(x, at), a)\n"
    "    tl.store(y + tl.program_id(0) * 8 + at, a + b + c + d + e)\n",
    /* masks and values of two axes that stay what they are */
    "def k(x, y, n, m):\n"
    "    r = tl.arange(0, 4)\n"
    "    c = tl.arange(0, 8)\n"
    "    scale = (r.to(tl.float32) * 0.1)[:, None]\n"
    "    sum = tl.zeros([4, 8], tl.float32)\n"
    "    for i in range(3):\n"
    "        v = tl.load(x + r[:, None] * 8 + c[None, :], mask=c[None, :] < "
    "n,\n"
    "                    other=-1)\n"
    "        sum += v.to(tl.float32) * scale + (c * 0.5)[None, :]\n"
    "    best = tl.max(sum, axis=0).to(tl.int32)\n"
    "    tl.store(y + tl.program_id(0) * 8 + c, best + tl.program_id(0))\n",
};

START_TEST(what_is_settled_is_what_is_computed) {
  char text[TEXT];
  snprintf(text, sizeof text,
           "import triton\nimport triton.language as tl\n\n\n"
           "@triton.jit\n%s",
           settled[_i]);
  static const char *const jobs[] = {"n=3", "n=6"};
  for (size_t i = 0; i < 2; i++) {
    job j = {.path = "settled.py",
             .text = text,
             .kernel = "k",
             .grid = {5, 1},
             .args = {"x=i32[64]:arange", "y=i32[40]:zeros", jobs[i], "m=7"}};
    watched_or_not(&j);
    j.schedule = "yield";
    watched_or_not(&j);
  }
}
END_TEST

/* ---- batches ------------------------------------------------------------- */

typedef struct together {
  const char *text; /* of the kernel, after its decorator */
  tk_status ends;
  bool in_order; /* on threads it may leave something else */
} together;

#define AT "    p = tl.program_id(0)\n    at = tl.arange(0, 8)\n"
#define PUT(v) "    tl.store(y + p * 8 + at, " v ")\n"

/* Each kind of instruction with values that vary and with others. */
static const together batches[] = {
    {"def k(x, y, n, m):\n" AT "    v = tl.load(x + p * 4 + at)\n"
     "    w = v - tl.max(v, 0) + tl.sum(tl.load(x + at), 0)\n" PUT(
         "tl.where(at < p, w, m) * (p + n)"),
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    v = (tl.load(x + p * 4 + at) * m) % 13\n"
     "    s = tl.cumsum(v, 0) + tl.sort(v) - tl.flip(v, 0)\n"
     "    i = tl.argmax(v, 0) + tl.argmin(at * m % 5, 0)\n" PUT("s + i"),
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    a, b = tl.split((at + p).reshape(4, 2))\n"
     "    c = tl.join(a * m, b).reshape(8)\n"
     "    d = tl.interleave(b, tl.arange(0, 4) + n)\n"
     "    e = tl.gather(c, (at * 3 + p) % 8, 0)\n"
     "    f = tl.gather(at * m, (at + p) % 8, 0)\n" PUT("c + d + e + f"),
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    r = tl.arange(0, 16)\n"
     "    a = tl.load(x + p + r[:, None] + r[None, :]).to(tl.float16)\n"
     "    b = tl.load(x + r[:, None] * 2 + r[None, :]).to(tl.float16)\n"
     "    c = tl.dot(a, tl.trans(b)) + tl.dot(b, b)\n"
     "    d = tl.max(tl.sum(c, 1).to(tl.int32), 0)\n" PUT("at + d"),
     TK_OK, false},
    {"def add(a, b):\n"
     "    return a + b * 2\n"
     "@triton.jit\n"
     "def pick(v, q, n):\n"
     "    if n == 3:\n"
     "        return v + q, n\n"
     "    return v - q, q\n"
     "@triton.jit\n"
     "def k(x, y, n, m):\n" AT
     "    s = tl.associative_scan(tl.load(x + p + at), 0, add)\n"
     "    t = tl.reduce(at * p, 0, add) + tl.reduce(at, 0, add)\n"
     "    a, b = pick(at, p, n)\n"
     "    c, d = pick(at * m, m, n)\n" PUT("s + t + a + b + c + d"),
     TK_OK, false},
    /* programs that go different ways, or the same way by luck */
    {"def k(x, y, n, m):\n" AT "    s = at\n"
     "    for i in range(p, n + p):\n"
     "        s += i\n"
     "    if p % 4 == 2:\n"
     "        s = s * 2\n"
     "    s += p if p < 100 else m\n"
     "    if p > 8:\n"
     "        return\n" PUT("s"),
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    i = p * 0\n"
     "    while i < n:\n"
     "        i += 1 + p // 100\n" PUT("at + i"),
     TK_OK, false},
    /* what one program stores, another one reads or stores: in order */
    {"def k(x, y, n, m):\n" AT "    v = tl.load(y + p * 8 + at)\n"
     "    tl.store(y + p * 8 + 8 + at, v + p + 1, mask=p < 9)\n",
     TK_OK, true},
    {"def k(x, y, n, m):\n" AT "    for i in range(3):\n"
     "        tl.store(y + (p * 5 + i * 3) % 32 + at, at + p + i * 100)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    tl.store(y + at, at + p)\n"
     "    tl.store(y + 4 + at, at * p)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    tl.store(y + at, at + p)\n", TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    tl.store(y + m, p)\n", TK_OK, false},
    /* stores of which the order shows only if programs share an element */
    {"def k(x, y, n, m):\n" AT "    for i in range(3):\n"
     "        tl.store(y + p * 8 + at, at + i * p, mask=at < 8 - i)\n"
     "        tl.store(y + p * 8 + 7 - at, p - i, mask=at < i)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    for i in range(3):\n"
     "        tl.store(y + p * 8 + (at * 3 + i) % 8, at + i * p)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    for i in range(3):\n"
     "        tl.store(y + (at * m + p * i) % 30, at + i * p, mask=p != 1)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    for i in range(3):\n"
     "        tl.store(y + at * 10 + p, at + i)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    for i in range(3):\n"
     "        tl.store(y + 7 + p * 8 + i * 2 - at, at + p)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    for i in range(3):\n"
     "        tl.store(y + i, p)\n"
     "        tl.store(y + p + 4, i)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    for i in range(3):\n"
     "        tl.store(y + 16, n + i)\n"
     "        tl.store(y + p * 8 + at, i)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    r = tl.arange(0, 2)[:, None] * 4\n"
     "    c = tl.arange(0, 4)[None, :]\n"
     "    for i in range(2):\n"
     "        tl.store(y + p * 8 + r + 3 - c, r + i, mask=c < 3)\n"
     "        tl.store(y + p * 8 - r + 4 + c, c + p, mask=r < 4 * i)\n",
     TK_OK, false},
    /* an atomic operation that is the last one */
    {"def k(x, y, n, m):\n" AT "    tl.atomic_add(y + at, p)\n", TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    tl.atomic_add(y + at, n)\n", TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    tl.atomic_xchg(y + at, p, mask=at < p)\n",
     TK_OK, true},
    {"def k(x, y, n, m):\n" AT "    if p > 100:\n"
     "        return\n"
     "    tl.atomic_max(y + n, tl.max(tl.load(x + p * 5 + at) * m % 23, 0))\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT
     "    q = y.to(tl.pointer_type(tl.float32), bitcast=True)\n"
     "    v = p * 1.7 + at * 1e7 * (p % 3)\n"
     "    tl.atomic_add(q + (at + p) % 3, v)\n",
     TK_OK, true},
    {"def k(x, y, n, m):\n" AT "    v = tl.load(y + at)\n"
     "    tl.atomic_add(y + at, v + p)\n",
     TK_OK, true},
    {"def k(x, y, n, m):\n" AT "    tl.store(y + at, n, mask=at < p)\n"
     "    tl.atomic_add(y + at, p)\n",
     TK_OK, true},
    {"def k(x, y, n, m):\n" AT "    old = tl.atomic_add(y + at, p)\n"
     "    tl.store(y + 40 + at, old)\n",
     TK_OK, true},
    {"def k(x, y, n, m):\n" AT "    for i in range(3):\n"
     "        tl.store(y + 8 + (p * 5 + i * 3) % 32 + at, at + p + i * 100)\n"
     "    tl.atomic_add(x + at, p)\n",
     TK_OK, false},
    {"def k(x, y, n, m):\n" AT "    tl.atomic_add(y + p * 16 + at, p)\n",
     TK_FINDING, false},
    /* what fails does so as in a program of its own */
    {"def k(x, y, n, m):\n" AT "    v = tl.load(x + p * 64 + at)\n" PUT("v"),
     TK_FINDING, false},
    {"def k(x, y, n, m):\n" AT
     "    tl.device_assert(p * at < 21, 'too large')\n" PUT("at"),
     TK_FINDING, false},
    {"def k(x, y, n, m):\n" AT
     "    tl.device_print('p', p)\n" PUT("at // (p + 1)"),
     TK_OK, false},
};

static void same_as_alone(const job *j, const char *way, const outcome *one,
                          const outcome *all) {
  if (one->st != all->st || strcmp(one->said, all->said))
    ck_abort_msg("%s\n%d, alone:\n%s\n%d, %s:\n%s", j->text, (int)one->st,
                 one->said, (int)all->st, way, all->said);
  /* What comes after a failure may have been stored, but never twice. */
  if (all->st == TK_OK || strstr(j->text, "atomic")) same_tensors(j, one, all);
}

/* A batch of each size, and threads that have batches of their own. */
START_TEST(batches_are_what_their_programs_are) {
  const together *x = &batches[_i];
  static outcome one, all, threads;
  char text[TEXT];
  snprintf(text, sizeof text,
           "import triton\nimport triton.language as tl\n\n\n"
           "@triton.jit\n%s",
           x->text);
  for (int grid = 2; grid <= 10; grid++) {
    job j = {.path = "batch.py",
             .text = text,
             .kernel = "k",
             .grid = {grid, grid == 8 ? 3 : 1},
             .args = {"x=i32[256]:arange", "y=i32[88]:zeros", "n=3", "m=7"}};
    run_job(&all, &j, "TKDBG_BATCHED");
    j.jobs = 3;
    run_job(&threads, &j, "TKDBG_BATCHED");
    j.jobs = 1;
    j.schedule = "serial";
    run_job(&one, &j, NULL);
    same_as_alone(&j, "together", &one, &all);
    if (grid == 10 && x->ends != all.st)
      ck_abort_msg("%s\nends with %d\n%s", x->text, (int)all.st, all.said);
    if (!x->in_order) same_as_alone(&j, "on threads", &one, &threads);
    tk_session_free(one.s);
    tk_session_free(all.s);
    tk_session_free(threads.s);
  }
}
END_TEST

/* ---- scans ----------------------------------------------------------------
 */

/* Rows of few places and of many, along each axis, both ways. */
typedef struct scanned {
  const char *type, *shape, *function;
  int axis;
  const char *reverse;
} scanned;

static const scanned scans[] = {
    {"float32", "16384", "a + b", 0, "False"},
    {"float32", "16384", "a * b", 0, "True"},
    {"float16", "16384", "a + b", 0, "False"},
    {"int8", "16384", "tl.maximum(a, b)", 0, "False"},
    {"int64", "16384", "a - b", 0, "False"},
    {"float32", "4, 4096", "a + b", 1, "False"},
    {"float32", "4096, 4", "a - b", 0, "True"},
    {"int32", "4, 4096", "a ^ b", 0, "False"},
    {"float64", "64, 256", "a - b", 0, "False"},
    {"float32", "2, 1024, 8", "a - b", 1, "False"},
    {"float32", "16384", "b + a", 0, "False"},
    {"float32", "16384", "a + b * 0.5", 0, "True"},
    {"int32", "1, 16384", "a + b", 0, "False"},
};

START_TEST(scans_have_the_bits_of_their_calls) {
  const scanned *x = &scans[_i];
  char text[TEXT];
  snprintf(text, sizeof text,
           "import triton\nimport triton.language as tl\n\n\n"
           "@triton.jit\ndef f(a, b):\n    return %s\n\n\n"
           "@triton.jit\ndef k(x, y):\n"
           "    at = tl.arange(0, 16384)\n"
           "    v = (tl.load(x + at) * 3).to(tl.%s).reshape(%s)\n"
           "    s = tl.associative_scan(v, %d, f, reverse=%s)\n"
           "    tl.store(y + at, s.reshape(16384).to(tl.float32))\n",
           x->function, x->type, x->shape, x->axis, x->reverse);
  watched_or_not(
      &(job){.path = "scan.py",
             .text = text,
             .kernel = "k",
             .grid = {1, 1},
             .args = {"x=f32[16384]:randn(3)", "y=f32[16384]:zeros"}});
}
END_TEST

/* ---- random kernels ------------------------------------------------------ */

/* Rows r0..r2 have 8 lanes, c0..c2 have 16, b0..b2 and f0 8 x 16, m0..m1 too:
 * any statement may follow any other. */
typedef struct writer {
  uint64_t state;
  char text[TEXT];
  size_t n;
} writer;

static int below(writer *w, int n) {
  return random_below(&w->state, n);
}

static void put(writer *w, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  w->n += (size_t)vsnprintf(w->text + w->n, TEXT - w->n, format, ap);
  va_end(ap);
  ck_assert_uint_lt(w->n, TEXT);
}

static const char *operator_(writer *w) {
  static const char *const all[] = {"+",  "-", "*", "+", "-", "*",
                                    "//", "%", "&", "|", "<<"};
  return all[below(w, sizeof all / sizeof *all)];
}

static const char *compare(writer *w) {
  static const char *const all[] = {"<", "<=", ">", ">=", "==", "!="};
  return all[below(w, sizeof all / sizeof *all)];
}

static const char *number(writer *w) {
  static const char *const all[] = {"1", "2", "3",  "8", "16", "n",
                                    "p", "7", "64", "m", "-1", "100"};
  return all[below(w, sizeof all / sizeof *all)];
}

static void line_statement(writer *w) {
  static const char *const types[] = {"int64", "int32", "int16", "int8"};
  char v = below(w, 2) ? 'r' : 'c';
  int i = below(w, 3), k = below(w, 3), lanes = v == 'r' ? 8 : 16;
  switch (below(w, 5)) {
  case 0:
    put(w, "    %c%d = tl.arange(%d, %d)\n", v, i, lanes, 2 * lanes);
    break;
  case 1:
    put(w, "    %c%d = %c%d %s %c%d\n", v, i, v, k, operator_(w), v,
        below(w, 3));
    break;
  case 2:
    put(w, "    %c%d = (%c%d %% 100).to(tl.%s)\n", v, i, v, k,
        types[below(w, 4)]);
    break;
  case 3: put(w, "    %c%d = %s - %c%d\n", v, i, number(w), v, k); break;
  default:
    put(w, "    %c%d = %c%d %s %s\n", v, i, v, k, operator_(w), number(w));
  }
}

static void block_statement(writer *w) {
  int i = below(w, 3), k = below(w, 3);
  switch (below(w, 9)) {
  case 0:
    put(w, "    b%d = tl.broadcast_to(r%d[:, None], (8, 16))\n", i, k);
    break;
  case 1:
    put(w, "    b%d = tl.full((8, 16), %s, tl.int32)\n", i, number(w));
    break;
  case 2:
    put(w, "    b%d = tl.trans(tl.trans(b%d) %s %s)\n", i, k, operator_(w),
        number(w));
    break;
  case 3:
    put(w, "    b%d = tl.where(m%d, b%d, b%d)\n", i, below(w, 2), k,
        below(w, 3));
    break;
  case 4:
    put(w, "    for t%d in range(2):\n        b%d = b%d + %s\n", i, i, i,
        number(w));
    break;
  case 5:
    put(w, "    b%d = b%d %s b%d\n", i, k, operator_(w), below(w, 3));
    break;
  case 6:
    put(w, "    b%d = tl.reshape(tl.reshape(b%d, (1, 8, 16)), (8, 16))\n", i,
        k);
    break;
  default:
    put(w, "    b%d = r%d[:, None] %s c%d[None, :]\n", i, k, operator_(w),
        below(w, 3));
  }
}

static void mask_statement(writer *w) {
  static const char *const ops[] = {"&", "|", "^", "&"};
  int i = below(w, 2), k = below(w, 2);
  switch (below(w, 6)) {
  case 0: put(w, "    m%d = ~m%d\n", i, k); break;
  case 1:
    put(w, "    m%d = m%d %s m%d\n", i, k, ops[below(w, 4)], below(w, 2));
    break;
  case 2:
    put(w, "    m%d = b%d %s %s\n", i, below(w, 3), compare(w), number(w));
    break;
  case 3:
    put(w, "    m%d = b%d %s b%d\n", i, below(w, 3), compare(w), below(w, 3));
    break;
  default:
    put(w, "    m%d = (r%d[:, None] %s %s) & (c%d[None, :] %s %s)\n", i,
        below(w, 3), compare(w), number(w), below(w, 3), compare(w), number(w));
  }
}

static void access_statement(writer *w) {
  int at = below(w, 3), mask = below(w, 2);
  if (below(w, 3))
    put(w, "    m%d = m%d & (b%d >= 0) & (b%d < 1024)\n", mask, mask, at, at);
  switch (below(w, 5)) {
  case 0: put(w, "    f0 = tl.load(x + b%d, mask=m%d)\n", at, mask); break;
  case 1:
    put(w, "    f0 = tl.load(x + b%d, mask=m%d, other=f0)\n", at, mask);
    break;
  case 2:
    put(w, "    f0 = tl.load(x + (b%d & 511), m%d, 2.0)\n", at, mask);
    break;
  case 3: put(w, "    tl.store(y + b%d, f0 + 1, mask=m%d)\n", at, mask); break;
  default: put(w, "    tl.store(y + b%d, 3.0, mask=m%d)\n", at, mask);
  }
}

static void random_statement(writer *w) {
  static void (*const kinds[])(writer *) = {line_statement,  block_statement,
                                            block_statement, mask_statement,
                                            mask_statement,  access_statement};
  kinds[below(w, sizeof kinds / sizeof *kinds)](w);
}

static void write_kernel(writer *w) {
  put(w, "import triton\nimport triton.language as tl\n"
         "@triton.jit\ndef k(x, y, z, n, m):\n"
         "    p = tl.program_id(0)\n"
         "    r0 = tl.arange(0, 8)\n    r1 = p * 8 + tl.arange(0, 8)\n"
         "    r2 = r0 * m\n"
         "    c0 = tl.arange(0, 16)\n    c1 = c0 * 2 - p\n    c2 = n - c0\n"
         "    b0 = r0[:, None] * 16 + c0[None, :]\n"
         "    b1 = r1[:, None] * m + c0[None, :]\n    b2 = b1 - n\n"
         "    m0 = (r1[:, None] < n) & (c0[None, :] < 12)\n"
         "    m1 = b1 < 100\n"
         "    f0 = tl.load(x + b0)\n"
         "    at = b0\n");
  for (int i = 6 + below(w, 14); i > 0; i--) random_statement(w);
  put(w, "    z += p * 896\n");
  for (int i = 0; i < 3; i++)
    put(w, "    tl.store(z + at + %d, b%d)\n", 128 * i, i);
  for (int i = 0; i < 2; i++)
    put(w, "    tl.store(z + at + %d, m%d)\n", 384 + 128 * i, i);
  put(w, "    tl.store(z + at + 640, (f0 * 64).to(tl.int32))\n"
         "    tl.store(z + 768 + tl.arange(0, 8), r2)\n"
         "    tl.store(z + 784 + tl.arange(0, 16), c2)\n");
}

START_TEST(random_kernels_keep_their_bits) {
  static writer w;
  int ended[16] = {0};
  for (int seed = 1; seed <= (_i ? MOST / 4 : 8 * MOST); seed++) {
    w.state = 0x9e3779b97f4a7c15u * (uint64_t)seed;
    w.n = 0;
    write_kernel(&w);
    job j = {.path = "k.py",
             .text = w.text,
             .kernel = "k",
             .grid = {3, 1},
             .args = {"x=f32[1024]:rand(1)", "y=f32[1024]:zeros",
                      "z=i64[2688]:zeros", "n=13", "m=16"},
             .checks = watching[_i]};
    ended[both_ways(&j)]++;
  }
  /* A good part of them runs to its end. */
  if (!_i) ck_assert_int_gt(ended[TK_OK], MOST);
}
END_TEST

int main(void) {
  Suite *s = suite_create("concrete");
  TCase *c = tcase_create("concrete");
  const int n = sizeof watching / sizeof *watching;
  tcase_set_timeout(c, 300);
  tcase_add_loop_test(c, bench_kernels_keep_their_bits, 0, n);
  tcase_add_loop_test(c, bench_kernels_need_no_watcher, 0,
                      (int)(sizeof bench / sizeof *bench));
  tcase_add_loop_test(c, what_is_settled_is_what_is_computed, 0,
                      (int)(sizeof settled / sizeof *settled));
  tcase_add_loop_test(c, batches_are_what_their_programs_are, 0,
                      (int)(sizeof batches / sizeof *batches));
  tcase_add_loop_test(c, scans_have_the_bits_of_their_calls, 0,
                      (int)(sizeof scans / sizeof *scans));
  tcase_add_loop_test(c, random_kernels_keep_their_bits, 0, n);
  suite_add_tcase(s, c);
  return run_suite(s);
}
