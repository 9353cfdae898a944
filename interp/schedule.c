/* schedule.c - who goes on, and the loop of the plain run.
 *
 * Everything follows from the order of the programs and from what they do, so
 * the same launch always runs the same way, whoever drives it.  The plain run
 * has the program that leads on its own stack: while that one gives way, the
 * loop that runs the others stands on top of it.
 */
#include "interp/schedule.h"
#include "interp/grid.h"
#include "interp/site.h"

#include <string.h>

#include "base/assert.h"

enum { FIRST_LOOK = 16, RARELY = 1024, SMALL_REGION = 4 << 20, SPREAD = 64 };

bool tki_mode_parse(tk_env *e, const char *text, tki_mode *out) {
  static const char *const names[] = {"auto", "serial", "yield"};
  for (size_t i = 0; i < TK_COUNT(names); i++) {
    if (text && strcmp(text, names[i]) != 0) continue;
    *out = (tki_mode)i;
    return true;
  }
  tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
              "unknown schedule '%s': it must be auto, serial or yield", text);
  return false;
}

/* ---- kernels that can wait --------------------------------------------- */

static bool reads_nothing(void *ud, const tk_at *at, const tk_inst *in) {
  (void)ud, (void)at;
  return in->op != TK_I_LOAD && in->op != TK_I_ATOMIC && in->op != TK_I_CAS &&
         in->op != TK_I_CALL;
}

static bool never_waits(void *ud, const tk_at *at) {
  const tk_walk reading = {.inst = reads_nothing};
  if (at->stmt->kind != TK_S_WHILE ||
      tk_walk_stmt(at->func, at->stmt, &reading))
    return true;
  *(tk_at *)ud = *at;
  return false;
}

bool tki_schedule_waits_at(const tk_program *p, tk_at *at) {
  return !tk_walk_program(p, &(tk_walk){.ud = at, .stmt = never_waits});
}

/* ---- who wrote what ---------------------------------------------------- */

static void note_writers(tki *t, tki_schedule *s) {
  s->writers = tk_calloc(t->env, t->nregions + 1, sizeof *s->writers);
  for (size_t i = 0; i < t->nregions; i++) {
    uint64_t bytes = t->regions[i].hi - t->regions[i].lo;
    tki_writers *w = &s->writers[i];
    if (!t->regions[i].tensor || bytes > SMALL_REGION) continue;
    w->n = bytes / 4 + 1;
    w->last = tk_calloc(t->env, 2 * w->n, sizeof *w->last);
    w->before = w->last + w->n;
  }
  t->wants_writes = true;
}

void tki_schedule_access(tki_schedule *s, const tki_access *a) {
  if (!a->write || !s->writers) return;
  a->t->yields |= s->mode == TKI_YIELD && a->in->op != TK_I_STORE;
  tki_writer now = {(uint32_t)tki_program_index(a->t) + 1, tki_site(a->t)};
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    const tki_region *r = tki_access_region(a, i);
    tki_writers *w = &s->writers[r - a->t->regions];
    if (w->n && !tki_access_alters(a, i)) continue;
    uint64_t at = a->addr[i] - r->lo;
    for (uint64_t k = at / 4; w->n && k <= (at + a->size - 1) / 4; k++) {
      if (w->last[k].program != now.program) w->before[k] = w->last[k];
      w->last[k] = now;
    }
  }
}

/* ---- schedules --------------------------------------------------------- */

void tki_schedule_new(tki *t, tki_mode mode) {
  tki_schedule *s = tk_calloc(t->env, 1, sizeof *s);
  t->schedule = s;
  s->t = t;
  s->mode = mode;
  s->last = &s->tasks;
  s->on_stack = (tki_task){.t = t, .own = &s->main};
  tk_at at;
  s->spins_possible = tki_schedule_waits_at(t->program, &at);
  if (s->spins_possible || mode == TKI_YIELD) note_writers(t, s);
}

