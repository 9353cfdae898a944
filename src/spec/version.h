/* version.h - which Triton a session follows; see version.def. */
#ifndef TK_SPEC_VERSION_H
#define TK_SPEC_VERSION_H

#include "spec/spec.h"

typedef enum tks_change {
#define CHANGE(id, since, doc) TKS_##id,
#include "version.def"
#undef CHANGE
  TKS_CHANGES,
} tks_change;

/* Whether the version has the change: behaves as the newest. */
bool tks_has(const tks *s, tks_change c);
/* The version that brought an operation which this one, *now, does not have
 * yet; NULL: it has. */
const char *tks_not_yet(const tks *s, const char *name, const char **now);

#endif
