/* exec.c - the walk: statements, instructions, calls.
 *
 * A function's body is a tree of statements; each runs its instructions and,
 * if it is a branch or loop, its parts.  `return` unwinds by a result code.
 * Two copies of the innermost loop exist: one that does nothing but run, and
 * one that tells observers, chosen once for the run.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "interp/schedule.h"

typedef enum flow { FLOW_ON, FLOW_RETURN } flow;

/* ---- findings ---------------------------------------------------------- */

void tki_note_program(tki *t, tk_diag *d) {
  const int64_t *p = t->pid, *g = t->grid;
  if (d->count == 1) memcpy(d->program, p, sizeof d->program);
  tk_diag_note(t->env, d, NULL, (tk_span){0, 0},
               "in program (%" PRId64 ", %" PRId64 ", %" PRId64
               ") of grid (%" PRId64 ", %" PRId64 ", %" PRId64 ")",
               p[0], p[1], p[2], g[0], g[1], g[2]);
  for (tki_frame *c = tki_user_frame(t->frame)->caller; c; c = c->caller)
    if (!c->func->library && c->inst)
      tk_diag_note(t->env, d, c->func->src, c->inst->span,
                   "in the call from %s", c->func->name);
}

tk_diag *tki_finding(tki *t, tk_diag_id id, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  const tki_frame *f = tki_user_frame(t->frame);
  tk_diag *d = tk_diag_add(t->env, id, f->func->src, f->inst->span, "%s", text);
  tki_note_program(t, d);
  return d;
}

void tki_stop(tki *t) {
  TKI_TELL(t, stop, t);
  tk_throw(t->env, TK_FINDING);
}

/* ---- instructions ------------------------------------------------------ */

static void kill_operands(tki *t, const tk_inst *in, tki_val *slots) {
  for (uint32_t k = 0, bits = in->kill; bits; k++, bits >>= 1)
    if (bits & 1) tki_release(t, &slots[in->args[k]]);
}

enum { FEW = 16 };

/* Runs an instruction with its operands held, so that they can be looked at
 * afterwards and no result takes their place. */
static void exec_watched(tki *t, const tk_inst *in, tki_val *slots) {
  tki_val few[FEW], *args = few;
  tki_buf *big = NULL;
  if (in->nargs > FEW) {
    big = tki_buf_new(t, in->nargs * sizeof *args);
    args = tki_buf_data(big);
  }
  for (size_t k = 0; k < in->nargs; k++)
    args[k] = tki_share(&slots[in->args[k]]);
  TKI_TELL(t, before, t, in, args);
  in->run(t, in, slots);
  t->frame->inst = in;
  TKI_TELL(t, after, t, in, args);
  for (size_t k = 0; k < in->nargs; k++) tki_release(t, &args[k]);
  if (big) tki_buf_free(t, big);
}

static void exec_observed(tki *t, const tk_insts *l, tki_val *slots) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    t->frame->inst = in;
    exec_watched(t, in, slots);
    if (in->kill) kill_operands(t, in, slots);
  }
}

void tki_exec_insts(tki *t, const tk_insts *l, tki_val *slots) {
  t->ops += l->n;
  if (TK_UNLIKELY(t->watched)) {
    exec_observed(t, l, slots);
    return;
  }
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    t->frame->inst = in;
    in->run(t, in, slots);
    if (in->kill) kill_operands(t, in, slots);
  }
}

/* ---- statements -------------------------------------------------------- */

static flow exec_body(tki *t, const tk_body *b, tki_val *slots,
                      tki_val *results);

static void interrupted(tki *t) {
  bool handled = false;
  for (tki_observer *o = t->observers; o; o = o->next)
    if (o->interrupt) handled |= o->interrupt(o->ud, t);
  if (!handled) tk_throw(t->env, TK_INTERRUPTED);
}

/* What happens before a loop's body runs again. */
static void next_trip(tki *t, const tk_stmt *st) {
  if (TK_UNLIKELY(t->env->interrupted)) interrupted(t);
  if (TK_UNLIKELY(t->observers != NULL)) TKI_TELL(t, trip, t, st);
}

