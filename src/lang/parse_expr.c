/* parse_expr.c - expressions, by recursive descent.
 *
 * Each function is named after, and headed by, the production it reads.
 * They are Python's own, except that the ten levels of binary operators
 * between comparisons and unary minus are one function over a table.  What
 * Python has and kernels do not (dictionaries, sets, await, yield) is
 * recognised, so that the message can say so.
 */
#include "parser.h"

#include <string.h>

static tk_ast *disjunction(tkl_parser *p);
static tk_ast *factor(tkl_parser *p);

static const char want_expr[] = "expected an expression";

static bool starts_expression(const tkl_parser *p) {
  switch (p->tok->kind) {
  case TKL_NAME:
  case TKL_INT:
  case TKL_FLOAT:
  case TKL_STRING:
  case TKL_ERROR:
  case TKL_LPAREN:
  case TKL_LBRACKET:
  case TKL_LBRACE:
  case TKL_ELLIPSIS:
  case TKL_ADD:
  case TKL_SUB:
  case TKL_TILDE:
  case TKL_MUL:
  case TKL_KW_NOT:
  case TKL_KW_LAMBDA:
  case TKL_KW_NONE:
  case TKL_KW_TRUE:
  case TKL_KW_FALSE:
  case TKL_KW_AWAIT:
  case TKL_KW_YIELD: return true;
  default: return false;
  }
}

/* ---- lists of expressions ---------------------------------------------- */

/* starred = "*" bitwise_or */
static tk_ast *binary(tkl_parser *p, int min);
static tk_ast *starred(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_STARRED, p->tok->lo);
  tkl_expect(p, TKL_MUL, "expected '*'");
  n->a_ = binary(p, 0);
  return tkl_done(p, n);
}

/* star_named_expression = starred | named_expression */
static tk_ast *star_named_expression(tkl_parser *p) {
  if (p->tok->kind == TKL_MUL) return starred(p);
  return tkl_named_expression(p);
}

/* star_expression = starred | expression */
static tk_ast *star_expression(tkl_parser *p) {
  if (p->tok->kind == TKL_MUL) return starred(p);
  return tkl_expression(p);
}

/* target = starred | bitwise_or */
static tk_ast *target(tkl_parser *p) {
  if (p->tok->kind == TKL_MUL) return starred(p);
  return binary(p, 0);
}

/* rest(item) = ("," item)* ","?    after a first item; makes a TUPLE */
static tk_ast *rest(tkl_parser *p, tk_ast *first,
                    tk_ast *(*item)(tkl_parser *)) {
  tk_ast *n = tkl_node(p, TK_AST_TUPLE, first->span.lo);
  tkl_list l = {0};
  tkl_add(p, &l, first);
  while (tkl_accept(p, TKL_COMMA) && starts_expression(p))
    tkl_add(p, &l, item(p));
  tkl_take_list(n, &l);
  return tkl_done(p, n);
}

static tk_ast *one_or_tuple(tkl_parser *p, tk_ast *(*item)(tkl_parser *)) {
  uint32_t lo = p->tok->lo;
  tk_ast *n = item(p);
  if (p->tok->kind == TKL_COMMA) {
    n = rest(p, n, item);
    n->span.lo = lo;
  } else if (n->kind == TK_AST_STARRED) {
    tkl_fail(p, TK_D_SYNTAX, n->span, "write (*x,) for a tuple",
             "a starred expression cannot be used alone");
  }
  return n;
}

/* star_expressions = star_expression ("," star_expression)* ","? */
tk_ast *tkl_star_expressions(tkl_parser *p) {
  return one_or_tuple(p, star_expression);
}

/* target_list = target ("," target)* ","? */
tk_ast *tkl_target_list(tkl_parser *p) {
  tk_ast *n = one_or_tuple(p, target);
  tkl_check_target(p, n);
  return n;
}

