/* gen_memory.c - loads, stores and atomic operations.
 *
 * Accesses are inline assembly, since LLVM has no access that a predicate
 * guards: "@$p ld.global.v4.b32".  Their width is what contiguity and
 * divisibility of the pointers and constancy of the mask
 * allow. */
#include "nvptx/shared.h"

/* ---- one access ---------------------------------------------------------- */

/* One access of a thread: words from `pointer` on, where `mask` holds or, if
 * there is none, always. */
typedef struct word_access {
  const tk_inst *in;
  tkv_words words;
  tkv_reg pointer, mask;
} word_access;

/* ".v4", and "{$0, $1, $2, $3}" from the k-th operand on. */
static const char *vector_suffix(tkv_gen *g, int n) {
  return n > 1 ? tk_arena_printf(g->arena, ".v%d", n) : "";
}

static const char *vector_operands(tkv_gen *g, int k, int n) {
  const char *s = tk_arena_printf(g->arena, "$%d", k);
  for (int i = 1; i < n; i++)
    s = tk_arena_printf(g->arena, "%s, $%d", s, k + i);
  return n > 1 ? tk_arena_printf(g->arena, "{%s}", s) : s;
}

/* Guards an instruction by the operand of that number. */
static const char *guarded(tkv_gen *g, const char *text, int operand) {
  return tk_arena_printf(g->arena, "@$%d %s", operand, text);
}

static const char *sem_name(const tk_inst *in) {
  return tk_list_word(TK_LIST_SEM, tk_inst_sem(in));
}

static const char *scope_name(const tk_inst *in) {
  return tk_list_word(TK_LIST_SCOPE, tk_inst_scope(in));
}

/* An atomic load or store is relaxed; a fence beside it does the rest. */
static const char *qualifiers(tkv_gen *g, const tk_inst *in) {
  if (in->op == TK_I_ATOMIC || tk_inst_is_atomic_load(in))
    return tk_arena_printf(g->arena, ".relaxed.%s", scope_name(in));
  if (in->op == TK_I_LOAD && tk_load_volatile(in)) return ".volatile";
  return "";
}

/* Orders what the thread does before it and behind it, if the access has an
 * order. */
static void fence(tkv_gen *g, const tk_inst *in) {
  if (tk_inst_sem(in) == TK_SEM_RELAXED) return;
  tkv_asm a = {
      .text = tk_arena_printf(g->arena, "fence.acq_rel.%s;", scope_name(in)),
      .flags = TKV_EFFECT | TKV_MEMORY};
  tkv_assemble_text(g->code, &a);
}

/* Loads words where the mask holds, and keeps `other` where not. */
static void load_words(tkv_gen *g, const word_access *x, const tkv_reg *other,
                       tkv_reg *out) {
  int n = x->words.n;
  tkv_type types[16];
  tkv_reg in[2 + 16] = {x->pointer, x->mask};
  TK_ASSERT(n <= 16);
  for (int i = 0; i < n; i++) {
    types[i] = tkv_word_type(&x->words);
    in[2 + i] = other[i];
  }
  const char *text = tk_arena_printf(
      g->arena, "ld%s.global%s.b%d %s, [$%d];", qualifiers(g, x->in),
      vector_suffix(g, n), x->words.bits, vector_operands(g, 0, n), n);
  tkv_asm a = {.text = text,
               .out = types,
               .nout = n,
               .in = in,
               .nin = 1,
               .flags = TKV_EFFECT};
  if (tkv_exists(x->mask)) {
    a.text = guarded(g, text, n + 1);
    a.nin = 2 + n;
    a.tied = n;
  }
  tkv_results r = tkv_assemble_text(g->code, &a);
  for (int i = 0; i < n; i++) out[i] = tkv_result(g->code, &r, i);
}

static void store_words(tkv_gen *g, const word_access *x, const tkv_reg *word) {
  int n = x->words.n;
  tkv_reg in[16 + 2] = {x->pointer};
  TK_ASSERT(n <= 16);
  for (int i = 0; i < n; i++) in[1 + i] = word[i];
  const char *text = tk_arena_printf(g->arena, "st%s.global%s.b%d [$0], %s;",
                                     qualifiers(g, x->in), vector_suffix(g, n),
                                     x->words.bits, vector_operands(g, 1, n));
  tkv_asm a = {.text = text, .in = in, .nin = 1 + n, .flags = TKV_EFFECT};
  if (tkv_exists(x->mask)) {
    in[a.nin++] = x->mask;
    a.text = guarded(g, text, n + 1);
  }
  tkv_assemble_text(g->code, &a);
}

