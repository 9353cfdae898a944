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
static void statement(printer *w, const tk_ast *n);

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
  int q = -1;
  for (size_t i = 0; i < tk_ast_nchildren(n); i++)
    q = max(q, quotes_inside(tk_ast_child(n, i)));
  return q;
}

static int quotes_of_fields(const tk_ast *n) {
  int q = -1;
  for (uint32_t i = 0; i < tk_fstr_nparts(n); i++) {
    const tk_ast *part = tk_fstr_part(n, i);
    if (part->kind != TK_AST_FMT) continue;
    q = max(q, quotes_inside(tk_fmt_value(part)));
    if (tk_fmt_spec(part)) q = max(q, quotes_of_fields(tk_fmt_spec(part)));
    const char *echo = tk_fmt_echo(part);
    if (!echo) continue;
    if (strchr(echo, '"')) q = max(q, 0);
    if (strchr(echo, '\'')) q = max(q, 1);
    if (strpbrk(echo, "\r\n")) q = max(q, 1);
    if (strstr(echo, "\"\"\"")) q = max(q, 2);
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
  puts_(w, tk_str_bytes(n) ? "b\"" : "\"");
  for (size_t i = 0; i < tk_str_length(n); i++)
    character(w, (unsigned char)tk_str_text(n)[i], tk_str_bytes(n), false);
  puts_(w, "\"");
}

static void parts(printer *w, const tk_ast *n, bool spec);

static void field(printer *w, const tk_ast *n) {
  puts_(w, "{");
  w->fields++;
  if (tk_fmt_echo(n))
    puts_(w, tk_fmt_echo(n));
  else
    expr(w, tk_fmt_value(n), P_COND);
  w->fields--;
  if (tk_fmt_conversion(n)) tk_buf_printf(w->out, "!%c", tk_fmt_conversion(n));
  if (tk_fmt_spec(n)) {
    puts_(w, ":");
    parts(w, tk_fmt_spec(n), true);
  }
  puts_(w, "}");
}

/* In a spec a brace can only be written as an escape. */
static void spec_text(printer *w, const tk_ast *n) {
  for (size_t i = 0; i < tk_str_length(n); i++) {
    char c = tk_str_text(n)[i];
    if (c == '{' || c == '}')
      tk_buf_printf(w->out, "\\x%02x", c);
    else
      character(w, (unsigned char)c, false, c == '\'');
  }
}

static void parts(printer *w, const tk_ast *n, bool spec) {
  for (uint32_t i = 0; i < tk_fstr_nparts(n); i++) {
    const tk_ast *part = tk_fstr_part(n, i);
    if (part->kind == TK_AST_FMT)
      field(w, part);
    else if (spec)
      spec_text(w, part);
    else
      for (size_t k = 0; k < tk_str_length(part); k++)
        character(w, (unsigned char)tk_str_text(part)[k], false, true);
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
  case TK_AST_BOOLOP: return tk_boolop_operator(n) == TK_OP_AND ? P_AND : P_OR;
  case TK_AST_UNARY: return tk_unop_operator(n) == TK_OP_NOT ? P_NOT : P_FACTOR;
  case TK_AST_COMPARE: return P_COMPARE;
  case TK_AST_BINARY: return binary_prec(tk_binop_operator(n));
  default: return P_PRIMARY;
  }
}

static void items(printer *w, const tk_ast *n) {
  for (uint32_t i = 0; i < tk_sequence_nitems(n); i++) {
    if (i) puts_(w, ", ");
    expr(w, tk_sequence_item(n, i), P_NAMED);
  }
}

static void arguments(printer *w, const tk_ast *n) {
  for (uint32_t i = 0; i < tk_call_nargs(n); i++) {
    if (i) puts_(w, ", ");
    expr(w, tk_call_arg(n, i), P_NAMED);
  }
}

static void dictionary(printer *w, const tk_ast *n) {
  puts_(w, "{");
  for (uint32_t i = 0; i < tk_dict_nparts(n); i++) {
    if (i) puts_(w, i % 2 ? ": " : ", ");
    expr(w, tk_dict_part(n, i), P_COND);
  }
  puts_(w, "}");
}

static void tuple(printer *w, const tk_ast *n, bool parens) {
  if (parens) puts_(w, "(");
  items(w, n);
  if (tk_tuple_nitems(n) == 1) puts_(w, ",");
  if (parens) puts_(w, ")");
}

/* An expression where a tuple may stand without parentheses. */
static void open_expr(printer *w, const tk_ast *n) {
  if (n->kind == TK_AST_TUPLE)
    tuple(w, n, n->paren || !tk_tuple_nitems(n));
  else
    expr(w, n, P_COND);
}

static void unary(printer *w, const tk_ast *n) {
  puts_(w, tk_operator_text(tk_unop_operator(n)));
  if (tk_unop_operator(n) == TK_OP_NOT) puts_(w, " ");
  expr(w, tk_unop_operand(n),
       tk_unop_operator(n) == TK_OP_NOT ? P_NOT : P_FACTOR);
}

static void binary(printer *w, const tk_ast *n) {
  prec p = binary_prec(tk_binop_operator(n));
  bool pow = tk_binop_operator(n) == TK_OP_POW;
  expr(w, tk_binop_left(n), pow ? P_PRIMARY : p);
  tk_buf_printf(w->out, " %s ", tk_operator_text(tk_binop_operator(n)));
  expr(w, tk_binop_right(n), pow ? P_FACTOR : p + 1);
}

static void compare(printer *w, const tk_ast *n) {
  expr(w, tk_comparison_left(n), P_BITOR);
  for (uint32_t i = 0; i < tk_comparison_ncmps(n); i++) {
    tk_operator op = tk_cmp_operator(tk_comparison_cmp(n, i));
    tk_buf_printf(w->out, " %s ", tk_operator_text(op));
    expr(w, tk_cmp_right(tk_comparison_cmp(n, i)), P_BITOR);
  }
}

static void boolop(printer *w, const tk_ast *n) {
  for (uint32_t i = 0; i < tk_boolop_noperands(n); i++) {
    if (i) puts_(w, tk_boolop_operator(n) == TK_OP_AND ? " and " : " or ");
    expr(w, tk_boolop_operand(n, i), prec_of(n) + 1);
  }
}

static void cond(printer *w, const tk_ast *n) {
  expr(w, tk_cond_then(n), P_OR);
  puts_(w, " if ");
  expr(w, tk_cond_test(n), P_OR);
  puts_(w, " else ");
  expr(w, tk_cond_orelse(n), P_COND);
}

/* A parameter, and the '*' before it or the '/' behind it. */
static void parameter(printer *w, const tk_ast *p, bool *star, bool slash) {
  tk_param_kind kind = tk_param_passing(p);
  const tk_ast *note = tk_param_annotation(p), *usual = tk_param_default(p);
  if (kind == TK_PARAM_KEYWORD && !*star) puts_(w, "*, ");
  *star |= kind == TK_PARAM_REST || kind == TK_PARAM_KEYWORD;
  puts_(w, kind == TK_PARAM_REST ? "*" : kind == TK_PARAM_KEYWORDS ? "**" : "");
  puts_(w, tk_param_name(p));
  if (note) puts_(w, ": ");
  if (note) expr(w, note, P_COND);
  if (usual) puts_(w, note ? " = " : "=");
  if (usual) expr(w, usual, P_COND);
  if (slash) puts_(w, ", /");
}

static bool before_slash(const tk_ast *p) {
  return tk_param_passing(p) == TK_PARAM_POSITION;
}

/* Of FUNC or LAMBDA. */
static void parameters(printer *w, const tk_ast *n) {
  bool star = false, func = n->kind == TK_AST_FUNC;
  uint32_t count = func ? tk_func_nparams(n) : tk_lambda_nparams(n);
  for (uint32_t i = 0; i < count; i++) {
    const tk_ast *p = func ? tk_func_param(n, i) : tk_lambda_param(n, i);
    const tk_ast *next = i + 1 == count ? NULL
                         : func         ? tk_func_param(n, i + 1)
                                        : tk_lambda_param(n, i + 1);
    if (i) puts_(w, ", ");
    parameter(w, p, &star, before_slash(p) && !(next && before_slash(next)));
  }
}

static void lambda(printer *w, const tk_ast *n) {
  puts_(w, tk_lambda_nparams(n) ? "lambda " : "lambda");
  parameters(w, n);
  puts_(w, ": ");
  expr(w, tk_lambda_body(n), P_COND);
}

static void comprehension(printer *w, const tk_ast *n) {
  puts_(w, tk_comp_bracket(n) == '[' ? "[" : "(");
  expr(w, tk_comp_element(n), P_NAMED);
  puts_(w, " for ");
  open_expr(w, tk_comp_target(n));
  puts_(w, " in ");
  expr(w, tk_comp_iterable(n), P_OR);
  for (uint32_t i = 0; i < tk_comp_nconditions(n); i++) {
    puts_(w, " if ");
    expr(w, tk_comp_condition(n, i), P_OR);
  }
  puts_(w, tk_comp_bracket(n) == '[' ? "]" : ")");
}

static void argument(printer *w, const tk_ast *n) {
  puts_(w, tk_arg_stars(n) == 1 ? "*" : tk_arg_stars(n) == 2 ? "**" : "");
  if (tk_arg_keyword(n)) tk_buf_printf(w->out, "%s=", tk_arg_keyword(n));
  expr(w, tk_arg_value(n),
       tk_arg_stars(n) || tk_arg_keyword(n) ? P_COND : P_NAMED);
}

static void slice(printer *w, const tk_ast *n) {
  if (tk_slice_lower(n)) expr(w, tk_slice_lower(n), P_COND);
  puts_(w, ":");
  if (tk_slice_upper(n)) expr(w, tk_slice_upper(n), P_COND);
  if (tk_slice_stride(n)) puts_(w, ":");
  if (tk_slice_stride(n)) expr(w, tk_slice_stride(n), P_COND);
}

/* What the operand of "." "(" or "[" needs: 1.x is no attribute of 1. */
static void operand(printer *w, const tk_ast *n) {
  bool number = n->kind == TK_AST_INT || n->kind == TK_AST_FLOAT;
  bool parens = number && !n->paren;
  if (parens) puts_(w, "(");
  expr(w, n, P_PRIMARY);
  if (parens) puts_(w, ")");
}

static void attribute(printer *w, const tk_ast *n) {
  operand(w, tk_attr_object(n));
  tk_buf_printf(w->out, ".%s", tk_attr_name(n));
}

static void call(printer *w, const tk_ast *n) {
  operand(w, tk_call_function(n));
  puts_(w, "(");
  arguments(w, n);
  puts_(w, ")");
}

static void subscript(printer *w, const tk_ast *n) {
  const tk_ast *index = tk_subscript_index(n);
  operand(w, tk_subscript_object(n));
  puts_(w, "[");
  if (index->kind == TK_AST_TUPLE)
    open_expr(w, index);
  else
    expr(w, index, P_NAMED);
  puts_(w, "]");
}

static void unparenthesised(printer *w, const tk_ast *n) {
  switch (n->kind) {
  case TK_AST_NAME: puts_(w, tk_name_text(n)); break;
  case TK_AST_INT: puts_(w, tk_int_spelling(n)); break;
  case TK_AST_FLOAT: puts_(w, tk_float_spelling(n)); break;
  case TK_AST_STR: string(w, n); break;
  case TK_AST_FSTR: format_string(w, n); break;
  case TK_AST_BOOL: puts_(w, tk_bool_value(n) ? "True" : "False"); break;
  case TK_AST_NONE: puts_(w, "None"); break;
  case TK_AST_ELLIPSIS: puts_(w, "..."); break;
  case TK_AST_TUPLE: tuple(w, n, true); break;
  case TK_AST_LIST:
    puts_(w, "[");
    items(w, n);
    puts_(w, "]");
    break;
  case TK_AST_DICT: dictionary(w, n); break;
  case TK_AST_ATTR: attribute(w, n); break;
  case TK_AST_CALL: call(w, n); break;
  case TK_AST_SUBSCRIPT: subscript(w, n); break;
  case TK_AST_ARG: argument(w, n); break;
  case TK_AST_SLICE: slice(w, n); break;
  case TK_AST_UNARY: unary(w, n); break;
  case TK_AST_BINARY: binary(w, n); break;
  case TK_AST_COMPARE: compare(w, n); break;
  case TK_AST_BOOLOP: boolop(w, n); break;
  case TK_AST_COND: cond(w, n); break;
  case TK_AST_LAMBDA: lambda(w, n); break;
  case TK_AST_NAMED:
    tk_buf_printf(w->out, "%s := ", tk_named_name(n));
    expr(w, tk_named_value(n), P_COND);
    break;
  case TK_AST_STARRED:
    puts_(w, "*");
    expr(w, tk_starred_value(n), P_BITOR);
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
  for (const char *s = stand_in(tk_unsupported_name(n)); *s; s++) {
    tk_buf_putc(w->out, *s);
    if (*s == '\n') start(w);
  }
}

static void assignment(printer *w, const tk_ast *n) {
  for (uint32_t i = 0; i < tk_assign_ntargets(n); i++) {
    open_expr(w, tk_assign_target(n, i));
    puts_(w, " = ");
  }
  open_expr(w, tk_assign_value(n));
}

static void annotated(printer *w, const tk_ast *n) {
  expr(w, tk_annassign_target(n), P_PRIMARY);
  puts_(w, ": ");
  expr(w, tk_annassign_annotation(n), P_COND);
  if (tk_annassign_value(n)) puts_(w, " = ");
  if (tk_annassign_value(n)) open_expr(w, tk_annassign_value(n));
}

static void augmented(printer *w, const tk_ast *n) {
  expr(w, tk_augassign_target(n), P_PRIMARY);
  tk_buf_printf(w->out, " %s= ", tk_operator_text(tk_augassign_operator(n)));
  open_expr(w, tk_augassign_value(n));
}

static void asserted(printer *w, const tk_ast *n) {
  puts_(w, "assert ");
  expr(w, tk_assert_test(n), P_COND);
  if (tk_assert_message(n)) puts_(w, ", ");
  if (tk_assert_message(n)) expr(w, tk_assert_message(n), P_COND);
}

static void raised(printer *w, const tk_ast *n) {
  puts_(w, tk_raise_exception(n) ? "raise " : "raise");
  if (tk_raise_exception(n)) expr(w, tk_raise_exception(n), P_COND);
  if (tk_raise_cause(n)) puts_(w, " from ");
  if (tk_raise_cause(n)) expr(w, tk_raise_cause(n), P_COND);
}

static void simple(printer *w, const tk_ast *n) {
  switch (n->kind) {
  case TK_AST_EXPR: open_expr(w, tk_expr_value(n)); break;
  case TK_AST_ASSIGN: assignment(w, n); break;
  case TK_AST_AUGASSIGN: augmented(w, n); break;
  case TK_AST_ANNASSIGN: annotated(w, n); break;
  case TK_AST_RETURN:
    puts_(w, tk_return_value(n) ? "return " : "return");
    if (tk_return_value(n)) open_expr(w, tk_return_value(n));
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
  const tk_ast *orelse = tk_if_orelse(n);
  puts_(w, "if ");
  expr(w, tk_if_test(n), P_NAMED);
  block(w, tk_if_then(n));
  if (!orelse) return;
  start(w);
  bool elif = tk_block_nstmts(orelse) == 1 &&
              tk_block_stmt(orelse, 0)->kind == TK_AST_IF;
  puts_(w, elif ? "el" : "else");
  if (elif)
    if_(w, tk_block_stmt(orelse, 0));
  else
    block(w, orelse);
}

static void loop(printer *w, const tk_ast *n) {
  puts_(w, n->kind == TK_AST_FOR ? "for " : "while ");
  if (n->kind == TK_AST_FOR) {
    open_expr(w, tk_for_target(n));
    puts_(w, " in ");
    open_expr(w, tk_for_iterable(n));
  } else {
    expr(w, tk_while_test(n), P_NAMED);
  }
  block(w, tk_loop_body(n));
  if (!tk_loop_norelse(n)) return;
  start(w);
  puts_(w, "else:\n");
  w->indent++;
  for (uint32_t i = 0; i < tk_loop_norelse(n); i++)
    statement(w, tk_loop_orelse(n, i));
  w->indent--;
}

static void with(printer *w, const tk_ast *n) {
  puts_(w, "with ");
  expr(w, tk_with_context(n), P_COND);
  if (tk_with_target(n)) puts_(w, " as ");
  if (tk_with_target(n)) expr(w, tk_with_target(n), P_COND);
  block(w, tk_with_body(n));
}

static void decorators(printer *w, const tk_ast *n) {
  for (uint32_t i = 0; i < tk_func_ndecorators(n); i++) {
    const tk_ast *d = tk_func_decorator(n, i);
    puts_(w, "@");
    if (d->kind == TK_AST_UNSUPPORTED) {
      if (tk_unsupported_dotted(d))
        expr(w, tk_unsupported_dotted(d), P_PRIMARY);
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
  tk_buf_printf(w->out, "def %s(", tk_func_name(n));
  parameters(w, n);
  puts_(w, ")");
  if (tk_func_returns(n)) puts_(w, " -> ");
  if (tk_func_returns(n)) expr(w, tk_func_returns(n), P_COND);
  block(w, tk_func_body(n));
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
  for (uint32_t i = 0; i < tk_block_nstmts(n); i++)
    statement(w, tk_block_stmt(n, i));
  w->indent--;
}

void print_tree(tk_buf *out, const tk_ast *n) {
  printer w = {.out = out};
  if (n->kind == TK_AST_BLOCK)
    for (uint32_t i = 0; i < tk_block_nstmts(n); i++)
      statement(&w, tk_block_stmt(n, i));
  else if (n->kind >= TK_AST_EXPR)
    statement(&w, n);
  else
    open_expr(&w, n);
}
