/* contested.h - whether what an element holds depends on who comes last.
 */
#ifndef TK_RUN_CONTESTED_H
#define TK_RUN_CONTESTED_H

#include "run/expect.h"

/* Whether two programs of the launch, or two lanes of one access, write the
 * byte at an address, and differently.  Runs the launch once by `own`, the
 * interpreter, on memory as it is. */
bool tkr_is_contested(tk_launch *l, tkr_run_fn own,
                      const tk_run_options *options, uint64_t address);

#endif
