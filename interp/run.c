/* run.c - the run of a launch: from its options and arguments to its end.
 *
 * The launch is specialised, its program bound to what executes it, and the
 * arguments become values of the kernel's parameters.  Those who watch the
 * session attach themselves; then the schedule, several threads or a debugger
 * run the programs.  However the run ends, those who watched it are told, and
 * what it held is freed.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interp/bind.h"
#include "interp/engine.h"
#include "interp/jobs.h"
#include "interp/programs.h"
#include "ir/numerics.h"
#include "ir/param.h"

typedef struct run {
  tk_launch *launch;
  const tk_run_options *opt;
  tk_summary *sum;
  tki t;
  bool prepared;               /* t is complete enough to be cleaned up */
  struct timespec start, said; /* when it began; when progress was shown */
} run;

static double seconds_since(const struct timespec *from) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - from->tv_sec) +
         (double)(now.tv_nsec - from->tv_nsec) * 1e-9;
}

/* ---- before the first program -------------------------------------------- */

static tki_val param_value(const tki *t, const tk_param *p) {
  tk_param_value v = tk_param_of(t->launch, p);
  TK_ASSERT(!v.tensor || v.index < t->nregions);
  return v.tensor ? tki_make_pointer(v.bits, (int32_t)v.index)
                  : tki_make_scalar(v.bits);
}

static void check_grid(tk_env *e, const tk_launch *l) {
  static const int64_t limit[3] = {INT32_MAX, 65535, 65535};
  for (int i = 0; i < 3; i++) {
    if (l->grid[i] >= 0 && l->grid[i] <= limit[i]) continue;
    tk_diag *d =
        tk_diag_add(e, TK_D_LAUNCH, NULL, (tk_span){0, 0},
                    "grid axis %d has %lld programs", i, (long long)l->grid[i]);
    tk_diag_help(e, d, "CUDA allows 0 to %lld", (long long)limit[i]);
    tk_throw(e, TK_USAGE);
  }
}

static void read_options(tk_env *e, run *r, uint64_t total) {
  const tk_run_options *o = r->opt;
  const char *order = o->order ? o->order : "serial";
  const char *pids = o->pids ? o->pids : "";
  tk_part p = {0, 1};
  if (o->shard) p = tk_part_parse(e, o->shard);
  uint64_t first = tk_part_first(p.part, p.parts, total);
  total = tk_part_first(p.part + 1, p.parts, total) - first;
  if (!tk_pids_parse(e, pids, strlen(pids), &r->t.pids) ||
      !tk_order_parse(e, order, total, &r->t.order))
    tk_throw(e, TK_USAGE);
  r->t.order.first = first;
  bool exact = o->dot && !strcmp(o->dot, "exact");
  if (o->dot && !exact && strcmp(o->dot, "blas")) {
    tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                "unknown way to sum products '%s': it must be blas or "
                "exact",
                o->dot);
    tk_throw(e, TK_USAGE);
  }
  r->t.dot_exact = exact;
  r->t.asserts = !o->no_asserts;
}

/* Specialises the launch for its arguments and fills in the run.  Whatever has
 * been allocated when it throws, clean_up frees. */
static void prepare_run(tk_env *e, run *r) {
  tki *t = &r->t;
  tk_launch *l = r->launch;
  TK_ASSERT(!r->prepared);
  check_grid(e, l);
  tk_unit *u = l->unit = tk_specialise(e, l);
  const tk_program *p = &u->program;
  tk_language_speak(e, p->language);
  bool device = tk_numerics_are_device(e, r->opt->numerics);
  if (!u->settled) u->settled = tki_settled_new(&u->program.arena, p);
  if (!u->code[device])
    u->code[device] = tki_bind(&u->program.arena, p, u->settled, device);
  *t = (tki){.env = e,
             .session = l->session,
             .launch = l,
             .program = p,
             .code = u->code[device],
             .settled = u->settled,
             .device = device,
             .concrete = getenv("TKDBG_CONCRETE") != NULL,
             .batched = getenv("TKDBG_BATCHED") != NULL};
  memcpy(t->grid, l->grid, sizeof t->grid);
  tk_buf_init(&t->printed, e);
  tk_buf_init(&t->element, e);
  r->prepared = true;
  read_options(e, r, (uint64_t)(l->grid[0] * l->grid[1] * l->grid[2]));
  tki_regions_new(t);
  t->nparams = p->nparams;
  t->params = tk_calloc(e, t->nparams + 1, sizeof *t->params);
  for (size_t i = 0; i < t->nparams; i++)
    t->params[i] = param_value(t, &p->params[i]);
  t->nslots = p->kernel->nslots;
  t->slots = tk_calloc(e, t->nslots + 1, sizeof *t->slots);
}

