/* convert.c - promotion, casts, broadcasting, operators on runtime values.
 *
 * Source of the rules: Triton 3.6, language/semantic.py (computation_type,
 * to_tensor, binary_op_type_checking, cast, broadcast).  A literal keeps no
 * type of its own in + - * / // % & | ^ << >> where: it takes the other
 * operand's; everywhere else it first becomes a tensor.
 */
#include <math.h>
#include <string.h>

#include "typing/ask.h"
#include "typing/convert.h"
#include "typing/version.h"
#include "launch/host.h"

/* ---- literals ---------------------------------------------------------- */

static bool fits(tk_int i, tk_dtype d) {
  int bits = tk_dtypes[d].bits;
  if (tk_is_signed(d))
    return i >= -((tk_int)1 << (bits - 1)) && i < ((tk_int)1 << (bits - 1));
  return i >= 0 && i < ((tk_int)1 << bits);
}

static tk_dtype int_literal_type(tks *s, tk_int i) {
  static const tk_dtype order[] = {TK_INT32, TK_UINT32, TK_INT64, TK_UINT64};
  for (size_t k = 0; k < TK_COUNT(order); k++)
    if (fits(i, order[k])) return order[k];
  tks_error(s, TK_D_VALUE, "the integer does not fit into 64 bits");
}

static tk_dtype float_literal_type(double f) {
  double a = fabs(f);
  bool f32 =
      f != f || a == 0 || isinf(f) || (a >= 0x1p-126 && a <= 0x1.fffffep127);
  return f32 ? TK_FP32 : TK_FP64;
}

static tk_dtype literal_type(tks *s, const sval *v) {
  if (v->kind == V_BOOL) return TK_INT1;
  if (v->kind == V_INT) return int_literal_type(s, v->i);
  return float_literal_type(v->f);
}

tk_type tks_number_type(tks *s, const sval *v) {
  return tk_scalar(literal_type(s, v));
}

/* The compiler makes a constant of a number, which does not saturate as a
 * conversion to fp8e5 does. */
static uint64_t float_bits(tks *s, double f, tk_dtype d) {
  uint64_t bits = 0;
  if (d == TK_FP8E5 && !isfinite(f))
    return (f != f ? 0x7E : 0x7C) | (signbit(f) ? 0x80 : 0);
  bool unsigned_zero = f == 0 && !tks_has(s, TKS_SIGNED_ZERO);
  tk_lane_set_double(d, &bits, unsigned_zero ? 0.0 : f);
  return bits;
}

sval tks_number(tks *s, const sval *v, tk_dtype d) {
  uint64_t bits = 0;
  if (tk_is_float(d)) {
    bits = float_bits(s, sv_as_double(v), d);
  } else {
    int64_t i = v->kind == V_FLOAT ? (int64_t)v->f : (int64_t)v->i;
    tk_lane_set_int(d, &bits, i);
  }
  return tks_const(s, tk_scalar(d), bits);
}

/* Whether the compiler makes an 8-bit float of a number, which it does of those
 * alone that are one; fp8e4b15 is made by software. */
static bool is_8_bit_number(tk_dtype d, double f) {
  uint64_t bits = 0;
  if (d != TK_FP8E5 && d != TK_FP8E4NV) return true;
  tk_lane_set_double(d, &bits, f);
  double got = tk_lane_double(d, &bits);
  return got == f || (!isfinite(f) && d == TK_FP8E5);
}

static void check_8_bit_number(tks *s, const sval *v, tk_dtype d) {
  if (!tk_is_fp8(d)) return;
  bool any = tks_has(s, TKS_ANY_FP8_NUMBER);
  if (any && (s->ask || is_8_bit_number(d, sv_as_double(v)))) return;
  tks_error_help(s, TK_D_TYPE,
                 "make it a tl.float32 and convert that with .to(...)",
                 any ? "the compiler cannot make %s from %s: it has no such "
                       "number"
                     : "the compiler cannot make %s from %s: only from 0",
                 tk_dtype_name(d), tks_show(s, v));
}

