/* asked.c - what the solver has answered already.
 *
 * Duties share most of their facts, and each relation is left out in turn to
 * see whether a verdict needs it: the same system comes up again and again. */
#include "prove/solve.h"

#include "base/digest.h"
#include "base/lookup.h"

#include <string.h>

/* What it takes of the budget to give up, and what a system takes for each of
 * its entries, as measured. */
enum { GAVE_UP_COST = 400000, POINT_COST = 6, ENTRY_COST = 2 };

typedef struct asked_system {
  const char *text; /* of the system, some bytes of any value */
  size_t len;
  tkq_answer answer;
  bool points; /* answered by integers */
} asked_system;

typedef struct tkq_asked {
  tk_lookup by_digest;
  TK_VEC(asked_system) all;
} tkq_asked;

/* A number in few bytes, if it is small. */
static void put_packed(tk_buf *out, int64_t c) {
  uint64_t u = ((uint64_t)c << 1) ^ (c < 0 ? ~(uint64_t)0 : 0);
  for (; u > 127; u >>= 7) tk_buf_putc(out, (char)((u & 127) | 128));
  tk_buf_putc(out, (char)u);
}

static void put_system(tk_buf *out, void *ud) {
  const tkq_system *s = ud;
  put_packed(out, (int64_t)s->n);
  for (size_t i = 0; i < s->rows.n; i++) {
    const tkq_row *r = &s->rows.items[i];
    put_packed(out, (int64_t)(2 * r->n + r->eq));
    put_packed(out, r->k);
    for (size_t k = 0; k < r->n; k++) {
      put_packed(out, r->at[k]);
      put_packed(out, r->c[k]);
    }
  }
}

/* What was asked in the same words; NULL: nothing. */
static asked_system *asked_before(const tkq_asked *known, const char *digest,
                                  const char *text, size_t len) {
  int at = tk_lookup_find(&known->by_digest, digest);
  for (; at >= 0; at = tk_lookup_older(&known->by_digest, at)) {
    asked_system *x = &known->all.items[known->by_digest.list.items[at].number];
    if (x->len == len && !memcmp(x->text, text, len)) return x;
  }
  return NULL;
}

/* What the solver says, at the cost of the budget. */
static tkq_answer answer_now(tkq_terms *t, const tkq_system *s) {
  tkq_answer a = tkq_linear(s, t->points);
  t->budget -=
      (int64_t)(s->rows.n * s->n) * (t->points ? POINT_COST : ENTRY_COST);
  if (a == TKQ_GAVE_UP) t->budget -= GAVE_UP_COST;
  return a;
}

tkq_answer tkq_ask(tkq_terms *t, const tkq_system *s) {
  if (!t->asked) t->asked = TK_NEW(t->lasting, tkq_asked);
  tkq_asked *known = t->asked;
  size_t len;
  const char *text =
      tk_arena_text(t->arena, put_system, (void *)(uintptr_t)s, &len);
  const char *digest = tk_arena_printf(
      t->arena, "%llx", (unsigned long long)tk_digest_of(text, len));
  asked_system *before = asked_before(known, digest, text, len);
  if (before && (before->answer == TKQ_NEVER || before->points || !t->points))
    return before->answer;
  if (t->budget <= 0) return TKQ_GAVE_UP;
  tkq_answer a = answer_now(t, s);
  if (before) {
    before->answer = a;
    before->points = true;
    return a;
  }
  tk_lookup_add(t->lasting, &known->by_digest,
                tk_arena_strdup(t->lasting, digest), (int)known->all.n);
  TK_PUSH(t->lasting, &known->all,
          ((asked_system){tk_arena_strndup(t->lasting, text, len), len, a,
                          t->points}));
  return a;
}
