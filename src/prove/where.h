/* where.h - under which condition a duty is kept that is not always kept. */
#ifndef TK_PROVE_WHERE_H
#define TK_PROVE_WHERE_H

#include "prove/relate.h"

typedef struct tkq_condition {
  const char *text;     /* "n % BLOCK == 0" */
  const char *opposite; /* "n % B != 0" */
  const tkq_form *fact;
} tkq_condition;

typedef struct tkq_conditions {
  tkq_condition *items;
  size_t n, cap;
} tkq_conditions;

/* Conditions to try; about: for each quantity, whether it matters. */
void tkq_conditions_of(const tkq_numbers *n, const bool *about,
                       tkq_conditions *out);

#endif
