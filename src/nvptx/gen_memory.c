/* gen_memory.c - loads, stores and atomic operations.
 *
 * Accesses are inline assembly, since LLVM has no access that a predicate
 * guards: "@$p ld.global.v4.b32".  Their width is what contiguity and
 * divisibility of the pointers and constancy of the mask allow.
 */
#include "nvptx/gen.h"

#include <string.h>

/* ---- one access
 * ------------------------------------------------------------------ */

/* ".v4", and "{$0, $1, $2, $3}" from the k-th operand on. */
static const char *vector_suffix(tkv_gen *g, int n) {
  return n > 1 ? tkv_text(g, ".v%d", n) : "";
}

static const char *vector_operands(tkv_gen *g, int k, int n) {
  const char *s = tkv_text(g, "$%d", k);
  for (int i = 1; i < n; i++) s = tkv_text(g, "%s, $%d", s, k + i);
  return n > 1 ? tkv_text(g, "{%s}", s) : s;
}

static const char *qualifiers(const tk_inst *in) {
  if (in->op == TK_I_LOAD && tk_load_volatile(in)) return ".volatile";
  return "";
}

/* Loads words where the predicate holds, and keeps `other` where not. */
static void load_words(tkv_gen *g, const tk_inst *in, const tkv_words *w,
                       const char *pointer, const char *mask,
                       const char *const *other, const char **out) {
  const char *outs = "", *ties = "", *args = "", *types = "", *comma = "";
  int bits = tkv_word_bits(w);
  for (int i = 0; i < w->n; i++, comma = ", ") {
    outs = tkv_text(g, "%s=%c,", outs, w->constraint);
    ties = tkv_text(g, "%s,%d", ties, i);
    types = tkv_text(g, "%s%si%d", types, comma, bits);
    args = tkv_text(g, "%s, i%d %s", args, bits, mask ? other[i] : "0");
  }
  const char *result =
      w->n > 1 ? tkv_text(g, "{%s}", types) : tkv_text(g, "i%d", bits);
  const char *code = tkv_text(g, "ld%s.global%s.b%d %s, [$%d];", qualifiers(in),
                              vector_suffix(g, w->n), w->bits,
                              vector_operands(g, 0, w->n), w->n);
  const char *x =
      mask ? tkv_emit(g,
                      "call %s asm sideeffect \"@$%d %s\", \"%sl,b%s\"(i64 %s, "
                      "i1 %s%s)",
                      result, w->n + 1, code, outs, ties, pointer, mask, args)
           : tkv_emit(g, "call %s asm sideeffect \"%s\", \"%sl\"(i64 %s)",
                      result, code, outs, pointer);
  for (int i = 0; i < w->n; i++)
    out[i] = w->n > 1 ? tkv_emit(g, "extractvalue %s %s, %d", result, x, i) : x;
}

static void store_words(tkv_gen *g, const tk_inst *in, const tkv_words *w,
                        const char *pointer, const char *mask,
                        const char *const *word) {
  const char *args = "", *constraints = "";
  int bits = tkv_word_bits(w);
  for (int i = 0; i < w->n; i++) {
    constraints = tkv_text(g, "%s,%c", constraints, w->constraint);
    args = tkv_text(g, "%s, i%d %s", args, bits, word[i]);
  }
  const char *code =
      tkv_text(g, "st%s.global%s.b%d [$0], %s;", qualifiers(in),
               vector_suffix(g, w->n), w->bits, vector_operands(g, 1, w->n));
  if (mask)
    tkv_do(g,
           "call void asm sideeffect \"@$%d %s\", \"l%s,b\"(i64 %s%s, i1 %s)",
           w->n + 1, code, constraints, pointer, args, mask);
  else
    tkv_do(g, "call void asm sideeffect \"%s\", \"l%s\"(i64 %s%s)", code,
           constraints, pointer, args);
}

/* ---- blocks
 * ------------------------------------------------------------------------ */

