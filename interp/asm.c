/* asm.c - runs inline assembly: for every `pack` lanes, the registers are
 * filled, the instructions done one after the other, the outputs taken.
 *
 * One thread runs everything: its lane, warp and thread numbers are 0, and
 * its block is the program.  Clocks count what the run has done, so that they
 * grow and are the same each time.
 */
#include "interp/bind.h"
#include "interp/interp.h"
#include "ptx/number.h"

#include <string.h>

typedef struct machine {
  tki *t;
  const tk_asm *code;
  uint64_t *regs;
  bool carry;
  uint64_t steps;
} machine;

/* ---- operands ---------------------------------------------------------- */

static uint64_t special_register(const machine *m, const tk_asm_arg *a) {
  uint64_t now = m->t->ops + m->steps;
  switch (a->reg) {
  case TK_AS_ctaid: return (uint64_t)m->t->pid[a->imm];
  case TK_AS_nctaid: return (uint64_t)m->t->grid[a->imm];
  case TK_AS_ntid:
  case TK_AS_nsmid: return 1;
  case TK_AS_clock:
  case TK_AS_clock64:
  case TK_AS_globaltimer:
  case TK_AS_globaltimer_lo: return now;
  case TK_AS_clock_hi:
  case TK_AS_globaltimer_hi: return now >> 32;
  default: return 0;
  }
}

static uint64_t joined(const machine *m, const tk_asm_arg *a) {
  uint64_t v = 0;
  for (int k = a->nparts; k-- > 0;)
    v = v << a->bits | (m->regs[a->parts[k]] & tkp_mask(a->bits));
  return v;
}

static uint64_t read_arg(const machine *m, const tk_asm_arg *a) {
  switch (a->kind) {
  case TK_AA_REG: return m->regs[a->reg] ^ a->inverted;
  case TK_AA_IMM: return a->imm;
  case TK_AA_VECTOR: return joined(m, a);
  default: return special_register(m, a);
  }
}

static void write_parts(machine *m, const tk_asm_arg *a, uint64_t v) {
  for (int k = 0; k < a->nparts; k++, v >>= a->bits)
    if (a->parts[k] >= 0) m->regs[a->parts[k]] = v & tkp_mask(a->bits);
}

/* A register that is wider than the result takes its sign. */
static void write_arg(machine *m, const tk_asm_inst *in, const tk_asm_arg *a,
                      uint64_t v) {
  const tk_asm_type_info *t = &tk_asm_types[in->type];
  bool wider = in->op == TK_AO_CVT && a->bits > t->bits && t->part == in->type;
  if (a->kind == TK_AA_VECTOR) write_parts(m, a, v);
  if (a->kind != TK_AA_REG) return;
  if (wider) {
    v &= tkp_mask(t->bits);
    if (t->kind == 's') v = (uint64_t)tkp_signed(v, t->bits);
  }
  m->regs[a->reg] = v & tkp_mask(a->bits);
}

/* ---- instructions ------------------------------------------------------ */

static void write_predicate(machine *m, const tkp_step *s) {
  const tk_asm_arg *a = &s->in->args[0];
  bool other, p = tkp_predicate(s, s->type, &other);
  if (a->kind == TK_AA_REG) m->regs[a->reg] = p;
  if (a->second >= 0) m->regs[a->second] = other;
}

/* ---- memory ------------------------------------------------------------ */

enum { READS = 1, WRITES = 2 };

/* Returns the memory of [reg + imm], size bytes; observers are told of it. */
static char *memory_at(machine *m, const tk_asm_arg *a, size_t size, int what,
                       const void *value) {
  uint64_t at = m->regs[a->reg] + a->imm;
  tki_access x = {.t = m->t,
                  .in = m->t->frame->inst,
                  .addr = &at,
                  .n = 1,
                  .size = size,
                  .region = TKI_ANY,
                  .read = what & READS,
                  .write = what & WRITES,
                  .verb = what & WRITES ? "store" : "load",
                  .value = value,
                  .step = 0};
  char *p = tki_access_memory(&x);
  if (TK_UNLIKELY(m->t->wants_writes)) tki_tell_access(m->t, &x);
  return p;
}

