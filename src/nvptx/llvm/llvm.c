/* llvm.c - LLVM IR as text to PTX, by the C API of LLVM 19.
 *
 * Functions of libdevice come from NVIDIA's bitcode: all of its definitions
 * are made linkonce before it is linked, so that LLVM reads only those that
 * are called.
 */
#include "nvptx/llvm.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct compiling {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
  char error[1024]; /* the first */
} compiling;

static void set_error(compiling *c, const char *what, const char *why) {
  if (!c->error[0]) snprintf(c->error, sizeof c->error, "%s: %s", what, why);
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
  c->machine = LLVMCreateTargetMachine(target, triple, r->arch, "+ptx78",
                                       LLVMCodeGenLevelAggressive,
                                       LLVMRelocDefault, LLVMCodeModelDefault);
  if (!c->machine) set_error(c, "LLVM knows no GPU", r->arch);
  return c->machine != NULL;
}

/* ---- libdevice -------------------------------------------------------------
 */

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
    set_error(c, r->libdevice, "is not bitcode that LLVM 19 reads");
    LLVMDisposeMemoryBuffer(file);
    return NULL;
  }
  return library;
}

/* Links what the module needs of a library. */
static int link_library(compiling *c, LLVMModuleRef library) {
  if (!library) return 0;
  LLVMSetTarget(library, LLVMGetTarget(c->module));
  LLVMSetDataLayout(library, LLVMGetDataLayoutStr(c->module));
  for (LLVMValueRef f = LLVMGetFirstFunction(library); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
  return !LLVMLinkModules2(c->module, library);
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
  if (!link_library(c, r->libdevice ? read_libdevice(c, r)
                                    : read_own_library(c))) {
    set_error(c, r->libdevice ? r->libdevice : "tkdbg", "cannot be linked");
    return 0;
  }
  missing = missing_function(c->module);
  if (missing && !r->libdevice) {
    char why[512];
    snprintf(why, sizeof why,
             "the kernel calls %s; set TKDBG_LIBDEVICE to libdevice.10.bc, "
             "which comes with CUDA and with Triton",
             missing);
    set_error(c, "NVIDIA's library of device functions was not found", why);
    return 0;
  }
  if (missing) set_error(c, "libdevice has no function of that name", missing);
  LLVMMetadataRef zero = LLVMValueAsMetadata(
      LLVMConstInt(LLVMInt32TypeInContext(c->context), 0, 0));
  LLVMAddModuleFlag(c->module, LLVMModuleFlagBehaviorOverride,
                    "nvvm-reflect-ftz", strlen("nvvm-reflect-ftz"), zero);
  hide_functions(c->module);
  return !missing;
}

/* ---- what ptxas gets wrong
 * ---------------------------------------------------- */

static int is_negation(LLVMValueRef v) {
  return LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMSub &&
         LLVMIsNull(LLVMGetOperand(v, 0));
}

static int is_signed_extreme(LLVMValueRef v) {
  if (!LLVMIsACallInst(v)) return 0;
  unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(v));
  return id && (id == LLVMLookupIntrinsicID("llvm.smin", 9) ||
                id == LLVMLookupIntrinsicID("llvm.smax", 9));
}

static int feeds_signed_extreme(LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (is_signed_extreme(LLVMGetUser(u))) return 1;
  return 0;
}

/* The same in 32 bits, in a form that ptxas does not take for a negation. */
static void hide_negation(LLVMBuilderRef b, LLVMValueRef v) {
  static const char text[] = "not.b32 $0, $1;\n\tadd.s32 $0, $0, 1;",
                    bound[] = "=r,r";
  LLVMTypeRef type = LLVMTypeOf(v),
              word = LLVMInt32TypeInContext(LLVMGetTypeContext(type)),
              call = LLVMFunctionType(word, &word, 1, 0);
  LLVMValueRef code =
      LLVMGetInlineAsm(call, text, sizeof text - 1, bound, sizeof bound - 1, 0,
                       0, LLVMInlineAsmDialectATT, 0);
  LLVMPositionBuilderBefore(b, v);
  LLVMValueRef x = LLVMGetOperand(v, 1);
  if (type != word) x = LLVMBuildSExt(b, x, word, "");
  x = LLVMBuildCall2(b, call, code, &x, 1, "");
  if (type != word) x = LLVMBuildTrunc(b, x, type, "");
  LLVMReplaceAllUsesWith(v, x);
  LLVMInstructionEraseFromParent(v);
}

/* ptxas 12.8 to 13.0 lose the minus of b where sm_90 has max(max(a, -b), c) or
 * the same of min, in 16 and 32 bits; and neg.s16 of -32768 is 32768 where the
 * result is extended. */
static void hide_negations(LLVMModuleRef m) {
  LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
      LLVMValueRef next = LLVMGetFirstInstruction(block);
      while (next) {
        LLVMValueRef v = next;
        next = LLVMGetNextInstruction(v);
        LLVMTypeRef type = LLVMTypeOf(v);
        if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || !is_negation(v))
          continue;
        unsigned bits = LLVMGetIntTypeWidth(type);
        if (bits == 8 || bits == 16 || (bits == 32 && feeds_signed_extreme(v)))
          hide_negation(b, v);
      }
    }
  LLVMDisposeBuilder(b);
}

/* ---- code
 * --------------------------------------------------------------------- */

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
  hide_negations(c->module);
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
  if (!c.error[0]) return ptx;
  free(ptx);
  *error = strdup(c.error);
  return NULL;
}
