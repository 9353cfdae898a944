/* operation.c - operations of Triton's IR as instructions (ttir.def).
 *
 * Integers of the IR have no sign; the form's are signed, and what an operation
 * reads as a natural number is converted first. */
#include <ctype.h>
#include <stdlib.h>

#include "ttir/read.h"

/* ---- making instructions --------------------------------------------------
 */

tk_type tkx_lifted(const tkx_reader *r, tk_type t) {
  return r->lift && !t.rank ? tk_with_shape(t, r->lift) : t;
}

int tkx_define(tkx_reader *r, const char *name, tk_type t, bool variable) {
  const char *shown = name;
  if (name && isdigit((unsigned char)*name))
    shown = variable ? tk_arena_printf(r->arena, "v%s", name) : NULL;
  int slot = tk_slot_new(r->p, r->f, t, shown);
  if (name) tk_lookup_add(r->arena, &r->names, name, slot);
  return slot;
}

tk_stmt *tkx_statement(tkx_reader *r, tk_stmt_kind kind) {
  if (r->into)
    tkx_fail(r, r->span, NULL,
             "control flow in the condition of a loop is not read");
  tk_stmt *st = tk_stmt_new(r->p, kind, r->span);
  TK_PUSH(r->arena, r->body, st);
  return st;
}

static tk_insts *list_of(tkx_reader *r) {
  if (r->into) return r->into;
  if (!r->stmt) r->stmt = tkx_statement(r, TK_S_RUN);
  return &r->stmt->insts;
}

tk_inst *tkx_emit_all(tkx_reader *r, tk_opcode op, int nargs, const int *args,
                      int nres, const int *res) {
  tk_insts *l = list_of(r);
  tk_inst *in = tk_inst_new(r->p, op, (size_t)nargs, (size_t)nres);
  for (int i = 0; i < nargs; i++) in->args[i] = args[i];
  for (int i = 0; i < nres; i++) in->res[i] = res[i];
  if (nargs) in->from = r->f->slots[args[0]].type;
  if (nres) in->type = r->f->slots[res[0]].type;
  in->n = tk_numel(&in->type);
  in->span = r->span;
  TK_PUSH(r->arena, l, in);
  return in;
}

tk_inst *tkx_emit(tkx_reader *r, tk_opcode op, int mode, tk_type t, int nargs,
                  const int *args) {
  int slot = tkx_define(r, NULL, t, false);
  tk_inst *in = tkx_emit_all(r, op, nargs, args, 1, &slot);
  in->mode = (uint8_t)mode;
  return in;
}

int tkx_emit1(tkx_reader *r, tk_opcode op, int mode, tk_type t, int a) {
  return tkx_emit(r, op, mode, t, 1, &a)->res[0];
}

static int emit2(tkx_reader *r, tk_opcode op, int mode, tk_type t, int a,
                 int b) {
  return tkx_emit(r, op, mode, t, 2, (int[]){a, b})->res[0];
}

int tkx_constant_slot(tkx_reader *r, tk_type t, uint64_t bits) {
  tk_inst *in = tkx_emit(r, TK_I_CONST, 0, tk_elem_of(t), 0, NULL);
  in->attr[0] = (int64_t)bits;
  return t.rank ? tkx_emit1(r, TK_I_BROADCAST, 0, t, in->res[0]) : in->res[0];
}

void tkx_assign(tkx_reader *r, int to, int from) {
  if (to != from) tkx_emit_all(r, TK_I_COPY, 1, &from, 1, &to);
}

void tkx_assign_all(tkx_reader *r, const int *to, const tkx_use *from,
                    size_t n) {
  int *kept = TK_NEWN(r->arena, int, n + 1);
  for (size_t i = 0; i < n; i++) {
    kept[i] = from[i].slot;
    bool moves = false;
    for (size_t k = 0; k < i; k++) moves |= to[k] == kept[i];
    if (moves)
      kept[i] = tkx_emit1(r, TK_I_COPY, 0, r->f->slots[kept[i]].type, kept[i]);
  }
  for (size_t i = 0; i < n; i++) tkx_assign(r, to[i], kept[i]);
}

