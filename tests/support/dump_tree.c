/* dump_tree.c - trees as s-expressions.
 *
 * A node is written (name operator 'string children [list]); a child that is
 * not there but stands before one that is becomes "-".  One shape for every
 * kind keeps the tests readable and this file short.
 */
#include "support/tree.h"

#include <string.h>

static void quoted(tk_buf *out, const tk_ast *n) {
  tk_buf_putc(out, '"');
  for (size_t i = 0; i < tk_str_length(n); i++) {
    unsigned char c = (unsigned char)tk_str_text(n)[i];
    if (c == '"' || c == '\\')
      tk_buf_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      tk_buf_printf(out, "\\x%02x", c);
    else
      tk_buf_putc(out, (char)c);
  }
  tk_buf_putc(out, '"');
}

static void format_field(tk_buf *out, const tk_ast *n) {
  int conversion = tk_fmt_conversion(n);
  if (conversion) tk_buf_printf(out, " !%c", conversion);
  if (tk_fmt_echo(n)) tk_buf_printf(out, " \"%s\"", tk_fmt_echo(n));
}

/* What stands between a node's name and its children; NULL: nothing. */
static const char *word_of(const tk_ast *n) {
  switch (n->kind) {
  case TK_AST_NAME: return tk_name_text(n);
  case TK_AST_INT: return tk_int_spelling(n);
  case TK_AST_FLOAT: return tk_float_spelling(n);
  case TK_AST_ATTR: return tk_attr_name(n);
  case TK_AST_ARG: return tk_arg_keyword(n);
  case TK_AST_NAMED: return tk_named_name(n);
  case TK_AST_UNSUPPORTED: return tk_unsupported_name(n);
  case TK_AST_FUNC: return tk_func_name(n);
  case TK_AST_PARAM: return tk_param_name(n);
  case TK_AST_UNARY: return tk_operator_text(tk_unop_operator(n));
  case TK_AST_BINARY: return tk_operator_text(tk_binop_operator(n));
  case TK_AST_CMP: return tk_operator_text(tk_cmp_operator(n));
  case TK_AST_BOOLOP: return tk_operator_text(tk_boolop_operator(n));
  case TK_AST_AUGASSIGN: return tk_operator_text(tk_augassign_operator(n));
  case TK_AST_BOOL: return tk_bool_value(n) ? "True" : "False";
  case TK_AST_COMP: return tk_comp_bracket(n) == '[' ? "[" : "(";
  default: return NULL;
  }
}

static void head(tk_buf *out, const tk_ast *n) {
  static const char *const stars[] = {"", " *", " **"};
  static const char *const kinds[] = {"", " *", " **", " only", " /"};
  switch (n->kind) {
  case TK_AST_ARG: tk_buf_puts(out, stars[tk_arg_stars(n)]); break;
  case TK_AST_PARAM: tk_buf_puts(out, kinds[tk_param_passing(n)]); break;
  case TK_AST_FMT: format_field(out, n); break;
  case TK_AST_STR:
    tk_buf_puts(out, tk_str_bytes(n) ? " b" : " ");
    quoted(out, n);
    break;
  default: break;
  }
  if (word_of(n)) tk_buf_printf(out, " %s", word_of(n));
}

static void child(tk_buf *out, const tk_ast *n, bool needed) {
  if (n || needed) tk_buf_putc(out, ' ');
  if (n)
    dump_tree(out, n);
  else if (needed)
    tk_buf_putc(out, '-');
}

/* A list of children, from the first on. */
static void children(tk_buf *out, const tk_ast *n, size_t first) {
  tk_buf_puts(out, " [");
  for (size_t i = first; i < tk_ast_nchildren(n); i++) {
    if (i > first) tk_buf_putc(out, ' ');
    dump_tree(out, tk_ast_child(n, i));
  }
  tk_buf_putc(out, ']');
}

static void decorators(tk_buf *out, const tk_ast *n) {
  tk_buf_puts(out, " [");
  for (uint32_t i = 0; i < tk_func_ndecorators(n); i++) {
    if (i) tk_buf_putc(out, ' ');
    dump_tree(out, tk_func_decorator(n, i));
  }
  tk_buf_putc(out, ']');
}

static bool always_has_list(tk_ast_kind k) {
  return k == TK_AST_TUPLE || k == TK_AST_LIST || k == TK_AST_DICT ||
         k == TK_AST_CALL || k == TK_AST_FSTR || k == TK_AST_FUNC ||
         k == TK_AST_LAMBDA;
}

void dump_tree(tk_buf *out, const tk_ast *n) {
  const char *name = tk_ast_name(n->kind);
  tk_buf_putc(out, '(');
  tk_buf_add(out, name, strcspn(name, " "));
  head(out, n);
  const tk_ast *a = tk_ast_child(n, 0), *b = tk_ast_child(n, 1);
  const tk_ast *c = tk_ast_child(n, 2);
  child(out, a, b || c);
  child(out, b, c != NULL);
  child(out, c, false);
  if (tk_ast_nchildren(n) > 3 || always_has_list(n->kind)) children(out, n, 3);
  if (n->kind == TK_AST_FUNC && tk_func_ndecorators(n)) decorators(out, n);
  tk_buf_putc(out, ')');
}
