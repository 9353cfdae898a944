/* bounds.c - accesses between the elements of a view.
 *
 * The interpreter itself stops at what lies outside of a tensor's memory.
 * Rows of a view may be further apart than they are long, though: what lies
 * between them belongs to the memory, but not to the view.  Only views whose
 * strides form a ladder are looked at, where each step is longer than all
 * that the smaller ones reach.  A view that was given a stride of 0 is left
 * alone: its kernel may have a stride of its own for that axis.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/index.h"
#include "interp/check/check.h"
#include "interp/check/undefined.h"
#include "interp/check/window.h"
#include "interp/describe.h"

typedef struct gaps {
  tkc *c;
  tki_observer observer;
  bool *has; /* by region */
} gaps;

/* Returns the axis with the next longer step than `than` among those that have
 * more than one index; -1: there is none. */
static int next_axis(const tk_tensor *x, int64_t than) {
  int best = -1;
  for (int i = 0; i < x->rank; i++) {
    int64_t step = llabs(x->strides[i]);
    if (x->shape[i] < 2 || step <= than) continue;
    if (best < 0 || step < llabs(x->strides[best])) best = i;
  }
  return best;
}

/* Whether elements of a view lie further apart than they must.  Every axis that
 * has more than one index must be a step of the ladder. */
static bool has_gaps(const tk_tensor *x) {
  int64_t reach = 0, step = 0;
  int seen = 0, axes = 0;
  bool gap = false;
  for (int i = 0; i < x->rank; i++) {
    if (!x->shape[i] || (x->shape[i] > 1 && !x->strides[i])) return false;
    axes += x->shape[i] > 1;
  }
  for (int i; (i = next_axis(x, step)) >= 0; seen++) {
    step = llabs(x->strides[i]);
    if (step <= reach) return false; /* no ladder */
    gap |= step > reach + 1;
    reach += (x->shape[i] - 1) * step;
  }
  return gap && seen == axes;
}

/* Whether an address lies between the first and the last element of the view,
 * but in none of its elements. */
static bool is_between(const tki_region *r, uint64_t addr) {
  const tk_tensor *x = r->tensor;
  int64_t index[TK_MAX_RANK];
  uint64_t size = tk_dtype_size(x->dtype);
  uint64_t first = r->lo + (uint64_t)((char *)x->data - r->host), last = first;
  for (int i = 0; i < x->rank; i++) {
    int64_t far = (x->shape[i] - 1) * x->strides[i];
    *(far < 0 ? &first : &last) += (uint64_t)far * size;
  }
  if (addr < first || addr > last) return false;
  return !tki_element_index(r, addr - (addr - first) % size, index);
}

static void report_gap(gaps *g, tki *t, const tki_access *a, size_t lane) {
  const tki_region *r = &t->regions[a->region];
  const tk_tensor *x = r->tensor;
  uint64_t base = r->lo + (uint64_t)((char *)x->data - r->host);
  int64_t at = (int64_t)(a->addr[lane] - base) / (int64_t)a->size;
  tk_diag *d = tkc_report(g->c, t, TK_D_BOUNDS, NULL, NULL,
                          "%s between the elements of %s: offset %" PRId64
                          " is in the gap that its strides leave",
                          a->verb, r->name, at);
  if (d) tki_note_element(t, d, r, a->addr[lane]);
  if (a->in->type.rank)
    tkc_note(g->c, d, NULL, "first bad lane: %s",
             tkc_lane(g->c, &a->in->type, lane));
  tkc_note(g->c, d, NULL, "%s is %s[%s] with strides [%s]", r->name,
           tk_dtype_name(x->dtype), tk_ints_text(&g->c->run, x->shape, x->rank),
           tk_ints_text(&g->c->run, x->strides, x->rank));
  tkc_help(g->c, d,
           "compare the mask with the shape of %s, and the offsets "
           "with its strides",
           r->name);
  tkc_reported(g->c, t, d);
}

/* A store into a gap that nothing has ever been written to loses nothing: rows
 * are often made longer than they need be, so that whole blocks can be stored
 * to them. */
static bool is_padding(tki *t, const tki_access *a, size_t lane) {
  const tki_region *r = &t->regions[a->region];
  const char *host = r->host + (a->addr[lane] - r->lo);
  return a->write && !a->read && tkc_undefined_before(t, r, host, a->size);
}

/* A pointer whose view is not known is left alone: it may belong to another
 * view of the same memory. */
static void gap_access(void *ud, tki *t, const tki_access *access) {
  gaps *g = ud;
  if (access->region == TKI_ANY || !g->has[access->region]) return;
  tki_access a = tki_access_lanes(access);
  for (size_t i = 0; i < a.n; i++) {
    if (a.mask && !a.mask[i]) continue;
    if (!is_between(&t->regions[a.region], a.addr[i])) continue;
    if (is_padding(t, &a, i)) continue;
    report_gap(g, t, &a, i);
    return;
  }
}

void *tkc_BOUNDS_begin(tkc *c, tki *t) {
  tkc_windows_begin(c, t);
  gaps *g = TK_NEW(&c->run, gaps);
  *g = (gaps){.c = c, .has = TK_NEWN(&c->run, bool, t->nregions + 1)};
  bool any = false;
  for (size_t i = 0; i < t->nregions; i++) {
    const tk_tensor *x = t->regions[i].tensor;
    any |= g->has[i] = x && has_gaps(x);
  }
  if (!any) return NULL;
  g->observer = (tki_observer){.ud = g, .access = gap_access, .rows = true};
  tki_observe(t, &g->observer);
  return g;
}

/* Nothing is left to do: every finding was reported where it happened. */
void tkc_BOUNDS_end(tkc *c, void *ud, tki *t, tk_status st) {
  (void)c, (void)ud, (void)t, (void)st;
}
