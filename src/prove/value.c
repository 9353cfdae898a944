/* value.c - what an instruction gives, as terms.
 *
 * Integers are those of mathematics; that an operation keeps within its type
 * is a duty that its result carries along (tkq_wraps).  What has no rule gives
 * an integer of which only the type is known. */
#include "prove/solver.h"
#include "prove/walk.h"

bool tkq_range(tk_dtype d, int64_t *lo, int64_t *hi) {
  if (tk_is_float(d)) return false;
  int bits = tk_dtypes[d].bits;
  bool is_signed = tk_is_signed(d);
  *lo = !is_signed ? 0 : bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
  *hi = bits == 64  ? INT64_MAX
        : is_signed ? ((int64_t)1 << (bits - 1)) - 1
                    : ((int64_t)1 << bits) - 1;
  return true;
}

tkq_value tkq_unknown_value(tkq_walk *w, const tk_type *type, const char *why) {
  int64_t lo, hi;
  tk_dtype d = (tk_dtype)type->elem;
  if (type->ptr || type->rank > TKQ_AXES || !tkq_range(d, &lo, &hi))
    return (tkq_value){.kind = TKQ_OTHER};
  if (d == TK_INT1) return (tkq_value){.kind = TKQ_BOOL, .f = tkq_maybe()};
  return (tkq_value){.kind = TKQ_INT,
                     .p = tkq_datum(w->terms, type->rank, lo, hi, why)};
}

tkq_site tkq_site_of(const tkq_walk *w, const tk_func *f, tk_span span) {
  return w->site.func ? w->site : (tkq_site){f, span};
}

/* ---- duties -------------------------------------------------------------- */

static bool wraps_have(const tkq_wraps *l, const tkq_wrap *x) {
  for (size_t i = 0; i < l->n; i++)
    if (l->items[i].inst == x->inst && tkq_same(l->items[i].p, x->p))
      return true;
  return false;
}

const tkq_wraps *tkq_join(tkq_walk *w, const tkq_wraps *a, const tkq_wraps *b) {
  if (!a || !a->n || a == b) return b;
  if (!b || !b->n) return a;
  tkq_wraps *all = TK_NEW(w->terms->arena, tkq_wraps);
  for (size_t i = 0; i < a->n; i++) TK_PUSH(w->terms->arena, all, a->items[i]);
  for (size_t i = 0; i < b->n; i++)
    if (!wraps_have(all, &b->items[i]))
      TK_PUSH(w->terms->arena, all, b->items[i]);
  return all;
}

/* The value with the duty that p is within the range of the type. */
static tkq_value kept(tkq_walk *w, const tk_func *f, const tk_inst *in,
                      tkq_value v) {
  int64_t lo, hi, c;
  if (!v.p) {
    tkq_value u = tkq_unknown_value(w, &in->type, "a term too large to keep");
    u.wraps = v.wraps;
    return u;
  }
  tkq_range((tk_dtype)in->type.elem, &lo, &hi);
  if (tkq_is_const(v.p, &c) && c >= lo && c <= hi) return v;
  tkq_wraps *one = TK_NEW(w->terms->arena, tkq_wraps);
  TK_PUSH(w->terms->arena, one,
          ((tkq_wrap){f, in, v.p, lo, hi, NULL, tkq_site_of(w, f, in->span)}));
  v.wraps = tkq_join(w, v.wraps, one);
  return v;
}

/* ---- lanes that move ----------------------------------------------------- */

typedef struct value_lanes {
  const tkq_poly *of[TKQ_AXES];
} value_lanes;

static const tkq_poly *value_lane(tkq_terms *t, void *ud, int atom) {
  const value_lanes *m = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  return a->kind == TKQ_LANE ? m->of[a->number] : NULL;
}

