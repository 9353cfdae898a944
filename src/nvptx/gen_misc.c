/* gen_misc.c - sorting and counting, inline assembly, functions of groups of
 * lanes. */
#include "nvptx/gen.h"

#include <string.h>

#include "ir/asm.h"

/* ---- sorting
 * ------------------------------------------------------------------- */

/* An integer that compares as the lane sorts: NaN is above every number, -0
 * below +0. */
static const char *sort_key(tkv_gen *g, const tk_type *t, bool down,
                            const char *x) {
  tk_type by = tk_scalar(TK_UINT64);
  bool is_float = tk_is_float((tk_dtype)t->elem);
  tk_type wide = tk_scalar(t->elem == TK_FP64 ? TK_FP64 : TK_FP32);
  const char *key;
  if (is_float) {
    x = tkv_convert_lane(g, &wide, t, false, x);
    const char *nan = tkv_compare(g, TK_C_NE, &wide, x, x);
    int last = tkv_lane_bits(&wide) - 1;
    tk_type bits = tk_scalar(last == 63 ? TK_INT64 : TK_INT32);
    x = tkv_to_bits(g, &wide, x);
    const char *sign = tkv_emit(g, "ashr i%d %s, %d", last + 1, x, last);
    sign = tkv_emit(g, "lshr i%d %s, 1", last + 1, sign);
    x = tkv_emit(g, "xor i%d %s, %s", last + 1, x, sign);
    key = tkv_convert_lane(g, &by, &bits, false, x);
    key = tkv_emit(g, "select i1 %s, i64 %lld, i64 %s", nan,
                   (long long)INT64_MAX, key);
  } else {
    key = tkv_convert_lane(g, &by, t, false, x);
  }
  if (is_float || tk_is_signed((tk_dtype)t->elem))
    key = tkv_emit(g, "xor i64 %s, %lld", key, (long long)INT64_MIN);
  return down ? tkv_emit(g, "xor i64 %s, -1", key) : key;
}

/* How many lanes of its row stand before a lane. */
static const char *rank_of(tkv_gen *g, const tk_inst *in, const tk_type *t,
                           const char *number, const char *x) {
  bool down = tk_sort_descending(in);
  tk_type i32 = tk_scalar(TK_INT32);
  int n = tkv_axis_bits(t, t->rank - 1);
  const char *own = sort_key(g, t, down, x), *rank = tkv_variable(g, &i32),
             *row = tkv_emit(g, "and i32 %s, %d", number, -(1 << n)),
             *at = tkv_emit(g, "and i32 %s, %d", number, (1 << n) - 1);
  tkv_do(g, "store i32 0, ptr %s", rank);
  tkv_loop i = tkv_begin_count(g, "0", tkv_text(g, "%d", 1 << n));
  const char *other = tkv_emit(g, "add i32 %s, %s", row, i.i);
  other = tkv_shared_load(g, t, tkv_shared_at(g, t, 0, other));
  other = sort_key(g, t, down, other);
  const char *less = tkv_emit(g, "icmp ult i64 %s, %s", other, own),
             *same = tkv_emit(g, "icmp eq i64 %s, %s", other, own),
             *before = tkv_emit(g, "icmp %s i32 %s, %s",
                                TKV_MUTANT(SORT_TIES) ? "eq" : "slt", i.i, at);
  before = tkv_emit(g, "and i1 %s, %s", same, before);
  less = tkv_emit(g, "or i1 %s, %s", less, before);
  const char *one = tkv_emit(g, "zext i1 %s to i32", less),
             *sum = tkv_emit(g, "load i32, ptr %s", rank);
  sum = tkv_emit(g, "add i32 %s, %s", sum, one);
  tkv_do(g, "store i32 %s, ptr %s", sum, rank);
  tkv_end_loop(g, &i, "1");
  return tkv_emit(g, "load i32, ptr %s", rank);
}

