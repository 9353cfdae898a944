/* gen_misc.c - sorting and counting, inline assembly, functions of groups of
 * lanes. */
#include "nvptx/shared.h"

#include "ir/asm.h"

/* ---- sorting ------------------------------------------------------------- */

/* A float's bits as an integer that compares as the float does, -0 below +0;
 * NaN is above every number. */
static tkv_reg float_key(tkv_code *c, const tk_type *t, tkv_reg x) {
  tk_type wide = tk_scalar(t->elem == TK_FP64 ? TK_FP64 : TK_FP32),
          bits = tk_scalar(t->elem == TK_FP64 ? TK_INT64 : TK_INT32),
          by = tk_scalar(TK_UINT64);
  x = tkv_convert_lane(c, &wide, t, x);
  tkv_reg nan = tkv_lane_compare(c, TK_C_NE, &wide, x, x);
  x = tkv_to_bits(c, x);
  tkv_reg sign = tkv_ashr_n(c, x, x.type.bits - 1);
  sign = tkv_lshr_n(c, sign, 1);
  x = tkv_xor(c, x, sign);
  tkv_reg key = tkv_convert_lane(c, &by, &bits, x);
  return tkv_select(c, nan, tkv_integer(TKV_I64, INT64_MAX), key);
}

/* An unsigned integer that compares as the lanes sort. */
static tkv_reg sort_key(tkv_code *c, const tk_type *t, bool down, tkv_reg x) {
  tk_type by = tk_scalar(TK_UINT64);
  bool is_float = tk_is_float((tk_dtype)t->elem);
  tkv_reg key = is_float ? float_key(c, t, x) : tkv_convert_lane(c, &by, t, x);
  if (is_float || tk_is_signed((tk_dtype)t->elem))
    key = tkv_xor_n(c, key, INT64_MIN);
  return down ? tkv_xor_n(c, key, -1) : key;
}

/* How many lanes of its row are sorted before a lane. */
static tkv_reg rank_of(tkv_gen *g, const tk_inst *in, const tk_type *t,
                       tkv_reg number, tkv_reg x) {
  tkv_code *c = g->code;
  bool down = tk_sort_descending(in);
  int n = tkv_axis_bits(t, t->rank - 1);
  tkv_reg own = sort_key(c, t, down, x), rank = tkv_variable(c, TKV_I32),
          row = tkv_and_n(c, number, -(1 << n)),
          at = tkv_and_n(c, number, (1 << n) - 1);
  tkv_store(c, tkv_i32(0), rank);
  tkv_loop i = tkv_begin_count(c, tkv_i32(0), 1 << n);
  tkv_reg other = tkv_add(c, row, i.i);
  other = tkv_scratch_load(g, t, 0, other);
  other = sort_key(c, t, down, other);
  tkv_comparison earlier = TKV_MUTANT(SORT_TIES) ? TKV_EQ : TKV_SLT;
  tkv_reg less = tkv_compare(c, TKV_ULT, other, own),
          same = tkv_compare(c, TKV_EQ, other, own),
          before = tkv_compare(c, earlier, i.i, at);
  before = tkv_and(c, same, before);
  less = tkv_or(c, less, before);
  tkv_reg one = tkv_zext(c, less, TKV_I32), sum = tkv_load(c, TKV_I32, rank);
  sum = tkv_add(c, sum, one);
  tkv_store(c, sum, rank);
  tkv_end_loop(c, &i, tkv_i32(1));
  return tkv_load(c, TKV_I32, rank);
}

/* Writes the registers whose rank is below 1 << keep to their places. */
static void store_sorted(tkv_gen *g, const tk_type *t, const tkv_version *v,
                         const tkv_reg *rank, const tkv_reg *place, int keep) {
  tkv_code *c = g->code;
  for (uint32_t r = 0; r < (uint32_t)1 << v->dist.nreg; r++) {
    tkv_label yes = tkv_new_label(c, "keep"), end = tkv_new_label(c, "end");
    tkv_reg kept = tkv_compare_n(c, TKV_SLT, rank[r], 1 << keep);
    tkv_branch(c, kept, yes, end);
    tkv_put_label(c, yes);
    tkv_shared_store(c, t, v->reg[r], tkv_shared_at(g, t, 0, place[r]));
    tkv_go_to(c, end);
    tkv_put_label(c, end);
  }
}

