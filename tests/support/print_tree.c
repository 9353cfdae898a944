/* print_tree.c - a tree as Python source again.
 *
 * Every kind has a precedence; a child is put in parentheses when it stood in
 * them, or when it binds less tightly than its place asks for.  Printing what
 * was parsed from a printed tree gives the same text.
 *
 * The one hard part is strings inside the fields of f-strings, which before
 * Python 3.12 must not contain the outer quotes.  There are four kinds of
 * quotes; a string takes the first that is further out than all the strings
 * inside it.
 */
#include "support/tree.h"

#include <string.h>

typedef enum prec {
  P_NAMED,
  P_COND, /* also lambda */
  P_OR,
  P_AND,
  P_NOT,
  P_COMPARE,
  P_BITOR,
  P_BITXOR,
  P_BITAND,
  P_SHIFT,
  P_SUM,
  P_TERM,
  P_FACTOR,
  P_POWER,
  P_PRIMARY,
} prec;

typedef struct printer {
  tk_buf *out;
  int indent;
  int fields; /* of f-strings, that we are inside of */
} printer;

static void expr(printer *w, const tk_ast *n, prec min);
static void block(printer *w, const tk_ast *n);

static void puts_(printer *w, const char *s) {
  tk_buf_puts(w->out, s);
}

/* ---- strings ----------------------------------------------------------- */

static const char *const quotes[] = {"\"", "'", "\"\"\"", "'''"};

static int max(int a, int b) {
  return a > b ? a : b;
}

static int quote_of(const tk_ast *n);

/* The furthest out of the quotes of all strings in a tree, -1 for none. */
static int quotes_inside(const tk_ast *n) {
  if (!n) return -1;
  if (n->kind == TK_AST_STR || n->kind == TK_AST_FSTR) return quote_of(n);
  int q = max(quotes_inside(n->a), quotes_inside(n->b));
  q = max(q, quotes_inside(n->c));
  for (uint32_t i = 0; i < n->n; i++) q = max(q, quotes_inside(n->list[i]));
  return q;
}

static int quotes_of_fields(const tk_ast *n) {
  int q = -1;
  for (uint32_t i = 0; i < n->n; i++) {
    const tk_ast *part = n->list[i];
    if (part->kind != TK_AST_FMT) continue;
    q = max(q, quotes_inside(part->a));
    if (part->b) q = max(q, quotes_of_fields(part->b));
    if (!part->str) continue;
    if (strchr(part->str, '"')) q = max(q, 0);
    if (strchr(part->str, '\'')) q = max(q, 1);
    if (strpbrk(part->str, "\r\n")) q = max(q, 1);
    if (strstr(part->str, "\"\"\"")) q = max(q, 2);
  }
  return q;
}

static int quote_of(const tk_ast *n) {
  if (n->kind == TK_AST_STR) return 0;
  int q = quotes_of_fields(n) + 1;
  return q < (int)TK_COUNT(quotes) ? q : (int)TK_COUNT(quotes) - 1;
}

static void character(printer *w, unsigned char c, bool bytes, bool in_f) {
  static const char plain[] = "\n\t\r\\\"", names[] = "ntr\\\"";
  const char *p = c ? strchr(plain, c) : NULL;
  if (p)
    tk_buf_printf(w->out, "\\%c", names[p - plain]);
  else if (c == '\'' && w->fields + in_f)
    puts_(w, "\\'");
  else if (c < 0x20 || c == 0x7f || (bytes && c >= 0x80))
    tk_buf_printf(w->out, "\\x%02x", c);
  else if (in_f && (c == '{' || c == '}'))
    tk_buf_printf(w->out, "%c%c", c, c);
  else
    tk_buf_putc(w->out, (char)c);
}

static void string(printer *w, const tk_ast *n) {
  puts_(w, n->op ? "b\"" : "\"");
  for (size_t i = 0; i < n->len; i++)
    character(w, (unsigned char)n->str[i], n->op, false);
  puts_(w, "\"");
}

static void parts(printer *w, const tk_ast *n, bool spec);

static void field(printer *w, const tk_ast *n) {
  puts_(w, "{");
  w->fields++;
  if (n->str)
    puts_(w, n->str);
  else
    expr(w, n->a, P_COND);
  w->fields--;
  if (n->op) tk_buf_printf(w->out, "!%c", n->op);
  if (n->b) {
    puts_(w, ":");
    parts(w, n->b, true);
  }
  puts_(w, "}");
}

