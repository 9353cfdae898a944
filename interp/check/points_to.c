/* points_to.c - which tensors the pointers of a kernel can lead to.
 *
 * Each slot of each function has a set of regions.  Instructions hand sets
 * on, in no order, until none grows any more.
 */
#include "interp/check/points_to.h"

#include "ir/asm.h"

#include <string.h>

typedef uint64_t set; /* bit i: region i */
#define ANY (~(set)0)
enum { MOST_REGIONS = 63 };

typedef struct points_to {
  const tki *t;
  tk_arena *arena;
  set **of;      /* by function, slot */
  set **returns; /* by function, result */
  bool **used;   /* by function and slot: something reads it */
  bool grew;
  set loads, stores, atomics;
  const tk_inst *atomic; /* the first atomic operation */
  bool differ;           /* not all atomics are the same */
  bool results;
} points_to;

static void grow_set(points_to *r, set *to, set s) {
  r->grew |= (*to | s) != *to;
  *to |= s;
}

/* ---- where pointers come from ------------------------------------------ */

static const tk_type *slot_type(const points_to *r, size_t f, int slot) {
  return &r->t->program->funcs[f]->slots[slot].type;
}

/* Returns the set of the pointer operand; of several, what they have in common,
 * because the lanes of a value do not say which tensor each is of. */
static set of_operands(const points_to *r, size_t f, const tk_inst *in) {
  set s = 0;
  bool first = true;
  for (int k = 0; k < in->nargs; k++) {
    if (!slot_type(r, f, in->args[k])->ptr) continue;
    set x = r->of[f][in->args[k]];
    if (!first && (x != s || x & (x - 1))) return ANY;
    s = x;
    first = false;
  }
  return first ? ANY : s;
}

static bool hands_on(const tk_inst *in) {
  tk_lanes lanes = tk_inst_lanes(in);
  return lanes == TK_LANES_MOVES || lanes == TK_LANES_GATHERS ||
         (lanes == TK_LANES_SAME && tk_inst_is_pure(in));
}

static void pass_call(points_to *r, size_t f, const tk_inst *in) {
  const tk_func *callee = tk_call_callee(in);
  size_t g = callee->id;
  for (size_t i = 0; i < callee->nparams && i < in->nargs; i++)
    grow_set(r, &r->of[g][callee->params[i]], r->of[f][in->args[i]]);
  for (size_t i = 0; i < in->nres; i++)
    grow_set(r, &r->of[f][in->res[i]], r->returns[g][i]);
}

/* Functions that are called for single lanes are not followed. */
static void call_unknown(points_to *r, size_t f, const tk_inst *in) {
  for (int k = 0; k < in->nargs; k++)
    if (slot_type(r, f, in->args[k])->ptr) r->loads = r->stores = ANY;
}

static bool pass_inst(void *ud, const tk_at *at, const tk_inst *in) {
  points_to *r = ud;
  size_t f = at->func->id;
  tk_ref_kind ref = tk_inst_info_of((tk_opcode)in->op)->ref;
  for (int k = 0; k < in->nargs; k++) r->used[f][in->args[k]] = true;
  if (in->op == TK_I_CALL) {
    pass_call(r, f, in);
    return true;
  }
  if (in->op == TK_I_COND) return true;
  if (ref == TK_REF_CALLEE || ref == TK_REF_COMBINE) call_unknown(r, f, in);
  for (int k = 0; k < in->nres; k++)
    if (slot_type(r, f, in->res[k])->ptr)
      grow_set(r, &r->of[f][in->res[k]],
               hands_on(in) ? of_operands(r, f, in) : ANY);
  return true;
}

static bool pass_stmt(void *ud, const tk_at *at) {
  points_to *r = ud;
  const tk_stmt *st = at->stmt;
  size_t f = at->func->id;
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE)
    r->used[f][st->cond] = true;
  if (st->kind == TK_S_FOR)
    r->used[f][st->lb] = r->used[f][st->ub] = r->used[f][st->step] = true;
  for (size_t i = 0; st->kind == TK_S_RETURN && i < st->nresults; i++) {
    r->used[f][st->results[i]] = true;
    grow_set(r, &r->returns[f][i], r->of[f][st->results[i]]);
  }
  return true;
}