void tki_schedule_restart(tki_schedule *s, uint64_t place, size_t nahead) {
  for (tki_task *k = s->tasks, *next; k; k = next) {
    next = k->next;
    if (k != &s->on_stack) tki_task_free(k);
  }
  TK_ASSERT(nahead <= s->cap_ahead);
  s->tasks = s->lead = s->next = NULL;
  s->last = &s->tasks;
  s->nleft = 0;
  s->phase = TKI_IN_ORDER;
  s->at = place;
  s->nahead = nahead;
  s->any = false;
  s->main.waits = false;
  s->t->yields = false;
}

void tki_schedule_reset(tki *t) {
  tki_schedule_restart(t->schedule, 0, 0);
}

void tki_schedule_free(tki *t) {
  tki_schedule *s = t->schedule;
  if (!s) return;
  tki_schedule_reset(t);
  tki_spin_free(t->env, &s->main);
  tk_free(t->env, s->ahead, s->cap_ahead * sizeof *s->ahead);
  for (size_t i = 0; s->writers && i < t->nregions; i++) {
    tki_writers *w = &s->writers[i];
    if (w->n) tk_free(t->env, w->last, 2 * w->n * sizeof *w->last);
  }
  if (s->writers)
    tk_free(t->env, s->writers, (t->nregions + 1) * sizeof *s->writers);
  if (s->spins.arena.env) tk_arena_free(&s->spins.arena);
  tk_free(t->env, s, sizeof *s);
  t->schedule = NULL;
}

/* ---- programs that have begun ------------------------------------------- */

static bool began_ahead(const tki_schedule *s, uint64_t index) {
  for (size_t i = 0; i < s->nahead; i++)
    if (s->ahead[i] == index) return true;
  return false;
}

tki_task *tki_schedule_task(const tki_schedule *s, uint64_t index) {
  tki_task *k = s->tasks;
  while (k && k->index != index) k = k->next;
  return k;
}

bool tki_schedule_has_begun(tki_schedule *s, uint64_t index) {
  uint64_t at;
  if (began_ahead(s, index)) return true;
  for (uint64_t i = 0; i < s->at; i++)
    if (tki_program_at(s->t, i, &at) && at == index) return true;
  return false;
}

bool tki_schedule_is_blocked(const tki_task *k) {
  return k->own->waits && tki_spin_same(k->t, k->own);
}

tki_task *tki_schedule_blocked(const tki_schedule *s) {
  tki_task *k = s->tasks;
  while (k && !tki_schedule_is_blocked(k)) k = k->next;
  return k;
}

static bool is_listed(const tki_schedule *s, const tki_task *task) {
  const tki_task *k = s->tasks;
  while (k && k != task) k = k->next;
  return k != NULL;
}

static void start_round(tki_schedule *s) {
  s->phase = TKI_IN_ROUND;
  s->next = s->tasks;
  s->any = false;
}

static void set_left(tki_schedule *s, tki_task *k, uint64_t left) {
  s->nleft += (left != 0) - (size_t)(k->left != 0);
  k->left = left;
}

/* The program of a task is done. */
static void task_remove(tki_schedule *s, tki_task *k) {
  tki_task **at = &s->tasks;
  TK_ASSERT(is_listed(s, k));
  TK_ASSERT(!k->frame || k->status != TK_OK);
  while (*at != k) at = &(*at)->next;
  *at = k->next;
  if (s->last == &k->next) s->last = at;
  set_left(s, k, 0);
  if (s->next == k) s->next = k->next;
  if (s->lead != k) return;
  s->lead = NULL;
  if (s->phase == TKI_LEADS) start_round(s);
}

/* ---- who goes on -------------------------------------------------------- */

/* The next program in the order that has not begun. */
static bool next_in_order(tki_schedule *s, uint64_t *index) {
  for (; s->at < tki_programs(s->t); s->at++) {
    if (tki_program_at(s->t, s->at, index) && !began_ahead(s, *index))
      return true;
    tk_check_interrupt(s->t->env);
  }
  return false;
}

/* Returns the task that the user left last and that did not give way. */
static tki_task *left_last(const tki_schedule *s) {
  tki_task *found = NULL;
  for (tki_task *k = s->nleft ? s->tasks : NULL; k; k = k->next)
    if (k->left && (!found || k->left > found->left)) found = k;
  return found;
}

