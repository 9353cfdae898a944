/* gen_lane.c - lane-wise instructions, one lane at a time.
 *
 * What is written here gives the bits that the interpreter gives, but for what
 * ir/numerics.h names: the hardware's approximations, the functions of
 * libdevice, and remainders of floats.
 */
#include "nvptx/gen.h"

#include <string.h>

#include "base/bits.h"
#include "ir/libdevice.h"
#include "ir/numerics.h"

/* ---- types and literals ---------------------------------------------------
 */

int tkv_lane_bits(const tk_type *t) {
  return t->ptr ? 64 : tk_dtypes[t->elem].bits;
}

const char *tkv_lane_type(const tk_type *t) {
  static const char *const names[TK_DTYPE_COUNT] = {
      [TK_INT1] = "i1",     [TK_INT8] = "i8",     [TK_UINT8] = "i8",
      [TK_INT16] = "i16",   [TK_UINT16] = "i16",  [TK_INT32] = "i32",
      [TK_UINT32] = "i32",  [TK_INT64] = "i64",   [TK_UINT64] = "i64",
      [TK_FP8E4NV] = "i8",  [TK_FP8E4B8] = "i8",  [TK_FP8E4B15] = "i8",
      [TK_FP8E5] = "i8",    [TK_FP8E5B16] = "i8", [TK_FP16] = "half",
      [TK_BF16] = "bfloat", [TK_FP32] = "float",  [TK_FP64] = "double"};
  return t->ptr ? "i64" : names[t->elem];
}

/* Whether LLVM has a float type for it. */
static bool is_llvm_float(const tk_type *t) {
  return !t->ptr && tk_is_float((tk_dtype)t->elem) &&
         !tk_is_fp8((tk_dtype)t->elem);
}

const char *tkv_to_bits(tkv_gen *g, const tk_type *t, const char *x) {
  if (!is_llvm_float(t)) return x;
  return tkv_emit(g, "bitcast %s %s to i%d", tkv_lane_type(t), x,
                  tkv_lane_bits(t));
}

const char *tkv_from_bits(tkv_gen *g, const tk_type *t, const char *x) {
  if (!is_llvm_float(t)) return x;
  return tkv_emit(g, "bitcast i%d %s to %s", tkv_lane_bits(t), x,
                  tkv_lane_type(t));
}

const char *tkv_literal(tkv_gen *g, const tk_type *t, uint64_t bits) {
  int n = tkv_lane_bits(t);
  if (n == 1) return bits & 1 ? "true" : "false";
  int64_t value = (int64_t)(bits << (64 - n)) >> (64 - n);
  if (!is_llvm_float(t)) return tkv_text(g, "%lld", (long long)value);
  return tkv_text(g, "bitcast (i%d %lld to %s)", n, (long long)value,
                  tkv_lane_type(t));
}

static bool is_literal(const char *x) {
  return x[0] != '%';
}

static const tk_type fp32 = {.elem = TK_FP32};

static bool is_signed(const tk_type *t) {
  return !t->ptr && tk_is_signed((tk_dtype)t->elem);
}

static bool is_float(const tk_type *t) {
  return !t->ptr && tk_is_float((tk_dtype)t->elem);
}

/* Whether fp32 stands in for it in arithmetic. */
static bool is_narrow(const tk_type *t) {
  return is_float(t) && tkv_lane_bits(t) < 32;
}

/* ---- conversions ------------------------------------------------------------
 */

/* Both fp8 formats that NVIDIA has: the rounding of cvt.rn.satfinite (PTX ISA,
 * cvt) by integers: `drop` bits of fp32's fraction go, numbers below the
 * smallest normal one are rounded by adding `magic`, and `most` and above is
 * the largest number. */
static void print_fp8(tk_buf *out, const char *name, int drop, int rebias,
                      int most, int largest, int smallest, int magic) {
  tk_buf_printf(out,
                "define internal i8 @to.%s(float %%x) alwaysinline {\n"
                "  %%b = bitcast float %%x to i32\n"
                "  %%a = and i32 %%b, 2147483647\n"
                "  %%s0 = lshr i32 %%b, 24\n"
                "  %%s = and i32 %%s0, 128\n"
                "  %%odd0 = lshr i32 %%a, %d\n"
                "  %%odd = and i32 %%odd0, 1\n"
                "  %%r0 = add i32 %%a, %d\n"
                "  %%r1 = add i32 %%r0, %%odd\n"
                "  %%r2 = lshr i32 %%r1, %d\n"
                "  %%normal = sub i32 %%r2, %d\n"
                "  %%f = bitcast i32 %%a to float\n"
                "  %%m = bitcast i32 %d to float\n"
                "  %%sum = fadd float %%f, %%m\n"
                "  %%sb = bitcast float %%sum to i32\n"
                "  %%small = sub i32 %%sb, %d\n"
                "  %%tiny = icmp ult i32 %%a, %d\n"
                "  %%v0 = select i1 %%tiny, i32 %%small, i32 %%normal\n"
                "  %%big = icmp uge i32 %%a, %d\n"
                "  %%v1 = select i1 %%big, i32 %d, i32 %%v0\n"
                "  %%nan = icmp ugt i32 %%a, 2139095040\n"
                "  %%v2 = select i1 %%nan, i32 127, i32 %%v1\n"
                "  %%v3 = or i32 %%v2, %%s\n"
                "  %%v = trunc i32 %%v3 to i8\n"
                "  ret i8 %%v\n}\n\n",
                name, drop, (1 << (drop - 1)) - 1, drop, rebias, magic, magic,
                smallest, most, largest);
}

