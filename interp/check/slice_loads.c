/* slice_loads.c - all elements that a value was made from, as ranges. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interp/check/slice_walk.h"

enum { MOST_LOADS = 1 << 18, MOST_GROUPS = 8 };

/* The elements of one tensor that one load read. */
typedef struct group {
  const tki_region *region;
  const tkc_node *node; /* of the last trip, and its lane */
  size_t lane;
  TK_VEC(uint64_t) addrs;
} group;

typedef struct collect {
  tkc_walk *w;
  tkc_seen seen;
  tkc_at base;
  TK_VEC(tkc_at) todo;
  group groups[MOST_GROUPS];
  size_t ngroups;
  bool more;
} collect;

static void push_lane(collect *c, tkc_at at) {
  bool base = at.ref == c->base.ref && at.lane == c->base.lane;
  if (!at.ref || base || !tkc_seen_add(c->w, &c->seen, at)) return;
  TK_PUSH(&c->w->arena, &c->todo, at);
}

static void add_load(collect *c, const tkc_node *n, size_t lane,
                     uint64_t addr) {
  const tki_region *r = tkc_node_region(c->w, n, lane);
  size_t i = 0;
  while (i < c->ngroups &&
         (c->groups[i].region != r || c->groups[i].node->in != n->in))
    i++;
  if (i == MOST_GROUPS) {
    c->more = true;
    return;
  }
  if (i == c->ngroups)
    c->groups[c->ngroups++] = (group){.region = r, .node = n, .lane = lane};
  if (n->trip > c->groups[i].node->trip)
    c->groups[i].node = n, c->groups[i].lane = lane;
  TK_PUSH(&c->w->arena, &c->groups[i].addrs, addr);
}

static void visit_lane(collect *c, tkc_at at) {
  const tkc_node *n = tkc_at_node(c->w, at);
  uint64_t addr;
  tkc_at stored;
  if (!n || n->kind != TKC_NODE_INST) return;
  if (tkc_loaded(n, at.lane, &addr)) {
    if (tkc_follow_store(c->w, n, at.lane, &stored))
      push_lane(c, stored);
    else
      add_load(c, n, at.lane, addr);
    return;
  }
  tkc_operands *o = &c->w->scratch;
  tkc_slice_operands(&c->w->arena, n, tkc_ref_result(at.ref), at.lane, o);
  for (size_t i = o->n; i-- > 0;) /* the first comes off first */
    if (!o->items[i].address) push_lane(c, tkc_operand_at(n, o->items[i]));
}

/* ---- ranges -------------------------------------------------------------- */

static int by_address(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static size_t unique(uint64_t *items, size_t n) {
  size_t k = 0;
  qsort(items, n, sizeof *items, by_address);
  for (size_t i = 0; i < n; i++)
    if (!k || items[k - 1] != items[i]) items[k++] = items[i];
  return k;
}

/* Finds the box around the elements; false: they do not belong to the
 * tensor. */
static bool box_of(const group *g, size_t n, int64_t *lo, int64_t *hi) {
  int64_t at[TK_MAX_RANK];
  if (!g->region) return false;
  for (size_t i = 0; i < n; i++) {
    if (!tki_element_index(g->region, g->addrs.items[i], at)) return false;
    for (int k = 0; k < g->region->tensor->rank; k++) {
      if (!i || at[k] < lo[k]) lo[k] = at[k];
      if (!i || at[k] > hi[k]) hi[k] = at[k];
    }
  }
  return true;
}

void tkc_slice_loads(tkc_walk *w, tkc_at at, tkc_at base,
                     void (*fn)(void *ud, const tkc_reads *r), void *ud) {
  collect c = {.w = w, .base = base};
  push_lane(&c, at);
  while (c.todo.n && c.seen.n < MOST_LOADS)
    visit_lane(&c, c.todo.items[--c.todo.n]);
  c.more |= c.todo.n > 0;
  for (size_t i = 0; i < c.ngroups; i++) {
    const group *g = &c.groups[i];
    tkc_reads r = {.node = g->node, .lane = g->lane, .region = g->region};
    r.n = unique(g->addrs.items, g->addrs.n);
    r.addr = g->addrs.items[0];
    r.is_box = box_of(g, r.n, r.lo, r.hi);
    fn(ud, &r);
  }
  if (c.more) fn(ud, &(tkc_reads){0});
}