typedef struct counter {
  int64_t at, end, step;
  size_t size; /* of the variable's type */
} counter;

static counter loop_counter(tki *t, const tk_stmt *st, tki_val *slots) {
  tk_dtype d = (tk_dtype)t->frame->func->slots[st->iv].type.elem;
  counter c = {tk_lane_int(d, &slots[st->lb].u),
               tk_lane_int(d, &slots[st->ub].u),
               tk_lane_int(d, &slots[st->step].u), tk_dtypes[d].size};
  if (st->down) c.step = -c.step;
  if (c.step > 0) return c;
  tk_diag *bad = tki_finding(t, TK_D_RUNAWAY,
                             "range step is %lld: the loop "
                             "would never end",
                             (long long)c.step);
  tk_diag_help(t->env, bad,
               "a step known only when the program runs must be "
               "positive");
  tki_stop(t);
}

static flow exec_for(tki *t, const tk_stmt *st, tki_val *slots,
                     tki_val *results) {
  counter c = loop_counter(t, st, slots);
  tki_loop loop = {t->frame->loops, st, 0, 0};
  t->frame->loops = &loop;
  while (st->down ? c.at > c.end : c.at < c.end) {
    tki_set(t, &slots[st->iv], (tki_val){.i = c.at, .region = TKI_ANY});
    next_trip(t, st);
    if (exec_body(t, &st->body, slots, results) == FLOW_RETURN)
      return FLOW_RETURN;
    loop.trip++;
    if (st->down ? __builtin_sub_overflow(c.at, c.step, &c.at)
                 : __builtin_add_overflow(c.at, c.step, &c.at))
      break;
  }
  t->frame->loops = loop.outer;
  return FLOW_ON;
}

static flow exec_while(tki *t, const tk_stmt *st, tki_val *slots,
                       tki_val *results) {
  tki_loop loop = {t->frame->loops, st, 0, tki_schedule_patience(t)};
  flow f = FLOW_ON;
  t->frame->loops = &loop;
  while (f == FLOW_ON && slots[st->cond].b) {
    next_trip(t, st);
    f = exec_body(t, &st->body, slots, results);
    if (f == FLOW_RETURN) break;
    loop.trip++;
    t->frame->stmt = st;
    tki_exec_insts(t, &st->insts, slots);
    if (TK_UNLIKELY(loop.trip >= loop.look)) tki_schedule_look(t, &loop);
  }
  if (TK_UNLIKELY(t->spin != NULL)) tki_schedule_left(t, &loop);
  t->frame->loops = loop.outer;
  return f;
}

static void no_results(tki *t, const tk_func *f, tki_val *results);

/* A debugger's user moved on: the statement does not run. */
static flow diverted(tki *t, tki_val *results) {
  if (!t->leave) return FLOW_ON;
  t->leave = false;
  no_results(t, t->frame->func, results);
  return FLOW_RETURN;
}

/* Most statements under a debugger are counted, no more. */
static bool is_told(tki *t, const tk_stmt *st) {
  return (++*t->event == t->due) | t->each | st->marked;
}

static flow exec_stmt(tki *t, const tk_stmt *st, tki_val *slots,
                      tki_val *results) {
  t->frame->stmt = st;
  if (TK_UNLIKELY(t->env->interrupted)) interrupted(t);
  if (TK_UNLIKELY(t->observers != NULL) && TK_UNLIKELY(is_told(t, st))) {
    TKI_TELL(t, stmt, t, st);
    if (TK_UNLIKELY(t->jump || t->leave)) return diverted(t, results);
  }
  tki_exec_insts(t, &st->insts, slots);
  switch (st->kind) {
  case TK_S_RUN: return FLOW_ON;
  case TK_S_IF:
    return exec_body(t, slots[st->cond].b ? &st->body : &st->orelse, slots,
                     results);
  case TK_S_FOR: return exec_for(t, st, slots, results);
  case TK_S_WHILE: return exec_while(t, st, slots, results);
  default:
    for (size_t i = 0; i < st->nresults; i++)
      results[i] = tki_share(&slots[st->results[i]]);
    return FLOW_RETURN;
  }
}

