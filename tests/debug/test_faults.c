/* test_faults.c - what the engine says of failures, and what front ends add:
 * each words every remedy, in terms that its users know.
 */
#include <string.h>

#include "base/remedy.h"
#include "launch/session.h"
#include "support/suite.h"
#include "tkdbg/tkdbg.h"

static const char *const texts[] = {
#define FAULT(id, remedy, text) text,
#include "tkdbg/fault.def"
#undef FAULT
};

static bool is_one_of(const char *word, size_t n, const char *const *list) {
  for (; *list; list++)
    if (strlen(*list) == n && !strncmp(*list, word, n)) return true;
  return false;
}

/* Whether tkdbg's own debugger has a command of this name. */
static bool is_command(const char *word, size_t n) {
  const char *name;
  for (size_t i = 0; (name = tk_debugger_command_name(i)); i++)
    if (strlen(name) == n && !strncmp(name, word, n)) return true;
  return false;
}

/* The first word of the next quotation; false: there is none. */
static bool next_quoted(const char **s, const char **word, size_t *n) {
  const char *begin = strchr(*s, '\''), *end;
  if (!begin || !(end = strchr(begin + 1, '\''))) return false;
  *word = begin + 1;
  *n = strcspn(*word, " '");
  *s = end + 1;
  return true;
}

static const char *words_of(size_t remedy, tk_front front) {
  const char *s = tk_remedy_words((tk_remedy)remedy, front);
  ck_assert_ptr_nonnull(s);
  ck_assert(*s && s[strlen(s) - 1] != '.');
  return s;
}

/* The engine does not know who tells of a fault. */
START_TEST(faults_name_no_command) {
  for (size_t i = 0; i < TK_COUNT(texts); i++) {
    const char *s = texts[i], *word;
    size_t n;
    while (next_quoted(&s, &word, &n))
      ck_assert_msg(!is_command(word, n), "a command in \"%s\"", texts[i]);
  }
}
END_TEST

START_TEST(terminals_name_commands) {
  for (size_t i = 1; i < TK_REMEDIES; i++) {
    const char *s = words_of(i, TK_FRONT_COMMANDS), *word;
    const char *all = s;
    size_t n;
    while (next_quoted(&s, &word, &n))
      ck_assert_msg(is_command(word, n) || !strncmp(word, "if", n),
                    "no command: \"%s\"", all);
    ck_assert_msg(!strstr(all, "monitor"), "\"%s\"", all);
  }
}
END_TEST

/* What gdb has itself is typed as it is, all else after `monitor`. */
START_TEST(gdb_names_its_own_commands) {
  static const char *const own[] = {
      "next", "continue", "reverse-step", "reverse-continue", "if", NULL};
  for (size_t i = 1; i < TK_REMEDIES; i++) {
    const char *s = words_of(i, TK_FRONT_GDB), *word;
    const char *all = s;
    size_t n;
    while (next_quoted(&s, &word, &n))
      ck_assert_msg(!strncmp(word, "monitor", n) || is_one_of(word, n, own),
                    "not of gdb: \"%s\"", all);
  }
}
END_TEST

START_TEST(editors_name_no_command) {
  for (size_t i = 1; i < TK_REMEDIES; i++) {
    const char *s = words_of(i, TK_FRONT_EDITOR);
    ck_assert_msg(!strchr(s, '\'') && !strstr(s, "monitor"), "\"%s\"", s);
  }
}
END_TEST

static void says(const tk_debug_fault *f, tk_front front, const char *text) {
  tk_session *s = tk_session_new();
  tk_buf b;
  tk_buf_init(&b, &s->env);
  tk_put_fault(&b, f, false, front);
  ck_assert_str_eq(tk_buf_str(&b), text);
  tk_buf_free(&b);
  tk_session_free(s);
}

START_TEST(a_remedy_follows_the_fault) {
  tk_debug_fault f = {.message = "x is memory.",
                      .text = "x is memory.",
                      .id = TK_FAULT_IS_MEMORY,
                      .remedy = TK_REMEDY_BLAME,
                      .about = "x[3]"};
  says(&f, TK_FRONT_COMMANDS, "x is memory: 'blame x[3]' says who wrote it.");
  says(&f, TK_FRONT_GDB,
       "x is memory: 'monitor blame x[3]' says who wrote it.");
  says(&f, TK_FRONT_EDITOR,
       "x is memory: the Debug Console can say who wrote it.");
  f = (tk_debug_fault){.message = "Interrupted.", .text = "", .about = ""};
  says(&f, TK_FRONT_EDITOR, "Interrupted.");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("faults and remedies");
  TCase *c = tcase_create("words");
  tcase_add_test(c, faults_name_no_command);
  tcase_add_test(c, terminals_name_commands);
  tcase_add_test(c, gdb_names_its_own_commands);
  tcase_add_test(c, editors_name_no_command);
  tcase_add_test(c, a_remedy_follows_the_fault);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