static tkq_value moved(tkq_walk *w, tkq_value v, value_lanes *m) {
  tkq_terms *t = w->terms;
  tkq_subst s = {value_lane, m};
  if (v.p) v.p = tkq_replace(t, v.p, &s);
  if (v.f) v.f = tkq_replace_form(t, v.f, &s);
  if (!v.wraps) return v;
  tkq_wraps *l = TK_NEW(t->arena, tkq_wraps);
  for (size_t i = 0; i < v.wraps->n; i++) {
    tkq_wrap x = v.wraps->items[i];
    x.p = tkq_replace(t, x.p, &s);
    TK_PUSH(t->arena, l, x);
  }
  v.wraps = l;
  return v;
}

/* The lanes of a block of type `from`, counted in the order of rows, that lane
 * `to` axes have: from the last axis on, quotients and remainders. */
static void reshaped(tkq_terms *t, const tk_type *from, const tk_type *to,
                     value_lanes *m) {
  const tkq_poly *at = tkq_const(t, 0);
  for (int i = 0; i < to->rank; i++)
    at = tkq_add(t, tkq_mul(t, at, tkq_const(t, to->shape[i])),
                 to->shape[i] == 1 ? tkq_const(t, 0) : tkq_lane(t, i));
  for (int i = from->rank - 1; i >= 0; i--) {
    const tkq_poly *n = tkq_const(t, from->shape[i]), *q = tkq_div(t, at, n);
    m->of[i] = i ? tkq_sub(t, at, tkq_mul(t, q, n)) : at;
    at = q;
  }
}

/* Axes of more than one lane, in order; whether both types have the same. */
static bool same_long_axes(const tk_type *from, const tk_type *to,
                           int which[TKQ_AXES]) {
  int i = 0, j = 0;
  for (;;) {
    while (i < from->rank && from->shape[i] == 1) which[i++] = -1;
    while (j < to->rank && to->shape[j] == 1) j++;
    if (i == from->rank || j == to->rank)
      return i == from->rank && j == to->rank;
    if (from->shape[i] != to->shape[j]) return false;
    which[i++] = j++;
  }
}

static tkq_value copy_value(tkq_walk *w, const tk_inst *in, tkq_value v) {
  tkq_terms *t = w->terms;
  value_lanes m = {{NULL}};
  int which[TKQ_AXES];
  if (tk_same_shape(&in->type, &in->from)) return v;
  if (!same_long_axes(&in->from, &in->type, which)) {
    reshaped(t, &in->from, &in->type, &m);
    return moved(w, v, &m);
  }
  for (int i = 0; i < in->from.rank; i++)
    m.of[i] = which[i] < 0 ? tkq_const(t, 0) : tkq_lane(t, which[i]);
  return moved(w, v, &m);
}

static tkq_value broadcast_value(tkq_walk *w, const tk_inst *in, tkq_value v) {
  value_lanes m = {{NULL}};
  int shift = in->type.rank - in->from.rank;
  for (int i = 0; i < in->from.rank; i++)
    m.of[i] = in->from.shape[i] == 1 ? tkq_const(w->terms, 0)
                                     : tkq_lane(w->terms, i + shift);
  return moved(w, v, &m);
}

static tkq_value permute_value(tkq_walk *w, const tk_inst *in, tkq_value v) {
  value_lanes m = {{NULL}};
  const int64_t *axes = tk_permute_axes(in);
  for (int i = 0; i < in->type.rank; i++) m.of[axes[i]] = tkq_lane(w->terms, i);
  return moved(w, v, &m);
}

/* ---- integers ------------------------------------------------------------ */

static bool is_power(int64_t c) {
  return c > 0 && !(c & (c - 1));
}

/* Of bits: what shifts and masks by constants are in arithmetic. */
static const tkq_poly *bits_poly(tkq_terms *t, tk_binary op, const tkq_poly *a,
                                 const tkq_poly *b) {
  int64_t c;
  if (!tkq_is_const(b, &c) || c < 0) return NULL;
  if (op == TK_B_SHL && c < 31)
    return tkq_mul(t, a, tkq_const(t, (int64_t)1 << c));
  if (!a || tkq_low(t, a) < 0) return NULL;
  if ((op == TK_B_SHR || op == TK_B_LSHR) && c < 31)
    return tkq_div(t, a, tkq_const(t, (int64_t)1 << c));
  if (op != TK_B_AND || !is_power(c + 1)) return NULL;
  const tkq_poly *n = tkq_const(t, c + 1);
  return tkq_sub(t, a, tkq_mul(t, tkq_div(t, a, n), n));
}

