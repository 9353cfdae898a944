/* dot.c - matrix products.
 *
 * Operands are converted exactly to fp32 (or rounded as input_precision
 * says) and multiplied by OpenBLAS on one thread; `exact` mode sums in
 * ascending k instead, each product and each sum rounded to fp32, which gives
 * the same bits on every machine.  fp64 goes the same ways; int8 is exact.
 * OpenBLAS is opened when first needed: most kernels have no product.
 *
 * With a GPU's numerics (ir/numerics.h) tensor cores add up a step of k at
 * once, as ptx/mma.c does: exact products are summed in double, the sum is
 * added to what is there, and that is rounded.  Threads multiply and add in
 * ascending k, rounding once.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/bind.h"
#include "interp/interp.h"
#include "interp/kernels.h"
#include "ir/numerics.h"

enum { ROW_MAJOR = 101, NO_TRANS = 111 };
typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *,
                         int, const float *, int, float, float *, int);
typedef void (*dgemm_fn)(int, int, int, int, int, int, double, const double *,
                         int, const double *, int, double, double *, int);

static bool open_library(tki *t, const char *name) {
  void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!lib) return false;
  void (*threads)(int);
  *(void **)&threads = dlsym(lib, "openblas_set_num_threads");
  if (threads) threads(1);
  t->sgemm = dlsym(lib, "cblas_sgemm");
  t->dgemm = dlsym(lib, "cblas_dgemm");
  return t->sgemm && t->dgemm;
}

/* Returns OpenBLAS's name for processors with the vector units of this one;
 * NULL: OpenBLAS detects the processor itself.  It takes a processor that is
 * newer than itself for one without AVX. */
static const char *core_type(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return "Haswell";
#endif
  return NULL;
}

static void open_blas(tki *t) {
  static const char *const names[] = {"libopenblas.so.0", "libopenblas.so",
                                      "libopenblas.0.dylib"};
  if (t->blas_opened) return;
  t->blas_opened = true;
  if (t->dot_exact || t->device) return;
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : core_type();
  if (core) setenv("OPENBLAS_CORETYPE", core, 1);
  bool opened = false;
  for (size_t i = 0; i < TK_COUNT(names) && !opened; i++)
    opened = open_library(t, names[i]);
  if (core) unsetenv("OPENBLAS_CORETYPE");
  if (!opened) t->sgemm = t->dgemm = NULL;
}

static bool is_dot(const tk_inst *in) {
  return in->op == TK_I_DOT;
}

void tki_dot_open(tki *t) {
  if (tk_program_has(t->program, is_dot)) open_blas(t);
}

typedef struct shape {
  size_t m, n, k;
  const tk_mma *mma; /* how a GPU does it; NULL: as defined */
  bool fresh;        /* c has no value yet; else products are added to it */
} shape;

static void begin_sum(void *c, size_t size, shape *s) {
  if (s->fresh) memset(c, 0, s->m * s->n * size);
  s->fresh = false;
}

#define ROUNDED_TWICE(x, y, sum) ((sum) + (x) * (y))

/* c += a b, in ascending k; ADD gives a sum with one more product. */
#define PRODUCT(NAME, T, CLONES, ADD)                                          \
  CLONES static void NAME(T *c, const T *a, const T *b, shape s) {             \
    for (size_t i = 0; i < s.m; i++)                                           \
      for (size_t k = 0; k < s.k; k++) {                                       \
        T x = a[i * s.k + k];                                                  \
        const T *row = b + k * s.n;                                            \
        T *to = c + i * s.n;                                                   \
        for (size_t j = 0; j < s.n; j++) to[j] = ADD(x, row[j], to[j]);        \
      }                                                                        \
  }
PRODUCT(exact_f32, float, TKI_CLONES, ROUNDED_TWICE)
PRODUCT(exact_f64, double, TKI_CLONES, ROUNDED_TWICE)
PRODUCT(fused_f32, float, TK_FUSED_CLONES, fmaf)
PRODUCT(fused_f64, double, TK_FUSED_CLONES, fma)