sval tks_literal(tks *s, const sval *v, tk_dtype d) {
  bool fraction = v->kind == V_FLOAT;
  bool zero = fraction ? v->f == 0 : v->i == 0;
  if (zero) return tks_number(s, v, d);
  check_8_bit_number(s, v, d);
  if (d == TK_INT1) return tks_number(s, &(sval){.kind = V_BOOL, .i = 1}, d);
  if (tk_is_int(d) && fraction)
    tks_error_help(s, TK_D_TYPE, "write a whole number",
                   "%s is not a number of type %s", tks_show(s, v),
                   tk_dtype_name(d));
  /* A narrow type takes the low bits of a number of 64. */
  if (tk_is_int(d) && !fits(v->i, tk_is_signed(d) ? TK_INT64 : TK_UINT64))
    tks_error(s, TK_D_VALUE, "%s is out of range for type %s", tks_show(s, v),
              tk_dtype_name(d));
  return tks_number(s, v, d);
}

/* Whether v is a member of an enumeration, or an object like one. */
static bool holds_value(tks *s, const sval *v) {
  tk_value value = {0};
  if (v->kind == V_OP) return v->op->role == TKS_MEMBER;
  return v->kind == V_OBJECT &&
         tk_host_attr(s->env, s->frame->fn, v->obj, "value", &value) > 0;
}

/* A constexpr has a .value of its own: the member. */
static void no_tensor_of_member(tks *s, const sval *v) {
  tks_error_help(s, TK_D_TYPE,
                 v->is_raw ? "its number is its .value"
                           : "its number is its .value.value",
                 "cannot convert %s to a tensor", tks_said_text(s, v, NULL));
}

sval tks_to_tensor(tks *s, const sval *v) {
  if (v->kind == V_TENSOR) return *v;
  if (holds_value(s, v)) no_tensor_of_member(s, v);
  if (!sv_is_number(v))
    tks_error(s, TK_D_TYPE, "cannot convert %s to a tensor", tks_show(s, v));
  return tks_number(s, v, literal_type(s, v));
}

/* ---- promotion --------------------------------------------------------- */

tk_dtype tks_int_promote(tk_dtype a, tk_dtype b) {
  int ra = tk_dtypes[a].bits, rb = tk_dtypes[b].bits;
  if (tk_is_signed(a) == tk_is_signed(b)) return ra > rb ? a : b;
  if (!tk_is_signed(a)) return ra >= rb ? a : b;
  return rb >= ra ? b : a;
}

static int kind_rank(tk_dtype d) {
  return d == TK_INT1 ? 0 : tk_is_int(d) ? 1 : 2;
}

static bool is_half(tk_dtype d) {
  return d == TK_FP16 || d == TK_BF16;
}

static tk_dtype float_type(tks *s, tk_dtype a, tk_dtype b, bool div) {
  if (a == TK_FP64 || b == TK_FP64) return TK_FP64;
  if (div && tks_has(s, TKS_DIVISION_PROMOTES)) return TK_FP32;
  if (a == TK_FP32 || b == TK_FP32) return TK_FP32;
  if (a == TK_FP16 || b == TK_FP16) return div ? TK_FP32 : TK_FP16;
  if (a == TK_BF16 && b == TK_BF16) return div ? TK_FP32 : TK_BF16;
  if (a == TK_BF16 || b == TK_BF16) return TK_FP32;
  if (tk_is_fp8(a) && tk_is_fp8(b)) return a == b ? a : TK_FP16;
  tks_error(s, TK_D_TYPE, "unexpected type %s and %s: cast one of them",
            tk_dtype_name(a), tk_dtype_name(b));
}

static tk_dtype computation_type(tks *s, tk_dtype a, bool a_lit, tk_dtype b,
                                 bool b_lit, bool div) {
  if (a_lit != b_lit && tks_has(s, TKS_NUMBERS_YIELD)) {
    tk_dtype lit = a_lit ? a : b, other = a_lit ? b : a;
    if (kind_rank(lit) <= kind_rank(other)) a = b = other;
  }
  if (tk_is_float(a) || tk_is_float(b)) return float_type(s, a, b, div);
  if (div && tk_is_signed(a) != tk_is_signed(b))
    tks_error_help(s, TK_D_TYPE, "cast them to the same signedness",
                   "Cannot use /, // or %% with %s and %s because they have "
                   "different signedness",
                   tk_dtype_name(a), tk_dtype_name(b));
  return tks_int_promote(a, b);
}

static void incompatible(tks *s, const sval *a, const sval *b) TK_NORETURN;
static void incompatible(tks *s, const sval *a, const sval *b) {
  tks_error_help(s, TK_D_TYPE, tks_operand_help(a, b),
                 "invalid operands of type %s and %s", tks_show(s, a),
                 tks_show(s, b));
}

