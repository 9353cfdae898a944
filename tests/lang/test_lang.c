/* test_lang.c - the lexer, the parser, the printer and the file scanner.
 *
 * Most of it is tables: a source and the tree it must give as an
 * s-expression, or a source and the error it must give with its place.  Every
 * tree of a table is also printed, parsed again and printed again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/file.h"
#include "support/tree.h"
#include "support/suite.h"

typedef struct row {
  const char *source, *want;
} row;

/* ---- running things ---------------------------------------------------- */

typedef struct work {
  const char *text;
  size_t len;
  bool body; /* a function, of which the body is dumped */
  bool print;
  tk_file *file;
  tk_arena arena;
  tk_buf out, diags;
} work;

static void put_diags(tk_env *e, tk_buf *out) {
  for (const tk_diag *d = e->diags; d; d = d->next)
    tk_buf_printf(out, "%s%d:%d: %s: %s%s%s", out->n ? "; " : "",
                  tk_source_line(d->src, d->span.lo),
                  tk_source_col(d->src, d->span.lo),
                  tk_finding_kind_name(d->f.kind), d->f.message,
                  d->f.help ? " | " : "", d->f.help ? d->f.help : "");
}

static void put(work *w, const tk_ast *n, bool function) {
  if (!n) return;
  if (w->print)
    print_tree(&w->out, n);
  else
    dump_tree(&w->out, function ? tk_func_body(n) : n);
}

static void run_work(tk_env *e, void *ud) {
  work *w = ud;
  if (w->body) {
    w->file = tk_file_scan(e, "t.py", w->text, w->len);
    for (size_t i = 0; i < w->file->nitems; i++)
      put(w, tk_file_func(e, w->file, &w->file->items[i]), true);
  } else {
    tk_source *s = tk_source_new(&w->arena, "t", w->text, w->len);
    put(w, tk_parse_expr(e, &w->arena, s), false);
  }
  put_diags(e, &w->diags);
}

static tk_status begin(tk_env *e, work *w) {
  tk_arena_init(&w->arena, e);
  tk_buf_init(&w->out, e);
  tk_buf_init(&w->diags, e);
  return tk_protect(e, run_work, w);
}

static void end(tk_env *e, work *w) {
  tk_diag_clear(e);
  tk_file_free(e, w->file);
  tk_buf_free(&w->out);
  tk_buf_free(&w->diags);
  tk_arena_free(&w->arena);
  ck_assert_uint_eq(e->held, 0);
}

/* The printed form; the caller frees it. */
static char *printed(const char *source, bool body) {
  tk_env e;
  work w = {.text = source, .len = strlen(source), .body = body};
  w.print = true;
  tk_env_init(&e, NULL, NULL);
  ck_assert_int_eq(begin(&e, &w), TK_OK);
  ck_assert_msg(!w.diags.n, "%s\n%s", source, tk_buf_str(&w.diags));
  char *s = malloc(w.out.n + 1);
  memcpy(s, tk_buf_str(&w.out), w.out.n + 1);
  end(&e, &w);
  return s;
}

static void fixpoint(const char *source, bool body) {
  char *one = printed(source, body), *two = printed(one, body);
  ck_assert_str_eq(one, two);
  free(one);
  free(two);
}

static void tree(const row *r, bool body) {
  tk_env e;
  work w = {.text = r->source, .len = strlen(r->source), .body = body};
  tk_env_init(&e, NULL, NULL);
  ck_assert_int_eq(begin(&e, &w), TK_OK);
  ck_assert_msg(!w.diags.n, "%s\n%s", r->source, tk_buf_str(&w.diags));
  ck_assert_msg(strcmp(tk_buf_str(&w.out), r->want) == 0,
                "%s\ngot  %s\nwant %s", r->source, tk_buf_str(&w.out), r->want);
  end(&e, &w);
  fixpoint(r->source, body);
}

static void error(const row *r, bool body) {
  tk_env e;
  work w = {.text = r->source, .len = strlen(r->source), .body = body};
  tk_env_init(&e, NULL, NULL);
  ck_assert_int_eq(begin(&e, &w), TK_OK);
  const char *got = tk_buf_str(&w.diags);
  ck_assert_msg(strncmp(got, r->want, strlen(r->want)) == 0,
                "%s\ngot  %s\nwant %s", r->source, got, r->want);
  ck_assert_uint_eq(e.ndiags, 1);
  end(&e, &w);
}

/* ---- expressions ------------------------------------------------------- */

