/* scope.c - the variables of a function: bindings, newest first, each with a
 * table of all names.
 */
#include <string.h>

#include "typing/state.h"

static unsigned name_place(const char *name) {
  unsigned h = 0;
  for (; *name; name++) h = h * 31 + (unsigned char)*name;
  return (h ^ h >> 8) & 255;
}

void tks_push(tks *s, tk_binding *b) {
  const tk_binding *old = s->frame->scope;
  unsigned place = name_place(b->name), row = place / 16;
  const tks_names **rows = TK_NEWN(s->arena, const tks_names *, 16);
  tks_names *names = TK_NEW(s->arena, tks_names);
  if (old) memcpy(rows, old->names, 16 * sizeof *rows);
  if (rows[row]) *names = *rows[row];
  rows[row] = names;
  b->prev = old;
  b->same = names->newest[place % 16];
  b->names = rows;
  names->newest[place % 16] = b;
  s->frame->scope = b;
}

const tk_binding *tks_newest(const tk_binding *scope, const char *name) {
  unsigned place = name_place(name);
  if (!scope || !scope->names[place / 16]) return NULL;
  const tk_binding *b = scope->names[place / 16]->newest[place % 16];
  while (b && strcmp(b->name, name)) b = b->same;
  return b;
}

tk_binding *tks_bind(tks *s, const char *name, const sval *v) {
  tk_binding *b = TK_NEW(s->arena, tk_binding);
  b->name = name;
  b->v = *v;
  b->span = s->frame->at;
  tks_push(s, b);
  return b;
}

const tk_binding *tks_binding_of(tks *s, const char *name) {
  return tks_newest(s->frame->scope, name);
}
