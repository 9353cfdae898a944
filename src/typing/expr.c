/* expr.c - expressions.
 *
 * One function per kind of node, dispatched by a table from ast.def's kinds.
 * While a node is worked on, frame->at is its span, so that instructions and
 * errors point at
 * it. */
#include <stdio.h>
#include <string.h>

#include "typing/ask.h"
#include "typing/version.h"
#include "typing/walk.h"
#include "launch/host.h"

typedef sval (*expr_fn)(tks *s, const tk_ast *e);

static sval expr_name(tks *s, const tk_ast *e) {
  sval v;
  if (!tks_lookup(s, tk_name_text(e), &v)) tks_unknown_name(s, tk_name_text(e));
  return v;
}

static sval expr_int(tks *s, const tk_ast *e) {
  (void)s;
  return sv_int(tk_int_value(e));
}

static sval expr_float(tks *s, const tk_ast *e) {
  (void)s;
  return sv_float(tk_float_value(e));
}

static sval expr_str(tks *s, const tk_ast *e) {
  (void)s;
  return sv_str(tk_str_text(e), tk_str_length(e));
}

static sval expr_bool(tks *s, const tk_ast *e) {
  (void)s;
  return sv_bool(tk_bool_value(e));
}

static sval expr_none(tks *s, const tk_ast *e) {
  (void)s, (void)e;
  return sv(V_NONE);
}

/* What Python has and Triton's compiler lacks; a debugger's expressions may
 * have it. */
static void only_in_expressions(tks *s, const char *what, const char *help) {
  if (s->ask || s->frame->python) return;
  tks_error_help(s, TK_D_UNSUPPORTED, help, "unsupported AST node type: %s",
                 what);
}

/* ---- sequences --------------------------------------------------------- */

typedef TK_VEC(sval) svals;

static void push_item(tks *s, svals *out, const tk_ast *item) {
  if (item->kind != TK_AST_STARRED) {
    TK_PUSH(s->arena, out, tks_expr(s, item));
    return;
  }
  only_in_expressions(s, "Starred", "join tuples with +: (a, b) + t");
  sval v = tks_expr(s, tk_starred_value(item));
  if (v.kind != V_TUPLE)
    tks_error(s, TK_D_TYPE, "* needs a tuple, not %s", tks_show(s, &v));
  for (size_t i = 0; i < v.n; i++) TK_PUSH(s->arena, out, v.items[i]);
}

static sval expr_tuple(tks *s, const tk_ast *e) {
  svals items = {0};
  for (uint32_t i = 0; i < tk_sequence_nitems(e); i++)
    push_item(s, &items, tk_sequence_item(e, i));
  sval v = sv_tuple(s, items.items, items.n);
  v.is_list = e->kind == TK_AST_LIST;
  return v;
}

static void bind_target(tks *s, const tk_ast *target, const sval *v) {
  if (target->kind == TK_AST_NAME) {
    tks_bind(s, tk_name_text(target), v);
    return;
  }
  bool fits = tk_is_sequence(target) && v->kind == V_TUPLE &&
              v->n == tk_sequence_nitems(target);
  if (!fits) tks_error(s, TK_D_VALUE, "cannot unpack %s here", tks_show(s, v));
  for (uint32_t i = 0; i < tk_sequence_nitems(target); i++)
    bind_target(s, tk_sequence_item(target, i), &v->items[i]);
}

static bool conditions_hold(tks *s, const tk_ast *e) {
  for (uint32_t i = 0; i < tk_comp_nconditions(e); i++) {
    sval v = tks_expr(s, tk_comp_condition(e, i));
    if (!sv_truth(s, &v)) return false;
  }
  return true;
}

/* As the compiler sees conditions: what is known only when the program runs is
 * an object, and objects are true. */
static bool filters_hold(tks *s, const tk_ast *e, bool *said) {
  for (uint32_t i = 0; i < tk_comp_nconditions(e); i++) {
    sval v = tks_expr(s, tk_comp_condition(e, i));
    if (v.kind != V_TENSOR && !sv_truth(s, &v)) return false;
    if (v.kind != V_TENSOR || *said) continue;
    *said = true;
    s->frame->at = tk_comp_condition(e, i)->span;
    tk_diag *d = tks_say(s, TK_D_SUSPICIOUS,
                         "the compiler takes this condition for true: a "
                         "comprehension asks for constexprs");
    tk_diag_help(s->env, d, "choose lanes with tl.where");
  }
  return true;
}

/* Triton's compiler goes over tuples alone, takes no notice of conditions
 * before 3.9, and the name keeps its last item, where Python gives it back what
 * it was. */
static sval kernel_comp(tks *s, const tk_ast *e) {
  sval over = tks_expr(s, tk_comp_iterable(e));
  if (over.kind != V_TUPLE || over.is_one || over.is_host)
    tks_error_help(s, TK_D_TYPE, "write tl.static_range in a for statement",
                   "a comprehension iterates over a tuple, not %s",
                   tks_show(s, &over));
  bool holds = tks_has(s, TKS_FILTERS_HOLD);
  if (tk_comp_target(e)->kind != TK_AST_NAME)
    tks_need(s, TKS_COMPREHENSION_TARGETS,
             "a comprehension has one name for its items",
             "index it: x[0], x[1]");
  if (tk_comp_nconditions(e) && !holds) {
    s->frame->at = tk_comp_condition(e, 0)->span;
    tk_diag *d = tks_say(s, TK_D_SUSPICIOUS,
                         "the compiler ignores the condition of a "
                         "comprehension: no item is left out");
    tk_diag_help(s->env, d, "write the tuple without those items");
  }
  svals items = {0};
  bool said = false;
  for (size_t i = 0; i < over.n; i++) {
    bind_target(s, tk_comp_target(e), &over.items[i]);
    if (!holds || filters_hold(s, e, &said))
      TK_PUSH(s->arena, &items, tks_expr(s, tk_comp_element(e)));
  }
  return sv_tuple(s, items.items, items.n);
}

