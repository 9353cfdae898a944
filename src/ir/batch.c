/* batch.c - some programs of a launch as one; see batch.h. */
#include "ir/batch.h"

#include <string.h>

typedef struct batcher {
  const tk_varying *v;
  int size;
  tk_program *to;
  const tk_func *f; /* the function that is done, and what becomes of it */
  tk_func *g;
  const bool *varies; /* its slots that do */
  tk_insts *list;     /* to which instructions are added */
  tk_span span;       /* of what they are made for */
} batcher;

/* ---- types and slots ----------------------------------------------------- */

/* The type with the batch's axis before its own. */
static tk_type with_axis(tk_type t, int lanes) {
  TK_ASSERT(t.rank < TK_MAX_RANK);
  for (int i = t.rank; i > 0; i--) t.shape[i] = t.shape[i - 1];
  t.shape[0] = lanes;
  t.rank++;
  return t;
}

static tk_type type_of(const batcher *b, int slot) {
  return b->g->slots[slot].type;
}

/* Slots keep their numbers; new ones come after them. */
static bool is_batched(const batcher *b, int slot) {
  return (size_t)slot < b->f->nslots && b->varies[slot];
}

static int new_slot(batcher *b, tk_type t) {
  return tk_slot_new(b->to, b->g, t, NULL);
}

/* ---- instructions -------------------------------------------------------- */

static tk_inst *emit(batcher *b, tk_opcode op, tk_type t, size_t nargs,
                     size_t nres) {
  tk_inst *in = tk_inst_new(b->to, op, nargs, nres);
  in->type = t;
  in->n = tk_numel(&t);
  in->span = b->span;
  TK_PUSH(&b->to->arena, b->list, in);
  return in;
}

/* One that takes a value and gives one, of which `into` says where to; -1: in a
 * new slot, which is returned. */
static int emit_move(batcher *b, tk_opcode op, tk_type t, int slot, int into) {
  tk_inst *in = emit(b, op, t, 1, 1);
  in->args[0] = slot;
  in->from = type_of(b, slot);
  in->res[0] = into < 0 ? new_slot(b, t) : into;
  return in->res[0];
}

/* Gives a value the lanes of a whole batch, and of a shape of which it is one
 * lane, or that it has. */
static int spread(batcher *b, int slot, bool batched, const tk_type *shape,
                  int into) {
  tk_type own = type_of(b, slot);
  int rank = own.rank - batched;
  tk_type whole = with_axis(tk_with_shape(own, shape), b->size);
  if (batched && rank == shape->rank && into < 0) return slot;
  if (!batched && !rank) return emit_move(b, TK_I_BROADCAST, whole, slot, into);
  tk_type thin = whole;
  thin.shape[0] = batched ? b->size : 1;
  for (int i = 1; i < thin.rank && !rank; i++) thin.shape[i] = 1;
  if (!tk_same_shape(&thin, &own))
    slot = emit_move(b, TK_I_COPY, thin, slot, -1);
  if (tk_same_shape(&thin, &whole) && into < 0) return slot;
  return emit_move(b, TK_I_BROADCAST, whole, slot, into);
}

/* ---- one way for all programs -------------------------------------------- */

static void assert_all(batcher *b, int condition) {
  tk_type t = type_of(b, condition);
  tk_format *said = TK_NEW(&b->to->arena, tk_format);
  for (int i = 0; i < 3; i++) said->pid_slots[i] = -1;
  tk_inst *in = emit(b, TK_I_ASSERT, t, 1, 0);
  in->args[0] = condition;
  in->from = t;
  in->ref.format = said;
}

/* The scalar that a value is for every program; an assertion says that it is.
 */
static int agreed(batcher *b, int slot) {
  if (!is_batched(b, slot)) return slot;
  tk_type all = type_of(b, slot), one = all, each = tk_scalar(TK_INT1);
  TK_ASSERT(all.rank == 1);
  one.shape[0] = 1;
  tk_inst *first = emit(b, TK_I_SLICE, one, 1, 1);
  first->args[0] = slot;
  first->from = all;
  first->attr[2] = 1;
  first->res[0] = new_slot(b, one);
  int it = emit_move(b, TK_I_COPY, tk_elem_of(all), first->res[0], -1);
  tk_inst *same = emit(b, TK_I_COMPARE, with_axis(each, b->size), 2, 1);
  same->mode = TK_C_EQ;
  same->args[0] = slot;
  same->args[1] = it;
  same->from = all;
  same->res[0] = new_slot(b, same->type);
  assert_all(b, same->res[0]);
  return it;
}

