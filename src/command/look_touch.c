/* look_touch.c - what accesses touch: which elements of which tensor, how
 * well they are coalesced, and where programs overlap.
 *
 * Each element has a few words of its own, so that adding an access is a
 * walk over its lanes; ranges are folded only when they are shown.
 */
#include <inttypes.h>
#include <string.h>

#include "command/look.h"
#include "interp/grid.h"

/* Sectors and lines as powers of two: divisions are what adding an access
 * would spend its time on. */
enum { WARP = 32, SECTOR = 32, SECTOR_BITS = 5, LINE_BITS = 7 };
enum { MOST_ELEMENTS = 1 << 24 };

static uint64_t element_size(const tkt_touch *c) {
  return tk_dtype_size(c->region->tensor->dtype);
}

tkt_touch tkt_touch_new(tk_env *e, const tki_access *a, const tki_region *r) {
  tkt_touch c = {.env = e, .in = a->in, .verb = a->verb, .region = r};
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

void tkt_touch_free(tkt_touch *c) {
  tk_free(c->env, c->first, (3 * c->n + 1) * sizeof *c->first);
  tk_free(c->env, c->own, c->n + 1);
}

/* ---- traffic ----------------------------------------------------------- */

/* The addresses of a warp's active lanes, ascending. */
static size_t sorted(const tki_access *a, size_t from, uint64_t *out) {
  size_t n = 0, end = from + WARP < a->n ? from + WARP : a->n;
  for (size_t i = from; i < end; i++) {
    if (a->mask && !a->mask[i]) continue;
    size_t k = n++;
    for (; k && out[k - 1] > a->addr[i]; k--) out[k] = out[k - 1];
    out[k] = a->addr[i];
  }
  return n;
}

/* Pieces of 2^bits bytes that ascending addresses touch. */
static uint64_t pieces(const uint64_t *at, size_t n, size_t size, int bits) {
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

static void add_runs(tkt_traffic *f, const tki_access *a) {
  uint64_t run = 0;
  for (size_t i = 0; i < a->n; i++) {
    bool on = !a->mask || a->mask[i];
    bool joins = on && run && a->addr[i] == a->addr[i - 1] + a->size;
    run = !on ? 0 : joins ? run + 1 : 1;
    f->runs += run == 1;
    if (run > f->longest) f->longest = run;
  }
}

static void add_traffic(tkt_traffic *f, const tki_access *a) {
  uint64_t at[WARP];
  f->times++;
  f->lanes += (uint64_t)a->in->n;
  for (size_t from = 0; from < a->n; from += WARP) {
    size_t n = sorted(a, from, at);
    f->active += n;
    f->warps += n > 0;
    f->wanted += pieces(at, n, a->size, 0);
    f->sectors += pieces(at, n, a->size, SECTOR_BITS);
    f->lines += pieces(at, n, a->size, LINE_BITS);
  }
  add_runs(f, a);
}

/* ---- elements ---------------------------------------------------------- */

static void add_element(tkt_touch *c, uint64_t e, uint32_t who, bool mine) {
  if (e >= c->n) return;
  if (!c->first[e]) c->first[e] = who;
  if (c->latest[e] != who) c->count[e]++;
  c->latest[e] = who;
  c->own[e] |= mine;
}

static void add_elements(tkt_touch *c, const tki_access *a, uint32_t who,
                         bool mine) {
  uint64_t lo = c->region->lo, bytes = c->region->hi - lo;
  int bits = __builtin_ctzll(element_size(c)); /* of a power of two */
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    uint64_t off = a->addr[i] - lo, last = (off + a->size - 1) >> bits;
    if (off >= bytes) continue;
    for (uint64_t e = off >> bits; e <= last; e++) add_element(c, e, who, mine);
  }
}

void tkt_touch_add(tkt_touch *c, const tki_access *a, uint64_t program,
                   bool mine) {
  add_traffic(&c->all, a);
  if (mine) add_traffic(&c->mine, a);
  c->programs += c->last != program + 1;
  c->last = program + 1;
  if (c->n) add_elements(c, a, (uint32_t)(program + 1), mine);
}

/* ---- ranges ------------------------------------------------------------ */

/* The indices of an element, if the tensor's strides tell them. */
static bool index_of(const tkt_touch *c, uint64_t e, int64_t *index) {
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

/* Whether an element is one of those meant. */
static bool is_meant(const tkt_touch *c, uint64_t e, bool mine) {
  return mine ? c->own[e] != 0 : c->first[e] != 0;
}

typedef struct axes {
  const tkt_touch *c;
  uint8_t *on[TK_MAX_RANK]; /* by index of an axis: somebody is there */
  int64_t n[TK_MAX_RANK];
  int rank;
  uint64_t elements; /* in all */
  uint64_t outside;  /* of the tensor's view of its memory */
} axes;

static void axes_free(axes *x) {
  for (int i = 0; i < x->rank; i++)
    tk_free(x->c->env, x->on[i], (size_t)x->n[i] + 1);
}

static axes axes_of(const tkt_touch *c, bool mine) {
  const tk_tensor *x = c->region->tensor;
  axes r = {.c = c, .rank = x->rank};
  for (int i = 0; i < x->rank; i++) {
    r.n[i] = x->shape[i];
    r.on[i] = tk_calloc(c->env, (size_t)x->shape[i] + 1, 1);
  }
  for (uint64_t e = 0; e < c->n; e++) {
    int64_t at[TK_MAX_RANK];
    if (!is_meant(c, e, mine)) continue;
    r.elements++;
    bool in = index_of(c, e, at);
    r.outside += !in;
    for (int i = 0; in && i < x->rank; i++) r.on[i][at[i]] = 1;
  }
  return r;
}

static int64_t next_on(const axes *x, int axis, int64_t from) {
  while (from < x->n[axis] && !x->on[axis][from]) from++;
  return from;
}

enum { MOST_RANGES = 4 };

/* "0:32", "0:64:2", "0:4 8:12": the indices of an axis. */
static void put_ranges(tk_buf *out, const axes *x, int axis) {
  int64_t n = x->n[axis], lo = next_on(x, axis, 0);
  for (int k = 0; lo < n; k++) {
    int64_t next = next_on(x, axis, lo + 1), step = next - lo, hi = lo;
    int64_t last = -1;
    if (k == MOST_RANGES) { /* the rest as a whole */
      for (int64_t i = lo; i < n; i = next_on(x, axis, i + 1)) last = i;
      tk_buf_printf(out, " ... %" PRId64, last);
      return;
    }
    while (next < n && next - hi == step) {
      hi = next;
      next = next_on(x, axis, hi + 1);
    }
    tk_buf_printf(out, k ? " %" PRId64 : "%" PRId64, lo);
    if (hi > lo) tk_buf_printf(out, ":%" PRId64, hi + 1);
    if (hi > lo && step > 1) tk_buf_printf(out, ":%" PRId64, step);
    lo = next;
  }
}

static int64_t numel(const tk_tensor *x) {
  int64_t n = 1;
  for (int i = 0; i < x->rank; i++) n *= x->shape[i];
  return n;
}

/* "C[0:32, 0:320]", with "within" before it if that is more than there is. */
static axes put_elements(tk_buf *out, const tkt_touch *c, bool mine) {
  axes x = axes_of(c, mine);
  uint64_t box = 1;
  for (int i = 0; i < x.rank; i++) {
    uint64_t count = 0;
    for (int64_t k = 0; k < x.n[i]; k++) count += x.on[i][k];
    box *= count;
  }
  if (box != x.elements - x.outside) tk_buf_puts(out, "within ");
  tk_buf_printf(out, "%s[", c->region->name);
  for (int i = 0; i < x.rank; i++) {
    if (i) tk_buf_puts(out, ", ");
    put_ranges(out, &x, i);
  }
  tk_buf_printf(out, "], %" PRIu64 " of %" PRId64 " elements\n", x.elements,
                numel(c->region->tensor));
  if (x.outside)
    tk_buf_printf(out, "  %" PRIu64 " of them outside of the tensor's view\n",
                  x.outside);
  return x;
}

/* ---- text -------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static const char *plural(uint64_t n) {
  return n == 1 ? "" : "s";
}

static void put_head(tk_buf *out, const tkt_touch *c, const tkt_traffic *f,
                     const char *of) {
  tk_buf_printf(out, "%s %s, %s: %" PRIu64 " time%s", c->verb,
                c->region ? c->region->name : "nothing", of, f->times,
                plural(f->times));
}

static void put_runs(tk_buf *out, const tkt_traffic *f) {
  if (f->runs == 1)
    tk_buf_puts(out, ", in one contiguous run");
  else if (f->longest == 1)
    tk_buf_puts(out, ", no two of them contiguous");
  else if (f->runs)
    tk_buf_printf(out, ", in %" PRIu64 " runs of up to %" PRIu64, f->runs,
                  f->longest);
}

static void put_traffic(tk_buf *out, const tkt_traffic *f) {
  tk_buf_printf(out, "  lanes    %" PRIu64 " of %" PRIu64 " active", f->active,
                f->lanes);
  if (f->active < f->lanes)
    tk_buf_printf(out, ", %" PRIu64 " wasted (%.0f %%)", f->lanes - f->active,
                  percent(f->lanes - f->active, f->lanes));
  if (f->lanes > f->times) put_runs(out, f); /* not of scalars */
  tk_buf_putc(out, '\n');
  if (!f->active) return;
  tk_buf_printf(out,
                "  traffic  %" PRIu64 " bytes wanted, %" PRIu64
                " moved (%.0f %% useful)\n",
                f->wanted, f->sectors * SECTOR,
                percent(f->wanted, f->sectors * SECTOR));
  tk_buf_printf(
      out,
      "           a warp takes %.3g sector%s of 32 bytes in %.3g "
      "line%s of 128\n",
      (double)f->sectors / (double)f->warps, f->sectors == f->warps ? "" : "s",
      (double)f->lines / (double)f->warps, f->lines == f->warps ? "" : "s");
}

static void put_place(tk_buf *out, const tkt_touch *c, bool mine, axes *x) {
  tk_buf_puts(out, "  elements ");
  if (c->n)
    *x = put_elements(out, c, mine);
  else
    tk_buf_puts(out, "too many to be counted one by one\n");
}

void tkt_touch_mine(tk_buf *out, const tkt_touch *c, const char *of) {
  axes x = {0};
  put_head(out, c, &c->mine, of);
  tk_buf_putc(out, '\n');
  if (!c->mine.times) return;
  if (c->mine.active) put_place(out, c, true, &x);
  put_traffic(out, &c->mine);
  if (c->mine.active && c->n) axes_free(&x);
}

static void put_pid(tk_buf *out, const tki *t, uint32_t who) {
  int64_t p[3];
  tki_pid_of(t, who - 1, p);
  tk_buf_printf(out, "(%" PRId64 ", %" PRId64 ", %" PRId64 ")", p[0], p[1],
                p[2]);
}

/* Elements of more than one program, and the one of the most. */
static void put_overlap(tk_buf *out, const tkt_touch *c, const tki *t) {
  uint64_t shared = 0, most = 0;
  for (uint64_t e = 0; e < c->n; e++) {
    shared += c->count[e] > 1;
    if (c->count[e] > c->count[most]) most = e;
  }
  int64_t at[TK_MAX_RANK];
  if (!shared) {
    tk_buf_puts(out, "  overlap  none: each element is of one program\n");
    return;
  }
  tk_buf_printf(out,
                "  overlap  %" PRIu64 " element%s of several programs, up to "
                "%" PRIu32 "\n",
                shared, plural(shared), c->count[most]);
  if (!index_of(c, most, at)) return;
  tk_buf_printf(out, "           %s[", c->region->name);
  for (int i = 0; i < c->region->tensor->rank; i++)
    tk_buf_printf(out, "%s%" PRId64, i ? ", " : "", at[i]);
  tk_buf_puts(out, c->count[most] > 2 ? "]: from " : "]: ");
  put_pid(out, t, c->first[most]);
  tk_buf_puts(out, c->count[most] > 2 ? " to " : " and ");
  put_pid(out, t, c->latest[most]);
  tk_buf_putc(out, '\n');
}

void tkt_touch_all(tk_buf *out, const tkt_touch *c, const tki *t,
                   const char *of) {
  axes x = {0};
  put_head(out, c, &c->all, of);
  tk_buf_printf(out, " by %" PRIu64 " program%s\n", c->programs,
                plural(c->programs));
  if (c->all.active) put_place(out, c, false, &x);
  put_traffic(out, &c->all);
  if (!c->all.active || !c->n) return;
  put_overlap(out, c, t);
  axes_free(&x);
}