static sval expr_comp(tks *s, const tk_ast *e) {
  if (tk_comp_bracket(e) != '[' && !s->frame->python)
    tks_error_help(s, TK_D_UNSUPPORTED, "write [... for ... in ...]",
                   "unsupported AST node type: GeneratorExp");
  if (!s->ask && !s->frame->python) return kernel_comp(s, e);
  sval over = tks_expr(s, tk_comp_iterable(e));
  if (over.kind != V_TUPLE)
    tks_error(s, TK_D_TYPE, "a comprehension iterates over a tuple, not %s",
              tks_show(s, &over));
  const tk_binding *scope = s->frame->scope;
  svals items = {0};
  for (size_t i = 0; i < over.n; i++) {
    bind_target(s, tk_comp_target(e), &over.items[i]);
    if (conditions_hold(s, e))
      TK_PUSH(s->arena, &items, tks_expr(s, tk_comp_element(e)));
  }
  s->frame->scope = scope;
  return sv_tuple(s, items.items, items.n);
}

/* ---- operators --------------------------------------------------------- */

/* Python itself has no operators of tensors. */
static void check_operator(tks *s, tk_operator op, const sval *a,
                           const sval *b) {
  bool any = sv_is_tensor(a) || (b && sv_is_tensor(b));
  bool is = op == TK_OP_IS || op == TK_OP_ISNOT;
  if (s->frame->python && any && !is)
    tks_need_semantic(s, tk_operator_text(op));
}

/* Triton does not make a number of x in x: tl.constexpr = tensor: Python's
 * operators find a tensor in it, and nothing to compile them with. */
static void check_held(tks *s, const sval *a, const sval *other) {
  bool with = other && sv_is_tensor(other) && !other->is_held;
  if (a->is_held && !with)
    tks_error_help(s, TK_D_TYPE, "leave the annotation out",
                   "a tl.constexpr that holds %s has no operators",
                   tks_show(s, a));
}

static sval expr_unary(tks *s, const tk_ast *e) {
  sval a = tks_expr(s, tk_unop_operand(e));
  check_held(s, &a, NULL);
  check_operator(s, tk_unop_operator(e), &a, NULL);
  return tks_operate_unary(s, tk_unop_operator(e), &a);
}

static sval expr_binary(tks *s, const tk_ast *e) {
  sval a = tks_expr(s, tk_binop_left(e));
  sval b = tks_expr(s, tk_binop_right(e));
  check_held(s, &a, &b);
  check_held(s, &b, &a);
  check_operator(s, tk_binop_operator(e), &a, &b);
  return tks_operate(s, tk_binop_operator(e), &a, &b);
}

/* Before Triton 3.7 the compiler takes the constants out of a tuple that it
 * compares, and makes a tuple of them, for which it knows the types of numbers
 * alone. */
static void check_unwrapped(tks *s, const sval *v) {
  if (v->kind != V_TUPLE || v->is_one || v->is_host) return;
  for (size_t i = 0; i < v->n; i++) {
    const sval *item = &v->items[i];
    check_unwrapped(s, item);
    if (item->kind == V_NONE || item->kind == V_STR || item->kind == V_OP ||
        item->kind == V_MODULE || item->kind == V_OBJECT)
      tks_error_help(s, TK_D_TYPE,
                     "compare its items, or annotate it: name: tl.constexpr = "
                     "...",
                     "a tuple with %s in it cannot be compared",
                     tks_show(s, item));
  }
}

/* Only tuples equal tuples, and nothing else is asked: neither a number nor
 * None has the items that Triton looks for. */
static void check_tuples(tks *s, tk_operator op, const sval *a, const sval *b) {
  if (s->ask || s->frame->python) return;
  if (!tks_has(s, TKS_TUPLE_COMPARED)) {
    check_unwrapped(s, a);
    check_unwrapped(s, b);
  }
  bool in_a = a->kind == V_TUPLE && !a->is_host;
  bool in_b = b->kind == V_TUPLE && !b->is_host;
  const sval *other = in_a ? b : a;
  bool plain = other->kind <= V_STR || (in_a && other->kind != V_TENSOR);
  if ((op == TK_OP_EQ || op == TK_OP_NE) && (in_a || in_b) && plain &&
      other->kind != V_TUPLE)
    tks_error_help(s, TK_D_TYPE, "ask len(x), or compare its items",
                   "%s cannot be compared with %s", tks_show(s, a),
                   tks_show(s, b));
}

static sval compare_pair(tks *s, tk_operator op, const sval *a, const sval *b) {
  if (op == TK_OP_IN || op == TK_OP_NOTIN)
    only_in_expressions(s, op == TK_OP_IN ? "In" : "NotIn",
                        "write x == a or x == b");
  bool is = op == TK_OP_IS || op == TK_OP_ISNOT;
  if (!is) check_held(s, a, b), check_held(s, b, a);
  check_tuples(s, op, a, b);
  check_operator(s, op, a, b);
  return tks_operate(s, op, a, b);
}

/* Values that `and` or `or` joins: known ones decide, or have no say; the
 * others are combined lane by lane. */
typedef struct joined {
  bool is_and, have;
  sval acc;
} joined;

/* Since Triton 3.9 values of a class are joined by a method of it, and not
 * asked whether they hold. */
static bool joins_instance(const tks *s) {
  return !s->frame->python && tks_has(s, TKS_AGGREGATE_OPERATORS);
}

static sval join_instance(tks *s, const joined *j, const sval *v) {
  const sval *owner = j->acc.kind == V_INSTANCE ? &j->acc : v;
  return tks_call_method(s, owner, j->is_and ? "logical_and" : "logical_or",
                         owner == v ? &j->acc : v);
}

