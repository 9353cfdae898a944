/* test_text.c - texts of any length: in arenas, buffers and diagnostics.
 *
 * Each is made with every allocation failing in turn as well: it fails by a
 * throw, and what was allocated is freed.
 */
#include <stdarg.h>
#include <string.h>

#include "base/diag.h"
#include "support/failing_heap.h"
#include "support/suite.h"

enum { LONG = 70000 };

/* Bounds that arrays for texts have had, and their neighbours. */
static const size_t lengths[] = {0,   1,   63,   64,   255,  256,  257,
                                 511, 512, 1023, 1024, 2047, 2048, LONG};

static char letters[LONG + 1];

static const char *text_of(size_t n) {
  return letters + LONG - n;
}

static void fill_letters(void) {
  for (size_t i = 0; i < LONG; i++) letters[i] = (char)('a' + i % 26);
}

/* ---- by a va_list -------------------------------------------------------- */

static char *in_arena(tk_arena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *s = tk_arena_vprintf(a, fmt, ap);
  va_end(ap);
  return s;
}

static void in_buffer(tk_buf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_buf_vprintf(b, fmt, ap);
  va_end(ap);
}

static tk_diag *about(tk_env *e, const char *name, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = tk_diag_vabout(e, TK_D_FILE, name, fmt, ap);
  va_end(ap);
  return d;
}

static void note(tk_env *e, tk_diag *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag_vnote(e, d, NULL, (tk_span){0, 0}, fmt, ap);
  va_end(ap);
}

static void help(tk_env *e, tk_diag *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag_vhelp(e, d, fmt, ap);
  va_end(ap);
}

/* ---- with all of the memory, and with less ------------------------------- */

typedef struct trial {
  size_t n; /* bytes of the text */
  tk_arena arena;
  tk_buf buf;
} trial;

static void is_whole(const char *s, const char *before, size_t n,
                     const char *after) {
  size_t k = strlen(before);
  ck_assert_uint_eq(strlen(s), k + n + strlen(after));
  ck_assert(!memcmp(s, before, k) && !memcmp(s + k, text_of(n), n));
  ck_assert_str_eq(s + k + n, after);
}

static void make_texts(tk_env *e, void *ud) {
  trial *t = ud;
  const char *s = text_of(t->n);
  is_whole(in_arena(&t->arena, "<%s>%d", s, 7), "<", t->n, ">7");
  in_buffer(&t->buf, "%d", 42);
  in_buffer(&t->buf, "[%s]", s);
  is_whole(tk_buf_str(&t->buf), "42[", t->n, "]");
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0}, "%s!", s);
  is_whole(d->f.message, "", t->n, "!");
  d = about(e, "a.npy", "%s?", s);
  is_whole(d->f.message, "a.npy: ", t->n, "?");
  note(e, d, "(%s)", s);
  is_whole(d->f.notes->text, "(", t->n, ")");
  help(e, d, "{%s}", s);
  is_whole(d->f.help, "{", t->n, "}");
}

/* Whether memory sufficed; whatever came of it, all of it is free again. */
static bool made(size_t n, long left) {
  failing_heap heap = {.left = left};
  tk_env e;
  tk_env_init(&e, failing_heap_resize, &heap);
  trial t = {.n = n};
  tk_arena_init(&t.arena, &e);
  tk_buf_init(&t.buf, &e);
  tk_status st = tk_protect(&e, make_texts, &t);
  ck_assert(st == TK_OK || st == TK_INTERNAL);
  tk_arena_free(&t.arena);
  tk_buf_free(&t.buf);
  tk_diag_clear(&e);
  ck_assert_int_eq(heap.live, 0);
  ck_assert_uint_eq(e.held, 0);
  return st == TK_OK;
}

START_TEST(texts_are_whole) {
  ck_assert(made(lengths[_i], 1000));
}
END_TEST

START_TEST(memory_may_run_out_anywhere) {
  long left = 0;
  while (!made(lengths[_i], left)) ck_assert_int_lt(left++, 100);
  ck_assert_int_gt(left, 3);
}
END_TEST

int main(void) {
  fill_letters();
  Suite *s = suite_create("text");
  TCase *t = tcase_create("lengths");
  int n = (int)(sizeof lengths / sizeof *lengths);
  tcase_add_loop_test(t, texts_are_whole, 0, n);
  tcase_add_loop_test(t, memory_may_run_out_anywhere, 0, n);
  suite_add_tcase(s, t);
  return run_suite(s) != 0;
}
