/* exec.c - the walk: statements, instructions, calls.
 *
 * A function's body is a tree of statements; each runs its instructions and,
 * if it is a branch or loop, its parts.  `return` unwinds by a result code.
 * Two copies of the innermost loop exist: one that does nothing but run, and
 * one that tells observers, chosen once for the run.
 */
#include <string.h>

#include "interp/bind.h"
#include "interp/schedule.h"

typedef enum flow { FLOW_ON, FLOW_RETURN } flow;

/* ---- instructions ------------------------------------------------------ */

static void kill_operands(tki *t, const tk_inst *in, uint32_t kill,
                          tki_val *slots) {
  for (uint32_t k = 0, bits = kill; bits; k++, bits >>= 1)
    if (bits & 1) tki_release(t, &slots[in->args[k]]);
}

enum { FEW = 16 };

/* For assertions.  A part stands for a block between a broadcast and the one
 * operation that it feeds, and only while nobody watches instructions. */
bool tki_operands_fit(const tki *t, const tk_inst *in) {
  const tki_frame *f = t->frame;
  bool takes_part = in->op == TK_I_BINARY || in->op == TK_I_COMPARE;
  for (size_t k = 0; k < in->nargs; k++) {
    const tki_val *v = &f->slots[in->args[k]];
    if (!tki_fits(v, &f->func->slots[in->args[k]].type)) return false;
    if (tki_part_of(v) && (!takes_part || t->wants_insts)) return false;
  }
  return true;
}

bool tki_results_fit(const tki *t, const tk_inst *in) {
  const tki_frame *f = t->frame;
  for (size_t k = 0; k < in->nres; k++) {
    const tki_val *v = &f->slots[in->res[k]];
    if (!tki_fits(v, &f->func->slots[in->res[k]].type)) return false;
    if (tki_part_of(v) && (in->op != TK_I_BROADCAST || t->wants_insts))
      return false;
  }
  return true;
}

static inline void exec_op(tki *t, const tki_op *op, tki_val *slots) {
  const tk_inst *in = op->in;
  TK_ASSERT(op->run);
  TK_ASSERT(t->frame->slots == slots);
  TK_ASSERT(tki_operands_fit(t, in));
  op->run(t, op, slots);
  TK_ASSERT(t->frame->slots == slots);
  TK_ASSERT(tki_results_fit(t, in));
  (void)in;
}

/* Runs an instruction, unless its results are there already, with its operands
 * held, so that observers can look at them afterwards: no result takes their
 * place. */
static void exec_watched(tki *t, const tki_op *op, tki_val *slots,
                         bool settled) {
  const tk_inst *in = op->in;
  tki_val few[FEW], *big = NULL, *args = few;
  if (in->nargs > FEW)
    args = big = tki_scratch_new(t, in->nargs * sizeof *args);
  for (size_t k = 0; k < in->nargs; k++)
    args[k] = tki_share(&slots[in->args[k]]);
  if (t->wants_before) TKI_TELL(t, before, t, in, args);
  if (!settled) exec_op(t, op, slots);
  t->frame->inst = in;
  TKI_TELL(t, after, t, in, args);
  for (size_t k = 0; k < in->nargs; k++) tki_release(t, &args[k]);
  tki_scratch_free(t, big);
}

/* Whether no observer has anything to do after an instruction. As long as
 * t->idle is set, only these three detectors keep something in frames. */
static inline bool is_idle(tki *t, const tk_inst *in) {
  void *const *kept = t->frame->shadow;
  uint8_t idle = t->idle ? t->idle[in->id] : TKI_BUSY;
  if (idle == TKI_BUSY || kept[TKI_SHADOW_UNDEF] ||
      kept[TKI_SHADOW_PRECISION] || kept[TKI_SHADOW_PADDING])
    return false;
  return idle == TKI_IDLE || tki_inst_is_idle(t, in);
}

static void exec_observed(tki *t, const tk_insts *l, tki_val *slots) {
  uint8_t *told = t->settled_told;
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    const tki_op *op = &t->code[in->id];
    uint32_t kill = told ? op->kill : in->kill;
    t->frame->inst = in;
    if (told && told[in->id]) continue;
    bool settled = told && op->settled;
    if (!is_idle(t, in))
      exec_watched(t, op, slots, settled);
    else if (!settled)
      exec_op(t, op, slots);
    if (kill) kill_operands(t, in, kill, slots);
    if (settled) told[in->id] = tki_settled_is_told(t, in);
  }
}

static void exec_all(tki *t, const tk_insts *l, tki_val *slots) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    t->frame->inst = in;
    exec_op(t, &t->code[in->id], slots);
    if (in->kill) kill_operands(t, in, in->kill, slots);
  }
}

