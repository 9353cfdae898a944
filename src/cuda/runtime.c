/* runtime.c - finding the CUDA Runtime. */
#include "cuda/runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 12080 };

/* $TKDBG_CUDART, then where the system looks, then CUDA's usual folders. */
static void *open_cudart(void) {
  static const char *const names[] = {"libcudart.so.13", "libcudart.so.12",
                                      "/usr/local/cuda/lib64/libcudart.so.13",
                                      "/usr/local/cuda/lib64/libcudart.so.12",
                                      "libcudart.so"};
  const char *given = getenv("TKDBG_CUDART");
  if (given && *given) return dlopen(given, RTLD_NOW | RTLD_LOCAL);
  void *lib = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !lib; i++)
    lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  return lib;
}

static bool find_function(void *lib, const char *name, void *pointer) {
  void *address = dlsym(lib, name);
  memcpy(pointer, &address, sizeof address);
  return address;
}

const char *tkcu_open(tkcu_runtime *r) {
  void *lib = open_cudart();
  int version = 0;
  bool all = lib;
  if (!lib) return "no CUDA Runtime (libcudart.so) was found";
#define RUNTIME(name, parameters)                                              \
  all &= find_function(lib, "cuda" #name, &r->name);
#define DRIVER(name, parameters)
  TKCU_FUNCTIONS(RUNTIME, DRIVER)
#undef RUNTIME
#undef DRIVER
  all &= find_function(lib, "cudaGetErrorString", &r->ErrorString);
  if (!all || r->RuntimeGetVersion(&version) || version < OLDEST)
    return "the CUDA Runtime that was found is older than 12.8";
  return NULL;
}
