/* flow.c - marks of lanes, kept beside the slots of each frame.
 *
 * A frame's table has a value of 16-bit lanes for each slot, or nothing where
 * no lane is marked; most frames have no table at all.  Marks live in the
 * run's pool, like the blocks they belong to.
 */
#include "interp/check/flow.h"

#include "interp/kernels.h"

/* ---- tables -------------------------------------------------------------- */

static const tkc_flow_id no_mark = 0;

static tki_val *mark_table(const tki *t) {
  return t->frame->shadow[TKI_SHADOW_UNDEF];
}

bool tkc_flow_marked(const tki *t, int slot) {
  const tki_val *table = mark_table(t);
  return table && !tki_is_zero(&table[slot]);
}

tkc_flow_marks tkc_flow_of(const tki *t, int slot) {
  tki_val *table = mark_table(t);
  if (!table || tki_is_zero(&table[slot])) return (tkc_flow_marks){&no_mark, 0};
  return (tkc_flow_marks){tki_lanes(&table[slot]),
                          !tki_is_uniform(&table[slot])};
}

tki_val tkc_flow_new(tki *t, const tk_type *type, size_t n) {
  return type->rank ? tki_block_zero(t, n, sizeof(tkc_flow_id))
                    : tki_make_scalar(0);
}

void tkc_flow_clear(tki *t, int slot) {
  tki_val *table = mark_table(t);
  if (!table) return;
  tki_release(t, &table[slot]);
  table[slot] = tki_make_scalar(0);
}

enum { PIECE = 64 };

TKI_CLONES static bool piece_is(const tkc_flow_id *m, tkc_flow_id id) {
  tkc_flow_id other = 0;
  for (size_t i = 0; i < PIECE; i++) other |= m[i] ^ id;
  return !other;
}

size_t tkc_flow_run_end(const tkc_flow_marks *m, size_t i, size_t n) {
  TK_ASSERT(i < n);
  tkc_flow_id id = tkc_flow_at(m, i);
  if (!m->step) return n;
  while (i + PIECE <= n && piece_is(m->id + i, id)) i += PIECE;
  while (i < n && m->id[i] == id) i++;
  return i;
}

static bool any_mark(const tki_val *v, size_t n) {
  tkc_flow_marks m = {tki_lanes(v), 1};
  if (tki_is_uniform(v)) return !tki_is_zero(v);
  return n && (m.id[0] || tkc_flow_run_end(&m, 0, n) < n);
}

void tkc_flow_set(tki *t, int slot, tki_val marks, size_t n) {
  tki_val *table = mark_table(t);
  /* Marks are beside the lanes of the slot. */
  TK_ASSERT((size_t)slot < t->frame->func->nslots &&
            n == (size_t)tk_numel(&t->frame->func->slots[slot].type));
  if (!any_mark(&marks, n)) {
    tki_release(t, &marks);
    tkc_flow_clear(t, slot);
    return;
  }
  if (!table) {
    size_t bytes = t->frame->func->nslots * sizeof *table;
    t->frame->shadow[TKI_SHADOW_UNDEF] = table = tki_scratch_zero(t, bytes + 1);
  }
  tki_release(t, &table[slot]);
  table[slot] = marks;
}

/* ---- sources ------------------------------------------------------------- */

const tkc_flow_source *tkc_flow_source_of(const tkc_flow *f, tkc_flow_id id) {
  TK_ASSERT(id && id <= f->sources.n); /* 0 marks nothing */
  return &f->sources.items[id - 1];
}

tkc_flow_id tkc_flow_known(const tkc_flow *f, const tki *t, tkc_flow_kind kind,
                           int why) {
  tkc_flow_id id = f->last[t->frame->inst->id];
  const tkc_flow_source *s = id ? tkc_flow_source_of(f, id) : NULL;
  return s && s->kind == kind && s->why == why ? id : 0;
}