void tkl_check_target(tkl_parser *p, const tk_ast *n) {
  switch (n->kind) {
  case TK_AST_NAME:
  case TK_AST_ATTR:
  case TK_AST_SUBSCRIPT: return;
  case TK_AST_STARRED: tkl_check_target(p, tk_starred_value(n)); return;
  case TK_AST_TUPLE:
  case TK_AST_LIST:
    for (uint32_t i = 0; i < tk_sequence_nitems(n); i++)
      tkl_check_target(p, tk_sequence_item(n, i));
    return;
  default:
    tkl_fail(p, TK_D_SYNTAX, n->span,
             n->kind == TK_AST_COMPARE
                 ? "to compare use '=='"
                 : "expected a name, an attribute or a subscript",
             "cannot assign to this %s", tk_ast_name(n->kind));
  }
}

/* ---- expressions ------------------------------------------------------- */

/* named_expression = NAME ":=" expression | expression */
tk_ast *tkl_named_expression(tkl_parser *p) {
  if (p->tok->kind != TKL_NAME || p->tok[1].kind != TKL_WALRUS)
    return tkl_expression(p);
  tk_ast *n = tkl_node(p, TK_AST_NAMED, p->tok->lo);
  n->str_ = tkl_take_name(p, NULL);
  tkl_advance(p);
  n->a_ = tkl_expression(p);
  return tkl_done(p, n);
}

/* lambda = "lambda" parameters ":" expression */
static tk_ast *lambda(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_LAMBDA, p->tok->lo);
  tkl_advance(p);
  tkl_parameters(p, n, TKL_COLON);
  tkl_expect(p, TKL_COLON, "expected ':' after the parameters of a lambda");
  n->a_ = tkl_expression(p);
  return tkl_done(p, n);
}

/* expression = lambda | disjunction ("if" disjunction "else" expression)? */
tk_ast *tkl_expression(tkl_parser *p) {
  uint32_t lo = p->tok->lo;
  tkl_enter(p);
  tk_ast *n = p->tok->kind == TKL_KW_LAMBDA ? lambda(p) : disjunction(p);
  if (n->kind != TK_AST_LAMBDA && tkl_accept(p, TKL_KW_IF)) {
    tk_ast *cond = tkl_node(p, TK_AST_COND, lo);
    cond->b_ = n;
    cond->a_ = disjunction(p);
    tkl_expect(p, TKL_KW_ELSE,
               "expected 'else': a conditional expression "
               "is written x if test else y");
    cond->c_ = tkl_expression(p);
    n = tkl_done(p, cond);
  }
  p->depth--;
  return n;
}

/* boolop(item) = item (keyword item)* */
static tk_ast *boolop(tkl_parser *p, tkl_tok kind, tk_operator op,
                      tk_ast *(*item)(tkl_parser *)) {
  uint32_t lo = p->tok->lo;
  tk_ast *first = item(p);
  if (p->tok->kind != kind) return first;
  tk_ast *n = tkl_node(p, TK_AST_BOOLOP, lo);
  tkl_list l = {0};
  n->op_ = (uint8_t)op;
  tkl_add(p, &l, first);
  while (tkl_accept(p, kind)) tkl_add(p, &l, item(p));
  tkl_take_list(n, &l);
  return tkl_done(p, n);
}

static tk_ast *unary(tkl_parser *p, tk_operator op,
                     tk_ast *(*operand)(tkl_parser *)) {
  tk_ast *n = tkl_node(p, TK_AST_UNARY, p->tok->lo);
  n->op_ = (uint8_t)op;
  tkl_enter(p);
  tkl_advance(p);
  n->a_ = operand(p);
  p->depth--;
  return tkl_done(p, n);
}

/* comparator = ("<"|"<="|">"|">="|"=="|"!="|"is" "not"?|"not"? "in")
 *              bitwise_or
 * Takes the operator; false when there is none. */