static const row expressions[] = {
#include "expressions.inc"
};

static const row bodies[] = {
#include "statements.inc"
};

static const row expression_errors[] = {
#include "expression_errors.inc"
};

static const row function_errors[] = {
#include "function_errors.inc"
};

START_TEST(test_expression) {
  tree(&expressions[_i], false);
}
END_TEST

START_TEST(test_body) {
  tree(&bodies[_i], true);
}
END_TEST

START_TEST(test_expression_error) {
  error(&expression_errors[_i], false);
}
END_TEST

START_TEST(test_function_error) {
  error(&function_errors[_i], true);
}
END_TEST

START_TEST(test_print) {
  static const row rows[] = {
      {"-x**2", "-x ** 2"},
      {"(-x)**2", "(-x) ** 2"},
      {"a if b else(c)", "a if b else (c)"},
      {"x [ :,None ]", "x[:, None]"},
      {"f(a,*b,k=1,**c)", "f(a, *b, k=1, **c)"},
      {"lambda x,*,y=1:x", "lambda x, *, y=1: x"},
      {"'it\\'s' '\"'", "\"it's\\\"\""},
      {"f'{x[\"a\"]:>{w}}'", "f'{x[\"a\"]:>{w}}'"},
      {"(1).real", "(1).real"},
      {"not(a)in b", "not (a) in b"},
      {"(a,)", "(a,)"},
      {"a,", "a,"},
      {"()", "()"},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    char *s = printed(rows[i].source, false);
    ck_assert_str_eq(s, rows[i].want);
    free(s);
  }
}
END_TEST

START_TEST(test_names) {
  ck_assert_str_eq(tk_ast_name(TK_AST_NAME), "name");
  ck_assert_str_eq(tk_ast_name(TK_AST_PARAM), "parameter");
  ck_assert_str_eq(tk_operator_text(TK_OP_NOTIN), "not in");
  ck_assert_str_eq(tk_operator_dunder(TK_OP_MATMUL), "matmul");
}
END_TEST

/* ---- values ------------------------------------------------------------ */

static tk_ast *parse(tk_env *e, tk_arena *a, const char *s) {
  return tk_parse_expr(e, a, tk_source_new(a, "t", s, strlen(s)));
}

START_TEST(test_numbers) {
  tk_env e;
  tk_arena a;
  tk_env_init(&e, NULL, NULL);
  tk_arena_init(&a, &e);
  ck_assert_int_eq((int)tk_int_value(parse(&e, &a, "0x1F")), 31);
  ck_assert_int_eq((int)tk_int_value(parse(&e, &a, "0b1_01")), 5);
  ck_assert_int_eq((int)tk_int_value(parse(&e, &a, "0O17")), 15);
  ck_assert_int_eq((int)tk_int_value(parse(&e, &a, "1_000")), 1000);
  ck_assert_int_eq((int)tk_int_value(parse(&e, &a, "00")), 0);
  tk_int big = tk_int_value(parse(&e, &a, "0xffff_ffff_ffff_ffff"));
  ck_assert(big == (tk_int)UINT64_MAX);
  big = tk_int_value(parse(&e, &a, "170141183460469231731687303715884105727"));
  ck_assert(big > 0 && (big & 0xff) == 0xff && big >> 126 == 1);
  ck_assert(tk_float_value(parse(&e, &a, "1_0.5e-1_0")) == 10.5e-10);
  ck_assert(tk_float_value(parse(&e, &a, ".5")) == 0.5);
  ck_assert(tk_float_value(parse(&e, &a, "5.")) == 5.0);
  ck_assert(tk_float_value(parse(&e, &a, "007.5")) == 7.5);
  ck_assert(tk_float_value(parse(&e, &a, "1E5")) == 1e5);
  ck_assert(tk_float_value(parse(&e, &a, "1e999")) > 1e308);
  tk_arena_free(&a);
}
END_TEST

