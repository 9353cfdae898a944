/* settled.c - what is the same whenever a function runs. */
#include "interp/settled.h"

#include "interp/bind.h"
#include "interp/interp.h"

/* ---- which instructions -------------------------------------------------- */

/* Blocks that are larger are computed where they are needed: settled values
 * take memory as long as the run lasts. */
enum { LARGEST = 1 << 16 };

typedef struct settling {
  tki_settled *s;
  const tk_func *f;
  uint8_t *writers; /* by slot: how many instructions write it, at most 2 */
  uint8_t *slots;   /* by slot: it is settled */
  uint8_t *read;    /* by slot: by what is not settled */
  bool nested;      /* in the body of another statement */
} settling;

/* Whether an instruction depends on its operands alone, and cannot fail.  A
 * call does not qualify, since other programs may run during it. */
static bool is_plain_inst(const tk_inst *in) {
  const tk_inst_info *info = tk_inst_info_of((tk_opcode)in->op);
  bool by_lanes = info->lanes == TK_LANES_NONE ||
                  info->lanes == TK_LANES_SAME || info->lanes == TK_LANES_MOVES;
  return info->effect == TK_EFFECT_PURE && by_lanes && in->op != TK_I_PID;
}

static void count_writer(settling *x, int slot) {
  if (slot >= 0 && x->writers[slot] < 2) x->writers[slot]++;
}

static bool count_stmt_writer(void *ud, const tk_at *at) {
  if (at->stmt->kind == TK_S_FOR) count_writer(ud, at->stmt->iv);
  return true;
}

static bool count_inst_writers(void *ud, const tk_at *at, const tk_inst *in) {
  (void)at;
  for (size_t k = 0; k < in->nres; k++) count_writer(ud, in->res[k]);
  return true;
}

/* A variable that is assigned in one branch may share another variable's slot
 * in the other branch, or have none. */
static bool settles(const settling *x, const tk_inst *in) {
  for (size_t k = 0; k < in->nargs; k++)
    if (!x->slots[in->args[k]]) return false;
  for (size_t k = 0; k < in->nres; k++) {
    const tk_slot *slot = &x->f->slots[in->res[k]];
    if (x->writers[in->res[k]] != 1 || (slot->name && x->nested)) return false;
    if ((size_t)tk_numel(&slot->type) * tk_lane_size(&slot->type) > LARGEST)
      return false;
  }
  return in->nres && is_plain_inst(in);
}

static bool settle_inst(void *ud, const tk_at *at, const tk_inst *in) {
  settling *x = ud;
  tki_settled_func *f = &x->s->funcs[x->f->id];
  (void)at;
  if (!settles(x, in)) return true;
  x->s->is[in->id] = 1;
  f->insts[f->n++] = in;
  for (size_t k = 0; k < in->nres; k++) x->slots[in->res[k]] = 1;
  return true;
}

static bool read_stmt(void *ud, const tk_at *at) {
  settling *x = ud;
  const tk_stmt *st = at->stmt;
  bool decides = st->kind == TK_S_IF || st->kind == TK_S_WHILE;
  if (decides) x->read[st->cond] = 1;
  if (st->kind == TK_S_FOR) x->read[st->lb] = x->read[st->ub] = 1;
  if (st->kind == TK_S_FOR) x->read[st->step] = 1;
  for (size_t i = 0; i < st->nresults; i++) x->read[st->results[i]] = 1;
  return true;
}

static bool read_inst(void *ud, const tk_at *at, const tk_inst *in) {
  settling *x = ud;
  uint32_t kill = in->kill;
  (void)at;
  for (size_t k = 0; k < in->nargs; k++) {
    if (!x->s->is[in->id]) x->read[in->args[k]] = 1;
    if (k < 32 && x->slots[in->args[k]]) kill &= ~((uint32_t)1 << k);
  }
  x->s->kill[in->id] = kill;
  return true;
}

