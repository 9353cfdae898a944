/* flow_bound.c - how large an undefined lane can be.
 *
 * An undefined integer is still a number of so many bits, and so is the float
 * that it is cast to: whatever it holds, it is neither NaN nor infinite.  What
 * kernels do to masks of scores relies on it: a product of integers that are
 * undefined, scaled, plus -inf, is -inf.  So a cast from integers gives its
 * marks a bound, a power of two that the lane's absolute value is at most;
 * signs, scaling and sums keep one; and where a bounded lane is added to an
 * infinity, nothing is undefined any more.
 */
#include <limits.h>
#include <math.h>

#include "interp/check/flow.h"

enum { NONE = INT_MAX, INFINITE = INT_MAX - 1 };

/* The largest bound of which the type is sure to hold every value. */
static int largest_bound(tk_dtype d) {
  if (d == TK_FP64) return 1023;
  if (d == TK_FP32 || d == TK_BF16) return 127;
  return d == TK_FP16 ? 15 : -1;
}

static int bound_of_value(double v) {
  int e = 0;
  if (v != v) return NONE;
  if (isinf(v)) return INFINITE;
  frexp(v, &e);
  return e < 0 ? 0 : e;
}

/* Returns the bound of lane i of an operand: INFINITE if the lane is defined
 * and infinite. */
static int bound_of_operand(const tkc_flow *f, const tki *t, const tk_inst *in,
                            const tki_val *args, int k, size_t i) {
  const tk_type *type = &t->frame->func->slots[in->args[k]].type;
  tk_dtype d = (tk_dtype)type->elem;
  tkc_flow_marks m = tkc_flow_of(t, in->args[k]);
  tkc_flow_id id = tkc_flow_at(&m, i);
  if (type->ptr) return NONE;
  if (tk_is_int(d)) return (int)(8 * tk_dtype_size(d));
  if (id <= TKC_FLOW_UNDERFLOWN)
    return bound_of_value(
        tk_lane_double(d, tki_lane(&args[k], i, tk_lane_size(type))));
  const tkc_flow_source *s = tkc_flow_source_of(f, id);
  return s->kind == TKC_FLOW_UNDEF && s->free ? s->bound : NONE;
}

static int bound_of_sum(int a, int b) {
  if (a == NONE || b == NONE) return NONE;
  if (a == INFINITE || b == INFINITE) return a == b ? NONE : INFINITE;
  return (a > b ? a : b) + 1;
}

static int bound_of_product(int a, int b) {
  return a >= INFINITE || b >= INFINITE ? NONE : a + b;
}

static int bound_of_result(const tk_inst *in, const int *of) {
  if (in->op == TK_I_CAST) return of[0];
  if (in->op == TK_I_FMA)
    return bound_of_sum(bound_of_product(of[0], of[1]), of[2]);
  if (in->op == TK_I_UNARY) {
    tk_unary op = tk_unary_op(in);
    return op == TK_U_NEG || op == TK_U_ABS ? of[0] : NONE;
  }
  if (in->op != TK_I_BINARY) return NONE;
  tk_binary op = tk_binary_op(in);
  if (op == TK_B_ADD || op == TK_B_SUB) return bound_of_sum(of[0], of[1]);
  return op == TK_B_MUL ? bound_of_product(of[0], of[1]) : NONE;
}

/* The mark of an undefined lane, with a bound or without. */
static tkc_flow_id bounded_mark(tkc_flow *f, tkc_flow_id id, int bound) {
  const tkc_flow_source *s = tkc_flow_source_of(f, id);
  tkc_flow_id free = s->free ? s->free : id;
  if (bound == NONE) return free;
  for (size_t k = f->sources.n; k > free; k--) {
    s = tkc_flow_source_of(f, (tkc_flow_id)k);
    if (s->free == free && s->bound == bound) return (tkc_flow_id)k;
  }
  if (f->sources.n == UINT16_MAX) return free;
  tkc_flow_source copy = *tkc_flow_source_of(f, free);
  copy.free = free;
  copy.bound = bound;
  TK_PUSH(&f->c->run, &f->sources, copy);
  f->bounds = true;
  return (tkc_flow_id)f->sources.n;
}

static bool may_be_bounded(const tkc_flow *f, const tki *t, const tk_inst *in) {
  if (in->type.ptr || !tk_is_float((tk_dtype)in->type.elem)) return false;
  if (in->op != TK_I_CAST) return f->bounds;
  const tk_type *from = &t->frame->func->slots[in->args[0]].type;
  return f->bounds || tk_is_int((tk_dtype)from->elem);
}

void tkc_flow_bound(tkc_flow *f, tki *t, const tk_inst *in,
                    const tki_val *args) {
  enum { OPERANDS = 3 };
  if (!may_be_bounded(f, t, in) || in->nargs > OPERANDS) return;
  size_t n = (size_t)in->n;
  int most = largest_bound((tk_dtype)in->type.elem), of[OPERANDS];
  tkc_flow_marks m = tkc_flow_of(t, in->res[0]);
  tki_val v = tkc_flow_new(t, &in->type, n);
  tkc_flow_id *d = tki_writable(&v);
  for (size_t i = 0; i < n; i++) {
    d[i] = tkc_flow_at(&m, i);
    if (!d[i] || tkc_flow_source_of(f, d[i])->kind != TKC_FLOW_UNDEF) continue;
    for (int k = 0; k < in->nargs; k++)
      of[k] = bound_of_operand(f, t, in, args, k, i);
    int bound = bound_of_result(in, of);
    if (bound == INFINITE)
      d[i] = 0;
    else
      d[i] = bounded_mark(f, d[i], bound > most ? NONE : bound);
  }
  tkc_flow_set(t, in->res[0], v, n);
}
