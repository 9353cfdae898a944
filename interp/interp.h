/* interp.h - inside the interpreter: values, memory, the running program.
 *
 * A tki lives for one run of a launch.  Lanes of a block are contiguous and
 * row-major in a counted buffer; a scalar is held in place.  Whoever holds a
 * tki_val holds one count of its buffer; slots of a frame are freed when the
 * frame ends.  Buffers come from a pool that the run owns.
 */
#ifndef TK_INTERP_H
#define TK_INTERP_H

#include "ir/ir.h"

typedef struct tki tki;

typedef struct tki_buf {
  uint32_t refs;
  uint32_t cls;         /* size class in the pool */
  struct tki_buf *next; /* in the pool */
  void *shadow;         /* an observer's: undefined lanes, origins */
  void *unused;
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

/* A function being executed. */
typedef struct tki_frame {
  struct tki_frame *caller;
  const tk_func *func;
  const tk_inst *inst; /* being executed */
  const tk_stmt *stmt;
  tki_val *slots;
} tki_frame;

/* What watches a run.  Every member may be NULL; none may change values. */
typedef struct tki_observer {
  struct tki_observer *next;
  void *ud;
  void (*program)(void *ud, tki *t, bool begins);
  void (*stmt)(void *ud, tki *t, const tk_stmt *st);
  void (*inst)(void *ud, tki *t, const tk_inst *in); /* after it ran */
  void (*access)(void *ud, tki *t, const tk_inst *in, const uint64_t *addr,
                 const uint8_t *mask, size_t n, int32_t region);
} tki_observer;

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
  tki_val *params; /* of the kernel, in the order of its params */
  size_t nparams;
  tki_val *slots; /* of the kernel's frame */
  size_t nslots;
  uint64_t ops;
  bool asserts;
  bool dot_exact;
  tki_observer *observers;
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

/* The value for in's result, reusing the buffer of operand k when it dies
 * here and is large enough (k < 0: never). */
tki_val tki_result(tki *t, const tk_inst *in, tki_val *frame, int k);

/* ---- running (exec.c) -------------------------------------------------- */

void tki_exec_insts(tki *t, const tk_insts *l, tki_val *frame);
/* Calls f with nargs values (shared, not consumed); results are new. */
void tki_call(tki *t, const tk_func *f, const tki_val *args, size_t nargs,
              tki_val *results);
void tki_program_run(tki *t);

/* Fills in run and kernel of every instruction, once. */
void tki_bind(tk_program *p);

/* ---- failing ----------------------------------------------------------- */

/* A finding at the instruction being executed, with program and callers;
 * tki_stop ends the run. */
tk_diag *tki_finding(tki *t, tk_diag_id id, const char *fmt, ...)
    TK_PRINTF(3, 4);
void tki_stop(tki *t) TK_NORETURN;

/* ---- lane loops (kernels_*.c) ------------------------------------------ */

/* d[i] = a[i] op b[i]; mode 1: b is one lane, 2: a is one lane. */
typedef void (*tki_binary_fn)(void *d, const void *a, const void *b, size_t n,
                              int mode);
typedef void (*tki_unary_fn)(void *d, const void *a, size_t n);

/* NULL when the type has no such operation. */
tki_binary_fn tki_binary_kernel(tk_binary op, tk_dtype d);
tki_binary_fn tki_compare_kernel(tk_compare op, tk_dtype d);
tki_unary_fn tki_unary_kernel(tk_unary op, tk_dtype d);
tki_unary_fn tki_cast_kernel(tk_dtype from, tk_dtype to, bool rtz);
tki_binary_fn tki_int_binary(tk_binary op, tk_dtype d);
tki_unary_fn tki_int_unary(tk_unary op, tk_dtype d);
tki_binary_fn tki_plain_compare(tk_compare op, tk_dtype d);
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
void tki_print(void *ctx, const tk_inst *in, void *frame);
void tki_assert(void *ctx, const tk_inst *in, void *frame);
void tki_move(tk_inst *in); /* fills in run for what move.c does */
void tki_elem(tk_inst *in); /* the same for elem.c */

void tki_bind_addptr(tk_inst *in, const tk_func *f);

/* The binary operation that a reduction repeats. */
tk_binary tki_reduction_op(tk_reduction r);

#endif
