/* cse.c - what was computed before is not computed again.
 *
 * What a body computes is known in it and in the bodies inside it, and
 * forgotten at its end.  A merge among the operands does no harm: it changes
 * after the last instruction of a body that computes.
 */
#include <string.h>

#include "nvptx/rewrite.h"

enum { BUCKETS = 1024, NO_ENTRY = -1 };

typedef struct computed {
  const tk_inst *in;
  uint32_t bucket;
  int next; /* entry of the bucket; or NO_ENTRY */
} computed;

typedef struct known {
  int heads[BUCKETS];
  TK_VEC(computed) list;
  TK_VEC(size_t) scopes; /* the list's length at the begin of each */
} known;

static uint32_t hash_inst(const tk_inst *in) {
  uint32_t h = in->op * 31u + in->mode;
  for (int k = 0; k < in->nargs; k++) h = h * 1000003u + (uint32_t)in->args[k];
  for (int i = 0; i < TK_MAX_RANK; i++)
    h = h * 1000003u + (uint32_t)((uint64_t)in->attr[i] * 0x9E3779B1u >> 7);
  return (h ^ h >> 15) % BUCKETS;
}

static bool computes_the_same(const tk_inst *a, const tk_inst *b) {
  return a->op == b->op && a->mode == b->mode && a->has == b->has &&
         a->nargs == b->nargs && a->ref.any == b->ref.any &&
         tk_same_type(&a->type, &b->type) &&
         !memcmp(a->args, b->args, a->nargs * sizeof *a->args) &&
         !memcmp(a->attr, b->attr, sizeof a->attr);
}

static void enter_or_leave(tkv_rewriter *w, bool begins) {
  known *x = w->ud;
  if (begins) {
    TK_PUSH(&w->p->arena, &x->scopes, x->list.n);
    return;
  }
  size_t before = x->scopes.items[--x->scopes.n];
  while (x->list.n > before) {
    const computed *c = &x->list.items[--x->list.n];
    x->heads[c->bucket] = c->next;
  }
}

static int share(tkv_rewriter *w, tk_inst *in) {
  known *x = w->ud;
  if (!tk_inst_is_pure(in) || in->nres != 1 || tkv_is_merge(w, in->res[0]))
    return TKV_KEEP;
  uint32_t bucket = hash_inst(in);
  for (int i = x->heads[bucket]; i != NO_ENTRY; i = x->list.items[i].next)
    if (computes_the_same(x->list.items[i].in, in))
      return x->list.items[i].in->res[0];
  computed c = {in, bucket, x->heads[bucket]};
  x->heads[bucket] = (int)x->list.n;
  TK_PUSH(&w->p->arena, &x->list, c);
  return TKV_KEEP;
}

void tkv_cse(tk_program *p) {
  known *x = TK_NEW(&p->arena, known);
  for (int i = 0; i < BUCKETS; i++) x->heads[i] = NO_ENTRY;
  tkv_rewrite(p, share, enter_or_leave, x);
}
