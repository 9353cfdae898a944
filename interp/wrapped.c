/* wrapped.c - the integer operation that made an offset wrap.
 *
 * The address of a lane is followed back through sums, products and moved
 * lanes.  Temporaries are gone by then: such a lane is computed anew from what
 * is still held, and a function that has returned is gone through with the
 * arguments that it had.  What was assigned more than once is not followed.
 */
#include "interp/wrapped.h"

#include "interp/value.h"
#include "ir/inst.h"
#include "ir/lanes.h"

enum { STEPS = 256 };

/* The slots of a function that runs, or that has returned. */
typedef struct wrap_scope {
  const tk_func *func;
  const tki_val *slots; /* NULL: it has returned */
  const struct wrap_scope *caller;
  const tk_inst *call; /* of the caller; NULL: there is none */
} wrap_scope;

typedef struct wrap_search {
  const tki *t;
  int steps; /* how many more slots may be looked at */
  tki_wrapped *out;
} wrap_search;

bool tki_wraps(tk_binary op, int64_t a, int64_t b, int bits) {
  int64_t r;
  bool over = op == TK_B_ADD   ? __builtin_add_overflow(a, b, &r)
              : op == TK_B_SUB ? __builtin_sub_overflow(a, b, &r)
                               : __builtin_mul_overflow(a, b, &r);
  int64_t limit = bits < 64 ? INT64_C(1) << (bits - 1) : 0;
  return over || (limit && (r < -limit || r >= limit));
}

/* ---- what made a slot ---------------------------------------------------- */

/* What assigns a slot: instructions, a call's arguments, a loop. */
typedef struct makers {
  int slot, times, param; /* which parameter it is; -1: none */
  const tk_inst *in[4];   /* the first ones; NULL: no instruction */
} makers;

static bool note_maker(void *ud, const tk_at *at, const tk_inst *in) {
  makers *m = ud;
  (void)at;
  for (int i = 0; i < in->nres; i++) {
    if (in->res[i] != m->slot) continue;
    if (m->times < (int)TK_COUNT(m->in)) m->in[m->times] = in;
    m->times++;
  }
  return true;
}

static bool note_variable(void *ud, const tk_at *at) {
  makers *m = ud;
  m->times += at->stmt->kind == TK_S_FOR && at->stmt->iv == m->slot;
  return true;
}

static makers makers_of(const tk_func *f, int slot) {
  makers m = {.slot = slot, .param = -1};
  for (size_t i = 0; i < f->nparams; i++)
    if (f->params[i] == slot) m.param = (int)i;
  m.times = m.param >= 0;
  tk_walk_func(f,
               &(tk_walk){.ud = &m, .inst = note_maker, .stmt = note_variable});
  return m;
}

typedef struct only_return {
  const tk_stmt *stmt;
  int times;
} only_return;

static bool note_return(void *ud, const tk_at *at) {
  only_return *r = ud;
  if (at->stmt->kind != TK_S_RETURN) return true;
  r->stmt = at->stmt;
  r->times++;
  return true;
}

/* The slot of a callee that it returns as a result of a call; -1: it depends.
 */
static int returned_slot(const tk_func *callee, const tk_inst *call, int slot) {
  only_return r = {.times = 0};
  tk_walk_func(callee, &(tk_walk){.ud = &r, .stmt = note_return});
  for (int i = 0; r.times == 1 && i < call->nres; i++)
    if (call->res[i] == slot) return r.stmt->results[i];
  return -1;
}

/* ---- lanes --------------------------------------------------------------- */

static bool wrap_lane(wrap_search *w, const wrap_scope *s, int slot,
                      size_t lane, int64_t *out);

static bool is_sum_or_product(const tk_inst *in) {
  return in->op == TK_I_BINARY && tk_is_int((tk_dtype)in->type.elem) &&
         (tk_binary_op(in) == TK_B_ADD || tk_binary_op(in) == TK_B_SUB ||
          tk_binary_op(in) == TK_B_MUL);
}

static bool operand_lane(wrap_search *w, const wrap_scope *s, const tk_inst *in,
                         int k, size_t lane, int64_t *out) {
  return wrap_lane(w, s, in->args[k], tk_lanes_own(s->func, in, k, lane), out);
}

/* The value as the type holds it. */
static int64_t lane_cut(tk_dtype d, int64_t x) {
  return tk_lane_int(d, &x);
}

