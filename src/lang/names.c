/* names.c - names of nodes and operators. */
#include "ast.h"

const char *tk_ast_name(tk_ast_kind k) {
  static const char *const names[] = {
#define AST(id, text) text,
#include "ast.def"
  };
  return names[k];
}

const char *tk_operator_text(tk_operator op) {
  static const char *const texts[] = {
#define OPERATOR(id, text, dunder) text,
#include "operator.def"
#undef OPERATOR
  };
  return texts[op];
}

const char *tk_operator_dunder(tk_operator op) {
  static const char *const dunders[] = {
#define OPERATOR(id, text, dunder) dunder,
#include "operator.def"
#undef OPERATOR
  };
  return dunders[op];
}
