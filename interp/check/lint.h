/* lint.h - what the rules of lint share: a function as one list. */
#ifndef TK_CHECK_LINT_H
#define TK_CHECK_LINT_H

#include "interp/check/check.h"

typedef struct tkc_doubts tkc_doubts;

/* A function whose instructions stand in one list, in source order: both
 * branches of an if one after the other, the body of a loop once. */
typedef struct tkc_lint {
  tkc *c;
  tki *t;
  const tk_func *f;
  tkc_doubts *doubts;
  TK_VEC(const tk_inst *) all;
  const tk_inst **def; /* by slot: the one instruction that sets it; NULL: none
                          does, or several do */
} tkc_lint;

static inline const tk_type *tkc_lint_type(const tkc_lint *l, int slot) {
  return &l->f->slots[slot].type;
}

/* A finding at an instruction; NULL when it is not shown. */
tk_diag *tkc_lint_say(tkc_lint *l, tk_diag_id id, const tk_inst *in,
                      const char *text, const char *help);

/* Whether a load of blocks that are checked along several axes, through a block
 * pointer or by a mask, has whole blocks along one of them in this launch. */
bool tkc_lint_fits(const tkc_lint *l, const tk_inst *load, int axis);

/* Reports that a run may refute (lint_doubt.c): a load whose lanes are reduced
 * along an axis; d may be NULL. */
tkc_doubts *tkc_doubts_new(tkc *c);
void tkc_lint_doubt(tkc_lint *l, const tk_inst *load, int axis, tk_diag *d);
/* Watches the run; NULL: there is nothing to watch. */
tkc_doubts *tkc_doubts_watch(tkc_doubts *x, tki *t);
/* The run ended well: withdraws what it has refuted. */
void tkc_doubts_settle(tkc_doubts *x);

void tkc_lint_tree(tkc_lint *l);    /* loads and names never used */
void tkc_lint_store(tkc_lint *l);   /* stores that are overwritten */
void tkc_lint_range(tkc_lint *l);   /* masks, division, int32 */
void tkc_lint_axes(tkc_lint *l);    /* offsets along two axes */
void tkc_lint_fp64(tkc_lint *l);    /* literals that make fp64 of fp32 */
void tkc_lint_rescale(tkc_lint *l); /* sums beside a running maximum */

#endif