/* ---- blocks -------------------------------------------------------------- */

static const tkv_fact *fact_of(const tkv_gen *g, const tk_inst *in, int k) {
  return k < 0 ? NULL : &g->facts.of[g->frame->f->id][in->args[k]];
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* How many neighbours along an axis one access may cover. */
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
  TK_ASSERT(n >= 1 && !(n & (n - 1)) && n <= 16);
  return (int)n;
}

/* An access is made in the layout of its pointers. */
static tkv_dist access_dist(tkv_gen *g, const tk_inst *in, tkv_value *pointer) {
  if (!in->type.rank) return tkv_dist_one(g);
  if (pointer->home) return pointer->home->dist;
  return tkv_dist_access(&pointer->type, fact_of(g, in, 0), g->warps);
}

tkv_dist tkv_home_of_load(tkv_gen *g, const tk_inst *in) {
  const tk_type *pointers = &g->frame->f->slots[in->args[0]].type;
  return tkv_dist_access(pointers, fact_of(g, in, 0), g->warps);
}

/* The registers of an optional operand; NULL: it was left out. */
static tkv_reg *optional(tkv_gen *g, const tk_inst *in, int k,
                         const tkv_dist *d) {
  return k < 0 ? NULL : tkv_at(g, tkv_arg(g, in, k), d);
}

/* ---- whether a result is used -------------------------------------------- */

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

/* ---- what one thread does for all -----------------------------------------
 */

/* Only the first thread that holds a lane ran the operation; the others take
 * its result. */
static void share_results(tkv_gen *g, const tk_type *t, tkv_version *v) {
  tkv_share_block(g, t, v, 0);
  tkv_meet(g->code);
  v->reg = tkv_read_block(g, t, &v->dist);
}

/* A clock differs from warp to warp, and what a program computes of it must
 * not: all take what the first thread saw. */
void tkv_gen_clock(tkv_gen *g, const tk_inst *in) {
  tkv_dist d = tkv_dist_one(g);
  tkv_value *v = tkv_block(g, in->type, &d);
  v->home->reg[0] = tkv_special(g->code, "clock64", TKV_I64);
  if (g->warps > 1 && is_used(g, in->res[0]))
    share_results(g, &in->type, v->home);
  tkv_set(g, in->res[0], tkv_scalar(g, in->type, v->home->reg[0]));
}

/* Behind an atomic load: what follows it waits for it, and who did not load
 * takes what the first one did. */
static void end_atomic_load(tkv_gen *g, const tk_inst *in, tkv_version *v,
                            tkv_reg first) {
  fence(g, in);
  if (tkv_exists(first) && is_used(g, in->res[0]))
    share_results(g, &in->type, v);
  else if (tk_inst_sem(in) != TK_SEM_RELAXED)
    tkv_meet(g->code);
}

/* ---- loads and stores ---------------------------------------------------- */

/* What the words of a load hold where its mask does not hold. */
static void other_words(tkv_gen *g, const word_access *x, const tkv_reg *other,
                        tkv_reg *word) {
  int each = x->words.lanes / x->words.n;
  for (int i = 0; i < x->words.n; i++)
    word[i] = other ? tkv_pack_word(g->code, &x->words, &x->in->type,
                                    other + i * each)
                    : tkv_integer(tkv_word_type(&x->words), 0);
}

/* Loads what a thread holds of v, where `owner` holds or, if there is none, in
 * every thread. */
