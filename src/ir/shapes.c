/* shapes.c - what the types and shapes of an instruction must be beyond the
 * kinds of its operands, row by row of inst.def.
 *
 * A rule gives NULL if it holds, or else says what must be.  When it is asked,
 * operands and results are as many as the row says and have types that are
 * sound, attributes have values of their kind, and what the instruction refers
 * to is there.
 */
#include <string.h>

#include "ir/asm.h"
#include "ir/libdevice.h"
#include "ir/text.h"

static const tk_type *operand_type(const tk_func *f, const tk_inst *in, int k) {
  return &f->slots[in->args[k]].type;
}

static const tk_type *result_type(const tk_func *f, const tk_inst *in, int k) {
  return &f->slots[in->res[k]].type;
}

static const char *unless(bool holds, const char *wanted) {
  return holds ? NULL : wanted;
}

/* ---- questions about types ---------------------------------------------- */

static bool is_number(const tk_type *t, tk_dtype d) {
  return !t->ptr && t->elem == d;
}

static bool is_integer(const tk_type *t) {
  return !t->ptr && tk_is_int((tk_dtype)t->elem);
}

static bool is_float(const tk_type *t) {
  return !t->ptr && tk_is_float((tk_dtype)t->elem);
}

/* The shapes agree except along one axis. */
static bool agree_but(const tk_type *a, const tk_type *b, int axis) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (i != axis && a->shape[i] != b->shape[i]) return false;
  return true;
}

/* b has the shape of a without the axis, or with one lane along it. */
static bool lacks_axis(const tk_type *a, const tk_type *b, int axis) {
  if (axis >= a->rank) return false;
  if (b->rank == a->rank) return b->shape[axis] == 1 && agree_but(a, b, axis);
  if (b->rank + 1 != a->rank) return false;
  for (int i = 0; i < b->rank; i++)
    if (b->shape[i] != a->shape[i + (i >= axis)]) return false;
  return true;
}

/* Where one lane may stand for all, some operand must have them. */
static bool has_block(const tk_func *f, const tk_inst *in) {
  bool block = !in->type.rank;
  for (int k = 0; k < in->nargs; k++) block |= operand_type(f, in, k)->rank > 0;
  return block;
}

/* ---- made of nothing, copied, moved -------------------------------------- */

static const char *rule_const(const tk_func *f, const tk_inst *in) {
  uint64_t bits = tk_const_bits(in);
  (void)f;
  if (in->type.rank)
    return "the result must be a scalar: broadcast fills blocks";
  return unless(!is_number(&in->type, TK_INT1) || bits <= 1,
                "the bits of an int1 must be 0 or 1");
}

static const char *rule_arange(const tk_func *f, const tk_inst *in) {
  int64_t start = tk_arange_start(in);
  (void)f;
  if (in->type.rank != 1 || !is_number(&in->type, TK_INT32))
    return "the result must be a block of int32 with one axis";
  return unless(start >= INT32_MIN && start <= INT32_MAX - (in->n - 1),
                "every number must be an int32");
}

static const char *rule_place(const tk_func *f, const tk_inst *in) {
  int64_t axis =
      in->op == TK_I_PID ? tk_program_id_axis(in) : tk_num_programs_axis(in);
  (void)f;
  if (axis < 0 || axis > 2) return "the axis must be 0, 1 or 2";
  return unless(!in->type.rank && is_number(&in->type, TK_INT32),
                "the result must be a scalar int32");
}

static const char *rule_clock(const tk_func *f, const tk_inst *in) {
  (void)f;
  return unless(!in->type.rank && is_number(&in->type, TK_INT64),
                "the result must be a scalar int64");
}

/* Bits may be taken as another number of their width; int1 has one bit of a
 * byte, so that not every byte is one. */
static const char *rule_copy(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  (void)f;
  if (tk_numel(a) != tk_numel(t)) return "the result must have as many lanes";
  bool bits =
      !a->ptr && !t->ptr && tk_dtypes[a->elem].bits == tk_dtypes[t->elem].bits;
  return unless(bits || tk_same_lanes(a, t),
                "the result's lanes must have as many bits, and be pointers if "
                "the operand's are");
}

