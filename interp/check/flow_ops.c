/* flow_ops.c - how marks pass through each kind of instruction.
 *
 * One function for each kind of inst.def: lane by lane, along the axis where
 * it is a reduction or scan; what only moves lanes moves their marks by the
 * same code, run on the marks.  A mark dies where the lane is not chosen.
 */
#include <string.h>

#include "interp/check/flow.h"
#include "interp/kernels.h"
#include "interp/retyped.h"
#include "ir/lanes.h"

static bool any_operand(const tki *t, const tk_inst *in) {
  if (!t->frame->shadow[TKI_SHADOW_UNDEF]) return false;
  for (int k = 0; k < in->nargs; k++)
    if (tkc_flow_marked(t, in->args[k])) return true;
  return false;
}

static void clear_results(tki *t, const tk_inst *in) {
  for (int k = 0; k < in->nres; k++) tkc_flow_clear(t, in->res[k]);
}

/* ---- lane by lane -------------------------------------------------------- */

/* Returns the first mark of a block whose lanes do not correspond to those of
 * the result. */
static tkc_flow_id first_mark(const tkc_flow_marks *m, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (tkc_flow_at(m, i)) return tkc_flow_at(m, i);
  return 0;
}

TKI_CLONES static void add_marks(tkc_flow_id *d, const tkc_flow_id *m,
                                 size_t n) {
  for (size_t i = 0; i < n; i++) d[i] = tkc_flow_either(d[i], m[i]);
}

static void pass_lanes(tki *t, const tk_inst *in) {
  size_t n = (size_t)in->n;
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *d = tki_writable(&v);
  for (int k = 0; k < in->nargs; k++) {
    if (!tkc_flow_marked(t, in->args[k])) continue;
    tkc_flow_marks m = tkc_flow_of(t, in->args[k]);
    const tk_type *type = &t->frame->func->slots[in->args[k]].type;
    size_t own = (size_t)tk_numel(type);
    bool lanes = own == n && m.step;
    tkc_flow_id one =
        own == n || own == 1 ? tkc_flow_at(&m, 0) : first_mark(&m, own);
    if (lanes) add_marks(d, m.id, n);
    for (size_t i = 0; !lanes && i < n; i++) d[i] = tkc_flow_either(d[i], one);
  }
  for (int k = 1; k < in->nres; k++)
    tkc_flow_set(t, in->res[k], tki_share(&v), n);
  tkc_flow_set(t, in->res[0], v, n);
}

static const uint8_t *bools(const tki_val *v, size_t *step) {
  *step = !tki_is_uniform(v);
  return tki_lanes(v);
}

/* The operand that decides what an operation on integers gives, whatever the
 * other one is: 0 in a product. */
static bool find_decider(const tk_inst *in, uint64_t *bits) {
  tk_dtype d = (tk_dtype)in->type.elem;
  if (in->op != TK_I_BINARY || in->type.ptr || !tk_is_int(d)) return false;
  unsigned width = d == TK_INT1 ? 1 : 8 * (unsigned)tk_dtype_size(d);
  uint64_t ones = ~(uint64_t)0 >> (64 - width);
  uint64_t top = tk_is_signed(d) ? ones >> 1 : ones;
  switch ((int)tk_binary_op(in)) {
  case TK_B_AND:
  case TK_B_MUL: *bits = 0; return true;
  case TK_B_OR: *bits = ones; return true;
  case TK_B_MIN:
  case TK_B_MIN_NAN: *bits = ones - top; return true;
  case TK_B_MAX:
  case TK_B_MAX_NAN: *bits = top; return true;
  default: return false;
  }
}

static uint64_t lane_bits(const tki_val *v, size_t i, size_t size) {
  uint64_t bits = 0;
  memcpy(&bits, tki_lane(v, i, size), size);
  return bits;
}

