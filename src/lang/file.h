/* file.h - source files as seen from outside.
 *
 * Nodes, items and their strings belong to the arena of the tk_file they come
 * from; nothing in this room keeps or frees anything else.
 */
#ifndef TK_LANG_FILE_H
#define TK_LANG_FILE_H

#include "ast.h"

/* What is at the start of a logical line, at any depth of a file. */
typedef enum tk_item_kind {
  TK_ITEM_FUNC,   /* def, with its decorators; parsed when asked */
  TK_ITEM_ASSIGN, /* NAME = value, or NAME: annotation = value; depth 0 */
  TK_ITEM_IMPORT, /* one bound name; depth 0, also inside try and if */
  TK_ITEM_CLASS,  /* class NAME; depth 0 */
} tk_item_kind;

typedef struct tk_item {
  tk_item_kind kind;
  const char *name; /* the bound name */
  int depth;        /* of indentation: 0 is the file's own level */
  int text;         /* 0: of the file itself; n: of the n-th source in it */
  int line;         /* of def; line of the first decorator is first_line */
  int first_line;
  bool jit;                /* FUNC: a decorator's dotted name ends in "jit" */
  const char *target;      /* IMPORT: full dotted name: "triton.language.load";
                              relative imports keep their leading dots */
  uint32_t tok_lo, tok_hi; /* tokens of the item */
  tk_ast *value;           /* ASSIGN: NULL when not in the subset */
  tk_ast *annotation;      /* ASSIGN: NULL if none */
  tk_ast *func;            /* FUNC: once parsed */
  bool bad;                /* FUNC: parsing failed, already reported */
} tk_item;

/* A source file: tokenised once, functions found, host code skipped. */
typedef struct tk_file {
  tk_arena arena;
  tk_source *src;
  struct tk_token *toks;
  size_t ntoks;
  tk_item *items; /* in file order */
  size_t nitems;
} tk_file;

/* Never fails on bad source: what cannot be read is skipped (an unreadable
 * function is reported when tk_file_func asks for it). */
tk_file *tk_file_scan(tk_env *e, const char *name, const char *text,
                      size_t len);
void tk_file_free(tk_env *e, tk_file *f);

/* Parses the function of an item, once; NULL after reporting why not. */
tk_ast *tk_file_func(tk_env *e, tk_file *f, tk_item *item);

/* Parses one expression, as the debugger's print and tests need. */
tk_ast *tk_parse_expr(tk_env *e, tk_arena *a, tk_source *src);

#endif
