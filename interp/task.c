/* task.c - programs on fibers.
 *
 * What the interpreter knows about the program it runs (its index, its
 * innermost frame) stands in the tki while the program runs and in its task
 * while it is paused.
 */
#include "interp/grid.h"
#include "base/assert.h"
#include "interp/schedule.h"

/* A program that begins when another is done may run on its fiber. */
static void run_task(tk_env *e, void *ud) {
  tki_task *k = ud;
  do {
    tki_program_run(k->t);
    if (e->interrupted) tki_interrupted(k->t);
  } while (tki_schedule_goes_on(k));
}

static void fill_task(tk_env *e, void *ud) {
  tki_task *k = ud;
  k->own = tk_calloc(e, 1, sizeof *k->own);
  k->slots = tk_calloc(e, k->t->nslots + 1, sizeof *k->slots);
  k->fiber = tki_fiber_new(e, run_task, k);
}

tki_task *tki_task_new(tki *t, uint64_t index) {
  tki_task *k = tk_calloc(t->env, 1, sizeof *k);
  k->t = t;
  k->index = index;
  tki_pid_of(t, index, k->pid);
  tk_status st = tk_protect(t->env, fill_task, k);
  if (st == TK_OK) return k;
  tki_task_free(k);
  tk_throw(t->env, st);
}

static void say_all(tki *t) {
  if (t->printed.n)
    t->session->output(t->session->output_ud, t->printed.s, t->printed.n);
  tk_buf_clear(&t->printed);
}

void tki_say(tki *t, const char *text, size_t n) {
  if (!t->session->output) return;
  if (t->task)
    tk_buf_add(&t->printed, text, n);
  else
    t->session->output(t->session->output_ud, text, n);
}

bool tki_task_resume(tki_task *k) {
  tki *t = k->t;
  tki_task *outer = t->task;
  tki_frame *frame = t->frame;
  tki_spin *spin = t->spin;
  bool yields = t->yields;
  TK_ASSERT(!k->done && k != outer);
  int64_t pid[3] = {t->pid[0], t->pid[1], t->pid[2]};
  for (int i = 0; i < 3; i++) t->pid[i] = k->pid[i];
  t->task = k;
  t->frame = k->frame;
  t->spin = k->spin;
  t->yields = k->yields;
  k->done = !tki_fiber_resume(k->fiber);
  k->frame = t->frame;
  k->spin = t->spin;
  k->yields = t->yields;
  if (k->done) k->status = tki_fiber_status(k->fiber);
  t->task = outer;
  t->frame = frame;
  t->spin = spin;
  t->yields = yields;
  for (int i = 0; i < 3; i++) t->pid[i] = pid[i];
  if (!outer) say_all(t);
  return !k->done;
}

void tki_task_pause(tki *t) {
  tki_fiber_yield(t->task->fiber);
}

void tki_task_free(tki_task *k) {
  if (!k) return;
  tk_env *e = k->t->env;
  tki_fiber_free(k->fiber);
  if (k->own) tki_spin_free(e, k->own);
  if (k->own) tk_free(e, k->own, sizeof *k->own);
  if (k->slots) tk_free(e, k->slots, (k->t->nslots + 1) * sizeof *k->slots);
  tk_free(e, k, sizeof *k);
}
