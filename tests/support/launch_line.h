/* launch_line.h - the launch line of a case: a grid, then NAME=VALUE for each
 * argument, separated by blanks: "2,3 x=f32[8]:ones n=6 BLOCK=8".
 */
#ifndef TESTS_SUPPORT_LAUNCH_LINE_H
#define TESTS_SUPPORT_LAUNCH_LINE_H

#include "tkdbg/tkdbg.h"

/* Appends "@triton.jit\ndef k(x, n, BLOCK: tl.constexpr):\n" and the body to
 * text, which has room for it.  A capital letter makes a constexpr. */
void put_kernel(char *text, const char *launch, const char *body);

/* Gives a launch its grid and arguments. */
tk_status give_args(tk_launch *l, const char *launch);

#endif
