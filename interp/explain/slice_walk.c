/* slice_walk.c - following the values of a trace back, step by step.
 */
#include "interp/explain/slice_walk.h"

/* A search gives up after so many values. */
enum { MOST_VISITS = 512 };

/* ---- sets of lanes ------------------------------------------------------ */

static size_t place_of(const tke_seen *s, tke_at at) {
  TK_ASSERT(at.ref && s->n < s->cap); /* a free entry ends every search */
  uint64_t h = at.ref * 0x9E3779B97F4A7C15u ^ at.lane * 0xC2B2AE3D27D4EB4Fu;
  size_t i = (size_t)(h ^ h >> 29) & (s->cap - 1);
  while (s->items[i].ref &&
         (s->items[i].ref != at.ref || s->items[i].lane != at.lane))
    i = (i + 1) & (s->cap - 1);
  return i;
}

static void grow_seen(tke_walk *w, tke_seen *s) {
  tke_seen old = *s;
  s->cap = s->cap ? 2 * s->cap : 64;
  s->items = TK_NEWN(&w->arena, tke_at, s->cap);
  for (size_t i = 0; i < old.cap; i++)
    if (old.items[i].ref) s->items[place_of(s, old.items[i])] = old.items[i];
}

bool tke_seen_add(tke_walk *w, tke_seen *s, tke_at at) {
  if (2 * s->n >= s->cap) grow_seen(w, s);
  size_t i = place_of(s, at);
  if (s->items[i].ref) return false;
  s->items[i] = at;
  s->n++;
  return true;
}

/* ---- steps --------------------------------------------------------------- */

static double lane_double(const tk_type *type, const tki_val *v, size_t lane) {
  return tk_lane_double((tk_dtype)type->elem,
                        tki_lane(v, lane, tk_lane_size(type)));
}

/* Whether a cast has left the lane's value as it was. */
static bool casts_exactly(const tke_node *n, size_t lane) {
  const tk_type *to = tke_node_type(n, 0), *from = tke_node_arg_type(n, 0);
  if (to->ptr || from->ptr) return true;
  double x = lane_double(to, tke_node_value(n, 0), lane);
  double y = lane_double(from, &n->vals[0], lane);
  return x == y || (x != x && y != y);
}

/* Whether a node hands an operand's lane on unchanged. */
static bool passes(const tke_node *n, size_t lane) {
  if (n->kind != TKE_NODE_INST) return false;
  if (tke_node_is(n, TK_I_CAST)) return casts_exactly(n, lane);
  return tk_inst_moves(n->in);
}

static const tke_operands *operands(tke_walk *w, const tke_node *n, tke_at at) {
  tke_slice_operands(&w->arena, n, tke_ref_result(at.ref), at.lane,
                     &w->scratch);
  return &w->scratch;
}

tke_at tke_settle(tke_walk *w, tke_at at) {
  const tke_node *n;
  while ((n = tke_at_node(w, at)) && passes(n, at.lane)) {
    const tke_operands *o = operands(w, n, at);
    TK_ASSERT(o->n == 1); /* it only moves a lane */
    tke_at next = tke_operand_at(n, o->items[0]);
    if (!tke_at_node(w, next)) break;
    at = next;
  }
  return at;
}

bool tke_is_const(tke_walk *w, tke_at at) {
  const tke_node *n = tke_at_node(w, tke_settle(w, at));
  if (n && tke_node_is(n, TK_I_CAST))
    n = tke_at_node(w, tke_settle(w, (tke_at){n->refs[0], 0}));
  return n && tke_node_is(n, TK_I_CONST);
}

uint64_t tke_node_address(const tke_node *n, size_t lane) {
  TK_ASSERT(tke_node_arg_type(n, 0)->ptr); /* an access has its address first */
  return *(const uint64_t *)tki_lane(&n->vals[0], lane, sizeof(uint64_t));
}

const tki_region *tke_node_region(const tke_walk *w, const tke_node *n,
                                  size_t lane) {
  int32_t region = n->vals[0].region;
  if (region != TKI_ANY) return &w->x->t->regions[region];
  return tki_region_at(w->x->t, tke_node_address(n, lane), 1);
}

static bool mask_of(const tke_node *n, int arg, size_t lane) {
  return *(const uint8_t *)tki_lane(&n->vals[arg], lane, 1);
}

bool tke_loaded(const tke_node *n, size_t lane, uint64_t *addr) {
  if (!tke_node_is(n, TK_I_LOAD)) return false;
  int mask = tk_load_mask(n->in);
  if (mask >= 0 && !mask_of(n, mask, lane)) return false;
  *addr = tke_node_address(n, lane);
  return true;
}

/* Gives the last lane of a store that wrote to the address. */
static bool stored_lane(const tke_node *n, uint64_t addr, size_t *lane) {
  size_t size = tk_lane_size(&n->in->type);
  for (size_t i = (size_t)n->in->n; i-- > 0;) {
    uint64_t at = tke_node_address(n, i);
    bool masked = n->nargs > 2 && !mask_of(n, 2, i);
    *lane = i;
    if (at <= addr && addr - at < size && !masked) return true;
  }
  return false;
}