/* In a spec a brace can only be written as an escape. */
static void spec_text(printer *w, const tk_ast *n) {
  for (size_t i = 0; i < n->len; i++) {
    char c = n->str[i];
    if (c == '{' || c == '}')
      tk_buf_printf(w->out, "\\x%02x", c);
    else
      character(w, (unsigned char)c, false, c == '\'');
  }
}

static void parts(printer *w, const tk_ast *n, bool spec) {
  for (uint32_t i = 0; i < n->n; i++) {
    const tk_ast *part = n->list[i];
    if (part->kind == TK_AST_FMT)
      field(w, part);
    else if (spec)
      spec_text(w, part);
    else
      for (size_t k = 0; k < part->len; k++)
        character(w, (unsigned char)part->str[k], false, true);
  }
}

static void format_string(printer *w, const tk_ast *n) {
  const char *quote = quotes[quote_of(n)];
  tk_buf_printf(w->out, "f%s", quote);
  parts(w, n, false);
  puts_(w, quote);
}

/* ---- expressions ------------------------------------------------------- */

static prec binary_prec(int op) {
  switch (op) {
  case TK_OP_BITOR: return P_BITOR;
  case TK_OP_BITXOR: return P_BITXOR;
  case TK_OP_BITAND: return P_BITAND;
  case TK_OP_SHL:
  case TK_OP_SHR: return P_SHIFT;
  case TK_OP_ADD:
  case TK_OP_SUB: return P_SUM;
  case TK_OP_POW: return P_POWER;
  default: return P_TERM;
  }
}

static prec prec_of(const tk_ast *n) {
  switch (n->kind) {
  case TK_AST_NAMED: return P_NAMED;
  case TK_AST_COND:
  case TK_AST_LAMBDA: return P_COND;
  case TK_AST_BOOLOP: return n->op == TK_OP_AND ? P_AND : P_OR;
  case TK_AST_UNARY: return n->op == TK_OP_NOT ? P_NOT : P_FACTOR;
  case TK_AST_COMPARE: return P_COMPARE;
  case TK_AST_BINARY: return binary_prec(n->op);
  default: return P_PRIMARY;
  }
}

/* Items with commas; a trailing one when asked. */
static void items(printer *w, const tk_ast *n, bool trailing) {
  for (uint32_t i = 0; i < n->n; i++) {
    if (i) puts_(w, ", ");
    expr(w, n->list[i], P_NAMED);
  }
  if (trailing) puts_(w, ",");
}

static void dictionary(printer *w, const tk_ast *n) {
  puts_(w, "{");
  for (uint32_t i = 0; i < n->n; i++) {
    if (i) puts_(w, i % 2 ? ": " : ", ");
    expr(w, n->list[i], P_COND);
  }
  puts_(w, "}");
}

static void tuple(printer *w, const tk_ast *n, bool parens) {
  if (parens) puts_(w, "(");
  items(w, n, n->n == 1);
  if (parens) puts_(w, ")");
}

/* An expression where a tuple may stand without parentheses. */
static void open_expr(printer *w, const tk_ast *n) {
  if (n->kind == TK_AST_TUPLE)
    tuple(w, n, n->paren || !n->n);
  else
    expr(w, n, P_COND);
}

static void unary(printer *w, const tk_ast *n) {
  puts_(w, tk_operator_text((tk_operator)n->op));
  if (n->op == TK_OP_NOT) puts_(w, " ");
  expr(w, n->a, n->op == TK_OP_NOT ? P_NOT : P_FACTOR);
}

static void binary(printer *w, const tk_ast *n) {
  prec p = binary_prec(n->op);
  bool pow = n->op == TK_OP_POW;
  expr(w, n->a, pow ? P_PRIMARY : p);
  tk_buf_printf(w->out, " %s ", tk_operator_text((tk_operator)n->op));
  expr(w, n->b, pow ? P_FACTOR : p + 1);
}

