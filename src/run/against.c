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

tk_status tkr_run_watched(tk_launch *l, tkr_run_fn run,
                          const tk_run_options *options, tk_watcher *watcher) {
  tk_session *s = l->session;
  tk_watcher *watchers = s->watchers;
  tk_output_fn output = s->output;
  tk_run_options opt = {.size = sizeof opt,
                        .pids = options->pids,
                        .order = options->order,
                        .schedule = options->schedule,
                        .dot = options->dot,
                        .numerics = options->numerics,
                        .no_asserts = options->no_asserts};
  tk_summary unused = {0};
  s->watchers = watcher;
  s->output = NULL;
  tk_status st = run(l, &opt, &unused);
  s->output = output;
  s->watchers = watchers;
  return st;
}

tk_status tkr_against_begin(tkr_against *x, tk_launch *l, const char *engine,
                            tkr_run_fn run, const tk_run_options *options) {
  *x = (tkr_against){.launch = l, .expected = l->expected.n};
  expecting_engine expecting = {x, engine, {-1, -1, 0}};
  if (options->bound) expecting.bound = *options->bound;
  tk_arena_init(&x->arena, &l->session->env);
  tk_status st = tkr_memory_keep(&x->memory, l, &x->arena);
  if (st != TK_OK) return st;
  st = tkr_run_watched(l, run, options, NULL);
  if (st == TK_OK) st = tk_session_guard(l->session, expect_memory, &expecting);
  tkr_memory_put_back(&x->memory);
  return st;
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
  x->launch->expected.n = x->expected;
  tk_arena_free(&x->arena);
}