void tkv_print_prelude(tk_buf *out) {
  /* 464 rounds to 480, which e4m3 has not; 2^-6 is its smallest normal. */
  print_fp8(out, "fp8e4nv", 20, 120 << 3, 0x43e80000, 0x7e, 0x3c800000,
            0x46800000);
  print_fp8(out, "fp8e5", 21, 112 << 2, 0x47700000, 0x7b, 0x38800000,
            0x43000000);
  tk_buf_puts(out, "define internal float @from.fp8e5(i8 %x) alwaysinline {\n"
                   "  %w = zext i8 %x to i16\n"
                   "  %b = shl i16 %w, 8\n"
                   "  %h = bitcast i16 %b to half\n"
                   "  %f = fpext half %h to float\n"
                   "  ret float %f\n}\n\n"
                   "define internal float @from.fp8e4nv(i8 %x) alwaysinline {\n"
                   "  %w = zext i8 %x to i16\n"
                   "  %a = and i16 %w, 127\n"
                   "  %b = shl i16 %a, 7\n"
                   "  %s0 = shl i16 %w, 8\n"
                   "  %s = and i16 %s0, -32768\n"
                   "  %c = or i16 %b, %s\n"
                   "  %h = bitcast i16 %c to half\n"
                   "  %f0 = fpext half %h to float\n"
                   "  %f = fmul float %f0, 256.0\n"
                   "  %nan = icmp eq i16 %a, 127\n"
                   "  %v = select i1 %nan, float 0x7FF8000000000000, float %f\n"
                   "  ret float %v\n}\n\n");
  /* Triton's software: by fp16, which has the same exponents, toward zero, to
   * 1.75 at most, then to nearest with ties away from zero. */
  tk_buf_puts(out,
              "define internal float @from.fp8e4b15(i8 %x) alwaysinline {\n"
              "  %w = zext i8 %x to i16\n"
              "  %a0 = shl i16 %w, 7\n"
              "  %a = and i16 %a0, 16256\n"
              "  %s0 = shl i16 %w, 8\n"
              "  %s = and i16 %s0, -32768\n"
              "  %b = or i16 %a, %s\n"
              "  %h = bitcast i16 %b to half\n"
              "  %f = fpext half %h to float\n"
              "  ret float %f\n}\n\n"
              "define internal i8 @to.fp8e4b15(float %x) alwaysinline {\n"
              "  %b = bitcast float %x to i32\n"
              "  %s0 = lshr i32 %b, 24\n"
              "  %s = and i32 %s0, 128\n"
              "  %h = call i16 asm \"cvt.rz.f16.f32 $0, $1;\", \"=h,f\""
              "(float %x)\n"
              "  %w = zext i16 %h to i32\n"
              "  %a = and i32 %w, 32767\n"
              "  %m = call i32 @llvm.umin.i32(i32 %a, i32 16128)\n"
              "  %d = shl i32 %m, 1\n"
              "  %r0 = add i32 %d, 128\n"
              "  %r = lshr i32 %r0, 8\n"
              "  %v0 = or i32 %r, %s\n"
              "  %v = trunc i32 %v0 to i8\n"
              "  ret i8 %v\n}\n\n");
}

static bool has_conversion(tk_dtype d) {
  return d == TK_FP8E4NV || d == TK_FP8E5 || d == TK_FP8E4B15;
}

static const char *to_fp32(tkv_gen *g, const tk_type *t, const char *x) {
  if (t->elem == TK_FP32) return x;
  if (tk_is_fp8((tk_dtype)t->elem))
    return tkv_emit(g, "call float @from.%s(i8 %s)", tk_dtypes[t->elem].name,
                    x);
  return tkv_emit(g, "%s %s %s to float",
                  t->elem == TK_FP64 ? "fptrunc" : "fpext", tkv_lane_type(t),
                  x);
}

