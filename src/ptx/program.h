/* program.h - PTX as it runs: names are gone, every operand is a register.
 *
 * A warp's registers are one file of bytes: a predicate is 32 bits, one for
 * each lane; what has 32 bits or fewer is 32 numbers of 32 bits, zeros above
 * its own; the others are 32 numbers of 64.  Immediates and special registers
 * are registers too, filled when a warp begins.
 *
 * Memory: global memory and constants have the addresses of this process, and
 * parameters those that follow TKP_PARAMS.  Shared and local memory are
 * offsets, or, as generic addresses, offsets in windows that no process uses.
 */
#ifndef TK_PTX_PROGRAM_H
#define TK_PTX_PROGRAM_H

#include "ir/asm.h"
#include "ptx/ptx.h"

#define TKP_WARP 32
#define TKP_SHARED_WINDOW UINT64_C(0xFFF1000000000000)
#define TKP_LOCAL_WINDOW UINT64_C(0xFFF2000000000000)
#define TKP_PARAMS UINT64_C(0xFFF00000)
#define TKP_WINDOW_MASK UINT64_C(0xFFFF000000000000)
/* Where .extern .shared begins: a hole behind static memory finds what runs
 * over its end. */
#define TKP_DYNAMIC_SHARED UINT64_C(0x1000000)

typedef struct tkp_warp tkp_warp;
typedef struct tkp_inst tkp_inst;

typedef enum tkp_special {
#define SPECIAL(id, name, bits, axes) TKP_S_##id,
#include "ptx/op.def"
  TKP_S_COUNT
} tkp_special;

typedef enum tkp_space {
  TKP_GENERIC,
  TKP_HOST, /* global, const, parameters of kernels */
  TKP_SHARED,
  TKP_LOCAL, /* and parameters of functions */
} tkp_space;

typedef struct tkp_reg {
  uint32_t at; /* in the warp's file, in bytes */
  uint32_t id; /* from 0, for tkp_warp.set */
  uint8_t bits;
  bool inverted; /* !p */
} tkp_reg;

/* Runs an instruction for the given lanes, of which there is at least one. */
typedef void tkp_run_fn(tkp_warp *w, const tkp_inst *in, uint32_t lanes);

struct tkp_inst {
  tkp_run_fn *run;
  const tkp_reg *d, *s; /* destinations, sources */
  uint8_t nd, ns;
  bool guarded, guard_not;
  bool pure; /* its destinations are set where all sources are */
  uint8_t space;
  uint8_t parts, bytes; /* of a memory access: parts of a vector, bytes each */
  bool sign;            /* of a load: fills wider registers with the sign */
  bool polls;           /* others may change what it reads, or it is atomic */
  uint8_t mode;         /* what run makes of it */
  tkp_reg guard, base;
  int64_t offset;
  int64_t from_offset; /* of the second address of a copy */
  uint32_t target;     /* of a branch */
  uint32_t ntargets;
  const uint32_t *targets;
  const tk_asm_inst *math;
  const char *text; /* of a call: the format's name, for messages */
  tk_span span;     /* in the PTX */
  uint32_t loc;     /* index into tkp_program.locs; 0: none */
};

typedef struct tkp_loc {
  const char *name; /* of the file; NULL: it is that with the number */
  uint32_t file, line, column;
  uint32_t outer; /* loc that this was inlined into; 0: none */
} tkp_loc;

typedef struct tkp_constant {
  tkp_reg reg;
  uint64_t value;
} tkp_constant;

typedef struct tkp_special_use {
  tkp_reg reg;
  uint8_t special, axis;
} tkp_special_use;

typedef struct tkp_param {
  size_t size;
  char *host; /* where the kernel finds it */
} tkp_param;

typedef struct tkp_kernel {
  const char *name;
  tk_span span;
  TK_VEC(tkp_param) params;
  TK_VEC(tkp_inst) code;
  TK_VEC(tkp_constant) constants;
  TK_VEC(tkp_special_use) specials;
  uint32_t nregs;
  uint32_t file_bytes;
  size_t shared, local;
  bool wgmma; /* it has some */
  uint32_t reqntid[3], maxntid[3];
} tkp_kernel;

struct tkp_program {
  tk_arena *arena;
  tk_source *src;
  TK_VEC(tkp_kernel *) kernels;
  TK_VEC(const char *) files; /* by number; NULL: not named */
  TK_VEC(tkp_loc) locs;       /* [0] is not a place */
  bool dynamic;               /* some shared memory has no size */
  TK_VEC(tkp_range) ranges;   /* memory of its own: variables, parameters */
};

/* The name of a place's file; NULL: it has none. */
static inline const char *tkp_loc_file(const tkp_program *p, const tkp_loc *l) {
  if (l->name) return l->name;
  return l->file < p->files.n ? p->files.items[l->file] : NULL;
}

#endif