/* Takes v, the next operand; returns whether it is the result of the whole. */
static bool join_next(tks *s, joined *j, const sval *v) {
  if (v->kind == V_INSTANCE && joins_instance(s)) {
    if (j->have) j->acc = join_instance(s, j, v);
    if (!j->have) j->acc = *v;
    j->have = true;
    return false;
  }
  if (j->have && j->acc.kind == V_INSTANCE && sv_is_tensor(v)) {
    j->acc = join_instance(s, j, v);
    return false;
  }
  if (!sv_is_tensor(v)) return sv_truth(s, v) != j->is_and;
  j->acc = j->have ? tks_logical(s, j->is_and, &j->acc, v) : *v;
  j->have = true;
  return false;
}

/* a < b < c: Triton 3.9 compares neighbours, evaluates each operand once, and
 * joins the results as `and` does. */
static sval expr_compare(tks *s, const tk_ast *e) {
  sval v = sv(V_NONE), a = tks_expr(s, tk_comparison_left(e));
  uint32_t n = (uint32_t)tk_comparison_ncmps(e);
  joined all = {.is_and = true};
  if (n > 1 && !s->ask && !s->frame->python)
    tks_need(s, TKS_CHAINED_COMPARISON,
             "simultaneous multiple comparison is not supported",
             "write it as two comparisons joined by &");
  for (uint32_t i = 0; i < n; i++) {
    const tk_ast *cmp = tk_comparison_cmp(e, i);
    sval b = tks_expr(s, tk_cmp_right(cmp));
    s->frame->at = e->span;
    v = compare_pair(s, tk_cmp_operator(cmp), &a, &b);
    if (n == 1) return v;
    a = b;
    if (join_next(s, &all, &v)) return v;
  }
  return all.have ? all.acc : v;
}

/* Known operands short-circuit, as in Python; the others are all evaluated
 * and combined lane by lane. */
static sval expr_boolop(tks *s, const tk_ast *e) {
  joined all = {.is_and = tk_boolop_operator(e) == TK_OP_AND};
  sval v = sv(V_NONE);
  for (uint32_t i = 0; i < tk_boolop_noperands(e); i++) {
    v = tks_expr(s, tk_boolop_operand(e, i));
    check_held(s, &v, NULL);
    if (!joins_instance(s)) tks_check_truth(s, &v);
    if (sv_is_block(&v))
      tks_deprecated(
          s, "'and' and 'or' are deprecated for blocks; use '&' or '|'");
    if (join_next(s, &all, &v)) return v;
  }
  return all.have ? all.acc : v;
}

static void no_block_condition(tks *s, const sval *v) {
  if (tk_numel(&v->type) > 1)
    tks_error_help(s, TK_D_TYPE, "use tl.where, or reduce it to one value",
                   "the truth value of a block with more than one lane is "
                   "ambiguous");
}

/* A runtime condition as a scalar int1. */
sval tks_condition(tks *s, const sval *v) {
  check_held(s, v, NULL);
  no_block_condition(s, v);
  sval c = tks_reshape(s, v, NULL, 0);
  return tks_cast_to(s, &c, TK_INT1);
}

static sval cond_branch(tks *s, const tk_ast *e, tk_insts *out) {
  tk_insts *saved = tks_emit_to(s, out);
  sval v = tks_expr(s, e);
  if (!sv_is_none(&v)) v = tks_to_tensor(s, &v);
  tks_emit_back(s, saved);
  return v;
}

static void cond_copy(tks *s, tk_insts *out, const sval *v, int slot) {
  tk_insts *saved = tks_emit_to(s, out);
  tks_inst_new(s, TK_I_COPY, 0, v->type, 1, v, 1)->res[0] = slot;
  tks_emit_back(s, saved);
}

static sval expr_cond(tks *s, const tk_ast *e) {
  sval c = tks_expr(s, tk_cond_test(e));
  if (!sv_is_tensor(&c) && c.kind > V_INT && !s->frame->python)
    tks_error(s, TK_D_TYPE,
              "an if takes a bool, int or None, or a scalar tensor, not %s",
              tks_show(s, &c));
  if (!sv_is_tensor(&c) || s->frame->python)
    return tks_expr(s, sv_truth(s, &c) ? tk_cond_then(e) : tk_cond_orelse(e));
  c = tks_condition(s, &c);
  tk_insts yes = {0}, no = {0};
  sval a = cond_branch(s, tk_cond_then(e), &yes);
  sval b = cond_branch(s, tk_cond_orelse(e), &no);
  if (!sv_same_type(&a, &b))
    tks_error_help(s, TK_D_TYPE,
                   sv_is_none(&a) || sv_is_none(&b)
                       ? "decide by a tl.constexpr, or give a value in place "
                         "of None, such as a mask that is true everywhere"
                       : "tl.where(condition, a, b) brings both to one shape "
                         "and type",
                   "Ternary expression with dynamic condition has inconsistent "
                   "types %s and %s",
                   tks_show(s, &a), tks_show(s, &b));
  bool nothing = sv_is_none(&a); /* as a call of tl.store gives */
  if (nothing && !(yes.n && no.n))
    tks_error_help(s, TK_D_TYPE, "decide by a constexpr, or use a number",
                   "an if expression on a value that is known when the program "
                   "runs cannot give None");
  tk_inst *in = tks_inst_new(s, TK_I_COND, 0, a.type, 1, &c, !nothing);
  if (!nothing) {
    in->res[0] = tks_slot(s, a.type, NULL);
    cond_copy(s, &yes, &a, in->res[0]);
    cond_copy(s, &no, &b, in->res[0]);
  }
  in->body[0] = yes;
  in->body[1] = no;
  return nothing ? a : tks_result(in);
}

static sval expr_named(tks *s, const tk_ast *e) {
  if (!s->ask && !s->frame->python)
    tks_need(s, TKS_WALRUS, "unsupported AST node type: NamedExpr",
             "assign it in a statement of its own");
  const char *name = tk_named_name(e);
  sval v = tks_expr(s, tk_named_value(e));
  v = tks_assigned_value(s, name, &v);
  tks_assign_name(s, name, &v);
  return tks_binding_of(s, name)->v;
}

