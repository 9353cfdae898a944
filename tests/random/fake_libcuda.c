/* fake_libcuda.c - a CUDA driver without a GPU, for tests of carried.py.
 *
 * Memory is this process's own.  Kernels leave it as it is, or do what
 * FAKE_CUDA says: "crash", "hang", "none" (no GPU), or the number of an error
 * that the launch has.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *asked(void) {
  const char *said = getenv("FAKE_CUDA");
  return said ? said : "";
}

int cuInit(unsigned flags) {
  return strcmp(asked(), "none") ? (int)flags : 100;
}
int cuGetErrorString(int error, const char **text) {
  static char said[40];
  snprintf(said, sizeof said, "fake error %d", error);
  *text = said;
  return 0;
}
int cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char *name, int size, int device) {
  return snprintf(name, (size_t)size, "fake GPU %d", device) < 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = NULL;
  return device;
}
int cuCtxSetCurrent(void *context) {
  return context != NULL;
}

/* ---- memory -------------------------------------------------------------- */

int cuMemAlloc_v2(uint64_t *at, size_t size) {
  *at = (uint64_t)(uintptr_t)malloc(size);
  return 0;
}
int cuMemFree_v2(uint64_t at) {
  free((void *)(uintptr_t)at);
  return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
  memcpy((void *)(uintptr_t)to, from, size);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
  memcpy(to, (void *)(uintptr_t)from, size);
  return 0;
}

/* ---- launches ------------------------------------------------------------ */

/* Machine code for a GPU is an ELF file. */
int cuModuleLoadData(void **module, const char *code) {
  *module = NULL;
  return memcmp(code, "\177ELF", 4) ? 200 : 0;
}
int cuModuleUnload(void *module) {
  return module != NULL;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return !*name;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  return function != NULL && attribute && value;
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z,
                   unsigned threads, unsigned one, unsigned also_one,
                   unsigned shared, void *stream, void **params, void **extra) {
  if (function || stream || extra || shared > 228u << 10 || !params) return 1;
  if (!x || !y || !z || threads % 32 || one != 1 || also_one != 1) return 1;
  if (!strcmp(asked(), "crash")) raise(SIGSEGV);
  if (!strcmp(asked(), "hang")) pause();
  return 0;
}
int cuCtxSynchronize(void) {
  return atoi(asked());
}
