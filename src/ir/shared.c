/* shared.c - the shared memory that a compiled kernel would need.
 *
 * Operands of products lie in shared memory.  What a loop loads for its
 * products is fetched some trips ahead, so that each such block is there once
 * for every trip under way: num_stages of them where the product reads them
 * from there (wgmma), one fewer where it reads registers, and one where
 * nothing is fetched ahead.  An operand that is made, or loaded before the
 * loop, lies there once.  Loops come one after the other, so that the largest
 * counts.
 *
 * Calls are expanded, as the compiler expands them: what is looked at is one
 * list of steps, on slots of its own.
 *
 * What reductions, scans and changes of layout need in passing is less than a
 * block and reuses the same memory; it is left out.  Triton's passes:
 * AssignLatencies, LowerLoops, AllocateSharedMemory.
 */
#include "ir/shared.h"

#include <string.h>

/* An instruction with slots of the list, or a copy that passes an argument or
 * a result: those have no instruction. */
typedef struct shared_step {
  const tk_inst *in;
  int loop; /* the innermost around it; 0: none */
  int nargs, nres;
  int *args, *res;
} shared_step;

typedef struct shared_steps {
  shared_step *items;
  size_t n, cap;
} shared_steps;

typedef struct shared_loop {
  const tk_stmt *st; /* NULL: none, number 0 */
  int base;          /* what its slots are moved by */
} shared_loop;

typedef struct shared_loops {
  shared_loop *items;
  size_t n, cap;
} shared_loops;

typedef struct shared_slots {
  tk_type *items;
  size_t n, cap;
} shared_slots;

typedef struct shared_estimate {
  const tk_program *program;
  int arch;
  tk_arena *arena;
  shared_steps steps;
  shared_loops loops;
  shared_slots slots;
  bool *way, *used; /* marks on slots */
} shared_estimate;

/* ---- steps -------------------------------------------------------------- */

static int *moved_slots(const shared_estimate *s, const int *slots, int n,
                        int by) {
  int *out = TK_NEWN(s->arena, int, n + 1);
  for (int i = 0; i < n; i++) out[i] = slots[i] + by;
  return out;
}

static void pass_value(shared_estimate *s, int from, int to, int loop) {
  int *slots = TK_NEWN(s->arena, int, 2);
  slots[0] = from;
  slots[1] = to;
  shared_step step = {NULL, loop, 1, 1, &slots[0], &slots[1]};
  TK_PUSH(s->arena, &s->steps, step);
}

static void expand_func(shared_estimate *s, const tk_func *f, const int *args,
                        const int *res, int loop);

static void expand_insts(shared_estimate *s, const tk_insts *l, int base,
                         int loop) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    shared_step step = {in,
                        loop,
                        in->nargs,
                        in->nres,
                        moved_slots(s, in->args, in->nargs, base),
                        moved_slots(s, in->res, in->nres, base)};
    if (in->op == TK_I_CALL)
      expand_func(s, in->ref.callee, step.args, step.res, loop);
    else
      TK_PUSH(s->arena, &s->steps, step);
    for (int k = 0; k < 2; k++) expand_insts(s, &in->body[k], base, loop);
  }
}

static void expand_body(shared_estimate *s, const tk_body *b, int base,
                        const int *res, int loop) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = b->items[i];
    int inner = loop;
    expand_insts(s, &st->insts, base, loop);
    if (st->kind == TK_S_FOR || st->kind == TK_S_WHILE) {
      inner = (int)s->loops.n;
      shared_loop l = {st, base};
      TK_PUSH(s->arena, &s->loops, l);
    }
    expand_body(s, &st->body, base, res, inner);
    expand_body(s, &st->orelse, base, res, loop);
    for (size_t k = 0; res && k < st->nresults; k++)
      pass_value(s, st->results[k] + base, res[k], loop);
  }
}

static void expand_func(shared_estimate *s, const tk_func *f, const int *args,
                        const int *res, int loop) {
  int base = (int)s->slots.n;
  for (size_t i = 0; i < f->nslots; i++)
    TK_PUSH(s->arena, &s->slots, f->slots[i].type);
  for (size_t i = 0; args && i < f->nparams; i++)
    pass_value(s, args[i], f->params[i] + base, loop);
  expand_body(s, &f->body, base, res, loop);
}

/* ---- where values come from --------------------------------------------- */

static bool step_is(const shared_step *t, tk_opcode op) {
  return t->in && t->in->op == op;
}

static bool writes_slot(const shared_step *t, int slot) {
  for (int i = 0; i < t->nres; i++)
    if (t->res[i] == slot) return true;
  return false;
}

/* Marks a value and all that it was made of; loads end the way back, since what
 * they read is made elsewhere. */
static void follow_back(const shared_estimate *s, int slot, bool *seen) {
  if (seen[slot]) return;
  seen[slot] = true;
  for (size_t i = 0; i < s->steps.n; i++) {
    const shared_step *t = &s->steps.items[i];
    if (!writes_slot(t, slot) || step_is(t, TK_I_LOAD)) continue;
    for (int k = 0; k < t->nargs; k++) follow_back(s, t->args[k], seen);
  }
}

