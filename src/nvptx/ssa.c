/* ssa.c - a program in single assignment.
 *
 * One walk in the order of the text.  For every slot of the original it is
 * known which slot of the copy holds its value here (`now`).  Each assignment
 * makes a new one; where ways meet that bring different ones, a merge is made.
 * Variables that one way alone has given a value have none afterwards: the
 * verifier asks every way for one before a
 * use. */
#include <string.h>

#include "nvptx/nvptx.h"

enum { NOTHING = -1 };

typedef struct renamer {
  tk_program *p;       /* that is made */
  const tk_func *from; /* the original function */
  tk_func *f;
  int *now;   /* by slot of the original: the slot that holds it, or NOTHING */
  int *given; /* by slot of the original, if it is the result of a cond around:
                 the slot that both its bodies give */
  bool dead;  /* no way leads here */
} renamer;

/* ---- slots --------------------------------------------------------------- */

static int renamed_slot(renamer *r, int old) {
  const tk_slot *s = &r->from->slots[old];
  return tk_slot_new(r->p, r->f, s->type, s->name);
}

static int value_of(const renamer *r, int old) {
  TK_ASSERT(r->now[old] != NOTHING);
  return r->now[old];
}

static int give_slot(renamer *r, int old) {
  int slot = r->given[old] != NOTHING ? r->given[old] : renamed_slot(r, old);
  return r->now[old] = slot;
}

static int *saved_values(const renamer *r) {
  size_t n = r->from->nslots;
  int *copy = TK_NEWN(&r->p->arena, int, n + 1);
  memcpy(copy, r->now, n * sizeof *copy);
  return copy;
}

static void add_copy(renamer *r, tk_insts *l, int to, int from, tk_span span) {
  tk_inst *in = tk_inst_new(r->p, TK_I_COPY, 1, 1);
  in->args[0] = from;
  in->res[0] = to;
  in->type = in->from = r->f->slots[to].type;
  in->n = tk_numel(&in->type);
  in->span = span;
  TK_PUSH(&r->p->arena, l, in);
}

static tk_stmt *add_stmt(renamer *r, tk_body *b, tk_stmt_kind k, tk_span span) {
  tk_stmt *st = tk_stmt_new(r->p, k, span);
  TK_PUSH(&r->p->arena, b, st);
  return st;
}

/* ---- instructions -------------------------------------------------------- */

static const tk_combine *renamed_combine(renamer *r, const tk_combine *c) {
  tk_combine *copy = TK_NEW(&r->p->arena, tk_combine);
  copy->nlevels = c->nlevels;
  copy->levels = TK_NEWN(&r->p->arena, tk_func *, (size_t)c->nlevels + 1);
  for (int i = 0; i < c->nlevels; i++)
    copy->levels[i] = r->p->funcs[c->levels[i]->id];
  return copy;
}

static const tk_format *renamed_format(renamer *r, const tk_format *x) {
  tk_format *copy = TK_NEW(&r->p->arena, tk_format);
  *copy = *x;
  copy->pieces = TK_NEWN(&r->p->arena, tk_piece, x->n + 1);
  for (size_t i = 0; i < x->n; i++) {
    copy->pieces[i] = x->pieces[i];
    if (!x->pieces[i].text)
      copy->pieces[i].slot = value_of(r, x->pieces[i].slot);
  }
  for (int i = 0; i < 3; i++)
    if (x->pid_slots[i] >= 0) copy->pid_slots[i] = value_of(r, x->pid_slots[i]);
  return copy;
}

static void rename_reference(renamer *r, tk_inst *in) {
  switch (tk_inst_info_of((tk_opcode)in->op)->ref) {
  case TK_REF_NONE:
  case TK_REF_CODE: break;
  case TK_REF_CALLEE: in->ref.callee = r->p->funcs[in->ref.callee->id]; break;
  case TK_REF_COMBINE:
    in->ref.combine = renamed_combine(r, in->ref.combine);
    break;
  case TK_REF_FORMAT: in->ref.format = renamed_format(r, in->ref.format); break;
  }
}

static void rename_insts(renamer *r, tk_insts *to, const tk_insts *from);

/* Its results are merges, which both bodies give. */
static void rename_cond(renamer *r, tk_inst *in, const tk_inst *from) {
  int *before = saved_values(r);
  for (int k = 0; k < in->nres; k++) {
    in->res[k] = give_slot(r, from->res[k]);
    r->given[from->res[k]] = in->res[k];
  }
  for (int i = 0; i < 2; i++) {
    memcpy(r->now, before, r->from->nslots * sizeof *before);
    in->body[i] = (tk_insts){NULL, 0, 0};
    rename_insts(r, &in->body[i], &from->body[i]);
  }
  memcpy(r->now, before, r->from->nslots * sizeof *before);
  for (int k = 0; k < in->nres; k++) {
    r->given[from->res[k]] = NOTHING;
    r->now[from->res[k]] = in->res[k];
  }
}

