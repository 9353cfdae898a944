/* op_libdevice.c - rule: a function of CUDA's libdevice.
 *
 * As Triton's extern_elementwise does, the overload is the one with exactly
 * the arguments' element types; nothing is promoted, and all arguments are
 * broadcast to one shape.
 */
#include "ir/libdevice.h"
#include "spec/rule.h"

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
  const tk_extern *e = tk_extern_at((size_t)a->op->mode);
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
