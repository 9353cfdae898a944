/* test_findings.c - findings as structs: what they say, and that texts and
 * JSON say the same.
 */
#include <stdio.h>
#include <string.h>

#include "support/assertions.h"
#include "support/suite.h"
#include "tkdbg/tkdbg.h"

static const char kernels[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def add_one(p, at):\n"
    "    tl.store(p + at, tl.load(p + at) + 1)\n"
    "@triton.jit\n"
    "def outside(x, n):\n"
    "    at = tl.program_id(0) * 8 + tl.arange(0, 8)\n"
    "    add_one(x, at)\n"
    "@triton.jit\n"
    "def races(x, n):\n"
    "    tl.store(x + 3, tl.program_id(0) * 1.0)\n"
    "@triton.jit\n"
    "def undefined(x, n):\n"
    "    at = tl.arange(0, 16)\n"
    "    v = tl.load(x + at, mask=at < n)\n"
    "    tl.store(x + tl.arange(0, 16), v, mask=at < n + 1)\n"
    "@triton.jit\n"
    "def no_number(x, n):\n"
    "    at = tl.arange(0, 8)\n"
    "    tl.store(x + at, tl.sqrt((at != 5) * 2.0 - 1.0))\n"
    "@triton.jit\n"
    "def wraps(x, n):\n"
    "    big = (n + 1000000) * 1000 * 10\n"
    "    tl.store(x + 6 + tl.arange(0, 2), big.to(tl.float32))\n"
    "@triton.jit\n"
    "def leaves_out(x, n):\n"
    "    at = tl.arange(0, 16)\n"
    "    tl.store(x + at, 1.0, mask=(at < 12) & (at != 6))\n"
    "@triton.jit\n"
    "def reads(x, n):\n"
    "    if tl.load(x + 9) > 0:\n"
    "        tl.store(x + n, 1.0)\n";

typedef struct fixture {
  tk_session *s;
  float x[12];
  tk_status status;
  tk_summary sum;
} fixture;

/* Runs a kernel with all detectors over x of 12 elements. */
static void run_on(fixture *f, const char *name, int grid, unsigned flags) {
  tk_module *m;
  tk_function *fn;
  tk_launch *l;
  *f = (fixture){.s = tk_session_new()};
  tk_tensor t = {.data = f->x,
                 .dtype = TK_FP32,
                 .rank = 2,
                 .shape = {3, 4},
                 .strides = {4, 1},
                 .flags = flags};
  ck_assert_int_eq(tk_session_check(f->s, "all", NULL), TK_OK);
  tk_module_open(f->s, "dir/k.py", kernels, sizeof kernels - 1, &m);
  ck_assert_int_eq(tk_function_named(m, name, &fn), TK_OK);
  ck_assert_int_eq(tk_launch_new(f->s, fn, &l), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(l, "x", &t), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "n=7"), TK_OK);
  ck_assert_int_eq(tk_launch_grid(l, grid, 1, 1), TK_OK);
  f->status = tk_launch_run(l, NULL, &f->sum);
}

static void run(fixture *f, const char *name, int grid) {
  run_on(f, name, grid, 0);
}

static void end(fixture *f) {
  tk_session_free(f->s);
}

static const tk_finding *of_kind(fixture *f, tk_finding_kind kind) {
  const tk_finding *x;
  for (size_t i = 0; (x = tk_report_finding(f->s, i)); i++)
    if (x->kind == kind) return x;
  ck_abort_msg("no %s in:\n%s", tk_finding_kind_name(kind),
               tk_report(f->s, false));
  return NULL;
}

static void ck_text(const char *text, size_t n, const char *want) {
  ck_assert_msg(n == strlen(want) && !memcmp(text, want, n), "%.*s", (int)n,
                text);
}