static void compare(printer *w, const tk_ast *n) {
  expr(w, n->a, P_BITOR);
  for (uint32_t i = 0; i < n->n; i++) {
    tk_operator op = (tk_operator)n->list[i]->op;
    tk_buf_printf(w->out, " %s ", tk_operator_text(op));
    expr(w, n->list[i]->a, P_BITOR);
  }
}

static void boolop(printer *w, const tk_ast *n) {
  for (uint32_t i = 0; i < n->n; i++) {
    if (i) puts_(w, n->op == TK_OP_AND ? " and " : " or ");
    expr(w, n->list[i], prec_of(n) + 1);
  }
}

static void cond(printer *w, const tk_ast *n) {
  expr(w, n->b, P_OR);
  puts_(w, " if ");
  expr(w, n->a, P_OR);
  puts_(w, " else ");
  expr(w, n->c, P_COND);
}

static void parameters(printer *w, const tk_ast *n) {
  bool star = false;
  for (uint32_t i = 0; i < n->n; i++) {
    const tk_ast *p = n->list[i];
    if (i) puts_(w, ", ");
    if (p->op == TK_PARAM_KEYWORD && !star) puts_(w, "*, ");
    star |= p->op == TK_PARAM_REST || p->op == TK_PARAM_KEYWORD;
    puts_(w, p->op == TK_PARAM_REST       ? "*"
             : p->op == TK_PARAM_KEYWORDS ? "**"
                                          : "");
    puts_(w, p->str);
    if (p->a) puts_(w, ": ");
    if (p->a) expr(w, p->a, P_COND);
    if (p->b) puts_(w, p->a ? " = " : "=");
    if (p->b) expr(w, p->b, P_COND);
    bool last = i + 1 == n->n || n->list[i + 1]->op != TK_PARAM_POSITION;
    if (p->op == TK_PARAM_POSITION && last) puts_(w, ", /");
  }
}

static void lambda(printer *w, const tk_ast *n) {
  puts_(w, n->n ? "lambda " : "lambda");
  parameters(w, n);
  puts_(w, ": ");
  expr(w, n->a, P_COND);
}

static void comprehension(printer *w, const tk_ast *n) {
  puts_(w, n->op == '[' ? "[" : "(");
  expr(w, n->a, P_NAMED);
  puts_(w, " for ");
  open_expr(w, n->b);
  puts_(w, " in ");
  expr(w, n->c, P_OR);
  for (uint32_t i = 0; i < n->n; i++) {
    puts_(w, " if ");
    expr(w, n->list[i], P_OR);
  }
  puts_(w, n->op == '[' ? "]" : ")");
}

static void argument(printer *w, const tk_ast *n) {
  puts_(w, n->op == 1 ? "*" : n->op == 2 ? "**" : "");
  if (n->str) tk_buf_printf(w->out, "%s=", n->str);
  expr(w, n->a, n->op || n->str ? P_COND : P_NAMED);
}

static void slice(printer *w, const tk_ast *n) {
  if (n->a) expr(w, n->a, P_COND);
  puts_(w, ":");
  if (n->b) expr(w, n->b, P_COND);
  if (n->c) puts_(w, ":");
  if (n->c) expr(w, n->c, P_COND);
}

/* What the operand of "." "(" or "[" needs: 1.x is no attribute of 1. */
static void operand(printer *w, const tk_ast *n) {
  bool number = n->kind == TK_AST_INT || n->kind == TK_AST_FLOAT;
  bool parens = number && !n->paren;
  if (parens) puts_(w, "(");
  expr(w, n, P_PRIMARY);
  if (parens) puts_(w, ")");
}

static void trailer(printer *w, const tk_ast *n) {
  operand(w, n->a);
  if (n->kind == TK_AST_ATTR) {
    tk_buf_printf(w->out, ".%s", n->str);
  } else if (n->kind == TK_AST_CALL) {
    puts_(w, "(");
    items(w, n, false);
    puts_(w, ")");
  } else {
    puts_(w, "[");
    if (n->b->kind == TK_AST_TUPLE)
      open_expr(w, n->b);
    else
      expr(w, n->b, P_NAMED);
    puts_(w, "]");
  }
}