/* If a defined operand decides the result, nothing is undefined. */
static void pass_decided(tki *t, const tk_inst *in, const tki_val *args,
                         uint64_t decider) {
  size_t n = (size_t)in->n, size = tk_lane_size(&in->type);
  tkc_flow_marks m[2] = {tkc_flow_of(t, in->args[0]),
                         tkc_flow_of(t, in->args[1])};
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *d = tki_writable(&v);
  for (size_t i = 0; i < n; i++) {
    tkc_flow_id a = tkc_flow_at(&m[0], i), b = tkc_flow_at(&m[1], i);
    bool settled = (!a && b && lane_bits(&args[0], i, size) == decider) ||
                   (!b && a && lane_bits(&args[1], i, size) == decider);
    d[i] = settled ? 0 : tkc_flow_either(a, b);
  }
  tkc_flow_set(t, in->res[0], v, n);
}

static void pass_select(tki *t, const tk_inst *in, const tki_val *args) {
  size_t n = (size_t)in->n, step;
  const uint8_t *c = bools(&args[0], &step);
  tkc_flow_marks m[3];
  for (int k = 0; k < 3; k++) m[k] = tkc_flow_of(t, in->args[k]);
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *d = tki_writable(&v);
  for (size_t i = 0; i < n; i++) {
    tkc_flow_id cond = tkc_flow_at(&m[0], i);
    d[i] = cond ? cond : tkc_flow_at(&m[c[i * step] ? 1 : 2], i);
  }
  tkc_flow_set(t, in->res[0], v, n);
}

/* ---- what moves lanes ---------------------------------------------------- */

/* The instruction itself, on blocks of marks in place of its operands. */
static void pass_moved(tki *t, const tk_inst *in) {
  tki_val slots[TKI_RETYPED_SLOTS] = {{0}};
  for (int k = 0; k < in->nargs; k++) {
    const tk_type *type = &t->frame->func->slots[in->args[k]].type;
    size_t n = (size_t)tk_numel(type);
    tkc_flow_marks m = tkc_flow_of(t, in->args[k]);
    slots[k] = tkc_flow_new(t, type, n);
    tkc_flow_id *d = tki_writable(&slots[k]);
    for (size_t i = 0; i < n; i++) d[i] = tkc_flow_at(&m, i);
  }
  tki_run_retyped(t, in, TK_UINT16, NULL, slots);
  for (int k = 0; k < in->nres; k++)
    tkc_flow_set(t, in->res[k], slots[in->nargs + k], (size_t)in->n);
}

/* A marked index is as bad as a marked lane. */
static void pass_gather(tki *t, const tk_inst *in, const tki_val *args) {
  const tk_type *index = &t->frame->func->slots[in->args[1]].type;
  tk_lines from = tk_lines_read(in), to = tk_lines_made(in);
  size_t total = (size_t)in->n;
  tkc_flow_marks src = tkc_flow_of(t, in->args[0]),
                 idx = tkc_flow_of(t, in->args[1]);
  const char *at = tki_lanes(&args[1]);
  tki_val v = tkc_flow_new(t, &in->type, total);
  tkc_flow_id *d = tki_writable(&v);
  for (size_t i = 0; i < total; i++) {
    size_t k = (size_t)tk_lane_int((tk_dtype)index->elem,
                                   at + i * tk_lane_size(index));
    size_t lane = tk_line_first(&from, tk_line_of(&to, i)) + k * from.step;
    d[i] =
        tkc_flow_at(&idx, i) ? tkc_flow_at(&idx, i) : tkc_flow_at(&src, lane);
  }
  tkc_flow_set(t, in->res[0], v, total);
}

/* ---- along an axis ------------------------------------------------------- */

/* The first mark of a row, and whether it has lanes without a mark too.  Marks
 * of zeros are kept apart, since nothing is wrong with those lanes. */
typedef struct row_marks {
  tkc_flow_id first;
  bool mixed;
  tkc_flow_id zero;
} row_marks;

static row_marks look_along(const tkc_flow_marks *m, size_t from, size_t n,
                            size_t step) {
  row_marks r = {0, false, 0};
  bool clean = false;
  for (size_t k = 0; k < n; k++) {
    tkc_flow_id id = tkc_flow_at(m, from + k * step);
    if (id <= TKC_FLOW_UNDERFLOWN) {
      r.zero = tkc_flow_either(r.zero, id);
      clean = true;
    } else if (!r.first) {
      r.first = id;
    }
  }
  r.mixed = clean && r.first;
  return r;
}

