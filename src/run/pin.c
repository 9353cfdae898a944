/* pin.c - the first operation of a program that two engines disagree about.
 *
 * Both run a form of the kernel that records what its operations give, for one
 * program.  The form is the one that the compiler makes code of, after its
 * passes, so that an operation here is one
 * there. */
#include "run/pin.h"

#include <math.h>
#include <string.h>

#include "base/format.h"
#include "device/device.h"
#include "ir/inst.h"
#include "ir/lanes.h"
#include "launch/areas.h"
#include "run/against.h"
#include "run/cause.h"
#include "run/contested.h"
#include "run/raced.h"
#include "run/statement.h"
#include "run/trace.h"
#include "typing/origin.h"

enum { WINDOWS = 64 }; /* of records that are looked at */
static const uint64_t window_bytes = (uint64_t)32 << 20;
/* An address above all tensors that a launch makes, where no host has memory of
 * its own. */
static const uint64_t trace_address = (uint64_t)3 << 44;

typedef struct pinning {
  const tkr_pinning *asked;
  tk_arena arena;
  tk_arena *answers;
  tkr_window window;
  tkr_sites sites;
  tk_unit unit;        /* the recording form's */
  char *own, *other;   /* traces */
  const char **latest; /* by site: the last record that the interpreter made */
  uint64_t *times;     /* by site: how often it was recorded */
  bool failed;         /* the other engine's run */
  tkr_memory left;     /* by the interpreter */
  tkr_memory after;
} pinning;

/* ---- running a form that records ----------------------------------------- */

static void make_form(tk_env *e, pinning *x) {
  tk_launch *l = x->asked->launch;
  tk_unit *from = tk_specialise(e, l);
  tk_program *p = tkv_single_assignment(e, &from->program);
  x->unit = (tk_unit){.key = "", .program = *p};
  tk_free(e, p, sizeof *p);
  p = &x->unit.program;
  for (size_t i = 0; i < p->nfuncs; i++) p->funcs[i]->program = p;
  tkv_run_passes(p, 0, NULL, NULL);
  tkr_trace_program(p, &x->window, &x->sites);
}

/* The trace is memory that the launch reaches by its address alone. */
static void lend_trace(pinning *x, char *memory) {
  tk_launch *l = x->asked->launch;
  tk_arg trace = {.name = "trace", .kind = TK_ARG_TENSOR};
  memset(memory, 0, x->window.size + TKR_TRACE_HEAD);
  memcpy(memory + sizeof x->window.skip, &x->window.skip,
         sizeof x->window.skip);
  trace.tensor = (tk_tensor){
      .data = memory,
      .dtype = TK_INT8,
      .rank = 1,
      .shape = {(int64_t)x->window.size + TKR_TRACE_HEAD},
      .strides = {1},
      .device_address = x->window.address,
  };
  TK_PUSH(&l->arena, &l->extras, trace);
}

static tk_status run_recording(pinning *x, tkr_run_fn run, char *memory) {
  tk_launch *l = x->asked->launch;
  tk_function *f = l->fn, recording = *f;
  recording.units = &x->unit;
  recording.fixed = true;
  lend_trace(x, memory);
  tkr_memory_put_back(x->asked->before);
  l->fn = &recording;
  tk_status st = tkr_run_watched(l, run, x->asked->options, NULL);
  l->fn = f;
  TK_ASSERT(l->extras.n); /* the trace is the last of them */
  l->extras.n--;
  return st;
}

/* ---- what differs ------------------------------------------------------- */

static tk_lane recorded_lane(pinning *x, tk_dtype d, const char *lanes,
                             size_t i) {
  return tk_lane_shown(x->answers, &x->asked->launch->text, d,
                       lanes + i * tk_dtype_size(d));
}