/* ---- what an instruction becomes ----------------------------------------- */

static void make_body(batcher *b, const tk_insts *from, tk_insts *to);

static const tk_combine *make_combine(batcher *b, const tk_combine *c) {
  tk_arena *a = &b->to->arena;
  tk_combine *made = TK_NEW(a, tk_combine);
  made->nlevels = c->nlevels;
  made->levels = TK_NEWN(a, tk_func *, (size_t)c->nlevels + 1);
  for (int i = 0; i < c->nlevels; i++)
    made->levels[i] = b->to->funcs[c->levels[i]->id];
  return made;
}

static void make_reference(batcher *b, const tk_inst *in, tk_inst *made) {
  switch (tk_inst_info_of((tk_opcode)in->op)->ref) {
  case TK_REF_CALLEE:
    made->ref.callee = b->to->funcs[in->ref.callee->id];
    return;
  case TK_REF_COMBINE:
    made->ref.combine = make_combine(b, in->ref.combine);
    return;
  default: made->ref = in->ref; return;
  }
}

/* The instruction as it is, with no operands as yet and no results. */
static tk_inst *copy_inst(batcher *b, const tk_inst *in, tk_type t) {
  tk_inst *made = emit(b, (tk_opcode)in->op, t, in->nargs, in->nres);
  made->mode = in->mode;
  made->has = in->has;
  memcpy(made->attr, in->attr, sizeof made->attr);
  make_reference(b, in, made);
  return made;
}

static void set_from(const batcher *b, tk_inst *made) {
  if (made->nargs) made->from = type_of(b, made->args[0]);
}

/* The type of a call is that of its first result. */
static void set_call_type(const batcher *b, tk_inst *made) {
  if (!made->nres) return;
  made->type = type_of(b, made->res[0]);
  made->n = tk_numel(&made->type);
}

/* A call, or a choice of one of two bodies.  Results that vary do in the
 * function; of others the lanes of a batch are made of a temporary. */
static void make_call(batcher *b, const tk_inst *in, const int *args) {
  const tk_varying_func *callee =
      in->op == TK_I_CALL ? &b->v->funcs[tk_call_callee(in)->id] : NULL;
  tk_inst *made = copy_inst(b, in, in->type);
  for (int k = 0; k < in->nargs; k++) made->args[k] = args[k];
  set_from(b, made);
  make_body(b, &in->body[0], &made->body[0]);
  make_body(b, &in->body[1], &made->body[1]);
  for (int k = 0; k < in->nres; k++) {
    tk_type own = b->f->slots[in->res[k]].type;
    made->res[k] = in->res[k];
    if (!callee || callee->results[k] || !is_batched(b, in->res[k])) continue;
    made->res[k] = new_slot(b, own);
    spread(b, made->res[k], false, &own, in->res[k]);
  }
  set_call_type(b, made);
}

/* Once for all programs, since it is the same for all; what varies elsewhere
 * gets its lanes from a temporary. */
static void make_once(batcher *b, const tk_inst *in) {
  tk_inst *made = copy_inst(b, in, in->type);
  for (int k = 0; k < in->nargs; k++) made->args[k] = in->args[k];
  set_from(b, made);
  for (int k = 0; k < in->nres; k++) {
    tk_type own = b->f->slots[in->res[k]].type;
    made->res[k] = in->res[k];
    if (!is_batched(b, in->res[k])) continue;
    made->res[k] = new_slot(b, own);
    spread(b, made->res[k], false, &own, in->res[k]);
  }
}

static void make_pid(batcher *b, const tk_inst *in) {
  tk_type one = tk_scalar(TK_INT32), all = with_axis(one, b->size);
  tk_inst *first = emit(b, TK_I_PID, one, 0, 1);
  first->mode = in->mode;
  first->res[0] = new_slot(b, one);
  tk_inst *count = emit(b, TK_I_ARANGE, all, 0, 1);
  count->res[0] = new_slot(b, all);
  tk_inst *sum = emit(b, TK_I_BINARY, all, 2, 1);
  sum->mode = TK_B_ADD;
  sum->args[0] = first->res[0];
  sum->args[1] = count->res[0];
  set_from(b, sum);
  sum->res[0] = in->res[0];
}

