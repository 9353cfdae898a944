/* order.h - whether the programs of a launch must run one after the other.
 */
#ifndef TK_INTERP_ORDER_H
#define TK_INTERP_ORDER_H

#include "ir/ir.h"

/* What gives programs an order, and why and where it does. */
typedef struct tki_order_reason {
  unsigned aside; /* kinds that do not count */
  const char *why;
  bool waits; /* a loop may wait for another program */
  const tk_source *src;
  tk_span span;
} tki_order_reason;

/* Kinds that a caller may put aside. */
enum { TKI_ORDER_ATOMICS = 1, TKI_ORDER_PRINTS = 2 };

/* Returns false if there is no reason except those put aside. */
bool tki_order_find(const tk_program *p, unsigned aside, tki_order_reason *r);

#endif
