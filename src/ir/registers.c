/* registers.c - the registers that a thread of a compiled kernel would need.
 *
 * What counts is data: blocks that were loaded, and what was computed from
 * them.  Each thread holds its part of every such block that is needed later.
 * Offsets, masks and constants are made again where they are used, and
 * operands of products that were loaded for them lie in shared memory.
 *
 * Steps that take their operands lane by lane need them one after the other,
 * and a compiler moves loads to where they are used; so it is not the sum that
 * counts there but a little less, and what is merely reduced is never held.  At
 * a step that mixes lanes, and in a loop, a few registers are needed beside the
 * data.  The two numbers were measured with Triton 3.6 and ptxas for sm_90.
 */
#include "ir/registers.h"

#include "ir/flat.h"

enum { BESIDE = 24, OF_THREAD = 255, OF_BLOCK = 65536 };

typedef struct pressure {
  tk_flat flat;
  bool *data;        /* slots of blocks with data */
  size_t *from, *to; /* the first step that writes a slot, the last that needs
                        it */
  int threads;
} pressure;

/* Marks slots, and all that a mark is passed on to: each slot is looked at
 * once, so that values that go round in loops cost no more than others. */
typedef struct marks {
  bool *marked;
  size_t *todo, n;
} marks;

static marks no_marks(const pressure *x) {
  size_t n = x->flat.slots.n + 1;
  return (marks){.marked = TK_NEWN(x->flat.arena, bool, n),
                 .todo = TK_NEWN(x->flat.arena, size_t, n)};
}

static void mark_all(marks *m, const int *slots, int n) {
  for (int k = 0; k < n; k++) {
    if (m->marked[slots[k]]) continue;
    m->marked[slots[k]] = true;
    m->todo[m->n++] = (size_t)slots[k];
  }
}

static bool reads_memory(const tk_flat_step *t) {
  return tk_flat_is(t, TK_I_LOAD) || tk_flat_is(t, TK_I_ATOMIC) ||
         tk_flat_is(t, TK_I_CAS) || tk_flat_is(t, TK_I_DOT);
}

/* What is loaded and all that is made of it. */
static void find_data(pressure *x) {
  const tk_flat_step *steps = x->flat.steps.items;
  marks m = no_marks(x);
  for (size_t i = 0; i < x->flat.steps.n; i++)
    if (reads_memory(&steps[i])) mark_all(&m, steps[i].res, steps[i].nres);
  while (m.n) {
    size_t slot = m.todo[--m.n];
    tk_check_interrupt(x->flat.arena->env);
    for (size_t u = x->flat.readers.at[slot]; u < x->flat.readers.at[slot + 1];
         u++) {
      const tk_flat_step *t = &steps[x->flat.readers.steps[u]];
      mark_all(&m, t->res, t->nres);
    }
  }
  x->data = m.marked;
}

static void find_last_uses(pressure *x) {
  for (size_t i = 0; i < x->flat.steps.n; i++)
    for (int k = 0; k < x->flat.steps.items[i].nargs; k++)
      x->to[x->flat.steps.items[i].args[k]] = i;
}

/* Takes away what is loaded for products alone: each reader is one, or hands
 * the block on to what is read in its place from there. */
static void leave_out_operand(pressure *x, size_t load) {
  const tk_flat_step *steps = x->flat.steps.items;
  const tk_links *l = &x->flat.readers;
  int slot = steps[load].res[0];
  bool used = false;
  size_t from = load;
  for (size_t u = l->at[slot]; u < l->at[slot + 1]; u++) {
    const tk_flat_step *t = &steps[l->steps[u]];
    if (l->steps[u] <= from) continue;
    bool moves =
        !t->in || tk_flat_is(t, TK_I_COPY) || tk_flat_is(t, TK_I_PERMUTE);
    used = tk_flat_is(t, TK_I_DOT) && (t->nargs < 3 || t->args[2] != slot);
    if (!used && !moves) return;
    if (!moves) continue;
    x->data[slot] = false;
    from = l->steps[u];
    slot = t->res[0];
    u = l->at[slot] - 1;
  }
  if (used) x->data[slot] = false;
}

static void leave_out_operands(pressure *x) {
  for (size_t i = 0; i < x->flat.steps.n; i++) {
    tk_check_interrupt(x->flat.arena->env);
    if (tk_flat_is(&x->flat.steps.items[i], TK_I_LOAD)) leave_out_operand(x, i);
  }
}

/* A slot that a loop needs and that was written before it, or in its last
 * trip, is needed until the loop ends. */
static void find_lives(pressure *x) {
  const tk_flat *f = &x->flat;
  for (size_t i = f->steps.n; i-- > 0;) {
    const tk_flat_step *t = &f->steps.items[i];
    for (int k = 0; k < t->nres; k++) x->from[t->res[k]] = i;
  }
  for (size_t l = f->loops.n; l-- > 1;) {
    const tk_flat_loop *loop = &f->loops.items[l];
    for (size_t i = loop->from; i < loop->to; i++) {
      const tk_flat_step *t = &f->steps.items[i];
      for (int k = 0; k < t->nargs; k++)
        if (x->from[t->args[k]] < loop->from && x->to[t->args[k]] < loop->to)
          x->to[t->args[k]] = loop->to;
    }
  }
}

/* A value that only a copy needs is in the variable's registers from the start,
 * and the result of a product in a loop in those of the sum. */
