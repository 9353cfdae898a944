/* bind.h - which function runs an instruction.
 */
#ifndef TK_INTERP_BIND_H
#define TK_INTERP_BIND_H

#include "ir/ir.h"

typedef void (*tki_run)(void *ctx, const tk_inst *in, void *frame);

/* Fills in run and kernel of every instruction, once. */
void tki_bind(tk_program *p);

/* ---- what runs instructions, by file ------------------------------------ */

/* exec.c */
void tki_run_call(void *ctx, const tk_inst *in, void *frame);
void tki_run_cond(void *ctx, const tk_inst *in, void *frame);
/* memory.c */
void tki_load(void *ctx, const tk_inst *in, void *frame);
void tki_store(void *ctx, const tk_inst *in, void *frame);
void tki_atomic(void *ctx, const tk_inst *in, void *frame);
void tki_cas(void *ctx, const tk_inst *in, void *frame);
void tki_barrier(void *ctx, const tk_inst *in, void *frame);
/* files named after them */
void tki_dot(void *ctx, const tk_inst *in, void *frame);
void tki_reduce(void *ctx, const tk_inst *in, void *frame);
void tki_reduce_fn(void *ctx, const tk_inst *in, void *frame);
void tki_scan(void *ctx, const tk_inst *in, void *frame);
void tki_scan_fn(void *ctx, const tk_inst *in, void *frame);
void tki_map_fn(void *ctx, const tk_inst *in, void *frame);
void tki_unscale(void *ctx, const tk_inst *in, void *frame);
void tki_asm(void *ctx, const tk_inst *in, void *frame);
/* output.c */
void tki_print(void *ctx, const tk_inst *in, void *frame);
void tki_assert(void *ctx, const tk_inst *in, void *frame);
void tki_breakpoint(void *ctx, const tk_inst *in, void *frame);
/* move.c */
void tki_copy(void *ctx, const tk_inst *in, void *frame);
void tki_move(tk_inst *in); /* fills in run for what move.c does */
void tki_elem(tk_inst *in); /* the same for elem.c */

void tki_bind_addptr(tk_inst *in, const tk_func *f);

#endif
