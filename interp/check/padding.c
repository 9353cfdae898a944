/* padding.c - the detector `neutral`: lanes with a padding value, which other=
 * filled, that a reduction does not ignore.
 *
 * A lane is filled when nothing but other= went into it: the load left it out,
 * and after that it met scalars, constants, reduced values and other filled
 * lanes alone, or was made of such lanes only (padding_lanes.c).  Such a lane
 * may stand in a row beside loaded ones only if the reduction comes out as
 * without it: it adds 0, or does not win.  What tl.where picks, and what meets
 * another load's lanes, is taken to be meant.  The maximum of a softmax may be
 * any number: there the sum tells.
 */
#include <math.h>
#include <string.h>

#include "interp/check/padding.h"
#include "interp/kernels.h"
#include "ir/lanes.h"

/* What a slot's lanes are made of; `fill` is 0 if no load went into them, DATA
 * if several loads did or it is not known. */
typedef struct origin {
  uint32_t fill, version;
} origin;

enum { DATA = UINT32_MAX };

typedef struct padding {
  tkc *c;
  tki_observer observer;
  TK_VEC(tkc_fill) fills; /* number 0 is unused */
  uint32_t *of;           /* by instruction number */
} padding;

/* ---- origins ------------------------------------------------------------ */

static origin *origin_table(const tki_frame *f) {
  return f->shadow[TKI_SHADOW_PADDING];
}

static void set_origin(tki *t, int slot, origin o) {
  origin *table = origin_table(t->frame);
  size_t bytes = t->frame->func->nslots * sizeof(origin);
  if (!table && !o.fill) return;
  if (!table)
    t->frame->shadow[TKI_SHADOW_PADDING] = table =
        tki_scratch_zero(t, bytes + 1);
  table[slot] = o;
}

static bool is_lanewise(const tk_inst *in) {
  return tk_lanes_kept(in) || tk_lanes_computed(in);
}

/* Lanes that come from no load, or are one lane repeated. */
static bool is_plain(const tk_inst *in) {
  return in->op == TK_I_CONST || in->op == TK_I_ARANGE ||
         in->op == TK_I_BROADCAST || in->op == TK_I_REDUCE || !in->type.rank;
}

static bool same_lanes(const padding *w, origin a, origin b) {
  TK_ASSERT(a.fill < w->fills.n && b.fill < w->fills.n);
  const tkc_fill *x = &w->fills.items[a.fill], *y = &w->fills.items[b.fill];
  return x->version == a.version && y->version == b.version && x->n == y->n &&
         !memcmp(x->mask, y->mask, x->n);
}

static tkc_fill *fill_of(padding *w, const tki *t, const tk_inst *in) {
  uint32_t *at = &w->of[in->id];
  if (!*at) {
    size_t n = (size_t)tk_numel(&in->type);
    tkc_fill f = {.n = n,
                  .at = tkc_here(t),
                  .window =
                      in->op == TK_I_LOAD ? tk_inst_window(in) : TK_W_POINTERS};
    f.mask = tk_arena_alloc(&w->c->run, f.n);
    TK_PUSH(&w->c->run, &w->fills, f);
    *at = (uint32_t)(w->fills.n - 1);
  }
  TK_ASSERT(w->fills.items[*at].n == (size_t)tk_numel(&in->type));
  return &w->fills.items[*at];
}

/* What is known of each operand's lanes; returns false if some of them are not
 * those that the origin was about. */
static bool read_origins(const padding *w, const tki *t, const tk_inst *in,
                         tkc_filled *x) {
  const origin *table = origin_table(t->frame);
  for (int k = 0; k < in->nargs; k++) {
    origin o = table[in->args[k]];
    x->of[k] = (tkc_filled_operand){.data = o.fill == DATA};
    if (!o.fill || o.fill == DATA) continue;
    const tkc_fill *f = &w->fills.items[o.fill];
    if (f->version != o.version) return false;
    x->of[k].mask = f->mask;
    x->of[k].n = f->n;
    x->from = f;
  }
  return true;
}

/* The origin of what an instruction makes of lanes some of which are filled:
 * DATA unless some lane of the result is. */
static origin derived_origin(padding *w, tki *t, const tk_inst *in,
                             const tki_val *args) {
  tkc_filled x = {.func = t->frame->func, .in = in, .args = args};
  if (in->nargs > TKC_FILLED_OPERANDS || in->nres != 1 ||
      !read_origins(w, t, in, &x) || !x.from)
    return (origin){DATA, 0};
  x.result = &t->frame->slots[in->res[0]];
  uint8_t *lanes = tki_scratch_new(t, (size_t)tk_numel(&in->type) + 1);
  bool any = tkc_filled_lanes(&x, lanes);
  origin out = {DATA, 0};
  if (any) {
    tkc_place at = x.from->at;
    tk_window window = x.from->window;
    tkc_fill *f = fill_of(w, t, in);
    tkc_fill_set(f, lanes);
    f->at = at;
    f->window = window;
    f->derived = true;
    out = (origin){w->of[in->id], f->version};
  }
  tki_scratch_free(t, lanes);
  return out;
}

