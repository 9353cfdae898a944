/* axis.c - contiguity, divisibility and constancy, worked out.
 *
 * A walk over the program gives each slot what follows from its operands; a
 * merge holds what holds of all that is copied to it, a parameter what holds of
 * all that it is called with.  As they only lose, walking until none does ends.
 * Source of the rules: Triton 3.6, lib/Analysis/AxisInfo.cpp; where one of
 * those holds for indices that are not negative alone, it is asked here whether
 * they
 * are. */
#include "nvptx/axis.h"

typedef struct axis_finder {
  const tk_func *f;
  tkv_fact *facts;            /* by slot */
  tkv_fact *results;          /* of the function */
  struct axis_finder *others; /* by number of the function: its own too */
  bool reached, changed;
} finder;

/* ---- numbers ------------------------------------------------------------- */

static int64_t low_power(int64_t v) {
  if (!v) return TKV_MOST_DIVISIBLE;
  int64_t p = v & -v;
  return p > 0 && p < TKV_MOST_DIVISIBLE ? p : TKV_MOST_DIVISIBLE;
}

/* The greatest common divisor of powers of two. */
static int64_t common(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t product(int64_t a, int64_t b) {
  return a > TKV_MOST_DIVISIBLE / b ? TKV_MOST_DIVISIBLE : a * b;
}

/* ---- facts --------------------------------------------------------------- */

static int axes(const tk_type *t) {
  return t->rank ? t->rank : 1;
}

static int64_t lanes_along(const tk_type *t, int axis) {
  return t->rank ? t->shape[axis] : 1;
}

static bool is_index(const tk_type *t) {
  return t->ptr || tk_is_int((tk_dtype)t->elem);
}

/* By how much contiguous neighbours differ. */
static int64_t step_of(const tk_type *t) {
  if (!t->ptr) return 1;
  tk_type pointee = tk_pointee(*t);
  return (int64_t)tk_lane_size(&pointee);
}

/* Nothing is known, except that there is only one lane. */
static tkv_fact no_fact(void) {
  tkv_fact x = {.known = true};
  for (int i = 0; i < TK_MAX_RANK; i++)
    x.contiguity[i] = x.constancy[i] = x.divisibility[i] = 1;
  return x;
}

static tkv_fact const_fact(const tk_type *t, int64_t v) {
  tkv_fact x = no_fact();
  x.is_const = !t->ptr && is_index(t);
  x.value = v;
  x.at_least_0 = x.is_const && v >= 0;
  for (int i = 0; i < axes(t); i++) {
    x.constancy[i] = lanes_along(t, i);
    if (x.is_const) x.divisibility[i] = low_power(v);
  }
  return x;
}

/* What the first of each group of `group` neighbours is divided by. */
static int64_t divided_at(const tkv_fact *x, int axis, int64_t group,
                          int64_t step) {
  if (x->contiguity[axis] <= group) return x->divisibility[axis];
  return common(x->divisibility[axis], product(group, step));
}

/* What holds of both. */
static tkv_fact either(const tkv_fact *a, const tkv_fact *b, const tk_type *t) {
  tkv_fact x = no_fact();
  int64_t step = step_of(t);
  x.is_const = a->is_const && b->is_const && a->value == b->value;
  x.value = a->value;
  x.at_least_0 = a->at_least_0 && b->at_least_0;
  for (int i = 0; i < axes(t); i++) {
    int64_t group = common(a->contiguity[i], b->contiguity[i]);
    x.contiguity[i] = group;
    x.constancy[i] = common(a->constancy[i], b->constancy[i]);
    x.divisibility[i] =
        common(divided_at(a, i, group, step), divided_at(b, i, group, step));
  }
  return x;
}

/* ---- instructions -------------------------------------------------------- */

static const tkv_fact *fact_of(const finder *w, const tk_inst *in, int k) {
  return &w->facts[in->args[tk_inst_arg(in, k)]];
}

static const tk_type *type_of_operand(const finder *w, const tk_inst *in,
                                      int k) {
  return &w->f->slots[in->args[tk_inst_arg(in, k)]].type;
}

/* An operand as it fills the result: a scalar stands for all lanes. */
static tkv_fact filled(const finder *w, const tk_inst *in, int k) {
  tkv_fact x = *fact_of(w, in, k);
  if (type_of_operand(w, in, k)->rank || !in->type.rank) return x;
  for (int i = in->type.rank; i-- > 0;) {
    x.contiguity[i] = 1;
    x.divisibility[i] = x.divisibility[0];
    x.constancy[i] = in->type.shape[i];
  }
  return x;
}

static tkv_fact fact_const(const finder *w, const tk_inst *in) {
  uint64_t bits = tk_const_bits(in);
  (void)w;
  if (in->type.ptr || !is_index(&in->type)) return const_fact(&in->type, 0);
  return const_fact(&in->type, tk_lane_int((tk_dtype)in->type.elem, &bits));
}

static tkv_fact fact_arange(const finder *w, const tk_inst *in) {
  tkv_fact x = no_fact();
  (void)w;
  x.contiguity[0] = in->n;
  x.divisibility[0] = low_power(tk_arange_start(in));
  x.at_least_0 = tk_arange_start(in) >= 0;
  return x;
}

static tkv_fact fact_pid(const finder *w, const tk_inst *in) {
  tkv_fact x = no_fact();
  (void)w, (void)in;
  x.at_least_0 = true;
  return x;
}

/* Axes of one lane come and go; others stay as they are. */
static tkv_fact fact_copy(const finder *w, const tk_inst *in) {
  const tkv_fact *from = fact_of(w, in, 0);
  const tk_type *t = type_of_operand(w, in, 0), *to = &in->type;
  tkv_fact x = no_fact();
  int64_t each = 1; /* what every lane is divided by */
  for (int i = 0; i < axes(t); i++)
    each = greater(each, divided_at(from, i, 1, step_of(t)));
  x.is_const = from->is_const;
  x.value = from->value;
  x.at_least_0 = from->at_least_0;
  int k = 0;
  for (int i = 0; i < axes(to); i++) {
    x.divisibility[i] = each;
    if (lanes_along(to, i) == 1) continue;
    while (k < axes(t) && lanes_along(t, k) == 1) k++;
    if (k == axes(t) || lanes_along(t, k) != lanes_along(to, i))
      return x.is_const ? const_fact(to, x.value) : no_fact();
    x.contiguity[i] = from->contiguity[k];
    x.constancy[i] = from->constancy[k];
    x.divisibility[i] = from->divisibility[k++];
  }
  return x;
}

static tkv_fact fact_broadcast(const finder *w, const tk_inst *in) {
  const tk_type *t = type_of_operand(w, in, 0);
  tkv_fact x = filled(w, in, 0);
  for (int i = 0; t->rank && i < in->type.rank; i++)
    if (t->shape[i] < in->type.shape[i]) x.constancy[i] = in->type.shape[i];
  return x;
}

static tkv_fact fact_permute(const finder *w, const tk_inst *in) {
  const tkv_fact *from = fact_of(w, in, 0);
  tkv_fact x = *from;
  for (int i = 0; i < in->type.rank; i++) {
    int64_t axis = tk_permute_axes(in)[i];
    x.contiguity[i] = from->contiguity[axis];
    x.constancy[i] = from->constancy[axis];
    x.divisibility[i] = from->divisibility[axis];
  }
  return x;
}

static tkv_fact fact_hint(const finder *w, const tk_inst *in) {
  tkv_fact x = *fact_of(w, in, 0);
  for (int i = 0; i < axes(&in->type); i++) {
    int64_t n = low_power(tk_hint_values(in)[i]);
    int64_t most = common(n, lanes_along(&in->type, i));
    switch (tk_hint_kind(in)) {
    case TK_HINT_MULTIPLE:
      x.divisibility[i] = greater(x.divisibility[i], n);
      break;
    case TK_HINT_CONTIGUOUS:
      x.contiguity[i] = greater(x.contiguity[i], most);
      break;
    case TK_HINT_CONSTANCY:
      x.constancy[i] = greater(x.constancy[i], most);
      break;
    case TK_HINT_COUNT: break;
    }
  }
  return x;
}

/* What is equal before is equal afterwards. */
static tkv_fact fact_lane_wise(const finder *w, const tk_inst *in) {
  tkv_fact x = no_fact();
  for (int i = 0; i < axes(&in->type); i++) {
    x.constancy[i] = lanes_along(&in->type, i);
    for (int k = 0; k < in->nargs; k++) {
      bool scalar = !w->f->slots[in->args[k]].type.rank && in->type.rank;
      if (!scalar)
        x.constancy[i] =
            common(x.constancy[i], w->facts[in->args[k]].constancy[i]);
    }
  }
  return x;
}

static tkv_fact fact_cast(const finder *w, const tk_inst *in) {
  const tk_type *t = type_of_operand(w, in, 0);
  tkv_fact x = *fact_of(w, in, 0);
  int bits = tk_dtypes[in->type.elem].bits;
  bool ints = is_index(t) && is_index(&in->type);
  if (t->ptr && in->type.ptr && step_of(t) == step_of(&in->type)) return x;
  if (!ints || t->ptr || in->type.ptr || bits < 8) return fact_lane_wise(w, in);
  bool narrows = bits < tk_dtypes[t->elem].bits;
  x.is_const &= !narrows;
  x.at_least_0 &= !narrows;
  for (int i = 0; i < axes(&in->type); i++)
    if (bits <= 32)
      x.divisibility[i] = common(x.divisibility[i], (int64_t)1 << (bits - 1));
  return x;
}

static tkv_fact fact_sum(const finder *w, const tk_inst *in, int64_t scale) {
  tkv_fact a = filled(w, in, 0), b = filled(w, in, 1);
  bool down = in->op == TK_I_BINARY && in->mode == TK_B_SUB;
  tkv_fact x = no_fact();
  x.is_const = a.is_const && b.is_const && scale == 1;
  x.value = down ? (int64_t)((uint64_t)a.value - (uint64_t)b.value)
                 : (int64_t)((uint64_t)a.value + (uint64_t)b.value);
  x.at_least_0 = !down && a.at_least_0 && b.at_least_0;
  for (int i = 0; i < axes(&in->type); i++) {
    int64_t up = common(a.contiguity[i], b.constancy[i]);
    int64_t other = down ? 1 : common(a.constancy[i], b.contiguity[i]);
    int64_t group = greater(up, other);
    int64_t of_a = divided_at(&a, i, group, scale);
    int64_t of_b = product(divided_at(&b, i, group, 1), scale);
    x.contiguity[i] = group;
    x.constancy[i] = common(a.constancy[i], b.constancy[i]);
    x.divisibility[i] = common(of_a, of_b);
  }
  return x;
}

static tkv_fact fact_product(const finder *w, const tk_inst *in) {
  tkv_fact a = filled(w, in, 0), b = filled(w, in, 1), x = no_fact();
  x.at_least_0 = a.at_least_0 && b.at_least_0;
  for (int i = 0; i < axes(&in->type); i++) {
    x.constancy[i] = common(a.constancy[i], b.constancy[i]);
    x.divisibility[i] =
        product(divided_at(&a, i, 1, 1), divided_at(&b, i, 1, 1));
  }
  return x;
}

/* Of what is not negative: neighbours from a multiple of n on have one quotient
 * by a multiple of n, and neighbouring remainders. */
static tkv_fact fact_division(const finder *w, const tk_inst *in) {
  tkv_fact a = filled(w, in, 0), b = filled(w, in, 1);
  tkv_fact x = fact_lane_wise(w, in);
  bool mod = in->mode == TK_B_MOD,
       by_power = b.is_const && b.value > 0 && low_power(b.value) == b.value;
  x.at_least_0 = a.at_least_0 && (mod || b.at_least_0 || !b.is_const);
  if (!a.at_least_0 || (b.is_const && b.value <= 0)) return x;
  for (int i = 0; i < axes(&in->type); i++) {
    int64_t each = divided_at(&a, i, 1, 1), by = divided_at(&b, i, 1, 1),
            group = common(common(a.contiguity[i], a.divisibility[i]),
                           common(by, b.constancy[i]));
    if (mod) {
      x.contiguity[i] = group;
      x.divisibility[i] = common(divided_at(&a, i, group, 1), by);
    } else {
      x.constancy[i] = greater(x.constancy[i], group);
      if (by_power) x.divisibility[i] = greater(each / b.value, 1);
    }
  }
  return x;
}

static tkv_fact fact_binary(const finder *w, const tk_inst *in) {
  if (!is_index(&in->type)) return fact_lane_wise(w, in);
  if (in->type.elem == TK_INT1) return fact_lane_wise(w, in);
  if (in->mode == TK_B_ADD || in->mode == TK_B_SUB) return fact_sum(w, in, 1);
  if (in->mode == TK_B_MUL) return fact_product(w, in);
  if (in->mode == TK_B_DIV || in->mode == TK_B_MOD) return fact_division(w, in);
  tkv_fact x = fact_lane_wise(w, in);
  bool choice = in->mode == TK_B_MIN || in->mode == TK_B_MAX;
  tkv_fact a = filled(w, in, 0), b = filled(w, in, 1);
  x.at_least_0 = choice && a.at_least_0 && b.at_least_0;
  for (int i = 0; choice && i < axes(&in->type); i++)
    x.divisibility[i] =
        common(divided_at(&a, i, 1, 1), divided_at(&b, i, 1, 1));
  return x;
}

static tkv_fact fact_addptr(const finder *w, const tk_inst *in) {
  return fact_sum(w, in, step_of(&in->type));
}

/* A run of n lanes that begins at a multiple of n lies either wholly below a
 * multiple of n or wholly at or above it. */
static tkv_fact fact_compare(const finder *w, const tk_inst *in) {
  tkv_fact x = fact_lane_wise(w, in);
  const tk_type *t = type_of_operand(w, in, 0);
  if (t->ptr || !is_index(t)) return x;
  tkv_fact a = filled(w, in, 0), b = filled(w, in, 1);
  bool left = in->mode == TK_C_LT || in->mode == TK_C_GE;
  bool right = in->mode == TK_C_GT || in->mode == TK_C_LE;
  if (right) {
    tkv_fact c = a;
    a = b;
    b = c;
  }
  for (int i = 0; (left || right) && i < axes(&in->type); i++) {
    int64_t group = common(common(a.contiguity[i], a.divisibility[i]),
                           common(b.constancy[i], divided_at(&b, i, 1, 1)));
    x.constancy[i] = greater(x.constancy[i], group);
  }
  return x;
}

static tkv_fact fact_select(const finder *w, const tk_inst *in) {
  if (!is_index(&in->type)) return fact_lane_wise(w, in);
  tkv_fact c = filled(w, in, 0), a = filled(w, in, 1), b = filled(w, in, 2);
  tkv_fact x = either(&a, &b, &in->type);
  for (int i = 0; i < axes(&in->type); i++) {
    int64_t group = common(x.contiguity[i], c.constancy[i]);
    x.divisibility[i] = common(divided_at(&a, i, group, step_of(&in->type)),
                               divided_at(&b, i, group, step_of(&in->type)));
    x.contiguity[i] = group;
    x.constancy[i] = common(x.constancy[i], c.constancy[i]);
  }
  return x;
}

static tkv_fact fact_of_inst(const finder *w, const tk_inst *in) {
  typedef tkv_fact rule(const finder *w, const tk_inst *in);
  static rule *const rules[TK_INST_COUNT] = {
      [TK_I_CONST] = fact_const,     [TK_I_ARANGE] = fact_arange,
      [TK_I_PID] = fact_pid,         [TK_I_NPROG] = fact_pid,
      [TK_I_COPY] = fact_copy,       [TK_I_BROADCAST] = fact_broadcast,
      [TK_I_PERMUTE] = fact_permute, [TK_I_HINT] = fact_hint,
      [TK_I_CAST] = fact_cast,       [TK_I_BINARY] = fact_binary,
      [TK_I_ADDPTR] = fact_addptr,   [TK_I_COMPARE] = fact_compare,
      [TK_I_SELECT] = fact_select,
  };
  if (rules[in->op]) return rules[in->op](w, in);
  bool lane_wise =
      in->op == TK_I_UNARY || in->op == TK_I_FMA || in->op == TK_I_EXTERN;
  return lane_wise ? fact_lane_wise(w, in) : no_fact();
}

/* ---- the walk ------------------------------------------------------------ */

static bool same_fact(const tkv_fact *a, const tkv_fact *b, const tk_type *t) {
  for (int i = 0; i < axes(t); i++)
    if (a->contiguity[i] != b->contiguity[i] ||
        a->constancy[i] != b->constancy[i] ||
        a->divisibility[i] != b->divisibility[i])
      return false;
  return a->known == b->known && a->is_const == b->is_const &&
         a->at_least_0 == b->at_least_0;
}

/* Another way to give something of that type its value. */
static void join_fact(finder *w, tkv_fact *at, const tkv_fact *x,
                      const tk_type *t) {
  tkv_fact both = at->known ? either(at, x, t) : *x;
  if (same_fact(&both, at, t)) return;
  *at = both;
  w->changed = true;
}

static void give_fact(finder *w, int slot, const tkv_fact *x) {
  join_fact(w, &w->facts[slot], x, &w->f->slots[slot].type);
}

static void walk_function(finder *w);

/* When less is known of its parameters than before, the function is walked
 * again. */
static void give_call(finder *w, const tk_inst *in) {
  finder *to = &w->others[tk_call_callee(in)->id];
  to->changed = false;
  for (int k = 0; k < in->nargs; k++)
    give_fact(to, to->f->params[k], &w->facts[in->args[k]]);
  if (to->changed || !to->reached) {
    walk_function(to);
    w->changed = true;
  }
  for (int k = 0; k < in->nres; k++) give_fact(w, in->res[k], &to->results[k]);
}

static bool give_results(void *ud, const tk_at *at, const tk_inst *in) {
  finder *w = ud;
  (void)at;
  if (in->op == TK_I_COND) return true; /* its bodies give them */
  if (in->op == TK_I_CALL) {
    give_call(w, in);
    return true;
  }
  tkv_fact x = in->nres ? fact_of_inst(w, in) : no_fact();
  tkv_fact none = no_fact();
  for (int k = 0; k < in->nres; k++) give_fact(w, in->res[k], k ? &none : &x);
  return true;
}

static void give_variable(finder *w, const tk_stmt *st) {
  const tkv_fact *lb = &w->facts[st->lb], *step = &w->facts[st->step];
  tkv_fact x = no_fact();
  x.at_least_0 = lb->at_least_0 && step->at_least_0 && !st->down;
  x.divisibility[0] = common(lb->divisibility[0], step->divisibility[0]);
  give_fact(w, st->iv, &x);
}

static void walk_body(finder *w, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *st = b->items[i];
    tk_walk_insts(w->f, st, &st->insts,
                  &(tk_walk){.ud = w, .inst = give_results});
    if (st->kind == TK_S_FOR) give_variable(w, st);
    for (size_t k = 0; k < st->nresults; k++)
      join_fact(w, &w->results[k], &w->facts[st->results[k]],
                &w->f->slots[st->results[k]].type);
    walk_body(w, &st->body);
    walk_body(w, &st->orelse);
  }
}

