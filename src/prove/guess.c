/* guess.c - relations that are read off the numbers of a launch.
 *
 * What equals something else is taken to be that: sizes of one value, a scalar
 * and a size or a stride, the grid and a size divided by a compile-time value.
 * Each such relation is a candidate: it is told of wherever a proof needs it,
 * and only there.  Where the program that launches says what a number is,
 * nothing is guessed. */
#include "prove/relate.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static tk_arena *guess_arena(const tkq_numbers *n) {
  return n->terms->arena;
}

static void relate(tkq_numbers *n, int i, const tkq_poly *p, const char *what) {
  const char *text =
      tk_arena_printf(guess_arena(n), "%s = %s", n->all.items[i].name, what);
  int r = tkq_relation_new(n, TK_GIVEN_LAUNCH, text);
  if (!tkq_define(n, i, p, r)) n->relations.n--;
}

/* ---- tensors ------------------------------------------------------------- */

static bool is_contiguous(const tk_tensor *x) {
  int64_t stride = 1;
  for (int i = x->rank - 1; i >= 0; i--) {
    if (x->strides[i] != stride && x->shape[i] != 1) return false;
    stride *= x->shape[i];
  }
  return true;
}

/* Strides as products of sizes, by one relation. */
static void relate_strides(tkq_numbers *n, const tkq_tensor *t) {
  const tkq_poly *stride = tkq_const(n->terms, 1);
  int r = tkq_relation_new(
      n, TK_GIVEN_LAUNCH,
      tk_arena_printf(guess_arena(n), "%s is contiguous", t->name));
  bool used = false;
  for (int i = t->rank - 1; i >= 0; i--) {
    if (n->all.items[t->stride + i].relation < 0)
      used |= tkq_define(n, t->stride + i, stride, r);
    stride = tkq_mul(n->terms, stride, n->all.items[t->shape + i].p);
  }
  if (!used) n->relations.n--;
}

/* No tensor is so large that 32 bits cannot count its elements, with room for
 * the lanes of a block after the last of them. */
static void limit(tkq_numbers *n, const tkq_tensor *t) {
  if (!t->known || !t->rank || n->wide) return;
  int r = tkq_relation_new(n, TK_GIVEN_ALWAYS,
                           tk_arena_printf(guess_arena(n),
                                           "%s has at most 2**30 elements",
                                           t->name));
  n->relations.items[r].fact =
      tkq_ge(n->terms, tkq_const(n->terms, (int64_t)1 << 30), t->extent);
}

/* ---- compile-time values ------------------------------------------------- */

/* The i-th one from *arg on that is a whole number above 1. */
static bool next_constant(const tkq_numbers *n, size_t *arg, int64_t *c) {
  for (; *arg < n->launch->nargs; ++*arg) {
    const tk_arg *a = &n->launch->args[*arg];
    if (a->kind != TK_ARG_VALUE || !n->scalars->args[*arg].value) continue;
    if (a->value.kind != TK_V_INT || a->value.hi || a->value.lo > INT32_MAX)
      continue;
    *c = (int64_t)a->value.lo;
    if (*c > 1) return true;
  }
  return false;
}

/* Names of blocks and numbers of warps: what a size is not meant to equal. */
static bool names_block(const char *name) {
  static const char *const words[] = {"block", "tile", "group", "stage",
                                      "warp",  "bm",   "bn",    "bk"};
  for (size_t i = 0; i < TK_COUNT(words); i++)
    if (strcasestr(name, words[i])) return true;
  return false;
}

/* ---- candidates ---------------------------------------------------------- */

typedef struct relate_found {
  const tkq_poly *p;
  const char *what;
} relate_found;

static const tkq_poly *cdiv(tkq_numbers *n, const tkq_poly *p, int64_t c) {
  return tkq_div(n->terms, tkq_plus(n->terms, p, c - 1),
                 tkq_const(n->terms, c));
}

static relate_found equal_quantity(tkq_numbers *n, tkq_quantity_kind kind,
                                   int64_t value, int before) {
  for (int i = 0; i < before; i++) {
    const tkq_quantity *q = &n->all.items[i];
    bool base = q->relation < 0 || kind == TKQ_OF_STRIDE;
    if (q->kind == kind && base && q->value == value)
      return (relate_found){q->p, q->name};
  }
  return (relate_found){NULL, NULL};
}

