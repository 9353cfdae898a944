/* lint_window.c - axes along which a launch has whole blocks.
 *
 * boundary_check= and masks of several axes often name every axis, also one
 * along which the caller promises whole blocks.  Where the size is a multiple
 * of the block in this launch, nothing is said of lanes outside: blocks mostly
 * lie side by side, and where they do not, undefined lanes are seen in the run.
 */
#include "interp/check/lint.h"

#include "ir/lanes.h"

/* The parameter or the constant that a slot's value is a copy of. */
typedef struct root {
  const tkc_lint *l;
  uint8_t *seen; /* by slot */
  int64_t value;
  bool found, other;
} root;

static void take(root *r, int64_t value) {
  r->other |= r->found && r->value != value;
  r->found = true;
  r->value = value;
}

static int64_t whole(uint64_t bits, const tk_type *t) {
  return tk_lane_int((tk_dtype)t->elem, &bits);
}

static void take_param(root *r, int slot) {
  const tkc_lint *l = r->l;
  const tk_program *p = l->t->program;
  size_t i = 0;
  while (i < p->nparams && p->params[i].slot != slot) i++;
  r->other |= l->f != p->kernel || i == p->nparams || p->params[i].type.ptr;
  if (!r->other)
    take(r, whole(tki_scalar_bits(&l->t->params[i]), &p->params[i].type));
}

static void look_for_root(root *r, int slot) {
  const tkc_lint *l = r->l;
  bool set = false;
  if (r->seen[slot] || r->other) return;
  r->seen[slot] = 1;
  for (size_t i = 0; i < l->all.n; i++) {
    const tk_inst *in = l->all.items[i];
    for (int k = 0; k < in->nres; k++) {
      if (in->res[k] != slot) continue;
      set = true;
      if (in->op == TK_I_CONST)
        take(r, whole(tk_const_bits(in), &in->type));
      else if (in->op == TK_I_CAST || tk_lanes_kept(in))
        look_for_root(r, in->args[0]);
      else
        r->other = true;
    }
  }
  if (!set) take_param(r, slot);
}

static bool is_multiple(const tkc_lint *l, int slot, int64_t n) {
  root r = {.l = l, .seen = TK_NEWN(&l->c->run, uint8_t, l->f->nslots + 1)};
  look_for_root(&r, slot);
  return r.found && !r.other && r.value % n == 0;
}

/* The only axis along which lanes of a part of the mask differ; -1: there are
 * several, or none. */
static int axis_of(const tk_type *t) {
  int axis = -1, n = 0;
  for (int i = 0; i < t->rank; i++)
    if (t->shape[i] != 1) axis = i, n++;
  return n == 1 ? axis : -1;
}

/* What the parts of a mask compare. */
typedef struct parts {
  unsigned axes; /* bit i: some part compares offsets along axis i */
  bool fits;     /* a part does so along the axis in question, with a multiple
                    of the block */
} parts;

static void look_at_mask(const tkc_lint *l, int mask, int axis, parts *x) {
  const tk_inst *d = l->def[mask];
  while (d && (tk_lanes_kept(d) || d->op == TK_I_BROADCAST))
    d = l->def[d->args[0]];
  if (!d) return;
  if (d->op == TK_I_BINARY && tk_binary_op(d) == TK_B_AND) {
    look_at_mask(l, d->args[0], axis, x);
    look_at_mask(l, d->args[1], axis, x);
  }
  int along = axis_of(&d->type);
  if (d->op != TK_I_COMPARE || along < 0) return;
  x->axes |= 1u << along;
  x->fits |= along == axis && tk_compare_op(d) == TK_C_LT &&
             is_multiple(l, d->args[1], d->type.shape[axis]);
}

bool tkc_lint_fits(const tkc_lint *l, const tk_inst *load, int axis) {
  parts x = {0, false};
  look_at_mask(l, load->args[1], axis, &x);
  bool several = x.axes & (x.axes - 1);
  return x.fits && (several || tk_inst_window(load) == TK_W_BLOCK_POINTER);
}