static const tkv_fact *fact_of(const tkv_gen *g, const tk_inst *in, int k) {
  return k < 0 ? NULL : &g->facts.of[g->frame->f->id][in->args[k]];
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* How many neighbours along an axis one access may have. */
static int64_t neighbours(const tkv_fact *x, int axis, size_t size) {
  if (!x || !x->known) return 1;
  int64_t aligned = x->divisibility[axis] / (int64_t)size;
  int64_t n = least(x->contiguity[axis], least(aligned, 16 / (int64_t)size));
  return n < 1 ? 1 : n;
}

int tkv_access_width(tkv_gen *g, const tk_inst *in, const tkv_dist *d) {
  const tk_type *t = &in->type;
  if (!t->rank) return 1;
  const tkv_fact *x = fact_of(g, in, 0);
  int axis = tkv_fastest_axis(t, x), mask = tk_inst_mask(in);
  int64_t n =
      least(neighbours(x, axis, tk_lane_size(t)), tkv_dist_vector(d, t, axis));
  const tk_slot *slots = g->frame->f->slots;
  if (mask >= 0 && slots[in->args[mask]].type.rank) {
    const tkv_fact *m = fact_of(g, in, mask);
    n = least(n, m->known ? m->constancy[axis] : 1);
  }
  return (int)n;
}

/* The layout in which an access is made: that of its pointers. */
static tkv_dist access_dist(tkv_gen *g, const tk_inst *in, tkv_value *pointer) {
  if (!in->type.rank) return (tkv_dist){.nwarp = tkv_log2(g->warps)};
  if (pointer->home) return pointer->home->dist;
  return tkv_dist_access(&pointer->type, fact_of(g, in, 0), g->warps);
}

tkv_dist tkv_home_of_load(tkv_gen *g, const tk_inst *in) {
  const tk_type *pointers = &g->frame->f->slots[in->args[0]].type;
  return tkv_dist_access(pointers, fact_of(g, in, 0), g->warps);
}

void tkv_gen_load(tkv_gen *g, const tk_inst *in) {
  int mask_at = tk_load_mask(in), other_at = tk_load_other(in);
  if (g->copied[in->id]) {
    tkv_set(g, in->res[0], g->copied[in->id]);
    return;
  }
  tkv_value *pointer = tkv_arg(g, in, 0);
  tkv_dist d = access_dist(g, in, pointer);
  int width = tkv_access_width(g, in, &d);
  const char **at = tkv_at(g, pointer, &d), *zeros[16], *word[16];
  const char **mask =
      mask_at < 0 ? NULL : tkv_at(g, tkv_arg(g, in, mask_at), &d);
  const char **other =
      other_at < 0 ? NULL : tkv_at(g, tkv_arg(g, in, other_at), &d);
  if (TKV_MUTANT(LOAD_MASK)) mask = NULL;
  if (TKV_MUTANT(OTHER)) other = NULL;
  tkv_words w = tkv_words_of(&in->type, width);
  tkv_value *v = tkv_block(g, in->type, &d);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r += (uint32_t)width) {
    uint32_t first = tkv_dist_canonical(&d, r);
    for (int i = 0; first < r && i < width; i++)
      v->home->reg[r + (uint32_t)i] = v->home->reg[first + (uint32_t)i];
    if (first < r) continue;
    int each = width / w.n;
    for (int i = 0; i < w.n; i++)
      zeros[i] =
          other ? tkv_pack_word(g, &w, &in->type, other + r + i * each) : "0";
    load_words(g, in, &w, at[r], mask ? mask[r] : NULL, zeros, word);
    for (int i = 0; i < w.n; i++)
      tkv_unpack_word(g, &w, &in->type, word[i], v->home->reg + r + i * each);
  }
  if (!in->type.rank) v = tkv_scalar(g, in->type, v->home->reg[0]);
  tkv_set(g, in->res[0], v);
}

/* A scalar is stored by one thread, a lane by the first that holds it. */
void tkv_gen_store(tkv_gen *g, const tk_inst *in) {
  int mask_at = tk_store_mask(in);
  tkv_value *pointer = tkv_arg(g, in, 0);
  tkv_dist d = access_dist(g, in, pointer);
  int width = tkv_access_width(g, in, &d);
  const char **at = tkv_at(g, pointer, &d),
             **from = tkv_at(g, tkv_arg(g, in, 1), &d), *word[16];
  const char **mask =
      mask_at < 0 ? NULL : tkv_at(g, tkv_arg(g, in, mask_at), &d);
  const char *first = tkv_is_first(g, &d);
  uint32_t shift = TKV_MUTANT(MASK_SHIFT) ? ((uint32_t)1 << d.nreg) - 1 : 0;
  if (TKV_MUTANT(STORE_MASK)) mask = NULL;
  /* An int1 in memory is a byte, and any byte may be stored. */
  const tk_type *stored = &g->frame->f->slots[in->args[1]].type;
  tkv_words w = tkv_words_of(stored, width);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r += (uint32_t)width) {
    if (tkv_dist_canonical(&d, r) < r) continue;
    for (int i = 0; i < w.n; i++)
      word[i] = tkv_pack_word(g, &w, stored, from + r + i * (width / w.n));
    store_words(g, in, &w, at[r],
                tkv_both(g, mask ? mask[r ^ shift] : NULL, first), word);
  }
}

/* ---- atomic operations
 * ---------------------------------------------------------------- */

static const char *sem_name(const tk_inst *in) {
  return tk_list_word(TK_LIST_SEM, tk_inst_sem(in));
}

static const char *scope_name(const tk_inst *in) {
  return tk_list_word(TK_LIST_SCOPE, tk_inst_scope(in));
}

