/* apart.c - whether programs cannot see each other; see apart.h. */
#include "interp/apart.h"

#include "interp/twin.h"
#include "ir/param.h"
#include "launch/areas.h"

static const tk_memory *memory_of(const tki *t, size_t param) {
  tk_param_value v = tk_param_of(t->launch, &t->program->params[param]);
  return v.tensor ? &t->regions[v.index] : NULL;
}

static bool overlap(const tk_memory *a, const tk_memory *b) {
  return a->host < b->host + (b->hi - b->lo) &&
         b->host < a->host + (a->hi - a->lo);
}

/* Whether what is stored through a parameter is neither read nor stored through
 * another one. */
static bool is_alone(const tki *t, const tk_varying *v, size_t stored) {
  const tk_memory *m = memory_of(t, stored);
  for (size_t i = 0; m && i < t->program->nparams; i++) {
    const tk_memory *other = NULL;
    bool read = v->loads >> i & 1, written = v->stores >> i & 1;
    if (read || (written && i != stored)) other = memory_of(t, i);
    if (other && overlap(m, other)) return false;
  }
  return m != NULL;
}

static bool are_apart(const tki *t, const tk_varying *v) {
  if (!v->apart) return false;
  for (size_t i = 0; i < t->program->nparams; i++) {
    bool used = (v->loads | v->stores) >> i & 1;
    if (used && !memory_of(t, i)) return false;
    if ((v->stores >> i & 1) && !is_alone(t, v, i)) return false;
  }
  return true;
}

static const tk_varying *varying_along(tki *t, int axis) {
  tk_unit *u = t->launch->unit;
  if (u->varying[axis]) return u->varying[axis];
  tk_varying *v = TK_NEW(&u->program.arena, tk_varying);
  *v = tk_varying_of(&u->program.arena, t->program, axis);
  u->varying[axis] = v;
  return v;
}

/* Whether every program runs, in the order of the grid. */
static bool is_plain(const tki *t, tki_mode mode) {
  uint64_t all =
      (uint64_t)t->grid[0] * (uint64_t)t->grid[1] * (uint64_t)t->grid[2];
  bool some = t->order.kind || t->order.first || t->order.n != all;
  for (int i = 0; i < 3; i++) some |= t->pids.axis[i].op != 0;
  return !some && mode == TKI_AUTO && !t->schedule->spins_possible;
}

const tk_varying *tki_apart(tki *t, tki_mode mode) {
  int axis = t->grid[0] > 1 ? 0 : t->grid[1] > 1 ? 1 : 2;
  if (tki_is_watched(t) || !is_plain(t, mode)) return NULL;
  const tk_varying *v = varying_along(t, axis);
  return are_apart(t, v) ? v : NULL;
}
