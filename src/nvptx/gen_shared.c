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
  if (n > g->scratch) g->scratch = n;
}

/* In memory a lane takes whole bytes. */
tk_type tkv_stored_type(const tk_type *t) {
  return tkv_lane_bits(t) == 1 ? tk_scalar(TK_UINT8) : *t;
}

const char *tkv_shared_at(tkv_gen *g, const tk_type *t, size_t base,
                          const char *index) {
  const char *x =
      tkv_emit(g, "getelementptr i8, ptr addrspace(3) @scratch, i32 %zu", base);
  tk_type stored = tkv_stored_type(t);
  return tkv_emit(g, "getelementptr %s, ptr addrspace(3) %s, i32 %s",
                  tkv_lane_type(&stored), x, index);
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

/* Of those that hold the same lanes, the first thread writes. */
void tkv_share_part(tkv_gen *g, const tk_type *t, const tkv_version *v,
                    const tkv_dist *places, tkv_part part, size_t base) {
  const char *thread = tkv_thread_number(g, places),
             *writes = tkv_both(g, tkv_is_first(g, &v->dist),
                                is_in(g, &v->dist, part));
  const char *write = tkv_new_name(g, "write"), *end = tkv_new_name(g, "end");
  size_t bytes = (size_t)tk_numel(t) * tk_lane_size(t);
  tkv_scratch(g, base + (bytes >> __builtin_popcount(part.mask)));
  if (!TKV_MUTANT(BARRIER_WRITE)) tkv_barrier(g);
  if (writes) {
    tkv_do(g, "br i1 %s, label %%%s, label %%%s", writes, write, end);
    tkv_label(g, write);
  }
  for (uint32_t r = 0; r < (uint32_t)1 << v->dist.nreg; r++)
    if (may_be_in(&v->dist, part, r))
      tkv_shared_store(
          g, t, v->reg[r],
          tkv_shared_at(g, t, base, tkv_number(g, places, thread, r)));
  if (writes) {
    tkv_do(g, "br label %%%s", end);
    tkv_label(g, end);
  }
}

void tkv_share_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                     size_t base) {
  tkv_share_part(g, t, v, &v->dist, (tkv_part){0}, base);
}

void tkv_read_part(tkv_gen *g, const tk_type *t, const tkv_dist *d,
                   const tkv_dist *places, tkv_part part, const char **reg) {
  const char *thread = tkv_thread_number(g, places), *holds = is_in(g, d, part),
             *type = tkv_lane_type(t);
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++) {
    uint32_t first = tkv_dist_canonical(d, r);
    if (first < r) reg[r] = reg[first];
    if (!may_be_in(d, part, r)) continue;
    const char *x = tkv_shared_load(
        g, t, tkv_shared_at(g, t, 0, tkv_number(g, places, thread, r)));
    reg[r] = reg[r] && holds ? tkv_emit(g, "select i1 %s, %s %s, %s %s", holds,
                                        type, x, type, reg[r])
                             : x;
  }
}

const char **tkv_read_block(tkv_gen *g, const tk_type *t, const tkv_dist *d) {
  const char **reg = tkv_new_names(g, d);
  tkv_read_part(g, t, d, d, (tkv_part){0}, reg);
  return reg;
}
