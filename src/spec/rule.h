/* rule.h - the rules of op.def: each types one operation's call and makes
 * its instructions.  Prototypes come from the table itself.
 */
#ifndef TK_SPEC_RULE_H
#define TK_SPEC_RULE_H

#include "spec/spec.h"

#define F 0
#define M 1
#define OP(name, method, sig, rule, mode, doc)                                 \
  sval rule(tks *s, const tks_args *a);
#include "op.def"
#undef OP
#undef F
#undef M

/* Of every row of libdevice.def; the operation's mode is the row. */
sval rule_libdevice(tks *s, const tks_args *a);

/* ---- shared between rule files --------------------------------------------
 */

/* Argument i as a tensor; errors about it are at its place in the source. */
static inline sval tks_arg_tensor(tks *s, const tks_args *a, size_t i) {
  s->frame->at = a->span[i];
  return tks_to_tensor(s, &a->v[i]);
}
sval tks_reduce(tks *s, tk_reduction kind, const sval *v, const sval *axis,
                bool keep_dims);
sval tks_where(tks *s, const sval *c, const sval *x, const sval *y);
sval tks_load(tks *s, const sval *ptr, const sval *mask, const sval *other);
sval tks_atomic(tks *s, tk_atomic mode, const sval *ptr, const sval *val,
                const sval *mask);
/* "sv_text": the value as Python's str() or repr() gives it. */
void tks_text(tks *s, tk_buf *out, const sval *v, bool repr);

#endif
