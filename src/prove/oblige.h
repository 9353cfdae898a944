/* oblige.h - what must hold of a kernel that was walked. */
#ifndef TK_PROVE_OBLIGE_H
#define TK_PROVE_OBLIGE_H

#include "prove/relate.h"
#include "tkdbg/prove.h"

/* A duty of one instruction or tensor: none of its formulas may ever hold. */
typedef struct tkq_item {
  tk_duty duty;
  const tk_func *func; /* NULL: of a tensor */
  tk_span span;
  const tk_inst *inst; /* WRAP: the arithmetic */
  const char *subject;
  const char *reason; /* it cannot be asked at all; NULL */
  TK_VEC(const tkq_form *) bad;
  const tkq_poly *shown; /* the term that it is about; NULL */
  TK_VEC(size_t) needs;  /* items that must be proved for this one to be */
  size_t tensor;         /* COVER */
} tkq_item;

typedef struct tkq_items {
  tkq_item *items;
  size_t n, cap;
} tkq_items;

void tkq_oblige(const tkq_walk *w, const tkq_numbers *n, tkq_items *out);

/* Whether every element of a tensor is written (cover.c), with what `given`
 * puts in place of sizes, unless it is NULL; *why: why that is not known. */
bool tkq_covered(const tkq_walk *w, const tkq_numbers *n, size_t tensor,
                 const tkq_subst *given, const char **why);

/* Whether accesses or an assertion go wrong for all sizes for which a condition
 * does not hold (exact.c); false: that is not known, as of coverage. */
bool tkq_fails_unless(const tkq_walk *w, const tkq_numbers *n,
                      const tkq_item *x, const tkq_form *condition);

/* 0 <= lane < shape along each axis. */
const tkq_form *tkq_lanes_of(tkq_terms *t, const tk_type *type);

/* What came of running the launch that a choice of sizes makes (model.c).
 * Without a finding, the command is that of a small launch of which the solver
 * leaves it open, or of the launch itself; NULL: no text makes such a launch.
 */
typedef struct tkq_model {
  const char *finding, *command;
} tkq_model;
/* Looks for a small launch that obeys the relations, and of which the
 * interpreter reports that the duty is not kept. */
bool tkq_refute(const tkq_walk *w, const tkq_numbers *n, const tkq_item *x,
                tkq_model *out);
/* Gives the command of the launch itself. */
void tkq_own_launch(const tkq_walk *w, const tkq_numbers *n, const tkq_item *x,
                    tkq_model *out);

#endif
