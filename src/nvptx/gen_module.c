/* gen_module.c - a program as the text of an LLVM module, or as a form with
 * the layouts that its blocks are made in. */
#include <string.h>

#include "nvptx/gen.h"
#include "nvptx/nvptx.h"

static const tkv_rule_of rules[TK_INST_COUNT] = {
#define LOWER(id, fn) [TK_I_##id] = {.lower = fn},
#define LOWER_AT(id, fn, dist) [TK_I_##id] = {.lower = fn, .home = dist},
#include "nvptx/lower.def"
#undef LOWER
#undef LOWER_AT
};

/* ---- the module
 * ------------------------------------------------------------------ */

/* What an argument of the kernel is passed as: an address, a number of the
 * host's. */
static const char *param_type(const tk_type *t) {
  if (t->ptr) return "i64";
  if (t->elem == TK_INT1) return "i8";
  return tkv_lane_type(t);
}

static void print_params(tkv_gen *g, tk_buf *out) {
  for (size_t i = 0; i < g->p->nparams; i++)
    tk_buf_printf(out, "%s%s %%p%zu", i ? ", " : "",
                  param_type(&g->p->params[i].type), i);
}

static void take_params(tkv_gen *g, tkv_value **args) {
  for (size_t i = 0; i < g->p->nparams; i++) {
    const tk_param *x = &g->p->params[i];
    const char *name = tkv_text(g, "%%p%zu", i);
    if (!x->type.ptr && x->type.elem == TK_INT1)
      name = tkv_emit(g, "trunc i8 %s to i1", name);
    for (size_t k = 0; k < g->p->kernel->nparams; k++)
      if (g->p->kernel->params[k] == x->slot)
        args[k] = tkv_scalar(g, x->type, name);
  }
}

static void begin_kernel(tkv_gen *g) {
  tk_buf_puts(&g->entry,
              "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n");
  g->lane = "%lane";
  g->warp = "%warp";
  tk_buf_puts(&g->entry, "  %lane = and i32 %tid, 31\n"
                         "  %warp = lshr i32 %tid, 5\n");
}

/* The subprogram stands in the kernel's file; places of other files are blocks
 * in it. */
static void print_debug(tkv_gen *g, tk_buf *out) {
  const tk_func *f = g->p->kernel;
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
  tk_buf_puts(out, tk_buf_str(&g->debug));
}

static void print_module(tkv_gen *g, tk_buf *out) {
  const char *name = g->p->kernel->name;
  tk_buf_printf(out, "; %d warps, %zu bytes of shared memory\n", g->warps,
                tkv_shared_bytes(g));
  for (size_t i = 0; i < g->p->nparams; i++)
    tk_buf_printf(out, "; parameter %zu: %s, item %zu\n", i,
                  g->p->args[g->p->params[i].arg].name, g->p->params[i].item);
  tk_buf_puts(out, "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-"
                   "n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n\n"
                   "@scratch = external addrspace(3) global [0 x i8], align "
                   "128\n\n");
  tk_buf_printf(out, "define ptx_kernel void @%s(", name);
  print_params(g, out);
  tk_buf_puts(out, ") !dbg !5 {\nentry:\n");
  tk_buf_puts(out, tk_buf_str(&g->entry));
  tk_buf_printf(out,
                "  %%beside = getelementptr i8, ptr addrspace(3) @scratch, i32 "
                "%zu\n  br label %%start\nstart:\n",
                g->buffers);
  tk_buf_puts(out, tk_buf_str(&g->body));
  tk_buf_puts(out, "  ret void\n}\n\n");
  tkv_print_prelude(out);
  tk_buf_puts(out, tk_buf_str(&g->declared));
  int64_t most = g->p->options[TK_LAUNCH_MAXNREG];
  tk_buf_printf(out,
                "!nvvm.annotations = !{!7}\n"
                "!7 = !{ptr @%s, !\"kernel\", i32 1, !\"reqntidx\", i32 %d",
                name, 32 * g->warps);
  if (most) tk_buf_printf(out, ", !\"maxnreg\", i32 %lld", (long long)most);
  tk_buf_puts(out, "}\n");
  print_debug(g, out);
}

typedef struct generating {
  tk_buf *out;
  void (*print)(tkv_gen *g, tk_buf *out);
  tk_arena arena;
  tkv_gen gen;
} generating;

