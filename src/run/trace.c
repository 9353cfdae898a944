/* trace.c - a program that writes down what its instructions give. */
#include "run/trace.h"

#include <string.h>

#include "ir/inst.h"

typedef struct tracer {
  tk_program *p;
  const tkr_window *window;
  tkr_sites *sites;
  tk_func *f;
  /* Slots: whether this is the program whose records are kept, and how many
   * bytes of them are not. */
  int chosen, skip;
  bool *used; /* by slot: an instruction or a return has it as an operand */
  tk_insts *out;
  tk_span span;
} tracer;

/* ---- instructions ------------------------------------------------------- */

static tk_inst *put_inst(tracer *t, tk_opcode op, size_t nargs, size_t nres,
                         tk_type type) {
  TK_ASSERT(t->out && nres <= 1);
  tk_inst *in = tk_inst_new(t->p, op, nargs, nres);
  in->type = type;
  in->n = tk_numel(&type);
  in->span = t->span;
  if (nres) in->res[0] = tk_slot_new(t->p, t->f, type, NULL);
  TK_PUSH(&t->p->arena, t->out, in);
  return in;
}

static void give_arg(const tracer *t, tk_inst *in, int k, int slot) {
  TK_ASSERT(k < in->nargs && (size_t)slot < t->f->nslots);
  in->args[k] = slot;
  if (!k) in->from = t->f->slots[slot].type;
}

static int put_const(tracer *t, tk_dtype d, int64_t value) {
  tk_inst *in = put_inst(t, TK_I_CONST, 0, 1, tk_scalar(d));
  in->attr[0] = value;
  return in->res[0];
}

static int put_unary(tracer *t, tk_opcode op, int arg, tk_type type) {
  tk_inst *in = put_inst(t, op, 1, 1, type);
  give_arg(t, in, 0, arg);
  return in->res[0];
}

static int put_binary(tracer *t, tk_opcode op, int mode, int left, int right,
                      tk_type type) {
  tk_inst *in = put_inst(t, op, 2, 1, type);
  in->mode = (uint8_t)mode;
  give_arg(t, in, 0, left);
  give_arg(t, in, 1, right);
  return in->res[0];
}

static int put_int64(tracer *t, int mode, int left, int right) {
  return put_binary(t, TK_I_BINARY, mode, left, right, tk_scalar(TK_INT64));
}

static int put_both(tracer *t, int left, int right) {
  return put_binary(t, TK_I_BINARY, TK_B_AND, left, right, tk_scalar(TK_INT1));
}

static void put_store(tracer *t, int pointer, int value, int mask) {
  tk_inst *in = put_inst(t, TK_I_STORE, 3, 0, t->f->slots[value].type);
  give_arg(t, in, 0, pointer);
  in->args[1] = value;
  in->args[2] = mask;
}

/* Whether this program is the one: all of its indices are. */
static int put_chosen(tracer *t) {
  int all = -1;
  for (int axis = 0; axis < 3; axis++) {
    tk_inst *pid = put_inst(t, TK_I_PID, 0, 1, tk_scalar(TK_INT32));
    pid->mode = (uint8_t)axis;
    int wanted = put_const(t, TK_INT32, t->window->program[axis]);
    int same = put_binary(t, TK_I_COMPARE, TK_C_EQ, pid->res[0], wanted,
                          tk_scalar(TK_INT1));
    all = all < 0 ? same : put_both(t, all, same);
  }
  return all;
}

/* What the second word of the trace holds. */
static int put_skip(tracer *t) {
  tk_type word = tk_scalar(TK_INT64);
  int at = put_const(t, TK_INT64, (int64_t)t->window->address + 8);
  return put_unary(t, TK_I_LOAD, put_unary(t, TK_I_CAST, at, tk_pointer(word)),
                   word);
}

/* Takes bytes of the trace; returns where they begin.  One program alone does,
 * so no atomic operation is needed, which may be what is wrong. */
