/* precision_memory.c - errors of memory that programs wrote.
 *
 * An element's error is the difference of what it would be in float64 and
 * what it is, as fp32.  Pages are made when a program that runs in float64
 * writes; every other write makes its elements exact again.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "interp/check/precision.h"
#include "interp/kernels.h"
#include "interp/lanes.h"

enum { TKC_PREC_PAGE = 4096 };

/* ---- pages --------------------------------------------------------------- */

static size_t slot_of(const tkc_prec *p, uint64_t number) {
  size_t i = (size_t)(number * 0x9e3779b97f4a7c15 >> 32) & (p->cap_pages - 1);
  while (p->pages[i] && p->pages[i]->number != number)
    i = (i + 1) & (p->cap_pages - 1);
  return i;
}

static void grow_pages(tkc_prec *p) {
  size_t old = p->cap_pages;
  tkc_prec_page **pages = p->pages;
  p->cap_pages = old ? 2 * old : 64;
  p->pages = TK_NEWN(&p->c->run, tkc_prec_page *, p->cap_pages);
  for (size_t i = 0; i < old; i++)
    if (pages[i]) p->pages[slot_of(p, pages[i]->number)] = pages[i];
}

static int shift_of(size_t size) {
  return __builtin_ctzll(size);
}

static tkc_prec_page *page_at(tkc_prec *p, uint64_t addr, size_t size,
                              bool make) {
  uint64_t number = addr / TKC_PREC_PAGE;
  if (p->page && p->page->number == number) return p->page;
  if (!make && !p->npages) return NULL;
  if (2 * p->npages >= p->cap_pages) grow_pages(p);
  size_t i = slot_of(p, number);
  if (!p->pages[i] && make) {
    tkc_prec_page *g = TK_NEW(&p->c->run, tkc_prec_page);
    *g = (tkc_prec_page){.number = number, .shift = shift_of(size)};
    g->error = TK_NEWN(&p->c->run, float, TKC_PREC_PAGE >> g->shift);
    g->coarsest = TK_FP64;
    p->pages[i] = g;
    p->npages++;
  }
  if (p->pages[i]) p->page = p->pages[i];
  return p->pages[i];
}

/* How many of n elements from an address on lie in the same page. */
static size_t elements_in_page(uint64_t addr, size_t size, size_t n) {
  size_t rest = (TKC_PREC_PAGE - addr % TKC_PREC_PAGE) / size;
  return n < rest ? n : rest;
}

/* Returns the errors of n elements of a page; NULL: they have none.  An access
 * of another element size than the page's counts as exact, and makes the
 * elements that it touches exact. */
static float *errors_at(tkc_prec *p, uint64_t addr, size_t size, size_t n,
                        bool make) {
  tkc_prec_page *g = page_at(p, addr, size, make);
  if (!g) return NULL;
  float *e = &g->error[addr % TKC_PREC_PAGE >> g->shift];
  if (shift_of(size) == g->shift) return e;
  size_t last = (addr % TKC_PREC_PAGE + n * size - 1) >> g->shift;
  size_t touched = (size_t)(g->error + last + 1 - e);
  if (g->given) memset(g->given + (e - g->error), 0, touched * sizeof *e);
  memset(e, 0, touched * sizeof *e);
  return NULL;
}

/* ---- lanes of an access -------------------------------------------------- */

/* mask: the operand; -1: there is none. */
static tki_access access_of(tki *t, const tk_inst *in, const tki_val *args,
                            int mask) {
  return tki_access_of(t, in, &args[0], mask < 0 ? NULL : &args[mask]);
}

/* Active lanes whose elements follow each other in one page. */
typedef struct piece {
  tki_stretch in;
  uint64_t addr;
  size_t lane, n;
} piece;

static bool next_piece(const tki_access *a, piece *x) {
  size_t done = x->lane + x->n - x->in.lane;
  if (done == x->in.n) {
    if (!tki_next_stretch(a, &x->in)) return false;
    done = 0;
  }
  x->lane = x->in.lane + done;
  x->addr = x->in.addr + done * a->size;
  x->n = elements_in_page(x->addr, a->size, x->in.n - done);
  return true;
}

static inline bool is_active(const tki_access *a, size_t i) {
  return !a->mask || a->mask[i];
}

/* ---- how large the lanes are --------------------------------------------- */

enum { SAMPLES = 32 };