static sval expr_lambda(tks *s, const tk_ast *e) {
  only_in_expressions(s, "Lambda", "write a @triton.jit function");
  return (sval){.kind = V_LAMBDA, .ast = e};
}

/* ---- attributes -------------------------------------------------------- */

static sval method(tks *s, const tks_op *op, const sval *self,
                   tk_function *fn) {
  sval v = {.kind = V_METHOD, .n = fn ? 2 : 1, .op = op};
  v.items = TK_NEWN(s->arena, sval, 2);
  v.items[0] = *self;
  if (fn) v.items[1] = (sval){.kind = V_FUNC, .fn = fn};
  return v;
}

static sval shape_tuple(tks *s, const tk_type *t) {
  sval v = sv_tuple(s, NULL, 0);
  v.n = t->rank;
  v.items = TK_NEWN(s->arena, sval, t->rank + 1);
  for (int i = 0; i < t->rank; i++) v.items[i] = sv_int(t->shape[i]);
  return v;
}

static void no_attr(tks *s, const sval *v, const char *name) TK_NORETURN;
static void no_attr(tks *s, const sval *v, const char *name) {
  tk_nearest near = tk_nearest_start(name);
  for (size_t i = 0; i < s->ops->n; i++)
    if (s->ops->ops[i].role == TKS_METHOD && sv_is_tensor(v))
      tk_nearest_try(&near, strrchr(s->ops->ops[i].name, '.') + 1);
  const char *best = tk_nearest_best(&near);
  const char *here = v->kind == V_OBJECT ? tks_in_place_of(s, name) : NULL;
  if (best || here)
    tks_error_help(s, TK_D_NAME,
                   best ? tk_arena_printf(s->arena, "did you mean .%s?", best)
                        : tk_arena_printf(s->arena, "did you mean %s?", here),
                   "%s has no attribute %s", tks_show(s, v), name);
  if (v->kind == V_TUPLE)
    tks_error_help(s, TK_D_NAME,
                   "tuples and lists cannot be changed here; join two with +, "
                   "as in t = t + [value]",
                   "%s has no attribute %s", tks_show(s, v), name);
  tks_error(s, TK_D_NAME, "%s has no attribute %s", tks_show(s, v), name);
}

static sval transpose(tks *s, const sval *v) {
  if (v->type.rank != 2)
    tks_error(s, TK_D_SHAPE, ".T needs a block of two axes, not %s",
              tks_show(s, v));
  return tks_call_name(s, "tl.trans", v, 1);
}

/* What only Python functions see of a tensor. */
static bool compiler_attr(tks *s, const sval *v, const char *name, sval *out) {
  if (!s->frame->python) return false;
  if (!strcmp(name, "handle")) {
    *out = *v;
    return true;
  }
  if (*name != '_') return false;
  *out = sv_tuple(s, v, 1);
  out->kind = V_SPECIAL;
  out->s = name;
  return true;
}

/* The functions of the prelude that are methods as well. */
static bool is_member(const char *name) {
  static const char *const members[] = {"cdiv", "sigmoid", "softmax",
                                        "atomic_poll"};
  for (size_t i = 0; i < TK_COUNT(members); i++)
    if (!strcmp(name, members[i])) return true;
  return false;
}

static sval tensor_attr(tks *s, const sval *v, const char *name) {
  sval known;
  if (tks_is_asked(s) && s->ask->attr(s, v, name, &known)) return known;
  if (compiler_attr(s, v, name, &known)) return known;
  if (!strcmp(name, "dtype")) return sv_type(tk_elem_of(v->type));
  if (!strcmp(name, "type")) return sv_type(v->type);
  if (!strcmp(name, "shape")) return shape_tuple(s, &v->type);
  if (!strcmp(name, "numel")) return sv_int(tk_numel(&v->type));
  if (!strcmp(name, "T")) return transpose(s, v);
  if (!strcmp(name, "sort") && !s->ask)
    tks_error_help(s, TK_D_NAME, "write tl.sort(x)",
                   "the method sort returns None in Triton 3.6, which declares "
                   "it without a body");
  const tks_op *op = tks_find_op(s, tk_arena_printf(s->arena, "tl.%s", name));
  bool of_descriptors = !strncmp(name, "descriptor_", strlen("descriptor_"));
  if (op && op->role == TKS_METHOD && !of_descriptors)
    return method(s, op, v, NULL);
  tk_function *fn = op || !is_member(name) ? NULL : tks_prelude(s, name);
  if (fn) return method(s, NULL, v, fn);
  no_attr(s, v, name);
}

/* What is only known of floats. */
static bool float_attr(const tk_type *t, const char *name, sval *out) {
  static const struct {
    uint8_t d;
    int16_t width, bias;
  } table[] = {{TK_FP8E4B15, 3, 15}, {TK_FP8E4NV, 3, 7},   {TK_FP8E4B8, 3, 8},
               {TK_FP8E5, 2, 15},    {TK_FP8E5B16, 2, 16}, {TK_FP16, 10, 15},
               {TK_BF16, 7, 127},    {TK_FP32, 23, 127},   {TK_FP64, 52, 1023}};
  bool width = !strcmp(name, "fp_mantissa_width");
  if (t->ptr || (!width && strcmp(name, "exponent_bias"))) return false;
  for (size_t i = 0; i < TK_COUNT(table); i++)
    if (table[i].d == t->elem) {
      *out = sv_int(width ? table[i].width : table[i].bias);
      return true;
    }
  return false;
}

/* Whether types like t have the attribute: those of blocks, of pointers and of
 * numbers are classes of their own. */