static void start_sets(points_to *r) {
  const tk_program *p = r->t->program;
  r->of = TK_NEWN(r->arena, set *, p->nfuncs);
  r->returns = TK_NEWN(r->arena, set *, p->nfuncs);
  r->used = TK_NEWN(r->arena, bool *, p->nfuncs);
  for (size_t i = 0; i < p->nfuncs; i++) {
    r->of[i] = TK_NEWN(r->arena, set, p->funcs[i]->nslots);
    r->returns[i] = TK_NEWN(r->arena, set, p->funcs[i]->nresults);
    r->used[i] = TK_NEWN(r->arena, bool, p->funcs[i]->nslots);
  }
  size_t k = p->kernel->id;
  for (size_t i = 0; i < r->t->nparams; i++) {
    int32_t region = r->t->params[i].region;
    r->of[k][p->kernel->params[i]] =
        region >= 0 && region < MOST_REGIONS ? (set)1 << region : ANY;
  }
}

/* ---- where they go ------------------------------------------------------ */

static void add_atomic(points_to *r, size_t f, const tk_inst *in) {
  const tk_inst *first = r->atomic ? r->atomic : in;
  r->atomic = first;
  r->atomics |= r->of[f][in->args[0]];
  r->differ |=
      in->op != first->op ||
      (in->op == TK_I_ATOMIC && tk_atomic_op(in) != tk_atomic_op(first)) ||
      in->type.elem != first->type.elem;
  r->results |= r->used[f][in->res[0]];
}

static void add_asm(points_to *r, const tk_asm *a) {
  for (size_t i = 0; i < a->insts.n; i++)
    for (int k = 0; k < a->insts.items[i].nargs; k++)
      if (a->insts.items[i].args[k].kind == TK_AA_ADDRESS)
        r->loads = r->stores = ANY;
}

static bool note_access(void *ud, const tk_at *at, const tk_inst *in) {
  points_to *r = ud;
  size_t f = at->func->id;
  if (in->op == TK_I_LOAD)
    r->loads |= r->of[f][in->args[0]];
  else if (in->op == TK_I_STORE)
    r->stores |= r->of[f][in->args[0]];
  else if (in->op == TK_I_ATOMIC || in->op == TK_I_CAS)
    add_atomic(r, f, in);
  else if (in->op == TK_I_ASM)
    add_asm(r, tk_asm_code(in));
  return true;
}

/* The largest of floats is the same in every order too, except that it may be
 * another one of several NaNs. */
static bool commutes(const tk_inst *in) {
  if (!in) return true;
  if (in->op != TK_I_ATOMIC || in->type.ptr) return false;
  tk_atomic op = tk_atomic_op(in);
  if (op == TK_A_ADD) return !tk_is_float((tk_dtype)in->type.elem);
  return op == TK_A_MAX || op == TK_A_MIN || op == TK_A_AND || op == TK_A_OR ||
         op == TK_A_XOR;
}

static uint8_t access_kinds(const points_to *r, size_t region) {
  set bit = region < MOST_REGIONS ? (set)1 << region : ~(ANY >> 1);
  return (r->loads & bit ? TKC_LOADS : 0) | (r->stores & bit ? TKC_STORES : 0) |
         (r->atomics & bit ? TKC_ATOMICS : 0);
}

tkc_points_to tkc_points_to_find(tk_arena *a, const tki *t) {
  points_to r = {.t = t, .arena = a};
  start_sets(&r);
  do {
    r.grew = false;
    tk_walk_program(t->program,
                    &(tk_walk){.ud = &r, .stmt = pass_stmt, .inst = pass_inst});
  } while (r.grew);
  tk_walk_program(t->program, &(tk_walk){.ud = &r, .inst = note_access});
  tkc_points_to out = {.region = TK_NEWN(a, uint8_t, t->nregions + 1),
                       .commutes = commutes(r.atomic) && !r.differ,
                       .results = r.results};
  for (size_t i = 0; i < t->nregions; i++) out.region[i] = access_kinds(&r, i);
  return out;
}
