/* call.h - what the code for a thread calls: inline assembly, functions, and
 * instructions of PTX that LLVM has no other way to write. */
#ifndef TK_NVPTX_CALL_H
#define TK_NVPTX_CALL_H

#include "nvptx/code.h"

/* ---- inline assembly ----------------------------------------------------- */

enum {
  TKV_EFFECT = 1,     /* it has effects beside its results */
  TKV_MEMORY = 2,     /* it reads or writes memory that LLVM does not know of */
  TKV_CONVERGENT = 4, /* the threads of a warp run it together */
  TKV_EARLY = 8       /* it writes results before it has read all operands */
};

typedef struct tkv_asm {
  const char *text; /* of PTX: $0, $1, ... are the results, then the operands */
  const char *constraints; /* as a user writes them; NULL: as types say */
  const tkv_type *out;
  const tkv_reg *in;
  int nout, nin;
  int tied; /* how many of the last operands are initial values of results */
  unsigned flags;
} tkv_asm;

/* The results of inline assembly; each is taken out when it is asked for. */
typedef struct tkv_results {
  tkv_reg all;
  const tkv_type *type;
  int n;
  const char *together; /* the type of all, as text; of several */
} tkv_results;

tkv_results tkv_assemble_text(tkv_code *c, const tkv_asm *a);
tkv_reg tkv_result(tkv_code *c, const tkv_results *r, int i);
/* Assembly without effects, of one operand and one result. */
tkv_reg tkv_asm_of(tkv_code *c, const char *text, tkv_type out, tkv_reg in);
/* Assembly without operands or results that reads or writes memory. */
void tkv_do_asm(tkv_code *c, const char *text);

/* ---- functions ----------------------------------------------------------- */

/* A function that is defined elsewhere, such as one of libdevice. */
tkv_reg tkv_call(tkv_code *c, const char *name, tkv_type result,
                 const tkv_reg *args, int n);
/* A function of libdevice of a float, by the name that C's mathematics has for
 * it: "sin". */
tkv_reg tkv_call_math(tkv_code *c, const char *name, tkv_reg x);
/* An fp8 number of that name as an fp32, and the reverse. */
tkv_reg tkv_from_fp8(tkv_code *c, const char *name, tkv_reg x);
tkv_reg tkv_to_fp8(tkv_code *c, const char *name, tkv_reg x);

/* ---- instructions of PTX ------------------------------------------------- */

/* A special register: "ctaid.x". */
tkv_reg tkv_special(tkv_code *c, const char *name, tkv_type t);
/* All threads of the program meet. */
void tkv_meet(tkv_code *c);
/* Another lane's word, found by an i32 as shfl.sync's `mode` says: "idx". */
tkv_reg tkv_shuffle_word(tkv_code *c, const char *mode, int32_t lanes,
                         tkv_reg x, tkv_reg by);
/* An approximate function of an fp32, by its instruction: "ex2"; with ftz no
 * number is subnormal. */
tkv_reg tkv_approximate(tkv_code *c, const char *instruction, bool ftz,
                        tkv_reg x);

#endif
