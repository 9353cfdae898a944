/* programs.c - all programs of a launch that nobody drives; see programs.h. */
#include "interp/programs.h"

#include <sched.h>
#include <time.h>

#include "interp/apart.h"
#include "interp/batch.h"
#include "interp/grid.h"
#include "interp/jobs.h"
#include "typing/origin.h"

/* How long a launch runs on one thread before anybody thinks of more; and how
 * long each of them must have to do, so that making it is worth it. */
#define ALONE 300e-6
#define SHARE 200e-6

/* More threads than that have not been measured. */
enum { MOST_JOBS = 256 };

typedef struct plan {
  tki *t;
  size_t jobs;
  tki_shares shares;
  tki_batch batch; /* runs programs that are apart here */
} plan;

static size_t processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  return (size_t)CPU_COUNT(&set);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs some programs, each time as many again, until it is known how long they
 * take.  Returns how many threads are worth it for those that are left. */
static size_t run_some(plan *x) {
  uint64_t n = tki_programs(x->t), done = 0;
  uint64_t some = x->shares.form ? (uint64_t)x->shares.form->size : 1;
  double begin = now(), took = 0;
  while (done < n && took < ALONE) {
    if (some > n - done) some = n - done;
    tki_batch_run(&x->batch, done, done + some);
    took = now() - begin;
    done += some;
    some = done;
  }
  x->shares.from = done;
  if (x->batch.failed) x->shares.form = NULL;
  if (done == n) return 1;
  double left = took / (double)done * (double)(n - done);
  size_t jobs = processors(), worth = (size_t)(left / SHARE);
  return worth < jobs ? worth : jobs;
}

/* Programs that are apart. */
static void run_apart(tk_env *e, void *ud) {
  plan *x = ud;
  tki *t = x->t;
  tk_unit *u = t->launch->unit;
  uint64_t n = tki_programs(t), ops = t->ops;
  (void)e;
  if (!x->jobs) x->jobs = run_some(x);
  if (x->jobs > n - x->shares.from) x->jobs = n - x->shares.from;
  if (x->jobs > 1) {
    x->shares.jobs = x->jobs;
    if (tki_jobs_run(t, &x->shares)) return;
    u->overlaps = true;
    t->ops = ops;
    t->done = x->shares.from;
  }
  tki_batch_run(&x->batch, x->shares.from, n);
}

static void run_all_apart(plan *x) {
  tki_batch_begin(&x->batch, x->t, x->shares.form);
  tk_status st = tk_protect(x->t->env, run_apart, x);
  tk_unit *u = x->t->launch->unit;
  u->diverges |= x->batch.failed;
  tki_batch_end(&x->batch);
  if (st != TK_OK) tk_throw(x->t->env, st);
}

void tki_programs_run(tki *t, tki_mode mode, size_t jobs) {
  plan x = {.t = t, .jobs = jobs < MOST_JOBS ? jobs : MOST_JOBS};
  const tk_unit *u = t->launch->unit;
  uint64_t n = tki_programs(t);
  const tk_varying *v = n > 1 ? tki_apart(t, mode) : NULL;
  bool in_order = v && v->atomics;
  if (in_order && jobs > 1) v = NULL;
  t->lends = v && !t->concrete;
  if (v) x.shares.form = tki_batch_form(t, v);
  x.shares.apart = v != NULL;
  if (!jobs && (!v || in_order || u->overlaps || tki_jobs_need_one(t)))
    x.jobs = 1;
  if (v && (x.jobs != 1 || x.shares.form)) {
    run_all_apart(&x);
  } else if (x.jobs > 1 && n > 1) {
    x.shares.jobs = x.jobs < n ? x.jobs : n;
    tki_jobs_run(t, &x.shares);
  } else {
    tki_schedule_run(t);
  }
}
