/* runtime.h - the part of the CUDA Runtime that is used, opened at run time:
 * neither its headers nor its library are needed to build.
 *
 * Source: CUDA Runtime API and CUDA Driver API reference, 12.8.
 */
#ifndef TK_CUDA_RUNTIME_H
#define TK_CUDA_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cudaLaunchConfig_t */
typedef struct tkcu_config {
  uint32_t grid[3], block[3];
  size_t dynamic_shared;
  void *stream, *attributes;
  unsigned nattributes;
} tkcu_config;

/* CUmemLocation, CUmemAllocationProp, CUmemAccessDesc */
typedef struct tkcu_location {
  int type, id;
} tkcu_location;
typedef struct tkcu_allocation {
  int type, handle_types;
  tkcu_location location;
  void *windows;
  unsigned char compression, gpu_direct;
  unsigned short usage;
  unsigned char reserved[4];
} tkcu_allocation;
typedef struct tkcu_access {
  tkcu_location location;
  int flags;
} tkcu_access;

/* Functions of the runtime: RUNTIME(name, parameters); of the driver, which
 * alone can place memory at an address: DRIVER(name, parameters).  All of them
 * return 0, or an error. */
#define TKCU_FUNCTIONS(RUNTIME, DRIVER)                                        \
  RUNTIME(RuntimeGetVersion, (int *))                                          \
  RUNTIME(DriverGetVersion, (int *))                                           \
  RUNTIME(GetDeviceCount, (int *))                                             \
  RUNTIME(SetDevice, (int))                                                    \
  RUNTIME(DeviceGetAttribute, (int *, int attribute, int device))              \
  RUNTIME(GetDriverEntryPointByVersion,                                        \
          (const char *, void **, unsigned version, unsigned long long flags,  \
           int *found))                                                        \
  RUNTIME(LibraryLoadData,                                                     \
          (void **library, const void *code, const int *options,               \
           void **values, unsigned noptions, const int *, void **, unsigned))  \
  RUNTIME(LibraryGetKernel, (void **kernel, void *library, const char *))      \
  RUNTIME(FuncSetAttribute, (const void *, int attribute, int value))          \
  RUNTIME(LaunchKernelExC, (const tkcu_config *, const void *, void **))       \
  RUNTIME(DeviceSynchronize, (void))                                           \
  RUNTIME(Memcpy, (void *to, const void *from, size_t, int kind))              \
  RUNTIME(EventCreate, (void **))                                              \
  RUNTIME(EventRecord, (void *, void *stream))                                 \
  RUNTIME(EventElapsedTime, (float *, void *, void *))                         \
  DRIVER(DeviceGetName, (char *, int, int device))                             \
  DRIVER(MemAddressReserve,                                                    \
         (uint64_t *, size_t, size_t alignment, uint64_t, unsigned long long)) \
  DRIVER(MemAddressFree, (uint64_t, size_t))                                   \
  DRIVER(MemCreate, (uint64_t * handle, size_t, const tkcu_allocation *,       \
                     unsigned long long))                                      \
  DRIVER(MemMap, (uint64_t, size_t, size_t offset, uint64_t handle,            \
                  unsigned long long))                                         \
  DRIVER(MemSetAccess, (uint64_t, size_t, const tkcu_access *, size_t))

typedef struct tkcu_runtime {
#define FUNCTION(name, parameters) int(*name) parameters;
  TKCU_FUNCTIONS(FUNCTION, FUNCTION)
#undef FUNCTION
  const char *(*ErrorString)(int);
} tkcu_runtime;

/* Opens the newest runtime that there is.  False: words says what was found,
 * and what is expected. */
bool tkcu_open(tkcu_runtime *r, char *words, size_t size);

#endif
