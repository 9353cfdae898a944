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
  enum { MOST = 227 << 10 }; /* of a program, on sm_90 */
  if (n > MOST)
    tkv_refuse(g,
               "it exchanges %zu bytes through shared memory, of which "
               "a program has %d",
               n, MOST);
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

/* Of those that hold the same lanes, the first thread writes. */
void tkv_share_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                     size_t base) {
  const char *thread = tkv_thread_number(g, &v->dist),
             *first = tkv_is_first(g, &v->dist);
  const char *write = tkv_new_name(g, "write"), *end = tkv_new_name(g, "end");
  tkv_scratch(g, base + (size_t)tk_numel(t) * tk_lane_size(t));
  tkv_barrier(g);
  if (first) {
    tkv_do(g, "br i1 %s, label %%%s, label %%%s", first, write, end);
    tkv_label(g, write);
  }
  for (uint32_t r = 0; r < (uint32_t)1 << v->dist.nreg; r++)
    if (tkv_dist_canonical(&v->dist, r) == r)
      tkv_shared_store(
          g, t, v->reg[r],
          tkv_shared_at(g, t, base, tkv_number(g, &v->dist, thread, r)));
  if (first) {
    tkv_do(g, "br label %%%s", end);
    tkv_label(g, end);
  }
}

const char **tkv_read_block(tkv_gen *g, const tk_type *t, const tkv_dist *d) {
  const char **reg = TK_NEWN(g->arena, const char *, (size_t)1 << d->nreg);
  const char *thread = tkv_thread_number(g, d);
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++) {
    uint32_t first = tkv_dist_canonical(d, r);
    reg[r] =
        first < r
            ? reg[first]
            : tkv_shared_load(
                  g, t, tkv_shared_at(g, t, 0, tkv_number(g, d, thread, r)));
  }
  return reg;
}
