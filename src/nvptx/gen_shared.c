/* gen_shared.c - the scratch area in shared memory.
 *
 * Whoever writes to it begins with a barrier, so that nobody still reads what
 * was there, and has another before it is read.
 */
#include "nvptx/gen.h"

void tkv_barrier(tkv_gen *g) {
  tkv_do(g, "call void @llvm.nvvm.barrier0()");
}

void tkv_scratch(tkv_gen *g, size_t n) {
  size_t *most = g->buffers_in_use ? &g->beside : &g->scratch;
  if (n > *most) *most = n;
}

size_t tkv_shared_bytes(const tkv_gen *g) {
  size_t copying = g->buffers + g->beside;
  return copying > g->scratch ? copying : g->scratch;
}

/* In memory a lane takes whole bytes. */
tk_type tkv_stored_type(const tk_type *t) {
  return tkv_lane_bits(t) == 1 ? tk_scalar(TK_UINT8) : *t;
}

const char *tkv_scratch_at(tkv_gen *g, size_t base) {
  const char *area = g->buffers_in_use ? "%beside" : "@scratch";
  if (!base) return area;
  return tkv_emit(g, "getelementptr i8, ptr addrspace(3) %s, i32 %zu", area,
                  base);
}

const char *tkv_element_at(tkv_gen *g, const tk_type *t, const char *area,
                           const char *index) {
  tk_type stored = tkv_stored_type(t);
  return tkv_emit(g, "getelementptr %s, ptr addrspace(3) %s, i32 %s",
                  tkv_lane_type(&stored), area, index);
}

const char *tkv_shared_at(tkv_gen *g, const tk_type *t, size_t base,
                          const char *index) {
  return tkv_element_at(g, t, tkv_scratch_at(g, base), index);
}

void tkv_shared_store(tkv_gen *g, const tk_type *t, const char *x,
                      const char *at) {
  tk_type stored = tkv_stored_type(t);
  x = tkv_convert_lane(g, &stored, t, false, x);
  tkv_do(g, "store %s %s, ptr addrspace(3) %s", tkv_lane_type(&stored), x, at);
}

const char *tkv_shared_load(tkv_gen *g, const tk_type *t, const char *at) {
  tk_type stored = tkv_stored_type(t);
  const char *x =
      tkv_emit(g, "load %s, ptr addrspace(3) %s", tkv_lane_type(&stored), at);
  return tkv_convert_lane(g, t, &stored, false, x);
}

/* ---- blocks ------------------------------------------------------------- */

/* Whether a register may hold lanes of a part of the block: bits that are the
 * thread's say the rest. */
static bool may_be_in(const tkv_dist *d, tkv_part part, uint32_t r) {
  uint32_t mask = part.mask & ~tkv_dist_threads(d);
  return tkv_dist_canonical(d, r) == r &&
         (tkv_dist_reg(d, r) & mask) == (part.value & mask);
}

/* Whether a thread holds lanes of it: i1; NULL: each does. */
static const char *is_in(tkv_gen *g, const tkv_dist *d, tkv_part part) {
  uint32_t mask = part.mask & tkv_dist_threads(d);
  if (!mask) return NULL;
  const char *bits =
      tkv_emit(g, "and i32 %s, %u", tkv_thread_number(g, d), mask);
  return tkv_emit(g, "icmp eq i32 %s, %u", bits, part.value & mask);
}

/* As vectors of words, which LLVM makes one access of. */
static void store_neighbours(tkv_gen *g, const tk_type *t, int n,
                             const char **reg, const char *at) {
  tkv_words w = tkv_words_of(t, n);
  int bits = tkv_word_bits(&w), each = n / w.n;
  const char *all = "poison";
  for (int i = 0; i < w.n; i++)
    all = tkv_emit(g, "insertelement <%d x i%d> %s, i%d %s, i32 %d", w.n, bits,
                   all, bits, tkv_pack_word(g, &w, t, reg + i * each), i);
  tkv_do(g, "store <%d x i%d> %s, ptr addrspace(3) %s, align %zu", w.n, bits,
         all, at, (size_t)n * tk_lane_size(t));
}

