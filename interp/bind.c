/* bind.c - a table of what runs each instruction of a program. */
#include "interp/bind.h"

static const tki_run runs[TK_INST_COUNT] = {
#define INST(id, name, effect, lanes, flops, results, doc) tki_run_##id,
#include "ir/inst.def"
};

typedef void (*tki_choice)(tki_op *op, const tk_func *f);
static const tki_choice choices[TK_INST_COUNT] = {
    [TK_I_ADDPTR] = tki_bind_ADDPTR,   [TK_I_CAST] = tki_bind_CAST,
    [TK_I_UNARY] = tki_bind_UNARY,     [TK_I_BINARY] = tki_bind_BINARY,
    [TK_I_COMPARE] = tki_bind_COMPARE, [TK_I_EXTERN] = tki_bind_EXTERN,
    [TK_I_REDUCE] = tki_bind_REDUCE,   [TK_I_SCAN] = tki_bind_SCAN,
};

/* Whether a later instruction is the only user of a slot and can take a
 * column or row in place of the block. */
static bool takes_part(const tk_insts *l, size_t from, int slot) {
  for (size_t i = from; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    for (int k = 0; k < in->nargs; k++)
      if (in->args[k] == slot)
        return (in->op == TK_I_BINARY || in->op == TK_I_COMPARE) &&
               in->type.rank == 2 && in->kill >> k & 1;
  }
  return false;
}

/* A broadcast to two axes that only feeds an operation lane by lane is not
 * carried out: the operation goes row by row. */
static tki_part fuse(const tk_at *at, const tk_inst *in) {
  bool two = in->op == TK_I_BROADCAST && in->from.rank == 2;
  if (!two || !takes_part(at->list, at->index + 1, in->res[0]))
    return TKI_WHOLE;
  bool column = in->from.shape[1] == 1, row = in->from.shape[0] == 1;
  if (column == row || in->type.shape[1] < 8) return TKI_WHOLE;
  return column ? TKI_COLUMN : TKI_ROW;
}

typedef struct binding {
  tki_op *code;
  const tki_settled *settled;
  bool device;
} binding;

static bool is_settled(const binding *b, const tk_inst *in) {
  return b->settled && b->settled->is[in->id];
}

static uint32_t next_unsettled(const binding *b, const tk_at *at) {
  const tk_insts *l = at->list;
  size_t i = at->index + 1;
  while (i < l->n && is_settled(b, l->items[i])) i++;
  return i < l->n ? l->items[i]->id - l->items[at->index]->id : 0;
}

static bool bind_inst(void *ud, const tk_at *at, const tk_inst *in) {
  const binding *b = ud;
  tki_op *op = b->code + in->id;
  TK_ASSERT(!op->in && runs[in->op]);
  *op = (tki_op){.in = in,
                 .run = runs[in->op],
                 .kill = b->settled ? b->settled->kill[in->id] : in->kill,
                 .next = next_unsettled(b, at),
                 .settled = is_settled(b, in),
                 .part = fuse(at, in)};
  if (choices[in->op]) choices[in->op](op, at->func);
  if (b->device) tki_bind_device(op);
  return true;
}

tki_op *tki_bind(tk_arena *a, const tk_program *p, const tki_settled *s,
                 bool device) {
  binding b = {TK_NEWN(a, tki_op, p->ninsts + 1), s, device};
  tk_walk_program(p, &(tk_walk){.ud = &b, .inst = bind_inst});
  return b.code;
}
