/* plugin.h - the plug-in libtkdbg-nvptx.so, run in a child process.
 *
 * LLVM runs there since what it cannot compile may end its process, and since
 * what it allocates goes with it.  A plug-in that is damaged ends that,
 * too. */
#ifndef TK_NVPTX_PLUGIN_H
#define TK_NVPTX_PLUGIN_H

#include "base/diag.h"
#include "nvptx/llvm.h"

/* Finds the plug-in's file; returns false if it is not beside this library. */
bool tkv_find_plugin(char *out, size_t size);

/* Adds the PTX of a request.  Fails, once it is reported that the plug-in is
 * not there, cannot be used, or does not compile the code. */
void tkv_run_plugin(tk_buf *out, const tkv_llvm_request *r);

#endif
