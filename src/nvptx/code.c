/* code.c - the printer: instructions as LLVM spells them.
 *
 * A line is written by a format of its own: %T is a type, %R a register after
 * its type, %r a register alone, %L a label; %s and %d are those of
 * printf. */
#include "nvptx/code.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/bits.h"
#include "nvptx/code_text.h"

/* ---- types and registers ------------------------------------------------- */

static void put_type(tk_buf *b, tkv_type t) {
  if (t.lanes) tk_buf_printf(b, "<%d x ", t.lanes);
  switch ((tkv_type_kind)t.kind) {
  case TKV_VOID: tk_buf_puts(b, "void"); break;
  case TKV_INT: tk_buf_printf(b, "i%d", t.bits); break;
  case TKV_FLOAT:
    TK_ASSERT(t.bits == 16 || t.bits == 32 || t.bits == 64);
    tk_buf_puts(b, t.bits == 16 ? "half" : t.bits == 32 ? "float" : "double");
    break;
  case TKV_BFLOAT: tk_buf_puts(b, "bfloat"); break;
  case TKV_POINTER: tk_buf_puts(b, "ptr"); break;
  case TKV_SHARED: tk_buf_puts(b, "ptr addrspace(3)"); break;
  }
  if (t.lanes) tk_buf_putc(b, '>');
}

/* Whole numbers are readable as decimals; LLVM takes others as the bits of a
 * double, whatever their type. */
static void put_number(tk_buf *b, double x) {
  if (isfinite(x) && x == floor(x) && fabs(x) < 1e6)
    tk_buf_printf(b, "%.1f", x);
  else
    tk_buf_printf(b, "0x%016llX", (unsigned long long)tk_f64_bits(x));
}

static void put_reg(tk_buf *b, tkv_reg x) {
  static const char *const named[TKV_NAMED_COUNT] = {[TKV_TID] = "%tid",
                                                     [TKV_LANE] = "%lane",
                                                     [TKV_WARP] = "%warp",
                                                     [TKV_SCRATCH] = "@scratch",
                                                     [TKV_BESIDE] = "%beside"};
  switch ((tkv_reg_kind)x.kind) {
  case TKV_NONE: TK_ASSERT(false); break;
  case TKV_RESULT: tk_buf_printf(b, "%%v%u", x.id); break;
  case TKV_VARIABLE: tk_buf_printf(b, "%%m%u", x.id); break;
  case TKV_COUNTER: tk_buf_printf(b, "%%i%u", x.id); break;
  case TKV_PARAM: tk_buf_printf(b, "%%p%u", x.id); break;
  case TKV_STRING: tk_buf_printf(b, "@text%u", x.id); break;
  case TKV_NAMED: tk_buf_puts(b, named[x.id]); break;
  case TKV_INTEGER:
    if (x.type.bits == 1)
      tk_buf_puts(b, x.value.integer & 1 ? "true" : "false");
    else
      tk_buf_printf(b, "%lld", (long long)x.value.integer);
    break;
  case TKV_BITS:
    tk_buf_printf(b, "bitcast (i%d %lld to ", x.type.bits,
                  (long long)x.value.integer);
    put_type(b, x.type);
    tk_buf_putc(b, ')');
    break;
  case TKV_NUMBER: put_number(b, x.value.number); break;
  case TKV_POISON: tk_buf_puts(b, "poison"); break;
  }
}

static void put_label_name(tk_buf *b, tkv_label l) {
  tk_buf_printf(b, "%s%u", l.what, l.id);
}

/* ---- lines --------------------------------------------------------------- */

static void put_typed(tk_buf *b, tkv_reg x) {
  put_type(b, x.type);
  tk_buf_putc(b, ' ');
  put_reg(b, x);
}