static tkc_prec_sizes *stored_sizes(tkc_prec *p, const tk_inst *in) {
  tkc_prec_sizes **s = &p->sizes[in->id];
  if (!*s) {
    *s = TK_NEW(&p->c->run, tkc_prec_sizes);
    memset(*s, 0, sizeof **s);
  }
  return *s;
}

/* Lanes whose magnitudes are counted: doubles, or lanes of a value. */
typedef struct sample {
  tkc_prec_sizes *to;
  const double *x;
  size_t step;
  const tki_val *v;
} sample;

static void size_lane(const sample *q, const tki_access *a, size_t i) {
  tk_dtype d = (tk_dtype)a->in->type.elem;
  tkc_prec_size(q->to, q->v ? tk_lane_double(d, tki_lane(q->v, i, a->size))
                            : q->x[i * q->step]);
}

/* Counts the magnitudes of some active lanes. */
static void size_lanes(const sample *q, const tki_access *a) {
  size_t by = a->n > SAMPLES ? a->n / SAMPLES : 1;
  for (size_t i = 0; !a->pointer && i < a->n; i += by)
    if (is_active(a, i)) size_lane(q, a, i);
  for (tki_stretch s = {0}; a->pointer && tki_next_stretch(a, &s);)
    for (size_t i = (s.lane + by - 1) / by * by; i < s.lane + s.n; i += by)
      size_lane(q, a, i);
}

/* ---- loads --------------------------------------------------------------- */

TKI_CLONES static bool add_row(double *exact, const float *error, size_t n) {
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    exact[i] = error[i] != 0 ? exact[i] + (double)error[i] : exact[i];
    any |= error[i] != 0;
  }
  return any;
}

static bool add_errors(tkc_prec *p, const tki_access *a, double *exact,
                       tkc_prec_shadow *s) {
  bool any = false;
  for (piece x = {.n = 0}; next_piece(a, &x);) {
    float *e = errors_at(p, x.addr, a->size, x.n, false);
    if (!e || !add_row(exact + x.lane, e, x.n)) continue;
    s->coarsest = tkc_prec_coarser(s->coarsest, p->page->coarsest);
    s->rounded |= p->page->rounded;
    any = true;
  }
  return any;
}

/* If a pointer into an unknown region was stored through, any load may read
 * what it wrote. */
static bool *has_pages(tkc_prec *p, const tki *t, const tki_val *pointer) {
  return &p->paged[pointer->region == TKI_ANY ? (int64_t)t->nregions
                                              : pointer->region];
}

static bool any_page(tkc_prec *p, const tki *t, const tki_access *a,
                     const tki_val *pointer) {
  bool may = p->paged[t->nregions] || pointer->region == TKI_ANY;
  if (!p->npages || (!may && !*has_pages(p, t, pointer))) return false;
  for (piece x = {.n = 0}; next_piece(a, &x);)
    if (page_at(p, x.addr, a->size, false)) return true;
  return false;
}

void tkc_prec_load(tkc_prec *p, tki *t, const tk_inst *in,
                   const tki_val *args) {
  tkc_prec_clear(t, in->res[0]);
  if (!tkc_prec_is_float(&in->type)) return;
  tki_access a = access_of(t, in, args, tk_load_mask(in));
  tki_val *v = &t->frame->slots[in->res[0]];
  size_lanes(&(sample){&p->inputs, NULL, 0, v}, &a);
  if (!any_page(p, t, &a, &args[0])) return;
  tkc_prec_shadow s = {.present = true, .coarsest = TK_FP64};
  s.exact = tki_val_like(t, v, (size_t)in->n, sizeof(double));
  tkc_prec_widen((tk_dtype)in->type.elem, tki_writable(&s.exact), tki_lanes(v),
                 (size_t)in->n);
  if (add_errors(p, &a, tki_writable(&s.exact), &s))
    tkc_prec_set(t, in->res[0], s);
  else
    tkc_prec_drop(t, &s);
}

/* ---- stores -------------------------------------------------------------- */

/* Lanes of a value, and of what it would be in float64. */
typedef struct pair {
  const char *value;
  const double *exact;
  const tkc_prec_id *marks;
  size_t size, step, exact_step, mark_step;
  tk_dtype d;
} pair;

