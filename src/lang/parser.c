/* parser.c - the ground the parser stands on, and its ways in.
 *
 * One function of a file is parsed at a time, under tk_protect: the first
 * error is reported, thrown, and ends that function alone.  Whatever was
 * built by then stays in the arena until the file goes.
 */
#include "file.h"
#include "parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- failing ----------------------------------------------------------- */

/* Without the throw; NULL when the parser is quiet. */
static TK_PRINTF(5, 0) tk_diag *vreport(tkl_parser *p, tk_diag_id id,
                                        tk_span span, const char *help,
                                        const char *fmt, va_list ap) {
  if (p->quiet) return NULL;
  tk_diag *d = tk_diag_vadd(p->env, id, p->src, span, fmt, ap);
  if (help) tk_diag_help(p->env, d, "%s", help);
  return d;
}

static TK_PRINTF(5, 6) tk_diag *report(tkl_parser *p, tk_diag_id id,
                                       tk_span span, const char *help,
                                       const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = vreport(p, id, span, help, fmt, ap);
  va_end(ap);
  return d;
}

void tkl_fail(tkl_parser *p, tk_diag_id id, tk_span span, const char *help,
              const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vreport(p, id, span, help, fmt, ap);
  va_end(ap);
  tk_throw(p->env, TK_FINDING);
}

static tk_diag *say_lexical(tkl_parser *p) {
  static const char *const text[][2] = {
#define LEXERR(id, message, help) {message, help},
#include "token.def"
  };
  const char *const *t = text[p->tok->sub];
  tk_diag_id id =
      p->tok->sub == TKL_BAD_COMPLEX ? TK_D_UNSUPPORTED : TK_D_SYNTAX;
  return report(p, id, tkl_span(p), t[1], "%s", t[0]);
}

static tk_diag *say_unexpected(tkl_parser *p, const char *expected) {
  const tk_token *t = p->tok;
  if (t->kind == TKL_ERROR) return say_lexical(p);
  int n = (int)(t->hi - t->lo);
  const char *what = tkl_tok_text(t->kind);
  if (t->kind == TKL_NAME || t->kind == TKL_INT || t->kind == TKL_FLOAT)
    return report(p, TK_D_SYNTAX, tkl_span(p), expected, "unexpected %s '%.*s'",
                  what, n, p->src->text + t->lo);
  return report(p, TK_D_SYNTAX, tkl_span(p), expected, "unexpected %s", what);
}

void tkl_unexpected(tkl_parser *p, const char *expected) {
  say_unexpected(p, expected);
  tk_throw(p->env, TK_FINDING);
}

void tkl_unsupported(tkl_parser *p, const char *what, const char *help) {
  tkl_fail(p, TK_D_UNSUPPORTED, tkl_span(p), help,
           "%s cannot be used in a kernel", what);
}

void tkl_enter(tkl_parser *p) {
  if (++p->depth > TKL_MAX_DEPTH)
    tkl_fail(p, TK_D_SYNTAX, tkl_span(p),
             "split the code into several statements or functions",
             "nested too deeply");
}

/* ---- tokens ------------------------------------------------------------ */

tk_span tkl_span(const tkl_parser *p) {
  return (tk_span){p->tok->lo, p->tok->hi};
}

void tkl_advance(tkl_parser *p) {
  bool empty = p->tok->kind == TKL_DEDENT || p->tok->kind == TKL_INDENT;
  if (!empty) p->last = p->tok->hi;
  if (p->tok->kind != TKL_EOF) p->tok++;
}

bool tkl_accept(tkl_parser *p, tkl_tok kind) {
  if (p->tok->kind != kind) return false;
  tkl_advance(p);
  return true;
}

void tkl_expect(tkl_parser *p, tkl_tok kind, const char *expected) {
  if (!tkl_accept(p, kind)) tkl_unexpected(p, expected);
}

void tkl_close(tkl_parser *p, tkl_tok kind, tk_span open) {
  if (tkl_accept(p, kind)) return;
  if (p->tok->kind == TKL_ERROR) tkl_unexpected(p, NULL);
  tk_diag *d = say_unexpected(p, NULL);
  if (d) {
    tk_diag_help(p->env, d, "expected ',' or %s", tkl_tok_text(kind));
    tk_diag_note(p->env, d, p->src, open, "the bracket was opened here");
  }
  tk_throw(p->env, TK_FINDING);
}