/* What factors of the grid were made of: one quantity and one compile-time
 * value are seldom meant twice. */
typedef struct relate_taken {
  bool *quantity, *arg;
} relate_taken;

/* Whether a size is one of a tensor that is to be written. */
static bool is_size_of_output(const tkq_numbers *n, int i) {
  for (size_t k = 0; k < n->launch->nargs; k++) {
    const tkq_tensor *t = &n->tensors[k];
    for (int axis = 0; t->unwritten && axis < t->rank; axis++) {
      const tkq_poly *is = n->is.items[t->shape + axis];
      const tkq_atom *a = is ? tkq_single(n->terms, is) : NULL;
      if (t->shape + axis == i || (a && a->kind == TKQ_SIZE && a->number == i))
        return true;
    }
  }
  return false;
}

/* The order in which a number of programs is looked for among sizes divided by
 * constants: programs mostly share out what is written, each axis of the grid
 * another axis of that by another constant. */
typedef enum relate_pass {
  OTHER_OUTPUT_BY_OTHER,
  OTHER_SIZE_BY_OTHER,
  OTHER_OUTPUT,
  OTHER_SIZE,
  ANY_SIZE,
} relate_pass;

static relate_found cdiv_pass(tkq_numbers *n, int64_t value, int before,
                              relate_taken *taken, relate_pass pass) {
  bool output = pass == OTHER_OUTPUT_BY_OTHER || pass == OTHER_OUTPUT;
  int64_t c;
  for (int i = 0; i < before; i++) {
    const tkq_quantity *q = &n->all.items[i];
    bool base = q->kind == TKQ_OF_SHAPE || q->kind == TKQ_OF_SCALAR;
    if (!base || q->relation >= 0 || q->value < 1) continue;
    if (pass < ANY_SIZE && taken->quantity[i]) continue;
    if (output && !is_size_of_output(n, i)) continue;
    for (size_t arg = 0; next_constant(n, &arg, &c); arg++) {
      if ((q->value + c - 1) / c != value) continue;
      if (pass <= OTHER_SIZE_BY_OTHER && taken->arg[arg]) continue;
      if (taken) taken->quantity[i] = taken->arg[arg] = true;
      return (relate_found){cdiv(n, q->p, c),
                            tk_arena_printf(guess_arena(n), "cdiv(%s, %s)",
                                            q->name,
                                            n->launch->args[arg].name)};
    }
  }
  return (relate_found){NULL, NULL};
}

/* A size or scalar divided by a compile-time value, rounded up; what was taken
 * before comes last. */
static relate_found equal_cdiv(tkq_numbers *n, int64_t value, int before,
                               relate_taken *taken) {
  relate_found x = {NULL, NULL};
  for (int pass = taken ? 0 : ANY_SIZE; pass <= ANY_SIZE && !x.p; pass++)
    x = cdiv_pass(n, value, before, taken, (relate_pass)pass);
  return x;
}

static relate_found equal_numel(tkq_numbers *n, int64_t value) {
  for (size_t k = 0; k < n->launch->nargs; k++) {
    const tkq_tensor *t = &n->tensors[k];
    int64_t numel = 1;
    if (!t->known || t->rank < 2) continue;
    for (int i = 0; i < t->rank; i++) numel *= n->all.items[t->shape + i].value;
    if (numel == value)
      return (relate_found){
          t->numel, tk_arena_printf(guess_arena(n), "%s.numel()", t->name)};
  }
  return (relate_found){NULL, NULL};
}

static relate_found equal_constant(tkq_numbers *n, int64_t value) {
  int64_t c;
  for (size_t arg = 0; next_constant(n, &arg, &c); arg++)
    if (c == value && !names_block(n->launch->args[arg].name))
      return (relate_found){tkq_const(n->terms, c), n->launch->args[arg].name};
  return (relate_found){NULL, NULL};
}

/* Whether a runtime scalar has that value, and is not told to be a stride. */
static bool some_scalar(const tkq_numbers *n, int64_t value) {
  for (size_t i = 0; i < n->all.n; i++) {
    const tkq_quantity *q = &n->all.items[i];
    if (q->kind == TKQ_OF_SCALAR && q->value == value &&
        !strcasestr(q->name, "stride"))
      return true;
  }
  return false;
}

