/* jobs.c - programs of a launch that run at the same time; see jobs.h.
 */
#include "interp/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "interp/grid.h"
#include "interp/order.h"
#include "interp/twin.h"
#include "ir/numerics.h"

/* ---- whether they may ---------------------------------------------------- */

static bool is_of_library(const tk_inst *in) {
  return tk_way_of(in) == TK_WAY_LIBRARY;
}

bool tki_jobs_possible(tki *t, tki_mode mode, bool unordered) {
  tki_order_reason r = {0};
  const char *help = "leave out --jobs, or what needs the order";
  if (tki_is_watched(t)) {
    r.why = "detectors, debuggers, profiles and other observers see one "
            "program at a time";
  } else if (mode == TKI_YIELD) {
    r.why = "the schedule 'yield' decides which program runs when";
  } else if (t->device && tk_program_has(t->program, is_of_library)) {
    r.why = "functions of libdevice run in the PTX interpreter, for one "
            "program at a time";
  } else if (!tki_order_find(t->program, unordered ? TKI_ORDER_ATOMICS : 0,
                             &r)) {
    return true;
  } else if (!r.waits && !unordered) {
    help = "if their order does not matter, say so with --unordered";
  }
  tk_diag *d = tk_diag_add(t->env, TK_D_SERIAL, r.src, r.span,
                           "the programs run one after the other: %s", r.why);
  tk_diag_help(t->env, d, "%s", help);
  return false;
}

/* ---- threads ------------------------------------------------------------- */

typedef struct crew {
  tk_alloc_fn alloc; /* the session's: it may serve one thread at a time */
  void *alloc_ud;
  pthread_mutex_t memory, indivisible, count;
  pthread_cond_t ended;
  size_t running;          /* workers that have not ended; under `count` */
  _Atomic uint64_t next;   /* the first place in the order that no worker has
                              taken */
  _Atomic uint64_t failed; /* the first place that failed */
  uint64_t n, chunk;
} crew;

struct tki_worker {
  crew *crew;
  tki *t;
  tki own; /* what t points to, except in the worker that uses the launch's
              own */
  tk_env env;
  pthread_t thread;
  uint64_t at; /* the place in the order that runs */
  tk_status status;
};

static void *alloc_in_turn(void *ud, void *p, size_t old, size_t size) {
  crew *c = ud;
  pthread_mutex_lock(&c->memory);
  void *q = c->alloc(c->alloc_ud, p, old, size);
  pthread_mutex_unlock(&c->memory);
  return q;
}

void tki_jobs_lock(tki *t) {
  if (t->worker) pthread_mutex_lock(&t->worker->crew->indivisible);
}

void tki_jobs_unlock(tki *t) {
  if (t->worker) pthread_mutex_unlock(&t->worker->crew->indivisible);
}

static void run_place(tki *t, uint64_t at) {
  uint64_t index;
  if (t->env->interrupted) tki_interrupted(t);
  if (!tki_program_at(t, at, &index)) return;
  tki_pid_of(t, index, t->pid);
  tki_program_run(t);
}

/* Takes programs until there are none, or an earlier one has failed. */
static void run_share(tki_worker *w) {
  crew *c = w->crew;
  tki_schedule *s = w->t->schedule;
  uint64_t at, end;
  while ((at = atomic_fetch_add(&c->next, c->chunk)) < c->n) {
    if (s->progress) s->progress(s->progress_ud, at, c->n);
    end = c->n - at < c->chunk ? c->n : at + c->chunk;
    for (w->at = at; w->at < end; w->at++) {
      if (w->at > c->failed) return;
      run_place(w->t, w->at);
    }
  }
}

static void note_failure(tki_worker *w) {
  uint64_t before = w->crew->failed;
  while (w->at < before &&
         !atomic_compare_exchange_weak(&w->crew->failed, &before, w->at))
    continue;
}

static void work(tk_env *e, void *ud) {
  tki_worker *w = ud;
  TK_ASSERT(w->t->env == e);
  tki_twin_open(w->t);
  run_share(w);
}

/* Counts a worker that begins or ends; other workers may end at the same
 * time. */
static void count_worker(crew *c, bool begins) {
  pthread_mutex_lock(&c->count);
  TK_ASSERT(begins || c->running);
  c->running = begins ? c->running + 1 : c->running - 1;
  if (!begins) pthread_cond_signal(&c->ended);
  pthread_mutex_unlock(&c->count);
}

static void *work_on_thread(void *ud) {
  tki_worker *w = ud;
  crew *c = w->crew;
  w->status = tk_protect(&w->env, work, w);
  if (w->status != TK_OK) note_failure(w);
  count_worker(c, false);
  return NULL;
}

