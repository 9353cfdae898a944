/* lint_axes.c - axes that are crossed.
 *
 * An offset range, the result of one tl.arange, runs along an axis of the
 * blocks that are made of it.  A store whose address has it along one axis, and
 * whose value or mask has it along another, mixes rows up with columns; so does
 * one whose value was reduced over it.  Ranges are followed through all that
 * keeps or moves axes; nothing is reported of other values.
 */
#include "interp/check/lint.h"

#include "ir/lanes.h"

enum { PASSES = 3 };

/* The ranges of a value, as bits. */
typedef struct axis_ranges {
  uint64_t along[TK_MAX_RANK];
  uint64_t reduced; /* that a reduction has taken together */
  bool murky;       /* it may be made of ranges that are not known */
} axis_ranges;

typedef struct axes_state {
  tkc_lint *l;
  axis_ranges *of; /* by slot */
  const tk_inst *range[64];
  int n;
} axes_state;

static uint64_t range_bit(axes_state *x, const tk_inst *in) {
  for (int i = 0; i < x->n; i++)
    if (x->range[i] == in) return (uint64_t)1 << i;
  if (x->n == 64) return 0;
  x->range[x->n] = in;
  return (uint64_t)1 << x->n++;
}

static void add_ranges(axis_ranges *to, const axis_ranges *from) {
  for (int i = 0; i < TK_MAX_RANK; i++) to->along[i] |= from->along[i];
  to->reduced |= from->reduced;
  to->murky |= from->murky;
}

/* A reshape that only adds or removes axes of one lane is followed; any other
 * change of shape is not. */
static axis_ranges ranges_reshaped(const tk_type *from, const tk_type *to,
                                   const axis_ranges *of) {
  axis_ranges out = {.reduced = of->reduced, .murky = of->murky};
  int i = 0;
  for (int k = 0; k < to->rank; k++) {
    if (to->shape[k] == 1) continue;
    while (i < from->rank && from->shape[i] == 1) i++;
    if (i == from->rank || from->shape[i] != to->shape[k]) {
      out.murky = true;
      break;
    }
    out.along[k] = of->along[i++];
  }
  return out;
}

static axis_ranges ranges_reduced(const tk_inst *in, const axis_ranges *of) {
  axis_ranges out = {.reduced = of->reduced, .murky = of->murky};
  for (int i = 0, k = 0; i < in->from.rank; i++)
    if (i == tk_inst_axis(in))
      out.reduced |= of->along[i];
    else
      out.along[k++] = of->along[i];
  return out;
}

static axis_ranges ranges_of_product(const axes_state *x, const tk_inst *in) {
  const axis_ranges *a = &x->of[in->args[0]], *b = &x->of[in->args[1]];
  int rank = in->type.rank;
  axis_ranges out = {.murky = a->murky || b->murky};
  for (int i = 0; i < rank - 1; i++) out.along[i] = a->along[i];
  out.along[rank - 1] = b->along[rank - 1];
  if (in->nargs > 2) add_ranges(&out, &x->of[in->args[2]]);
  return out;
}

static axis_ranges ranges_made(axes_state *x, const tk_inst *in) {
  axis_ranges out = {.murky = false};
  const axis_ranges *first = in->nargs ? &x->of[in->args[0]] : &out;
  if (!in->type.rank) return out;
  if (in->op == TK_I_ARANGE) {
    out.along[0] = range_bit(x, in);
    out.murky = !out.along[0];
    return out;
  }
  if (in->op == TK_I_LOAD || in->op == TK_I_BROADCAST) return *first;
  if (in->op == TK_I_PERMUTE) {
    out = (axis_ranges){.reduced = first->reduced, .murky = first->murky};
    for (int i = 0; i < in->type.rank; i++)
      out.along[i] = first->along[tk_permute_axes(in)[i]];
    return out;
  }
  if (tk_lanes_kept(in))
    return ranges_reshaped(tkc_lint_type(x->l, in->args[0]), &in->type, first);
  if (tk_inst_lanes(in) == TK_LANES_REDUCES) return ranges_reduced(in, first);
  if (tk_inst_lanes(in) == TK_LANES_PRODUCT) return ranges_of_product(x, in);
  if (tk_inst_lanes(in) != TK_LANES_SAME) {
    out.murky = in->nargs > 0;
    return out;
  }
  for (int i = 0; i < in->nargs; i++)
    if (tk_same_shape(tkc_lint_type(x->l, in->args[i]), &in->type))
      add_ranges(&out, &x->of[in->args[i]]);
  return out;
}

