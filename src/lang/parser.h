/* parser.h - what the files of the parser share.
 *
 * A parser reads one array of tokens into nodes of one arena.  It fails by
 * tkl_fail, which throws; so every function here returns a whole node or
 * does not return.
 */
#ifndef TK_LANG_PARSER_H
#define TK_LANG_PARSER_H

#include "ast.h"
#include "token.h"

enum {
  TKL_MAX_DEPTH = 200,   /* nesting of brackets, blocks, prefix operators */
  TKL_MAX_HEIGHT = 1000, /* of a tree, so that walkers may recurse */
};

typedef struct tkl_parser {
  tk_env *env;
  tk_arena *arena;
  const tk_source *src;
  const tk_token *tok; /* the next one; never past EOF */
  uint32_t last;       /* where the token before it ended */
  int depth;
  int fields; /* how many f-string fields we are in */
  bool quiet; /* throw without a diagnostic */
} tkl_parser;

typedef TK_VEC(tk_ast *) tkl_list;

/* ---- parser.c: tokens, nodes, failing ---------------------------------- */

/* Reports and throws.  help says what was expected; NULL for none. */
void tkl_fail(tkl_parser *p, tk_diag_id id, tk_span span, const char *help,
              const char *fmt, ...) TK_NORETURN TK_PRINTF(5, 6);
/* "unexpected <token>", or what is wrong with an ERROR token. */
void tkl_unexpected(tkl_parser *p, const char *expected) TK_NORETURN;
/* A form of Python that kernels do not have, at the next token. */
void tkl_unsupported(tkl_parser *p, const char *what,
                     const char *help) TK_NORETURN;

void tkl_advance(tkl_parser *p);
bool tkl_accept(tkl_parser *p, tkl_tok kind);
void tkl_expect(tkl_parser *p, tkl_tok kind, const char *expected);
/* Expects the bracket that closes `open`, and shows `open` if it is not
 * there. */
void tkl_close(tkl_parser *p, tkl_tok kind, tk_span open);
tk_span tkl_span(const tkl_parser *p); /* of the next token */
/* Takes a NAME; `what` is what a message calls it. */
const char *tkl_take_name(tkl_parser *p, const char *expected);

void tkl_enter(tkl_parser *p); /* one level deeper; p->depth-- to leave */

/* A node that starts at byte lo; tkl_done ends it at the last token and
 * tkl_measure, which tkl_done includes, works out its height. */
tk_ast *tkl_node(tkl_parser *p, tk_ast_kind kind, uint32_t lo);
tk_ast *tkl_done(tkl_parser *p, tk_ast *n);
tk_ast *tkl_measure(tkl_parser *p, tk_ast *n);
void tkl_add(tkl_parser *p, tkl_list *l, tk_ast *n);
void tkl_take_list(tk_ast *n, const tkl_list *l);
/* Fails if two nodes of the list have the same str_. */
void tkl_check_unique(tkl_parser *p, const tk_ast *n, const char *what);

/* ---- parse_expr.c ------------------------------------------------------ */

tk_ast *tkl_star_expressions(tkl_parser *p); /* a, *b, c */
tk_ast *tkl_named_expression(tkl_parser *p); /* a := b */
tk_ast *tkl_expression(tkl_parser *p);
tk_ast *tkl_target_list(tkl_parser *p); /* what comes after "for" */
void tkl_check_target(tkl_parser *p, const tk_ast *n);
void tkl_parameters(tkl_parser *p, tk_ast *func, tkl_tok closer);

/* ---- parse_literal.c --------------------------------------------------- */

tk_ast *tkl_number(tkl_parser *p);
tk_ast *tkl_strings(tkl_parser *p);

/* ---- parse_stmt.c ------------------------------------------------------ */

tk_ast *tkl_function(tkl_parser *p);

#endif
