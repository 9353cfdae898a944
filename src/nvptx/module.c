/* module.c - the printer: the module around the code, its texts, and the
 * places in the source that it comes from. */
#include "nvptx/module.h"

#include <string.h>

#include "nvptx/code_text.h"

/* ---- code ---------------------------------------------------------------- */

enum { TEXTS = 5 };

static void list_texts(tkv_code *c, tk_buf *texts[TEXTS]) {
  tk_buf *const all[TEXTS] = {&c->entry, &c->body, &c->declared,
                              &c->declaration, &c->debug};
  memcpy(texts, all, sizeof all);
}

tkv_code *tkv_new_code(tk_arena *a, const tk_source *src) {
  tkv_code *c = TK_NEW(a, tkv_code);
  tk_buf *texts[TEXTS];
  c->arena = a;
  c->src = src;
  list_texts(c, texts);
  for (int i = 0; i < TEXTS; i++) tk_buf_init(texts[i], a->env);
  return c;
}

void tkv_free_code(tkv_code *c) {
  tk_buf *texts[TEXTS];
  if (!c) return;
  list_texts(c, texts);
  for (int i = 0; i < TEXTS; i++) tk_buf_free(texts[i]);
}

/* ---- texts --------------------------------------------------------------- */

void tkv_put_escaped(tk_buf *b, const char *s) {
  for (; *s; s++) {
    bool plain = *s >= ' ' && *s != '"' && *s != '\\';
    tk_buf_printf(b, plain ? "%c" : "\\%02X", (unsigned char)*s);
  }
}

tkv_reg tkv_string(tkv_code *c, const char *s) {
  tkv_reg at = {.type = TKV_PTR, .kind = TKV_STRING, .id = c->names++};
  tkv_put(&c->declared, "%r = private constant [%d x i8] c\"", at,
          (int)strlen(s) + 1);
  tkv_put_escaped(&c->declared, s);
  tk_buf_puts(&c->declared, "\\00\"\n");
  return at;
}

/* ---- places in the source ------------------------------------------------ */

enum { FIRST_FREE_METADATA = 16, SUBPROGRAM = 5 };

/* The scope of a location is the kernel, as the one subprogram, or another file
 * within it. */
void tkv_set_location(tkv_code *c, const tk_source *src, tk_span span) {
  int line = tk_source_line(src, span.lo);
  if (c->location && c->file == src && c->line == line) return;
  unsigned scope = SUBPROGRAM;
  if (src != c->src) {
    unsigned file = FIRST_FREE_METADATA + c->locations++;
    scope = FIRST_FREE_METADATA + c->locations++;
    tk_buf_printf(&c->debug, "!%u = !DIFile(filename: \"", file);
    tk_buf_puts(&c->debug, src->name);
    tk_buf_printf(&c->debug,
                  "\", directory: \"\")\n!%u = !DILexicalBlockFile(scope: !5, "
                  "file: !%u, discriminator: 0)\n",
                  scope, file);
  }
  c->location = FIRST_FREE_METADATA + c->locations++;
  c->file = src;
  c->line = line;
  tk_buf_printf(&c->debug,
                "!%u = !DILocation(line: %d, column: %d, scope: !%u)\n",
                c->location, line, tk_source_col(src, span.lo), scope);
}

const tk_source *tkv_file_of_code(const tkv_code *c) {
  return c->file;
}

int tkv_line_of_code(const tkv_code *c) {
  return c->line;
}

/* ---- the module ---------------------------------------------------------- */

/* The subprogram stands in the kernel's file; places of other files are blocks
 * in it. */
static void print_debug(tkv_code *c, const tk_func *f, tk_buf *out) {
  tk_buf_printf(out,
                "!llvm.module.flags = !{!1, !2}\n!llvm.dbg.cu = !{!4}\n"
                "!1 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
                "!2 = !{i32 2, !\"Dwarf Version\", i32 2}\n"
                "!3 = !DIFile(filename: \"%s\", directory: \"\")\n"
                "!4 = distinct !DICompileUnit(language: DW_LANG_Python, file: "
                "!3, producer: \"tkdbg\", isOptimized: true, runtimeVersion: "
                "0, emissionKind: DebugDirectivesOnly)\n"
                "!5 = distinct !DISubprogram(name: \"%s\", file: !3, line: %d, "
                "type: !6, spFlags: DISPFlagDefinition | DISPFlagOptimized, "
                "unit: !4)\n"
                "!6 = !DISubroutineType(types: !{})\n",
                f->src->name, f->name, tk_source_line(f->src, f->span.lo));
  tk_buf_puts(out, tk_buf_str(&c->debug));
}

static void print_params(const tkv_module *m, tk_buf *out) {
  for (size_t i = 0; i < m->p->nparams; i++)
    tkv_put(out, i ? ", %R" : "%R", tkv_param(m->params[i], i));
}

void tkv_print_module(tkv_code *c, tk_buf *out, const tkv_module *m) {
  const char *name = m->p->kernel->name;
  tk_buf_printf(out, "; %d warps, %zu bytes of shared memory\n", m->warps,
                m->shared);
  for (size_t i = 0; i < m->p->nparams; i++)
    tk_buf_printf(out, "; parameter %zu: %s, item %zu\n", i,
                  m->p->args[m->p->params[i].arg].name, m->p->params[i].item);
  tk_buf_puts(out, "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-"
                   "n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n\n"
                   "@scratch = external addrspace(3) global [0 x i8], ");
  tk_buf_printf(out, "align %d\n\n", m->alignment);
  tk_buf_printf(out, "define ptx_kernel void @%s(", name);
  print_params(m, out);
  tk_buf_puts(out, ") !dbg !5 {\nentry:\n"
                   "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                   "  %lane = and i32 %tid, 31\n"
                   "  %warp = lshr i32 %tid, 5\n");
  tk_buf_puts(out, tk_buf_str(&c->entry));
  tk_buf_printf(out,
                "  %%beside = getelementptr i8, ptr addrspace(3) @scratch, i32 "
                "%zu\n  br label %%start\nstart:\n",
                m->buffers);
  tk_buf_puts(out, tk_buf_str(&c->body));
  tk_buf_puts(out, "  ret void\n}\n\n");
  tkv_print_prelude(out);
  tk_buf_puts(out, tk_buf_str(&c->declared));
  int64_t most = m->p->options[TK_LAUNCH_MAXNREG];
  tk_buf_printf(out,
                "!nvvm.annotations = !{!7}\n"
                "!7 = !{ptr @%s, !\"kernel\", i32 1, !\"reqntidx\", i32 %d",
                name, 32 * m->warps);
  if (most) tk_buf_printf(out, ", !\"maxnreg\", i32 %lld", (long long)most);
  tk_buf_puts(out, "}\n");
  print_debug(c, m->p->kernel, out);
}
