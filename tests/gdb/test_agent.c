/* test_agent.c - bytecode of conditions: each opcode, and what is malformed. */
#include <stdio.h>
#include <string.h>

#include "gdbstub/gdb/agent.h"
#include "support/suite.h"

/* Opcodes by gdb's names, with the size of the operand in the code. */
typedef struct name {
  const char *name;
  int code, operand;
} name;

static const name names[] = {
    {"add", 0x02, 0},          {"sub", 0x03, 0},       {"mul", 0x04, 0},
    {"div_signed", 0x05, 0},   {"div_unsigned", 6, 0}, {"rem_signed", 0x07, 0},
    {"rem_unsigned", 8, 0},    {"lsh", 0x09, 0},       {"rsh_signed", 0x0a, 0},
    {"rsh_unsigned", 0x0b, 0}, {"log_not", 0x0e, 0},   {"bit_and", 0x0f, 0},
    {"bit_or", 0x10, 0},       {"bit_xor", 0x11, 0},   {"bit_not", 0x12, 0},
    {"equal", 0x13, 0},        {"less_signed", 20, 0}, {"less_unsigned", 21, 0},
    {"ext", 0x16, 1},          {"ref8", 0x17, 0},      {"ref16", 0x18, 0},
    {"ref32", 0x19, 0},        {"ref64", 0x1a, 0},     {"if_goto", 0x20, 2},
    {"goto", 0x21, 2},         {"const8", 0x22, 1},    {"const16", 0x23, 2},
    {"const32", 0x24, 4},      {"const64", 0x25, 8},   {"reg", 0x26, 2},
    {"end", 0x27, 0},          {"dup", 0x28, 0},       {"pop", 0x29, 0},
    {"zero_ext", 0x2a, 1},     {"swap", 0x2b, 0},      {"pick", 0x32, 1},
    {"rot", 0x33, 0},          {"float", 0x01, 0},     {"printf", 0x34, 0},
    {"nothing", 0xff, 0},
};

enum { NO_VALUE = -999 };

/* A row of known bytes at 0x1000. */
static bool known_memory(void *ud, uint64_t address, void *bytes, size_t n) {
  static const unsigned char known[8] = {1, 2, 3, 4, 5, 6, 7, 0x88};
  (void)ud;
  if (address < 0x1000 || address + n > 0x1008) return false;
  memcpy(bytes, known + (address - 0x1000), n);
  return true;
}

static bool known_register(void *ud, int number, uint64_t *value) {
  (void)ud;
  *value = (uint64_t)number * 10;
  return number < 17;
}

/* Words are opcodes, with their operand behind a colon. */
static size_t assemble(const char *text, unsigned char *code) {
  char copy[512], *word, *rest = copy;
  size_t n = 0;
  snprintf(copy, sizeof copy, "%s", text);
  while ((word = strtok_r(rest, " ", &rest))) {
    char *colon = strchr(word, ':');
    unsigned long long operand = colon ? strtoull(colon + 1, NULL, 0) : 0;
    const name *x = names;
    if (colon) *colon = '\0';
    while (strcmp(x->name, word)) {
      x++;
      ck_assert_msg(x < names + sizeof names / sizeof *names, "%s?", word);
    }
    code[n++] = (unsigned char)x->code;
    for (int i = colon ? x->operand : 0; i--;)
      code[n++] = (unsigned char)(operand >> (8 * i));
  }
  return n;
}

static int64_t value_of(const char *text) {
  const gs_agent a = {NULL, known_memory, known_register};
  unsigned char code[512];
  int64_t value;
  size_t n = assemble(text, code);
  return gs_agent_run(&a, code, n, &value) ? value : NO_VALUE;
}

typedef struct example {
  const char *text;
  int64_t value;
} example;

