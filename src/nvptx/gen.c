/* gen.c - instructions, control flow and functions of the code for a
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

/* ---- instructions
 * ------------------------------------------------------------ */

static void note_home(tkv_gen *g, const tk_inst *in) {
  tkv_frame *fr = g->frame;
  if (!in->nres || fr->lanes) return;
  int slot = in->res[0];
  if (tkv_is_merge(g, slot) && fr->merge[slot].type.rank)
    g->homes[in->id] = &fr->merge[slot].dist;
  else if (!tkv_is_merge(g, slot) && fr->value[slot]->home)
    g->homes[in->id] = &fr->value[slot]->home->dist;
}

static void gen_insts(tkv_gen *g, const tk_insts *l) {
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
    gen_insts(g, &in->body[k]);
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
  tkv_pipeline *ahead = tkv_begin_pipeline(g, st, going_on, from, end, step);
  tkv_loop l = tkv_begin_loop(g, &t, going_on, from, end);
  tkv_set(g, st->iv, tkv_scalar(g, t, l.i));
  if (ahead) tkv_begin_trip(g, ahead);
  gen_body(g, &st->body);
  leave_scope(g, outside);
  tkv_end_loop(g, &l, step);
  if (ahead) tkv_end_pipeline(g, ahead);
}

static void gen_while(tkv_gen *g, const tk_stmt *st) {
  const char *head = tkv_new_name(g, "while"), *body = tkv_new_name(g, "body"),
             *end = tkv_new_name(g, "end");
  go_to(g, head);
  tkv_label(g, head);
  gen_insts(g, &st->insts);
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
      tkv_begin_merge(g, m, v->type, v->type.rank ? tkv_home_of(g, v) : none);
    tkv_store_merge(g, m, v);
  }
  go_to(g, fr->exit);
  tkv_label(g, tkv_new_name(g, "dead"));
}

static void gen_stmt(tkv_gen *g, const tk_stmt *st) {
  if (st->kind != TK_S_WHILE) gen_insts(g, &st->insts);
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
    fr->result[i] = tkv_load_merge(g, &fr->results[i]);
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
