/* convert.h - types and operators of tensors: promotion, casts, broadcasting.
 *
 * Source: Triton, python/triton/language/semantic.py.
 */
#ifndef TK_TYPING_CONVERT_H
#define TK_TYPING_CONVERT_H

#include "typing/emit.h"

/* Any number or tensor as a tensor, with Triton's literal types. */
sval tks_to_tensor(tks *s, const sval *v);
/* The type that it gives a number. */
tk_type tks_number_type(tks *s, const sval *v);
/* An operand as it is promoted: a tensor, or since Triton 3.9 a number that
 * takes the type of the tensor beside it. */
sval tks_weak(tks *s, const sval *v);
sval tks_number(tks *s, const sval *v, tk_dtype d); /* a literal in dtype d */
/* The same of a number of the kernel's text, which d must be able to hold. */
sval tks_literal(tks *s, const sval *v, tk_dtype d);
sval tks_cast(tks *s, const sval *v, tk_type elem, bool rtz);
sval tks_cast_to(tks *s, const sval *v, tk_dtype d);
sval tks_bitcast(tks *s, const sval *v, tk_type elem);
sval tks_broadcast(tks *s, const sval *v, const tk_type *shape);
void tks_broadcast2(tks *s, sval *a, sval *b);
/* All n to the shape that fits them all. */
void tks_broadcast_all(tks *s, sval *v, size_t n);
tk_dtype tks_int_promote(tk_dtype a, tk_dtype b);
typedef struct tks_check {
  bool ptr_a, ptr_b, no_arith, div_or_mod;
} tks_check;
/* binary_op_type_checking_impl: promotes and broadcasts a and b. */
void tks_promote2(tks *s, sval *a, sval *b, tks_check c);
/* ternary_op_type_checking_impl of Triton 3.9: v[0..2] in one type and shape;
 * numbers have no say where there is a tensor. */
void tks_promote3(tks *s, sval *v);
sval tks_binary(tks *s, tk_operator op, const sval *a, const sval *b);
sval tks_unary(tks *s, tk_operator op, const sval *a);
sval tks_compare(tks *s, tk_compare op, const sval *a, const sval *b);
sval tks_logical(tks *s, bool is_and, const sval *a, const sval *b);
sval tks_not(tks *s, const sval *a);
sval tks_reshape(tks *s, const sval *v, const int64_t *shape, int rank);
/* v with an axis of size 1 put before `axis`. */
sval tks_insert_axis(tks *s, const sval *v, int axis);
/* Checks a block shape as Triton does. */
void tks_check_shape(tks *s, const int64_t *shape, int rank);

#endif
