/* device.c - which instructions are computed as code for a GPU does, and those
 * that it has a library for.  kernels_math.c and kernels_float.c have the
 * loops of the others, dot.c products.
 */
#include "interp/bind.h"
#include "interp/interp.h"
#include "interp/kernels.h"
#include "ir/libdevice.h"
#include "ir/numerics.h"

static void run_library(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  const void *args[TK_EXTERN_ARGS];
  tk_library *library = t->launch->library;
  for (int i = 0; i < in->nargs; i++) args[i] = tki_lanes(&frame[in->args[i]]);
  tki_val v = tki_result(t, in, frame, 0);
  library->apply(library, t->env, in, tki_writable(&v), args, (size_t)in->n);
  tki_set(t, &frame[in->res[0]], v);
}

void tki_bind_device(tki_op *op) {
  const tk_inst *in = op->in;
  switch (tk_way_of(in)) {
  case TK_WAY_DEFINED: break;
  case TK_WAY_APPROXIMATE:
    op->kernel = (tki_kernel)tki_approximate_kernel(tk_unary_op(in));
    break;
  case TK_WAY_REMAINDER:
    op->kernel = (tki_kernel)tki_remainder_kernel((tk_dtype)in->type.elem);
    break;
  case TK_WAY_LIBRARY: op->run = run_library; break;
  }
}