void tkv_put_list(tk_buf *b, const char *fmt, va_list ap) {
  for (; *fmt; fmt++) {
    if (*fmt != '%') {
      tk_buf_putc(b, *fmt);
      continue;
    }
    switch (*++fmt) {
    case 'T': put_type(b, va_arg(ap, tkv_type)); break;
    case 'R': put_typed(b, va_arg(ap, tkv_reg)); break;
    case 'r': put_reg(b, va_arg(ap, tkv_reg)); break;
    case 'L': put_label_name(b, va_arg(ap, tkv_label)); break;
    case 's': tk_buf_puts(b, va_arg(ap, const char *)); break;
    case 'd': tk_buf_printf(b, "%d", va_arg(ap, int)); break;
    default: TK_ASSERT(*fmt == '%'); tk_buf_putc(b, '%');
    }
  }
}

void tkv_put(tk_buf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tkv_put_list(b, fmt, ap);
  va_end(ap);
}

void tkv_begin_line(tkv_code *c, tkv_reg result) {
  tk_buf_puts(&c->body, "  ");
  if (tkv_exists(result)) tkv_put(&c->body, "%r = ", result);
}

void tkv_end_line(tkv_code *c) {
  if (c->location) tk_buf_printf(&c->body, ", !dbg !%u", c->location);
  tk_buf_putc(&c->body, '\n');
}

tkv_reg tkv_new_result(tkv_code *c, tkv_type t) {
  return (tkv_reg){.type = t, .kind = TKV_RESULT, .id = c->names++};
}

/* Adds an instruction that gives a register of that type. */
static tkv_reg add_result(tkv_code *c, tkv_type t, const char *fmt, ...) {
  tkv_reg result = tkv_new_result(c, t);
  va_list ap;
  va_start(ap, fmt);
  tkv_begin_line(c, result);
  tkv_put_list(&c->body, fmt, ap);
  tkv_end_line(c);
  va_end(ap);
  return result;
}

/* Adds an instruction that gives no register, or one that has a name
 * already. */
static void add_line(tkv_code *c, tkv_reg result, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tkv_begin_line(c, result);
  tkv_put_list(&c->body, fmt, ap);
  tkv_end_line(c);
  va_end(ap);
}

/* ---- constants ----------------------------------------------------------- */

static bool fits_bits(int64_t value, int bits) {
  if (bits >= 64) return true;
  return value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << bits;
}

tkv_reg tkv_integer(tkv_type t, int64_t value) {
  TK_ASSERT(t.kind == TKV_INT && !t.lanes && fits_bits(value, t.bits));
  return (tkv_reg){.type = t, .kind = TKV_INTEGER, .value.integer = value};
}

tkv_reg tkv_number_of(tkv_type t, double value) {
  TK_ASSERT(tkv_is_float_type(t) && !t.lanes);
  return (tkv_reg){.type = t, .kind = TKV_NUMBER, .value.number = value};
}

tkv_reg tkv_float_of_bits(tkv_type t, int64_t bits) {
  TK_ASSERT(tkv_is_float_type(t) && !t.lanes && fits_bits(bits, t.bits));
  return (tkv_reg){.type = t, .kind = TKV_BITS, .value.integer = bits};
}

bool tkv_is_known_integer(tkv_reg x) {
  return x.kind == TKV_INTEGER;
}

bool tkv_is_integer(tkv_reg x, int64_t value) {
  uint64_t apart = (uint64_t)x.value.integer ^ (uint64_t)value;
  return x.kind == TKV_INTEGER && !(apart << (64 - x.type.bits));
}

tkv_reg tkv_named_reg(tkv_named which) {
  bool address = which == TKV_SCRATCH || which == TKV_BESIDE;
  return (tkv_reg){.type = address ? TKV_SHARED_PTR : TKV_I32,
                   .kind = TKV_NAMED,
                   .id = which};
}

tkv_reg tkv_param(tkv_type t, size_t i) {
  return (tkv_reg){.type = t, .kind = TKV_PARAM, .id = (uint32_t)i};
}

/* ---- the operations of code.def ------------------------------------------ */

/* Whether a row of code.def allows a type. */
typedef bool allows(tkv_type t);

static bool is_INT(tkv_type t) {
  return t.kind == TKV_INT && !t.lanes;
}

static bool is_FLOAT(tkv_type t) {
  return tkv_is_float_type(t) && !t.lanes;
}