static const char *from_fp32(tkv_gen *g, const tk_type *t, const char *x) {
  if (t->elem == TK_FP32) return x;
  if (tk_is_fp8((tk_dtype)t->elem))
    return tkv_emit(g, "call i8 @to.%s(float %s)", tk_dtypes[t->elem].name, x);
  return tkv_emit(g, "%s float %s to %s",
                  t->elem == TK_FP64 ? "fpext" : "fptrunc", x,
                  tkv_lane_type(t));
}

static const char *float_to_int(tkv_gen *g, const tk_type *to,
                                const tk_type *from, const char *x) {
  int bits = tkv_lane_bits(to), wide = bits < 16 ? 16 : bits;
  tk_type t = *from;
  if (is_narrow(from)) {
    x = to_fp32(g, from, x);
    t = fp32;
  }
  x = tkv_emit(g, "call i%d @llvm.fpto%ci.sat.i%d.f%d(%s %s)", wide,
               is_signed(to) ? 's' : 'u', wide, tkv_lane_bits(&t),
               tkv_lane_type(&t), x);
  return bits == wide ? x : tkv_emit(g, "trunc i16 %s to i8", x);
}

/* An integer rounded to fp32 "to odd": what is cut off sets the last bit, so
 * that rounding the result again is as good as rounding once (S. Boldo and G.
 * Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms
 * Using Rounding to Odd", IEEE TC 2008). */
static const char *int_to_odd(tkv_gen *g, const tk_type *from, const char *x) {
  int bits = tkv_lane_bits(from);
  char sign = is_signed(from) ? 's' : 'u';
  x = bits < 32
          ? tkv_emit(g, "%cext i%d %s to i32", sign == 's' ? 's' : 'z', bits, x)
          : x;
  bits = bits < 32 ? 32 : bits;
  /* LLVM takes its own intrinsic for this to round to nearest. */
  const char *cut = tkv_emit(g,
                             "call float asm \"cvt.rz.f32.%c%d $0, $1;\", "
                             "\"=f,%c\"(i%d %s)",
                             sign, bits, bits == 64 ? 'l' : 'r', bits, x),
             *back = tkv_emit(g, "fpto%ci float %s to i%d", sign, cut, bits),
             *odd = tkv_emit(g, "icmp ne i%d %s, %s", bits, back, x),
             *last = tkv_emit(g, "zext i1 %s to i32", odd),
             *word = tkv_emit(g, "bitcast float %s to i32", cut);
  word = tkv_emit(g, "or i32 %s, %s", word, last);
  return tkv_emit(g, "bitcast i32 %s to float", word);
}

/* bf16 and fp8 have no instruction. */
static const char *int_to_float(tkv_gen *g, const tk_type *to,
                                const tk_type *from, const char *x) {
  if (to->elem == TK_BF16) return from_fp32(g, to, int_to_odd(g, from, x));
  tk_type by = tk_is_fp8((tk_dtype)to->elem) ? fp32 : *to;
  x = tkv_emit(g, "%s i%d %s to %s", is_signed(from) ? "sitofp" : "uitofp",
               tkv_lane_bits(from), x, tkv_lane_type(&by));
  return by.elem == to->elem ? x : tkv_convert_lane(g, to, &by, false, x);
}

static const char *int_to_int(tkv_gen *g, const tk_type *to,
                              const tk_type *from, const char *x) {
  int a = tkv_lane_bits(from), b = tkv_lane_bits(to);
  if (a == b) return x;
  bool with_sign = is_signed(from) && !TKV_MUTANT(EXTEND);
  const char *how = a > b ? "trunc" : with_sign ? "sext" : "zext";
  return tkv_emit(g, "%s i%d %s to i%d", how, a, x, b);
}

static const char *float_to_float(tkv_gen *g, const tk_type *to,
                                  const tk_type *from, bool to_zero,
                                  const char *x) {
  if (to->elem == from->elem) return x;
  if (to_zero && from->elem == TK_FP32) {
    const char *bits = tkv_emit(
        g, "call i16 asm \"cvt.rz.%s.f32 $0, $1;\", \"=h,f\"(float %s)",
        to->elem == TK_BF16 ? "bf16" : "f16", x);
    if (tkv_lane_bits(to) == 16) return tkv_from_bits(g, to, bits);
    TK_ASSERT(to->elem == TK_FP8E5); /* the first byte of an fp16 */
    return tkv_emit(g, "trunc i16 %s to i8",
                    tkv_emit(g, "lshr i16 %s, 8", bits));
  }
  bool fp8 = tk_is_fp8((tk_dtype)to->elem) || tk_is_fp8((tk_dtype)from->elem);
  if (fp8 || from->elem == TK_FP32 || to->elem == TK_FP32 || is_narrow(from))
    return tkv_convert_lane(g, to, &fp32, false, to_fp32(g, from, x));
  return tkv_emit(g, "fptrunc %s %s to %s", tkv_lane_type(from), x,
                  tkv_lane_type(to));
}