static const tkq_poly *binary_poly(tkq_terms *t, tk_binary op,
                                   const tkq_poly *a, const tkq_poly *b) {
  if (op == TK_B_ADD) return tkq_add(t, a, b);
  if (op == TK_B_SUB) return tkq_sub(t, a, b);
  if (op == TK_B_MUL) return tkq_mul(t, a, b);
  if (op == TK_B_DIV) return tkq_div(t, a, b);
  if (op == TK_B_MOD) return tkq_rem(t, a, b);
  if (op == TK_B_MIN) return tkq_min(t, a, b);
  if (op == TK_B_MAX) return tkq_max(t, a, b);
  return bits_poly(t, op, a, b);
}

static tkq_value binary_bool(tkq_walk *w, tk_binary op, tkq_value a,
                             tkq_value b) {
  tkq_terms *t = w->terms;
  tkq_value v = {.kind = TKQ_BOOL, .wraps = tkq_join(w, a.wraps, b.wraps)};
  const tkq_form *both = tkq_and(t, a.f, b.f), *any = tkq_or(t, a.f, b.f);
  if (op == TK_B_AND || op == TK_B_MUL || op == TK_B_MIN)
    v.f = both;
  else if (op == TK_B_OR || op == TK_B_MAX)
    v.f = any;
  else if (op == TK_B_XOR)
    v.f = tkq_and(t, any, tkq_not(t, both));
  else
    v.f = tkq_maybe();
  return v;
}

static tkq_value binary_value(tkq_walk *w, const tk_func *f, const tk_inst *in,
                              tkq_value a, tkq_value b) {
  tk_binary op = tk_binary_op(in);
  if (a.kind == TKQ_BOOL && b.kind == TKQ_BOOL) return binary_bool(w, op, a, b);
  if (a.kind != TKQ_INT || b.kind != TKQ_INT)
    return tkq_unknown_value(w, &in->type, "arithmetic that is not followed");
  tkq_value v = {.kind = TKQ_INT, .wraps = tkq_join(w, a.wraps, b.wraps)};
  v.p = binary_poly(w->terms, op, a.p, b.p);
  return kept(w, f, in, v);
}

static tkq_value compare_value(tkq_walk *w, const tk_inst *in, tkq_value a,
                               tkq_value b) {
  tkq_terms *t = w->terms;
  tkq_value v = {.kind = TKQ_BOOL, .f = tkq_maybe()};
  v.wraps = tkq_join(w, a.wraps, b.wraps);
  if (a.kind != TKQ_INT || b.kind != TKQ_INT) return v;
  switch (tk_compare_op(in)) {
  case TK_C_EQ: v.f = tkq_eq(t, a.p, b.p); break;
  case TK_C_NE: v.f = tkq_not(t, tkq_eq(t, a.p, b.p)); break;
  case TK_C_LT: v.f = tkq_lt(t, a.p, b.p); break;
  case TK_C_LE: v.f = tkq_ge(t, b.p, a.p); break;
  case TK_C_GT: v.f = tkq_lt(t, b.p, a.p); break;
  case TK_C_GE: v.f = tkq_ge(t, a.p, b.p); break;
  case TK_C_COUNT: break;
  }
  return v;
}

