/* op_cuda.c - rules: what Triton has for NVIDIA's processors alone.
 *
 * What a GPU would read from a register is answered from the launch, so that
 * two runs agree.
 */
#include "typing/rule.h"

sval rule_clock(tks *s, const tks_args *a) {
  (void)a;
  return tks_result(tks_emit(s, TK_I_CLOCK, 0, tk_scalar(TK_INT64), 0, NULL));
}

static sval program_axis(tks *s, tk_opcode op, int axis) {
  return tks_result(tks_emit(s, op, axis, tk_scalar(TK_INT32), 0, NULL));
}

/* An H200 has 132 multiprocessors. */
enum { MULTIPROCESSORS = 132 };

sval rule_smid(tks *s, const tks_args *a) {
  (void)a;
  sval number = program_axis(s, TK_I_PID, 2);
  for (int axis = 1; axis >= 0; axis--) {
    sval size = program_axis(s, TK_I_NPROG, axis);
    sval pid = program_axis(s, TK_I_PID, axis);
    number = tks_binary(s, TK_OP_MUL, &number, &size);
    number = tks_binary(s, TK_OP_ADD, &number, &pid);
  }
  sval all = tks_const(s, tk_scalar(TK_UINT32), MULTIPROCESSORS);
  number = tks_cast_to(s, &number, TK_UINT32);
  number = tks_binary(s, TK_OP_MOD, &number, &all);
  return tks_cast_to(s, &number, TK_INT32);
}

sval rule_num_warps(tks *s, const tks_args *a) {
  return sv_int((tk_int)s->launch->options[TK_LAUNCH_NUM_WARPS] * a->op->mode);
}

sval rule_gdc(tks *s, const tks_args *a) {
  (void)s, (void)a;
  return sv(V_NONE);
}

/* What fp8e4b15 becomes: dst_ty, if that is one of the two. */
static tk_dtype wider(tks *s, const tks_args *a) {
  if (a->n < 2) return TK_FP16;
  return tks_arg_dtype(s, &a->v[1]).elem == TK_FP32 ? TK_FP32 : TK_FP16;
}

/* mode: the types that it takes. */
enum { UP = 1, DOWN = 2 };

sval rule_float8(tks *s, const tks_args *a) {
  static const char *const wants[] = {"fp8e4b15, fp16 or fp32", "fp8e4b15",
                                      "fp16"};
  int mode = a->op->mode;
  sval v = tks_to_tensor(s, &a->v[0]);
  tk_dtype from = sv_dtype(&v);
  bool up = from == TK_FP8E4B15 && mode != DOWN && !v.type.ptr;
  bool down = from == TK_FP16 || (from == TK_FP32 && mode != DOWN);
  if (up) return tks_cast_to(s, &v, mode == UP ? TK_FP16 : wider(s, a));
  if (down && mode != UP && !v.type.ptr) return tks_cast_to(s, &v, TK_FP8E4B15);
  s->frame->at = a->span[0];
  tks_error(s, TK_D_TYPE, "%s takes %s, not %s", a->op->name, wants[mode],
            tks_show(s, &v));
}
