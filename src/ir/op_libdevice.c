/* op_libdevice.c - rule: a function of CUDA's libdevice.
 *
 * As Triton's extern_elementwise does, the overload is the one with exactly
 * the arguments' element types; nothing is promoted, and all arguments are
 * broadcast to one shape.
 */
#include "ir/libdevice.h"
#include "ir/rule.h"

enum {
  TYPE_b = TK_INT1,
  TYPE_i = TK_INT32,
  TYPE_u = TK_UINT32,
  TYPE_l = TK_INT64,
  TYPE_q = TK_UINT64,
  TYPE_f = TK_FP32,
  TYPE_F = TK_FP32,
  TYPE_d = TK_FP64,
};

static const tk_extern table[] = {
#define EXACT 0, 0, 0
#define ROUNDED 0.5, 0.5, 0
#define WITHIN(f32, f64) f32, f64, 0
#define WITHIN32(bound) bound, 0, 0
#define WITHIN64(bound) 0, bound, 0
#define NEAR(f32, f64) f32, f64, 1
#define LIBDEVICE(id, params, accuracy, doc, overloads)                        \
  {#id, accuracy, {overloads}},
#define LANE1(name, R, A, value) {1, TYPE_##R, {TYPE_##A}},
#define LANE2(name, R, A, B, value) {2, TYPE_##R, {TYPE_##A, TYPE_##B}},
#define LANE3(name, R, A, B, C, value)                                         \
  {3, TYPE_##R, {TYPE_##A, TYPE_##B, TYPE_##C}},
#define LANE4(name, R, A, B, C, D, value)                                      \
  {4, TYPE_##R, {TYPE_##A, TYPE_##B, TYPE_##C, TYPE_##D}},
#define ROUND1(name, mode, R, A, value) LANE1(name, R, A, value)
#define ROUND2(name, mode, R, A, B, value) LANE2(name, R, A, B, value)
#define ROUND3(name, mode, R, A, B, C, value) LANE3(name, R, A, B, C, value)
#include "ir/libdevice.def"
};

const tk_extern *tk_extern_at(size_t row) {
  return row < TK_COUNT(table) ? &table[row] : NULL;
}

static bool takes(const tk_overload *o, const sval *v) {
  for (int i = 0; i < o->nargs; i++)
    if (v[i].type.ptr || v[i].type.elem != o->args[i]) return false;
  return true;
}

static void put_types(tk_buf *b, const tk_overload *o) {
  for (int i = 0; i < o->nargs; i++)
    tk_buf_printf(b, "%s%s", i ? ", " : "(",
                  tk_dtype_name((tk_dtype)o->args[i]));
  tk_buf_putc(b, ')');
}

static void no_overload(tks *s, const tks_args *a, const tk_extern *e,
                        const sval *v) TK_NORETURN;
static void no_overload(tks *s, const tks_args *a, const tk_extern *e,
                        const sval *v) {
  tk_buf b;
  tk_buf_init(&b, s->env);
  for (int k = 0; k < TK_OVERLOADS && e->overloads[k].nargs; k++) {
    tk_buf_puts(&b, k ? " or " : "");
    put_types(&b, &e->overloads[k]);
  }
  tk_buf_puts(&b, ", not (");
  for (size_t i = 0; i < a->n; i++) {
    tk_buf_puts(&b, i ? ", " : "");
    tk_type elem = tk_elem_of(v[i].type);
    tk_type_print(&b, &elem);
  }
  const char *text = tk_arena_strdup(s->arena, tk_buf_str(&b));
  tk_buf_free(&b);
  tks_error_help(s, TK_D_TYPE,
                 "convert the argument with .to(...): libdevice promotes "
                 "nothing",
                 "%s takes %s)", a->op->name, text);
}

sval rule_libdevice(tks *s, const tks_args *a) {
  const tk_extern *e = &table[a->op->mode];
  sval v[TK_EXTERN_ARGS];
  int k = 0;
  for (size_t i = 0; i < a->n; i++) {
    s->frame->at = a->span[i];
    v[i] = tks_to_tensor(s, &a->v[i]);
  }
  while (k < TK_OVERLOADS && e->overloads[k].nargs &&
         !takes(&e->overloads[k], v))
    k++;
  if (k == TK_OVERLOADS || !e->overloads[k].nargs) no_overload(s, a, e, v);
  tks_broadcast_all(s, v, a->n);
  tk_type t = tk_with_elem(v[0].type, (tk_dtype)e->overloads[k].result);
  tk_inst *in = tks_emit(s, TK_I_EXTERN, k, t, a->n, v);
  in->attr[0] = a->op->mode;
  return tks_result(in);
}