static const char *rule_broadcast(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  (void)f;
  if (!t->rank) return "the result must be a block";
  bool fits = !a->rank || a->rank == t->rank;
  for (int i = 0; fits && i < a->rank; i++)
    fits = a->shape[i] == 1 || a->shape[i] == t->shape[i];
  return unless(fits && tk_same_lanes(a, t),
                "the result must match the operand, except for axes of size 1");
}

static const char *rule_permute(const tk_func *f, const tk_inst *in) {
  const int64_t *axes = tk_permute_axes(in);
  bool fits = tk_same_lanes(&in->from, &in->type);
  (void)f;
  TK_ASSERT(in->from.rank == in->type.rank); /* the axes permute them */
  for (int i = 0; i < in->type.rank; i++)
    fits &= in->type.shape[i] == in->from.shape[axes[i]];
  return unless(fits,
                "the result must match the operand with its axes permuted");
}

static const char *rule_join(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *b = operand_type(f, in, 1), *t = &in->type;
  bool fits = tk_same_lanes(a, b) && tk_same_shape(a, b) &&
              tk_same_lanes(a, t) && t->rank == a->rank + 1 &&
              t->shape[a->rank] == 2;
  for (int i = 0; fits && i < a->rank; i++) fits = a->shape[i] == t->shape[i];
  return unless(fits, "the operands must be of one type, and the result that "
                      "with a new last axis of 2");
}

static const char *rule_split(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  bool fits = a->rank == t->rank + 1 && a->shape[t->rank] == 2 &&
              tk_same_lanes(a, t) && tk_same_type(t, result_type(f, in, 1));
  for (int i = 0; fits && i < t->rank; i++) fits = a->shape[i] == t->shape[i];
  return unless(fits, "both results must match the operand without its last "
                      "axis, which must be 2");
}

static const char *rule_cat(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *b = operand_type(f, in, 1), *t = &in->type;
  int axis = tk_inst_axis(in);
  return unless(
      axis < t->rank && agree_but(a, t, axis) && agree_but(b, t, axis) &&
          tk_same_lanes(a, t) && tk_same_lanes(b, t) &&
          a->shape[axis] + b->shape[axis] == t->shape[axis],
      "the shapes must agree, except along the axis, where they add up");
}

static const char *rule_slice(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  int axis = tk_inst_axis(in);
  int64_t first = tk_slice_start(in), step = tk_slice_step(in);
  (void)f;
  if (axis >= t->rank || !agree_but(a, t, axis) || !tk_same_lanes(a, t))
    return "the result must match the operand, except along the axis";
  int64_t n = a->shape[axis];
  bool near = step <= n && step >= -n && first >= 0 && first < n;
  int64_t last = near ? first + step * (t->shape[axis] - 1) : -1;
  return unless(last >= 0 && last < n, "the slice must lie in the operand");
}

static const char *rule_gather(const tk_func *f, const tk_inst *in) {
  const tk_type *index = operand_type(f, in, tk_gather_index(in));
  int axis = tk_inst_axis(in);
  if (!is_integer(index) || !tk_same_shape(index, &in->type))
    return "the index must hold integers and have the result's shape";
  return unless(axis < in->type.rank && tk_same_lanes(&in->from, &in->type) &&
                    agree_but(&in->from, &in->type, axis),
                "the result must match the operand, except along the axis");
}

static const char *rule_flip(const tk_func *f, const tk_inst *in) {
  (void)f;
  return unless(tk_inst_axis(in) < in->type.rank, "the block has no such axis");
}

/* ---- lane by lane -------------------------------------------------------- */

static const char *rule_cast(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  (void)f;
  bool address = is_number(t, TK_INT64) || is_number(t, TK_UINT64);
  bool number = is_number(a, TK_INT64) || is_number(a, TK_UINT64);
  if (a->ptr)
    return unless(t->ptr || address || is_number(t, TK_INT1),
                  "a pointer becomes a pointer, an integer of 64 bits or int1");
  return unless(!t->ptr || number, "only integers of 64 bits become pointers");
}

