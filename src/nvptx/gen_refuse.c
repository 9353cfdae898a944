/* gen_refuse.c - instructions that are not compiled. */
#include <stdarg.h>
#include <string.h>

#include "nvptx/gen.h"

/* Whether a row of refuse.def has the instruction, so that the documentation
 * says what is refused. */
static bool is_in_row(tkv_refusal row, const char *name) {
  static const char *const rows[] = {
#define REFUSE(ID, instructions, what, why) instructions,
#include "nvptx/refuse.def"
#undef REFUSE
  };
  return tk_has_word(rows[row], name, strlen(name));
}

void tkv_refuse(tkv_gen *g, const tk_inst *in, tkv_refusal row, const char *fmt,
                ...) {
  const char *name = tk_inst_name((tk_opcode)in->op);
  TK_ASSERT(is_in_row(row, name));
  va_list ap;
  va_start(ap, fmt);
  const char *why = tk_arena_vprintf(g->arena, fmt, ap);
  va_end(ap);
  tk_span at = in->span;
  const tk_source *src = tkv_user_place(g, &at);
  tk_diag *d =
      tk_diag_add(g->env, TK_D_UNSUPPORTED, src, at,
                  "'%s' is not compiled for the GPU here: %s", name, why);
  tk_diag_help(g->env, d,
               "the interpreter runs it; docs/compile.md lists what is "
               "compiled");
  tk_throw(g->env, TK_FINDING);
}
