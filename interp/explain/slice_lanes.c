/* slice_lanes.c - which lanes a lane was computed from, given the values of the
 * operands.
 *
 * ir/lanes.h says which lanes it may come from.  Among those the values decide:
 * the condition of a choice, an index, a mask, the order of a sort.
 */
#include <math.h>
#include <string.h>

#include "interp/explain/slice.h"
#include "ir/lanes.h"

typedef struct ask {
  tk_arena *arena;
  const tke_node *n;
  const tk_inst *in;
  size_t lane;
  tk_lane_set *sets; /* of lanes that it may come from, by operand */
  size_t nsets;
  tke_operands *out;
} ask;

static void add_lane_of(const ask *q, int arg, size_t lane) {
  TK_ASSERT(arg >= 0 && arg < q->n->nargs);
  TK_PUSH(q->arena, q->out, ((tke_operand){arg, lane, false}));
}

static void add_address(const ask *q, int arg, size_t lane) {
  TK_PUSH(q->arena, q->out, ((tke_operand){arg, lane, true}));
}

static size_t own_lane(const ask *q, int k) {
  return tk_lanes_own(q->n->func, q->in, k, q->lane);
}

static const char *lane_at(const ask *q, int k, size_t lane) {
  return tki_lane(&q->n->vals[k], lane,
                  tk_lane_size(tke_node_arg_type(q->n, k)));
}

static int64_t int_at(const ask *q, int k, size_t lane) {
  tk_dtype d = (tk_dtype)tke_node_arg_type(q->n, k)->elem;
  return tk_lane_int(d, lane_at(q, k, lane));
}

static bool truth(const ask *q, int k, size_t lane) {
  return *(const uint8_t *)lane_at(q, k, lane);
}

static bool is_finite_at(const ask *q, int k, size_t lane) {
  tk_dtype d = (tk_dtype)tke_node_arg_type(q->n, k)->elem;
  return isfinite(tk_lane_double(d, lane_at(q, k, lane)));
}

/* Adds the first lane of each operand's set. */
static void add_single(const ask *q) {
  for (size_t i = 0; i < q->nsets; i++)
    add_lane_of(q, q->sets[i].arg, q->sets[i].first);
}

/* Adds the lane of each operand that has the same index. */
static void add_own(const ask *q) {
  for (int k = 0; k < q->n->nargs; k++) add_lane_of(q, k, own_lane(q, k));
}

/* Puts the first term that is not finite before the others, which do not tell
 * why a sum is not. */
static void lead_with_odd(const ask *q) {
  tke_operands *o = q->out;
  tke_operand *terms = o->items + o->n - o->terms;
  size_t i = 0;
  while (i < o->terms && is_finite_at(q, terms[i].arg, terms[i].lane)) i++;
  o->odd = i < o->terms;
  size_t from = o->odd ? i - i % o->each : 0;
  for (size_t k = 0; k < o->each && from; k++) {
    tke_operand term = terms[from + k];
    memmove(&terms[k + 1], &terms[k], from * sizeof term);
    terms[k] = term;
  }
}

/* Adds all lanes of the first n sets as terms: of each set the first lane, then
 * of each the second, and so on. */
static void add_terms(const ask *q, size_t n) {
  TK_ASSERT(n <= q->nsets);
  q->out->each = n;
  q->out->terms = n ? n * q->sets[0].n : 0;
  for (size_t i = 0; n && i < q->sets[0].n; i++)
    for (size_t k = 0; k < n; k++)
      add_lane_of(q, q->sets[k].arg, tk_lane_set_at(&q->sets[k], i));
  lead_with_odd(q);
}

/* ---- one of a set -------------------------------------------------------- */

/* Adds one lane of the first set: of those that hold these bits, number `skip`
 * from 0. */
static void add_equal(const ask *q, const void *bits, size_t size,
                      size_t skip) {
  const tk_lane_set *s = &q->sets[0];
  for (size_t i = 0; i < s->n; i++) {
    size_t lane = tk_lane_set_at(s, i);
    if (memcmp(lane_at(q, s->arg, lane), bits, size) != 0 || skip--) continue;
    add_lane_of(q, s->arg, lane);
    return;
  }
}

static const char *result_at(const ask *q, size_t lane, size_t size) {
  return tki_lane(tke_node_value(q->n, 0), lane, size);
}

/* Of several equal lanes nobody can say which one a sort put where: the first
 * is taken to have stayed the first, and so on. */
static void add_sorted(const ask *q) {
  size_t size = tk_lane_size(&q->in->type), equal = 0;
  tk_lines made = tk_lines_made(q->in);
  size_t first = tk_line_first(&made, tk_line_of(&made, q->lane));
  const char *own = result_at(q, q->lane, size);
  for (size_t i = first; i < q->lane; i += made.step)
    equal += !memcmp(result_at(q, i, size), own, size);
  add_equal(q, own, size, equal);
}

