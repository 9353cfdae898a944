/* licm.c - what is the same in every trip of a loop is computed before it.
 *
 * Loops inside come first, so that what leaves one may leave the next.  A loop
 * may have no trip: only what cannot fail moves.  Loads stay: a store of the
 * loop, or of another program, may change what they
 * read. */
#include "nvptx/nvptx.h"
#include "nvptx/rewrite.h"

typedef struct mover {
  tk_program *p;
  tk_func *f;
  uint8_t *merge;   /* by slot: several instructions give it a value */
  uint8_t *changes; /* by slot: whether the loop gives it a value */
} mover;

static bool note_merge(void *ud, const tk_at *at, const tk_inst *in) {
  mover *m = ud;
  (void)at;
  for (int k = 0; k < in->nres; k++) {
    m->merge[in->res[k]] |= m->changes[in->res[k]];
    m->changes[in->res[k]] = 1;
  }
  return true;
}

static bool note_result(void *ud, const tk_at *at, const tk_inst *in) {
  mover *m = ud;
  (void)at;
  for (int k = 0; k < in->nres; k++) m->changes[in->res[k]] = 1;
  return true;
}

static bool note_variable(void *ud, const tk_at *at) {
  mover *m = ud;
  if (at->stmt->kind == TK_S_FOR) m->changes[at->stmt->iv] = 1;
  return true;
}

/* A division by zero is an error; so is a gather past the end. */
static bool may_fail(const tk_inst *in) {
  if (in->op == TK_I_GATHER) return true;
  return in->op == TK_I_BINARY && !tk_is_float((tk_dtype)in->type.elem) &&
         (in->mode == TK_B_DIV || in->mode == TK_B_MOD);
}

/* Whether it may be computed before the loop.  What gives a merge its value
 * stays: before the loop that has another one. */
static bool is_invariant(const mover *m, const tk_inst *in) {
  if (!tk_inst_is_pure(in) || may_fail(in)) return false;
  for (int k = 0; k < in->nargs; k++)
    if (m->changes[in->args[k]]) return false;
  for (int k = 0; k < in->nres; k++)
    if (m->merge[in->res[k]]) return false;
  return in->nres > 0;
}

static void move_insts(mover *m, tk_insts *l, tk_insts *before) {
  size_t n = 0;
  for (size_t i = 0; i < l->n; i++) {
    tk_inst *in = l->items[i];
    if (!is_invariant(m, in)) {
      l->items[n++] = in;
      continue;
    }
    for (int k = 0; k < in->nres; k++) m->changes[in->res[k]] = 0;
    TK_PUSH(&m->p->arena, before, in);
  }
  l->n = n;
}

static void empty_loop(mover *m, tk_stmt *st, tk_insts *before) {
  if (st->loop.disable_licm) return;
  m->changes = TK_NEWN(&m->p->arena, uint8_t, m->f->nslots + 1);
  tk_walk w = {.ud = m, .stmt = note_variable, .inst = note_result};
  if (st->kind == TK_S_FOR)
    m->changes[st->iv] = 1;
  else
    tk_walk_insts(m->f, st, &st->insts, &w);
  tk_walk_body(m->f, &st->body, &w);
  if (st->kind == TK_S_WHILE) move_insts(m, &st->insts, before);
  for (size_t i = 0; i < st->body.n; i++)
    if (st->body.items[i]->kind != TK_S_WHILE)
      move_insts(m, &st->body.items[i]->insts, before);
}

static void empty_loops(mover *m, tk_body *b) {
  tk_body all = {NULL, 0, 0};
  for (size_t i = 0; i < b->n; i++) {
    tk_stmt *st = b->items[i];
    empty_loops(m, &st->body);
    empty_loops(m, &st->orelse);
    if (st->kind == TK_S_FOR) empty_loop(m, st, &st->insts);
    if (st->kind == TK_S_WHILE) {
      tk_stmt *before = tk_stmt_new(m->p, TK_S_RUN, st->span);
      empty_loop(m, st, &before->insts);
      if (before->insts.n) TK_PUSH(&m->p->arena, &all, before);
    }
    TK_PUSH(&m->p->arena, &all, st);
  }
  *b = all;
}

void tkv_licm(tk_program *p) {
  for (size_t i = 0; i < p->nfuncs; i++) {
    mover m = {.p = p, .f = p->funcs[i]};
    tk_walk w = {.ud = &m, .inst = note_merge};
    m.merge = TK_NEWN(&p->arena, uint8_t, m.f->nslots + 1);
    m.changes = TK_NEWN(&p->arena, uint8_t, m.f->nslots + 1);
    tk_walk_body(m.f, &m.f->body, &w);
    empty_loops(&m, &p->funcs[i]->body);
  }
}