static const example examples[] = {
    {"const8:5 end", 5},
    {"const16:0x102 end", 0x102},
    {"const32:0x10203 end", 0x10203},
    {"const64:-3 end", -3},
    {"const8:5 const8:3 add end", 8},
    {"const8:5 const8:3 sub end", 2},
    {"const8:3 const8:5 sub end", -2},
    {"const8:5 const8:3 mul end", 15},
    {"const64:-7 const8:2 div_signed end", -3},
    {"const64:-2 const64:-1 div_unsigned end", 0},
    {"const64:-7 const8:2 rem_signed end", -1},
    {"const64:-1 const8:10 rem_unsigned end", 5},
    {"const8:1 const8:4 lsh end", 16},
    {"const8:1 const8:64 lsh end", 0},
    {"const64:-8 const8:1 rsh_signed end", -4},
    {"const64:-8 const8:200 rsh_signed end", -1},
    {"const64:-1 const8:63 rsh_unsigned end", 1},
    {"const64:-1 const8:64 rsh_unsigned end", 0},
    {"const8:0 log_not end", 1},
    {"const8:7 log_not end", 0},
    {"const8:12 const8:10 bit_and end", 8},
    {"const8:12 const8:10 bit_or end", 14},
    {"const8:12 const8:10 bit_xor end", 6},
    {"const8:0 bit_not end", -1},
    {"const8:5 const8:5 equal end", 1},
    {"const64:-1 const8:0 less_signed end", 1},
    {"const64:-1 const8:0 less_unsigned end", 0},
    {"const8:255 ext:8 end", -1},
    {"const8:127 ext:8 end", 127},
    {"const8:255 zero_ext:4 end", 15},
    {"const64:-5 ext:64 end", -5},
    {"const16:0x1000 ref8 end", 1},
    {"const16:0x1000 ref16 end", 0x201},
    {"const16:0x1000 ref32 end", 0x4030201},
    {"const16:0x1000 ref64 end", (int64_t)0x8807060504030201},
    {"const8:1 if_goto:8 const8:99 end const8:7 end", 7},
    {"const8:0 if_goto:8 const8:99 end const8:7 end", 99},
    {"goto:6 const8:99 end const8:7 end", 7},
    {"reg:6 end", 60},
    {"const8:5 dup add end", 10},
    {"const8:5 const8:7 pop end", 5},
    {"const8:2 const8:5 swap sub end", 3},
    {"const8:5 const8:7 pick:1 end", 5},
    {"const8:1 const8:2 const8:3 rot end", 2},
    {"const8:1 const8:2 const8:3 rot pop pop end", 3},
};

START_TEST(opcodes) {
  const example *x = &examples[_i];
  ck_assert_msg(value_of(x->text) == x->value, "%s gives %lld, not %lld",
                x->text, (long long)value_of(x->text), (long long)x->value);
}
END_TEST

static const char *const malformed[] = {
    "",
    "end",
    "const8:5", /* it does not end */
    "const64",  /* an operand that is cut */
    "add end",  /* too few operands */
    "const8:1 add end",
    "log_not end",
    "pop end",
    "dup end",
    "const8:5 swap end",
    "const8:1 const8:2 rot end",
    "const8:5 pick:1 end",
    "const8:5 const8:0 div_signed end",
    "const8:5 const8:0 rem_unsigned end",
    "const64:0x8000000000000000 const64:-1 div_signed end",
    "goto:0xffff end", /* to nowhere */
    "goto:0 end",      /* for ever */
    "if_goto:0 end",
    "const8:5 goto:0 end",      /* until the stack is full */
    "const8:32 ref8 end",       /* memory that is not there */
    "const16:0x1001 ref64 end", /* ... the end of it */
    "reg:99 end",
    "const8:5 ext:0 end",
    "float end",
    "printf end",
    "nothing end",
};

START_TEST(mistakes) {
  ck_assert_msg(value_of(malformed[_i]) == NO_VALUE, "%s has a value",
                malformed[_i]);
}
END_TEST

static Suite *make_suite(void) {
  Suite *s = suite_create("agent");
  TCase *t = tcase_create("bytecode");
  tcase_add_loop_test(t, opcodes, 0, sizeof examples / sizeof *examples);
  tcase_add_loop_test(t, mistakes, 0, sizeof malformed / sizeof *malformed);
  suite_add_tcase(s, t);
  return s;
}

int main(void) {
  return run_suite(make_suite()) != 0;
}
