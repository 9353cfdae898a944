/* slice_lanes.c - which lanes a lane was made of, for every instruction.
 *
 * Lane by lane where the instruction is; along the axis where it reduces or
 * scans; what only moves lanes is undone by arithmetic on indices.
 */
#include <string.h>

#include "interp/check/slice.h"

typedef struct ask {
  tk_arena *arena;
  const tkc_node *n;
  const tk_inst *in;
  int result;
  size_t lane;
  tkc_operands *out;
} ask;

static void add(const ask *q, int arg, size_t lane) {
  TK_PUSH(q->arena, q->out, ((tkc_operand){arg, lane, false}));
}

static void add_address(const ask *q, int arg, size_t lane) {
  TK_PUSH(q->arena, q->out, ((tkc_operand){arg, lane, true}));
}

static const tk_type *arg_type(const ask *q, int k) {
  return tkc_node_arg_type(q->n, k);
}

/* Operands of one lane stand for every lane. */
static size_t own_lane(const ask *q, int k, size_t lane) {
  return (size_t)tk_numel(arg_type(q, k)) > lane ? lane : 0;
}

static bool truth(const ask *q, int k, size_t lane) {
  tki_val *v = &q->n->vals[k];
  return ((const uint8_t *)tki_data(v))[v->buf ? own_lane(q, k, lane) : 0];
}

static const char *lane_at(const ask *q, int k, size_t lane) {
  tki_val *v = &q->n->vals[k];
  return (const char *)tki_data(v) +
         (v->buf ? lane : 0) * tk_lane_size(arg_type(q, k));
}

static void lanewise(const ask *q) {
  for (int k = 0; k < q->n->nargs; k++) add(q, k, own_lane(q, k, q->lane));
}

static void each_term(const ask *q, size_t each) {
  q->out->each = each;
}

static void end_terms(const ask *q, size_t before) {
  q->out->terms = q->out->n - before;
}

/* ---- moved lanes --------------------------------------------------------- */

static void split_index(const tk_type *t, size_t lane, size_t *at) {
  for (int i = t->rank - 1; i >= 0; i--) {
    at[i] = lane % (size_t)t->shape[i];
    lane /= (size_t)t->shape[i];
  }
}

static size_t join_index(const tk_type *t, const size_t *at) {
  size_t lane = 0;
  for (int i = 0; i < t->rank; i++) lane = lane * (size_t)t->shape[i] + at[i];
  return lane;
}

static void broadcast(const ask *q) {
  const tk_type *from = arg_type(q, 0);
  size_t at[TK_MAX_RANK] = {0};
  if (from->rank != q->in->type.rank) {
    add(q, 0, 0);
    return;
  }
  split_index(&q->in->type, q->lane, at);
  for (int i = 0; i < from->rank; i++)
    if (from->shape[i] == 1) at[i] = 0;
  add(q, 0, join_index(from, at));
}

static void permute(const ask *q) {
  size_t at[TK_MAX_RANK] = {0}, from[TK_MAX_RANK] = {0};
  split_index(&q->in->type, q->lane, at);
  for (int i = 0; i < q->in->type.rank; i++)
    from[tk_permute_axes(q->in)[i]] = at[i];
  add(q, 0, join_index(arg_type(q, 0), from));
}

static void cat(const ask *q) {
  tki_around r = tki_around_axis(&q->in->type, tk_inst_axis(q->in));
  size_t first = tk_inst_axis_lanes(q->in);
  size_t o = q->lane / (r.n * r.inner), i = q->lane % r.inner;
  size_t at = q->lane / r.inner % r.n;
  if (at < first)
    add(q, 0, (o * first + at) * r.inner + i);
  else
    add(q, 1, (o * (r.n - first) + at - first) * r.inner + i);
}

static size_t along(const ask *q, size_t n, size_t at) {
  tki_around r = tki_around_axis(&q->in->type, tk_inst_axis(q->in));
  return (q->lane / (r.n * r.inner) * n + at) * r.inner + q->lane % r.inner;
}

static size_t axis_index(const ask *q) {
  tki_around r = tki_around_axis(&q->in->type, tk_inst_axis(q->in));
  return q->lane / r.inner % r.n;
}

static void flip(const ask *q) {
  size_t n = (size_t)q->in->type.shape[tk_inst_axis(q->in)];
  add(q, 0, along(q, n, n - 1 - axis_index(q)));
}

