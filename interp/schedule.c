/* schedule.c - which program runs when.
 *
 * The program on the stack of the run stays there while it waits: from the
 * depth of its loop the others are run as tasks, and it goes on when this
 * returns.  Everything follows from the order of the programs and from what
 * they do, so the same launch always runs the same way.
 */
#include "interp/schedule.h"
#include "interp/grid.h"
#include "interp/site.h"

#include <string.h>

enum { PATIENCE = 16, RARELY = 1024, SMALL_REGION = 4 << 20, ABREAST = 64 };

bool tki_mode_parse(tk_env *e, const char *text, tki_mode *out) {
  static const char *const names[] = {"auto", "serial", "yield"};
  for (size_t i = 0; i < TK_COUNT(names); i++) {
    if (text && strcmp(text, names[i]) != 0) continue;
    *out = (tki_mode)i;
    return true;
  }
  tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
              "unknown schedule '%.100s': auto, serial or yield", text);
  return false;
}

/* ---- kernels that can wait --------------------------------------------- */

static bool insts_read(const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    if (in->op == TK_I_LOAD || in->op == TK_I_ATOMIC || in->op == TK_I_CAS ||
        in->op == TK_I_CALL)
      return true;
    if (insts_read(&in->body[0]) || insts_read(&in->body[1])) return true;
  }
  return false;
}

static bool body_reads(const tk_body *b, bool inside) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = b->items[i];
    bool in = inside || st->kind == TK_S_WHILE;
    if (in && insts_read(&st->insts)) return true;
    if (body_reads(&st->body, in) || body_reads(&st->orelse, in)) return true;
  }
  return false;
}

static bool can_wait(const tk_program *p) {
  for (size_t i = 0; i < p->nfuncs; i++)
    if (body_reads(&p->funcs[i]->body, false)) return true;
  return false;
}

/* ---- who wrote what ---------------------------------------------------- */

static void note_writers(tki *t, tki_schedule *s) {
  s->writers = tk_calloc(t->env, t->nregions + 1, sizeof *s->writers);
  for (size_t i = 0; i < t->nregions; i++) {
    uint64_t bytes = t->regions[i].hi - t->regions[i].lo;
    tki_writers *w = &s->writers[i];
    if (!t->regions[i].tensor || bytes > SMALL_REGION) continue;
    w->program = tk_calloc(t->env, bytes / 2 + 2, sizeof *w->program);
    w->n = bytes / 4 + 1;
    w->site = w->program + w->n;
  }
  t->sensed = true;
}