static void settle_func(tk_arena *a, tki_settled *s, const tk_func *f) {
  settling x = {s,
                f,
                TK_NEWN(a, uint8_t, f->nslots + 1),
                TK_NEWN(a, uint8_t, f->nslots + 1),
                TK_NEWN(a, uint8_t, f->nslots + 1),
                false};
  tki_settled_func *out = &s->funcs[f->id];
  tk_walk settle = {.ud = &x, .inst = settle_inst};
  out->insts = TK_NEWN(a, const tk_inst *, f->nslots + 1);
  out->slots = TK_NEWN(a, int, f->nslots + 1);
  tk_walk_func(f, &(tk_walk){&x, count_stmt_writer, count_inst_writers});
  for (size_t i = 0; f == f->program->kernel && i < f->nparams; i++)
    x.slots[f->params[i]] = !x.writers[f->params[i]];
  for (size_t i = 0; i < f->nparams; i++) x.writers[f->params[i]] = 2;
  for (size_t i = 0; i < f->body.n; i++) {
    const tk_stmt *st = f->body.items[i];
    x.nested = false;
    tk_walk_insts(f, st, &st->insts, &settle);
    x.nested = true;
    tk_walk_body(f, &st->body, &settle);
    tk_walk_body(f, &st->orelse, &settle);
  }
  tk_walk_func(f, &(tk_walk){&x, read_stmt, read_inst});
  for (size_t i = 0; i < f->nparams; i++) x.slots[f->params[i]] = 0;
  /* A scalar always counts as having a value (value.h). */
  for (size_t i = 0; i < f->nslots; i++) x.read[i] |= !f->slots[i].type.rank;
  for (size_t i = 0; i < f->nslots; i++)
    if (x.slots[i] && x.read[i]) out->slots[out->nslots++] = (int)i;
  out->nread = out->nslots;
  for (size_t i = 0; i < f->nslots; i++)
    if (x.slots[i] && !x.read[i]) out->slots[out->nslots++] = (int)i;
}

const tki_settled *tki_settled_new(tk_arena *a, const tk_program *p) {
  tki_settled *s = TK_NEW(a, tki_settled);
  s->is = TK_NEWN(a, uint8_t, p->ninsts + 1);
  s->kill = TK_NEWN(a, uint32_t, p->ninsts + 1);
  s->funcs = TK_NEWN(a, tki_settled_func, p->nfuncs + 1);
  for (size_t i = 0; i < p->nfuncs; i++) settle_func(a, s, p->funcs[i]);
  return s;
}

/* ---- their values -------------------------------------------------------- */

/* Each value has a second owner while they are computed, so that none takes the
 * memory of another one, which the program may read later. */
static tki_val *settled_values(tki *t, const tk_func *f) {
  const tki_settled_func *s = &t->settled->funcs[f->id];
  tki_val *slots = tki_scratch_zero(t, (f->nslots + 1) * sizeof *slots);
  tki_val *held = tki_scratch_zero(t, (f->nslots + 1) * sizeof *held);
  tki_val *values = tki_scratch_new(t, (s->nslots + 1) * sizeof *values);
  tki_frame frame = {.caller = t->frame, .func = f, .slots = slots};
  t->frame = &frame;
  for (size_t i = 0; f == t->program->kernel && i < f->nparams; i++)
    slots[f->params[i]] = t->params[i];
  for (size_t i = 0; i < s->n; i++) {
    const tki_op *op = &t->code[s->insts[i]->id];
    frame.inst = op->in;
    op->run(t, op, slots);
    for (size_t k = 0; k < op->in->nres; k++)
      held[op->in->res[k]] = tki_share(&slots[op->in->res[k]]);
  }
  for (size_t i = 0; i < s->nslots; i++)
    values[i] = tki_share(&slots[s->slots[i]]);
  for (size_t i = 0; i < f->nslots; i++) {
    tki_release(t, &slots[i]);
    tki_release(t, &held[i]);
  }
  t->frame = frame.caller;
  tki_scratch_free(t, held);
  tki_scratch_free(t, slots);
  return values;
}

static bool sees_every_inst(const tki_observer *o) {
  return o->begins || o->ends || ((o->before || o->after) && !o->settled);
}

void tki_settle(tki *t) {
  const tk_program *p = t->program;
  bool every = t->driver != NULL;
  for (const tki_observer *o = t->observers; o; o = o->next)
    every |= sees_every_inst(o);
  if (every) return;
  tki_val **values = tki_scratch_new(t, (p->nfuncs + 1) * sizeof *values);
  for (size_t i = 0; i < p->nfuncs; i++)
    values[i] = settled_values(t, p->funcs[i]);
  t->settled_values = values;
  if (!t->wants_insts) return;
  t->settled_told = tki_scratch_zero(t, p->ninsts + 1);
  t->idle = tki_scratch_zero(t, p->ninsts + 1);
}

bool tki_settled_is_told(tki *t, const tk_inst *in) {
  for (tki_observer *o = t->observers; o; o = o->next)
    if (o->settled && !o->settled(o->ud, t, in)) return false;
  return true;
}

void tki_settled_share(tki *t, const tk_func *f, tki_val *slots) {
  const tki_settled_func *s = &t->settled->funcs[f->id];
  const tki_val *values = t->settled_values[f->id];
  size_t n = t->settled_told ? s->nslots : s->nread;
  for (size_t i = 0; i < n; i++) slots[s->slots[i]] = tki_share(&values[i]);
}