static void exec_unsettled(tki *t, const tk_insts *l, tki_val *slots) {
  const tki_op *op = &t->code[l->items[0]->id];
  bool more = !op->settled || op->next;
  if (op->settled) op += op->next;
  while (more) {
    t->frame->inst = op->in;
    exec_op(t, op, slots);
    if (op->kill) kill_operands(t, op->in, op->kill, slots);
    more = op->next;
    op += op->next;
  }
  /* Reports on a loop point to its condition, even if that is settled. */
  t->frame->inst = l->items[l->n - 1];
}

static void exec_insts(tki *t, const tk_insts *l, tki_val *slots) {
  t->ops += l->n;
  if (TK_UNLIKELY(t->wants_insts))
    exec_observed(t, l, slots);
  else if (!t->settled_values)
    exec_all(t, l, slots);
  else if (l->n)
    exec_unsettled(t, l, slots);
}

/* ---- statements -------------------------------------------------------- */

static flow exec_body(tki *t, const tk_body *b, tki_val *slots,
                      tki_val *results);

void tki_interrupted(tki *t) {
  bool pauses = t->env->pauses;
  t->env->pauses = 0;
  tk_attention answer = tk_attend(t->env);
  bool handled = answer == TK_ATTEND_GO_ON;
  if (answer == TK_ATTEND_PASS || (pauses && handled))
    for (tki_observer *o = t->observers; o; o = o->next)
      if (o->interrupt) handled |= o->interrupt(o->ud, t);
  if (!handled) tk_throw(t->env, TK_INTERRUPTED);
}

/* What happens before a loop's body runs again. */
static void next_trip(tki *t, const tk_stmt *st) {
  if (TK_UNLIKELY(t->env->interrupted)) tki_interrupted(t);
  if (TK_UNLIKELY(t->observers != NULL)) TKI_TELL(t, trip, t, st);
}

/* A branch or loop over variables has no instruction of its own: what is
 * reported of it must not point to that of the statement before. */
static void come_to(tki *t, const tk_stmt *st) {
  t->frame->stmt = st;
  t->frame->inst = NULL;
}

typedef struct counter {
  int64_t at, end, step;
  size_t size; /* of the variable's type */
} counter;

static counter loop_counter(tki *t, const tk_stmt *st, tki_val *slots) {
  tk_dtype d = (tk_dtype)t->frame->func->slots[st->iv].type.elem;
  counter c = {tk_lane_int(d, tki_lanes(&slots[st->lb])),
               tk_lane_int(d, tki_lanes(&slots[st->ub])),
               tk_lane_int(d, tki_lanes(&slots[st->step])), tk_dtypes[d].size};
  if (st->down) c.step = -c.step;
  if (c.step > 0 || (c.step == 0 && c.at >= c.end)) return c;
  come_to(t, st); /* the last instruction may be one that a pass has moved */
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
  flow f = FLOW_ON;
  t->frame->loops = &loop;
  while (st->down ? c.at > c.end : c.at < c.end) {
    tki_set(t, &slots[st->iv], tki_make_scalar((uint64_t)(c.at)));
    next_trip(t, st);
    f = exec_body(t, &st->body, slots, results);
    if (f == FLOW_RETURN) break;
    loop.trip++;
    if (st->down ? __builtin_sub_overflow(c.at, c.step, &c.at)
                 : __builtin_add_overflow(c.at, c.step, &c.at))
      break;
  }
  t->frame->loops = loop.outer;
  return f;
}

static flow exec_while(tki *t, const tk_stmt *st, tki_val *slots,
                       tki_val *results) {
  tki_loop loop = {t->frame->loops, st, 0, tki_schedule_trips(t)};
  flow f = FLOW_ON;
  t->frame->loops = &loop;
  while (f == FLOW_ON && tki_scalar_bool(&slots[st->cond])) {
    next_trip(t, st);
    f = exec_body(t, &st->body, slots, results);
    if (f == FLOW_RETURN) break;
    loop.trip++;
    come_to(t, st);
    exec_insts(t, &st->insts, slots);
    if (TK_UNLIKELY(loop.trip >= loop.look)) tki_schedule_look(t, &loop);
  }
  if (TK_UNLIKELY(t->spin != NULL)) tki_schedule_left(t, &loop);
  t->frame->loops = loop.outer;
  return f;
}

static void no_results(tki *t, const tk_func *f, tki_val *results);

/* Whether the statement does not run because a debugger's user goes on
 * elsewhere; how the statements around it then go on. */
static flow diverted(tki *t, tki_val *results) {
  if (!t->leave) return FLOW_ON;
  t->leave = false;
  t->frame->left = true;
  no_results(t, t->frame->func, results);
  return FLOW_RETURN;
}

/* Done before a statement: lets other programs run, or handles the user's
 * interrupt. */
static void attend(tki *t) {
  if (t->yields) tki_schedule_yield(t);
  if (t->env->interrupted) tki_interrupted(t);
}

/* Whether observers are to be told of a statement.  Most of those under a
 * debugger are only counted. */