/* The latest record of the value in a slot; NULL: there is none. */
static const tkr_site *site_of(const pinning *x, const tk_func *f, int slot,
                               const char **lanes) {
  for (size_t i = 0; i < x->sites.n; i++) {
    const tkr_site *s = &x->sites.items[i];
    if (s->func != f || s->slot != slot || !x->latest[i]) continue;
    *lanes = x->latest[i];
    return s;
  }
  return NULL;
}

/* The lane of operand k of an instruction that is made lane by lane; NULL:
 * it was not recorded. */
static const char *operand_at(const pinning *x, const tk_func *f,
                              const tk_inst *in, int k, size_t lane,
                              const tkr_site **site) {
  const char *lanes;
  *site = site_of(x, f, in->args[k], &lanes);
  if (!*site) return NULL;
  size_t at = (*site)->type.rank ? tk_lanes_own(f, in, k, lane) : 0;
  TK_ASSERT(at < (size_t)tk_numel(&(*site)->type));
  return lanes + at * tk_lane_size(&(*site)->type);
}

static void add_operands(pinning *x, tkr_disagreement *d, tk_divergence *to) {
  const tk_inst *in = d->site->inst;
  bool own = tk_inst_info_of((tk_opcode)in->op)->lanes == TK_LANES_SAME;
  for (int k = 0; k < in->nargs && k < (int)TK_COUNT(d->operands); k++) {
    const tkr_site *s = site_of(x, d->site->func, in->args[k], &d->blocks[k]);
    if (!s || s->is_address || (s->type.rank && !own)) continue;
    d->operands[k] = operand_at(x, s->func, in, k, d->lane, &s);
    to->names[to->noperands] = s->func->slots[s->slot].name;
    to->operands[to->noperands++] =
        recorded_lane(x, (tk_dtype)s->type.elem, d->operands[k], 0);
  }
}

/* Of a sum: the product among its operands, and the sum as one operation. */
static void fuse_product(const pinning *x, tkr_disagreement *d) {
  const tk_inst *in = d->site->inst;
  tk_dtype type = (tk_dtype)d->site->type.elem;
  if (in->op != TK_I_BINARY || (type != TK_FP32 && type != TK_FP64)) return;
  bool minus = tk_binary_op(in) == TK_B_SUB;
  if (!minus && tk_binary_op(in) != TK_B_ADD) return;
  for (int k = 0; k < 2; k++) {
    const tkr_site *product, *factor;
    const char *left, *right;
    if (!operand_at(x, d->site->func, in, k, d->lane, &product) ||
        !d->operands[1 - k])
      continue;
    const tk_inst *mul = product->inst;
    if (!mul || mul->op != TK_I_BINARY || tk_binary_op(mul) != TK_B_MUL)
      continue;
    left = operand_at(x, product->func, mul, 0, d->lane, &factor);
    right = operand_at(x, product->func, mul, 1, d->lane, &factor);
    if (!left || !right) continue;
    double a = tk_lane_double(type, left), b = tk_lane_double(type, right);
    double c = tk_lane_double(type, d->operands[1 - k]);
    if (minus && k) a = -a;
    if (minus && !k) c = -c;
    d->has_fused = true;
    d->fused = type == TK_FP64 ? fma(a, b, c)
                               : (double)fmaf((float)a, (float)b, (float)c);
    return;
  }
}

static const char *pinned_operation(pinning *x, const tk_inst *in) {
  const char *name = tk_inst_info_of((tk_opcode)in->op)->name;
  const char *mode = tk_mode_name(in);
  return mode && *mode ? tk_arena_printf(x->answers, "%s %s", name, mode)
                       : name;
}

static void describe_place(const tk_func *f, tk_span span,
                           const char *operation, tk_divergence *to) {
  to->found = true;
  to->place = tk_place_of(f->src, span);
  to->function = f->name;
  to->operation = operation;
}