static void slice(const ask *q) {
  size_t n = tk_inst_axis_lanes(q->in);
  int64_t at =
      tk_slice_start(q->in) + tk_slice_step(q->in) * (int64_t)axis_index(q);
  add(q, 0, along(q, n, (size_t)at));
}

static void gather(const ask *q) {
  size_t n = tk_inst_axis_lanes(q->in);
  tk_dtype d = (tk_dtype)arg_type(q, 1)->elem;
  int64_t at = tk_lane_int(d, lane_at(q, 1, q->lane));
  add(q, 0, along(q, n, (size_t)at));
  add_address(q, 1, q->lane);
}

/* The lane of the row that holds the same bits; of equal ones any will do,
 * so the one that is as manieth among them. */
static void sort(const ask *q) {
  size_t n = tk_inst_axis_lanes(q->in);
  size_t keep = (size_t)tk_sort_keep(q->in), size = tk_lane_size(&q->in->type);
  size_t row = q->lane / keep, at = q->lane % keep, equal = 0;
  tki_val *v = tkc_node_value(q->n, 0);
  const char *d = (const char *)tki_data(v) + row * keep * size;
  for (size_t i = 0; i < at; i++)
    equal += !memcmp(d + i * size, d + at * size, size);
  for (size_t i = 0; i < n; i++)
    if (!memcmp(lane_at(q, 0, row * n + i), d + at * size, size) && !equal--) {
      add(q, 0, row * n + i);
      return;
    }
}

/* ---- along an axis ------------------------------------------------------- */

static size_t row_lane(const tk_inst *in, size_t lane, size_t at) {
  tki_around r = tki_around_axis(&in->from, tk_inst_axis(in));
  return (lane / r.inner * r.n + at) * r.inner + lane % r.inner;
}

static bool picks(const tk_inst *in) {
  return in->nres == 2 || (tk_inst_reduction(in) >= TK_R_MAX &&
                           tk_inst_reduction(in) <= TK_R_MIN_NAN);
}

/* A largest or smallest lane came from one of the row: the first that holds
 * the same bits. */
static void reduce(const ask *q) {
  size_t n = tk_inst_axis_lanes(q->in);
  size_t size = tk_lane_size(&q->in->from), before = q->out->n;
  tki_val *v = tkc_node_value(q->n, 0);
  const char *best = (const char *)tki_data(v) + (v->buf ? q->lane : 0) * size;
  each_term(q, 1);
  for (size_t i = 0; i < n; i++) {
    size_t lane = row_lane(q->in, q->lane, i);
    if (picks(q->in) && memcmp(lane_at(q, 0, lane), best, size) != 0) continue;
    add(q, 0, lane);
    if (picks(q->in)) return;
  }
  end_terms(q, before);
}

static void reduce_fn(const ask *q) {
  size_t n = tk_inst_axis_lanes(q->in), before = q->out->n;
  each_term(q, q->n->nargs);
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < q->n->nargs; k++)
      add(q, k, row_lane(q->in, q->lane, i));
  end_terms(q, before);
}

static void scan(const ask *q) {
  tki_around r = tki_around_axis(&q->in->type, tk_inst_axis(q->in));
  size_t at = q->lane / r.inner % r.n, before = q->out->n;
  bool reverse = tk_inst_reverse(q->in);
  each_term(q, q->n->nargs);
  for (size_t i = reverse ? r.n - 1 : 0;; i += reverse ? (size_t)-1 : 1) {
    size_t lane = (q->lane / (r.n * r.inner) * r.n + i) * r.inner;
    for (int k = 0; k < q->n->nargs; k++) add(q, k, lane + q->lane % r.inner);
    if (i == at) break;
  }
  end_terms(q, before);
}

static void histogram(const ask *q) {
  size_t n = (size_t)tk_numel(&q->in->from), before = q->out->n;
  tk_dtype d = (tk_dtype)q->in->from.elem;
  each_term(q, 1);
  for (size_t i = 0; i < n; i++) {
    bool counts = tk_lane_int(d, lane_at(q, 0, i)) == (int64_t)q->lane;
    if (counts && (q->n->nargs < 2 || truth(q, 1, i))) add(q, 0, i);
  }
  end_terms(q, before);
}

