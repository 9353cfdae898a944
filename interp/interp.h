/* interp.h - inside the interpreter: values, memory, the running program.
 *
 * A tki lives for one run of a launch.  Lanes of a block are contiguous and
 * row-major in a counted buffer; a scalar is held in place.  Whoever holds a
 * tki_val holds one count of its buffer; slots of a frame are freed when the
 * frame ends.  Buffers come from a pool that the run owns.
 */
#ifndef TK_INTERP_H
#define TK_INTERP_H

#include "interp/fiber.h"
#include "ir/ir.h"

typedef struct tki tki;
typedef struct tki_spin tki_spin;         /* spin.h */
typedef struct tki_schedule tki_schedule; /* schedule.h */

typedef struct tki_buf {
  uint32_t refs;
  uint32_t cls;         /* size class in the pool */
  struct tki_buf *next; /* in the pool */
} tki_buf;

/* Pointer lanes are device addresses; region is the memory they may touch,
 * or TKI_ANY when only the address tells. */
enum { TKI_ANY = -1, TKI_ALIGN = 64 };

typedef struct tki_val {
  tki_buf *buf; /* NULL: one lane, in u */
  union {
    uint64_t u;
    int64_t i;
    double d;
    float f;
    uint8_t b;
  };
  int32_t region;
  int32_t lazy; /* 1: a column, 2: a row that stands for a block of two axes;
                   only between a broadcast and the one operation it feeds */
} tki_val;

/* Memory that a kernel may touch: the storage of one tensor. */
typedef struct tki_region {
  const char *name;
  const tk_tensor *tensor;
  uint64_t lo, hi; /* device addresses */
  char *host;      /* where lo is in this process */
  bool readonly;
} tki_region;

/* A loop being executed. */
typedef struct tki_loop {
  struct tki_loop *outer;
  const tk_stmt *stmt;
  uint64_t trip; /* from 0 */
  uint64_t look; /* WHILE: the trip after which to see whether it only waits */
} tki_loop;

/* Each observer that keeps something for every slot has an entry. */
enum {
  TKI_SHADOW_UNDEF,
  TKI_SHADOW_PRECISION,
  TKI_SHADOW_TRACE,
  TKI_SHADOW_NEUTRAL,
  TKI_SHADOWS
};

/* A function being executed. */
typedef struct tki_frame {
  struct tki_frame *caller; /* caller->inst is what called */
  const tk_func *func;
  const tk_inst *inst; /* being executed */
  const tk_stmt *stmt;
  tki_val *slots;
  tki_loop *loops;           /* innermost first */
  void *shadow[TKI_SHADOWS]; /* observers' own; NULL when a frame begins */
} tki_frame;

/* The frame that a user takes for the running one: what tkdbg's own prelude
 * does is done by its caller. */
static inline const tki_frame *tki_user_frame(const tki_frame *f) {
  while (f && f->func->library && f->caller) f = f->caller;
  return f;
}

/* A memory access whose active lanes have all been checked. */
typedef struct tki_access {
  tki *t;
  const tk_inst *in; /* LOAD STORE ATOMIC CAS; BARRIER, without lanes */
  const uint64_t *addr;
  const uint8_t *mask; /* NULL: all lanes */
  size_t n, size;      /* lanes, bytes of each; n is 0 when all are off */
  int32_t region;      /* or TKI_ANY: tki_region_at(t, addr[i], size) */
  bool write;
  const char *verb;
  const char *value; /* STORE ATOMIC CAS: lanes to be written; else NULL */
  size_t step;       /* bytes from one lane of value to the next, or 0 */
  size_t first, run; /* the active lanes, if known to be one stretch, or 0 */
} tki_access;

/* What watches a run.  Every member may be NULL; none changes values, but for
 * a debugger on its user's behalf.  Members may throw.  Observers are called
 * in the order in which they were attached. */