static int parts_of(const tk_asm_inst *in) {
  return tk_asm_has(in, TK_AM_v4) ? 4 : tk_asm_has(in, TK_AM_v2) ? 2 : 1;
}

/* A signed number fills a wider register with its sign. */
static void asm_load(machine *m, const tk_asm_inst *in) {
  const tk_asm_arg *d = &in->args[0];
  unsigned bits = tkp_bits(in->type);
  int n = parts_of(in);
  char *p = memory_at(m, &in->args[1], (size_t)n * bits / 8, READS, NULL);
  for (int k = 0; k < n; k++) {
    uint64_t v = 0;
    int reg = d->kind == TK_AA_VECTOR ? d->parts[k]
              : d->kind == TK_AA_REG  ? d->reg
                                      : -1;
    memcpy(&v, p + (size_t)k * bits / 8, bits / 8);
    if (tk_asm_types[in->type].kind == 's')
      v = (uint64_t)tkp_signed(v, bits) & tkp_mask(d->bits);
    if (reg >= 0) m->regs[reg] = v;
  }
}

static void asm_store(machine *m, const tk_asm_inst *in) {
  const tk_asm_arg *s = &in->args[1];
  unsigned bits = tkp_bits(in->type);
  uint64_t values[4] = {0};
  int n = parts_of(in);
  char *packed = (char *)values;
  for (int k = 0; k < n; k++) {
    uint64_t v =
        s->kind == TK_AA_VECTOR ? m->regs[s->parts[k]] : read_arg(m, s);
    memcpy(packed + (size_t)k * bits / 8, &v, bits / 8);
  }
  size_t size = (size_t)n * bits / 8;
  memcpy(memory_at(m, &in->args[0], size, WRITES, packed), packed, size);
}

static void asm_atomic(machine *m, const tk_asm_inst *in, tkp_step *s) {
  int at = in->op == TK_AO_ATOM;
  unsigned bits = tkp_bits(in->type);
  for (int k = at + 1; k < in->nargs; k++)
    s->v[++s->n] = read_arg(m, &in->args[k]);
  s->n++;
  char *p = memory_at(m, &in->args[at], bits / 8, READS | WRITES, &s->v[1]);
  memcpy(&s->v[0], p, bits / 8);
  uint64_t v = tkp_atomic(s);
  memcpy(p, &v, bits / 8);
  if (at) write_arg(m, in, &in->args[0], s->v[0]);
}

static bool touch_memory(machine *m, const tk_asm_inst *in, tkp_step *s) {
  switch (in->op) {
  case TK_AO_LD: asm_load(m, in); return true;
  case TK_AO_ST: asm_store(m, in); return true;
  case TK_AO_ATOM:
  case TK_AO_RED: asm_atomic(m, in, s); return true;
  default: return false;
  }
}

static bool has_dest(int op) {
  return op != TK_AO_NANOSLEEP && op != TK_AO_MEMBAR && op != TK_AO_FENCE &&
         op != TK_AO_BAR;
}

static void run_step(machine *m, const tk_asm_inst *in) {
  tkp_step s = {
      .in = in, .type = tk_asm_types[in->type].part, .carry = &m->carry};
  m->steps++;
  if (in->guard >= 0 && (m->regs[in->guard] & 1) == in->guard_not) return;
  if (!has_dest(in->op) || touch_memory(m, in, &s)) return;
  for (int k = 1; k < in->nargs; k++) s.v[s.n++] = read_arg(m, &in->args[k]);
  if (in->op == TK_AO_SETP)
    write_predicate(m, &s);
  else
    write_arg(m, in, &in->args[0], tkp_result(&s));
}

/* ---- lanes ------------------------------------------------------------- */

/* The lanes of an operand or result, and how they share registers. */
typedef struct port {
  const char *from; /* of an operand */
  char *to;         /* of a result, or NULL */
  size_t n, size;   /* lanes, bytes of each */
  unsigned bits;
  int per, nregs;
} port;

