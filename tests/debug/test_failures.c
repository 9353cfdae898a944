/* test_failures.c - a session with the debugger, every allocation failing in
 * turn: the command says so and the next one works, or the launch ends with a
 * status; nothing crashes, nothing leaks.
 */
#include <string.h>

#include "support/suite.h"
#include "tkdbg/tkdbg.h"

static const char source[] = "import triton\n"
                             "import triton.language as tl\n"
                             "@triton.jit\n"
                             "def twice(v):\n"
                             "    return v + v\n"
                             "@triton.jit\n"
                             "def k(x, n, B: tl.constexpr):\n"
                             "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                             "    v = tl.load(x + i, mask=i < n, other=0)\n"
                             "    for j in range(3):\n"
                             "        v = twice(v)\n"
                             "    tl.store(x + i, v, mask=i < n)\n";

static const char *const commands[] = {
    "break 11 if any(v > 1)",
    "dprintf 12, \"v {v}\"",
    "watch x[2]",
    "tbreak twice",
    "continue",
    "print/x v * 2",
    "display v",
    "info locals",
    "backtrace",
    "finish",
    "set var v = v + 1",
    "set x[1] = 5",
    "stepi",
    "reverse-stepi",
    "reverse-step",
    "watch v",
    "continue",
    "reverse-continue",
    "checkpoint",
    "alias two = print $* * 2",
    "two v",
    "define both",
    "step",
    "print v",
    "end",
    "both",
    "apply >0 print pid",
    "stats v",
    "view /dev/null",
    "nothing",
    "print nothing",
    "program 1",
    "goto 2",
    "delete",
    "run",
};

enum { COMMANDS = sizeof commands / sizeof *commands, MOST = 20000 };

typedef struct heap {
  long left; /* allocations until one fails */
  long live;
  size_t at;     /* of the commands */
  size_t failed; /* the command at which it failed */
  bool told;
} heap;

static void *failing(void *ud, void *p, size_t old, size_t size) {
  heap *h = ud;
  (void)old;
  if (size && h->left-- == 0) {
    h->failed = h->at;
    return NULL;
  }
  h->live += (!p && size) - (p && !size);
  if (size) return realloc(p, size);
  free(p);
  return NULL;
}

static const char *read_command(void *ud, const char *prompt) {
  heap *h = ud;
  (void)prompt;
  return h->at < COMMANDS ? commands[h->at++] : NULL;
}

static void listen(void *ud, const char *text, size_t len) {
  heap *h = ud;
  h->told |= memmem(text, len, "Out of memory", 13) != NULL;
}

static tk_status launch(tk_session *s, heap *h) {
  static const char *const args[] = {"x=i32[8]:arange", "n=7", "B=4"};
  tk_debugger_options o = {.size = sizeof o,
                           .ud = h,
                           .read = read_command,
                           .write = listen,
                           .stop_at_start = true,
                           .stop_at_end = true};
  tk_debugger *d;
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  tk_status st = tk_debugger_new(s, &o, &d);
  if (!st) st = tk_module_open(s, "k.py", source, sizeof source - 1, &m);
  if (!st) st = tk_function_named(m, "k", &f);
  if (!st) st = tk_launch_new(s, f, &l);
  for (int i = 0; i < 3 && !st; i++) st = tk_launch_arg_text(l, args[i]);
  if (!st) st = tk_launch_grid_text(l, "2");
  return st ? st : tk_launch_run(l, NULL, NULL);
}

/* The n-th allocation fails; false: there are not so many. */
static bool fail_at(long n, long *silent) {
  heap h = {.left = n};
  tk_session *s = tk_session_new_with(failing, &h);
  if (!s) return true;
  tk_status st = launch(s, &h);
  bool complete = h.left >= 0;
  if (!tk_report(s, false)) ck_abort_msg("failure %ld: no report", n);
  /* Either it was told and went on, or it ended. */
  *silent += !complete && st != TK_INTERNAL && !h.told;
  if (st == TK_INTERRUPTED && h.at != COMMANDS)
    ck_abort_msg("failure %ld: quits at command %zu", n, h.at);
  /* The commands end, which quits, where the launch has ended. */
  if (complete && (st != TK_OK || h.at != COMMANDS))
    ck_abort_msg("status %d at command %zu", st, h.at);
  tk_session_free(s);
  if (h.live)
    ck_abort_msg("failure %ld, at '%s': %ld blocks left", n,
                 h.failed ? commands[h.failed - 1] : "the start", h.live);
  return !complete;
}

START_TEST(every_allocation) {
  long n = 0, silent = 0;
  while (n < MOST && fail_at(n, &silent)) n++;
  ck_assert_int_lt(n, MOST);
  ck_assert_int_gt(n, 200);
  /* The last command has nobody left to tell. */
  ck_assert_int_lt(silent * 20, n);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("debugger without memory");
  TCase *c = tcase_create("session");
  tcase_set_timeout(c, 300);
  tcase_add_test(c, every_allocation);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
