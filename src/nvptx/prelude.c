/* prelude.c - the printer: functions that every module has, as LLVM's text. */
#include "nvptx/module.h"

/* An fp8 format that NVIDIA's GPUs have. */
typedef struct fp8_format {
  const char *name;
  int drop;     /* bits of an fp32's fraction that go */
  int rebias;   /* the difference of the exponents' biases, in its place */
  int most;     /* an fp32 that is not below it becomes the largest number */
  int largest;  /* that number */
  int smallest; /* the smallest normal number, as an fp32 */
  int magic;    /* the fp32 that rounds smaller numbers when it is added */
} fp8_format;

/* The rounding of cvt.rn.satfinite (PTX ISA, cvt) by integers. */
static void print_to_fp8(tk_buf *out, const fp8_format *f) {
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
                f->name, f->drop, (1 << (f->drop - 1)) - 1, f->drop, f->rebias,
                f->magic, f->magic, f->smallest, f->most, f->largest);
}

static void print_from_fp8(tk_buf *out) {
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
}

/* Triton's software: by fp16, which has the same exponents, toward zero, to
 * 1.75 at most, then to nearest with ties away from zero. */
static void print_fp8e4b15(tk_buf *out) {
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

void tkv_print_prelude(tk_buf *out) {
  /* 464 rounds to 480, which e4m3 does not have; its smallest normal number
   * is 2^-6. */
  static const fp8_format e4m3 = {"fp8e4nv", 20,         120 << 3,  0x43e80000,
                                  0x7e,      0x3c800000, 0x46800000},
                          e5m2 = {"fp8e5", 21,         112 << 2,  0x47700000,
                                  0x7b,    0x38800000, 0x43000000};
  print_to_fp8(out, &e4m3);
  print_to_fp8(out, &e5m2);
  print_from_fp8(out);
  print_fp8e4b15(out);
}
