/* ptx.h - an interpreter of PTX: kernels as a compiler prints them, run on
 * the CPU with every access checked.
 *
 * It knows neither LLVM nor CUDA nor the kernel's source: only the text.
 *
 * Ownership: a program, and all that is reported of it, belongs to the arena
 * that it was read in; keep that until the report is cleared.  What a launch
 * points to is the caller's.
 *
 * Errors: tkp_parse throws TK_FINDING after it has reported what is wrong,
 * or what this interpreter does not run, at its line; TK_INTERNAL if memory
 * is out.  tkp_run reports and returns.
 */
#ifndef TK_PTX_PTX_H
#define TK_PTX_PTX_H

#include "base/diag.h"

typedef struct tkp_program tkp_program;
typedef struct tkp_witness tkp_witness; /* witness.h */

/* Reads and checks PTX; name is what reports call it.  The text may be of any
 * bytes. */
tkp_program *tkp_parse(tk_arena *a, const char *name, const char *text,
                       size_t size);

/* The i-th kernel; false past the end. */
typedef struct tkp_entry_info {
  const char *name;
  size_t nparams;
  size_t shared;       /* bytes of static shared memory */
  uint32_t threads[3]; /* .reqntid; 0: it has none */
  size_t registers;    /* of a thread, as the text names them */
  bool dynamic;        /* the file names shared memory without a size */
} tkp_entry_info;
bool tkp_entry(const tkp_program *p, size_t i, tkp_entry_info *info);
/* Bytes of the k-th parameter of the i-th kernel; 0 past the end. */
size_t tkp_param_size(const tkp_program *p, size_t i, size_t k);

/* A tensor map, 128 bytes that a kernel has as a parameter or makes: a tensor
 * in global memory, the innermost axis first, and the box of it that is copied.
 * outer, type, swizzle, interleave and fill are the numbers of
 * tensormap.replace: a compiler leaves out those that are 0. */
enum { TKP_MAP_RANK = 5 };
typedef struct tkp_tensor_map {
  uint64_t address;
  uint64_t strides[TKP_MAP_RANK - 1]; /* of the outer axes, in bytes */
  uint32_t dims[TKP_MAP_RANK], box[TKP_MAP_RANK];
  uint32_t steps[TKP_MAP_RANK]; /* between elements of a box */
  uint8_t outer;                /* axes besides the innermost one */
  uint8_t type, swizzle, interleave, fill, unused[3];
  uint32_t mark;
  uint32_t reserved[4];
} tkp_tensor_map;
unsigned tkp_map_rank(const tkp_tensor_map *map);
/* Marks a map whose fields are set as one. */
void tkp_tensor_map_finish(tkp_tensor_map *map);

/* Global memory that the launch may touch; ranges do not overlap, and come in
 * the order of their addresses. */
typedef struct tkp_range {
  uint64_t base, size;
  const char *name; /* what reports call it: the parameter */
  bool writable;
  uint8_t *host; /* where base is in this process; NULL: at base */
} tkp_range;

typedef struct tkp_launch {
  const char *entry; /* NULL: the only one */
  uint32_t grid[3], block[3];
  size_t dynamic_shared;
  const void *const *params; /* to each parameter's bytes, as
                                cudaLaunchKernel takes them */
  size_t nparams;
  const tkp_range *ranges;
  size_t nranges;
  bool unchecked; /* without races and registers never set */
  uint64_t steps; /* thread-instructions of a launch at most; 0: any */
  const tk_source *const *sources; /* texts that .loc may lead to, by name */
  size_t nsources;
  void (*print)(void *ud, const char *text, size_t n); /* NULL: dropped */
  void *print_ud;
  tkp_witness *witness; /* keeps what a program computes; NULL: none does */
} tkp_launch;

typedef struct tkp_summary {
  uint64_t instructions; /* of threads */
  uint64_t programs;
} tkp_summary;

/* Runs a launch: its programs one after the other, those that wait for each
 * other in turn.  Findings go to the report of the arena's env.  Returns
 * TK_OK, or TK_FINDING (an access that must not happen, a deadlock, an
 * assertion, the step limit; after races and undefined registers the run goes
 * on, but it is TK_FINDING in the end; warnings alone are TK_OK), TK_USAGE (no
 * such kernel, other parameters), TK_INTERRUPTED, TK_INTERNAL.  sum may be
 * NULL. */
tk_status tkp_run(tkp_program *p, const tkp_launch *launch, tkp_summary *sum);

#endif
