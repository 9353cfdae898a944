/* flat.h - a program as one list of steps, for estimates of what a compiler
 * makes of it.
 *
 * Calls are expanded, as the compiler expands them, so that the slots of the
 * list are its own.
 */
#ifndef TK_IR_FLAT_H
#define TK_IR_FLAT_H

#include "ir/ir.h"

/* An instruction with slots of the list, or a copy that passes an argument or
 * a result: those have no instruction. */
typedef struct tk_flat_step {
  const tk_inst *in;
  int loop; /* the innermost around it; 0: none */
  int nargs, nres;
  int *args, *res;
} tk_flat_step;

typedef struct tk_flat_loop {
  const tk_stmt *st; /* NULL: none, number 0 */
  int base;          /* what its slots are moved by */
  size_t from, to;   /* its steps: the first, and the one after the last */
} tk_flat_loop;

/* Steps by slot, in their order: those of slot k are steps[at[k]] up to
 * steps[at[k + 1]]. */
typedef struct tk_links {
  size_t *at, *steps;
} tk_links;

typedef struct tk_flat {
  const tk_program *program;
  tk_arena *arena;
  TK_VEC(tk_flat_step) steps;
  TK_VEC(tk_flat_loop) loops;
  TK_VEC(tk_type) slots;
  tk_links readers, writers; /* a step that reads a slot twice is there twice */
} tk_flat;

/* A program of more steps than an estimate is worth has none at all.  An
 * interrupt ends it. */
tk_flat tk_flat_new(tk_arena *a, const tk_program *p);

static inline bool tk_flat_is(const tk_flat_step *t, tk_opcode op) {
  return t->in && t->in->op == op;
}

#endif
