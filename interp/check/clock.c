/* clock.c - vector clocks as trees of sixteen branches.
 */
#include "interp/check/clock.h"

enum { BITS = 4, WIDTH = 1 << BITS };

struct tkc_clock {
  union {
    const tkc_clock *kids[WIDTH];
    uint32_t counts[WIDTH]; /* at depth 0 */
  };
};

tkc_clocks tkc_clocks_for(tk_arena *a, uint64_t programs) {
  tkc_clocks c = {a, 0};
  while (programs > WIDTH) {
    programs = (programs + WIDTH - 1) / WIDTH;
    c.depth++;
  }
  return c;
}

static size_t clock_branch(uint64_t program, int depth) {
  return program >> BITS * depth & (WIDTH - 1);
}

uint32_t tkc_clock_get(const tkc_clocks *c, const tkc_clock *k,
                       uint64_t program) {
  for (int d = c->depth; k && d > 0; d--) k = k->kids[clock_branch(program, d)];
  return k ? k->counts[clock_branch(program, 0)] : 0;
}

static const tkc_clock *clock_with(const tkc_clocks *c, const tkc_clock *k,
                                   int depth, uint64_t program,
                                   uint32_t count) {
  tkc_clock *n = TK_NEW(c->arena, tkc_clock);
  size_t i = clock_branch(program, depth);
  if (k) *n = *k;
  if (depth)
    n->kids[i] = clock_with(c, n->kids[i], depth - 1, program, count);
  else
    n->counts[i] = count;
  return n;
}

const tkc_clock *tkc_clock_set(const tkc_clocks *c, const tkc_clock *k,
                               uint64_t program, uint32_t count) {
  TK_ASSERT(program >> BITS * (c->depth + 1) == 0);
  if (tkc_clock_get(c, k, program) >= count) return k;
  return clock_with(c, k, c->depth, program, count);
}

static const tkc_clock *clock_joined(const tkc_clocks *c, const tkc_clock *a,
                                     const tkc_clock *b, int depth) {
  if (!a || a == b) return b;
  if (!b) return a;
  tkc_clock n;
  bool is_a = true, is_b = true;
  for (size_t i = 0; i < WIDTH; i++) {
    if (depth)
      n.kids[i] = clock_joined(c, a->kids[i], b->kids[i], depth - 1);
    else
      n.counts[i] = a->counts[i] > b->counts[i] ? a->counts[i] : b->counts[i];
    is_a &= depth ? n.kids[i] == a->kids[i] : n.counts[i] == a->counts[i];
    is_b &= depth ? n.kids[i] == b->kids[i] : n.counts[i] == b->counts[i];
  }
  if (is_a || is_b) return is_a ? a : b;
  tkc_clock *made = TK_NEW(c->arena, tkc_clock);
  *made = n;
  return made;
}

const tkc_clock *tkc_clock_join(const tkc_clocks *c, const tkc_clock *a,
                                const tkc_clock *b) {
  return clock_joined(c, a, b, c->depth);
}
