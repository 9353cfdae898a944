/* retyped.c - a copy of an instruction, on slots of its own. */
#include "interp/retyped.h"

#include "interp/interp.h"

void tki_run_retyped(tki *t, const tk_inst *in, tk_dtype d, tki_kernel kernel,
                     tki_val slots[TKI_RETYPED_SLOTS]) {
  int numbers[TKI_RETYPED_SLOTS];
  tk_inst copy = *in;
  const tki_op *code = t->code == t->measured ? t->plain : t->code;
  tki_op op = code[in->id];
  TK_ASSERT(in->nargs + in->nres <= TKI_RETYPED_SLOTS);
  for (int i = 0; i < TKI_RETYPED_SLOTS; i++) numbers[i] = i;
  copy.args = numbers;
  copy.res = numbers + in->nargs;
  copy.kill = 0;
  copy.type = tk_with_elem(in->type, d);
  copy.from = tk_with_elem(in->from, d);
  op.in = &copy;
  op.part = TKI_WHOLE;
  if (kernel) op.kernel = kernel;
  op.run(t, &op, slots);
  for (int k = 0; k < in->nargs; k++) tki_release(t, &slots[k]);
}
