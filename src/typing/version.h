/* version.h - which Triton a session follows; see version.def. */
#ifndef TK_TYPING_VERSION_H
#define TK_TYPING_VERSION_H

#include "typing/state.h"

typedef enum tks_change {
#define CHANGE(id, since, doc) TKS_##id,
#include "version.def"
#undef CHANGE
  TKS_CHANGES,
} tks_change;

/* Whether the version has the change: behaves as the newest.  A trial may turn
 * one change round (trial.h). */
bool tks_has(const tks *s, tks_change c);
/* The number of the version that is followed for that of a session; 0 stands
 * for the newest. */
int tk_version_followed(int triton_version);
/* The number of the version whose row of op.def, or function of prelude.py, an
 * operation has. */
int tks_version_of_op(const tk_session *session, const char *name);
/* What to write in place of an operation that this version no longer has, and
 * the version that removed it; NULL: it is not known as such. */
const char *tks_gone(const tks *s, const char *name, const char **since);
/* Raises that the version lacks a piece of syntax, unless it has c. */
void tks_need(tks *s, tks_change c, const char *what, const char *help);
/* The newest function of the library with that name which the version has:
 * "softmax" or "softmax_since_309". */
const char *tks_library_name(const tks *s, const char *name);
/* The name that users know such a function by: "softmax". */
const char *tks_name_without_version(const tks *s, const char *name);
/* The version that brought an operation which this one, *now, does not have
 * yet; NULL: it has. */
const char *tks_not_yet(const tks *s, const char *name, const char **now);

#endif
