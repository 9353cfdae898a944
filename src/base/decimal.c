/* decimal.c - digits of floating-point numbers.
 *
 * The C library prints a double exactly to any number of digits, rounding
 * half to even; all here is built on that.  The shortest digits are found by
 * trying 1, 2, 3, ... digits until they read back as the same value of the
 * type.  Just above a power of two the nearest n-digit decimal may lie on the
 * narrow side of the rounding interval, outside of it, while its neighbour on
 * the wide side reads back; so both neighbours are tried too.
 *
 * Digits are read back without a decimal point ("123e-5"), since that is the
 * one character which a locale can
 * change. */
#include "decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits and exponent of printf's "%.*e" output. */
static void parse_scientific(tk_decimal *out, const char *text) {
  out->n = 0;
  out->negative = *text == '-';
  for (; *text && *text != 'e'; text++)
    if (*text >= '0' && *text <= '9' && out->n < TK_MAX_DIGITS)
      out->digits[out->n++] = *text;
  out->point = *text ? atoi(text + 1) + 1 : 1;
  out->digits[out->n] = 0;
}

void tk_decimal_round(tk_decimal *out, double v, int n) {
  char text[TK_MAX_DIGITS + 32];
  if (n > TK_MAX_DIGITS) n = TK_MAX_DIGITS;
  snprintf(text, sizeof text, "%.*e", n - 1, v);
  parse_scientific(out, text);
}

void tk_decimal_fixed(tk_decimal *out, double v, int n) {
  char text[TK_MAX_DIGITS + 400];
  if (n > TK_MAX_DIGITS - 400) n = TK_MAX_DIGITS - 400;
  snprintf(text, sizeof text, "%.*f", n, v);
  out->n = 0;
  out->negative = *text == '-';
  for (const char *p = text; *p; p++)
    if (*p >= '0' && *p <= '9') out->digits[out->n++] = *p;
  out->point = out->n - n;
  int zeros = 0;
  while (zeros < out->n - 1 && out->digits[zeros] == '0') zeros++;
  memmove(out->digits, out->digits + zeros, (size_t)(out->n - zeros));
  out->n -= zeros;
  out->point -= zeros;
  out->digits[out->n] = 0;
}

/* Digits that read back as v in type d?  (8-bit floats saturate: digits
 * beyond the greatest value would all read back as that.) */
static bool reads_back(const tk_decimal *x, tk_dtype d, double v) {
  char text[TK_MAX_DIGITS + 32];
  uint64_t lane = 0;
  snprintf(text, sizeof text, "%s%se%d", x->negative ? "-" : "", x->digits,
           x->point - x->n);
  if (d == TK_FP32) return strtof(text, NULL) == (float)v;
  double back = strtod(text, NULL);
  if (tk_is_fp8(d)) {
    tk_lane_set_double(d, &lane, back < 0 ? -1e30 : 1e30);
    double most = tk_lane_double(d, &lane);
    if (back < 0 ? back < most : back > most) return false;
  }
  tk_lane_set_double(d, &lane, back);
  return tk_lane_double(d, &lane) == v;
}

/* The next decimal number with the same number of digits, away from zero or
 * towards it. */
static void next_decimal(tk_decimal *x, int by) {
  int i = x->n - 1;
  for (; i >= 0; i--) {
    x->digits[i] = (char)(x->digits[i] + by);
    if (x->digits[i] >= '0' && x->digits[i] <= '9') break;
    x->digits[i] = by > 0 ? '0' : '9';
  }
  if (i < 0 && by > 0) { /* 99 -> 100 */
    x->digits[0] = '1';
    x->point++;
  } else if (x->digits[0] == '0') { /* 100 -> 99 */
    x->digits[0] = '9';
    x->point--;
  }
}

static bool neighbour(tk_decimal *x, tk_dtype d, double v) {
  tk_decimal up = *x, down = *x;
  next_decimal(&up, 1);
  next_decimal(&down, -1);
  bool found = reads_back(&up, d, v);
  if (found)
    *x = up;
  else if ((found = reads_back(&down, d, v)))
    *x = down;
  return found;
}

/* Digits that are always enough to read back. */
static int enough(tk_dtype d) {
  if (d == TK_FP64) return 17;
  if (d == TK_FP32) return 9;
  return tk_is_fp8(d) ? 3 : 5;
}

void tk_decimal_shortest(tk_decimal *out, tk_dtype d, double v) {
  int most = enough(d);
  for (int n = 1; n <= most; n++) {
    tk_decimal_round(out, v, n);
    if (v == 0 || reads_back(out, d, v) || neighbour(out, d, v)) break;
  }
  while (out->n > 1 && out->digits[out->n - 1] == '0')
    out->digits[--out->n] = 0;
}
