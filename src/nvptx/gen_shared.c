/* gen_shared.c - the scratch area in shared memory, and blocks that lie there.
 */
#include "nvptx/shared.h"

/* ---- the scratch area ---------------------------------------------------- */

void tkv_scratch(tkv_gen *g, size_t n) {
  size_t *most = g->buffers_in_use ? &g->beside : &g->scratch;
  if (n > *most) *most = n;
}

size_t tkv_buffer_bytes(const tkv_gen *g) {
  size_t unit = g->has_tiles ? TKV_TILE_ALIGNMENT : 1;
  return (g->buffers + unit - 1) / unit * unit;
}

size_t tkv_shared_bytes(const tkv_gen *g) {
  size_t copying = tkv_buffer_bytes(g) + g->beside;
  return copying > g->scratch ? copying : g->scratch;
}

size_t tkv_bytes_shared(const tk_type *t) {
  size_t bytes = (size_t)tk_numel(t) * tk_lane_size(t);
  return (bytes + 15) & ~(size_t)15;
}

tkv_reg tkv_scratch_at(tkv_gen *g, size_t base) {
  tkv_reg area = tkv_named_reg(g->buffers_in_use ? TKV_BESIDE : TKV_SCRATCH);
  if (!base) return area;
  return tkv_element(g->code, TKV_I8, area, tkv_i32((int64_t)base));
}

tkv_reg tkv_element_at(tkv_code *c, const tk_type *t, tkv_reg area,
                       tkv_reg index) {
  tk_type stored = tkv_stored_type(t);
  return tkv_element(c, tkv_lane_type(&stored), area, index);
}

tkv_reg tkv_shared_at(tkv_gen *g, const tk_type *t, size_t base,
                      tkv_reg index) {
  return tkv_element_at(g->code, t, tkv_scratch_at(g, base), index);
}

void tkv_shared_store(tkv_code *c, const tk_type *t, tkv_reg x, tkv_reg at) {
  tk_type stored = tkv_stored_type(t);
  TK_ASSERT(at.type.kind == TKV_SHARED);
  tkv_store(c, tkv_convert_lane(c, &stored, t, x), at);
}

tkv_reg tkv_shared_load(tkv_code *c, const tk_type *t, tkv_reg at) {
  tk_type stored = tkv_stored_type(t);
  TK_ASSERT(at.type.kind == TKV_SHARED);
  tkv_reg x = tkv_load(c, tkv_lane_type(&stored), at);
  return tkv_convert_lane(c, t, &stored, x);
}

tkv_reg tkv_scratch_load(tkv_gen *g, const tk_type *t, size_t base,
                         tkv_reg index) {
  return tkv_shared_load(g->code, t, tkv_shared_at(g, t, base, index));
}

/* ---- parts of blocks ----------------------------------------------------- */

/* Whether a register may hold lanes of a part of the block: bits that are the
 * thread's say the rest. */
static bool may_be_in(const tkv_dist *d, tkv_part part, uint32_t r) {
  uint32_t mask = part.mask & ~tkv_dist_threads(d);
  return tkv_dist_canonical(d, r) == r &&
         (tkv_dist_reg(d, r) & mask) == (part.value & mask);
}

/* Whether a thread holds lanes of it; no register: each does. */
static tkv_reg is_in(tkv_code *c, const tkv_dist *d, tkv_part part) {
  uint32_t mask = part.mask & tkv_dist_threads(d);
  if (!mask) return TKV_NO_REG;
  tkv_reg bits = tkv_and_n(c, tkv_thread_number(c, d), mask);
  return tkv_compare_n(c, TKV_EQ, bits, part.value & mask);
}

/* The address of the lane of register r. */
static tkv_reg lane_address(tkv_code *c, const tkv_stretch *s, tkv_reg thread,
                            uint32_t r) {
  tkv_reg number = tkv_number(c, s->places, thread, r);
  return tkv_element_at(c, s->type, s->area, number);
}

/* Neighbours are accessed as vectors of words, which LLVM makes one access of.
 */
static void store_neighbours(tkv_code *c, const tk_type *t, int n,
                             const tkv_reg *reg, tkv_reg at) {
  tkv_words w = tkv_words_of(t, n);
  int each = n / w.n;
  tkv_reg all = tkv_vector(tkv_word_type(&w), w.n);
  for (int i = 0; i < w.n; i++)
    all = tkv_insert(c, all, tkv_pack_word(c, &w, t, reg + i * each), i);
  tkv_store(c, all, at);
}