/* Returns the task that waits, if the schedule is SERIAL: then nobody else
 * runs. */
static tki_task *waits_for_ever(const tki_schedule *s) {
  tki_task *k = s->mode == TKI_SERIAL ? s->tasks : NULL;
  while (k && !k->own->waits) k = k->next;
  return k;
}

/* All that have begun have had their turn in this round.  Returns false if it
 * has only changed the phase; the caller then asks again. */
static bool decide_behind_all(tki_schedule *s, tki_step *x) {
  uint64_t index;
  bool any = s->any;
  if (s->lead && s->lead->own->waits && !tki_schedule_is_blocked(s->lead)) {
    *x = (tki_step){TKI_RESUME, s->lead, 0};
    return true;
  }
  if (s->lead || next_in_order(s, &index)) {
    s->phase = s->lead ? TKI_ONE_MORE : TKI_IN_ORDER;
    return false;
  }
  start_round(s);
  *x = (tki_step){.kind = s->tasks ? TKI_STUCK : TKI_FINISHED};
  return !any || !s->tasks;
}

/* The program that began after the round has had its turn. */
static bool decide_behind_one(tki_schedule *s, tki_step *x) {
  bool any = s->any;
  if (!s->lead) {
    s->phase = TKI_IN_ORDER;
    return false;
  }
  if (!tki_schedule_is_blocked(s->lead)) {
    *x = (tki_step){TKI_RESUME, s->lead, 0};
    return true;
  }
  start_round(s);
  *x = (tki_step){.kind = TKI_STUCK};
  return !any;
}

static bool decide_in_round(tki_schedule *s, tki_step *x) {
  while (s->next && (s->next == s->lead || tki_schedule_is_blocked(s->next)))
    s->next = s->next->next;
  if (!s->next) return decide_behind_all(s, x);
  *x = (tki_step){TKI_RESUME, s->next, 0};
  return true;
}

/* The lead has given way. */
static void start_others(tki_schedule *s) {
  TK_ASSERT(s->lead);
  start_round(s);
  s->spread = 0;
  for (tki_task *k = s->tasks; k; k = k->next) s->spread += k != s->lead;
  if (s->mode == TKI_YIELD) s->phase = TKI_SPREADS;
}

/* Decides what is next; returns false if only the phase has changed. */
static bool decide(tki_schedule *s, tki_step *x) {
  *x = (tki_step){.kind = TKI_BEGIN};
  switch (s->phase) {
  case TKI_IN_ORDER:
    TK_ASSERT(!s->lead);
    if (next_in_order(s, &x->index)) return true;
    start_round(s);
    return false;
  case TKI_LEADS: start_others(s); return false;
  case TKI_SPREADS:
    if (s->spread < SPREAD && next_in_order(s, &x->index)) return true;
    start_round(s);
    return false;
  case TKI_ONE_MORE:
    if (s->lead && next_in_order(s, &x->index)) return true;
    s->phase = TKI_BEHIND;
    return false;
  case TKI_BEHIND: return decide_behind_one(s, x);
  case TKI_IN_ROUND: break;
  }
  return decide_in_round(s, x);
}

tki_step tki_schedule_next(tki_schedule *s) {
  tki_task *k = left_last(s), *for_ever = waits_for_ever(s);
  tki_step x = {TKI_RESUME, k ? k : for_ever, 0};
  if (!k && for_ever && tki_schedule_is_blocked(for_ever)) x.kind = TKI_STUCK;
  if (!x.task)
    while (!decide(s, &x)) continue;
  TK_ASSERT(x.kind != TKI_RESUME || is_listed(s, x.task));
  TK_ASSERT(x.kind != TKI_FINISHED || !s->tasks);
  return x;
}

/* ---- and goes on -------------------------------------------------------- */