static const struct op_row {
  const char *text;
  int operands; /* of the function; 0: an instruction with two operands */
  allows *from, *to;
} ops[TKV_OP_COUNT] = {
#define BINARY(id, kind, text) [TKV_OP_##id] = {text, 0, is_##kind, is_##kind},
#define CAST(id, from, to, text) [TKV_OP_##id] = {text, 0, is_##from, is_##to},
#define MATH1(id, kind, text) [TKV_OP_##id] = {text, 1, is_##kind, is_##kind},
#define MATH2(id, kind, text) [TKV_OP_##id] = {text, 2, is_##kind, is_##kind},
#define MATH3(id, kind, text) [TKV_OP_##id] = {text, 3, is_##kind, is_##kind},
#include "nvptx/code.def"
};

tkv_reg tkv_binary(tkv_code *c, tkv_op op, tkv_reg a, tkv_reg b) {
  TK_ASSERT(ops[op].from(a.type) && tkv_same_type(a.type, b.type));
  return add_result(c, a.type, "%s %R, %r", ops[op].text, a, b);
}

/* Whether a conversion goes the way that its operation does. */
static bool casts_well(tkv_op op, int from, int to) {
  switch ((int)op) {
  case TKV_OP_trunc:
  case TKV_OP_fptrunc: return to < from;
  case TKV_OP_zext:
  case TKV_OP_sext:
  case TKV_OP_fpext: return to > from;
  default: return true;
  }
}

tkv_reg tkv_cast(tkv_code *c, tkv_op op, tkv_reg x, tkv_type to) {
  TK_ASSERT(ops[op].from(x.type) && ops[op].to(to));
  TK_ASSERT(casts_well(op, x.type.bits, to.bits));
  return add_result(c, to, "%s %R to %T", ops[op].text, x, to);
}

/* What a type is called in the name of an intrinsic function. */
static const char *suffix_letters(tkv_type t) {
  return t.kind == TKV_INT ? "i" : t.kind == TKV_BFLOAT ? "bf" : "f";
}

tkv_reg tkv_math(tkv_code *c, tkv_op op, const tkv_reg *x, int n) {
  tkv_type t = x[0].type;
  TK_ASSERT(n == ops[op].operands && ops[op].from(t));
  tkv_reg result = tkv_new_result(c, t);
  tkv_begin_line(c, result);
  tkv_put(&c->body, "call %T @llvm.%s.%s%d(", t, ops[op].text,
          suffix_letters(t), (int)t.bits);
  for (int i = 0; i < n; i++) {
    TK_ASSERT(tkv_same_type(x[i].type, t));
    tkv_put(&c->body, i ? ", %R" : "%R", x[i]);
  }
  tk_buf_putc(&c->body, ')');
  tkv_end_line(c);
  return result;
}