void tki_schedule_access(tki_schedule *s, const tki_access *a) {
  if (!a->write || !s->writers) return;
  s->due |= a->in->op != TK_I_STORE;
  uint32_t program = (uint32_t)tki_program_index(a->t) + 1;
  uint32_t site = tki_site(a->t);
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    const tki_region *r = tki_access_region(a, i);
    tki_writers *w = &s->writers[r - a->t->regions];
    if (w->n && !tki_access_changes(a, i)) continue;
    uint64_t at = a->addr[i] - r->lo;
    for (uint64_t k = at / 4; w->n && k <= (at + a->size - 1) / 4; k++) {
      w->program[k] = program;
      w->site[k] = site;
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
  s->spins_possible = can_wait(t->program);
  if (s->spins_possible) note_writers(t, s);
}

static void free_tasks(tki_schedule *s) {
  for (tki_task *k = s->tasks, *next; k; k = next) {
    next = k->next;
    tki_task_free(k);
  }
  s->tasks = NULL;
  s->last = &s->tasks;
}

void tki_schedule_reset(tki *t) {
  free_tasks(t->schedule);
  t->schedule->main.waits = false;
}

void tki_schedule_free(tki *t) {
  tki_schedule *s = t->schedule;
  if (!s) return;
  free_tasks(s);
  tki_spin_free(t->env, &s->main);
  for (size_t i = 0; s->writers && i < t->nregions; i++) {
    uint64_t bytes = t->regions[i].hi - t->regions[i].lo;
    if (s->writers[i].n)
      tk_free(t->env, s->writers[i].program, (bytes / 2 + 2) * 4);
  }
  if (s->writers)
    tk_free(t->env, s->writers, (t->nregions + 1) * sizeof *s->writers);
  if (s->spins.arena.env) tk_arena_free(&s->spins.arena);
  tk_free(t->env, s, sizeof *s);
  t->schedule = NULL;
}

/* ---- turns ------------------------------------------------------------- */

/* The next program that the conditions let run. */
static bool take(tki_schedule *s, uint64_t *index) {
  while (s->at < tki_programs(s->t))
    if (tki_program_at(s->t, s->at++, index)) return true;
  return false;
}

/* False when it is done and gone. */
static bool resume(tki_schedule *s, tki_task *k) {
  if (tki_task_resume(k)) return true;
  if (k->status != TK_OK) tk_throw(s->t->env, k->status);
  return false;
}

/* Everybody who can go on does so, until the next wait; whether anybody
 * could. */
static bool round_of_turns(tki_schedule *s) {
  bool any = false;
  for (tki_task **at = &s->tasks, *k; (k = *at);) {
    bool sleeps = k->own->waits && tki_spin_same(s->t, k->own);
    any |= !sleeps;
    if (sleeps || resume(s, k)) {
      at = &k->next;
      continue;
    }
    *at = k->next;
    tki_task_free(k);
  }
  for (s->last = &s->tasks; *s->last;) s->last = &(*s->last)->next;
  return any;
}

/* Begins the next program as a task. */
static bool begin_next(tki_schedule *s) {
  tki *t = s->t;
  uint64_t index;
  if (!take(s, &index)) return false;
  tki_task **at = s->last, *k = tki_task_new(t, index);
  *at = k;
  s->last = &k->next;
  if (resume(s, k)) return true;
  *at = NULL;
  s->last = at;
  tki_task_free(k);
  return true;
}

/* Many begin before the first goes on, as on a device. */
static void begin_abreast(tki_schedule *s) {
  size_t n = 0;
  for (const tki_task *k = s->tasks; k; k = k->next) n++;
  while (n < ABREAST && begin_next(s)) n++;
}

/* On the stack of the run, below a program that gives way. */
static void run_others(tki_schedule *s) {
  const tki_spin *me = &s->main;
  if (s->mode == TKI_YIELD) begin_abreast(s);
  for (;;) {
    bool any = round_of_turns(s);
    if (me->waits && !tki_spin_same(s->t, me)) return;
    any |= begin_next(s);
    if (!me->waits || !tki_spin_same(s->t, me)) return;
    if (!any) tki_deadlock(s);
  }
}

/* ---- giving way -------------------------------------------------------- */

static tki_spin *mine(tki *t) {
  return t->task ? t->task->own : &t->schedule->main;
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

static void give_way(tki *t, tki_spin *me, bool waits) {
  tki_schedule *s = t->schedule;
  tki_spin *spin = t->spin;
  t->spin = NULL; /* others' reads are not ours */
  me->waits = waits;
  me->at = t->frame;
  me->index = tki_program_index(t);
  if (t->driver) {
    if (t->driver->waits) t->driver->waits(t->driver->ud, t);
  } else if (s->mode == TKI_SERIAL) {
    if (waits) tki_deadlock(s);
  } else if (t->task) {
    tki_task_pause(t);
  } else {
    run_others(s);
  }
  t->spin = spin;
  me->waits = false;
}

static void on_stmt(void *ud, tki *t, const tk_stmt *st) {
  tki_schedule *s = ud;
  (void)st;
  if (!s->due) return;
  s->due = false;
  give_way(t, mine(t), false);
}

static void take_turns(tki *t, tki_schedule *s) {
  for (const tki_observer *o = t->observers; o; o = o->next)
    if (o == &s->turns) return;
  s->due = false;
  s->turns = (tki_observer){.ud = s, .stmt = on_stmt};
  tki_observe(t, &s->turns);
}

uint64_t tki_schedule_patience(const tki *t) {
  return t->schedule->mode == TKI_YIELD ? 1 : PATIENCE;
}

void tki_schedule_look(tki *t, tki_loop *loop) {
  tki_schedule *s = t->schedule;
  tki_spin *spin = mine(t);
  tki_spinning now = tki_spin_look(t, &s->spins, spin);
  bool rarely = now == TKI_WORKS;
  loop->look = loop->trip + 1;
  if (now == TKI_WAITS && !spin->n) never_ends(t, loop);
  if (now == TKI_WAITS) {
    give_way(t, spin, true);
    tki_spin_stop(t, spin);
  } else if (s->mode == TKI_YIELD && s->spins_possible) {
    give_way(t, spin, false);
  } else if (rarely) {
    if (loop->trip >= RARELY && spin->atomic) give_way(t, spin, false);
    loop->look = loop->trip + (loop->trip < RARELY ? loop->trip : RARELY);
  }
}

void tki_schedule_left(tki *t, const tki_loop *loop) {
  if (t->spin->loop == loop) tki_spin_stop(t, t->spin);
}

/* ---- the whole grid ---------------------------------------------------- */

static void progress(tki_schedule *s) {
  if (s->progress && s->at % 16 == 0)
    s->progress(s->progress_ud, s->at, tki_programs(s->t));
}

void tki_schedule_run_from(tki *t, uint64_t place) {
  tki_schedule *s = t->schedule;
  uint64_t index;
  s->at = place;
  if (s->mode == TKI_YIELD && s->spins_possible) take_turns(t, s);
  for (progress(s); take(s, &index); progress(s)) {
    if (t->env->interrupted) tk_throw(t->env, TK_INTERRUPTED);
    tki_pid_of(t, index, t->pid);
    s->main.loop = NULL;
    tki_program_run(t);
    if (s->tasks) round_of_turns(s);
  }
  while (s->tasks)
    if (!round_of_turns(s)) tki_deadlock(s);
}

void tki_schedule_run(tki *t) {
  tki_schedule_run_from(t, 0);
}