void tkx_name_results(tkx_reader *r, const tkx_op *op, const int *slots,
                      size_t n) {
  size_t at = 0;
  for (size_t i = 0; i < op->results.n; i++) {
    const tkx_result *x = &op->results.items[i];
    for (int64_t k = 0; k < (x->n ? x->n : 1); k++) {
      if (at == n) break;
      const char *name = x->name;
      if (x->n) name = tk_arena_printf(r->arena, "%s#%lld", name, (long long)k);
      tk_lookup_add(r->arena, &r->names, name, slots[at]);
      if (x->n == 1) tk_lookup_add(r->arena, &r->names, x->name, slots[at]);
      at++;
    }
  }
  if (at != n || (!n && op->results.n))
    tkx_fail(r, op->at, NULL, "'%s' has %zu results here", op->name, n);
}

/* ---- operands, types, words -----------------------------------------------
 */

static void need_uses(tkx_reader *r, const tkx_op *op, size_t least,
                      size_t most) {
  if (op->uses.n < least || op->uses.n > most)
    tkx_fail(r, op->at, NULL, "'%s' has %zu operands, not %zu", op->name, least,
             op->uses.n);
}

static int arg(const tkx_op *op, size_t k) {
  return op->uses.items[k].slot;
}

static tk_type type_of(const tkx_reader *r, int slot) {
  return r->f->slots[slot].type;
}

/* The type of the result: behind the arrow, or the last of those before. */
static tk_type type_made(tkx_reader *r, const tkx_op *op) {
  if (!op->in.n && !op->out.n)
    tkx_fail(r, op->at, NULL, "'%s' must have a type", op->name);
  return tkx_lifted(r,
                    op->out.n ? op->out.items[0] : op->in.items[op->in.n - 1]);
}

static void name_result(tkx_reader *r, const tkx_op *op, int slot) {
  if (op->results.n != 1 || op->results.items[0].n > 1)
    tkx_fail(r, op->at, NULL, "'%s' has one result", op->name);
  const char *name = op->results.items[0].name;
  tk_slot *x = &r->f->slots[slot];
  if (!x->name && !isdigit((unsigned char)*name) &&
      slot >= (int)r->f->nparams) {
    x->name = name;
    tk_lookup_add(r->arena, &r->f->named, name, slot);
  }
  tkx_name_results(r, op, &slot, 1);
}

static void make(tkx_reader *r, const tkx_op *op, tk_opcode code, int mode,
                 size_t nargs) {
  need_uses(r, op, nargs, nargs);
  int args[4] = {0};
  for (size_t i = 0; i < nargs; i++) args[i] = arg(op, i);
  name_result(
      r, op,
      tkx_emit(r, code, mode, type_made(r, op), (int)nargs, args)->res[0]);
}

static bool has_word(const tkx_op *op, const char *name) {
  return tkx_word_of(op, name) != NULL;
}

static tk_type natural_of(tkx_reader *r, const tkx_op *op, tk_type t) {
  switch (t.elem) {
  case TK_INT1: return t;
  case TK_INT8: return tk_with_elem(t, TK_UINT8);
  case TK_INT16: return tk_with_elem(t, TK_UINT16);
  case TK_INT32: return tk_with_elem(t, TK_UINT32);
  case TK_INT64: return tk_with_elem(t, TK_UINT64);
  default: tkx_fail(r, op->at, NULL, "'%s' takes integers", op->name);
  }
}

/* The same bits as natural numbers. */
static int as_natural(tkx_reader *r, const tkx_op *op, int slot) {
  tk_type t = type_of(r, slot), to = natural_of(r, op, t);
  return tk_same_type(&t, &to) ? slot : tkx_emit1(r, TK_I_CAST, 0, to, slot);
}

/* ---- arithmetic -----------------------------------------------------------
 */

static void tkx_read_binary(tkx_reader *r, tkx_op *op, int to) {
  make(r, op, TK_I_BINARY, to, 2);
}

static void tkx_read_unary(tkx_reader *r, tkx_op *op, int to) {
  make(r, op, TK_I_UNARY, to, 1);
}

static void tkx_read_natural(tkx_reader *r, tkx_op *op, int to) {
  need_uses(r, op, 2, 2);
  tk_type t = type_made(r, op);
  int a = as_natural(r, op, arg(op, 0)), b = as_natural(r, op, arg(op, 1));
  int made = emit2(r, TK_I_BINARY, to, natural_of(r, op, t), a, b);
  name_result(r, op, tkx_emit1(r, TK_I_CAST, 0, t, made));
}

static void tkx_read_fma(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  make(r, op, TK_I_FMA, 0, 3);
}