/* A step of k for some columns of a row at a time. */
TKI_CLONES static void cores_f32(float *c, const float *a, const float *b,
                                 shape s) {
  enum { COLUMNS = 64 };
  size_t step = tk_mma_step(s.mma);
  double sum[COLUMNS];
  for (size_t i = 0; i < s.m; i++)
    for (size_t j = 0; j < s.n; j += COLUMNS) {
      size_t some = s.n - j < COLUMNS ? s.n - j : COLUMNS;
      float *to = c + i * s.n + j;
      for (size_t k = 0; k < s.k; k += step) {
        memset(sum, 0, sizeof sum);
        for (size_t l = k; l < k + step; l++) {
          double x = a[i * s.k + l];
          const float *row = b + l * s.n + j;
          for (size_t q = 0; q < some; q++) sum[q] += x * (double)row[q];
        }
        for (size_t q = 0; q < some; q++)
          to[q] = (float)((double)to[q] + sum[q]);
      }
    }
}

TKI_CLONES static void exact_i32(int32_t *c, const int32_t *a, const int32_t *b,
                                 shape s) {
  for (size_t i = 0; i < s.m; i++)
    for (size_t k = 0; k < s.k; k++)
      for (size_t j = 0; j < s.n; j++)
        c[i * s.n + j] =
            (int32_t)((uint32_t)c[i * s.n + j] +
                      (uint32_t)a[i * s.k + k] * (uint32_t)b[k * s.n + j]);
}

/* Some rows of a product at a time, so that a long one can be interrupted. */
#define BY_ROWS(t, exact, c, a, b, s)                                          \
  do {                                                                         \
    for (size_t row_ = 0; row_ < (s).m; row_ += ROWS) {                        \
      size_t n_ = (s).m - row_ < ROWS ? (s).m - row_ : ROWS;                   \
      exact((c) + row_ * (s).n, (a) + row_ * (s).k, b,                         \
            (shape){n_, (s).n, (s).k, (s).mma, false});                        \
      tki_poll(t);                                                             \
    }                                                                          \
  } while (0)
enum { ROWS = 16 };

static void multiply(tki *t, float *c, const float *a, const float *b,
                     shape s) {
  sgemm_fn sgemm;
  if (!s.mma) open_blas(t);
  if (!s.mma && t->sgemm) {
    *(void **)&sgemm = t->sgemm;
    sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, (int)s.m, (int)s.n, (int)s.k, 1, a,
          (int)s.k, b, (int)s.n, s.fresh ? 0 : 1, c, (int)s.n);
    return;
  }
  begin_sum(c, sizeof *c, &s);
  if (s.mma && s.mma->format)
    BY_ROWS(t, cores_f32, c, a, b, s);
  else if (s.mma)
    BY_ROWS(t, fused_f32, c, a, b, s);
  else
    BY_ROWS(t, exact_f32, c, a, b, s);
}

/* Splits x into a leading part of the given format and the rest. */
static void split(tk_dtype d, float *big, float *rest, const float *x,
                  size_t n) {
  enum { ROW = 256 };
  uint16_t half[ROW];
  for (size_t at = 0; at < n; at += ROW) {
    size_t m = n - at < ROW ? n - at : ROW;
    if (d == TK_BF16) {
      tki_narrow(TK_BF16, half, x + at, m);
      tki_widen(TK_BF16, big + at, half, m);
    } else
      tki_round_tf32(big + at, x + at, m);
    for (size_t i = at; i < at + m; i++) rest[i] = x[i] - big[i];
  }
}

enum { MAX_PARTS = 3 };

