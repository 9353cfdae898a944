/* differ.h - where two programs that were made of one kernel do different
 * things: what another version of the language makes of its text. */
#ifndef TK_IR_DIFFER_H
#define TK_IR_DIFFER_H

#include "ir/ir.h"

/* A place that does something else, although what it works on is the same. */
typedef struct tk_differing {
  const tk_source *src;
  tk_span span;
  bool typed;       /* both make a value there, of types that differ: */
  tk_type types[2]; /* ... in the first program and in the second one */
} tk_differing;

/* The places, in the order of the first program; *n is 0 if both do the same.
 * What only follows from another place is left out.  Programs that differ in
 * how they come to the same values count as the same as far as it is seen
 * here: where a constant is converted, where one lane is repeated. */
const tk_differing *tk_programs_differ(tk_arena *a, const tk_program *first,
                                       const tk_program *second, size_t *n);

#endif
