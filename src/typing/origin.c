/* origin.c - what a program was made of, by number. */
#include "typing/origin.h"

#include "typing/state.h"

tk_function *tk_func_origin(const tk_func *f) {
  const tk_origin *o = f->program->origin;
  return o && f->id < o->functions.n ? o->functions.items[f->id] : NULL;
}

const tk_binding *tk_stmt_scope(const tk_func *f, const tk_stmt *st) {
  const tk_origin *o = f->program->origin;
  return o && st->id < o->scopes.n ? o->scopes.items[st->id] : NULL;
}
