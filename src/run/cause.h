/* cause.h - why two engines give different values for the same operands.
 */
#ifndef TK_RUN_CAUSE_H
#define TK_RUN_CAUSE_H

#include "run/trace.h"

/* A record that differs. */
typedef struct tkr_disagreement {
  const tkr_site *site;
  const char *own, *other; /* lanes, by the interpreter and by the other */
  size_t n, lane;          /* lanes; the first that differs */
  /* Of operands what is known, else NULL: the block, and of it that lane, if
   * the operation uses one lane. */
  const char *blocks[4], *operands[4];
  /* Of a sum one of whose operands is a product: what it is if both are one
   * operation. */
  bool has_fused;
  double fused;
} tkr_disagreement;

tk_cause tkr_cause_of(const tkr_disagreement *d);

#endif
