/* kernels.h - loops over lanes: what instructions are computed by.
 *
 * A kernel is a function over plain arrays; it owns nothing.
 */
#ifndef TK_INTERP_KERNELS_H
#define TK_INTERP_KERNELS_H

#include "base/clones.h"
#include "interp/value.h"

/* d[i] = a[i] op b[i]; mode 1: b is one lane, 2: a is one lane. */
typedef void (*tki_binary_fn)(void *d, const void *a, const void *b, size_t n,
                              int mode);
typedef void (*tki_unary_fn)(void *d, const void *a, size_t n);
/* d[i] = f(args[0][i], ...) */
typedef void (*tki_extern_fn)(void *d, const void *const *args, size_t n);

/* Each returns NULL when the type has no such operation. */
tki_binary_fn tki_binary_kernel(tk_binary op, tk_dtype d);
tki_binary_fn tki_compare_kernel(tk_compare op, tk_dtype d);
tki_unary_fn tki_unary_kernel(tk_unary op, tk_dtype d);
tki_unary_fn tki_cast_kernel(tk_dtype from, tk_dtype to, bool rtz);
/* As a GPU computes them (ir/numerics.h): by approximations, of fp32; by a
 * rounded quotient. */
tki_unary_fn tki_approximate_kernel(tk_unary op);
tki_binary_fn tki_remainder_kernel(tk_dtype d);
/* The loop for an overload of a row of libdevice.def. */
tki_extern_fn tki_extern_kernel(size_t row, size_t overload);
tki_binary_fn tki_int_binary(tk_binary op, tk_dtype d);
tki_unary_fn tki_int_unary(tk_unary op, tk_dtype d);
tki_binary_fn tki_plain_compare(tk_compare op, tk_dtype d);
/* Reduces each of some rows of n lanes, a power of two, to a lane of d, in
 * the order of reduce.c; scratch has room for a row. */
typedef void (*tki_rows_fn)(float *d, const float *rows, float *scratch,
                            size_t nrows, size_t n);
tki_rows_fn tki_rows_kernel(tk_binary op, tk_dtype d);
/* c += a b, one product of m x k and k x n. */
void tki_dot_f64(tki *t, double *c, const double *a, const double *b, size_t m,
                 size_t n, size_t k);
/* Rows of lanes to and from fp32; d is a float type of 16 or 8 bits. */
void tki_widen(tk_dtype d, float *to, const void *from, size_t n);
void tki_narrow(tk_dtype d, void *to, const float *from, size_t n);
void tki_cut_tf32(float *d, const float *a, size_t n);
void tki_round_tf32(float *d, const float *a, size_t n);

/* Copies rows of `bytes` bytes, which lie `by` and `step` bytes apart. */
void tki_copy_rows(char *d, int64_t by, const char *s, int64_t step,
                   size_t bytes, size_t rows);

/* Loops are compiled for wider vectors too where that is safe. */
#define TKI_CLONES TK_CLONES

#endif