static void load_lanes(tkv_gen *g, const tk_inst *in, const tkv_reg *at,
                       tkv_version *v, tkv_reg owner) {
  const tkv_dist *d = &v->dist;
  tkv_reg others[16], word[16], *mask = optional(g, in, tk_load_mask(in), d),
                                *other = optional(g, in, tk_load_other(in), d);
  if (TKV_MUTANT(LOAD_MASK)) mask = NULL;
  if (TKV_MUTANT(OTHER)) other = NULL;
  int width = tkv_access_width(g, in, d);
  word_access x = {.in = in, .words = tkv_words_of(&in->type, width)};
  int each = width / x.words.n;
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r += (uint32_t)width) {
    uint32_t first = tkv_dist_canonical(d, r);
    for (int i = 0; first < r && i < width; i++)
      v->reg[r + (uint32_t)i] = v->reg[first + (uint32_t)i];
    if (first < r) continue;
    x.pointer = at[r];
    x.mask = tkv_both(g->code, mask ? mask[r] : TKV_NO_REG, owner);
    other_words(g, &x, other ? other + r : NULL, others);
    load_words(g, &x, others, word);
    for (int i = 0; i < x.words.n; i++)
      tkv_unpack_word(g->code, &x.words, &in->type, word[i],
                      v->reg + r + i * each);
  }
}

void tkv_gen_load(tkv_gen *g, const tk_inst *in) {
  if (g->copied[in->id]) {
    tkv_set(g, in->res[0], g->copied[in->id]);
    return;
  }
  tkv_value *pointer = tkv_arg(g, in, 0);
  tkv_dist d = access_dist(g, in, pointer);
  tkv_reg *at = tkv_at(g, pointer, &d), owner = TKV_NO_REG;
  tkv_value *v = tkv_block(g, in->type, &d);
  if (tk_inst_is_atomic_load(in)) {
    owner = tkv_is_first(g->code, &d);
    load_lanes(g, in, at, v->home, owner);
    end_atomic_load(g, in, v->home, owner);
  } else {
    load_lanes(g, in, at, v->home, owner);
  }
  if (!in->type.rank) v = tkv_scalar(g, in->type, v->home->reg[0]);
  tkv_set(g, in->res[0], v);
}

/* A scalar is stored by one thread, a lane by the first that holds it. */
void tkv_gen_store(tkv_gen *g, const tk_inst *in) {
  tkv_code *c = g->code;
  tkv_value *pointer = tkv_arg(g, in, 0);
  tkv_dist d = access_dist(g, in, pointer);
  int width = tkv_access_width(g, in, &d);
  tkv_reg *at = tkv_at(g, pointer, &d),
          *from = tkv_at(g, tkv_arg(g, in, 1), &d), word[16],
          *mask = optional(g, in, tk_store_mask(in), &d),
          first = tkv_is_first(c, &d);
  uint32_t shift = TKV_MUTANT(MASK_SHIFT) ? ((uint32_t)1 << d.nreg) - 1 : 0;
  if (TKV_MUTANT(STORE_MASK)) mask = NULL;
  /* An int1 in memory is a byte, and any byte may be stored. */
  const tk_type *stored = &g->frame->f->slots[in->args[1]].type;
  word_access x = {.in = in, .words = tkv_words_of(stored, width)};
  int each = width / x.words.n;
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r += (uint32_t)width) {
    if (tkv_dist_canonical(&d, r) < r) continue;
    for (int i = 0; i < x.words.n; i++)
      word[i] = tkv_pack_word(c, &x.words, stored, from + r + i * each);
    x.pointer = at[r];
    x.mask = tkv_both(c, mask ? mask[r ^ shift] : TKV_NO_REG, first);
    store_words(g, &x, word);
  }
}

/* ---- atomic operations --------------------------------------------------- */

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
  if (in->op == TK_I_CAS) return tk_arena_printf(g->arena, "cas.b%d", bits);
  tk_atomic op = tk_atomic_op(in);
  bool is_float = !t->ptr && tk_is_float((tk_dtype)t->elem);
  const char *noftz = is_float && bits == 16 ? ".noftz" : "";
  char kind = is_float ? 'f' : 'u';
  if (!t->ptr && tk_is_signed((tk_dtype)t->elem) &&
      (op == TK_A_MAX || op == TK_A_MIN))
    kind = 's';
  if (op == TK_A_XCHG || op == TK_A_AND || op == TK_A_OR || op == TK_A_XOR)
    kind = 'b';
  return tk_arena_printf(g->arena, "%s%s.%c%d", names[op], noftz, kind, bits);
}

