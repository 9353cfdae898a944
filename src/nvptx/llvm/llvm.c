/* llvm.c - LLVM IR as text to PTX, by the C API of LLVM 19.
 *
 * Functions of libdevice come from NVIDIA's bitcode: all of its definitions
 * are made linkonce before it is linked, so that LLVM reads only those that
 * are
 * called. */
#include "nvptx/llvm.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct compiling {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
  char *error; /* the first; NULL: there is none.  malloc gave it */
} compiling;

static void say_error(compiling *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void say_error(compiling *c, const char *fmt, ...) {
  va_list ap;
  if (c->error) return;
  va_start(ap, fmt);
  if (vasprintf(&c->error, fmt, ap) < 0) c->error = strdup("out of memory");
  va_end(ap);
}

static void set_error(compiling *c, const char *what, const char *why) {
  say_error(c, "%s: %s", what, why);
}

/* Takes LLVM's message. */
static void take_error(compiling *c, const char *what, char *why) {
  set_error(c, what, why ? why : "unknown");
  if (why) LLVMDisposeMessage(why);
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *ud) {
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
  take_error(ud, "LLVM", LLVMGetDiagInfoDescription(info));
}

static void begin_llvm(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

static int read_module(compiling *c, const tkv_llvm_request *r) {
  char *why = NULL;
  LLVMMemoryBufferRef text =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(r->llir, r->size, "llir");
  if (LLVMParseIRInContext(c->context, text, &c->module, &why)) {
    take_error(c, "LLVM reads the code", why);
    return 0;
  }
  if (LLVMVerifyModule(c->module, LLVMReturnStatusAction, &why)) {
    take_error(c, "LLVM verifies the code", why);
    return 0;
  }
  LLVMDisposeMessage(why);
  return 1;
}

static int make_machine(compiling *c, const tkv_llvm_request *r) {
  static const char triple[] = "nvptx64-nvidia-cuda";
  LLVMTargetRef target;
  char *why = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &why)) {
    take_error(c, "LLVM has no back end for NVIDIA's GPUs", why);
    return 0;
  }
  c->machine = LLVMCreateTargetMachine(target, triple, r->arch, r->isa,
                                       LLVMCodeGenLevelAggressive,
                                       LLVMRelocDefault, LLVMCodeModelDefault);
  if (!c->machine) set_error(c, "LLVM knows no GPU", r->arch);
  return c->machine != NULL;
}

/* ---- libdevice ----------------------------------------------------------- */

static const char *missing_function(LLVMModuleRef m) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
       f = LLVMGetNextFunction(f)) {
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    if (LLVMIsDeclaration(f) && !strncmp(name, "__nv_", 5)) return name;
  }
  return NULL;
}

/* Where NVIDIA's bitcode is not there: log(m 2^e) = e log(2) + 2 artanh(a) with
 * a = (m - 1) / (m + 1) and m from sqrt(1/2) to sqrt(2), by the series of
 * artanh in double, up to a^15 / 15; %each and %rest scale the two. */
static const char own_library[] =
    "define float @log.of(float %x, double %each, double %rest) alwaysinline "
    "{\n"
    "  %d = fpext float %x to double\n"
    "  %b = bitcast double %d to i64\n"
    "  %t = sub i64 %b, 4604544271217802189\n"
    "  %e = ashr i64 %t, 52\n"
    "  %s = shl i64 %e, 52\n"
    "  %w = sub i64 %b, %s\n"
    "  %m = bitcast i64 %w to double\n"
    "  %f = fsub double %m, 1.0\n"
    "  %g = fadd double %m, 1.0\n"
    "  %a = fdiv double %f, %g\n"
    "  %z = fmul double %a, %a\n"
    "  %p13 = call double @llvm.fma.f64(double 0x3FB1111111111111, double %z, "
    "double 0x3FB3B13B13B13B14)\n"
    "  %p11 = call double @llvm.fma.f64(double %p13, double %z, double "
    "0x3FB745D1745D1746)\n"
    "  %p9 = call double @llvm.fma.f64(double %p11, double %z, double "
    "0x3FBC71C71C71C71C)\n"
    "  %p7 = call double @llvm.fma.f64(double %p9, double %z, double "
    "0x3FC2492492492492)\n"
    "  %p5 = call double @llvm.fma.f64(double %p7, double %z, double "
    "0x3FC999999999999A)\n"
    "  %p3 = call double @llvm.fma.f64(double %p5, double %z, double "
    "0x3FD5555555555555)\n"
    "  %p1 = call double @llvm.fma.f64(double %p3, double %z, double "
    "0x3FF0000000000000)\n"
    "  %q = fmul double %a, %p1\n"
    "  %r = fmul double %q, %rest\n"
    "  %n = sitofp i64 %e to double\n"
    "  %y = call double @llvm.fma.f64(double %n, double %each, double %r)\n"
    "  %v = fptrunc double %y to float\n"
    "  %big = fcmp une float %x, 0x7FF0000000000000\n"
    "  %v1 = select i1 %big, float %v, float %x\n"
    "  %pos = fcmp ogt float %x, 0.0\n"
    "  %v2 = select i1 %pos, float %v1, float 0x7FF8000000000000\n"
    "  %zero = fcmp oeq float %x, 0.0\n"
    "  %v3 = select i1 %zero, float 0xFFF0000000000000, float %v2\n"
    "  ret float %v3\n"
    "}\n"
    "define float @__nv_logf(float %x) {\n"
    "  %v = call float @log.of(float %x, double 0x3FE62E42FEFA39EF, double "
    "2.0)\n"
    "  ret float %v\n"
    "}\n"
    "define float @__nv_log2f(float %x) {\n"
    "  %v = call float @log.of(float %x, double 1.0, double "
    "0x40071547652B82FE)\n"
    "  ret float %v\n"
    "}\n"
    "declare double @llvm.fma.f64(double, double, double)\n";

