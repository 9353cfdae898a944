/* spin.c - whether a program only waits.
 *
 * The state of a loop is hashed at some trip and again after each of the next
 * few; in between every read is noted.  Which variables count follows from the
 * loop alone: those on which its condition, its branches, its accesses to
 * memory and its output depend.
 */
#include "interp/spin.h"

#include <string.h>

#include "base/assert.h"

enum { TRIPS = 8, MAX_READS = 1 << 14 };

/* ---- variables that decide --------------------------------------------- */

typedef struct closure {
  bool *decides;
  bool grew;
} closure;

static void spin_need(closure *c, int slot) {
  if (slot < 0 || c->decides[slot]) return;
  c->decides[slot] = true;
  c->grew = true;
}

/* A pure instruction matters if one of its results does; all others matter. */
static void need_insts(closure *c, const tk_insts *l) {
  for (size_t i = l->n; i-- > 0;) {
    const tk_inst *in = l->items[i];
    bool wanted = !tk_inst_is_pure(in);
    for (int k = 0; k < in->nres && !wanted; k++)
      wanted = c->decides[in->res[k]];
    for (int k = 0; k < in->nargs && wanted; k++) spin_need(c, in->args[k]);
    need_insts(c, &in->body[0]);
    need_insts(c, &in->body[1]);
  }
}

static void need_stmt(closure *c, const tk_stmt *st);

static void need_body(closure *c, const tk_body *b) {
  for (size_t i = b->n; i-- > 0;) need_stmt(c, b->items[i]);
}

static void need_stmt(closure *c, const tk_stmt *st) {
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE) spin_need(c, st->cond);
  if (st->kind == TK_S_FOR) {
    spin_need(c, st->lb);
    spin_need(c, st->ub);
    spin_need(c, st->step);
  }
  for (size_t i = 0; i < st->nresults; i++) spin_need(c, st->results[i]);
  need_body(c, &st->orelse);
  need_body(c, &st->body);
  need_insts(c, &st->insts);
}

static const tki_loopvars *vars_of(tki *t, tki_spins *all, const tk_stmt *st) {
  for (tki_loopvars *v = all->loops; v; v = v->next)
    if (v->stmt == st) return v;
  if (!all->arena.env) tk_arena_init(&all->arena, t->env);
  tki_loopvars *v = TK_NEW(&all->arena, tki_loopvars);
  closure c = {TK_NEWN(&all->arena, bool, t->frame->func->nslots + 1), true};
  while (c.grew) {
    c.grew = false;
    need_stmt(&c, st);
  }
  *v = (tki_loopvars){all->loops, st, c.decides};
  return all->loops = v;
}

/* ---- the state of a loop ----------------------------------------------- */

static uint64_t mix_word(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15;
  return h ^ h >> 29;
}

static uint64_t mix_bytes(uint64_t h, const char *p, size_t n) {
  uint64_t x;
  for (; n >= sizeof x; n -= sizeof x, p += sizeof x) {
    memcpy(&x, p, sizeof x);
    h = mix_word(h, x);
  }
  x = n;
  memcpy(&x, p, n);
  return mix_word(h, x);
}

static uint64_t state_of(tki *t, const tki_loopvars *v) {
  const tk_func *f = t->frame->func;
  uint64_t h = (uint64_t)(uintptr_t)v->stmt;
  for (size_t i = 0; i < f->nslots; i++) {
    tki_val *x = &t->frame->slots[i];
    const tk_type *type = &f->slots[i].type;
    if (!v->decides[i]) continue;
    h = mix_word(h, (uint64_t)x->region);
    size_t lanes = tki_lane_count(x, type);
    h = mix_bytes(h, tki_lanes(x), lanes * tk_lane_size(type));
  }
  return h;
}

/* ---- reads ------------------------------------------------------------- */

static uint64_t bits_at(const tki *t, uint64_t addr, uint32_t size) {
  const tki_region *r = tki_region_at(t, addr, size);
  uint64_t bits = 0;
  if (r) memcpy(&bits, r->host + (addr - r->lo), size);
  return bits;
}

static void note_read(tki_spin *s, const tki_access *a, size_t lane) {
  for (size_t i = 0; i < s->n && i < 64; i++)
    if (s->reads[i].addr == a->addr[lane]) return;
  s->all &= s->n < MAX_READS;
  if (!s->all) return;
  if (s->n == s->cap) {
    size_t cap = s->cap ? 2 * s->cap : 8, size = sizeof *s->reads;
    s->reads = tk_realloc(a->t->env, s->reads, s->cap * size, cap * size);
    s->cap = cap;
  }
  uint32_t size = (uint32_t)a->size;
  s->reads[s->n++] = (tki_read){
      a->addr[lane], bits_at(a->t, a->addr[lane], size), size, a->in};
}

void tki_spin_access(tki_spin *s, const tki_access *a) {
  if (a->in->op == TK_I_STORE || !a->n) return;
  s->atomic |= a->in->op != TK_I_LOAD;
  for (size_t i = 0; i < a->n; i++)
    if (!a->mask || a->mask[i]) note_read(s, a, i);
}

bool tki_spin_same(const tki *t, const tki_spin *s) {
  TK_ASSERT(s->n <= s->cap);
  if (!s->all) return false;
  for (size_t i = 0; i < s->n; i++) {
    const tki_read *r = &s->reads[i];
    if (bits_at(t, r->addr, r->size) != r->bits) return false;
  }
  return true;
}

/* ---- looking ----------------------------------------------------------- */

void tki_spin_stop(tki *t, tki_spin *s) {
  s->loop = NULL;
  if (t->spin == s) t->spin = NULL;
}

static void spin_start(tki *t, tki_spin *s, uint64_t hash) {
  s->loop = t->frame->loops;
  s->frame = t->frame;
  s->hash = hash;
  s->since = s->loop->trip;
  s->n = 0;
  s->all = true;
  s->atomic = false;
  t->spin = s;
  t->wants_writes = true;
}

tki_spinning tki_spin_look(tki *t, tki_spins *all, tki_spin *s) {
  const tki_loop *loop = t->frame->loops;
  TK_ASSERT(loop && loop->stmt->kind == TK_S_WHILE);
  TK_ASSERT(!t->spin || t->spin == s);
  uint64_t hash = state_of(t, vars_of(t, all, loop->stmt));
  if (s->loop != loop || s->frame != t->frame) {
    spin_start(t, s, hash);
    return TKI_LOOKS;
  }
  if (hash == s->hash && tki_spin_same(t, s)) return TKI_WAITS;
  if (loop->trip - s->since < TRIPS) return TKI_LOOKS;
  tki_spin_stop(t, s);
  return TKI_WORKS;
}

void tki_spin_free(tk_env *e, tki_spin *s) {
  tk_free(e, s->reads, s->cap * sizeof *s->reads);
  s->reads = NULL;
  s->n = s->cap = 0;
}
