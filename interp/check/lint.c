/* lint.c - what is wrong with a kernel before it runs.
 *
 * Every rule prefers silence to a false report: unless the typed form shows
 * that a value must be wrong, it is taken to be right.
 */
#include "interp/check/lint.h"

#include "ir/lanes.h"

tk_diag *tkc_lint_say(tkc_lint *l, tk_diag_id id, const tk_inst *in,
                      const char *text, const char *help) {
  tkc_place at = tkc_place_of(l->f, in);
  tk_diag *d = tkc_report(l->c, NULL, id, &at, NULL, "%s", text);
  if (help) tkc_help(l->c, d, "%s", help);
  return d;
}

/* ---- a function as a list ----------------------------------------------- */

static bool add_inst(void *ud, const tk_at *at, const tk_inst *in) {
  tkc_lint *l = ud;
  (void)at;
  TK_PUSH(&l->c->run, &l->all, in);
  return true;
}

/* The variable of a loop has a definition for each trip. */
static bool add_loop(void *ud, const tk_at *at) {
  uint8_t *defs = ud;
  if (at->stmt->kind == TK_S_FOR) defs[at->stmt->iv] = 2;
  return true;
}

static void find_defs(tkc_lint *l) {
  uint8_t *defs = TK_NEWN(&l->c->run, uint8_t, l->f->nslots + 1);
  tk_walk_func(l->f, &(tk_walk){.ud = defs, .stmt = add_loop});
  l->def = TK_NEWN(&l->c->run, const tk_inst *, l->f->nslots + 1);
  for (size_t i = 0; i < l->f->nparams; i++) defs[l->f->params[i]]++;
  for (size_t i = 0; i < l->all.n; i++)
    for (int k = 0; k < l->all.items[i]->nres; k++) {
      int slot = l->all.items[i]->res[k];
      if (defs[slot] < 2) defs[slot]++;
      l->def[slot] = l->all.items[i];
    }
  for (size_t i = 0; i < l->f->nslots; i++)
    if (defs[i] != 1) l->def[i] = NULL;
}

/* ---- sums of masks ------------------------------------------------------ */

static void check_mask_sums(tkc_lint *l) {
  for (size_t i = 0; i < l->all.n; i++) {
    const tk_inst *in = l->all.items[i];
    if (in->op == TK_I_BINARY && tk_binary_op(in) == TK_B_ADD &&
        !in->type.ptr && in->type.elem == TK_INT1)
      tkc_lint_say(l, TK_D_LINT_MASK_SUM, in,
                   "+ of two int1 wraps: true + true is false",
                   "| is true where either is, & where both are");
  }
}

/* ---- reductions of lanes that are masked off ---------------------------- */

/* A value: the axes along which it surely varies, and the load without other
 * that it comes from by operations on single lanes. */
typedef struct open_lanes {
  unsigned varies, open; /* bit i: axis i */
  const tk_inst *load;
  bool chosen; /* some lanes may be what a tl.where or an other= put there */
} open_lanes;

/* The axes of a reshaped value; 0, nothing sure, unless only axes of one lane
 * come or go. */
static unsigned reshaped(const tk_type *from, const tk_type *to, unsigned set) {
  unsigned out = 0;
  int i = 0;
  for (int k = 0; k < to->rank; k++) {
    if (to->shape[k] == 1) continue;
    while (i < from->rank && from->shape[i] == 1) i++;
    if (i == from->rank || from->shape[i] != to->shape[k]) return 0;
    out |= (set >> i & 1) << k;
    i++;
  }
  return out;
}

/* Whether the other operand may say what the lanes are that an undefined one
 * has: a 0 in a product of integers, -inf in a sum.  What runs knows whether it
 * does. */
static bool may_be_settled(const open_lanes *undefined, const open_lanes *other,
                           const tk_inst *in) {
  if (other->load || in->op != TK_I_BINARY) return false;
  switch ((int)tk_binary_op(in)) {
  case TK_B_ADD:
  case TK_B_SUB: return tk_is_float((tk_dtype)in->type.elem) && other->chosen;
  case TK_B_AND:
  case TK_B_OR:
  case TK_B_MUL:
  case TK_B_MIN:
  case TK_B_MAX:
    return tk_is_int((tk_dtype)in->type.elem) &&
           (other->chosen || (other->varies & undefined->open));
  default: return false;
  }
}

/* Returns what is known of the result of a lane-wise instruction. */
static open_lanes open_combined(const tkc_lint *l, const open_lanes *of,
                                const tk_inst *in) {
  open_lanes out = {0, 0, NULL, false};
  for (int i = 0; i < in->nargs; i++) {
    const open_lanes *a = &of[in->args[i]];
    out.varies |= a->varies;
    out.chosen |= a->chosen;
    if (in->nargs == 2 && may_be_settled(a, &of[in->args[!i]], in)) continue;
    if (!a->load || !tk_same_shape(tkc_lint_type(l, in->args[i]), &in->type))
      continue;
    out.load = a->load;
    out.open |= a->open;
  }
  return out;
}

