/* gen.c - merges, instructions, control flow and functions of the code for a
 * thread. */
#include <string.h>

#include "nvptx/gen.h"

/* What is computed in a body that may not run is not there after it. */
static void leave_scope(tkv_gen *g, size_t outside) {
  while (g->scoped.n > outside) {
    tkv_value *v = g->scoped.items[--g->scoped.n];
    v->versions = v->versions->next;
  }
}

/* ---- merges --------------------------------------------------------------
 */

typedef struct search {
  tkv_gen *g;
  int slot, depth;
  bool found;
  tkv_dist dist;
} search;

static bool wish_of_slot(search *s, int slot);

static bool look_at_maker(void *ud, const tk_at *at, const tk_inst *in) {
  search *s = ud;
  (void)at;
  bool makes = false;
  for (int k = 0; k < in->nres; k++) makes |= in->res[k] == s->slot;
  if (!makes || in->op == TK_I_COND) return true;
  const tk_func *f = s->g->frame->f;
  tk_type type = f->slots[s->slot].type;
  tkv_home *home = s->g->rules[in->op].home;
  if (home) {
    s->dist = home(s->g, in);
    s->found = true;
  } else if (tk_inst_lanes(in) == TK_LANES_SAME || in->op == TK_I_COPY) {
    for (int k = 0; k < in->nargs && !s->found; k++)
      if (tk_same_shape(&f->slots[in->args[k]].type, &type))
        wish_of_slot(s, in->args[k]);
  }
  return !s->found;
}

/* In which layout the instructions that make a slot would have it. */
static bool wish_of_slot(search *s, int slot) {
  enum { DEEPEST = 12 };
  int around = s->slot;
  if (s->depth == DEEPEST) return false;
  s->depth++;
  s->slot = slot;
  tk_walk_func(s->g->frame->f, &(tk_walk){.ud = s, .inst = look_at_maker});
  s->depth--;
  s->slot = around;
  return s->found;
}

static tkv_dist dist_of_merge(tkv_gen *g, int slot, const tkv_value *v) {
  const tk_func *f = g->frame->f;
  const tk_type *t = &f->slots[slot].type;
  if (t->ptr) return tkv_dist_access(t, &g->facts.of[f->id][slot], g->warps);
  search s = {.g = g, .slot = -1};
  return wish_of_slot(&s, slot) ? s.dist : tkv_home_of(g, v);
}

static void begin_merge(tkv_gen *g, tkv_merge *m, tk_type t, tkv_dist dist) {
  m->type = t;
  m->dist = dist;
  m->at = TK_NEWN(g->arena, const char *, (size_t)1 << dist.nreg);
  for (uint32_t r = 0; r < (uint32_t)1 << dist.nreg; r++) {
    uint32_t first = tkv_dist_canonical(&dist, r);
    m->at[r] = first < r ? m->at[first] : tkv_variable(g, &t);
  }
}

static void store_merge(tkv_gen *g, tkv_merge *m, tkv_value *v) {
  const char **reg = tkv_at(g, v, &m->dist);
  for (uint32_t r = 0; r < (uint32_t)1 << m->dist.nreg; r++)
    if (tkv_dist_canonical(&m->dist, r) == r)
      tkv_do(g, "store %s %s, ptr %s", tkv_lane_type(&m->type), reg[r],
             m->at[r]);
}

static tkv_value *load_merge(tkv_gen *g, const tkv_merge *m) {
  const char *type = tkv_lane_type(&m->type);
  if (!m->type.rank || g->frame->lanes)
    return tkv_scalar(g, m->type,
                      tkv_emit(g, "load %s, ptr %s", type, m->at[0]));
  tkv_value *v = tkv_block(g, m->type, &m->dist);
  for (uint32_t r = 0; r < (uint32_t)1 << m->dist.nreg; r++) {
    uint32_t first = tkv_dist_canonical(&m->dist, r);
    v->home->reg[r] = first < r
                          ? v->home->reg[first]
                          : tkv_emit(g, "load %s, ptr %s", type, m->at[r]);
  }
  return v;
}

static bool is_merge(const tkv_gen *g, int slot) {
  return g->frame->makers[slot] > 1;
}

tkv_value *tkv_get(tkv_gen *g, int slot) {
  tkv_frame *fr = g->frame;
  if (is_merge(g, slot)) return load_merge(g, &fr->merge[slot]);
  TK_ASSERT(fr->value[slot]);
  return fr->value[slot];
}

