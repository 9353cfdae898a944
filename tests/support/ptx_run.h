/* ptx_run.h - runs a kernel that is written as PTX. */
#ifndef TESTS_SUPPORT_PTX_RUN_H
#define TESTS_SUPPORT_PTX_RUN_H

#include "ptx/ptx.h"

/* Runs the only kernel, whose parameters are a pointer to size bytes at io and
 * perhaps a 32-bit number, that size.  Returns the report, "" if there is
 * none; the caller frees it.  status may be NULL. */
char *ptx_run_text(const char *text, uint32_t threads, uint32_t programs,
                   void *io, size_t size, tk_status *status);

#endif
