/* machine.c - x86-64 and aarch64, as debuggers know them. */
#include "gdbstub/gdb/machine.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define X86_CORE "org.gnu.gdb.i386.core"
#define X86_SSE "org.gnu.gdb.i386.sse"
#define ARM_CORE "org.gnu.gdb.aarch64.core"
#define ARM_FPU "org.gnu.gdb.aarch64.fpu"

static const gs_registers x86_64[] = {
    {X86_CORE, "rax rbx rcx rdx rsi rdi", 6, 64, "int64", NULL},
    {X86_CORE, "rbp rsp", 2, 64, "data_ptr", NULL},
    {X86_CORE, "r8 r9 r10 r11 r12 r13 r14 r15", 8, 64, "int64", NULL},
    {X86_CORE, "rip", 1, 64, "code_ptr", NULL},
    {X86_CORE, "eflags cs ss ds es fs gs", 7, 32, "int32", NULL},
    {X86_CORE, "st%d", 8, 80, "i387_ext", NULL},
    {X86_CORE, "fctrl fstat ftag fiseg fioff foseg fooff fop", 8, 32, "int",
     "float"},
    {X86_SSE, "xmm%d", 16, 128, "vec128", NULL},
    {X86_SSE, "mxcsr", 1, 32, "int", "vector"},
};

static const gs_registers aarch64[] = {
    {ARM_CORE, "x%d", 31, 64, "int64", NULL},
    {ARM_CORE, "sp", 1, 64, "data_ptr", NULL},
    {ARM_CORE, "pc", 1, 64, "code_ptr", NULL},
    {ARM_CORE, "cpsr", 1, 32, "int32", NULL},
    {ARM_FPU, "v%d", 32, 128, "vec128", NULL},
    {ARM_FPU, "fpsr fpcr", 2, 32, "int", "float"},
};

/* Jumps are over the 32 bytes that a statement has. */
static const gs_machine machines[] = {
    {.name = "x86-64",
     .triple = "x86_64-unknown-unknown",
     .architecture = "i386:x86-64",
     .elf = EM_X86_64,
     .frame = 6,
     .stack = 7,
     .pc = 16,
     .return_address = 16,
     .call_step = 1,
     .integers = {0, 3},
     .floats = {40, 41, -1, -1},
     .block = 0,
     .jump = {0xeb, 0x1e, 0x90, 0x90},
     .nop = {0x90, 0x90, 0x90, 0x90},
     .registers = x86_64,
     .nregisters = TK_COUNT(x86_64)},
    {.name = "aarch64",
     .triple = "aarch64-unknown-unknown",
     .architecture = "aarch64",
     .elf = EM_AARCH64,
     .frame = 29,
     .stack = 31,
     .pc = 32,
     .return_address = 30,
     .call_step = 4,
     .integers = {0, 1},
     .floats = {34, 35, 36, 37},
     .block = 8,
     .spreads = true,
     .jump = {0x08, 0x00, 0x00, 0x14},
     .nop = {0x1f, 0x20, 0x03, 0xd5},
     .registers = aarch64,
     .nregisters = TK_COUNT(aarch64)},
};

#ifdef __aarch64__
#define OWN "aarch64"
#else
#define OWN "x86-64"
#endif

const gs_machine *gs_machine_named(const char *name) {
  for (size_t i = 0; i < TK_COUNT(machines); i++)
    if (!strcmp(name ? name : OWN, machines[i].name)) return &machines[i];
  return NULL;
}

static void describe_registers(const gs_registers *r, tk_buf *b) {
  const char *name = r->names;
  for (int i = 0; i < r->count; i++) {
    char numbered[16];
    size_t n = strcspn(name, " ");
    snprintf(numbered, sizeof numbered, "%.*s%d", (int)strcspn(name, "%"), name,
             i);
    bool one = strchr(r->names, '%');
    tk_buf_puts(b, "<reg name=\"");
    tk_buf_add(b, one ? numbered : name, one ? strlen(numbered) : n);
    tk_buf_printf(b, "\" bitsize=\"%d\" type=\"%s\"", r->bits, r->type);
    if (r->group) tk_buf_printf(b, " group=\"%s\"", r->group);
    tk_buf_puts(b, "/>");
    if (!one) name += n + (name[n] == ' ');
  }
}

void gs_machine_describe(const gs_machine *m, tk_buf *b) {
  const char *feature = NULL;
  tk_buf_printf(b,
                "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM "
                "\"gdb-target.dtd\"><target><architecture>%s</architecture>"
                "<osabi>none</osabi>",
                m->architecture);
  for (size_t i = 0; i < m->nregisters; i++) {
    const gs_registers *r = &m->registers[i];
    if (!feature || strcmp(feature, r->feature)) {
      if (feature) tk_buf_puts(b, "</feature>");
      tk_buf_printf(b, "<feature name=\"%s\">", r->feature);
    }
    feature = r->feature;
    if (!strcmp(r->type, "vec128"))
      tk_buf_puts(b, "<vector id=\"vec128\" type=\"ieee_single\" "
                     "count=\"4\"/>");
    describe_registers(r, b);
  }
  tk_buf_puts(b, "</feature></target>");
}

size_t gs_register_size(const gs_machine *m, int number) {
  for (size_t i = 0; i < m->nregisters; i++) {
    const gs_registers *r = &m->registers[i];
    if (number < r->count) return number < 0 ? 0 : (size_t)r->bits / 8;
    number -= r->count;
  }
  return 0;
}