/* The step that makes a slot, past copies and changes of shape; their number
 * if there are several. */
static size_t maker_of(const shared_estimate *s, int slot) {
  size_t found = s->steps.n;
  for (size_t i = 0; i < s->steps.n; i++) {
    if (!writes_slot(&s->steps.items[i], slot)) continue;
    if (found < s->steps.n) return s->steps.n;
    found = i;
  }
  if (found == s->steps.n) return found;
  const shared_step *t = &s->steps.items[found];
  bool moves = !t->in || step_is(t, TK_I_COPY) || step_is(t, TK_I_PERMUTE) ||
               step_is(t, TK_I_HINT);
  return moves ? maker_of(s, t->args[0]) : found;
}

/* An integer of the launch that is not known to be a multiple of 16. */
static bool is_odd_number(const shared_estimate *s, int slot) {
  const tk_program *p = s->program;
  const tk_type *t = &s->slots.items[slot];
  if (t->ptr || !tk_is_int((tk_dtype)t->elem)) return false;
  for (size_t i = 0; i < p->nparams; i++)
    if (p->params[i].slot == slot) return p->params[i].divisor < 16;
  return false;
}

static size_t block_bytes(const shared_estimate *s, int slot) {
  const tk_type *t = &s->slots.items[slot];
  return (size_t)tk_numel(t) * tk_lane_size(t);
}

/* ---- loops -------------------------------------------------------------- */

/* The number that a slot holds whatever is launched. */
static bool known_number(const shared_estimate *s, int slot, int64_t *out) {
  size_t i = maker_of(s, slot);
  const shared_step *t = i < s->steps.n ? &s->steps.items[i] : NULL;
  int64_t a, b = 0;
  if (!t || s->slots.items[slot].rank) return false;
  if (t->in->op == TK_I_CONST) {
    *out = (int64_t)(int32_t)tk_const_bits(t->in);
    return true;
  }
  if (t->in->op == TK_I_CAST) return known_number(s, t->args[0], out);
  if (t->in->op != TK_I_BINARY || !known_number(s, t->args[0], &a) ||
      !known_number(s, t->args[1], &b))
    return false;
  switch ((tk_binary)t->in->mode) {
  case TK_B_ADD: *out = a + b; return true;
  case TK_B_SUB: *out = a - b; return true;
  case TK_B_MUL: *out = a * b; return true;
  case TK_B_DIV: *out = b ? a / b : 0; return b != 0;
  case TK_B_MIN: *out = a < b ? a : b; return true;
  case TK_B_MAX: *out = a > b ? a : b; return true;
  default: return false;
  }
}

/* Whether a loop that counts may have a second trip: one with a single trip is
 * no loop for the compiler. */
static bool goes_round(const shared_estimate *s, const shared_loop *l) {
  int64_t lb, ub, step;
  if (!l->st || l->st->kind != TK_S_FOR) return false;
  return !known_number(s, l->st->lb + l->base, &lb) ||
         !known_number(s, l->st->ub + l->base, &ub) ||
         !known_number(s, l->st->step + l->base, &step) || ub - lb > step;
}

/* ---- products ----------------------------------------------------------- */

/* Whether four warps multiply together, out of shared memory. */
static bool is_wgmma(const shared_estimate *s, const shared_step *dot) {
  const tk_type *left = &s->slots.items[dot->args[0]];
  const tk_type *right = &s->slots.items[dot->args[1]];
  bool exact = left->elem == TK_FP32 && tk_dot_precision(dot->in) == TK_P_IEEE;
  return s->arch / 10 == 9 && left->elem != TK_FP64 && !exact &&
         left->rank == 2 && left->shape[0] % 64 == 0 &&
         right->shape[1] % 8 == 0 &&
         s->program->options[TK_LAUNCH_NUM_WARPS] % 4 == 0;
}

/* Whether each thread multiplies on its own: fp32 kept exact. */
static bool is_fma(const shared_estimate *s, const shared_step *dot) {
  return s->slots.items[dot->args[0]].elem == TK_FP32 &&
         tk_dot_precision(dot->in) == TK_P_IEEE;
}

/* Copies go four bytes at a time at least: narrower lanes need neighbours of
 * which is known that they lie side by side and are masked alike. */
static bool is_fetched_ahead(const shared_estimate *s, const shared_step *t) {
  if (!step_is(t, TK_I_LOAD) || !t->in->type.rank) return false;
  if (tk_lane_size(&t->in->type) >= 4) return true;
  memset(s->way, 0, s->slots.n);
  for (int k = 0; k < t->nargs; k++) follow_back(s, t->args[k], s->way);
  for (size_t i = 0; i < s->slots.n; i++)
    if (s->way[i] && is_odd_number(s, (int)i)) return false;
  return true;
}

/* Whether step i, a load, is an operand of a product by wgmma.  *turned: but
 * one that is turned in registers first, as right operands of bytes are. */
