/* run.c - running a launch: the options are read, an engine is chosen by its
 * name, and what the caller asked about the run watches it.
 *
 * Engines are rows of engine.def and know nothing of each other.  This is the
 * only place that knows them all; whoever compares two of them runs the same
 * launch twice and changes one option.
 */
#include <string.h>

#include "device/device.h"
#include "interp/check/inquiry.h"
#include "interp/engine.h"
#include "nvptx/nvptx.h"
#include "run/expect.h"

typedef struct engine {
  const char *name, *doc;
  tk_status (*run)(tk_launch *l, const tk_run_options *options,
                   tk_summary *summary);
  bool (*available)(const char **why);
} engine;

static const engine engines[] = {
#define ENGINE(name, run, available, doc) {name, doc, run, available},
#include "engine.def"
#undef ENGINE
};

/* ---- engines ------------------------------------------------------------ */

const char *tk_engine_name(size_t i) {
  return i < TK_COUNT(engines) ? engines[i].name : NULL;
}

const char *tk_engine_doc(size_t i) {
  return i < TK_COUNT(engines) ? engines[i].doc : NULL;
}

bool tk_engine_available(size_t i, const char **why) {
  const char *unused;
  if (!why) why = &unused;
  *why = i < TK_COUNT(engines) ? "" : "there is no such engine";
  if (i >= TK_COUNT(engines)) return false;
  return !engines[i].available || engines[i].available(why);
}

static void TK_NORETURN unknown_engine(tk_env *e, const char *name) {
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "no engine is called '%.60s'", name);
  tk_buf all;
  tk_buf_init(&all, e);
  const char *best = tk_nearest_of(name, tk_engine_name, &all);
  if (best)
    tk_diag_help(e, d, "did you mean '%s'? (engines: %s)", best,
                 tk_buf_str(&all));
  else
    tk_diag_help(e, d, "engines: %s", tk_buf_str(&all));
  tk_buf_free(&all);
  tk_throw(e, TK_USAGE);
}

typedef struct choice {
  const char *name;
  const engine *engine;
} choice;

static void choose_engine(tk_env *e, void *ud) {
  choice *c = ud;
  const char *why;
  size_t i = 0;
  while (c->name && i < TK_COUNT(engines) && strcmp(engines[i].name, c->name))
    i++;
  if (i == TK_COUNT(engines)) unknown_engine(e, c->name);
  if (!tk_engine_available(i, &why)) {
    tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                "the engine '%s' is not available: %s", engines[i].name, why);
    tk_throw(e, TK_USAGE);
  }
  c->engine = &engines[i];
}

/* ---- a run -------------------------------------------------------------- */

/* What a run had to say: findings behind the first n of the report. */
static void count_findings(tk_summary *sum, const tk_session *s, size_t n) {
  size_t i = 0;
  for (const tk_diag *d = s->env.diags; d; d = d->next) {
    if (i++ < n) continue;
    sum->errors += d->f.severity == TK_SEV_ERROR;
    sum->warnings += d->f.severity == TK_SEV_WARNING;
    sum->notes += d->f.severity == TK_SEV_NOTE;
  }
}

tk_status tk_launch_run(tk_launch *l, const tk_run_options *options,
                        tk_summary *summary) {
  tk_run_options opt = {.size = sizeof opt};
  tk_summary unused;
  if (options)
    memcpy(&opt, options,
           options->size < sizeof opt ? options->size : sizeof opt);
  opt.size = sizeof opt;
  if (!summary) summary = &unused;
  memset(summary, 0, sizeof *summary);
  choice c = {.name = opt.engine};
  size_t reported = l->session->env.ndiags;
  tk_status st = tk_session_guard(l->session, choose_engine, &c);
  if (st != TK_OK) return st;
  tkc_inquiry q;
  tkr_expecting x;
  tkc_inquiry_begin(&q, l, &opt);
  st = tkr_expect_begin(&x, l);
  summary->kernel = l->fn->item->name;
  summary->engine = c.engine->name;
  if (st == TK_OK) st = c.engine->run(l, &opt, summary);
  st = tkr_expect_end(&x, st, c.engine->run, &opt);
  tkc_inquiry_end(&q);
  memcpy(summary->grid, l->grid, sizeof summary->grid);
  count_findings(summary, l->session, reported);
  return st;
}