static void check_pointers(tks *s, const sval *a, const sval *b, tks_check c) {
  bool pa = sv_is_tensor(a) && a->type.ptr, pb = sv_is_tensor(b) && b->type.ptr;
  if ((pa && !c.ptr_a) || (pb && !c.ptr_b)) incompatible(s, a, b);
  if (pa && pb && (a->type.elem != b->type.elem || a->type.ptr != b->type.ptr))
    incompatible(s, a, b);
  const sval *other = pa ? b : a;
  tk_dtype d = sv_is_number(other) ? literal_type(s, other) : sv_dtype(other);
  if ((pa || pb) && !(pa && pb) && tk_is_float(d)) incompatible(s, a, b);
}

static void check_literal(tks *s, const sval *lit, tk_dtype d) {
  if (tk_is_float(d)) return;
  bool negative = lit->kind == V_FLOAT ? lit->f < 0 : lit->i < 0;
  if (negative && !tk_is_signed(d))
    tks_error_help(s, TK_D_VALUE, "cast one of them explicitly",
                   "an operation between the unsigned type %s and a negative "
                   "number",
                   tk_dtype_name(d));
  if (lit->kind != V_FLOAT && !fits(lit->i, d))
    tks_error(s, TK_D_VALUE, "%s is out of range for type %s", tks_show(s, lit),
              tk_dtype_name(d));
}

void tks_promote2(tks *s, sval *a, sval *b, tks_check c) {
  bool la = sv_is_number(a), lb = sv_is_number(b);
  sval ta = la ? sv(V_NONE) : *a, tb = lb ? sv(V_NONE) : *b;
  if ((!la && !sv_is_tensor(a)) || (!lb && !sv_is_tensor(b)))
    incompatible(s, a, b);
  if (la) ta.type = tk_scalar(literal_type(s, a));
  if (lb) tb.type = tk_scalar(literal_type(s, b));
  check_pointers(s, a, b, c);
  if (!c.no_arith && !ta.type.ptr && !tb.type.ptr) {
    tk_dtype d =
        computation_type(s, sv_dtype(&ta), la, sv_dtype(&tb), lb, c.div_or_mod);
    if (la) check_literal(s, a, d);
    if (lb) check_literal(s, b, d);
    *a = la ? tks_literal(s, a, d) : tks_cast_to(s, a, d);
    *b = lb ? tks_literal(s, b, d) : tks_cast_to(s, b, d);
  } else {
    *a = tks_to_tensor(s, a);
    *b = tks_to_tensor(s, b);
  }
  tks_broadcast2(s, a, b);
}

static tk_dtype dtype_beside(tks *s, const sval *v, tk_dtype so_far, bool any,
                             bool number) {
  tk_dtype d = number ? literal_type(s, v) : sv_dtype(v);
  return any ? computation_type(s, so_far, number, d, number, false) : d;
}

void tks_promote3(tks *s, sval *v) {
  tk_dtype tensors = TK_INT1, numbers = TK_INT1;
  bool any_tensor = false, any_number = false;
  for (int i = 0; i < 3; i++) {
    bool number = sv_is_number(&v[i]);
    if (!number && (!sv_is_tensor(&v[i]) || v[i].type.ptr))
      incompatible(s, &v[0], &v[i]);
    if (number)
      numbers = dtype_beside(s, &v[i], numbers, any_number, true);
    else
      tensors = dtype_beside(s, &v[i], tensors, any_tensor, false);
    any_number = any_number || number;
    any_tensor = any_tensor || !number;
  }
  tk_dtype d = !any_tensor ? numbers
               : !any_number
                   ? tensors
                   : computation_type(s, tensors, false, numbers, true, false);
  for (int i = 0; i < 3; i++) {
    if (sv_is_number(&v[i])) check_literal(s, &v[i], d);
    v[i] = sv_is_number(&v[i]) ? tks_literal(s, &v[i], d)
                               : tks_cast_to(s, &v[i], d);
  }
  tks_broadcast2(s, &v[0], &v[1]);
  tks_broadcast2(s, &v[0], &v[2]);
  tks_broadcast2(s, &v[1], &v[2]);
}

sval tks_weak(tks *s, const sval *v) {
  bool weak = sv_is_number(v) && tks_has(s, TKS_WEAK_NUMBERS);
  return weak ? *v : tks_to_tensor(s, v);
}

/* ---- casts ------------------------------------------------------------- */