void tkv_set(tkv_gen *g, int slot, tkv_value *v) {
  tkv_frame *fr = g->frame;
  tkv_merge *m = &fr->merge[slot];
  if (!is_merge(g, slot)) {
    fr->value[slot] = v;
    return;
  }
  tkv_dist none = {0};
  tk_type t = fr->f->slots[slot].type;
  if (!m->at)
    begin_merge(g, m, t,
                t.rank && !fr->lanes ? dist_of_merge(g, slot, v) : none);
  store_merge(g, m, v);
}

/* ---- instructions
 * ------------------------------------------------------------ */

static void note_home(tkv_gen *g, const tk_inst *in) {
  tkv_frame *fr = g->frame;
  if (!in->nres || fr->lanes) return;
  int slot = in->res[0];
  if (is_merge(g, slot) && fr->merge[slot].type.rank)
    g->homes[in->id] = &fr->merge[slot].dist;
  else if (!is_merge(g, slot) && fr->value[slot]->home)
    g->homes[in->id] = &fr->value[slot]->home->dist;
}

void tkv_gen_insts(tkv_gen *g, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    tkv_set_location(g, g->frame->f->src, in->span);
    g->inst = in;
    g->rules[in->op].lower(g, in);
    note_home(g, in);
  }
}

void tkv_gen_nothing(tkv_gen *g, const tk_inst *in) {
  (void)g;
  (void)in;
}

void tkv_gen_pid(tkv_gen *g, const tk_inst *in) {
  bool pid = in->op == TK_I_PID;
  int axis = (int)(pid ? tk_program_id_axis(in) : tk_num_programs_axis(in));
  const char *name = tkv_emit(g, "call i32 @llvm.nvvm.read.ptx.sreg.%s.%c()",
                              pid ? "ctaid" : "nctaid", "xyz"[axis]);
  tkv_set(g, in->res[0], tkv_scalar(g, in->type, name));
}

void tkv_gen_hint(tkv_gen *g, const tk_inst *in) {
  tkv_set(g, in->res[0], tkv_arg(g, in, 0));
}

void tkv_gen_clock(tkv_gen *g, const tk_inst *in) {
  tkv_set(
      g, in->res[0],
      tkv_scalar(g, in->type,
                 tkv_emit(g, "call i64 @llvm.nvvm.read.ptx.sreg.clock64()")));
}

void tkv_gen_barrier(tkv_gen *g, const tk_inst *in) {
  (void)in;
  tkv_barrier(g);
}

/* It is computed when somebody says where; a scalar is at once. */
void tkv_gen_lazy(tkv_gen *g, const tk_inst *in) {
  tkv_value *v = tkv_new_value(g, in->type);
  v->in = in;
  v->args = TK_NEWN(g->arena, tkv_value *, (size_t)in->nargs + 1);
  for (int k = 0; k < in->nargs; k++) v->args[k] = tkv_arg(g, in, k);
  bool moves = in->nargs && tkv_same_lanes(v);
  tkv_dist one = {.nwarp = tkv_log2(g->warps)};
  if (moves && (g->frame->lanes || tk_same_shape(&in->type, &in->from)) &&
      in->op != TK_I_PERMUTE) {
    *v = *v->args[0];
    v->type = in->type;
  } else if (!in->type.rank || g->frame->lanes) {
    v->one = tkv_compute(g, v, &one)[0];
  }
  tkv_set(g, in->res[0], v);
}

/* It is computed at the home of an operand, or when somebody says where. */
void tkv_gen_lane_wise(tkv_gen *g, const tk_inst *in) {
  tkv_value *v = tkv_new_value(g, in->type);
  tkv_dist one = {.nwarp = tkv_log2(g->warps)};
  v->in = in;
  v->args = TK_NEWN(g->arena, tkv_value *, (size_t)in->nargs + 1);
  const tkv_dist *home = !in->type.rank || g->frame->lanes ? &one : NULL;
  for (int k = 0; k < in->nargs; k++) {
    v->args[k] = tkv_arg(g, in, k);
    if (!home && v->args[k]->home) home = &v->args[k]->home->dist;
  }
  if (home == &one) {
    v->one = tkv_compute(g, v, home)[0];
  } else if (home) {
    v->home = tkv_new_version(g, home);
    v->home->reg = tkv_compute(g, v, home);
  }
  tkv_set(g, in->res[0], v);
}

/* ---- control flow
 * ------------------------------------------------------------ */

