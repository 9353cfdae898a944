/* device.h - launches as a GPU runs them: compiled to PTX (nvptx/nvptx.h), and
 * that interpreted (ptx/ptx.h).
 *
 * What is compiled belongs to the run; the PTX text that reports point into, to
 * the session.
 */
#ifndef TK_DEVICE_DEVICE_H
#define TK_DEVICE_DEVICE_H

#include "tkdbg/tkdbg.h"

/* An engine: a row of run/engine.def. */
tk_status tkg_launch_run(tk_launch *l, const tk_run_options *options,
                         tk_summary *summary);

#endif
