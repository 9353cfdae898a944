/* rewrite.c - replacing instructions one by one.
 *
 * In single assignment a value is made before it is used, in the order of the
 * text too, so one walk suffices.  Merges are left as they are: nothing stands
 * for a slot that changes.
 */
#include "nvptx/rewrite.h"

#include <string.h>

/* ---- who makes what ------------------------------------------------------ */

static bool note_maker(void *ud, const tk_at *at, const tk_inst *in) {
  tkv_rewriter *w = ud;
  for (int k = 0; k < in->nres; k++) {
    int slot = in->res[k];
    w->merge[slot] = w->maker[slot] || in->op == TK_I_COND || w->merge[slot];
    w->maker[slot] = at->list->items[at->index];
  }
  return true;
}

static void find_makers(tkv_rewriter *w) {
  size_t n = w->f->nslots;
  w->nmaker = n;
  w->maker = TK_NEWN(&w->p->arena, tk_inst *, n + 1);
  w->merge = TK_NEWN(&w->p->arena, uint8_t, n + 1);
  w->stands = TK_NEWN(&w->p->arena, int, n + 1);
  for (size_t i = 0; i < n; i++) w->stands[i] = (int)i;
  tk_walk_func(w->f, &(tk_walk){.ud = w, .inst = note_maker});
  for (size_t i = 0; i < n; i++)
    if (w->merge[i]) w->maker[i] = NULL;
}

const tk_inst *tkv_maker(const tkv_rewriter *w, int slot, tk_opcode op) {
  const tk_inst *in = (size_t)slot < w->nmaker ? w->maker[slot] : NULL;
  return in && in->op == op ? in : NULL;
}

const tk_inst *tkv_made_by(const tkv_rewriter *w, const tk_inst *in, int k,
                           tk_opcode op) {
  int at = tk_inst_arg(in, k);
  return at < 0 ? NULL : tkv_maker(w, in->args[at], op);
}

bool tkv_is_const(const tkv_rewriter *w, int slot, uint64_t *bits) {
  const tk_inst *b = tkv_maker(w, slot, TK_I_BROADCAST);
  const tk_inst *c = tkv_maker(w, b ? b->args[0] : slot, TK_I_CONST);
  if (c) *bits = tk_const_bits(c);
  return c;
}

/* ---- changing ------------------------------------------------------------ */

static void remember_maker(tkv_rewriter *w, int slot, tk_inst *in) {
  if ((size_t)slot >= w->nmaker) {
    size_t n = (size_t)slot * 2 + 16;
    tk_inst **maker = TK_NEWN(&w->p->arena, tk_inst *, n);
    int *stands = TK_NEWN(&w->p->arena, int, n);
    uint8_t *merge = TK_NEWN(&w->p->arena, uint8_t, n);
    memcpy(maker, w->maker, w->nmaker * sizeof *maker);
    memcpy(stands, w->stands, w->nmaker * sizeof *stands);
    memcpy(merge, w->merge, w->nmaker * sizeof *merge);
    for (size_t i = w->nmaker; i < n; i++) stands[i] = (int)i;
    w->maker = maker;
    w->merge = merge;
    w->stands = stands;
    w->nmaker = n;
  }
  w->maker[slot] = in;
}

tk_inst *tkv_add(tkv_rewriter *w, tk_opcode op, size_t nargs,
                 const tk_type *type) {
  tk_inst *in = tk_inst_new(w->p, op, nargs, 1);
  in->res[0] = tk_slot_new(w->p, w->f, *type, NULL);
  in->type = *type;
  in->n = tk_numel(type);
  in->span = w->span;
  remember_maker(w, in->res[0], in);
  TK_PUSH(&w->p->arena, &w->out, in);
  return in;
}

void tkv_become(tkv_rewriter *w, tk_inst *in, tk_opcode op, int arg) {
  in->op = (uint8_t)op;
  in->mode = 0;
  in->has = 1;
  in->nargs = 1;
  if (!in->args) in->args = TK_NEWN(&w->p->arena, int, 2);
  in->args[0] = arg;
  in->from = *tkv_type(w, arg);
  memset(in->attr, 0, sizeof in->attr);
}

