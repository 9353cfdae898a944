/* assume.c - what a user says about the numbers of a launch: "n % 16 == 0",
 * "grid[0] == cdiv(n, 128)", "x.stride(0) >= x.shape[1]".
 *
 * Names are those of the arguments and of the grid. */
#include <inttypes.h>
#include <string.h>

#include "lang/file.h"
#include "prove/relate.h"

typedef struct assume_job {
  tkq_numbers *n;
  tk_env *env;
  const tk_source *src;
} assume_job;

TK_NORETURN static void refuse(assume_job *j, tk_span at, const char *what) {
  tk_diag *d =
      tk_diag_add(j->env, TK_D_ARGUMENT, j->src, at, "--assume: %s", what);
  tk_diag_help(j->env, d,
               "compare whole numbers: arguments such as n, x.shape[0], "
               "x.stride(0), x.numel(), grid[0], cdiv(a, b), min(a, b), "
               "max(a, b), + - * // %%");
  tk_throw(j->env, TK_USAGE);
}

/* ---- names --------------------------------------------------------------- */

static const tkq_poly *named(assume_job *j, tk_span at, const char *name) {
  tkq_numbers *n = j->n;
  for (size_t i = 0; i < n->all.n; i++)
    if (!strcmp(n->all.items[i].name, name)) return n->all.items[i].p;
  for (size_t i = 0; i < n->launch->nargs; i++) {
    const tk_arg *a = &n->launch->args[i];
    if (!strcmp(a->name, name) && a->kind == TK_ARG_VALUE &&
        a->value.kind == TK_V_INT && !a->value.hi && a->value.lo <= INT64_MAX)
      return tkq_const(n->terms, (int64_t)a->value.lo);
  }
  refuse(j, at,
         tk_arena_printf(n->terms->arena, "'%s' is no number of this launch",
                         name));
}

static const char *text_at(assume_job *j, const tk_ast *e) {
  return tk_arena_strndup(j->n->terms->arena, j->src->text + e->span.lo,
                          e->span.hi - e->span.lo);
}

static const tkq_tensor *assume_tensor(assume_job *j, const tk_ast *e) {
  const char *name = tk_dotted_name(e);
  for (size_t i = 0; name && i < j->n->launch->nargs; i++)
    if (j->n->tensors[i].name && !strcmp(name, j->n->tensors[i].name))
      return &j->n->tensors[i];
  refuse(j, e->span, "a tensor argument is expected before the dot");
}

/* ---- numbers ------------------------------------------------------------- */

static const tkq_poly *assume_number(assume_job *j, const tk_ast *e);

static const tkq_poly *call(assume_job *j, const tk_ast *e) {
  tkq_terms *t = j->n->terms;
  const tk_ast *f = tk_call_function(e);
  const char *name = tk_dotted_name(f);
  if (name && f->kind == TK_AST_ATTR && !strcmp(name, "numel") &&
      !tk_call_nargs(e))
    return assume_tensor(j, tk_attr_object(f))->numel;
  if (name && f->kind == TK_AST_ATTR && !strcmp(name, "stride"))
    return named(j, e->span, text_at(j, e));
  if (!name || tk_call_nargs(e) != 2)
    refuse(j, e->span, "a function of two numbers is expected");
  const tkq_poly *a = assume_number(j, tk_arg_value(tk_call_arg(e, 0)));
  const tkq_poly *b = assume_number(j, tk_arg_value(tk_call_arg(e, 1)));
  if (!strcmp(name, "cdiv"))
    return tkq_div(t, tkq_plus(t, tkq_add(t, a, b), -1), b);
  if (!strcmp(name, "min")) return tkq_min(t, a, b);
  if (!strcmp(name, "max")) return tkq_max(t, a, b);
  refuse(j, e->span, "this function is not known here");
}

static const tkq_poly *assume_binary(assume_job *j, const tk_ast *e) {
  tkq_terms *t = j->n->terms;
  const tkq_poly *a = assume_number(j, tk_binop_left(e));
  const tkq_poly *b = assume_number(j, tk_binop_right(e));
  int64_t x, y, power = 1;
  switch ((int)tk_binop_operator(e)) {
  case TK_OP_ADD: return tkq_add(t, a, b);
  case TK_OP_SUB: return tkq_sub(t, a, b);
  case TK_OP_MUL: return tkq_mul(t, a, b);
  case TK_OP_FLOORDIV: return tkq_div(t, a, b);
  case TK_OP_MOD: return tkq_sub(t, a, tkq_mul(t, tkq_div(t, a, b), b));
  case TK_OP_POW:
    if (!tkq_is_const(a, &x) || !tkq_is_const(b, &y) || y < 0 || y > 62) break;
    while (y-- > 0)
      if (__builtin_mul_overflow(power, x, &power)) return NULL;
    return tkq_const(t, power);
  default: break;
  }
  refuse(j, e->span, "this operation is not known here");
}