static bool comparison_operator(tkl_parser *p, tk_operator *op) {
  switch (p->tok->kind) {
  case TKL_LT: *op = TK_OP_LT; break;
  case TKL_LE: *op = TK_OP_LE; break;
  case TKL_GT: *op = TK_OP_GT; break;
  case TKL_GE: *op = TK_OP_GE; break;
  case TKL_EQ: *op = TK_OP_EQ; break;
  case TKL_NE: *op = TK_OP_NE; break;
  case TKL_KW_IN: *op = TK_OP_IN; break;
  case TKL_KW_IS: *op = TK_OP_IS; break;
  case TKL_KW_NOT:
    if (p->tok[1].kind != TKL_KW_IN) return false;
    tkl_advance(p);
    *op = TK_OP_NOTIN;
    break;
  default: return false;
  }
  tkl_advance(p);
  if (*op == TK_OP_IS && tkl_accept(p, TKL_KW_NOT)) *op = TK_OP_ISNOT;
  return true;
}

/* comparison = bitwise_or comparator* */
static tk_ast *comparison(tkl_parser *p) {
  uint32_t lo = p->tok->lo, at;
  tk_ast *left = binary(p, 0);
  tk_operator op;
  tkl_list l = {0};
  while (at = p->tok->lo, comparison_operator(p, &op)) {
    tk_ast *c = tkl_node(p, TK_AST_CMP, at);
    c->op_ = (uint8_t)op;
    c->a_ = binary(p, 0);
    tkl_add(p, &l, tkl_done(p, c));
  }
  if (!l.n) return left;
  tk_ast *n = tkl_node(p, TK_AST_COMPARE, lo);
  n->a_ = left;
  tkl_take_list(n, &l);
  return tkl_done(p, n);
}

/* inversion = "not" inversion | comparison */
static tk_ast *inversion(tkl_parser *p) {
  if (p->tok->kind == TKL_KW_NOT) return unary(p, TK_OP_NOT, inversion);
  return comparison(p);
}

/* conjunction = inversion ("and" inversion)* */
static tk_ast *conjunction(tkl_parser *p) {
  return boolop(p, TKL_KW_AND, TK_OP_AND, inversion);
}

/* disjunction = conjunction ("or" conjunction)* */
static tk_ast *disjunction(tkl_parser *p) {
  return boolop(p, TKL_KW_OR, TK_OP_OR, conjunction);
}

/* Binds tighter as prec grows; -1 for what is not a binary operator. */
static int precedence(tkl_tok kind, tk_operator *op) {
  switch (kind) {
  case TKL_OR: *op = TK_OP_BITOR; return 0;
  case TKL_XOR: *op = TK_OP_BITXOR; return 1;
  case TKL_AND: *op = TK_OP_BITAND; return 2;
  case TKL_SHL: *op = TK_OP_SHL; return 3;
  case TKL_SHR: *op = TK_OP_SHR; return 3;
  case TKL_ADD: *op = TK_OP_ADD; return 4;
  case TKL_SUB: *op = TK_OP_SUB; return 4;
  case TKL_MUL: *op = TK_OP_MUL; return 5;
  case TKL_DIV: *op = TK_OP_DIV; return 5;
  case TKL_FLOORDIV: *op = TK_OP_FLOORDIV; return 5;
  case TKL_MOD: *op = TK_OP_MOD; return 5;
  case TKL_AT: *op = TK_OP_MATMUL; return 5;
  default: return -1;
  }
}

/* bitwise_or  = bitwise_xor ("|" bitwise_xor)*
 * bitwise_xor = bitwise_and ("^" bitwise_and)*
 * bitwise_and = shift ("&" shift)*
 * shift       = sum (("<<"|">>") sum)*
 * sum         = term (("+"|"-") term)*
 * term        = factor (("*"|"/"|"//"|"%"|"@") factor)*
 * `min` is the lowest precedence to take: 0 is bitwise_or. */
