/* llvm.h - what the plug-in libtkdbg-nvptx.so offers: LLVM's back end for
 * NVIDIA's GPUs, behind one function.
 *
 * It knows nothing of tkdbg, and tkdbg nothing of LLVM: the plug-in is opened
 * when code is wanted, in a process of its own (plugin.c), since LLVM ends the
 * process where it finds no instruction for
 * something. */
#ifndef TK_NVPTX_LLVM_H
#define TK_NVPTX_LLVM_H

#include <stddef.h>

#define TKV_LLVM_SYMBOL "tkv_llvm_compile"

/* This number grows whenever the function or its request changes; a plug-in
 * with another number is not used. */
#define TKV_LLVM_INTERFACE_SYMBOL "tkv_llvm_interface"
enum { TKV_LLVM_INTERFACE = 2 };

typedef struct tkv_llvm_request {
  const char *llir; /* the text of a module */
  size_t size;
  const char *arch;      /* "sm_80" */
  const char *isa;       /* "+ptx78" */
  const char *libdevice; /* a file; NULL: none was found */
} tkv_llvm_request;

/* Returns PTX as a string; if there is none, NULL, and *error says why. The
 * caller frees either. */
typedef char *tkv_llvm_compile_fn(const tkv_llvm_request *r, char **error);

#endif