/* x as a sum of parts that the tensor core can hold, largest first. */
static void decompose(tki *t, tk_precision p, const float *x, size_t n,
                      float **parts, int count) {
  tk_dtype d = p == TK_P_BF16X3 || p == TK_P_BF16X6 ? TK_BF16 : TK_FP32;
  float *rest = tki_scratch_new(t, n * sizeof *rest);
  memcpy(rest, x, n * sizeof *rest);
  for (int i = 0; i < count; i++) {
    parts[i] = tki_scratch_new(t, n * sizeof *rest);
    split(d, parts[i], rest, rest, n);
  }
  tki_scratch_free(t, rest);
}

/* One product of what the tensor core reads of each operand. */
static void multiply_tf32(tki *t, float *c, const float *a, const float *b,
                          shape s) {
  float *ra = tki_scratch_new(t, s.m * s.k * sizeof *ra);
  float *rb = tki_scratch_new(t, s.k * s.n * sizeof *rb);
  tki_cut_tf32(ra, a, s.m * s.k);
  tki_cut_tf32(rb, b, s.k * s.n);
  multiply(t, c, ra, rb, s);
  tki_scratch_free(t, ra);
  tki_scratch_free(t, rb);
}

/* Products of parts whose ranks add up to less than `count`, smallest first
 * (Triton: F32DotTC). */
static void multiply_parts(tki *t, tk_precision p, float *c, const float *a,
                           const float *b, shape s) {
  int count = p == TK_P_BF16X6 ? 3 : 2;
  float *pa[MAX_PARTS], *pb[MAX_PARTS];
  begin_sum(c, sizeof *c, &s);
  decompose(t, p, a, s.m * s.k, pa, count);
  decompose(t, p, b, s.k * s.n, pb, count);
  for (int sum = count - 1; sum >= 0; sum--)
    for (int i = sum; i >= 0; i--) multiply(t, c, pa[i], pb[sum - i], s);
  for (int i = 0; i < count; i++) {
    tki_scratch_free(t, pa[i]);
    tki_scratch_free(t, pb[i]);
  }
}

/* ---- one product of a batch -------------------------------------------- */

typedef struct operand {
  tk_dtype d;
  const char *data;
} operand;

/* Returns an operand's lanes as fp32; what is then in *room, which may be NULL,
 * is to be freed afterwards. */
static const float *as_f32(tki *t, operand o, size_t n, float **room) {
  *room = NULL;
  if (o.d == TK_FP32) return (const float *)(const void *)o.data;
  *room = tki_scratch_new(t, n * sizeof **room);
  tki_widen(o.d, *room, o.data, n);
  return *room;
}

static void dot_f32(tki *t, const tk_inst *in, float *c, operand a, operand b,
                    shape s) {
  float *ta, *tb;
  const float *x = as_f32(t, a, s.m * s.k, &ta);
  const float *y = as_f32(t, b, s.k * s.n, &tb);
  bool plain = a.d != TK_FP32 || tk_dot_precision(in) == TK_P_IEEE;
  bool tf32 = tk_dot_precision(in) == TK_P_TF32;
  if (plain || (s.mma && !s.mma->format && !tf32))
    multiply(t, c, x, y, s);
  else if (tf32)
    multiply_tf32(t, c, x, y, s);
  else
    multiply_parts(t, tk_dot_precision(in), c, x, y, s);
  tki_scratch_free(t, ta);
  tki_scratch_free(t, tb);
}

void tki_dot_f64(tki *t, double *c, const double *a, const double *b, size_t m,
                 size_t n, size_t k) {
  dgemm_fn dgemm;
  open_blas(t);
  if (!t->dgemm) {
    shape s = {m, n, k, NULL, false};
    BY_ROWS(t, exact_f64, c, a, b, s);
    return;
  }
  *(void **)&dgemm = t->dgemm;
  dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, (int)m, (int)n, (int)k, 1, a, (int)k, b,
        (int)n, 1, c, (int)n);
}

