/* run.c - running a launch: the options are read, an engine is chosen by its
 * name, and what the caller asked about the run watches it.
 *
 * Engines are rows of engine.def and know nothing of each other.  This is the
 * only place that knows them all; whoever compares two of them runs the same
 * launch twice and changes one
 * option. */
#include <string.h>

#include "device/device.h"
#include "device/library.h"
#include "interp/explain/inquiry.h"
#include "interp/engine.h"
#include "ir/numerics.h"
#include "report/report.h"
#include "nvptx/nvptx.h"
#include "run/against.h"
#include "run/beside.h"
#include "run/expect.h"
#include "run/pin.h"
#include "run/shard.h"

typedef struct engine {
  const char *name, *doc;
  tk_status (*run)(tk_launch *l, const tk_run_options *options,
                   tk_summary *summary);
  bool (*available)(const char **why);
  bool watched;
  const char *recorder;
  tk_status (*witnessed)(tk_launch *l, const tk_run_options *options,
                         tkp_witness *witness, tk_summary *summary);
} engine;

static const engine engines[] = {
#define ENGINE(name, run, available, watched, recorder, witnessed, doc)        \
  {name, doc, run, available, watched, recorder, witnessed},
#include "engine.def"
#undef ENGINE
};

/* Of a PTX file's kernels. */
static const engine file_engine = {"ptx", "",  tkg_launch_ptx_file, NULL, false,
                                   NULL,  NULL};

/* A form in place of the kernel, which it is compared with. */
static const engine form_engine = {"interp", "",   tkr_run_form, NULL,
                                   false,    NULL, NULL};

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
                           "no engine is called '%s'", name);
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
  tk_launch *launch;
  const tk_run_options *options;
  const engine *engine, *other; /* that runs it; that it is compared with */
  const engine *recorder; /* of operations, for the other one; NULL: none is */
  bool device;            /* with a GPU's numerics */
} choice;

/* Whether a session's host has what the engine otherwise looks for. */
static bool host_has(const tk_session *s, const engine *x) {
  return s->compiler && x->run == tkg_launch_triton_ptx;
}

static const engine *engine_named(tk_env *e, const tk_session *s,
                                  const char *name) {
  const char *why;
  size_t i = 0;
  while (name && i < TK_COUNT(engines) && strcmp(engines[i].name, name)) i++;
  if (i == TK_COUNT(engines)) unknown_engine(e, name);
  if (!host_has(s, &engines[i]) && !tk_engine_available(i, &why)) {
    tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                "the engine '%s' is not available: %s", engines[i].name, why);
    tk_throw(e, TK_USAGE);
  }
  return &engines[i];
}

static bool records_itself(const engine *x) {
  return x->recorder && !strcmp(x->recorder, x->name);
}

/* The first other one that is available; if none is, the best one says what it
 * lacks. */
static const engine *best_engine(tk_env *e, const tk_session *s,
                                 bool pinpoint) {
  size_t i = 1;
  while (i < TK_COUNT(engines) && ((pinpoint && !records_itself(&engines[i])) ||
                                   !tk_engine_available(i, NULL)))
    i++;
  return engine_named(e, s, engines[i < TK_COUNT(engines) ? i : 1].name);
}

/* The engine that records for another one; NULL: there is none here, and a
 * witness does without. */
static const engine *recorder_of(tk_env *e, const tk_session *s,
                                 const engine *x) {
  for (size_t i = 0; i < TK_COUNT(engines) && x->witnessed; i++)
    if (!strcmp(engines[i].name, x->recorder) && !host_has(s, &engines[i]) &&
        !tk_engine_available(i, NULL))
      return NULL;
  const engine *found = engine_named(e, s, x->recorder);
  TK_ASSERT(records_itself(found)); /* engine.def */
  return found;
}

/* Whether anybody wants to be told of what the run does. */
static bool is_watched(const choice *c) {
  const tk_run_options *o = c->options;
  const char *name;
  for (size_t i = 0; (name = tk_check_name(i)); i++)
    if (tk_check_is_on(c->launch->session, name)) return true;
  for (const tk_watcher *w = c->launch->session->watchers; w; w = w->next)
    if (w->wants_interp) return true;
  return c->launch->expected.n || o->blame || o->explain || o->explain_stop ||
         o->access_line || o->against || o->form || o->shard;
}