/* A size of the same value that the program uses; first one of that axis. */
static relate_found equal_told(const tkq_numbers *n, const tkq_quantity *q) {
  for (int same = 1; same >= 0; same--)
    for (size_t i = 0; i < n->all.n; i++) {
      const tkq_quantity *x = &n->all.items[i];
      if (x->told && x->kind == TKQ_OF_SHAPE && x->arg != q->arg &&
          x->value == q->value && (!same || x->axis == q->axis))
        return (relate_found){x->p, x->name};
    }
  return (relate_found){NULL, NULL};
}

static void relate_size(tkq_numbers *n, int i) {
  tkq_quantity q = n->all.items[i];
  if (q.told) return;
  relate_found x = equal_told(n, &q);
  if (!x.p) x = equal_quantity(n, TKQ_OF_SHAPE, q.value, i);
  if (!x.p && !some_scalar(n, q.value)) x = equal_constant(n, q.value);
  if (!x.p && q.value > 1 && !some_scalar(n, q.value))
    x = equal_cdiv(n, q.value, i, NULL);
  if (!x.p && q.value == 1) x = (relate_found){tkq_const(n->terms, 1), "1"};
  if (x.p) relate(n, i, x.p, x.what);
}

/* ---- rivals -------------------------------------------------------------- */

static void rival(tkq_numbers *n, int i, const tkq_poly *chosen,
                  const tkq_poly *p, const char *what) {
  if (!p || tkq_same(tkq_related(n, p), tkq_related(n, chosen))) return;
  for (size_t k = 0; k < n->rivals.n; k++)
    if (n->rivals.items[k].quantity == i &&
        tkq_same(tkq_related(n, n->rivals.items[k].p), tkq_related(n, p)))
      return;
  TK_PUSH(guess_arena(n), &n->rivals, ((tkq_rival){.quantity = i, .p = p}));
  /* there are too many */
  if (n->all.items[i].kind == TKQ_OF_SHAPE || !*what) return;
  TK_PUSH(guess_arena(n), &n->notes,
          tk_arena_printf(guess_arena(n),
                          "%s is %s as well in this launch, which is not "
                          "assumed; sizes that differ would tell, or --assume",
                          n->all.items[i].name, what));
}

/* Everything else that quantity i equals. */
static void find_rivals(tkq_numbers *n, int i, const tkq_poly *chosen) {
  tkq_quantity q = n->all.items[i];
  int64_t c;
  for (int k = 0; k < i; k++) {
    tkq_quantity x = n->all.items[k];
    bool base = x.relation < 0 || x.kind == TKQ_OF_STRIDE;
    if (base && x.value == q.value && x.kind != TKQ_OF_GRID)
      rival(n, i, chosen, x.p, x.name);
    if (x.relation >= 0 || x.kind == TKQ_OF_STRIDE || x.value < 1) continue;
    for (size_t arg = 0; next_constant(n, &arg, &c); arg++)
      if ((x.value + c - 1) / c == q.value && q.value > 1)
        rival(n, i, chosen, cdiv(n, x.p, c),
              tk_arena_printf(guess_arena(n), "cdiv(%s, %s)", x.name,
                              n->launch->args[arg].name));
  }
  for (size_t arg = 0; next_constant(n, &arg, &c); arg++)
    if (c == q.value)
      rival(n, i, chosen, tkq_const(n->terms, c), n->launch->args[arg].name);
  relate_found numel = equal_numel(n, q.value);
  if (numel.p) rival(n, i, chosen, numel.p, numel.what);
}

/* A stride of a tensor whose name begins as the scalar's does after "stride_",
 * or of any. */
static relate_found equal_stride(tkq_numbers *n, const tkq_quantity *q,
                                 int before) {
  const char *part = strcasestr(q->name, "stride");
  part = part ? strchr(part, '_') : NULL;
  for (int i = 0; part && part[1] && i < before; i++) {
    const tkq_quantity *s = &n->all.items[i];
    if (s->kind == TKQ_OF_STRIDE && s->value == q->value &&
        strncasecmp(s->name, part + 1, 1) == 0)
      return (relate_found){s->p, s->name};
  }
  return equal_quantity(n, TKQ_OF_STRIDE, q->value, before);
}

