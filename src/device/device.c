/* device.c - the engines that run a launch as PTX. */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ir/param.h"
#include "launch/areas.h"
#include "nvptx/nvptx.h"
#include "ptx/ptx.h"
#include "typing/origin.h"

/* What Triton's launcher passes behind the arguments: memory for descriptors,
 * and for a profiler. */
enum { SCRATCHES = 2, SCRATCH_ALIGN = 128 };

typedef struct running running;
typedef void run_fn(tk_env *e, running *x, tkp_launch *to);

struct running {
  tk_launch *launch;
  const tk_run_options *opt;
  tk_summary *sum;
  const char *engine; /* its name */
  tkp_witness *witness;
  bool moved; /* memory at low addresses is moved */
  run_fn *make, *run;
  const tk_program *form; /* whose parameters the code has */
  tk_program *p;          /* that the code was made from; NULL */
  tk_buf ptx;
  const tkg_code *code; /* of Triton's compiler; NULL */
  tkp_range scratch;    /* size 0: the code needs none */
  tk_arena arena;       /* parameters, ranges */
};

/* ---- memory -------------------------------------------------------------- */

/* The kernel sees addresses below LOWEST from MOVED on once they are moved. */
static const uint64_t LOWEST = (uint64_t)1 << 32, MOVED = (uint64_t)5 << 44;

static uint64_t moved_address(bool moved, uint64_t address) {
  return moved && address < LOWEST ? MOVED + address : address;
}

uint64_t tkg_launch_address(uint64_t address) {
  return address - MOVED < LOWEST ? address - MOVED : address;
}

static int by_base(const void *a, const void *b) {
  const tkp_range *x = a, *y = b;
  return x->base < y->base ? -1 : x->base > y->base;
}

void tkg_find_ranges(tk_launch *l, tk_arena *arena, bool moved,
                     const tkp_range *scratch, tkp_launch *to) {
  size_t n = 0;
  tk_areas areas = tk_areas_of(l, arena);
  tkp_range *r = TK_NEWN(arena, tkp_range, areas.n + 2);
  for (size_t i = 0; i < areas.n; i++) {
    const tk_area *a = &areas.items[i];
    if (a->lo == a->hi) continue;
    r[n++] = (tkp_range){moved_address(moved, tk_area_address(a)),
                         (uint64_t)(a->hi - a->lo), a->first.name, a->writable,
                         (uint8_t *)a->lo};
  }
  if (scratch->size) r[n++] = *scratch;
  qsort(r, n, sizeof *r, by_base);
  to->ranges = r;
  to->nranges = n;
}

static void find_ranges(running *x, tkp_launch *to) {
  tkg_find_ranges(x->launch, &x->arena, x->moved, &x->scratch, to);
}

/* One parameter for each of the launch, but for descriptors. */
static void find_triton_params(running *x, tkp_launch *to) {
  const tk_param *form = x->form->params;
  size_t at = 0;
  tkg_pointers all = {0};
  for (size_t i = 0; i < x->code->nparams; i++) {
    const tkg_code_param *p = &x->code->params[i];
    if (p->rank) {
      size_t arg = form[at].arg;
      tkg_pass_descriptor(&x->arena, x->launch, arg, p, &all);
      while (at < x->form->nparams && form[at].arg == arg) at++;
      continue;
    }
    uint64_t *bits = TK_NEW(&x->arena, uint64_t);
    *bits = tk_param_of(x->launch, &form[at++]).bits;
    TK_PUSH(&x->arena, &all, (const void *)bits);
  }
  to->nparams = all.n;
  for (size_t i = 0; i < SCRATCHES; i++) {
    uint64_t *bits = TK_NEW(&x->arena, uint64_t);
    *bits = i ? 0 : x->scratch.base;
    TK_PUSH(&x->arena, &all, (const void *)bits);
  }
  to->params = all.items;
}