static void load_neighbours(tkv_code *c, const tk_type *t, int n, tkv_reg at,
                            tkv_reg *reg) {
  tkv_words w = tkv_words_of(t, n);
  int each = n / w.n;
  tkv_type vector = tkv_vector(tkv_word_type(&w), w.n).type;
  tkv_reg all = tkv_load(c, vector, at);
  for (int i = 0; i < w.n; i++)
    tkv_unpack_word(c, &w, t, tkv_extract(c, all, i), reg + i * each);
}

/* ---- writing ------------------------------------------------------------- */

static void write_registers(tkv_code *c, const tkv_version *v,
                            const tkv_stretch *to, tkv_reg thread) {
  int n = 1 << tkv_neighbours(to->places, tk_lane_size(to->type));
  for (uint32_t r = 0; r < (uint32_t)1 << v->dist.nreg; r += (uint32_t)n) {
    if (!may_be_in(&v->dist, to->part, r)) continue;
    tkv_reg at = lane_address(c, to, thread, r);
    if (n > 1)
      store_neighbours(c, to->type, n, v->reg + r, at);
    else
      tkv_shared_store(c, to->type, v->reg[r], at);
  }
}

/* Of those that hold the same lanes, the first thread writes. */
void tkv_write_part(tkv_gen *g, const tkv_version *v, const tkv_stretch *to) {
  tkv_code *c = g->code;
  TK_ASSERT(to->places->nreg == v->dist.nreg);
  tkv_reg thread = tkv_thread_number(c, to->places),
          holds = is_in(c, &v->dist, to->part),
          writes = tkv_both(c, tkv_is_first(c, &v->dist), holds);
  TK_ASSERT(tkv_are_lanes(to->type, v->reg, (size_t)1 << v->dist.nreg));
  tkv_label write = tkv_new_label(c, "write"), end = tkv_new_label(c, "end");
  if (tkv_exists(writes)) {
    tkv_branch(c, writes, write, end);
    tkv_put_label(c, write);
  }
  write_registers(c, v, to, thread);
  if (tkv_exists(writes)) {
    tkv_go_to(c, end);
    tkv_put_label(c, end);
  }
}

void tkv_share_part(tkv_gen *g, const tkv_version *v, const tkv_stretch *to,
                    size_t base) {
  tkv_stretch s = *to;
  size_t bytes = (size_t)tk_numel(s.type) * tk_lane_size(s.type);
  tkv_scratch(g, base + (bytes >> __builtin_popcount(s.part.mask)));
  if (!TKV_MUTANT(BARRIER_WRITE)) tkv_meet(g->code);
  s.area = tkv_scratch_at(g, base);
  tkv_write_part(g, v, &s);
}

void tkv_share_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                     size_t base) {
  tkv_stretch all = {.type = t, .places = &v->dist};
  tkv_share_part(g, v, &all, base);
}

/* ---- matrices ------------------------------------------------------------ */

/* Reads up to four matrices, from register r on: a word of each. */
static void load_matrices(tkv_code *c, const tkv_matrices *m, tkv_reg at,
                          tkv_reg *word) {
  static const tkv_type words[4] = {TKV_I32, TKV_I32, TKV_I32, TKV_I32};
  static const char *const texts[2][3] = {
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1];",
       "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0,$1}, [$2];",
       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];"},
      {"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {$0}, [$1];",
       "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0,$1}, [$2];",
       "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0,$1,$2,$3}, [$4];"}};
  tkv_reg address = tkv_address(c, at);
  TK_ASSERT(m->n >= 0 && m->n <= 2);
  tkv_asm a = {.text = texts[m->turned][m->n],
               .out = words,
               .nout = 1 << m->n,
               .in = &address,
               .nin = 1,
               .flags = TKV_MEMORY | TKV_CONVERGENT};
  tkv_results r = tkv_assemble_text(c, &a);
  for (int i = 0; i < a.nout; i++) word[i] = tkv_result(c, &r, i);
}

/* The register that holds the first lane of matrix i, of those that are read
 * from register r on. */
static uint32_t first_of_matrix(const tkv_matrices *m, uint32_t r, uint32_t i) {
  for (int k = 0; k < m->n; k++)
    if (i >> k & 1) r |= (uint32_t)1 << m->bit[k];
  return r;
}

static void read_matrices(tkv_code *c, const tkv_dist *d,
                          const tkv_stretch *from, const tkv_matrices *m,
                          tkv_reg *reg) {
  tkv_reg thread = tkv_thread_number(c, &m->rows), word[4];
  uint32_t n = (uint32_t)1 << m->word, within = n - 1;
  tkv_words w = tkv_words_of(from->type, (int)n);
  for (int i = 0; i < m->n; i++) within |= (uint32_t)1 << m->bit[i];
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++) {
    if ((r & within) || !may_be_in(d, from->part, r)) continue;
    tkv_reg at =
        tkv_number_with(c, &m->rows, thread, tkv_dist_reg(from->places, r));
    load_matrices(c, m, tkv_element_at(c, from->type, from->area, at), word);
    for (uint32_t i = 0; i < (uint32_t)1 << m->n; i++)
      tkv_unpack_word(c, &w, from->type, word[i],
                      reg + first_of_matrix(m, r, i));
  }
}

