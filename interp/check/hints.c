/* hints.c - the detector `hints`: what tl.multiple_of, tl.max_contiguous and
 * tl.max_constancy promise of a block, and its lanes.
 *
 * Compilers load several lanes as one piece where a promise lets them, so a
 * false one gives wrong values.  Kernels keep offsets inside of a tensor by %,
 * tl.where(i < n, i, 0) or tl.minimum before they promise something of them,
 * and store nothing of the lanes that this changes: a line that begins anew,
 * or goes on with the lane before, is taken to be meant.
 *
 * A GPU's allocator gives memory at multiples of 256 bytes or more, which the
 * memory here need not be at: pointers count from where their memory begins.
 */
#include <inttypes.h>

#include "interp/check/check.h"
#include "interp/kernels.h"

typedef struct hints {
  tkc *c;
  tki_observer observer;
} hints;

/* Lanes along an axis, as numbers. */
typedef struct line {
  const char *lanes;
  tk_dtype d; /* TK_UINT64 for addresses */
  size_t first, n, step, size;
  int64_t unit;   /* from one element to the next */
  int64_t origin; /* what the lanes count from */
} line;

static int64_t at(const line *l, size_t i) {
  const char *lane = l->lanes + (l->first + i * l->step) * l->size;
  return tk_lane_int(l->d, lane) - l->origin;
}

/* What lane i does beside the one before. */
static bool is_next(const line *l, size_t i) {
  return at(l, i) - at(l, i - 1) == l->unit;
}

static bool stays(const line *l, size_t i) {
  return at(l, i) == at(l, i - 1);
}

static bool stays_to_the_end(const line *l, size_t i) {
  while (i < l->n && stays(l, i)) i++;
  return i == l->n;
}

/* The first lane that begins a run but is not a multiple of `by`; n if there is
 * none. */
static size_t find_no_multiple(const line *l, int64_t by) {
  if (l->n > 1 && stays_to_the_end(l, 1)) return l->n;
  for (size_t i = 0; i < l->n; i++)
    if ((!i || (!is_next(l, i) && !stays(l, i))) && at(l, i) % by) return i;
  return l->n;
}

static size_t find_gap(const line *l, int64_t run) {
  for (size_t i = 1; i < l->n; i++) {
    if (i % (size_t)run == 0 || is_next(l, i) || at(l, i) < at(l, i - 1))
      continue;
    if (stays(l, i) && (!at(l, i) || stays_to_the_end(l, i))) continue;
    return i;
  }
  return l->n;
}

static size_t find_change(const line *l, int64_t run) {
  for (size_t i = 1; i < l->n; i++)
    if (i % (size_t)run && !stays(l, i)) return i;
  return l->n;
}

static const struct {
  size_t (*find)(const line *l, int64_t value);
  const char *promise;
} rules[] = {
    [TK_HINT_MULTIPLE] = {find_no_multiple, "multiples of"},
    [TK_HINT_CONTIGUOUS] = {find_gap, "runs of"},
    [TK_HINT_CONSTANCY] = {find_change, "equal lanes, in groups of"},
};

static void report_hint(hints *h, tki *t, const tk_inst *in, const line *l,
                        int64_t value, size_t i) {
  const char *from = in->type.ptr ? " bytes from the start of its memory" : "";
  tk_hint kind = tk_hint_kind(in);
  size_t lane = l->first + i * l->step;
  const char *where = tkc_lane(h->c, &in->type, lane);
  const char *before =
      i && kind != TK_HINT_MULTIPLE
          ? tk_arena_printf(&h->c->run, ", after %" PRId64, at(l, i - 1))
          : "";
  tk_diag *d =
      tkc_report(h->c, t, TK_D_HINT, NULL, NULL,
                 "tl.%s promises %s %" PRId64 ", and %s%s is %" PRId64 "%s%s",
                 tk_list_word(TK_LIST_HINT, kind), rules[kind].promise, value,
                 *where ? "lane " : "it", where, at(l, i), from, before);
  tkc_at_lane(h->c, d, where);
  tkc_help(h->c, d,
           "leave the promise out, or make it true: compiled code may move "
           "several lanes as one piece because of it");
  tkc_reported(h->c, t, d);
}

static bool check_axis(hints *h, tki *t, const tk_inst *in, const tki_val *v,
                       int axis) {
  int64_t value = tk_hint_values(in)[axis];
  line l = {.n = 1, .step = 1, .size = tk_lane_size(&in->type), .unit = 1};
  l.d = in->type.ptr ? TK_UINT64 : (tk_dtype)in->type.elem;
  if (in->type.ptr) {
    if (v->region == TKI_ANY) return false;
    l.unit = (int64_t)tk_dtype_size((tk_dtype)in->type.elem);
    l.origin = (int64_t)t->regions[v->region].lo;
  }
  if (in->type.rank) l.n = (size_t)in->type.shape[axis];
  for (int k = axis + 1; k < in->type.rank; k++)
    l.step *= (size_t)in->type.shape[k];
  if (value < 2 || (l.n < 2 && tk_hint_kind(in) != TK_HINT_MULTIPLE))
    return false;
  l.lanes = tki_lanes(v);
  size_t lines = (size_t)tk_numel(&in->type) / l.n;
  for (size_t k = 0; k < lines; k++) {
    l.first = k / l.step * l.n * l.step + k % l.step;
    size_t i = rules[tk_hint_kind(in)].find(&l, value);
    if (i == l.n) continue;
    report_hint(h, t, in, &l, value, i);
    return true;
  }
  return false;
}

static void after(void *ud, tki *t, const tk_inst *in, const tki_val *args) {
  hints *h = ud;
  (void)args;
  if (in->op != TK_I_HINT) return;
  if (!in->type.ptr && !tk_is_int((tk_dtype)in->type.elem)) return;
  const tki_val *v = &t->frame->slots[in->res[0]];
  int axes = in->type.rank ? in->type.rank : 1;
  for (int k = 0; k < axes && !check_axis(h, t, in, v, k); k++) continue;
}

static bool is_settled(void *ud, tki *t, const tk_inst *in) {
  (void)ud, (void)t, (void)in;
  return true;
}

static bool is_no_hint(void *ud, tki *t, const tk_inst *in) {
  (void)ud, (void)t;
  return in->op != TK_I_HINT;
}

static bool is_hint(const tk_inst *in) {
  return in->op == TK_I_HINT;
}

void *tkc_HINTS_begin(tkc *c, tki *t) {
  if (!tk_program_has(t->program, is_hint)) return NULL;
  hints *h = TK_NEW(&c->run, hints);
  *h = (hints){.c = c};
  h->observer = (tki_observer){.ud = h,
                               .after = after,
                               .settled = is_settled,
                               .idle = is_no_hint,
                               .skips_scans = true};
  tki_observe(t, &h->observer);
  return h;
}