/* What is told of a disagreement. */
static void describe_first(pinning *x, tkr_disagreement *d, tk_divergence *to) {
  const tkr_site *s = d->site;
  TK_ASSERT(d->lane < d->n && s->inst);
  tk_dtype type = (tk_dtype)s->type.elem;
  size_t size = tk_dtype_size(type);
  describe_place(s->func, s->inst->span, pinned_operation(x, s->inst), to);
  to->before = x->times[s - x->sites.items];
  to->lanes = d->n;
  to->lane_rank = tk_lane_index(&s->type, d->lane, to->lane);
  to->own = recorded_lane(x, type, d->own, d->lane);
  to->other = recorded_lane(x, type, d->other, d->lane);
  to->ulp = tk_lane_distance(type, d->own + d->lane * size,
                             d->other + d->lane * size);
  add_operands(x, d, to);
  fuse_product(x, d);
  to->cause = tkr_cause_of(d);
}

/* How many lanes of a record differ; the first of them is d->lane. */
static uint64_t count_different(tkr_disagreement *d) {
  tk_dtype type = (tk_dtype)d->site->type.elem;
  size_t size = tk_dtype_size(type);
  uint64_t n = 0;
  for (size_t i = d->n; i-- > 0;) {
    if (tk_lane_same(type, d->own + i * size, d->other + i * size)) continue;
    d->lane = i;
    n++;
  }
  return n;
}

/* ---- ways --------------------------------------------------------------- */

static bool is_other_inst(void *ud, const tk_at *at, const tk_inst *in) {
  (void)at;
  return in != ud;
}

static bool body_has(const tk_func *f, const tk_body *b, const tk_inst *in) {
  tk_walk w = {.ud = (void *)(uintptr_t)in, .inst = is_other_inst};
  return !tk_walk_body(f, b, &w);
}

/* The innermost statement that has one of the two in its body and the other
 * elsewhere; NULL: there is none, a function returned. */
static const tk_stmt *parting_of(const tk_func *f, const tk_body *b,
                                 const tk_inst *own, const tk_inst *other) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = b->items[i], *inner;
    inner = parting_of(f, &st->body, own, other);
    if (!inner) inner = parting_of(f, &st->orelse, own, other);
    if (inner) return inner;
    if (body_has(f, &st->body, own) != body_has(f, &st->body, other)) return st;
  }
  return NULL;
}

/* All that was computed agrees, and yet the next operations are others: what
 * chooses the way is wrong. */
static void describe_parting(const pinning *x, const tkr_record *own,
                             const tkr_record *other, tk_divergence *to) {
  TK_ASSERT(own->site < x->sites.n && other->site < x->sites.n);
  const tkr_site *s = &x->sites.items[own->site],
                 *t = &x->sites.items[other->site];
  const tk_stmt *st =
      s->func == t->func && s->inst && t->inst
          ? parting_of(s->func, &s->func->body, s->inst, t->inst)
          : NULL;
  if (!st) return;
  bool inside = body_has(s->func, &st->body, s->inst);
  describe_place(s->func, st->span,
                 st->kind == TK_S_IF    ? "if"
                 : st->kind == TK_S_FOR ? "for"
                                        : "while",
                 to);
  to->own.text = inside ? "in its body" : "past its body";
  to->other.text = inside ? "past its body" : "in its body";
  to->lanes = to->different = 1;
  to->ulp = UINT64_MAX;
  to->cause = TK_CAUSE_MISCOMPILE;
}

/* ---- stores ------------------------------------------------------------- */

typedef struct storing {
  const pinning *x;
  uint64_t address;  /* of the first byte that differs */
  const tk_inst *in; /* the last write that has a pointer there */
  const tk_func *f;
} storing;

static bool points_there(const tkr_site *s, const char *lanes,
                         uint64_t address) {
  uint64_t at,
      size = tk_dtype_size((tk_dtype)s->func->slots[s->slot].type.elem);
  for (int64_t i = 0; i < tk_numel(&s->type); i++) {
    memcpy(&at, lanes + i * 8, sizeof at);
    if (address - at < size) return true;
  }
  return false;
}

