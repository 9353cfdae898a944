/* interp.h - inside the interpreter: the run of a launch, and its frames.
 *
 * A tki lives for one run of a launch and owns what its members point to, but
 * for the observers and the driver.  A frame lives on the stack of the call
 * that it describes, and holds a count of each value in its slots until it
 * ends.
 */
#ifndef TK_INTERP_H
#define TK_INTERP_H

#include <pthread.h>

#include "interp/bind.h"
#include "interp/fiber.h"
#include "interp/observer.h"
#include "interp/raise.h"
#include "interp/site.h"
#include "typing/origin.h"

typedef struct tki_spin tki_spin;         /* spin.h */
typedef struct tki_schedule tki_schedule; /* schedule.h */
typedef struct tki_keeper tki_keeper;     /* keep.h */

/* A loop being executed. */
typedef struct tki_loop {
  struct tki_loop *outer;
  const tk_stmt *stmt;
  uint64_t trip; /* from 0 */
  uint64_t look; /* WHILE: after this trip see whether the loop only waits */
} tki_loop;

/* Each observer that keeps something for every slot has an entry. */
enum {
  TKI_SHADOW_UNDEF,
  TKI_SHADOW_PRECISION,
  TKI_SHADOW_TRACE,
  TKI_SHADOW_PADDING,
  TKI_SHADOW_PROFILE,
  TKI_SHADOWS
};

/* A function being executed. */
typedef struct tki_frame {
  struct tki_frame *caller; /* caller->inst is what called */
  const tk_func *func;
  const tk_inst *inst; /* the one that is being executed; NULL: none of the
                        * statement's is as yet */
  const tk_stmt *stmt;
  tki_val *slots;
  tki_loop *loops;           /* innermost first */
  void *shadow[TKI_SHADOWS]; /* the observers'; NULL when a frame begins */
  uint8_t *unassigned;       /* by slot (jump.c); NULL: no slot is */
  bool left;                 /* a debugger's user left it: it gives zeros */
} tki_frame;

/* The frame that a user sees as the running one: what tkdbg's own prelude
 * does counts as done by its caller. */
static inline const tki_frame *tki_user_frame(const tki_frame *f) {
  while (f && f->func->library && f->caller) f = f->caller;
  return f;
}

/* The CALL instruction whose operands are the arguments of a frame; NULL: it is
 * the kernel's, or an instruction calls its function lane by lane. */
static inline const tk_inst *tki_call_of(const tki_frame *f) {
  const tk_inst *in = f->caller ? f->caller->inst : NULL;
  bool calls = in && in->op == TK_I_CALL && tk_call_callee(in) == f->func;
  return calls ? in : NULL;
}

/* A program that can pause.  It runs on a fiber of its own, but for the one
 * that leads a plain run (schedule.h). */
typedef struct tki_task {
  struct tki_task *next; /* in its owner's list */
  uint64_t index;        /* in the grid, axis 0 fastest */
  int64_t pid[3];
  tki_fiber *fiber;
  tki_frame *frame; /* the innermost one, while the program is paused */
  tki_val *slots;   /* of the kernel's frame */
  tk_status status; /* how it ended, once it is done */
  bool done;
  void *ud;       /* the owner may put anything here */
  tki_spin *own;  /* what the program does in loops */
  tki_spin *spin; /* t->spin, while it is paused */
  bool yields;    /* t->yields, while it is paused */
  bool scheduled; /* the schedule owns it */
  bool gave_way;  /* it is paused because it let others run */
  uint64_t left;  /* when a user left it for another, as a stamp of the
                     schedule; 0: no user did */
  tki *t;
} tki_task;

/* Whoever runs the programs of a launch in place of the plain loop, such as a
 * debugger. */
typedef struct tki_driver {
  void *ud;
  void (*run)(void *ud, tki *t);
} tki_driver;