/* Whether an operand of one lane may stand for all. */
static bool may_be_one(const tk_inst *in, int at) {
  const tk_inst_info *row = tk_inst_info_of((tk_opcode)in->op);
  for (int k = 0; k < TK_OPERANDS && row->operands[k].name; k++) {
    if (tk_inst_arg(in, k) != at || row->operands[k].many) continue;
    switch (row->operands[k].kind) {
    case TK_OPERAND_SAME_OR_ONE:
    case TK_OPERAND_LANES_OR_ONE:
    case TK_OPERAND_MASK:
    case TK_OPERAND_OFFSET: return true;
    case TK_OPERAND_ANY: return in->op == TK_I_LOAD || in->op == TK_I_STORE;
    default: return false;
    }
  }
  return false;
}

/* Lane by lane, or along an axis: each operand gets the batch's axis, and one
 * lane that stood for a block's is given to all of them where it must. */
static int make_operand(batcher *b, const tk_inst *in, int k) {
  int slot = in->args[k];
  tk_type own = b->f->slots[slot].type;
  bool lanes = tk_inst_lanes(in) == TK_LANES_SAME || in->op == TK_I_STORE ||
               in->op == TK_I_BROADCAST;
  if (!is_batched(b, slot) && !own.rank && may_be_one(in, k)) return slot;
  bool one = lanes && !own.rank;
  return spread(b, slot, is_batched(b, slot), one ? &in->type : &own, -1);
}

/* Where axes are counted from the first. */
static void move_axes(const tk_inst *in, tk_inst *made) {
  if (tk_inst_has_axis((tk_opcode)in->op)) made->attr[0] = in->attr[0] + 1;
  if (in->op == TK_I_UNSCALE && in->attr[2] >= 0)
    made->attr[2] = in->attr[2] + 1;
  if (in->op != TK_I_PERMUTE) return;
  made->attr[0] = 0;
  for (int i = 0; i < in->type.rank; i++) made->attr[i + 1] = in->attr[i] + 1;
}

static void make_batched(batcher *b, const tk_inst *in) {
  int args[8], *slots = args;
  if (in->nargs > TK_COUNT(args))
    slots = TK_NEWN(&b->to->arena, int, in->nargs);
  for (int k = 0; k < in->nargs; k++) slots[k] = make_operand(b, in, k);
  tk_inst *made = copy_inst(b, in, with_axis(in->type, b->size));
  for (int k = 0; k < in->nargs; k++) made->args[k] = slots[k];
  for (int k = 0; k < in->nres; k++) made->res[k] = in->res[k];
  set_from(b, made);
  move_axes(in, made);
  if (in->op == TK_I_HINT) made->op = TK_I_COPY, made->mode = 0;
}

/* The operands as the function takes them. */
static const int *make_arguments(batcher *b, const tk_inst *in) {
  const tk_func *g = tk_call_callee(in);
  const bool *wanted = b->v->funcs[g->id].slots;
  int *slots = TK_NEWN(&b->to->arena, int, in->nargs + 1);
  for (int k = 0; k < in->nargs; k++) {
    tk_type own = b->f->slots[in->args[k]].type;
    slots[k] = in->args[k];
    if (wanted[g->params[k]])
      slots[k] = spread(b, slots[k], is_batched(b, slots[k]), &own, -1);
  }
  return slots;
}

static void make_inst(batcher *b, const tk_inst *in) {
  b->span = in->span;
  if (in->op == TK_I_CALL) {
    make_call(b, in, make_arguments(b, in));
  } else if (in->op == TK_I_COND) {
    int condition = agreed(b, in->args[0]);
    make_call(b, in, &condition);
  } else if (in->op == TK_I_ASSERT) {
    assert_all(b, in->args[0]);
  } else if (!tk_inst_varies(b->v, b->f, in)) {
    make_once(b, in);
  } else if (in->op == TK_I_PID) {
    make_pid(b, in);
  } else {
    make_batched(b, in);
  }
}

static void make_body(batcher *b, const tk_insts *from, tk_insts *to) {
  tk_insts *list = b->list;
  b->list = to;
  for (size_t i = 0; i < from->n; i++) make_inst(b, from->items[i]);
  b->list = list;
}

/* ---- statements and functions -------------------------------------------- */

static void make_stmts(batcher *b, const tk_body *from, tk_body *to);