/* Whether the operation that the first attribute names is defined. */
static bool is_defined(const tk_inst *in, const tk_type *t) {
  const tk_attr_info *a = tk_inst_attr((tk_opcode)in->op, 0);
  TK_ASSERT(a->kind == TK_ATTR_WORD);
  int64_t op = tk_inst_get(in, a);
  return t->ptr ? tk_list_takes_pointers(a->list, op)
                : tk_list_takes(a->list, op, (tk_dtype)t->elem);
}

static const char undefined_op[] = "this operation is not defined for the type";
static const char no_block[] = "one operand must have the shape of the result";

static const char *rule_unary(const tk_func *f, const tk_inst *in) {
  (void)f;
  return unless(is_defined(in, &in->type), undefined_op);
}

static const char *rule_binary(const tk_func *f, const tk_inst *in) {
  if (!has_block(f, in)) return no_block;
  return unless(is_defined(in, &in->type), undefined_op);
}

static const char *rule_compare(const tk_func *f, const tk_inst *in) {
  if (!is_number(&in->type, TK_INT1)) return "the result must be int1";
  if (!has_block(f, in)) return no_block;
  return unless(tk_same_lanes(&in->from, operand_type(f, in, 1)),
                "both operands must have the same element type");
}

static const char *rule_fma(const tk_func *f, const tk_inst *in) {
  (void)f;
  return unless(is_float(&in->type), "the operands must be floats");
}

static const char *rule_extern(const tk_func *f, const tk_inst *in) {
  static const char wanted[] = "the types must be those of the overload";
  const tk_extern *e = tk_extern_at(tk_extern_function(in));
  int64_t k = tk_extern_overload(in);
  TK_ASSERT(e); /* the attribute was checked */
  if (k < 0 || k >= TK_OVERLOADS || e->overloads[k].nargs != in->nargs ||
      !in->nargs)
    return "the function has no such overload";
  for (int i = 0; i < in->nargs; i++)
    if (!is_number(operand_type(f, in, i), (tk_dtype)e->overloads[k].args[i]))
      return wanted;
  return unless(is_number(&in->type, (tk_dtype)e->overloads[k].result), wanted);
}

/* How many registers the lanes of a value take in one run of the code, and
 * whether each is wide enough. */
static bool fits_registers(const tk_asm *a, const tk_type *t, int *at) {
  int bits = t->ptr ? 64 : tk_dtypes[t->elem].bits;
  int per = bits < 32 ? (32 / bits < a->pack ? 32 / bits : a->pack) : 1;
  for (int k = a->pack / per; k > 0; k--, ++*at)
    if (*at >= a->noperands || a->operands[*at].bits < bits * per) return false;
  return true;
}

static const char *rule_asm(const tk_func *f, const tk_inst *in) {
  const tk_asm *a = tk_asm_code(in);
  int at = 0;
  if (!in->nres || a->pack & (a->pack - 1))
    return "there must be a result, and pack must be a power of two";
  for (int k = 0; k < in->nargs; k++)
    if (!tk_same_shape(operand_type(f, in, k), &in->type))
      return "operands and results must have one shape";
  for (int k = 0; k < in->nres; k++)
    if (!tk_same_shape(result_type(f, in, k), &in->type))
      return "operands and results must have one shape";
  bool fits = true;
  for (int k = 0; fits && k < in->nres; k++)
    fits = fits_registers(a, result_type(f, in, k), &at);
  fits &= at == a->nout;
  for (int k = 0; fits && k < in->nargs; k++)
    fits = fits_registers(a, operand_type(f, in, k), &at);
  return unless(fits && at == a->noperands,
                "the constraints must name a register for each group of lanes");
}

/* The function takes `pack` scalars of each operand, those of the first one
 * first, and gives as many of each result. */
static const char *rule_map(const tk_func *f, const tk_inst *in) {
  const tk_func *g = tk_map_fn_callee(in);
  int64_t pack = tk_map_fn_pack(in);
  if (!in->nres || !in->nargs) return "there must be an operand and a result";
  if (pack < 1 || pack > in->n || in->n % pack)
    return "pack must divide the lanes";
  bool fits = g->nparams == in->nargs * (size_t)pack &&
              g->nresults == in->nres * (size_t)pack;
  for (size_t i = 0; fits && i < g->nparams; i++) {
    const tk_type *o = operand_type(f, in, (int)(i / (size_t)pack));
    tk_type lane = tk_elem_of(*o);
    fits = tk_same_shape(o, &in->type) &&
           tk_same_type(&g->slots[g->params[i]].type, &lane);
  }
  for (size_t i = 0; fits && i < g->nresults; i++) {
    const tk_type *r = result_type(f, in, (int)(i / (size_t)pack));
    tk_type lane = tk_elem_of(*r);
    fits =
        tk_same_shape(r, &in->type) && tk_same_type(&g->result_types[i], &lane);
  }
  return unless(fits, "operands and results must have one shape, and the "
                      "function must take and give `pack` lanes of each");
}