static bool type_has(const tk_type *t, const char *name) {
  static const struct {
    const char *name, *of; /* "bpnif": which of them; i, f: kinds of numbers */
  } table[] = {{"element_ty", "bp"},
               {"shape", "b"},
               {"numel", "b"},
               {"nbytes", "b"},
               {"get_block_shapes", "b"},
               {"address_space", "p"},
               {"const", "p"},
               {"primitive_bitwidth", "if"},
               {"itemsize", "if"},
               {"int_bitwidth", "i"},
               {"int_signedness", "i"},
               {"fp_mantissa_width", "f"},
               {"exponent_bias", "f"}};
  char is = t->rank && !t->to_block        ? 'b'
            : t->ptr                       ? 'p'
            : tk_is_int((tk_dtype)t->elem) ? 'i'
                                           : 'f';
  for (size_t i = 0; i < TK_COUNT(table); i++)
    if (!strcmp(name, table[i].name)) return strchr(table[i].of, is) != NULL;
  return true;
}

static void no_type_attr(tks *s, const sval *v, const char *name) TK_NORETURN;
static void no_type_attr(tks *s, const sval *v, const char *name) {
  bool block = v->type.rank && !v->type.to_block;
  if (!strcmp(name, "is_void"))
    tks_error_help(s, TK_D_UNSUPPORTED, "leave it out: no value is void",
                   "is_void is not implemented in Triton 3.6");
  tks_error_help(s, TK_D_NAME,
                 block         ? "ask its element type: x.dtype"
                 : v->type.ptr ? "ask what it points to: p.dtype.element_ty"
                               : "ask x.type, x.shape or x.numel",
                 "%s has no attribute %s", tks_show(s, v), name);
}

static sval signedness(const tks *s, tk_dtype d) {
  const char *name = tk_is_signed(d) ? "tl.dtype.SIGNEDNESS.SIGNED"
                                     : "tl.dtype.SIGNEDNESS.UNSIGNED";
  return (sval){.kind = V_OP, .op = tks_find_op(s, name), .is_raw = true};
}

static sval space_of(const tks *s, const tk_type *t) {
  return !t->space && tks_has(s, TKS_SPACE_BY_NAME)
             ? sv_str("global", 6)
             : sv_int((uint8_t)(t->space + 1));
}

static sval type_attr(tks *s, const sval *v, const char *name) {
  const tk_type *t = &v->type;
  int bits = tk_dtypes[t->elem].bits;
  if (!type_has(t, name)) no_type_attr(s, v, name);
  if (!strcmp(name, "value")) return *v; /* as an argument it is constexpr */
  if (!strcmp(name, "element_ty"))
    return sv_type(t->rank && !t->to_block ? tk_elem_of(*t) : tk_pointee(*t));
  if (!strcmp(name, "scalar")) return sv_type(tk_elem_of(*t));
  if (!strcmp(name, "shape")) return shape_tuple(s, t);
  if (!strcmp(name, "numel")) return sv_int(tk_numel(t));
  if (!strcmp(name, "primitive_bitwidth") || !strcmp(name, "int_bitwidth"))
    return sv_int(bits);
  sval known;
  if (float_attr(t, name, &known)) return known;
  if (!strcmp(name, "address_space")) return space_of(s, t);
  if (!strcmp(name, "const")) return sv_bool(t->is_const);
  if (!strcmp(name, "int_signedness")) return signedness(s, (tk_dtype)t->elem);
  if (!strcmp(name, "nbytes") && t->ptr) no_type_attr(s, v, name);
  if (!strcmp(name, "nbytes")) return sv_int(tk_numel(t) * (bits / 8));
  if (!strcmp(name, "itemsize")) return sv_int(bits / 8); /* of int1 none */
  if (!strcmp(name, "name") || !strcmp(name, "cache_key_part")) {
    const char *text = tks_type_text(s, t);
    return sv_str(text, strlen(text));
  }
  const tks_op *op =
      tks_find_op(s, tk_arena_printf(s->arena, "dtype.%s", name));
  if (op) return method(s, op, v, NULL);
  if (!strcmp(name, "is_void")) no_type_attr(s, v, name);
  no_attr(s, v, name);
}

/* What x.type is: of a constexpr a type that knows the value, of a tuple the
 * types of its items. */
sval tks_type_of(tks *s, const sval *v) {
  if (v->kind == V_TENSOR) return sv_type(v->type);
  sval t = sv_tuple(s, v, 1);
  t.kind = V_TYPE_OF;
  if ((v->kind != V_TUPLE && v->kind != V_INSTANCE) || v->is_one) return t;
  t = sv_tuple(s, v->items, v->n);
  t.kind = V_TYPES;
  t.s = v->kind == V_TUPLE ? v->s : NULL;
  for (size_t i = 0; i < t.n; i++)
    t.items[i] = tks_attr(s, &v->items[i], "type");
  return t;
}

static sval tuple_attr(tks *s, const sval *v, const char *name) {
  const char *at = v->s;
  for (size_t i = 0; at && i < v->n; i++) {
    size_t n = strcspn(at, ",");
    if (strlen(name) == n && !strncmp(at, name, n)) return v->items[i];
    at += n + (at[n] == ',');
  }
  if (!strcmp(name, "type")) return tks_type_of(s, v);
  no_attr(s, v, name);
}

static sval types_attr(tks *s, const sval *v, const char *name) {
  sval t = sv_tuple(s, v->items, v->n);
  if (v->kind == V_TYPE_OF && !strcmp(name, "value")) return v->items[0];
  if (v->kind == V_TYPES && !strcmp(name, "types")) return t;
  no_attr(s, v, name);
}

/* What a block pointer has as the aggregate that it is in Triton 3.8. */
static bool window_attr(const sval *v, const char *name, sval *out) {
  size_t rank = v->type.rank;
  if (!strcmp(name, "base"))
    *out = v->items[0];
  else if (!strcmp(name, "dtype"))
    *out = sv_type(v->items[0].type);
  else if (!strcmp(name, "offsets"))
    *out = (sval){.kind = V_TUPLE, .items = v->items + 1 + 2 * rank, .n = rank};
  else
    return false;
  return true;
}

