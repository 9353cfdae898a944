/* isl.c - linear integer arithmetic, by isl where the library was built with
 * it.
 *
 * Each question has a quota of operations, not of time, so that an answer does
 * not depend on the machine.  isl allocates by itself and never unwinds;
 * nothing here throws while its objects live. */
#include "prove/solver.h"

#ifdef HAVE_ISL

#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/local_space.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

enum { ISL_QUOTA = 200000 };

static isl_ctx *start(void) {
  isl_ctx *ctx = isl_ctx_alloc();
  isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(ctx, ISL_QUOTA);
  return ctx;
}

static isl_basic_set *set_of(isl_ctx *ctx, const tkq_system *s) {
  isl_space *space = isl_space_set_alloc(ctx, 0, (unsigned)s->n);
  isl_basic_set *set = isl_basic_set_universe(isl_space_copy(space));
  isl_local_space *local = isl_local_space_from_space(space);
  for (size_t i = 0; i < s->rows.n; i++) {
    const tkq_row *r = &s->rows.items[i];
    isl_constraint *c =
        r->eq ? isl_constraint_alloc_equality(isl_local_space_copy(local))
              : isl_constraint_alloc_inequality(isl_local_space_copy(local));
    for (size_t k = 0; k < s->n; k++)
      if (r->c[k])
        c = isl_constraint_set_coefficient_val(
            c, isl_dim_set, (int)k, isl_val_int_from_si(ctx, r->c[k]));
    c = isl_constraint_set_constant_val(c, isl_val_int_from_si(ctx, r->k));
    set = isl_basic_set_add_constraint(set, c);
  }
  isl_local_space_free(local);
  return set;
}

static tkq_answer answer_of(isl_bool empty) {
  if (empty == isl_bool_error) return TKQ_GAVE_UP;
  return empty == isl_bool_true ? TKQ_NEVER : TKQ_PERHAPS;
}

bool tkq_has_isl(void) {
  return true;
}

tkq_answer tkq_linear(const tkq_system *s) {
  isl_ctx *ctx = start();
  isl_basic_set *set = set_of(ctx, s);
  tkq_answer a = answer_of(isl_basic_set_is_empty(set));
  isl_basic_set_free(set);
  isl_ctx_free(ctx);
  return a;
}

static isl_set *shared_set(isl_ctx *ctx, const tkq_system *s, size_t shared) {
  isl_set *set = isl_set_from_basic_set(set_of(ctx, s));
  return isl_set_project_out(set, isl_dim_set, (unsigned)shared,
                             (unsigned)(s->n - shared));
}

tkq_answer tkq_outside(const tkq_system *whole, const tkq_system *parts,
                       size_t nparts, size_t shared) {
  isl_ctx *ctx = start();
  isl_set *rest = shared_set(ctx, whole, shared);
  for (size_t i = 0; i < nparts; i++)
    rest = isl_set_subtract(rest, shared_set(ctx, &parts[i], shared));
  tkq_answer a = answer_of(isl_set_is_empty(rest));
  isl_set_free(rest);
  isl_ctx_free(ctx);
  return a;
}

#else

bool tkq_has_isl(void) {
  return false;
}

tkq_answer tkq_linear(const tkq_system *s) {
  (void)s;
  return TKQ_GAVE_UP;
}

tkq_answer tkq_outside(const tkq_system *whole, const tkq_system *parts,
                       size_t nparts, size_t shared) {
  (void)whole;
  (void)parts;
  (void)nparts;
  (void)shared;
  return TKQ_GAVE_UP;
}

#endif
