/* device.h - launches as a GPU runs them: compiled to PTX (nvptx/nvptx.h), and
 * that interpreted (ptx/ptx.h), or run on a GPU by the program tkdbg-cuda
 * (cuda/request.h).
 *
 * What is compiled belongs to the run; the PTX text that reports point into, to
 * the session.
 */
#ifndef TK_DEVICE_DEVICE_H
#define TK_DEVICE_DEVICE_H

#include "ptx/ptx.h"
#include "tkdbg/tkdbg.h"

/* Engines: rows of run/engine.def. */
tk_status tkg_launch_run(tk_launch *l, const tk_run_options *options,
                         tk_summary *summary);
tk_status tkg_launch_run_gpu(tk_launch *l, const tk_run_options *options,
                             tk_summary *summary);
/* Whether there seems to be a GPU; costs some milliseconds. */
bool tkg_gpu_is_there(const char **why);

/* Runs PTX on a GPU: memory is then as the launch left it.  False: it cannot
 * have memory at an address of the launch.  Throws what else is wrong. */
bool tkg_run_on_gpu(tk_env *e, const char *ptx, const tkp_launch *launch);

#endif