static void load_neighbours(tkv_gen *g, const tk_type *t, int n, const char *at,
                            const char **reg) {
  tkv_words w = tkv_words_of(t, n);
  int bits = tkv_word_bits(&w), each = n / w.n;
  const char *all =
      tkv_emit(g, "load <%d x i%d>, ptr addrspace(3) %s, align %zu", w.n, bits,
               at, (size_t)n * tk_lane_size(t));
  for (int i = 0; i < w.n; i++)
    tkv_unpack_word(
        g, &w, t,
        tkv_emit(g, "extractelement <%d x i%d> %s, i32 %d", w.n, bits, all, i),
        reg + i * each);
}

/* Of those that hold the same lanes, the first thread writes. */
void tkv_write_part(tkv_gen *g, const tk_type *t, const tkv_version *v,
                    const tkv_dist *places, tkv_part part, const char *area) {
  const char *thread = tkv_thread_number(g, places),
             *writes = tkv_both(g, tkv_is_first(g, &v->dist),
                                is_in(g, &v->dist, part));
  const char *write = tkv_new_name(g, "write"), *end = tkv_new_name(g, "end");
  int n = 1 << tkv_neighbours(places, tk_lane_size(t));
  if (writes) {
    tkv_do(g, "br i1 %s, label %%%s, label %%%s", writes, write, end);
    tkv_label(g, write);
  }
  for (uint32_t r = 0; r < (uint32_t)1 << v->dist.nreg; r += (uint32_t)n) {
    if (!may_be_in(&v->dist, part, r)) continue;
    const char *at =
        tkv_element_at(g, t, area, tkv_number(g, places, thread, r));
    if (n > 1)
      store_neighbours(g, t, n, v->reg + r, at);
    else
      tkv_shared_store(g, t, v->reg[r], at);
  }
  if (writes) {
    tkv_do(g, "br label %%%s", end);
    tkv_label(g, end);
  }
}

void tkv_share_part(tkv_gen *g, const tk_type *t, const tkv_version *v,
                    const tkv_dist *places, tkv_part part, size_t base) {
  size_t bytes = (size_t)tk_numel(t) * tk_lane_size(t);
  tkv_scratch(g, base + (bytes >> __builtin_popcount(part.mask)));
  if (!TKV_MUTANT(BARRIER_WRITE)) tkv_barrier(g);
  tkv_write_part(g, t, v, places, part, tkv_scratch_at(g, base));
}

void tkv_share_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                     size_t base) {
  tkv_share_part(g, t, v, &v->dist, (tkv_part){0}, base);
}

/* ---- matrices
 * ------------------------------------------------------------------ */

/* Reads up to four matrices, from register r on: a word of each. */
static void load_matrices(tkv_gen *g, const tkv_matrices *m, const char *at,
                          const char **word) {
  static const char *const types[] = {"i32", "{i32, i32}",
                                      "{i32, i32, i32, i32}"},
                           *const outs[] = {"=r", "=r,=r", "=r,=r,=r,=r"},
                           *const regs[] = {"$0", "$0,$1", "$0,$1,$2,$3"};
  int n = 1 << m->n;
  at = tkv_emit(g, "ptrtoint ptr addrspace(3) %s to i32", at);
  const char *all = tkv_emit(
      g,
      "call %s asm sideeffect \"ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 "
      "{%s}, [$%d];\", \"%s,r,~{memory}\"(i32 %s) convergent",
      types[m->n], n, m->turned ? ".trans" : "", regs[m->n], n, outs[m->n], at);
  for (int i = 0; i < n; i++)
    word[i] = n > 1 ? tkv_emit(g, "extractvalue %s %s, %d", types[m->n], all, i)
                    : all;
}