START_TEST(test_strings) {
  static const struct {
    const char *source, *want;
    size_t len;
  } rows[] = {
      {"'\\x41\\u00e9\\U0001F600'", "A\xc3\xa9\xf0\x9f\x98\x80", 7},
      {"'a\\0b'", "a\0b", 3},
      {"'\\101\\7'", "A\a", 2},
      {"r'\\n\\''", "\\n\\'", 4},
      {"'\\q'", "\\q", 2},
      {"'a' \"b\" '''c\n'''", "abc\n", 4},
      {"'a\\\n b'", "a b", 3},
      {"'''a\r\nb\rc'''", "a\nb\nc", 5},
      {"b'\\xff'", "\xff", 1},
      {"Rb'\\x'", "\\x", 2},
      {"u''", "", 0},
      {"'\xc3\xa9'", "\xc3\xa9", 2},
  };
  tk_env e;
  tk_arena a;
  tk_env_init(&e, NULL, NULL);
  tk_arena_init(&a, &e);
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    tk_ast *n = parse(&e, &a, rows[i].source);
    ck_assert_ptr_nonnull(n);
    ck_assert_int_eq(n->kind, TK_AST_STR);
    ck_assert_uint_eq(tk_str_length(n), rows[i].len);
    ck_assert_mem_eq(tk_str_text(n), rows[i].want, rows[i].len);
  }
  tk_arena_free(&a);
}
END_TEST

START_TEST(test_spans) {
  tk_env e;
  tk_arena a;
  tk_env_init(&e, NULL, NULL);
  tk_arena_init(&a, &e);
  tk_ast *n = parse(&e, &a, "(a + b) * tl.load(p, f'{q}')");
  ck_assert_uint_eq(n->span.lo, 0);
  ck_assert_uint_eq(n->span.hi, 28);
  const tk_ast *sum = tk_binop_left(n), *call = tk_binop_right(n);
  ck_assert(sum->paren);
  ck_assert_uint_eq(sum->span.lo, 1);
  ck_assert_uint_eq(sum->span.hi, 6);
  tk_span name = tk_attr_name_span(tk_call_function(call));
  ck_assert_uint_eq(name.lo, 13);
  ck_assert_uint_eq(name.hi, 17);
  const tk_ast *field = tk_fstr_part(tk_arg_value(tk_call_arg(call, 1)), 0);
  ck_assert_uint_eq(tk_fmt_value(field)->span.lo, 24);
  ck_assert_uint_eq(tk_fmt_value(field)->span.hi, 25);
  ck_assert_uint_eq(n->height, 6);
  tk_arena_free(&a);
}
END_TEST

START_TEST(test_function_node) {
  static const char text[] = "import x\n"
                             "@triton.autotune(configs=[{'a': 1}])\n"
                             "@triton.jit\n"
                             "def f(a, /, b: int = 1, *, c, **d) -> z:\n"
                             "  if a:\n"
                             "    b = 1  # c\n"
                             "\n"
                             "x = 1\n";
  tk_env e;
  tk_env_init(&e, NULL, NULL);
  tk_file *f = tk_file_scan(&e, "t.py", text, strlen(text));
  tk_item *item = &f->items[1];
  tk_ast *n = tk_file_func(&e, f, item);
  ck_assert_ptr_nonnull(n);
  ck_assert_ptr_eq(tk_file_func(&e, f, item), n);
  ck_assert_ptr_null(tk_file_func(&e, f, &f->items[0]));
  ck_assert_uint_eq(tk_func_nparams(n), 4);
  ck_assert_uint_eq(tk_param_passing(tk_func_param(n, 2)), TK_PARAM_KEYWORD);
  ck_assert_uint_eq(tk_param_passing(tk_func_param(n, 3)), TK_PARAM_KEYWORDS);
  ck_assert_uint_eq(tk_func_ndecorators(n), 2);
  const tk_ast *first = tk_func_decorator(n, 0);
  ck_assert_int_eq(first->kind, TK_AST_CALL);
  ck_assert_str_eq(tk_attr_name(tk_call_function(first)), "autotune");
  ck_assert_str_eq(tk_attr_name(tk_func_decorator(n, 1)), "jit");
  ck_assert_int_eq(tk_source_line(f->src, n->span.lo), 4);
  ck_assert_int_eq(tk_source_line(f->src, n->span.hi), 4);
  ck_assert_int_eq(tk_source_line(f->src, tk_func_body(n)->span.lo), 5);
  ck_assert_int_eq(tk_source_line(f->src, tk_func_body(n)->span.hi), 6);
  tk_span name = tk_func_name_span(n);
  ck_assert_uint_eq(name.hi - name.lo, 1);
  tk_file_free(&e, f);
  ck_assert_uint_eq(e.held, 0);
}
END_TEST

/* ---- files ------------------------------------------------------------- */