/* Floats of at most 32 bits, or pairs of e2m1 in bytes; scales are a byte for
 * each group along the axis, which is one of the last two. */
static const char *rule_unscale(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  int rank = t->rank, axis = tk_unscale_axis(in);
  int scales = tk_unscale_scales(in);
  int64_t packed = tk_unscale_packed_axis(in), group = tk_unscale_group(in);
  if (rank < 2 || a->rank != rank || !is_number(t, TK_FP32))
    return "the result must be fp32, of the operand's axes, at least two";
  if (axis < rank - 2 || (packed != -1 && packed < rank - 2) || packed >= rank)
    return "the axes must be among the last two";
  if (!agree_but(a, t, (int)packed) ||
      (packed >= 0 && 2 * a->shape[packed] != t->shape[packed]))
    return "the result must have the operand's shape, the packed axis twice";
  if (packed >= 0 ? !is_number(a, TK_UINT8) && !is_number(a, TK_INT8)
                  : !is_float(a) || a->elem == TK_FP64)
    return "the operand must be floats of at most 32 bits, or packed bytes";
  if (scales < 0) return unless(!group, "without scales there is no group");
  const tk_type *s = operand_type(f, in, scales);
  if (!is_number(s, TK_UINT8) && !is_number(s, TK_INT8) &&
      !is_number(s, TK_FP8E4NV))
    return "the scales must be bytes or fp8e4nv";
  if (group < 1 || t->shape[axis] % group)
    return "the group must divide the axis";
  bool fits = s->rank == rank && s->shape[rank - 1] == t->shape[axis] / group &&
              s->shape[rank - 2] == t->shape[2 * rank - 3 - axis];
  for (int i = 0; fits && i < rank - 2; i++) fits = s->shape[i] == t->shape[i];
  return unless(fits, "the scales must be one for each group");
}

/* ---- memory -------------------------------------------------------------- */

static const char *rule_addptr(const tk_func *f, const tk_inst *in) {
  if (!in->type.ptr) return "the result must be pointers";
  return unless(has_block(f, in), no_block);
}

static const char *rule_load(const tk_func *f, const tk_inst *in) {
  int other = tk_load_other(in);
  const tk_type *o = other < 0 ? NULL : operand_type(f, in, other);
  return unless(!o || (tk_same_lanes(o, &in->type) &&
                       (!o->rank || tk_same_shape(o, &in->type))),
                "`other` must be the type of the result, or one such lane");
}

/* Pointers through which something may be stored. */
static bool may_write(const tk_func *f, const tk_inst *in) {
  return !operand_type(f, in, 0)->is_const;
}
static const char read_only[] = "the pointer must not be const";

/* Booleans lie in memory as int8, whose low byte is stored as it is. */
static const char *rule_store(const tk_func *f, const tk_inst *in) {
  const tk_type *x = operand_type(f, in, tk_store_value(in)), *t = &in->type;
  bool byte = is_number(t, TK_INT1) && is_number(x, TK_INT8);
  if (!may_write(f, in)) return read_only;
  return unless((tk_same_lanes(x, t) || byte) &&
                    (!x->rank || tk_same_shape(x, t)),
                "the value must be of the stored type, or one such lane");
}

static const char *rule_atomic(const tk_func *f, const tk_inst *in) {
  if (!may_write(f, in)) return read_only;
  return unless(is_defined(in, &in->type), undefined_op);
}

static const char *rule_cas(const tk_func *f, const tk_inst *in) {
  return unless(may_write(f, in), read_only);
}

/* ---- along an axis ------------------------------------------------------- */