static tk_ast *binary(tkl_parser *p, int min) {
  uint32_t lo = p->tok->lo;
  tk_ast *left = factor(p);
  tk_operator op = TK_OP_ADD;
  for (int prec; (prec = precedence(p->tok->kind, &op)) >= min;) {
    tk_ast *n = tkl_node(p, TK_AST_BINARY, lo);
    n->op_ = (uint8_t)op;
    n->tail_ = tkl_span(p);
    tkl_advance(p);
    n->a_ = left;
    n->b_ = binary(p, prec + 1);
    left = tkl_done(p, n);
  }
  return left;
}

/* ---- primaries --------------------------------------------------------- */

/* condition = "if" disjunction
 * comprehension = element "for" target_list "in" disjunction condition* */
static tk_ast *comprehension(tkl_parser *p, tk_ast *element, char bracket) {
  tk_ast *n = tkl_node(p, TK_AST_COMP, element->span.lo);
  tkl_list l = {0};
  n->op_ = (uint8_t)bracket;
  n->a_ = element;
  tkl_advance(p);
  n->b_ = tkl_target_list(p);
  tkl_expect(p, TKL_KW_IN,
             "expected 'in': a comprehension is written "
             "[x for name in values]");
  n->c_ = disjunction(p);
  while (tkl_accept(p, TKL_KW_IF)) tkl_add(p, &l, disjunction(p));
  if (p->tok->kind == TKL_KW_FOR || p->tok->kind == TKL_KW_ASYNC)
    tkl_unsupported(p, "a comprehension over more than one sequence",
                    "write one comprehension inside the other");
  tkl_take_list(n, &l);
  return tkl_done(p, n);
}

/* group = "(" ")" | "(" star_named_expressions ")" | "(" comprehension ")" */
static tk_ast *group(tkl_parser *p) {
  tk_span open = tkl_span(p);
  tkl_advance(p);
  tk_ast *n = NULL;
  if (p->tok->kind == TKL_RPAREN) {
    n = tkl_node(p, TK_AST_TUPLE, open.lo);
  } else {
    n = star_named_expression(p);
    if (p->tok->kind == TKL_KW_FOR)
      n = comprehension(p, n, '(');
    else if (p->tok->kind == TKL_COMMA)
      n = rest(p, n, star_named_expression);
    else if (n->kind == TK_AST_STARRED)
      tkl_fail(p, TK_D_SYNTAX, n->span, "write (*x,) for a tuple",
               "a starred expression cannot be used alone");
  }
  tkl_close(p, TKL_RPAREN, open);
  n->paren = true;
  if (n->kind != TK_AST_TUPLE && n->kind != TK_AST_COMP) return n;
  n->span.lo = open.lo;
  return tkl_done(p, n);
}

/* list = "[" "]" | "[" star_named_expressions "]" | "[" comprehension "]" */
static tk_ast *list(tkl_parser *p) {
  tk_span open = tkl_span(p);
  tk_ast *n = tkl_node(p, TK_AST_LIST, open.lo), *first;
  tkl_advance(p);
  tkl_list l = {0};
  while (p->tok->kind != TKL_RBRACKET) {
    tkl_add(p, &l, first = star_named_expression(p));
    if (l.n == 1 && p->tok->kind == TKL_KW_FOR) {
      n = comprehension(p, first, '[');
      n->span.lo = open.lo;
      l.n = 0;
      break;
    }
    if (!tkl_accept(p, TKL_COMMA)) break;
  }
  tkl_close(p, TKL_RBRACKET, open);
  if (n->kind == TK_AST_LIST) tkl_take_list(n, &l);
  return tkl_done(p, n);
}

static tk_ast *leaf(tkl_parser *p, tk_ast_kind kind, int op) {
  tk_ast *n = tkl_node(p, kind, p->tok->lo);
  n->op_ = (uint8_t)op;
  tkl_advance(p);
  return tkl_done(p, n);
}