static void unparenthesised(printer *w, const tk_ast *n) {
  switch (n->kind) {
  case TK_AST_NAME:
  case TK_AST_INT:
  case TK_AST_FLOAT: puts_(w, n->str); break;
  case TK_AST_STR: string(w, n); break;
  case TK_AST_FSTR: format_string(w, n); break;
  case TK_AST_BOOL: puts_(w, n->op ? "True" : "False"); break;
  case TK_AST_NONE: puts_(w, "None"); break;
  case TK_AST_ELLIPSIS: puts_(w, "..."); break;
  case TK_AST_TUPLE: tuple(w, n, true); break;
  case TK_AST_LIST:
    puts_(w, "[");
    items(w, n, false);
    puts_(w, "]");
    break;
  case TK_AST_DICT: dictionary(w, n); break;
  case TK_AST_ATTR:
  case TK_AST_CALL:
  case TK_AST_SUBSCRIPT: trailer(w, n); break;
  case TK_AST_ARG: argument(w, n); break;
  case TK_AST_SLICE: slice(w, n); break;
  case TK_AST_UNARY: unary(w, n); break;
  case TK_AST_BINARY: binary(w, n); break;
  case TK_AST_COMPARE: compare(w, n); break;
  case TK_AST_BOOLOP: boolop(w, n); break;
  case TK_AST_COND: cond(w, n); break;
  case TK_AST_LAMBDA: lambda(w, n); break;
  case TK_AST_NAMED:
    tk_buf_printf(w->out, "%s := ", n->str);
    expr(w, n->a, P_COND);
    break;
  case TK_AST_STARRED:
    puts_(w, "*");
    expr(w, n->a, P_BITOR);
    break;
  case TK_AST_COMP: comprehension(w, n); break;
  default: break;
  }
}

static void expr(printer *w, const tk_ast *n, prec min) {
  bool own = n->kind == TK_AST_TUPLE || n->kind == TK_AST_COMP;
  bool parens = !own && (n->paren || prec_of(n) < min);
  if (parens) puts_(w, "(");
  unparenthesised(w, n);
  if (parens) puts_(w, ")");
}

/* ---- statements -------------------------------------------------------- */

/* Some statement of the kind that was skipped. */
static const char *stand_in(const char *name) {
  static const char *const table[][2] = {
      {"Try", "try: pass\nfinally: pass"},
      {"Raise", "raise"},
      {"Import", "import _"},
      {"ImportFrom", "from _ import _"},
      {"ClassDef", "class _: pass"},
      {"Global", "global _"},
      {"Nonlocal", "nonlocal _"},
      {"Delete", "del _"},
      {"FunctionDef", "def _(): pass"},
      {"AsyncFunctionDef", "async def _(): pass"},
      {"AsyncFor", "async for _ in _: pass"},
      {"AsyncWith", "async with _: pass"},
      {"Match", "match _:\n case _: pass"},
      {"TypeAlias", "type _ = _"},
      {"Yield", "yield"},
      {"Await", "await _"},
  };
  for (size_t i = 0; i < TK_COUNT(table); i++)
    if (strcmp(table[i][0], name) == 0) return table[i][1];
  return "pass";
}

static void start(printer *w) {
  tk_buf_pad(w->out, ' ', (size_t)w->indent * 4);
}

static void unsupported(printer *w, const tk_ast *n) {
  for (const char *s = stand_in(n->str); *s; s++) {
    tk_buf_putc(w->out, *s);
    if (*s == '\n') start(w);
  }
}

static void assignment(printer *w, const tk_ast *n) {
  for (uint32_t i = 0; i < n->n; i++) {
    open_expr(w, n->list[i]);
    puts_(w, " = ");
  }
  open_expr(w, n->a);
}

static void annotated(printer *w, const tk_ast *n) {
  expr(w, n->a, P_PRIMARY);
  puts_(w, ": ");
  expr(w, n->b, P_COND);
  if (n->c) puts_(w, " = ");
  if (n->c) open_expr(w, n->c);
}

static void augmented(printer *w, const tk_ast *n) {
  expr(w, n->a, P_PRIMARY);
  tk_buf_printf(w->out, " %s= ", tk_operator_text((tk_operator)n->op));
  open_expr(w, n->b);
}

static void asserted(printer *w, const tk_ast *n) {
  puts_(w, "assert ");
  expr(w, n->a, P_COND);
  if (n->b) puts_(w, ", ");
  if (n->b) expr(w, n->b, P_COND);
}

