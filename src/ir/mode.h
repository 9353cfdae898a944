/* mode.h - the small enumerations that instructions are refined by.
 *
 * TK_MODE_LISTS(LIST) has LIST(ID, type, P, words, said) for each:
 *   type   tk_TYPE is its enum, and TYPE what the public header calls it
 *   P      its values are TK_P_ID, and TK_P_COUNT
 *   words  the macro that lists them: words(WORD) has WORD(P, ID, name, takes,
 *          flops) in order, by the name that the text of a program says
 *   said   whether the text says its first word too, or leaves that out
 *
 * takes: the element types that an operation is defined for
 *   NUMBERS  every one         INTEGERS  int1 to uint64
 *   WIDE     integers of 32 and 64 bits
 *   REALS    fp32 and fp64     ANYTHING  pointers too, or it does not matter
 *
 * flops: floating-point operations that it takes on a lane of floats, as a
 * processor's counters have it: what rounds counts as one, as do minima, maxima
 * and functions; signs and conversions count as none
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
  LIST(ACCURACY, accuracy, ACC, TK_ACCURACY_WORDS, false)                      \
  LIST(WINDOW, window, W, TK_WINDOW_WORDS, false)                              \
  LIST(SEM, sem, SEM, TK_SEM_WORDS, true)                                      \
  LIST(SCOPE, scope, SCOPE, TK_SCOPE_WORDS, true)                              \
  LIST(ORDERING, ordering, ORD, TK_ORDERING_WORDS, false)                      \
  LIST(CACHE, cache, CACHE, TK_CACHE_WORDS, false)                             \
  LIST(EVICTION, eviction, EVICT, TK_EVICTION_WORDS, false)                    \
  LIST(HINT, hint, HINT, TK_HINT_WORDS, true)

#define TK_UNARY_WORDS(WORD)                                                   \
  WORD(U, NEG, "neg", NUMBERS, 0)                                              \
  WORD(U, NOT, "not", INTEGERS, 0)                                             \
  WORD(U, ABS, "abs", NUMBERS, 0)                                              \
  WORD(U, EXP, "exp", REALS, 1)                                                \
  WORD(U, EXP2, "exp2", REALS, 1)                                              \
  WORD(U, LOG, "log", REALS, 1)                                                \
  WORD(U, LOG2, "log2", REALS, 1)                                              \
  WORD(U, SIN, "sin", REALS, 1)                                                \
  WORD(U, COS, "cos", REALS, 1)                                                \
  WORD(U, SQRT, "sqrt", REALS, 1)                                              \
  WORD(U, RSQRT, "rsqrt", REALS, 1)                                            \
  WORD(U, ERF, "erf", REALS, 1)                                                \
  WORD(U, FLOOR, "floor", REALS, 0)                                            \
  WORD(U, CEIL, "ceil", REALS, 0)

#define TK_BINARY_WORDS(WORD)                                                  \
  WORD(B, ADD, "add", NUMBERS, 1)                                              \
  WORD(B, SUB, "sub", NUMBERS, 1)                                              \
  WORD(B, MUL, "mul", NUMBERS, 1)                                              \
  WORD(B, DIV, "div", NUMBERS, 1)                                              \
  WORD(B, MOD, "mod", NUMBERS, 1)                                              \
  WORD(B, AND, "and", INTEGERS, 0)                                             \
  WORD(B, OR, "or", INTEGERS, 0)                                               \
  WORD(B, XOR, "xor", INTEGERS, 0)                                             \
  WORD(B, SHL, "shl", INTEGERS, 0)                                             \
  WORD(B, SHR, "shr", INTEGERS, 0)                                             \
  WORD(B, LSHR, "lshr", INTEGERS, 0)                                           \
  WORD(B, MIN, "min", NUMBERS, 1)                                              \
  WORD(B, MAX, "max", NUMBERS, 1)                                              \
  WORD(B, MIN_NAN, "min_nan", NUMBERS, 1)                                      \
  WORD(B, MAX_NAN, "max_nan", NUMBERS, 1)                                      \
  WORD(B, MULHI, "mulhi", WIDE, 0)

#define TK_COMPARE_WORDS(WORD)                                                 \
  WORD(C, EQ, "eq", ANYTHING, 0)                                               \
  WORD(C, NE, "ne", ANYTHING, 0)                                               \
  WORD(C, LT, "lt", ANYTHING, 0)                                               \
  WORD(C, LE, "le", ANYTHING, 0)                                               \
  WORD(C, GT, "gt", ANYTHING, 0)                                               \
  WORD(C, GE, "ge", ANYTHING, 0)

#define TK_REDUCTION_WORDS(WORD)                                               \
  WORD(R, SUM, "sum", NUMBERS, 1)                                              \
  WORD(R, PROD, "prod", NUMBERS, 1)                                            \
  WORD(R, MAX, "max", NUMBERS, 1)                                              \
  WORD(R, MIN, "min", NUMBERS, 1)                                              \
  WORD(R, MAX_NAN, "max_nan", NUMBERS, 1)                                      \
  WORD(R, MIN_NAN, "min_nan", NUMBERS, 1)                                      \
  WORD(R, AND, "and", INTEGERS, 0)                                             \
  WORD(R, OR, "or", INTEGERS, 0)                                               \
  WORD(R, XOR, "xor", INTEGERS, 0)

#define TK_ATOMIC_WORDS(WORD)                                                  \
  WORD(A, ADD, "atomic_add", NUMBERS, 1)                                       \
  WORD(A, MAX, "atomic_max", NUMBERS, 1)                                       \
  WORD(A, MIN, "atomic_min", NUMBERS, 1)                                       \
  WORD(A, AND, "atomic_and", INTEGERS, 0)                                      \
  WORD(A, OR, "atomic_or", INTEGERS, 0)                                        \
  WORD(A, XOR, "atomic_xor", INTEGERS, 0)                                      \
  WORD(A, XCHG, "atomic_xchg", ANYTHING, 0)

#define TK_PRECISION_WORDS(WORD)                                               \
  WORD(P, IEEE, "ieee", ANYTHING, 0)                                           \
  WORD(P, TF32, "tf32", ANYTHING, 0)                                           \
  WORD(P, TF32X3, "tf32x3", ANYTHING, 0)                                       \
  WORD(P, BF16X3, "bf16x3", ANYTHING, 0)                                       \
  WORD(P, BF16X6, "bf16x6", ANYTHING, 0)

#define TK_ROUNDING_WORDS(WORD)                                                \
  WORD(ROUND, NEAREST, "nearest", ANYTHING, 0)                                 \
  WORD(ROUND, ZERO, "zero", ANYTHING, 0)

/* How close code for a GPU comes to a quotient or square root of fp32: as
 * Triton's code does unless it is asked for more, or for less.  The definition
 * has the nearest number in each case. */
