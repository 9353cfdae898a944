/* judge.h - how far another engine's results may be from the exact ones.
 *
 * The interpreter runs the launch beside itself in float64: once exactly, and
 * several times with each operation moved at random by what it may be off in a
 * correct engine (interp/check/twin.h).  How far these runs and the
 * interpreter's own are from the exact one is how far another engine may be.
 */
#ifndef TK_RUN_JUDGE_H
#define TK_RUN_JUDGE_H

#include "launch/session.h"
#include "run/memory.h"
#include "run/watched.h"

/* What holds of a tensor.  Errors are differences from what is exact, and their
 * measure the root of the mean of their squares. */
typedef struct tkr_judged {
  const uint8_t *wrong; /* by element, in row-major order */
  double size;          /* of what is exact */
  double own, other;    /* of the interpreter's errors, and the engine's */
  double bound;         /* of the engine's */
  bool all_wrong;       /* they exceed it: the larger ones are wrong */
  bool weak; /* errors of more than TKR_WEAK of the size may be tolerated */
} tkr_judged;

/* An element's error may be that many times the usual one of the runs. */
#define TKR_FACTOR 8
#define TKR_WEAK 0.05

/* The tensors that are expected from `first` on, which another engine has left:
 * *out gets one for each, NULL if all bits agree or must.  Memory is afterwards
 * as kept. */
tk_status tkr_judge(tk_launch *l, size_t first, const tkr_memory *before,
                    tk_arena *a, tkr_run_fn run, const tk_run_options *options,
                    const tkr_judged **out);

#endif
