/* decimal.h - floating-point numbers as decimal digits.
 */
#ifndef TK_BASE_DECIMAL_H
#define TK_BASE_DECIMAL_H

#include "dtype.h"

enum { TK_MAX_DIGITS = 1100 }; /* a double's own, all of them, and more */

/* 0.d1d2d3... * 10^point; zero has one digit 0 and point 1. */
typedef struct tk_decimal {
  bool negative;
  int n; /* digits, at least 1 */
  int point;
  char digits[TK_MAX_DIGITS + 1];
} tk_decimal;

/* The fewest digits that read back as v in type d, nearest to v among
 * those.  v is finite. */
void tk_decimal_shortest(tk_decimal *out, tk_dtype d, double v);
/* v rounded to n significant digits (half to even), n >= 1. */
void tk_decimal_round(tk_decimal *out, double v, int n);
/* v rounded to n digits after the point, n >= 0. */
void tk_decimal_fixed(tk_decimal *out, double v, int n);

#endif
