/* eval.h - one expression of the language, compiled in the scope of a
 * statement of a running program: what a debugger prints and tests.
 *
 * A tk_eval owns its program and must be freed; it may be run on any frame of
 * the same function at a statement with the same scope.  Its function starts
 * with the slots of the function it looks into, so that variables need no
 * renaming; what it computes goes to slots after them.
 *
 * Beyond the language an expression may pick lanes, x[0, 2:6, ::2], x[..., i],
 * and elements of tensors, BUFFER[i, j]; and it knows pid, pid_0, pid_1, pid_2,
 * grid, trip (of the innermost loop, from 0), any(), all(), isnan(), and the
 * tensors of the launch by their parameters' names, unless a variable of the
 * kernel has the name.
 */
#ifndef TK_TYPING_EVAL_H
#define TK_TYPING_EVAL_H

#include "typing/origin.h"

enum { TK_EVAL_PLACES = 4 };

/* A piece of a result, in the order in which it is read. */
typedef struct tk_eval_part {
  const char *path;   /* "", "[1].x": an item of a tuple; NULL: more of it */
  const char *item;   /* of more of it: ".shape[0]"; NULL */
  const char *before; /* text before the value, or NULL: its type */
  const char *known;  /* as text; NULL: the next of the values */
} tk_eval_part;

typedef struct tk_eval {
  const tk_program *program;
  tk_arena *arena;     /* the program's */
  struct tki_op *code; /* the interpreter's */
  tk_func *func;
  const char *known; /* the value as text, when it needs no run; else NULL */
  const char *type;  /* "fp32[8]", "(int32, fp32[8])", "constexpr = 3" */
  TK_VEC(tk_eval_part) parts;
  size_t n; /* values: 1, or those in a tuple, descriptor, block pointer */
  tk_type *types; /* of each; they and the slots are the arena's */
  int *slots;
  size_t nframe; /* slots of the function looked into */
  size_t nreads; /* of them are the first parameters of func; then places */
  tk_buf scratch;
  int places[TK_EVAL_PLACES]; /* pid_0, pid_1, pid_2: int32; trip: int64 */
} tk_eval;

typedef struct tk_eval_where {
  tk_session *session;
  tk_launch *launch;
  const tk_func *func;
  const struct tk_binding *scope;
  const tk_type *want; /* the value is cast and broadcast to it; or NULL */
  /* The tensor at whose start a pointer variable points; NULL: none. */
  const tk_tensor *(*tensor)(void *ud, int slot);
  void *ud;
} tk_eval_where;

/* Reports what is wrong with the text, with a caret, and throws TK_USAGE. */
tk_eval *tk_eval_new(tk_env *e, const tk_eval_where *w, const char *text);
void tk_eval_free(tk_eval *x);
/* Whether some statement of a function gives a variable of this name a value
 * that is not known at compile time. */
bool tk_eval_is_computed(const tk_func *f, const char *name);

#endif