static void walk_function(finder *w) {
  w->reached = true;
  do {
    w->changed = false;
    walk_body(w, &w->f->body);
  } while (w->changed);
}

/* Takes a function that is not called directly by its operands: nothing is
 * known of its parameters. */
static void walk_alone(finder *w) {
  tkv_fact none = no_fact();
  for (size_t i = 0; i < w->f->nparams; i++)
    give_fact(w, w->f->params[i], &none);
  walk_function(w);
}

tkv_facts tkv_find_facts(tk_arena *a, const tk_program *p) {
  tkv_facts all = {TK_NEWN(a, tkv_fact *, p->nfuncs + 1)};
  finder *finders = TK_NEWN(a, finder, p->nfuncs + 1);
  for (size_t i = 0; i < p->nfuncs; i++) {
    const tk_func *f = p->funcs[i];
    all.of[i] = TK_NEWN(a, tkv_fact, f->nslots + 1);
    finders[i] = (finder){.f = f,
                          .facts = all.of[i],
                          .results = TK_NEWN(a, tkv_fact, f->nresults + 1),
                          .others = finders};
  }
  finder *kernel = &finders[p->kernel->id];
  tkv_fact none = no_fact();
  for (size_t i = 0; i < p->kernel->nparams; i++)
    give_fact(kernel, p->kernel->params[i], &none);
  for (size_t i = 0; i < p->nparams; i++)
    kernel->facts[p->params[i].slot].divisibility[0] =
        low_power(p->params[i].divisor);
  walk_function(kernel);
  for (size_t i = 0; i < p->nfuncs; i++)
    if (!finders[i].reached) walk_alone(&finders[i]);
  return all;
}

