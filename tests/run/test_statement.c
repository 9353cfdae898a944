/* test_statement.c - faults in another compiler's code, and the statement that
 * is named for each.
 *
 * The code is what Triton 3.9 makes of the kernel for sm_80.
 */
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "launch/session.h"
#include "support/assertions.h"
#include "support/suite.h"

static const char kernel[] = "import triton.language as tl\n"
                             "\n"
                             "\n"
                             "@triton.jit\n"
                             "def steps(x, y):\n"
                             "    i = tl.arange(0, 256)\n"
                             "    a = tl.load(x + i)\n"
                             "    b = a * 3\n"
                             "    c = b ^ 21\n"
                             "    s = tl.sum(c, 0)\n"
                             "    d = c - s\n"
                             "    tl.store(y + i, d)\n";

static const char code[] =
    ".version 8.8\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".extern .shared .align 16 .b8 global_smem[];\n"
    ".visible .entry steps(\n"
    ".param .u64 .ptr .global .align 1 steps_param_0,\n"
    ".param .u64 .ptr .global .align 1 steps_param_1,\n"
    ".param .u64 .ptr .global .align 1 steps_param_2,\n"
    ".param .u64 .ptr .global .align 1 steps_param_3\n"
    ")\n"
    ".reqntid 64\n"
    "{\n"
    ".reg .b32 %r<34>;\n"
    ".reg .b64 %rd<6>;\n"
    ".loc 1 5 0\n"
    ".loc 1 5 0\n"
    "ld.param.b64 %rd3, [steps_param_0];\n"
    "ld.param.b64 %rd4, [steps_param_1];\n"
    ".loc 1 6 9\n"
    "mov.u32 %r9, %tid.x;\n"
    "shl.b32 %r10, %r9, 2;\n"
    "and.b32 %r11, %r10, 252;\n"
    ".loc 1 7 17\n"
    "mul.wide.u32 %rd5, %r11, 4;\n"
    "add.s64 %rd1, %rd3, %rd5;\n"
    ".loc 1 7 9\n"
    ".loc 1 7 9\n"
    "mov.u32 %r1, 0x0;\n"
    "mov.u32 %r2, 0x0;\n"
    "mov.u32 %r3, 0x0;\n"
    "mov.u32 %r4, 0x0;\n"
    "ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];\n"
    ".loc 1 8 9\n"
    "mul.lo.s32 %r12, %r1, 3;\n"
    "mul.lo.s32 %r13, %r2, 3;\n"
    "mul.lo.s32 %r14, %r3, 3;\n"
    "mul.lo.s32 %r15, %r4, 3;\n"
    ".loc 1 9 9\n"
    "xor.b32 %r16, %r12, 21;\n"
    "xor.b32 %r17, %r13, 21;\n"
    "xor.b32 %r18, %r14, 21;\n"
    "xor.b32 %r19, %r15, 21;\n"
    ".loc 1 10 9\n"
    ".loc 2 314 12, function_name $L__info_string0, inlined_at 1 10 9\n"
    ".loc 2 287 12, function_name $L__info_string0, inlined_at 2 314 12\n"
    "add.s32 %r20, %r16, %r17;\n"
    "add.s32 %r21, %r20, %r19;\n"
    "add.s32 %r22, %r21, %r18;\n"
    ".loc 2 314 12, function_name $L__info_string0, inlined_at 1 10 9\n"
    "mov.b32 %r23, -1;\n"
    "redux.sync.add.s32 %r24, %r22, %r23;\n"
    "shr.u32 %r25, %r9, 3;\n"
    "and.b32 %r26, %r25, 4;\n"
    "mov.b32 %r27, global_smem;\n"
    "add.s32 %r28, %r27, %r26;\n"
    "st.shared.b32 [%r28], %r24;\n"
    "bar.sync 0;\n"
    "and.b32 %r29, %r10, 4;\n"
    "add.s32 %r30, %r27, %r29;\n"
    "ld.shared.b32 %r31, [%r30];\n"
    "shfl.sync.bfly.b32 %r32, %r31, 1, 31, -1;\n"
    ".loc 2 287 12, function_name $L__info_string0, inlined_at 2 314 12\n"
    "add.s32 %r33, %r32, %r31;\n"
    ".loc 1 11 9\n"
    "sub.s32 %r5, %r16, %r33;\n"
    "sub.s32 %r6, %r17, %r33;\n"
    "sub.s32 %r7, %r18, %r33;\n"
    "sub.s32 %r8, %r19, %r33;\n"
    ".loc 1 12 14\n"
    "add.s64 %rd2, %rd4, %rd5;\n"
    ".loc 1 12 5\n"
    ".loc 1 12 5\n"
    "st.global.v4.b32 [ %rd2 + 0 ], { %r5, %r6, %r7, %r8 };\n"
    ".loc 1 5 1\n"
    "ret;\n"
    "}\n"
    ".file 1 \"kernel.py\"\n"
    ".file 2 \"standard.py\"\n";

