/* where.c - conditions that a size may have to obey for a kernel to be right:
 * that a block divides it or holds all of it, or that two sizes are equal. */
#include "prove/where.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_CONDITIONS = 60 };

typedef struct where_sizes {
  int *items;
  size_t n, cap;
} where_sizes;

typedef struct where_job {
  const tkq_numbers *n;
  const bool *about; /* of each quantity: whether it matters */
  tkq_conditions *out;
} where_job;

static tk_arena *where_arena(const where_job *j) {
  return j->n->terms->arena;
}

/* "n % B == 0", and its opposite. */
static void add_condition(where_job *j, const char *left, const char *right,
                          const char *not_right, const tkq_form *fact) {
  tk_arena *a = where_arena(j);
  tkq_condition c = {tk_arena_printf(a, "%s %s", left, right),
                     tk_arena_printf(a, "%s %s", left, not_right), fact};
  if (j->out->n < MOST_CONDITIONS) TK_PUSH(a, j->out, c);
}

/* ---- sizes --------------------------------------------------------------- */

/* Whether a quantity matters and is not made of others. */
static bool is_free(const where_job *j, size_t i) {
  const tkq_quantity *q = &j->n->all.items[i];
  const tkq_poly *p = tkq_related(j->n, q->p);
  const tkq_atom *a = tkq_single(j->n->terms, p);
  return j->about[i] && a && a->kind == TKQ_SIZE;
}

/* Whether a scalar is told of as a stride: a size has a better name then. */
static bool is_stride(const where_job *j, size_t i) {
  const tkq_poly *is = j->n->is.items[i];
  const tkq_atom *a = is ? tkq_single(j->n->terms, is) : NULL;
  return a && a->kind == TKQ_SIZE &&
         j->n->all.items[a->number].kind == TKQ_OF_STRIDE;
}

/* Scalars before sizes, since a kernel's text has their names. */
static void list_sizes(where_job *j, where_sizes *out) {
  static const tkq_quantity_kind kinds[] = {TKQ_OF_SCALAR, TKQ_OF_SHAPE};
  for (size_t k = 0; k < TK_COUNT(kinds); k++)
    for (size_t i = 0; i < j->n->all.n; i++) {
      const tkq_quantity *q = &j->n->all.items[i];
      if (q->kind != kinds[k] || !is_free(j, i) || is_stride(j, i)) continue;
      bool known = false;
      for (size_t m = 0; m < out->n; m++)
        known |= tkq_same(tkq_related(j->n, q->p),
                          tkq_related(j->n, j->n->all.items[out->items[m]].p));
      if (!known) TK_PUSH(where_arena(j), out, (int)i);
    }
}

/* ---- conditions ---------------------------------------------------------- */

static void compare_with_block(where_job *j, const tkq_quantity *q,
                               const char *name, int64_t block) {
  tkq_terms *t = j->n->terms;
  const tkq_poly *c = tkq_const(t, block), *zero = tkq_const(t, 0);
  tk_arena *a = where_arena(j);
  add_condition(j, tk_arena_printf(a, "%s %% %s", q->name, name), "== 0",
                "!= 0", tkq_eq(t, tkq_rem(t, q->p, c), zero));
  add_condition(j, q->name, tk_arena_printf(a, "<= %s", name),
                tk_arena_printf(a, "> %s", name), tkq_ge(t, c, q->p));
}

/* A compile-time number; 0: it is none. */
static int64_t compile_time_number(const tk_program *p, size_t arg) {
  char *end = NULL;
  const char *text = p->args[arg].value;
  int64_t c = text ? strtoll(text, &end, 10) : 0;
  return end && !*end ? c : 0;
}

/* With each compile-time number above 1. */
static void compare_with_blocks(where_job *j, const tkq_quantity *q) {
  const tk_program *p = j->n->program;
  for (size_t i = 0; i < p->nargs; i++) {
    int64_t c = compile_time_number(p, i);
    bool known = c <= 1;
    for (size_t k = 0; k < i; k++) known |= compile_time_number(p, k) == c;
    if (!known) compare_with_block(j, q, p->args[i].name, c);
  }
}

static void compare_sizes(where_job *j, const tkq_quantity *a,
                          const tkq_quantity *b) {
  if (a->value != b->value) return;
  tk_arena *arena = where_arena(j);
  add_condition(j, a->name, tk_arena_printf(arena, "== %s", b->name),
                tk_arena_printf(arena, "!= %s", b->name),
                tkq_eq(j->n->terms, a->p, b->p));
}

void tkq_conditions_of(const tkq_numbers *n, const bool *about,
                       tkq_conditions *out) {
  where_job j = {n, about, out};
  const tkq_quantity *all = n->all.items;
  where_sizes sizes = {0};
  list_sizes(&j, &sizes);
  for (size_t i = 0; i < sizes.n; i++)
    compare_with_blocks(&j, &all[sizes.items[i]]);
  for (size_t i = 0; i < sizes.n; i++)
    for (size_t k = i + 1; k < sizes.n; k++)
      compare_sizes(&j, &all[sizes.items[i]], &all[sizes.items[k]]);
}
