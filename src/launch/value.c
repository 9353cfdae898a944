/* value.c - compile-time values, copied whole. */
#include "internal.h"

const char *const tkn_value_kinds[TKN_VALUE_KINDS] = {
    "none",  "bool",     "int",     "float",  "str",    "dtype",
    "tuple", "function", "builtin", "object", "tensor", "descriptor"};

static const tk_value *copy_items(tk_arena *a, const tk_value *v) {
  if (!v->n) return NULL;
  if (v->n > SIZE_MAX / sizeof(tk_value)) tk_throw(a->env, TK_INTERNAL);
  tk_value *items = TK_NEWN(a, tk_value, v->n);
  for (size_t i = 0; i < v->n; i++) items[i] = tk_value_copy(a, &v->items[i]);
  return items;
}

tk_value tk_value_copy(tk_arena *a, const tk_value *v) {
  tk_value c = *v;
  bool text = v->kind == TK_V_STR;
  if (v->str)
    c.str =
        text ? tk_arena_strndup(a, v->str, v->n) : tk_arena_strdup(a, v->str);
  bool items = v->kind == TK_V_TUPLE || v->kind == TK_V_DESCRIPTOR ||
               v->kind == TK_V_DTYPE;
  c.items = items ? copy_items(a, v) : NULL;
  return c;
}