bool tke_follow_store(tke_walk *w, const tke_node *n, size_t lane, tke_at *to) {
  uint64_t addr;
  size_t from;
  const tke_writer *by = tke_node_writer(w->x, n, lane);
  const tke_node *store = by ? tke_trace_node(w->x, by->node) : NULL;
  if (!store || !tke_node_is(store, TK_I_STORE)) return false;
  if (!tke_loaded(n, lane, &addr) || !stored_lane(store, addr, &from))
    return false;
  *to = (tke_at){store->refs[1], tki_is_uniform(&store->vals[1]) ? 0 : from};
  return true;
}

/* ---- searches ------------------------------------------------------------ */

typedef struct search {
  tke_walk *w;
  tke_seen seen;
  /* What is looked for: the value `want`, unless its ref is 0; what the
   * instruction of `from` gave in an earlier trip, unless it is NULL; or any
   * access to memory. */
  tke_at want;
  const tke_node *from;
  tke_path *path;
  int visits;
} search;

static bool is_earlier(const search *s, const tke_node *n) {
  const tke_node *from = s->from;
  if (n->kind != TKE_NODE_INST || n->in != from->in || n->loop != from->loop)
    return false;
  return n->outer_trip < from->outer_trip ||
         (n->outer_trip == from->outer_trip && n->trip < from->trip);
}

static bool is_found(const search *s, const tke_node *n, tke_at at) {
  if (s->want.ref) return at.ref == s->want.ref && at.lane == s->want.lane;
  if (s->from) return is_earlier(s, n);
  return tke_node_is(n, TK_I_LOAD) || tke_node_is(n, TK_I_ATOMIC) ||
         tke_node_is(n, TK_I_CAS);
}

static bool find_from(search *s, tke_at at, int depth);

static bool find_through(search *s, tke_at to, int arg, int depth) {
  TK_ASSERT(depth <= TKE_PATH);
  if (depth == TKE_PATH) return false;
  if (s->path) s->path->args[depth] = arg;
  return find_from(s, to, depth + 1);
}

/* Searches the operands of a node.  Of a long operation only the first term is
 * followed, which stands for all. */
static bool find_below(search *s, const tke_node *n, tke_at at, int depth) {
  tke_at next[16];
  int args[16];
  const tke_operands *o = operands(s->w, n, at);
  size_t many = o->n - o->terms + (o->terms ? o->each : 0);
  if (many > TK_COUNT(next)) many = TK_COUNT(next);
  size_t k = 0;
  for (size_t i = 0; i < many; i++) {
    if (s->from && o->items[i].address) continue;
    args[k] = o->items[i].arg;
    next[k++] = tke_operand_at(n, o->items[i]);
  }
  for (size_t i = 0; i < k; i++)
    if (find_through(s, next[i], args[i], depth)) return true;
  tke_at stored;
  return tke_follow_store(s->w, n, at.lane, &stored) &&
         find_through(s, stored, TKE_STORED, depth);
}

static bool find_from(search *s, tke_at at, int depth) {
  const tke_node *n = tke_at_node(s->w, at);
  if (!n || s->visits++ > MOST_VISITS || !tke_seen_add(s->w, &s->seen, at))
    return false;
  if (is_found(s, n, at)) {
    if (s->path) s->path->n = depth, s->path->to = at;
    return true;
  }
  return find_below(s, n, at, depth);
}

bool tke_reads_memory(tke_walk *w, tke_at at) {
  search s = {.w = w};
  return find_from(&s, at, 0);
}

bool tke_leads_to(tke_walk *w, tke_at at, tke_at to) {
  search s = {.w = w, .want = to};
  return find_from(&s, at, 0);
}

bool tke_recurs(tke_walk *w, tke_at at, tke_path *out) {
  const tke_node *n = tke_at_node(w, at);
  search s = {.w = w, .from = n, .path = out};
  if (!n || n->kind != TKE_NODE_INST || !n->loop) return false;
  if (!n->trip && !n->outer_trip) return false;
  return find_from(&s, at, 0);
}

tke_at tke_path_follow(tke_walk *w, tke_at at, const tke_path *p) {
  for (int i = 0; i < p->n; i++) {
    const tke_node *n = tke_at_node(w, at);
    tke_at next = {0, 0};
    if (n && p->args[i] == TKE_STORED) {
      tke_follow_store(w, n, at.lane, &next);
    } else if (n) {
      const tke_operands *o = operands(w, n, at);
      for (size_t k = 0; k < o->n && !next.ref; k++)
        if (o->items[k].arg == p->args[i])
          next = tke_operand_at(n, o->items[k]);
    }
    if (!tke_at_node(w, next)) return next.ref || !n ? next : at;
    at = next;
  }
  return at;
}