static void tkx_read_precise(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  bool root = !strcmp(op->name, "tt.precise_sqrt");
  need_uses(r, op, root ? 1 : 2, root ? 1 : 2);
  int args[2] = {arg(op, 0), root ? 0 : arg(op, 1)};
  tk_inst *in =
      tkx_emit(r, root ? TK_I_UNARY : TK_I_BINARY, root ? TK_U_SQRT : TK_B_DIV,
               type_made(r, op), root ? 1 : 2, args);
  in->attr[0] = TK_ACC_NEAREST;
  name_result(r, op, in->res[0]);
}

/* By name; *how: a comparison of mode.h, and what to do with it. */
typedef struct predicate {
  const char *name;
  tk_compare how;
  char kind; /* 's' signed or ordered, 'u' natural, '!' its opposite holds */
} predicate;

static const predicate integers[] = {
    {"eq", TK_C_EQ, 's'},  {"ne", TK_C_NE, 's'},  {"slt", TK_C_LT, 's'},
    {"sle", TK_C_LE, 's'}, {"sgt", TK_C_GT, 's'}, {"sge", TK_C_GE, 's'},
    {"ult", TK_C_LT, 'u'}, {"ule", TK_C_LE, 'u'}, {"ugt", TK_C_GT, 'u'},
    {"uge", TK_C_GE, 'u'}, {NULL, TK_C_EQ, 0}};
static const predicate floats[] = {
    {"oeq", TK_C_EQ, 's'}, {"une", TK_C_NE, 's'}, {"olt", TK_C_LT, 's'},
    {"ole", TK_C_LE, 's'}, {"ogt", TK_C_GT, 's'}, {"oge", TK_C_GE, 's'},
    {"ult", TK_C_GE, '!'}, {"ule", TK_C_GT, '!'}, {"ugt", TK_C_LE, '!'},
    {"uge", TK_C_LT, '!'}, {NULL, TK_C_EQ, 0}};

static const predicate *predicate_of(tkx_reader *r, const tkx_op *op,
                                     const predicate *list) {
  for (const predicate *p = list; p->name; p++)
    if (has_word(op, p->name)) return p;
  tkx_fail(r, op->at, NULL, "this predicate of '%s' is not read", op->name);
}

static void compare_by(tkx_reader *r, tkx_op *op, const predicate *p) {
  need_uses(r, op, 2, 2);
  int a = arg(op, 0), b = arg(op, 1);
  if (p->kind == 'u') {
    a = as_natural(r, op, a);
    b = as_natural(r, op, b);
  }
  tk_type t = tk_with_elem(type_of(r, a), TK_INT1);
  int made = emit2(r, TK_I_COMPARE, (int)p->how, t, a, b);
  if (p->kind == '!') made = tkx_emit1(r, TK_I_UNARY, TK_U_NOT, t, made);
  name_result(r, op, made);
}

static void tkx_read_cmpi(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  compare_by(r, op, predicate_of(r, op, integers));
}

static void tkx_read_cmpf(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  compare_by(r, op, predicate_of(r, op, floats));
}

static void tkx_read_select(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  make(r, op, TK_I_SELECT, 0, 3);
}

/* ---- conversions ----------------------------------------------------------
 */

static void tkx_read_cast(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  const tkx_word *w = tkx_word_of(op, "rounding");
  bool zero = w && w->value && !strcmp(w->value, "rtz");
  if (w && !zero && (!w->value || strcmp(w->value, "rtne") != 0))
    tkx_fail(r, w->at, NULL, "this rounding is not read");
  make(r, op, TK_I_CAST, zero ? TK_ROUND_ZERO : TK_ROUND_NEAREST, 1);
}

/* Of int1, whose one bit is the sign. */
static void tkx_read_extsi(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 1, 1);
  tk_type from = type_of(r, arg(op, 0)), t = type_made(r, op);
  int made = tkx_emit1(r, TK_I_CAST, 0, t, arg(op, 0));
  if (from.elem == TK_INT1) made = tkx_emit1(r, TK_I_UNARY, TK_U_NEG, t, made);
  name_result(r, op, made);
}

static void tkx_read_extui(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 1, 1);
  int from = as_natural(r, op, arg(op, 0));
  name_result(r, op, tkx_emit1(r, TK_I_CAST, 0, type_made(r, op), from));
}

static void tkx_read_fptoui(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 1, 1);
  tk_type t = type_made(r, op);
  int made = tkx_emit1(r, TK_I_CAST, 0, natural_of(r, op, t), arg(op, 0));
  name_result(r, op, tkx_emit1(r, TK_I_CAST, 0, t, made));
}