typedef struct tki_observer {
  struct tki_observer *next;
  void *ud;
  void (*program)(void *ud, tki *t, bool begins);
  /* The new frame is t->frame; when it ends, its slots still hold. */
  void (*frame)(void *ud, tki *t, bool begins);
  /* Before a statement runs: each one while t->each holds, else the one that
   * is due and those that are marked. */
  void (*stmt)(void *ud, tki *t, const tk_stmt *st);
  void (*trip)(void *ud, tki *t, const tk_stmt *st); /* a loop's body begins */
  /* Before and after an instruction; args are its operands as they are
   * before it, held so that no result takes their place. */
  void (*before)(void *ud, tki *t, const tk_inst *in, const tki_val *args);
  void (*after)(void *ud, tki *t, const tk_inst *in, const tki_val *args);
  /* A load that has happened; a store or atomic that is about to. */
  void (*access)(void *ud, tki *t, const tki_access *a);
  void (*breakpoint)(void *ud, tki *t, const tk_inst *in);
  /* A finding was reported and ends the program. */
  void (*stop)(void *ud, tki *t);
  /* A detector's finding, which does not; stops: the user asked that the
   * first one stops the run. */
  void (*finding)(void *ud, tki *t, bool stops);
  /* tk_interrupt was called; true: dealt with, go on. */
  bool (*interrupt)(void *ud, tki *t);
} tki_observer;

/* A program that can pause.  It runs on a fiber of its own. */
typedef struct tki_task {
  struct tki_task *next; /* its owner's */
  uint64_t index;        /* in the grid, axis 0 fastest */
  int64_t pid[3];
  tki_fiber *fiber;
  tki_frame *frame; /* innermost, while it is paused */
  tki_val *slots;   /* of the kernel's frame */
  tk_status status; /* once done */
  bool done;
  void *ud;       /* its owner's */
  tki_spin *own;  /* what it does in loops */
  tki_spin *spin; /* t->spin, while it is paused */
  tki *t;
} tki_task;

/* Runs the programs of a launch in place of the serial loop; a debugger. */
typedef struct tki_driver {
  void *ud;
  void (*run)(void *ud, tki *t);
  /* The program that runs waits for another; may pause its task.  NULL: it
   * goes on looking at what it waits for. */
  void (*waits)(void *ud, tki *t);
} tki_driver;

/* An instruction and the function it stands in. */
typedef struct tki_site_info {
  const tk_func *func;
  const tk_inst *inst;
} tki_site_info;

enum { TKI_CLASSES = 40 };

struct tki {
  tk_env *env;
  tk_session *session;
  tk_launch *launch;
  const tk_program *program;
  int64_t pid[3], grid[3];
  tki_region *regions;
  size_t nregions;
  tki_buf *pool[TKI_CLASSES];
  tki_buf *chunks; /* everything the pool made */
  tki_frame *frame;
  tki_task *task;  /* that runs; NULL: on the stack of the run */
  tki_val *params; /* of the kernel, in the order of its params */
  size_t nparams;
  tki_val *slots; /* of the kernel's frame, when no task runs */
  size_t nslots;
  tki_site_info *sites; /* by instruction; made when first asked for */
  uint64_t ops;
  uint64_t done;  /* programs run to their end */
  tk_order order; /* of programs */
  tk_pids pids;   /* those that are to run */
  bool asserts;
  bool dot_exact;
  tki_observer *observers;
  bool watched;    /* an observer has before or after */
  bool sensed;     /* somebody wants to know of writes */
  bool reads;      /* ... and of loads */
  bool each;       /* an observer wants every statement, not just those due */
  uint64_t *event; /* counts the statements observed */
  uint64_t due;    /* the count at which observers are told; 0: none */
  uint64_t events; /* where event points when no debugger counts */
  tki_spin *spin;  /* of the program that runs, while its reads are noted */
  tki_schedule *schedule;
  struct tkc_blame *blame;     /* check/blame.h; NULL: nobody asks */
  struct tkc_explain *explain; /* check/explain.h; the same */
  tk_buf said; /* by tasks, until a switch to the stack of the run */
  /* Set by a stmt hook on a user's behalf: go on at that statement of the
   * same body; end the function. */
  const tk_stmt *jump;
  bool leave;
  const tki_driver *driver;
  bool blas_opened;
  void *sgemm, *dgemm; /* OpenBLAS's, NULL: sum in order */
};

typedef void (*tki_run)(void *ctx, const tk_inst *in, void *frame);

/* ---- values (pool.c) --------------------------------------------------- */

static inline void *tki_buf_data(tki_buf *b) {
  return (char *)b + TKI_ALIGN;
}

/* The lanes of a value. */
static inline void *tki_data(tki_val *v) {
  return v->buf ? tki_buf_data(v->buf) : &v->u;
}

