/* parse_stmt.c - statements and functions, by recursive descent.
 *
 * A statement that kernels do not have is not an error here: Python's name for
 * it goes into an UNSUPPORTED node and its block is skipped, because it may
 * be in a branch that specialisation removes.
 *
 * The span of a compound statement is its header; the span of a BLOCK is that
 * of all its statements.
 */
#include "parser.h"

#include <string.h>

static tk_ast *block(tkl_parser *p, const char *what);
static void statement(tkl_parser *p, tkl_list *out);

/* ---- statements that are skipped --------------------------------------- */

static void skip_block(tkl_parser *p) {
  int depth = 0;
  do {
    if (p->tok->kind == TKL_INDENT) depth++;
    if (p->tok->kind == TKL_DEDENT) depth--;
    tkl_advance(p);
  } while (depth > 0);
}

static void skip_to(tkl_parser *p, bool semi) {
  while (p->tok->kind != TKL_NEWLINE && p->tok->kind != TKL_EOF) {
    if (semi && p->tok->kind == TKL_SEMI) break;
    tkl_advance(p);
  }
}

static void skip_compound(tkl_parser *p) {
  skip_to(p, false);
  tkl_accept(p, TKL_NEWLINE);
  if (p->tok->kind == TKL_INDENT) skip_block(p);
}

static tk_ast *unsupported(tkl_parser *p, const char *name) {
  tk_ast *n = tkl_node(p, TK_AST_UNSUPPORTED, p->tok->lo);
  n->str_ = name;
  n->len_ = strlen(name);
  return n;
}

static bool continues_try(const tkl_parser *p) {
  int k = p->tok->kind;
  return k == TKL_KW_EXCEPT || k == TKL_KW_ELSE || k == TKL_KW_FINALLY;
}

/* A compound statement; `name` is Python's. */
static tk_ast *skipped_block(tkl_parser *p, const char *name) {
  tk_ast *n = unsupported(p, name);
  bool is_try = p->tok->kind == TKL_KW_TRY;
  bool loop = p->tok->kind == TKL_KW_ASYNC;
  skip_to(p, false);
  tkl_done(p, n);
  skip_compound(p);
  while (is_try && continues_try(p)) skip_compound(p);
  if (loop && p->tok->kind == TKL_KW_ELSE) skip_compound(p);
  return n;
}

/* A simple statement. */
static tk_ast *skipped(tkl_parser *p, const char *name) {
  tk_ast *n = unsupported(p, name);
  skip_to(p, true);
  return tkl_done(p, n);
}

/* decorated = ("@" ... NEWLINE)+ ("def" | "class" | "async") ... */
static tk_ast *skipped_decorated(tkl_parser *p) {
  tk_ast *n = unsupported(p, "FunctionDef");
  while (p->tok->kind == TKL_AT) {
    skip_to(p, false);
    tkl_accept(p, TKL_NEWLINE);
  }
  if (p->tok->kind == TKL_KW_CLASS) n->str_ = "ClassDef";
  if (p->tok->kind == TKL_KW_ASYNC) n->str_ = "AsyncFunctionDef";
  n->len_ = strlen(n->str_);
  skip_to(p, false);
  tkl_done(p, n);
  skip_compound(p);
  return n;
}

static const char *async_name(const tkl_parser *p) {
  switch (p->tok[1].kind) {
  case TKL_KW_FOR: return "AsyncFor";
  case TKL_KW_WITH: return "AsyncWith";
  default: return "AsyncFunctionDef";
  }
}

static bool at_word(const tkl_parser *p, const char *word) {
  const tk_token *t = p->tok;
  size_t n = strlen(word);
  return t->kind == TKL_NAME && t->hi - t->lo == n &&
         memcmp(p->src->text + t->lo, word, n) == 0;
}

/* "match" is a word only where a block of cases follows. */
static bool at_match(const tkl_parser *p) {
  if (!at_word(p, "match")) return false;
  tkl_parser ahead = *p;
  skip_to(&ahead, false);
  if (ahead.tok[-1].kind != TKL_COLON) return false;
  tkl_accept(&ahead, TKL_NEWLINE);
  return tkl_accept(&ahead, TKL_INDENT) && at_word(&ahead, "case");
}

/* ---- simple statements ------------------------------------------------- */

