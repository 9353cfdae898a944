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

/* Shared between rule files. */
sval tks_reduce(tks *s, tk_reduction kind, const sval *v, const sval *axis,
                bool keep_dims);
sval tks_where(tks *s, const sval *c, const sval *x, const sval *y);
sval tks_load(tks *s, const sval *ptr, const sval *mask, const sval *other);
void tks_store(tks *s, const sval *ptr, const sval *val, const sval *mask);
sval tks_atomic(tks *s, tk_atomic mode, const sval *ptr, const sval *val,
                const sval *mask);
sval tks_binary_inst(tks *s, tk_binary mode, const sval *a, const sval *b);
sval tks_full_like(tks *s, const tk_type *t, double value);
/* "sv_text": the value as Python's str() or repr() gives it. */
void tks_text(tks *s, tk_buf *out, const sval *v, bool repr);

#endif