/* An atomic operation at one place, where its mask holds, or always. */
typedef struct atomic {
  const tk_inst *in;
  tkv_reg at, mask, x[2]; /* operands, as they are in registers */
  int n;
} atomic;

static tkv_reg mask_or_true(tkv_reg mask) {
  return tkv_exists(mask) ? mask : tkv_integer(TKV_I1, 1);
}

/* The atomic operation of that name where the mask holds, and elsewhere `none`;
 * both as bits. */
static tkv_reg run_atomic(tkv_gen *g, const atomic *a, const char *name,
                          tkv_reg none) {
  const tk_inst *in = a->in;
  tkv_type bits = TKV_INT_OF(tkv_lane_bits(&in->type));
  tkv_reg operands[5] = {a->at};
  const char *places = "";
  for (int i = 0; i < a->n; i++) {
    operands[1 + i] = tkv_to_bits(g->code, a->x[i]);
    places = tk_arena_printf(g->arena, "%s, $%d", places, i + 2);
  }
  operands[1 + a->n] = mask_or_true(a->mask);
  operands[2 + a->n] = none;
  const char *text =
      tk_arena_printf(g->arena, "@$%d atom.global.%s.%s.%s $0, [$1]%s;",
                      a->n + 2, sem_name(in), scope_name(in), name, places);
  tkv_asm code = {.text = text,
                  .out = &bits,
                  .nout = 1,
                  .in = operands,
                  .nin = 3 + a->n,
                  .tied = 1,
                  .flags = TKV_MEMORY};
  return tkv_assemble_text(g->code, &code).all;
}

static bool is_bf16_sum(const tk_inst *in) {
  return in->op == TK_I_ATOMIC && !in->type.ptr && in->type.elem == TK_BF16 &&
         tk_atomic_op(in) == TK_A_ADD;
}

/* Only sm_90 and later have an atomic addition of bf16 (PTX ISA, atom). A loop
 * of compare-and-swap stands in for it. */
static tkv_reg run_bf16_sum(tkv_gen *g, const atomic *a) {
  const char *text = tk_arena_printf(
      g->arena,
      "{ .reg .pred q; .reg .b16 was, sum, one; "
      "mov.b16 $0, 0; mov.b16 one, 0x3f80; @!$3 bra done; "
      "ld.relaxed.gpu.global.b16 $0, [$1]; again: mov.b16 was, $0; "
      "fma.rn.bf16 sum, was, one, $2; "
      "atom.global.%s.%s.cas.b16 $0, [$1], was, sum; "
      "setp.ne.b16 q, $0, was; @q bra again; done: }",
      sem_name(a->in), scope_name(a->in));
  tkv_type word = TKV_I16;
  tkv_reg in[] = {a->at, tkv_to_bits(g->code, a->x[0]), mask_or_true(a->mask)};
  tkv_asm code = {.text = text,
                  .out = &word,
                  .nout = 1,
                  .in = in,
                  .nin = 3,
                  .flags = TKV_MEMORY | TKV_EARLY};
  return tkv_assemble_text(g->code, &code).all;
}

/* The bits of positive floats compare like signed integers, those of negative
 * floats like unsigned ones in reverse. So each sign has an operation of its
 * own, as in Triton (language/semantic.py, atomic_max). */
static tkv_reg run_float_extreme(tkv_gen *g, const atomic *a) {
  tkv_code *c = g->code;
  bool max = tk_atomic_op(a->in) == TK_A_MAX;
  int bits = tkv_lane_bits(&a->in->type);
  tkv_reg word = tkv_to_bits(c, a->x[0]),
          negative = tkv_compare_n(c, TKV_SLT, word, 0),
          positive = tkv_not(c, negative);
  atomic up = *a, down = *a;
  up.mask = tkv_both(c, a->mask, positive);
  const char *name =
      tk_arena_printf(g->arena, "%s.s%d", max ? "max" : "min", bits);
  tkv_reg got = run_atomic(g, &up, name, tkv_integer(word.type, 0));
  down.mask = tkv_both(c, a->mask, negative);
  name = tk_arena_printf(g->arena, "%s.u%d", max ? "min" : "max", bits);
  return run_atomic(g, &down, name, got);
}

