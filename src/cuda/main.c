/* main.c - the program tkdbg-cuda: one launch on a GPU.
 *
 *     tkdbg-cuda FD
 *
 * FD is a request (request.h).  What the kernel prints goes to standard
 * output.  It is a process of its own since a kernel that faults, or never
 * ends, takes the process's CUDA with it, and since a host program may use
 * CUDA itself.
 *
 * Pointers, also those that lie in memory, are addresses of the launch.  So
 * memory is placed where the launch has it: address space is reserved there,
 * and memory mapped into
 * it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/request.h"
#include "cuda/runtime.h"

typedef struct known_error {
  int number;
  tkcu_outcome outcome;
  const char *words, *help;
} known_error;

static const known_error known_errors[] = {
#define ERROR(number, outcome, words, help)                                    \
  {number, TKCU_##outcome, words, help},
#include "cuda/error.def"
#undef ERROR
};

typedef struct gpu {
  tkcu_request *request;
  char *file; /* the request's bytes */
  tkcu_runtime cuda;
  char log[TKCU_WORDS / 2]; /* of the driver's compiler */
} gpu;

/* ---- answers ------------------------------------------------------------- */

static _Noreturn void answer(gpu *g, tkcu_outcome outcome, const char *help,
                             const char *words, ...)
    __attribute__((format(printf, 4, 5)));

static _Noreturn void answer(gpu *g, tkcu_outcome outcome, const char *help,
                             const char *words, ...) {
  va_list ap;
  va_start(ap, words);
  vsnprintf(g->request->words, TKCU_WORDS, words, ap);
  va_end(ap);
  snprintf(g->request->help, TKCU_WORDS, "%s", help ? help : "");
  g->request->outcome = outcome;
  exit(outcome != TKCU_OK);
}

/* Ends the process with the error's message, if there is an error. */
static void check(gpu *g, int error, const char *doing) {
  if (!error) return;
  for (size_t i = 0; i < sizeof known_errors / sizeof *known_errors; i++) {
    const known_error *k = &known_errors[i];
    if (k->number == error)
      answer(g, k->outcome, k->help, "%s%s%s", k->words, *g->log ? ": " : "",
             g->log);
  }
  answer(g, TKCU_MISSING, NULL, "%s failed: %s (CUDA error %d)", doing,
         g->cuda.ErrorString(error), error);
}

/* ---- the device ---------------------------------------------------------- */