static int put_take(tracer *t, int64_t bytes) {
  tk_type count = tk_pointer(tk_scalar(TK_INT64));
  int at = put_const(t, TK_INT64, (int64_t)t->window->address);
  int pointer = put_unary(t, TK_I_CAST, at, count);
  tk_inst *taken = put_inst(t, TK_I_LOAD, 1, 1, tk_scalar(TK_INT64));
  give_arg(t, taken, 0, pointer);
  taken->attr[0] = true; /* volatile */
  put_inst(t, TK_I_BARRIER, 0, 0, (tk_type){0});
  put_store(
      t, pointer,
      put_int64(t, TK_B_ADD, taken->res[0], put_const(t, TK_INT64, bytes)),
      t->chosen);
  put_inst(t, TK_I_BARRIER, 0, 0, (tk_type){0});
  return taken->res[0];
}

/* ---- records ------------------------------------------------------------ */

static int64_t record_bytes(const tk_type *type) {
  int64_t lanes = tk_numel(type) * (int64_t)tk_lane_size(type);
  return TKR_TRACE_HEAD + (lanes + 15) / 16 * 16;
}

/* The lanes in a row, of a type that memory can hold. */
static int put_row(tracer *t, int slot) {
  tk_type type = t->f->slots[slot].type;
  if (type.elem == TK_INT1) {
    type.elem = TK_INT8;
    slot = put_unary(t, TK_I_CAST, slot, type);
  }
  if (type.rank < 2) return slot;
  type.shape[0] = (int32_t)tk_numel(&type);
  for (int i = 1; i < type.rank; i++) type.shape[i] = 0;
  type.rank = 1;
  return put_unary(t, TK_I_COPY, slot, type);
}

static void put_record(tracer *t, const tk_inst *in, int slot) {
  tk_type type = t->f->slots[slot].type;
  const tkr_window *w = t->window;
  bool is_pointer = type.ptr;
  if (is_pointer) type = tk_with_elem(type, TK_INT64);
  int64_t bytes = record_bytes(&type);
  TK_ASSERT(bytes % 16 == TKR_TRACE_HEAD % 16); /* records stay aligned */
  tkr_site site = {t->f, in, slot, type, is_pointer};
  if ((uint64_t)bytes > w->size) return;
  if (is_pointer) slot = put_unary(t, TK_I_CAST, slot, type);
  TK_PUSH(&t->p->arena, t->sites, site);
  int pos = put_take(t, bytes), none = put_const(t, TK_INT64, 0);
  int behind = put_int64(t, TK_B_SUB, pos, t->skip);
  int last = put_const(t, TK_INT64, (int64_t)w->size - bytes);
  tk_type flag = tk_scalar(TK_INT1);
  int kept = put_both(t, t->chosen,
                      put_binary(t, TK_I_COMPARE, TK_C_GE, behind, none, flag));
  kept = put_both(t, kept,
                  put_binary(t, TK_I_COMPARE, TK_C_LE, behind, last, flag));
  int base = put_const(t, TK_INT64, (int64_t)w->address + TKR_TRACE_HEAD);
  int head = put_int64(t, TK_B_ADD, base, behind);
  put_store(t, put_unary(t, TK_I_CAST, head, tk_pointer(tk_scalar(TK_INT64))),
            put_const(t, TK_INT64, (int64_t)t->sites->n), kept);
  int row = put_row(t, slot);
  tk_type lanes = t->f->slots[row].type;
  int data = put_unary(
      t, TK_I_CAST,
      put_int64(t, TK_B_ADD, head, put_const(t, TK_INT64, TKR_TRACE_HEAD)),
      tk_pointer(tk_scalar((tk_dtype)lanes.elem)));
  if (lanes.rank) {
    tk_type index = tk_with_elem(lanes, TK_INT32);
    tk_inst *lane = put_inst(t, TK_I_ARANGE, 0, 1, index);
    data = put_binary(t, TK_I_ADDPTR, 0, data, lane->res[0], tk_pointer(lanes));
  }
  put_store(t, data, row, kept);
}

static bool note_operands(void *ud, const tk_at *at, const tk_inst *in) {
  const tracer *t = ud;
  (void)at;
  for (int k = 0; k < in->nargs; k++) t->used[in->args[k]] = true;
  return true;
}

