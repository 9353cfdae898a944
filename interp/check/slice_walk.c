/* slice_walk.c - following values back, step by step.
 */
#include "interp/check/slice_walk.h"

#include <string.h>

enum { MOST_VISITS = 512 };

/* ---- what was seen ------------------------------------------------------- */

static size_t place_of(const tkc_seen *s, tkc_at at) {
  uint64_t h = at.ref * 0x9E3779B97F4A7C15u ^ at.lane * 0xC2B2AE3D27D4EB4Fu;
  size_t i = (size_t)(h ^ h >> 29) & (s->cap - 1);
  while (s->items[i].ref &&
         (s->items[i].ref != at.ref || s->items[i].lane != at.lane))
    i = (i + 1) & (s->cap - 1);
  return i;
}

static void grow_seen(tkc_walk *w, tkc_seen *s) {
  tkc_seen old = *s;
  s->cap = s->cap ? 2 * s->cap : 64;
  s->items = TK_NEWN(&w->arena, tkc_at, s->cap);
  for (size_t i = 0; i < old.cap; i++)
    if (old.items[i].ref) s->items[place_of(s, old.items[i])] = old.items[i];
}

bool tkc_seen_add(tkc_walk *w, tkc_seen *s, tkc_at at) {
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

static bool casts_exactly(const tkc_node *n, size_t lane) {
  const tk_type *to = tkc_node_type(n, 0), *from = tkc_node_arg_type(n, 0);
  if (to->ptr || from->ptr) return true;
  double x = lane_double(to, tkc_node_value(n, 0), lane);
  double y = lane_double(from, &n->vals[0], lane);
  return x == y || (x != x && y != y);
}

static bool passes(const tkc_node *n, size_t lane) {
  if (n->kind != TKC_NODE_INST) return false;
  if (tkc_node_is(n, TK_I_CAST)) return casts_exactly(n, lane);
  return tk_inst_moves(n->in);
}

static const tkc_operands *operands(tkc_walk *w, const tkc_node *n, tkc_at at) {
  tkc_slice_operands(&w->arena, n, tkc_ref_result(at.ref), at.lane,
                     &w->scratch);
  return &w->scratch;
}

tkc_at tkc_settle(tkc_walk *w, tkc_at at) {
  const tkc_node *n;
  while ((n = tkc_at_node(w, at)) && passes(n, at.lane)) {
    tkc_at next = tkc_operand_at(n, operands(w, n, at)->items[0]);
    if (!tkc_at_node(w, next)) break;
    at = next;
  }
  return at;
}

bool tkc_is_const(tkc_walk *w, tkc_at at) {
  const tkc_node *n = tkc_at_node(w, tkc_settle(w, at));
  if (n && tkc_node_is(n, TK_I_CAST))
    n = tkc_at_node(w, tkc_settle(w, (tkc_at){n->refs[0], 0}));
  return n && tkc_node_is(n, TK_I_CONST);
}

uint64_t tkc_node_address(const tkc_node *n, size_t lane) {
  return *(const uint64_t *)tki_lane(&n->vals[0], lane, sizeof(uint64_t));
}

const tki_region *tkc_node_region(const tkc_walk *w, const tkc_node *n,
                                  size_t lane) {
  int32_t region = n->vals[0].region;
  if (region != TKI_ANY) return &w->x->t->regions[region];
  return tki_region_at(w->x->t, tkc_node_address(n, lane), 1);
}

static bool mask_of(const tkc_node *n, int arg, size_t lane) {
  return *(const uint8_t *)tki_lane(&n->vals[arg], lane, 1);
}

bool tkc_loaded(const tkc_node *n, size_t lane, uint64_t *addr) {
  if (!tkc_node_is(n, TK_I_LOAD)) return false;
  int mask = tk_load_mask(n->in);
  if (mask >= 0 && !mask_of(n, mask, lane)) return false;
  *addr = tkc_node_address(n, lane);
  return true;
}

/* Gives the last lane of a store that wrote to an address. */
static bool stored_lane(const tkc_node *n, uint64_t addr, size_t *lane) {
  size_t size = tk_lane_size(&n->in->type);
  for (size_t i = (size_t)n->in->n; i-- > 0;) {
    uint64_t at = tkc_node_address(n, i);
    bool masked = n->nargs > 2 && !mask_of(n, 2, i);
    *lane = i;
    if (at <= addr && addr - at < size && !masked) return true;
  }
  return false;
}

bool tkc_follow_store(tkc_walk *w, const tkc_node *n, size_t lane, tkc_at *to) {
  uint64_t addr;
  size_t from;
  const tkc_writer *by = tkc_node_writer(w->x, n, lane);
  const tkc_node *store = by ? tkc_trace_node(w->x, by->node) : NULL;
  if (!store || !tkc_node_is(store, TK_I_STORE)) return false;
  if (!tkc_loaded(n, lane, &addr) || !stored_lane(store, addr, &from))
    return false;
  *to = (tkc_at){store->refs[1], tki_is_uniform(&store->vals[1]) ? 0 : from};
  return true;
}

/* ---- searches ------------------------------------------------------------ */

typedef struct search {
  tkc_walk *w;
  tkc_seen seen;
  const tkc_node *from; /* of recurs; NULL: any access to memory */
  tkc_at want;          /* if ref is not 0, this alone */
  tkc_path *path;
  int visits;
} search;

static bool is_earlier(const search *s, const tkc_node *n) {
  const tkc_node *from = s->from;
  if (n->kind != TKC_NODE_INST || n->in != from->in || n->loop != from->loop)
    return false;
  return n->outer_trip < from->outer_trip ||
         (n->outer_trip == from->outer_trip && n->trip < from->trip);
}

static bool is_found(const search *s, const tkc_node *n, tkc_at at) {
  if (s->want.ref) return at.ref == s->want.ref && at.lane == s->want.lane;
  if (s->from) return is_earlier(s, n);
  return tkc_node_is(n, TK_I_LOAD) || tkc_node_is(n, TK_I_ATOMIC) ||
         tkc_node_is(n, TK_I_CAS);
}

static bool find_from(search *s, tkc_at at, int depth);

static bool find_through(search *s, tkc_at to, int arg, int depth) {
  if (depth == TKC_PATH) return false;
  if (s->path) s->path->args[depth] = arg;
  return find_from(s, to, depth + 1);
}

/* Only the first term of a long operation is followed; it stands for all. */
static bool find_below(search *s, const tkc_node *n, tkc_at at, int depth) {
  tkc_at next[16];
  int args[16];
  const tkc_operands *o = operands(s->w, n, at);
  size_t many = o->n - o->terms + (o->terms ? o->each : 0);
  if (many > TK_COUNT(next)) many = TK_COUNT(next);
  size_t k = 0;
  for (size_t i = 0; i < many; i++) {
    if (s->from && o->items[i].address) continue;
    args[k] = o->items[i].arg;
    next[k++] = tkc_operand_at(n, o->items[i]);
  }
  for (size_t i = 0; i < k; i++)
    if (find_through(s, next[i], args[i], depth)) return true;
  tkc_at stored;
  return tkc_follow_store(s->w, n, at.lane, &stored) &&
         find_through(s, stored, TKC_STORED, depth);
}

static bool find_from(search *s, tkc_at at, int depth) {
  const tkc_node *n = tkc_at_node(s->w, at);
  if (!n || s->visits++ > MOST_VISITS || !tkc_seen_add(s->w, &s->seen, at))
    return false;
  if (is_found(s, n, at)) {
    if (s->path) s->path->n = depth, s->path->to = at;
    return true;
  }
  return find_below(s, n, at, depth);
}

bool tkc_reads_memory(tkc_walk *w, tkc_at at) {
  search s = {.w = w};
  return find_from(&s, at, 0);
}

bool tkc_leads_to(tkc_walk *w, tkc_at at, tkc_at to) {
  search s = {.w = w, .want = to};
  return find_from(&s, at, 0);
}

bool tkc_recurs(tkc_walk *w, tkc_at at, tkc_path *out) {
  const tkc_node *n = tkc_at_node(w, at);
  search s = {.w = w, .from = n, .path = out};
  if (!n || n->kind != TKC_NODE_INST || !n->loop) return false;
  if (!n->trip && !n->outer_trip) return false;
  return find_from(&s, at, 0);
}

tkc_at tkc_path_follow(tkc_walk *w, tkc_at at, const tkc_path *p) {
  for (int i = 0; i < p->n; i++) {
    const tkc_node *n = tkc_at_node(w, at);
    tkc_at next = {0, 0};
    if (n && p->args[i] == TKC_STORED) {
      tkc_follow_store(w, n, at.lane, &next);
    } else if (n) {
      const tkc_operands *o = operands(w, n, at);
      for (size_t k = 0; k < o->n && !next.ref; k++)
        if (o->items[k].arg == p->args[i])
          next = tkc_operand_at(n, o->items[k]);
    }
    if (!tkc_at_node(w, next)) return next.ref || !n ? next : at;
    at = next;
  }
  return at;
}
