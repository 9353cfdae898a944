/* bind.c - which function runs an instruction, and which kernel it uses.
 */
#include "interp/bind.h"

#include "interp/kernels.h"

static const void *reduction_kernel(const tk_inst *in) {
  tki_binary_fn fn = tki_binary_kernel(tki_reduction_op(tk_inst_reduction(in)),
                                       (tk_dtype)in->from.elem);
  return (const void *)(uintptr_t)fn;
}

static void bind_inst(tk_inst *in, const tk_func *f) {
  tki_elem(in);
  tki_move(in);
  switch (in->op) {
  case TK_I_ADDPTR: tki_bind_addptr(in, f); break;
  case TK_I_LOAD: in->run = tki_load; break;
  case TK_I_STORE: in->run = tki_store; break;
  case TK_I_ATOMIC: in->run = tki_atomic; break;
  case TK_I_CAS: in->run = tki_cas; break;
  case TK_I_DOT: in->run = tki_dot; break;
  case TK_I_REDUCE:
    in->run = tki_reduce;
    in->kernel = reduction_kernel(in);
    break;
  case TK_I_SCAN:
    in->run = tki_scan;
    in->kernel = reduction_kernel(in);
    break;
  case TK_I_REDUCE_FN: in->run = tki_reduce_fn; break;
  case TK_I_SCAN_FN: in->run = tki_scan_fn; break;
  case TK_I_ASM: in->run = tki_asm; break;
  case TK_I_MAP_FN: in->run = tki_map_fn; break;
  case TK_I_UNSCALE: in->run = tki_unscale; break;
  case TK_I_CALL: in->run = tki_run_call; break;
  case TK_I_COND: in->run = tki_run_cond; break;
  case TK_I_PRINT: in->run = tki_print; break;
  case TK_I_ASSERT: in->run = tki_assert; break;
  case TK_I_BREAKPOINT: in->run = tki_breakpoint; break;
  case TK_I_BARRIER: in->run = tki_barrier; break;
  default: break;
  }
}

/* Whether a later instruction is the only user of a slot and can take a
 * column or row in place of the block. */
static bool takes_lazy(const tk_insts *l, size_t from, int slot) {
  for (size_t i = from; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    for (int k = 0; k < in->nargs; k++)
      if (in->args[k] == slot)
        return (in->op == TK_I_BINARY || in->op == TK_I_COMPARE) &&
               in->type.rank == 2 && in->kill >> k & 1;
  }
  return false;
}

/* A broadcast to two axes that only feeds an operation lane by lane is not
 * carried out: the operation goes row by row (mode 1 column, 2 row). */
static void fuse(tk_insts *l, size_t at) {
  tk_inst *in = l->items[at];
  bool two = in->op == TK_I_BROADCAST && in->from.rank == 2;
  if (!two || !takes_lazy(l, at + 1, in->res[0])) return;
  bool column = in->from.shape[1] == 1, row = in->from.shape[0] == 1;
  if (column != row && in->type.shape[1] >= 8) in->mode = column ? 1 : 2;
}

static void bind_insts(tk_insts *l, const tk_func *f) {
  for (size_t i = 0; i < l->n; i++) {
    bind_inst(l->items[i], f);
    fuse(l, i);
    bind_insts(&l->items[i]->body[0], f);
    bind_insts(&l->items[i]->body[1], f);
  }
}

static void bind_body(tk_body *b, const tk_func *f) {
  for (size_t i = 0; i < b->n; i++) {
    bind_insts(&b->items[i]->insts, f);
    bind_body(&b->items[i]->body, f);
    bind_body(&b->items[i]->orelse, f);
  }
}

void tki_bind(tk_program *p) {
  if (p->bound) return;
  for (size_t i = 0; i < p->nfuncs; i++)
    bind_body(&p->funcs[i]->body, p->funcs[i]);
  p->bound = true;
}