struct tki {
  tk_env *env;
  tk_session *session;
  tk_launch *launch;
  const tk_program *program;
  const tki_op *code; /* what runs each instruction, by its number */
  tki_op *measured;   /* the same through observers' `begins` and `ends`, once
                         one of them measures; `plain` is then the code */
  const tki_op *plain;
  const tki_settled *settled; /* what is settled in the program */
  tki_val **settled_values;   /* by function; NULL: nothing is */
  uint8_t *settled_told; /* by instruction, while observers watch them: they
                            need not be told of it again; else NULL */
  uint8_t *idle;   /* by instruction, with settled_told: TKI_IDLE or TKI_BUSY,
                      once observers were asked; 0: not yet */
  uint8_t *marked; /* by statement: a debugger wants to be told of it;
                      NULL: of none */
  int64_t pid[3], grid[3];
  tki_region *regions;
  size_t nregions;
  tki_pool pool;
  tki_frame *frame;
  tki_task *task;  /* the one that runs; NULL: the stack of the run is used */
  tki_val *params; /* of the kernel, in the order of its params */
  size_t nparams;
  tki_val *slots; /* of the kernel's frame, when no task runs */
  size_t nslots;
  struct tki_site_info *sites; /* by instruction; made when first asked for */
  double waited; /* seconds in which the user was asked, and nothing ran */
  uint64_t ops;
  uint64_t done;  /* how many programs ran to their end */
  tk_order order; /* in which programs begin */
  tk_pids pids;   /* conditions on those that are to run */
  bool asserts;
  bool dot_exact;
  bool device;   /* the numerics are those of code for a GPU */
  bool draft;    /* whatever is found ends the run without a word: it is found
                    again by programs that run one by one */
  bool lends;    /* nobody stores to what is loaded: it may be used where it
                    is */
  bool concrete; /* for tests: no block is symbolic, and none is lent */
  bool batched;  /* for tests: programs run in batches even if they are few */
  tki_observer *observers;
  bool wants_insts;  /* an observer has before or after */
  bool wants_before; /* an observer has before */
  bool wants_writes; /* an observer wants to know of writes */
  bool wants_loads;  /* ... and of loads */
  bool wants_stmts;  /* an observer wants every statement, not just those due */
  uint64_t *event;   /* counts the statements observed */
  /* the count at which observers are told; 0: they are not */
  uint64_t wanted_event;
  uint64_t events; /* where event points when no debugger counts */
  tki_spin *spin;  /* of the program that runs, while its reads are noted */
  bool yields;     /* it gives way before its next statement */
  tki_schedule *schedule;
  pthread_mutex_t *turn; /* of what two programs must not do at the same time;
                            NULL: they run on one thread */
  struct tki_footprint *stored; /* where its stores are noted, or NULL */
  struct tki_reach *reach; /* ... by program, while it runs a batch of them */
  tk_buf element;          /* the text of one that a diagnostic is about */
  tk_buf printed; /* by tasks, until a switch to the stack of the run */
  /* Set by a stmt hook on a user's behalf: go on at that statement of the
   * same body; end the function. */
  const tk_stmt *jump;
  bool leave;
  size_t unassigned;  /* frames with slots that a jump left unassigned */
  tki_observer jumps; /* sees when they are assigned */
  const tki_driver *driver;
  const tki_keeper *keeper; /* of a run that goes on after bad accesses */
  size_t bad_lane; /* of the access that stops the run, from 1; 0: none */
  bool poisoned;   /* an integer or pointer was loaded by such an access */
  bool blas_opened;
  void *sgemm, *dgemm; /* OpenBLAS's, NULL: sum in order */
};

static inline const tki_region *tki_access_region(const tki_access *a,
                                                  size_t lane) {
  return a->region != TKI_ANY ? &a->t->regions[a->region]
                              : tki_region_at(a->t, a->addr[lane], a->size);
}

/* ---- running (exec.c) -------------------------------------------------- */

/* Assertions ask whether the values of an instruction of the running frame
 * are of its types: operands before it, results after it. */
bool tki_operands_fit(const tki *t, const tk_inst *in);
bool tki_results_fit(const tki *t, const tk_inst *in);
/* Calls f with nargs values, which the caller still holds afterwards; the
 * results are new values. */
void tki_call(tki *t, const tk_func *f, const tki_val *args, size_t nargs,
              tki_val *results);
/* Runs the program t->pid to its end. */
void tki_program_run(tki *t);
/* Called when tk_interrupt was: the host program or an observer deals with it,
 * or the run ends. */
void tki_interrupted(tki *t);
/* Asked every so many lanes of a large block, so that a signal is answered in
 * the middle of an instruction. */
static inline void tki_poll(tki *t) {
  if (TK_UNLIKELY(t->env->interrupted)) tki_interrupted(t);
}

/* ---- jumps (jump.c) ---------------------------------------------------- */

/* The index of t->jump in the body where the statement at `from` was left for
 * it.  Slots that were never assigned, and that the statements in between
 * would assign, are given zeros. */
size_t tki_jump(tki *t, const tk_body *b, size_t from);
/* Whether a slot holds those zeros; it has been given a value now. */
bool tki_is_unassigned(const tki_frame *f, int slot);
void tki_is_assigned(const tki_frame *f, int slot);

/* Enclose what two programs must not do at the same time. */
static inline void tki_lock(tki *t) {
  if (t->turn) pthread_mutex_lock(t->turn);
}
static inline void tki_unlock(tki *t) {
  if (t->turn) pthread_mutex_unlock(t->turn);
}

/* ---- products (dot.c) --------------------------------------------------- */

/* Opens OpenBLAS if the program has a product, before threads share it. */
void tki_dot_open(tki *t);

/* ---- launches (run.c) -------------------------------------------------- */

/* Attaches all who watch the launch, and forgets those attached before: a
 * debugger has taken it back to its beginning. */
void tki_attach(tki *t);

/* ---- programs that can pause (task.c) ----------------------------------- */

tki_task *tki_task_new(tki *t, uint64_t index);
/* Runs it until it pauses (true) or is done (false: see its status). */
bool tki_task_resume(tki_task *k);
/* Pauses the task that runs, t->task. */
void tki_task_pause(tki *t);
/* What a program prints.  The receiver is called only on the stack of the
 * run: an embedding language may not work on another. */
void tki_say(tki *t, const char *text, size_t n);
/* Drops a task, wherever it is paused.  Blocks of one that is not done stay
 * with the pool until that is reset. */
void tki_task_free(tki_task *k);

#endif