/* Every lane finds how many stand before it, and goes there. */
void tkv_gen_sort(tkv_gen *g, const tk_inst *in) {
  tkv_value *from = tkv_arg(g, in, 0);
  const tk_type *t = &from->type;
  tkv_dist d = tkv_home_of(g, from), to = tkv_dist_usual(&in->type, g->warps);
  tkv_dist_drop_copies(&d);
  int n = tkv_axis_bits(t, t->rank - 1), keep = tkv_log2(tk_sort_keep(in));
  uint32_t regs = (uint32_t)1 << d.nreg;
  const char **reg = tkv_at(g, from, &d), *thread = tkv_thread_number(g, &d),
             **rank = TK_NEWN(g->arena, const char *, regs),
             **place = TK_NEWN(g->arena, const char *, regs);
  tkv_version v = {.dist = d, .reg = reg};
  tkv_share_block(g, t, &v, 0);
  tkv_barrier(g);
  for (uint32_t r = 0; r < regs; r++) {
    const char *number = tkv_number(g, &d, thread, r);
    rank[r] = rank_of(g, in, t, number, reg[r]);
    const char *row = tkv_emit(g, "lshr i32 %s, %d", number, n);
    row = tkv_emit(g, "shl i32 %s, %d", row, keep);
    place[r] = tkv_emit(g, "add i32 %s, %s", row, rank[r]);
  }
  tkv_barrier(g);
  for (uint32_t r = 0; r < regs; r++) {
    const char *yes = tkv_new_name(g, "keep"), *end = tkv_new_name(g, "end"),
               *kept = tkv_emit(g, "icmp slt i32 %s, %d", rank[r], 1 << keep);
    tkv_do(g, "br i1 %s, label %%%s, label %%%s", kept, yes, end);
    tkv_label(g, yes);
    tkv_shared_store(g, t, reg[r], tkv_shared_at(g, t, 0, place[r]));
    tkv_do(g, "br label %%%s", end);
    tkv_label(g, end);
  }
  tkv_barrier(g);
  tkv_value *out = tkv_block(g, in->type, &to);
  out->home->reg = tkv_read_block(g, t, &to);
  tkv_set(g, in->res[0], out);
}

/* ---- counting
 * -------------------------------------------------------------------- */

/* All bins are set to 0, then each lane adds 1 to its own. */
void tkv_gen_histogram(tkv_gen *g, const tk_inst *in) {
  tkv_value *from = tkv_arg(g, in, 0);
  int mask_at = tk_histogram_mask(in);
  tk_type bin = tk_scalar(TK_INT32), wide = tk_scalar(TK_INT64);
  tkv_dist d = tkv_home_of(g, from), to = tkv_dist_usual(&in->type, g->warps);
  tkv_dist_drop_copies(&d);
  const char **reg = tkv_at(g, from, &d),
             **mask =
                 mask_at < 0 ? NULL : tkv_at(g, tkv_arg(g, in, mask_at), &d);
  tkv_value zero = {.type = in->type, .one = "0"};
  tkv_version zeros = {.dist = to, .reg = tkv_at(g, &zero, &to)};
  tk_type bins = tk_with_elem(in->type, TK_INT32);
  tkv_share_block(g, &bins, &zeros, 0);
  tkv_barrier(g);
  const char *first = tkv_is_first(g, &d);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    const char *yes = tkv_new_name(g, "count"), *end = tkv_new_name(g, "end"),
               *x = tkv_convert_lane(g, &wide, &from->type, false, reg[r]),
               *fits =
                   tkv_emit(g, "icmp ult i64 %s, %lld", x, (long long)in->n);
    if (mask) fits = tkv_emit(g, "and i1 %s, %s", fits, mask[r]);
    if (first && !TKV_MUTANT(HISTOGRAM))
      fits = tkv_emit(g, "and i1 %s, %s", fits, first);
    tkv_do(g, "br i1 %s, label %%%s, label %%%s", fits, yes, end);
    tkv_label(g, yes);
    const char *at = tkv_emit(g, "trunc i64 %s to i32", x);
    at = tkv_shared_at(g, &bin, 0, at);
    tkv_emit(g, "atomicrmw add ptr addrspace(3) %s, i32 1 monotonic", at);
    tkv_do(g, "br label %%%s", end);
    tkv_label(g, end);
  }
  tkv_barrier(g);
  tkv_value *v = tkv_block(g, in->type, &to);
  v->home->reg = tkv_read_block(g, &bins, &to);
  tkv_set(g, in->res[0], v);
}