static sval cast_inst(tks *s, const sval *v, tk_type elem, bool rtz) {
  tk_type t = tk_with_shape(elem, &v->type);
  return tks_emit1(s, TK_I_CAST, rtz, t, v);
}

/* Pointers to constants have an address space of their own. */
static void check_const_cast(tks *s, const sval *v, const tk_type *elem) {
  bool alike = v->type.ptr && elem->ptr && v->type.is_const == elem->is_const;
  bool has_const =
      (v->type.ptr && v->type.is_const) || (elem->ptr && elem->is_const);
  if (has_const && !alike && tks_has(s, TKS_CONST_IS_SPACE))
    tks_error_help(s, TK_D_TYPE, "a pointer to constants stays one",
                   "cannot cast %s to %s: pointers to constants have an "
                   "address space of their own",
                   tks_show(s, v), tks_type_text(s, elem));
}

static sval cast_pointer(tks *s, const sval *v, tk_type elem) {
  bool from = v->type.ptr, to = elem.ptr;
  tk_dtype d = (tk_dtype)elem.elem, sd = sv_dtype(v);
  check_const_cast(s, v, &elem);
  if (to && elem.space && tks_has(s, TKS_SPACE_BY_NAME))
    tks_error_help(s, TK_D_TYPE, "leave the address space out",
                   "kernels have pointers to the address space \"global\" "
                   "alone, not %d",
                   (uint8_t)(elem.space + 1));
  if (from && to && elem.space)
    tks_error_help(s, TK_D_TYPE, "cast it to tl.int64 first",
                   "the compiler has no conversion of pointers to address "
                   "space %d",
                   (uint8_t)(elem.space + 1));
  elem.space = 0;
  if (from && to) return cast_inst(s, v, elem, false);
  if (from && d == TK_INT1) return cast_inst(s, v, elem, false);
  if (from && tk_is_int(d) && tk_dtypes[d].bits == 64)
    return cast_inst(s, v, elem, false);
  if (to && tk_is_int(sd) && tk_dtypes[sd].bits != 64)
    tks_error_help(s, TK_D_TYPE, "cast it to tl.int64 first",
                   "cannot cast %s to %s: an address has 64 bits",
                   tks_show(s, v), tks_type_text(s, &elem));
  if (to && tk_is_int(sd)) {
    sval wide = tks_cast_to(s, v, tk_is_signed(sd) ? TK_INT64 : TK_UINT64);
    return cast_inst(s, &wide, elem, false);
  }
  tks_error_help(s, TK_D_TYPE, "pointers convert to int64, uint64 and int1",
                 "cannot cast %s to %s", tks_show(s, v),
                 tks_type_text(s, &elem));
}

/* 8-bit floats convert to floats alone; fp8e4b15 by software that knows fp16
 * and fp32 alone. */
static void check_fp8_cast(tks *s, const sval *v, tk_dtype from, tk_dtype to) {
  bool whole =
      (tk_is_fp8(from) && tk_is_int(to)) || (tk_is_int(from) && tk_is_fp8(to));
  bool custom = (to == TK_FP8E4B15 && from != TK_FP16 && from != TK_FP32) ||
                (from == TK_FP8E4B15 && to != TK_FP16 && to != TK_FP32);
  if (whole || custom)
    tks_error_help(s, TK_D_TYPE,
                   whole ? "cast to tl.float32 first; bitcast=True keeps bits"
                         : "cast to tl.float32 or tl.float16 first",
                   "cannot cast %s to %s", tks_show(s, v), tk_dtype_name(to));
}

/* What passes the front end and then fails to compile for NVIDIA's targets: an
 * 8-bit float from or to another one or fp64, and most conversions toward
 * zero.  fp8e4b15 has a conversion of its own. */
static void check_compiles(tks *s, const sval *v, tk_dtype from, tk_dtype to,
                           bool rtz) {
  bool fp8 = tk_is_fp8(from) || tk_is_fp8(to);
  bool custom = from == TK_FP8E4B15 || to == TK_FP8E4B15;
  if (custom || !tk_is_float(from) || !tk_is_float(to)) return;
  bool wide = fp8 && (from == TK_FP64 || to == TK_FP64);
  bool both = tk_is_fp8(from) && tk_is_fp8(to);
  bool direct = from == TK_FP32 && (is_half(to) || to == TK_FP8E5);
  if (wide || both)
    tks_error_help(s, TK_D_TYPE, "cast to tl.float32 first",
                   "the compiler has no conversion from %s to %s",
                   tks_show(s, v), tk_dtype_name(to));
  if (rtz && !direct)
    tks_error_help(s, TK_D_VALUE,
                   "leave out the rounding, or cast to tl.float32 first",
                   "the compiler has no conversion from %s to %s that rounds "
                   "toward zero",
                   tks_show(s, v), tk_dtype_name(to));
}

