/* mma.c - products of matrices whose parts the lanes of a warp hold, and how
 * such parts come from shared memory.
 *
 * Of a lane, g = lane / 4 and t = lane % 4.  A register of A has e elements,
 * those of B as many; register r has, of A, row g + 8 (r odd) and columns from
 * t e + 4 e (r / 2); of B, rows from t e + 4 e r, and column g.  C and D have
 * rows g and g + 8, columns 2 t and 2 t + 1.
 *
 * Numerics: products are exact and summed in double, in the order of k, and C
 * is added last; what leaves is rounded once, to nearest.  tf32 uses the upper
 * 19 bits of its operands.  f64 rounds at each step.
 */
#include "ptx/mma.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "ptx/exec.h"
#include "ptx/number.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MMA_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MMA_CLONES
#endif

const tkp_mma_shape tkp_mma_shapes[] = {
    {16, 8, 16, TK_AT_f16, TK_AT_f32, 4, 2, 4, 16},
    {16, 8, 16, TK_AT_f16, TK_AT_f16, 4, 2, 2, 16},
    {16, 8, 8, TK_AT_f16, TK_AT_f32, 2, 1, 4, 16},
    {16, 8, 8, TK_AT_f16, TK_AT_f16, 2, 1, 2, 16},
    {16, 8, 16, TK_AT_bf16, TK_AT_f32, 4, 2, 4, 16},
    {16, 8, 8, TK_AT_bf16, TK_AT_f32, 2, 1, 4, 16},
    {16, 8, 8, TK_AT_tf32, TK_AT_f32, 4, 2, 4, 32},
    {16, 8, 4, TK_AT_tf32, TK_AT_f32, 2, 1, 4, 32},
    {16, 8, 32, TK_AT_s8, TK_AT_s32, 4, 2, 4, 8},
    {16, 8, 16, TK_AT_s8, TK_AT_s32, 2, 1, 4, 8},
    {16, 8, 32, TKP_E4M3, TK_AT_f32, 4, 2, 4, 8},
    {16, 8, 32, TKP_E4M3, TK_AT_f16, 4, 2, 2, 8},
    {16, 8, 16, TKP_E4M3, TK_AT_f32, 2, 1, 4, 8},
    {8, 8, 4, TK_AT_f64, TK_AT_f64, 1, 1, 2, 64},
    {16, 8, 4, TK_AT_f64, TK_AT_f64, 2, 1, 4, 64},
    {16, 8, 8, TK_AT_f64, TK_AT_f64, 4, 2, 4, 64},
    {16, 8, 16, TK_AT_f64, TK_AT_f64, 8, 4, 4, 64},
};
const int tkp_mma_nshapes = (int)TK_COUNT(tkp_mma_shapes);

enum { MOST_K = 32, MOST_M = 16, N = 8 };

typedef struct product {
  double a[MOST_M][MOST_K], b[MOST_K][N], c[MOST_M][N];
  uint32_t bad_rows, bad_columns; /* some element has no value */
} product;

double tkp_mma_element(uint8_t type, bool flag, uint64_t bits) {
  switch (type) {
  case TK_AT_f16: return tkp_half((uint32_t)bits);
  case TK_AT_bf16: return tk_bits_f32((uint32_t)bits << 16);
  case TK_AT_tf32: return tk_bits_f32((uint32_t)bits & 0xFFFFE000);
  case TK_AT_s8: return flag ? (int8_t)bits : (uint8_t)bits;
  case TK_AT_f64: return tk_bits_f64(bits);
  default: return tk_fp8_to_f32(flag ? TK_FP8E5 : TK_FP8E4NV, (uint8_t)bits);
  }
}

static void gather_a(tkp_warp *w, const tkp_inst *in, const tkp_mma_shape *s,
                     product *p) {
  int e = s->bits >= 32 ? 1 : 32 / s->bits;
  for (int r = 0; r < s->a; r++) {
    uint32_t bad = ~w->set[in->s[r].id];
    for (int lane = 0; lane < TKP_WARP; lane++) {
      int row = lane / 4 + (s->m > 8 ? 8 * (r & 1) : 0);
      int column = lane % 4 * e + 4 * e * (s->m > 8 ? r / 2 : r);
      TK_ASSERT(row < s->m && column + e <= s->k);
      uint64_t v = tkp_get(w, in->s[r], lane);
      if (bad >> lane & 1) p->bad_rows |= UINT32_C(1) << row;
      for (int j = 0; j < e; j++)
        p->a[row][column + j] = tkp_mma_element(
            s->type, in->mode & 1, v >> (j * s->bits) & tkp_mask(s->bits));
    }
  }
}