START_TEST(an_access_outside) {
  fixture f;
  run(&f, "outside", 2);
  ck_assert_int_eq(f.status, TK_FINDING);
  ck_assert_uint_eq(tk_report_count(f.s), 1);
  ck_assert_uint_eq(f.sum.errors, 1);
  ck_assert_uint_eq(f.sum.warnings + f.sum.notes, 0);
  const tk_finding *x = of_kind(&f, TK_D_BOUNDS);
  ck_assert_int_eq(x->severity, TK_SEV_ERROR);
  ck_assert_ptr_nonnull(strstr(x->message, "past the end of x"));
  ck_assert_ptr_nonnull(strstr(x->help, "add a mask"));
  ck_assert_str_eq(x->place.file, "dir/k.py");
  ck_assert_int_eq(x->place.line, 5);
  ck_assert_int_eq(x->place.column, 22);
  ck_assert_int_eq(x->place.end_line, 5);
  ck_assert_int_eq(x->place.end_column, 37);
  ck_assert_uint_eq(x->place.length, 15);
  ck_text(x->place.text, x->place.text_length,
          "    tl.store(p + at, tl.load(p + at) + 1)");
  ck_assert_int_eq(memcmp(kernels + x->place.offset, "tl.load(p + at)", 15), 0);
  ck_assert_ptr_null(x->from.file);
  ck_assert_str_eq(x->function, "add_one");
  ck_assert(x->has_program && x->program[0] == 1 && x->program[1] == 0);
  ck_assert_int_eq(x->lane_rank, 1);
  ck_assert_int_eq(x->lane[0], 4);
  ck_assert_str_eq(x->lane_text, "[4]");
  ck_assert(x->has_element);
  ck_assert_str_eq(x->element.tensor, "x");
  ck_assert_str_eq(x->element.text, "x[offset 12]");
  ck_assert_int_eq(x->element.rank, -1);
  ck_assert_uint_eq(x->count, 1);
  ck_assert_uint_eq(x->shown, 0);
  end(&f);
}
END_TEST

START_TEST(notes_in_order) {
  fixture f;
  size_t n = 0;
  bool call = false;
  run(&f, "outside", 2);
  const tk_finding *x = of_kind(&f, TK_D_BOUNDS);
  for (const tk_finding_note *k = x->notes; k; k = k->next, n++) {
    if (!strstr(k->text, "in the call from outside")) continue;
    call = true;
    ck_assert_int_eq(k->place.line, 9);
    ck_assert_str_eq(k->place.file, "dir/k.py");
  }
  ck_assert(call);
  ck_assert_uint_eq(n, x->nnotes);
  ck_assert_ptr_null(x->notes->place.file);
  ck_assert_ptr_nonnull(strstr(x->notes->text, "in program (1, 0, 0)"));
  end(&f);
}
END_TEST

START_TEST(a_race_has_two_places_and_an_element) {
  fixture f;
  run(&f, "races", 3);
  const tk_finding *x = of_kind(&f, TK_D_RACE);
  ck_assert_int_eq(x->place.line, 12);
  ck_assert_int_eq(x->from.line, 12);
  ck_assert(x->has_program && x->has_element);
  ck_assert_int_eq(x->element.rank, 2);
  ck_assert_int_eq(x->element.index[0], 0);
  ck_assert_int_eq(x->element.index[1], 3);
  ck_assert_str_eq(x->element.text, "x[0, 3]");
  end(&f);
}
END_TEST

START_TEST(a_detectors_finding_names_its_source) {
  fixture f;
  run(&f, "undefined", 1);
  const tk_finding *x = of_kind(&f, TK_D_UNDEF);
  ck_assert_int_eq(x->place.line, 17);
  ck_assert_int_eq(x->from.line, 16);
  ck_assert_str_eq(x->function, "undefined");
  ck_assert_str_eq(x->lane_text, "[7]");
  ck_assert_int_eq(x->lane[0], 7);
  end(&f);
}
END_TEST