sval tks_cast(tks *s, const sval *v, tk_type elem, bool rtz) {
  if (tk_same_elem(&v->type, &elem)) return *v;
  if (v->type.ptr || elem.ptr) return cast_pointer(s, v, elem);
  tk_dtype from = sv_dtype(v), to = (tk_dtype)elem.elem;
  check_fp8_cast(s, v, from, to);
  if (!s->ask) check_compiles(s, v, from, to, rtz);
  bool via_f32 = (is_half(from) || tk_is_fp8(from)) && to != TK_FP32 && !rtz;
  if (via_f32 && tk_is_float(to) && from == to) return *v;
  if (via_f32) {
    sval wide = cast_inst(s, v, tk_scalar(TK_FP32), false);
    return cast_inst(s, &wide, elem, false);
  }
  return cast_inst(s, v, elem, rtz);
}

sval tks_cast_to(tks *s, const sval *v, tk_dtype d) {
  return tks_cast(s, v, tk_scalar(d), false);
}

sval tks_bitcast(tks *s, const sval *v, tk_type elem) {
  if (tk_same_elem(&v->type, &elem)) return *v;
  if (v->type.ptr || elem.ptr) return tks_cast(s, v, elem, false);
  if (tk_dtypes[v->type.elem].bits != tk_dtypes[elem.elem].bits)
    tks_error(s, TK_D_TYPE, "cannot bitcast %s (%d bits) to %s (%d bits)",
              tk_dtype_name(sv_dtype(v)), tk_dtypes[v->type.elem].bits,
              tk_dtype_name((tk_dtype)elem.elem), tk_dtypes[elem.elem].bits);
  return tks_emit1(s, TK_I_COPY, 0, tk_with_shape(elem, &v->type), v);
}

/* ---- shapes ------------------------------------------------------------ */

void tks_check_shape(tks *s, const int64_t *shape, int rank) {
  int64_t numel = 1;
  for (int i = 0; i < rank; i++) {
    if (shape[i] < 1 || (shape[i] & (shape[i] - 1)))
      tks_error_help(s, TK_D_SHAPE,
                     "use triton.next_power_of_2 for the block and a mask "
                     "for the lanes beyond the end",
                     "Shape element %d must be a power of 2", i);
    if (shape[i] > TK_MAX_NUMEL) numel = shape[i];
    if (numel <= TK_MAX_NUMEL) numel *= shape[i];
  }
  tks_check_lanes(s, numel);
}

sval tks_reshape(tks *s, const sval *v, const int64_t *shape, int rank) {
  tk_type t = tk_elem_of(v->type);
  t.rank = (uint8_t)rank;
  for (int i = 0; i < rank; i++) t.shape[i] = (int32_t)shape[i];
  if (tk_same_shape(&t, &v->type)) return *v;
  return tks_emit1(s, TK_I_COPY, 0, t, v);
}

static const char *shape_text(tks *s, const tk_type *t) {
  char *text = tk_arena_strdup(s->arena, "[");
  for (int i = 0; i < t->rank; i++)
    text =
        tk_arena_printf(s->arena, "%s%s%d", text, i ? ", " : "", t->shape[i]);
  return tk_arena_printf(s->arena, "%s]", text);
}

sval tks_broadcast(tks *s, const sval *v, const tk_type *shape) {
  if (tk_same_shape(&v->type, shape)) return *v;
  if (v->type.rank && v->type.rank != shape->rank)
    tks_error(s, TK_D_SHAPE, "Cannot broadcast, rank mismatch: %s and %s",
              shape_text(s, &v->type), shape_text(s, shape));
  for (int i = 0; i < v->type.rank; i++)
    if (v->type.shape[i] != shape->shape[i] && v->type.shape[i] != 1)
      tks_error(s, TK_D_SHAPE,
                "cannot broadcast %s to %s: axis %d has %d lanes, not 1 or %d",
                shape_text(s, &v->type), shape_text(s, shape), i,
                v->type.shape[i], shape->shape[i]);
  tk_type t = tk_with_shape(tk_elem_of(v->type), shape);
  return tks_emit1(s, TK_I_BROADCAST, 0, t, v);
}

