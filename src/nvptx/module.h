/* module.h - code for a thread as the text of an LLVM module. */
#ifndef TK_NVPTX_MODULE_H
#define TK_NVPTX_MODULE_H

#include "ir/ir.h"
#include "nvptx/code.h"

typedef struct tkv_module {
  const tk_program *p;
  const tkv_type *params; /* the kernel's */
  int warps;
  /* bytes of shared memory in all, and those of them that copies take */
  size_t shared, buffers;
  int alignment; /* of shared memory */
} tkv_module;

void tkv_print_module(tkv_code *c, tk_buf *out, const tkv_module *m);
/* The functions that every module has: conversions of fp8. */
void tkv_print_prelude(tk_buf *out);

#endif