tkc_flow_id tkc_flow_known_at(const tkc_flow *f, const tki *t, int why,
                              size_t lane) {
  for (size_t k = f->last[t->frame->inst->id]; k; k--) {
    const tkc_flow_source *s = tkc_flow_source_of(f, (tkc_flow_id)k);
    if (s->in == t->frame->inst && s->kind == TKC_FLOW_UNDEF && s->why == why &&
        !s->mixed && s->index == lane)
      return (tkc_flow_id)k;
  }
  return 0;
}

tkc_flow_id tkc_flow_begin(tkc_flow *f, tki *t, tkc_flow_kind kind, int why,
                           size_t i, const char *text) {
  if (f->sources.n == UINT16_MAX) return UINT16_MAX;
  tkc_flow_source s = {.kind = kind,
                       .at = tkc_here(t),
                       .in = t->frame->inst,
                       .why = why,
                       .text = tk_arena_strdup(&f->c->run, text),
                       .lane = tkc_lane(f->c, &t->frame->inst->type, i),
                       .index = i};
  TK_PUSH(&f->c->run, &f->sources, s);
  return f->last[s.in->id] = (tkc_flow_id)f->sources.n;
}

/* ---- frames -------------------------------------------------------------- */

static void pass_arguments(tki *t) {
  tki_frame *f = t->frame;
  const tk_inst *call = tki_call_of(f);
  tki_val *from = f->caller ? f->caller->shadow[TKI_SHADOW_UNDEF] : NULL;
  if (!call || !from) return;
  for (size_t i = 0; i < f->func->nparams && i < call->nargs; i++) {
    tki_val *v = &from[call->args[i]];
    size_t n = (size_t)tk_numel(&f->func->slots[f->func->params[i]].type);
    if (!tki_is_zero(v)) tkc_flow_set(t, f->func->params[i], tki_share(v), n);
  }
}

static void drop_returned(tkc_flow *f, tki *t) {
  for (size_t i = 0; i < f->nreturned; i++) tki_release(t, &f->returned[i]);
  f->nreturned = 0;
}

/* Keeps the marks of what the function returns until its call ends. */
static void keep_returned_marks(tkc_flow *f, tki *t) {
  tki_val *table = mark_table(t);
  const tk_stmt *st = t->frame->stmt;
  drop_returned(f, t);
  if (!table) return;
  size_t n = st && st->kind == TK_S_RETURN ? st->nresults : 0;
  while (f->cap_returned < n)
    f->returned = tk_arena_grow(&f->c->run, f->returned, sizeof *f->returned,
                                &f->cap_returned);
  for (size_t i = 0; i < n; i++)
    f->returned[i] = tki_share(&table[st->results[i]]);
  f->nreturned = n;
  for (size_t i = 0; i < t->frame->func->nslots; i++) tki_release(t, &table[i]);
  tki_scratch_free(t, t->frame->shadow[TKI_SHADOW_UNDEF]);
  t->frame->shadow[TKI_SHADOW_UNDEF] = NULL;
}

void tkc_flow_frame(void *ud, tki *t, bool begins) {
  if (begins)
    pass_arguments(t);
  else
    keep_returned_marks(ud, t);
}

static void take_returned_marks(tkc_flow *f, tki *t, const tk_inst *in) {
  const tk_func *callee = tk_call_callee(in);
  TK_ASSERT(f->nreturned <= in->nres);
  for (size_t i = 0; i < in->nres; i++) {
    tkc_flow_clear(t, in->res[i]);
    if (i >= f->nreturned || tki_is_zero(&f->returned[i])) continue;
    size_t n = (size_t)tk_numel(&callee->result_types[i]);
    tkc_flow_set(t, in->res[i], tki_share(&f->returned[i]), n);
  }
  drop_returned(f, t);
}

/* ---- hooks --------------------------------------------------------------- */

/* Reports a mark of a slot that was just set, if the statement branches on
 * it. */
static void check_decision(tkc_flow *f, tki *t, const tk_stmt *st, int slot) {
  bool branch = st->kind == TK_S_IF || st->kind == TK_S_WHILE;
  if (branch && slot == st->cond)
    tkc_flow_branch(f, t, slot, "decides a branch");
  if (st->kind == TK_S_FOR && slot == st->lb)
    tkc_flow_branch(f, t, slot, "is the start of a loop's range");
  if (st->kind == TK_S_FOR && slot == st->ub)
    tkc_flow_branch(f, t, slot, "is the end of a loop's range");
}