static void gen_body(tkv_gen *g, const tk_body *b);

static const char *flag_of(tkv_gen *g, int slot) {
  return tkv_get(g, slot)->one;
}

static void go_to(tkv_gen *g, const char *label) {
  tkv_do(g, "br label %%%s", label);
}

static void branch(tkv_gen *g, const char *flag, const char *yes,
                   const char *no) {
  tkv_do(g, "br i1 %s, label %%%s, label %%%s", flag, yes, no);
}

static void gen_if(tkv_gen *g, const tk_stmt *st) {
  const char *yes = tkv_new_name(g, "then"), *no = tkv_new_name(g, "else"),
             *end = tkv_new_name(g, "end");
  size_t outside = g->scoped.n;
  branch(g, flag_of(g, st->cond), yes, no);
  tkv_label(g, yes);
  gen_body(g, &st->body);
  leave_scope(g, outside);
  go_to(g, end);
  tkv_label(g, no);
  gen_body(g, &st->orelse);
  leave_scope(g, outside);
  go_to(g, end);
  tkv_label(g, end);
}

void tkv_gen_cond(tkv_gen *g, const tk_inst *in) {
  const char *label[] = {tkv_new_name(g, "then"), tkv_new_name(g, "else")},
             *end = tkv_new_name(g, "end");
  size_t outside = g->scoped.n;
  branch(g, tkv_arg(g, in, 0)->one, label[0], label[1]);
  for (int k = 0; k < 2; k++) {
    tkv_label(g, label[k]);
    tkv_gen_insts(g, &in->body[k]);
    leave_scope(g, outside);
    go_to(g, end);
  }
  tkv_label(g, end);
}

tkv_loop tkv_begin_loop(tkv_gen *g, const tk_type *t, tk_compare while_it_is,
                        const char *from, const char *end) {
  const char *before = tkv_new_name(g, "before"),
             *body = tkv_new_name(g, "body");
  tkv_loop l = {tkv_lane_type(t),        tkv_new_name(g, "%i"),
                tkv_new_name(g, "%i"),   tkv_new_name(g, "next"),
                tkv_new_name(g, "loop"), tkv_new_name(g, "end")};
  go_to(g, before);
  tkv_label(g, before);
  go_to(g, l.head);
  tkv_label(g, l.head);
  tkv_do(g, "%s = phi %s [ %s, %%%s ], [ %s, %%%s ]", l.i, l.type, from, before,
         l.more, l.next);
  branch(g, tkv_compare(g, while_it_is, t, l.i, end), body, l.end);
  tkv_label(g, body);
  return l;
}

tkv_loop tkv_begin_count(tkv_gen *g, const char *from, const char *n) {
  tk_type i32 = tk_scalar(TK_INT32);
  return tkv_begin_loop(g, &i32, TK_C_LT, from, n);
}

void tkv_end_loop(tkv_gen *g, const tkv_loop *l, const char *step) {
  go_to(g, l->next);
  tkv_label(g, l->next);
  tkv_do(g, "%s = add %s %s, %s", l->more, l->type, l->i, step);
  go_to(g, l->head);
  tkv_label(g, l->end);
}

static void gen_for(tkv_gen *g, const tk_stmt *st) {
  tk_type t = g->frame->f->slots[st->iv].type;
  const char *from = flag_of(g, st->lb), *end = flag_of(g, st->ub),
             *step = flag_of(g, st->step);
  size_t outside = g->scoped.n;
  tk_compare up = TKV_MUTANT(LOOP) ? TK_C_LE : TK_C_LT,
             going_on = st->down ? TK_C_GT : up;
  tkv_loop l = tkv_begin_loop(g, &t, going_on, from, end);
  tkv_set(g, st->iv, tkv_scalar(g, t, l.i));
  gen_body(g, &st->body);
  leave_scope(g, outside);
  tkv_end_loop(g, &l, step);
}

static void gen_while(tkv_gen *g, const tk_stmt *st) {
  const char *head = tkv_new_name(g, "while"), *body = tkv_new_name(g, "body"),
             *end = tkv_new_name(g, "end");
  go_to(g, head);
  tkv_label(g, head);
  tkv_gen_insts(g, &st->insts);
  size_t outside = g->scoped.n;
  branch(g, flag_of(g, st->cond), body, end);
  tkv_label(g, body);
  gen_body(g, &st->body);
  leave_scope(g, outside);
  go_to(g, head);
  tkv_label(g, end);
}

