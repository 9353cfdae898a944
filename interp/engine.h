/* engine.h - the interpreter as one of the engines that run launches.
 */
#ifndef TK_INTERP_ENGINE_H
#define TK_INTERP_ENGINE_H

#include "tkdbg/tkdbg.h"

/* Runs a launch of an open session.  options are complete (size is that of
 * the struct), the summary is all zeros; neither is NULL.  Those who watch
 * the session watch the run. */
tk_status tki_launch_run(tk_launch *l, const tk_run_options *options,
                         tk_summary *summary);

#endif
