/* statement.h - the first statement whose value another compiler's code does
 * not have.
 */
#ifndef TK_RUN_STATEMENT_H
#define TK_RUN_STATEMENT_H

#include "run/pin.h"

/* Runs the launch by x->witnessed, follows the first wrong element back through
 * that code and through the kernel, and tells of it in *to: the statement
 * nearest to the beginning whose value no instruction of its line left, or why
 * none is named.  Memory is then as that run left it. */
tk_status tkr_find_statement(const tkr_pinning *x, tk_divergence *to);

#endif