static void put_item(tk_buf *out, const tk_item *i) {
  static const char *const kinds[] = {"func", "assign", "import", "class"};
  tk_buf_printf(out, "%s%s %s %d:%d-%d", out->n ? "; " : "", kinds[i->kind],
                i->name, i->depth, i->first_line, i->line);
  if (i->text) tk_buf_printf(out, " in text %d", i->text);
  if (i->jit) tk_buf_puts(out, " jit");
  if (i->target) tk_buf_printf(out, " %s", i->target);
  if (i->annotation) dump_tree(out, i->annotation);
  if (i->value) dump_tree(out, i->value);
}

static void scans(const char *text, const char *want) {
  tk_env e;
  tk_buf out;
  tk_env_init(&e, NULL, NULL);
  tk_buf_init(&out, &e);
  tk_file *f = tk_file_scan(&e, "t.py", text, strlen(text));
  for (size_t i = 0; i < f->nitems; i++) put_item(&out, &f->items[i]);
  ck_assert_msg(strcmp(tk_buf_str(&out), want) == 0, "%s\ngot  %s\nwant %s",
                text, tk_buf_str(&out), want);
  ck_assert_uint_eq(e.ndiags, 0);
  tk_file_free(&e, f);
  tk_buf_free(&out);
  ck_assert_uint_eq(e.held, 0);
}

static const row files[] = {
#include "scan.inc"
};

START_TEST(test_scan) {
  scans(files[_i].source, files[_i].want);
}
END_TEST

/* An error stays in its function. */
START_TEST(test_isolation) {
  static const char text[] = "@jit\ndef a(:\n  pass\n"
                             "@jit\ndef b():\n  x = (1, [2\n"
                             "@jit\ndef c():\n  s = 'open\n"
                             "@jit\ndef d():\n  '''never closed\n  x\n"
                             "@jit\ndef e():\n  return 1\n";
  tk_env e;
  tk_env_init(&e, NULL, NULL);
  tk_file *f = tk_file_scan(&e, "t.py", text, strlen(text));
  ck_assert_uint_eq(f->nitems, 5);
  for (size_t i = 0; i < 5; i++) {
    ck_assert(f->items[i].jit);
    tk_ast *n = tk_file_func(&e, f, &f->items[i]);
    ck_assert_int_eq(n != NULL, i == 4);
    ck_assert_int_eq(f->items[i].bad, i != 4);
  }
  ck_assert_uint_eq(e.ndiags, 4);
  ck_assert_ptr_null(tk_file_func(&e, f, &f->items[0]));
  ck_assert_uint_eq(e.ndiags, 4);
  tk_diag_clear(&e);
  tk_file_free(&e, f);
  ck_assert_uint_eq(e.held, 0);
}
END_TEST

START_TEST(test_bracket_note) {
  static const char text[] = "x = tl.load(p,\n  y z";
  tk_env e;
  tk_arena a;
  tk_env_init(&e, NULL, NULL);
  tk_arena_init(&a, &e);
  ck_assert_ptr_null(parse(&e, &a, text + 4));
  ck_assert_ptr_nonnull(e.diags->f.notes);
  ck_assert_uint_eq(tk_diag_notes(e.diags)->span.lo, 7);
  ck_assert_str_eq(e.diags->f.help, "expected ',' or ')'");
  tk_diag_clear(&e);
  tk_arena_free(&a);
}
END_TEST

/* ---- hostile input ----------------------------------------------------- */

static void repeat(char *to, const char *what, size_t times) {
  size_t n = strlen(what);
  for (size_t i = 0; i < times; i++) memcpy(to + i * n, what, n);
  to[n * times] = 0;
}

START_TEST(test_deep) {
  static const row rows[] = {
      {"(", "nested too deeply"},
      {"[", "nested too deeply"},
      {"f(", "nested too deeply"},
      {"x[", "nested too deeply"},
      {"-", "nested too deeply"},
      {"not ", "nested too deeply"},
      {"lambda:", "nested too deeply"},
      {"1**", "nested too deeply"},
      {"1 if 1 else ", "nested too deeply"},
      {"1+", "expression has too many parts"},
      {"x.", "expression has too many parts"},
      {"x()()()", NULL},
  };
  tk_env e;
  tk_env_init(&e, NULL, NULL);
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    tk_arena a;
    tk_arena_init(&a, &e);
    char *s = malloc(200000);
    repeat(s, rows[i].source, 10000);
    ck_assert_ptr_null(parse(&e, &a, s));
    if (rows[i].want) ck_assert_str_eq(e.diags->f.message, rows[i].want);
    tk_diag_clear(&e);
    tk_arena_free(&a);
    free(s);
  }
  ck_assert_uint_eq(e.held, 0);
}
END_TEST

