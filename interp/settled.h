/* settled.h - what is the same whenever a function runs.
 *
 * Constants, ranges, the launch's arguments and what plain operations make of
 * these alone are settled: computed once for a run, and held in the slots of
 * each frame from its beginning.  The instructions that make them are left
 * out then.  An observer of instructions sees each of these until every one
 * says that it keeps nothing about it; for an observer that does not say so,
 * as a debugger, nothing is settled.
 */
#ifndef TK_INTERP_SETTLED_H
#define TK_INTERP_SETTLED_H

#include "interp/value.h"
#include "ir/ir.h"

/* What is settled in a function. */
typedef struct tki_settled_func {
  const tk_inst **insts; /* what makes it, in order */
  size_t n;
  /* The slots that it sets: first those that other instructions and statements
   * read, then the others, which are held where there is an observer. */
  int *slots;
  size_t nread, nslots;
} tki_settled_func;

/* What is settled in a program; it belongs to the arena that it was made in. */
typedef struct tki_settled {
  uint8_t *is;    /* by instruction */
  uint32_t *kill; /* by instruction: tk_inst.kill without those slots */
  tki_settled_func *funcs; /* by function */
} tki_settled;

const tki_settled *tki_settled_new(tk_arena *a, const tk_program *p);
/* Computes the values for a run, unless an observer has to see every
 * instruction; they belong to its pool. */
void tki_settle(tki *t);
/* Whether no observer keeps anything about an instruction that is settled and
 * has just run. */
bool tki_settled_is_told(tki *t, const tk_inst *in);
/* Gives the slots of a frame that begins the settled values of f. */
void tki_settled_share(tki *t, const tk_func *f, tki_val *slots);

#endif
