/* assume.c - what a user, or the program that launches, says about the numbers
 * of a launch: "n % 16 == 0", "grid[0] == cdiv(n, 128)",
 * "x.stride(0) >= x.shape[1]".
 *
 * Names are those of the arguments and of the grid.  Division rounds down, as
 * Python's does. */
#include <inttypes.h>
#include <string.h>

#include "lang/file.h"
#include "prove/relate.h"

typedef struct assume_job {
  tkq_numbers *n;
  tk_env *env;
  const tk_source *src;
  size_t tensor;
  const tkq_poly *any; /* an element of the tensor; NULL: none is named */
} assume_job;

TK_NORETURN static void refuse(assume_job *j, tk_span at, const char *what) {
  tk_diag *d =
      tk_diag_add(j->env, TK_D_ARGUMENT, j->src, at, "--assume: %s", what);
  tk_diag_help(j->env, d,
               "compare whole numbers: arguments such as n, x.shape[0], "
               "x.stride(0), x.numel(), grid[0], cdiv(a, b), min(a, b), "
               "max(a, b), next_power_of_2(a), + - * // %%; any element of a "
               "tensor: 0 <= idx[*] < n, distinct idx[*]");
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

/* ---- contents ------------------------------------------------------------ */

/* "idx[*]": any element of a tensor. */
static const tkq_poly *any_element(assume_job *j, const tk_ast *e) {
  tkq_numbers *n = j->n;
  const char *text = text_at(j, e);
  for (size_t i = 0; i < n->launch->nargs; i++) {
    const tkq_tensor *x = &n->tensors[i];
    if (!x->name ||
        strcmp(text, tk_arena_printf(n->terms->arena, "%s[*]", x->name)) != 0)
      continue;
    int64_t lo, hi;
    if (!tkq_range(x->dtype, &lo, &hi))
      refuse(j, e->span, "this tensor does not hold whole numbers");
    if (j->any && j->tensor != i)
      refuse(j, e->span, "a relation is about the elements of one tensor");
    if (!j->any) j->any = tkq_datum(n->terms, 0, lo, hi, "an element");
    j->tensor = i;
    return j->any;
  }
  return NULL;
}

/* ---- numbers ------------------------------------------------------------- */

static const tkq_poly *assume_number(assume_job *j, const tk_ast *e);

/* a // b, rounded down. */
static const tkq_poly *floor_of(assume_job *j, const tk_ast *e,
                                const tkq_poly *a, const tkq_poly *b) {
  tkq_terms *t = j->n->terms;
  const tkq_poly *zero = tkq_const(t, 0);
  if (!a || !b) return NULL;
  if (tkq_low(t, b) < 1) refuse(j, e->span, "this divisor may be below 1");
  if (tkq_low(t, a) >= 0) return tkq_div(t, a, b);
  const tkq_poly *up = tkq_plus(t, tkq_add(t, tkq_sub(t, zero, a), b), -1);
  return tkq_select(t, tkq_ge(t, a, zero), tkq_div(t, a, b),
                    tkq_sub(t, zero, tkq_div(t, up, b)));
}

static const tkq_poly *call(assume_job *j, const tk_ast *e) {
  tkq_terms *t = j->n->terms;
  const tk_ast *f = tk_call_function(e);
  const char *name = tk_dotted_name(f);
  if (name && f->kind == TK_AST_ATTR && !strcmp(name, "numel") &&
      !tk_call_nargs(e))
    return assume_tensor(j, tk_attr_object(f))->numel;
  if (name && f->kind == TK_AST_ATTR && !strcmp(name, "stride"))
    return named(j, e->span, text_at(j, e));
  if (name && !strcmp(name, "next_power_of_2") && tk_call_nargs(e) == 1)
    return tkq_power(t, assume_number(j, tk_arg_value(tk_call_arg(e, 0))));
  if (!name || tk_call_nargs(e) != 2)
    refuse(j, e->span, "a function of two numbers is expected");
  const tkq_poly *a = assume_number(j, tk_arg_value(tk_call_arg(e, 0)));
  const tkq_poly *b = assume_number(j, tk_arg_value(tk_call_arg(e, 1)));
  if (!strcmp(name, "cdiv"))
    return floor_of(j, e, tkq_plus(t, tkq_add(t, a, b), -1), b);
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
  case TK_OP_FLOORDIV: return floor_of(j, e, a, b);
  case TK_OP_MOD:
    if (a && b && tkq_low(t, a) >= 0 && tkq_low(t, b) >= 1)
      return tkq_rem(t, a, b);
    return tkq_sub(t, a, tkq_mul(t, floor_of(j, e, a, b), b));
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
  else if (e->kind == TK_AST_SUBSCRIPT && any_element(j, e))
    p = j->any;
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

/* The quantity that an expression names; -1: it is none. */
static int quantity_of(assume_job *j, const tk_ast *e) {
  const char *name = text_at(j, e);
  for (size_t i = 0; i < j->n->all.n; i++)
    if (!strcmp(j->n->all.items[i].name, name)) return (int)i;
  return -1;
}

/* The comparison by == of two sides that e is; NULL: it is none. */
static const tk_ast *equation(const tk_ast *e) {
  if (e->kind != TK_AST_COMPARE || tk_comparison_ncmps(e) != 1) return NULL;
  const tk_ast *c = tk_comparison_cmp(e, 0);
  return tk_cmp_operator(c) == TK_OP_EQ ? c : NULL;
}

/* Whether e is QUANTITY == NUMBER, of which the number does not come from the
 * quantity: then it takes the place of what was read off the launch. */
static bool redefine(assume_job *j, const tk_ast *e, int relation) {
  const tk_ast *c = equation(e);
  int i = c ? quantity_of(j, tk_comparison_left(e)) : -1;
  return i >= 0 &&
         tkq_define(j->n, i, assume_number(j, tk_cmp_right(c)), relation);
}

static const char distinct[] = "distinct ";

/* The tree of a line, in which "[:]" stands for "[*]"; messages show what was
 * written. */
static const tk_ast *assumed_tree(assume_job *j, const char *line) {
  tk_arena *a = j->n->terms->arena;
  char *text = tk_arena_strdup(a, line);
  for (char *at = text; (at = strstr(at, "[*]"));) at[1] = ':';
  tk_source *src = tk_source_new(a, "--assume", text, strlen(text));
  const tk_ast *tree = tk_parse_expr(j->env, a, src);
  j->src = tk_source_new(a, "--assume", line, strlen(line));
  return tree;
}

/* A relation that is about elements of a tensor; false: it is not. */
static bool assume_content(assume_job *j, int relation, const tkq_form *fact) {
  if (!j->any) return false;
  TK_PUSH(j->n->terms->arena, &j->n->contents,
          ((tkq_content){j->tensor, relation, fact, j->any}));
  return true;
}

static void assume_line(tkq_numbers *n, tk_env *e, const char *text,
                        size_t len) {
  tk_arena *a = n->terms->arena;
  const char *line = tk_arena_strndup(a, text, len);
  bool is_distinct = !strncmp(line, distinct, strlen(distinct));
  assume_job j = {.n = n, .env = e};
  const tk_ast *tree = assumed_tree(&j, line + is_distinct * strlen(distinct));
  if (!tree) tk_throw(e, TK_USAGE);
  int r = tkq_relation_new(n, TK_GIVEN_ASSUMED, line);
  if (is_distinct) {
    if (tree->kind != TK_AST_SUBSCRIPT || !any_element(&j, tree))
      refuse(&j, tree->span, "'distinct' is followed by the elements: idx[*]");
    assume_content(&j, r, NULL);
  } else if (!redefine(&j, tree, r)) {
    const tkq_form *f = assume_condition(&j, tree);
    if (!assume_content(&j, r, f)) n->relations.items[r].fact = f;
  }
}

/* Calls take() with each line that is not empty. */
static void each_line(tkq_numbers *n, tk_env *e, const char *text,
                      void (*take)(tkq_numbers *n, tk_env *e, const char *text,
                                   size_t len)) {
  while (*text) {
    size_t len = strcspn(text, "\n");
    if (len) take(n, e, text, len);
    text += len + (text[len] == '\n');
  }
}

void tkq_assume(tkq_numbers *n, tk_env *e, const char *text) {
  each_line(n, e, text, assume_line);
}

/* ---- what the program that launches says --------------------------------- */

typedef struct told_line {
  tkq_numbers *n;
  const char *text, *place; /* place: where it was checked; NULL: nowhere */
} told_line;

static const tkq_poly *launch_number(tkq_terms *t, void *ud, int atom) {
  const tkq_numbers *n = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  return a->kind == TKQ_SIZE ? tkq_const(t, n->all.items[a->number].value)
                             : NULL;
}

static bool is_so(const tkq_numbers *n, const tkq_form *f) {
  tkq_subst s = {launch_number, (void *)(uintptr_t)n};
  return tkq_replace_form(n->terms, f, &s)->kind == TKQ_TRUE;
}

static const char *told_text(const told_line *l) {
  const char *file = l->place ? strrchr(l->place, '/') : NULL;
  if (!l->place) return l->text;
  return tk_arena_printf(l->n->terms->arena, "%s (%s)", l->text,
                         file ? file + 1 : l->place);
}

/* Says what a quantity is that nothing is said of yet; false: it is none. */
static bool tell_quantity(assume_job *j, const told_line *l, const tk_ast *side,
                          const tk_ast *other) {
  int i = quantity_of(j, side);
  if (i < 0 || j->n->all.items[i].relation >= 0) return false;
  const tkq_poly *p = assume_number(j, other);
  int r = tkq_relation_new(j->n, TK_GIVEN_TOLD, told_text(l));
  if (tkq_define(j->n, i, p, r)) {
    j->n->all.items[i].told = true;
    return true;
  }
  j->n->relations.n--;
  return false;
}

static void tell_relation(assume_job *j, const told_line *l,
                          const tk_ast *tree) {
  tkq_numbers *n = j->n;
  const tkq_form *f = assume_condition(j, tree);
  const tk_ast *c = equation(tree);
  if (!is_so(n, f) || f->kind == TKQ_TRUE) return;
  if (c && (tell_quantity(j, l, tk_comparison_left(tree), tk_cmp_right(c)) ||
            tell_quantity(j, l, tk_cmp_right(c), tk_comparison_left(tree))))
    return;
  int r = tkq_relation_new(n, TK_GIVEN_TOLD, told_text(l));
  n->relations.items[r].fact = f;
}

static void read_told(tk_env *e, void *ud) {
  told_line *l = ud;
  tk_arena *a = l->n->terms->arena;
  tk_source *src = tk_source_new(a, "told", l->text, strlen(l->text));
  assume_job j = {.n = l->n, .env = e, .src = src};
  const tk_ast *tree = tk_parse_expr(e, a, src);
  if (!tree) return;
  int i = quantity_of(&j, tree);
  if (i >= 0)
    l->n->all.items[i].told = true;
  else if (tree->kind == TK_AST_COMPARE)
    tell_relation(&j, l, tree);
}

static void tell_line(tkq_numbers *n, tk_env *e, const char *text, size_t len) {
  tk_arena *a = n->terms->arena;
  const char *line = tk_arena_strndup(a, text, len);
  const char *mark = strstr(line, "  # ");
  told_line l = {n, line, mark ? mark + 4 : NULL};
  size_t ndiags = e->ndiags;
  if (mark) l.text = tk_arena_strndup(a, line, (size_t)(mark - line));
  tk_status st = tk_protect(e, read_told, &l);
  if (st == TK_INTERRUPTED || st == TK_INTERNAL) tk_throw(e, st);
  tk_diag_truncate(e, ndiags);
}

void tkq_tell(tkq_numbers *n, tk_env *e, const char *text) {
  each_line(n, e, text, tell_line);
}