static pair pair_of(const tki_val *v, const tkc_prec_shadow *s, tk_dtype d) {
  pair x = {.value = tki_lanes(v), .size = tk_dtypes[d].size, .d = d};
  x.step = tki_is_uniform(v) ? 0 : x.size;
  if (!s) return x;
  x.exact = tki_lanes(&s->exact);
  x.exact_step = !tki_is_uniform(&s->exact);
  if (!tki_is_zero(&s->marks)) x.marks = tki_lanes(&s->marks);
  x.mark_step = !tki_is_uniform(&s->marks);
  return x;
}

static double value_at(const pair *x, size_t i) {
  return tk_lane_double(x->d, x->value + i * x->step);
}

static double exact_at(const pair *x, size_t i) {
  return x->exact ? x->exact[i * x->exact_step] : value_at(x, i);
}

/* Root of the mean square of what is stored. */
static double norm_of(const tki_access *a, const pair *x) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < a->n; i++) {
    double e = is_active(a, i) ? exact_at(x, i) : 0;
    if (e == 0 || !isfinite(e)) continue;
    sum += e * e;
    n++;
  }
  return n ? sqrt(sum / (double)n) : 0;
}

/* Whether an error comes from how the terms of a sum, or the operands of a
 * product, were rounded.  That costs each lane the same, however much of it
 * cancels, so that the block as a whole is the measure. */
static bool is_of_product(const tkc_prec *p, const tkc_prec_shadow *s,
                          tkc_prec_id id) {
  return s->rounded || p->sources.items[id - 1].in->op == TK_I_DOT;
}

/* Finds the stored lane that is furthest off. */
static void find_worst(tkc_prec *p, tki *t, const tk_inst *in,
                       const tki_access *a, const pair *x,
                       const tkc_prec_shadow *s) {
  double least =
      fmax(tkc_prec_median(stored_sizes(p, in)), tkc_prec_smallest(x->d));
  double norm = norm_of(a, x);
  double floor = tkc_prec_bound(s->coarsest, true), noise = tkc_prec_noise(p);
  double worst = 1, beside = 0;
  bool rounded = false;
  size_t at = a->n;
  for (size_t i = 0; i < a->n; i++) {
    tkc_prec_id id = x->marks[i * x->mark_step];
    if (!id || !is_active(a, i)) continue;
    double e = exact_at(x, i), off = fabs(value_at(x, i) - e);
    double bound = fmax(p->sources.items[id - 1].bound, floor);
    double size = fmax(fabs(e), least);
    bool product = is_of_product(p, s, id);
    if (product) size = fmax(size, norm);
    double ratio = off / (bound * size + noise);
    if (!(ratio > worst)) continue;
    worst = ratio, at = i;
    rounded = product;
    beside = (off - noise) / bound;
  }
  if (at == a->n) return;
  const tkc_prec_source *b = &p->sources.items[x->marks[at * x->mark_step] - 1];
  tkc_prec_off off = {.addr = a->addr[at],
                      .d = x->d,
                      .value = value_at(x, at),
                      .exact = exact_at(x, at),
                      .beside = beside,
                      .stored = stored_sizes(p, in),
                      .rounded = rounded};
  tkc_prec_report(p, t, b, off);
}

static void forget_errors(tkc_prec *p, const tki_access *a) {
  for (piece x = {.n = 0}; p->npages && next_piece(a, &x);) {
    float *e = errors_at(p, x.addr, a->size, x.n, false);
    if (!e) continue;
    memset(e, 0, x.n * sizeof *e);
    if (p->page->given)
      memset(p->page->given + (e - p->page->error), 0, x.n * sizeof *e);
  }
}

/* Lanes that are not finite have no error. */
TKI_CLONES static void subtract_row(float *error, const double *exact,
                                    size_t step, const double *value,
                                    size_t n) {
  for (size_t i = 0; i < n; i++) {
    double off = exact[i * step] - value[i];
    error[i] = fabs(off) <= DBL_MAX ? (float)off : 0;
  }
}