static void gather_b(tkp_warp *w, const tkp_inst *in, const tkp_mma_shape *s,
                     product *p) {
  int e = s->bits >= 32 ? 1 : 32 / s->bits;
  for (int r = 0; r < s->b; r++) {
    tkp_reg reg = in->s[s->a + r];
    uint32_t bad = ~w->set[reg.id];
    for (int lane = 0; lane < TKP_WARP; lane++) {
      uint64_t v = tkp_get(w, reg, lane);
      TK_ASSERT((lane % 4 + 4 * r + 1) * e <= s->k);
      if (bad >> lane & 1) p->bad_columns |= UINT32_C(1) << (lane / 4);
      for (int j = 0; j < e; j++)
        p->b[lane % 4 * e + 4 * e * r + j][lane / 4] = tkp_mma_element(
            s->type, in->mode >> 1 & 1, v >> (j * s->bits) & tkp_mask(s->bits));
    }
  }
}

MMA_CLONES static void multiply_sum(const tkp_mma_shape *s, product *p) {
  for (int i = 0; i < s->m; i++)
    for (int k = 0; k < s->k; k++)
      for (int j = 0; j < N; j++) p->c[i][j] += p->a[i][k] * p->b[k][j];
}

static void multiply_f64(const tkp_mma_shape *s, product *p) {
  for (int i = 0; i < s->m; i++)
    for (int k = 0; k < s->k; k++)
      for (int j = 0; j < N; j++)
        p->c[i][j] = fma(p->a[i][k], p->b[k][j], p->c[i][j]);
}

uint64_t tkp_mma_added(uint8_t accumulator, bool saturates, uint64_t was,
                       double sum) {
  if (accumulator == TK_AT_f64) return tk_f64_bits(sum);
  if (accumulator == TK_AT_f16)
    return tk_f32_to_f16((float)(tk_f16_to_f32((uint16_t)was) + sum));
  if (accumulator == TK_AT_f32) {
    float f = (float)(tk_bits_f32((uint32_t)was) + sum);
    return f != f ? 0x7FFFFFFF : tk_f32_bits(f);
  }
  int64_t v = (int32_t)(uint32_t)was + (int64_t)sum;
  if (saturates) v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
  return (uint32_t)v;
}

static void scatter(tkp_warp *w, const tkp_inst *in, const tkp_mma_shape *s,
                    product *p) {
  bool halves = s->accumulator == TK_AT_f16;
  for (int r = 0; r < s->c; r++) {
    tkp_reg from = in->s[s->a + s->b + r], to = in->d[r];
    uint32_t set = w->set[from.id];
    for (int lane = 0; lane < TKP_WARP; lane++) {
      uint64_t was = tkp_get(w, from, lane), v = 0;
      for (int j = 0; j <= halves; j++) {
        int i = halves ? 2 * r + j : r;
        int row = lane / 4 + 8 * (i >> 1), column = lane % 4 * 2 + (i & 1);
        uint64_t x = tkp_mma_added(s->accumulator, in->mode >> 2,
                                   was >> (16 * j), p->c[row][column]);
        v |= x << (16 * j);
        if (p->bad_rows >> row & 1 || p->bad_columns >> column & 1)
          set &= ~(UINT32_C(1) << lane);
      }
      tkp_put(w, to, lane, v);
    }
    w->set[to.id] = set;
  }
}

static bool whole_warp(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (!tkp_gather(w, in, &lanes, UINT32_MAX)) return false;
  if (lanes != UINT32_MAX) {
    tkp_report(w, in, __builtin_ctz(~lanes), TK_D_DEADLOCK,
               "a thread of the warp is missing");
    tkp_stop(w);
  }
  return true;
}