/* Every lane counts the lanes that sort before it; that number is its place. */
void tkv_gen_sort(tkv_gen *g, const tk_inst *in) {
  tkv_code *c = g->code;
  tkv_value *from = tkv_arg(g, in, 0);
  const tk_type *t = &from->type;
  tkv_dist d = tkv_home_of(g, from), to = tkv_dist_usual(&in->type, g->warps);
  tkv_dist_drop_copies(&d);
  int n = tkv_axis_bits(t, t->rank - 1), keep = tkv_log2(tk_sort_keep(in));
  tkv_reg *reg = tkv_at(g, from, &d), thread = tkv_thread_number(c, &d),
          *rank = tkv_new_regs(g, &d), *place = tkv_new_regs(g, &d);
  tkv_version v = {.dist = d, .reg = reg};
  tkv_share_block(g, t, &v, 0);
  tkv_meet(c);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    tkv_reg number = tkv_number(c, &d, thread, r);
    rank[r] = rank_of(g, in, t, number, reg[r]);
    tkv_reg row = tkv_lshr_n(c, number, n);
    row = tkv_shl_n(c, row, keep);
    place[r] = tkv_add(c, row, rank[r]);
  }
  tkv_meet(c);
  store_sorted(g, t, &v, rank, place, keep);
  tkv_meet(c);
  tkv_reg *sorted = tkv_read_block(g, t, &to);
  tkv_set(g, in->res[0], tkv_block_of(g, in->type, &to, sorted));
}

/* ---- counting ------------------------------------------------------------ */

/* Writes zeros for all bins. */
static void clear_bins(tkv_gen *g, const tk_type *bins, const tkv_dist *d) {
  tkv_value *zero = tkv_scalar(g, *bins, tkv_literal(bins, 0));
  tkv_version zeros = {.dist = *d, .reg = tkv_at(g, zero, d)};
  tkv_share_block(g, bins, &zeros, 0);
}

/* All bins are set to 0, then each lane adds 1 to its own. */
void tkv_gen_histogram(tkv_gen *g, const tk_inst *in) {
  tkv_code *c = g->code;
  tkv_value *from = tkv_arg(g, in, 0);
  int mask_at = tk_histogram_mask(in);
  tk_type bin = tk_scalar(TK_INT32), wide = tk_scalar(TK_INT64),
          bins = tk_with_elem(in->type, TK_INT32);
  tkv_dist d = tkv_home_of(g, from), to = tkv_dist_usual(&in->type, g->warps);
  tkv_dist_drop_copies(&d);
  tkv_reg *reg = tkv_at(g, from, &d),
          *mask = mask_at < 0 ? NULL : tkv_at(g, tkv_arg(g, in, mask_at), &d);
  clear_bins(g, &bins, &to);
  tkv_meet(c);
  tkv_reg first = tkv_is_first(c, &d);
  if (TKV_MUTANT(HISTOGRAM)) first = TKV_NO_REG;
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    tkv_label yes = tkv_new_label(c, "count"), end = tkv_new_label(c, "end");
    tkv_reg x = tkv_convert_lane(c, &wide, &from->type, reg[r]),
            fits = tkv_compare_n(c, TKV_ULT, x, in->n);
    fits = tkv_both(c, fits, mask ? mask[r] : TKV_NO_REG);
    tkv_branch(c, tkv_both(c, fits, first), yes, end);
    tkv_put_label(c, yes);
    tkv_reg at = tkv_shared_at(g, &bin, 0, tkv_trunc(c, x, TKV_I32));
    tkv_atomic_add(c, at, tkv_i32(1));
    tkv_go_to(c, end);
    tkv_put_label(c, end);
  }
  tkv_meet(c);
  tkv_reg *counts = tkv_read_block(g, &bins, &to);
  tkv_set(g, in->res[0], tkv_block_of(g, in->type, &to, counts));
}

/* ---- groups of lanes ----------------------------------------------------- */

/* A layout whose lowest registers hold that many neighbours. */
static tkv_dist grouped_dist(tkv_gen *g, const tk_inst *in, int pack) {
  int order[TK_MAX_RANK];
  for (int k = 0; k < in->nargs && pack == 1; k++) {
    tkv_value *v = tkv_arg(g, in, k);
    if (v->home) return v->home->dist;
  }
  for (int i = 0; i < in->type.rank; i++) order[i] = in->type.rank - 1 - i;
  if (!in->type.rank) return tkv_dist_one(g);
  return tkv_dist_blocked(&in->type, order, pack, g->warps);
}

static tkv_value **results_of(tkv_gen *g, const tk_inst *in,
                              const tkv_dist *d) {
  tkv_value **out = TK_NEWN(g->arena, tkv_value *, (size_t)in->nres + 1);
  for (int k = 0; k < in->nres; k++)
    out[k] = tkv_block(g, g->frame->f->slots[in->res[k]].type, d);
  return out;
}

static void set_results(tkv_gen *g, const tk_inst *in, tkv_value **out) {
  for (int k = 0; k < in->nres; k++) {
    bool scalar = !out[k]->type.rank || g->frame->lanes;
    tkv_set(g, in->res[k],
            scalar ? tkv_scalar(g, out[k]->type, out[k]->home->reg[0])
                   : out[k]);
  }
}