/* A fault: what stands in the place of what, and the line of the kernel. */
typedef struct fault {
  const char *what, *from, *to;
  int line;
  const char *operation;
} fault;

static const fault faults[] = {
    {"another address", "[ %rd1 + 0 ]", "[ %rd1 + 16 ]", 7, "a"},
    {"another factor", "%r1, 3;", "%r1, 5;", 8, "b"},
    {"another operation", "xor.b32 %r16", "or.b32 %r16", 9, "c"},
    {"another lane", "bfly.b32 %r32, %r31, 1,", "bfly.b32 %r32, %r31, 2,", 10,
     "s"},
    {"swapped operands", "%r5, %r16, %r33", "%r5, %r33, %r16", 11, "d"},
    {"a register of another lane", "%r5, %r6, %r7, %r8 }",
     "%r7, %r6, %r5, %r8 }", 12, "store"},
    {"half of a store", "st.global.v4.b32 [ %rd2 + 0 ], { %r5, %r6, %r7, %r8 }",
     "st.global.v2.b32 [ %rd2 + 0 ], { %r5, %r6 }", 12, "store"},
};

typedef struct fixture {
  tk_session *s;
  tk_launch *l;
  int32_t x[256 + 4], y[256];
  char text[2 * sizeof code];
} fixture;

/* The code with one fault, as a string of JSON. */
static void make_text(fixture *f, const fault *with) {
  const char *at = with ? strstr(code, with->from) : NULL;
  char *to = f->text;
  ck_assert(!with || at);
  for (const char *c = code; *c; c++) {
    if (c == at) {
      to += sprintf(to, "%s", with->to);
      c += strlen(with->from) - 1;
    } else if (*c == '\n') {
      to += sprintf(to, "\\n");
    } else {
      if (*c == '"') *to++ = '\\';
      *to++ = *c;
    }
  }
  *to = '\0';
}

static bool compile(void *ud, const char *file, const char *arch,
                    const char **why) {
  const fixture *f = ud;
  FILE *out = fopen(file, "w");
  (void)arch;
  *why = "the file cannot be written";
  if (!out) return false;
  fprintf(out,
          "{\"ptx\": \"%s\", \"ttir\": \"\", \"entry\": \"steps\", "
          "\"shared\": 8, \"warps\": 2, \"params\": [\"x\", \"y\"], "
          "\"scratch\": 0}",
          f->text);
  return !fclose(out);
}

static void begin(fixture *f, const fault *with) {
  tk_module *m;
  tk_function *fn;
  *f = (fixture){.s = tk_session_new()};
  make_text(f, with);
  for (int i = 0; i < 260; i++) f->x[i] = i * 7 + 3;
  tk_tensor x = {.data = f->x,
                 .dtype = TK_INT32,
                 .rank = 1,
                 .shape = {260},
                 .strides = {1}};
  tk_tensor y = {.data = f->y,
                 .dtype = TK_INT32,
                 .rank = 1,
                 .shape = {256},
                 .strides = {1}};
  tk_session_compiler(f->s, compile, f);
  tk_module_open(f->s, "kernel.py", kernel, sizeof kernel - 1, &m);
  ck_assert_int_eq(tk_function_named(m, NULL, &fn), TK_OK);
  ck_assert_int_eq(tk_launch_new(f->s, fn, &f->l), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(f->l, "x", &x), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(f->l, "y", &y), TK_OK);
  ck_assert_int_eq(tk_launch_grid(f->l, 1, 1, 1), TK_OK);
}

/* What is found of the code with a fault, or without one. */
static const tk_divergence *explained(fixture *f, const fault *with) {
  begin(f, with);
  tk_run_options o = {
      .size = sizeof o, .against = "triton-ptx", .pinpoint = true};
  tk_status st = tk_launch_run(f->l, &o, NULL);
  if (st != TK_OK) ck_abort_msg("%s", tk_report(f->s, false));
  return tk_launch_divergence(f->l);
}

START_TEST(code_without_a_fault_does_not_differ) {
  fixture f;
  ck_assert_ptr_null(explained(&f, NULL));
  tk_session_free(f.s);
}
END_TEST

START_TEST(faults_are_found_at_their_statement) {
  const fault *with = &faults[_i];
  fixture f;
  const tk_divergence *d = explained(&f, with);
  ck_assert_ptr_nonnull(d);
  if (!d->found || d->place.line != with->line ||
      strcmp(d->operation, with->operation) != 0)
    ck_abort_msg("%s: line %d, %s: %s", with->what, d->place.line,
                 d->operation ? d->operation : "nothing",
                 d->says ? d->says : "");
  ck_assert_int_eq(d->cause, TK_CAUSE_COMPILER);
  tk_session_free(f.s);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("statement");
  TCase *c = tcase_create("statement");
  tcase_add_test(c, code_without_a_fault_does_not_differ);
  tcase_add_loop_test(c, faults_are_found_at_their_statement, 0,
                      TK_COUNT(faults));
  suite_add_tcase(s, c);
  return s;
}

int main(void) {
  return run_suite(suite()) != 0;
}