static void dot(const ask *q) {
  int r = q->in->type.rank;
  size_t n = (size_t)q->in->type.shape[r - 1];
  size_t m = (size_t)q->in->type.shape[r - 2];
  size_t k = (size_t)q->in->from.shape[r - 1];
  size_t batch = q->lane / (m * n), j = q->lane % n;
  if (q->n->nargs > 2) add(q, 2, q->lane);
  size_t before = q->out->n;
  each_term(q, 2);
  for (size_t i = 0; i < k; i++) {
    add(q, 0, q->lane / n * k + i);
    add(q, 1, (batch * k + i) * n + j);
  }
  end_terms(q, before);
}

/* A lane of a packed operand stands for two along the axis that is packed;
 * scales for a group each, with k along their last axis. */
static void unscale(const ask *q) {
  int rank = q->in->type.rank, k = tk_inst_axis(q->in);
  size_t at[TK_MAX_RANK] = {0}, from[TK_MAX_RANK];
  split_index(&q->in->type, q->lane, at);
  memcpy(from, at, sizeof from);
  int64_t packed = tk_unscale_packed_axis(q->in);
  if (packed >= 0) from[packed] /= 2;
  add(q, 0, join_index(&q->in->from, from));
  if (q->n->nargs < 2) return;
  int other = k == rank - 1 ? rank - 2 : rank - 1;
  from[rank - 2] = at[other];
  from[rank - 1] = at[k] / (size_t)tk_unscale_group(q->in);
  for (int i = 0; i < rank - 2; i++) from[i] = at[i];
  add(q, 1, join_index(arg_type(q, 1), from));
}

/* ---- choices, memory ----------------------------------------------------- */

static void load(const ask *q) {
  bool masked = tk_load_mask(q->in) >= 0;
  int other = tk_load_other(q->in);
  if (!masked || truth(q, 1, q->lane)) {
    add_address(q, 0, own_lane(q, 0, q->lane));
    return;
  }
  add(q, 1, own_lane(q, 1, q->lane));
  if (other >= 0) add(q, other, own_lane(q, other, q->lane));
}

static void store(const ask *q) {
  add(q, 1, own_lane(q, 1, q->lane));
  if (q->in->op == TK_I_CAS) add(q, 2, own_lane(q, 2, q->lane));
  add_address(q, 0, own_lane(q, 0, q->lane));
}

static void ask_memory(const ask *q) {
  if (q->in->op == TK_I_LOAD)
    load(q);
  else
    store(q);
}

static void choose(const ask *q) {
  bool first = truth(q, 0, q->lane);
  add(q, 0, own_lane(q, 0, q->lane));
  if (q->in->op == TK_I_COND)
    add(q, 1, q->lane);
  else
    add(q, first ? 1 : 2, own_lane(q, first ? 1 : 2, q->lane));
}

static void moved(const ask *q) {
  switch (q->in->op) {
  case TK_I_COPY: add(q, 0, q->lane); break;
  case TK_I_BROADCAST: broadcast(q); break;
  case TK_I_PERMUTE: permute(q); break;
  case TK_I_JOIN: add(q, (int)(q->lane % 2), q->lane / 2); break;
  case TK_I_SPLIT: add(q, 0, 2 * q->lane + (size_t)q->result); break;
  case TK_I_CAT: cat(q); break;
  case TK_I_FLIP: flip(q); break;
  case TK_I_SLICE: slice(q); break;
  case TK_I_GATHER: gather(q); break;
  default: sort(q);
  }
}

void tkc_slice_operands(tk_arena *a, const tkc_node *n, int result, size_t lane,
                        tkc_operands *out) {
  ask q = {a, n, n->in, result, lane, out};
  out->n = out->terms = out->each = 0;
  if (n->kind != TKC_NODE_INST) return;
  if (tk_inst_moves(n->in)) {
    moved(&q);
    return;
  }
  switch (n->in->op) {
  case TK_I_GATHER:
  case TK_I_SORT: moved(&q); break;
  case TK_I_SELECT:
  case TK_I_COND: choose(&q); break;
  case TK_I_REDUCE: reduce(&q); break;
  case TK_I_REDUCE_FN: reduce_fn(&q); break;
  case TK_I_SCAN:
  case TK_I_SCAN_FN: scan(&q); break;
  case TK_I_HISTOGRAM: histogram(&q); break;
  case TK_I_DOT: dot(&q); break;
  case TK_I_UNSCALE: unscale(&q); break;
  case TK_I_LOAD:
  case TK_I_STORE:
  case TK_I_ATOMIC:
  case TK_I_CAS: ask_memory(&q); break;
  default: lanewise(&q);
  }
}