static LLVMModuleRef read_own_library(compiling *c) {
  LLVMModuleRef library = NULL;
  char *why = NULL;
  LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRange(
      own_library, sizeof own_library - 1, "library", 1);
  if (LLVMParseIRInContext(c->context, text, &library, &why))
    take_error(c, "LLVM reads the library", why);
  return library;
}

static LLVMModuleRef read_libdevice(compiling *c, const tkv_llvm_request *r) {
  LLVMMemoryBufferRef file;
  LLVMModuleRef library = NULL;
  char *why = NULL;
  if (LLVMCreateMemoryBufferWithContentsOfFile(r->libdevice, &file, &why)) {
    take_error(c, r->libdevice, why);
    return NULL;
  }
  if (LLVMGetBitcodeModuleInContext2(c->context, file, &library)) {
    free(c->error);
    c->error = NULL; /* LLVM says what is wrong, and not with which file */
    set_error(c, r->libdevice, "is not bitcode that LLVM 19 reads");
    LLVMDisposeMemoryBuffer(file);
    return NULL;
  }
  return library;
}

/* Links the functions of a library that the module needs. */
static int link_library(compiling *c, LLVMModuleRef library) {
  if (!library) return 0;
  LLVMSetTarget(library, LLVMGetTarget(c->module));
  LLVMSetDataLayout(library, LLVMGetDataLayoutStr(c->module));
  for (LLVMValueRef f = LLVMGetFirstFunction(library); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
  return !LLVMLinkModules2(c->module, library);
}

/* LLVM links a declaration to a function of other types without a word. */
static const char *mistyped_function(LLVMModuleRef m, LLVMModuleRef library) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
       f = LLVMGetNextFunction(f)) {
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    LLVMValueRef there = LLVMGetNamedFunction(library, name);
    if (LLVMIsDeclaration(f) && there &&
        LLVMGlobalGetValueType(f) != LLVMGlobalGetValueType(there))
      return name;
  }
  return NULL;
}

/* An intrinsic of CUDA 13's libdevice that LLVM 19 does not know. */
static void define_tanh(LLVMValueRef f) {
  static const char code[] = "tanh.approx.f32 $0, $1;", bound[] = "=f,f";
  LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
  LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
  LLVMTypeRef type = LLVMGlobalGetValueType(f);
  LLVMValueRef x = LLVMGetParam(f, 0),
               call = LLVMGetInlineAsm(type, code, sizeof code - 1, bound,
                                       sizeof bound - 1, 0, 0,
                                       LLVMInlineAsmDialectATT, 0);
  LLVMSetValueName2(f, "tanh.approx", strlen("tanh.approx"));
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(c, f, ""));
  LLVMBuildRet(b, LLVMBuildCall2(b, type, call, &x, 1, ""));
  LLVMDisposeBuilder(b);
}

/* LLVM takes an intrinsic that it does not know for a function. */
static const char *unknown_intrinsic(LLVMModuleRef m) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
       f = LLVMGetNextFunction(f)) {
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    if (!LLVMIsDeclaration(f) || strncmp(name, "llvm.", 5) ||
        LLVMGetIntrinsicID(f))
      continue;
    if (strcmp(name, "llvm.nvvm.tanh.approx.f32")) return name;
    define_tanh(f);
  }
  return NULL;
}

/* What is not a kernel is seen by nobody else. */
static void hide_functions(LLVMModuleRef m) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) &&
        LLVMGetFunctionCallConv(f) != LLVMPTXKernelCallConv)
      LLVMSetLinkage(f, LLVMInternalLinkage);
}