/* A program begins in a task that runs nothing, which becomes the last one. */
static void task_begin(tki_schedule *s, tki_task *k, uint64_t index) {
  TK_ASSERT(!k->frame && !k->done && !k->left);
  TK_ASSERT(!is_listed(s, k) && !*s->last);
  TK_ASSERT(!tki_schedule_task(s, index));
  k->index = index;
  tki_pid_of(s->t, index, k->pid);
  k->scheduled = true;
  k->own->loop = NULL;
  k->own->waits = false;
  k->next = NULL;
  *s->last = k;
  s->last = &k->next;
}

/* The next program in the order begins in a task. */
static void task_begin_next(tki_schedule *s, tki_task *k, uint64_t index) {
  TK_ASSERT(tk_order_at(&s->t->order, s->at) == index);
  task_begin(s, k, index);
  s->at++;
  if (s->phase == TKI_IN_ORDER) {
    TK_ASSERT(!s->lead);
    s->lead = k;
    s->phase = TKI_LEADS;
  } else if (s->phase == TKI_SPREADS) {
    s->spread++;
  } else {
    TK_ASSERT(s->phase == TKI_ONE_MORE);
    s->any = true;
    s->phase = TKI_BEHIND;
  }
}

tki_task *tki_schedule_begin(tki_schedule *s, const tki_step *x) {
  TK_ASSERT(x->kind == TKI_BEGIN);
  tki_task *k = tki_task_new(s->t, x->index);
  task_begin_next(s, k, x->index);
  return k;
}

static void note_resumed(tki_schedule *s, tki_task *k) {
  set_left(s, k, 0);
  k->gave_way = false;
  if (k == s->lead) {
    s->phase = TKI_LEADS;
  } else if (k == s->next && s->phase == TKI_IN_ROUND) {
    s->next = k->next;
    s->any = true;
  }
}

bool tki_schedule_resume(tki_schedule *s, tki_task *k, tk_status *status) {
  TK_ASSERT(is_listed(s, k) && !k->done && k->fiber);
  note_resumed(s, k);
  if (tki_task_resume(k)) return true;
  *status = k->status;
  if (is_listed(s, k)) task_remove(s, k);
  tki_task_free(k);
  return false;
}

bool tki_schedule_goes_on(tki_task *k) {
  tki_schedule *s = k->t->schedule;
  if (!k->scheduled) return false;
  TK_ASSERT(!k->t->frame && k->t->task == k);
  k->frame = NULL;
  k->t->yields = false;
  task_remove(s, k);
  tki_step x = tki_schedule_next(s);
  if (x.kind != TKI_BEGIN) return false;
  task_begin_next(s, k, x.index);
  memcpy(k->t->pid, k->pid, sizeof k->pid);
  return true;
}

static void reserve_ahead(tki_schedule *s) {
  if (s->nahead < s->cap_ahead) return;
  size_t cap = s->cap_ahead ? s->cap_ahead * 2 : 16;
  s->ahead = tk_realloc(s->t->env, s->ahead, s->cap_ahead * sizeof *s->ahead,
                        cap * sizeof *s->ahead);
  s->cap_ahead = cap;
}

tki_task *tki_schedule_take_up(tki_schedule *s, tki_task *from,
                               uint64_t index) {
  tki_task *k = tki_schedule_task(s, index);
  TK_ASSERT(is_listed(s, from) && k != from);
  if (!k) {
    TK_ASSERT(!tki_schedule_has_begun(s, index));
    reserve_ahead(s);
    k = tki_task_new(s->t, index);
    s->ahead[s->nahead++] = index;
    task_begin(s, k, index);
  }
  set_left(s, k, 0);
  if (!from->gave_way) set_left(s, from, ++s->stamp);
  return k;
}

/* ---- the plain run ------------------------------------------------------ */

static void progress(tki_schedule *s) {
  if (s->progress && s->at % 16 == 0)
    s->progress(s->progress_ud, s->at, tki_programs(s->t));
}

/* Runs the program that leads on the stack of the run. */
static void run_lead(tki_schedule *s, uint64_t index) {
  tki *t = s->t;
  TK_ASSERT(!t->task && !t->frame);
  progress(s);
  if (t->env->interrupted) tki_interrupted(t);
  task_begin_next(s, &s->on_stack, index);
  memcpy(t->pid, s->on_stack.pid, sizeof t->pid);
  t->yields = false;
  tki_program_run(t);
  task_remove(s, &s->on_stack);
}

