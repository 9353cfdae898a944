/* lanes.c - the arithmetic of lanes, a function for each kind of inst.def.
 *
 * What moves lanes differs from instruction to instruction: each has a row in
 * `moves` that undoes the move.  tests/ir/test_lanes.c compares every answer
 * with what the interpreter does.
 */
#include "ir/lanes.h"

#include <string.h>

#include "ir/asm.h"

static const tk_type *operand_type(const tk_func *f, const tk_inst *in, int k) {
  TK_ASSERT(k >= 0 && k < in->nargs);
  return &f->slots[in->args[k]].type;
}

size_t tk_lanes_own(const tk_func *f, const tk_inst *in, int k, size_t lane) {
  return (size_t)tk_numel(operand_type(f, in, k)) > lane ? lane : 0;
}

bool tk_lanes_computed(const tk_inst *in) {
  return tk_inst_lanes(in) == TK_LANES_SAME && tk_inst_is_pure(in) &&
         in->op != TK_I_SELECT;
}

bool tk_lanes_kept(const tk_inst *in) {
  return in->op == TK_I_COPY || in->op == TK_I_HINT;
}

static tk_lane_set one_lane(int arg, size_t lane) {
  return (tk_lane_set){.arg = arg, .first = lane, .n = 1};
}

/* ---- lines along an axis ------------------------------------------------- */

tk_lines tk_lines_along(const tk_type *t, int axis) {
  TK_ASSERT(axis >= 0 && axis < t->rank);
  tk_lines l = {1, (size_t)t->shape[axis], 1};
  for (int i = axis + 1; i < t->rank; i++) l.step *= (size_t)t->shape[i];
  for (int i = 0; i < t->rank; i++)
    if (i != axis) l.count *= (size_t)t->shape[i];
  return l;
}

tk_lines tk_lines_read(const tk_inst *in) {
  return tk_lines_along(&in->from, tk_inst_axis(in));
}

tk_lines tk_lines_made(const tk_inst *in) {
  if (tk_inst_lanes(in) != TK_LANES_REDUCES)
    return tk_lines_along(&in->type, tk_inst_axis(in));
  tk_lines l = tk_lines_read(in);
  l.n = 1;
  return l;
}

/* The line of operand k that the line with a lane of the result is made of. */
static tk_lane_set line_behind(const tk_inst *in, int k, size_t lane) {
  tk_lines made = tk_lines_made(in), read = tk_lines_read(in);
  return (tk_lane_set){.arg = k,
                       .first = tk_line_first(&read, tk_line_of(&made, lane)),
                       .n = read.n,
                       .step = (ptrdiff_t)read.step};
}

static tk_lane_set scanned_lanes(const tk_inst *in, int k, size_t lane) {
  tk_lane_set s = line_behind(in, k, lane);
  tk_lines made = tk_lines_made(in);
  size_t at = tk_line_place(&made, lane);
  if (tk_inst_reverse(in)) {
    s.first = tk_lane_set_at(&s, s.n - 1);
    s.step = -s.step;
    at = s.n - 1 - at;
  }
  s.n = at + 1;
  return s;
}

/* ---- moves --------------------------------------------------------------- */

static size_t join_index(const tk_type *t, const int64_t *at) {
  int64_t lane = 0;
  for (int i = 0; i < t->rank; i++) lane = lane * t->shape[i] + at[i];
  return (size_t)lane;
}

static tk_lane_set undo_copy(const tk_inst *in, int result, size_t lane) {
  (void)in;
  (void)result;
  return one_lane(0, lane);
}

static tk_lane_set undo_broadcast(const tk_inst *in, int result, size_t lane) {
  int64_t at[TK_MAX_RANK] = {0};
  (void)result;
  if (in->from.rank != in->type.rank) return one_lane(0, 0);
  tk_lane_index(&in->type, lane, at);
  for (int i = 0; i < in->from.rank; i++)
    if (in->from.shape[i] == 1) at[i] = 0;
  return one_lane(0, join_index(&in->from, at));
}

static tk_lane_set undo_permute(const tk_inst *in, int result, size_t lane) {
  int64_t at[TK_MAX_RANK] = {0}, from[TK_MAX_RANK] = {0};
  (void)result;
  tk_lane_index(&in->type, lane, at);
  for (int i = 0; i < in->type.rank; i++) from[tk_permute_axes(in)[i]] = at[i];
  return one_lane(0, join_index(&in->from, from));
}

static tk_lane_set undo_join(const tk_inst *in, int result, size_t lane) {
  (void)in;
  (void)result;
  return one_lane((int)(lane % 2), lane / 2);
}

static tk_lane_set undo_split(const tk_inst *in, int result, size_t lane) {
  (void)in;
  return one_lane(0, 2 * lane + (size_t)result);
}

static tk_lane_set undo_cat(const tk_inst *in, int result, size_t lane) {
  tk_lines made = tk_lines_made(in), part = tk_lines_read(in);
  size_t line = tk_line_of(&made, lane), at = tk_line_place(&made, lane);
  int arg = at >= part.n;
  (void)result;
  if (arg) {
    at -= part.n;
    part.n = made.n - part.n;
  }
  return one_lane(arg, tk_line_first(&part, line) + at * part.step);
}

static tk_lane_set undo_flip(const tk_inst *in, int result, size_t lane) {
  tk_lane_set s = line_behind(in, 0, lane);
  tk_lines made = tk_lines_made(in);
  (void)result;
  return one_lane(0, tk_lane_set_at(&s, s.n - 1 - tk_line_place(&made, lane)));
}