static bool is_float_extreme(const tk_inst *in) {
  const tk_type *t = &in->type;
  return in->op == TK_I_ATOMIC && !t->ptr && tk_is_float((tk_dtype)t->elem) &&
         (tk_atomic_op(in) == TK_A_MAX || tk_atomic_op(in) == TK_A_MIN);
}

/* What PTX calls the operation on that type: "add.f32", "max.s32". */
static const char *atomic_name(tkv_gen *g, const tk_inst *in) {
  static const char *const names[TK_A_COUNT] = {
      [TK_A_ADD] = "add",  [TK_A_MAX] = "max", [TK_A_MIN] = "min",
      [TK_A_AND] = "and",  [TK_A_OR] = "or",   [TK_A_XOR] = "xor",
      [TK_A_XCHG] = "exch"};
  const tk_type *t = &in->type;
  int bits = tkv_lane_bits(t);
  if (in->op == TK_I_CAS) return tkv_text(g, "cas.b%d", bits);
  tk_atomic op = tk_atomic_op(in);
  bool is_float = !t->ptr && tk_is_float((tk_dtype)t->elem);
  const char *noftz = is_float && bits == 16 ? ".noftz" : "";
  char kind = is_float ? 'f' : 'u';
  if (!t->ptr && tk_is_signed((tk_dtype)t->elem) &&
      (op == TK_A_MAX || op == TK_A_MIN))
    kind = 's';
  if (op == TK_A_XCHG || op == TK_A_AND || op == TK_A_OR || op == TK_A_XOR)
    kind = 'b';
  return tkv_text(g, "%s%s.%c%d", names[op], noftz, kind, bits);
}

/* The operation of that name where the mask holds, else `none`: bits. */
static const char *run_atomic(tkv_gen *g, const tk_inst *in, const char *name,
                              const char *at, const char *mask,
                              const char *const *x, int n, const char *none) {
  const tk_type *t = &in->type;
  int bits = tkv_lane_bits(t);
  char c = bits == 64 ? 'l' : bits == 32 ? 'r' : 'h';
  const char *args = "", *constraints = "", *operands = "";
  for (int i = 0; i < n; i++) {
    args = tkv_text(g, "%s, i%d %s", args, bits, tkv_to_bits(g, t, x[i]));
    constraints = tkv_text(g, "%s,%c", constraints, c);
    operands = tkv_text(g, "%s, $%d", operands, i + 2);
  }
  return tkv_emit(g,
                  "call i%d asm sideeffect \"@$%d atom.global.%s.%s.%s $0, "
                  "[$1]%s;\", \"=%c,l%s,b,0,~{memory}\"(i64 %s%s, i1 %s, i%d "
                  "%s)",
                  bits, n + 2, sem_name(in), scope_name(in), name, operands, c,
                  constraints, at, args, mask ? mask : "true", bits, none);
}

static bool is_bf16_sum(const tk_inst *in) {
  return in->op == TK_I_ATOMIC && !in->type.ptr && in->type.elem == TK_BF16 &&
         tk_atomic_op(in) == TK_A_ADD;
}

/* There is an atomic addition of bf16 from sm_90 on alone (PTX ISA, atom): the
 * sum takes the place of what it was made of, if that is still there. */
static const char *run_bf16_sum(tkv_gen *g, const tk_inst *in, const char *at,
                                const char *mask, const char *const *x) {
  return tkv_emit(
      g,
      "call i16 asm sideeffect \"{ .reg .pred q; .reg .b16 was, sum, one; "
      "mov.b16 $0, 0; mov.b16 one, 0x3f80; @!$3 bra done; "
      "ld.relaxed.gpu.global.b16 $0, [$1]; again: mov.b16 was, $0; "
      "fma.rn.bf16 sum, was, one, $2; "
      "atom.global.%s.%s.cas.b16 $0, [$1], was, sum; "
      "setp.ne.b16 q, $0, was; @q bra again; done: }\", "
      "\"=&h,l,h,b,~{memory}\"(i64 %s, i16 %s, i1 %s)",
      sem_name(in), scope_name(in), at, tkv_to_bits(g, &in->type, x[0]),
      mask ? mask : "true");
}

/* Floats compare as integers do: positive ones as signed, negative ones the
 * other way round as unsigned; so each sign has its operation, as in Triton
 * (language/semantic.py, atomic_max). */