static origin combined_origin(padding *w, tki *t, const tk_inst *in,
                              const tki_val *args) {
  const origin *table = origin_table(t->frame);
  origin out = {0, 0};
  bool alike = true, any = false;
  for (int k = 0; k < in->nargs; k++) {
    origin o = table[in->args[k]];
    any |= o.fill && o.fill != DATA;
    if (!o.fill || (out.fill && out.fill != DATA && o.fill != DATA &&
                    same_lanes(w, out, o)))
      continue;
    alike &= !out.fill;
    out = out.fill ? (origin){DATA, 0} : o;
  }
  return alike || !any ? out : derived_origin(w, t, in, args);
}

/* Of lanes that are moved, multiplied as matrices or reduced. */
static origin moved_origin(padding *w, tki *t, const tk_inst *in,
                           const tki_val *args) {
  const origin *table = origin_table(t->frame);
  bool any = false;
  for (int k = 0; k < in->nargs; k++)
    any |= table[in->args[k]].fill && table[in->args[k]].fill != DATA;
  origin o = any ? derived_origin(w, t, in, args) : (origin){DATA, 0};
  return o.fill == DATA && is_plain(in) ? (origin){0, 0} : o;
}

static void pass_origin(padding *w, tki *t, const tk_inst *in,
                        const tki_val *args) {
  if (in->op == TK_I_LOAD || !origin_table(t->frame)) return;
  origin o = {DATA, 0};
  if (in->type.rank && tkc_fill_moves(in))
    o = moved_origin(w, t, in, args);
  else if (is_plain(in))
    o.fill = 0;
  else if (is_lanewise(in))
    o = combined_origin(w, t, in, args);
  for (int k = 0; k < in->nres; k++) set_origin(t, in->res[k], o);
}

/* ---- loads -------------------------------------------------------------- */

static void padding_access(void *ud, tki *t, const tki_access *a) {
  padding *w = ud;
  const tk_inst *in = a->in;
  if (in->op != TK_I_LOAD) return;
  bool fills = tk_load_other(in) >= 0 && a->n == (size_t)in->n && a->n > 1 &&
               !a->left_out && !tki_access_is_full(a);
  origin o = {in->type.rank ? DATA : 0, 0};
  if (fills) {
    tkc_fill *f = fill_of(w, t, in);
    tkc_fill_set(f, tki_access_mask(a));
    o = (origin){w->of[in->id], f->version};
  }
  set_origin(t, in->res[0], o);
}

/* ---- reductions --------------------------------------------------------- */

/* A row of a reduction, with the filled lane that it should have ignored. */
typedef struct row {
  size_t first, n, step;
  bool mixed; /* filled lanes beside loaded ones; in a sum, loaded zeros do not
                 count: sums of lanes times 0 or 1 pick one, as in a sort */
  double best, filled;
  size_t lane; /* of `filled` */
} row;

static double lane_of(const tk_inst *in, const void *lanes, size_t i) {
  size_t size = tk_lane_size(&in->from);
  return tk_lane_double((tk_dtype)in->from.elem,
                        (const char *)lanes + i * size);
}

static bool row_beats(const tk_inst *in, double a, double b) {
  return tk_inst_reduction(in) == TK_R_MIN ||
                 tk_inst_reduction(in) == TK_R_MIN_NAN
             ? a < b
             : a > b;
}

static void look_at_row(row *r, const tk_inst *in, const void *lanes,
                        const uint8_t *mask, double ignored) {
  bool any[2] = {false, false};
  TK_ASSERT(r->n && r->step);
  bool wins =
      tk_inst_reduction(in) != TK_R_SUM && tk_inst_reduction(in) != TK_R_PROD;
  r->filled = ignored;
  for (size_t a = 0; a < r->n; a++) {
    size_t i = r->first + a * r->step;
    double x = lane_of(in, lanes, i);
    bool filled = !mask[i], first = !any[filled];
    double *best = filled ? &r->filled : &r->best;
    any[filled] |= wins || filled || x != ignored;
    if (wins ? first || row_beats(in, x, *best)
             : filled && x != ignored && r->filled == ignored) {
      *best = x;
      if (filled) r->lane = i;
    }
  }
  r->mixed = any[0] && any[1];
}

static bool is_maximum(const tk_inst *in) {
  return tk_inst_reduction(in) == TK_R_MAX ||
         tk_inst_reduction(in) == TK_R_MAX_NAN;
}

