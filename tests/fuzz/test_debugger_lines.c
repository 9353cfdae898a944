/* test_debugger_lines.c - lines that a user of the debugger could type:
 * every command, with operands of the kind that it takes, in any order, over
 * kernels whose blocks have 16 to 2,048 lanes (fuzz_command.c).
 *
 * LINES=N types so many, a few thousand otherwise; SEED=N begins elsewhere;
 * TRACE=1 prints each line, so that the last one is what it died of.
 */
#include <stdarg.h>

#include "command/table.h"
#include "support/env_number.h"
#include "support/suite.h"

#define LLVMFuzzerTestOneInput fuzz_command
int fuzz_command(const uint8_t *data, size_t size);
#include "fuzz_command.c"
#undef LLVMFuzzerTestOneInput

enum { LINES = 3000, SESSION_BYTES = 1 << 14, SESSION_SECONDS = 120 };

typedef struct typist {
  uint32_t state;
  char text[SESSION_BYTES];
  size_t n;
} typist;

static uint32_t typist_below(typist *t, uint32_t most) {
  t->state ^= t->state << 13;
  t->state ^= t->state >> 17;
  t->state ^= t->state << 5;
  return (t->state >> 7) % most;
}

static void type(typist *t, const char *fmt, ...) {
  va_list ap;
  size_t room = sizeof t->text - t->n;
  va_start(ap, fmt);
  int n = vsnprintf(t->text + t->n, room, fmt, ap);
  va_end(ap);
  if (n > 0 && (size_t)n < room) t->n += (size_t)n;
}

#define ONE_OF(t, list)                                                        \
  list[typist_below(t, (uint32_t)(sizeof list / sizeof *list))]

/* ---- expressions --------------------------------------------------------- */

static const char *const names[] = {"x", "y",    "v", "w",   "s", "m",
                                    "o", "pid",  "B", "n",   "i", "r",
                                    "q", "trip", "p", "top", "a", "by"};
static const char *const functions[] = {
    "tl.sum",  "tl.max", "any",  "all", "isnan",    "tl.abs",
    "tl.sqrt", "sum",    "mean", "max", "argmax",   "min",
    "abs",     "where",  "len",  "id",  "tl.zeros", "tl.cumsum"};
static const char *const operators[] = {"+",  "-", "*",   "//", "%", "<",
                                        "==", "&", "and", ">>", "/", "@"};
static const char *const attributes[] = {
    ".shape",  ".dtype",  ".stride(0)", ".sum()", ".to(tl.float32)", "[0]",
    "[0:4]",   "[-1]",    "[None, :]",  "[3, 1]", "[::2]",           "[i]",
    ".max(0)", ".T",      ".shape[0]",  "[...]",  ".numel()",        "[9999]",
    ".mean()", ".nosuch", "[0:4, 1]",   "[o]",    ".data_ptr()",     ".size"};

static void type_expression(typist *t, int depth) {
  switch (depth ? typist_below(t, 6) : typist_below(t, 2)) {
  case 0: type(t, "%s", ONE_OF(t, names)); break;
  case 1: type(t, "%d", (int)typist_below(t, 70) - 3); break;
  case 2:
    type_expression(t, depth - 1);
    type(t, "%s", ONE_OF(t, attributes));
    break;
  case 3:
    type(t, "%s(", ONE_OF(t, functions));
    type_expression(t, depth - 1);
    if (!typist_below(t, 3)) type(t, ", axis=0");
    type(t, ")");
    break;
  default:
    type(t, "(");
    type_expression(t, depth - 1);
    type(t, " %s ", ONE_OF(t, operators));
    type_expression(t, depth - 1);
    type(t, ")");
  }
}

/* ---- operands ------------------------------------------------------------ */

static void type_location(typist *t) {
  static const char *const others[] = {
      "k",  "inc",     "twice",        "op tl.load", "+1",
      "-2", "k.py:19", "later_kernel", "op store",   "*"};
  if (typist_below(t, 3))
    type(t, "%d", 3 + (int)typist_below(t, 33));
  else
    type(t, "%s", ONE_OF(t, others));
  if (typist_below(t, 6)) return;
  type(t, " if ");
  type_expression(t, 2);
}

