/* walk.c - the one recursion over statements and instructions that all passes
 * use. */
#include "ir/ir.h"

bool tk_walk_insts(const tk_func *f, const tk_stmt *st, const tk_insts *l,
                   const tk_walk *w) {
  tk_at at = {.func = f, .stmt = st, .list = l};
  for (; at.index < l->n; at.index++) {
    const tk_inst *in = l->items[at.index];
    if (!w->inst(w->ud, &at, in)) return false;
    for (int i = 0; i < 2; i++)
      if (in->body[i].n && !tk_walk_insts(f, st, &in->body[i], w)) return false;
  }
  return true;
}

static bool walk_stmt(const tk_at *at, const tk_walk *w) {
  const tk_stmt *st = at->stmt;
  if (w->stmt && !w->stmt(w->ud, at)) return false;
  if (w->inst && !tk_walk_insts(at->func, st, &st->insts, w)) return false;
  return tk_walk_body(at->func, &st->body, w) &&
         tk_walk_body(at->func, &st->orelse, w);
}

bool tk_walk_stmt(const tk_func *f, const tk_stmt *st, const tk_walk *w) {
  return walk_stmt(&(tk_at){.func = f, .stmt = st}, w);
}

bool tk_walk_body(const tk_func *f, const tk_body *b, const tk_walk *w) {
  tk_at at = {.func = f, .body = b};
  for (size_t i = 0; i < b->n; i++) {
    at.stmt = b->items[i];
    if (!walk_stmt(&at, w)) return false;
  }
  return true;
}

bool tk_walk_func(const tk_func *f, const tk_walk *w) {
  return tk_walk_body(f, &f->body, w);
}

typedef struct setting {
  int slot;
  const tk_inst *in;
  size_t n;
} setting;

static bool note_setting(void *ud, const tk_at *at, const tk_inst *in) {
  setting *x = ud;
  (void)at;
  for (int k = 0; k < in->nres; k++)
    if (in->res[k] == x->slot) x->in = in, x->n++;
  return true;
}

const tk_inst *tk_set_by(const tk_func *f, int slot) {
  setting x = {.slot = slot};
  tk_walk_func(f, &(tk_walk){.ud = &x, .inst = note_setting});
  return x.n == 1 ? x.in : NULL;
}

bool tk_walk_program(const tk_program *p, const tk_walk *w) {
  for (size_t i = 0; i < p->nfuncs; i++)
    if (!tk_walk_func(p->funcs[i], w)) return false;
  return true;
}

typedef struct search {
  bool (*is)(const tk_inst *in);
} search;

static bool go_on_searching(void *ud, const tk_at *at, const tk_inst *in) {
  const search *s = ud;
  (void)at;
  return !s->is(in);
}

bool tk_program_has(const tk_program *p, bool (*is)(const tk_inst *in)) {
  search s = {is};
  return !tk_walk_program(p, &(tk_walk){.ud = &s, .inst = go_on_searching});
}