const char *tkv_convert_lane(tkv_gen *g, const tk_type *to, const tk_type *from,
                             bool to_zero, const char *x) {
  if (from->elem == TK_FP32 && !from->ptr && !to_zero && is_float(to))
    return from_fp32(g, to, x);
  if (is_float(from) && is_float(to))
    return float_to_float(g, to, from, to_zero, x);
  if (tkv_lane_bits(to) == 1 && tkv_lane_bits(from) != 1) {
    if (is_narrow(from)) x = to_fp32(g, from, x);
    return is_float(from)
               ? tkv_emit(g, "fcmp une %s %s, 0.0",
                          tkv_lane_type(is_narrow(from) ? &fp32 : from), x)
               : tkv_emit(g, "icmp ne i%d %s, 0", tkv_lane_bits(from), x);
  }
  if (is_float(from)) return float_to_int(g, to, from, x);
  return is_float(to) ? int_to_float(g, to, from, x)
                      : int_to_int(g, to, from, x);
}

/* ---- arithmetic
 * ---------------------------------------------------------------- */

/* The negative, or the absolute value, of an integer.  ptxas takes neg.s16 and
 * abs.s16 of -32768 for 32768 where the result is extended, so 8 and 16 bits
 * are computed in 32, and out of the sight of LLVM, which would undo that. */
static const char *int_sign(tkv_gen *g, tk_unary op, const tk_type *t,
                            const char *x) {
  const char *type = tkv_lane_type(t), *name = op == TK_U_NEG ? "neg" : "abs";
  int bits = tkv_lane_bits(t);
  if (bits == 8 || bits == 16) {
    x = tkv_emit(g, "sext %s %s to i32", type, x);
    x = tkv_emit(g, "call i32 asm \"%s.s32 $0, $1;\", \"=r,r\"(i32 %s)", name,
                 x);
    return tkv_emit(g, "trunc i32 %s to %s", x, type);
  }
  if (op == TK_U_NEG) return tkv_emit(g, "sub %s 0, %s", type, x);
  return tkv_emit(g, "call %s @llvm.abs.%s(%s %s, i1 false)", type, type, type,
                  x);
}

/* As hardware divides: by 0 all bits are 1 and the remainder is the number
 * itself; LLVM says nothing of it, nor of the smallest number by -1. */
static const char *int_division(tkv_gen *g, bool mod, const tk_type *t,
                                const char *a, const char *b) {
  const char *type = tkv_lane_type(t), *op = mod ? "rem" : "div";
  char sign = is_signed(t) && !TKV_MUTANT(DIVIDE) ? 's' : 'u';
  if (is_literal(b) && strcmp(b, "0") && strcmp(b, "-1"))
    return tkv_emit(g, "%c%s %s %s, %s", sign, op, type, a, b);
  const char *zero = tkv_emit(g, "icmp eq %s %s, 0", type, b), *odd = zero;
  if (sign == 's') {
    const char *minus = tkv_emit(g, "icmp eq %s %s, -1", type, b);
    odd = tkv_emit(g, "or i1 %s, %s", zero, minus);
  }
  const char *by = tkv_emit(g, "select i1 %s, %s 1, %s %s", odd, type, type, b),
             *q = tkv_emit(g, "%c%s %s %s, %s", sign, op, type, a, by);
  if (sign == 's') {
    const char *minus = mod ? "0" : int_sign(g, TK_U_NEG, t, a);
    q = tkv_emit(g, "select i1 %s, %s %s, %s %s", odd, type, minus, type, q);
  }
  return tkv_emit(g, "select i1 %s, %s %s, %s %s", zero, type, mod ? a : "-1",
                  type, q);
}

/* A shift by the width or more gives 0, or the sign: that of the left operand,
 * which may be signed where the result is not. */
static const char *shift(tkv_gen *g, tk_binary op, const tk_type *t,
                         const char *a, const char *b) {
  const char *type = tkv_lane_type(t);
  bool arithmetic = op == TK_B_SHR && !TKV_MUTANT(SHIFT);
  int last = tkv_lane_bits(t) - 1;
  const char *far = tkv_emit(g, "icmp ugt %s %s, %d", type, b, last);
  const char *by =
      tkv_emit(g, "select i1 %s, %s %d, %s %s", far, type, last, type, b);
  const char *x = tkv_emit(g, "%s %s %s, %s",
                           op == TK_B_SHL ? "shl"
                           : arithmetic   ? "ashr"
                                          : "lshr",
                           type, a, by);
  return arithmetic
             ? x
             : tkv_emit(g, "select i1 %s, %s 0, %s %s", far, type, type, x);
}

