/* libdevice.h - the rows of libdevice.def: names, types, error bounds. */
#ifndef TK_IR_LIBDEVICE_H
#define TK_IR_LIBDEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "ir/type.h"

enum { TK_OVERLOADS = 4, TK_EXTERN_ARGS = 4 };

typedef struct tk_overload {
  uint8_t nargs; /* 0: no such overload */
  uint8_t result, args[TK_EXTERN_ARGS];
} tk_overload;

/* bound32 and bound64: ULPs of the exact value, 0 where the result is exact;
 * absolute: bound64 is in units of 2^-52 instead. */
typedef struct tk_extern {
  const char *name;
  double bound32, bound64;
  int absolute;
  tk_overload overloads[TK_OVERLOADS];
} tk_extern;

/* NULL past the end. */
const tk_extern *tk_extern_at(size_t row);

#endif
