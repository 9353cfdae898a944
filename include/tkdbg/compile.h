/* compile.h - what the compiler makes of a launch, stage by stage, as text.
 *
 * The first stage, "ttir", is the typed form in single assignment, as the
 * passes leave it: what Triton calls TTIR.  It is a form like any other:
 * tk_ir_open reads it, and it runs to the same bits.  src/nvptx/nvptx.h says
 * what holds of it beyond the form's own rules.  "axis" is the same with
 * comments: contiguity, divisibility and constancy of integers and pointers.
 * "layouts" is the same with the layout that each block is made in.  "llir" is
 * code for a thread, as LLVM's IR, and "ptx" what LLVM 19 makes of it, if the
 * plug-in libtkdbg-nvptx.so is there; its last line is a comment that says what
 * registers and memory it takes, where NVIDIA's ptxas is there.  "cubin" is
 * machine code by ptxas in a file; its text is that line.
 *
 * Or the compiler is that of the Triton that is installed: "ttir", "ttgir",
 * "llir", "ptx" and "sass" are then what it has at these stages.
 *
 * Ownership: the caller owns options; texts belong to the launch, until the
 * next one is asked for.
 */
#ifndef TKDBG_COMPILE_H
#define TKDBG_COMPILE_H

#include "tkdbg/tkdbg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tk_emit_options {
  size_t size;        /* sizeof(tk_emit_options) */
  const char *emit;   /* a stage; NULL: the first */
  const char *skip;   /* passes that do not run, "cse,licm"; NULL: none */
  bool after_all;     /* before it the form after each pass, each below a line
                       * that names it */
  const char *arch;   /* PTX is for it: "sm_90"; NULL: sm_80, which all run */
  const char *output; /* the file for a cubin, or for the text, which is then
                       * empty; NULL: none */
  const char *by;     /* "triton": by Triton's compiler, with neither skip nor
                       * after_all; NULL or "tkdbg": by this one */
} tk_emit_options;

/* The launch's kernel at that stage, as text.  Fails, and *out is NULL, when it
 * does not compile (TK_FINDING) and when there is no such stage, pass or
 * architecture (TK_USAGE), once that is reported. */
tk_status tk_launch_emit(tk_launch *l, const tk_emit_options *o,
                         const char **out);

/* What compiled code is kept in files: those that there are, or with `clear`
 * those that were and are removed.  False: there is no folder for them.  The
 * folder is $TKDBG_CACHE_DIR, else $XDG_CACHE_HOME/tkdbg, else
 * ~/.cache/tkdbg. */
typedef struct tk_cache_summary {
  char folder[4096];
  uint64_t entries, bytes;
} tk_cache_summary;
bool tk_cache_look(tk_cache_summary *out, bool clear);

/* Where the ptxas is that makes cubins: $TKDBG_PTXAS, else CUDA's or the
 * installed Triton's.  False: there is none, or its path takes more than size
 * bytes. */
bool tk_ptxas_path(char *out, size_t size);

/* A drawing of a layout: which register of which thread holds which element of
 * a block of that shape.  The layout is written as Triton writes it,
 * "#blocked<{sizePerThread = [1, 4], ...}>".  The text belongs to the session,
 * until it is freed.  Fails (TK_USAGE), and *out is NULL, once what is wrong is
 * reported.  Sizes are powers of two. */
tk_status tk_layout_draw(tk_session *s, const char *layout,
                         const int64_t *shape, int rank, const char **out);

/* The i-th stage, the i-th pass, in the order in which they come, with a line
 * about it, and the i-th architecture; NULL past the end. */
const char *tk_arch_name(size_t i);
const char *tk_stage_name(size_t i);
const char *tk_stage_doc(size_t i);
const char *tk_pass_name(size_t i);
const char *tk_pass_doc(size_t i);

#ifdef __cplusplus
}
#endif

#endif
