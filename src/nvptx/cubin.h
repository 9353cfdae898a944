/* cubin.h - machine code of PTX, by NVIDIA's assembler ptxas. */
#ifndef TK_NVPTX_CUBIN_H
#define TK_NVPTX_CUBIN_H

#include "base/diag.h"

/* Assembles PTX for an architecture, into a file (NULL: to see what it takes
 * alone), and adds a line to `out` that says what a thread and a program take:
 * "26 registers, 0 bytes spilled, 1024 bytes of shared memory".  A note tells
 * of spills, by the kernel's name.  `shared` is what the launch adds.  Throws
 * once it is reported that ptxas is not there, or does not assemble it into the
 * file; without one a note says the latter, and the answer is false. */
bool tkv_assemble(tk_buf *out, const char *kernel, const char *ptx,
                  const char *arch, const char *file, size_t shared);
/* Reports that a file cannot be written, by an errno, and throws TK_USAGE. */
void TK_NORETURN tkv_file_fails(tk_env *e, const char *path, int error);
/* Whether ptxas is there. */
bool tkv_can_assemble(void);

#endif