static bool augmented(tkl_tok kind, tk_operator *op) {
  switch (kind) {
  case TKL_ADD_EQ: *op = TK_OP_ADD; return true;
  case TKL_SUB_EQ: *op = TK_OP_SUB; return true;
  case TKL_MUL_EQ: *op = TK_OP_MUL; return true;
  case TKL_DIV_EQ: *op = TK_OP_DIV; return true;
  case TKL_FLOORDIV_EQ: *op = TK_OP_FLOORDIV; return true;
  case TKL_MOD_EQ: *op = TK_OP_MOD; return true;
  case TKL_POW_EQ: *op = TK_OP_POW; return true;
  case TKL_MATMUL_EQ: *op = TK_OP_MATMUL; return true;
  case TKL_SHL_EQ: *op = TK_OP_SHL; return true;
  case TKL_SHR_EQ: *op = TK_OP_SHR; return true;
  case TKL_AND_EQ: *op = TK_OP_BITAND; return true;
  case TKL_OR_EQ: *op = TK_OP_BITOR; return true;
  case TKL_XOR_EQ: *op = TK_OP_BITXOR; return true;
  default: return false;
  }
}

static void check_single_target(tkl_parser *p, const tk_ast *n) {
  if (n->kind == TK_AST_TUPLE || n->kind == TK_AST_LIST)
    tkl_fail(p, TK_D_SYNTAX, n->span, "expected one target",
             "cannot assign to several values here");
  tkl_check_target(p, n);
}

/* assignment = (star_expressions "=")+ star_expressions */
static tk_ast *assignment(tkl_parser *p, tk_ast *n, tk_ast *value) {
  tkl_list l = {0};
  n->kind = TK_AST_ASSIGN;
  while (tkl_accept(p, TKL_ASSIGN)) {
    tkl_check_target(p, value);
    tkl_add(p, &l, value);
    value = tkl_star_expressions(p);
  }
  n->a_ = value;
  tkl_take_list(n, &l);
  return tkl_done(p, n);
}

/* annotated = target ":" expression ("=" star_expressions)? */
static tk_ast *annotated(tkl_parser *p, tk_ast *n, tk_ast *target) {
  n->kind = TK_AST_ANNASSIGN;
  n->a_ = target;
  check_single_target(p, target);
  tkl_advance(p);
  n->b_ = tkl_expression(p);
  if (tkl_accept(p, TKL_ASSIGN)) n->c_ = tkl_star_expressions(p);
  return tkl_done(p, n);
}

/* expression_statement = star_expressions
 *                      | assignment | annotated
 *                      | target AUGOP star_expressions */
static tk_ast *expression_statement(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_EXPR, p->tok->lo);
  tk_ast *first = tkl_star_expressions(p);
  tk_operator op;
  if (p->tok->kind == TKL_ASSIGN) return assignment(p, n, first);
  if (p->tok->kind == TKL_COLON) return annotated(p, n, first);
  n->a_ = first;
  if (augmented(p->tok->kind, &op)) {
    check_single_target(p, first);
    n->kind = TK_AST_AUGASSIGN;
    n->op_ = (uint8_t)op;
    n->tail_ = tkl_span(p);
    tkl_advance(p);
    n->b_ = tkl_star_expressions(p);
  }
  return tkl_done(p, n);
}

static bool at_end(const tkl_parser *p) {
  int k = p->tok->kind;
  return k == TKL_NEWLINE || k == TKL_SEMI || k == TKL_EOF;
}

/* return = "return" star_expressions? */
static tk_ast *return_statement(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_RETURN, p->tok->lo);
  tkl_advance(p);
  if (!at_end(p)) n->a_ = tkl_star_expressions(p);
  return tkl_done(p, n);
}

/* assert = "assert" expression ("," expression)? */
static tk_ast *assert_statement(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_ASSERT, p->tok->lo);
  tkl_advance(p);
  n->a_ = tkl_expression(p);
  if (tkl_accept(p, TKL_COMMA)) n->b_ = tkl_expression(p);
  return tkl_done(p, n);
}

static tk_ast *word(tkl_parser *p, tk_ast_kind kind) {
  tk_ast *n = tkl_node(p, kind, p->tok->lo);
  tkl_advance(p);
  return tkl_done(p, n);
}

/* raise = "raise" (expression ("from" expression)?)? */
static tk_ast *raise_statement(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_RAISE, p->tok->lo);
  tkl_advance(p);
  if (!at_end(p)) n->a_ = tkl_expression(p);
  if (n->a_ && tkl_accept(p, TKL_KW_FROM)) n->b_ = tkl_expression(p);
  return tkl_done(p, n);
}

/* simple_statement = expression_statement | return | assert | raise
 *                  | "pass" | "break" | "continue" | one to skip */