static const char *run_float_extreme(tkv_gen *g, const tk_inst *in,
                                     const char *at, const char *mask,
                                     const char *const *x) {
  bool max = tk_atomic_op(in) == TK_A_MAX;
  int bits = tkv_lane_bits(&in->type);
  const char *word = tkv_to_bits(g, &in->type, x[0]),
             *negative = tkv_emit(g, "icmp slt i%d %s, 0", bits, word),
             *positive = tkv_emit(g, "xor i1 %s, true", negative),
             *got = run_atomic(g, in,
                               tkv_text(g, "%s.s%d", max ? "max" : "min", bits),
                               at, tkv_both(g, mask, positive), x, 1, "0");
  return run_atomic(g, in, tkv_text(g, "%s.u%d", max ? "min" : "max", bits), at,
                    tkv_both(g, mask, negative), x, 1, got);
}

/* PTX ISA, "atom": what there is of less than 32 bits. */
static void check_width(tkv_gen *g, const tk_inst *in) {
  int bits = tkv_lane_bits(&in->type);
  bool sum = in->op == TK_I_ATOMIC && tk_atomic_op(in) == TK_A_ADD &&
             tk_is_float((tk_dtype)in->type.elem);
  if (bits < 16 || (bits == 16 && in->op != TK_I_CAS && !sum))
    tkv_refuse(g, in, TKV_REFUSED_ATOMIC,
               "PTX has no such operation on %d bits", bits);
}

static const char *run_operation(tkv_gen *g, const tk_inst *in, const char *at,
                                 const char *mask, const char *const *x,
                                 int n) {
  const char *got;
  check_width(g, in);
  if (is_float_extreme(in))
    got = run_float_extreme(g, in, at, mask, x);
  else if (is_bf16_sum(in))
    got = run_bf16_sum(g, in, at, mask, x);
  else
    got = run_atomic(g, in, atomic_name(g, in), at, mask, x, n, "0");
  return tkv_from_bits(g, &in->type, got);
}

/* Threads that hold copies of a lane take the result of the first one. */
static void share_results(tkv_gen *g, const tk_type *t, tkv_version *v) {
  tkv_share_block(g, t, v, 0);
  tkv_barrier(g);
  v->reg = tkv_read_block(g, t, &v->dist);
}

static bool is_used(const tkv_gen *g, int slot);

void tkv_gen_atomic(tkv_gen *g, const tk_inst *in) {
  bool cas = in->op == TK_I_CAS;
  int mask_at = tk_inst_mask(in), n = cas ? 2 : 1;
  tkv_value *pointer = tkv_arg(g, in, 0);
  tkv_dist d = access_dist(g, in, pointer);
  const char **at = tkv_at(g, pointer, &d), **x[2], *operand[2];
  for (int k = 0; k < n; k++) x[k] = tkv_at(g, tkv_arg(g, in, 1 + k), &d);
  const char **mask =
      mask_at < 0 ? NULL : tkv_at(g, tkv_arg(g, in, mask_at), &d);
  const char *first = TKV_MUTANT(ATOMIC_COPIES) ? NULL : tkv_is_first(g, &d);
  tkv_value *v = tkv_block(g, in->type, &d);
  /* What the program did before is done before it, and the reverse. */
  if (tk_inst_sem(in) != TK_SEM_RELAXED) tkv_barrier(g);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    uint32_t same = tkv_dist_canonical(&d, r);
    for (int k = 0; k < n; k++) operand[k] = x[k][r];
    v->home->reg[r] =
        same < r ? v->home->reg[same]
                 : run_operation(g, in, at[r],
                                 tkv_both(g, mask ? mask[r] : NULL, first),
                                 operand, n);
  }
  if (first && is_used(g, in->res[0]) && !TKV_MUTANT(ATOMIC_RESULT))
    share_results(g, &in->type, v->home);
  else if (tk_inst_sem(in) != TK_SEM_RELAXED)
    tkv_barrier(g);
  if (!in->type.rank) v = tkv_scalar(g, in->type, v->home->reg[0]);
  tkv_set(g, in->res[0], v);
}

/* ---- whether a result is used
 * ------------------------------------------------------- */

typedef struct use {
  int slot;
} use;

static bool does_not_use(void *ud, const tk_at *at, const tk_inst *in) {
  const use *u = ud;
  (void)at;
  for (int k = 0; k < in->nargs; k++)
    if (in->args[k] == u->slot) return false;
  return true;
}

static bool stmt_does_not_use(void *ud, const tk_at *at) {
  const use *u = ud;
  const tk_stmt *st = at->stmt;
  bool uses = st->cond == u->slot && st->kind != TK_S_RUN;
  for (size_t i = 0; i < st->nresults; i++) uses |= st->results[i] == u->slot;
  if (st->kind == TK_S_FOR)
    uses |= st->lb == u->slot || st->ub == u->slot || st->step == u->slot;
  return !uses;
}

static bool is_used(const tkv_gen *g, int slot) {
  use u = {slot};
  return g->frame->makers[slot] > 1 ||
         !tk_walk_func(g->frame->f, &(tk_walk){.ud = &u,
                                               .stmt = stmt_does_not_use,
                                               .inst = does_not_use});
}
