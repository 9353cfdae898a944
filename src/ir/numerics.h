/* numerics.h - what code for a GPU computes in another way than the definition
 * says.
 *
 * Code for a GPU (src/nvptx), and the interpreter with `--numerics device`,
 * both go by it, so that their bits agree.  docs/numerics.md lists it.
 */
#ifndef TK_IR_NUMERICS_H
#define TK_IR_NUMERICS_H

#include "base/diag.h"
#include "ir/ir.h"

/* The word for the option; NULL is "definition".  Throws TK_USAGE. */
bool tk_numerics_are_device(tk_env *e, const char *word);

/* ---- lane-wise instructions ---------------------------------------------- */

typedef enum tk_way {
  TK_WAY_DEFINED,     /* as defined */
  TK_WAY_APPROXIMATE, /* by a row of approximate.def */
  TK_WAY_REMAINDER,   /* of floats: a - trunc(a / b) * b, of which the quotient
                         is rounded, and the rest once; a, if b is infinite */
  TK_WAY_LIBRARY,     /* by a function of libdevice */
} tk_way;

tk_way tk_way_of(const tk_inst *in);
/* The same of a function of floats. */
tk_way tk_way_of_unary(tk_unary op, tk_accuracy accuracy, tk_dtype d);

/* Functions of libdevice are code: whoever can compile and run that lends them
 * to a launch, whose device numerics compute with it. */
typedef struct tk_library tk_library;
struct tk_library {
  /* d[i] = what an instruction of TK_WAY_LIBRARY makes of args[0][i], ...; d is
   * none of the operands.  Throws. */
  void (*apply)(tk_library *l, tk_env *e, const tk_inst *in, void *d,
                const void *const *args, size_t n);
};

/* ---- products of matrices -------------------------------------------------
 *
 * Tensor cores take tiles of 16 x 8 with 256 bits of k: f16, bf16, tf32 and
 * int8; fp8 is exact as f16.  Of fp32 they read what tf32 has; for tf32x3,
 * bf16x3 and bf16x6 an operand is split into parts, the largest first, which
 * are multiplied one by one, the smallest products first (Triton: F32DotTC).
 * What does not come in such tiles, fp64 and fp32 that must be exact is
 * multiplied in each thread, by fused operations in ascending k.
 */

typedef struct tk_mma {
  const char *format; /* PTX's word for what tensor cores multiply; NULL: they
                         are not used */
  tk_dtype by;        /* what they multiply */
  int pack;           /* log2 of how many operands a register has */
  int parts;          /* of each operand */
  bool cut;           /* threads multiply what tf32 has of an operand */
} tk_mma;

/* Terms of k that an instruction adds up at once. */
static inline size_t tk_mma_step(const tk_mma *x) {
  return (size_t)8 << x->pack;
}

/* Of a DOT in that function. */
tk_mma tk_mma_of(const tk_func *f, const tk_inst *in);

#endif