static tk_ast *simple_statement(tkl_parser *p) {
  switch (p->tok->kind) {
  case TKL_KW_RETURN: return return_statement(p);
  case TKL_KW_ASSERT: return assert_statement(p);
  case TKL_KW_PASS: return word(p, TK_AST_PASS);
  case TKL_KW_BREAK: return word(p, TK_AST_BREAK);
  case TKL_KW_CONTINUE: return word(p, TK_AST_CONTINUE);
  case TKL_KW_RAISE: return raise_statement(p);
  case TKL_KW_IMPORT: return skipped(p, "Import");
  case TKL_KW_FROM: return skipped(p, "ImportFrom");
  case TKL_KW_GLOBAL: return skipped(p, "Global");
  case TKL_KW_NONLOCAL: return skipped(p, "Nonlocal");
  case TKL_KW_DEL: return skipped(p, "Delete");
  case TKL_KW_YIELD: return skipped(p, "Yield");
  case TKL_KW_AWAIT: return skipped(p, "Await");
  default: break;
  }
  if (at_word(p, "type") && p->tok[1].kind == TKL_NAME)
    return skipped(p, "TypeAlias");
  return expression_statement(p);
}

/* simple_statements = simple_statement (";" simple_statement)* ";"? NEWLINE */
static void simple_statements(tkl_parser *p, tkl_list *out) {
  do tkl_add(p, out, simple_statement(p));
  while (tkl_accept(p, TKL_SEMI) && p->tok->kind != TKL_NEWLINE);
  tkl_expect(p, TKL_NEWLINE, "expected the end of the statement");
}

/* ---- compound statements ----------------------------------------------- */

/* if = ("if" | "elif") named_expression block (if | "else" block)? */
static tk_ast *if_statement(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_IF, p->tok->lo);
  tkl_enter(p);
  tkl_advance(p);
  n->a_ = tkl_named_expression(p);
  n->span.hi = p->tok->hi;
  n->b_ = block(p, "expected ':' after the condition; to compare use '=='");
  if (p->tok->kind == TKL_KW_ELIF) {
    tkl_list l = {0};
    n->c_ = tkl_node(p, TK_AST_BLOCK, p->tok->lo);
    tkl_add(p, &l, if_statement(p));
    tkl_take_list(n->c_, &l);
    tkl_done(p, n->c_);
  } else if (tkl_accept(p, TKL_KW_ELSE)) {
    n->c_ = block(p, "expected ':' after 'else'");
  }
  p->depth--;
  return tkl_measure(p, n);
}

/* loop_else = ("else" block)? */
static void loop_else(tkl_parser *p, tk_ast *n) {
  if (!tkl_accept(p, TKL_KW_ELSE)) return;
  tk_ast *b = block(p, "expected ':' after 'else'");
  n->list_ = b->list_;
  n->n_ = b->n_;
}

/* for = "for" target_list "in" star_expressions block loop_else */
static tk_ast *for_statement(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_FOR, p->tok->lo);
  tkl_advance(p);
  n->a_ = tkl_target_list(p);
  tkl_expect(p, TKL_KW_IN, "expected 'in' after the loop variable");
  n->b_ = tkl_star_expressions(p);
  n->span.hi = p->tok->hi;
  n->c_ = block(p, "expected ':' after the values of the loop");
  loop_else(p, n);
  return tkl_measure(p, n);
}

/* while = "while" named_expression block loop_else */
static tk_ast *while_statement(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_WHILE, p->tok->lo);
  tkl_advance(p);
  n->a_ = tkl_named_expression(p);
  n->span.hi = p->tok->hi;
  n->c_ = block(p, "expected ':' after the condition; to compare use '=='");
  loop_else(p, n);
  return tkl_measure(p, n);
}

/* with = "with" expression ("as" target)? ("," ... | block)
 * Several contexts make WITH inside WITH, which is what they mean. */
static tk_ast *with_statement(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_WITH, p->tok->lo);
  tkl_enter(p);
  tkl_advance(p);
  n->a_ = tkl_expression(p);
  if (tkl_accept(p, TKL_KW_AS)) {
    n->b_ = tkl_expression(p);
    tkl_check_target(p, n->b_);
  }
  n->span.hi = p->tok->hi;
  if (p->tok->kind == TKL_COMMA) {
    tkl_list l = {0};
    n->c_ = tkl_node(p, TK_AST_BLOCK, p->tok[1].lo);
    tkl_add(p, &l, with_statement(p));
    tkl_take_list(n->c_, &l);
    tkl_done(p, n->c_);
  } else {
    n->c_ = block(p, "expected ':' after the context");
  }
  p->depth--;
  return tkl_measure(p, n);
}

/* compound_statement = if | for | while | with | one to skip
 * NULL when none starts here. */
static tk_ast *compound_statement(tkl_parser *p) {
  switch (p->tok->kind) {
  case TKL_KW_IF: return if_statement(p);
  case TKL_KW_FOR: return for_statement(p);
  case TKL_KW_WHILE: return while_statement(p);
  case TKL_KW_WITH: return with_statement(p);
  case TKL_KW_TRY: return skipped_block(p, "Try");
  case TKL_KW_CLASS: return skipped_block(p, "ClassDef");
  case TKL_KW_DEF: return skipped_block(p, "FunctionDef");
  case TKL_KW_ASYNC: return skipped_block(p, async_name(p));
  case TKL_AT: return skipped_decorated(p);
  default: return at_match(p) ? skipped_block(p, "Match") : NULL;
  }
}

