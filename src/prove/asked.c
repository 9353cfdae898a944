/* asked.c - what the solver has answered already.
 *
 * Duties share most of their facts, and each relation is left out in turn to
 * see whether a verdict needs it: the same system comes up again and again. */
#include "prove/solve.h"

#include "base/digest.h"
#include "base/lookup.h"

#include <string.h>

typedef struct asked_system {
  tkq_system system;
  tkq_answer answer;
} asked_system;

typedef struct tkq_asked {
  tk_lookup by_digest;
  TK_VEC(asked_system) all;
} tkq_asked;

static const char *digest_of(tk_arena *arena, const tkq_system *s) {
  tk_digest d = {0};
  tk_digest_add(&d, &s->n, sizeof s->n);
  for (size_t i = 0; i < s->rows.n; i++) {
    const tkq_row *r = &s->rows.items[i];
    tk_digest_add(&d, r->c, s->n * sizeof *r->c);
    tk_digest_add(&d, &r->k, sizeof r->k);
    tk_digest_add(&d, &r->eq, sizeof r->eq);
  }
  return tk_arena_printf(arena, "%llx", (unsigned long long)tk_digest_end(&d));
}

static bool same_system(const tkq_system *a, const tkq_system *b) {
  if (a->n != b->n || a->rows.n != b->rows.n) return false;
  for (size_t i = 0; i < a->rows.n; i++) {
    const tkq_row *x = &a->rows.items[i], *y = &b->rows.items[i];
    if (x->eq != y->eq || x->k != y->k ||
        (a->n && memcmp(x->c, y->c, a->n * sizeof *x->c)))
      return false;
  }
  return true;
}

tkq_answer tkq_ask(tkq_terms *t, const tkq_system *s) {
  if (!t->asked) t->asked = TK_NEW(t->arena, tkq_asked);
  tkq_asked *known = t->asked;
  const char *digest = digest_of(t->arena, s);
  int at = tk_lookup_find(&known->by_digest, digest);
  for (; at >= 0; at = tk_lookup_older(&known->by_digest, at)) {
    const asked_system *x =
        &known->all.items[known->by_digest.list.items[at].number];
    if (same_system(&x->system, s)) return x->answer;
  }
  if (t->budget-- <= 0) return TKQ_GAVE_UP;
  tkq_answer a = tkq_linear(s);
  tk_lookup_add(t->arena, &known->by_digest, digest, (int)known->all.n);
  TK_PUSH(t->arena, &known->all, ((asked_system){*s, a}));
  return a;
}