/* If only some lanes of a row are undefined, that is reported when the result
 * matters: the row may lie past the end of the data, or be the last of those
 * whose sum goes into the next trip of a loop. */
static tkc_flow_id settle_row(tkc_flow *f, tki *t, row_marks r,
                              const char *what) {
  if (!r.mixed || f->quiet ||
      tkc_flow_source_of(f, r.first)->kind != TKC_FLOW_UNDEF)
    return r.first;
  return tkc_flow_mixes(f, t, r.first, what);
}

static void pass_reduce(tkc_flow *f, tki *t, const tk_inst *in) {
  tk_lines l = tk_lines_read(in);
  size_t n = (size_t)in->n;
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *d = tki_writable(&v);
  for (int k = 0; k < in->nargs; k++) {
    tkc_flow_marks m = tkc_flow_of(t, in->args[k]);
    for (size_t i = 0; i < l.count; i++) {
      if (d[i] > TKC_FLOW_UNDERFLOWN) continue;
      row_marks row = look_along(&m, tk_line_first(&l, i), l.n, l.step);
      tkc_flow_id id = settle_row(f, t, row, "goes into a reduction");
      d[i] = id ? id : tkc_flow_either(d[i], row.zero);
    }
  }
  for (int k = 1; k < in->nres; k++)
    tkc_flow_set(t, in->res[k], tki_share(&v), n);
  tkc_flow_set(t, in->res[0], v, n);
}

/* A lane of the result is marked if that lane of the operand, or one before it,
 * is. */
static void pass_scan(tki *t, const tk_inst *in) {
  tk_lines l = tk_lines_made(in);
  size_t n = (size_t)in->n;
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *d = tki_writable(&v);
  for (int k = 0; k < in->nargs; k++) {
    tkc_flow_marks m = tkc_flow_of(t, in->args[k]);
    for (size_t i = 0; i < l.count; i++) {
      size_t first = tk_line_first(&l, i);
      tkc_flow_id id = 0;
      for (size_t a = 0; a < l.n; a++) {
        size_t at = first + (tk_inst_reverse(in) ? l.n - 1 - a : a) * l.step;
        id = tkc_flow_either(id, tkc_flow_at(&m, at));
        d[at] = tkc_flow_either(d[at], id);
      }
    }
  }
  for (int k = 1; k < in->nres; k++)
    tkc_flow_set(t, in->res[k], tki_share(&v), n);
  tkc_flow_set(t, in->res[0], v, n);
}

/* Any lane can come to stand anywhere along the axis. */
static void pass_sort(tkc_flow *f, tki *t, const tk_inst *in) {
  tk_lines from = tk_lines_read(in), to = tk_lines_made(in);
  tkc_flow_marks m = tkc_flow_of(t, in->args[0]);
  tki_val v = tkc_flow_new(t, &in->type, (size_t)in->n);
  tkc_flow_id *d = tki_writable(&v);
  for (size_t i = 0; i < to.count; i++) {
    size_t first = tk_line_first(&to, i);
    row_marks row = look_along(&m, tk_line_first(&from, i), from.n, from.step);
    tkc_flow_id id = settle_row(f, t, row, "is sorted");
    for (size_t a = 0; a < to.n; a++) d[first + a * to.step] = id;
  }
  tkc_flow_set(t, in->res[0], v, (size_t)in->n);
}

static void pass_histogram(tkc_flow *f, tki *t, const tk_inst *in,
                           const tki_val *args) {
  size_t n = (size_t)tk_numel(&in->from), step = 0;
  const uint8_t *mask = in->nargs > 1 ? bools(&args[1], &step) : NULL;
  tkc_flow_marks m = tkc_flow_of(t, in->args[0]);
  for (size_t i = 0; i < n; i++) {
    tkc_flow_id id = tkc_flow_at(&m, i);
    if (!id || (mask && !mask[i * step])) continue;
    if (tkc_flow_source_of(f, id)->kind == TKC_FLOW_UNDEF)
      tkc_flow_mixed(f, t, id, "is counted by a histogram");
    break;
  }
  clear_results(t, in);
}