static void relate_scalar(tkq_numbers *n, int i) {
  tkq_quantity q = n->all.items[i];
  relate_found x = {NULL, NULL};
  if (q.value < 1 || q.told) return;
  if (strcasestr(q.name, "stride")) x = equal_stride(n, &q, i);
  if (!x.p) x = equal_quantity(n, TKQ_OF_SHAPE, q.value, i);
  if (!x.p) x = equal_numel(n, q.value);
  if (!x.p) x = equal_quantity(n, TKQ_OF_STRIDE, q.value, i);
  if (!x.p && q.value > 1) x = equal_cdiv(n, q.value, i, NULL);
  if (!x.p) return;
  relate(n, i, x.p, x.what);
  find_rivals(n, i, x.p);
}

/* ---- the grid ------------------------------------------------------------ */

/* What a factor of the grid can be: a size, or one divided by a constant. */
static relate_found grid_factor(tkq_numbers *n, int64_t value,
                                relate_taken *taken) {
  relate_found x = {NULL, NULL};
  if (value > 1) x = equal_quantity(n, TKQ_OF_SHAPE, value, n->grid);
  if (!x.p) x = equal_cdiv(n, value, n->grid, taken);
  return x;
}

static relate_found grid_product(tkq_numbers *n, int64_t value,
                                 relate_taken *taken) {
  for (int64_t a = 2; a * a <= value; a++) {
    if (value % a) continue;
    relate_found x = grid_factor(n, a, taken);
    relate_found y = grid_factor(n, value / a, taken);
    if (x.p && y.p)
      return (relate_found){
          tkq_mul(n->terms, x.p, y.p),
          tk_arena_printf(guess_arena(n), "%s * %s", x.what, y.what)};
  }
  return (relate_found){NULL, NULL};
}

static void note_floor(tkq_numbers *n, const tkq_quantity *grid) {
  int64_t c;
  for (int i = 0; i < n->grid; i++) {
    const tkq_quantity *q = &n->all.items[i];
    if (q->relation >= 0 || q->kind == TKQ_OF_STRIDE || q->value < 1) continue;
    for (size_t arg = 0; next_constant(n, &arg, &c); arg++)
      if (q->value % c == 0 && q->value / c == grid->value) {
        const char *name = n->launch->args[arg].name;
        TK_PUSH(guess_arena(n), &n->notes,
                tk_arena_printf(
                    guess_arena(n),
                    "%s is cdiv(%s, %s) and %s // %s alike in this launch; "
                    "the first is assumed. Give a size that is no multiple of "
                    "%s, or --assume",
                    grid->name, q->name, name, q->name, name, name));
        return;
      }
  }
}

/* One program may be all that a size needs, if the kernel asks which it is. */
static void doubt_single(tkq_numbers *n, int axis) {
  int64_t c;
  for (int i = 0; i < n->grid; i++) {
    const tkq_quantity *q = &n->all.items[i];
    if (q->kind != TKQ_OF_SHAPE || q->relation >= 0 || q->value < 2) continue;
    for (size_t arg = 0; next_constant(n, &arg, &c); arg++)
      if (q->value <= c)
        TK_PUSH(guess_arena(n), &n->rivals,
                ((tkq_rival){.quantity = n->grid + axis,
                             .p = cdiv(n, q->p, c),
                             .if_asked = true}));
  }
}

static void relate_grid(tkq_numbers *n, int axis, relate_taken *taken) {
  int i = n->grid + axis;
  tkq_quantity q = n->all.items[i];
  relate_found x = {NULL, NULL};
  if (q.told) return;
  if (q.value > 1) x = equal_constant(n, q.value);
  if (!x.p && (q.value > 1 || !axis)) x = grid_factor(n, q.value, taken);
  if (!x.p && q.value > 1) x = equal_numel(n, q.value);
  if (!x.p) x = grid_product(n, q.value, taken);
  if (x.what && strstr(x.what, "cdiv")) note_floor(n, &q);
  if (x.p && q.value > 1) find_rivals(n, i, x.p);
  if (x.p && q.value == 1) rival(n, i, x.p, tkq_const(n->terms, 1), "1");
  bool unknown = !x.p && q.value > 1;
  if (!x.p)
    x = (relate_found){tkq_const(n->terms, q.value),
                       tk_arena_printf(guess_arena(n), "%" PRId64, q.value)};
  relate(n, i, x.p, x.what);
  n->unknown_grid[axis] = unknown;
  if (axis && q.value == 1) doubt_single(n, axis);
}