/* The index before the statement to go on at. */
static size_t jump_index(tki *t, const tk_body *b, size_t i) {
  for (size_t k = 0; k < b->n; k++)
    if (b->items[k] == t->jump) i = k - 1;
  t->jump = NULL;
  return i;
}

static flow exec_body(tki *t, const tk_body *b, tki_val *slots,
                      tki_val *results) {
  for (size_t i = 0; i < b->n; i++) {
    if (exec_stmt(t, b->items[i], slots, results) == FLOW_RETURN)
      return FLOW_RETURN;
    if (TK_UNLIKELY(t->jump != NULL)) i = jump_index(t, b, i);
  }
  return FLOW_ON;
}

/* ---- calls ------------------------------------------------------------- */

static void release_slots(tki *t, tki_val *slots, size_t n) {
  for (size_t i = 0; i < n; i++) tki_release(t, &slots[i]);
}

/* A function that ends without a return gives zeros. */
static void no_results(tki *t, const tk_func *f, tki_val *results) {
  for (size_t i = 0; i < f->nresults; i++) {
    const tk_type *type = &f->result_types[i];
    size_t n = (size_t)tk_numel(type);
    results[i] = tki_val_new(t, type, n);
    memset(tki_data(&results[i]), 0, n * tk_lane_size(type));
  }
}

void tki_call(tki *t, const tk_func *f, const tki_val *args, size_t nargs,
              tki_val *results) {
  size_t bytes = f->nslots * sizeof(tki_val);
  tki_buf *buf = tki_buf_new(t, bytes + 1);
  tki_val *slots = tki_buf_data(buf);
  memset(slots, 0, bytes);
  for (size_t i = 0; i < nargs; i++) slots[f->params[i]] = tki_share(&args[i]);
  tki_frame frame = {.caller = t->frame, .func = f, .slots = slots};
  t->frame = &frame;
  if (TK_UNLIKELY(t->observers != NULL)) TKI_TELL(t, frame, t, true);
  if (exec_body(t, &f->body, slots, results) != FLOW_RETURN)
    no_results(t, f, results);
  if (TK_UNLIKELY(t->observers != NULL)) TKI_TELL(t, frame, t, false);
  t->frame = frame.caller;
  release_slots(t, slots, f->nslots);
  tki_buf_free(t, buf);
}

static void run_call(void *ctx, const tk_inst *in, void *vframe) {
  tki *t = ctx;
  tki_val *slots = vframe, args[FEW], res[FEW], *a = args, *r = res;
  size_t n = in->nargs > in->nres ? in->nargs : in->nres;
  tki_buf *big = NULL;
  if (n > FEW) {
    big = tki_buf_new(t, 2 * n * sizeof *a);
    a = tki_buf_data(big);
    r = a + n;
  }
  for (size_t i = 0; i < in->nargs; i++) a[i] = slots[in->args[i]];
  tki_call(t, in->aux, a, in->nargs, r);
  for (size_t i = 0; i < in->nres; i++) tki_set(t, &slots[in->res[i]], r[i]);
  if (big) tki_buf_free(t, big);
}

static void run_cond(void *ctx, const tk_inst *in, void *vframe) {
  tki_val *slots = vframe;
  tki_exec_insts(ctx, &in->body[slots[in->args[0]].b ? 0 : 1], slots);
}

static void run_clock(void *ctx, const tk_inst *in, void *vframe) {
  tki *t = ctx;
  tki_val *slot = (tki_val *)vframe + in->res[0];
  tki_set(t, slot, (tki_val){.u = t->ops, .region = TKI_ANY});
}

static void run_barrier(void *ctx, const tk_inst *in, void *frame) {
  tki *t = ctx;
  (void)frame;
  tki_access a = {.t = t, .in = in, .region = TKI_ANY, .verb = "barrier"};
  if (TK_UNLIKELY(t->sensed)) tki_tell_access(t, &a);
}

/* ---- one program ------------------------------------------------------- */

static void tell_program(tki *t, bool begins) {
  if (begins) TKI_TELL(t, program, t, true);
  TKI_TELL(t, frame, t, begins);
  if (!begins) TKI_TELL(t, program, t, false);
}

