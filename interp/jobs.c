/* jobs.c - programs of a launch that run at the same time; see jobs.h.
 */
#include "interp/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "interp/batch.h"
#include "interp/footprint.h"
#include "interp/grid.h"
#include "interp/order.h"
#include "interp/twin.h"
#include "ir/numerics.h"
#include "typing/origin.h"

/* ---- whether they may ---------------------------------------------------- */

static bool is_of_library(const tk_inst *in) {
  return tk_way_of(in) == TK_WAY_LIBRARY;
}

bool tki_jobs_need_one(const tki *t) {
  return t->device && tk_program_has(t->program, is_of_library);
}

bool tki_jobs_possible(tki *t, tki_mode mode, bool unordered) {
  tki_order_reason r = {0};
  const char *help = "leave out --jobs, or what needs the order";
  if (tki_is_watched(t)) {
    r.why = "detectors, debuggers, profiles and other observers see one "
            "program at a time";
  } else if (mode == TKI_YIELD) {
    r.why = "the schedule 'yield' decides which program runs when";
  } else if (tki_jobs_need_one(t)) {
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
  const tki_shares *shares;
  atomic_bool unsure; /* nobody will know whether threads stored apart */
} crew;

typedef struct worker {
  crew *crew;
  tki *t;
  tki own; /* what t points to, except in the worker that uses the launch's
              own */
  tk_env env;
  pthread_t thread;
  tki_batch batch; /* programs that are apart are run by it */
  tki_footprint stored;
  uint64_t at; /* the place in the order that runs */
  tk_status status;
} worker;

static void *alloc_in_turn(void *ud, void *p, size_t old, size_t size) {
  crew *c = ud;
  pthread_mutex_lock(&c->memory);
  void *q = c->alloc(c->alloc_ud, p, old, size);
  pthread_mutex_unlock(&c->memory);
  return q;
}

static void run_place(tki *t, uint64_t at) {
  uint64_t index;
  if (t->env->interrupted) tki_interrupted(t);
  if (!tki_program_at(t, at, &index)) return;
  tki_pid_of(t, index, t->pid);
  tki_program_run(t);
}

/* Runs places of the order until one is after the first that failed. */
static void run_places(worker *w, uint64_t from, uint64_t to) {
  for (w->at = from; w->at < to && w->at <= w->crew->failed; w->at++)
    run_place(w->t, w->at);
}

/* Takes some of what is left, a whole number of batches or all that is left.
 * Returns false if there is nothing, or an earlier program has failed. */
static bool take_some(crew *c, uint64_t *from, uint64_t *to) {
  uint64_t at = atomic_fetch_add(&c->next, c->chunk), first = c->shares->from;
  uint64_t least = c->shares->form ? (uint64_t)c->shares->form->size : 1;
  if (at >= c->n || at > c->failed || c->unsure) return false;
  if (at > first && c->n - at < least) return false; /* went to the last one */
  *from = at;
  *to = c->n - at < c->chunk + least ? c->n : at + c->chunk;
  return true;
}

/* Whether it is quicker to run what is left on one thread than to find out
 * where all have stored: more scattered bytes than instructions. */
static bool is_in_vain(const worker *w) {
  return w->stored.full || (tki_footprint_is_scattered(&w->stored) &&
                            w->stored.n > w->t->ops + w->batch.own.ops);
}

static void run_share(worker *w) {
  crew *c = w->crew;
  tki_schedule *s = w->t->schedule;
  uint64_t from, to;
  while (take_some(c, &from, &to)) {
    if (s->progress) s->progress(s->progress_ud, from, c->n);
    if (c->shares->apart)
      tki_batch_run(&w->batch, from, to);
    else
      run_places(w, from, to);
    if (is_in_vain(w)) c->unsure = true;
  }
  tki_footprint_settle(&w->stored);
}

static void note_failure(worker *w) {
  if (w->crew->shares->apart) w->at = w->batch.at;
  uint64_t before = w->crew->failed;
  while (w->at < before &&
         !atomic_compare_exchange_weak(&w->crew->failed, &before, w->at))
    continue;
}

static void work(tk_env *e, void *ud) {
  worker *w = ud;
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
  worker *w = ud;
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
  worker *w = ud;
  run_share(w);
  while (wait_for_workers(w->crew))
    if (e->interrupted) tki_interrupted(w->t);
}

/* ---- a launch ------------------------------------------------------------ */

/* How many programs a worker takes at a time: a whole number of batches, and of
 * rows of the grid if batches end with a row. */
static uint64_t chunk_of(const tki *t, const tki_shares *x) {
  enum { SHARES = 32, MOST = 1024 };
  uint64_t chunk = (tki_programs(t) - x->from) / (x->jobs * SHARES), unit = 1;
  chunk = chunk < 1 ? 1 : chunk > MOST ? MOST : chunk;
  if (x->form) {
    uint64_t along = (uint64_t)t->grid[x->form->axis];
    unit = (uint64_t)x->form->size;
    if (along % unit && along <= chunk) unit = along;
  }
  return (chunk + unit - 1) / unit * unit;
}

static void crew_start(crew *c, tki *t, const tki_shares *shares) {
  tk_env *e = t->env;
  *c = (crew){.alloc = e->alloc,
              .alloc_ud = e->alloc_ud,
              .n = tki_programs(t),
              .chunk = chunk_of(t, shares),
              .shares = shares};
  c->next = shares->from;
  c->failed = UINT64_MAX;
  TK_ASSERT(shares->from < c->n);
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

/* Gives a worker the interpreter that it uses. */
static void worker_begin(worker *w, crew *c, tki *t) {
  w->crew = c;
  w->t = t;
  t->turn = &c->indivisible;
  t->stored = c->shares->apart ? &w->stored : NULL;
  tki_batch_begin(&w->batch, t, c->shares->form);
}

/* Returns false if no further thread can be made: the other workers then run
 * its share. */
static bool worker_start(worker *w, crew *c, tki *t) {
  tk_env_init(&w->env, alloc_in_turn, c);
  w->env.deaf = 1;
  tki_twin_new(&w->own, t, &w->env);
  worker_begin(w, c, &w->own);
  count_worker(c, true);
  if (pthread_create(&w->thread, NULL, work_on_thread, w) == 0) return true;
  count_worker(c, false);
  return false;
}

/* Adds what a worker has done to the launch; what it found is kept only if its
 * program is the first that failed. */
static void worker_end(worker *w, tki *t, bool tells) {
  tki *own = &w->own;
  tk_env *e = &w->env;
  pthread_join(w->thread, NULL);
  TK_ASSERT(!w->own.frame || w->status != TK_OK);
  tki_batch_end(&w->batch);
  tki_footprint_free(&w->stored, e);
  tki_twin_free(own);
  t->ops += own->ops;
  t->done += own->done;
  t->env->peak += e->peak;
  if (tells)
    tk_diag_hand_over(t->env, e);
  else
    tk_diag_clear(e);
}

/* Runs the first worker here and the others on threads; returns how many there
 * are. */
static size_t run_crew(crew *c, worker *all, tki *t) {
  size_t n = 1;
  worker_begin(&all[0], c, t);
  while (n < c->shares->jobs && worker_start(&all[n], c, t)) n++;
  all[0].status = tk_protect(t->env, lead, &all[0]);
  if (all[0].status != TK_OK) note_failure(&all[0]);
  if (all[0].status == TK_INTERRUPTED) all[0].at = 0;
  for (size_t i = 1; all[0].status == TK_INTERRUPTED && i < n; i++)
    all[i].env.interrupted = 1;
  while (wait_for_workers(c)) continue;
  return n;
}

static bool stored_apart(worker *all, size_t n) {
  for (size_t i = 1; i < n; i++) all[i - 1].stored.next = &all[i].stored;
  return tki_footprints_apart(&all[0].stored);
}

/* Returns the first worker that failed in the order of the programs, or that of
 * the launch's own thread. */
static size_t first_failed(const worker *all, size_t n) {
  size_t first = 0;
  for (size_t i = 1; i < n; i++)
    if (all[i].status != TK_OK &&
        (all[first].status == TK_OK || all[i].at < all[first].at))
      first = i;
  return first;
}

bool tki_jobs_run(tki *t, const tki_shares *shares) {
  crew c;
  worker *all = tk_calloc(t->env, shares->jobs + 1, sizeof *all);
  tki_dot_open(t);
  crew_start(&c, t, shares);
  size_t n = run_crew(&c, all, t), first = first_failed(all, n);
  tk_status st = all[first].status;
  bool sure =
      st != TK_OK || !shares->apart || (!c.unsure && stored_apart(all, n));
  tk_unit *u = t->launch->unit;
  for (size_t i = 0; i < n; i++) u->diverges |= all[i].batch.failed;
  tki_batch_end(&all[0].batch);
  tki_footprint_free(&all[0].stored, t->env);
  for (size_t i = 1; i < n; i++) worker_end(&all[i], t, i == first);
  t->turn = NULL;
  t->stored = NULL;
  t->frame = NULL;
  crew_end(&c, t->env);
  tk_free(t->env, all, (shares->jobs + 1) * sizeof *all);
  if (st != TK_OK) tk_throw(t->env, st);
  return sure;
}