/* v with 1s put before its shape until it has rank axes. */
static sval pad_rank(tks *s, const sval *v, int rank) {
  int64_t shape[TK_MAX_RANK];
  int more = rank - v->type.rank;
  for (int i = 0; i < rank; i++)
    shape[i] = i < more ? 1 : v->type.shape[i - more];
  return tks_reshape(s, v, shape, rank);
}

/* A scalar beside a block stays a scalar: lane loops repeat it. */
void tks_broadcast2(tks *s, sval *a, sval *b) {
  int ra = a->type.rank, rb = b->type.rank, rank = ra > rb ? ra : rb;
  if (!ra || !rb) return;
  if (ra < rank) *a = pad_rank(s, a, rank);
  if (rb < rank) *b = pad_rank(s, b, rank);
  tk_type t = a->type;
  for (int i = 0; i < rank; i++) {
    int x = a->type.shape[i], y = b->type.shape[i];
    if (x != y && x != 1 && y != 1)
      tks_error(s, TK_D_SHAPE,
                "shapes %s and %s do not fit: axis %d has %d and %d lanes",
                shape_text(s, &a->type), shape_text(s, &b->type), i, x, y);
    t.shape[i] = x == 1 ? y : x;
  }
  *a = tks_broadcast(s, a, &t);
  *b = tks_broadcast(s, b, &t);
}

void tks_broadcast_all(tks *s, sval *v, size_t n) {
  if (!n) return;
  sval shape = v[0];
  for (size_t i = 1; i < n; i++) {
    tks_broadcast2(s, &shape, &v[i]);
    if (!shape.type.rank) shape = v[i];
  }
  if (!shape.type.rank) return;
  for (size_t i = 0; i < n; i++) {
    tks_broadcast2(s, &shape, &v[i]);
    v[i] = tks_broadcast(s, &v[i], &shape.type);
  }
}

/* ---- operators --------------------------------------------------------- */

/* The type of an element-wise result: elem, with the operands' shape. */
static tk_type join_shape(const sval *a, const sval *b, tk_type elem) {
  return tk_with_shape(elem, a->type.rank ? &a->type : &b->type);
}

static sval binary(tks *s, tk_binary mode, const sval *a, const sval *b) {
  tk_type t = join_shape(a, b, tk_elem_of(a->type));
  return tks_emit2(s, TK_I_BINARY, (int)mode, t, a, b);
}

static sval add_pointer(tks *s, const sval *p, const sval *by, bool negate) {
  tk_dtype d = sv_dtype(by);
  sval off = negate ? tks_unary(s, TK_OP_NEG, by) : *by;
  if (d != TK_INT64 && d != TK_INT32) off = tks_cast_to(s, &off, TK_INT64);
  tk_type t = join_shape(p, &off, tk_elem_of(p->type));
  return tks_emit2(s, TK_I_ADDPTR, 0, t, p, &off);
}

static sval add_sub(tks *s, tk_operator op, const sval *x, const sval *y) {
  if (op == TK_OP_SUB && x->type.ptr && y->type.ptr && tks_is_asked(s))
    return s->ask->difference(s, x, y);
  sval a = *x, b = *y;
  tks_promote2(s, &a, &b, (tks_check){.ptr_a = true, .ptr_b = op == TK_OP_ADD});
  if (a.type.ptr && b.type.ptr)
    tks_error_help(s, TK_D_TYPE,
                   "add an offset to one of them; to add what they point to, "
                   "tl.load both",
                   "cannot add pointers together");
  if (b.type.ptr) return add_pointer(s, &b, &a, false);
  if (a.type.ptr) return add_pointer(s, &a, &b, op == TK_OP_SUB);
  return binary(s, op == TK_OP_ADD ? TK_B_ADD : TK_B_SUB, &a, &b);
}

static void no_8_bit_quotient(tks *s, tk_dtype d) TK_NORETURN;
static void no_8_bit_quotient(tks *s, tk_dtype d) {
  tks_error_help(s, TK_D_TYPE, "convert them with .to(tl.float32)",
                 "the compiler cannot divide %s before Triton 3.9",
                 tk_dtype_name(d));
}