static tk_ast *name(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_NAME, p->tok->lo);
  n->str_ = tkl_take_name(p, want_expr);
  return tkl_done(p, n);
}

/* dictionary = "{" (expression ":" expression ("," ...)*)? "}" */
static tk_ast *dictionary(tkl_parser *p) {
  tk_span open = tkl_span(p);
  tk_ast *n = tkl_node(p, TK_AST_DICT, open.lo);
  tkl_list l = {0};
  tkl_enter(p);
  tkl_advance(p);
  while (p->tok->kind != TKL_RBRACE) {
    tkl_add(p, &l, tkl_expression(p));
    if (!tkl_accept(p, TKL_COLON))
      tkl_unsupported(p, "a set",
                      "use a tuple, or pass each entry as an argument");
    tkl_add(p, &l, tkl_expression(p));
    if (p->tok->kind == TKL_KW_FOR)
      tkl_unsupported(p, "a dictionary's comprehension",
                      "write its entries out");
    if (!tkl_accept(p, TKL_COMMA)) break;
  }
  p->depth--;
  tkl_close(p, TKL_RBRACE, open);
  tkl_take_list(n, &l);
  return tkl_done(p, n);
}

/* atom = NAME | number | strings | "True" | "False" | "None" | "..."
 *      | group | list | dictionary */
static tk_ast *atom(tkl_parser *p) {
  switch (p->tok->kind) {
  case TKL_NAME: return name(p);
  case TKL_INT:
  case TKL_FLOAT: return tkl_number(p);
  case TKL_STRING: return tkl_strings(p);
  case TKL_KW_TRUE: return leaf(p, TK_AST_BOOL, 1);
  case TKL_KW_FALSE: return leaf(p, TK_AST_BOOL, 0);
  case TKL_KW_NONE: return leaf(p, TK_AST_NONE, 0);
  case TKL_ELLIPSIS: return leaf(p, TK_AST_ELLIPSIS, 0);
  case TKL_LPAREN: return group(p);
  case TKL_LBRACKET: return list(p);
  case TKL_LBRACE: return dictionary(p);
  case TKL_KW_AWAIT: tkl_unsupported(p, "'await'", "await it in host code");
  case TKL_KW_YIELD: tkl_unsupported(p, "'yield'", "return a value or a tuple");
  case TKL_KW_LAMBDA: tkl_unexpected(p, "put the lambda in parentheses");
  default: tkl_unexpected(p, want_expr);
  }
}

/* argument = NAME "=" expression | "*" expression | "**" expression
 *          | named_expression | comprehension */
static tk_ast *argument(tkl_parser *p) {
  tk_ast *n = tkl_node(p, TK_AST_ARG, p->tok->lo);
  if (tkl_accept(p, TKL_MUL))
    n->op_ = 1;
  else if (tkl_accept(p, TKL_POW))
    n->op_ = 2;
  else if (p->tok->kind == TKL_NAME && p->tok[1].kind == TKL_ASSIGN) {
    n->str_ = tkl_take_name(p, NULL);
    tkl_advance(p);
  }
  bool plain = !n->op_ && !n->str_;
  n->a_ = plain ? tkl_named_expression(p) : tkl_expression(p);
  if (plain && p->tok->kind == TKL_KW_FOR) n->a_ = comprehension(p, n->a_, '(');
  return tkl_done(p, n);
}

/* call = "(" (argument ("," argument)* ","?)? ")" */
static tk_ast *call(tkl_parser *p, tk_ast *n) {
  tk_span open = tkl_span(p);
  tkl_list l = {0};
  bool keywords = false;
  tkl_advance(p);
  while (p->tok->kind != TKL_RPAREN) {
    tk_ast *arg = argument(p);
    if (keywords && !tk_arg_keyword(arg) && !tk_arg_stars(arg))
      tkl_fail(p, TK_D_SYNTAX, arg->span, "put it before the keyword arguments",
               "positional argument after a keyword argument");
    keywords |= tk_arg_keyword(arg) || tk_arg_stars(arg) == 2;
    tkl_add(p, &l, arg);
    if (!tkl_accept(p, TKL_COMMA)) break;
  }
  tkl_close(p, TKL_RPAREN, open);
  tkl_take_list(n, &l);
  tkl_check_unique(p, n, "keyword argument");
  return n;
}

