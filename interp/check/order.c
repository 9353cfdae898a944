/* order.c - what the run left: unwritten elements, results that depend on
 * the order of the programs, or on whether the launch ran before.
 *
 * The grid is run again only when programs touched each other's memory:
 * where they did not, no order can matter; and, in turns, when they can wait
 * for each other.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/format.h"
#include "interp/check/shadow.h"
#include "interp/schedule.h"
#include "interp/site.h"

/* ---- unwritten --------------------------------------------------------- */

/* The elements of a tensor that nobody wrote, and the box around them. */
typedef struct hole {
  uint64_t n, total;
  int64_t lo[TK_MAX_RANK], hi[TK_MAX_RANK], first[TK_MAX_RANK];
} hole;

static uint64_t address_of(const tki_region *r, const int64_t *index) {
  const tk_tensor *x = r->tensor;
  int64_t off = 0;
  for (int i = 0; i < x->rank; i++) off += index[i] * x->strides[i];
  uint64_t base = r->lo + (uint64_t)((char *)x->data - r->host);
  return base + (uint64_t)(off * (int64_t)tk_dtype_size(x->dtype));
}

/* Returns the first of the last axes whose elements are contiguous. */
static int packed_from(const tk_tensor *x) {
  int64_t run = 1;
  int axis = x->rank;
  while (axis > 0 && x->strides[axis - 1] == run) run *= x->shape[--axis];
  return axis;
}

/* The next index of the first axes, in row-major order; false after the
 * last. */
