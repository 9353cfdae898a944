/* ttir.h - kernels in Triton's own intermediate representation: the text of
 * MLIR that Triton prints before it assigns layouts, read into the typed form.
 *
 * The source of the form is the text itself; the origin of each of its lines
 * is the line of the kernel that its loc(...) names. */
#ifndef TK_TTIR_TTIR_H
#define TK_TTIR_TTIR_H

#include "ir/ir.h"

/* Whether a text can only be meant as MLIR's. */
bool tkx_is_ttir(const tk_source *src);
/* As tk_program_parse, of such a text; adds the origins of lines to it. */
tk_program *tkx_parse(tk_env *e, tk_arena *keep, tk_source *src);

#endif