/* Whether the filled lanes change the row's result. */
static bool is_spoilt(const row *r, const tk_inst *in, double ignored) {
  if (!r->mixed || r->filled != r->filled) return false;
  if (tk_inst_reduction(in) == TK_R_SUM || tk_inst_reduction(in) == TK_R_PROD)
    return r->filled != ignored;
  return r->best == r->best && row_beats(in, r->filled, r->best);
}

/* Returns what messages call the value that filled the lanes. */
static const char *filler(const padding *w, const tkc_fill *f) {
  static const char *const names[] = {
      "other=", "padding_option=", "the descriptor's padding"};
  return tkc_words(w->c, names[f->window]);
}

/* Returns how messages go on after a lane: it was filled, or what it is made of
 * was. */
static const char *which(const tkc_fill *f) {
  return f->derived ? ", made only of lanes that" : ", which";
}

static const char *padding_advice(const tkc_fill *f, bool wins, bool min) {
  if (f->derived)
    return !wins
               ? "keep such lanes out with tl.where before they are summed up: "
                 "to exclude a key from a softmax, give its scores "
                 "float(\"-inf\") where the mask is off"
           : min ? "give such lanes float(\"inf\") with tl.where before the "
                   "reduction"
                 : "give such lanes float(\"-inf\") with tl.where before the "
                   "reduction";
  if (f->window != TK_W_POINTERS)
    return wins ? "keep lanes outside of the shape out of the reduction with "
                  "tl.where: padding can only be 0 or NaN"
                : "keep lanes outside of the shape out of the reduction with "
                  "tl.where";
  if (!wins)
    return "exclude the lanes that the mask turns off from the reduction with "
           "tl.where";
  return min ? "give the load other=float(\"inf\"), or keep its lanes out with "
               "tl.where"
             : "give the load other=float(\"-inf\"), or keep its lanes out "
               "with tl.where";
}

static const char desc_shape[] = "the descriptor's shape";

static void report_filled(padding *w, tki *t, const tk_inst *in, const row *r,
                          const tkc_fill *f) {
  const char *lane = tkc_lane(w->c, &in->from, r->lane);
  bool min = tk_inst_reduction(in) == TK_R_MIN ||
             tk_inst_reduction(in) == TK_R_MIN_NAN;
  bool wins =
      tk_inst_reduction(in) != TK_R_SUM && tk_inst_reduction(in) != TK_R_PROD;
  tk_diag *d =
      wins ? tkc_report(w->c, t, TK_D_NEUTRAL, NULL, NULL,
                        "the %s is %g, from lane %s%s %s filled: the %s "
                        "%s one is %g",
                        min ? "minimum" : "maximum", r->filled, lane, which(f),
                        filler(w, f), min ? "smallest" : "largest",
                        f->derived ? "other" : "loaded", r->best)
           : tkc_report(w->c, t, TK_D_NEUTRAL, NULL, NULL,
                        "lane %s%s %s filled, enters this %s as %g", lane,
                        which(f), filler(w, f),
                        tk_inst_reduction(in) == TK_R_SUM ? "sum" : "product",
                        r->filled);
  tkc_at_lane(w->c, d, lane);
  tkc_note(w->c, d, &f->at, "%s leaves %s out",
           f->window == TK_W_POINTERS        ? "the mask of a load"
           : f->window == TK_W_BLOCK_POINTER ? "boundary_check= of a load"
                                             : tkc_words(w->c, desc_shape),
           f->derived ? "lanes" : "the lane");
  tkc_help(w->c, d, "%s", padding_advice(f, wins, min));
  tkc_reported(w->c, t, d);
}

static bool is_watched(const tk_inst *in) {
  return in->op == TK_I_REDUCE && !in->from.ptr &&
         (tk_inst_reduction(in) == TK_R_SUM ||
          tk_inst_reduction(in) == TK_R_PROD ||
          tk_inst_reduction(in) == TK_R_MAX ||
          tk_inst_reduction(in) == TK_R_MIN ||
          tk_inst_reduction(in) == TK_R_MAX_NAN ||
          tk_inst_reduction(in) == TK_R_MIN_NAN);
}

#define FILLED_ALIKE(T)                                                        \
  TKI_CLONES static bool filled_alike_##T(const T *x, const uint8_t *mask,     \
                                          T lane, size_t n) {                  \
    T other = 0;                                                               \
    for (size_t i = 0; i < n; i++) other |= mask[i] ? 0 : (T)(x[i] ^ lane);    \
    return !other;                                                             \
  }
FILLED_ALIKE(uint16_t)
FILLED_ALIKE(uint32_t)
FILLED_ALIKE(uint64_t)

