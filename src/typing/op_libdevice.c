/* op_libdevice.c - rule: a function of CUDA's libdevice.
 *
 * As Triton's extern_elementwise does, the overload is the one with exactly
 * the arguments' element types; nothing is promoted, and all arguments are
 * broadcast to one shape.
 */
#include "ir/libdevice.h"
#include "typing/rule.h"

#include <string.h>

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

/* What a function takes, and the arguments that it was given instead. */
typedef struct mismatch {
  const tk_extern *e;
  const sval *v;
  size_t n;
} mismatch;

static void write_mismatch(tk_buf *out, void *ud) {
  const mismatch *m = ud;
  const tk_overload *o = m->e->overloads;
  for (int k = 0; k < TK_OVERLOADS && o[k].nargs; k++) {
    tk_buf_puts(out, k ? " or " : "");
    put_types(out, &o[k]);
  }
  tk_buf_puts(out, ", not (");
  for (size_t i = 0; i < m->n; i++) {
    tk_buf_puts(out, i ? ", " : "");
    tk_type elem = tk_elem_of(m->v[i].type);
    tk_type_print(out, &elem);
  }
}

static void no_overload(tks *s, const tks_args *a, const tk_extern *e,
                        const sval *v) TK_NORETURN;
static void no_overload(tks *s, const tks_args *a, const tk_extern *e,
                        const sval *v) {
  mismatch m = {e, v, a->n};
  const char *text = tk_arena_text(s->arena, write_mismatch, &m, NULL);
  tks_error_help(s, TK_D_TYPE,
                 "convert the argument with .to(...): libdevice does not "
                 "promote arguments",
                 "%s takes %s)", a->op->name, text);
}

/* The overload for exactly these arguments, or -1. */
static int find_overload(const tk_extern *e, const sval *v) {
  for (int k = 0; k < TK_OVERLOADS && e->overloads[k].nargs; k++)
    if (takes(&e->overloads[k], v)) return k;
  return -1;
}

static sval call_libdevice(tks *s, size_t row, int overload, sval *v,
                           size_t n) {
  const tk_overload *o = &tk_extern_at(row)->overloads[overload];
  tks_broadcast_all(s, v, n);
  tk_type t = tk_with_elem(v[0].type, (tk_dtype)o->result);
  tk_inst *in = tks_emit(s, TK_I_EXTERN, overload, t, n, v);
  in->attr[0] = (int64_t)row;
  return tks_result(in);
}

sval rule_libdevice(tks *s, const tks_args *a) {
  const tk_extern *e = tk_extern_at((size_t)a->op->mode);
  sval v[TK_EXTERN_ARGS];
  for (size_t i = 0; i < a->n; i++) {
    s->frame->at = a->span[i];
    v[i] = tks_to_tensor(s, &a->v[i]);
  }
  int k = find_overload(e, v);
  if (k < 0) no_overload(s, a, e, v);
  return call_libdevice(s, (size_t)a->op->mode, k, v, a->n);
}

/* ---- functions by their symbols ---------------------------------------- */

/* Whether a symbol is one of the function's: __nv_expf and __nv_exp are
 * exp's, __nv_fabsf and __nv_llabs are abs's, __nv_umul24 is mul24's.  The
 * types of the arguments say which overload it is. */
static bool is_symbol_of(const char *symbol, const char *name) {
  static const char *const before[] = {"", "f", "ll", "u", "ull"};
  static const char *const after[] = {"", "f", "ll"};
  size_t n = strlen(name);
  if (strncmp(symbol, "__nv_", 5)) return false;
  for (size_t b = 0; b < TK_COUNT(before); b++) {
    const char *rest = symbol + 5, *p = before[b];
    if (strncmp(rest, p, strlen(p))) continue;
    rest += strlen(p);
    if (strncmp(rest, name, n)) continue;
    for (size_t i = 0; i < TK_COUNT(after); i++)
      if (!strcmp(rest + n, after[i])) return true;
  }
  return false;
}

/* The entry of {(types of the arguments): (symbol, type of the result)}. */
static const sval *find_entry(tks *s, const sval *dict, const sval *v,
                              size_t n) {
  for (size_t i = 0; i < dict->n; i += 2) {
    const sval *key = &dict->items[i], *entry = &dict->items[i + 1];
    bool same = key->kind == V_TUPLE && key->n == n && entry->kind == V_TUPLE &&
                entry->n == 2 && entry->items[0].kind == V_STR;
    for (size_t k = 0; k < n && same; k++) {
      tk_type t = tk_elem_of(v[k].type);
      same =
          key->items[k].kind == V_TYPE && tk_same_type(&key->items[k].type, &t);
    }
    if (same) return entry;
  }
  tks_error_help(s, TK_D_TYPE, "convert the argument with .to(...)",
                 "input arg type does not match: the function has no entry "
                 "for %s",
                 n ? tks_show(s, v) : "no arguments");
}

sval rule_extern(tks *s, const tks_args *a) {
  const sval *args = &a->v[2];
  sval v[TK_EXTERN_ARGS];
  if (a->v[3].kind != V_DICT || args->kind != V_TUPLE)
    tks_error_help(s, TK_D_CALL, "write it in a function with @tl.core.extern",
                   "extern_elementwise takes a list of arguments and a "
                   "dictionary of symbols");
  size_t n = args->n;
  if (n < 1 || n > TK_COUNT(v))
    tks_error(s, TK_D_CALL, "libdevice's functions take 1 to %d arguments",
              TK_EXTERN_ARGS);
  for (size_t i = 0; i < n; i++) v[i] = tks_to_tensor(s, &args->items[i]);
  const sval *entry = find_entry(s, &a->v[3], v, n);
  const char *symbol = entry->items[0].s;
  for (size_t row = 0; tk_extern_at(row); row++) {
    const tk_extern *e = tk_extern_at(row);
    if (e->overloads[0].nargs != n || !is_symbol_of(symbol, e->name)) continue;
    int k = find_overload(e, v);
    if (k >= 0) return call_libdevice(s, row, k, v, n);
  }
  tks_error_help(s, TK_D_UNSUPPORTED,
                 "tkdbg has the functions of CUDA's libdevice; write others "
                 "in the language",
                 "the external function %s is not known for %s", symbol,
                 tks_show(s, &v[0]));
}