static bool find_store(void *ud, const tk_at *at, const tk_inst *in) {
  storing *f = ud;
  const char *lanes;
  bool writes =
      in->op == TK_I_STORE || in->op == TK_I_ATOMIC || in->op == TK_I_CAS;
  const tkr_site *s =
      writes ? site_of(f->x, at->func, in->args[0], &lanes) : NULL;
  if (s && s->is_address && points_there(s, lanes, f->address)) {
    f->in = in;
    f->f = at->func;
  }
  return true;
}

/* The address of the first byte that the engines leave different; 0: none. */
static uint64_t first_difference(const pinning *x) {
  tk_memory m;
  for (size_t i = 0; tk_memory_at(x->asked->launch, i, &m); i++)
    for (size_t k = 0; k < x->left.n; k++) {
      const tkr_kept *kept = &x->left.items[k];
      for (size_t b = 0; m.host == kept->at && b < kept->n; b++)
        if (kept->before[b] != kept->at[b]) return m.lo + b;
    }
  return 0;
}

/* Every operation agrees, and memory does not: the store is wrong that has a
 * pointer there, whether or not its mask is on, unless others store there. */
static void describe_store(pinning *x, tk_divergence *to) {
  storing f = {.x = x, .address = first_difference(x)};
  if (!f.address) return;
  tk_walk w = {.ud = &f, .inst = find_store};
  for (size_t i = 0; i < x->unit.program.nfuncs; i++)
    tk_walk_func(x->unit.program.funcs[i], &w);
  if (!f.in) return;
  describe_place(f.f, f.in->span, pinned_operation(x, f.in), to);
  tkr_memory_put_back(x->asked->before);
  bool raced = tkr_is_contested(x->asked->launch, x->asked->own,
                                x->asked->options, f.address);
  to->own.text = raced ? "what this order leaves" : "what its operands say";
  to->other.text = raced ? "what another order leaves" : "something else";
  to->lanes = to->different = 1;
  to->ulp = UINT64_MAX;
  to->cause = raced ? TK_CAUSE_RACE : TK_CAUSE_MISCOMPILE;
}

/* ---- the first difference ----------------------------------------------- */

/* Looks for the first record that differs, and tells of it; *end gets the end
 * of the last one that was looked at. */
static void find_first(pinning *x, tk_divergence *to, size_t *end) {
  tkr_record own, other;
  size_t at = 0, there = 0;
  while (tkr_trace_next(x->own, &x->window, &x->sites, &at, &own) &&
         tkr_trace_next(x->other, &x->window, &x->sites, &there, &other)) {
    const tkr_site *s = &x->sites.items[own.site];
    if (own.site != other.site) {
      describe_parting(x, &own, &other, to);
      return;
    }
    tkr_disagreement d = {.site = s,
                          .own = own.lanes,
                          .other = other.lanes,
                          .n = (size_t)tk_numel(&s->type)};
    *end = at;
    to->different = s->inst ? count_different(&d) : 0;
    if (to->different) {
      describe_first(x, &d, to);
      return;
    }
    x->latest[own.site] = own.lanes;
    x->times[own.site]++;
  }
}

/* Pointers as the launch has them, where memory was moved for the engine. */
static void restore_addresses(pinning *x) {
  tkr_record r;
  size_t at = 0;
  while (tkr_trace_next(x->other, &x->window, &x->sites, &at, &r)) {
    const tkr_site *s = &x->sites.items[r.site];
    char *lanes = x->other + (r.lanes - x->other);
    for (int64_t i = 0; s->is_address && i < tk_numel(&s->type); i++) {
      uint64_t address;
      memcpy(&address, lanes + i * 8, sizeof address);
      address = tkg_launch_address(address);
      memcpy(lanes + i * 8, &address, sizeof address);
    }
  }
}