/* Whether all filled lanes are equal to that one. */
static bool filled_alike(const void *x, const uint8_t *mask, size_t one,
                         size_t n, size_t size) {
  const uint16_t *a = x;
  const uint32_t *b = x;
  const uint64_t *c = x;
  return size == 2   ? filled_alike_uint16_t(a, mask, a[one], n)
         : size == 4 ? filled_alike_uint32_t(b, mask, b[one], n)
                     : size == 8 && filled_alike_uint64_t(c, mask, c[one], n);
}

/* Whether all filled lanes are one that every row ignores, as most are: 0 in a
 * sum, -inf in a maximum. */
static bool all_ignored(const tk_inst *in, const void *lanes, const tkc_fill *f,
                        double ignored) {
  const uint8_t *off = memchr(f->mask, 0, f->n);
  size_t one = off ? (size_t)(off - f->mask) : 0;
  double x = lane_of(in, lanes, one), best = row_beats(in, 0, 1) ? -1 : 1;
  tk_reduction by = tk_inst_reduction(in);
  bool sum = by == TK_R_SUM || by == TK_R_PROD;
  if (x == x && (sum ? x != ignored : !isinf(x) || x * best > 0)) return false;
  return filled_alike(lanes, f->mask, one, f->n, tk_lane_size(&in->from));
}

static void check_reduction(padding *w, tki *t, const tk_inst *in,
                            const tki_val *a) {
  const origin *table = origin_table(t->frame);
  origin o = table ? table[in->args[0]] : (origin){0, 0};
  if (!o.fill || o.fill == DATA || tki_is_uniform(a)) return;
  TK_ASSERT(o.fill < w->fills.n);
  const tkc_fill *f = &w->fills.items[o.fill];
  if (f->version != o.version || f->n != (size_t)tk_numel(&in->from)) return;
  tk_lines l = tk_lines_read(in);
  double ignored = tk_inst_reduction(in) == TK_R_PROD;
  const void *lanes = tki_lanes(a);
  if (all_ignored(in, lanes, f, ignored)) return;
  for (size_t i = 0; i < l.count; i++) {
    row r = {.first = tk_line_first(&l, i), .n = l.n, .step = l.step};
    look_at_row(&r, in, lanes, f->mask, ignored);
    if (!is_spoilt(&r, in, ignored)) continue;
    /* where filled lanes spoil a softmax, its sum is reported */
    if (is_maximum(in) && tkc_is_of_softmax(t, in)) return;
    if (tkc_is_bounded(t, in, r.filled)) continue;
    report_filled(w, t, in, &r, f);
    return;
  }
}

/* ---- hooks -------------------------------------------------------------- */

static void padding_after(void *ud, tki *t, const tk_inst *in,
                          const tki_val *args) {
  if (is_watched(in)) check_reduction(ud, t, in, &args[0]);
  pass_origin(ud, t, in, args);
}

static bool padding_settled(void *ud, tki *t, const tk_inst *in) {
  const origin *table = origin_table(t->frame);
  bool plain = true;
  (void)ud;
  for (int k = 0; k < in->nres; k++) plain &= !table || !table[in->res[k]].fill;
  return plain;
}

static bool padding_idle(void *ud, tki *t, const tk_inst *in) {
  (void)ud, (void)t;
  return !is_watched(in);
}

static void pass_origins(tki *t) {
  const tki_frame *f = t->frame;
  const tk_inst *call = tki_call_of(f);
  const origin *from = call ? origin_table(f->caller) : NULL;
  if (!from) return;
  for (size_t i = 0; i < f->func->nparams && i < call->nargs; i++)
    set_origin(t, f->func->params[i], from[call->args[i]]);
}

static void padding_frame(void *ud, tki *t, bool begins) {
  (void)ud;
  if (begins) {
    pass_origins(t);
  } else {
    tki_scratch_free(t, t->frame->shadow[TKI_SHADOW_PADDING]);
    t->frame->shadow[TKI_SHADOW_PADDING] = NULL;
  }
}

static bool has_other(const tk_inst *in) {
  return in->op == TK_I_LOAD && tk_load_other(in) >= 0;
}

void *tkc_NEUTRAL_begin(tkc *c, tki *t) {
  if (!tk_program_has(t->program, has_other) ||
      !tk_program_has(t->program, is_watched))
    return NULL;
  padding *w = TK_NEW(&c->run, padding);
  w->c = c;
  w->of = TK_NEWN(&c->run, uint32_t, t->program->ninsts + 1);
  TK_PUSH(&c->run, &w->fills, (tkc_fill){.n = 0});
  w->observer = (tki_observer){.ud = w,
                               .frame = padding_frame,
                               .after = padding_after,
                               .settled = padding_settled,
                               .idle = padding_idle,
                               .skips_scans = true,
                               .access = padding_access,
                               .rows = true};
  tki_observe(t, &w->observer);
  return w;
}