static const char *int_binary(tkv_gen *g, tk_binary op, const tk_type *t,
                              const char *a, const char *b) {
  static const char *const names[TK_B_COUNT] = {
      [TK_B_ADD] = "add", [TK_B_SUB] = "sub", [TK_B_MUL] = "mul",
      [TK_B_AND] = "and", [TK_B_OR] = "or",   [TK_B_XOR] = "xor"};
  int bits = tkv_lane_bits(t);
  char sign = is_signed(t) ? 's' : 'u';
  bool max = op == TK_B_MAX || op == TK_B_MAX_NAN;
  /* LLVM takes these for what they are */
  if (op == TK_B_SUB && !strcmp(a, "0")) return int_sign(g, TK_U_NEG, t, b);
  if (op == TK_B_MUL && !strcmp(b, "-1")) return int_sign(g, TK_U_NEG, t, a);
  if (names[op]) return tkv_emit(g, "%s i%d %s, %s", names[op], bits, a, b);
  if (op == TK_B_DIV || op == TK_B_MOD)
    return int_division(g, op == TK_B_MOD, t, a, b);
  if (op == TK_B_SHL || op == TK_B_SHR || op == TK_B_LSHR)
    return shift(g, op, t, a, b);
  if (op != TK_B_MULHI)
    return tkv_emit(g, "call i%d @llvm.%c%s.i%d(i%d %s, i%d %s)", bits, sign,
                    max ? "max" : "min", bits, bits, a, bits, b);
  const char *x = tkv_emit(g, "zext i%d %s to i%d", bits, a, 2 * bits),
             *y = tkv_emit(g, "zext i%d %s to i%d", bits, b, 2 * bits),
             *z = tkv_emit(g, "mul i%d %s, %s", 2 * bits, x, y),
             *high = tkv_emit(g, "lshr i%d %s, %d", 2 * bits, z, bits);
  return tkv_emit(g, "trunc i%d %s to i%d", 2 * bits, high, bits);
}

/* Arithmetic modulo 2. */
static const char *bool_binary(tkv_gen *g, tk_binary op, const char *a,
                               const char *b) {
  switch (op) {
  case TK_B_ADD:
  case TK_B_SUB:
  case TK_B_XOR: return tkv_emit(g, "xor i1 %s, %s", a, b);
  case TK_B_MUL:
  case TK_B_AND:
  case TK_B_MIN:
  case TK_B_MIN_NAN: return tkv_emit(g, "and i1 %s, %s", a, b);
  case TK_B_OR:
  case TK_B_MAX:
  case TK_B_MAX_NAN: return tkv_emit(g, "or i1 %s, %s", a, b);
  case TK_B_DIV: return tkv_emit(g, "select i1 %s, i1 %s, i1 true", b, a);
  case TK_B_MOD:
  case TK_B_SHL:
  case TK_B_SHR:
  case TK_B_LSHR: return tkv_emit(g, "select i1 %s, i1 false, i1 %s", b, a);
  case TK_B_MULHI:
  case TK_B_COUNT: break;
  }
  TK_ASSERT(false);
  return a;
}

/* PTX has no min.NaN of fp64. */
static const char *nan_wins(tkv_gen *g, bool max, const tk_type *t,
                            const char *a, const char *b) {
  int n = tkv_lane_bits(t);
  const char *type = tkv_lane_type(t);
  if (n == 32)
    return tkv_emit(g, "call float @llvm.%s.f32(float %s, float %s)",
                    max ? "maximum" : "minimum", a, b);
  const char *x = tkv_emit(g, "call %s @llvm.%snum.f%d(%s %s, %s %s)", type,
                           max ? "max" : "min", n, type, a, type, b),
             *nan = tkv_emit(g, "fcmp uno %s %s, %s", type, a, b),
             *sum = tkv_emit(g, "fadd %s %s, %s", type, a, b);
  return tkv_emit(g, "select i1 %s, %s %s, %s %s", nan, type, sum, type, x);
}

/* a - trunc(a / b) * b, of which the quotient is rounded, and the rest once.
 * LLVM's own rounds the product as well, unless ptxas fuses it. */