/* Marks all lanes of a slot; what the text and the name say is why. */
static void mark_undefined(tkc_flow *f, tki *t, int slot, int why,
                           const char *text, const char *name) {
  const tk_type *type = &t->frame->func->slots[slot].type;
  size_t n = (size_t)tk_numel(type);
  if (!(f->kinds & TKC_FLOW_UNDEF)) return;
  tkc_flow_id id = tkc_flow_known(f, t, TKC_FLOW_UNDEF, why);
  if (!id)
    id = tkc_flow_begin(f, t, TKC_FLOW_UNDEF, why, 0,
                        tk_arena_printf(&f->c->run, text, name));
  tki_val marks = tkc_flow_new(t, type, n);
  tkc_flow_id *d = tki_writable(&marks);
  for (size_t i = 0; i < n; i++) d[i] = id;
  tkc_flow_set(t, slot, marks, n);
}

void tkc_flow_after(void *ud, tki *t, const tk_inst *in, const tki_val *args) {
  tkc_flow *f = ud;
  if (in->op == TK_I_CALL) {
    take_returned_marks(f, t, in);
    return;
  }
  if (in->op == TK_I_UNDEF)
    mark_undefined(f, t, in->res[0], TKC_FLOW_NO_RETURN,
                   "%s ends here without a return", t->frame->func->name);
  else
    tkc_flow_pass(f, t, in, args);
  if (t->frame->stmt && mark_table(t))
    for (int k = 0; k < in->nres; k++)
      check_decision(f, t, t->frame->stmt, in->res[k]);
}

/* Marks of a settled value are made anew by each program. */
static bool tkc_flow_settled(void *ud, tki *t, const tk_inst *in) {
  (void)ud;
  for (int k = 0; k < in->nres; k++)
    if (tkc_flow_marked(t, in->res[k])) return false;
  return true;
}

static bool tkc_flow_idle(void *ud, tki *t, const tk_inst *in) {
  (void)t;
  return tkc_flow_is_idle(ud, in);
}

/* A statement that branches on a variable, and not on a temporary, has no
 * instruction that sets it. */
static void tkc_flow_stmt(void *ud, tki *t, const tk_stmt *st) {
  const tk_slot *slots = t->frame->func->slots;
  int used[3] = {-1, -1, -1};
  if (!mark_table(t)) return;
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE) used[0] = st->cond;
  if (st->kind == TK_S_FOR) used[1] = st->lb, used[2] = st->ub;
  for (int k = 0; k < 3; k++)
    if (used[k] >= 0 && slots[used[k]].name) check_decision(ud, t, st, used[k]);
}

static void tkc_flow_trip(void *ud, tki *t, const tk_stmt *st) {
  (void)ud;
  if (st->kind == TK_S_FOR) tkc_flow_clear(t, st->iv);
}

static void see_access(void *ud, tki *t, const tki_access *a) {
  tkc_flow_access(ud, t, a);
}

/* A jump has skipped the statement that would have assigned the slot. */
static void tkc_flow_unassigned(void *ud, tki *t, int slot) {
  mark_undefined(ud, t, slot, TKC_FLOW_SKIPPED,
                 "%s was not assigned here: a jump skipped this",
                 t->frame->func->slots[slot].name);
}

/* A bad access ends the run before observers are told of the access. */
static void tkc_flow_stop(void *ud, tki *t) {
  const tk_inst *in = t->frame ? t->frame->inst : NULL;
  if (in && tk_inst_accesses(in)) tkc_flow_bad_address(ud, t, in);
}

/* Returns what is known of a region's memory; views of the same memory share
 * it. */