/* ---- sizes that the kernel is not told of -------------------------------- */

static bool is_size(const tkq_terms *t, int atom, void *ud) {
  const tkq_atom *a = &t->atoms.items[atom];
  return a->kind == TKQ_SIZE && a->number == *(int *)ud;
}

/* Whether some quantity of a kind comes from it. */
static bool is_part_of(const tkq_numbers *n, int i, tkq_quantity_kind kind) {
  bool part = false;
  for (size_t k = 0; k < n->all.n && !part; k++) {
    const tkq_poly *p = tkq_related(n, n->all.items[k].p);
    part =
        n->all.items[k].kind == kind && p && tkq_has(n->terms, p, is_size, &i);
  }
  return part;
}

/* Whether a scalar, the grid or a relation of the program's is about it. */
static bool is_mentioned(const tkq_numbers *n, int i) {
  bool said = n->all.items[i].told;
  for (size_t k = 0; k < n->relations.n && !said; k++)
    said = n->relations.items[k].fact &&
           n->relations.items[k].from == TK_GIVEN_TOLD &&
           tkq_form_has(n->terms, n->relations.items[k].fact, is_size, &i);
  return said || is_part_of(n, i, TKQ_OF_SCALAR) ||
         is_part_of(n, i, TKQ_OF_GRID);
}

/* Offsets of rows are one more than rows: a size that is told, and 1. */
static bool relate_offsets(tkq_numbers *n, int i) {
  const tkq_quantity *q = &n->all.items[i];
  for (int k = 0; k < (int)n->all.n; k++) {
    const tkq_quantity *x = &n->all.items[k];
    if (x->kind != TKQ_OF_SHAPE || x->arg == q->arg || x->relation >= 0 ||
        x->value + 1 != q->value || x->value < 2 || !is_mentioned(n, k))
      continue;
    relate(n, i, tkq_plus(n->terms, x->p, 1),
           tk_arena_printf(guess_arena(n), "%s + 1", x->name));
    return true;
  }
  return false;
}

/* A size that nothing says anything of stays as it is, if there is one that
 * something does: the program may have no other. */
static void relate_rest(tkq_numbers *n) {
  bool some = false;
  for (int i = 0; i < (int)n->all.n && !some; i++)
    some = n->all.items[i].kind == TKQ_OF_SHAPE &&
           (n->all.items[i].relation >= 0 || is_mentioned(n, i));
  for (int i = 0; some && i < (int)n->all.n; i++) {
    const tkq_quantity *q = &n->all.items[i];
    if (q->kind != TKQ_OF_SHAPE || q->relation >= 0 || is_mentioned(n, i))
      continue;
    if (!relate_offsets(n, i))
      relate(n, i, tkq_const(n->terms, q->value),
             tk_arena_printf(guess_arena(n), "%" PRId64, q->value));
  }
}

/* Axes of another tensor that make up a size of this one, as where it holds
 * rows of all of them. */
static void doubt_product(tkq_numbers *n, int i, const tkq_tensor *t,
                          int first) {
  const tkq_quantity *q = &n->all.items[i];
  const tkq_poly *p = n->all.items[t->shape + first].p;
  int64_t value = n->all.items[t->shape + first].value;
  for (int k = first + 1; k < t->rank; k++) {
    p = tkq_mul(n->terms, p, n->all.items[t->shape + k].p);
    if (__builtin_mul_overflow(value, n->all.items[t->shape + k].value, &value))
      return;
    if (value == q->value && value > 1) rival(n, i, q->p, p, "");
  }
}

static void doubt_products(tkq_numbers *n, int i) {
  for (size_t k = 0; k < n->launch->nargs; k++)
    for (int first = 0; n->tensors[k].name && k != n->all.items[i].arg &&
                        first + 1 < n->tensors[k].rank;
         first++)
      doubt_product(n, i, &n->tensors[k], first);
}