/* ---- products ------------------------------------------------------------ */

/* A lane of a product is marked if its row or column is, or its accumulator. */
static void pass_dot(tkc_flow *f, tki *t, const tk_inst *in) {
  tk_product p = tk_product_of(in);
  tkc_flow_marks a = tkc_flow_of(t, in->args[0]),
                 b = tkc_flow_of(t, in->args[1]);
  tkc_flow_marks acc = {NULL, 0};
  bool adds = in->nargs > 2;
  if (adds) acc = tkc_flow_of(t, in->args[2]);
  tki_val v = tkc_flow_new(t, &in->type, (size_t)in->n);
  tkc_flow_id *d = tki_writable(&v);
  for (size_t o = 0; o < p.batch; o++)
    for (size_t i = 0; i < p.m; i++) {
      row_marks row = look_along(&a, (o * p.m + i) * p.k, p.k, 1);
      for (size_t j = 0; j < p.n; j++) {
        size_t at = (o * p.m + i) * p.n + j;
        row_marks col = look_along(&b, o * p.k * p.n + j, p.k, p.n);
        bool whole = (row.first && !row.mixed) || (col.first && !col.mixed);
        row_marks r = {row.first ? row.first : col.first, !whole, 0};
        r.mixed = r.mixed && r.first;
        d[at] = settle_row(f, t, r, "goes into a product of matrices");
        if (!d[at] && adds) d[at] = tkc_flow_at(&acc, at);
      }
    }
  tkc_flow_set(t, in->res[0], v, (size_t)in->n);
}

/* ---- dispatch ------------------------------------------------------------ */

/* For instructions whose lanes come from the same lanes of their operands.
 * Lanes that are loaded get marks of their own. */
static void pass_same(tkc_flow *f, tki *t, const tk_inst *in,
                      const tki_val *args) {
  uint64_t decider;
  if (in->op == TK_I_SELECT)
    pass_select(t, in, args);
  else if (find_decider(in, &decider))
    pass_decided(t, in, args, decider);
  else if (tk_inst_is_pure(in)) {
    pass_lanes(t, in);
    tkc_flow_bound(f, t, in, args);
  }
}

/* Called if some operand has marks: passes them to the result in the way in
 * which the instruction passes lanes. */
static void pass_marked(tkc_flow *f, tki *t, const tk_inst *in,
                        const tki_val *args) {
  switch (tk_inst_lanes(in)) {
  case TK_LANES_SAME: pass_same(f, t, in, args); break;
  case TK_LANES_MOVES: pass_moved(t, in); break;
  case TK_LANES_GATHERS: pass_gather(t, in, args); break;
  case TK_LANES_REDUCES: pass_reduce(f, t, in); break;
  case TK_LANES_SCANS: pass_scan(t, in); break;
  case TK_LANES_SORTS: pass_sort(f, t, in); break;
  case TK_LANES_COUNTS: pass_histogram(f, t, in, args); break;
  case TK_LANES_PRODUCT: pass_dot(f, t, in); break;
  case TK_LANES_SCALES:
  case TK_LANES_GROUPS: pass_lanes(t, in); break;
  case TK_LANES_NONE:
    if (in->op == TK_I_ASSERT)
      tkc_flow_branch(f, t, in->args[0], "is asserted");
    break;
  case TK_LANES_CALLS:
    if (in->op == TK_I_COND)
      tkc_flow_branch(f, t, in->args[0], "decides which value is taken");
    break;
  }
}

/* A load's marks were set when the access happened, those of a choice by the
 * instructions of the side that was taken. */
void tkc_flow_pass(tkc_flow *f, tki *t, const tk_inst *in,
                   const tki_val *args) {
  if (any_operand(t, in))
    pass_marked(f, t, in, args);
  else if (in->op != TK_I_LOAD && in->op != TK_I_COND)
    clear_results(t, in);
  if (in->nres && f->kinds & ~(unsigned)TKC_FLOW_UNDEF)
    tkc_flow_find_sources(f, t, in, args);
}