static tkc_fresh *fresh_of_region(tkc_flow *f, const tki *t, size_t i) {
  const tki_region *r = &t->regions[i];
  unsigned char *map = r->tensor->written;
  for (size_t k = 0; k < i && map; k++)
    if (t->regions[k].tensor && t->regions[k].tensor->written == map)
      return f->fresh[k];
  return tkc_fresh_new(&f->c->run, map, r->hi - r->lo);
}

static void find_fresh(tkc_flow *f, const tki *t) {
  f->fresh = TK_NEWN(&f->c->run, tkc_fresh *, t->nregions + 1);
  for (size_t i = 0; i < t->nregions && !f->c->assume_written; i++) {
    const tk_tensor *x = t->regions[i].tensor;
    if (x && (x->written || x->flags & TK_TENSOR_UNWRITTEN))
      f->fresh[i] = fresh_of_region(f, t, i);
  }
}

tkc_flow *tkc_flow_watching(const tki *t) {
  const tki_observer *o = t->observers;
  while (o && o->after != tkc_flow_after) o = o->next;
  return o ? o->ud : NULL;
}

void tkc_flow_start(tkc_flow *f, tkc *c, const tki *t, unsigned kinds) {
  TK_ASSERT(!f->sources.n); /* the arena of the run begins empty */
  f->c = c;
  f->kinds = kinds;
  f->last = TK_NEWN(&c->run, tkc_flow_id, t->program->ninsts + 1);
  f->logs = tkc_flow_has_log(t->program);
  for (int k = 0; k < TKC_FLOW_UNDERFLOWN; k++)
    TK_PUSH(&c->run, &f->sources, ((tkc_flow_source){.kind = TKC_FLOW_ZERO}));
  find_fresh(f, t);
  f->observer = (tki_observer){.ud = f,
                               .frame = tkc_flow_frame,
                               .stmt = tkc_flow_stmt,
                               .trip = tkc_flow_trip,
                               .after = tkc_flow_after,
                               .settled = tkc_flow_settled,
                               .idle = tkc_flow_idle,
                               .skips_scans = true,
                               .access = see_access,
                               .rows = true,
                               .unassigned = tkc_flow_unassigned,
                               .stop = tkc_flow_stop};
}

void tkc_flow_end(tkc_flow *f, tki *t) {
  drop_returned(f, t);
}

/* Returns the observer that all kinds of marks share, after making it look for
 * these kinds as well. */
static tkc_flow *shared_flow(tkc *c, tki *t, unsigned kinds) {
  static const tkc_id ids[] = {TKC_UNDEF, TKC_NAN, TKC_OVERFLOW};
  for (size_t i = 0; i < TK_COUNT(ids); i++) {
    tkc_flow *f = c->ud[ids[i]];
    if (!f) continue;
    f->kinds |= kinds;
    return f;
  }
  tkc_flow *f = TK_NEW(&c->run, tkc_flow);
  tkc_flow_start(f, c, t, kinds);
  tki_observe(t, &f->observer);
  return f;
}

void *tkc_UNDEF_begin(tkc *c, tki *t) {
  return shared_flow(c, t, TKC_FLOW_UNDEF);
}

void *tkc_NAN_begin(tkc *c, tki *t) {
  return shared_flow(c, t, TKC_FLOW_NAN | TKC_FLOW_INF);
}

void *tkc_OVERFLOW_begin(tkc *c, tki *t) {
  return shared_flow(c, t, TKC_FLOW_OVERFLOW | TKC_FLOW_DIVISION);
}

/* Every finding was reported where it happened; the caller is told what was
 * written. */
void tkc_UNDEF_end(tkc *c, void *ud, tki *t, tk_status st) {
  const tkc_flow *f = ud;
  (void)c, (void)st;
  for (size_t i = 0; i < t->nregions; i++)
    if (f->fresh[i]) tkc_fresh_keep(f->fresh[i]);
}

void tkc_NAN_end(tkc *c, void *ud, tki *t, tk_status st) {
  (void)c, (void)ud, (void)t, (void)st;
}

void tkc_OVERFLOW_end(tkc *c, void *ud, tki *t, tk_status st) {
  tkc_NAN_end(c, ud, t, st);
}