/* C may be D: it is read where it is written, lane by lane. */
void tkp_run_mma(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  TK_ASSERT(in->target < (uint32_t)tkp_mma_nshapes);
  const tkp_mma_shape *s = &tkp_mma_shapes[in->target];
  product p;
  if (!whole_warp(w, in, lanes)) return;
  TK_ASSERT(in->ns == s->a + s->b + s->c && in->nd == s->c);
  p.bad_rows = p.bad_columns = 0;
  memset(p.c, 0, sizeof p.c);
  gather_a(w, in, s, &p);
  gather_b(w, in, s, &p);
  if (s->type == TK_AT_f64) {
    for (int r = 0; r < s->c; r++)
      for (int lane = 0; lane < TKP_WARP; lane++)
        p.c[lane / 4 + 8 * (r >> 1)][lane % 4 * 2 + (r & 1)] =
            tk_bits_f64(tkp_get(w, in->s[s->a + s->b + r], lane));
    multiply_f64(s, &p);
  } else {
    multiply_sum(s, &p);
  }
  scatter(w, in, s, &p);
}

/* ---- matrices in shared memory ------------------------------------------ */

static tkp_access row_access(tkp_warp *w, const tkp_inst *in, int lane,
                             bool write) {
  return (tkp_access){.in = in,
                      .lane = lane,
                      .space = in->space,
                      .write = write,
                      .verb = write ? "store of a matrix" : "load of a matrix",
                      .addr = tkp_address_of(w, in, lane),
                      .size = 16,
                      .align = 16};
}

static void need_rows(tkp_warp *w, const tkp_inst *in) {
  uint32_t rows = in->parts == 4 ? UINT32_MAX : (1u << (8 * in->parts)) - 1;
  if (in->base.bits) tkp_need_set(w, in, in->base, rows, "an address");
}

/* Where a lane's j-th element is: row and column. */
static void element_at(const tkp_inst *in, int lane, int j, int *row,
                       int *column) {
  int a = lane / 4, b = lane % 4 * 2 + j;
  *row = in->mode ? b : a;
  *column = in->mode ? a : b;
}

void tkp_run_ldmatrix(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint16_t m[4][8][8];
  uint32_t set[4] = {0};
  if (!whole_warp(w, in, lanes)) return;
  need_rows(w, in);
  for (int i = 0; i < in->parts; i++)
    for (int r = 0; r < 8; r++) {
      tkp_access a = row_access(w, in, 8 * i + r, false);
      memcpy(m[i][r], tkp_reach(w, &a), 16);
      bool has = !w->b->shadow || a.space != TKP_SHARED ||
                 tkp_race_read(w, &a) == tkp_mask(a.size);
      set[i] |= (uint32_t)has << r;
    }
  for (int i = 0; i < in->parts; i++) {
    uint32_t good = UINT32_MAX;
    for (int lane = 0; lane < TKP_WARP; lane++) {
      uint32_t v = 0;
      for (int j = 0; j < 2; j++) {
        int row, column;
        element_at(in, lane, j, &row, &column);
        v |= (uint32_t)m[i][row][column] << (16 * j);
        if (!(set[i] >> row & 1)) good &= ~(UINT32_C(1) << lane);
      }
      tkp_r32(w, in->d[i])[lane] = v;
    }
    w->set[in->d[i].id] = good;
  }
  tkp_warp_met(w);
}

void tkp_run_stmatrix(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (!whole_warp(w, in, lanes)) return;
  need_rows(w, in);
  for (int i = 0; i < in->parts; i++) {
    uint16_t m[8][8];
    bool set = w->set[in->s[i].id] == UINT32_MAX;
    for (int lane = 0; lane < TKP_WARP; lane++)
      for (int j = 0; j < 2; j++) {
        int row, column;
        element_at(in, lane, j, &row, &column);
        m[row][column] = (uint16_t)(tkp_r32(w, in->s[i])[lane] >> (16 * j));
      }
    for (int r = 0; r < 8; r++) {
      tkp_access a = row_access(w, in, 8 * i + r, true);
      uint8_t *p = tkp_reach(w, &a);
      if (w->b->shadow && a.space == TKP_SHARED)
        tkp_race_write(w, &a, p, m[r], set ? UINT64_MAX : 0);
      memcpy(p, m[r], 16);
    }
  }
}