static sval divide(tks *s, const sval *x, const sval *y) {
  sval a = *x, b = *y;
  tks_promote2(s, &a, &b, (tks_check){.div_or_mod = true});
  if (tk_is_int(sv_dtype(&a))) {
    a = tks_cast_to(s, &a, TK_FP32);
    b = tks_cast_to(s, &b, TK_FP32);
  }
  bool two = sv_is_tensor(x) && sv_is_tensor(y) && tk_is_fp8(sv_dtype(x)) &&
             tk_is_fp8(sv_dtype(y)) && !tks_has(s, TKS_DIVISION_PROMOTES);
  if (two || tk_is_fp8(sv_dtype(&a)))
    no_8_bit_quotient(s, sv_dtype(tk_is_fp8(sv_dtype(&a)) ? &a : x));
  return binary(s, TK_B_DIV, &a, &b);
}

static sval int_divide(tks *s, tk_operator op, const sval *x, const sval *y) {
  sval a = *x, b = *y;
  tks_promote2(s, &a, &b, (tks_check){.div_or_mod = true});
  bool is_float = tk_is_float(sv_dtype(&a));
  if (is_float && op == TK_OP_FLOORDIV)
    tks_error_help(s, TK_D_TYPE, "use tl.floor(a / b)",
                   "// cannot take %s: it is for integers", tks_show(s, &a));
  if (tk_is_fp8(sv_dtype(&a))) no_8_bit_quotient(s, sv_dtype(&a));
  return binary(s, op == TK_OP_MOD ? TK_B_MOD : TK_B_DIV, &a, &b);
}

static tk_binary bit_mode(tk_operator op, bool is_signed) {
  switch (op) {
  case TK_OP_BITAND: return TK_B_AND;
  case TK_OP_BITOR: return TK_B_OR;
  case TK_OP_BITXOR: return TK_B_XOR;
  case TK_OP_SHL: return TK_B_SHL;
  default: return is_signed ? TK_B_SHR : TK_B_LSHR;
  }
}

static sval bitwise(tks *s, tk_operator op, const sval *x, const sval *y) {
  /* The tensor on the left decides what >> does; beside a literal the only. */
  const sval *decides = sv_is_tensor(x) ? x : y;
  bool is_signed = tk_is_signed(sv_dtype(decides));
  sval a = *x, b = *y;
  tks_promote2(s, &a, &b, (tks_check){0});
  if (tk_is_float(sv_dtype(&a))) incompatible(s, x, y);
  return binary(s, bit_mode(op, is_signed), &a, &b);
}

static tk_compare compare_mode(tk_operator op) {
  switch (op) {
  case TK_OP_LT: return TK_C_LT;
  case TK_OP_LE: return TK_C_LE;
  case TK_OP_GT: return TK_C_GT;
  case TK_OP_GE: return TK_C_GE;
  case TK_OP_EQ: return TK_C_EQ;
  default: return TK_C_NE;
  }
}

sval tks_compare(tks *s, tk_compare op, const sval *x, const sval *y) {
  sval a = tks_weak(s, x), b = tks_weak(s, y);
  tks_promote2(s, &a, &b, (tks_check){0});
  tk_type t = join_shape(&a, &b, tk_scalar(TK_INT1));
  return tks_emit2(s, TK_I_COMPARE, (int)op, t, &a, &b);
}

static sval none_compare(tks *s, tk_operator op, const sval *a, const sval *b) {
  if (op == TK_OP_IS) return sv_bool(false);
  if (op == TK_OP_ISNOT) return sv_bool(true);
  if ((op == TK_OP_EQ || op == TK_OP_NE) &&
      (sv_is_tensor(a) || sv_is_tensor(b) || a->kind == V_TUPLE))
    tks_error_help(s, TK_D_TYPE,
                   op == TK_OP_EQ ? "write x is None" : "write x is not None",
                   "a %s cannot be compared with None",
                   a->kind == V_TUPLE ? "tuple" : "tensor");
  if (op == TK_OP_EQ || op == TK_OP_NE) return sv_bool(op == TK_OP_NE);
  incompatible(s, a, b);
}