static bool is_wanted_stmt(tki *t, const tk_stmt *st) {
  return (++*t->event == t->wanted_event) | t->wants_stmts |
         (t->marked && t->marked[st->id]);
}

/* Runs a statement and, if it is a branch or a loop, its parts. */
static flow exec_stmt(tki *t, const tk_stmt *st, tki_val *slots,
                      tki_val *results) {
  come_to(t, st);
  if (TK_UNLIKELY(t->env->interrupted | t->yields)) attend(t);
  if (TK_UNLIKELY(t->observers != NULL) && TK_UNLIKELY(is_wanted_stmt(t, st))) {
    TKI_TELL(t, stmt, t, st);
    if (TK_UNLIKELY(t->jump || t->leave)) return diverted(t, results);
  }
  exec_insts(t, &st->insts, slots);
  switch (st->kind) {
  case TK_S_RUN: return FLOW_ON;
  case TK_S_IF:
    return exec_body(
        t, tki_scalar_bool(&slots[st->cond]) ? &st->body : &st->orelse, slots,
        results);
  case TK_S_FOR: return exec_for(t, st, slots, results);
  case TK_S_WHILE: return exec_while(t, st, slots, results);
  default:
    for (size_t i = 0; i < st->nresults; i++)
      results[i] = tki_share(&slots[st->results[i]]);
    return FLOW_RETURN;
  }
}

static flow exec_body(tki *t, const tk_body *b, tki_val *slots,
                      tki_val *results) {
  for (size_t i = 0; i < b->n; i++) {
    if (exec_stmt(t, b->items[i], slots, results) == FLOW_RETURN)
      return FLOW_RETURN;
    if (TK_UNLIKELY(t->jump != NULL)) i = tki_jump(t, b, i) - 1;
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
    results[i] = tki_val_zero(t, type, (size_t)tk_numel(type));
  }
}

void tki_call(tki *t, const tk_func *f, const tki_val *args, size_t nargs,
              tki_val *results) {
  size_t bytes = f->nslots * sizeof(tki_val);
  tki_val *slots = tki_scratch_zero(t, bytes + 1);
  for (size_t i = 0; i < nargs; i++) slots[f->params[i]] = tki_share(&args[i]);
  tki_frame frame = {.caller = t->frame, .func = f, .slots = slots};
  TK_ASSERT(nargs <= f->nparams);
  if (t->settled_values) tki_settled_share(t, f, slots);
  t->frame = &frame;
  if (TK_UNLIKELY(t->observers != NULL)) TKI_TELL(t, frame, t, true);
  if (exec_body(t, &f->body, slots, results) != FLOW_RETURN)
    no_results(t, f, results);
  if (TK_UNLIKELY(t->observers != NULL)) TKI_TELL(t, frame, t, false);
  TK_ASSERT(t->frame == &frame);
  t->frame = frame.caller;
  release_slots(t, slots, f->nslots);
  tki_scratch_free(t, slots);
}

void tki_run_CALL(tki *t, const tki_op *op, tki_val *slots) {
  const tk_inst *in = op->in;
  tki_val args[FEW], res[FEW], *a = args, *r = res;
  tki_val *big = NULL;
  size_t n = in->nargs > in->nres ? in->nargs : in->nres;
  if (n > FEW) {
    a = big = tki_scratch_new(t, 2 * n * sizeof *a);
    r = a + n;
  }
  for (size_t i = 0; i < in->nargs; i++) a[i] = slots[in->args[i]];
  tki_call(t, tk_call_callee(in), a, in->nargs, r);
  for (size_t i = 0; i < in->nres; i++) tki_set(t, &slots[in->res[i]], r[i]);
  tki_scratch_free(t, big);
}

void tki_run_COND(tki *t, const tki_op *op, tki_val *slots) {
  const tk_inst *in = op->in;
  exec_insts(t, &in->body[tki_scalar_bool(&slots[in->args[0]]) ? 0 : 1], slots);
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
  TK_ASSERT(!t->frame && f->nslots <= t->nslots);
  TK_ASSERT(t->pid[0] >= 0 && t->pid[0] < t->grid[0]);
  TK_ASSERT(t->pid[1] >= 0 && t->pid[1] < t->grid[1]);
  TK_ASSERT(t->pid[2] >= 0 && t->pid[2] < t->grid[2]);
  memset(slots, 0, f->nslots * sizeof *slots);
  for (size_t i = 0; i < f->nparams; i++) slots[f->params[i]] = t->params[i];
  if (t->settled_values) tki_settled_share(t, f, slots);
  t->frame = &frame;
  if (TK_UNLIKELY(t->observers != NULL)) tell_program(t, true);
  exec_body(t, &f->body, slots, NULL);
  if (TK_UNLIKELY(t->observers != NULL)) tell_program(t, false);
  TK_ASSERT(t->frame == &frame);
  release_slots(t, slots, f->nslots);
  t->frame = NULL;
  t->done++;
}
