/* varying.h - which values of a kernel differ between the programs of a launch
 * that stand next to each other, and what those programs read and write.
 *
 * A value varies if it is made of the program's index along one axis of the
 * grid, by whatever way.  Functions count once, whoever calls them: a
 * parameter varies if an argument of any call does.
 */
#ifndef TK_IR_VARYING_H
#define TK_IR_VARYING_H

#include "ir/ir.h"

/* What is known of a function. */
typedef struct tk_varying_func {
  bool *slots;        /* by slot: it varies */
  uint64_t *pointers; /* by slot: the kernel's parameters that it may be made
                         of, as bits */
  bool *results;
  uint64_t *result_pointers;
} tk_varying_func;

typedef struct tk_varying {
  const tk_program *program;
  int axis;
  tk_varying_func *funcs; /* by number */
  /* Parameters of the kernel through which programs load, through which they
   * store, through which they store more than once, and through which all of
   * them store the same to the same place. */
  uint64_t loads, stores, many_stores, fixed_stores;
  /* Among `stores`, the one of the atomic operation that is the last thing that
   * programs do: they must do it in their order, and once each. */
  uint64_t atomics;
  int64_t largest; /* lanes of the largest value that varies */
  bool apart;      /* nothing else lets a program see what others do: no other
                      atomic operation, no output, no address that is
                      computed */
  bool joins;      /* everything that varies can be done for many programs by
                      one instruction (ir/batch.h) */
} tk_varying;

/* Looks at the programs along an axis of the grid.  A kernel that would take
 * long to look at is not apart.  All belongs to the arena. */
tk_varying tk_varying_of(tk_arena *a, const tk_program *p, int axis);

/* Whether an instruction has operands that vary, or is made to by the function
 * that it calls. */
bool tk_inst_varies(const tk_varying *v, const tk_func *f, const tk_inst *in);

#endif
