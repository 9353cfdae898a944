/* emit.h - failing with a place in the source, and making instructions: what
 * every floor above values does.
 *
 * Instructions go to the list of the statement being worked on, statements to
 * the body of the innermost block.
 */
#ifndef TK_TYPING_EMIT_H
#define TK_TYPING_EMIT_H

#include "typing/state.h"

/* ---- failing ----------------------------------------------------------- */

void tks_error(tks *s, tk_diag_id id, const char *fmt, ...)
    TK_PRINTF(3, 4) TK_NORETURN;
void tks_error_help(tks *s, tk_diag_id id, const char *help, const char *fmt,
                    ...) TK_PRINTF(4, 5) TK_NORETURN;
/* Reports without failing, for notes to be added. */
tk_diag *tks_say(tks *s, tk_diag_id id, const char *fmt, ...) TK_PRINTF(3, 4);
/* Notes a deprecated spelling; each format is noted once for a file. */
void tks_deprecated(tks *s, const char *fmt, ...) TK_PRINTF(2, 3);
/* The text that a frame's places are in. */
const tk_source *tks_frame_source(const tks_frame *f);

/* ---- instructions ------------------------------------------------------ */

int tks_slot(tks *s, tk_type t, const char *name);
/* An instruction with one result in a new temporary. */
tk_inst *tks_emit(tks *s, tk_opcode op, int mode, tk_type t, size_t nargs,
                  const sval *args);
sval tks_result(const tk_inst *in);
sval tks_emit1(tks *s, tk_opcode op, int mode, tk_type t, const sval *a);
sval tks_emit2(tks *s, tk_opcode op, int mode, tk_type t, const sval *a,
               const sval *b);
tk_inst *tks_inst_new(tks *s, tk_opcode op, int mode, tk_type t, size_t nargs,
                      const sval *args, size_t nres);
/* From here on instructions go to `to`; returns where they went before, for
 * tks_emit_back. */
tk_insts *tks_emit_to(tks *s, tk_insts *to);
void tks_emit_back(tks *s, tk_insts *before);
/* Copies every leaf of v into slots named after `name`. */
sval tks_store_var(tks *s, const char *name, const sval *v);
sval tks_copy(tks *s, const sval *v); /* into fresh temporaries */
sval tks_const(tks *s, tk_type t, uint64_t bits);
/* The tensors in a value, in order; out NULL: counts them only. */
size_t tks_leaves(const sval *v, sval *out);
/* What an item of a composite value is called when the value is `name`. */
const char *tks_part_name(tks *s, const sval *v, const char *name, size_t i);
/* Notes that a descriptor, if v is one, is used. */
void tks_use_desc(tks *s, const sval *v);
/* Raises for a block with more lanes than Triton allows. */
void tks_check_lanes(tks *s, int64_t numel);

/* ---- text with values in it ---------------------------------------------- */

typedef TK_VEC(tk_piece) tks_pieces;
void tks_piece_text(tks *s, tks_pieces *p, const char *text, size_t n);
/* spec: a format specification, or NULL. */
void tks_piece_value(tks *s, tks_pieces *p, const sval *v, const char *spec,
                     bool repr);
/* A text if every piece is known, else a V_FORMAT. */
sval tks_piece_join(tks *s, const tks_pieces *p);

#endif
