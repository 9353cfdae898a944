/* ast.h - the tree of a kernel.
 *
 * ast.def lists the kinds of nodes and their members.  From it derive the enum
 * and an accessor for every member, tk_cond_test(e) or tk_call_arg(e, i), which
 * asserts that the node is of that kind.  The parser alone, which makes the
 * nodes, uses the members of struct tk_ast whose names end in _; a tree is
 * never changed once made.
 */
#ifndef TK_LANG_AST_H
#define TK_LANG_AST_H

#include "base/diag.h"

typedef enum tk_ast_kind {
#define AST(id, text) TK_AST_##id,
#include "ast.def"
  TK_AST_COUNT,
} tk_ast_kind;

typedef enum tk_operator {
#define OPERATOR(id, text, dunder) TK_OP_##id,
#include "operator.def"
#undef OPERATOR
  TK_OP_COUNT,
} tk_operator;

__extension__ typedef __int128 tk_int;

/* How a parameter takes its argument. */
typedef enum tk_param_kind {
  TK_PARAM_PLAIN,
  TK_PARAM_REST,     /* *args */
  TK_PARAM_KEYWORDS, /* **kw */
  TK_PARAM_KEYWORD,  /* after "*" */
  TK_PARAM_POSITION, /* before "/" */
} tk_param_kind;

typedef struct tk_ast {
  tk_ast_kind kind;
  bool paren;      /* the expression was in parentheses */
  uint16_t height; /* of the tree from here down; never over 1000 */
  tk_span span;    /* of compound statements: their header, up to the colon */
  /* What these hold depends on the kind. */
  uint8_t op_;
  tk_span tail_;
  struct tk_ast *a_, *b_, *c_;
  struct tk_ast **list_, **decorators_;
  uint32_t n_, ndecorators_; /* of list_, of decorators_ */
  const char *str_;
  size_t len_;
  tk_int num_;
  double f_;
} tk_ast;

const char *tk_ast_name(tk_ast_kind k);
const char *tk_operator_text(tk_operator op);
const char *tk_operator_dunder(tk_operator op);

/* ---- accessors of one kind ---------------------------------------------- */

#define TK_LENGTH_OF_list n_
#define TK_LENGTH_OF_decorators ndecorators_
#define CHILD(id, node, member, at)                                            \
  static inline const tk_ast *tk_##node##_##member(const tk_ast *e) {          \
    TK_ASSERT(e->kind == TK_AST_##id && e->at##_);                             \
    return e->at##_;                                                           \
  }
#define OPTIONAL(id, node, member, at)                                         \
  static inline const tk_ast *tk_##node##_##member(const tk_ast *e) {          \
    TK_ASSERT(e->kind == TK_AST_##id);                                         \
    return e->at##_;                                                           \
  }
#define CHILDREN(id, node, one, many, at)                                      \
  static inline uint32_t tk_##node##_n##many(const tk_ast *e) {                \
    TK_ASSERT(e->kind == TK_AST_##id);                                         \
    return e->TK_LENGTH_OF_##at;                                               \
  }                                                                            \
  static inline const tk_ast *tk_##node##_##one(const tk_ast *e, size_t i) {   \
    TK_ASSERT(e->kind == TK_AST_##id && i < e->TK_LENGTH_OF_##at);             \
    return e->at##_[i];                                                        \
  }
#define FIELD(id, node, member, type, at)                                      \
  static inline type tk_##node##_##member(const tk_ast *e) {                   \
    TK_ASSERT(e->kind == TK_AST_##id);                                         \
    return e->at##_;                                                           \
  }
#include "ast.def"
#undef TK_LENGTH_OF_list
#undef TK_LENGTH_OF_decorators

/* ---- accessors of several kinds ----------------------------------------- */

/* The children of a node of any kind: first the three that a, b and c of
 * ast.def name, of which each may be NULL, then those of its list.  Decorators,
 * which are host code, are not among them. */
static inline size_t tk_ast_nchildren(const tk_ast *e) {
  return 3 + (size_t)e->n_;
}
static inline const tk_ast *tk_ast_child(const tk_ast *e, size_t i) {
  TK_ASSERT(i < tk_ast_nchildren(e));
  return i == 0 ? e->a_ : i == 1 ? e->b_ : i == 2 ? e->c_ : e->list_[i - 3];
}

/* NAME, or the name after the last dot of ATTR; NULL of any other node. */
static inline const char *tk_dotted_name(const tk_ast *e) {
  return e->kind == TK_AST_NAME || e->kind == TK_AST_ATTR ? e->str_ : NULL;
}

/* TUPLE or LIST. */
static inline bool tk_is_sequence(const tk_ast *e) {
  return e->kind == TK_AST_TUPLE || e->kind == TK_AST_LIST;
}
static inline uint32_t tk_sequence_nitems(const tk_ast *e) {
  TK_ASSERT(tk_is_sequence(e));
  return e->n_;
}
static inline const tk_ast *tk_sequence_item(const tk_ast *e, size_t i) {
  TK_ASSERT(tk_is_sequence(e) && i < e->n_);
  return e->list_[i];
}

/* FOR or WHILE. */
static inline const tk_ast *tk_loop_body(const tk_ast *e) {
  return e->kind == TK_AST_FOR ? tk_for_body(e) : tk_while_body(e);
}
static inline uint32_t tk_loop_norelse(const tk_ast *e) {
  return e->kind == TK_AST_FOR ? tk_for_norelse(e) : tk_while_norelse(e);
}
static inline const tk_ast *tk_loop_orelse(const tk_ast *e, size_t i) {
  return e->kind == TK_AST_FOR ? tk_for_orelse(e, i) : tk_while_orelse(e, i);
}

#endif