/* To int1 it keeps the last bit. */
static void tkx_read_trunci(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 1, 1);
  int from = arg(op, 0);
  tk_type t = type_made(r, op), wide = type_of(r, from);
  if (t.elem == TK_INT1) {
    int one = tkx_constant_slot(r, wide, 1);
    from = emit2(r, TK_I_BINARY, TK_B_AND, wide, from, one);
    int zero = tkx_constant_slot(r, wide, 0);
    name_result(r, op, emit2(r, TK_I_COMPARE, TK_C_NE, t, from, zero));
    return;
  }
  name_result(r, op, tkx_emit1(r, TK_I_CAST, 0, t, from));
}

static void tkx_read_bitcast(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 1, 1);
  tk_type from = type_of(r, arg(op, 0)), t = type_made(r, op);
  make(r, op, from.ptr || t.ptr ? TK_I_CAST : TK_I_COPY, 0, 1);
}

/* ---- constants ------------------------------------------------------------
 */

/* dense<V> is V in every lane. */
static const char *constant_text(tkx_reader *r, const tkx_op *op, tk_span *at) {
  const tkx_word *w = tkx_word_of(op, "value");
  if (!w || !w->value)
    tkx_fail(r, op->at, NULL, "a constant must have a value");
  *at = w->at;
  if (strncmp(w->value, "dense<", 6) != 0) return w->value;
  size_t n = strcspn(w->value + 6, ">");
  return tk_arena_strndup(r->arena, w->value + 6, n);
}

static uint64_t constant_bits(tkx_reader *r, const tkx_op *op, tk_dtype d) {
  tk_span at;
  uint64_t bits = 0;
  const char *text = constant_text(r, op, &at);
  if (!strcmp(text, "true") || !strcmp(text, "false")) return *text == 't';
  bool hex = !strncmp(text, "0x", 2);
  char *end = NULL;
  if (hex) {
    bits = strtoull(text, &end, 16);
  } else if (tk_is_float(d)) {
    tk_lane_set_double(d, &bits, strtod(text, &end));
  } else {
    tk_lane_set_int(d, &bits, strtoll(text, &end, 10));
  }
  if (end == text || *end)
    tkx_fail(r, at, NULL, "constants of several values are not read");
  return bits;
}

static void tkx_read_constant(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  tk_type t = op->in.n    ? op->in.items[0]
              : op->out.n ? op->out.items[0]
                          : tk_scalar(TK_INT1);
  tkx_constant c = {NULL, t, constant_bits(r, op, (tk_dtype)t.elem)};
  if (t.ptr) tkx_fail(r, op->at, NULL, "constant pointers are not read");
  name_result(r, op, tkx_constant_slot(r, tkx_lifted(r, t), c.bits));
  c.name = op->results.items[0].name;
  if (!r->lift) TK_PUSH(r->arena, &r->constants, c);
}

static void tkx_read_undef(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  make(r, op, TK_I_UNDEF, 0, 0);
}

static void tkx_read_range(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  tk_type t = type_made(r, op);
  int64_t start = tkx_number_of(r, op, "start");
  tk_inst *in = tkx_emit(r, TK_I_ARANGE, 0, t, 0, NULL);
  in->attr[0] = start;
  name_result(r, op, in->res[0]);
}

static void tkx_read_program(tkx_reader *r, tkx_op *op, int to) {
  int axis = has_word(op, "y") ? 1 : has_word(op, "z") ? 2 : 0;
  if (has_word(op, "axis")) axis = (int)tkx_number_of(r, op, "axis");
  make(r, op, (tk_opcode)to, axis, 0);
}

/* ---- shapes ---------------------------------------------------------------
 */

static void tkx_read_broadcast(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  make(r, op, TK_I_BROADCAST, 0, 1);
}

static void tkx_read_copy(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  make(r, op, TK_I_COPY, 0, 1);
}

static void tkx_read_permute(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 1, 1);
  const tkx_word *w = tkx_word_of(op, "order");
  tk_inst *in =
      tkx_emit(r, TK_I_PERMUTE, 0, type_made(r, op), 1, (int[]){arg(op, 0)});
  const char *p = w && w->value ? strchr(w->value, ':') : NULL;
  if (!p) tkx_fail(r, op->at, NULL, "'%s' must have an order", op->name);
  for (int i = 0; i < in->type.rank; i++) {
    p += strcspn(p, "0123456789");
    in->attr[i] = strtoll(p, (char **)&p, 10);
  }
  name_result(r, op, in->res[0]);
}

static void tkx_read_join(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  make(r, op, TK_I_JOIN, 0, 2);
}