/* Returns whether workers are still running after a while, or when one ends. */
static bool wait_for_workers(crew *c) {
  enum { WHILE = 20 * 1000 * 1000 };
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += WHILE;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&c->count);
  if (c->running) pthread_cond_timedwait(&c->ended, &c->count, &until);
  bool running = c->running != 0;
  pthread_mutex_unlock(&c->count);
  return running;
}

/* The launch's own thread runs its share of the programs, then handles
 * interrupts until all workers have ended. */
static void lead(tk_env *e, void *ud) {
  tki_worker *w = ud;
  run_share(w);
  while (wait_for_workers(w->crew))
    if (e->interrupted) tki_interrupted(w->t);
}

/* ---- a launch ------------------------------------------------------------ */

static void crew_start(crew *c, tki *t, size_t jobs) {
  tk_env *e = t->env;
  enum { SHARES = 32, MOST = 1024 };
  uint64_t n = tki_programs(t), chunk = n / (jobs * SHARES);
  *c = (crew){.alloc = e->alloc, .alloc_ud = e->alloc_ud, .n = n};
  c->failed = UINT64_MAX;
  TK_ASSERT(jobs && n); /* one program is run without threads */
  c->chunk = chunk < 1 ? 1 : chunk > MOST ? MOST : chunk;
  pthread_mutex_init(&c->memory, NULL);
  pthread_mutex_init(&c->indivisible, NULL);
  pthread_mutex_init(&c->count, NULL);
  pthread_cond_init(&c->ended, NULL);
  e->alloc = alloc_in_turn;
  e->alloc_ud = c;
}

static void crew_end(crew *c, tk_env *e) {
  TK_ASSERT(!c->running && e->alloc_ud == c);
  e->alloc = c->alloc;
  e->alloc_ud = c->alloc_ud;
  pthread_mutex_destroy(&c->memory);
  pthread_mutex_destroy(&c->indivisible);
  pthread_mutex_destroy(&c->count);
  pthread_cond_destroy(&c->ended);
}

/* Returns false if no further thread can be made: the other workers then run
 * its share. */
static bool worker_start(tki_worker *w, crew *c, tki *t) {
  w->crew = c;
  w->t = &w->own;
  tk_env_init(&w->env, alloc_in_turn, c);
  w->env.deaf = 1;
  tki_twin_new(&w->own, t, &w->env);
  w->own.worker = w;
  count_worker(c, true);
  if (pthread_create(&w->thread, NULL, work_on_thread, w) == 0) return true;
  count_worker(c, false);
  return false;
}

/* Adds what a worker has done to the launch; what it found is kept only if its
 * program is the first that failed. */
static void worker_end(tki_worker *w, tki *t, bool tells) {
  tki *own = &w->own;
  tk_env *e = &w->env;
  pthread_join(w->thread, NULL);
  TK_ASSERT(!w->own.frame || w->status != TK_OK);
  tki_twin_free(own);
  t->ops += own->ops;
  t->done += own->done;
  t->env->peak += e->peak;
  if (tells)
    tk_diag_hand_over(t->env, e);
  else
    tk_diag_clear(e);
}

void tki_jobs_run(tki *t, size_t jobs) {
  crew c;
  enum { MOST = 256 };
  if (jobs > tki_programs(t)) jobs = tki_programs(t);
  if (jobs > MOST) jobs = MOST;
  tki_worker *all = tk_calloc(t->env, jobs + 1, sizeof *all);
  size_t n = 1, first = 0;
  tki_dot_open(t);
  crew_start(&c, t, jobs);
  all[0] = (tki_worker){.crew = &c, .t = t};
  t->worker = &all[0];
  while (n < jobs && worker_start(&all[n], &c, t)) n++;
  all[0].status = tk_protect(t->env, lead, &all[0]);
  if (all[0].status == TK_INTERRUPTED) all[0].at = 0;
  if (all[0].status != TK_OK) note_failure(&all[0]);
  for (size_t i = 1; all[0].status == TK_INTERRUPTED && i < n; i++)
    all[i].env.interrupted = 1;
  while (wait_for_workers(&c)) continue;
  for (size_t i = 1; i < n; i++)
    if (all[i].status != TK_OK &&
        (all[first].status == TK_OK || all[i].at < all[first].at))
      first = i;
  for (size_t i = 1; i < n; i++) worker_end(&all[i], t, i == first);
  t->worker = NULL;
  t->frame = NULL;
  crew_end(&c, t->env);
  tk_status st = all[first].status;
  tk_free(t->env, all, (jobs + 1) * sizeof *all);
  if (st != TK_OK) tk_throw(t->env, st);
}