static void choose_engines(tk_env *e, void *ud) {
  choice *c = ud;
  const tk_session *s = c->launch->session;
  c->engine = c->launch->fn->ptx ? &file_engine
                                 : engine_named(e, s, c->options->engine);
  c->device = tk_numerics_are_device(e, c->options->numerics);
  if (!c->engine->watched && is_watched(c)) {
    tk_diag *d = tk_diag_add(
        e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
        "the engine '%s' cannot be watched: detectors, "
        "debuggers, profiles, --expect, --blame, --explain, --shard "
        "and diff need the interpreter",
        c->engine->name);
    tk_diag_help(e, d, "leave them out, or use the engine 'interp'");
    tk_throw(e, TK_USAGE);
  }
  if (c->options->form) {
    c->other = &form_engine;
    TK_ASSERT(!c->options->pinpoint); /* pair.def */
    return;
  }
  const char *against = c->options->against;
  if (!against) return;
  bool best = !strcmp(against, "best");
  bool pinpoint = c->options->pinpoint;
  c->other = best ? best_engine(e, s, pinpoint) : engine_named(e, s, against);
  if (!pinpoint) return;
  if (c->other->recorder) {
    c->recorder = recorder_of(e, s, c->other);
    return;
  }
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "--explain cannot record the operations of '%s', "
                           "which runs the kernel's source",
                           c->other->name);
  tk_diag_help(e, d,
               "leave --explain out: the line that wrote the first element is "
               "named; or use the backend 'gpu' or 'ptx'");
  tk_throw(e, TK_USAGE);
}

/* ---- a run -------------------------------------------------------------- */

/* What a run had to say: findings after the first n of the report. */
static void count_findings(tk_summary *sum, const tk_session *s, size_t n) {
  size_t i = 0;
  for (const tk_diag *d = s->env.diags; d; d = d->next) {
    if (i++ < n) continue;
    sum->errors += d->f.severity == TK_SEV_ERROR;
    sum->warnings += d->f.severity == TK_SEV_WARNING;
    sum->notes += d->f.severity == TK_SEV_NOTE;
  }
}

static void write_divergence(tk_env *e, void *ud) {
  const tk_launch *l = ud;
  tk_buf b;
  tk_buf_init(&b, e);
  tk_report_divergence(&b, l->divergence);
  l->session->output(l->session->output_ud, b.s, b.n);
  tk_buf_free(&b);
}

/* Finds and tells the first operation that the engines disagree about; if the
 * other one failed there may be none. */
static tk_status pin(tk_launch *l, const tk_run_options *opt, const choice *c,
                     const tkr_against *against, uint32_t program,
                     bool failed) {
  tkr_pinning p = {.launch = l,
                   .options = opt,
                   .own = c->engine->run,
                   .other = c->recorder ? c->recorder->run : NULL,
                   .engine = c->other->name,
                   .recorder = c->recorder ? c->recorder->name : NULL,
                   .witnessed = c->other->witnessed,
                   .before = &against->memory};
  for (int i = 0; i < 3; program /= (uint32_t)l->grid[i++])
    p.program[i] = program % l->grid[i];
  TK_ASSERT(!program); /* it is one of the grid */
  tk_status st = TK_OK;
  if (c->recorder != c->other && !failed)
    st = tkr_against_unfused(against, c->other->run, opt, &p.unfused);
  if (st == TK_OK) st = tkr_pin(&p);
  bool told = !failed || (st == TK_OK && l->divergence->found);
  if (st == TK_OK && told && l->session->output && !opt->silent_answers)
    st = tk_session_guard(l->session, write_divergence, l);
  return st;
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
  choice c = {.launch = l, .options = &opt};
  size_t reported = l->session->env.ndiags;
  tk_status st = tk_session_guard(l->session, choose_engines, &c);
  if (st != TK_OK) return st;
  if (c.device) st = tkg_library_lend(l);
  if (st != TK_OK) return st;
  tkr_against against = {.launch = NULL};
  if (c.other)
    st = tkr_against_begin(
        &against, l,
        &(tkr_other){opt.form ? opt.form->form->name : c.other->name,
                     c.other->run, c.engine->run},
        &opt);
  tke_inquiry q;
  tkr_expecting x = {.launch = l};
  tke_inquiry_begin(&q, l, &opt);
  bool expecting = st == TK_OK;
  if (expecting) st = tkr_expect_begin(&x, l);
  x.judged = against.judged;
  x.first_judged = against.expected;
  summary->kernel = l->fn->item->name;
  summary->engine = c.engine->name;
  tkr_shard shard;
  tkr_shard_begin(&shard, l, &opt);
  if (st == TK_OK) st = c.engine->run(l, &opt, summary);
  tkr_shard_end(&shard);
  if (expecting) st = tkr_expect_end(&x, st, c.engine->run, &opt);
  if (st == TK_OK && opt.pinpoint && x.differs)
    st = pin(l, &opt, &c, &against, x.differing ? x.differing - 1 : 0, false);
  if (!expecting && st == TK_FINDING && opt.pinpoint && against.launch)
    pin(l, &opt, &c, &against, 0, true);
  tkr_against_end(&against);
  tke_inquiry_end(&q);
  tkg_library_return(l);
  TK_ASSERT(!l->library); /* no one else may use what was lent */
  memcpy(summary->grid, l->grid, sizeof summary->grid);
  count_findings(summary, l->session, reported);
  return st;
}
