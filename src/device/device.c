/* device.c - the engines that run a launch as PTX. */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ir/param.h"
#include "launch/areas.h"
#include "nvptx/nvptx.h"
#include "ptx/ptx.h"
#include "spec/origin.h"

typedef struct running running;
typedef void run_fn(tk_env *e, running *x, tkp_launch *to);

struct running {
  tk_launch *launch;
  const tk_run_options *opt;
  tk_summary *sum;
  const char *engine; /* its name */
  bool moved;         /* memory at low addresses is elsewhere */
  run_fn *run;
  tk_program *p;
  tk_buf ptx;
  tk_arena arena; /* parameters, ranges */
};

/* ---- what it does not do
 * ------------------------------------------------------ */

void tkg_check_options(tk_env *e, const tk_run_options *o, const char *engine) {
  const struct {
    const char *name;
    bool given;
  } options[] = {
      {"pids", o->pids && *o->pids},
      {"order", o->order && strcmp(o->order, "serial") != 0},
      {"schedule", o->schedule && strcmp(o->schedule, "auto") != 0},
      {"jobs", o->jobs > 1},
      {"no_asserts", o->no_asserts},
  };
  for (size_t i = 0; i < TK_COUNT(options); i++) {
    if (!options[i].given) continue;
    tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                             "the engine '%s' has no '%s': it runs the whole "
                             "kernel, as a GPU would",
                             engine, options[i].name);
    tk_diag_help(e, d, "leave it out, or use the engine 'interp'");
    tk_throw(e, TK_USAGE);
  }
}

/* ---- memory
 * ------------------------------------------------------------------------ */

/* The kernel sees addresses below LOWEST from MOVED on once they are moved. */
static const uint64_t LOWEST = (uint64_t)1 << 32, MOVED = (uint64_t)5 << 44;

static uint64_t moved_address(const running *x, uint64_t address) {
  return x->moved && address < LOWEST ? MOVED + address : address;
}

uint64_t tkg_launch_address(uint64_t address) {
  return address - MOVED < LOWEST ? address - MOVED : address;
}

static int by_base(const void *a, const void *b) {
  const tkp_range *x = a, *y = b;
  return x->base < y->base ? -1 : x->base > y->base;
}

static void find_ranges(running *x, tkp_launch *to) {
  size_t n = 0;
  tk_areas areas = tk_areas_of(x->launch, &x->arena);
  tkp_range *r = TK_NEWN(&x->arena, tkp_range, areas.n + 1);
  for (size_t i = 0; i < areas.n; i++) {
    const tk_area *a = &areas.items[i];
    if (a->lo == a->hi) continue;
    r[n++] = (tkp_range){moved_address(x, tk_area_address(a)),
                         (uint64_t)(a->hi - a->lo), a->first.name, a->writable,
                         (uint8_t *)a->lo};
  }
  qsort(r, n, sizeof *r, by_base);
  to->ranges = r;
  to->nranges = n;
}

static void find_params(running *x, tkp_launch *to) {
  size_t n = x->p->nparams;
  uint64_t *bits = TK_NEWN(&x->arena, uint64_t, n + 1);
  const void **params = TK_NEWN(&x->arena, const void *, n + 1);
  for (size_t i = 0; i < n; i++) {
    tk_param_value v = tk_param_of(x->launch, &x->p->params[i]);
    bits[i] = v.tensor ? moved_address(x, v.bits) : v.bits;
    params[i] = &bits[i];
  }
  to->params = params;
  to->nparams = n;
}

static void find_sources(running *x, tkp_launch *to) {
  const tk_source **s = TK_NEWN(&x->arena, const tk_source *, x->p->nfuncs + 1);
  for (size_t i = 0; i < x->p->nfuncs; i++) s[i] = x->p->funcs[i]->src;
  to->sources = s;
  to->nsources = x->p->nfuncs;
}

/* ---- the run
 * ------------------------------------------------------------------------ */

static void print_output(void *ud, const char *text, size_t n) {
  const tk_session *s = ud;
  if (s->output) s->output(s->output_ud, text, n);
}

static void run_interpreted(tk_env *e, running *x, tkp_launch *to) {
  tk_arena *kept = &x->launch->session->arena;
  const char *name = tk_arena_printf(kept, "%s.ptx", to->entry);
  tkp_program *code = tkp_parse(kept, name, tk_buf_str(&x->ptx), x->ptx.n);
  tkp_summary sum;
  tk_status st = tkp_run(code, to, &sum);
  x->sum->programs = sum.programs;
  x->sum->ops = sum.instructions;
  if (st != TK_OK) tk_throw(e, st);
}

/* A GPU may not have the lowest addresses, where a host's heap can be; moved,
 * pointers that lie in memory do not lead there. */
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

static void run_as_ptx(tk_env *e, void *ud) {
  running *x = ud;
  tk_launch *l = x->launch;
  tkg_check_options(e, x->opt, x->engine);
  tk_unit *u = l->unit = tk_specialise(e, l);
  x->p = tkv_single_assignment(e, &u->program);
  tkv_run_passes(x->p, 0, NULL, NULL);
  tkp_launch to = {.entry = x->p->kernel->name,
                   .print = print_output,
                   .print_ud = l->session};
  tkv_print_ptx(&x->ptx, x->p, "sm_80", &to.dynamic_shared);
  find_ranges(x, &to);
  find_params(x, &to);
  find_sources(x, &to);
  for (int i = 0; i < 3; i++) {
    to.grid[i] = (uint32_t)l->grid[i];
    to.block[i] = 1;
  }
  to.block[0] = 32 * (uint32_t)x->p->options[TK_LAUNCH_NUM_WARPS];
  x->run(e, x, &to);
}

static tk_status run_launch(tk_launch *l, const tk_run_options *options,
                            tk_summary *summary, const char *engine,
                            run_fn *run) {
  running x = {.launch = l,
               .opt = options,
               .sum = summary,
               .engine = engine,
               .run = run};
  tk_env *e = &l->session->env;
  double began = tk_clock_seconds();
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
  return run_launch(l, options, summary, "ptx", run_interpreted);
}

tk_status tkg_launch_run_gpu(tk_launch *l, const tk_run_options *options,
                             tk_summary *summary) {
  return run_launch(l, options, summary, "gpu", run_on_gpu);
}