/* ---- text ---------------------------------------------------------------- */

static void print_numbers(tk_buf *out, const char *what, const int64_t *v,
                          int n) {
  tk_buf_printf(out, " %s = [", what);
  for (int i = 0; i < n; i++)
    tk_buf_printf(out, "%s%lld", i ? ", " : "", (long long)v[i]);
  tk_buf_puts(out, "]");
}

static void put_fact(void *ud, tk_buf *out, const tk_func *f,
                     const tk_inst *in) {
  const tkv_facts *all = ud;
  if (in->nres != 1) return;
  const tk_type *t = &f->slots[in->res[0]].type;
  const tkv_fact *x = &all->of[f->id][in->res[0]];
  if (!is_index(t) || !x->known) return;
  tk_buf_puts(out, " //");
  print_numbers(out, "contiguity", x->contiguity, axes(t));
  print_numbers(out, "divisibility", x->divisibility, axes(t));
  print_numbers(out, "constancy", x->constancy, axes(t));
  if (x->is_const) tk_buf_printf(out, " value = %lld", (long long)x->value);
}

typedef struct printing {
  tk_buf *out;
  const tk_program *p;
  tk_arena arena;
} printing;

static void print_facts(tk_env *e, void *ud) {
  printing *x = ud;
  (void)e;
  tkv_facts facts = tkv_find_facts(&x->arena, x->p);
  tk_program_print_with(x->out, x->p, &(tk_remark){&facts, put_fact});
}

void tkv_print_facts(tk_buf *out, const tk_program *p) {
  printing x = {.out = out, .p = p};
  tk_arena_init(&x.arena, out->env);
  tk_status st = tk_protect(out->env, print_facts, &x);
  tk_arena_free(&x.arena);
  if (st != TK_OK) tk_throw(out->env, st);
}
