/* relate.c - the numbers of a launch, and relations put in place of them. */
#include "prove/relate.h"

#include "ir/param.h"

static tk_arena *relate_arena(const tkq_numbers *n) {
  return n->terms->arena;
}

/* ---- putting relations in place ------------------------------------------ */

static const tkq_poly *relation_of(tkq_terms *t, void *ud, int atom) {
  const tkq_numbers *n = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  if (a->kind != TKQ_SIZE) return NULL;
  const tkq_quantity *q = &n->all.items[a->number];
  if (q->relation < 0 || !n->relations.items[q->relation].on) return NULL;
  return tkq_related(n, n->is.items[a->number]);
}

const tkq_poly *tkq_related(const tkq_numbers *n, const tkq_poly *p) {
  tkq_subst s = {relation_of, (void *)(uintptr_t)n};
  return tkq_replace(n->terms, p, &s);
}

const tkq_form *tkq_related_form(const tkq_numbers *n, const tkq_form *f) {
  tkq_subst s = {relation_of, (void *)(uintptr_t)n};
  return tkq_replace_form(n->terms, f, &s);
}

const tkq_form *tkq_facts_of(const tkq_numbers *n) {
  const tkq_form *f = tkq_true();
  for (size_t i = 0; i < n->relations.n; i++)
    if (n->relations.items[i].on && n->relations.items[i].fact)
      f = tkq_and(n->terms, f, n->relations.items[i].fact);
  return tkq_related_form(n, f);
}

/* ---- quantities ---------------------------------------------------------- */

static int quantity(tkq_numbers *n, tkq_quantity q, int64_t lo, int64_t hi) {
  int number = (int)n->all.n;
  tkq_atom a = {
      .kind = TKQ_SIZE, .number = number, .name = q.name, .lo = lo, .hi = hi};
  q.p = tkq_atom_poly(n->terms, &a);
  q.relation = -1;
  TK_PUSH(relate_arena(n), &n->all, q);
  TK_PUSH(relate_arena(n), &n->is, NULL);
  return number;
}

int tkq_relation_new(tkq_numbers *n, tk_given from, const char *text) {
  TK_PUSH(relate_arena(n), &n->relations,
          ((tkq_relation){.text = text, .from = from, .on = true}));
  return (int)n->relations.n - 1;
}

int64_t tkq_most_size(const tkq_numbers *n) {
  return n->wide ? (int64_t)1 << 48 : INT32_MAX;
}

/* A quantity that must not be in what it is said to be, also by way of what
 * others are. */
typedef struct relate_cycle {
  const tkq_numbers *n;
  int quantity;
} relate_cycle;

static bool leads_back(const tkq_terms *t, int atom, void *ud) {
  relate_cycle *c = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  if (a->kind != TKQ_SIZE) return false;
  const tkq_poly *is = c->n->is.items[a->number];
  return a->number == c->quantity || (is && tkq_has(t, is, leads_back, c));
}

bool tkq_define(tkq_numbers *n, int i, const tkq_poly *p, int relation) {
  relate_cycle c = {n, i};
  if (!p || tkq_has(n->terms, p, leads_back, &c)) return false;
  n->all.items[i].relation = relation;
  n->is.items[i] = p;
  return true;
}

/* ---- tensors ------------------------------------------------------------- */

/* A quantity for each axis of a tensor; the number of the first. */
static int add_axes(tkq_numbers *n, size_t arg, tkq_quantity_kind kind,
                    const int64_t *values, int64_t least) {
  tkq_tensor *t = &n->tensors[arg];
  int first = (int)n->all.n;
  for (int i = 0; i < t->rank; i++) {
    tkq_quantity q = {.kind = kind, .arg = arg, .axis = i, .value = values[i]};
    q.name = tk_arena_printf(
        relate_arena(n),
        kind == TKQ_OF_SHAPE ? "%s.shape[%d]" : "%s.stride(%d)", t->name, i);
    quantity(n, q, least, tkq_most_size(n));
    if (values[i] < least) t->known = false;
  }
  return first;
}

static void add_sizes(tkq_numbers *n, size_t arg, const tk_tensor *x) {
  tkq_tensor *t = &n->tensors[arg];
  *t = (tkq_tensor){.name = n->launch->args[arg].name,
                    .rank = x->rank,
                    .unwritten = x->flags & TK_TENSOR_UNWRITTEN,
                    .dtype = x->dtype,
                    .known = true};
  t->shape = add_axes(n, arg, TKQ_OF_SHAPE, x->shape, 1);
  t->stride = add_axes(n, arg, TKQ_OF_STRIDE, x->strides, 0);
}

