/* test_complete.c - completion: which words may stand at the end of a line
 * that is typed in the middle of a program.
 */
#include <string.h>

#include "support/suite.h"
#include "tkdbg/tkdbg.h"

static const char source[] = "import triton\n"
                             "import triton.language as tl\n"
                             "@triton.jit\n"
                             "def half(value):\n"
                             "    return value // 2\n"
                             "@triton.jit\n"
                             "def k(xs, count):\n"
                             "    xs_first = tl.load(xs)\n"
                             "    tl.store(xs, half(xs_first) + count)\n";

/* Each word that is offered has a blank behind it. */
static const struct {
  const char *line, *offered;
} cases[] = {
    {"reverse-s", "reverse-step reverse-stepi "},
    {"  whe", "when "},
    {"info l", "locals line launch launches "},
    {"i lo", "locals "},
    {"print xs", "xs_first xs "},
    {"p xs_", "xs_first "},
    {"print half(xs_", "xs_first "},
    {"print nothing", ""},
    {"print tl.cumsu", "tl.cumsum "},
    {"print tl._sum_c", "tl._sum_combine "},
    {"print xs.sh", "xs.shape "},
    {"print mea", "mean "},
    {"wha xs_", "xs_first "},
    {"frobnicate xs_", "xs_first "},
    {"b ha", "half "},
    {"tbreak k", "k "},
    {"help reverse-f", "reverse-finish "},
    {"set pr", "print elements "},
    {"set v", "var "},
    {"continue xs", ""},
};

enum { CASES = sizeof cases / sizeof *cases };

typedef struct session {
  tk_debugger *d;
  size_t asked; /* how often for a command */
} session;

static void offers(tk_debugger *d, const char *line, const char *offered) {
  char got[256] = "";
  const char *word;
  for (size_t i = 0; (word = tk_debugger_complete(d, line, i)); i++) {
    strncat(got, word, sizeof got - strlen(got) - 2);
    strcat(got, " ");
  }
  if (strcmp(got, offered) != 0)
    ck_abort_msg("'%s' offers '%s', not '%s'", line, got, offered);
}

/* After one step, so that a variable has a value. */
static const char *read_command(void *ud, const char *prompt) {
  session *s = ud;
  (void)prompt;
  if (s->asked++ == 0) return "next";
  for (size_t i = 0; i < CASES; i++)
    offers(s->d, cases[i].line, cases[i].offered);
  const char *name; /* private names only where one is typed */
  for (size_t i = 0; (name = tk_debugger_complete(s->d, "print tl.", i)); i++)
    ck_assert_msg(name[3] != '_', "%s", name);
  return NULL;
}

static void drop(void *ud, const char *text, size_t len) {
  (void)ud, (void)text, (void)len;
}

START_TEST(words) {
  session x = {0};
  tk_debugger_options o = {.size = sizeof o,
                           .ud = &x,
                           .read = read_command,
                           .write = drop,
                           .stop_at_start = true};
  tk_session *s = tk_session_new();
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  ck_assert_int_eq(tk_debugger_new(s, &o, &x.d), TK_OK);
  ck_assert_int_eq(tk_module_open(s, "k.py", source, sizeof source - 1, &m),
                   TK_OK);
  ck_assert_int_eq(tk_function_named(m, "k", &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(s, f, &l), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "xs=i32[4]:arange"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "count=3"), TK_OK);
  ck_assert_int_eq(tk_launch_run(l, NULL, NULL), TK_INTERRUPTED);
  ck_assert_uint_eq(x.asked, 2);
  tk_session_free(s);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("completion");
  TCase *c = tcase_create("completion");
  tcase_add_test(c, words);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