static void rename_inst(renamer *r, tk_insts *to, const tk_inst *from) {
  tk_inst *in = tk_inst_new(r->p, (tk_opcode)from->op, from->nargs, from->nres);
  uint32_t id = in->id;
  int *args = in->args, *res = in->res;
  *in = *from;
  in->id = id;
  in->kill = 0;
  in->args = args;
  in->res = res;
  for (int k = 0; k < in->nargs; k++) args[k] = value_of(r, from->args[k]);
  rename_reference(r, in);
  if (in->op == TK_I_COND)
    rename_cond(r, in, from);
  else
    for (int k = 0; k < in->nres; k++) res[k] = give_slot(r, from->res[k]);
  TK_PUSH(&r->p->arena, to, in);
}

static void rename_insts(renamer *r, tk_insts *to, const tk_insts *from) {
  for (size_t i = 0; i < from->n; i++) rename_inst(r, to, from->items[i]);
}

/* ---- statements ---------------------------------------------------------- */

static void rename_body(renamer *r, tk_body *to, const tk_body *from);

/* Makes merges where the two branches of an if meet. */
static void merge_ways(renamer *r, tk_stmt *st, const int *first, bool dead1) {
  bool dead2 = r->dead;
  size_t n = r->from->nslots;
  r->dead = dead1 && dead2;
  if (dead1 || r->dead) return;
  if (dead2) {
    memcpy(r->now, first, n * sizeof *first);
    return;
  }
  tk_stmt *ends[2] = {NULL, NULL};
  for (int s = 0; s < (int)n; s++) {
    int a = first[s], b = r->now[s];
    if (a == b) continue;
    r->now[s] = NOTHING;
    if (a == NOTHING || b == NOTHING) continue;
    if (!ends[0]) {
      ends[0] = add_stmt(r, &st->body, TK_S_RUN, st->span);
      ends[1] = add_stmt(r, &st->orelse, TK_S_RUN, st->span);
    }
    r->now[s] = renamed_slot(r, s);
    add_copy(r, &ends[0]->insts, r->now[s], a, st->span);
    add_copy(r, &ends[1]->insts, r->now[s], b, st->span);
  }
}

static void rename_if(renamer *r, tk_stmt *st, const tk_stmt *from) {
  st->cond = value_of(r, from->cond);
  int *before = saved_values(r);
  rename_body(r, &st->body, &from->body);
  int *first = saved_values(r);
  bool dead1 = r->dead;
  memcpy(r->now, before, r->from->nslots * sizeof *before);
  r->dead = false;
  rename_body(r, &st->orelse, &from->orelse);
  merge_ways(r, st, first, dead1);
}

typedef TK_VEC(int) slot_list;

/* A variable that had a value before a loop and is assigned in it becomes a
 * merge that the loop carries. */
typedef struct carried {
  renamer *r;
  uint8_t *seen;
  slot_list old, merges;
} carried;

static void carry(carried *c, int old) {
  if (c->seen[old] || c->r->now[old] == NOTHING) return;
  c->seen[old] = 1;
  TK_PUSH(&c->r->p->arena, &c->old, old);
}

static bool carry_results(void *ud, const tk_at *at, const tk_inst *in) {
  (void)at;
  for (int k = 0; k < in->nres; k++) carry(ud, in->res[k]);
  return true;
}

static bool carry_variable(void *ud, const tk_at *at) {
  if (at->stmt->kind == TK_S_FOR) carry(ud, at->stmt->iv);
  return true;
}

/* Makes the merges of a loop; `before` is run before it. */
static carried begin_loop(renamer *r, const tk_stmt *from, tk_insts *before) {
  carried c = {.r = r};
  c.seen = TK_NEWN(&r->p->arena, uint8_t, r->from->nslots + 1);
  tk_walk w = {.ud = &c, .stmt = carry_variable, .inst = carry_results};
  if (from->kind == TK_S_FOR)
    carry(&c, from->iv);
  else
    tk_walk_insts(r->from, from, &from->insts, &w);
  tk_walk_body(r->from, &from->body, &w);
  for (size_t i = 0; i < c.old.n; i++) {
    int old = c.old.items[i], merge = renamed_slot(r, old);
    add_copy(r, before, merge, r->now[old], from->span);
    r->now[old] = merge;
    TK_PUSH(&r->p->arena, &c.merges, merge);
  }
  return c;
}

/* Assigns the values at the end of the body to the merges. All change at once,
 * so a value that is itself a merge is copied aside first. */
static void end_loop(renamer *r, const carried *c, tk_stmt *st) {
  if (r->dead || !c->old.n) return;
  tk_stmt *end = add_stmt(r, &st->body, TK_S_RUN, st->span);
  int *values = TK_NEWN(&r->p->arena, int, c->old.n);
  for (size_t i = 0; i < c->old.n; i++) {
    values[i] = r->now[c->old.items[i]];
    for (size_t k = 0; k < i; k++) {
      if (values[i] != c->merges.items[k]) continue;
      int aside = tk_slot_new(r->p, r->f, r->f->slots[values[i]].type, NULL);
      add_copy(r, &end->insts, aside, values[i], st->span);
      values[i] = aside;
      break;
    }
  }
  for (size_t i = 0; i < c->old.n; i++)
    if (values[i] != c->merges.items[i])
      add_copy(r, &end->insts, c->merges.items[i], values[i], st->span);
}