static tkq_value cast_value(tkq_walk *w, const tk_func *f, const tk_inst *in,
                            tkq_value v) {
  tkq_terms *t = w->terms;
  tk_dtype d = (tk_dtype)in->type.elem;
  int64_t lo, hi, from_lo, from_hi;
  if (in->type.ptr || in->from.ptr || !tkq_range(d, &lo, &hi) ||
      (v.kind != TKQ_INT && v.kind != TKQ_BOOL))
    return tkq_unknown_value(w, &in->type, "a conversion");
  if (v.kind == TKQ_BOOL && d == TK_INT1) return v;
  if (v.kind == TKQ_BOOL) {
    const tkq_poly *p = tkq_select(t, v.f, tkq_const(t, 1), tkq_const(t, 0));
    if (!p) return tkq_unknown_value(w, &in->type, "a flag from data");
    return (tkq_value){.kind = TKQ_INT, .wraps = v.wraps, .p = p};
  }
  if (d == TK_INT1)
    return (tkq_value){.kind = TKQ_BOOL,
                       .wraps = v.wraps,
                       .f = tkq_not(t, tkq_eq(t, v.p, tkq_const(t, 0)))};
  tkq_range((tk_dtype)in->from.elem, &from_lo, &from_hi);
  bool wider = lo <= from_lo && hi >= from_hi && in->from.elem != TK_UINT64;
  return wider ? v : kept(w, f, in, v);
}

static tkq_value select_value(tkq_walk *w, const tk_inst *in, tkq_value c,
                              tkq_value a, tkq_value b) {
  tkq_terms *t = w->terms;
  tkq_value v = a;
  v.wraps = tkq_join(w, c.wraps, tkq_join(w, a.wraps, b.wraps));
  bool pointers =
      a.kind == TKQ_POINTER && b.kind == TKQ_POINTER && a.tensor == b.tensor;
  if (c.kind != TKQ_BOOL || a.kind != b.kind)
    return tkq_unknown_value(w, &in->type, "a choice that is not followed");
  if (a.kind == TKQ_INT || pointers) {
    v.p = tkq_select(t, c.f, a.p, b.p);
    if (!v.p) return tkq_unknown_value(w, &in->type, "a choice by data");
  } else if (a.kind == TKQ_BOOL)
    v.f = tkq_or(t, tkq_and(t, c.f, a.f), tkq_and(t, tkq_not(t, c.f), b.f));
  else
    v = (tkq_value){.kind = TKQ_OTHER};
  return v;
}

static tkq_value unary_value(tkq_walk *w, const tk_func *f, const tk_inst *in,
                             tkq_value v) {
  tkq_terms *t = w->terms;
  if (v.kind == TKQ_BOOL && tk_unary_op(in) == TK_U_NOT) {
    v.f = tkq_not(t, v.f);
    return v;
  }
  if (v.kind != TKQ_INT || tk_unary_op(in) == TK_U_ABS)
    return tkq_unknown_value(w, &in->type, "arithmetic that is not followed");
  v.p = tkq_sub(t, tkq_const(t, tk_unary_op(in) == TK_U_NOT ? -1 : 0), v.p);
  return kept(w, f, in, v);
}

static tkq_value pointer_value(tkq_walk *w, tkq_value p, tkq_value offset) {
  if (p.kind != TKQ_POINTER || offset.kind != TKQ_INT)
    return (tkq_value){.kind = TKQ_OTHER};
  p.p = tkq_add(w->terms, p.p, offset.p);
  p.wraps = tkq_join(w, p.wraps, offset.wraps);
  return p;
}

static tkq_value load_value(tkq_walk *w, const tk_inst *in,
                            const tkq_value *slots) {
  int datum = w->terms->data, mask = tk_inst_mask(in);
  tkq_value p = slots[in->args[0]];
  tkq_value v = tkq_unknown_value(w, &in->type, "a value that is loaded");
  tkq_value m = {.kind = TKQ_BOOL, .f = tkq_true()};
  if (mask >= 0) m = slots[in->args[mask]];
  if (v.kind != TKQ_INT || p.kind != TKQ_POINTER || !p.p || m.kind != TKQ_BOOL)
    return v;
  tkq_load l = {datum, p.tensor, in->type.rank, p.p, m.f};
  TK_PUSH(w->terms->arena, &w->loads, l);
  return v;
}