static void remember_errors(tkc_prec *p, const tki_access *a, const pair *x,
                            const tkc_prec_shadow *s) {
  double value[TKC_PREC_ROW];
  for (piece y = {.n = 0}; next_piece(a, &y);) {
    float *e = errors_at(p, y.addr, a->size, y.n, true);
    if (!e) continue;
    p->page->type = x->d;
    p->page->coarsest = tkc_prec_coarser(p->page->coarsest, s->coarsest);
    p->page->rounded |= s->rounded;
    for (size_t at = y.lane, end = y.lane + y.n; at < end; at += TKC_PREC_ROW) {
      size_t n = end - at < TKC_PREC_ROW ? end - at : TKC_PREC_ROW;
      tkc_prec_widen(x->d, value, x->value + at * x->step, x->step ? n : 1);
      for (size_t i = 1; !x->step && i < n; i++) value[i] = value[0];
      subtract_row(e + (at - y.lane), x->exact + at * x->exact_step,
                   x->exact_step, value, n);
    }
    if (p->page->given)
      memcpy(p->page->given + (e - p->page->error), e, y.n * sizeof *e);
  }
}

void tkc_prec_store(tkc_prec *p, tki *t, const tk_inst *in, const tki_val *args,
                    bool watched) {
  tkc_prec_shadow *s = watched ? tkc_prec_of(t, in->args[1]) : NULL;
  tki_access a = access_of(t, in, args, tk_store_mask(in));
  bool kept = a.region == TKI_ANY || p->kept[a.region];
  if (!s || !(tkc_prec_is_float(&in->type) || p->twin)) {
    if (kept) forget_errors(p, &a);
    return;
  }
  pair x = pair_of(&args[1], s, (tk_dtype)in->type.elem);
  sample some = {stored_sizes(p, in), x.exact, x.exact_step, NULL};
  if (!p->twin) size_lanes(&some, &a);
  if (kept) {
    *has_pages(p, t, &args[0]) = true;
    remember_errors(p, &a, &x, s);
  }
  if (!x.marks) return;
  a = tki_access_lanes(&a);
  find_worst(p, t, in, &a, &x, s);
}

/* ---- atomics ------------------------------------------------------------- */

static double rounded(tk_dtype d, double x) {
  char lane[8];
  tk_lane_set_double(d, lane, x);
  return tk_lane_double(d, lane);
}

/* Adds to what an element of the current page was given of its error, and
 * returns all of that.  Before the first addition, all errors were stored. */
static double add_given(tkc_prec *p, const float *off, double given) {
  tkc_prec_page *g = p->page;
  if (!g->given) {
    size_t bytes = (TKC_PREC_PAGE >> g->shift) * sizeof *g->given;
    g->given = tk_arena_alloc(&p->c->run, bytes);
    memcpy(g->given, g->error, bytes);
  }
  float *all = &g->given[off - g->error];
  if (isfinite(given)) *all += (float)given;
  return (double)*all;
}

/* What is added to an element: the term, what it would be in float64, its
 * mark, and what its error is measured against at least. */
typedef struct addition {
  double value, exact, norm;
  tkc_prec_id mark;
} addition;

/* Reports a sum in memory that has gone wrong.  If most of its error came with
 * its terms, what they were computed by is to blame: the source of this term,
 * where it brings half of the error; else no single one is. */
static void judge_sum(tkc_prec *p, tki *t, const tk_inst *in, uint64_t addr,
                      double value, double exact, tk_dtype coarsest,
                      double given, const addition *x) {
  tk_dtype d = (tk_dtype)in->type.elem;
  double bound = tkc_prec_bound(coarsest, coarsest == d);
  double error = fabs(exact - value);
  if (error <= bound * fabs(exact)) return; /* before medians */
  double least =
      fmax(tkc_prec_median(stored_sizes(p, in)), tkc_prec_smallest(d));
  double size = fmax(fmax(fabs(exact), least), x->norm);
  double noise = tkc_prec_noise(p);
  if (!(error > bound * size + noise)) return;
  tkc_prec_off off = {.addr = addr, .d = d, .value = value, .exact = exact};
  off.beside = (error - noise) / bound;
  off.stored = stored_sizes(p, in);
  off.rounded = x->norm > 0;
  if (fabs(exact - value - given) < error / 2) {
    if (x->mark && fabs(x->exact - x->value) >= error / 2)
      tkc_prec_report(p, t, &p->sources.items[x->mark - 1], off);
    return;
  }
  tkc_prec_source b = {.in = in,
                       .at = tkc_here(t),
                       .value = value,
                       .exact = exact,
                       .chain = UINT32_MAX,
                       .d = d,
                       .kept = d};
  tkc_prec_report(p, t, &b, off);
}