static void tkx_read_cat(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  make(r, op, TK_I_CAT, 0, 2);
}

static void tkx_read_split(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 1, 1);
  tk_type t = type_made(r, op);
  int from = arg(op, 0), res[2];
  for (int i = 0; i < 2; i++) res[i] = tkx_define(r, NULL, t, false);
  tkx_emit_all(r, TK_I_SPLIT, 1, &from, 2, res);
  tkx_name_results(r, op, res, 2);
}

static void tkx_read_gather(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 2, 2);
  int64_t axis = tkx_number_of(r, op, "axis");
  tk_inst *in = tkx_emit(r, TK_I_GATHER, 0, type_made(r, op), 2,
                         (int[]){arg(op, 0), arg(op, 1)});
  in->attr[0] = axis;
  name_result(r, op, in->res[0]);
}

static void tkx_read_histogram(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 1, 2);
  make(r, op, TK_I_HISTOGRAM, 0, op->uses.n);
}

static void tkx_read_dot(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  const tkx_word *w = tkx_word_of(op, "inputPrecision");
  const char *name = w && w->value ? w->value : "ieee";
  char *end;
  long n = strtol(name, &end, 10); /* of the generic form */
  static const char *const words[] = {"tf32", "tf32x3", "ieee", "bf16x3",
                                      "bf16x6"};
  if (end != name && n >= 0 && n < (long)TK_COUNT(words)) name = words[n];
  int64_t mode = tk_list_find(TK_LIST_PRECISION, name);
  if (mode < 0)
    tkx_fail(r, w->at, NULL, "the precision '%s' is not read", name);
  make(r, op, TK_I_DOT, (int)mode, 3);
}

/* ---- memory ---------------------------------------------------------------
 */

static void tkx_read_addptr(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 2, 2);
  int offset = arg(op, 1);
  tk_type t = type_of(r, offset);
  if (tk_dtypes[t.elem].bits < 32)
    offset = tkx_emit1(r, TK_I_CAST, 0, tk_with_elem(t, TK_INT32), offset);
  tk_type p = type_of(r, arg(op, 0));
  name_result(r, op, emit2(r, TK_I_ADDPTR, 0, p, arg(op, 0), offset));
}

static int64_t list_word(const tkx_op *op, tk_list list, const char *name) {
  const tkx_word *w = tkx_word_of(op, name);
  int64_t found = w && w->value ? tk_list_find(list, w->value) : -1;
  return found < 0 ? 0 : found;
}

static void tkx_read_load(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 1, 3);
  tk_type t = tk_pointee(type_of(r, arg(op, 0)));
  if (!type_of(r, arg(op, 0)).ptr)
    tkx_fail(r, op->uses.items[0].at, NULL, "this is not a pointer");
  int args[3];
  for (size_t i = 0; i < op->uses.n; i++) args[i] = arg(op, i);
  tk_inst *in = tkx_emit(r, TK_I_LOAD, 0, t, (int)op->uses.n, args);
  const tkx_word *v = tkx_word_of(op, "isVolatile");
  in->attr[0] = v && v->value && !strcmp(v->value, "true");
  in->attr[2] = list_word(op, TK_LIST_CACHE, "cacheModifier");
  in->attr[3] = list_word(op, TK_LIST_EVICTION, "evictionPolicy");
  name_result(r, op, in->res[0]);
}

static void tkx_read_store(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 2, 3);
  int args[3];
  for (size_t i = 0; i < op->uses.n; i++) args[i] = arg(op, i);
  tk_inst *in = tkx_emit_all(r, TK_I_STORE, (int)op->uses.n, args, 0, NULL);
  in->type = type_of(r, args[1]);
  in->n = tk_numel(&in->type);
  in->attr[2] = list_word(op, TK_LIST_CACHE, "cacheModifier");
  in->attr[3] = list_word(op, TK_LIST_EVICTION, "evictionPolicy");
}

/* The first word of an operation that is one of a list. */
static int64_t first_word(const tkx_op *op, tk_list list) {
  for (size_t i = 0; i < op->words.n; i++) {
    int64_t found = tk_list_find(list, op->words.items[i].name);
    if (found >= 0) return found;
  }
  return -1;
}

static void give_order(tkx_reader *r, const tkx_op *op, tk_inst *in) {
  int64_t sem = first_word(op, TK_LIST_SEM), scope = -1;
  scope = first_word(op, TK_LIST_SCOPE);
  if (sem < 0 || scope < 0)
    tkx_fail(r, op->at, NULL, "'%s' must have an order and a scope", op->name);
  in->attr[0] = sem;
  in->attr[1] = scope;
}