/* What a program did before it failed is recorded, too. */
static tk_status run_other(tk_env *e, pinning *x) {
  size_t diags = e->ndiags;
  tk_status st = run_recording(x, x->asked->other, x->other);
  restore_addresses(x);
  if (st != TK_FINDING) return st;
  tk_diag_truncate(e, diags);
  x->failed = true;
  return TK_OK;
}

/* With every operation recorded the engines agree, so what differs may depend
 * on which lane, or which program, comes first. */
static void look_for_race(pinning *x, tk_divergence *to) {
  const tkr_pinning *a = x->asked;
  tkr_memory_put_back(a->before);
  if (tkr_find_race(a->launch, a->own, a->options, x->answers, &to->place,
                    &to->race))
    to->cause = TK_CAUSE_RACE;
}

/* Records both engines, window after window, until they differ. */
static void record_windows(tk_env *e, pinning *x, tk_divergence *found) {
  const tkr_pinning *a = x->asked;
  make_form(e, x);
  x->times = TK_NEWN(&x->arena, uint64_t, x->sites.n + 1);
  for (int i = 0; i < WINDOWS && !found->found; i++) {
    size_t end = 0;
    x->latest = TK_NEWN(&x->arena, const char *, x->sites.n + 1);
    tk_status st = run_recording(x, a->own, x->own);
    if (st == TK_OK) st = tkr_memory_keep(&x->left, a->launch, &x->arena);
    if (st == TK_OK) st = run_other(e, x);
    if (st == TK_OK) find_first(x, found, &end);
    bool more = end && x->window.skip + end < tkr_trace_bytes(x->own);
    if (st == TK_OK && !more && !found->found && !x->failed)
      describe_store(x, found);
    if (st != TK_OK) tk_throw(e, st);
    if (!more) break;
    x->window.skip += end;
    x->left.n = 0;
  }
  if (!found->found && !x->failed) look_for_race(x, found);
}

static void pin_windows(tk_env *e, void *ud) {
  pinning *x = ud;
  const tkr_pinning *a = x->asked;
  tk_divergence *found = TK_NEW(x->answers, tk_divergence);
  *found = (tk_divergence){.cause = TK_CAUSE_NOT_RECORDED,
                           .engine = a->engine,
                           .recorder = a->recorder,
                           .unfused = a->unfused};
  memcpy(found->program, a->program, sizeof found->program);
  a->launch->divergence = found;
  if (a->unfused) {
    found->cause = TK_CAUSE_CONTRACTION;
    return;
  }
  if (a->other) record_windows(e, x, found);
  if (found->cause != TK_CAUSE_NOT_RECORDED || x->failed || !a->witnessed)
    return;
  tk_status st = tkr_find_statement(a, found);
  if (st != TK_OK) tk_throw(e, st);
}

static void make_traces(tk_env *e, void *ud) {
  pinning *x = ud;
  (void)e;
  x->own = tk_arena_alloc(&x->arena, window_bytes + TKR_TRACE_HEAD);
  x->other = tk_arena_alloc(&x->arena, window_bytes + TKR_TRACE_HEAD);
}

tk_status tkr_pin(const tkr_pinning *asked) {
  tk_session *s = asked->launch->session;
  pinning x = {.asked = asked, .answers = &asked->launch->answers};
  x.window = (tkr_window){.address = trace_address, .size = window_bytes};
  memcpy(x.window.program, asked->program, sizeof x.window.program);
  tk_arena_init(&x.arena, &s->env);
  tk_status st = tk_session_guard(s, make_traces, &x);
  if (st == TK_OK) st = tkr_memory_keep(&x.after, asked->launch, &x.arena);
  if (st == TK_OK) st = tk_session_guard(s, pin_windows, &x);
  tkr_memory_put_back(&x.after);
  tk_arena_free(&x.unit.program.arena);
  tk_arena_free(&x.arena);
  return st;
}