static port port_of(const machine *m, const tk_type *t) {
  int pack = m->code->pack;
  port p = {NULL, NULL, (size_t)tk_numel(t), tk_lane_size(t), 0, 1, 0};
  p.bits = t->ptr ? 64 : tk_dtypes[t->elem].bits;
  if (p.bits < 32)
    p.per = (int)(32 / p.bits) < pack ? (int)(32 / p.bits) : pack;
  p.nregs = pack / p.per;
  return p;
}

/* Lanes beyond the last read as 0. */
static uint64_t gather(const port *p, size_t at) {
  uint64_t v = 0;
  for (int k = 0; k < p->per && at + (size_t)k < p->n; k++) {
    uint64_t lane = 0;
    memcpy(&lane, p->from + (at + (size_t)k) * p->size, p->size);
    v |= lane << ((unsigned)k * p->bits);
  }
  return v;
}

static void scatter(const port *p, size_t at, uint64_t v) {
  for (int k = 0; k < p->per && at + (size_t)k < p->n; k++) {
    uint64_t lane = v >> ((unsigned)k * p->bits) & tkp_mask(p->bits);
    memcpy(p->to + (at + (size_t)k) * p->size, &lane, p->size);
  }
}

static void run_group(machine *m, const port *in, size_t nin, const port *out,
                      size_t nout, size_t at) {
  const tk_asm *c = m->code;
  memset(m->regs, 0, (size_t)c->nregs * sizeof *m->regs);
  int r = c->nout;
  for (size_t i = 0; i < nin; i++)
    for (int k = 0; k < in[i].nregs; k++, r++)
      m->regs[c->operands[r].reg] =
          gather(&in[i], at + (size_t)(k * in[i].per));
  m->carry = false;
  for (size_t i = 0; i < c->insts.n; i++) run_step(m, &c->insts.items[i]);
  r = 0;
  for (size_t i = 0; i < nout; i++)
    for (int k = 0; k < out[i].nregs; k++, r++)
      scatter(&out[i], at + (size_t)(k * out[i].per), m->regs[r]);
}

/* Whether the code makes the threads of the program wait for each other. */
static bool has_barrier(const tk_asm *c) {
  for (size_t i = 0; i < c->insts.n; i++) {
    const tk_asm_inst *in = &c->insts.items[i];
    if (in->op == TK_AO_BAR && in->guard < 0 && !tk_asm_has(in, TK_AM_warp))
      return true;
  }
  return false;
}

void tki_run_ASM(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  const tk_slot *slots = t->frame->func->slots;
  machine m = {.t = t, .code = tk_asm_code(in)};
  size_t ports = (size_t)in->nargs + in->nres;
  size_t bytes = (size_t)m.code->nregs * sizeof *m.regs;
  port *p = tki_scratch_new(t, ports * (sizeof *p + sizeof(tki_val)));
  tki_val *res = (tki_val *)(void *)(p + ports);
  m.regs = tki_scratch_new(t, bytes + 1);
  for (int i = 0; i < in->nres; i++) {
    const tk_type *type = &slots[in->res[i]].type;
    res[i] = tki_val_new(t, type, (size_t)in->n);
    p[i] = port_of(&m, type);
    p[i].to = tki_writable(&res[i]);
  }
  for (int i = 0; i < in->nargs; i++) {
    port *x = &p[in->nres + i];
    *x = port_of(&m, &slots[in->args[i]].type);
    x->from = tki_lanes(&frame[in->args[i]]);
  }
  for (size_t at = 0; at < (size_t)in->n; at += (size_t)m.code->pack)
    run_group(&m, p + in->nres, in->nargs, p, in->nres, at);
  for (int i = 0; i < in->nres; i++) tki_set(t, &frame[in->res[i]], res[i]);
  tki_scratch_free(t, m.regs);
  tki_scratch_free(t, p);
  if (TK_UNLIKELY(t->wants_writes) && has_barrier(m.code))
    tki_tell_barrier(t, in);
}