tki_buf *tki_buf_new(tki *t, size_t bytes);
void tki_buf_free(tki *t, tki_buf *b);
static inline void tki_release(tki *t, tki_val *v) {
  if (v->buf && --v->buf->refs == 0) tki_buf_free(t, v->buf);
  v->buf = NULL;
}
static inline tki_val tki_share(const tki_val *v) {
  if (v->buf) v->buf->refs++;
  return *v;
}
/* Replaces what a slot holds. */
static inline void tki_set(tki *t, tki_val *slot, tki_val v) {
  tki_release(t, slot);
  *slot = v;
}
/* A value for n lanes of size bytes; rank 0 needs no buffer. */
tki_val tki_val_new(tki *t, const tk_type *type, size_t n);
void tki_pool_free(tki *t);
/* Takes every buffer back, whoever holds it: no program may be alive. */
void tki_pool_reset(tki *t);

/* The value for in's result, reusing the buffer of operand k when it dies
 * here and is large enough (k < 0: never). */
tki_val tki_result(tki *t, const tk_inst *in, tki_val *frame, int k);

/* ---- running (exec.c) -------------------------------------------------- */

void tki_exec_insts(tki *t, const tk_insts *l, tki_val *frame);
/* Calls f with nargs values (shared, not consumed); results are new. */
void tki_call(tki *t, const tk_func *f, const tki_val *args, size_t nargs,
              tki_val *results);
/* Runs the program t->pid to its end. */
void tki_program_run(tki *t);

/* Tells every observer that has the hook. */
#define TKI_TELL(t, hook, ...)                                                 \
  for (tki_observer *o_ = (t)->observers; o_; o_ = o_->next)                   \
    if (o_->hook) o_->hook(o_->ud, __VA_ARGS__)

/* ---- programs in order (run.c) ----------------------------------------- */

void tki_observe(tki *t, tki_observer *o); /* borrowed until the run ends */
/* Those who watch and what they want to be told, kept while the run does
 * something that they are not to see. */
typedef struct tki_watching {
  tki_observer *observers;
  bool watched, sensed, reads, each;
} tki_watching;
/* Nobody watches any more, until tki_observe. */
tki_watching tki_unwatch(tki *t);
void tki_rewatch(tki *t, const tki_watching *w);
/* Attaches all who watch the launch, and forgets those attached before: a
 * debugger has taken it back to its beginning. */
void tki_attach(tki *t);
/* How many programs the launch has, and the index of the i-th that runs;
 * false: the conditions leave it out. */
static inline uint64_t tki_programs(const tki *t) {
  return t->order.n;
}
bool tki_program_at(const tki *t, uint64_t i, uint64_t *index);
void tki_pid_of(const tki *t, uint64_t index, int64_t pid[3]);

/* ---- programs that can pause (task.c) ----------------------------------- */

tki_task *tki_task_new(tki *t, uint64_t index);
/* Runs it until it pauses (true) or is done (false: see its status). */
bool tki_task_resume(tki_task *k);
/* Pauses the task that runs, t->task. */
void tki_task_pause(tki *t);
/* What a program prints.  The receiver is called on the stack of the run
 * alone: an embedding language may not bear another. */
void tki_say(tki *t, const char *text, size_t n);
/* Drops it, wherever it is; its blocks stay with the pool until that is
 * reset, unless it is done. */
void tki_task_free(tki_task *k);

/* Fills in run and kernel of every instruction, once. */
void tki_bind(tk_program *p);

/* ---- places in the source (site.c) -------------------------------------- */

/* The id of the instruction being executed, or of the call in the user's own
 * code that led to it. */
uint32_t tki_site(const tki *t);
const tki_site_info *tki_site_at(tki *t, uint32_t id); /* or NULL */

/* ---- failing ----------------------------------------------------------- */

/* Notes in which program it was, and the calls that led there. */
void tki_note_program(tki *t, tk_diag *d);
/* A finding at the instruction being executed, with program and callers;
 * tki_stop ends the run. */
tk_diag *tki_finding(tki *t, tk_diag_id id, const char *fmt, ...)
    TK_PRINTF(3, 4);
void tki_stop(tki *t) TK_NORETURN;

/* ---- memory (memory.c) -------------------------------------------------- */

/* The region that holds size bytes at a device address; NULL: none does. */
const tki_region *tki_region_at(const tki *t, uint64_t addr, size_t size);
/* The memory of an access's only lane; reports what is wrong and stops. */
char *tki_access_memory(const tki_access *a);
/* An access's region and the lane's memory in this process. */
static inline const tki_region *tki_access_region(const tki_access *a,
                                                  size_t lane) {
  return a->region != TKI_ANY ? &a->t->regions[a->region]
                              : tki_region_at(a->t, a->addr[lane], a->size);
}

