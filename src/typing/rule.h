/* rule.h - the rules of op.def: each types one operation's call and makes
 * its instructions.  Prototypes come from the table itself.
 */
#ifndef TK_TYPING_RULE_H
#define TK_TYPING_RULE_H

#include "typing/walk.h"

#define OP(name, role, sig, rule, mode, doc)                                   \
  sval rule(tks *s, const tks_args *a);
#define OPV(since, until, name, role, sig, rule, mode, doc)                    \
  sval rule(tks *s, const tks_args *a);
#include "op.def"
#undef OP
#undef OPV

/* Of every row of libdevice.def; the operation's mode is the row. */
sval rule_libdevice(tks *s, const tks_args *a);

/* ---- shared between rule files ------------------------------------------- */

/* Argument i as a tensor; errors about it are at its place in the source. */
static inline sval tks_arg_tensor(tks *s, const tks_args *a, size_t i) {
  s->frame->at = a->span[i];
  return tks_to_tensor(s, &a->v[i]);
}
/* The same, but a number stays one where it is weak (tks_weak). */
static inline sval tks_arg_weak(tks *s, const tks_args *a, size_t i) {
  s->frame->at = a->span[i];
  return tks_weak(s, &a->v[i]);
}
sval tks_reduce(tks *s, tk_reduction kind, const sval *v, const sval *axis,
                bool keep_dims);
sval tks_where(tks *s, const sval *c, const sval *x, const sval *y);
sval tks_load(tks *s, const sval *ptr, const sval *mask, const sval *other);
sval tks_atomic(tks *s, tk_atomic mode, const sval *ptr, const sval *val,
                const sval *mask);
/* Whether the compiler holds both elements in one type of its own, which has
 * no sign and takes fp8e4b15 for 8 bits without a meaning. */
bool tks_same_in_compiler(const tk_type *a, const tk_type *b);

#endif