/* statement = compound_statement | simple_statements */
static void statement(tkl_parser *p, tkl_list *out) {
  if (p->tok->kind == TKL_INDENT)
    tkl_unexpected(p, "this line is indented more than the one before it");
  tk_ast *n = compound_statement(p);
  if (n)
    tkl_add(p, out, n);
  else
    simple_statements(p, out);
}

/* block = ":" simple_statements
 *       | ":" NEWLINE INDENT statement+ DEDENT
 * `what` says what is expected where ":" is missing. */
static tk_ast *block(tkl_parser *p, const char *what) {
  tkl_list l = {0};
  tkl_expect(p, TKL_COLON, what);
  tkl_enter(p);
  if (!tkl_accept(p, TKL_NEWLINE)) {
    simple_statements(p, &l);
  } else {
    tkl_expect(p, TKL_INDENT, "expected an indented block");
    do statement(p, &l);
    while (p->tok->kind != TKL_DEDENT && p->tok->kind != TKL_EOF);
    tkl_accept(p, TKL_DEDENT);
  }
  p->depth--;
  tk_ast *n = tkl_node(p, TK_AST_BLOCK, l.items[0]->span.lo);
  tkl_take_list(n, &l);
  n->span.hi = p->last;
  return tkl_measure(p, n);
}

/* ---- functions --------------------------------------------------------- */

typedef struct decorator_job {
  tkl_parser p;
  tk_ast *result;
} decorator_job;

static void parse_decorator(tk_env *e, void *ud) {
  (void)e;
  decorator_job *j = ud;
  j->result = tkl_named_expression(&j->p);
  tkl_expect(&j->p, TKL_NEWLINE, NULL);
}

/* dotted = NAME ("." NAME)* ; NULL when something else is next. */
static tk_ast *dotted(tkl_parser *p) {
  tk_ast *n = NULL;
  uint32_t lo = p->tok->lo;
  while (p->tok->kind == TKL_NAME) {
    tk_ast *outer = tkl_node(p, n ? TK_AST_ATTR : TK_AST_NAME, lo);
    outer->a_ = n;
    outer->tail_ = tkl_span(p);
    outer->str_ = tkl_take_name(p, NULL);
    n = tkl_done(p, outer);
    if (p->tok[1].kind != TKL_NAME || !tkl_accept(p, TKL_DOT)) break;
  }
  return n;
}

/* decorator = named_expression NEWLINE
 * Decorators are host code: one that is not in the subset (they like
 * dictionaries) is skipped, except for its name. */
static tk_ast *decorator(tkl_parser *p) {
  decorator_job j = {.p = *p};
  j.p.quiet = true;
  tk_status st = tk_protect(p->env, parse_decorator, &j);
  if (st == TK_OK) {
    p->tok = j.p.tok;
    return j.result;
  }
  if (st != TK_FINDING) tk_throw(p->env, st);
  tk_ast *n = unsupported(p, "Decorator");
  n->a_ = dotted(p);
  skip_to(p, false);
  tkl_done(p, n);
  tkl_accept(p, TKL_NEWLINE);
  return n;
}

/* decorators = ("@" decorator)* */
static void decorators(tkl_parser *p, tk_ast *n) {
  tkl_list l = {0};
  while (tkl_accept(p, TKL_AT)) tkl_add(p, &l, decorator(p));
  n->decorators_ = l.items;
  n->ndecorators_ = (uint32_t)l.n;
}

/* function = decorators "def" NAME "(" parameters ")" ("->" expression)?
 *            block */
tk_ast *tkl_function(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_FUNC, p->tok->lo);
  decorators(p, n);
  n->span.lo = p->tok->lo;
  if (p->tok->kind == TKL_KW_ASYNC)
    tkl_unsupported(p, "an asynchronous function", "leave out async");
  tkl_expect(p, TKL_KW_DEF, "expected a function");
  n->tail_ = tkl_span(p);
  n->str_ = tkl_take_name(p, "expected the name of the function");
  if (p->tok->kind == TKL_LBRACKET)
    tkl_unsupported(p, "a list of type parameters",
                    "leave it out; kernels are specialised for the types of "
                    "their arguments");
  tk_span open = tkl_span(p);
  tkl_expect(p, TKL_LPAREN, "expected '(' and the parameters");
  tkl_parameters(p, n, TKL_RPAREN);
  tkl_close(p, TKL_RPAREN, open);
  if (tkl_accept(p, TKL_ARROW)) n->a_ = tkl_expression(p);
  n->span.hi = p->tok->hi;
  n->b_ = block(p, "expected ':' after the function's header");
  return tkl_measure(p, n);
}
