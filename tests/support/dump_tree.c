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
  for (size_t i = 0; i < n->len; i++) {
    unsigned char c = (unsigned char)n->str[i];
    if (c == '"' || c == '\\')
      tk_buf_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      tk_buf_printf(out, "\\x%02x", c);
    else
      tk_buf_putc(out, (char)c);
  }
  tk_buf_putc(out, '"');
}

/* What stands between a node's name and its children. */
static void head(tk_buf *out, const tk_ast *n) {
  static const char *const args[] = {"", "*", "**", "only", "/"};
  const char *word = n->str;
  switch (n->kind) {
  case TK_AST_UNARY:
  case TK_AST_BINARY:
  case TK_AST_CMP:
  case TK_AST_BOOLOP:
  case TK_AST_AUGASSIGN: word = tk_operator_text((tk_operator)n->op); break;
  case TK_AST_BOOL: word = n->op ? "True" : "False"; break;
  case TK_AST_COMP: word = n->op == '[' ? "[" : "("; break;
  case TK_AST_ARG:
  case TK_AST_PARAM:
    if (n->op) tk_buf_printf(out, " %s", args[n->op]);
    break;
  case TK_AST_FMT:
    if (n->op) tk_buf_printf(out, " !%c", n->op);
    if (n->str) tk_buf_printf(out, " \"%s\"", n->str);
    return;
  case TK_AST_STR:
    tk_buf_puts(out, n->op ? " b" : " ");
    quoted(out, n);
    return;
  default: break;
  }
  if (word) tk_buf_printf(out, " %s", word);
}

static void child(tk_buf *out, const tk_ast *n, bool needed) {
  if (n || needed) tk_buf_putc(out, ' ');
  if (n)
    dump_tree(out, n);
  else if (needed)
    tk_buf_putc(out, '-');
}

static void children(tk_buf *out, tk_ast *const *list, uint32_t n) {
  tk_buf_puts(out, " [");
  for (uint32_t i = 0; i < n; i++) {
    if (i) tk_buf_putc(out, ' ');
    dump_tree(out, list[i]);
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
  child(out, n->a, n->b || n->c);
  child(out, n->b, n->c != NULL);
  child(out, n->c, false);
  if (n->n || always_has_list(n->kind)) children(out, n->list, n->n);
  if (n->ndecorators) children(out, n->decorators, n->ndecorators);
  tk_buf_putc(out, ')');
}