void tkv_become_const(tkv_rewriter *w, tk_inst *in, uint64_t bits) {
  if (in->type.rank) {
    tk_type scalar = tk_elem_of(in->type);
    tk_inst *c = tkv_add(w, TK_I_CONST, 0, &scalar);
    c->attr[0] = (int64_t)bits;
    tkv_become(w, in, TK_I_BROADCAST, c->res[0]);
    return;
  }
  in->op = TK_I_CONST;
  in->mode = in->has = 0;
  in->nargs = 0;
  in->from = (tk_type){0};
  memset(in->attr, 0, sizeof in->attr);
  in->attr[0] = (int64_t)bits;
}

/* ---- the walk ------------------------------------------------------------ */

static int what_stands(const tkv_rewriter *w, int slot) {
  while ((size_t)slot < w->nmaker && w->stands[slot] != slot)
    slot = w->stands[slot];
  return slot;
}

static void replace_operands(tkv_rewriter *w, tk_inst *in) {
  for (int k = 0; k < in->nargs; k++) in->args[k] = what_stands(w, in->args[k]);
  if (tk_inst_info_of((tk_opcode)in->op)->ref != TK_REF_FORMAT) return;
  tk_format *x = TK_NEW(&w->p->arena, tk_format);
  *x = *in->ref.format;
  x->pieces = TK_NEWN(&w->p->arena, tk_piece, x->n + 1);
  for (size_t i = 0; i < x->n; i++) {
    x->pieces[i] = in->ref.format->pieces[i];
    if (!x->pieces[i].text)
      x->pieces[i].slot = what_stands(w, x->pieces[i].slot);
  }
  for (int i = 0; i < 3; i++)
    if (x->pid_slots[i] >= 0) x->pid_slots[i] = what_stands(w, x->pid_slots[i]);
  in->ref.format = x;
}

static void begin_scope(tkv_rewriter *w) {
  if (w->scope) w->scope(w, true);
}

static void end_scope(tkv_rewriter *w) {
  if (w->scope) w->scope(w, false);
}

static void rewrite_insts(tkv_rewriter *w, tk_insts *l) {
  tk_insts around = w->out;
  w->out = (tk_insts){NULL, 0, 0};
  for (size_t i = 0; i < l->n; i++) {
    tk_inst *in = l->items[i];
    replace_operands(w, in);
    for (int k = 0; k < 2 && in->op == TK_I_COND; k++) {
      begin_scope(w);
      rewrite_insts(w, &in->body[k]);
      end_scope(w);
    }
    w->span = in->span;
    int stands = w->rule(w, in);
    if (stands >= 0 && (w->merge[in->res[0]] || tkv_is_merge(w, stands)))
      stands = TKV_KEEP;
    if (stands == TKV_KEEP) TK_PUSH(&w->p->arena, &w->out, in);
    if (stands >= 0) w->stands[in->res[0]] = stands;
  }
  *l = w->out;
  w->out = around;
}

static void rewrite_body(tkv_rewriter *w, tk_body *b) {
  for (size_t i = 0; i < b->n; i++) {
    tk_stmt *st = b->items[i];
    rewrite_insts(w, &st->insts);
    if (st->kind == TK_S_IF || st->kind == TK_S_WHILE)
      st->cond = what_stands(w, st->cond);
    if (st->kind == TK_S_FOR) {
      st->lb = what_stands(w, st->lb);
      st->ub = what_stands(w, st->ub);
      st->step = what_stands(w, st->step);
    }
    for (size_t k = 0; k < st->nresults; k++)
      st->results[k] = what_stands(w, st->results[k]);
    begin_scope(w);
    rewrite_body(w, &st->body);
    end_scope(w);
    begin_scope(w);
    rewrite_body(w, &st->orelse);
    end_scope(w);
  }
}

void tkv_rewrite(tk_program *p, tkv_rule *rule,
                 void (*scope)(tkv_rewriter *w, bool begins), void *ud) {
  for (size_t i = 0; i < p->nfuncs; i++) {
    tkv_rewriter w = {
        .p = p, .f = p->funcs[i], .rule = rule, .scope = scope, .ud = ud};
    find_makers(&w);
    if (scope) scope(&w, true);
    rewrite_body(&w, &w.f->body);
    if (scope) scope(&w, false);
  }
}