/* ---- reading ------------------------------------------------------------- */

/* Registers that hold something already keep it in threads that hold no lanes
 * of the part. */
static void read_lanes(tkv_code *c, const tkv_dist *d, const tkv_stretch *from,
                       tkv_reg *reg) {
  tkv_reg thread = tkv_thread_number(c, from->places),
          holds = is_in(c, d, from->part), x[16];
  int n = 1 << tkv_neighbours(from->places, tk_lane_size(from->type));
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r += (uint32_t)n) {
    if (!may_be_in(d, from->part, r)) continue;
    tkv_reg at = lane_address(c, from, thread, r);
    if (n > 1)
      load_neighbours(c, from->type, n, at, x);
    else
      x[0] = tkv_shared_load(c, from->type, at);
    for (int i = 0; i < n; i++) {
      tkv_reg *to = reg + r + i;
      bool keeps = tkv_exists(*to) && tkv_exists(holds);
      *to = keeps ? tkv_select(c, holds, x[i], *to) : x[i];
    }
  }
}

void tkv_read_part(tkv_gen *g, const tkv_dist *d, const tkv_stretch *from,
                   tkv_reg *reg) {
  tkv_matrices m;
  uint32_t apart = 0;
  TK_ASSERT(from->places->nreg == d->nreg);
  for (int i = 0; i < d->nreg; i++)
    if (d->reg[i] & from->part.mask) apart |= (uint32_t)1 << i;
  bool all_threads = !(from->part.mask & tkv_dist_threads(d)),
       matrices =
           tkv_find_matrices(from->places, tk_lane_size(from->type), apart, &m);
  if (all_threads && matrices)
    read_matrices(g->code, d, from, &m, reg);
  else
    read_lanes(g->code, d, from, reg);
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++)
    reg[r] = reg[tkv_dist_canonical(d, r)];
}

tkv_dist tkv_all_numbers(const tk_type *t) {
  tkv_dist all = {.nreg = tkv_log2(tk_numel(t))};
  for (int i = 0; i < all.nreg; i++) all.reg[i] = (uint32_t)1 << i;
  return all;
}

/* An instruction of a function that is called twice does it twice. */
void tkv_note_exchange(tkv_gen *g, const tkv_exchange *x) {
  for (size_t i = 0; i < g->exchanges.n; i++) {
    const tkv_exchange *known = &g->exchanges.items[i];
    if (known->in == x->in && tkv_dist_same(&known->written, &x->written) &&
        tkv_dist_same(&known->read, &x->read))
      return;
  }
  TK_PUSH(g->arena, &g->exchanges, *x);
}

/* Writes a block to the places in an area that somebody reads in a layout. */
static void write_at_places(tkv_gen *g, const tkv_version *v,
                            const tkv_placed *p, const tkv_dist *read) {
  tkv_note_exchange(g,
                    &(tkv_exchange){g->inst, p->type, tkv_all_numbers(&p->type),
                                    v->dist, *read, p->places});
  tkv_dist written = tkv_dist_map(&v->dist, tkv_place, &p->places);
  tkv_stretch all = {.type = &p->type, .places = &written, .area = p->area};
  tkv_write_part(g, v, &all);
}

void tkv_write_tile(tkv_gen *g, const tkv_version *v, const tkv_placed *p) {
  tkv_dist read = tkv_rows_of_tile(&p->type, &p->places, g->warps);
  write_at_places(g, v, p, &read);
}

tkv_placed tkv_write_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                           const tkv_dist *read, tkv_reg area) {
  tkv_placed p = {
      .type = *t, .places = tkv_find_places(t, &v->dist, read), .area = area};
  write_at_places(g, v, &p, read);
  if (TKV_MUTANT(SWIZZLE)) p.places.swizzle.from++;
  return p;
}

void tkv_read_placed(tkv_gen *g, const tkv_placed *p, const tkv_dist *d,
                     tkv_part part, tkv_reg *reg) {
  tkv_dist places = tkv_dist_map(d, tkv_place, &p->places);
  tkv_stretch from = {&p->type, &places, part, p->area};
  tkv_read_part(g, d, &from, reg);
}

tkv_reg *tkv_read_block(tkv_gen *g, const tk_type *t, const tkv_dist *d) {
  tkv_reg *reg = tkv_new_regs(g, d);
  tkv_stretch all = {.type = t, .places = d, .area = tkv_scratch_at(g, 0)};
  tkv_read_part(g, d, &all, reg);
  return reg;
}