START_TEST(test_deep_blocks) {
  tk_env e;
  tk_buf b;
  tk_env_init(&e, NULL, NULL);
  tk_buf_init(&b, &e);
  tk_buf_puts(&b, "def f():\n");
  for (size_t i = 1; i < 400; i++) {
    tk_buf_pad(&b, ' ', i);
    tk_buf_puts(&b, "if x:\n");
  }
  tk_buf_pad(&b, ' ', 400);
  tk_buf_puts(&b, "pass\n\ndef g():\n  pass\n");
  tk_file *f = tk_file_scan(&e, "t.py", b.s, b.n);
  ck_assert_uint_eq(f->nitems, 2);
  ck_assert_ptr_null(tk_file_func(&e, f, &f->items[0]));
  ck_assert_str_eq(e.diags->f.message, "nested too deeply");
  ck_assert_ptr_nonnull(tk_file_func(&e, f, &f->items[1]));
  tk_diag_clear(&e);
  tk_file_free(&e, f);
  tk_buf_free(&b);
}
END_TEST

/* ---- memory ------------------------------------------------------------ */

typedef struct counting {
  long left; /* allocations until one fails */
  long live;
} counting;

static void *count_alloc(void *ud, void *p, size_t old, size_t size) {
  counting *c = ud;
  (void)old;
  if (!size) {
    c->live -= p != NULL;
    free(p);
    return NULL;
  }
  if (c->left-- == 0) return NULL;
  c->live += p == NULL;
  return realloc(p, size);
}

static const char everything[] =
    "import triton.language as tl\n"
    "A: tl.constexpr = [1, f'{x!r:>{w}}', {}]\n"
    "B = C = (1, 'two')\n"
    "@autotune({})\n@triton.jit\n"
    "def f(p, *, n: tl.constexpr = 1):\n"
    "  '''doc'''\n"
    "  x = tl.load(p + tl.arange(0, 4)[:, None], mask=a < b <= c)\n"
    "  if n > 1: return x, 1\n"
    "  elif not n:\n    raise ValueError\n"
    "  for i in range(10):\n    x += -i ** 2 if i else lambda q: q\n"
    "@jit\ndef g():\n  x = (1,\n  y z)\n";

/* Fails the n-th allocation for every n, until none is left to fail. */
START_TEST(test_out_of_memory) {
  long n = 0;
  bool body = _i != 2;
  const char *text = body ? everything : "f'{x[0]!r}' + [1, (2, y)][z]";
  for (;; n++) {
    counting c = {.left = n};
    tk_env e;
    work w = {.text = text, .len = strlen(text), .body = body};
    w.print = _i == 1;
    tk_env_init(&e, count_alloc, &c);
    tk_status st = begin(&e, &w);
    bool failed = c.left < 0;
    ck_assert_int_eq(st, failed ? TK_INTERNAL : TK_OK);
    c.left = 1000;
    end(&e, &w);
    ck_assert_int_eq(c.live, 0);
    if (!failed) break;
  }
  ck_assert_int_gt(n, 3);
}
END_TEST

/* ---- all of them ------------------------------------------------------- */

static Suite *suite(void) {
  Suite *s = suite_create("lang");
  TCase *t = tcase_create("tables");
  tcase_add_loop_test(t, test_expression, 0, TK_COUNT(expressions));
  tcase_add_loop_test(t, test_body, 0, TK_COUNT(bodies));
  tcase_add_loop_test(t, test_expression_error, 0, TK_COUNT(expression_errors));
  tcase_add_loop_test(t, test_function_error, 0, TK_COUNT(function_errors));
  tcase_add_loop_test(t, test_scan, 0, TK_COUNT(files));
  suite_add_tcase(s, t);
  t = tcase_create("rest");
  tcase_add_test(t, test_print);
  tcase_add_test(t, test_names);
  tcase_add_test(t, test_numbers);
  tcase_add_test(t, test_strings);
  tcase_add_test(t, test_spans);
  tcase_add_test(t, test_function_node);
  tcase_add_test(t, test_isolation);
  tcase_add_test(t, test_bracket_note);
  tcase_add_test(t, test_deep);
  tcase_add_test(t, test_deep_blocks);
  tcase_add_loop_test(t, test_out_of_memory, 0, 3);
  suite_add_tcase(s, t);
  return s;
}

int main(void) {
  return run_suite(suite()) != 0;
}
