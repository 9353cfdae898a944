/* pipeline.h - which loads of a loop are made ahead of the trip that needs
 * them: those that a product of the loop takes.
 *
 * Triton's pass is lib/Dialect/TritonGPU/Transforms/Pipeliner.  A load runs
 * ahead if its addresses and its mask follow from the loop's variable, from
 * what the loop does not change, and from arithmetic; if lanes that are masked
 * off are zeros; and if nothing in the loop writes to memory.
 *
 * Plans belong to the
 * arena. */
#ifndef TK_NVPTX_PIPELINE_H
#define TK_NVPTX_PIPELINE_H

#include "nvptx/axis.h"

/* What is computed ahead, in the order of the loop's body: loads, and what
 * they need of the loop. */
typedef struct tkv_plan {
  const tk_inst **insts;
  size_t n;
  const bool *ahead; /* by slot: whether one of these computes it */
} tkv_plan;

/* Whether a load of that function can be a copy to shared memory: as wide as
 * these need to be. */
typedef bool tkv_can_copy(void *ud, const tk_inst *load);

/* False: nothing runs ahead. */
bool tkv_plan_loop(tk_arena *a, const tk_func *f, const tk_stmt *loop,
                   tkv_can_copy *can_copy, void *ud, tkv_plan *out);

/* The first instruction of a function that gives a slot its value, or NULL. */
const tk_inst *tkv_first_maker(const tk_func *f, int slot);

#endif
