/* fuzz_parse.c - any bytes, read as a file and as an expression.
 *
 * Build with clang -fsanitize=fuzzer,address,undefined and every file of
 * src/lang and src/base.  Besides not crashing and not leaking, what parses
 * must print to something that parses, and prints the same again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/file.h"
#include "support/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
  const char *text;
  size_t len;
} input;

static void check(bool ok, const char *what, const char *a, const char *b) {
  if (ok) return;
  fprintf(stderr, "%s\n--- first\n%s\n--- second\n%s\n", what, a, b);
  abort();
}

/* print(parse(print(tree))) is print(tree). */
static void round_trip(tk_env *e, const tk_ast *n, bool function) {
  tk_arena a;
  tk_buf one, two;
  tk_ast *again;
  tk_file *f = NULL;
  tk_arena_init(&a, e);
  tk_buf_init(&one, e);
  tk_buf_init(&two, e);
  print_tree(&one, n);
  if (function) {
    f = tk_file_scan(e, "again", tk_buf_str(&one), one.n);
    again = f->nitems ? tk_file_func(e, f, &f->items[0]) : NULL;
  } else {
    tk_source *s = tk_source_new(&a, "again", tk_buf_str(&one), one.n);
    again = tk_parse_expr(e, &a, s);
  }
  check(again != NULL, "printed text does not parse", tk_buf_str(&one), "");
  print_tree(&two, again);
  check(strcmp(tk_buf_str(&one), tk_buf_str(&two)) == 0,
        "printing is not stable", tk_buf_str(&one), tk_buf_str(&two));
  tk_file_free(e, f);
  tk_buf_free(&one);
  tk_buf_free(&two);
  tk_arena_free(&a);
}

static void dump(tk_env *e, const tk_ast *n) {
  tk_buf b;
  tk_buf_init(&b, e);
  dump_tree(&b, n);
  tk_buf_free(&b);
}

static void check_diags(tk_env *e) {
  for (tk_diag *d = e->diags; d; d = d->next) {
    if (!*d->f.message) abort();
    if (d->src && (d->span.lo > d->span.hi || d->span.hi > d->src->len))
      abort();
  }
}

static void as_file(tk_env *e, void *ud) {
  input *in = ud;
  tk_file *f = tk_file_scan(e, "fuzz.py", in->text, in->len);
  for (size_t i = 0; i < f->nitems; i++) {
    tk_item *item = &f->items[i];
    if (item->tok_hi > f->ntoks || item->tok_lo > item->tok_hi) abort();
    if (item->value) dump(e, item->value);
    tk_ast *n = tk_file_func(e, f, item);
    if (n) dump(e, n);
    check_diags(e);
    tk_diag_clear(e);
    if (n) round_trip(e, n, true);
  }
  tk_file_free(e, f);
}

static void as_expression(tk_env *e, void *ud) {
  input *in = ud;
  tk_arena a;
  tk_arena_init(&a, e);
  tk_source *s = tk_source_new(&a, "fuzz", in->text, in->len);
  tk_ast *n = tk_parse_expr(e, &a, s);
  check_diags(e);
  tk_diag_clear(e);
  if (n) dump(e, n);
  if (n) round_trip(e, n, false);
  tk_arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  void (*const ways[])(tk_env *, void *) = {as_file, as_expression};
  input in = {(const char *)data, size};
  for (size_t i = 0; i < TK_COUNT(ways); i++) {
    tk_env e;
    tk_env_init(&e, NULL, NULL);
    if (tk_protect(&e, ways[i], &in) != TK_OK) abort();
    tk_diag_clear(&e);
    if (e.held) abort();
  }
  return 0;
}
