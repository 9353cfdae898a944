/* gen.c - instructions, control flow and functions of the code for a
 * thread. */
#include "nvptx/shared.h"

/* Forgets the registers that were computed in a body that may not have run. */
static void leave_scope(tkv_gen *g, size_t outside) {
  TK_ASSERT(g->scoped.n >= outside);
  while (g->scoped.n > outside) {
    tkv_value *v = g->scoped.items[--g->scoped.n];
    TK_ASSERT(v->versions);
    v->versions = v->versions->next;
  }
}

/* ---- instructions -------------------------------------------------------- */

static void note_home(tkv_gen *g, const tk_inst *in) {
  tkv_frame *fr = g->frame;
  if (!in->nres || fr->lanes) return;
  int slot = in->res[0];
  if (tkv_is_merge(g, slot) && fr->merge[slot].type.rank)
    g->homes[in->id] = &fr->merge[slot].dist;
  else if (!tkv_is_merge(g, slot) && fr->value[slot]->home)
    g->homes[in->id] = &fr->value[slot]->home->dist;
}

static void place_code(tkv_gen *g, tk_span at) {
  const tk_source *src = tkv_user_place(g, &at);
  tkv_set_location(g->code, src, at);
}

static void gen_insts(tkv_gen *g, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    place_code(g, in->span);
    g->inst = in;
    TK_ASSERT(in->op < TK_INST_COUNT);
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
  static const char *const names[2][3] = {{"nctaid.x", "nctaid.y", "nctaid.z"},
                                          {"ctaid.x", "ctaid.y", "ctaid.z"}};
  TK_ASSERT(axis >= 0 && axis < 3);
  tkv_reg x = tkv_special(g->code, names[pid][axis], TKV_I32);
  tkv_set(g, in->res[0], tkv_scalar(g, in->type, x));
}

void tkv_gen_hint(tkv_gen *g, const tk_inst *in) {
  tkv_set(g, in->res[0], tkv_arg(g, in, 0));
}

void tkv_gen_barrier(tkv_gen *g, const tk_inst *in) {
  (void)in;
  tkv_meet(g->code);
}

/* Blocks are computed once the layout that they are needed in is known;
 * scalars at once. */
void tkv_gen_lazy(tkv_gen *g, const tk_inst *in) {
  tkv_value *v = tkv_new_value(g, in->type);
  v->in = in;
  v->args = TK_NEWN(g->arena, tkv_value *, (size_t)in->nargs + 1);
  for (int k = 0; k < in->nargs; k++) v->args[k] = tkv_arg(g, in, k);
  bool moves = in->nargs && tkv_same_lanes(v);
  tkv_dist one = tkv_dist_one(g);
  if (moves && (g->frame->lanes || tk_same_shape(&in->type, &in->from)) &&
      in->op != TK_I_PERMUTE) {
    *v = *v->args[0];
    v->type = in->type;
  } else if (!in->type.rank || g->frame->lanes) {
    v->one = tkv_compute(g, v, &one)[0];
  }
  tkv_set(g, in->res[0], v);
}

/* The result is computed in the home layout of the first operand that has one.
 * If none has one, it is computed when the layout in which it is needed is
 * known. */
void tkv_gen_lane_wise(tkv_gen *g, const tk_inst *in) {
  tkv_value *v = tkv_new_value(g, in->type);
  tkv_dist one = tkv_dist_one(g);
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
    v = tkv_block_of(g, in->type, home, tkv_compute(g, v, home));
  }
  tkv_set(g, in->res[0], v);
}

/* ---- control flow -------------------------------------------------------- */

static void gen_body(tkv_gen *g, const tk_body *b);

static tkv_reg scalar_in(tkv_gen *g, int slot) {
  tkv_reg x = tkv_get(g, slot)->one;
  TK_ASSERT(tkv_exists(x));
  return x;
}

static void gen_if(tkv_gen *g, const tk_stmt *st) {
  tkv_label yes = tkv_new_label(g->code, "then"),
            no = tkv_new_label(g->code, "else"),
            end = tkv_new_label(g->code, "end");
  size_t outside = g->scoped.n;
  tkv_branch(g->code, scalar_in(g, st->cond), yes, no);
  tkv_put_label(g->code, yes);
  gen_body(g, &st->body);
  leave_scope(g, outside);
  tkv_go_to(g->code, end);
  tkv_put_label(g->code, no);
  gen_body(g, &st->orelse);
  leave_scope(g, outside);
  tkv_go_to(g->code, end);
  tkv_put_label(g->code, end);
}