static sval pointer_attr(tks *s, const sval *v, const char *name) {
  size_t rank = v->type.rank;
  tk_type block = v->type;
  bool type = !strcmp(name, "type"), dtype = !strcmp(name, "dtype");
  sval part;
  bool parts = v->kind == V_BLOCKPTR && tks_has(s, TKS_BLOCK_OFFSETS_IN_64);
  if (parts && window_attr(v, name, &part)) return part;
  if (v->kind == V_BLOCKPTR && (type || dtype)) {
    block = tk_pointer(block);
    block.to_block = true;
    return sv_type(block);
  }
  if (dtype) return sv_type(tk_elem_of(block));
  if (!strcmp(name, "block_shape") || !strcmp(name, "block_type"))
    return name[6] == 's' ? shape_tuple(s, &block) : sv_type(block);
  if (!strcmp(name, "shape")) return sv_tuple(s, v->items + 1, rank);
  if (!strcmp(name, "strides")) return sv_tuple(s, v->items + 1 + rank, rank);
  bool loads = !strcmp(name, "load"), is_desc = v->kind == V_DESC;
  const tks_op *op = tks_find_op(
      s, is_desc && loads
             ? "tl.load_tensor_descriptor"
             : tk_arena_printf(s->arena, "%s%s",
                               is_desc ? "tl.descriptor_" : "tl.", name));
  bool moves = is_desc ? loads : parts && (loads || !strcmp(name, "store"));
  if (op && (moves || op->role == TKS_METHOD)) return method(s, op, v, NULL);
  no_attr(s, v, name);
}

/* What x.value is of a constexpr: what it holds. */
static sval held_value(const sval *v) {
  sval r = *v;
  r.is_raw = true;
  return r;
}

static sval member_attr(tks *s, const sval *v, const char *name) {
  const char *own = strrchr(v->op->name, '.') + 1;
  if (!strcmp(name, "value"))
    return v->is_raw ? sv_int(v->op->mode) : held_value(v);
  if (!strcmp(name, "name")) return sv_str(own, strlen(own));
  no_attr(s, v, name);
}

static sval op_attr(tks *s, const sval *v, const char *name) {
  if (v->op->role == TKS_MEMBER) return member_attr(s, v, name);
  sval r = tks_module_attr(s, v->op->name, name);
  return held_value(&r);
}

static sval object_attr(tks *s, const sval *v, const char *name) {
  tk_value out = {0};
  if (!strcmp(name, "value") && !v->is_raw) return held_value(v);
  int r = tk_host_attr(s->env, s->frame->fn, v->obj, name, &out);
  if (r < 0)
    tks_error(s, TK_D_HOST, "reading the attribute %s: %s", name,
              out.str ? out.str : "the host raised an error");
  if (!r) no_attr(s, v, name);
  return sv_from_value(s, &out);
}

/* Of a number or a text: what a constexpr has, and methods of Python's. */
static sval known_attr(tks *s, const sval *v, const char *name) {
  if (!strcmp(name, "value")) return *v;
  if (v->kind <= V_STR && !strcmp(name, "type")) return tks_type_of(s, v);
  const char *class = v->kind == V_STR                        ? "str"
                      : v->kind == V_DICT                     ? "dict"
                      : v->kind == V_INT || v->kind == V_BOOL ? "int"
                                                              : "";
  const tks_op *op =
      tks_find_op(s, tk_arena_printf(s->arena, "%s.%s", class, name));
  if (op) return method(s, op, v, NULL);
  no_attr(s, v, name);
}

sval tks_attr(tks *s, const sval *v, const char *name) {
  switch (v->kind) {
  case V_MODULE:
    if (!strncmp(v->s, "semantic", 8)) return tks_semantic_attr(s, v->s, name);
    return tks_module_attr(s, v->s, name);
  case V_TENSOR: return tensor_attr(s, v, name);
  case V_TYPE: return type_attr(s, v, name);
  case V_TUPLE: return tuple_attr(s, v, name);
  case V_TYPE_OF:
  case V_TYPES: return types_attr(s, v, name);
  case V_BLOCKPTR:
  case V_DESC: return pointer_attr(s, v, name);
  case V_OBJECT: return object_attr(s, v, name);
  case V_INSTANCE: return tks_instance_attr(s, v, name);
  case V_FUNC:
    if (!strcmp(name, "__name__"))
      return sv_str(v->fn->item->name, strlen(v->fn->item->name));
    if (!strcmp(name, "type")) return tks_type_of(s, v);
    no_attr(s, v, name);
  case V_OP: return op_attr(s, v, name);
  default: return known_attr(s, v, name);
  }
}

static sval expr_attr(tks *s, const tk_ast *e) {
  sval v = tks_expr(s, tk_attr_object(e));
  return tks_attr(s, &v, tk_attr_name(e));
}

/* ---- subscripts -------------------------------------------------------- */

static sval expr_slice(tks *s, const tk_ast *e) {
  sval v = sv_tuple(s, NULL, 0);
  const tk_ast *parts[3] = {tk_slice_lower(e), tk_slice_upper(e),
                            tk_slice_stride(e)};
  v.kind = V_SLICE;
  v.n = 3;
  v.items = TK_NEWN(s->arena, sval, 3);
  for (int i = 0; i < 3; i++)
    v.items[i] = parts[i] ? tks_expr(s, parts[i]) : sv(V_NONE);
  return v;
}

static bool whole(const sval *v) {
  return v->kind == V_SLICE && sv_is_none(&v->items[0]) &&
         sv_is_none(&v->items[1]) && sv_is_none(&v->items[2]);
}

/* As in Triton, a : beyond the axes is passed over before 3.9, and a None there
 * adds an axis after the last one. */
