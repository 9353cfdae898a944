/* flat.c - a program as one list of steps. */
#include "ir/flat.h"

/* Functions that call others twice, and those again, expand to any length, and
 * what looks back from each step takes a time that grows with its square. */
enum { MAX_LENGTH = 1 << 15 };

static bool is_too_long(const tk_flat *s) {
  return s->steps.n + s->slots.n > MAX_LENGTH;
}

static int *moved_slots(const tk_flat *s, const int *slots, int n, int by) {
  int *out = TK_NEWN(s->arena, int, n + 1);
  for (int i = 0; i < n; i++) out[i] = slots[i] + by;
  return out;
}

static void pass_value(tk_flat *s, int from, int to, int loop) {
  int *slots = TK_NEWN(s->arena, int, 2);
  slots[0] = from;
  slots[1] = to;
  tk_flat_step step = {NULL, loop, 1, 1, &slots[0], &slots[1]};
  TK_PUSH(s->arena, &s->steps, step);
}

static void expand_func(tk_flat *s, const tk_func *f, const int *args,
                        const int *res, int loop);

static void expand_insts(tk_flat *s, const tk_insts *l, int base, int loop) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    tk_flat_step step = {in,
                         loop,
                         in->nargs,
                         in->nres,
                         moved_slots(s, in->args, in->nargs, base),
                         moved_slots(s, in->res, in->nres, base)};
    if (in->op == TK_I_CALL)
      expand_func(s, in->ref.callee, step.args, step.res, loop);
    else
      TK_PUSH(s->arena, &s->steps, step);
    for (int k = 0; k < 2; k++) expand_insts(s, &in->body[k], base, loop);
  }
}

static void expand_body(tk_flat *s, const tk_body *b, int base, const int *res,
                        int loop) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = b->items[i];
    int inner = loop;
    expand_insts(s, &st->insts, base, loop);
    if (st->kind == TK_S_FOR || st->kind == TK_S_WHILE) {
      inner = (int)s->loops.n;
      tk_flat_loop l = {st, base, s->steps.n, 0};
      TK_PUSH(s->arena, &s->loops, l);
    }
    expand_body(s, &st->body, base, res, inner);
    if (inner != loop) s->loops.items[inner].to = s->steps.n;
    expand_body(s, &st->orelse, base, res, loop);
    for (size_t k = 0; res && k < st->nresults; k++)
      pass_value(s, st->results[k] + base, res[k], loop);
  }
}

static void expand_func(tk_flat *s, const tk_func *f, const int *args,
                        const int *res, int loop) {
  int base = (int)s->slots.n;
  tk_check_interrupt(s->arena->env);
  if (is_too_long(s)) return;
  for (size_t i = 0; i < f->nslots; i++)
    TK_PUSH(s->arena, &s->slots, f->slots[i].type);
  for (size_t i = 0; args && i < f->nparams; i++)
    pass_value(s, args[i], f->params[i] + base, loop);
  expand_body(s, &f->body, base, res, loop);
}

static int slots_of(const tk_flat_step *t, bool read, const int **slots) {
  *slots = read ? t->args : t->res;
  return read ? t->nargs : t->nres;
}

/* Counts the steps of each slot, then lists them. */
static tk_links link_steps(const tk_flat *s, bool read) {
  const int *slots;
  size_t total = 0, *next = TK_NEWN(s->arena, size_t, s->slots.n + 2);
  for (size_t i = 0; i < s->steps.n; i++) {
    int n = slots_of(&s->steps.items[i], read, &slots);
    for (int k = 0; k < n; k++, total++) next[slots[k] + 2]++;
  }
  for (size_t i = 2; i < s->slots.n + 2; i++) next[i] += next[i - 1];
  tk_links l = {.at = next, .steps = TK_NEWN(s->arena, size_t, total + 1)};
  for (size_t i = 0; i < s->steps.n; i++) {
    int n = slots_of(&s->steps.items[i], read, &slots);
    for (int k = 0; k < n; k++) l.steps[next[slots[k] + 1]++] = i;
  }
  return l;
}

tk_flat tk_flat_new(tk_arena *a, const tk_program *p) {
  tk_flat s = {.program = p, .arena = a};
  tk_flat_loop none = {0};
  TK_PUSH(a, &s.loops, none);
  expand_func(&s, p->kernel, NULL, NULL, 0);
  if (is_too_long(&s)) {
    s.steps.n = s.slots.n = 0;
    s.loops.n = 1;
  }
  s.loops.items[0].to = s.steps.n;
  s.readers = link_steps(&s, true);
  s.writers = link_steps(&s, false);
  return s;
}