void tkv_gen_cond(tkv_gen *g, const tk_inst *in) {
  tkv_label yes = tkv_new_label(g->code, "then"),
            no = tkv_new_label(g->code, "else"), label[] = {yes, no},
            end = tkv_new_label(g->code, "end");
  size_t outside = g->scoped.n;
  tkv_branch(g->code, tkv_arg(g, in, 0)->one, label[0], label[1]);
  for (int k = 0; k < 2; k++) {
    tkv_put_label(g->code, label[k]);
    gen_insts(g, &in->body[k]);
    leave_scope(g, outside);
    tkv_go_to(g->code, end);
  }
  tkv_put_label(g->code, end);
}

static void gen_for(tkv_gen *g, const tk_stmt *st) {
  tk_type t = g->frame->f->slots[st->iv].type;
  tkv_reg from = scalar_in(g, st->lb), end = scalar_in(g, st->ub),
          step = scalar_in(g, st->step);
  size_t outside = g->scoped.n;
  tk_compare up = TKV_MUTANT(LOOP) ? TK_C_LE : TK_C_LT,
             going_on = st->down ? TK_C_GT : up;
  tkv_pipeline *ahead = tkv_begin_pipeline(g, st, going_on, from, end, step);
  tkv_loop l = tkv_begin_loop(g->code, &t, going_on, from, end);
  tkv_set(g, st->iv, tkv_scalar(g, t, l.i));
  if (ahead) tkv_begin_trip(g, ahead);
  gen_body(g, &st->body);
  leave_scope(g, outside);
  tkv_end_loop(g->code, &l, step);
  if (ahead) tkv_end_pipeline(g, ahead);
}

static void gen_while(tkv_gen *g, const tk_stmt *st) {
  tkv_label head = tkv_new_label(g->code, "while"),
            body = tkv_new_label(g->code, "body"),
            end = tkv_new_label(g->code, "end");
  tkv_go_to(g->code, head);
  tkv_put_label(g->code, head);
  gen_insts(g, &st->insts);
  size_t outside = g->scoped.n;
  tkv_branch(g->code, scalar_in(g, st->cond), body, end);
  tkv_put_label(g->code, body);
  gen_body(g, &st->body);
  leave_scope(g, outside);
  tkv_go_to(g->code, head);
  tkv_put_label(g->code, end);
}

/* A function with one return gives its values; with several, their results
 * meet in merges. */
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
      tkv_begin_merge(g, m, v->type, v->type.rank ? tkv_home_of(g, v) : none);
    tkv_store_merge(g, m, v);
  }
  tkv_go_to(g->code, fr->exit);
  tkv_put_label(g->code, tkv_new_label(g->code, "dead"));
}

static void gen_stmt(tkv_gen *g, const tk_stmt *st) {
  if (st->kind != TK_S_WHILE) gen_insts(g, &st->insts);
  place_code(g, st->span);
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

/* ---- functions ----------------------------------------------------------- */

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
                    .exit = tkv_new_label(g->code, "exit")};
  tk_walk_func(f, &(tk_walk){.ud = fr, .inst = count_makers});
  tk_walk_func(f, &(tk_walk){.ud = &returns, .stmt = count_returns});
  if (returns > 1) fr->results = TK_NEWN(g->arena, tkv_merge, f->nresults + 1);
  return fr;
}

void tkv_inline(tkv_gen *g, tkv_frame *fr, tkv_value **args) {
  tkv_frame *around = g->frame;
  const tk_inst *call = g->inst;
  size_t outside = g->scoped.n;
  fr->caller = around;
  if (call) fr->called = call->span;
  g->frame = fr;
  for (size_t i = 0; i < fr->f->nparams; i++)
    fr->value[fr->f->params[i]] = args[i];
  gen_body(g, &fr->f->body);
  if (fr->results) leave_scope(g, outside);
  tkv_go_to(g->code, fr->exit);
  tkv_put_label(g->code, fr->exit);
  for (size_t i = 0; fr->results && i < fr->f->nresults; i++)
    fr->result[i] = tkv_load_merge(g, &fr->results[i]);
  g->frame = around;
  g->inst = call;
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
