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
/* Refuses an operation that the version does not have yet. */
void tks_check_added(tks *s, const char *name);

#endif
