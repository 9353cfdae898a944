/* toolkit.h - files of NVIDIA's that CUDA and Triton bring along. */
#ifndef TK_NVPTX_TOOLKIT_H
#define TK_NVPTX_TOOLKIT_H

#include "base/env.h"

enum { TKV_PATH = 4096 };

/* Finds libdevice.10.bc, or ptxas: what TKDBG_LIBDEVICE or TKDBG_PTXAS names
 * (nothing, where it is empty), else in CUDA_HOME, CUDA_PATH or CUDA_ROOT,
 * beside a program of PATH (a CUDA toolkit's, or a Python's with Triton), else
 * where systems keep CUDA.  NULL: none is there; `out` has TKV_PATH bytes. */
const char *tkv_find_libdevice(char *out);
const char *tkv_find_ptxas(char *out);

/* Reports that such a tool has failed, which has no place in a source; help may
 * be NULL. */
void TK_NORETURN tkv_report_failure(tk_env *e, const char *fmt, const char *why,
                                    const char *help);

#endif
