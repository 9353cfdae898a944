/* runtime.c - finding the CUDA Runtime. */
#include "cuda/runtime.h"

#include <dlfcn.h>
#include <link.h>
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

/* What the loader says of the library that is named, or of the last that was
 * tried. */
static void say_unopened(char *words, size_t size) {
  const char *given = getenv("TKDBG_CUDART"), *why = dlerror();
  if (given && *given)
    snprintf(words, size,
             "the CUDA Runtime that TKDBG_CUDART names, '%s', cannot be "
             "opened: %s",
             given, why);
  else
    snprintf(words, size, "no CUDA Runtime (libcudart.so) was found");
}

static const char *file_of_library(void *lib) {
  struct link_map *map = NULL;
  return dlinfo(lib, RTLD_DI_LINKMAP, &map) || !map ? "libcudart.so"
                                                    : map->l_name;
}

bool tkcu_open(tkcu_runtime *r, char *words, size_t size) {
  void *lib = open_cudart();
  const char *lacks = NULL;
  int version = 0;
  if (!lib) {
    say_unopened(words, size);
    return false;
  }
#define RUNTIME(name, parameters)                                              \
  if (!find_function(lib, "cuda" #name, &r->name) && !lacks)                   \
    lacks = "cuda" #name;
#define DRIVER(name, parameters)
  TKCU_FUNCTIONS(RUNTIME, DRIVER)
#undef RUNTIME
#undef DRIVER
  if (!find_function(lib, "cudaGetErrorString", &r->ErrorString) && !lacks)
    lacks = "cudaGetErrorString";
  if (r->RuntimeGetVersion && r->RuntimeGetVersion(&version)) version = 0;
  const char *file = file_of_library(lib);
  if (version && version < OLDEST)
    snprintf(words, size,
             "the CUDA Runtime that was found, '%s', is of version %d.%d, and "
             "12.8 or newer is expected",
             file, version / 1000, version % 1000 / 10);
  else if (!version || lacks)
    snprintf(words, size,
             "the library that was found, '%s', is not a CUDA Runtime of "
             "version 12.8 or newer: %s '%s'",
             file, lacks ? "it lacks the function" : "it does not answer",
             lacks ? lacks : "cudaRuntimeGetVersion");
  return !lacks && version >= OLDEST;
}
