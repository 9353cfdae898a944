/* wgmma.c - wgmma.mma_async: products of matrices by the four warps of a
 * warpgroup, from tiles in shared memory.
 *
 * Each warp has 16 of the 64 rows of A and D and needs all of B, so that each
 * computes its own part.  In registers, A lies as that of mma.m16n8 (mma.c); of
 * D, register i of lane (g, t) has row g + 8 (i / 2 % 2) and column
 * 8 (i / 4) + 2 t + i % 2, numbers of 16 bits being pairs.
 *
 * Numerics are those of mma.c: products are exact, their sum is in double in
 * the order of k, C is added last and the result rounded once.
 *
 * What is read is read at once, and what is computed is there at once; flight.c
 * finds who relies on that.
 */
#include "ptx/wgmma.h"

#include <string.h>

#include "base/clones.h"
#include "ptx/mma.h"
#include "ptx/number.h"

enum { ROWS = TKP_TILE_ROWS, MOST_K = 32, MOST_N = 256, CHUNK = 16 };

typedef struct product {
  double *a, *b, *c; /* a[row][MOST_K], b[k][MOST_N], c[row][MOST_N] */
  bool bad_rows[ROWS], bad_columns[MOST_N]; /* some element has no value */
} product;

/* ---- tiles -------------------------------------------------------------- */

/* Puts the elements of a chunk where they belong, step apart. */
static void spread(const tkp_wgmma_type *type, bool flag, bool negative,
                   const uint8_t bytes[16], double *to, size_t step) {
  for (uint32_t i = 0, size = type->bits / 8u; i < CHUNK; i += size) {
    uint32_t v = 0;
    memcpy(&v, bytes + i, size);
    double x = tkp_mma_element(type->type, flag, v);
    to[i / size * step] = negative ? -x : x;
  }
}

/* Reads a tile; element (row or column i, k) is to[i * step + k * step_k]. */
static void read_tile(tkp_warp *w, const tkp_inst *in, uint64_t descriptor,
                      bool is_a, double *to, size_t step, size_t step_k,
                      bool *bad) {
  const tkp_wgmma_type *type = &tkp_wgmma_types[in->target];
  bool mn = in->mode & (is_a ? TKP_WG_A_MN : TKP_WG_B_MN);
  bool flag = in->mode & (is_a ? TKP_WG_A_FLAG : TKP_WG_B_FLAG);
  bool negative = in->mode & (is_a ? TKP_WG_A_NEGATIVE : TKP_WG_B_NEGATIVE);
  uint64_t places[TKP_MOST_PLACES], hash = 0;
  uint32_t n = tkp_tile_places(w, in, descriptor, is_a, places);
  uint32_t each = CHUNK * 8u / type->bits;
  uint32_t chunks = n / (mn ? type->k : is_a ? ROWS : 8u * in->parts);
  for (uint32_t i = 0; i < n; i++) {
    uint8_t bytes[CHUNK];
    uint32_t line = i / chunks, at = i % chunks * each;
    bool set = tkp_read_chunk(w, in, places[i], bytes);
    hash = tkp_hash_bytes(hash, bytes);
    spread(type, flag, negative, bytes,
           mn ? &to[at * step + line * step_k] : &to[line * step + at * step_k],
           mn ? step : step_k);
    if (!set && mn) memset(bad + at, true, each);
    if (!set && !mn) bad[line] = true;
  }
  tkp_begin_tile_read(w, in, descriptor, is_a, hash);
}

/* ---- registers ----------------------------------------------------------- */

static void gather_a(tkp_warp *w, const tkp_inst *in, product *p) {
  const tkp_wgmma_type *type = &tkp_wgmma_types[in->target];
  uint32_t e = 32u / type->bits;
  for (uint32_t r = 0; r < TKP_A_REGS; r++) {
    uint32_t bad = ~w->set[in->s[r].id];
    for (uint32_t lane = 0; lane < TKP_WARP; lane++) {
      uint32_t row = lane / 4 + 8 * (r & 1), k = lane % 4 * e + 4 * e * (r / 2);
      uint32_t v = tkp_r32(w, in->s[r])[lane];
      if (bad >> lane & 1) p->bad_rows[row] = true;
      for (uint32_t j = 0; j < e; j++) {
        double x =
            tkp_mma_element(type->type, in->mode & TKP_WG_A_FLAG,
                            v >> (j * type->bits) & tkp_mask(type->bits));
        p->a[row * MOST_K + k + j] = in->mode & TKP_WG_A_NEGATIVE ? -x : x;
      }
    }
  }
}

TK_CLONES static void multiply(const product *p, size_t k, size_t n) {
  for (size_t i = 0; i < ROWS; i++) {
    double *c = &p->c[i * MOST_N];
    memset(c, 0, n * sizeof *c);
    for (size_t s = 0; s < k; s++) {
      double a = p->a[i * MOST_K + s];
      const double *b = &p->b[s * MOST_N];
      for (size_t j = 0; j < n; j++) c[j] += a * b[j];
    }
  }
}