void tkv_gen_map_fn(tkv_gen *g, const tk_inst *in) {
  size_t pack = (size_t)tk_map_fn_pack(in), n = in->nargs, m = in->nres;
  tkv_dist d = grouped_dist(g, in, (int)pack);
  tkv_value **out = results_of(g, in, &d),
            **args = TK_NEWN(g->arena, tkv_value *, n * pack + 1),
            **got = TK_NEWN(g->arena, tkv_value *, m * pack + 1);
  if ((size_t)1 << d.nreg < pack)
    tkv_refuse(g, in, TKV_REFUSED_PACK, "a thread holds fewer than %zu lanes",
               pack);
  for (size_t r = 0; r < (size_t)1 << d.nreg; r += pack) {
    for (size_t i = 0; i < n * pack; i++) {
      tkv_value *v = tkv_arg(g, in, (int)(i / pack));
      args[i] =
          tkv_scalar(g, tk_elem_of(v->type), tkv_at(g, v, &d)[r + i % pack]);
    }
    tkv_call_lanes(g, tk_map_fn_callee(in), args, got);
    for (size_t i = 0; i < m * pack; i++)
      out[i / pack]->home->reg[r + i % pack] = got[i]->one;
  }
  set_results(g, in, out);
}

/* ---- inline assembly ----------------------------------------------------- */

/* How many lanes an operand of the text takes: as many as fit 32 bits. */
static int lanes_a_word(const tk_type *t, int pack) {
  int fit = 32 / tkv_lane_bits(t);
  return fit < 1 ? 1 : fit < pack ? fit : pack;
}

static tkv_type text_operand_type(const tk_type *t, int each) {
  return each == 1 ? tkv_lane_type(t) : TKV_INT_OF(each * tkv_lane_bits(t));
}

static tkv_reg pack_lanes(tkv_code *c, const tk_type *t, int each,
                          const tkv_reg *lane) {
  if (each == 1) return lane[0];
  tkv_reg word = TKV_NO_REG;
  for (int i = 0; i < each; i++) {
    tkv_reg x = tkv_to_bits(c, lane[i]);
    x = tkv_zext(c, x, text_operand_type(t, each));
    x = tkv_move_bits(c, x, i * tkv_lane_bits(t));
    word = i ? tkv_or(c, word, x) : x;
  }
  return word;
}

static void unpack_lanes(tkv_code *c, const tk_type *t, int each, tkv_reg word,
                         tkv_reg *lane) {
  int bits = tkv_lane_bits(t);
  for (int i = 0; i < each; i++) {
    lane[i] = tkv_move_bits(c, word, -i * bits);
    if (each == 1) continue;
    tkv_reg x = tkv_trunc(c, lane[i], TKV_INT_OF(bits));
    lane[i] = tkv_from_bits(c, t, x);
  }
}

/* At least as many as the operands that n blocks take in the text. */
static size_t most_operands(const tk_asm *code, int n) {
  return (size_t)n * (size_t)code->pack + 1;
}

/* Unpacks the results of the text into registers from r on. */
static void take_results(tkv_gen *g, const tk_inst *in,
                         const tkv_results *results, size_t r,
                         tkv_value **out) {
  int pack = tk_asm_code(in)->pack;
  for (int k = 0, at = 0; k < in->nres; k++) {
    int each = lanes_a_word(&out[k]->type, pack);
    for (int i = 0; i < pack; i += each, at++)
      unpack_lanes(g->code, &out[k]->type, each,
                   tkv_result(g->code, results, at), out[k]->home->reg + r + i);
  }
}

/* Adds the text once, for the lanes in registers from r on. */
static void run_text(tkv_gen *g, const tk_inst *in, const tkv_dist *d, size_t r,
                     tkv_value **out) {
  const tk_asm *code = tk_asm_code(in);
  tkv_type *types = TK_NEWN(g->arena, tkv_type, most_operands(code, in->nres));
  tkv_reg *args = TK_NEWN(g->arena, tkv_reg, most_operands(code, in->nargs));
  tkv_asm a = {.text = code->text,
               .constraints = code->constraints,
               .out = types,
               .in = args,
               .flags = TKV_EFFECT};
  for (int k = 0; k < in->nres; k++) {
    int each = lanes_a_word(&out[k]->type, code->pack);
    for (int i = 0; i < code->pack; i += each)
      types[a.nout++] = text_operand_type(&out[k]->type, each);
  }
  for (int k = 0; k < in->nargs; k++) {
    tkv_value *v = tkv_arg(g, in, k);
    int each = lanes_a_word(&v->type, code->pack);
    for (int i = 0; i < code->pack; i += each)
      args[a.nin++] =
          pack_lanes(g->code, &v->type, each, tkv_at(g, v, d) + r + i);
  }
  tkv_results results = tkv_assemble_text(g->code, &a);
  take_results(g, in, &results, r, out);
}

void tkv_gen_asm(tkv_gen *g, const tk_inst *in) {
  const tk_asm *code = tk_asm_code(in);
  tkv_dist d = grouped_dist(g, in, code->pack);
  if (1 << d.nreg < code->pack && in->type.rank)
    tkv_refuse(g, in, TKV_REFUSED_PACK, "a thread holds fewer than %d lanes",
               code->pack);
  tkv_value **out = results_of(g, in, &d);
  size_t step = in->type.rank ? (size_t)code->pack : 1;
  for (size_t r = 0; r < (size_t)1 << d.nreg; r += step)
    run_text(g, in, &d, r, out);
  set_results(g, in, out);
}