static bool ends_slice_part(const tkl_parser *p) {
  int k = p->tok->kind;
  return k == TKL_COLON || k == TKL_COMMA || k == TKL_RBRACKET;
}

/* slice = expression? ":" expression? (":" expression?)?
 *       | star_named_expression */
static tk_ast *slice(tkl_parser *p) {
  uint32_t lo = p->tok->lo;
  tk_ast *lower = NULL;
  if (p->tok->kind != TKL_COLON) lower = star_named_expression(p);
  if (p->tok->kind != TKL_COLON) return lower;
  tk_ast *n = tkl_node(p, TK_AST_SLICE, lo);
  n->a_ = lower;
  tkl_advance(p);
  if (!ends_slice_part(p)) n->b_ = tkl_expression(p);
  if (tkl_accept(p, TKL_COLON) && !ends_slice_part(p))
    n->c_ = tkl_expression(p);
  return tkl_done(p, n);
}

/* subscript = "[" slice ("," slice)* ","? "]" */
static tk_ast *subscript(tkl_parser *p, tk_ast *n) {
  tk_span open = tkl_span(p);
  tkl_list l = {0};
  tkl_advance(p);
  uint32_t lo = p->tok->lo;
  bool comma;
  do {
    tkl_add(p, &l, slice(p));
    comma = tkl_accept(p, TKL_COMMA);
  } while (comma && p->tok->kind != TKL_RBRACKET);
  n->b_ = l.items[0];
  if (comma || l.n > 1 || n->b_->kind == TK_AST_STARRED) {
    n->b_ = tkl_node(p, TK_AST_TUPLE, lo);
    tkl_take_list(n->b_, &l);
    tkl_done(p, n->b_);
  }
  tkl_close(p, TKL_RBRACKET, open);
  return n;
}

/* attribute = "." NAME */
static tk_ast *attribute(tkl_parser *p, tk_ast *n) {
  tkl_advance(p);
  n->tail_ = tkl_span(p);
  n->str_ = tkl_take_name(p, "expected an attribute name after '.'");
  return n;
}

/* primary = atom (attribute | call | subscript)* */
static tk_ast *primary(tkl_parser *p) {
  uint32_t lo = p->tok->lo;
  tk_ast *n = atom(p);
  for (;;) {
    tk_ast *outer = NULL;
    switch (p->tok->kind) {
    case TKL_DOT: outer = tkl_node(p, TK_AST_ATTR, lo); break;
    case TKL_LPAREN: outer = tkl_node(p, TK_AST_CALL, lo); break;
    case TKL_LBRACKET: outer = tkl_node(p, TK_AST_SUBSCRIPT, lo); break;
    default: return n;
    }
    outer->a_ = n;
    if (outer->kind == TK_AST_ATTR)
      attribute(p, outer);
    else if (outer->kind == TK_AST_CALL)
      call(p, outer);
    else
      subscript(p, outer);
    n = tkl_done(p, outer);
  }
}

/* power = primary ("**" factor)? */
static tk_ast *power(tkl_parser *p) {
  uint32_t lo = p->tok->lo;
  tk_ast *base = primary(p);
  if (p->tok->kind != TKL_POW) return base;
  tk_ast *n = tkl_node(p, TK_AST_BINARY, lo);
  n->op_ = TK_OP_POW;
  n->tail_ = tkl_span(p);
  n->a_ = base;
  tkl_enter(p);
  tkl_advance(p);
  n->b_ = factor(p);
  p->depth--;
  return tkl_done(p, n);
}