static const char *rule_reduce(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  tk_reduction op = tk_reduce_op(in);
  if (in->nres < 1 || in->nres > 2) return "there must be one or two results";
  if (!tk_same_lanes(a, t) || !lacks_axis(a, t, tk_inst_axis(in)))
    return "the result must match the operand without the axis";
  if (!is_defined(in, t)) return undefined_op;
  if (in->nres == 1)
    return unless(!tk_reduce_last(in), "without an index there is no last");
  const tk_type *at = result_type(f, in, 1);
  return unless((op == TK_R_MAX || op == TK_R_MIN) && is_number(at, TK_INT32) &&
                    tk_same_shape(at, t),
                "only max and min have a second result, an int32 index");
}

static const char *rule_scan(const tk_func *f, const tk_inst *in) {
  (void)f;
  if (tk_inst_axis(in) >= in->type.rank) return "the block has no such axis";
  return unless(is_defined(in, &in->type), undefined_op);
}

/* Whether g combines two of each operand, in a shape, to one of each. */
static bool combines(const tk_func *f, const tk_inst *in, const tk_func *g,
                     const tk_type *shape) {
  size_t n = in->nargs;
  if (g->nparams != 2 * n || g->nresults != n) return false;
  for (size_t i = 0; i < 2 * n; i++) {
    tk_type t = tk_elem_of(*operand_type(f, in, (int)(i % n)));
    t = tk_with_shape(t, shape);
    if (!tk_same_type(&g->slots[g->params[i]].type, &t) ||
        (i < n && !tk_same_type(&g->result_types[i], &t)))
      return false;
  }
  return true;
}

/* As many operands of one shape as results. */
static const char *combined_operands(const tk_func *f, const tk_inst *in) {
  if (!in->nargs || in->nargs != in->nres || in->nargs > TK_COMBINED)
    return "there must be as many results as operands, at most 16";
  for (int k = 0; k < in->nargs; k++)
    if (operand_type(f, in, k)->ptr ||
        !tk_same_shape(operand_type(f, in, k), &in->from) ||
        !tk_same_lanes(operand_type(f, in, k), result_type(f, in, k)) ||
        !tk_same_shape(result_type(f, in, k), &in->type))
      return "operands and results must be blocks of numbers of one shape each";
  return unless(tk_inst_axis(in) < in->from.rank, "the block has no such axis");
}

/* A function for each halving of the axis, from the widest. */
static const char *rule_reduce_fn(const tk_func *f, const tk_inst *in) {
  const tk_combine *c = tk_reduce_fn_combine(in);
  const char *flaw = combined_operands(f, in);
  if (flaw) return flaw;
  int axis = tk_inst_axis(in), level = 0;
  tk_type half = in->from;
  if (!lacks_axis(&in->from, &in->type, axis))
    return "the results must match the operands without the axis";
  for (int n = half.shape[axis]; n > 1; n /= 2, level++) {
    half.shape[axis] = n / 2;
    if (n % 2 || level >= c->nlevels ||
        !combines(f, in, c->levels[level], &half))
      return "for each halving of the axis there must be a function that takes "
             "two halves of each operand and gives one";
  }
  return unless(level == c->nlevels, "there are more functions than halvings");
}

static const char *rule_scan_fn(const tk_func *f, const tk_inst *in) {
  const tk_combine *c = tk_scan_fn_combine(in);
  const char *flaw = combined_operands(f, in);
  if (flaw) return flaw;
  if (!tk_same_shape(&in->from, &in->type))
    return "the results must have the operands' shape";
  return unless(c->nlevels == 1 && combines(f, in, c->levels[0], &in->from),
                "one function must take two of each operand and give one");
}

static const char *rule_sort(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  int axis = tk_inst_axis(in);
  (void)f;
  if (axis != t->rank - 1 || !agree_but(a, t, axis) || !tk_same_lanes(a, t) ||
      a->ptr)
    return "the result must match the operand, which holds numbers, except "
           "along the last axis";
  return unless(tk_sort_keep(in) == t->shape[axis] &&
                    t->shape[axis] <= a->shape[axis],
                "`keep` must be the number of lanes of the result, at most "
                "those of the operand");
}