/* What decides where the programs go, after the statement's instructions. */
static void make_header(batcher *b, const tk_stmt *st, tk_stmt *made) {
  made->cond = st->cond;
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE)
    made->cond = agreed(b, st->cond);
  if (st->kind == TK_S_FOR) {
    made->iv = st->iv;
    made->lb = agreed(b, st->lb);
    made->ub = agreed(b, st->ub);
    made->step = agreed(b, st->step);
  }
  made->nresults = st->nresults;
  made->results = TK_NEWN(&b->to->arena, int, st->nresults + 1);
  for (size_t i = 0; i < st->nresults; i++) {
    tk_type own = b->f->slots[st->results[i]].type;
    made->results[i] = st->results[i];
    if (b->v->funcs[b->f->id].results[i])
      made->results[i] =
          spread(b, st->results[i], is_batched(b, st->results[i]), &own, -1);
  }
}

static void make_stmt(batcher *b, const tk_stmt *st, tk_body *to) {
  tk_stmt *made = tk_stmt_new(b->to, st->kind, st->span);
  made->id = st->id;
  made->down = st->down;
  made->loop = st->loop;
  make_body(b, &st->insts, &made->insts);
  b->list = &made->insts;
  b->span = st->span;
  make_header(b, st, made);
  TK_PUSH(&b->to->arena, to, made);
  make_stmts(b, &st->body, &made->body);
  make_stmts(b, &st->orelse, &made->orelse);
}

static void make_stmts(batcher *b, const tk_body *from, tk_body *to) {
  for (size_t i = 0; i < from->n; i++) make_stmt(b, from->items[i], to);
}

/* All functions are there before any has its statements: they call each other.
 */
static void declare_func(batcher *b, const tk_func *f) {
  tk_func *g = tk_func_new(b->to, f->name, f->src);
  const tk_varying_func *known = &b->v->funcs[f->id];
  tk_arena *a = &b->to->arena;
  TK_ASSERT(g->id == f->id);
  g->library = f->library;
  g->ndescs = f->ndescs;
  g->span = f->span;
  for (size_t i = 0; i < f->nslots; i++) {
    tk_type t = f->slots[i].type;
    tk_slot_new(b->to, g, known->slots[i] ? with_axis(t, b->size) : t,
                f->slots[i].name);
  }
  g->nparams = f->nparams;
  g->params = TK_NEWN(a, int, f->nparams + 1);
  for (size_t i = 0; i < f->nparams; i++) g->params[i] = f->params[i];
  g->nresults = f->nresults;
  g->result_types = TK_NEWN(a, tk_type, f->nresults + 1);
  for (size_t i = 0; i < f->nresults; i++)
    g->result_types[i] = known->results[i]
                             ? with_axis(f->result_types[i], b->size)
                             : f->result_types[i];
}

/* A launch fills scalars: parameters of the kernel that are assigned something
 * that varies are variables of the batch, and begin as what they are given. */
static void make_parameters(batcher *b) {
  tk_stmt *first = tk_stmt_new(b->to, TK_S_RUN, b->f->span);
  b->list = &first->insts;
  b->span = b->f->span;
  for (size_t i = 0; i < b->f->nparams; i++) {
    int slot = b->f->params[i];
    tk_type own = b->f->slots[slot].type;
    if (!is_batched(b, slot)) continue;
    b->g->params[i] = new_slot(b, own);
    spread(b, b->g->params[i], false, &own, slot);
  }
  if (first->insts.n) TK_PUSH(&b->to->arena, &b->g->body, first);
}

static void define_func(batcher *b, const tk_func *f) {
  b->f = f;
  b->g = b->to->funcs[f->id];
  b->varies = b->v->funcs[f->id].slots;
  if (f == b->v->program->kernel) make_parameters(b);
  make_stmts(b, &f->body, &b->g->body);
  tk_func_last_uses(b->to, b->g);
}

void tk_program_batch(tk_env *e, tk_program *to, const tk_varying *v,
                      int size) {
  const tk_program *p = v->program;
  batcher b = {.v = v, .size = size, .to = to};
  TK_ASSERT(v->apart && size > 1);
  tk_program_init(to, e);
  memcpy(to->options, p->options, sizeof to->options);
  to->triton_version = p->triton_version;
  to->language = p->language;
  to->args = p->args;
  to->nargs = p->nargs;
  to->nparams = p->nparams;
  to->nstmts = p->nstmts;
  to->params = TK_NEWN(&to->arena, tk_param, p->nparams + 1);
  for (size_t i = 0; i < p->nfuncs; i++) declare_func(&b, p->funcs[i]);
  for (size_t i = 0; i < p->nfuncs; i++) define_func(&b, p->funcs[i]);
  to->kernel = to->funcs[p->kernel->id];
  for (size_t i = 0; i < p->nparams; i++) {
    to->params[i] = p->params[i];
    to->params[i].slot = to->kernel->params[i];
  }
}