static tkq_value const_value(tkq_walk *w, const tk_inst *in) {
  uint64_t bits = tk_const_bits(in);
  tk_dtype d = (tk_dtype)in->type.elem;
  if (in->type.ptr || tk_is_float(d)) return (tkq_value){.kind = TKQ_OTHER};
  if (d == TK_INT1)
    return (tkq_value){.kind = TKQ_BOOL,
                       .f = bits & 1 ? tkq_true() : tkq_false()};
  int64_t c = tk_lane_int(d, &bits);
  return (tkq_value){.kind = TKQ_INT, .p = tkq_const(w->terms, c)};
}

static tkq_value pid_value(tkq_walk *w, int axis) {
  tkq_atom a = {.kind = TKQ_PID, .number = axis, .name = "pid"};
  return (tkq_value){.kind = TKQ_INT, .p = tkq_atom_poly(w->terms, &a)};
}

/* ---- instructions -------------------------------------------------------- */

static bool moves_ints(const tk_inst *in, tkq_value v) {
  return (v.kind == TKQ_INT || v.kind == TKQ_BOOL || v.kind == TKQ_POINTER) &&
         in->type.rank <= TKQ_AXES && in->from.rank <= TKQ_AXES;
}

tkq_value tkq_evaluate(tkq_walk *w, const tk_func *f, const tk_inst *in,
                       const tkq_value *slots) {
  tkq_value a = {0}, b = {0}, c = {0};
  if (in->nargs > 0) a = slots[in->args[0]];
  if (in->nargs > 1) b = slots[in->args[1]];
  if (in->nargs > 2) c = slots[in->args[2]];
  bool moves = moves_ints(in, a);
  switch ((tk_opcode)in->op) {
  case TK_I_CONST: return const_value(w, in);
  case TK_I_ARANGE:
    return (tkq_value){
        .kind = TKQ_INT,
        .p = tkq_plus(w->terms, tkq_lane(w->terms, 0), tk_arange_start(in))};
  case TK_I_PID: return pid_value(w, (int)tk_program_id_axis(in));
  case TK_I_NPROG:
    return (tkq_value){.kind = TKQ_INT,
                       .p = w->terms->grid[tk_num_programs_axis(in)]};
  case TK_I_HINT: return a;
  case TK_I_COPY:
    if (moves) return copy_value(w, in, a);
    break;
  case TK_I_BROADCAST:
    if (moves) return broadcast_value(w, in, a);
    break;
  case TK_I_PERMUTE:
    if (moves) return permute_value(w, in, a);
    break;
  case TK_I_CAST: return cast_value(w, f, in, a);
  case TK_I_UNARY: return unary_value(w, f, in, a);
  case TK_I_BINARY: return binary_value(w, f, in, a, b);
  case TK_I_COMPARE: return compare_value(w, in, a, b);
  case TK_I_SELECT: return select_value(w, in, a, b, c);
  case TK_I_ADDPTR: return pointer_value(w, a, b);
  case TK_I_LOAD: return load_value(w, in, slots);
  case TK_I_UNDEF:
    return tkq_unknown_value(
        w, &in->type, "what a function gives that ends without a return");
  case TK_I_EXTERN:
  case TK_I_FMA:
  case TK_I_ASM:
  case TK_I_MAP_FN:
  case TK_I_UNSCALE:
  case TK_I_STORE:
  case TK_I_ATOMIC:
  case TK_I_CAS:
  case TK_I_DOT:
  case TK_I_REDUCE:
  case TK_I_REDUCE_FN:
  case TK_I_SCAN_FN:
  case TK_I_SCAN:
  case TK_I_JOIN:
  case TK_I_SPLIT:
  case TK_I_CAT:
  case TK_I_FLIP:
  case TK_I_SLICE:
  case TK_I_GATHER:
  case TK_I_SORT:
  case TK_I_HISTOGRAM:
  case TK_I_CALL:
  case TK_I_COND:
  case TK_I_PRINT:
  case TK_I_ASSERT:
  case TK_I_BREAKPOINT:
  case TK_I_CLOCK:
  case TK_I_BARRIER:
  case TK_INST_COUNT: break;
  }
  return tkq_unknown_value(w, &in->type, "an operation that is not followed");
}
