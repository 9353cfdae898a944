/* mode.h - the small enumerations that instructions are refined by.
 *
 * TK_MODE_LISTS(LIST) has LIST(ID, type, P, words, said) for each:
 *   type   tk_TYPE is its enum, and TYPE what the public header calls it
 *   P      its values are TK_P_ID, and TK_P_COUNT
 *   words  the macro that lists them: words(WORD) has WORD(P, ID, name, takes)
 *          in order, by the name that the text of a program says
 *   said   whether the text says its first word too, or leaves that out
 *
 * takes: the element types that an operation is defined for
 *   NUMBERS  every one         INTEGERS  int1 to uint64
 *   WIDE     integers of 32 and 64 bits
 *   REALS    fp32 and fp64     ANYTHING  pointers too, or it does not matter
 */
#ifndef TK_IR_MODE_H
#define TK_IR_MODE_H

#include "base/dtype.h"

/* clang-format off */
#define TK_MODE_LISTS(LIST)                                                    \
  LIST(UNARY, unary, U, TK_UNARY_WORDS, true)                                  \
  LIST(BINARY, binary, B, TK_BINARY_WORDS, true)                               \
  LIST(COMPARE, compare, C, TK_COMPARE_WORDS, true)                            \
  LIST(REDUCTION, reduction, R, TK_REDUCTION_WORDS, true)                      \
  LIST(ATOMIC, atomic, A, TK_ATOMIC_WORDS, true)                               \
  LIST(PRECISION, precision, P, TK_PRECISION_WORDS, false)                     \
  LIST(ROUNDING, rounding, ROUND, TK_ROUNDING_WORDS, false)                    \
  LIST(WINDOW, window, W, TK_WINDOW_WORDS, false)                              \
  LIST(SEM, sem, SEM, TK_SEM_WORDS, true)                                      \
  LIST(SCOPE, scope, SCOPE, TK_SCOPE_WORDS, true)                              \
  LIST(CACHE, cache, CACHE, TK_CACHE_WORDS, false)                             \
  LIST(EVICTION, eviction, EVICT, TK_EVICTION_WORDS, false)                    \
  LIST(HINT, hint, HINT, TK_HINT_WORDS, true)

#define TK_UNARY_WORDS(WORD)                                                   \
  WORD(U, NEG, "neg", NUMBERS)                                                 \
  WORD(U, NOT, "not", INTEGERS)                                                \
  WORD(U, ABS, "abs", NUMBERS)                                                 \
  WORD(U, EXP, "exp", REALS)                                                   \
  WORD(U, EXP2, "exp2", REALS)                                                 \
  WORD(U, LOG, "log", REALS)                                                   \
  WORD(U, LOG2, "log2", REALS)                                                 \
  WORD(U, SIN, "sin", REALS)                                                   \
  WORD(U, COS, "cos", REALS)                                                   \
  WORD(U, SQRT, "sqrt", REALS)                                                 \
  WORD(U, RSQRT, "rsqrt", REALS)                                               \
  WORD(U, ERF, "erf", REALS)                                                   \
  WORD(U, FLOOR, "floor", REALS)                                               \
  WORD(U, CEIL, "ceil", REALS)

#define TK_BINARY_WORDS(WORD)                                                  \
  WORD(B, ADD, "add", NUMBERS)                                                 \
  WORD(B, SUB, "sub", NUMBERS)                                                 \
  WORD(B, MUL, "mul", NUMBERS)                                                 \
  WORD(B, DIV, "div", NUMBERS)                                                 \
  WORD(B, MOD, "mod", NUMBERS)                                                 \
  WORD(B, AND, "and", INTEGERS)                                                \
  WORD(B, OR, "or", INTEGERS)                                                  \
  WORD(B, XOR, "xor", INTEGERS)                                                \
  WORD(B, SHL, "shl", INTEGERS)                                                \
  WORD(B, SHR, "shr", INTEGERS)                                                \
  WORD(B, LSHR, "lshr", INTEGERS)                                              \
  WORD(B, MIN, "min", NUMBERS)                                                 \
  WORD(B, MAX, "max", NUMBERS)                                                 \
  WORD(B, MIN_NAN, "min_nan", NUMBERS)                                         \
  WORD(B, MAX_NAN, "max_nan", NUMBERS)                                         \
  WORD(B, MULHI, "mulhi", WIDE)

#define TK_COMPARE_WORDS(WORD)                                                 \
  WORD(C, EQ, "eq", ANYTHING)                                                  \
  WORD(C, NE, "ne", ANYTHING)                                                  \
  WORD(C, LT, "lt", ANYTHING)                                                  \
  WORD(C, LE, "le", ANYTHING)                                                  \
  WORD(C, GT, "gt", ANYTHING)                                                  \
  WORD(C, GE, "ge", ANYTHING)

#define TK_REDUCTION_WORDS(WORD)                                               \
  WORD(R, SUM, "sum", NUMBERS)                                                 \
  WORD(R, PROD, "prod", NUMBERS)                                               \
  WORD(R, MAX, "max", NUMBERS)                                                 \
  WORD(R, MIN, "min", NUMBERS)                                                 \
  WORD(R, MAX_NAN, "max_nan", NUMBERS)                                         \
  WORD(R, MIN_NAN, "min_nan", NUMBERS)                                         \
  WORD(R, AND, "and", INTEGERS)                                                \
  WORD(R, OR, "or", INTEGERS)                                                  \
  WORD(R, XOR, "xor", INTEGERS)

