/* touch.c - what accesses touch: which elements of which tensor, how well they
 * are coalesced, and where programs overlap.
 *
 * Each element has a few counters of its own, so that adding an access only
 * walks over its lanes.  Ranges of elements are made when a picture is asked
 * for.
 */
#include "base/ranges.h"
#include "interp/explain/touch.h"
#include "interp/grid.h"

/* Sectors and lines are given as powers of two: divisions would take most of
 * the time of adding an access. */
enum { WARP = 32, SECTOR = 32, SECTOR_BITS = 5, LINE_BITS = 7 };
enum { MOST_ELEMENTS = 1 << 24 };

static uint64_t element_size(const tke_touch *c) {
  return tk_dtype_size(c->region->tensor->dtype);
}

tke_touch tke_touch_new(tk_env *e, const tki_access *a, const tki_region *r) {
  tke_touch c = {.env = e, .in = a->in, .verb = a->verb, .region = r};
  if (!r) return c;
  uint64_t n = (r->hi - r->lo) / element_size(&c);
  if (n > MOST_ELEMENTS) return c;
  c.first = tk_calloc(e, 3 * n + 1, sizeof *c.first);
  c.latest = c.first + n;
  c.count = c.latest + n;
  c.own = tk_calloc(e, n + 1, 1);
  c.n = n;
  return c;
}

void tke_touch_free(tke_touch *c) {
  tk_free(c->env, c->first, (3 * c->n + 1) * sizeof *c->first);
  tk_free(c->env, c->own, c->n + 1);
}

/* ---- traffic ----------------------------------------------------------- */

/* The addresses of a warp's active lanes, ascending. */
static size_t sorted_addresses(const tki_access *a, size_t from,
                               uint64_t *out) {
  size_t n = 0, end = from + WARP < a->n ? from + WARP : a->n;
  for (size_t i = from; i < end; i++) {
    if (a->mask && !a->mask[i]) continue;
    size_t k = n++;
    for (; k && out[k - 1] > a->addr[i]; k--) out[k] = out[k - 1];
    out[k] = a->addr[i];
  }
  return n;
}

/* How many pieces of 2^bits bytes the ascending addresses touch. */
static uint64_t count_pieces(const uint64_t *at, size_t n, size_t size,
                             int bits) {
  uint64_t next = 0, count = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t lo = at[i] >> bits, hi = (at[i] + size - 1) >> bits;
    if (lo < next) lo = next;
    if (hi < lo) continue;
    count += hi - lo + 1;
    next = hi + 1;
  }
  return count;
}

/* Counts runs of active lanes whose elements follow each other in memory. */
static void add_runs(tk_traffic *f, const tki_access *a) {
  uint64_t run = 0;
  for (size_t i = 0; i < a->n; i++) {
    bool on = !a->mask || a->mask[i];
    bool joins = on && run && a->addr[i] == a->addr[i - 1] + a->size;
    run = !on ? 0 : joins ? run + 1 : 1;
    f->runs += run == 1;
    if (run > f->longest) f->longest = run;
  }
}

static void add_traffic(tk_traffic *f, const tki_access *a) {
  uint64_t at[WARP];
  f->times++;
  f->lanes += (uint64_t)a->in->n;
  for (size_t from = 0; from < a->n; from += WARP) {
    size_t n = sorted_addresses(a, from, at);
    f->active += n;
    f->warps += n > 0;
    f->wanted += count_pieces(at, n, a->size, 0);
    f->sectors += count_pieces(at, n, a->size, SECTOR_BITS);
    f->lines += count_pieces(at, n, a->size, LINE_BITS);
  }
  add_runs(f, a);
}

/* ---- elements ---------------------------------------------------------- */

static void add_elements(tke_touch *c, const tki_access *a, uint32_t who,
                         bool mine) {
  uint64_t lo = c->region->lo, bytes = c->region->hi - lo;
  TK_ASSERT(!(element_size(c) & (element_size(c) - 1)));
  int bits = __builtin_ctzll(element_size(c));
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    uint64_t off = a->addr[i] - lo, last = (off + a->size - 1) >> bits;
    if (off >= bytes) continue;
    for (uint64_t e = off >> bits; e <= last && e < c->n; e++) {
      if (!c->first[e]) c->first[e] = who;
      if (c->latest[e] != who) c->count[e]++;
      c->latest[e] = who;
      c->own[e] |= mine;
    }
  }
}

void tke_touch_add(tke_touch *c, const tki_access *a, uint64_t program,
                   bool mine) {
  add_traffic(&c->all, a);
  if (mine) add_traffic(&c->mine, a);
  c->programs += c->last != program + 1;
  c->last = program + 1;
  if (c->n) add_elements(c, a, (uint32_t)(program + 1), mine);
}

/* ---- ranges ------------------------------------------------------------ */

/* The indices of an element; false if the tensor's view does not have it, or
 * its strides leave it open which ones they are. */
static bool index_of(const tke_touch *c, uint64_t e, int64_t *index) {
  const tk_tensor *x = c->region->tensor;
  int64_t off = (int64_t)e -
                ((char *)x->data - c->region->host) / (int64_t)element_size(c);
  bool used[TK_MAX_RANK] = {false};
  for (int k = 0; k < x->rank; k++) {
    int best = -1;
    for (int i = 0; i < x->rank; i++)
      if (!used[i] && (best < 0 || x->strides[i] > x->strides[best])) best = i;
    used[best] = true;
    if (x->strides[best] <= 0 || off < 0) return false;
    index[best] = off / x->strides[best];
    off %= x->strides[best];
    if (index[best] >= x->shape[best]) return false;
  }
  return off == 0;
}

