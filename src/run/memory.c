/* memory.c - keeping the memory of a launch. */
#include "run/memory.h"

#include <string.h>

#include "launch/areas.h"

typedef struct keeping {
  tkr_memory *to;
  const tk_launch *launch;
  tk_arena *arena;
} keeping;

static bool is_kept(const tkr_memory *m, const tk_memory *x) {
  for (size_t i = 0; i < m->n; i++)
    if (m->items[i].at == x->host && m->items[i].n >= x->hi - x->lo)
      return true;
  return false;
}

static void keep_memory(tk_env *e, void *ud) {
  const keeping *k = ud;
  tk_memory x;
  (void)e;
  for (size_t i = 0; tk_memory_at(k->launch, i, &x); i++) {
    if (!x.tensor || x.readonly || x.hi == x.lo || is_kept(k->to, &x)) continue;
    size_t n = (size_t)(x.hi - x.lo);
    TK_ASSERT(x.lo < x.hi);
    tkr_kept kept = {x.host, tk_arena_alloc(k->arena, n), n};
    memcpy(kept.before, x.host, n);
    TK_PUSH(k->arena, k->to, kept);
  }
}

tk_status tkr_memory_keep(tkr_memory *m, const tk_launch *l, tk_arena *a) {
  keeping k = {m, l, a};
  return tk_session_guard(l->session, keep_memory, &k);
}

void tkr_memory_put_back(const tkr_memory *m) {
  for (size_t i = 0; i < m->n; i++)
    memcpy(m->items[i].at, m->items[i].before, m->items[i].n);
}

bool tkr_memory_is_as_kept(const tkr_memory *m) {
  for (size_t i = 0; i < m->n; i++)
    if (memcmp(m->items[i].at, m->items[i].before, m->items[i].n)) return false;
  return true;
}