/* Runs all, or others on top of the one that leads until that may go on. */
static void run_programs(tki_schedule *s) {
  tk_status st = TK_OK;
  for (;;) {
    tki_step x = tki_schedule_next(s);
    bool leads = s->phase == TKI_IN_ORDER;
    tki_task *k = x.task;
    if (x.kind == TKI_FINISHED) return;
    if (x.kind == TKI_STUCK) tki_deadlock(s, x.task);
    if (k == &s->on_stack) {
      note_resumed(s, k);
      return;
    }
    if (x.kind == TKI_BEGIN && leads) {
      run_lead(s, x.index);
      continue;
    }
    if (x.kind == TKI_BEGIN) k = tki_schedule_begin(s, &x);
    if (!tki_schedule_resume(s, k, &st) && st != TK_OK) tk_throw(s->t->env, st);
  }
}

void tki_schedule_run_from(tki *t, uint64_t place) {
  tki_schedule_restart(t->schedule, place, 0);
  run_programs(t->schedule);
  progress(t->schedule);
}

void tki_schedule_run(tki *t) {
  tki_schedule_run_from(t, 0);
}

/* ---- giving way --------------------------------------------------------- */

/* Returns the task of the program that runs; the one that leads a plain run is
 * on the stack of the run and has no t->task. */
static tki_task *running(tki *t) {
  return t->task ? t->task : &t->schedule->on_stack;
}

static void never_ends(tki *t, const tki_loop *loop) TK_NORETURN;
static void never_ends(tki *t, const tki_loop *loop) {
  tk_diag *d = tki_finding(t, TK_D_RUNAWAY,
                           "this loop never ends: trip %llu left everything "
                           "that it depends on as it was",
                           (unsigned long long)loop->trip);
  tk_diag_help(t->env, d, "change what the condition tests in the loop's body");
  tki_stop(t);
}

/* The program that runs lets others go on until the schedule resumes it;
 * `waits` says that it cannot go on before what it read changes. */
static void give_way(tki *t, bool waits) {
  tki_schedule *s = t->schedule;
  tki_task *k = running(t);
  tki_spin *spin = t->spin, *own = k->own;
  t->yields = false;
  if (s->mode == TKI_SERIAL && !waits) return;
  TK_ASSERT(!waits || own->n);
  TK_ASSERT(tki_program_index(t) == k->index);
  t->spin = NULL; /* the next program's reads do not count as this one's */
  own->waits = waits;
  own->at = t->frame;
  own->index = k->index;
  tki_frame *frame = t->frame;
  if (t->task) {
    k->gave_way = true;
    tki_task_pause(t);
  } else {
    run_programs(s);
  }
  TK_ASSERT(t->frame == frame && running(t) == k);
  (void)frame;
  t->spin = spin;
  own->waits = false;
}

void tki_schedule_yield(tki *t) {
  give_way(t, false);
}

uint64_t tki_schedule_trips(const tki *t) {
  return t->schedule->mode == TKI_YIELD ? 1 : FIRST_LOOK;
}

void tki_schedule_look(tki *t, tki_loop *loop) {
  tki_schedule *s = t->schedule;
  tki_spin *spin = running(t)->own;
  tki_spinning now = tki_spin_look(t, &s->spins, spin);
  bool rarely = now == TKI_WORKS;
  loop->look = loop->trip + 1;
  if (now == TKI_WAITS && !spin->n) never_ends(t, loop);
  if (now == TKI_WAITS) {
    give_way(t, true);
    tki_spin_stop(t, spin);
  } else if (s->mode == TKI_YIELD && s->spins_possible) {
    give_way(t, false);
  } else if (rarely) {
    if (loop->trip >= RARELY && spin->atomic) give_way(t, false);
    loop->look = loop->trip + (loop->trip < RARELY ? loop->trip : RARELY);
  }
}

void tki_schedule_left(tki *t, const tki_loop *loop) {
  if (t->spin->loop == loop) tki_spin_stop(t, t->spin);
}