/* Active lanes that lie one after the other in memory. */
typedef struct tki_stretch {
  size_t lane, n; /* the first, and how many; both 0 to begin with */
  uint64_t addr;
  size_t active; /* lanes from here to there are known to be active */
} tki_stretch;
/* The next one of an access; false: there is none. */
bool tki_next_stretch(const tki_access *a, tki_stretch *x);

/* Whether a lane of a write that is about to happen changes anything: a lock
 * that is not to be had, a counter that is only looked at, do not. */
bool tki_access_changes(const tki_access *a, size_t lane);
/* Tells whoever wants to know of an access; t->sensed. */
void tki_tell_access(tki *t, const tki_access *a);

/* ---- lane loops (kernels_*.c) ------------------------------------------ */

/* d[i] = a[i] op b[i]; mode 1: b is one lane, 2: a is one lane. */
typedef void (*tki_binary_fn)(void *d, const void *a, const void *b, size_t n,
                              int mode);
typedef void (*tki_unary_fn)(void *d, const void *a, size_t n);
/* d[i] = f(args[0][i], ...) */
typedef void (*tki_extern_fn)(void *d, void *const *args, size_t n);

/* NULL when the type has no such operation. */
tki_binary_fn tki_binary_kernel(tk_binary op, tk_dtype d);
tki_binary_fn tki_compare_kernel(tk_compare op, tk_dtype d);
tki_unary_fn tki_unary_kernel(tk_unary op, tk_dtype d);
tki_unary_fn tki_cast_kernel(tk_dtype from, tk_dtype to, bool rtz);
/* An overload of a row of libdevice.def. */
tki_extern_fn tki_extern_kernel(size_t row, size_t overload);
tki_binary_fn tki_int_binary(tk_binary op, tk_dtype d);
tki_unary_fn tki_int_unary(tk_unary op, tk_dtype d);
tki_binary_fn tki_plain_compare(tk_compare op, tk_dtype d);
/* c += a b, one product of m x k and k x n. */
void tki_dot_f64(tki *t, double *c, const double *a, const double *b, size_t m,
                 size_t n, size_t k);
/* Rows of lanes to and from fp32; d is a float type of 16 or 8 bits. */
void tki_widen(tk_dtype d, float *to, const void *from, size_t n);
void tki_narrow(tk_dtype d, void *to, const float *from, size_t n);
void tki_cut_tf32(float *d, const float *a, size_t n);
void tki_round_tf32(float *d, const float *a, size_t n);

/* Loops are compiled for wider vectors too where that is safe. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TKI_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TKI_CLONES
#endif

/* A block seen from one of its axes. */
typedef struct tki_around {
  size_t outer, n, inner; /* lanes before, along, after the axis */
  size_t size;            /* bytes of a lane */
} tki_around;

static inline tki_around tki_around_axis(const tk_type *t, int axis) {
  tki_around r = {1, (size_t)t->shape[axis], 1, tk_lane_size(t)};
  for (int i = 0; i < axis; i++) r.outer *= (size_t)t->shape[i];
  for (int i = axis + 1; i < t->rank; i++) r.inner *= (size_t)t->shape[i];
  return r;
}

/* ---- instructions, by file --------------------------------------------- */

void tki_copy(void *ctx, const tk_inst *in, void *frame);
void tki_load(void *ctx, const tk_inst *in, void *frame);
void tki_store(void *ctx, const tk_inst *in, void *frame);
void tki_atomic(void *ctx, const tk_inst *in, void *frame);
void tki_cas(void *ctx, const tk_inst *in, void *frame);
void tki_dot(void *ctx, const tk_inst *in, void *frame);
void tki_reduce(void *ctx, const tk_inst *in, void *frame);
void tki_reduce_fn(void *ctx, const tk_inst *in, void *frame);
void tki_scan(void *ctx, const tk_inst *in, void *frame);
void tki_scan_fn(void *ctx, const tk_inst *in, void *frame);
void tki_map_fn(void *ctx, const tk_inst *in, void *frame);
void tki_unscale(void *ctx, const tk_inst *in, void *frame);
void tki_asm(void *ctx, const tk_inst *in, void *frame);
void tki_print(void *ctx, const tk_inst *in, void *frame);
void tki_assert(void *ctx, const tk_inst *in, void *frame);
void tki_breakpoint(void *ctx, const tk_inst *in, void *frame);
void tki_move(tk_inst *in); /* fills in run for what move.c does */
void tki_elem(tk_inst *in); /* the same for elem.c */

void tki_bind_addptr(tk_inst *in, const tk_func *f);

/* The binary operation that a reduction repeats. */
tk_binary tki_reduction_op(tk_reduction r);

#endif
