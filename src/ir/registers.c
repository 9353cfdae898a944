/* registers.c - the registers that a thread of a compiled kernel would need.
 *
 * What counts is data: blocks that were loaded, and what was computed from
 * them.  Each thread holds its part of every such block that is needed later.
 * Offsets, masks and constants are made again where they are used, and
 * operands of products that were loaded for them lie in shared memory.
 *
 * Steps that take their operands lane by lane need them one after the other,
 * and a compiler moves loads to where they are used; so it is not the sum that
 * counts there but a little less.  At a step that mixes lanes, and in a loop,
 * a few registers are needed beside the data.  The two numbers were measured
 * with Triton 3.6 and ptxas for sm_90.
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

static bool reads_memory(const tk_flat_step *t) {
  return tk_flat_is(t, TK_I_LOAD) || tk_flat_is(t, TK_I_ATOMIC) ||
         tk_flat_is(t, TK_I_CAS) || tk_flat_is(t, TK_I_DOT);
}

/* Marks what is loaded and all that is made of it. */
static void find_data(pressure *x) {
  for (bool grew = true; grew;) {
    grew = false;
    tk_check_interrupt(x->flat.arena->env);
    for (size_t i = 0; i < x->flat.steps.n; i++) {
      const tk_flat_step *t = &x->flat.steps.items[i];
      bool data = reads_memory(t);
      for (int k = 0; k < t->nargs; k++) data |= x->data[t->args[k]];
      for (int k = 0; data && k < t->nres; k++) {
        grew |= !x->data[t->res[k]];
        x->data[t->res[k]] = true;
      }
    }
  }
}

static void find_last_uses(pressure *x) {
  for (size_t i = 0; i < x->flat.steps.n; i++)
    for (int k = 0; k < x->flat.steps.items[i].nargs; k++)
      x->to[x->flat.steps.items[i].args[k]] = i;
}

/* Takes away what is loaded for products alone. */
static void leave_out_operands(pressure *x) {
  for (size_t i = 0; i < x->flat.steps.n; i++) {
    const tk_flat_step *load = &x->flat.steps.items[i];
    bool alone = tk_flat_is(load, TK_I_LOAD), used = false;
    int slot = alone ? load->res[0] : 0;
    for (size_t j = i + 1; alone && j <= x->to[slot]; j++) {
      tk_check_interrupt(x->flat.arena->env);
      const tk_flat_step *t = &x->flat.steps.items[j];
      for (int k = 0; k < t->nargs; k++) {
        if (t->args[k] != slot) continue;
        used = tk_flat_is(t, TK_I_DOT) && k < 2;
        if (tk_flat_is(t, TK_I_COPY) || tk_flat_is(t, TK_I_PERMUTE) || !t->in) {
          x->data[slot] = false;
          slot = t->res[0];
        } else if (!used) {
          alone = false;
        }
      }
    }
    if (alone && used) x->data[slot] = false;
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

int tk_program_registers(tk_arena *a, const tk_program *p) {
  pressure x = {.flat = tk_flat_new(a, p)};
  size_t n = x.flat.slots.n + 1;
  x.threads = 32 * (int)p->options[TK_LAUNCH_NUM_WARPS];
  x.data = TK_NEWN(a, bool, n);
  x.from = TK_NEWN(a, size_t, n);
  x.to = TK_NEWN(a, size_t, n);
  find_data(&x);
  find_last_uses(&x);
  leave_out_operands(&x);
  find_lives(&x);
  share_registers(&x);
  int64_t most = 0, live = 0, plain = 0;
  int64_t *change = TK_NEWN(a, int64_t, x.flat.steps.n + 2);
  for (size_t slot = 0; slot + 1 < n; slot++)
    if (x.data[slot] && x.to[slot] > x.from[slot]) {
      change[x.from[slot]] += registers_of(&x, (int)slot);
      change[x.to[slot]] -= registers_of(&x, (int)slot);
    }
  for (size_t i = 0; i < x.flat.steps.n; i++) {
    const tk_flat_step *t = &x.flat.steps.items[i];
    live += change[i];
    if (live > plain) plain = live;
    if ((t->loop || mixes_lanes(t)) && live > most) most = live;
  }
  plain = plain * 15 / 16;
  most += BESIDE;
  return (int)(most > plain ? most : plain);
}

int tk_most_registers(const tk_program *p) {
  int64_t most = p->options[TK_LAUNCH_MAXNREG];
  if (!most) most = OF_BLOCK / (32 * p->options[TK_LAUNCH_NUM_WARPS]);
  return most < OF_THREAD ? (int)most : OF_THREAD;
}