static int link_libdevice(compiling *c, const tkv_llvm_request *r) {
  const char *missing = missing_function(c->module);
  if (!missing) return 1;
  LLVMModuleRef library =
      r->libdevice ? read_libdevice(c, r) : read_own_library(c);
  const char *mistyped = library ? mistyped_function(c->module, library) : NULL;
  if (mistyped) {
    LLVMDisposeModule(library);
    set_error(c, "libdevice has other types for", mistyped);
    return 0;
  }
  if (!link_library(c, library)) {
    set_error(c, r->libdevice ? r->libdevice : "tkdbg", "cannot be linked");
    return 0;
  }
  missing = missing_function(c->module);
  if (missing && !r->libdevice) {
    say_error(c,
              "NVIDIA's library of device functions was not found: the kernel "
              "calls %s; set TKDBG_LIBDEVICE to libdevice.10.bc, which comes "
              "with CUDA and with Triton",
              missing);
    return 0;
  }
  if (missing) set_error(c, "libdevice has no function of that name", missing);
  const char *unknown = unknown_intrinsic(c->module);
  if (unknown)
    set_error(c, "libdevice uses what LLVM 19 does not know", unknown);
  LLVMMetadataRef zero = LLVMValueAsMetadata(
      LLVMConstInt(LLVMInt32TypeInContext(c->context), 0, 0));
  LLVMAddModuleFlag(c->module, LLVMModuleFlagBehaviorOverride,
                    "nvvm-reflect-ftz", strlen("nvvm-reflect-ftz"), zero);
  hide_functions(c->module);
  return !missing && !unknown;
}

/* ---- what ptxas gets wrong ----------------------------------------------- */

static int is_negation(LLVMValueRef v) {
  return LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMSub &&
         LLVMIsNull(LLVMGetOperand(v, 0));
}

static int is_intrinsic(LLVMValueRef v, const char *name) {
  if (!LLVMIsACallInst(v)) return 0;
  unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(v));
  return id && id == LLVMLookupIntrinsicID(name, strlen(name));
}

static int feeds_signed_extreme(LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (is_intrinsic(LLVMGetUser(u), "llvm.smin") ||
        is_intrinsic(LLVMGetUser(u), "llvm.smax"))
      return 1;
  return 0;
}

/* Whether LLVM may print it as the upper half of mov.b32 {tmp, %rs}, %r. */
static int is_upper_half(LLVMValueRef v) {
  if (!LLVMIsABinaryOperator(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) != 32)
    return 0;
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  LLVMValueRef by = LLVMGetOperand(v, 1);
  return (op == LLVMLShr || op == LLVMAShr) && LLVMIsAConstantInt(by) &&
         LLVMConstIntGetZExtValue(by) == 16;
}

/* Assembly that makes $0 of $1, which is x, of 32 bits both. */
static LLVMValueRef build_code(LLVMBuilderRef b, LLVMValueRef x,
                               const char *text) {
  static const char bound[] = "=r,r";
  LLVMTypeRef word = LLVMTypeOf(x);
  LLVMTypeRef call = LLVMFunctionType(word, &word, 1, 0);
  LLVMValueRef code =
      LLVMGetInlineAsm(call, text, strlen(text), bound, sizeof bound - 1, 0, 0,
                       LLVMInlineAsmDialectATT, 0);
  return LLVMBuildCall2(b, call, code, &x, 1, "");
}

/* Assembly of 32 bits in the place of an instruction: $1 is its operand. */
static void replace_by_code(LLVMBuilderRef b, LLVMValueRef v, int operand,
                            const char *text) {
  LLVMTypeRef type = LLVMTypeOf(v),
              word = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
  LLVMPositionBuilderBefore(b, v);
  LLVMValueRef x = LLVMGetOperand(v, (unsigned)operand);
  if (type != word) x = LLVMBuildSExt(b, x, word, "");
  x = build_code(b, x, text);
  if (type != word) x = LLVMBuildTrunc(b, x, type, "");
  LLVMReplaceAllUsesWith(v, x);
  LLVMInstructionEraseFromParent(v);
}

/* The operand of 32 bits that was sign-extended, of a conversion to a float
 * that takes it as unsigned. */