static void read_matrices(tkv_gen *g, const tk_type *t, const tkv_dist *d,
                          const tkv_dist *places, const tkv_matrices *m,
                          tkv_part part, const char *area, const char **reg) {
  const char *thread = tkv_thread_number(g, &m->rows), *word[4];
  uint32_t n = (uint32_t)1 << m->word, within = n - 1;
  tkv_words w = tkv_words_of(t, (int)n);
  for (int i = 0; i < m->n; i++) within |= (uint32_t)1 << m->bit[i];
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++) {
    if ((r & within) || !may_be_in(d, part, r)) continue;
    const char *at =
        tkv_number_with(g, &m->rows, thread, tkv_dist_reg(places, r));
    load_matrices(g, m, tkv_element_at(g, t, area, at), word);
    for (uint32_t i = 0; i < (uint32_t)1 << m->n; i++) {
      uint32_t first = r;
      for (int k = 0; k < m->n; k++)
        if (i >> k & 1) first |= (uint32_t)1 << m->bit[k];
      tkv_unpack_word(g, &w, t, word[i], reg + first);
    }
  }
}

/* ---- reading
 * ------------------------------------------------------------------ */

static void read_lanes(tkv_gen *g, const tk_type *t, const tkv_dist *d,
                       const tkv_dist *places, tkv_part part, const char *area,
                       const char **reg) {
  const char *thread = tkv_thread_number(g, places), *holds = is_in(g, d, part),
             *type = tkv_lane_type(t), *x[16];
  int n = 1 << tkv_neighbours(places, tk_lane_size(t));
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r += (uint32_t)n) {
    if (!may_be_in(d, part, r)) continue;
    const char *at =
        tkv_element_at(g, t, area, tkv_number(g, places, thread, r));
    if (n > 1)
      load_neighbours(g, t, n, at, x);
    else
      x[0] = tkv_shared_load(g, t, at);
    for (int i = 0; i < n; i++, x[i - 1] = NULL)
      reg[r + (uint32_t)i] =
          reg[r + (uint32_t)i] && holds
              ? tkv_emit(g, "select i1 %s, %s %s, %s %s", holds, type, x[i],
                         type, reg[r + (uint32_t)i])
              : x[i];
  }
}

void tkv_read_part(tkv_gen *g, const tk_type *t, const tkv_dist *d,
                   const tkv_dist *places, tkv_part part, const char *area,
                   const char **reg) {
  tkv_matrices m;
  uint32_t apart = 0;
  for (int i = 0; i < d->nreg; i++)
    if (d->reg[i] & part.mask) apart |= (uint32_t)1 << i;
  bool all_threads = !(part.mask & tkv_dist_threads(d)),
       matrices = tkv_find_matrices(places, tk_lane_size(t), apart, &m);
  if (all_threads && matrices)
    read_matrices(g, t, d, places, &m, part, area, reg);
  else
    read_lanes(g, t, d, places, part, area, reg);
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++)
    reg[r] = reg[tkv_dist_canonical(d, r)];
}

tkv_placed tkv_write_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                           const tkv_dist *read, const char *area) {
  tkv_placed p = {*t, tkv_find_places(t, &v->dist, read), area};
  tkv_dist written = tkv_dist_map(&v->dist, tkv_place, &p.places);
  tkv_write_part(g, t, v, &written, (tkv_part){0}, area);
  if (TKV_MUTANT(SWIZZLE)) p.places.swizzle.from++;
  return p;
}

void tkv_read_placed(tkv_gen *g, const tkv_placed *p, const tkv_dist *d,
                     tkv_part part, const char **reg) {
  tkv_dist places = tkv_dist_map(d, tkv_place, &p->places);
  tkv_read_part(g, &p->type, d, &places, part, p->area, reg);
}

const char **tkv_read_block(tkv_gen *g, const tk_type *t, const tkv_dist *d) {
  const char **reg = tkv_new_names(g, d);
  tkv_read_part(g, t, d, d, (tkv_part){0}, tkv_scratch_at(g, 0), reg);
  return reg;
}