const char *tkl_take_name(tkl_parser *p, const char *expected) {
  const tk_token *t = p->tok;
  tkl_expect(p, TKL_NAME, expected);
  return tk_arena_strndup(p->arena, p->src->text + t->lo, t->hi - t->lo);
}

/* ---- nodes ------------------------------------------------------------- */

tk_ast *tkl_node(tkl_parser *p, tk_ast_kind kind, uint32_t lo) {
  tk_ast *n = TK_NEW(p->arena, tk_ast);
  n->kind = kind;
  n->span.lo = lo;
  return n;
}

static int max_height(int h, const tk_ast *n) {
  return n && n->height > h ? n->height : h;
}

tk_ast *tkl_measure(tkl_parser *p, tk_ast *n) {
  int h = 0;
  for (size_t i = 0; i < tk_ast_nchildren(n); i++)
    h = max_height(h, tk_ast_child(n, i));
  for (uint32_t i = 0; i < n->ndecorators_; i++)
    h = max_height(h, n->decorators_[i]);
  if (h >= TKL_MAX_HEIGHT)
    tkl_fail(p, TK_D_SYNTAX, n->span,
             "split the expression into several statements",
             "expression has too many parts");
  n->height = (uint16_t)(h + 1);
  return n;
}

tk_ast *tkl_done(tkl_parser *p, tk_ast *n) {
  n->span.hi = p->last;
  return tkl_measure(p, n);
}

void tkl_add(tkl_parser *p, tkl_list *l, tk_ast *n) {
  TK_PUSH(p->arena, l, n);
}

void tkl_take_list(tk_ast *n, const tkl_list *l) {
  n->list_ = l->items;
  n->n_ = (uint32_t)l->n;
}

static int by_name(const void *a, const void *b) {
  const tk_ast *x = *(tk_ast *const *)a, *y = *(tk_ast *const *)b;
  int c = strcmp(x->str_, y->str_);
  return c ? c : (x->span.lo > y->span.lo) - (x->span.lo < y->span.lo);
}

void tkl_check_unique(tkl_parser *p, const tk_ast *n, const char *what) {
  tk_ast **sorted = TK_NEWN(p->arena, tk_ast *, n->n_);
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->n_; i++)
    if (n->list_[i]->str_) sorted[count++] = n->list_[i];
  if (count) qsort(sorted, count, sizeof *sorted, by_name);
  for (uint32_t i = 1; i < count; i++)
    if (strcmp(sorted[i]->str_, sorted[i - 1]->str_) == 0)
      tkl_fail(p, TK_D_SYNTAX, sorted[i]->span, NULL, "%s '%s' given twice",
               what, sorted[i]->str_);
}

/* ---- ways in ----------------------------------------------------------- */

typedef struct job {
  tkl_parser p;
  tk_ast *result;
} job;

static tk_ast *run(tk_env *e, void (*fn)(tk_env *e, void *ud), job *j) {
  tk_status st = tk_protect(e, fn, j);
  if (st != TK_OK && st != TK_FINDING) tk_throw(e, st);
  return st == TK_OK ? j->result : NULL;
}

static void parse_function(tk_env *e, void *ud) {
  (void)e;
  job *j = ud;
  j->result = tkl_function(&j->p);
}

tk_ast *tk_file_func(tk_env *e, tk_file *f, tk_item *item) {
  if (item->kind != TK_ITEM_FUNC || item->bad) return NULL;
  if (item->func) return item->func;
  job j = {.p = {.env = e, .arena = &f->arena, .src = f->src}};
  j.p.tok = f->toks + item->tok_lo;
  item->func = run(e, parse_function, &j);
  item->bad = !item->func;
  return item->func;
}

/* whole_expression = star_expressions NEWLINE? EOF */
static void parse_whole(tk_env *e, void *ud) {
  job *j = ud;
  tkl_parser *p = &j->p;
  size_t n;
  tk_span all = {0, p->src->len};
  p->tok = tkl_lex(p->arena, p->src, all, TKL_LEX_EXPR, &n);
  (void)e;
  tk_ast *x = tkl_star_expressions(p);
  if (p->tok->kind != TKL_EOF)
    tkl_unexpected(p, "expected the end of the expression");
  j->result = x;
}

tk_ast *tk_parse_expr(tk_env *e, tk_arena *a, tk_source *src) {
  job j = {.p = {.env = e, .arena = a, .src = src}};
  return run(e, parse_whole, &j);
}