/* The element that a lane reached, that nobody wrote, or that was read. */
START_TEST(detectors_know_the_element) {
  static const struct {
    const char *kernel;
    tk_finding_kind kind;
    unsigned flags;
    const char *element;
  } rows[] = {{"undefined", TK_D_UNDEF, 0, "x[1, 3]"},
              {"no_number", TK_D_NAN, 0, "x[1, 1]"},
              {"wraps", TK_D_OVERFLOW, 0, "x[1, 2]"},
              {"leaves_out", TK_D_UNWRITTEN, TK_TENSOR_UNWRITTEN, "x[1, 2]"},
              {"reads", TK_D_UNDEF, TK_TENSOR_UNWRITTEN, "x[2, 1]"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fixture f;
    run_on(&f, rows[i].kernel, 1, rows[i].flags);
    const tk_finding *x = of_kind(&f, rows[i].kind);
    ck_assert_msg(x->has_element, "%s", rows[i].kernel);
    ck_assert_str_eq(x->element.text, rows[i].element);
    ck_assert_str_eq(x->element.tensor, "x");
    ck_assert_int_eq(x->element.rank, 2);
    end(&f);
  }
}
END_TEST

/* Every word of the text is in the structs: it is put together again. */
static void write_place(char *out, const tk_place *p) {
  if (p->file)
    sprintf(out + strlen(out), "%s:%d:%d: ", p->file, p->line, p->column);
}

static void write_line(char *out, const tk_place *p) {
  if (!p->file) return;
  size_t end = (size_t)p->column - 1 + (p->length ? p->length : 1);
  if (end > p->text_length) end = p->text_length;
  sprintf(out + strlen(out), "%5d | %.*s\n      | ", p->line,
          (int)p->text_length, p->text);
  for (int i = 1; i < p->column; i++) strcat(out, " ");
  strcat(out, "^");
  for (size_t i = (size_t)p->column; i < end; i++) strcat(out, "~");
  strcat(out, "\n");
}

static void write_finding(char *out, const tk_finding *x) {
  write_place(out, &x->place);
  sprintf(out + strlen(out), "%s: %s [%s]", tk_severity_name(x->severity),
          x->message, tk_finding_kind_name(x->kind));
  if (x->count > 1)
    sprintf(out + strlen(out), " (%llu times)", (unsigned long long)x->count);
  strcat(out, "\n");
  write_line(out, &x->place);
  for (const tk_finding_note *k = x->notes; k; k = k->next) {
    strcat(out, "  note: ");
    write_place(out, &k->place);
    sprintf(out + strlen(out), "%s\n", k->text);
    write_line(out, &k->place);
  }
  if (x->help) sprintf(out + strlen(out), "  help: %s\n", x->help);
}

START_TEST(texts_say_what_the_structs_say) {
  static const char *const names[] = {"outside", "races", "undefined"};
  for (size_t i = 0; i < 3; i++) {
    fixture f;
    char text[1 << 14] = "";
    const tk_finding *x;
    run(&f, names[i], 2);
    for (size_t k = 0; (x = tk_report_finding(f.s, k)); k++) {
      char line[2100];
      write_finding(text, x);
      snprintf(line, sizeof line, "{\"kind\": \"%s\", \"severity\": \"%s\", ",
               tk_finding_kind_name(x->kind), tk_severity_name(x->severity));
      ck_assert_ptr_nonnull(strstr(tk_report_json(f.s), line));
    }
    ck_assert_str_eq(text, tk_report(f.s, false));
    end(&f);
  }
}
END_TEST

START_TEST(kinds_have_names) {
  for (int k = 0; k < TK_FINDING_KINDS; k++)
    ck_assert_ptr_nonnull(tk_finding_kind_name((tk_finding_kind)k));
  ck_assert_str_eq(tk_finding_kind_name(TK_D_BOUNDS), "out-of-bounds");
  ck_assert_int_eq(tk_finding_severity(TK_D_ORDER_NOTE), TK_SEV_NOTE);
  ck_assert_ptr_null(tk_finding_kind_name(TK_FINDING_KINDS));
  ck_assert_str_eq(tk_severity_name(TK_SEV_WARNING), "warning");
  ck_assert_ptr_null(tk_severity_name((tk_severity)7));
}
END_TEST

START_TEST(clearing_drops_them) {
  fixture f;
  run(&f, "races", 2);
  ck_assert_ptr_nonnull(tk_report_finding(f.s, 0));
  ck_assert_ptr_null(tk_report_finding(f.s, tk_report_count(f.s)));
  tk_report_clear(f.s);
  ck_assert_ptr_null(tk_report_finding(f.s, 0));
  end(&f);
}
END_TEST

/* Memory that ends: the one finding that is not allocated. */
typedef struct budget {
  size_t left;
} budget;

static void *spend(void *ud, void *p, size_t old, size_t size) {
  budget *b = ud;
  if (!size) {
    free(p);
    return NULL;
  }
  if (size > old && b->left < size - old) return NULL;
  if (size > old) b->left -= size - old;
  return realloc(p, size);
}

START_TEST(out_of_memory_is_a_finding) {
  budget b = {1 << 20};
  tk_module *m;
  tk_session *s = tk_session_new_with(spend, &b);
  b.left = 0;
  ck_assert_int_eq(tk_module_open(s, "k.py", kernels, sizeof kernels - 1, &m),
                   TK_INTERNAL);
  const tk_finding *x = tk_report_finding(s, 0);
  ck_assert_ptr_nonnull(x);
  ck_assert_uint_eq(tk_report_count(s), 1);
  char text[200] = "";
  write_finding(text, x);
  ck_assert_str_eq(text, tk_report(s, false));
  ck_assert_ptr_null(tk_report_finding(s, 1));
  tk_session_free(s);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("findings");
  TCase *c = tcase_create("findings");
  tcase_add_test(c, an_access_outside);
  tcase_add_test(c, notes_in_order);
  tcase_add_test(c, a_race_has_two_places_and_an_element);
  tcase_add_test(c, a_detectors_finding_names_its_source);
  tcase_add_test(c, detectors_know_the_element);
  tcase_add_test(c, texts_say_what_the_structs_say);
  tcase_add_test(c, kinds_have_names);
  tcase_add_test(c, clearing_drops_them);
  tcase_add_test(c, out_of_memory_is_a_finding);
  suite_add_tcase(s, c);
  return s;
}

int main(void) {
  return run_suite(suite()) != 0;
}