static const char *float_remainder(tkv_gen *g, const tk_type *t, const char *a,
                                   const char *b) {
  int n = tkv_lane_bits(t);
  const char *type = tkv_lane_type(t),
             *q = tkv_emit(g, "fdiv %s %s, %s", type, a, b);
  q = tkv_emit(g, "call %s @llvm.trunc.f%d(%s %s)", type, n, type, q);
  q = tkv_emit(g, "fneg %s %s", type, q);
  const char *r = tkv_emit(g, "call %s @llvm.fma.f%d(%s %s, %s %s, %s %s)",
                           type, n, type, q, type, b, type, a),
             *size =
                 tkv_emit(g, "call %s @llvm.fabs.f%d(%s %s)", type, n, type, b),
             *far =
                 tkv_emit(g, "fcmp oeq %s %s, 0x7FF0000000000000", type, size);
  return tkv_emit(g, "select i1 %s, %s %s, %s %s", far, type, a, type, r);
}

static const char *float_binary(tkv_gen *g, tk_binary op, const tk_type *t,
                                const char *a, const char *b) {
  static const char *const names[TK_B_COUNT] = {[TK_B_ADD] = "fadd",
                                                [TK_B_SUB] = "fsub",
                                                [TK_B_MUL] = "fmul",
                                                [TK_B_DIV] = "fdiv"};
  const char *type = tkv_lane_type(t);
  bool max = op == TK_B_MAX || op == TK_B_MAX_NAN;
  if (names[op]) return tkv_emit(g, "%s %s %s, %s", names[op], type, a, b);
  if (op == TK_B_MOD) return float_remainder(g, t, a, b);
  if (op == TK_B_MIN_NAN || op == TK_B_MAX_NAN)
    return nan_wins(g, max, t, a, b);
  TK_ASSERT(op == TK_B_MIN || op == TK_B_MAX);
  return tkv_emit(g, "call %s @llvm.%snum.f%d(%s %s, %s %s)", type,
                  max ? "max" : "min", tkv_lane_bits(t), type, a, type, b);
}

const char *tkv_binary(tkv_gen *g, tk_binary op, const tk_type *t,
                       const char *a, const char *b) {
  if (!is_float(t))
    return tkv_lane_bits(t) == 1 ? bool_binary(g, op, a, b)
                                 : int_binary(g, op, t, a, b);
  if (!is_narrow(t)) return float_binary(g, op, t, a, b);
  return from_fp32(
      g, t, float_binary(g, op, &fp32, to_fp32(g, t, a), to_fp32(g, t, b)));
}

const char *tkv_compare(tkv_gen *g, tk_compare op, const tk_type *t,
                        const char *a, const char *b) {
  static const char *const floats[TK_C_COUNT] = {
      [TK_C_EQ] = "oeq", [TK_C_NE] = "une", [TK_C_LT] = "olt",
      [TK_C_LE] = "ole", [TK_C_GT] = "ogt", [TK_C_GE] = "oge"};
  static const char *const ints[][TK_C_COUNT] = {{[TK_C_EQ] = "eq",
                                                  [TK_C_NE] = "ne",
                                                  [TK_C_LT] = "ult",
                                                  [TK_C_LE] = "ule",
                                                  [TK_C_GT] = "ugt",
                                                  [TK_C_GE] = "uge"},
                                                 {[TK_C_EQ] = "eq",
                                                  [TK_C_NE] = "ne",
                                                  [TK_C_LT] = "slt",
                                                  [TK_C_LE] = "sle",
                                                  [TK_C_GT] = "sgt",
                                                  [TK_C_GE] = "sge"}};
  if (!is_float(t))
    return tkv_emit(g, "icmp %s %s %s, %s", ints[is_signed(t)][op],
                    tkv_lane_type(t), a, b);
  tk_type by = is_narrow(t) ? fp32 : *t;
  if (is_narrow(t)) {
    a = to_fp32(g, t, a);
    b = to_fp32(g, t, b);
  }
  return tkv_emit(g, "fcmp %s %s %s, %s", floats[op], tkv_lane_type(&by), a, b);
}

/* ---- functions of one number
 * ------------------------------------------------------ */

/* A function of libdevice, by the name that C's mathematics has for it. */
static const char *libdevice(tkv_gen *g, const char *name, const tk_type *t,
                             const char *x) {
  const char *type = tkv_lane_type(t),
             *symbol =
                 tkv_text(g, "__nv_%s%s", name, t->elem == TK_FP32 ? "f" : "");
  tkv_declare(g, "%s @%s(%s)", type, symbol, type);
  return tkv_emit(g, "call %s @%s(%s %s)", type, symbol, type, x);
}

/* A number of fp32 as LLVM writes it: the bits of the double. */
static const char *fp32_number(tkv_gen *g, double x) {
  return tkv_text(g, "0x%016llX", (unsigned long long)tk_f64_bits(x));
}