void tki_program_run(tki *t) {
  const tk_func *f = t->program->kernel;
  tki_val *slots = t->task ? t->task->slots : t->slots;
  tki_frame frame = {.func = f, .slots = slots};
  memset(slots, 0, f->nslots * sizeof *slots);
  for (size_t i = 0; i < f->nparams; i++) slots[f->params[i]] = t->params[i];
  t->frame = &frame;
  if (TK_UNLIKELY(t->observers != NULL)) tell_program(t, true);
  exec_body(t, &f->body, slots, NULL);
  if (TK_UNLIKELY(t->observers != NULL)) tell_program(t, false);
  release_slots(t, slots, f->nslots);
  t->frame = NULL;
  t->done++;
}

/* ---- binding ----------------------------------------------------------- */

static const void *reduction_kernel(const tk_inst *in) {
  tki_binary_fn fn = tki_binary_kernel(tki_reduction_op((tk_reduction)in->mode),
                                       (tk_dtype)in->from.elem);
  return (const void *)(uintptr_t)fn;
}

static void bind_inst(tk_inst *in, const tk_func *f) {
  tki_elem(in);
  tki_move(in);
  switch (in->op) {
  case TK_I_ADDPTR: tki_bind_addptr(in, f); break;
  case TK_I_LOAD: in->run = tki_load; break;
  case TK_I_STORE: in->run = tki_store; break;
  case TK_I_ATOMIC: in->run = tki_atomic; break;
  case TK_I_CAS: in->run = tki_cas; break;
  case TK_I_DOT: in->run = tki_dot; break;
  case TK_I_REDUCE:
    in->run = tki_reduce;
    in->kernel = reduction_kernel(in);
    break;
  case TK_I_SCAN:
    in->run = tki_scan;
    in->kernel = reduction_kernel(in);
    break;
  case TK_I_REDUCE_FN: in->run = tki_reduce_fn; break;
  case TK_I_SCAN_FN: in->run = tki_scan_fn; break;
  case TK_I_ASM: in->run = tki_asm; break;
  case TK_I_MAP_FN: in->run = tki_map_fn; break;
  case TK_I_UNSCALE: in->run = tki_unscale; break;
  case TK_I_CALL: in->run = run_call; break;
  case TK_I_COND: in->run = run_cond; break;
  case TK_I_PRINT: in->run = tki_print; break;
  case TK_I_ASSERT: in->run = tki_assert; break;
  case TK_I_BREAKPOINT: in->run = tki_breakpoint; break;
  case TK_I_CLOCK: in->run = run_clock; break;
  case TK_I_BARRIER: in->run = run_barrier; break;
  default: break;
  }
}

/* Whether a later instruction is the only user of a slot and can take a
 * column or row in place of the block. */
static bool takes_lazy(const tk_insts *l, size_t from, int slot) {
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
 * carried out: the operation goes row by row (mode 1 column, 2 row). */
static void fuse(tk_insts *l, size_t at) {
  tk_inst *in = l->items[at];
  bool two = in->op == TK_I_BROADCAST && in->from.rank == 2;
  if (!two || !takes_lazy(l, at + 1, in->res[0])) return;
  bool column = in->from.shape[1] == 1, row = in->from.shape[0] == 1;
  if (column != row && in->type.shape[1] >= 8) in->mode = column ? 1 : 2;
}

static void bind_insts(tk_insts *l, const tk_func *f) {
  for (size_t i = 0; i < l->n; i++) {
    bind_inst(l->items[i], f);
    fuse(l, i);
    bind_insts(&l->items[i]->body[0], f);
    bind_insts(&l->items[i]->body[1], f);
  }
}

static void bind_body(tk_body *b, const tk_func *f) {
  for (size_t i = 0; i < b->n; i++) {
    bind_insts(&b->items[i]->insts, f);
    bind_body(&b->items[i]->body, f);
    bind_body(&b->items[i]->orelse, f);
  }
}

void tki_bind(tk_program *p) {
  if (p->bound) return;
  for (size_t i = 0; i < p->nfuncs; i++)
    bind_body(&p->funcs[i]->body, p->funcs[i]);
  p->bound = true;
}