static open_lanes open_result(const tkc_lint *l, const open_lanes *of,
                              const tk_inst *in) {
  open_lanes out = {0, 0, NULL, in->op == TK_I_SELECT};
  if (tk_lanes_computed(in)) return open_combined(l, of, in);
  if (in->op == TK_I_ARANGE) out.varies = 1;
  if (in->op == TK_I_BROADCAST) out.varies = of[in->args[0]].varies;
  if (tk_lanes_kept(in)) {
    const tk_type *from = tkc_lint_type(l, in->args[0]);
    out = of[in->args[0]];
    if (tk_same_shape(from, &in->type)) return out;
    out.varies = reshaped(from, &in->type, out.varies);
    out.load = NULL;
  }
  /* Through a descriptor every load has a mask, most of which hold always. */
  if (in->op == TK_I_LOAD && tk_load_mask(in) >= 0 && tk_load_other(in) < 0 &&
      !tk_load_volatile(in) && tk_load_window(in) != TK_W_DESCRIPTOR)
    out = (open_lanes){0, of[in->args[1]].varies, in, false};
  else if (in->op == TK_I_LOAD)
    out.chosen = true;
  return out;
}

static void check_reduced(tkc_lint *l, const open_lanes *v, const tk_inst *in,
                          int axis) {
  if (!v->load || !(v->open >> axis & 1)) return;
  bool block = tk_inst_window(v->load) == TK_W_BLOCK_POINTER;
  if (tkc_lint_fits(l, v->load, axis)) return;
  tk_diag *d = tkc_lint_say(
      l, TK_D_LINT_OTHER, v->load,
      block ? "lanes outside of the block pointer's shape are undefined, and a "
              "reduction reads them: this load has no padding_option="
            : "lanes that the mask leaves out are undefined, and a reduction "
              "reads them: this load has no other=",
      block ? "give the load padding_option=\"zero\" if the reduction ignores "
              "0, or keep its lanes out with tl.where"
            : "give the load an other= that the reduction ignores, such as 0 "
              "for a sum");
  tkc_place at = tkc_place_of(l->f, in);
  tkc_note(l->c, d, &at, "it is reduced here");
  tkc_lint_doubt(l, v->load, axis, d);
}

static void check_reductions(tkc_lint *l, const open_lanes *of,
                             const tk_inst *in) {
  if (tk_inst_lanes(in) == TK_LANES_REDUCES) {
    for (int k = 0; k < in->nargs; k++)
      check_reduced(l, &of[in->args[k]], in, tk_inst_axis(in));
  } else if (tk_inst_lanes(in) == TK_LANES_PRODUCT) {
    check_reduced(l, &of[in->args[0]], in,
                  tkc_lint_type(l, in->args[0])->rank - 1);
    check_reduced(l, &of[in->args[1]], in,
                  tkc_lint_type(l, in->args[1])->rank - 2);
  }
}

static void check_others(tkc_lint *l) {
  open_lanes *of = TK_NEWN(&l->c->run, open_lanes, l->f->nslots + 1);
  for (size_t i = 0; i < l->all.n; i++) {
    const tk_inst *in = l->all.items[i];
    tk_check_step(l->t->env, i);
    check_reductions(l, of, in);
    open_lanes out = open_result(l, of, in);
    for (int k = 0; k < in->nres; k++) of[in->res[k]] = out;
  }
}

/* ---- all of them -------------------------------------------------------- */

static void lint_func(tkc *c, tki *t, const tk_func *f, tkc_doubts *x) {
  tkc_lint l = {.c = c, .t = t, .f = f, .doubts = x};
  tk_walk_func(f, &(tk_walk){.ud = &l, .inst = add_inst});
  find_defs(&l);
  check_mask_sums(&l);
  tkc_lint_tree(&l);
  tkc_lint_store(&l);
  check_others(&l);
  tkc_lint_range(&l);
  tkc_lint_fp64(&l);
  tkc_lint_rescale(&l);
  tkc_lint_axes(&l);
}

void *tkc_LINT_begin(tkc *c, tki *t) {
  tkc_doubts *x = tkc_doubts_new(c);
  for (size_t i = 0; i < t->program->nfuncs; i++)
    if (!t->program->funcs[i]->library)
      lint_func(c, t, t->program->funcs[i], x);
  return tkc_doubts_watch(x, t);
}

void tkc_LINT_end(tkc *c, void *ud, tki *t, tk_status st) {
  (void)c, (void)t;
  if (st == TK_OK) tkc_doubts_settle(ud);
}