#define TK_ACCURACY_WORDS(WORD)                                                \
  WORD(ACC, USUAL, "usual", ANYTHING, 0)                                       \
  WORD(ACC, NEAREST, "nearest", ANYTHING, 0)                                   \
  WORD(ACC, ROUGH, "rough", ANYTHING, 0)

/* What a load or store was written with. */
#define TK_WINDOW_WORDS(WORD)                                                  \
  WORD(W, POINTERS, "pointers", ANYTHING, 0)                                   \
  WORD(W, BLOCK_POINTER, "block_pointer", ANYTHING, 0)                         \
  WORD(W, DESCRIPTOR, "descriptor", ANYTHING, 0)

#define TK_SEM_WORDS(WORD)                                                     \
  WORD(SEM, ACQUIRE, "acquire", ANYTHING, 0)                                   \
  WORD(SEM, RELEASE, "release", ANYTHING, 0)                                   \
  WORD(SEM, ACQ_REL, "acq_rel", ANYTHING, 0)                                   \
  WORD(SEM, RELAXED, "relaxed", ANYTHING, 0)

#define TK_SCOPE_WORDS(WORD)                                                   \
  WORD(SCOPE, GPU, "gpu", ANYTHING, 0)                                         \
  WORD(SCOPE, CTA, "cta", ANYTHING, 0)                                         \
  WORD(SCOPE, SYS, "sys", ANYTHING, 0)

/* A load that is one of its own, or an atomic one: with what memory semantic,
 * and for whom. */
#define TK_ORDERING_WORDS(WORD)                                                \
  WORD(ORD, WEAK, "weak", ANYTHING, 0)                                         \
  WORD(ORD, RELAXED, "relaxed", ANYTHING, 0)                                   \
  WORD(ORD, RELAXED_CTA, "relaxed_cta", ANYTHING, 0)                           \
  WORD(ORD, RELAXED_SYS, "relaxed_sys", ANYTHING, 0)                           \
  WORD(ORD, ACQUIRE, "acquire", ANYTHING, 0)                                   \
  WORD(ORD, ACQUIRE_CTA, "acquire_cta", ANYTHING, 0)                           \
  WORD(ORD, ACQUIRE_SYS, "acquire_sys", ANYTHING, 0)

/* For a compiler; the interpreter ignores these. */
#define TK_CACHE_WORDS(WORD)                                                   \
  WORD(CACHE, DEFAULT, "default", ANYTHING, 0)                                 \
  WORD(CACHE, CA, "ca", ANYTHING, 0)                                           \
  WORD(CACHE, CG, "cg", ANYTHING, 0)                                           \
  WORD(CACHE, CV, "cv", ANYTHING, 0)                                           \
  WORD(CACHE, WB, "wb", ANYTHING, 0)                                           \
  WORD(CACHE, CS, "cs", ANYTHING, 0)                                           \
  WORD(CACHE, WT, "wt", ANYTHING, 0)

#define TK_EVICTION_WORDS(WORD)                                                \
  WORD(EVICT, DEFAULT, "default", ANYTHING, 0)                                 \
  WORD(EVICT, LAST, "evict_last", ANYTHING, 0)                                 \
  WORD(EVICT, FIRST, "evict_first", ANYTHING, 0)                               \
  WORD(EVICT, NORMAL, "evict_normal", ANYTHING, 0)

#define TK_HINT_WORDS(WORD)                                                    \
  WORD(HINT, MULTIPLE, "multiple_of", ANYTHING, 0)                             \
  WORD(HINT, CONTIGUOUS, "max_contiguous", ANYTHING, 0)                        \
  WORD(HINT, CONSTANCY, "max_constancy", ANYTHING, 0)
/* clang-format on */

/* tk_unary, TK_U_NEG, ..., TK_U_COUNT, and so on. */
#define WORD(P, ID, name, takes, flops) TK_##P##_##ID,
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
/* Floating-point operations that it takes on a lane of floats. */
int tk_list_flops(tk_list list, int64_t i);
/* The operation that a reduction repeats. */
tk_binary tk_reduction_op(tk_reduction r);
/* The types that it is defined for, in words: "numbers". */
const char *tk_list_takes_name(tk_list list, int64_t i);

#endif
