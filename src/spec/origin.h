/* origin.h - what the specialiser knows of a program beyond the typed form.
 *
 * A tk_unit is one specialisation, kept with its function; it owns the
 * program, and its arena the tables here, which go by the numbers of functions
 * and statements.
 */
#ifndef TK_SPEC_ORIGIN_H
#define TK_SPEC_ORIGIN_H

#include "ir/ir.h"
#include "launch/session.h"

typedef struct tk_origin {
  tk_session *session;
  tk_function *kernel;
  TK_VEC(tk_function *) functions; /* by tk_func.id */
  TK_VEC(const struct tk_binding *)
  scopes; /* by tk_stmt.id: names known
             before it */
} tk_origin;

typedef struct tk_unit {
  struct tk_unit *next; /* other specialisations of the function */
  const char *key;      /* what it was specialised for */
  tk_program program;
  tk_origin origin;
  struct tki_op
      *code[2]; /* the interpreter's, with the numerics of the
                   definition and of a GPU; NULL: it did not run yet */
  const struct tki_settled *settled; /* the interpreter's; NULL: not yet */
} tk_unit;

/* The unit for the launch's function and argument types, made on first use and
 * kept with the function.  Throws TK_FINDING after reporting. */
tk_unit *tk_specialise(tk_env *e, tk_launch *l);

/* The function that was specialised; NULL: none is known. */
tk_function *tk_func_origin(const tk_func *f);
/* Names known before a statement, newest first; NULL: none. */
const struct tk_binding *tk_stmt_scope(const tk_func *f, const tk_stmt *st);

#endif