tkv_reg tkv_compare(tkv_code *c, tkv_comparison how, tkv_reg a, tkv_reg b) {
  static const struct {
    const char *text, *instruction;
    allows *of;
  } rows[] = {
#define INSTRUCTION_INT "icmp"
#define INSTRUCTION_FLOAT "fcmp"
#define COMPARE(id, kind, text)                                                \
  [TKV_##id] = {text, INSTRUCTION_##kind, is_##kind},
#include "nvptx/code.def"
#undef INSTRUCTION_INT
#undef INSTRUCTION_FLOAT
  };
  TK_ASSERT(rows[how].of(a.type) && tkv_same_type(a.type, b.type));
  return add_result(c, TKV_I1, "%s %s %R, %r", rows[how].instruction,
                    rows[how].text, a, b);
}

/* ---- other operations on numbers ----------------------------------------- */

static bool is_flag(tkv_reg x) {
  return tkv_same_type(x.type, TKV_I1);
}

tkv_reg tkv_select(tkv_code *c, tkv_reg flag, tkv_reg yes, tkv_reg no) {
  TK_ASSERT(is_flag(flag) && tkv_same_type(yes.type, no.type));
  return add_result(c, yes.type, "select %R, %R, %R", flag, yes, no);
}

tkv_reg tkv_not(tkv_code *c, tkv_reg flag) {
  TK_ASSERT(is_flag(flag));
  return tkv_xor_n(c, flag, 1);
}

tkv_reg tkv_both(tkv_code *c, tkv_reg a, tkv_reg b) {
  TK_ASSERT((!tkv_exists(a) || is_flag(a)) && (!tkv_exists(b) || is_flag(b)));
  return !tkv_exists(a) ? b : !tkv_exists(b) ? a : tkv_and(c, a, b);
}

tkv_reg tkv_fneg(tkv_code *c, tkv_reg x) {
  TK_ASSERT(is_FLOAT(x.type));
  return add_result(c, x.type, "fneg %R", x);
}

tkv_reg tkv_iabs(tkv_code *c, tkv_reg x) {
  TK_ASSERT(is_INT(x.type));
  return add_result(c, x.type, "call %T @llvm.abs.%T(%R, i1 false)", x.type,
                    x.type, x);
}

tkv_reg tkv_saturate(tkv_code *c, tkv_reg x, tkv_type to, bool is_signed) {
  TK_ASSERT(is_FLOAT(x.type) && is_INT(to));
  return add_result(c, to, "call %T @llvm.fpto%s.sat.%T.%s%d(%R)", to,
                    is_signed ? "si" : "ui", to, suffix_letters(x.type),
                    (int)x.type.bits, x);
}

tkv_reg tkv_bitcast(tkv_code *c, tkv_reg x, tkv_type to) {
  TK_ASSERT(x.type.bits == to.bits && !x.type.lanes && !to.lanes);
  return add_result(c, to, "bitcast %R to %T", x, to);
}

tkv_reg tkv_move_bits(tkv_code *c, tkv_reg x, int up) {
  return up > 0 ? tkv_shl_n(c, x, up) : up < 0 ? tkv_lshr_n(c, x, -up) : x;
}

tkv_reg tkv_vector(tkv_type lane, int n) {
  TK_ASSERT(is_INT(lane) && n > 0 && n <= UINT8_MAX);
  lane.lanes = (uint8_t)n;
  return (tkv_reg){.type = lane, .kind = TKV_POISON};
}

static tkv_type lane_of_vector(tkv_type t) {
  t.lanes = 0;
  return t;
}

tkv_reg tkv_extract(tkv_code *c, tkv_reg vector, int i) {
  TK_ASSERT(i >= 0 && i < vector.type.lanes);
  return add_result(c, lane_of_vector(vector.type), "extractelement %R, i32 %d",
                    vector, i);
}

tkv_reg tkv_insert(tkv_code *c, tkv_reg vector, tkv_reg x, int i) {
  TK_ASSERT(i >= 0 && i < vector.type.lanes);
  TK_ASSERT(tkv_same_type(x.type, lane_of_vector(vector.type)));
  return add_result(c, vector.type, "insertelement %R, %R, i32 %d", vector, x,
                    i);
}

/* ---- memory -------------------------------------------------------------- */

static bool is_pointer(tkv_reg x) {
  return x.type.kind == TKV_POINTER || x.type.kind == TKV_SHARED;
}

static tkv_reg new_variable(tkv_code *c) {
  return (tkv_reg){.type = TKV_PTR, .kind = TKV_VARIABLE, .id = c->names++};
}

tkv_reg tkv_variable(tkv_code *c, tkv_type t) {
  TK_ASSERT(t.kind != TKV_VOID);
  tkv_reg at = new_variable(c);
  tkv_put(&c->entry, "  %r = alloca %T\n", at, t);
  return at;
}

/* The type of a record of these. */
static void put_record_type(tk_buf *b, const tkv_reg *x, int n) {
  for (int i = 0; i < n; i++) tkv_put(b, i ? ", %T" : "{%T", x[i].type);
  tk_buf_putc(b, '}');
}

tkv_reg tkv_record(tkv_code *c, const tkv_reg *x, int n) {
  TK_ASSERT(n > 0);
  tkv_reg all = new_variable(c);
  tkv_put(&c->entry, "  %r = alloca ", all);
  put_record_type(&c->entry, x, n);
  tk_buf_putc(&c->entry, '\n');
  for (int i = 0; i < n; i++) {
    tkv_reg at = tkv_new_result(c, TKV_PTR);
    tkv_begin_line(c, at);
    tk_buf_puts(&c->body, "getelementptr ");
    put_record_type(&c->body, x, n);
    tkv_put(&c->body, ", %R, i32 0, i32 %d", all, i);
    tkv_end_line(c);
    tkv_store(c, x[i], at);
  }
  return all;
}

/* A vector is accessed as a whole, so its address is a multiple of its size. */
static void put_alignment(tkv_code *c, tkv_type t) {
  if (t.lanes) tkv_put(&c->body, ", align %d", t.lanes * t.bits / 8);
}

tkv_reg tkv_load(tkv_code *c, tkv_type t, tkv_reg at) {
  TK_ASSERT(is_pointer(at) && t.kind != TKV_VOID);
  tkv_reg x = tkv_new_result(c, t);
  tkv_begin_line(c, x);
  tkv_put(&c->body, "load %T, %R", t, at);
  put_alignment(c, t);
  tkv_end_line(c);
  return x;
}

void tkv_store(tkv_code *c, tkv_reg x, tkv_reg at) {
  TK_ASSERT(is_pointer(at) && tkv_exists(x));
  tkv_begin_line(c, TKV_NO_REG);
  tkv_put(&c->body, "store %R, %R", x, at);
  put_alignment(c, x.type);
  tkv_end_line(c);
}

void tkv_atomic_add(tkv_code *c, tkv_reg at, tkv_reg x) {
  TK_ASSERT(is_pointer(at) && is_INT(x.type));
  add_result(c, x.type, "atomicrmw add %R, %R monotonic", at, x);
}

tkv_reg tkv_element(tkv_code *c, tkv_type t, tkv_reg from, tkv_reg i) {
  TK_ASSERT(is_pointer(from) && tkv_same_type(i.type, TKV_I32));
  return add_result(c, from.type, "getelementptr %T, %R, %R", t, from, i);
}

tkv_reg tkv_address(tkv_code *c, tkv_reg at) {
  TK_ASSERT(at.type.kind == TKV_SHARED);
  return add_result(c, TKV_I32, "ptrtoint %R to i32", at);
}

/* ---- control flow -------------------------------------------------------- */

tkv_label tkv_new_label(tkv_code *c, const char *what) {
  return (tkv_label){what, c->names++};
}

void tkv_put_label(tkv_code *c, tkv_label l) {
  tkv_put(&c->body, "%L:\n", l);
}

void tkv_go_to(tkv_code *c, tkv_label l) {
  add_line(c, TKV_NO_REG, "br label %%%L", l);
}

void tkv_branch(tkv_code *c, tkv_reg flag, tkv_label yes, tkv_label no) {
  TK_ASSERT(is_flag(flag));
  add_line(c, TKV_NO_REG, "br %R, label %%%L, label %%%L", flag, yes, no);
}

tkv_reg tkv_new_counter(tkv_code *c, tkv_type t) {
  return (tkv_reg){.type = t, .kind = TKV_COUNTER, .id = c->names++};
}

void tkv_phi(tkv_code *c, tkv_reg to, const tkv_reg x[2],
             const tkv_label from[2]) {
  TK_ASSERT(to.kind == TKV_COUNTER && tkv_same_type(to.type, x[0].type) &&
            tkv_same_type(to.type, x[1].type));
  add_line(c, to, "phi %T [ %r, %%%L ], [ %r, %%%L ]", to.type, x[0], from[0],
           x[1], from[1]);
}

void tkv_add_to(tkv_code *c, tkv_reg to, tkv_reg a, tkv_reg b) {
  TK_ASSERT(to.kind == TKV_COUNTER && is_INT(to.type) &&
            tkv_same_type(to.type, a.type) && tkv_same_type(a.type, b.type));
  add_line(c, to, "add %R, %r", a, b);
}