static void hide_sign(LLVMBuilderRef b, LLVMValueRef v) {
  LLVMValueRef wide = LLVMGetOperand(v, 0), narrow;
  LLVMTypeRef word = LLVMTypeOf(wide);
  unsigned cut = 0;
  char text[80];
  if (LLVMGetTypeKind(word) != LLVMIntegerTypeKind ||
      LLVMGetIntTypeWidth(word) != 32)
    return;
  LLVMPositionBuilderBefore(b, v);
  if (LLVMIsASExtInst(wide)) {
    narrow = LLVMGetOperand(wide, 0);
    cut = 32 - LLVMGetIntTypeWidth(LLVMTypeOf(narrow));
    narrow = LLVMBuildZExt(b, narrow, word, "");
  } else if (LLVMIsABinaryOperator(wide) &&
             LLVMGetInstructionOpcode(wide) == LLVMAShr &&
             LLVMIsAConstantInt(LLVMGetOperand(wide, 1))) {
    cut = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(wide, 1));
    narrow =
        LLVMBuildLShr(b, LLVMGetOperand(wide, 0), LLVMGetOperand(wide, 1), "");
  } else {
    return;
  }
  snprintf(text, sizeof text, "shl.b32 $0, $1, %u;\n\tshr.s32 $0, $0, %u;", cut,
           cut);
  LLVMSetOperand(v, 0, build_code(b, narrow, text));
}

/* ptxas 12.8 to 13.0, in forms that they take for something else:
 * - where sm_90 has max(max(a, -b), c) or the same of min, in 16 and 32 bits,
 *   the minus of b is lost; and neg.s16 of -32768 is 32768 where the result is
 *   extended;
 * - abs.s32 of the least number counts as positive in a remainder, and abs.s16
 *   of it where the result is extended;
 * - where selp takes both halves of a register, the upper one by mov.b32 {tmp,
 *   %rs}, %r, it may be the lower one instead;
 * - a byte or a half that bfe.s32 takes is signed for cvt.rn.f32.u32 too. */
static void hide_from_ptxas(LLVMBuilderRef b, LLVMValueRef v) {
  LLVMTypeRef type = LLVMTypeOf(v);
  if (LLVMIsAUIToFPInst(v)) hide_sign(b, v);
  if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind) return;
  unsigned bits = LLVMGetIntTypeWidth(type);
  if (is_negation(v) &&
      (bits == 8 || bits == 16 || (bits == 32 && feeds_signed_extreme(v))))
    replace_by_code(b, v, 1, "not.b32 $0, $1;\n\tadd.s32 $0, $0, 1;");
  else if (bits <= 32 && is_intrinsic(v, "llvm.abs"))
    replace_by_code(b, v, 0,
                    "{\n\t.reg .b32 sign;\n\tshr.s32 sign, $1, 31;\n\t"
                    "add.s32 $0, $1, sign;\n\txor.b32 $0, $0, sign;\n\t}");
  else if (is_upper_half(v))
    replace_by_code(b, v, 0,
                    LLVMGetInstructionOpcode(v) == LLVMAShr
                        ? "shr.s32 $0, $1, 16;"
                        : "shr.u32 $0, $1, 16;");
}

static void hide_all_from_ptxas(LLVMModuleRef m) {
  LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
      LLVMValueRef next = LLVMGetFirstInstruction(block);
      while (next) {
        LLVMValueRef v = next;
        next = LLVMGetNextInstruction(v);
        hide_from_ptxas(b, v);
      }
    }
  LLVMDisposeBuilder(b);
}

/* ---- code ---------------------------------------------------------------- */

static char *emit_ptx(compiling *c) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed =
      LLVMRunPasses(c->module, "default<O3>", c->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (failed) {
    char *why = LLVMGetErrorMessage(failed);
    set_error(c, "LLVM's passes", why);
    LLVMDisposeErrorMessage(why);
    return NULL;
  }
  hide_all_from_ptxas(c->module);
  LLVMMemoryBufferRef out;
  char *why = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(c->machine, c->module,
                                          LLVMAssemblyFile, &why, &out)) {
    take_error(c, "LLVM's back end", why);
    return NULL;
  }
  size_t n = LLVMGetBufferSize(out);
  char *ptx = malloc(n + 1);
  if (ptx) {
    memcpy(ptx, LLVMGetBufferStart(out), n);
    ptx[n] = 0;
  }
  LLVMDisposeMemoryBuffer(out);
  return ptx;
}

extern const int tkv_llvm_interface;
__attribute__((visibility("default"))) const int tkv_llvm_interface =
    TKV_LLVM_INTERFACE;

tkv_llvm_compile_fn tkv_llvm_compile;
__attribute__((visibility("default"))) char *
tkv_llvm_compile(const tkv_llvm_request *r, char **error) {
  compiling c = {.context = LLVMContextCreate()};
  char *ptx = NULL;
  begin_llvm();
  LLVMContextSetDiagnosticHandler(c.context, on_diagnostic, &c);
  if (read_module(&c, r) && make_machine(&c, r) && link_libdevice(&c, r))
    ptx = emit_ptx(&c);
  if (c.machine) LLVMDisposeTargetMachine(c.machine);
  if (c.module) LLVMDisposeModule(c.module);
  LLVMContextDispose(c.context);
  if (!c.error) return ptx;
  free(ptx);
  *error = c.error;
  return NULL;
}