static const char *rule_histogram(const tk_func *f, const tk_inst *in) {
  int mask = tk_histogram_mask(in);
  const tk_type *m = mask < 0 ? NULL : operand_type(f, in, mask);
  if (in->type.rank != 1 || !is_number(&in->type, TK_INT32))
    return "the result must be counts, int32, with one axis";
  return unless(is_integer(&in->from) && (!m || (is_number(m, TK_INT1) &&
                                                 tk_same_shape(m, &in->from))),
                "the operand must be integers, the mask int1 of their shape");
}

/* Matrices, or a batch of them: rows, columns and depth agree. */
static bool is_product(const tk_type *a, const tk_type *b, const tk_type *t) {
  int r = t->rank;
  if (r < 2 || r > 3 || a->rank != r || b->rank != r) return false;
  if (r == 3 && (a->shape[0] != t->shape[0] || b->shape[0] != t->shape[0]))
    return false;
  return a->shape[r - 2] == t->shape[r - 2] &&
         b->shape[r - 1] == t->shape[r - 1] &&
         a->shape[r - 1] == b->shape[r - 2];
}

static const char *rule_dot(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *b = operand_type(f, in, 1), *t = &in->type;
  if (!is_product(a, b, t))
    return "its shapes must be those of a product of matrices";
  bool narrow =
      is_float(a) && is_float(b) && a->elem != TK_FP64 && b->elem != TK_FP64;
  bool fits = is_number(t, TK_FP64)
                  ? is_number(a, TK_FP64) && is_number(b, TK_FP64)
              : is_number(t, TK_INT32)
                  ? is_integer(a) && is_integer(b)
                  : narrow && (is_number(t, TK_FP32) || is_number(t, TK_FP16));
  return unless(fits, "it makes fp64 of fp64, int32 of integers, fp32 or fp16 "
                      "of floats of at most 32 bits");
}

/* ---- what is said -------------------------------------------------------- */

static const char *rule_assert(const tk_func *f, const tk_inst *in) {
  (void)f;
  return unless(is_number(&in->from, TK_INT1) &&
                    tk_same_type(&in->from, &in->type),
                "the condition must be int1, and the type its type");
}

/* By opcode; NULL: the kinds of its operands say everything. */
typedef const char *(*inst_rule)(const tk_func *f, const tk_inst *in);
static const inst_rule inst_rules[TK_INST_COUNT] = {
    [TK_I_CONST] = rule_const,     [TK_I_ARANGE] = rule_arange,
    [TK_I_PID] = rule_place,       [TK_I_NPROG] = rule_place,
    [TK_I_COPY] = rule_copy,       [TK_I_BROADCAST] = rule_broadcast,
    [TK_I_PERMUTE] = rule_permute, [TK_I_CAST] = rule_cast,
    [TK_I_UNARY] = rule_unary,     [TK_I_BINARY] = rule_binary,
    [TK_I_COMPARE] = rule_compare, [TK_I_FMA] = rule_fma,
    [TK_I_EXTERN] = rule_extern,   [TK_I_ASM] = rule_asm,
    [TK_I_MAP_FN] = rule_map,      [TK_I_UNSCALE] = rule_unscale,
    [TK_I_ADDPTR] = rule_addptr,   [TK_I_LOAD] = rule_load,
    [TK_I_STORE] = rule_store,     [TK_I_ATOMIC] = rule_atomic,
    [TK_I_CAS] = rule_cas,         [TK_I_DOT] = rule_dot,
    [TK_I_REDUCE] = rule_reduce,   [TK_I_REDUCE_FN] = rule_reduce_fn,
    [TK_I_SCAN_FN] = rule_scan_fn, [TK_I_SCAN] = rule_scan,
    [TK_I_JOIN] = rule_join,       [TK_I_SPLIT] = rule_split,
    [TK_I_CAT] = rule_cat,         [TK_I_FLIP] = rule_flip,
    [TK_I_SLICE] = rule_slice,     [TK_I_GATHER] = rule_gather,
    [TK_I_SORT] = rule_sort,       [TK_I_HISTOGRAM] = rule_histogram,
    [TK_I_ASSERT] = rule_assert,   [TK_I_CLOCK] = rule_clock,
};

const char *tk_inst_type_flaw(const tk_func *f, const tk_inst *in) {
  return inst_rules[in->op] ? inst_rules[in->op](f, in) : NULL;
}
