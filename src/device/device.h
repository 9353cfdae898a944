/* device.h - launches as a GPU runs them: compiled to PTX (nvptx/nvptx.h), and
 * that interpreted (ptx/ptx.h), or run on a GPU by the program tkdbg-cuda
 * (cuda/request.h); or by the Triton that is installed.
 *
 * What is compiled belongs to the run; the PTX text that reports point into, to
 * the session.
 */
#ifndef TK_DEVICE_DEVICE_H
#define TK_DEVICE_DEVICE_H

#include "launch/session.h"
#include "nvptx/nvptx.h"
#include "ptx/ptx.h"
#include "tkdbg/compile.h"
#include "tkdbg/tkdbg.h"

/* Engines: rows of run/engine.def. */
tk_status tkg_launch_run(tk_launch *l, const tk_run_options *options,
                         tk_summary *summary);
tk_status tkg_launch_run_gpu(tk_launch *l, const tk_run_options *options,
                             tk_summary *summary);
/* The address in the launch of one that a kernel on a GPU saw. */
uint64_t tkg_launch_address(uint64_t address);
/* Whether there seems to be a GPU; costs some milliseconds. */
bool tkg_gpu_is_there(const char **why);

/* Engines too: the launch as the Triton that is installed runs it, on a GPU or
 * by Triton's interpreter. */
tk_status tkg_launch_triton(tk_launch *l, const tk_run_options *options,
                            tk_summary *summary);
tk_status tkg_launch_triton_interpret(tk_launch *l,
                                      const tk_run_options *options,
                                      tk_summary *summary);
/* ... as the code that Triton's compiler makes of it, interpreted (ptx/ptx.h).
 */
tk_status tkg_launch_triton_ptx(tk_launch *l, const tk_run_options *options,
                                tk_summary *summary);
/* ... beside a witness of what its instructions compute. */
tk_status tkg_launch_triton_ptx_beside(tk_launch *l,
                                       const tk_run_options *options,
                                       tkp_witness *witness,
                                       tk_summary *summary);
/* Whether a Python has it; starts that, which costs some 30 milliseconds. */
bool tkg_triton_is_there(const char **why);
bool tkg_triton_interpreter_is_there(const char **why);
bool tkg_triton_compiler_is_there(const char **why);

/* ... of a function that tk_ptx_open gave: as it is (file.c). */
tk_status tkg_launch_ptx_file(tk_launch *l, const tk_run_options *options,
                              tk_summary *summary);
/* The launch's memory, and that of the launcher if it has a size, in the order
 * of addresses; memory at low addresses is perhaps moved. */
void tkg_find_ranges(tk_launch *l, tk_arena *arena, bool moved,
                     const tkp_range *scratch, tkp_launch *to);

/* What Triton's launcher makes of an argument: itself; or, of a descriptor, a
 * tensor map, or the tensor's address, lengths, strides and flags, and in both
 * cases lengths and strides once more. */
typedef struct tkg_code_param {
  unsigned rank; /* of a descriptor; 0: it is none */
  bool mapped;
  uint8_t type, swizzle; /* of a map, by tkp_tensor_map's numbers */
  unsigned flags;        /* how many, if it is not mapped */
  uint32_t box[TKP_MAP_RANK];
} tkg_code_param;

/* What Triton's compiler makes of a launch; kept with its unit. */
typedef struct tkg_code {
  int64_t options[TK_LAUNCH_OPTIONS]; /* that it was compiled with */
  const char *compile[TK_COMPILE_COUNT];
  const char *arch;
  const char *ptx; /* size bytes, and a null byte */
  size_t size;
  const char *entry; /* its kernel */
  size_t nparams;    /* of the launch; its launcher passes some more */
  const tkg_code_param *params;
  size_t shared;  /* bytes of dynamic shared memory */
  uint32_t warps; /* of a program */
  size_t scratch; /* bytes of global memory for each program */
} tkg_code;
/* Of a launch that was specialised, for a GPU by name.  Throws if Triton does
 * not compile it, TK_FINDING, or cannot be asked. */
const tkg_code *tkg_code_by_triton(tk_env *e, tk_launch *l, const char *arch);

/* As tk_launch_emit, by the installed Triton's compiler; all options are
 * there. */
tk_status tkg_launch_emit(tk_launch *l, const tk_emit_options *o,
                          const char **out);

/* The stages of a launch that can be read, by the installed Triton's compiler,
 * as tkv_take_stages gives this one's. */
void tkg_take_triton_stages(tk_env *e, tk_launch *l, tkv_take_stage *take,
                            void *ud);

/* A copy of the launch in its session, by a launch file: the caller frees it.
 */
tk_status tkg_launch_copy(tk_launch *l, tk_launch **out);
/* What the launch may write is then what it is in a copy. */
void tkg_take_memory(tk_launch *l, tk_launch *copy);

/* What the launcher passes for a descriptor: adds where each parameter's bytes
 * are.  Throws if the argument is none of as many axes. */
typedef TK_VEC(const void *) tkg_pointers;
void tkg_pass_descriptor(tk_arena *a, const tk_launch *l, size_t arg,
                         const tkg_code_param *p, tkg_pointers *to);

/* Whether a driver of an NVIDIA GPU is installed. */
bool tkg_has_driver(void);
/* For how long a GPU may take: $TKDBG_GPU_TIMEOUT, or 60. */
double tkg_seconds(void);
/* Throws if an option asks for what only the interpreter does. */
void tkg_check_options(tk_env *e, const tk_run_options *o, const char *engine);

/* Runs PTX on a GPU: memory is then as the launch left it.  False: it cannot
 * have memory at an address of the launch.  Throws what else is wrong. */
bool tkg_run_on_gpu(tk_env *e, const char *ptx, const tkp_launch *launch);

#endif