#define TK_ATOMIC_WORDS(WORD)                                                  \
  WORD(A, ADD, "atomic_add", NUMBERS)                                          \
  WORD(A, MAX, "atomic_max", NUMBERS)                                          \
  WORD(A, MIN, "atomic_min", NUMBERS)                                          \
  WORD(A, AND, "atomic_and", INTEGERS)                                         \
  WORD(A, OR, "atomic_or", INTEGERS)                                           \
  WORD(A, XOR, "atomic_xor", INTEGERS)                                         \
  WORD(A, XCHG, "atomic_xchg", ANYTHING)

#define TK_PRECISION_WORDS(WORD)                                               \
  WORD(P, IEEE, "ieee", ANYTHING)                                              \
  WORD(P, TF32, "tf32", ANYTHING)                                              \
  WORD(P, TF32X3, "tf32x3", ANYTHING)                                          \
  WORD(P, BF16X3, "bf16x3", ANYTHING)                                          \
  WORD(P, BF16X6, "bf16x6", ANYTHING)

#define TK_ROUNDING_WORDS(WORD)                                                \
  WORD(ROUND, NEAREST, "nearest", ANYTHING)                                    \
  WORD(ROUND, ZERO, "zero", ANYTHING)

/* What a load or store was written with. */
#define TK_WINDOW_WORDS(WORD)                                                  \
  WORD(W, POINTERS, "pointers", ANYTHING)                                      \
  WORD(W, BLOCK_POINTER, "block_pointer", ANYTHING)                            \
  WORD(W, DESCRIPTOR, "descriptor", ANYTHING)

#define TK_SEM_WORDS(WORD)                                                     \
  WORD(SEM, ACQUIRE, "acquire", ANYTHING)                                      \
  WORD(SEM, RELEASE, "release", ANYTHING)                                      \
  WORD(SEM, ACQ_REL, "acq_rel", ANYTHING)                                      \
  WORD(SEM, RELAXED, "relaxed", ANYTHING)

#define TK_SCOPE_WORDS(WORD)                                                   \
  WORD(SCOPE, GPU, "gpu", ANYTHING)                                            \
  WORD(SCOPE, CTA, "cta", ANYTHING)                                            \
  WORD(SCOPE, SYS, "sys", ANYTHING)

/* For a compiler; the interpreter ignores these. */
#define TK_CACHE_WORDS(WORD)                                                   \
  WORD(CACHE, DEFAULT, "default", ANYTHING)                                    \
  WORD(CACHE, CA, "ca", ANYTHING)                                              \
  WORD(CACHE, CG, "cg", ANYTHING)                                              \
  WORD(CACHE, CV, "cv", ANYTHING)                                              \
  WORD(CACHE, WB, "wb", ANYTHING)                                              \
  WORD(CACHE, CS, "cs", ANYTHING)                                              \
  WORD(CACHE, WT, "wt", ANYTHING)

#define TK_EVICTION_WORDS(WORD)                                                \
  WORD(EVICT, DEFAULT, "default", ANYTHING)                                    \
  WORD(EVICT, LAST, "evict_last", ANYTHING)                                    \
  WORD(EVICT, FIRST, "evict_first", ANYTHING)                                  \
  WORD(EVICT, NORMAL, "evict_normal", ANYTHING)

#define TK_HINT_WORDS(WORD)                                                    \
  WORD(HINT, MULTIPLE, "multiple_of", ANYTHING)                                \
  WORD(HINT, CONTIGUOUS, "max_contiguous", ANYTHING)                           \
  WORD(HINT, CONSTANCY, "max_constancy", ANYTHING)
/* clang-format on */

/* tk_unary, TK_U_NEG, ..., TK_U_COUNT, and so on. */
#define WORD(P, ID, name, takes) TK_##P##_##ID,
#define LIST(ID, type, P, words, said)                                         \
  typedef enum tk_##type{words(WORD) TK_##P##_COUNT} tk_##type;
TK_MODE_LISTS(LIST)
#undef LIST
#undef WORD

typedef enum tk_list {
#define LIST(ID, type, P, words, said) TK_LIST_##ID,
  TK_MODE_LISTS(LIST)
#undef LIST
      TK_LIST_COUNT
} tk_list;

const char *tk_list_name(tk_list list);
bool tk_list_is_said(tk_list list);
/* The i-th word of a list; NULL past the end. */
const char *tk_list_word(tk_list list, int64_t i);
/* The word's place in the list; -1: it is not in it. */
int64_t tk_list_find(tk_list list, const char *word);
/* Whether the i-th operation of a list is defined for an element type. */
bool tk_list_takes(tk_list list, int64_t i, tk_dtype d);
/* ... and for pointers. */
bool tk_list_takes_pointers(tk_list list, int64_t i);
/* What it is defined for, as a word: "numbers". */
const char *tk_list_takes_name(tk_list list, int64_t i);

#endif