static void share_registers(pressure *x) {
  for (size_t i = 0; i < x->flat.steps.n; i++) {
    const tk_flat_step *t = &x->flat.steps.items[i];
    bool copies = !t->in || tk_flat_is(t, TK_I_COPY);
    if (copies && x->to[t->args[0]] == i) x->data[t->args[0]] = false;
    if (tk_flat_is(t, TK_I_DOT) && t->loop && x->from[t->res[0]] == i)
      x->data[t->res[0]] = false;
  }
}

/* Registers of a thread for its part of a block. */
static int64_t registers_of(const pressure *x, int slot) {
  const tk_type *t = &x->flat.slots.items[slot];
  if (!t->rank || (!t->ptr && t->elem == TK_INT1)) return 0;
  int64_t bytes = tk_numel(t) * (int64_t)tk_lane_size(t);
  return bytes / 4 / x->threads;
}

/* Whether no lane of the result is known before all operands are there. */
static bool mixes_lanes(const tk_flat_step *t) {
  return t->in &&
         (t->in->op == TK_I_DOT || tk_inst_has_axis((tk_opcode)t->in->op));
}

static bool reduces(const tk_flat_step *t) {
  return tk_flat_is(t, TK_I_REDUCE) || tk_flat_is(t, TK_I_REDUCE_FN);
}

/* Whether a step of lanes makes what is used, and not for its results alone. */
static bool holds_operands(const pressure *x, const tk_flat_step *t) {
  if (!t->nres || mixes_lanes(t)) return true;
  for (int k = 0; k < t->nres; k++)
    if (!x->to[t->res[k]]) return true;
  return false;
}

/* A compiler reads what is only summed piece by piece: it need not be held.
 * What is kept is the operands of every step but a reduction whose results are
 * kept, or that needs all of them at once. */
static void leave_out_streams(pressure *x) {
  const tk_flat_step *steps = x->flat.steps.items;
  marks m = no_marks(x);
  for (size_t i = 0; i < x->flat.steps.n; i++)
    if (!reduces(&steps[i]) && holds_operands(x, &steps[i]))
      mark_all(&m, steps[i].args, steps[i].nargs);
  while (m.n) {
    size_t slot = m.todo[--m.n];
    tk_check_interrupt(x->flat.arena->env);
    for (size_t u = x->flat.writers.at[slot]; u < x->flat.writers.at[slot + 1];
         u++) {
      const tk_flat_step *t = &steps[x->flat.writers.steps[u]];
      if (!reduces(t)) mark_all(&m, t->args, t->nargs);
    }
  }
  for (size_t slot = 0; slot < x->flat.slots.n; slot++)
    x->data[slot] &= m.marked[slot];
}

static pressure weighed(tk_arena *a, const tk_program *p) {
  pressure x = {.flat = tk_flat_new(a, p)};
  size_t n = x.flat.slots.n + 1;
  x.threads = 32 * (int)p->options[TK_LAUNCH_NUM_WARPS];
  x.from = TK_NEWN(a, size_t, n);
  x.to = TK_NEWN(a, size_t, n);
  find_data(&x);
  find_last_uses(&x);
  leave_out_streams(&x);
  leave_out_operands(&x);
  find_lives(&x);
  share_registers(&x);
  return x;
}

static bool is_held(const pressure *x, size_t slot) {
  return x->data[slot] && x->to[slot] > x->from[slot];
}

static int estimate(const pressure *x) {
  int64_t most = 0, live = 0, plain = 0;
  int64_t *change = TK_NEWN(x->flat.arena, int64_t, x->flat.steps.n + 2);
  for (size_t slot = 0; slot < x->flat.slots.n; slot++)
    if (is_held(x, slot)) {
      change[x->from[slot]] += registers_of(x, (int)slot);
      change[x->to[slot]] -= registers_of(x, (int)slot);
    }
  for (size_t i = 0; i < x->flat.steps.n; i++) {
    const tk_flat_step *t = &x->flat.steps.items[i];
    live += change[i];
    if (live > plain) plain = live;
    if ((t->loop || mixes_lanes(t)) && live > most) most = live;
  }
  plain = plain * 15 / 16;
  most += BESIDE;
  return (int)(most > plain ? most : plain);
}

int tk_program_registers(tk_arena *a, const tk_program *p) {
  pressure x = weighed(a, p);
  return estimate(&x);
}

/* Registers of the sums that products in a loop add to: they are in use all the
 * time, and nowhere else. */
static int64_t summed_in_loops(const pressure *x) {
  int64_t most = 0;
  for (size_t i = 0; i < x->flat.steps.n; i++) {
    const tk_flat_step *t = &x->flat.steps.items[i];
    if (!t->loop || !tk_flat_is(t, TK_I_DOT)) continue;
    int64_t n = registers_of(x, t->res[0]);
    if (n > most) most = n;
  }
  return most;
}

int tk_program_overflow(tk_arena *a, const tk_program *p) {
  pressure x = weighed(a, p);
  int most = tk_most_registers(p), n = estimate(&x);
  bool sure = most == OF_THREAD && n >= 2 * most;
  return sure || summed_in_loops(&x) > most ? n : 0;
}

int tk_most_registers(const tk_program *p) {
  int64_t most = p->options[TK_LAUNCH_MAXNREG];
  if (!most) most = OF_BLOCK / (32 * p->options[TK_LAUNCH_NUM_WARPS]);
  return most < OF_THREAD ? (int)most : OF_THREAD;
}