static void type_setting(typist *t) {
  static const char *const settings[] = {
      "print elements 5",   "print elements unlimited",
      "listsize 3",         "width 40",
      "changes off",        "changes on",
      "history 0",          "history 64",
      "order reverse",      "order shuffle:3",
      "check undef",        "check all",
      "check off",          "safe-path /nowhere",
      "check overflow,nan", "launches 0",
      "launches 64",        "order serial"};
  switch (typist_below(t, 3)) {
  case 0: type(t, "%s", ONE_OF(t, settings)); return;
  case 1: type(t, "var %s = ", ONE_OF(t, names)); break;
  default:
    type(t, "%s[%d] = ", typist_below(t, 2) ? "x" : "y",
         (int)typist_below(t, 60));
  }
  type_expression(t, 2);
}

static void type_command(typist *t, int depth);

static void type_operand(typist *t, const tkt_command *c, int depth) {
  static const char *const things[] = {
      "launch", "end",  "program",    "finding",   "assert", "store",   "load",
      "atomic", "exit", "return",     "1",         "2",      "0",       "3",
      "1 2",    "full", "return inc", "\"hello\"", "5",      "17 twice"};
  static const char *const topics[] = {
      "locals",   "args",    "line",     "frame",       "breakpoints",
      "programs", "buffers", "launch",   "watchpoints", "source",
      "checks",   "display", "settings", "checkpoints", "launches"};
  static const char *const formats[] = {"/x ", "/4dw ", "/o ", "/f ", "/b "};
  switch (c->words) {
  case TKT_LOCATION: type_location(t); break;
  case TKT_EXPR:
    if (!typist_below(t, 6)) type(t, "%s", ONE_OF(t, formats));
    type_expression(t, 1 + (int)typist_below(t, 3));
    break;
  case TKT_INFO: type(t, "%s", ONE_OF(t, topics)); break;
  case TKT_SETTING: type_setting(t); break;
  case TKT_EVENT: type(t, "%d", (int)typist_below(t, 90)); break;
  case TKT_COMMAND:
    type(t, "%s ", typist_below(t, 2) ? "0" : ">0");
    if (depth) type_command(t, depth - 1);
    break;
  case TKT_FILE_NAME:
    if (!typist_below(t, 2)) type_expression(t, 1);
    type(t, " some.file");
    break;
  case TKT_NOTHING:
    if (*c->args) type(t, "%s", ONE_OF(t, things));
  }
}

/* What ends a session comes seldom; a jump and another program often. */
static void type_command(typist *t, int depth) {
  const tkt_command *c = &tkt_commands[typist_below(t, TKT_COMMANDS)];
  bool ends =
      c == &tkt_commands[TKT_C_QUIT] || c == &tkt_commands[TKT_C_DETACH];
  if (ends && typist_below(t, 20)) c = &tkt_commands[TKT_C_NEXT];
  switch (typist_below(t, 12)) {
  case 0: type(t, "jump %d", 17 + (int)typist_below(t, 17)); return;
  case 1: type(t, "program %d", (int)typist_below(t, 3)); return;
  case 2: type(t, "next %d", 1 + (int)typist_below(t, 9)); return;
  case 3: type(t, "info locals"); return;
  default: break;
  }
  type(t, "%s ", c->name);
  if (typist_below(t, 5)) type_operand(t, c, depth);
}

/* A session's lines, all in one. */
static void type_session(typist *t, uint32_t seed) {
  *t = (typist){.state = seed * 2654435761u | 1};
  for (int i = 0; i < 8; i++) typist_below(t, 2);
  for (int i = 0; i < COMMAND_LINES; i++) {
    type_command(t, 1);
    if (!typist_below(t, 40)) type(t, "\xff");
    type(t, "\n");
  }
  type(t, "%c", '0' + (int)typist_below(t, 8)); /* the lanes of a block */
}

/* Lines end with a byte of 10, which the target takes for the token that it
 * is. */
START_TEST(random_lines) {
  static typist t;
  unsigned long wanted = env_number("LINES", LINES), sessions = 0, done = 0;
  uint32_t seed = (uint32_t)env_number("SEED", 1);
  for (; done < wanted; seed++, sessions++) {
    type_session(&t, seed);
    if (getenv("TRACE")) fprintf(stderr, "SEED=%u\n%s\n", seed, t.text);
    if (sessions % 500 == 499)
      fprintf(stderr, "%lu lines, next is SEED=%u\n", done, seed);
    alarm(SESSION_SECONDS);
    done += command_session((const uint8_t *)t.text, t.n);
  }
  alarm(0);
  ck_assert_uint_ge(done, wanted);
}
END_TEST

int main(void) {
  Suite *s = suite_create("lines for the debugger");
  TCase *t = tcase_create("lines");
  tcase_set_timeout(t, 0);
  tcase_add_test(t, random_lines);
  suite_add_tcase(s, t);
  return run_suite(s) != 0;
}