sval tks_binary(tks *s, tk_operator op, const sval *a, const sval *b) {
  if (!sv_runtime(a) && !sv_runtime(b)) return sv_binary(s, op, a, b);
  if (sv_is_none(a) || sv_is_none(b)) return none_compare(s, op, a, b);
  if (op == TK_OP_IS || op == TK_OP_ISNOT)
    return sv_bool((a->kind == b->kind && sv_equal(a, b)) == (op == TK_OP_IS));
  if (!sv_is_tensor(a) && !sv_is_tensor(b)) return sv_binary(s, op, a, b);
  switch (op) {
  case TK_OP_ADD:
  case TK_OP_SUB: return add_sub(s, op, a, b);
  case TK_OP_MUL: {
    sval x = *a, y = *b;
    tks_promote2(s, &x, &y, (tks_check){0});
    return binary(s, TK_B_MUL, &x, &y);
  }
  case TK_OP_DIV: return divide(s, a, b);
  case TK_OP_FLOORDIV:
  case TK_OP_MOD: return int_divide(s, op, a, b);
  case TK_OP_BITAND:
  case TK_OP_BITOR:
  case TK_OP_BITXOR:
  case TK_OP_SHL:
  case TK_OP_SHR: return bitwise(s, op, a, b);
  case TK_OP_LT:
  case TK_OP_LE:
  case TK_OP_GT:
  case TK_OP_GE:
  case TK_OP_EQ:
  case TK_OP_NE: return tks_compare(s, compare_mode(op), a, b);
  case TK_OP_POW:
    tks_error_help(s, TK_D_UNSUPPORTED,
                   "multiply, or use libdevice.pow or tl.exp2(y * tl.log2(x))",
                   "tensors have no operator **");
  case TK_OP_MATMUL:
    tks_error_help(s, TK_D_UNSUPPORTED, "use tl.dot(a, b)",
                   "tensors have no operator @");
  default: incompatible(s, a, b);
  }
}

/* Triton's own tuples have it since 3.7, Python's always. */
static sval not_tuple(tks *s, const sval *a) {
  if (!a->is_one && !a->is_host && !s->frame->python)
    tks_need(s, TKS_TUPLE_NEGATED, "a tuple has no operator not",
             "compare its length: len(x) == 0");
  return sv_bool(a->n == 0);
}

sval tks_unary(tks *s, tk_operator op, const sval *a) {
  if (op == TK_OP_NOT && a->kind == V_TUPLE) return not_tuple(s, a);
  if (!sv_runtime(a)) return sv_unary(s, op, a);
  if (!sv_is_tensor(a) || (op != TK_OP_NOT && a->type.ptr))
    tks_error(s, TK_D_TYPE, "unary operator %s cannot take %s",
              tk_operator_text(op), tks_show(s, a));
  if (op == TK_OP_POS)
    tks_error_help(s, TK_D_TYPE, "leave it out",
                   "tensors have no unary operator +");
  if (op == TK_OP_NOT) return tks_not(s, a);
  if (op == TK_OP_INVERT && tk_is_float(sv_dtype(a)))
    tks_error(s, TK_D_TYPE, "unary operator ~ cannot take %s", tks_show(s, a));
  bool older = op == TK_OP_NEG && tk_is_float(sv_dtype(a)) &&
               !tks_has(s, TKS_SIGNED_NEGATION);
  if (older) {
    sval zero = sv_int(0);
    zero = tks_number(s, &zero, sv_dtype(a));
    return binary(s, TK_B_SUB, &zero, a);
  }
  int mode = op == TK_OP_NEG ? TK_U_NEG : TK_U_NOT;
  return tks_emit1(s, TK_I_UNARY, mode, a->type, a);
}

static sval as_bool(tks *s, const sval *v) {
  sval t = tks_to_tensor(s, v);
  return tks_bitcast(s, &t, tk_scalar(TK_INT1));
}

sval tks_logical(tks *s, bool is_and, const sval *x, const sval *y) {
  sval a = as_bool(s, x), b = as_bool(s, y);
  tks_broadcast2(s, &a, &b);
  return binary(s, is_and ? TK_B_AND : TK_B_OR, &a, &b);
}

sval tks_not(tks *s, const sval *x) {
  sval a = as_bool(s, x);
  return tks_emit1(s, TK_I_UNARY, TK_U_NOT, a.type, &a);
}

sval tks_insert_axis(tks *s, const sval *v, int axis) {
  int64_t shape[TK_MAX_RANK];
  int rank = v->type.rank;
  if (rank == TK_MAX_RANK)
    tks_error(s, TK_D_SHAPE, "a block has at most %d axes", TK_MAX_RANK);
  for (int i = 0; i <= rank; i++)
    shape[i] = i < axis    ? v->type.shape[i]
               : i == axis ? 1
                           : v->type.shape[i - 1];
  return tks_reshape(s, v, shape, rank + 1);
}