static void find_params(running *x, tkp_launch *to) {
  size_t n = x->form->nparams;
  uint64_t *bits = TK_NEWN(&x->arena, uint64_t, n + SCRATCHES);
  const void **params = TK_NEWN(&x->arena, const void *, n + SCRATCHES);
  for (size_t i = 0; i < n; i++) {
    tk_param_value v = tk_param_of(x->launch, &x->form->params[i]);
    bits[i] = v.tensor ? moved_address(x->moved, v.bits) : v.bits;
  }
  bits[n] = x->scratch.base;
  for (size_t i = 0; i < n + SCRATCHES; i++) params[i] = &bits[i];
  to->params = params;
  to->nparams = n;
}

static void find_sources(running *x, tkp_launch *to) {
  const tk_program *p = x->form;
  const tk_source **s = TK_NEWN(&x->arena, const tk_source *, p->nfuncs + 1);
  for (size_t i = 0; i < p->nfuncs; i++) s[i] = p->funcs[i]->src;
  to->sources = s;
  to->nsources = p->nfuncs;
}

/* ---- the run ------------------------------------------------------------- */

static void print_output(void *ud, const char *text, size_t n) {
  const tk_session *s = ud;
  if (s->output) s->output(s->output_ud, text, n);
}

/* How many threads and pointers to memory of its own Triton's launcher gives
 * the kernel: that depends on its version. */
static void fit_launcher(const tkp_program *code, tkp_launch *to) {
  tkp_entry_info info;
  for (size_t i = 0; tkp_entry(code, i, &info); i++) {
    if (strcmp(info.name, to->entry) != 0) continue;
    if (info.threads[0]) to->block[0] = info.threads[0];
    if (info.nparams <= to->nparams + SCRATCHES) to->nparams = info.nparams;
  }
}

static void run_interpreted(tk_env *e, running *x, tkp_launch *to) {
  tk_arena *kept = &x->launch->session->arena;
  const char *name = tk_arena_printf(kept, "%s.ptx", to->entry);
  tkp_program *code = tkp_parse(kept, name, tk_buf_str(&x->ptx), x->ptx.n);
  tkp_summary sum;
  if (!x->p) fit_launcher(code, to);
  tk_status st = tkp_run(code, to, &sum);
  x->sum->programs = sum.programs;
  x->sum->ops = sum.instructions;
  if (st != TK_OK) tk_throw(e, st);
}

/* A GPU may lack the lowest addresses, where a host's heap can be. Memory there
 * is moved, and pointers that are stored in memory do not follow. */
static void run_on_gpu(tk_env *e, running *x, tkp_launch *to) {
  const char *ptx = tk_buf_str(&x->ptx);
  bool placed = tkg_run_on_gpu(e, ptx, to);
  if (!placed) {
    x->moved = true;
    find_ranges(x, to);
    find_params(x, to);
    placed = tkg_run_on_gpu(e, ptx, to);
  }
  if (!placed) {
    tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                             "the GPU cannot have memory at the addresses of "
                             "this launch");
    tk_diag_help(e, d,
                 "record it (--record FILE) and replay the file: its "
                 "tensors have addresses of their own");
    tk_throw(e, TK_USAGE);
  }
  x->sum->programs = (uint64_t)to->grid[0] * to->grid[1] * to->grid[2];
}

/* The code of our own compiler. */
static void make_own(tk_env *e, running *x, tkp_launch *to) {
  x->p = tkv_single_assignment(e, x->form);
  tkv_run_passes(x->p, 0, NULL, NULL);
  x->form = x->p;
  to->entry = x->p->kernel->name;
  to->block[0] = 32 * (uint32_t)x->p->options[TK_LAUNCH_NUM_WARPS];
  const char *arch = tkv_arch_named(e, x->opt->arch);
  tkv_print_ptx(&x->ptx, x->p, arch, &to->dynamic_shared);
}

/* How many parameters of the launch the code's are. */
static size_t launch_params(const running *x, const tkg_code *code) {
  const tk_program *f = x->form;
  size_t at = 0;
  for (size_t i = 0; i < code->nparams; i++) {
    size_t first = at++;
    if (first >= f->nparams || !code->params[i].rank) continue;
    while (at < f->nparams && f->params[at].arg == f->params[first].arg) at++;
  }
  return at;
}