static void open_driver(gpu *g) {
  int found;
#define RUNTIME(name, parameters)
#define DRIVER(name, parameters)                                               \
  {                                                                            \
    void *address = NULL;                                                      \
    check(g,                                                                   \
          g->cuda.GetDriverEntryPointByVersion("cu" #name, &address, 12080, 0, \
                                               &found),                        \
          "finding cu" #name);                                                 \
    if (!address)                                                              \
      answer(g, TKCU_MISSING, "install a newer driver",                        \
             "the driver has no cu" #name);                                    \
    memcpy(&g->cuda.name, &address, sizeof address);                           \
  }
  TKCU_FUNCTIONS(RUNTIME, DRIVER)
#undef RUNTIME
#undef DRIVER
}

/* A damaged library may end the process while it is opened, so the answer says
 * beforehand that this is being done. */
static void open_runtime(gpu *g) {
  static const char help[] =
      "install the CUDA Runtime, 12.8 or newer (with PyTorch: pip install "
      "nvidia-cuda-runtime), or name its libcudart.so in TKDBG_CUDART";
  char missing[TKCU_WORDS];
  const char *given = getenv("TKDBG_CUDART");
  snprintf(g->request->words, TKCU_WORDS, "it opened the CUDA Runtime '%s'",
           given && *given ? given : "libcudart.so");
  snprintf(g->request->help, TKCU_WORDS, "%s", help);
  if (!tkcu_open(&g->cuda, missing, sizeof missing))
    answer(g, TKCU_MISSING, help, "%s", missing);
  *g->request->words = *g->request->help = 0;
}

static void open_device(gpu *g) {
  enum { MAJOR = 75, MINOR = 76 }; /* cudaDevAttrComputeCapabilityMajor ... */
  int count = 0, major = 0, minor = 0, driver = 0, runtime = 0;
  open_runtime(g);
  check(g, g->cuda.GetDeviceCount(&count), "counting GPUs");
  if (!count) check(g, 100, "counting GPUs");
  check(g, g->cuda.SetDevice(0), "opening the GPU");
  check(g, g->cuda.DriverGetVersion(&driver), "asking the driver");
  check(g, g->cuda.RuntimeGetVersion(&runtime), "asking the runtime");
  check(g, g->cuda.DeviceGetAttribute(&major, MAJOR, 0), "asking the GPU");
  check(g, g->cuda.DeviceGetAttribute(&minor, MINOR, 0), "asking the GPU");
  open_driver(g);
  tkcu_request *r = g->request;
  check(g, g->cuda.DeviceGetName(r->device, sizeof r->device, 0),
        "asking the GPU");
  r->capability = (uint32_t)(10 * major + minor);
  r->driver = (uint32_t)driver;
  r->runtime = (uint32_t)runtime;
}

/* ---- memory -------------------------------------------------------------- */

/* Memory is mapped in grains; address space is only given at a hint that is
 * aligned so, and in pieces that are large enough. */
static const uint64_t grain = (uint64_t)1 << 21, window = (uint64_t)1 << 25,
                      widest = (uint64_t)1 << 33;

/* Reserves the windows from lo to hi, or more after them. */
static void reserve(gpu *g, uint64_t lo, uint64_t hi) {
  for (uint64_t size = hi - lo; size <= widest || size == hi - lo; size *= 2) {
    uint64_t got = 0;
    if (g->cuda.MemAddressReserve(&got, size, 0, lo, 0)) continue;
    if (got == lo) return;
    g->cuda.MemAddressFree(got, size);
  }
  answer(g, TKCU_BUSY, NULL,
         "the GPU cannot have memory at the address 0x%llx of the launch",
         (unsigned long long)lo);
}

static void map_memory(gpu *g, uint64_t lo, uint64_t hi) {
  tkcu_location here = {1, 0};
  tkcu_allocation kind = {.type = 1, .location = here};
  tkcu_access access = {here, 3};
  uint64_t handle;
  check(g, g->cuda.MemCreate(&handle, hi - lo, &kind, 0), "allocating");
  check(g, g->cuda.MemMap(lo, hi - lo, 0, handle, 0), "mapping memory");
  check(g, g->cuda.MemSetAccess(lo, hi - lo, &access, 1), "mapping memory");
}

static uint64_t down(uint64_t x, uint64_t to) {
  return x & ~(to - 1);
}
static uint64_t up(uint64_t x, uint64_t to) {
  return down(x + to - 1, to);
}

/* Calls fn for each stretch of the ranges, rounded to `to`, without gaps. */
static void each_stretch(gpu *g, uint64_t to,
                         void (*fn)(gpu *g, uint64_t lo, uint64_t hi)) {
  const tkcu_range *r = (const void *)(g->file + g->request->ranges);
  uint64_t n = g->request->nranges;
  for (uint64_t i = 0; i < n;) {
    uint64_t lo = down(r[i].base, to), hi = up(r[i].base + r[i].size, to);
    for (i++; i < n && down(r[i].base, to) <= hi; i++)
      hi = up(r[i].base + r[i].size, to);
    fn(g, lo, hi);
  }
}

enum { TO_DEVICE = 1, TO_HOST = 2 }; /* cudaMemcpyKind */

static void copy_memory(gpu *g, int kind) {
  const tkcu_range *r = (const void *)(g->file + g->request->ranges);
  for (uint64_t i = 0; i < g->request->nranges; i++) {
    void *device = (void *)(uintptr_t)r[i].base, *host = g->file + r[i].at;
    bool out = kind == TO_HOST;
    if (out && !r[i].writable) continue;
    check(g,
          g->cuda.Memcpy(out ? host : device, out ? device : host,
                         (size_t)r[i].size, kind),
          "copying memory");
  }
}

/* ---- the launch ---------------------------------------------------------- */

static void *load_kernel(gpu *g) {
  enum { LOG = 5, LOG_SIZE = 6 }; /* cudaJitErrorLogBuffer ... */
  const int options[] = {LOG, LOG_SIZE};
  void *values[] = {g->log, (void *)(uintptr_t)sizeof g->log};
  void *library = NULL, *kernel = NULL;
  const tkcu_request *r = g->request;
  check(g,
        g->cuda.LibraryLoadData(&library, g->file + r->code, options, values, 2,
                                NULL, NULL, 0),
        "loading the kernel");
  *g->log = '\0';
  check(g,
        g->cuda.LibraryGetKernel(&kernel, library, (const char *)r + r->entry),
        "finding the kernel");
  enum { DYNAMIC_SHARED = 8 }; /* cudaFuncAttributeMaxDynamicShared... */
  if (r->shared &&
      g->cuda.FuncSetAttribute(kernel, DYNAMIC_SHARED, (int)r->shared))
    answer(g, TKCU_FAULT, "use smaller blocks, or fewer stages",
           "a program needs %u bytes of shared memory, more than this GPU has",
           r->shared);
  return kernel;
}

static void launch(gpu *g, const void *kernel) {
  tkcu_request *r = g->request;
  uint64_t *params = (void *)(g->file + r->params);
  void **args = calloc(r->nparams + 1, sizeof *args), *from, *to;
  tkcu_config c = {.dynamic_shared = r->shared};
  memcpy(c.grid, r->grid, sizeof c.grid);
  memcpy(c.block, r->block, sizeof c.block);
  for (uint64_t i = 0; i < r->nparams; i++) args[i] = &params[i];
  check(g, g->cuda.EventCreate(&from), "making an event");
  check(g, g->cuda.EventCreate(&to), "making an event");
  check(g, g->cuda.EventRecord(from, NULL), "recording an event");
  check(g, g->cuda.LaunchKernelExC(&c, kernel, args), "the launch");
  check(g, g->cuda.EventRecord(to, NULL), "recording an event");
  check(g, g->cuda.DeviceSynchronize(), "the kernel");
  float ms;
  check(g, g->cuda.EventElapsedTime(&ms, from, to), "reading an event");
  r->milliseconds = (double)ms;
  free(args);
}

int main(int argc, char **argv) {
  gpu g = {0};
  tkcu_request head;
  int fd = argc == 2 ? atoi(argv[1]) : -1;
  if (fd <= 2 || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head) {
    fputs("tkdbg-cuda: tkdbg starts this program, with a request\n", stderr);
    return 2;
  }
  g.file = mmap(NULL, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (g.file == MAP_FAILED) return 2;
  g.request = (void *)g.file;
  open_device(&g);
  if (head.code) {
    each_stretch(&g, window, reserve);
    each_stretch(&g, grain, map_memory);
    copy_memory(&g, TO_DEVICE);
    launch(&g, load_kernel(&g));
    copy_memory(&g, TO_HOST);
  }
  fflush(stdout);
  g.request->words[0] = '\0';
  g.request->outcome = TKCU_OK;
  return 0;
}