static void add_gathered(const ask *q) {
  TK_ASSERT(q->nsets == 2); /* what is gathered from, and the index */
  const tk_lane_set *index = &q->sets[1];
  size_t at = (size_t)int_at(q, index->arg, index->first);
  add_lane_of(q, q->sets[0].arg, tk_lane_set_at(&q->sets[0], at));
  add_address(q, index->arg, index->first);
}

/* Whether the result is one of the lanes that are reduced, as that of a maximum
 * is: then it came from the first lane that holds the same bits. */
static bool picks(const tk_inst *in) {
  return tk_inst_repeats(in) &&
         (in->nres == 2 || (tk_inst_reduction(in) >= TK_R_MAX &&
                            tk_inst_reduction(in) <= TK_R_MIN_NAN));
}

static void add_reduced(const ask *q) {
  size_t size = tk_lane_size(&q->in->from);
  if (!picks(q->in)) {
    add_terms(q, q->nsets);
    return;
  }
  q->out->each = 1;
  add_equal(q, result_at(q, q->lane, size), size, 0);
}

static void add_counted(const ask *q) {
  int mask = q->nsets > 1 ? q->sets[1].arg : -1;
  for (size_t i = 0; i < q->sets[0].n; i++)
    if (int_at(q, 0, i) == (int64_t)q->lane && (mask < 0 || truth(q, mask, i)))
      add_lane_of(q, 0, i);
  q->out->each = 1;
  q->out->terms = q->out->n;
}

/* ---- choices, memory ----------------------------------------------------- */

static void add_loaded(const ask *q) {
  int mask = tk_load_mask(q->in), other = tk_load_other(q->in);
  if (mask < 0 || truth(q, mask, own_lane(q, mask))) {
    add_address(q, 0, own_lane(q, 0));
    return;
  }
  add_lane_of(q, mask, own_lane(q, mask));
  if (other >= 0) add_lane_of(q, other, own_lane(q, other));
}

static void add_stored(const ask *q) {
  add_lane_of(q, 1, own_lane(q, 1));
  if (q->in->op == TK_I_CAS) add_lane_of(q, 2, own_lane(q, 2));
  add_address(q, 0, own_lane(q, 0));
}

static void add_selected(const ask *q) {
  int k = truth(q, 0, own_lane(q, 0)) ? 1 : 2;
  add_lane_of(q, 0, own_lane(q, 0));
  add_lane_of(q, k, own_lane(q, k));
}

static void same_lane(const ask *q) {
  if (q->in->op == TK_I_LOAD)
    add_loaded(q);
  else if (q->in->op == TK_I_SELECT)
    add_selected(q);
  else if (tk_inst_is_pure(q->in))
    add_single(q);
  else
    add_stored(q);
}

/* ---- every instruction --------------------------------------------------- */

static void add_operands(const ask *q) {
  switch (tk_inst_lanes(q->in)) {
  case TK_LANES_SAME: same_lane(q); break;
  case TK_LANES_MOVES:
  case TK_LANES_SCALES: add_single(q); break;
  case TK_LANES_GATHERS: add_gathered(q); break;
  case TK_LANES_SORTS: add_sorted(q); break;
  case TK_LANES_REDUCES: add_reduced(q); break;
  case TK_LANES_SCANS: add_terms(q, q->nsets); break;
  case TK_LANES_COUNTS: add_counted(q); break;
  case TK_LANES_PRODUCT:
    for (size_t k = 2; k < q->nsets; k++)
      add_lane_of(q, q->sets[k].arg, q->sets[k].first);
    add_terms(q, 2);
    break;
  case TK_LANES_GROUPS:
  case TK_LANES_NONE:
  case TK_LANES_CALLS: add_own(q); break;
  }
}

void tke_slice_operands(tk_arena *a, const tke_node *n, int result, size_t lane,
                        tke_operands *out) {
  ask q = {.arena = a, .n = n, .in = n->in, .lane = lane, .out = out};
  out->n = out->terms = out->each = 0;
  out->odd = false;
  if (n->kind != TKE_NODE_INST) return;
  if (n->in->op == TK_I_COND) { /* its operands: the condition, and the result
                                   of the side that ran */
    add_lane_of(&q, 0, 0);
    add_lane_of(&q, 1, lane);
  } else if (n->in->op == TK_I_STORE) {
    add_stored(&q);
  } else {
    tk_lane_set few[4];
    q.sets =
        n->nargs <= TK_COUNT(few) ? few : TK_NEWN(a, tk_lane_set, n->nargs);
    q.nsets = tk_lanes_of(n->func, n->in, result, lane, q.sets);
    add_operands(&q);
  }
}