static void generate(tk_env *e, void *ud) {
  generating *x = ud;
  tkv_gen *g = &x->gen;
  (void)e;
  g->facts = tkv_find_facts(g->arena, g->p);
  g->homes = TK_NEWN(g->arena, const tkv_dist *, g->p->ninsts + 1);
  g->copied = TK_NEWN(g->arena, tkv_value *, g->p->ninsts + 1);
  tkv_value **args = TK_NEWN(g->arena, tkv_value *, g->p->kernel->nparams + 1);
  tkv_frame *fr = tkv_new_frame(g, g->p->kernel);
  begin_kernel(g);
  take_params(g, args);
  tkv_inline(g, fr, args);
  x->print(g, x->out);
}

typedef struct needs {
  size_t shared;  /* bytes of memory */
  int64_t stages; /* of the loop that has most */
} needs;

/* Generates code, of which `print` prints something; what it needs. */
static needs generate_and_print(tk_buf *out, const tk_program *p,
                                int64_t most_stages,
                                void (*print)(tkv_gen *g, tk_buf *out)) {
  tk_env *e = out->env;
  generating x = {.out = out, .print = print};
  tk_arena_init(&x.arena, e);
  x.gen = (tkv_gen){.env = e,
                    .arena = &x.arena,
                    .p = p,
                    .rules = rules,
                    .most_stages = most_stages,
                    .warps = (int)p->options[TK_LAUNCH_NUM_WARPS]};
  tk_buf *const texts[] = {&x.gen.entry, &x.gen.body,    &x.gen.declared,
                           &x.gen.debug, &x.gen.message, &x.gen.prefix};
  for (size_t i = 0; i < TK_COUNT(texts); i++) tk_buf_init(texts[i], e);
  tk_status st = tk_protect(e, generate, &x);
  for (size_t i = 0; i < TK_COUNT(texts); i++) tk_buf_free(texts[i]);
  tk_arena_free(&x.arena);
  if (st != TK_OK) tk_throw(e, st);
  return (needs){tkv_shared_bytes(&x.gen), x.gen.stages};
}

size_t tkv_most_shared(const char *arch) {
  static const struct {
    const char *name;
    size_t shared;
  } archs[] = {
#define ARCH(name, shared) {name, (size_t)(shared) << 10},
#include "nvptx/arch.def"
#undef ARCH
  };
  for (size_t i = 0; i < TK_COUNT(archs); i++)
    if (!strcmp(archs[i].name, arch)) return archs[i].shared;
  return SIZE_MAX;
}

/* Where memory does not suffice for all stages, loops have fewer. */
void tkv_print_llir(tk_buf *out, const tk_program *p, const char *arch,
                    size_t *shared) {
  size_t begin = out->n, most = tkv_most_shared(arch);
  int64_t stages = INT64_MAX;
  for (;;) {
    needs n = generate_and_print(out, p, stages, print_module);
    *shared = n.shared;
    if (n.shared <= most || n.stages < 2) return;
    stages = n.stages - 1;
    out->n = begin;
  }
}

/* ---- layouts ------------------------------------------------------------- */

static void put_bases(tk_buf *out, const tk_type *t, const char *name,
                      const uint32_t *basis, int n) {
  tk_buf_printf(out, "%s = [", name);
  for (int i = 0; i < n; i++) {
    tk_buf_printf(out, "%s[", i ? ", " : "");
    for (int axis = 0; axis < t->rank; axis++)
      tk_buf_printf(out, "%s%u", axis ? ", " : "",
                    basis[i] >> tkv_axis_low(t, axis) &
                        (uint32_t)(t->shape[axis] - 1));
    tk_buf_puts(out, "]");
  }
  tk_buf_puts(out, "]");
}

static void put_layout(void *ud, tk_buf *out, const tk_func *f,
                       const tk_inst *in) {
  const tkv_gen *g = ud;
  const tkv_dist *d = g->homes[in->id];
  if (!in->nres) return;
  const tk_type *t = &f->slots[in->res[0]].type;
  if (!t->rank) return;
  if (!d) {
    tk_buf_puts(out, " // made where it is needed");
    return;
  }
  tk_buf_puts(out, " // #linear<{");
  put_bases(out, t, "register", d->reg, d->nreg);
  put_bases(out, t, ", lane", d->lane, TKV_LANE_BITS);
  put_bases(out, t, ", warp", d->warp, d->nwarp);
  tk_buf_puts(out, ", block = []}>");
}

static void print_layouts_of(tkv_gen *g, tk_buf *out) {
  tk_program_print_with(out, g->p, &(tk_remark){g, put_layout});
}

void tkv_print_layouts(tk_buf *out, const tk_program *p) {
  generate_and_print(out, p, INT64_MAX, print_layouts_of);
}