/* ---- groups of lanes
 * ---------------------------------------------------------------- */

/* A layout in which so many neighbours are in the lowest registers. */
static tkv_dist grouped_dist(tkv_gen *g, const tk_inst *in, int pack) {
  int order[TK_MAX_RANK];
  for (int k = 0; k < in->nargs && pack == 1; k++) {
    tkv_value *v = tkv_arg(g, in, k);
    if (v->home) return v->home->dist;
  }
  for (int i = 0; i < in->type.rank; i++) order[i] = in->type.rank - 1 - i;
  if (!in->type.rank) return (tkv_dist){.nwarp = tkv_log2(g->warps)};
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

/* ---- inline assembly
 * ------------------------------------------------------------------ */

/* How many lanes an operand of the text takes: as many as fit 32 bits. */
static int lanes_a_word(const tk_type *t, int pack) {
  int fit = 32 / tkv_lane_bits(t);
  return fit < 1 ? 1 : fit < pack ? fit : pack;
}

static const char *word_type(tkv_gen *g, const tk_type *t, int each) {
  return each == 1 ? tkv_lane_type(t)
                   : tkv_text(g, "i%d", each * tkv_lane_bits(t));
}

static const char *pack_lanes(tkv_gen *g, const tk_type *t, int each,
                              const char **lane) {
  if (each == 1) return lane[0];
  int bits = tkv_lane_bits(t);
  const char *word = NULL;
  for (int i = 0; i < each; i++) {
    const char *x = tkv_to_bits(g, t, lane[i]);
    x = tkv_emit(g, "zext i%d %s to i%d", bits, x, bits * each);
    if (i) x = tkv_emit(g, "shl i%d %s, %d", bits * each, x, i * bits);
    word = word ? tkv_emit(g, "or i%d %s, %s", bits * each, word, x) : x;
  }
  return word;
}

static void unpack_lanes(tkv_gen *g, const tk_type *t, int each,
                         const char *word, const char **lane) {
  int bits = tkv_lane_bits(t);
  for (int i = 0; i < each; i++) {
    const char *x = word;
    if (i) x = tkv_emit(g, "lshr i%d %s, %d", bits * each, x, i * bits);
    if (each > 1) {
      x = tkv_emit(g, "trunc i%d %s to i%d", bits * each, x, bits);
      x = tkv_from_bits(g, t, x);
    }
    lane[i] = x;
  }
}

/* One run of the text, from register r on. */
static void run_text(tkv_gen *g, const tk_inst *in, const tkv_dist *d, size_t r,
                     tkv_value **out) {
  const tk_asm *code = tk_asm_code(in);
  int n = 0;
  const char *args = "", *types = "", *comma = "";
  for (int k = 0; k < in->nres; k++) {
    int each = lanes_a_word(&out[k]->type, code->pack);
    for (int i = 0; i < code->pack; i += each, n++) {
      types = tkv_text(g, "%s%s%s", types, n ? ", " : "",
                       word_type(g, &out[k]->type, each));
    }
  }
  for (int k = 0; k < in->nargs; k++) {
    tkv_value *v = tkv_arg(g, in, k);
    int each = lanes_a_word(&v->type, code->pack);
    for (int i = 0; i < code->pack; i += each, comma = ", ")
      args = tkv_text(g, "%s%s%s %s", args, comma, word_type(g, &v->type, each),
                      pack_lanes(g, &v->type, each, tkv_at(g, v, d) + r + i));
  }
  const char *result = n > 1 ? tkv_text(g, "{%s}", types) : types,
             *x = tkv_emit(g, "call %s asm sideeffect \"%s\", \"%s\"(%s)",
                           result, tkv_escaped(g, code->text),
                           code->constraints, args);
  for (int k = 0, at = 0; k < in->nres; k++) {
    int each = lanes_a_word(&out[k]->type, code->pack);
    for (int i = 0; i < code->pack; i += each, at++) {
      const char *word =
          n > 1 ? tkv_emit(g, "extractvalue %s %s, %d", result, x, at) : x;
      unpack_lanes(g, &out[k]->type, each, word, out[k]->home->reg + r + i);
    }
  }
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