/* factor = ("+" | "-" | "~") factor | power */
static tk_ast *factor(tkl_parser *p) {
  switch (p->tok->kind) {
  case TKL_ADD: return unary(p, TK_OP_POS, factor);
  case TKL_SUB: return unary(p, TK_OP_NEG, factor);
  case TKL_TILDE: return unary(p, TK_OP_INVERT, factor);
  default: return power(p);
  }
}

/* ---- parameters -------------------------------------------------------- */

typedef struct signature {
  tkl_list list;
  bool defaults; /* a plain parameter had one */
  bool star, double_star;
  bool bare; /* "*" without a name, nothing after it yet */
} signature;

static void check_order(tkl_parser *p, const signature *s) {
  if (s->double_star)
    tkl_unexpected(p, "nothing can follow a ** parameter but ')'");
  if (s->star && p->tok->kind == TKL_MUL)
    tkl_unexpected(p, "a parameter list can have only one '*'");
}

/* parameter = ("*" | "**")? NAME (":" expression)? ("=" expression)? */
static void parameter(tkl_parser *p, signature *s, bool annotated) {
  tk_ast *n = tkl_node(p, TK_AST_PARAM, p->tok->lo);
  if (tkl_accept(p, TKL_MUL))
    n->op_ = TK_PARAM_REST;
  else if (tkl_accept(p, TKL_POW))
    n->op_ = TK_PARAM_KEYWORDS;
  else if (s->star)
    n->op_ = TK_PARAM_KEYWORD;
  n->str_ = tkl_take_name(p, "expected a parameter name");
  if (annotated && tkl_accept(p, TKL_COLON)) n->a_ = tkl_expression(p);
  bool variadic = n->op_ == TK_PARAM_REST || n->op_ == TK_PARAM_KEYWORDS;
  if (!variadic && tkl_accept(p, TKL_ASSIGN)) n->b_ = tkl_expression(p);
  tkl_done(p, n);
  if (n->op_ == TK_PARAM_PLAIN && s->defaults && !n->b_)
    tkl_fail(p, TK_D_SYNTAX, n->span, "give it a default too, or move it left",
             "parameter without a default after one with a default");
  s->defaults |= n->op_ == TK_PARAM_PLAIN && n->b_;
  s->star |= n->op_ == TK_PARAM_REST;
  s->double_star |= n->op_ == TK_PARAM_KEYWORDS;
  s->bare = false;
  tkl_add(p, &s->list, n);
}

/* Takes a "/" or a bare "*" if one is next. */
static bool separator(tkl_parser *p, signature *s, bool *slash) {
  int next = p->tok[1].kind;
  if (p->tok->kind == TKL_DIV) {
    if (*slash || s->star || !s->list.n)
      tkl_unexpected(p, "'/' may come once, after positional parameters");
    *slash = true;
    for (size_t i = 0; i < s->list.n; i++)
      s->list.items[i]->op_ = TK_PARAM_POSITION;
  } else if (p->tok->kind == TKL_MUL && next == TKL_COMMA) {
    s->star = s->bare = true;
  } else {
    return false;
  }
  tkl_advance(p);
  return true;
}

/* parameters = (parameter | "/" | "*") ("," ...)* ","?
 * Stops before `closer`; a lambda's, which end in ":", have no annotations. */
void tkl_parameters(tkl_parser *p, tk_ast *func, tkl_tok closer) {
  signature s = {0};
  bool slash = false;
  while (p->tok->kind != closer) {
    check_order(p, &s);
    if (!separator(p, &s, &slash)) parameter(p, &s, closer != TKL_COLON);
    if (!tkl_accept(p, TKL_COMMA)) break;
  }
  if (s.bare) tkl_unexpected(p, "expected a keyword-only parameter after '*'");
  tkl_take_list(func, &s.list);
  tkl_check_unique(p, func, "parameter");
}
