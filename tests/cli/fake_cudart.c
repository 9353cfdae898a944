/* fake_cudart.c - a CUDA Runtime without a GPU, for tests of tkdbg-cuda.
 *
 * Memory is this process's own, at the addresses that are asked for.  Every
 * kernel adds one to the first byte of its first tensor, or does what FAKE_CUDA
 * says: "hang", "busy" (no address is free), "crash", "old", "none" (no GPU),
 * or the number of an error that the launch has.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int wants(const char *what) {
  const char *asked = getenv("FAKE_CUDA");
  return asked && !strcmp(asked, what);
}

static int error_of_launch(void) {
  const char *asked = getenv("FAKE_CUDA");
  return asked ? atoi(asked) : 0;
}

int cudaRuntimeGetVersion(int *version) {
  *version = wants("old") ? 11080 : 12080;
  return 0;
}
int cudaDriverGetVersion(int *version) {
  *version = 12080;
  return 0;
}
int cudaGetDeviceCount(int *count) {
  *count = !wants("none");
  return 0;
}
int cudaSetDevice(int device) {
  return device;
}
int cudaDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? 9 : device;
  return 0;
}

/* ---- the driver ---------------------------------------------------------- */

static int get_name(char *name, int size, int device) {
  (void)device;
  snprintf(name, (size_t)size, "fake");
  return 0;
}
static int reserve(uint64_t *got, size_t size, size_t alignment, uint64_t hint,
                   unsigned long long flags) {
  (void)alignment, (void)flags, (void)size;
  *got = wants("busy") ? 4096 : hint;
  return 0;
}
static int release(uint64_t at, size_t size) {
  return (at + size) == 0;
}
static int make(uint64_t *handle, size_t size, const void *kind,
                unsigned long long flags) {
  (void)kind, (void)flags, (void)size;
  *handle = 1;
  return 0;
}
static int map(uint64_t at, size_t size, size_t offset, uint64_t handle,
               unsigned long long flags) {
  (void)offset, (void)handle, (void)flags;
  void *got = mmap((void *)(uintptr_t)at, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  return got == MAP_FAILED ? 2 : 0;
}
static int allow(uint64_t at, size_t size, const void *access, size_t n) {
  (void)at, (void)size, (void)access;
  return n != 1;
}

int cudaGetDriverEntryPointByVersion(const char *name, void **out,
                                     unsigned version, unsigned long long flags,
                                     int *found) {
  const struct {
    const char *name;
    void *address;
  } all[] = {{"cuDeviceGetName", (void *)get_name},
             {"cuMemAddressReserve", (void *)reserve},
             {"cuMemAddressFree", (void *)release},
             {"cuMemCreate", (void *)make},
             {"cuMemMap", (void *)map},
             {"cuMemSetAccess", (void *)allow}};
  (void)version, (void)flags;
  *found = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(all[i].name, name)) *out = all[i].address;
  return 0;
}

/* ---- the launch ---------------------------------------------------------- */

int cudaLibraryLoadData(void **library, const void *code, const int *options,
                        void **values, unsigned n, const int *o, void **v,
                        unsigned m) {
  (void)options, (void)values, (void)n, (void)o, (void)v, (void)m;
  *library = (void *)1;
  return strstr(code, ".entry") ? 0 : 218;
}
int cudaLibraryGetKernel(void **kernel, void *library, const char *name) {
  *kernel = library;
  return !*name;
}
int cudaFuncSetAttribute(const void *kernel, int attribute, int value) {
  (void)kernel, (void)attribute;
  return value > 232448;
}
int cudaLaunchKernelExC(const void *config, const void *kernel, void **args) {
  unsigned char *first;
  (void)config, (void)kernel;
  memcpy(&first, args[0], sizeof first);
  if (wants("hang")) sleep(1000);
  if (wants("crash")) abort();
  if (!error_of_launch()) first[0]++;
  puts("printed by the kernel");
  return error_of_launch();
}
int cudaDeviceSynchronize(void) {
  return 0;
}
int cudaMemcpy(void *to, const void *from, size_t n, int kind) {
  memcpy(to, from, n);
  return kind != 1 && kind != 2;
}
int cudaEventCreate(void **event) {
  *event = NULL;
  return 0;
}
int cudaEventRecord(void *event, void *stream) {
  return event != stream;
}
int cudaEventElapsedTime(float *ms, void *from, void *to) {
  *ms = 1;
  return from != to;
}
const char *cudaGetErrorString(int error) {
  (void)error;
  return "an error";
}
