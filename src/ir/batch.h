/* batch.h - one program that does what some neighbouring programs of a launch
 * do, all at once.
 *
 * Every value that differs between the programs gets a first axis with an entry
 * for each of them: a scalar becomes a block, a block gets one more axis, and
 * what works along an axis works along the next one.  Values that are the same
 * for all are computed once.  program_id gives the first program's index.
 *
 * Where the programs would go different ways (a branch, the bounds of a loop),
 * an assertion of the batch fails; whoever runs it then runs the programs one
 * by one.  He does the same when anything else fails, so that what is reported
 * is what a single program reports: the batch names no values, and its places
 * are those of the kernel.
 */
#ifndef TK_IR_BATCH_H
#define TK_IR_BATCH_H

#include "ir/varying.h"

/* Makes `to`, which is all zeros, the program for `size` programs along v's
 * axis; v must be `apart`.  Its arena is to be freed, whether this throws or
 * not; it uses names and sources of v's program, which must outlive it.
 * Functions and statements have the numbers that they have there. */
void tk_program_batch(tk_env *e, tk_program *to, const tk_varying *v, int size);

#endif
