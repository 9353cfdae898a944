/* build.c - making programs: functions, statements, instructions, slots. */
#include "ir/ir.h"

void tk_program_init(tk_program *p, tk_env *e) {
  *p = (tk_program){.triton_version = 0};
  tk_launch_options_usual(p->options);
  tk_arena_init(&p->arena, e);
}

tk_func *tk_func_new(tk_program *p, const char *name, const tk_source *src) {
  tk_func *f = TK_NEW(&p->arena, tk_func);
  f->name = name;
  f->src = src;
  f->program = p;
  f->id = (uint32_t)p->nfuncs;
  if (p->nfuncs == p->cap_funcs)
    p->funcs =
        tk_arena_grow(&p->arena, p->funcs, sizeof *p->funcs, &p->cap_funcs);
  p->funcs[p->nfuncs++] = f;
  return f;
}

tk_stmt *tk_stmt_new(tk_program *p, tk_stmt_kind kind, tk_span span) {
  tk_stmt *st = TK_NEW(&p->arena, tk_stmt);
  st->kind = kind;
  st->span = span;
  st->id = p->nstmts++;
  return st;
}

tk_inst *tk_inst_new(tk_program *p, tk_opcode op, size_t nargs, size_t nres) {
  TK_ASSERT(nargs <= TK_MOST_OPERANDS && nres <= TK_MOST_OPERANDS);
  tk_inst *in = TK_NEW(&p->arena, tk_inst);
  in->op = (uint8_t)op;
  in->has = (uint8_t)((1u << (nargs < 8 ? nargs : 8)) - 1);
  in->id = p->ninsts++;
  in->nargs = (uint16_t)nargs;
  in->nres = (uint16_t)nres;
  in->args = TK_NEWN(&p->arena, int, nargs + 1);
  in->res = TK_NEWN(&p->arena, int, nres + 1);
  return in;
}

int tk_slot_new(tk_program *p, tk_func *f, tk_type t, const char *name) {
  if (f->nslots == f->cap_slots)
    f->slots =
        tk_arena_grow(&p->arena, f->slots, sizeof *f->slots, &f->cap_slots);
  f->slots[f->nslots] = (tk_slot){t, name};
  if (name) tk_lookup_add(&p->arena, &f->named, name, (int)f->nslots);
  return (int)f->nslots++;
}

void tk_program_free(tk_program *p) {
  if (!p) return;
  tk_env *e = p->arena.env;
  tk_arena_free(&p->arena);
  tk_free(e, p, sizeof *p);
}

/* ---- last uses ---------------------------------------------------------- */

/* Every temporary has one definition.  Where its uses stand in the same
 * statement, one walk from the end finds the last of them; others (a value
 * that a name annotated tl.constexpr stands for) live on. */
typedef struct last_uses {
  const tk_func *f;
  uint8_t *seen;     /* by slot */
  uint32_t *defined; /* by slot: the number of the statement + 1 */
} last_uses;

static bool find_definition(void *ud, const tk_at *at, const tk_inst *in) {
  last_uses *u = ud;
  for (int k = 0; k < in->nres; k++) u->defined[in->res[k]] = at->stmt->id + 1;
  return true;
}

static void live_on(last_uses *u, const tk_stmt *st, int slot) {
  if (slot >= 0 && u->defined[slot] != st->id + 1) u->seen[slot] = 1;
}

static bool find_inst_use(void *ud, const tk_at *at, const tk_inst *in) {
  for (int k = 0; k < in->nargs; k++) live_on(ud, at->stmt, in->args[k]);
  return true;
}

static bool find_stmt_use(void *ud, const tk_at *at) {
  const tk_stmt *st = at->stmt;
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE) live_on(ud, st, st->cond);
  if (st->kind == TK_S_FOR) {
    live_on(ud, st, st->lb);
    live_on(ud, st, st->ub);
    live_on(ud, st, st->step);
  }
  for (size_t i = 0; i < st->nresults; i++) live_on(ud, st, st->results[i]);
  return true;
}

/* Whether it is the first time that a temporary is met. */
static bool meet_slot(last_uses *u, int slot) {
  if (slot < 0 || u->f->slots[slot].name) return false;
  bool first = !u->seen[slot];
  u->seen[slot] = 1;
  return first;
}

static void meet_insts(last_uses *u, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    for (int k = 0; k < in->nargs; k++) meet_slot(u, in->args[k]);
    for (int k = 0; k < in->nres; k++) meet_slot(u, in->res[k]);
    meet_insts(u, &in->body[0]);
    meet_insts(u, &in->body[1]);
  }
}

static void mark_last_uses(last_uses *u, const tk_stmt *st) {
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE) meet_slot(u, st->cond);
  if (st->kind == TK_S_FOR) {
    meet_slot(u, st->iv);
    meet_slot(u, st->lb);
    meet_slot(u, st->ub);
    meet_slot(u, st->step);
  }
  for (size_t i = 0; i < st->nresults; i++) meet_slot(u, st->results[i]);
  for (size_t i = st->insts.n; i-- > 0;) {
    tk_inst *in = st->insts.items[i];
    meet_insts(u, &in->body[0]);
    meet_insts(u, &in->body[1]);
    in->kill = 0;
    for (int k = 0; k < in->nargs; k++)
      if (meet_slot(u, in->args[k]) && k < 32) in->kill |= 1u << k;
  }
}

static void mark_body(last_uses *u, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) {
    mark_last_uses(u, b->items[i]);
    mark_body(u, &b->items[i]->body);
    mark_body(u, &b->items[i]->orelse);
  }
}

void tk_func_last_uses(tk_program *p, tk_func *f) {
  last_uses u = {f, TK_NEWN(&p->arena, uint8_t, f->nslots + 1),
                 TK_NEWN(&p->arena, uint32_t, f->nslots + 1)};
  tk_walk_func(f, &(tk_walk){.ud = &u, .inst = find_definition});
  tk_walk_func(
      f, &(tk_walk){.ud = &u, .stmt = find_stmt_use, .inst = find_inst_use});
  for (size_t i = 0; i < f->nparams; i++) u.seen[f->params[i]] = 1;
  mark_body(&u, &f->body);
}