static bool next_index(const tk_tensor *x, int axes, int64_t *index) {
  for (int i = axes - 1; i >= 0; i--) {
    if (++index[i] < x->shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

static bool is_covered(const tkc_span *x, const tki_region *r) {
  tkc_history history = {1, 0};
  for (uint64_t at = r->lo; at < r->hi && history.write;)
    at = tkc_intervals_end(&x->history, at, r->hi, &history);
  return history.write != 0;
}

static void widen_hole(hole *h, const tk_tensor *x, const int64_t *index) {
  for (int i = 0; i < x->rank; i++) {
    if (!h->n) h->first[i] = h->lo[i] = h->hi[i] = index[i];
    if (index[i] < h->lo[i]) h->lo[i] = index[i];
    if (index[i] > h->hi[i]) h->hi[i] = index[i];
  }
}

/* Adds elements `from` to `to` of the axes after the first `axes`, which are
 * contiguous.  If they go on in another row, the box covers the end of one row
 * and the beginning of another. */
static void add_to_hole(hole *h, const tk_tensor *x, int axes, int64_t *index,
                        uint64_t from, uint64_t to) {
  int64_t last[TK_MAX_RANK];
  uint64_t a = from, b = to - 1;
  memcpy(last, index, sizeof last);
  int crossed = x->rank;
  for (int i = x->rank - 1; i >= axes; i--) {
    uint64_t n = (uint64_t)x->shape[i];
    index[i] = (int64_t)(a % n), last[i] = (int64_t)(b % n);
    a /= n, b /= n;
    if (a != b) crossed = i;
  }
  widen_hole(h, x, index);
  h->n += to - from;
  widen_hole(h, x, last);
  for (int i = crossed; i < x->rank; i++)
    h->lo[i] = 0, h->hi[i] = x->shape[i] - 1;
}

/* A stretch with one history is handled as a whole. */
static hole find_hole(tkc_shadow *s, const tki_region *r) {
  const tk_tensor *x = r->tensor;
  const tkc_span *span = tkc_shadow_span(s, r->lo);
  uint64_t size = tk_dtype_size(x->dtype), run = 1;
  int axes = packed_from(x);
  hole h = {.total = 1};
  for (int i = 0; i < x->rank; i++) h.total *= (uint64_t)x->shape[i];
  for (int i = axes; i < x->rank; i++) run *= (uint64_t)x->shape[i];
  if (!h.total || is_covered(span, r)) return h;
  int64_t index[TK_MAX_RANK] = {0};
  do {
    for (int i = axes; i < x->rank; i++) index[i] = 0;
    uint64_t base = address_of(r, index), end = base + run * size, next;
    for (uint64_t at = base; at < end; at = next) {
      tkc_history history;
      next = tkc_intervals_end(&span->history, at, end, &history);
      next = at + (next - at + size - 1) / size * size;
      if (!history.write)
        add_to_hole(&h, x, axes, index, (at - base) / size,
                    (next - base) / size);
    }
  } while (next_index(x, axes, index));
  return h;
}

/* Returns the first site that stores to the region; UINT32_MAX: none does. */
static uint32_t store_to(tkc_shadow *s, const tki_region *r) {
  const tkc_span *x = tkc_shadow_span(s, r->lo);
  uint32_t site = UINT32_MAX;
  tkc_history history;
  for (uint64_t at = r->lo; at < r->hi;) {
    at = tkc_intervals_end(&x->history, at, r->hi, &history);
    const tkc_event *e = tkc_event_at(s, history.write);
    if (history.write && e->site < site) site = e->site;
  }
  return site;
}

/* Whether several programs write the same element of the region. */
static bool is_twice(const tkc_shadow *s, const tki_region *r) {
  bool twice = false;
  for (const tkc_conflict *k = s->conflicts; k; k = k->next)
    twice |= k->addr >= r->lo && k->addr < r->hi &&
             (k->kind == TKC_SAME || k->kind == TKC_WRITES);
  return twice;
}

static const char *box_text(tkc *c, const tki_region *r, const int64_t *lo,
                            const int64_t *hi) {
  char *text = tk_arena_printf(&c->run, "%s[", r->name);
  for (int i = 0; i < r->tensor->rank; i++)
    text = lo[i] == hi[i]
               ? tk_arena_printf(&c->run, "%s%s%" PRId64, text, i ? ", " : "",
                                 lo[i])
               : tk_arena_printf(&c->run, "%s%s%" PRId64 ":%" PRId64, text,
                                 i ? ", " : "", lo[i], hi[i] + 1);
  return tk_arena_printf(&c->run, "%s]", text);
}

/* A launch may well fill a part of its output only.  What it may not do is
 * leave elements out while it writes others twice, or leave a few out of a
 * tensor that held nothing before. */
static void check_region(tkc *c, tkc_shadow *s, const tki_region *r) {
  bool twice = is_twice(s, r);
  bool empty = r->tensor->flags & TK_TENSOR_UNWRITTEN && !c->assume_written;
  if (!twice && !empty) return;
  hole h = find_hole(s, r);
  if (!h.n || h.n == h.total || (!twice && 2 * h.n >= h.total)) return;
  uint32_t site = store_to(s, r);
  if (site == UINT32_MAX) return;
  const tki_site_info *x = tki_site_at(s->t, site);
  tkc_place at = tkc_place_of(x->func, x->inst);
  tk_diag *d = tkc_report(
      c, NULL, TK_D_UNWRITTEN, &at, NULL,
      "no program writes %s: %" PRIu64 " of %" PRIu64 " elements of %s keep "
      "what they held",
      box_text(c, r, h.first, h.first), h.n, h.total, r->name);
  if (d) tki_note_element(s->t, d, r, address_of(r, h.first));
  tkc_note(c, d, NULL, "they lie in %s", box_text(c, r, h.lo, h.hi));
  if (twice)
    tkc_note(c, d, NULL, "other elements of %s are written by several programs",
             r->name);
  tkc_help(c, d, "compare the grid and the offsets with the shape of %s",
           r->name);
  tki_note_remarks(s->t, d);
  tkc_reported(c, NULL, d);
}

void *tkc_UNWRITTEN_begin(tkc *c, tki *t) {
  return tkc_shadow_of(c, t);
}

void tkc_UNWRITTEN_end(tkc *c, void *ud, tki *t, tk_status st) {
  tkc_shadow *s = ud;
  int64_t programs = t->grid[0] * t->grid[1] * t->grid[2];
  bool all = st == TK_OK && t->order.n == (uint64_t)programs;
  for (int i = 0; i < 3; i++) all &= !t->pids.axis[i].op;
  for (size_t i = 0; i < t->nregions && all; i++)
    if (t->regions[i].tensor && s->stored[i] && !s->loaded[i])
      check_region(c, s, &t->regions[i]);
}

/* ---- running again ----------------------------------------------------- */

/* What the part of a page from `lo` to `hi` held before the run (NULL if nobody
 * needs it) and after it; the page begins at `page`.  Small tensors of several
 * spans may share a page: each of them has a copy of its own part, from before
 * its own first write. */
typedef struct copy {
  uint64_t page, lo, hi;
  char *before, *bytes;
} copy;

/* Tensors that the second run must find as the first has left them. */
enum { AGAIN = TK_TENSOR_UNWRITTEN | TK_TENSOR_REPEATED };

/* A text of a report that is still needed after the report has been dropped. */
typedef struct said {
  struct said *next;
  tkc_place at;
  const char *text;
} said;

typedef struct again {
  tkc *c;
  tkc_shadow *s;
  tki *t;
  TK_VEC(copy) pages; /* that the run wrote */
  said *said;         /* report of the deadlock a run ended in, or NULL */
} again;

static void move_page(tki *t, const copy *k, char *bytes, bool to_memory,
                      bool all) {
  for (size_t i = 0; bytes && i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    uint64_t a = r->lo > k->lo ? r->lo : k->lo;
    uint64_t b = r->hi < k->hi ? r->hi : k->hi;
    if (!r->tensor || a >= b) continue;
    if (!all && r->tensor->flags & AGAIN) continue;
    char *memory = r->host + (a - r->lo), *kept = bytes + (a - k->page);
    memcpy(to_memory ? memory : kept, to_memory ? kept : memory, b - a);
  }
}

static void keep_span(again *x, const tkc_intervals *c) {
  for (size_t i = 0; c->pages && i < c->npages; i++) {
    const tkc_page *p = c->pages[i];
    if (!p || !p->written) continue;
    copy k = {.page = c->base + i * (uint64_t)TKC_PAGE, .before = p->before};
    k.lo = c->lo > k.page ? c->lo : k.page;
    k.hi = c->hi < k.page + TKC_PAGE ? c->hi : k.page + TKC_PAGE;
    k.bytes = TK_NEWN(&x->c->run, char, TKC_PAGE);
    move_page(x->t, &k, k.bytes, false, true);
    TK_PUSH(&x->c->run, &x->pages, k);
  }
}

static void keep_results(again *x) {
  for (size_t i = 0; i < x->s->nspans; i++)
    keep_span(x, &x->s->spans[i].history);
}

/* Puts back what memory held before the run, or after it. `all` includes the
 * tensors that a second run must find as the first has left them. */
static void put_pages(again *x, bool before, bool all) {
  for (size_t i = 0; i < x->pages.n; i++) {
    const copy *k = &x->pages.items[i];
    move_page(x->t, k, before ? k->before : k->bytes, true, all);
  }
}

static void run_grid(tk_env *e, void *ud) {
  (void)e;
  tki_schedule_run(ud);
}

static said **keep_line(again *x, said **end, const tk_source *src,
                        tk_span span, const char *text) {
  *end = TK_NEW(&x->c->run, said);
  **end = (said){NULL, {src, span}, tk_arena_strdup(&x->c->run, text)};
  return &(*end)->next;
}

static void keep_deadlock(again *x, const tk_diag *d) {
  if (!d || d->f.kind != TK_D_DEADLOCK) return;
  said **end = keep_line(x, &x->said, d->src, d->span, d->f.message);
  for (const tk_note *n = tk_diag_notes(d); n; n = tk_note_next(n))
    end = keep_line(x, end, n->src, n->span, n->f.text);
}

/* Runs the grid in an order with nobody watching. */
static tk_status run_again(again *x, const char *order) {
  tki *t = x->t;
  tki kept = *t;
  tk_output_fn output = t->session->output;
  size_t diags = t->env->ndiags;
  tk_order_parse(t->env, order, kept.order.n, &t->order);
  t->order.first = kept.order.first;
  tki_watching others = tki_unwatch(t);
  t->session->output = NULL;
  t->done = 0;
  tk_status st = tk_protect(t->env, run_grid, t);
  t->session->output = output;
  if (st == TK_FINDING) keep_deadlock(x, t->env->last_diag);
  if (st != TK_OK) tk_diag_truncate(t->env, diags);
  tki_schedule_reset(t);
  if (st != TK_OK) tki_pool_reset(t);
  tki_rewatch(t, &others);
  t->order = kept.order;
  t->ops = kept.ops;
  t->done = kept.done;
  t->frame = NULL;
  t->spin = NULL;
  if (st == TK_INTERRUPTED || st == TK_INTERNAL) tk_throw(t->env, st);
  return st;
}

/* ---- differences ------------------------------------------------------- */

/* How a tensor differs over all the orders that were tried. */
typedef struct spread {
  uint64_t n;    /* elements that differ, in the order where most do */
  uint64_t now;  /* elements that differ in the order that is looked at */
  uint64_t addr; /* the first one that differs */
  const char *a, *b, *order; /* its two values, and the order of the second */
  double most;               /* the largest absolute difference */
  bool atomics;              /* they are floats, written by atomics alone: sums
                                of integers are the same in every order */
} spread;

static const char *lane_value(tkc *c, tk_dtype d, const void *lane, tki *t) {
  tk_buf b;
  tk_buf_init(&b, t->env);
  tk_format_lane(&b, d, lane);
  const char *s = tk_arena_strdup(&c->run, tk_buf_str(&b));
  tk_buf_free(&b);
  return s;
}

static void note_difference(again *x, spread *p, const tki_region *r,
                            uint64_t addr, const char *was, const char *order) {
  const char *now = r->host + (addr - r->lo);
  tk_dtype d = r->tensor->dtype;
  const tkc_event *e = tkc_shadow_writer(x->s, addr);
  if (!p->order) {
    *p = (spread){.addr = addr, .order = order, .atomics = true};
    p->a = lane_value(x->c, d, was, x->t);
    p->b = lane_value(x->c, d, now, x->t);
  }
  double gap = fabs(tk_lane_double(d, was) - tk_lane_double(d, now));
  if (gap > p->most) p->most = gap;
  p->atomics &= tk_is_float(d) && e && e->atomic;
  if (++p->now > p->n) p->n = p->now;
}

static void compare_page(again *x, const copy *k, const char *order,
                         spread *out) {
  for (size_t i = 0; i < x->t->nregions; i++) {
    const tki_region *r = &x->t->regions[i];
    if (!r->tensor || r->lo >= k->hi || r->hi <= k->lo) continue;
    size_t size = tk_dtype_size(r->tensor->dtype);
    uint64_t at = r->lo > k->lo ? r->lo : k->lo;
    for (; at + size <= r->hi && at + size <= k->hi; at += size) {
      const char *was = k->bytes + (at - k->page);
      if (memcmp(was, r->host + (at - r->lo), size) != 0)
        note_difference(x, &out[i], r, at, was, order);
    }
  }
}

static void compare_pages(again *x, const char *order, spread *out) {
  for (size_t i = 0; i < x->t->nregions; i++) out[i].now = 0;
  for (size_t i = 0; i < x->pages.n; i++)
    compare_page(x, &x->pages.items[i], order, out);
}

/* ---- reports ----------------------------------------------------------- */

static const char *place_text(again *x, uint64_t addr) {
  tk_buf b;
  tk_buf_init(&b, x->t->env);
  tki_describe_address(&b, x->t, addr);
  const char *s = tk_arena_strdup(&x->c->run, tk_buf_str(&b));
  tk_buf_free(&b);
  return s;
}

static tkc_place writer_place(again *x, uint64_t addr) {
  const tkc_event *e = tkc_shadow_writer(x->s, addr);
  const tki_site_info *i = e ? tki_site_at(x->t, e->site) : NULL;
  return i ? tkc_place_of(i->func, i->inst) : (tkc_place){0};
}

/* The report of programs that race for the elements of a region; NULL: there
 * is none. */
static tk_diag *race_in(const tkc_shadow *s, const tki_region *r) {
  for (const tkc_conflict *k = s->conflicts; k; k = k->next)
    if (k->diag && k->kind != TKC_SAME && !tkc_is_own(k->kind) &&
        k->addr >= r->lo && k->addr < r->hi)
      return k->diag;
  return NULL;
}

static bool races(const tkc_shadow *s) {
  for (const tkc_conflict *k = s->conflicts; k; k = k->next)
    if (k->kind != TKC_SAME) return true;
  return false;
}

/* Marks the slots that atomic operations set. */
static bool mark_atomic(void *ud, const tk_at *at, const tk_inst *in) {
  bool *slots = ud;
  (void)at;
  if (in->op == TK_I_ATOMIC || in->op == TK_I_CAS) slots[in->res[0]] = true;
  return true;
}

static bool uses_none(void *ud, const tk_at *at, const tk_inst *in) {
  const bool *slots = ud;
  (void)at;
  for (int k = 0; k < in->nargs; k++)
    if (slots[in->args[k]]) return false;
  return true;
}

/* Continues the walk until a statement uses the result of an atomic
 * operation. */
static bool mark_and_look(void *ud, const tk_at *at) {
  const bool *slots = ud;
  const tk_stmt *st = at->stmt;
  bool tests = st->kind == TK_S_IF || st->kind == TK_S_WHILE;
  tk_walk_insts(at->func, st, &st->insts,
                &(tk_walk){.ud = ud, .inst = mark_atomic});
  return tk_walk_insts(at->func, st, &st->insts,
                       &(tk_walk){.ud = ud, .inst = uses_none}) &&
         !(tests && slots[st->cond]);
}

/* Whether the kernel uses what its atomic operations return.  Then it may hand
 * out numbers or wait for others, and every order may be as good. */
static bool uses_results(tkc *c, const tk_program *p) {
  for (size_t i = 0; i < p->nfuncs; i++) {
    bool *slots = TK_NEWN(&c->run, bool, p->funcs[i]->nslots + 1);
    tk_walk w = {.ud = slots, .stmt = mark_and_look};
    if (!tk_walk_func(p->funcs[i], &w)) return true;
  }
  return false;
}

/* In a kernel without a race, results depend on the order because of atomic
 * operations; that is noted, but is not a finding. */
static void note_atomics(again *x, const char *name, const spread *p) {
  tkc_place at = writer_place(x, p->addr);
  tk_diag *d = tk_diag_add(
      x->t->env, TK_D_ORDER_NOTE, at.src, at.span,
      "%s depends on the order of the programs: %s is %s, and %s with "
      "--order %s",
      name, place_text(x, p->addr), p->a, p->b, p->order);
  if (p->atomics)
    tk_diag_note(x->t->env, d, NULL, (tk_span){0, 0},
                 "a sum of floats by atomics depends on their order; the "
                 "largest difference is %.3g",
                 p->most);
}

/* The report of a race for the elements also says that they depend on the
 * order. */
static void add_to_race(again *x, tk_diag *race, const char *name,
                        const spread *p) {
  const char *others =
      p->n == 1 ? ""
                : tk_arena_printf(&x->c->run,
                                  ", and so %s %" PRIu64
                                  " more element%s of %s, by %.3g at most",
                                  p->n == 2 ? "does" : "do", p->n - 1,
                                  p->n == 2 ? "" : "s", name, p->most);
  tkc_note(x->c, race, NULL,
           "%s depends on the order of the programs: it is %s, and %s with "
           "--order %s%s",
           place_text(x, p->addr), p->a, p->b, p->order, others);
}

static void report_order(again *x, size_t region, const spread *p) {
  tk_diag *race = race_in(x->s, &x->t->regions[region]);
  const char *name = x->t->regions[region].name;
  if (!races(x->s) && (p->atomics || uses_results(x->c, x->t->program))) {
    note_atomics(x, name, p);
    return;
  }
  if (race) {
    add_to_race(x, race, name, p);
    return;
  }
  tkc_place at = writer_place(x, p->addr);
  tk_diag *d = tkc_report(x->c, NULL, TK_D_ORDER, &at, NULL,
                          "%s depends on the order of the programs: it is %s, "
                          "and %s with --order %s",
                          place_text(x, p->addr), p->a, p->b, p->order);
  tkc_at_element(d, x->t, p->addr);
  if (p->n == 1)
    tkc_note(x->c, d, NULL, "no other element of %s differs; this one by %.3g",
             name, p->most);
  else
    tkc_note(x->c, d, NULL,
             "%" PRIu64 " elements of %s differ, by %.3g at most", p->n, name,
             p->most);
  tki_note_remarks(x->t, d);
  tkc_reported(x->c, NULL, d);
}

/* Whether it was said already of another tensor in the same memory. */
static bool is_told(const again *x, const spread *out, size_t region) {
  for (size_t i = 0; i < region; i++) {
    const tki_region *r = &x->t->regions[i];
    uint64_t addr = out[region].addr;
    if (out[i].order && addr >= r->lo && addr < r->hi) return true;
  }
  return false;
}

static void try_orders(again *x) {
  static const char *const orders[] = {"reverse", "shuffle:1", "shuffle:2"};
  spread *out = TK_NEWN(&x->c->run, spread, x->t->nregions + 1);
  for (size_t i = 0; i < TK_COUNT(orders); i++) {
    put_pages(x, true, true);
    tk_status st = run_again(x, orders[i]);
    if (st == TK_OK) compare_pages(x, orders[i], out);
  }
  put_pages(x, false, true);
  for (size_t i = 0; i < x->t->nregions; i++)
    if (out[i].order && !is_told(x, out, i)) report_order(x, i, &out[i]);
}

void *tkc_ORDER_begin(tkc *c, tki *t) {
  return tkc_shadow_of(c, t);
}

void tkc_ORDER_end(tkc *c, void *ud, tki *t, tk_status st) {
  tkc_shadow *s = ud;
  if (st != TK_OK || !s->order_matters || t->driver || t->order.kind) return;
  again x = {.c = c, .s = s, .t = t};
  keep_results(&x);
  try_orders(&x);
}

/* ---- a second run ------------------------------------------------------ */

/* x += 1 gives another result each time, which may be intended. That cannot be
 * intended of a tensor that was never set before the launch, nor in a launch
 * that is repeated, as tuning does. */
static bool can_tell(tkc *c, tki *t, const tkc_shadow *s) {
  for (size_t i = 0; i < t->nregions; i++) {
    const tk_tensor *x = t->regions[i].tensor;
    if (!x || !s->stored[i]) continue;
    if (x->flags & TK_TENSOR_REPEATED) return true;
    if (s->loaded[i] && x->flags & TK_TENSOR_UNWRITTEN && !c->assume_written)
      return true;
  }
  return false;
}

/* Whether a tensor held something other than zeros; memory is as it was before
 * the run. */
static bool holds_values(const tki_region *r) {
  const tk_tensor *y = r->tensor;
  const char *bytes = r->host;
  size_t n = r->hi - r->lo, i = 0;
  if (y->flags & TK_TENSOR_UNWRITTEN) return false;
  while (i < n && !bytes[i]) i++;
  return i < n;
}

/* What makes tuning start from the same contents each time.  Zeros would
 * destroy a tensor that is updated in place. */
static void help_tuner(again *x, tk_diag *d, const tki_region *r, bool held) {
  if (held)
    tkc_help(x->c, d,
             "give the autotuner restore_value=['%s'], which puts back what it "
             "held; reset_to_zero= would clear it",
             r->name);
  else
    tkc_help(x->c, d,
             "give the autotuner reset_to_zero=['%s'] or restore_value=['%s']",
             r->name, r->name);
}

/* Reports a tensor that differs after a second run, and why it may; held: it
 * was not all zeros before the first. */
static void report_second(again *x, size_t region, const spread *p, bool held) {
  const tki_region *r = &x->t->regions[region];
  tkc_place at = writer_place(x, p->addr);
  const char *name = r->name;
  tk_diag *d = tkc_report(x->c, NULL, TK_D_IDEMPOTENCE, &at, NULL,
                          "a second run gives a different result: %s is %s "
                          "after one run, %s after two",
                          place_text(x, p->addr), p->a, p->b);
  tkc_at_element(d, x->t, p->addr);
  if (r->tensor->flags & TK_TENSOR_REPEATED) {
    tkc_note(x->c, d, NULL,
             "@triton.autotune tries each configuration many times, on what "
             "the previous run left in %s",
             name);
    help_tuner(x, d, r, held);
  } else {
    tkc_note(x->c, d, NULL,
             "%s had not been written before, so the result depends on what "
             "its memory held",
             name);
    tkc_help(x->c, d, "create %s by torch.zeros, or write it before it is read",
             name);
  }
  tki_note_remarks(x->t, d);
  tkc_reported(x->c, NULL, d);
}

void *tkc_IDEMPOTENCE_begin(tkc *c, tki *t) {
  return tkc_shadow_of(c, t);
}

void tkc_IDEMPOTENCE_end(tkc *c, void *ud, tki *t, tk_status st) {
  tkc_shadow *s = ud;
  if (st != TK_OK || t->driver || !s->again_matters) return;
  if (!can_tell(c, t, s)) return;
  again x = {.c = c, .s = s, .t = t};
  keep_results(&x);
  spread *out = TK_NEWN(&c->run, spread, t->nregions + 1);
  put_pages(&x, true, false); /* all other memory is as before the first run */
  if (run_again(&x, "serial") == TK_OK) compare_pages(&x, "serial", out);
  bool *held = TK_NEWN(&c->run, bool, t->nregions + 1);
  put_pages(&x, true, true);
  for (size_t i = 0; i < t->nregions; i++)
    if (out[i].order) held[i] = holds_values(&t->regions[i]);
  put_pages(&x, false, true);
  for (size_t i = 0; i < t->nregions; i++)
    if (out[i].order && t->regions[i].tensor->flags & AGAIN)
      report_second(&x, i, &out[i], held[i]);
}

/* ---- deadlocks when programs give way ------------------------------------ */

static void report_deadlock(again *x) {
  const said *s = x->said;
  tk_diag *d =
      tkc_report(x->c, NULL, TK_D_DEADLOCK, &s->at, NULL, "%s", s->text);
  while ((s = s->next))
    tkc_note(x->c, d, s->at.src ? &s->at : NULL, "%s", s->text);
  tkc_note(x->c, d, NULL,
           "this happens when programs take turns after each atomic operation, "
           "as with --schedule yield; run one after the other, they finish");
  tkc_help(x->c, d,
           "take several locks in the same order in every program, and wait "
           "for nothing else while holding one");
  tki_note_remarks(x->t, d);
  tkc_reported(x->c, NULL, d);
}

void *tkc_DEADLOCK_begin(tkc *c, tki *t) {
  const tki_schedule *s = t->schedule;
  bool can = s && s->spins_possible && s->mode == TKI_AUTO;
  return can ? tkc_shadow_of(c, t) : NULL;
}

void tkc_DEADLOCK_end(tkc *c, void *ud, tki *t, tk_status st) {
  again x = {.c = c, .s = ud, .t = t};
  if (st != TK_OK || t->driver) return;
  keep_results(&x);
  put_pages(&x, true, true);
  t->schedule->mode = TKI_YIELD;
  run_again(&x, "serial");
  t->schedule->mode = TKI_AUTO;
  put_pages(&x, false, true);
  if (x.said) report_deadlock(&x);
}