/* PTX has few atomic operations on fewer than 32 bits (PTX ISA, "atom"). */
static void check_width(tkv_gen *g, const tk_inst *in) {
  int bits = tkv_lane_bits(&in->type);
  bool sum = in->op == TK_I_ATOMIC && tk_atomic_op(in) == TK_A_ADD &&
             tk_is_float((tk_dtype)in->type.elem);
  if (bits < 16 || (bits == 16 && in->op != TK_I_CAS && !sum))
    tkv_refuse(g, in, TKV_REFUSED_ATOMIC,
               "PTX has no such operation on %d bits", bits);
}

/* Whether an exchange gives nothing and orders nothing that comes later, so
 * that a store does as well, of any width. */
static bool is_atomic_store(const tkv_gen *g, const tk_inst *in) {
  return in->op == TK_I_ATOMIC && tk_atomic_op(in) == TK_A_XCHG &&
         (tk_inst_sem(in) == TK_SEM_RELEASE ||
          tk_inst_sem(in) == TK_SEM_RELAXED) &&
         !is_used(g, in->res[0]);
}

static void store_atomically(tkv_gen *g, const atomic *a) {
  word_access x = {.in = a->in,
                   .words = tkv_words_of(&a->in->type, 1),
                   .pointer = a->at,
                   .mask = a->mask};
  tkv_reg word = tkv_pack_word(g->code, &x.words, &a->in->type, &a->x[0]);
  store_words(g, &x, &word);
}

/* The result where the mask does not hold. */
static tkv_reg left_out(tkv_gen *g, const atomic *a) {
  if (a->in->op == TK_I_CAS && tk_inst_mask(a->in) >= 0)
    return tkv_to_bits(g->code, a->x[0]);
  return tkv_integer(TKV_INT_OF(tkv_lane_bits(&a->in->type)), 0);
}

static tkv_reg run_operation(tkv_gen *g, const atomic *a) {
  const tk_inst *in = a->in;
  tkv_reg got;
  check_width(g, in);
  if (is_float_extreme(in))
    got = run_float_extreme(g, a);
  else if (is_bf16_sum(in))
    got = run_bf16_sum(g, a);
  else
    got = run_atomic(g, a, atomic_name(g, in), left_out(g, a));
  return tkv_from_bits(g->code, &in->type, got);
}

void tkv_gen_atomic(tkv_gen *g, const tk_inst *in) {
  tkv_value *pointer = tkv_arg(g, in, 0);
  tkv_dist d = access_dist(g, in, pointer);
  atomic a = {.in = in, .n = in->op == TK_I_CAS ? 2 : 1};
  tkv_reg *at = tkv_at(g, pointer, &d), *x[2], first = TKV_NO_REG;
  for (int k = 0; k < a.n; k++) x[k] = tkv_at(g, tkv_arg(g, in, 1 + k), &d);
  tkv_reg *mask = optional(g, in, tk_inst_mask(in), &d);
  if (!TKV_MUTANT(ATOMIC_COPIES)) first = tkv_is_first(g->code, &d);
  tkv_value *v = tkv_block(g, in->type, &d);
  /* Everything before the operation is complete before it, and the operation
   * before everything after it. */
  if (tk_inst_sem(in) != TK_SEM_RELAXED) tkv_meet(g->code);
  bool stores = is_atomic_store(g, in);
  if (stores) fence(g, in);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    uint32_t same = tkv_dist_canonical(&d, r);
    v->home->reg[r] = v->home->reg[same];
    if (same < r) continue;
    for (int k = 0; k < a.n; k++) a.x[k] = x[k][r];
    a.at = at[r];
    a.mask = tkv_both(g->code, mask ? mask[r] : TKV_NO_REG, first);
    if (stores) store_atomically(g, &a);
    v->home->reg[r] = stores ? a.x[0] : run_operation(g, &a);
  }
  if (tkv_exists(first) && is_used(g, in->res[0]) && !TKV_MUTANT(ATOMIC_RESULT))
    share_results(g, &in->type, v->home);
  else if (tk_inst_sem(in) != TK_SEM_RELAXED && !stores)
    tkv_meet(g->code);
  if (!in->type.rank) v = tkv_scalar(g, in->type, v->home->reg[0]);
  tkv_set(g, in->res[0], v);
}