static const char *approximate(tkv_gen *g, tk_unary op, const char *x) {
  static const struct {
    const char *instruction;
    double before, after;
  } rows[TK_U_COUNT] = {
#define APPROXIMATE(op, before, instruction, after)                            \
  [TK_U_##op] = {#instruction, before, after},
#include "ir/approximate.def"
#undef APPROXIMATE
  };
  if (rows[op].before != 1)
    x = tkv_emit(g, "fmul float %s, %s", x, fp32_number(g, rows[op].before));
  x = tkv_emit(g, "call float @llvm.nvvm.%s.approx.f(float %s)",
               rows[op].instruction, x);
  return rows[op].after == 1 ? x
                             : tkv_emit(g, "fmul float %s, %s", x,
                                        fp32_number(g, rows[op].after));
}

static const char *float_unary(tkv_gen *g, tk_unary op, const tk_type *t,
                               const char *x) {
  static const char *const llvm[TK_U_COUNT] = {[TK_U_ABS] = "fabs",
                                               [TK_U_SQRT] = "sqrt",
                                               [TK_U_FLOOR] = "floor",
                                               [TK_U_CEIL] = "ceil"};
  const char *type = tkv_lane_type(t);
  if (llvm[op])
    return tkv_emit(g, "call %s @llvm.%s.f%d(%s %s)", type, llvm[op],
                    tkv_lane_bits(t), type, x);
  if (op == TK_U_NEG) return tkv_emit(g, "fsub %s 0.0, %s", type, x);
  return tk_way_of_unary(op, (tk_dtype)t->elem) == TK_WAY_APPROXIMATE
             ? approximate(g, op, x)
             : libdevice(g, tk_list_word(TK_LIST_UNARY, op), t, x);
}

static const char *unary(tkv_gen *g, tk_unary op, const tk_type *t,
                         const char *x) {
  const char *type = tkv_lane_type(t);
  if (is_narrow(t))
    return from_fp32(g, t, float_unary(g, op, &fp32, to_fp32(g, t, x)));
  if (is_float(t)) return float_unary(g, op, t, x);
  if (op == TK_U_NEG) return tkv_lane_bits(t) == 1 ? x : int_sign(g, op, t, x);
  if (op == TK_U_NOT)
    return tkv_emit(g, "xor %s %s, %s", type, x,
                    tkv_lane_bits(t) == 1 ? "true" : "-1");
  TK_ASSERT(op == TK_U_ABS);
  return is_signed(t) ? int_sign(g, op, t, x) : x;
}

/* ---- instructions
 * ------------------------------------------------------------------- */

static const char *fma_of(tkv_gen *g, const tk_type *t,
                          const char *const *name) {
  const char *type = tkv_lane_type(t),
             *suffix = t->elem == TK_BF16 ? "bf" : "f";
  return tkv_emit(g, "call %s @llvm.fma.%s%d(%s %s, %s %s, %s %s)", type,
                  suffix, tkv_lane_bits(t), type, name[0], type, name[1], type,
                  name[2]);
}

static const char *add_pointer(tkv_gen *g, const tk_type *t,
                               const tk_type *offset, const char *const *name) {
  tk_type to = tk_pointee(*t), wide = {.elem = TK_INT64};
  const char *x = tkv_convert_lane(g, &wide, offset, false, name[1]);
  x = tkv_emit(g, "mul i64 %s, %zu", x, tk_lane_size(&to));
  return tkv_emit(g, "add i64 %s, %s", name[0], x);
}

/* What libdevice calls functions whose name does not follow from Triton's, by
 * the type of the last argument. */
static const struct odd_name {
  const char *name;
  tk_dtype type;
  const char *symbol;
} odd_names[] = {
    {"clz", TK_INT64, "clzll"},
    {"popc", TK_INT64, "popcll"},
    {"brev", TK_INT64, "brevll"},
    {"ffs", TK_INT64, "ffsll"},
    {"abs", TK_INT64, "llabs"},
    {"abs", TK_FP32, "fabsf"},
    {"abs", TK_FP64, "fabs"},
    {"mulhi", TK_UINT32, "umulhi"},
    {"mulhi", TK_INT64, "mul64hi"},
    {"mulhi", TK_UINT64, "umul64hi"},
    {"mul24", TK_UINT32, "umul24"},
    {"sad", TK_UINT32, "usad"},
    {"hadd", TK_UINT32, "uhadd"},
    {"rhadd", TK_UINT32, "urhadd"},
    {"isnan", TK_FP64, "isnand"},
    {"isinf", TK_FP64, "isinfd"},
    {"signbit", TK_FP64, "signbitd"},
    {"finitef", TK_FP32, "finitef"},
    {"saturatef", TK_FP32, "saturatef"},
    {"fast_dividef", TK_FP32, "fast_fdividef"},
    {"rsqrt_rn", TK_FP32, "frsqrt_rn"},
};

/* "add_rn" has a letter for the type before it, "fma_rn" behind "fma". */
static const char *rounded_symbol(tkv_gen *g, const char *name, bool single) {
  static const char *const bases[] = {"add", "sub", "mul",
                                      "div", "rcp", "sqrt"};
  size_t n = strlen(name);
  if (n < 4 || strncmp(name + n - 3, "_r", 2)) return NULL;
  if (!strncmp(name, "fma_", 4))
    return single ? tkv_text(g, "__nv_fmaf%s", name + 3) : NULL;
  for (size_t i = 0; i < TK_COUNT(bases); i++)
    if (strlen(bases[i]) == n - 3 && !strncmp(name, bases[i], n - 3))
      return tkv_text(g, "__nv_%c%s", single ? 'f' : 'd', name);
  return NULL;
}

static const char *extern_symbol(tkv_gen *g, const char *name,
                                 const tk_overload *o) {
  tk_dtype first = (tk_dtype)o->args[0], last = (tk_dtype)o->args[o->nargs - 1];
  bool single = first == TK_FP32 || last == TK_FP32;
  for (size_t i = 0; i < TK_COUNT(odd_names); i++)
    if (!strcmp(odd_names[i].name, name) && odd_names[i].type == last)
      return tkv_text(g, "__nv_%s", odd_names[i].symbol);
  if (!strcmp(name, "pow") && last == TK_INT32)
    return first == TK_FP32 ? "__nv_powif" : "__nv_powi";
  const char *rounded = rounded_symbol(g, name, single);
  if (rounded) return rounded;
  bool as_it_is = !strncmp(name, "float2", 6) ||
                  !strncmp(name, "float_as", 8) || !strncmp(name, "fast_", 5);
  return tkv_text(g, "__nv_%s%s", name, single && !as_it_is ? "f" : "");
}

/* What says yes or no is an int32 there. */
static const char *call_extern(tkv_gen *g, const tk_inst *in,
                               const char *const *name) {
  const tk_extern *x = tk_extern_at(tk_extern_function(in));
  const tk_overload *o = &x->overloads[tk_extern_overload(in)];
  bool flag = o->result == TK_INT1;
  tk_type result = tk_scalar(flag ? TK_INT32 : (tk_dtype)o->result);
  const char *types = "", *args = "", *comma = "",
             *symbol = extern_symbol(g, x->name, o);
  for (int i = 0; i < o->nargs; i++, comma = ", ") {
    tk_type t = tk_scalar((tk_dtype)o->args[i]);
    types = tkv_text(g, "%s%s%s", types, comma, tkv_lane_type(&t));
    args = tkv_text(g, "%s%s%s %s", args, comma, tkv_lane_type(&t), name[i]);
  }
  tkv_declare(g, "%s @%s(%s)", tkv_lane_type(&result), symbol, types);
  const char *value =
      tkv_emit(g, "call %s @%s(%s)", tkv_lane_type(&result), symbol, args);
  return flag ? tkv_emit(g, "icmp ne i32 %s, 0", value) : value;
}

static void check_formats(tkv_gen *g, const tk_inst *in, const tk_type *t) {
  if (!t->ptr && tk_is_fp8((tk_dtype)t->elem) &&
      !has_conversion((tk_dtype)t->elem))
    tkv_refuse(g, in, TKV_REFUSED_FORMAT, "NVIDIA's GPUs have no %s",
               tk_dtypes[t->elem].name);
}

const char *tkv_lane_wise(tkv_gen *g, const tk_inst *in, tkv_value *const *args,
                          const char *const *name) {
  const tk_type *t = &in->type, *from = in->nargs ? &args[0]->type : NULL;
  if (from) check_formats(g, in, from);
  if (in->op != TK_I_COMPARE) check_formats(g, in, t);
  switch (in->op) {
  case TK_I_COPY: return tkv_from_bits(g, t, tkv_to_bits(g, from, name[0]));
  case TK_I_CAST:
    return tkv_convert_lane(g, t, from, tk_cast_rounding(in) == TK_ROUND_ZERO,
                            name[0]);
  case TK_I_UNARY: return unary(g, tk_unary_op(in), t, name[0]);
  case TK_I_BINARY: return tkv_binary(g, tk_binary_op(in), t, name[0], name[1]);
  case TK_I_COMPARE:
    return tkv_compare(g, tk_compare_op(in), from, name[0], name[1]);
  case TK_I_SELECT:
    return tkv_emit(g, "select i1 %s, %s %s, %s %s", name[0], tkv_lane_type(t),
                    name[1], tkv_lane_type(t), name[2]);
  case TK_I_FMA: return fma_of(g, t, name);
  case TK_I_ADDPTR: return add_pointer(g, t, &args[1]->type, name);
  case TK_I_EXTERN: return call_extern(g, in, name);
  }
  TK_ASSERT(false);
  return NULL;
}
