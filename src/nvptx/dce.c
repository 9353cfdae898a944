/* dce.c - what is not needed is not computed.
 *
 * Needed are: what writes, prints or may stop; what decides which way is
 * taken; what is returned; and what those need.  A load that nobody needs
 * goes, as in Triton, unless it is volatile.  Ifs and counted loops that are
 * left with nothing to do go as well; a while stays, since it may not
 * end. */
#include "nvptx/nvptx.h"
#include "nvptx/rewrite.h"

/* An instruction that writes a slot. */
typedef struct writer {
  const tk_inst *in;
  int other; /* another writer of that slot, or -1 */
} writer;

typedef struct search {
  tk_arena *arena;
  uint8_t *needed; /* by slot */
  /* needed slots whose writers have not been looked at yet */
  TK_VEC(int) found;
  TK_VEC(writer) writers;
  int *newest; /* by slot: a writer + 1; 0: there is none */
} search;

static void mark_needed(search *s, int slot) {
  if (s->needed[slot]) return;
  s->needed[slot] = 1;
  TK_PUSH(s->arena, &s->found, slot);
}

static bool has_effect(const tk_inst *in);

static bool body_has_effect(const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++)
    if (has_effect(l->items[i])) return true;
  return false;
}

static bool has_effect(const tk_inst *in) {
  if (in->op == TK_I_COND)
    return body_has_effect(&in->body[0]) || body_has_effect(&in->body[1]);
  if (in->op == TK_I_LOAD) return tk_load_reads_anew(in);
  return !tk_inst_is_pure(in);
}

static bool is_needed(const search *s, const tk_inst *in) {
  for (int k = 0; k < in->nres; k++)
    if (s->needed[in->res[k]]) return true;
  return has_effect(in);
}

static void need_operands(search *s, const tk_inst *in) {
  for (int k = 0; k < in->nargs; k++) mark_needed(s, in->args[k]);
}

static bool note_results(void *ud, const tk_at *at, const tk_inst *in) {
  search *s = ud;
  (void)at;
  for (int k = 0; k < in->nres; k++) {
    int *newest = &s->newest[in->res[k]];
    writer w = {in, *newest - 1};
    TK_PUSH(s->arena, &s->writers, w);
    *newest = (int)s->writers.n;
  }
  if (has_effect(in)) need_operands(s, in);
  return true;
}

/* Marks what the needed slots are computed from, each slot once. */
static void search_writers(search *s) {
  while (s->found.n) {
    int w = s->newest[s->found.items[--s->found.n]] - 1;
    for (; w >= 0; w = s->writers.items[w].other)
      need_operands(s, s->writers.items[w].in);
  }
}

static bool need_of_stmt(void *ud, const tk_at *at) {
  search *s = ud;
  const tk_stmt *st = at->stmt;
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE) mark_needed(s, st->cond);
  if (st->kind == TK_S_FOR) {
    mark_needed(s, st->lb);
    mark_needed(s, st->ub);
    mark_needed(s, st->step);
  }
  for (size_t i = 0; i < st->nresults; i++) mark_needed(s, st->results[i]);
  return true;
}

static void drop_insts(const search *s, tk_insts *l) {
  size_t n = 0;
  for (size_t i = 0; i < l->n; i++) {
    tk_inst *in = l->items[i];
    if (!is_needed(s, in)) continue;
    for (int k = 0; k < 2; k++) drop_insts(s, &in->body[k]);
    l->items[n++] = in;
  }
  l->n = n;
}

/* Whether it has nothing left to do but, perhaps, to count. */
static bool is_idle(const tk_stmt *st) {
  if (st->body.n || st->orelse.n) return false;
  return st->kind == TK_S_RUN || st->kind == TK_S_IF || st->kind == TK_S_FOR;
}

/* True: a statement went, so that others may be needed no more. */
static bool drop_stmts(tk_program *p, const search *s, tk_body *b) {
  tk_body kept = {NULL, 0, 0};
  bool dropped = false;
  for (size_t i = 0; i < b->n; i++) {
    tk_stmt *st = b->items[i];
    drop_insts(s, &st->insts);
    dropped |= drop_stmts(p, s, &st->body);
    dropped |= drop_stmts(p, s, &st->orelse);
    bool compound = st->kind != TK_S_RUN;
    if (is_idle(st) && compound) {
      st->kind = TK_S_RUN;
      dropped = true;
    }
    if (!is_idle(st) || st->insts.n) TK_PUSH(&p->arena, &kept, st);
  }
  *b = kept;
  return dropped;
}

static bool drop_dead(tk_program *p, tk_func *f) {
  search s = {.arena = &p->arena,
              .needed = TK_NEWN(&p->arena, uint8_t, f->nslots + 1),
              .newest = TK_NEWN(&p->arena, int, f->nslots + 1)};
  tk_walk w = {.ud = &s, .stmt = need_of_stmt, .inst = note_results};
  tk_walk_func(f, &w);
  search_writers(&s);
  return drop_stmts(p, &s, &f->body);
}

void tkv_dce(tk_program *p) {
  for (size_t i = 0; i < p->nfuncs; i++)
    while (drop_dead(p, p->funcs[i])) continue;
}
