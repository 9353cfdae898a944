/* run.c - launches: arguments become parameters, programs run.
 *
 * Programs run one after the other, axis 0 fastest, as the hardware hands
 * them out, or in the order asked for.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interp/bind.h"
#include "interp/engine.h"
#include "interp/jobs.h"
#include "interp/schedule.h"
#include "ir/numerics.h"
#include "ir/param.h"
#include "ir/registers.h"
#include "ir/shared.h"
#include "ir/view.h"

/* ---- parameters -------------------------------------------------------- */

static tki_val param_value(const tk_launch *l, const tk_param *p) {
  tk_param_value v = tk_param_of(l, p);
  return v.tensor ? tki_make_pointer(v.bits, (int32_t)v.index)
                  : tki_make_scalar(v.bits);
}

/* ---- running ----------------------------------------------------------- */

typedef struct run {
  tk_launch *launch;
  const tk_run_options *opt;
  tk_summary *sum;
  tki t;
  bool prepared;
  struct timespec start, said;
} run;

static double seconds_since(const struct timespec *from) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - from->tv_sec) +
         (double)(now.tv_nsec - from->tv_nsec) * 1e-9;
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

/* Compiles the launch for its arguments and fills the run: regions, parameters,
 * options.  What it has allocated is freed by clean_up, even if it throws. */
static void prepare_run(tk_env *e, run *r) {
  tki *t = &r->t;
  tk_launch *l = r->launch;
  check_grid(e, l);
  tk_unit *u = l->unit = tk_specialise(e, l);
  const tk_program *p = &u->program;
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
             .concrete = getenv("TKDBG_CONCRETE") != NULL};
  memcpy(t->grid, l->grid, sizeof t->grid);
  tk_buf_init(&t->printed, e);
  r->prepared = true;
  read_options(e, r, (uint64_t)(l->grid[0] * l->grid[1] * l->grid[2]));
  tki_regions_new(t);
  t->nparams = p->nparams;
  t->params = tk_calloc(e, t->nparams + 1, sizeof *t->params);
  for (size_t i = 0; i < t->nparams; i++)
    t->params[i] = param_value(l, &p->params[i]);
  t->nslots = p->kernel->nslots;
  t->slots = tk_calloc(e, t->nslots + 1, sizeof *t->slots);
}

static void progress(void *ud, uint64_t done, uint64_t total) {
  run *r = ud;
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
  tki_settle(t);
  size_t jobs = r->opt->jobs;
  if (jobs > 1 && !tki_jobs_possible(t, mode, r->opt->unordered)) jobs = 1;
  e->deaf++; /* statements look for interruptions, and debuggers answer them */
  if (t->driver)
    t->driver->run(t->driver->ud, t);
  else if (jobs > 1 && tki_programs(t) > 1)
    tki_jobs_run(t, jobs);
  else
    tki_schedule_run(t);
}

typedef struct ending {
  run *r;
  tk_watcher *w;
  tk_status st;
} ending;

static void end_one(tk_env *e, void *ud) {
  ending *x = ud;
  (void)e;
  x->w->end(x->w->ud, &x->r->t, x->st);
}

/* Those who watched the run may still have something to report. */
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
  tki_schedule_free(t);
  tki_pool_free(t);
  tk_buf_free(&t->printed);
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
  /* Ended: what has been seen is still told.  A server leaves for good. */
  if (st == TK_INTERRUPTED && !r.t.driver) e->interrupted = 0;
  r.sum->programs = r.t.done;
  st = detach(&r, st);
  r.sum->peak_bytes = e->peak - held;
  r.sum->ops = r.t.ops;
  clean_up(e, &r);
  r.sum->seconds = seconds_since(&r.start) - r.t.waited;
  return st;
}

/* ---- without running --------------------------------------------------- */

static void compile(tk_env *e, void *ud) {
  tk_launch *l = ud;
  l->unit = tk_specialise(e, l);
}

tk_status tk_launch_compile(tk_launch *l) {
  return tk_session_guard(l->session, compile, l);
}

static void print_ir(tk_env *e, void *ud) {
  tk_launch *l = ud;
  compile(e, ud);
  tk_buf_clear(&l->text);
  const tk_unit *u = l->unit;
  tk_program_print(&l->text, &u->program);
}

const char *tk_launch_ir(tk_launch *l) {
  tk_status st = tk_session_guard(l->session, print_ir, l);
  return st == TK_OK ? tk_buf_str(&l->text) : NULL;
}

typedef struct resources_job {
  tk_launch *launch;
  int arch;
  size_t bytes;
  size_t scratch;
  int registers, most;
  tk_arena arena; /* of the estimates */
} resources_job;

static void estimate_resources(tk_env *e, void *ud) {
  resources_job *j = ud;
  compile(e, j->launch);
  const tk_unit *u = j->launch->unit;
  j->bytes = tk_program_shared(&j->arena, &u->program, j->arch);
  j->registers = tk_program_registers(&j->arena, &u->program);
  j->most = tk_most_registers(&u->program);
}

static void count_scratch(tk_env *e, void *ud) {
  resources_job *j = ud;
  compile(e, j->launch);
  const tk_unit *u = j->launch->unit;
  j->scratch = tk_program_scratch(&j->arena, &u->program, j->arch);
}

static resources_job resources_of(tk_launch *l, int arch,
                                  void (*ask)(tk_env *e, void *ud)) {
  resources_job j = {.launch = l, .arch = arch};
  tk_arena_init(&j.arena, &l->session->env);
  tk_session_guard(l->session, ask, &j);
  tk_arena_free(&j.arena);
  return j;
}

size_t tk_launch_scratch(tk_launch *l, int arch) {
  return resources_of(l, arch, count_scratch).scratch;
}

void tk_launch_resources(tk_launch *l, int arch, size_t *shared, int *registers,
                         int *most) {
  resources_job j = resources_of(l, arch, estimate_resources);
  *shared = j.bytes;
  *registers = j.registers;
  *most = j.most;
}

const tk_ir *tk_launch_form(tk_launch *l) {
  if (tk_launch_compile(l) != TK_OK) return NULL;
  const tk_unit *u = l->unit;
  return tk_program_view(&u->program);
}