static void dot_f64(tki *t, double *c, operand a, operand b, shape s) {
  const double *x = (const double *)(const void *)a.data;
  const double *y = (const double *)(const void *)b.data;
  begin_sum(c, sizeof *c, &s);
  if (s.mma)
    BY_ROWS(t, fused_f64, c, x, y, s);
  else
    tki_dot_f64(t, c, x, y, s.m, s.n, s.k);
}

static void dot_int(tki *t, int32_t *c, operand a, operand b, shape s) {
  int32_t *ta = tki_scratch_new(t, s.m * s.k * sizeof *ta);
  int32_t *tb = tki_scratch_new(t, s.k * s.n * sizeof *tb);
  tki_unary_fn widen = tki_cast_kernel(a.d, TK_INT32, false);
  widen(ta, a.data, s.m * s.k);
  widen(tb, b.data, s.k * s.n);
  begin_sum(c, sizeof *c, &s);
  BY_ROWS(t, exact_i32, c, ta, tb, s);
  tki_scratch_free(t, ta);
  tki_scratch_free(t, tb);
}

/* Makes the block that products are added to, from the accumulator if there is
 * one, in the type that is summed in: fp32 for fp16 results.  Without one it
 * has no value yet.  If the accumulator is also an operand of the product it is
 * copied, because it is read while the sum is written. */
static tki_val start_sum(tki *t, const tk_inst *in, tki_val *frame,
                         const tk_type *type) {
  tki_val *acc = in->nargs > 2 ? frame + in->args[2] : NULL;
  bool same = type->elem == in->type.elem;
  if (acc && same) {
    const void *from = tki_lanes(acc);
    bool factor = in->args[2] == in->args[0] || in->args[2] == in->args[1];
    tki_val v = tki_result(t, in, frame, factor ? 0 : 1 << 2);
    void *to = tki_writable(&v);
    if (to != from) memcpy(to, from, (size_t)in->n * tk_lane_size(type));
    return v;
  }
  tki_val v = tki_val_new(t, type, (size_t)in->n);
  if (acc)
    tki_widen((tk_dtype)in->type.elem, tki_writable(&v), tki_lanes(acc),
              (size_t)in->n);
  return v;
}

void tki_run_DOT(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *a = frame + in->args[0], *b = frame + in->args[1];
  const tk_func *f = t->frame->func;
  const tk_type *ta = &in->from, *tb = &f->slots[in->args[1]].type;
  int rank = ta->rank;
  shape s = {(size_t)ta->shape[rank - 2], (size_t)tb->shape[rank - 1],
             (size_t)ta->shape[rank - 1], NULL, in->nargs < 3};
  tk_mma mma;
  if (t->device) {
    mma = tk_mma_of(f, in);
    s.mma = &mma;
  }
  size_t batch = rank == 3 ? (size_t)ta->shape[0] : 1;
  bool half = in->type.elem == TK_FP16;
  tk_type sum = half ? tk_with_elem(in->type, TK_FP32) : in->type;
  tki_val v = start_sum(t, in, frame, &sum);
  char *c = tki_writable(&v);
  operand x = {(tk_dtype)ta->elem, tki_lanes(a)};
  operand y = {(tk_dtype)tb->elem, tki_lanes(b)};
  for (size_t i = 0; i < batch; i++) {
    tki_poll(t);
    if (in->type.elem == TK_FP64)
      dot_f64(t, (double *)(void *)c, x, y, s);
    else if (in->type.elem == TK_INT32)
      dot_int(t, (void *)c, x, y, s);
    else
      dot_f32(t, in, (float *)(void *)c, x, y, s);
    c += s.m * s.n * tk_lane_size(&sum);
    x.data += s.m * s.k * tk_lane_size(ta);
    y.data += s.k * s.n * tk_lane_size(tb);
  }
  if (half) {
    tki_val r = tki_val_new(t, &in->type, (size_t)in->n);
    tki_narrow(TK_FP16, tki_writable(&r), tki_writable(&v), (size_t)in->n);
    tki_release(t, &v);
    v = r;
  }
  tki_set(t, &frame[in->res[0]], v);
}
