/* code.h - the code for one thread, written instruction by instruction.
 *
 * The rules of the generator say what is computed, by functions that take
 * typed registers and give one: r = tkv_add(c, a, b).  How LLVM spells that
 * (LangRef of LLVM 19; NVPTXUsage) is known to code.c and code_module.c alone,
 * which check the types of all operands as they print them.  Inline assembly
 * is PTX, which the rules know.
 *
 * Everything belongs to the arena that the code was made
 * in. */
#ifndef TK_NVPTX_CODE_H
#define TK_NVPTX_CODE_H

#include "base/diag.h"
#include "nvptx/reg.h"

typedef struct tkv_code tkv_code;

/* Makes the code of a kernel of that file. Freeing accepts NULL. */
tkv_code *tkv_new_code(tk_arena *a, const tk_source *src);
void tkv_free_code(tkv_code *c);
/* Code that is added from here on comes from that place of the source, */
void tkv_set_location(tkv_code *c, const tk_source *src, tk_span span);
/* which is in that file and line. */
const tk_source *tkv_file_of_code(const tkv_code *c);
int tkv_line_of_code(const tkv_code *c);

/* ---- the operations of code.def ------------------------------------------ */

typedef enum tkv_op {
#define BINARY(id, kind, text) TKV_OP_##id,
#define CAST(id, from, to, text) TKV_OP_##id,
#define MATH1(id, kind, text) TKV_OP_##id,
#define MATH2(id, kind, text) TKV_OP_##id,
#define MATH3(id, kind, text) TKV_OP_##id,
#include "nvptx/code.def"
  TKV_OP_COUNT
} tkv_op;

typedef enum tkv_comparison {
#define COMPARE(id, kind, text) TKV_##id,
#include "nvptx/code.def"
} tkv_comparison;

tkv_reg tkv_binary(tkv_code *c, tkv_op op, tkv_reg a, tkv_reg b);
tkv_reg tkv_cast(tkv_code *c, tkv_op op, tkv_reg x, tkv_type to);
tkv_reg tkv_math(tkv_code *c, tkv_op op, const tkv_reg *x, int n);
tkv_reg tkv_compare(tkv_code *c, tkv_comparison how, tkv_reg a, tkv_reg b);

/* The same by name; tkv_add_n() and so on take an integer of a's type. */
#define BINARY(id, kind, text)                                                 \
  static inline tkv_reg tkv_##id(tkv_code *c, tkv_reg a, tkv_reg b) {          \
    return tkv_binary(c, TKV_OP_##id, a, b);                                   \
  }                                                                            \
  BINARY_##kind(id)
#define BINARY_FLOAT(id)
#define BINARY_INT(id)                                                         \
  static inline tkv_reg tkv_##id##_n(tkv_code *c, tkv_reg a, int64_t n) {      \
    return tkv_binary(c, TKV_OP_##id, a, tkv_integer(a.type, n));              \
  }
#define CAST(id, from, to, text)                                               \
  static inline tkv_reg tkv_##id(tkv_code *c, tkv_reg x, tkv_type t) {         \
    return tkv_cast(c, TKV_OP_##id, x, t);                                     \
  }
#define MATH1(id, kind, text)                                                  \
  static inline tkv_reg tkv_##id(tkv_code *c, tkv_reg x) {                     \
    return tkv_math(c, TKV_OP_##id, &x, 1);                                    \
  }
#define MATH2(id, kind, text)                                                  \
  static inline tkv_reg tkv_##id(tkv_code *c, tkv_reg a, tkv_reg b) {          \
    return tkv_math(c, TKV_OP_##id, (tkv_reg[]){a, b}, 2);                     \
  }
#define MATH3(id, kind, text)                                                  \
  static inline tkv_reg tkv_##id(tkv_code *c, tkv_reg a, tkv_reg b,            \
                                 tkv_reg d) {                                  \
    return tkv_math(c, TKV_OP_##id, (tkv_reg[]){a, b, d}, 3);                  \
  }
#include "nvptx/code.def"
#undef BINARY_INT
#undef BINARY_FLOAT

static inline tkv_reg tkv_compare_n(tkv_code *c, tkv_comparison how, tkv_reg a,
                                    int64_t n) {
  return tkv_compare(c, how, a, tkv_integer(a.type, n));
}

/* ---- other operations on numbers ----------------------------------------- */

tkv_reg tkv_select(tkv_code *c, tkv_reg flag, tkv_reg yes, tkv_reg no);
tkv_reg tkv_not(tkv_code *c, tkv_reg flag);
/* Whether both conditions hold; "no register" is a condition that always
 * holds. */
tkv_reg tkv_both(tkv_code *c, tkv_reg a, tkv_reg b);
tkv_reg tkv_fneg(tkv_code *c, tkv_reg x);
tkv_reg tkv_iabs(tkv_code *c, tkv_reg x);
/* The nearest integer of that type toward zero; 0 for NaN. */
tkv_reg tkv_saturate(tkv_code *c, tkv_reg x, tkv_type to, bool is_signed);
/* The bits of a register as another type of as many. */
tkv_reg tkv_bitcast(tkv_code *c, tkv_reg x, tkv_type to);
/* Shifts bits left by so many places, or right if the number is negative. */
tkv_reg tkv_move_bits(tkv_code *c, tkv_reg x, int up);
/* A vector without values, a lane of a vector, and a vector with one lane
 * replaced. */
tkv_reg tkv_vector(tkv_type lane, int n);
tkv_reg tkv_extract(tkv_code *c, tkv_reg vector, int i);
tkv_reg tkv_insert(tkv_code *c, tkv_reg vector, tkv_reg x, int i);

/* ---- memory -------------------------------------------------------------- */

/* The address of a variable of this thread; of one that holds all of these. */
tkv_reg tkv_variable(tkv_code *c, tkv_type t);
tkv_reg tkv_record(tkv_code *c, const tkv_reg *x, int n);
/* The address of a text in the module. */
tkv_reg tkv_string(tkv_code *c, const char *s);
/* The address of a vector must be a multiple of its size. */
tkv_reg tkv_load(tkv_code *c, tkv_type t, tkv_reg at);
void tkv_store(tkv_code *c, tkv_reg x, tkv_reg at);
void tkv_atomic_add(tkv_code *c, tkv_reg at, tkv_reg x);
/* The address of element i of that type after another address, and an address
 * in shared memory as a number: i32. */
tkv_reg tkv_element(tkv_code *c, tkv_type t, tkv_reg from, tkv_reg i);
tkv_reg tkv_address(tkv_code *c, tkv_reg at);

/* ---- control flow -------------------------------------------------------- */

typedef struct tkv_label {
  const char *what;
  unsigned id;
} tkv_label;

tkv_label tkv_new_label(tkv_code *c, const char *what);
void tkv_put_label(tkv_code *c, tkv_label l);
void tkv_go_to(tkv_code *c, tkv_label l);
void tkv_branch(tkv_code *c, tkv_reg flag, tkv_label yes, tkv_label no);
/* A register that is given its value later, by tkv_phi or tkv_add_to. */
tkv_reg tkv_new_counter(tkv_code *c, tkv_type t);
/* `to` is x[i] where the code comes from from[i]. */
void tkv_phi(tkv_code *c, tkv_reg to, const tkv_reg x[2],
             const tkv_label from[2]);
void tkv_add_to(tkv_code *c, tkv_reg to, tkv_reg a, tkv_reg b);

#endif
