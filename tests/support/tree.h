/* tree.h - syntax trees as text, for tests of the parser. */
#ifndef TESTS_SUPPORT_TREE_H
#define TESTS_SUPPORT_TREE_H

#include "lang/file.h"

/* The tree as Python source again. */
void print_tree(tk_buf *out, const tk_ast *node);
/* The tree as one s-expression: (binary + (name x) (integer 1)). */
void dump_tree(tk_buf *out, const tk_ast *node);

#endif