/* The results of one return are values; those of several are merges. */
static void gen_return(tkv_gen *g, const tk_stmt *st) {
  tkv_frame *fr = g->frame;
  for (size_t i = 0; i < st->nresults; i++) {
    tkv_value *v = tkv_get(g, st->results[i]);
    if (!fr->results) {
      fr->result[i] = v;
      continue;
    }
    tkv_dist none = {0};
    tkv_merge *m = &fr->results[i];
    if (!m->at)
      begin_merge(g, m, v->type, v->type.rank ? tkv_home_of(g, v) : none);
    store_merge(g, m, v);
  }
  go_to(g, fr->exit);
  tkv_label(g, tkv_new_name(g, "dead"));
}

static void gen_stmt(tkv_gen *g, const tk_stmt *st) {
  if (st->kind != TK_S_WHILE) tkv_gen_insts(g, &st->insts);
  tkv_set_location(g, g->frame->f->src, st->span);
  switch (st->kind) {
  case TK_S_RUN: return;
  case TK_S_IF: gen_if(g, st); return;
  case TK_S_FOR: gen_for(g, st); return;
  case TK_S_WHILE: gen_while(g, st); return;
  case TK_S_RETURN: gen_return(g, st); return;
  }
}

static void gen_body(tkv_gen *g, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) gen_stmt(g, b->items[i]);
}

/* ---- functions
 * ----------------------------------------------------------------- */

static bool count_makers(void *ud, const tk_at *at, const tk_inst *in) {
  tkv_frame *fr = ud;
  (void)at;
  for (int k = 0; k < in->nres; k++) {
    uint8_t *n = &fr->makers[in->res[k]];
    *n = in->op == TK_I_COND || *n ? 2 : 1;
  }
  return true;
}

static bool count_returns(void *ud, const tk_at *at) {
  if (at->stmt->kind == TK_S_RETURN) ++*(int *)ud;
  return true;
}

tkv_frame *tkv_new_frame(tkv_gen *g, const tk_func *f) {
  int returns = 0;
  tkv_frame *fr = TK_NEW(g->arena, tkv_frame);
  *fr = (tkv_frame){.f = f,
                    .value = TK_NEWN(g->arena, tkv_value *, f->nslots + 1),
                    .merge = TK_NEWN(g->arena, tkv_merge, f->nslots + 1),
                    .makers = TK_NEWN(g->arena, uint8_t, f->nslots + 1),
                    .result = TK_NEWN(g->arena, tkv_value *, f->nresults + 1),
                    .exit = tkv_new_name(g, "exit")};
  tk_walk_func(f, &(tk_walk){.ud = fr, .inst = count_makers});
  tk_walk_func(f, &(tk_walk){.ud = &returns, .stmt = count_returns});
  if (returns > 1) fr->results = TK_NEWN(g->arena, tkv_merge, f->nresults + 1);
  return fr;
}

void tkv_inline(tkv_gen *g, tkv_frame *fr, tkv_value **args) {
  tkv_frame *around = g->frame;
  size_t outside = g->scoped.n;
  g->frame = fr;
  for (size_t i = 0; i < fr->f->nparams; i++)
    fr->value[fr->f->params[i]] = args[i];
  gen_body(g, &fr->f->body);
  if (fr->results) leave_scope(g, outside);
  go_to(g, fr->exit);
  tkv_label(g, fr->exit);
  for (size_t i = 0; fr->results && i < fr->f->nresults; i++)
    fr->result[i] = load_merge(g, &fr->results[i]);
  g->frame = around;
}

void tkv_gen_call(tkv_gen *g, const tk_inst *in) {
  tkv_value **args = TK_NEWN(g->arena, tkv_value *, (size_t)in->nargs + 1);
  for (int k = 0; k < in->nargs; k++) args[k] = tkv_arg(g, in, k);
  tkv_frame *fr = tkv_new_frame(g, tk_call_callee(in));
  fr->lanes = g->frame->lanes;
  tkv_inline(g, fr, args);
  for (int k = 0; k < in->nres; k++) tkv_set(g, in->res[k], fr->result[k]);
}

void tkv_call_lanes(tkv_gen *g, const tk_func *f, tkv_value **args,
                    tkv_value **results) {
  tkv_frame *fr = tkv_new_frame(g, f);
  fr->lanes = true;
  tkv_inline(g, fr, args);
  for (size_t i = 0; i < f->nresults; i++) results[i] = fr->result[i];
}