static sval tensor_index(tks *s, const sval *v, const sval *index) {
  sval r = *v, one = *index;
  size_t n = index->kind == V_TUPLE ? index->n : 1;
  const sval *items = index->kind == V_TUPLE ? index->items : &one;
  int axes = 0;
  for (size_t i = 0; i < n; i++) {
    axes += whole(&items[i]);
    if (axes > v->type.rank && tks_has(s, TKS_INDEX_CHECKED))
      tks_error(s, TK_D_SHAPE, "too many indices for tensor of rank %d",
                v->type.rank);
    if (sv_is_none(&items[i]))
      r = tks_insert_axis(s, &r, (int)i < r.type.rank ? (int)i : r.type.rank);
    else if (!whole(&items[i]))
      tks_error_help(s, TK_D_UNSUPPORTED,
                     v->type.ptr
                         ? "a pointer has no elements of its own: load them, "
                           "as in tl.load(x_ptr + offsets)"
                         : "index with : and None; to pick lanes use "
                           "tl.gather, tl.split, or load them from memory",
                     "unsupported tensor index: %s", tks_show(s, &items[i]));
  }
  return r;
}

/* A bound of a slice, where Python puts it: between `least` and `most`. */
static int64_t clip(const sval *v, int64_t missing, int64_t n, int64_t least,
                    int64_t most) {
  if (sv_is_none(v)) return missing;
  tk_int i = v->i < 0 ? v->i + n : v->i;
  return i < least ? least : i > most ? most : (int64_t)i;
}

static void check_slice(tks *s, const sval *index) {
  for (int i = 0; i < 3; i++) {
    const sval *v = &index->items[i];
    if (!sv_is_none(v) && v->kind != V_INT && v->kind != V_BOOL)
      tks_error(s, TK_D_TYPE, "a slice of a tuple has constexpr ints, not %s",
                tks_show(s, v));
  }
}

static sval tuple_slice(tks *s, const sval *v, const sval *index) {
  check_slice(s, index);
  const sval *from = index->items;
  int64_t n = (int64_t)v->n, step = clip(&from[2], 1, 0, INT32_MIN, INT32_MAX);
  if (!step) tks_error(s, TK_D_VALUE, "slice step cannot be zero");
  bool down = step < 0;
  int64_t least = down ? -1 : 0, most = down ? n - 1 : n;
  int64_t lo = clip(&from[0], down ? most : least, n, least, most);
  int64_t hi = clip(&from[1], down ? least : most, n, least, most);
  sval r = sv_tuple(s, v->items, v->n);
  r.n = 0;
  for (int64_t i = lo; down ? i > hi : i < hi; i += step)
    r.items[r.n++] = v->items[i];
  return r;
}

static sval tuple_index(tks *s, const sval *v, const sval *index) {
  if (index->kind == V_SLICE) return tuple_slice(s, v, index);
  if (index->kind != V_INT && index->kind != V_BOOL)
    tks_error(s, TK_D_TYPE, "a tuple is indexed by a constexpr int, not %s",
              tks_show(s, index));
  tk_int i = index->i < 0 ? index->i + (tk_int)v->n : index->i;
  if (i < 0 || i >= (tk_int)v->n)
    tks_error_help(s, TK_D_VALUE,
                   v->n ? NULL
                        : "pointers and scalars have an empty shape: pass the "
                          "size of a tensor as an argument",
                   "index %lld is out of range for %s", (long long)index->i,
                   tks_show(s, v));
  return v->items[i];
}

/* What of Python's slices Triton's compiler does not make: it wants a number
 * where one is written, and slices no constexpr that Python gave it. */
static void check_bounds(tks *s, const tk_ast *e, const sval *v) {
  if (e->kind != TK_AST_SLICE || s->ask || s->frame->python) return;
  const tk_ast *parts[3] = {tk_slice_lower(e), tk_slice_upper(e),
                            tk_slice_stride(e)};
  if (v->is_host)
    tks_error_help(s, TK_D_TYPE, "index it: x[0], x[1]",
                   "a constexpr that holds a Python tuple cannot be sliced");
  for (int i = 0; i < 3 && !v->is_one; i++)
    if (parts[i] && parts[i]->kind == TK_AST_NONE)
      tks_error_help(s, TK_D_TYPE, "leave the None out",
                     "a slice of a tuple has constexpr ints, not None");
}

static sval expr_subscript(tks *s, const tk_ast *e) {
  sval v = tks_expr(s, tk_subscript_object(e));
  sval index = tks_expr(s, tk_subscript_index(e));
  sval r;
  if (s->ask && sv_is_tensor(&v) && s->ask->element(s, &v, &index, &r))
    return r;
  if (s->ask && sv_is_block(&v)) return s->ask->pick(s, &v, &index);
  if (s->frame->python && sv_is_tensor(&v)) tks_need_semantic(s, "x[...]");
  check_held(s, &v, NULL);
  if (sv_is_tensor(&v)) return tensor_index(s, &v, &index);
  if (v.kind == V_TUPLE) check_bounds(s, tk_subscript_index(e), &v);
  if (v.kind == V_TUPLE) return tuple_index(s, &v, &index);
  if (v.kind == V_INSTANCE)
    return tks_call_method(s, &v, "__getitem__", &index);
  if (v.kind == V_DICT)
    for (size_t i = 0; i < v.n; i += 2)
      if (sv_equal(&v.items[i], &index)) return v.items[i + 1];
  if (v.kind == V_STR && index.kind == V_INT) {
    tk_int i = index.i < 0 ? index.i + (tk_int)v.n : index.i;
    if (i >= 0 && i < (tk_int)v.n)
      return sv_str(tk_arena_strndup(s->arena, v.s + i, 1), 1);
  }
  tks_error(s, TK_D_TYPE, "%s cannot be indexed by %s", tks_show(s, &v),
            tks_show(s, &index));
}

/* ---- calls ------------------------------------------------------------- */

typedef struct call_args {
  TK_VEC(sval) v;
  TK_VEC(const char *) kw;
  TK_VEC(tk_span) spans;
} call_args;

