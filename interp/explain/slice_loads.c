/* slice_loads.c - all elements of memory that went into a value, by tensor and
 * load.
 */
#include <stdlib.h>

#include "interp/explain/slice_walk.h"

/* How many lanes are visited, and how many loads are listed. */
enum { MOST_LOADS = 1 << 18, MOST_GROUPS = 8 };

/* The elements of one tensor that one load read. */
typedef struct group {
  const tki_region *region;
  const tke_node *node; /* the load in its last trip, and the lane of it */
  size_t lane;
  TK_VEC(uint64_t) addrs;
} group;

typedef struct collect {
  tke_walk *w;
  tke_seen seen;
  tke_at base;
  TK_VEC(tke_at) todo;
  group groups[MOST_GROUPS];
  size_t ngroups;
  bool more; /* there were more loads than groups */
} collect;

static void push_lane(collect *c, tke_at at) {
  bool base = at.ref == c->base.ref && at.lane == c->base.lane;
  if (!at.ref || base || !tke_seen_add(c->w, &c->seen, at)) return;
  TK_PUSH(&c->w->arena, &c->todo, at);
}

static void add_load(collect *c, const tke_node *n, size_t lane,
                     uint64_t addr) {
  const tki_region *r = tke_node_region(c->w, n, lane);
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

static void visit_lane(collect *c, tke_at at) {
  const tke_node *n = tke_at_node(c->w, at);
  uint64_t addr;
  tke_at stored;
  if (!n || n->kind != TKE_NODE_INST) return;
  if (tke_loaded(n, at.lane, &addr)) {
    if (tke_follow_store(c->w, n, at.lane, &stored))
      push_lane(c, stored);
    else
      add_load(c, n, at.lane, addr);
    return;
  }
  tke_operands *o = &c->w->scratch;
  tke_slice_operands(&c->w->arena, n, tke_ref_result(at.ref), at.lane, o);
  for (size_t i = o->n; i-- > 0;) /* so that the first is visited first */
    if (!o->items[i].address) push_lane(c, tke_operand_at(n, o->items[i]));
}

/* ---- ranges -------------------------------------------------------------- */

static int by_address(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Sorts the items and drops duplicates; returns how many are left. */
static size_t unique(uint64_t *items, size_t n) {
  size_t k = 0;
  qsort(items, n, sizeof *items, by_address);
  for (size_t i = 0; i < n; i++)
    if (!k || items[k - 1] != items[i]) items[k++] = items[i];
  return k;
}

/* Finds the box around the elements; false if they are not all elements of the
 * tensor's view. */
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

void tke_slice_loads(tke_walk *w, tke_at at, tke_at base,
                     void (*fn)(void *ud, const tke_reads *r), void *ud) {
  collect c = {.w = w, .base = base};
  push_lane(&c, at);
  while (c.todo.n && c.seen.n < MOST_LOADS)
    visit_lane(&c, c.todo.items[--c.todo.n]);
  c.more |= c.todo.n > 0;
  for (size_t i = 0; i < c.ngroups; i++) {
    const group *g = &c.groups[i];
    tke_reads r = {.node = g->node, .lane = g->lane, .region = g->region};
    r.n = unique(g->addrs.items, g->addrs.n);
    TK_ASSERT(r.n); /* a group begins with an address */
    r.addr = g->addrs.items[0];
    r.is_box = box_of(g, r.n, r.lo, r.hi);
    fn(ud, &r);
  }
  if (c.more) fn(ud, &(tke_reads){0});
}
