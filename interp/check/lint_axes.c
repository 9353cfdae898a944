/* lint_axes.c - axes that are crossed.
 *
 * An offset range, the result of one tl.arange, runs along an axis of the
 * blocks that are made of it.  A store whose address has it along one axis, and
 * whose value or mask has it along another, mixes rows up with columns; so does
 * one whose value was reduced over it.  Ranges are followed through all that
 * keeps or moves axes; nothing is reported of other values.
 *
 * A value may have the same range along both of its axes and be right: products
 * of a block with itself, distances of all pairs, causal masks.  Its second
 * axis may then be stored along a range of its own that holds the same numbers,
 * counted from the beginning of the tensor or from that of the block.  So what
 * the value has along the axis of the address as well is reported only if a
 * load that was made for one axis alone brought it to the other one, and a
 * range that counts from elsewhere is never compared with one that does not.
 */
#include "interp/check/lint.h"

#include "ir/lanes.h"

enum { PASSES = 3 };

/* The ranges of a value, and the loads that it is made of, as bits. */
typedef struct axis_ranges {
  uint64_t along[TK_MAX_RANK];
  uint64_t loads[TK_MAX_RANK]; /* whose addresses vary along the axis */
  uint64_t reduced;            /* ranges that a reduction has taken together */
  uint64_t shifted; /* ranges that were added to a number of the program's */
  uint64_t paired;  /* ranges that one operand had along one axis, and the
                       other operand along another axis */
  bool murky;       /* it may be made of ranges that are not known */
} axis_ranges;

/* Instructions with a bit each. */
typedef struct inst_set {
  const tk_inst *item[64];
  int n;
} inst_set;

typedef struct axes_state {
  tkc_lint *l;
  axis_ranges *of; /* by slot */
  inst_set ranges, loads;
} axes_state;

/* The bit of an instruction; 0: there are too many. */
static uint64_t bit_of(inst_set *s, const tk_inst *in) {
  for (int i = 0; i < s->n; i++)
    if (s->item[i] == in) return (uint64_t)1 << i;
  if (s->n == 64) return 0;
  s->item[s->n] = in;
  return (uint64_t)1 << s->n++;
}

static void add_ranges(axis_ranges *to, const axis_ranges *from) {
  for (int i = 0; i < TK_MAX_RANK; i++) {
    to->along[i] |= from->along[i];
    to->loads[i] |= from->loads[i];
  }
  to->reduced |= from->reduced;
  to->shifted |= from->shifted;
  to->paired |= from->paired;
  to->murky |= from->murky;
}

/* What is known of a value beside its axes. */
static axis_ranges without_axes(const axis_ranges *of) {
  return (axis_ranges){.reduced = of->reduced,
                       .shifted = of->shifted,
                       .paired = of->paired,
                       .murky = of->murky};
}

static void move_axis(axis_ranges *to, int k, const axis_ranges *from, int i) {
  to->along[k] = from->along[i];
  to->loads[k] = from->loads[i];
}

/* A reshape that only adds or removes axes of one lane is followed; any other
 * change of shape is not. */
static axis_ranges ranges_reshaped(const tk_type *from, const tk_type *to,
                                   const axis_ranges *of) {
  axis_ranges out = without_axes(of);
  int i = 0;
  for (int k = 0; k < to->rank; k++) {
    if (to->shape[k] == 1) continue;
    while (i < from->rank && from->shape[i] == 1) i++;
    if (i == from->rank || from->shape[i] != to->shape[k]) {
      out.murky = true;
      break;
    }
    move_axis(&out, k, of, i++);
  }
  return out;
}

static axis_ranges ranges_reduced(const tk_inst *in, const axis_ranges *of) {
  axis_ranges out = without_axes(of);
  for (int i = 0, k = 0; i < in->from.rank; i++)
    if (i == tk_inst_axis(in))
      out.reduced |= of->along[i];
    else
      move_axis(&out, k++, of, i);
  return out;
}

/* The ranges that a has along one axis on which b does not vary, and b along
 * another one on which a does not. */
static uint64_t paired_ranges(const axis_ranges *a, const axis_ranges *b) {
  uint64_t out = 0;
  for (int i = 0; i < TK_MAX_RANK; i++)
    for (int k = 0; k < TK_MAX_RANK; k++)
      if (i != k && !a->along[k] && !b->along[i])
        out |= a->along[i] & b->along[k];
  return out;
}

static axis_ranges ranges_of_product(const axes_state *x, const tk_inst *in) {
  const axis_ranges *a = &x->of[in->args[0]], *b = &x->of[in->args[1]];
  int rank = in->type.rank;
  axis_ranges out = {.shifted = a->shifted | b->shifted,
                     .paired = a->paired | b->paired,
                     .murky = a->murky || b->murky};
  for (int i = 0; i < rank - 1; i++) move_axis(&out, i, a, i);
  move_axis(&out, rank - 1, b, rank - 1);
  out.paired |= out.along[rank - 1] & out.along[rank - 2];
  if (in->nargs > 2) add_ranges(&out, &x->of[in->args[2]]);
  return out;
}

static axis_ranges ranges_loaded(axes_state *x, const tk_inst *in) {
  axis_ranges out = x->of[in->args[0]];
  uint64_t bit = bit_of(&x->loads, in);
  for (int i = 0; i < TK_MAX_RANK; i++) out.loads[i] = out.along[i] ? bit : 0;
  out.paired = 0;
  return out;
}

