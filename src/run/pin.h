/* pin.h - the first operation of a program that two engines disagree about.
 */
#ifndef TK_RUN_PIN_H
#define TK_RUN_PIN_H

#include "launch/session.h"
#include "ptx/ptx.h"
#include "run/expect.h"
#include "run/memory.h"

typedef struct tkr_pinning {
  tk_launch *launch;
  const tk_run_options *options;
  tkr_run_fn own, other; /* the interpreter, and what is recorded beside */
  const char *engine;    /* that differs */
  const char *recorder;  /* the name of `other`, which may stand for it */
  /* Runs `engine` beside a witness, if it only stands for one that records
   * nothing; NULL: it cannot. */
  tk_status (*witnessed)(tk_launch *l, const tk_run_options *options,
                         tkp_witness *witness, tk_summary *summary);
  bool unfused;             /* it does not differ without fused operations */
  int64_t program[3];       /* whose operations are recorded */
  const tkr_memory *before; /* the run */
} tkr_pinning;

/* Runs the launch again by both and keeps what was found with the launch;
 * memory is then as it was when this was called. */
tk_status tkr_pin(const tkr_pinning *x);

#endif
