/* explain.c - runs a launch again to see where a value came from.
 *
 * The second run does what the first did, with programs in the same order and
 * the same memory, and ends after the write that is asked about.
 */
#include "interp/check/explain.h"

#include <string.h>

#include "interp/check/slice.h"
#include "interp/grid.h"
#include "interp/schedule.h"

enum { PAGE = 4096 };

/* What a piece of a region held before the first write to it, and after the
 * run. */
typedef struct page {
  struct page *next;
  char *host;
  size_t n;
  char before[PAGE], after[PAGE];
} page;

struct tkc_explain {
  tki *t;
  tk_arena arena;
  tkc_blame *blame;
  tki_observer keeper; /* keeps memory during the first run */
  page ***by_region;
  page *pages;
  /* The rest is of the second run, which is for one element. */
  tki_observer finder;
  tkc_trace trace;
  const tkc_target *target;
  size_t writes, lane; /* writes of it so far; the lane that wrote it last */
  bool armed, found;
};

/* ---- memory ------------------------------------------------------------- */

static void keep_page(tkc_explain *x, const tki_region *r, uint64_t at) {
  size_t region = (size_t)(r - x->t->regions), n = (size_t)(r->hi - r->lo);
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

static void keep_results(tkc_explain *x) {
  for (page *p = x->pages; p; p = p->next) memcpy(p->after, p->host, p->n);
}

static void put_memory(tkc_explain *x, bool before) {
  for (page *p = x->pages; p; p = p->next)
    memcpy(p->host, before ? p->before : p->after, p->n);
}

/* ---- the second run ------------------------------------------------------ */

static void see_write(void *ud, tki *t, const tki_access *a) {
  tkc_explain *x = ud;
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

/* Ends the second run after the instruction that wrote the element. */
static void stop_behind_write(void *ud, tki *t, const tk_inst *in,
                              const tki_val *args) {
  tkc_explain *x = ud;
  (void)in, (void)args;
  if (!x->armed || x->found || tki_program_index(t) != x->trace.program) return;
  x->found = true;
  tk_throw(t->env, TK_FINDING);
}

static void run_grid(tk_env *e, void *ud) {
  (void)e;
  tki_schedule_run(ud);
}

static void restore_run(tki *t, const tki *kept) {
  tki_schedule_reset(t);
  tki_pool_reset(t);
  t->ops = kept->ops;
  t->done = kept->done;
  t->frame = NULL;
  t->spin = NULL;
}

static void watch(tkc_explain *x, const tkc_write *last) {
  tki *t = x->t;
  t->ops = t->done = 0;
  t->frame = NULL;
  t->spin = NULL;
  x->writes = 0;
  x->armed = x->found = false;
  x->finder =
      (tki_observer){.ud = x, .access = see_write, .after = stop_behind_write};
  tkc_trace_init(&x->trace, t, last->program, (size_t)TKC_TRACE_MIB << 20);
  tki_observe(t, &x->trace.observer);
  tki_observe(t, &x->finder);
  t->wants_insts = false; /* until the program begins */
}

typedef struct answer {
  tkc_explain *x;
  tk_arena *arena;
  tk_explanation *out;
} answer;

static void follow_write(tk_env *e, void *ud) {
  answer *a = ud;
  tkc_explain *x = a->x;
  (void)e;
  if (x->found && x->trace.last)
    tkc_slice_store(&x->trace, a->arena, x->trace.last, x->lane,
                    TKC_SLICE_STEPS, a->out);
  else
    a->out->why = x->found ? "written inside of a function that an operation "
                             "calls for its lanes"
                           : "a second run did not write it again";
}

/* Runs the launch again up to the last write of the element and explains it.
 * Afterwards memory, the session and the run are as they were. */
static void explain(tkc_explain *x, tk_arena *arena, tk_explanation *out) {
  tki *t = x->t, kept = *t;
  tk_output_fn output = t->session->output;
  size_t diags = t->env->ndiags;
  const tkc_target *target = x->target;
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
  tkc_trace_end(&x->trace, true);
  restore_run(t, &kept);
  tki_rewatch(t, &others);
  if (said != TK_OK) tk_throw(t->env, said);
}

/* ---- from outside -------------------------------------------------------- */

void tkc_explain_new(tki *t, const char *elements, tkc_explain **out) {
  tkc_explain *x = tk_calloc(t->env, 1, sizeof *x);
  x->t = t;
  tk_arena_init(&x->arena, t->env);
  *out = x;
  tkc_blame_new(t, "--explain", elements, &x->blame);
  x->by_region = TK_NEWN(&x->arena, page **, t->nregions + 1);
  x->keeper = (tki_observer){.ud = x, .access = keep_written};
}

void tkc_explain_attach(tkc_explain *x) {
  tkc_blame_attach(x->blame);
  if (x->blame->targets) tki_observe(x->t, &x->keeper);
}

tk_explanation tkc_explain_found(tkc_explain *x, tk_arena *a,
                                 const tkc_target *target) {
  tk_explanation found = {.scope = -1};
  found.blame = tkc_blame_found(x->blame, a, target);
  x->target = target;
  if (target->writes.n && !x->t->driver) explain(x, a, &found);
  return found;
}

const tkc_target *tkc_explain_targets(const tkc_explain *x) {
  return x->blame->targets;
}

void tkc_explain_free(tk_env *e, tkc_explain *x) {
  if (!x) return;
  tkc_blame_free(e, x->blame);
  tk_arena_free(&x->arena);
  tk_free(e, x, sizeof *x);
}

/* A walk that ends at the first product whose fp32 operands are rounded to
 * tf32. */
static bool is_no_tf32(void *ud, const tk_at *at, const tk_inst *in) {
  tk_place *found = ud;
  if (in->op != TK_I_DOT || tk_dot_precision(in) != TK_P_TF32 ||
      at->func->slots[in->args[0]].type.elem != TK_FP32)
    return true;
  *found = tk_place_of(at->func->src, in->span);
  return false;
}

tk_place tkc_explain_tf32(const tk_program *p) {
  tk_place found = {.line = 0};
  tk_walk_program(p, &(tk_walk){.ud = &found, .inst = is_no_tf32});
  return found;
}