static void need_same_params(tk_env *e, const running *x, size_t n) {
  if (n == x->form->nparams) return;
  tk_diag *d = tk_diag_add(e, TK_D_DEVICE, NULL, (tk_span){0, 0},
                           "Triton's code takes %zu arguments, where the "
                           "launch has %zu",
                           n, x->form->nparams);
  tk_diag_help(e, d,
               "the kernel may be specialised otherwise by this version "
               "of Triton: --triton-version says which one it is");
  tk_throw(e, TK_USAGE);
}

/* The code of the Triton that is installed. */
static void make_by_triton(tk_env *e, running *x, tkp_launch *to) {
  const int64_t *grid = x->launch->grid;
  const char *arch = tkv_arch_named(e, x->opt->arch);
  const tkg_code *code = tkg_code_by_triton(e, x->launch, arch);
  need_same_params(e, x, launch_params(x, code));
  x->code = code;
  tk_buf_add(&x->ptx, code->ptx, code->size);
  to->entry = code->entry;
  to->block[0] = 32 * code->warps;
  to->dynamic_shared = code->shared;
  if (!code->scratch) return;
  size_t size = code->scratch * (size_t)(grid[0] * grid[1] * grid[2]);
  char *memory = tk_arena_alloc(&x->arena, size + SCRATCH_ALIGN);
  uint64_t at = ((uint64_t)(uintptr_t)memory + SCRATCH_ALIGN - 1) &
                ~(uint64_t)(SCRATCH_ALIGN - 1);
  x->scratch = (tkp_range){at, size, "the launcher's memory", true, NULL};
}

static void run_as_ptx(tk_env *e, void *ud) {
  running *x = ud;
  tk_launch *l = x->launch;
  tkg_check_options(e, x->opt, x->engine);
  tk_unit *u = l->unit = tk_specialise(e, l);
  tkp_launch to = {
      .print = print_output, .print_ud = l->session, .witness = x->witness};
  for (int i = 0; i < 3; i++) {
    to.grid[i] = (uint32_t)l->grid[i];
    to.block[i] = 1;
  }
  x->form = &u->program;
  x->make(e, x, &to);
  find_ranges(x, &to);
  if (x->code)
    find_triton_params(x, &to);
  else
    find_params(x, &to);
  find_sources(x, &to);
  x->run(e, x, &to);
}

static tk_status run_launch(tk_launch *l, const tk_run_options *options,
                            tk_summary *summary, running x) {
  tk_env *e = &l->session->env;
  double began = tk_clock_seconds();
  x.launch = l;
  x.opt = options;
  x.sum = summary;
  e->interrupted = 0;
  tk_arena_init(&x.arena, e);
  tk_buf_init(&x.ptx, e);
  tk_status st = tk_session_guard(l->session, run_as_ptx, &x);
  tk_program_free(x.p);
  tk_buf_free(&x.ptx);
  tk_arena_free(&x.arena);
  summary->seconds = tk_clock_seconds() - began;
  return st;
}

tk_status tkg_launch_run(tk_launch *l, const tk_run_options *options,
                         tk_summary *summary) {
  return run_launch(
      l, options, summary,
      (running){.engine = "ptx", .make = make_own, .run = run_interpreted});
}

tk_status tkg_launch_triton_ptx_beside(tk_launch *l,
                                       const tk_run_options *options,
                                       tkp_witness *witness,
                                       tk_summary *summary) {
  return run_launch(l, options, summary,
                    (running){.engine = "triton-ptx",
                              .make = make_by_triton,
                              .run = run_interpreted,
                              .witness = witness});
}

tk_status tkg_launch_triton_ptx(tk_launch *l, const tk_run_options *options,
                                tk_summary *summary) {
  return tkg_launch_triton_ptx_beside(l, options, NULL, summary);
}

tk_status tkg_launch_run_gpu(tk_launch *l, const tk_run_options *options,
                             tk_summary *summary) {
  return run_launch(
      l, options, summary,
      (running){.engine = "gpu", .make = make_own, .run = run_on_gpu});
}
