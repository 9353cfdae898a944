/* gen_module.c - a program as the text of an LLVM module, or as a form with
 * the layouts that its blocks are made in. */
#include <string.h>

#include "nvptx/module.h"
#include "nvptx/nvptx.h"
#include "nvptx/shared.h"

static const tkv_rule_of rules[TK_INST_COUNT] = {
#define LOWER(id, fn) [TK_I_##id] = {.lower = fn},
#define LOWER_AT(id, fn, dist) [TK_I_##id] = {.lower = fn, .home = dist},
#include "nvptx/lower.def"
#undef LOWER
#undef LOWER_AT
};

/* ---- architectures ------------------------------------------------------- */

/* What is known of architectures: rows of arch.def. */
typedef struct arch_info {
  const char *name;
  size_t shared;
  const char *isa;
  bool wgmma;
} arch_info;

static const arch_info *info_of(const char *arch) {
  static const arch_info archs[] = {
#define ARCH(name, shared, isa, wgmma)                                         \
  {name, (size_t)(shared) << 10, isa, wgmma},
#include "nvptx/arch.def"
#undef ARCH
  };
  for (size_t i = 0; i < TK_COUNT(archs); i++)
    if (!strcmp(archs[i].name, arch)) return &archs[i];
  TK_ASSERT(false); /* options are checked where they are given */
  return NULL;
}

size_t tkv_most_shared(const char *arch) {
  return info_of(arch)->shared;
}

const char *tkv_isa_of(const char *arch) {
  return info_of(arch)->isa;
}

/* ---- generating ---------------------------------------------------------- */

static void take_params(tkv_gen *g, tkv_value **args) {
  for (size_t i = 0; i < g->p->nparams; i++) {
    const tk_param *x = &g->p->params[i];
    tkv_reg value = tkv_param(tkv_param_type(&x->type), i);
    if (tkv_lane_bits(&x->type) == 1) value = tkv_trunc(g->code, value, TKV_I1);
    for (size_t k = 0; k < g->p->kernel->nparams; k++)
      if (g->p->kernel->params[k] == x->slot)
        args[k] = tkv_scalar(g, x->type, value);
  }
}

static void print_module(tkv_gen *g, tk_buf *out) {
  tkv_type *params = TK_NEWN(g->arena, tkv_type, g->p->nparams + 1);
  for (size_t i = 0; i < g->p->nparams; i++)
    params[i] = tkv_param_type(&g->p->params[i].type);
  tkv_module m = {.p = g->p,
                  .params = params,
                  .warps = g->warps,
                  .shared = tkv_shared_bytes(g),
                  .buffers = tkv_buffer_bytes(g),
                  .alignment = g->has_tiles ? TKV_TILE_ALIGNMENT : 128};
  tkv_print_module(g->code, out, &m);
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
  g->code = tkv_new_code(g->arena, g->p->kernel->src);
  g->facts = tkv_find_facts(g->arena, g->p);
  g->homes = TK_NEWN(g->arena, const tkv_dist *, g->p->ninsts + 1);
  g->copied = TK_NEWN(g->arena, tkv_value *, g->p->ninsts + 1);
  tkv_value **args = TK_NEWN(g->arena, tkv_value *, g->p->kernel->nparams + 1);
  tkv_frame *fr = tkv_new_frame(g, g->p->kernel);
  take_params(g, args);
  tkv_inline(g, fr, args);
  x->print(g, x->out);
}

typedef struct needs {
  size_t shared;  /* bytes of memory */
  int64_t stages; /* of the loop that has most */
} needs;

/* Generates code, and lets `print` print what it wants of it. Returns what the
 * code needs. */
static needs generate_and_print(tk_buf *out, const tk_program *p,
                                const char *arch, int64_t most_stages,
                                void (*print)(tkv_gen *g, tk_buf *out)) {
  tk_env *e = out->env;
  generating x = {.out = out, .print = print};
  tk_arena_init(&x.arena, e);
  x.gen = (tkv_gen){.env = e,
                    .arena = &x.arena,
                    .p = p,
                    .rules = rules,
                    .wgmma = info_of(arch)->wgmma,
                    .most_stages = most_stages,
                    .warps = (int)p->options[TK_LAUNCH_NUM_WARPS]};
  tk_buf *const texts[] = {&x.gen.message, &x.gen.prefix};
  for (size_t i = 0; i < TK_COUNT(texts); i++) tk_buf_init(texts[i], e);
  tk_status st = tk_protect(e, generate, &x);
  for (size_t i = 0; i < TK_COUNT(texts); i++) tk_buf_free(texts[i]);
  tkv_free_code(x.gen.code);
  tk_arena_free(&x.arena);
  if (st != TK_OK) tk_throw(e, st);
  return (needs){tkv_shared_bytes(&x.gen), x.gen.stages};
}

/* If shared memory is too small for all stages of the loops that copy ahead,
 * they get fewer. */
void tkv_print_llir(tk_buf *out, const tk_program *p, const char *arch,
                    size_t *shared) {
  size_t begin = out->n, most = tkv_most_shared(arch);
  int64_t stages = INT64_MAX;
  for (;;) {
    needs n = generate_and_print(out, p, arch, stages, print_module);
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

static void put_conflicts(tk_buf *out, const tkv_exchange *x,
                          const tkv_places *p) {
  tkv_conflicts n = tkv_conflicts_at(&x->type, &x->written, &x->read, p);
  tk_buf_printf(out, "write x%d, read x%d", n.written, n.read);
}

/* Where the lanes of a block lie: the place of one is the xor of those of the
 * bits of its number. */
static void put_exchange(tk_buf *out, const tkv_exchange *x) {
  const tkv_places plain = {.n = 0};
  tkv_dist d = tkv_dist_map(&x->numbers, tkv_place, &x->places);
  tk_buf_puts(out, "\n        // shared memory: ");
  tk_type_print(out, &x->type);
  tk_buf_puts(out, ", places = [");
  for (int i = 0; i < d.nreg; i++)
    tk_buf_printf(out, "%s%u", i ? ", " : "", d.reg[i]);
  tk_buf_puts(out, "], conflicts: ");
  put_conflicts(out, x, &x->places);
  tk_buf_puts(out, ", in row-major order ");
  put_conflicts(out, x, &plain);
}

static void put_home(const tkv_gen *g, tk_buf *out, const tk_func *f,
                     const tk_inst *in) {
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

static void put_layout(void *ud, tk_buf *out, const tk_func *f,
                       const tk_inst *in) {
  const tkv_gen *g = ud;
  put_home(g, out, f, in);
  for (size_t i = 0; i < g->exchanges.n; i++)
    if (g->exchanges.items[i].in == in)
      put_exchange(out, &g->exchanges.items[i]);
}

static void print_layouts_of(tkv_gen *g, tk_buf *out) {
  tk_program_print_with(out, g->p, &(tk_remark){g, put_layout});
}

void tkv_print_layouts(tk_buf *out, const tk_program *p, const char *arch) {
  generate_and_print(out, p, arch, INT64_MAX, print_layouts_of);
}