static bool feeds_wgmma(const shared_estimate *s, size_t i, bool *turned) {
  *turned = false;
  for (size_t j = 0; j < s->steps.n; j++) {
    const shared_step *t = &s->steps.items[j];
    if (!step_is(t, TK_I_DOT) || t->loop != s->steps.items[i].loop) continue;
    for (int k = 0; k < 2; k++) {
      if (!is_wgmma(s, t) || maker_of(s, t->args[k]) != i) continue;
      *turned = k == 1 && tk_lane_size(&s->slots.items[t->args[1]]) == 1;
      return true;
    }
  }
  return false;
}

/* How many trips' worth of step i, a load that the products of its loop need,
 * are there at once; 0: it is not fetched ahead. */
static int64_t copies_of(const shared_estimate *s, size_t i) {
  const shared_step *t = &s->steps.items[i];
  const shared_loop *loop = &s->loops.items[t->loop];
  if (!goes_round(s, loop) || !is_fetched_ahead(s, t)) return 0;
  int64_t stages = loop->st->loop.num_stages;
  if (!stages) stages = s->program->options[TK_LAUNCH_NUM_STAGES];
  bool turned, wgmma = feeds_wgmma(s, i, &turned);
  int64_t copies = stages - !wgmma;
  if (turned) return 0;
  return copies > 1 || wgmma ? copies : 0;
}

/* What is fetched ahead for the products of a loop. */
static size_t staged_bytes(const shared_estimate *s, int loop) {
  size_t bytes = 0;
  memset(s->used, 0, s->slots.n);
  for (size_t i = 0; i < s->steps.n; i++) {
    const shared_step *t = &s->steps.items[i];
    for (int k = 0; step_is(t, TK_I_DOT) && t->loop == loop && k < 2; k++)
      follow_back(s, t->args[k], s->used);
  }
  for (size_t i = 0; i < s->steps.n; i++) {
    const shared_step *t = &s->steps.items[i];
    if (step_is(t, TK_I_LOAD) && t->loop == loop && s->used[t->res[0]])
      bytes += block_bytes(s, t->res[0]) * (size_t)copies_of(s, i);
  }
  return bytes;
}

/* Bytes for an operand of a product beside what is fetched ahead.  *passing:
 * they are there for this product alone. */
static size_t operand_bytes(const shared_estimate *s, const shared_step *dot,
                            int slot, bool *passing) {
  size_t i = maker_of(s, slot);
  const shared_step *made = i < s->steps.n ? &s->steps.items[i] : NULL;
  bool wgmma = is_wgmma(s, dot), loaded = made && step_is(made, TK_I_LOAD);
  *passing = !loaded || !(wgmma || is_fma(s, dot));
  if (loaded && made->loop == dot->loop && copies_of(s, i)) return 0;
  bool registers = wgmma && !loaded && slot == dot->args[0];
  return registers ? 0 : block_bytes(s, slot);
}

/* Whether an earlier product of the same loop reads the same value. */
static bool counted_before(const shared_estimate *s, size_t at, int slot) {
  size_t maker = maker_of(s, slot);
  for (size_t i = 0; i < at && maker < s->steps.n; i++) {
    const shared_step *t = &s->steps.items[i];
    if (!step_is(t, TK_I_DOT) || t->loop != s->steps.items[at].loop) continue;
    for (int k = 0; k < 2; k++)
      if (maker_of(s, t->args[k]) == maker) return true;
  }
  return false;
}

/* What the products of a loop (0: of none) need at the same time. */
static size_t loop_bytes(const shared_estimate *s, int loop) {
  size_t held = loop ? staged_bytes(s, loop) : 0, most = 0;
  for (size_t i = 0; i < s->steps.n; i++) {
    const shared_step *t = &s->steps.items[i];
    if (!step_is(t, TK_I_DOT) || t->loop != loop) continue;
    size_t now = 0;
    for (int k = 0; k < 2; k++) {
      bool passing;
      size_t bytes = operand_bytes(s, t, t->args[k], &passing);
      if (passing)
        now += bytes;
      else if (!counted_before(s, i, t->args[k]))
        held += bytes;
    }
    if (now > most) most = now;
  }
  return held + most;
}

static bool is_product(const tk_inst *in) {
  return in->op == TK_I_DOT;
}

size_t tk_program_shared(tk_env *e, const tk_program *p, int arch) {
  if (!tk_program_has(p, is_product)) return 0;
  tk_arena arena;
  tk_arena_init(&arena, e);
  shared_estimate s = {.program = p, .arch = arch, .arena = &arena};
  shared_loop none = {NULL, 0};
  size_t most = 0;
  TK_PUSH(&arena, &s.loops, none);
  expand_func(&s, p->kernel, NULL, NULL, 0);
  s.way = TK_NEWN(&arena, bool, s.slots.n + 1);
  s.used = TK_NEWN(&arena, bool, s.slots.n + 1);
  for (size_t i = 0; i < s.loops.n; i++) {
    size_t n = loop_bytes(&s, (int)i);
    if (n > most) most = n;
  }
  tk_arena_free(&arena);
  return most;
}