enum { SMALL_SIZE = 8, MOST_TIMES = 64 };

/* a is some number times b, as where each element of one tensor makes two of
 * another; both more than small. */
static bool is_multiple(const tkq_quantity *a, const tkq_quantity *b,
                        int64_t *times) {
  if (b->value <= SMALL_SIZE || a->value <= b->value || a->value % b->value)
    return false;
  *times = a->value / b->value;
  return *times <= MOST_TIMES;
}

/* A size that no scalar speaks of may be a multiple of another size or of a
 * scalar, or that of it. */
static void doubt_multiples(tkq_numbers *n, int i) {
  tkq_quantity q = n->all.items[i];
  int64_t c;
  if (is_part_of(n, i, TKQ_OF_SCALAR)) return;
  for (int k = 0; k < n->grid; k++) {
    tkq_quantity x = n->all.items[k];
    if (k == i || x.kind == TKQ_OF_STRIDE) continue;
    if (is_multiple(&q, &x, &c))
      rival(n, i, q.p, tkq_mul(n->terms, tkq_const(n->terms, c), x.p), "");
    if (is_multiple(&x, &q, &c))
      rival(n, k, x.p, tkq_mul(n->terms, tkq_const(n->terms, c), q.p), "");
  }
}

/* Whatever else a size is that was guessed.  A small one, and one that was not
 * taken from another tensor, may be a number of the program's as well. */
static void doubt_size(tkq_numbers *n, int i) {
  const tkq_quantity *q = &n->all.items[i];
  int64_t c;
  if (q->kind != TKQ_OF_SHAPE || q->told) return;
  const tkq_poly *p = q->relation < 0 ? q->p : n->is.items[i];
  if (q->relation < 0 && q->value <= SMALL_SIZE &&
      !is_part_of(n, i, TKQ_OF_SCALAR))
    rival(n, i, p, tkq_const(n->terms, q->value), "");
  if (q->relation < 0) doubt_products(n, i);
  if (q->relation < 0 || tkq_is_const(p, &c)) {
    doubt_multiples(n, i);
    return;
  }
  bool atom = p->n == 1 && p->m[0].deg == 1;
  const tkq_atom *a = atom ? &n->terms->atoms.items[p->m[0].atoms[0]] : NULL;
  if (q->value <= SMALL_SIZE || !a || a->kind != TKQ_SIZE ||
      n->all.items[a->number].arg == q->arg)
    rival(n, i, p, tkq_const(n->terms, q->value), "");
  find_rivals(n, i, p);
}

/* Where sizes need 64 bits, what launches a kernel still takes 32 for a grid.
 */
static void limit_grid(tkq_numbers *n) {
  for (int i = 0; i < 3; i++) {
    const tkq_quantity *q = &n->all.items[n->grid + i];
    int r = tkq_relation_new(
        n, TK_GIVEN_ALWAYS,
        tk_arena_printf(guess_arena(n), "%s < 2**31", q->name));
    n->relations.items[r].fact =
        tkq_ge(n->terms, tkq_const(n->terms, INT32_MAX), q->p);
  }
}

void tkq_guess(tkq_numbers *n) {
  size_t nargs = n->launch->nargs;
  for (size_t i = 0; i < nargs; i++)
    for (int k = 0; n->tensors[i].name && k < n->tensors[i].rank; k++)
      relate_size(n, n->tensors[i].shape + k);
  for (size_t i = 0; i < nargs; i++) {
    if (!n->tensors[i].name) continue;
    if (is_contiguous(&n->launch->args[i].tensor))
      relate_strides(n, &n->tensors[i]);
    limit(n, &n->tensors[i]);
  }
  for (int i = 0; i < n->grid; i++)
    if (n->all.items[i].kind == TKQ_OF_SCALAR) relate_scalar(n, i);
  relate_taken taken = {TK_NEWN(guess_arena(n), bool, n->all.n + 1),
                        TK_NEWN(guess_arena(n), bool, nargs + 1)};
  for (int i = 0; i < 3; i++) relate_grid(n, i, &taken);
  relate_rest(n);
  for (int i = 0; i < n->grid; i++) doubt_size(n, i);
  if (n->wide) limit_grid(n);
}