static const tkq_poly *assume_number(assume_job *j, const tk_ast *e) {
  tkq_terms *t = j->n->terms;
  const tkq_poly *p = NULL;
  if (e->kind == TK_AST_INT && tk_int_value(e) <= INT64_MAX)
    p = tkq_const(t, (int64_t)tk_int_value(e));
  else if (e->kind == TK_AST_NAME || e->kind == TK_AST_SUBSCRIPT)
    p = named(j, e->span, text_at(j, e));
  else if (e->kind == TK_AST_CALL)
    p = call(j, e);
  else if (e->kind == TK_AST_BINARY)
    p = assume_binary(j, e);
  else if (e->kind == TK_AST_UNARY && tk_unop_operator(e) == TK_OP_NEG)
    p = tkq_sub(t, tkq_const(t, 0), assume_number(j, tk_unop_operand(e)));
  else
    refuse(j, e->span, "a whole number is expected");
  if (!p) refuse(j, e->span, "this is too large to reason about");
  return p;
}

/* ---- conditions ---------------------------------------------------------- */

static const tkq_form *comparison(assume_job *j, tk_operator op,
                                  const tkq_poly *a, const tkq_poly *b,
                                  tk_span at) {
  tkq_terms *t = j->n->terms;
  switch ((int)op) {
  case TK_OP_LT: return tkq_lt(t, a, b);
  case TK_OP_LE: return tkq_ge(t, b, a);
  case TK_OP_GT: return tkq_lt(t, b, a);
  case TK_OP_GE: return tkq_ge(t, a, b);
  case TK_OP_EQ: return tkq_eq(t, a, b);
  case TK_OP_NE: return tkq_not(t, tkq_eq(t, a, b));
  default: break;
  }
  refuse(j, at, "numbers are compared by < <= > >= == !=");
}

static const tkq_form *assume_condition(assume_job *j, const tk_ast *e) {
  tkq_terms *t = j->n->terms;
  const tkq_form *f = tkq_true();
  if (e->kind == TK_AST_BOOLOP && tk_boolop_operator(e) == TK_OP_AND) {
    for (size_t i = 0; i < tk_boolop_noperands(e); i++)
      f = tkq_and(t, f, assume_condition(j, tk_boolop_operand(e, i)));
    return f;
  }
  if (e->kind != TK_AST_COMPARE) refuse(j, e->span, "a comparison is expected");
  const tkq_poly *a = assume_number(j, tk_comparison_left(e));
  for (size_t i = 0; i < tk_comparison_ncmps(e); i++) {
    const tk_ast *c = tk_comparison_cmp(e, i);
    const tkq_poly *b = assume_number(j, tk_cmp_right(c));
    f = tkq_and(t, f, comparison(j, tk_cmp_operator(c), a, b, e->span));
    a = b;
  }
  return f;
}

/* ---- what a quantity is -------------------------------------------------- */

static bool is_not_before(const tkq_terms *t, int atom, void *ud) {
  const int *number = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  return a->kind == TKQ_SIZE && a->number >= *number;
}

/* Whether e is QUANTITY == NUMBER, of which the number speaks of quantities
 * before it alone: then it takes the place of what was read off the launch. */
static bool redefine(assume_job *j, const tk_ast *e, int relation) {
  tkq_numbers *n = j->n;
  if (e->kind != TK_AST_COMPARE || tk_comparison_ncmps(e) != 1 ||
      tk_cmp_operator(tk_comparison_cmp(e, 0)) != TK_OP_EQ)
    return false;
  const char *name = text_at(j, tk_comparison_left(e));
  for (int i = 0; i < (int)n->all.n; i++) {
    if (strcmp(n->all.items[i].name, name) != 0) continue;
    const tkq_poly *p = assume_number(j, tk_cmp_right(tk_comparison_cmp(e, 0)));
    if (tkq_has(n->terms, p, is_not_before, &i)) return false;
    n->all.items[i].relation = relation;
    n->is.items[i] = p;
    return true;
  }
  return false;
}

static void assume_line(tkq_numbers *n, tk_env *e, const char *text,
                        size_t len) {
  tk_arena *a = n->terms->arena;
  const char *line = tk_arena_strndup(a, text, len);
  tk_source *src = tk_source_new(a, "--assume", line, len);
  assume_job j = {n, e, src};
  const tk_ast *tree = tk_parse_expr(e, a, src);
  if (!tree) tk_throw(e, TK_USAGE);
  TK_PUSH(a, &n->relations, ((tkq_relation){.text = line, .on = true}));
  if (!redefine(&j, tree, (int)n->relations.n - 1))
    n->relations.items[n->relations.n - 1].fact = assume_condition(&j, tree);
}

void tkq_assume(tkq_numbers *n, tk_env *e, const char *text) {
  while (*text) {
    size_t len = strcspn(text, "\n");
    if (len) assume_line(n, e, text, len);
    text += len + (text[len] == '\n');
  }
}