/* Whether an operand is one number, which is not known before the run. */
static bool is_program_number(const axes_state *x, int slot) {
  const axis_ranges *of = &x->of[slot];
  const tk_inst *def = x->l->def[slot];
  if (def && def->op == TK_I_BROADCAST)
    return is_program_number(x, def->args[0]);
  for (int i = 0; i < TK_MAX_RANK; i++)
    if (of->along[i] || of->murky) return false;
  return !def || (def->op != TK_I_CONST && !def->type.rank);
}

/* The ranges of a sum of offsets and such a number, which count from elsewhere.
 */
static uint64_t newly_shifted(const axes_state *x, const tk_inst *in) {
  if (in->op != TK_I_BINARY || !tk_is_int((tk_dtype)in->type.elem)) return 0;
  if (tk_binary_op(in) != TK_B_ADD && tk_binary_op(in) != TK_B_SUB) return 0;
  uint64_t out = 0;
  for (int k = 0; k < 2; k++) {
    const axis_ranges *of = &x->of[in->args[k]];
    int axes = 0;
    if (!is_program_number(x, in->args[!k])) continue;
    for (int i = 0; i < TK_MAX_RANK; i++) axes += of->along[i] != 0;
    for (int i = 0; i < TK_MAX_RANK && axes == 1; i++) out |= of->along[i];
  }
  return out;
}

static axis_ranges ranges_combined(const axes_state *x, const tk_inst *in) {
  axis_ranges out = {.shifted = newly_shifted(x, in)};
  for (int i = 0; i < in->nargs; i++) {
    if (!tk_same_shape(tkc_lint_type(x->l, in->args[i]), &in->type)) continue;
    out.paired |= paired_ranges(&out, &x->of[in->args[i]]);
    add_ranges(&out, &x->of[in->args[i]]);
  }
  return out;
}

static axis_ranges ranges_made(axes_state *x, const tk_inst *in) {
  axis_ranges out = {.murky = false};
  const axis_ranges *first = in->nargs ? &x->of[in->args[0]] : &out;
  if (!in->type.rank) return out;
  if (in->op == TK_I_ARANGE) {
    out.along[0] = bit_of(&x->ranges, in);
    out.murky = !out.along[0];
    return out;
  }
  if (in->op == TK_I_LOAD) return ranges_loaded(x, in);
  if (in->op == TK_I_BROADCAST) return *first;
  if (in->op == TK_I_PERMUTE) {
    out = without_axes(first);
    for (int i = 0; i < in->type.rank; i++)
      move_axis(&out, i, first, (int)tk_permute_axes(in)[i]);
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
  return ranges_combined(x, in);
}

static void say_crossed(axes_state *x, const tk_inst *in, uint64_t range,
                        const char *text, const char *help) {
  int i = 0;
  while (!(range >> i & 1)) i++;
  tkc *c = x->l->c;
  tkc_place at = tkc_place_of(x->l->f, in);
  tkc_place made = tkc_place_of(x->l->f, x->ranges.item[i]);
  tk_diag *d = tkc_report(c, NULL, TK_D_LINT_AXES, &at, NULL, "%s", text);
  tkc_help(c, d, "%s", help);
  tkc_note(c, d, &made, "these are the offsets");
}

/* Whether some load that reads by the range varies along the value's axis i,
 * and not along k. */
static bool brought_by_load(const axes_state *x, const axis_ranges *with,
                            uint64_t range, int i, int k) {
  for (int n = 0; n < x->loads.n; n++) {
    uint64_t load = (uint64_t)1 << n;
    const axis_ranges *address = &x->of[x->loads.item[n]->args[0]];
    if (!(with->loads[i] & load) || with->loads[k] & load) continue;
    for (int j = 0; j < TK_MAX_RANK; j++)
      if (address->along[j] & range) return true;
  }
  return false;
}

/* Whether some of the ranges count from elsewhere, and some do not. */
static bool counts_differ(uint64_t a, uint64_t a_shifted, uint64_t b,
                          uint64_t b_shifted) {
  return (a & a_shifted && b & ~b_shifted) || (a & ~a_shifted && b & b_shifted);
}

/* Whether the range, which lies along axis k of the address alone, must not run
 * along axis i of the value. */
static bool is_crossed(const axes_state *x, const axis_ranges *address,
                       const axis_ranges *with, uint64_t range, int i, int k) {
  if (counts_differ(range, address->shifted, address->along[i],
                    address->shifted))
    return false;
  if (!(with->along[k] & range)) return true;
  return with->along[i] & address->along[i] && !(with->paired & range) &&
         brought_by_load(x, with, range, i, k);
}

/* A range that lies along only one axis of an address, and crosses over to
 * another axis of the value or mask; 0: there is none. */
static uint64_t crossed(const axes_state *x, const axis_ranges *address,
                        const axis_ranges *with, int rank) {
  for (int i = 0; i < rank; i++)
    for (int k = 0; k < rank; k++) {
      uint64_t found = i == k ? 0 : with->along[i] & address->along[k];
      for (int j = 0; j < rank; j++)
        if (j != k) found &= ~address->along[j];
      for (uint64_t bit = 1; found; found &= ~bit, bit <<= 1)
        if (found & bit && is_crossed(x, address, with, bit, i, k)) return bit;
    }
  return 0;
}

static void check_store(axes_state *x, const tk_inst *in) {
  const axis_ranges *address = &x->of[in->args[0]];
  int rank = tkc_lint_type(x->l, in->args[0])->rank;
  if (address->murky) return;
  for (int k = 1; k < in->nargs; k++) {
    const axis_ranges *with = &x->of[in->args[k]];
    uint64_t found = with->murky ? 0 : crossed(x, address, with, rank);
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
    if (counts_differ(at, address->shifted, is, value->shifted)) continue;
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
