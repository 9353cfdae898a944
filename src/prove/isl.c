/* isl.c - linear integer arithmetic, by isl where the library was built with
 * it.
 *
 * Each question has a quota of operations, not of time, so that an answer does
 * not depend on the machine.  isl allocates by itself and never unwinds;
 * nothing here throws while its objects live. */
#include "prove/solver.h"

#ifdef HAVE_ISL

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/lp.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

enum { ISL_QUOTA = 200000, ISL_LEAST = 500 };

/* entries: of the systems; an operation on a large one takes longer. */
static isl_ctx *start(size_t entries) {
  isl_ctx *ctx = isl_ctx_alloc();
  unsigned long quota = ISL_QUOTA / (1 + entries / 100);
  isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(ctx, quota > ISL_LEAST ? quota : ISL_LEAST);
  return ctx;
}

static isl_mat *set_number(isl_ctx *ctx, isl_mat *m, int row, int column,
                           int64_t c) {
  if (c >= INT32_MIN && c <= INT32_MAX)
    return isl_mat_set_element_si(m, row, column, (int)c);
  return isl_mat_set_element_val(m, row, column, isl_val_int_from_si(ctx, c));
}

/* The rows of one kind: the coefficients, then the constant. */
static isl_mat *matrix_of(isl_ctx *ctx, const tkq_system *s, bool eq) {
  unsigned n = 0;
  for (size_t i = 0; i < s->rows.n; i++) n += s->rows.items[i].eq == eq;
  isl_mat *m = isl_mat_alloc(ctx, n, (unsigned)s->n + 1);
  for (size_t i = 0, at = 0; i < s->rows.n; i++) {
    const tkq_row *r = &s->rows.items[i];
    if (r->eq != eq) continue;
    for (size_t k = 0; k <= s->n; k++)
      m = isl_mat_set_element_si(m, (int)at, (int)k, 0);
    for (size_t k = 0; k < r->n; k++)
      m = set_number(ctx, m, (int)at, r->at[k], r->c[k]);
    m = set_number(ctx, m, (int)at, (int)s->n, r->k);
    at++;
  }
  return m;
}

/* All at once: isl would look for duplicates after each single constraint. */
static isl_basic_set *set_of(isl_ctx *ctx, const tkq_system *s) {
  return isl_basic_set_from_constraint_matrices(
      isl_space_set_alloc(ctx, 0, (unsigned)s->n), matrix_of(ctx, s, true),
      matrix_of(ctx, s, false), isl_dim_set, isl_dim_div, isl_dim_param,
      isl_dim_cst);
}

static tkq_answer answer_of(isl_bool empty) {
  if (empty == isl_bool_error) return TKQ_GAVE_UP;
  return empty == isl_bool_true ? TKQ_NEVER : TKQ_PERHAPS;
}

bool tkq_has_isl(void) {
  return true;
}

/* Whether a set has no point at all: then no largest value of 0 is there. */
static isl_bool has_no_point(isl_basic_set *set) {
  isl_aff *zero = isl_aff_zero_on_domain_space(isl_basic_set_get_space(set));
  isl_val *most = isl_basic_set_max_lp_val(set, zero);
  isl_bool none = isl_val_is_nan(most);
  isl_val_free(most);
  isl_aff_free(zero);
  return none;
}

tkq_answer tkq_linear(const tkq_system *s, bool points) {
  isl_ctx *ctx = start(s->n * s->rows.n);
  isl_basic_set *set = set_of(ctx, s);
  tkq_answer a =
      answer_of(points ? isl_basic_set_is_empty(set) : has_no_point(set));
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
  isl_ctx *ctx = start(0);
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

tkq_answer tkq_linear(const tkq_system *s, bool points) {
  (void)s;
  (void)points;
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