static void push_arg(tks *s, call_args *out, const sval *v, const char *kw,
                     tk_span span) {
  TK_PUSH(s->arena, &out->v, *v);
  TK_PUSH(s->arena, &out->kw, kw);
  TK_PUSH(s->arena, &out->spans, span);
}

static void eval_arg(tks *s, call_args *out, const tk_ast *arg) {
  int stars = tk_arg_stars(arg);
  sval v = tks_expr(s, tk_arg_value(arg));
  if (stars == 0) {
    push_arg(s, out, &v, tk_arg_keyword(arg), arg->span);
    return;
  }
  for (size_t i = 0; stars == 2 && v.kind == V_DICT && i < v.n; i += 2)
    push_arg(s, out, &v.items[i + 1], v.items[i].s, arg->span);
  if (stars == 2 && v.kind == V_DICT) return;
  if (stars != 1 || v.kind != V_TUPLE)
    tks_error(s, TK_D_CALL, "only tuples can be spread into arguments");
  if ((v.is_one || v.is_host) && !s->ask && !s->frame->python)
    tks_need(s, TKS_TUPLE_OF_CONSTEXPRS,
             "a tuple that is a constexpr cannot be spread into arguments",
             "write its items: t[0], t[1]");
  for (size_t i = 0; i < v.n; i++)
    push_arg(s, out, &v.items[i], NULL, arg->span);
}

void tks_bind_call(tks *s, tks_args *a, const tk_ast *call, uint32_t n) {
  call_args args = {0};
  for (uint32_t i = 0; i < n; i++) eval_arg(s, &args, tk_call_arg(call, i));
  tks_bind_args(s, a, args.v.items, args.v.n, args.kw.items, args.spans.items);
}

static void check_added(tks *s, const char *name) {
  const char *now;
  const char *since = tks_not_yet(s, name, &now);
  if (since && !s->frame->func->library)
    tks_error_help(s, TK_D_NAME,
                   tk_arena_printf(s->arena,
                                   "this is Triton %s; choose another version "
                                   "with --triton-version",
                                   now),
                   "%s came with Triton %s", name, since);
}

/* The compiler's own methods are older than what the language exports. */
static void check_version(tks *s, const sval *fn) {
  if (fn->bound) return;
  if (fn->kind == V_METHOD && !fn->op) fn = &fn->items[1];
  bool library =
      fn->kind == V_FUNC && tks_is_library(fn->fn->module->file->src);
  if (fn->kind == V_OP || (fn->kind == V_METHOD && fn->op))
    check_added(s, fn->op->name);
  else if (library)
    check_added(s, tk_arena_printf(s->arena, "tl.%s", fn->fn->item->name));
}

static sval expr_call(tks *s, const tk_ast *e) {
  sval fn = tks_expr(s, tk_call_function(e));
  call_args args = {0};
  check_version(s, &fn);
  bool prints = s->prints;
  s->prints = fn.kind == V_OP && fn.op->role == TKS_PRINTER;
  for (uint32_t i = 0; i < tk_call_nargs(e); i++)
    eval_arg(s, &args, tk_call_arg(e, i));
  s->prints = prints;
  if (s->frame->python)
    return tks_call_from_python(s, &fn, args.v.items, args.v.n, args.kw.items,
                                args.spans.items);
  return tks_call(s, &fn, args.v.items, args.v.n, args.kw.items,
                  args.spans.items);
}

static sval expr_fstr(tks *s, const tk_ast *e) {
  return tks_fstring(s, e);
}

static sval expr_dict(tks *s, const tk_ast *e) {
  if (!s->frame->python)
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "use a tuple, or pass each entry as an argument",
                   "unsupported AST node type: Dict");
  svals items = {0};
  for (uint32_t i = 0; i < tk_dict_nparts(e); i++)
    push_item(s, &items, tk_dict_part(e, i));
  sval v = sv_tuple(s, items.items, items.n);
  v.kind = V_DICT;
  return v;
}

/* Only a debugger's expressions have it. */
static sval expr_ellipsis(tks *s, const tk_ast *e) {
  if (!s->ask)
    tks_error(s, TK_D_UNSUPPORTED, "unsupported expression: %s",
              tk_ast_name(e->kind));
  return sv(V_ELLIPSIS);
}

/* ---- dispatch ---------------------------------------------------------- */

static const expr_fn table[TK_AST_COUNT] = {
    [TK_AST_NAME] = expr_name,     [TK_AST_INT] = expr_int,
    [TK_AST_FLOAT] = expr_float,   [TK_AST_STR] = expr_str,
    [TK_AST_FSTR] = expr_fstr,     [TK_AST_BOOL] = expr_bool,
    [TK_AST_NONE] = expr_none,     [TK_AST_TUPLE] = expr_tuple,
    [TK_AST_LIST] = expr_tuple,    [TK_AST_ATTR] = expr_attr,
    [TK_AST_CALL] = expr_call,     [TK_AST_SUBSCRIPT] = expr_subscript,
    [TK_AST_SLICE] = expr_slice,   [TK_AST_UNARY] = expr_unary,
    [TK_AST_BINARY] = expr_binary, [TK_AST_COMPARE] = expr_compare,
    [TK_AST_BOOLOP] = expr_boolop, [TK_AST_COND] = expr_cond,
    [TK_AST_LAMBDA] = expr_lambda, [TK_AST_NAMED] = expr_named,
    [TK_AST_COMP] = expr_comp,     [TK_AST_ELLIPSIS] = expr_ellipsis,
    [TK_AST_DICT] = expr_dict,
};

sval tks_expr(tks *s, const tk_ast *e) {
  tk_span at = s->frame->at;
  s->frame->at = e->span;
  if (!table[e->kind])
    tks_error(s, TK_D_UNSUPPORTED, "unsupported expression: %s",
              tk_ast_name(e->kind));
  sval v = table[e->kind](s, e);
  s->frame->at = at;
  return v;
}