static bool made_lane(wrap_search *w, const wrap_scope *s, const tk_inst *in,
                      int slot, size_t lane, int64_t *out) {
  tk_dtype d = (tk_dtype)in->type.elem;
  int64_t a, b;
  if (in->op == TK_I_CALL) {
    const tk_func *f = tk_call_callee(in);
    int inner = returned_slot(f, in, slot);
    wrap_scope gone = {.func = f, .caller = s, .call = in};
    return inner >= 0 && wrap_lane(w, &gone, inner, lane, out);
  }
  if (in->op == TK_I_CONST)
    *out = lane_cut(d, tk_const_bits(in));
  else if (in->op == TK_I_ARANGE)
    *out = tk_arange_start(in) + (int64_t)lane;
  else if (in->op == TK_I_PID)
    *out = w->t->pid[tk_program_id_axis(in)];
  else if (in->op == TK_I_CAST && tk_is_int((tk_dtype)in->from.elem)) {
    if (!operand_lane(w, s, in, 0, lane, &a)) return false;
    *out = lane_cut(d, a);
  } else if (is_sum_or_product(in)) {
    if (!operand_lane(w, s, in, 0, lane, &a) ||
        !operand_lane(w, s, in, 1, lane, &b))
      return false;
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    tk_binary op = tk_binary_op(in);
    *out = lane_cut(d, (int64_t)(op == TK_B_ADD   ? ua + ub
                                 : op == TK_B_SUB ? ua - ub
                                                  : ua * ub));
  } else if (tk_inst_lanes(in) == TK_LANES_MOVES) {
    tk_lane_set from;
    return tk_lanes_of(s->func, in, 0, lane, &from) == 1 &&
           wrap_lane(w, s, in->args[from.arg], from.first, out);
  } else
    return false;
  return true;
}

/* Finds the value of a lane of an integer slot; returns false if it is not
 * known, or if it has changed since. */
static bool wrap_lane(wrap_search *w, const wrap_scope *s, int slot,
                      size_t lane, int64_t *out) {
  const tk_type *type = &s->func->slots[slot].type;
  makers m = makers_of(s->func, slot);
  if (!w->steps || m.times > 1) return false;
  if (type->ptr || !tk_is_int((tk_dtype)type->elem)) return false;
  w->steps--;
  const tki_val *v = s->slots ? &s->slots[slot] : NULL;
  if (v && tki_has_value(v, type) && tki_part_of(v) == TKI_WHOLE) {
    *out = tk_lane_int((tk_dtype)type->elem,
                       tki_lane(v, lane, tk_lane_size(type)));
    return true;
  }
  if (m.param >= 0)
    return s->call &&
           wrap_lane(w, s->caller, s->call->args[m.param], lane, out);
  return m.in[0] && made_lane(w, s, m.in[0], slot, lane, out);
}

/* ---- the search ---------------------------------------------------------- */

static bool seek_wrap(wrap_search *w, const wrap_scope *s, int slot,
                      size_t lane);

/* What a result lacks that was cut off to the bits of its type. */
static void note_lost(tki_wrapped *x) {
  int64_t r;
  tk_binary op = tk_binary_op(x->in);
  bool over = op == TK_B_ADD   ? __builtin_add_overflow(x->left, x->right, &r)
              : op == TK_B_SUB ? __builtin_sub_overflow(x->left, x->right, &r)
                               : __builtin_mul_overflow(x->left, x->right, &r);
  x->is_known = !over;
  if (!over) x->lost = r - lane_cut((tk_dtype)x->in->type.elem, r);
}

static bool does_wrap(wrap_search *w, const wrap_scope *s, const tk_inst *in,
                      size_t lane) {
  tk_dtype d = (tk_dtype)in->type.elem;
  tki_wrapped found = {.func = s->func, .in = in};
  if (!tk_is_signed(d) || d == TK_INT1 ||
      !operand_lane(w, s, in, 0, lane, &found.left) ||
      !operand_lane(w, s, in, 1, lane, &found.right) ||
      !tki_wraps(tk_binary_op(in), found.left, found.right, tk_dtypes[d].bits))
    return false;
  note_lost(&found);
  *w->out = found;
  return true;
}