static void add_lane(tkc_prec *p, tki *t, const tk_inst *in, uint64_t addr,
                     double old, const addition *x, tk_dtype coarsest) {
  tk_dtype d = (tk_dtype)in->type.elem;
  double v = x->value, e = x->exact;
  float *off = errors_at(p, addr, tk_dtypes[d].size, 1, true);
  if (!off) return;
  double value = rounded(d, old + v), exact = old + (double)*off + e;
  if (p->noise) exact = tkc_prec_disturb_added(p, d, exact, e);
  double given = p->twin ? 0 : add_given(p, off, e - v);
  *off = isfinite(exact - value) ? (float)(exact - value) : 0;
  tkc_prec_page *g = p->page;
  g->type = d;
  g->coarsest = tkc_prec_coarser(g->coarsest, tkc_prec_coarser(coarsest, d));
  if (p->twin || !isfinite(value) || !isfinite(exact)) return;
  tkc_prec_size(stored_sizes(p, in), exact);
  judge_sum(p, t, in, addr, value, exact, g->coarsest, given, x);
}

/* The larger, the smaller or the new one of two numbers. */
static double picked(tk_atomic op, double old, double x) {
  if (op == TK_A_XCHG) return x;
  return op == TK_A_MAX ? fmax(old, x) : fmin(old, x);
}

static void pick_lane(tkc_prec *p, const tk_inst *in, uint64_t addr, double old,
                      double v, double e) {
  tk_atomic op = tk_atomic_op(in);
  size_t size = tk_dtypes[in->type.elem].size;
  float *off = errors_at(p, addr, size, 1, true);
  if (!off) return;
  double error = picked(op, old + (double)*off, e) - picked(op, old, v);
  *off = isfinite(error) ? (float)error : 0;
}

static bool is_picked(const tkc_prec *p, const tk_inst *in) {
  if (!p->twin || in->op != TK_I_ATOMIC) return false;
  tk_atomic op = tk_atomic_op(in);
  return op == TK_A_MAX || op == TK_A_MIN || op == TK_A_XCHG;
}

void tkc_prec_atomic(tkc_prec *p, tki *t, const tk_inst *in,
                     const tki_val *args, bool watched) {
  bool adds = in->op == TK_I_ATOMIC && tk_atomic_op(in) == TK_A_ADD;
  tki_access a = access_of(t, in, args, tk_inst_mask(in));
  a = tki_access_lanes(&a);
  if (watched) tkc_prec_clear(t, in->res[0]);
  if (!(adds || is_picked(p, in)) || !tkc_prec_is_float(&in->type)) {
    forget_errors(p, &a);
    return;
  }
  tkc_prec_shadow *s = watched ? tkc_prec_of(t, in->args[1]) : NULL;
  tk_dtype d = (tk_dtype)in->type.elem;
  pair x = pair_of(&args[1], s, d);
  *has_pages(p, t, &args[0]) = true;
  pair old = pair_of(&t->frame->slots[in->res[0]], NULL, d);
  double norm = adds && s && s->rounded && !p->twin ? norm_of(&a, &x) : 0;
  for (size_t i = 0; i < a.n; i++) {
    if (i % TKI_BATCH == 0) tki_poll(t);
    if (!is_active(&a, i)) continue;
    double o = value_at(&old, i);
    addition y = {.value = value_at(&x, i),
                  .exact = exact_at(&x, i),
                  .norm = norm,
                  .mark = x.marks ? x.marks[i * x.mark_step] : 0};
    if (adds)
      add_lane(p, t, in, a.addr[i], o, &y, s ? s->coarsest : TK_FP64);
    else
      pick_lane(p, in, a.addr[i], o, y.value, y.exact);
  }
}

double tkc_prec_error(tkc_prec *p, uint64_t addr, size_t size) {
  tkc_prec_page *g = page_at(p, addr, size, false);
  if (!g || shift_of(size) != g->shift) return 0;
  return (double)g->error[addr % TKC_PREC_PAGE >> g->shift];
}

tk_dtype tkc_prec_stored(const tkc_prec *p, uint64_t lo, uint64_t hi) {
  tk_dtype found = TK_DTYPE_COUNT;
  for (size_t i = 0; i < p->cap_pages; i++) {
    const tkc_prec_page *g = p->pages[i];
    if (!g || g->number < lo / TKC_PREC_PAGE) continue;
    if (g->number > (hi - 1) / TKC_PREC_PAGE) continue;
    if (found != TK_DTYPE_COUNT && found != g->type) return TK_DTYPE_COUNT;
    found = g->type;
  }
  return found;
}