/* One accumulator of all lanes; from is NULL where nothing is added to. */
static void put_result(tkp_warp *w, const tkp_inst *in, const product *p,
                       uint32_t r, const tkp_reg *from) {
  uint8_t accumulator = tkp_wgmma_types[in->target].accumulator;
  bool halves = accumulator == TK_AT_f16;
  uint32_t set = from ? w->set[from->id] : UINT32_MAX;
  for (uint32_t lane = 0; lane < TKP_WARP; lane++) {
    uint32_t was = from ? tkp_r32(w, *from)[lane] : 0;
    uint64_t v = 0;
    for (uint32_t j = 0; j <= halves; j++) {
      uint32_t i = halves ? 2 * r + j : r;
      uint32_t row = lane / 4 + 8 * (i / 2 % 2);
      uint32_t column = 8 * (i / 4) + lane % 4 * 2 + i % 2;
      v |= tkp_mma_added(accumulator, in->mode & TKP_WG_SATURATES,
                         was >> (16 * j), p->c[row * MOST_N + column])
           << (16 * j);
      if (p->bad_rows[row] || p->bad_columns[column])
        set &= ~(UINT32_C(1) << lane);
    }
    tkp_r32(w, in->d[r])[lane] = (uint32_t)v;
  }
  w->set[in->d[r].id] = set;
}

/* ---- the instructions ---------------------------------------------------- */

static bool is_whole(tkp_warp *w, const tkp_inst *in, uint32_t *lanes) {
  if (!tkp_gather(w, in, lanes, UINT32_MAX)) return false;
  if (*lanes != UINT32_MAX) {
    tkp_report(w, in, __builtin_ctz(~*lanes), TK_D_DEADLOCK,
               "a thread of the warp is missing");
    tkp_stop(w);
  }
  if ((w->index | (TKP_WARPGROUP - 1)) >= w->b->m->nwarps) {
    tkp_report(w, in, 0, TK_D_DEADLOCK,
               "this needs the four warps of a warpgroup, and the program has "
               "%u warps",
               w->b->m->nwarps);
    tkp_stop(w);
  }
  tkp_warp_met(w);
  return true;
}

/* A register that has the same in all threads. */
static uint64_t same_in_all(tkp_warp *w, const tkp_inst *in, tkp_reg r,
                            const char *what) {
  uint64_t v = tkp_get(w, r, 0);
  tkp_need_set(w, in, r, UINT32_MAX, what);
  for (int lane = 1; lane < TKP_WARP; lane++) {
    if (tkp_get(w, r, lane) == v) continue;
    tkp_report(w, in, lane, TK_D_VALUE,
               "%s is not the same in all threads of the warp", what);
    tkp_stop(w);
  }
  return v;
}

void tkp_run_wgmma(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  double *room = w->b->m->products;
  uint32_t a = in->mode & TKP_WG_A_REGS ? TKP_A_REGS : 1;
  product p = {.a = room,
               .b = room + ROWS * MOST_K,
               .c = room + ROWS * MOST_K + MOST_K * MOST_N};
  TK_ASSERT(in->target < (uint32_t)tkp_wgmma_ntypes && room);
  TK_ASSERT(in->ns == a + 2 + in->nd);
  if (!is_whole(w, in, &lanes)) return;
  tkp_watch_wgmma(w, in);
  if (in->mode & TKP_WG_A_REGS)
    gather_a(w, in, &p);
  else
    read_tile(w, in, same_in_all(w, in, in->s[0], "a matrix descriptor"), true,
              p.a, MOST_K, 1, p.bad_rows);
  read_tile(w, in, same_in_all(w, in, in->s[a], "a matrix descriptor"), false,
            p.b, 1, MOST_N, p.bad_columns);
  bool adds = same_in_all(w, in, in->s[a + 1], "scale-d");
  multiply(&p, tkp_wgmma_types[in->target].k, 8u * in->parts);
  for (uint32_t r = 0; r < in->nd; r++)
    put_result(w, in, &p, r, adds ? &in->s[a + 2 + r] : NULL);
}

size_t tkp_products_size(void) {
  return ROWS * MOST_K + MOST_K * MOST_N + ROWS * MOST_N;
}

void tkp_run_wgmma_fence(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (is_whole(w, in, &lanes)) w->flight->fence = ++w->flight->steps;
}

void tkp_run_wgmma_commit(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (is_whole(w, in, &lanes)) w->flight->group++;
}

void tkp_run_wgmma_wait(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  int64_t last = (int64_t)w->flight->group - 1 - in->offset;
  if (is_whole(w, in, &lanes) && last > 0) tkp_land(w, (uint32_t)last);
}

/* What the warp knows is visible to the asynchronous proxy from now on. */
void tkp_run_proxy_fence(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  const uint32_t *known = &w->b->clocks[w->index * TKP_MAX_WARPS];
  uint32_t *fenced = &w->b->fenced[w->index * TKP_MAX_WARPS];
  (void)in;
  (void)lanes;
  memcpy(fenced, known, TKP_MAX_WARPS * sizeof *fenced);
  tkp_warp_met(w);
}