static void raised(printer *w, const tk_ast *n) {
  puts_(w, n->a ? "raise " : "raise");
  if (n->a) expr(w, n->a, P_COND);
  if (n->b) puts_(w, " from ");
  if (n->b) expr(w, n->b, P_COND);
}

static void simple(printer *w, const tk_ast *n) {
  switch (n->kind) {
  case TK_AST_EXPR: open_expr(w, n->a); break;
  case TK_AST_ASSIGN: assignment(w, n); break;
  case TK_AST_AUGASSIGN: augmented(w, n); break;
  case TK_AST_ANNASSIGN: annotated(w, n); break;
  case TK_AST_RETURN:
    puts_(w, n->a ? "return " : "return");
    if (n->a) open_expr(w, n->a);
    break;
  case TK_AST_ASSERT: asserted(w, n); break;
  case TK_AST_RAISE: raised(w, n); break;
  case TK_AST_PASS: puts_(w, "pass"); break;
  case TK_AST_BREAK: puts_(w, "break"); break;
  case TK_AST_CONTINUE: puts_(w, "continue"); break;
  default: unsupported(w, n); break;
  }
  puts_(w, "\n");
}

static void if_(printer *w, const tk_ast *n) {
  puts_(w, "if ");
  expr(w, n->a, P_NAMED);
  block(w, n->b);
  if (!n->c) return;
  start(w);
  bool elif = n->c->n == 1 && n->c->list[0]->kind == TK_AST_IF;
  puts_(w, elif ? "el" : "else");
  if (elif)
    if_(w, n->c->list[0]);
  else
    block(w, n->c);
}

static void loop(printer *w, const tk_ast *n) {
  puts_(w, n->kind == TK_AST_FOR ? "for " : "while ");
  if (n->kind == TK_AST_FOR) {
    open_expr(w, n->a);
    puts_(w, " in ");
    open_expr(w, n->b);
  } else {
    expr(w, n->a, P_NAMED);
  }
  block(w, n->c);
  if (!n->n) return;
  tk_ast orelse = {.kind = TK_AST_BLOCK, .list = n->list, .n = n->n};
  start(w);
  puts_(w, "else");
  block(w, &orelse);
}

static void with(printer *w, const tk_ast *n) {
  puts_(w, "with ");
  expr(w, n->a, P_COND);
  if (n->b) puts_(w, " as ");
  if (n->b) expr(w, n->b, P_COND);
  block(w, n->c);
}

static void decorators(printer *w, const tk_ast *n) {
  for (uint32_t i = 0; i < n->ndecorators; i++) {
    const tk_ast *d = n->decorators[i];
    puts_(w, "@");
    if (d->kind == TK_AST_UNSUPPORTED) {
      if (d->a) expr(w, d->a, P_PRIMARY);
      puts_(w, "(...)");
    } else {
      expr(w, d, P_NAMED);
    }
    puts_(w, "\n");
    start(w);
  }
}

static void function(printer *w, const tk_ast *n) {
  decorators(w, n);
  tk_buf_printf(w->out, "def %s(", n->str);
  parameters(w, n);
  puts_(w, ")");
  if (n->a) puts_(w, " -> ");
  if (n->a) expr(w, n->a, P_COND);
  block(w, n->b);
}

static void statement(printer *w, const tk_ast *n) {
  start(w);
  switch (n->kind) {
  case TK_AST_IF: if_(w, n); break;
  case TK_AST_FOR:
  case TK_AST_WHILE: loop(w, n); break;
  case TK_AST_WITH: with(w, n); break;
  case TK_AST_FUNC: function(w, n); break;
  default: simple(w, n); break;
  }
}

static void block(printer *w, const tk_ast *n) {
  puts_(w, ":\n");
  w->indent++;
  for (uint32_t i = 0; i < n->n; i++) statement(w, n->list[i]);
  w->indent--;
}

void print_tree(tk_buf *out, const tk_ast *n) {
  printer w = {.out = out};
  if (n->kind == TK_AST_BLOCK)
    for (uint32_t i = 0; i < n->n; i++) statement(&w, n->list[i]);
  else if (n->kind >= TK_AST_EXPR)
    statement(&w, n);
  else
    open_expr(&w, n);
}