/* Which indices of each axis occur. */
typedef struct axes {
  uint8_t *on[TK_MAX_RANK];
  uint64_t outside; /* how many elements are not in the tensor's view */
} axes;

static axes axes_of(const tke_touch *c, tk_arena *a, bool mine,
                    uint64_t *elements) {
  const tk_tensor *x = c->region->tensor;
  axes r = {.outside = 0};
  for (int i = 0; i < x->rank; i++)
    r.on[i] = TK_NEWN(a, uint8_t, (size_t)x->shape[i] + 1);
  for (uint64_t e = 0; e < c->n; e++) {
    int64_t at[TK_MAX_RANK];
    if (mine ? !c->own[e] : !c->first[e]) continue;
    ++*elements;
    bool in = index_of(c, e, at);
    r.outside += !in;
    for (int i = 0; in && i < x->rank; i++) r.on[i][at[i]] = 1;
  }
  return r;
}

/* Gives the first program that touched each element of a small tensor. */
static void find_owners(tk_access_picture *p, const tke_touch *c, tk_arena *a) {
  const tk_tensor *x = c->region->tensor;
  if (p->total > TK_ACCESS_OWNERS) return;
  uint32_t *owners = TK_NEWN(a, uint32_t, (size_t)p->total);
  for (uint64_t e = 0; e < c->n; e++) {
    int64_t index[TK_MAX_RANK], at = 0;
    if (!c->first[e] || !index_of(c, e, index)) continue;
    for (int i = 0; i < x->rank; i++) at = at * x->shape[i] + index[i];
    owners[at] = c->first[e];
  }
  p->owners = owners;
}

static void find_elements(tk_access_picture *p, const tke_touch *c, tk_arena *a,
                          bool mine) {
  const tk_tensor *x = c->region->tensor;
  uint64_t box = 1;
  axes r = axes_of(c, a, mine, &p->elements);
  p->counted = true;
  p->rank = x->rank;
  p->outside = r.outside;
  p->total = 1;
  for (int i = 0; i < x->rank; i++) {
    uint64_t count = 0;
    for (int64_t k = 0; k < x->shape[i]; k++) count += r.on[i][k];
    box *= count;
    p->total *= x->shape[i];
    p->ranges[i] = tk_fold_ranges(a, r.on[i], x->shape[i], &p->nranges[i]);
  }
  p->exact = box == p->elements - r.outside;
}

/* Counts the elements that several programs touch, and finds the one that most
 * of them touch. */
static void find_overlap(tk_access_picture *p, const tke_touch *c,
                         const tki *t) {
  uint64_t most = 0;
  for (uint64_t e = 0; e < c->n; e++) {
    p->shared += c->count[e] > 1;
    if (c->count[e] > c->count[most]) most = e;
  }
  if (!p->shared) return;
  p->sharers = c->count[most];
  tki_pid_of(t, c->first[most] - 1, p->sharer_first);
  tki_pid_of(t, c->latest[most] - 1, p->sharer_last);
  p->has_most = index_of(c, most, p->most);
}

tk_access_picture tke_touch_picture(const tke_touch *c, tk_arena *a,
                                    const tki *t, bool mine) {
  const tk_traffic *f = mine ? &c->mine : &c->all;
  tk_access_picture p = {.verb = c->verb, .traffic = *f};
  p.traffic.moved = f->sectors * SECTOR;
  p.tensor = c->region ? c->region->name : NULL;
  p.whole_grid = !mine;
  p.programs = mine ? f->times > 0 : c->programs;
  if (!f->active || !c->n) return p;
  find_elements(&p, c, a, mine);
  find_owners(&p, c, a);
  if (!mine) find_overlap(&p, c, t);
  return p;
}

/* ---- accesses of a line ------------------------------------------------- */

/* Whether a statement of the line is running, or has called what is running. */
static bool is_on_line(const tke_touches *x, const tki_frame *f) {
  for (; f; f = f->caller)
    if (f->func->src == x->src && f->stmt &&
        tk_source_line(x->src, f->stmt->span.lo) == x->line)
      return true;
  return false;
}

/* The tensor that the first active lane accesses; NULL if no lane is active. */
static const tki_region *touched_region(const tki_access *a) {
  size_t i = 0;
  while (i < a->n && a->mask && !a->mask[i]) i++;
  return i < a->n ? tki_access_region(a, i) : NULL;
}

/* The tke_touch that an access belongs to; NULL if there is no room for it.  An
 * access without an active lane belongs to any one of its instruction. */
static tke_touch *touch_of(tke_touches *x, tk_env *e, const tki_access *a) {
  const tki_region *r = touched_region(a);
  for (size_t i = 0; i < x->n; i++) {
    tke_touch *c = &x->items[i];
    if (c->in != a->in || (r && c->region && c->region != r)) continue;
    if (r && !c->region) break;
    return c;
  }
  if (x->n == TKE_TOUCHES) return NULL;
  x->items[x->n] = tke_touch_new(e, a, r);
  return &x->items[x->n++];
}

void tke_touches_add(tke_touches *x, tki *t, const tki_access *a) {
  if (a->barrier || !is_on_line(x, t->frame)) return;
  tke_touch *c = touch_of(x, t->env, a);
  uint64_t index = tki_program_index(t);
  if (c)
    tke_touch_add(c, a, index, index == x->mine);
  else
    x->more = true;
}

void tke_touches_free(tke_touches *x) {
  for (size_t i = 0; i < x->n; i++) tke_touch_free(&x->items[i]);
  x->n = 0;
  x->more = false;
}