static void rename_for(renamer *r, tk_stmt *st, const tk_stmt *from) {
  st->lb = value_of(r, from->lb);
  st->ub = value_of(r, from->ub);
  st->step = value_of(r, from->step);
  st->down = from->down;
  st->loop = from->loop;
  carried c = begin_loop(r, from, &st->insts);
  int *after = saved_values(r);
  st->iv = give_slot(r, from->iv);
  rename_body(r, &st->body, &from->body);
  end_loop(r, &c, st);
  memcpy(r->now, after, r->from->nslots * sizeof *after);
  r->dead = false;
}

/* The instructions of a while run before every trip, so its merges get their
 * first values in a statement before it. */
static void rename_while(renamer *r, tk_body *to, const tk_stmt *from) {
  tk_stmt *first = add_stmt(r, to, TK_S_RUN, from->span);
  tk_stmt *st = add_stmt(r, to, TK_S_WHILE, from->span);
  st->loop = from->loop;
  carried c = begin_loop(r, from, &first->insts);
  rename_insts(r, &st->insts, &from->insts);
  st->cond = value_of(r, from->cond);
  int *after = saved_values(r);
  rename_body(r, &st->body, &from->body);
  end_loop(r, &c, st);
  memcpy(r->now, after, r->from->nslots * sizeof *after);
  r->dead = false;
}

static void rename_return(renamer *r, tk_stmt *st, const tk_stmt *from) {
  st->nresults = from->nresults;
  st->results = TK_NEWN(&r->p->arena, int, from->nresults + 1);
  for (size_t i = 0; i < from->nresults; i++)
    st->results[i] = value_of(r, from->results[i]);
  r->dead = true;
}

/* What no way leads to is left out. */
static void rename_body(renamer *r, tk_body *to, const tk_body *from) {
  for (size_t i = 0; i < from->n && !r->dead; i++) {
    const tk_stmt *old = from->items[i];
    if (old->kind == TK_S_WHILE) {
      rename_while(r, to, old);
      continue;
    }
    tk_stmt *st = add_stmt(r, to, old->kind, old->span);
    rename_insts(r, &st->insts, &old->insts);
    switch (old->kind) {
    case TK_S_RUN:
    case TK_S_WHILE: break;
    case TK_S_IF: rename_if(r, st, old); break;
    case TK_S_FOR: rename_for(r, st, old); break;
    case TK_S_RETURN: rename_return(r, st, old); break;
    }
  }
}

/* ---- programs ------------------------------------------------------------ */

static void rename_func(tk_program *p, const tk_func *from, tk_func *f) {
  size_t n = from->nslots + 1;
  renamer r = {.p = p, .from = from, .f = f};
  r.now = TK_NEWN(&p->arena, int, n);
  r.given = TK_NEWN(&p->arena, int, n);
  for (size_t i = 0; i < n; i++) r.now[i] = r.given[i] = NOTHING;
  f->library = from->library;
  f->span = from->span;
  f->nparams = from->nparams;
  f->params = TK_NEWN(&p->arena, int, from->nparams + 1);
  for (size_t i = 0; i < from->nparams; i++)
    f->params[i] = give_slot(&r, from->params[i]);
  f->nresults = from->nresults;
  f->result_types = from->result_types;
  rename_body(&r, &f->body, &from->body);
}

typedef struct making {
  const tk_program *from;
  tk_program *p;
} making;

static void make_program(tk_env *e, void *ud) {
  making *m = ud;
  tk_program *p = m->p;
  const tk_program *from = m->from;
  (void)e;
  p->triton_version = from->triton_version;
  p->language = from->language;
  memcpy(p->options, from->options, sizeof p->options);
  p->args = from->args;
  p->nargs = from->nargs;
  for (size_t i = 0; i < from->nfuncs; i++)
    tk_func_new(p, from->funcs[i]->name, from->funcs[i]->src);
  for (size_t i = 0; i < from->nfuncs; i++)
    rename_func(p, from->funcs[i], p->funcs[i]);
  p->kernel = p->funcs[from->kernel->id];
  p->nparams = from->nparams;
  p->params = TK_NEWN(&p->arena, tk_param, from->nparams + 1);
  for (size_t i = 0; i < from->nparams; i++) {
    p->params[i] = from->params[i];
    p->params[i].slot = p->kernel->params[i];
  }
  tkv_settle(p);
}

tk_program *tkv_single_assignment(tk_env *e, const tk_program *p) {
  making m = {p, tk_calloc(e, 1, sizeof *m.p)};
  tk_program_init(m.p, e);
  tk_status st = tk_protect(e, make_program, &m);
  if (st == TK_OK) return m.p;
  tk_program_free(m.p);
  tk_throw(e, st);
}
