/* explain.c - runs a launch again to see where a value came from.
 *
 * The second run begins with the same memory as the first and runs programs in
 * the same order, so it does the same; it ends after the write that is asked
 * about.
 */
#include <string.h>

#include "interp/explain/explain.h"
#include "interp/explain/slice.h"
#include "interp/grid.h"
#include "interp/schedule.h"

enum { PAGE = 4096 };

/* What a piece of a region held before anything was written to it, and what it
 * holds after the run. */
typedef struct page {
  struct page *next;
  char *host;
  size_t n;
  char before[PAGE], after[PAGE];
} page;

struct tke_explain {
  tki *t;
  tk_arena arena;
  tke_blame *blame;
  tki_observer keeper; /* keeps memory during the first run */
  page ***by_region;
  page *pages;
  /* The rest belongs to a second run, which is for one element. */
  tki_observer finder;
  tke_trace trace;
  const tke_target *target;
  size_t writes; /* how many writes to it there have been in this run */
  size_t lane;   /* the lane that made the latest one */
  bool armed;    /* the write asked about is being made */
  bool found;    /* its instruction has ended, in the traced program */
};

/* ---- memory ------------------------------------------------------------- */

static void keep_page(tke_explain *x, const tki_region *r, uint64_t at) {
  size_t region = (size_t)(r - x->t->regions), n = (size_t)(r->hi - r->lo);
  TK_ASSERT(at < n); /* accesses were checked before they are told of */
  if (!x->by_region[region])
    x->by_region[region] = TK_NEWN(&x->arena, page *, n / PAGE + 1);
  page **p = &x->by_region[region][at / PAGE];
  if (*p) return;
  *p = TK_NEW(&x->arena, page);
  size_t start = at / PAGE * PAGE;
  (*p)->host = r->host + start;
  (*p)->n = n - start < PAGE ? n - start : PAGE;
  memcpy((*p)->before, (*p)->host, (*p)->n);
  (*p)->next = x->pages;
  x->pages = *p;
}

static void keep_written(void *ud, tki *t, const tki_access *a) {
  (void)t;
  if (!a->write) return;
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    const tki_region *r = tki_access_region(a, i);
    keep_page(ud, r, a->addr[i] - r->lo);
    keep_page(ud, r, a->addr[i] - r->lo + a->size - 1);
  }
}

/* Keeps what the run has left. */
static void keep_results(tke_explain *x) {
  for (page *p = x->pages; p; p = p->next) memcpy(p->after, p->host, p->n);
}

/* Puts back what memory held before the run, or after it. */
static void put_memory(tke_explain *x, bool before) {
  for (page *p = x->pages; p; p = p->next)
    memcpy(p->host, before ? p->before : p->after, p->n);
}

/* ---- the second run ------------------------------------------------------ */

static void see_write(void *ud, tki *t, const tki_access *a) {
  tke_explain *x = ud;
  uint64_t addr = x->target->addr;
  (void)t;
  if (!a->write || x->armed) return;
  for (size_t i = 0; i < a->n; i++) {
    bool writes = (!a->mask || a->mask[i]) && a->addr[i] <= addr &&
                  addr - a->addr[i] < a->size &&
                  tki_access_region(a, i) == x->target->region;
    if (!writes) continue;
    x->lane = i;
    x->armed |= ++x->writes == x->target->writes.n;
  }
}

/* Ends the second run once the instruction that wrote the element has ended.
 * TK_FINDING stands for that: nothing has failed. */
static void stop_after_write(void *ud, tki *t, const tk_inst *in,
                             const tki_val *args) {
  tke_explain *x = ud;
  (void)in, (void)args;
  if (!x->armed || x->found || tki_program_index(t) != x->trace.program) return;
  x->found = true;
  tk_throw(t->env, TK_FINDING);
}

static void run_grid(tk_env *e, void *ud) {
  (void)e;
  tki_schedule_run(ud);
}

/* Gives the run the counts of the first run and an idle schedule again. */
static void restore_run(tki *t, const tki *kept) {
  tki_schedule_reset(t);
  tki_pool_reset(t);
  t->ops = kept->ops;
  t->done = kept->done;
  t->frame = NULL;
  t->spin = NULL;
}

/* Prepares the run to be made again, watched by a trace of the program that
 * made the last write. */