static tk_lane_set undo_slice(const tk_inst *in, int result, size_t lane) {
  tk_lane_set s = line_behind(in, 0, lane);
  tk_lines made = tk_lines_made(in);
  int64_t at = (int64_t)tk_line_place(&made, lane);
  (void)result;
  return one_lane(0, tk_lane_set_at(&s, (size_t)(tk_slice_start(in) +
                                                 at * tk_slice_step(in))));
}

/* The lane of an operand that a lane of a result is. */
static tk_lane_set (*const moves[TK_INST_COUNT])(const tk_inst *in, int result,
                                                 size_t lane) = {
    [TK_I_COPY] = undo_copy,
    [TK_I_HINT] = undo_copy,
    [TK_I_BROADCAST] = undo_broadcast,
    [TK_I_PERMUTE] = undo_permute,
    [TK_I_JOIN] = undo_join,
    [TK_I_SPLIT] = undo_split,
    [TK_I_CAT] = undo_cat,
    [TK_I_FLIP] = undo_flip,
    [TK_I_SLICE] = undo_slice,
};

/* ---- products, scales, groups -------------------------------------------- */

tk_product tk_product_of(const tk_inst *in) {
  int r = in->type.rank;
  TK_ASSERT(tk_inst_lanes(in) == TK_LANES_PRODUCT && r >= 2);
  tk_product p = {1, (size_t)in->type.shape[r - 2],
                  (size_t)in->type.shape[r - 1], (size_t)in->from.shape[r - 1]};
  for (int i = 0; i < r - 2; i++) p.batch *= (size_t)in->type.shape[i];
  return p;
}

static size_t row_and_column(const tk_func *f, const tk_inst *in, size_t lane,
                             tk_lane_set *out) {
  tk_product p = tk_product_of(in);
  size_t batch = lane / (p.m * p.n), column = batch * p.k * p.n + lane % p.n;
  out[0] = (tk_lane_set){0, lane / p.n * p.k, p.k, 1};
  out[1] = (tk_lane_set){1, column, p.k, (ptrdiff_t)p.n};
  for (int k = 2; k < in->nargs; k++)
    out[k] = one_lane(k, tk_lanes_own(f, in, k, lane));
  return in->nargs;
}

/* A lane of a packed operand stands for two along the axis that is packed;
 * scales for a group each, with the scaled axis as their last one. */
static size_t lane_and_scale(const tk_func *f, const tk_inst *in, size_t lane,
                             tk_lane_set *out) {
  int rank = in->type.rank, axis = tk_unscale_axis(in);
  int scales = tk_unscale_scales(in);
  int64_t packed = tk_unscale_packed_axis(in);
  int64_t at[TK_MAX_RANK] = {0}, from[TK_MAX_RANK];
  tk_lane_index(&in->type, lane, at);
  memcpy(from, at, sizeof from);
  if (packed >= 0) from[packed] /= 2;
  out[0] = one_lane(tk_unscale_value(in), join_index(&in->from, from));
  if (scales < 0) return 1;
  memcpy(from, at, sizeof from);
  from[rank - 2] = at[axis == rank - 1 ? rank - 2 : rank - 1];
  from[rank - 1] = at[axis] / (size_t)tk_unscale_group(in);
  out[1] = one_lane(scales, join_index(operand_type(f, in, scales), from));
  return 2;
}

static size_t groups_around(const tk_func *f, const tk_inst *in, size_t lane,
                            tk_lane_set *out) {
  size_t group = in->op == TK_I_MAP_FN ? (size_t)tk_map_fn_pack(in)
                                       : (size_t)tk_asm_code(in)->pack;
  for (int k = 0; k < in->nargs; k++) {
    size_t lanes = (size_t)tk_numel(operand_type(f, in, k));
    size_t first = tk_lanes_own(f, in, k, lane) / group * group;
    size_t n = lanes - first < group ? lanes - first : group;
    out[k] = (tk_lane_set){k, first, n, 1};
  }
  return in->nargs;
}

/* ---- every instruction --------------------------------------------------- */

size_t tk_lanes_of(const tk_func *f, const tk_inst *in, int result, size_t lane,
                   tk_lane_set *out) {
  TK_ASSERT(result >= 0 && result < in->nres);
  TK_ASSERT(lane < (size_t)tk_numel(&f->slots[in->res[result]].type));
  switch (tk_inst_lanes(in)) {
  case TK_LANES_NONE:
  case TK_LANES_CALLS: return 0;
  case TK_LANES_SAME:
    for (int k = 0; k < in->nargs; k++)
      out[k] = one_lane(k, tk_lanes_own(f, in, k, lane));
    return in->nargs;
  case TK_LANES_MOVES:
    TK_ASSERT(moves[in->op]);
    out[0] = moves[in->op](in, result, lane);
    return 1;
  case TK_LANES_GATHERS:
    out[0] = line_behind(in, 0, lane);
    out[1] = one_lane(1, lane);
    return 2;
  case TK_LANES_REDUCES:
    for (int k = 0; k < in->nargs; k++) out[k] = line_behind(in, k, lane);
    return in->nargs;
  case TK_LANES_SCANS:
    for (int k = 0; k < in->nargs; k++) out[k] = scanned_lanes(in, k, lane);
    return in->nargs;
  case TK_LANES_SORTS: out[0] = line_behind(in, 0, lane); return 1;
  case TK_LANES_PRODUCT: return row_and_column(f, in, lane, out);
  case TK_LANES_COUNTS:
    for (int k = 0; k < in->nargs; k++)
      out[k] = (tk_lane_set){k, 0, (size_t)tk_numel(operand_type(f, in, k)), 1};
    return in->nargs;
  case TK_LANES_SCALES: return lane_and_scale(f, in, lane, out);
  case TK_LANES_GROUPS: return groups_around(f, in, lane, out);
  }
  return 0;
}