/* Whether another operand has wrapped, too. */
static bool also_wrapped(wrap_search *w, const wrap_scope *s, const tk_inst *in,
                         int k, size_t lane) {
  tki_wrapped other, *out = w->out;
  bool found = false;
  w->out = &other;
  for (int i = 0; i < k && !found; i++)
    found = seek_wrap(w, s, in->args[i], tk_lanes_own(s->func, in, i, lane));
  w->out = out;
  return found;
}

/* What the result of an operation lacks, whose operand k lacks something: the
 * same, with the other sign after a minus, as often as the other factor says,
 * and what is cut off once more. */
static void pass_lost(wrap_search *w, const wrap_scope *s, const tk_inst *in,
                      int k, size_t lane) {
  tki_wrapped *out = w->out, own = {.func = s->func, .in = in};
  out->is_known &= operand_lane(w, s, in, 0, lane, &own.left) &&
                   operand_lane(w, s, in, 1, lane, &own.right);
  if (!out->is_known) return;
  note_lost(&own);
  int64_t by = tk_binary_op(in) == TK_B_MUL        ? k ? own.left : own.right
               : k && tk_binary_op(in) == TK_B_SUB ? -1
                                                   : 1;
  out->is_known = own.is_known &&
                  !__builtin_mul_overflow(out->lost, by, &out->lost) &&
                  !__builtin_add_overflow(out->lost, own.lost, &out->lost);
}

static bool seek_in(wrap_search *w, const wrap_scope *s, const tk_inst *in,
                    int slot, size_t lane) {
  if (in->op == TK_I_CALL) {
    const tk_func *f = tk_call_callee(in);
    int inner = returned_slot(f, in, slot);
    wrap_scope gone = {.func = f, .caller = s, .call = in};
    return inner >= 0 && seek_wrap(w, &gone, inner, lane);
  }
  if (tk_inst_lanes(in) == TK_LANES_MOVES) {
    tk_lane_set from;
    return tk_lanes_of(s->func, in, 0, lane, &from) == 1 &&
           seek_wrap(w, s, in->args[from.arg], from.first);
  }
  if (in->op != TK_I_ADDPTR && in->op != TK_I_CAST && !is_sum_or_product(in))
    return false;
  for (int i = in->nargs - 1; i >= 0; i--) {
    if (!seek_wrap(w, s, in->args[i], tk_lanes_own(s->func, in, i, lane)))
      continue;
    if (is_sum_or_product(in)) pass_lost(w, s, in, i, lane);
    if (also_wrapped(w, s, in, i, lane)) w->out->is_known = false;
    return true;
  }
  return is_sum_or_product(in) && does_wrap(w, s, in, lane);
}

/* Operands are searched first, because an operation that follows one which
 * wrapped wraps as a consequence.  A variable that is assigned more than once
 * is not followed, except a pointer, which may be moved by several offsets: all
 * of them are searched. */
static bool seek_wrap(wrap_search *w, const wrap_scope *s, int slot,
                      size_t lane) {
  makers m = makers_of(s->func, slot);
  if (!w->steps) return false;
  w->steps--;
  if (m.times > 1 && !s->func->slots[slot].type.ptr) return false;
  for (size_t i = 0; i < TK_COUNT(m.in); i++) {
    if (!m.in[i] || !seek_in(w, s, m.in[i], slot, lane)) continue;
    w->out->is_known &= m.times == 1; /* else it has moved several times */
    return true;
  }
  return m.param >= 0 && s->call &&
         seek_wrap(w, s->caller, s->call->args[m.param], lane);
}

enum { CALLERS = 8 };

bool tki_find_wrapped(const tki_access *a, size_t lane, tki_wrapped *out) {
  wrap_scope scopes[CALLERS];
  wrap_search w = {a->t, STEPS, out};
  const tki_frame *f = a->t->frame;
  *out = (tki_wrapped){0};
  for (int i = 0; i < CALLERS && f; i++, f = f->caller) {
    bool called = i + 1 < CALLERS && tki_call_of(f);
    scopes[i] = (wrap_scope){.func = f->func, .slots = f->slots};
    if (!called) break;
    scopes[i].caller = &scopes[i + 1];
    scopes[i].call = tki_call_of(f);
  }
  bool found = seek_wrap(&w, &scopes[0], a->in->args[0],
                         tk_lanes_own(scopes[0].func, a->in, 0, lane));
  out->is_known &= found && w.steps > 0;
  return found;
}
