/* float_format.h - binary floating-point formats, from their definitions.
 *
 * A second opinion for tests: a number is a sign, an integer and a power of
 * two; rounding is done on integers.  Shares nothing with the library.
 * Sources: IEEE 754-2019 3.4, 4.3, 7.4; OCP 8-bit floating point 1.0.
 */
#ifndef TK_TESTS_FLOAT_FORMAT_H
#define TK_TESTS_FLOAT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* What the codes beyond the numbers mean. */
typedef enum ff_special {
  FF_IEEE,   /* the last exponent holds infinity and NaNs */
  FF_FN,     /* all bits but the sign set: NaN; no infinity */
  FF_FNUZ,   /* the code of -0 is the only NaN; no infinity */
  FF_NUMBERS /* numbers only */
} ff_special;

typedef struct ff_format {
  const char *name;
  int ebits, mbits, bias;
  ff_special special;
} ff_format;

/* By tkdbg's name of the type: "fp32", "fp8e4nv", "tf32", "fp4e2m1"; NULL if
 * there is none. */
const ff_format *ff_named(const char *name);

typedef enum ff_kind { FF_ZERO, FF_FINITE, FF_INFINITE, FF_NAN } ff_kind;

typedef struct ff_value { /* the number is m * 2^e, m != 0 */
  ff_kind kind;
  bool negative;
  uint64_t m;
  int e;
} ff_value;

typedef enum ff_mode {
  FF_NEAREST_EVEN,
  FF_NEAREST_AWAY, /* ties away from zero */
  FF_TOWARD_ZERO
} ff_mode;

int ff_bits(const ff_format *f);
uint64_t ff_max_code(const ff_format *f); /* of the greatest number */
ff_value ff_decode(const ff_format *f, uint64_t code);
ff_value ff_from_double(double d);

/* The code of a number or zero.  What is too large becomes infinity, or, when
 * it rounds toward zero, when the format has none, or when saturate is set,
 * the greatest number. */
uint64_t ff_encode(const ff_format *f, ff_value v, ff_mode mode, bool saturate);

#endif