static void measure_tensor(tkq_numbers *n, tkq_tensor *t) {
  tkq_terms *x = n->terms;
  t->extent = t->numel = tkq_const(x, 1);
  for (int i = 0; i < t->rank; i++) {
    const tkq_poly *size = n->all.items[t->shape + i].p;
    const tkq_poly *stride = n->all.items[t->stride + i].p;
    t->numel = tkq_mul(x, t->numel, size);
    t->extent =
        tkq_add(x, t->extent, tkq_mul(x, tkq_plus(x, size, -1), stride));
  }
  if (!t->extent || !t->numel || t->rank > TKQ_AXES) t->known = false;
}

/* ---- a launch ------------------------------------------------------------ */

static void add_scalar(tkq_numbers *n, const tk_param *p) {
  const tk_arg *a = &n->launch->args[p->arg];
  int64_t lo, hi;
  tk_dtype d = (tk_dtype)p->type.elem;
  uint64_t bits = tk_param_of(n->launch, p).bits;
  if (!tkq_range(d, &lo, &hi) || d == TK_INT1) return;
  tkq_quantity q = {.kind = TKQ_OF_SCALAR, .arg = p->arg, .name = a->name};
  q.value = tk_lane_int(d, &bits);
  q.never_one = a->kind == TK_ARG_VALUE && !a->no_specialize;
  quantity(n, q, lo, hi);
}

static bool is_scalar(const tkq_numbers *n, const tk_param *p) {
  const tk_arg *a = &n->launch->args[p->arg];
  return !p->type.ptr && a->kind != TK_ARG_TENSOR &&
         (a->kind == TK_ARG_SCALAR || a->value.kind == TK_V_INT);
}

int tkq_scalar_of(const tkq_numbers *n, size_t arg) {
  for (int i = 0; i < (int)n->all.n; i++)
    if (n->all.items[i].kind == TKQ_OF_SCALAR && n->all.items[i].arg == arg)
      return i;
  return -1;
}

static void add_params(tkq_numbers *n) {
  const tk_program *s = n->scalars;
  for (size_t i = 0; i < s->nparams; i++)
    if (is_scalar(n, &s->params[i])) add_scalar(n, &s->params[i]);
  for (size_t i = 0; i < n->program->nparams; i++) {
    const tk_param *p = &n->program->params[i];
    const tk_arg *a = &n->launch->args[p->arg];
    n->params[p->slot] = (tkq_value){.kind = TKQ_OTHER};
    if (p->type.ptr == 1 && a->kind == TK_ARG_TENSOR)
      n->params[p->slot] = (tkq_value){
          .kind = TKQ_POINTER, .p = tkq_const(n->terms, 0), .tensor = p->arg};
    int q = is_scalar(n, p) ? tkq_scalar_of(n, p->arg) : -1;
    if (q >= 0)
      n->params[p->slot] = (tkq_value){.kind = TKQ_INT, .p = n->all.items[q].p};
  }
}

static void add_grid(tkq_numbers *n) {
  n->grid = (int)n->all.n;
  for (int i = 0; i < 3; i++) {
    tkq_quantity q = {.kind = TKQ_OF_GRID, .axis = i};
    q.value = n->launch->grid_given ? n->launch->grid[i] : 1;
    q.name = tk_arena_printf(relate_arena(n), "grid[%d]", i);
    int number = quantity(n, q, 1, INT32_MAX);
    n->terms->grid[i] = n->all.items[number].p;
  }
}

void tkq_numbers_of(tkq_numbers *n) {
  size_t nargs = n->launch->nargs;
  n->tensors = TK_NEWN(relate_arena(n), tkq_tensor, nargs + 1);
  n->params =
      TK_NEWN(relate_arena(n), tkq_value, n->program->kernel->nslots + 1);
  for (size_t i = 0; i < nargs; i++)
    if (n->launch->args[i].kind == TK_ARG_TENSOR)
      add_sizes(n, i, &n->launch->args[i].tensor);
  add_params(n);
  add_grid(n);
  for (size_t i = 0; i < nargs; i++)
    if (n->tensors[i].name) measure_tensor(n, &n->tensors[i]);
}