static void say_crossed(axes_state *x, const tk_inst *in, uint64_t range,
                        const char *text, const char *help) {
  int i = 0;
  while (!(range >> i & 1)) i++;
  tkc *c = x->l->c;
  tkc_place at = tkc_place_of(x->l->f, in);
  tkc_place made = tkc_place_of(x->l->f, x->range[i]);
  tk_diag *d = tkc_report(c, NULL, TK_D_LINT_AXES, &at, NULL, "%s", text);
  tkc_help(c, d, "%s", help);
  tkc_note(c, d, &made, "these are the offsets");
}

/* The ranges that lie along only one axis of an address, and along another axis
 * of the value or mask. */
static uint64_t crossed(const axis_ranges *address, const axis_ranges *with,
                        int rank) {
  for (int i = 0; i < rank; i++)
    for (int k = 0; k < rank; k++) {
      uint64_t found = i == k ? 0 : with->along[i] & address->along[k];
      for (int j = 0; j < rank; j++)
        if (j != k) found &= ~address->along[j];
      if (found) return found;
    }
  return 0;
}

static void check_store(axes_state *x, const tk_inst *in) {
  const axis_ranges *address = &x->of[in->args[0]];
  int rank = tkc_lint_type(x->l, in->args[0])->rank;
  if (address->murky) return;
  for (int k = 1; k < in->nargs; k++) {
    const axis_ranges *with = &x->of[in->args[k]];
    uint64_t found = with->murky ? 0 : crossed(address, with, rank);
    if (found) {
      say_crossed(x, in, found,
                  k == 1 ? "the same offsets run along one axis of the address "
                           "and along another one of the value"
                         : "the same offsets run along one axis of the address "
                           "and along another one of the mask",
                  k == 1 ? "transpose the value with tl.trans, or exchange [:, "
                           "None] and [None, :] where one of the two is made"
                         : "exchange [:, None] and [None, :] in the mask");
      return;
    }
  }
  const axis_ranges *value = &x->of[in->args[1]];
  for (int i = 0; i < rank && !value->murky; i++) {
    uint64_t at = address->along[i], is = value->along[i];
    if (!at || !is || at & is || at & ~value->reduced) continue;
    say_crossed(x, in, at,
                "the value was reduced over the offsets that it is stored at",
                "reduce over the other axis, or store at the offsets that are "
                "left");
    return;
  }
}

void tkc_lint_axes(tkc_lint *l) {
  axes_state x = {.l = l};
  x.of = TK_NEWN(&l->c->run, axis_ranges, l->f->nslots + 1);
  for (size_t i = 0; i < l->f->nparams; i++)
    x.of[l->f->params[i]].murky = tkc_lint_type(l, l->f->params[i])->rank > 0;
  for (int pass = 0; pass < PASSES; pass++)
    for (size_t i = 0; i < l->all.n; i++) {
      const tk_inst *in = l->all.items[i];
      tk_check_step(l->t->env, i);
      axis_ranges made = ranges_made(&x, in);
      for (int k = 0; k < in->nres; k++) add_ranges(&x.of[in->res[k]], &made);
    }
  for (size_t i = 0; i < l->all.n; i++)
    if (l->all.items[i]->op == TK_I_STORE) check_store(&x, l->all.items[i]);
}