static void tkx_read_atomic(tkx_reader *r, tkx_op *op, int to) {
  static const struct {
    const char *name;
    tk_atomic op;
    bool natural;
  } known[] = {{"fadd", TK_A_ADD, false}, {"add", TK_A_ADD, false},
               {"max", TK_A_MAX, false},  {"min", TK_A_MIN, false},
               {"umax", TK_A_MAX, true},  {"umin", TK_A_MIN, true},
               {"and", TK_A_AND, false},  {"or", TK_A_OR, false},
               {"xor", TK_A_XOR, false},  {"exch", TK_A_XCHG, false}};
  (void)to;
  need_uses(r, op, 2, 3);
  size_t k = 0;
  while (k < TK_COUNT(known) && !has_word(op, known[k].name)) k++;
  if (k == TK_COUNT(known))
    tkx_fail(r, op->at, NULL, "this operation of '%s' is not read", op->name);
  int args[3];
  for (size_t i = 0; i < op->uses.n; i++) args[i] = arg(op, i);
  tk_type t = type_of(r, args[1]), made = t;
  if (known[k].natural) {
    tk_type p = type_of(r, args[0]);
    made = natural_of(r, op, t);
    p.elem = made.elem;
    args[0] = tkx_emit1(r, TK_I_CAST, 0, p, args[0]);
    args[1] = as_natural(r, op, args[1]);
  }
  tk_inst *in =
      tkx_emit(r, TK_I_ATOMIC, known[k].op, made, (int)op->uses.n, args);
  give_order(r, op, in);
  int slot = in->res[0];
  if (known[k].natural) slot = tkx_emit1(r, TK_I_CAST, 0, t, slot);
  name_result(r, op, slot);
}

static void tkx_read_cas(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  need_uses(r, op, 3, 3);
  tk_inst *in = tkx_emit(r, TK_I_CAS, 0, type_made(r, op), 3,
                         (int[]){arg(op, 0), arg(op, 1), arg(op, 2)});
  give_order(r, op, in);
  name_result(r, op, in->res[0]);
}

static void tkx_read_barrier(tkx_reader *r, tkx_op *op, int to) {
  (void)op;
  (void)to;
  tkx_emit_all(r, TK_I_BARRIER, 0, NULL, 0, NULL);
}

/* ---- functions ------------------------------------------------------------
 */

static void tkx_read_call(tkx_reader *r, tkx_op *op, int to) {
  (void)to;
  int found = op->callee ? tk_lookup_find(&r->funcs, op->callee) : -1;
  if (found < 0)
    tkx_fail(r, op->at, NULL, "there is no function @%s",
             op->callee ? op->callee : "");
  const tk_func *f = r->p->funcs[r->funcs.list.items[found].number];
  int *args = TK_NEWN(r->arena, int, op->uses.n + 1);
  int *res = TK_NEWN(r->arena, int, f->nresults + 1);
  if (op->uses.n != f->nparams)
    tkx_fail(r, op->at, NULL, "@%s takes %zu values", op->callee, f->nparams);
  for (size_t i = 0; i < op->uses.n; i++) args[i] = arg(op, i);
  for (size_t i = 0; i < f->nresults; i++)
    res[i] = tkx_define(r, NULL, f->result_types[i], false);
  tkx_emit_all(r, TK_I_CALL, (int)op->uses.n, args, (int)f->nresults, res)
      ->ref.callee = f;
  tkx_name_results(r, op, res, f->nresults);
}

/* ---- the table ------------------------------------------------------------
 */

typedef struct row {
  const char *name;
  void (*read)(tkx_reader *r, tkx_op *op, int to);
  int to;
} row;

static const row rows[] = {
#define OP(name, how, to) {name, tkx_read_##how, to},
#include "ttir/ttir.def"
};

static const char *const ignored[] = {
#define IGNORED(name) name,
#include "ttir/ttir.def"
};

void tkx_operation(tkx_reader *r, tkx_op *op) {
  r->stmt = NULL;
  for (size_t i = 0; i < TK_COUNT(ignored); i++)
    if (!strcmp(op->name, ignored[i])) return;
  for (size_t i = 0; i < TK_COUNT(rows); i++)
    if (!strcmp(op->name, rows[i].name)) {
      rows[i].read(r, op, rows[i].to);
      return;
    }
  tkx_fail(r, op->at, "docs/ttir.md lists the operations that are read",
           "the operation '%s' is not read", op->name);
}