static void watch(tke_explain *x, const tke_write *last) {
  tki *t = x->t;
  t->ops = t->done = 0;
  t->frame = NULL;
  t->spin = NULL;
  x->writes = 0;
  x->armed = x->found = false;
  x->finder =
      (tki_observer){.ud = x, .access = see_write, .after = stop_after_write};
  tke_trace_init(&x->trace, t, last->program, (size_t)TKE_TRACE_MIB << 20);
  tki_observe(t, &x->trace.observer);
  tki_observe(t, &x->finder);
  t->wants_insts = false; /* the trace asks for them when its program begins */
}

typedef struct answer {
  tke_explain *x;
  tk_arena *arena;
  tk_explanation *out;
} answer;

static void follow_write(tk_env *e, void *ud) {
  answer *a = ud;
  tke_explain *x = a->x;
  (void)e;
  if (x->found && x->trace.last)
    tke_slice_store(&x->trace, a->arena, x->trace.last, x->lane,
                    TKE_SLICE_STEPS, a->out);
  else
    a->out->why = x->found ? "written inside of a function that an operation "
                             "calls for its lanes"
                           : "a second run did not write it again";
}

/* Runs the launch again up to the last write of the element and explains it.
 * Afterwards memory, the session and the run are as they were. */
static void explain(tke_explain *x, tk_arena *arena, tk_explanation *out) {
  tki *t = x->t, kept = *t;
  tk_output_fn output = t->session->output;
  size_t diags = t->env->ndiags;
  const tke_target *target = x->target;
  answer a = {x, arena, out};
  keep_results(x);
  put_memory(x, true);
  tki_schedule_reset(t);
  tki_watching others = tki_unwatch(t);
  watch(x, &target->writes.items[target->writes.n - 1]);
  t->session->output = NULL;
  tk_status st = tk_protect(t->env, run_grid, t);
  t->session->output = output;
  if (st != TK_OK) tk_diag_truncate(t->env, diags);
  put_memory(x, false);
  tk_status said = st == TK_INTERRUPTED || st == TK_INTERNAL
                       ? st
                       : tk_protect(t->env, follow_write, &a);
  tke_trace_end(&x->trace, true);
  restore_run(t, &kept);
  tki_rewatch(t, &others);
  if (said != TK_OK) tk_throw(t->env, said);
}

/* ---- from outside -------------------------------------------------------- */

void tke_explain_new(tki *t, const char *elements, tke_explain **out) {
  tke_explain *x = tk_calloc(t->env, 1, sizeof *x);
  x->t = t;
  tk_arena_init(&x->arena, t->env);
  *out = x;
  tke_blame_new(t, "--explain", elements, &x->blame);
  x->by_region = TK_NEWN(&x->arena, page **, t->nregions + 1);
  x->keeper = (tki_observer){.ud = x, .access = keep_written};
}

void tke_explain_attach(tke_explain *x) {
  tke_blame_attach(x->blame);
  if (x->blame->targets) tki_observe(x->t, &x->keeper);
}

tk_explanation tke_explain_found(tke_explain *x, tk_arena *a,
                                 const tke_target *target) {
  tk_explanation found = {.scope = -1};
  found.blame = tke_blame_found(x->blame, a, target);
  x->target = target;
  if (target->writes.n && !x->t->driver) explain(x, a, &found);
  return found;
}

const tke_target *tke_explain_targets(const tke_explain *x) {
  return x->blame->targets;
}

void tke_explain_free(tk_env *e, tke_explain *x) {
  if (!x) return;
  tke_blame_free(e, x->blame);
  tk_arena_free(&x->arena);
  tk_free(e, x, sizeof *x);
}

/* For each instruction of a walk, which ends at the first product whose fp32
 * operands are rounded to tf32. */
static bool is_no_tf32(void *ud, const tk_at *at, const tk_inst *in) {
  tk_place *found = ud;
  if (in->op != TK_I_DOT || tk_dot_precision(in) != TK_P_TF32 ||
      at->func->slots[in->args[0]].type.elem != TK_FP32)
    return true;
  *found = tk_place_of(at->func->src, in->span);
  return false;
}

tk_place tke_explain_tf32(const tk_program *p) {
  tk_place found = {.line = 0};
  tk_walk_program(p, &(tk_walk){.ud = &found, .inst = is_no_tf32});
  return found;
}
