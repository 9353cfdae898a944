/* against.c - the same launch under another engine. */
#include "run/against.h"

#include "launch/areas.h"
#include "launch/internal.h"

typedef struct expecting_engine {
  tkr_against *against;
  const char *engine;
  tk_bound bound;
} expecting_engine;

static void expect_memory(tk_env *e, void *ud) {
  expecting_engine *x = ud;
  tkr_against *a = x->against;
  tk_memory m;
  (void)e;
  for (size_t i = 0; tk_memory_at(a->launch, i, &m); i++) {
    if (!m.tensor || m.readonly || m.hi == m.lo) continue;
    tk_expected wanted = {.param = m.name,
                          .rtol = x->bound.rtol,
                          .atol = x->bound.atol,
                          .ulp = x->bound.ulp,
                          .engine = x->engine,
                          .lanes = tkn_copy_tensor(&a->arena, m.tensor)};
    TK_PUSH(&a->launch->arena, &a->launch->expected, wanted);
  }
}

tk_status tkr_against_begin(tkr_against *x, tk_launch *l,
                            const tkr_other *other,
                            const tk_run_options *options) {
  *x = (tkr_against){.launch = l, .expected = l->expected.n};
  expecting_engine expecting = {x, other->name, {-1, -1, 0}};
  if (options->bound) expecting.bound = *options->bound;
  const tk_bound *b = &expecting.bound;
  bool given = b->rtol >= 0 || b->atol >= 0 || b->ulp > 0;
  tk_arena_init(&x->arena, &l->session->env);
  tk_status st = tkr_memory_keep(&x->memory, l, &x->arena);
  if (st != TK_OK) return st;
  st = tkr_run_watched(l, other->run, options, NULL);
  if (st == TK_OK) st = tk_session_guard(l->session, expect_memory, &expecting);
  tkr_memory_put_back(&x->memory);
  if (st != TK_OK || given) return st;
  return tkr_judge(l, x->expected, &x->memory, &x->arena, other->own, options,
                   &x->judged);
}

tk_status tkr_against_unfused(const tkr_against *x, tkr_run_fn run,
                              const tk_run_options *options, bool *same) {
  tk_launch *l = x->launch;
  int64_t *fusion = &l->options[TK_LAUNCH_ENABLE_FP_FUSION], usual = *fusion;
  tkr_memory after = {.n = 0};
  tk_arena arena;
  *same = false;
  if (!usual) return TK_OK;
  tk_arena_init(&arena, &l->session->env);
  tk_status st = tkr_memory_keep(&after, l, &arena);
  if (st == TK_OK) {
    tkr_memory_put_back(&x->memory);
    *fusion = 0;
    st = tkr_run_watched(l, run, options, NULL);
    *fusion = usual;
    *same = st == TK_OK && tkr_memory_is_as_kept(&after);
    tkr_memory_put_back(&after);
  }
  tk_arena_free(&arena);
  return st;
}

void tkr_against_end(tkr_against *x) {
  if (!x->launch) return;
  TK_ASSERT(x->expected <= x->launch->expected.n);
  x->launch->expected.n = x->expected;
  tk_arena_free(&x->arena);
}