/* ---- programs ------------------------------------------------------------ */

/* Shows the progress, but at most twenty times in a second. */
static void progress(void *ud, uint64_t done, uint64_t total) {
  run *r = ud;
  TK_ASSERT(done <= total);
  if (seconds_since(&r->said) < 0.05) return;
  clock_gettime(CLOCK_MONOTONIC, &r->said);
  r->opt->progress(r->opt->progress_ud, done, total);
}

void tki_attach(tki *t) {
  tki_unwatch(t);
  t->event = &t->events;
  t->wanted_event = 0;
  for (tk_watcher *w = t->session->watchers; w; w = w->next)
    if (w->begin) w->begin(w->ud, t);
}

static void run_all(tk_env *e, void *ud) {
  run *r = ud;
  tki *t = &r->t;
  tki_mode mode;
  prepare_run(e, r);
  if (!tki_mode_parse(e, r->opt->schedule, &mode)) tk_throw(e, TK_USAGE);
  tki_schedule_new(t, mode);
  if (r->opt->progress) {
    t->schedule->progress = progress;
    t->schedule->progress_ud = r;
  }
  tki_attach(t);
  TK_ASSERT(!t->frame && !t->done);
  tki_settle(t);
  /* Statements look for interruptions themselves, and debuggers answer them:
   * allocating must not end the run before they can. */
  e->deaf++;
  size_t jobs = r->opt->jobs;
  if (jobs > 1 && !tki_jobs_possible(t, mode, r->opt->unordered)) jobs = 1;
  if (t->driver)
    t->driver->run(t->driver->ud, t);
  else
    tki_programs_run(t, mode, jobs);
}

/* ---- after the last ------------------------------------------------------ */

typedef struct ending {
  run *r;
  tk_watcher *w;
  tk_status st;
} ending;

static void end_one(tk_env *e, void *ud) {
  ending *x = ud;
  TK_ASSERT(e == x->r->t.env);
  x->w->end(x->w->ud, &x->r->t, x->st);
}

/* Tells those who watched the run that it is over; they may still have
 * something to report. */
static tk_status detach(run *r, tk_status st) {
  tk_session *s = r->launch->session;
  for (tk_watcher *w = s->watchers; w && r->prepared; w = w->next) {
    ending x = {r, w, st};
    tk_status after = w->end ? tk_session_guard(s, end_one, &x) : TK_OK;
    if (st == TK_OK) st = after;
  }
  return st;
}

static void clean_up(tk_env *e, run *r) {
  if (!r->prepared) return;
  tki *t = &r->t;
  TK_ASSERT(!t->turn); /* every thread has ended */
  tki_schedule_free(t);
  tki_pool_free(t);
  tk_buf_free(&t->printed);
  tk_buf_free(&t->element);
  if (t->sites)
    tk_free(e, t->sites, (t->program->ninsts + 1) * sizeof *t->sites);
  tki_regions_free(t);
  if (t->measured)
    tk_free(e, t->measured, (t->program->ninsts + 1) * sizeof *t->measured);
  if (t->marked) tk_free(e, t->marked, t->program->nstmts + 1);
  tk_free(e, t->params, (t->nparams + 1) * sizeof *t->params);
  tk_free(e, t->slots, (t->nslots + 1) * sizeof *t->slots);
}

tk_status tki_launch_run(tk_launch *l, const tk_run_options *options,
                         tk_summary *summary) {
  tk_env *e = &l->session->env;
  run r = {.launch = l, .opt = options, .sum = summary};
  int deaf = e->deaf;
  e->interrupted = 0;
  size_t held = e->held;
  e->peak = held;
  clock_gettime(CLOCK_MONOTONIC, &r.start);
  r.said = r.start;
  tk_status st = tk_session_guard(l->session, run_all, &r);
  e->deaf = deaf;
  /* An interrupted run has ended, and those who watched it still report what
   * they have seen.  Under a debugger the interruption stands, so that a server
   * leaves for good. */
  if (st == TK_INTERRUPTED && !r.t.driver) e->interrupted = 0;
  r.sum->programs = r.t.done;
  if (!r.prepared && st == TK_FINDING) tk_launch_refused(l);
  st = detach(&r, st);
  TK_ASSERT(e->peak >= held);
  r.sum->peak_bytes = e->peak - held;
  r.sum->ops = r.t.ops;
  clean_up(e, &r);
  tk_language_speak(e, TK_LANGUAGE_TRITON);
  r.sum->seconds = seconds_since(&r.start) - r.t.waited;
  return st;
}
