/* alias.h - tensors that overlap, where the language forbids it. */
#ifndef TK_CHECK_ALIAS_H
#define TK_CHECK_ALIAS_H

#include "interp/check/check.h"

void tkc_alias_begin(tkc *c, tki *t);

#endif
