/* window.h - what the detector `bounds` asks of block pointers and descriptors.
 */
#ifndef TK_CHECK_WINDOW_H
#define TK_CHECK_WINDOW_H

#include "interp/check/check.h"

void tkc_windows_begin(tkc *c, tki *t);

#endif