static bool note_returned(void *ud, const tk_at *at) {
  const tracer *t = ud;
  for (size_t k = 0; k < at->stmt->nresults; k++)
    t->used[at->stmt->results[k]] = true;
  return true;
}

/* The result of an atomic operation that nobody needs depends on an order that
 * does not matter. */
static bool is_recorded(const tracer *t, const tk_inst *in) {
  if (in->op == TK_I_CLOCK) return false;
  return in->op != TK_I_ATOMIC || t->used[in->res[0]];
}

static void trace_insts(tracer *t, tk_insts *l) {
  tk_insts from = *l;
  *l = (tk_insts){NULL, 0, 0};
  t->out = l;
  for (size_t i = 0; i < from.n; i++) {
    tk_inst *in = from.items[i];
    t->span = in->span;
    TK_PUSH(&t->p->arena, l, in);
    for (int k = 0; k < in->nres && is_recorded(t, in); k++)
      put_record(t, in, in->res[k]);
  }
}

static void trace_body(tracer *t, tk_body *b) {
  for (size_t i = 0; i < b->n; i++) {
    tk_stmt *st = b->items[i];
    trace_insts(t, &st->insts);
    trace_body(t, &st->body);
    trace_body(t, &st->orelse);
  }
}

/* Functions that calls lead to; those that combine lanes are not among them. */
static bool mark_callee(void *ud, const tk_at *at, const tk_inst *in) {
  bool *called = ud;
  (void)at;
  if (in->op == TK_I_CALL && !called[in->ref.callee->id]) {
    called[in->ref.callee->id] = true;
    tk_walk walk = {.ud = called, .inst = mark_callee};
    tk_walk_func(in->ref.callee, &walk);
  }
  return true;
}

static void trace_func(tracer *t, tk_func *f) {
  tk_stmt *first = tk_stmt_new(t->p, TK_S_RUN, f->span);
  tk_walk walk = {.ud = t, .stmt = note_returned, .inst = note_operands};
  t->f = f;
  t->used = TK_NEWN(&t->p->arena, bool, f->nslots + 1);
  tk_walk_func(f, &walk);
  t->span = f->span;
  t->out = &first->insts;
  t->chosen = put_chosen(t);
  t->skip = put_skip(t);
  for (size_t i = 0; i < f->nparams; i++) put_record(t, NULL, f->params[i]);
  trace_body(t, &f->body);
  TK_PUSH(&t->p->arena, &f->body, first);
  memmove(&f->body.items[1], &f->body.items[0],
          (f->body.n - 1) * sizeof *f->body.items);
  f->body.items[0] = first;
}

void tkr_trace_program(tk_program *p, const tkr_window *w, tkr_sites *sites) {
  tracer t = {.p = p, .window = w, .sites = sites};
  bool *called = TK_NEWN(&p->arena, bool, p->nfuncs + 1);
  called[p->kernel->id] = true;
  tk_walk walk = {.ud = called, .inst = mark_callee};
  tk_walk_func(p->kernel, &walk);
  *sites = (tkr_sites){NULL, 0, 0};
  for (size_t i = 0; i < p->nfuncs; i++)
    if (called[i]) trace_func(&t, p->funcs[i]);
  tkv_settle(p);
}

/* ---- reading ------------------------------------------------------------ */

uint64_t tkr_trace_bytes(const char *memory) {
  uint64_t bytes;
  memcpy(&bytes, memory, sizeof bytes);
  return bytes;
}

bool tkr_trace_next(const char *memory, const tkr_window *w,
                    const tkr_sites *sites, size_t *at, tkr_record *out) {
  uint64_t site = 0;
  if (*at + TKR_TRACE_HEAD > w->size) return false;
  memcpy(&site, memory + TKR_TRACE_HEAD + *at, sizeof site);
  if (!site || site > sites->n) return false;
  const tkr_site *s = &sites->items[site - 1];
  *out = (tkr_record){(size_t)site - 1,
                      memory + TKR_TRACE_HEAD + *at + TKR_TRACE_HEAD};
  size_t end = *at + (size_t)record_bytes(&s->type);
  TK_ASSERT(end > *at);
  if (end > w->size) return false;
  *at = end;
  return true;
}
