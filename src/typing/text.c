/* text.c - values as text: for messages, and as Python's str() and repr(). */
#include <string.h>

#include "base/format.h"
#include "launch/host.h"
#include "typing/emit.h"
#include "typing/ops.h"

/* ---- for messages ------------------------------------------------------ */

static void write_type(tk_buf *out, void *ud) {
  tk_type_print(out, ud);
}

const char *tks_type_text(tks *s, const tk_type *t) {
  tk_type copy = *t;
  return tk_arena_text(s->arena, write_type, &copy, NULL);
}

static void write_number(tk_buf *out, void *ud) {
  const sval *v = ud;
  tk_buf_puts(out, "constexpr ");
  if (v->kind == V_FLOAT)
    tk_format_double(out, v->f);
  else if (v->kind == V_BOOL)
    tk_buf_puts(out, v->i ? "True" : "False");
  else
    tk_buf_printf(out, "%lld", (long long)v->i);
}

static const char *show_number(tks *s, const sval *v) {
  sval copy = *v;
  return tk_arena_text(s->arena, write_number, &copy, NULL);
}

const char *tks_show(tks *s, const sval *v) {
  switch (v->kind) {
  case V_NONE: return "None";
  case V_BOOL:
  case V_INT:
  case V_FLOAT: return show_number(s, v);
  case V_STR: return tk_arena_printf(s->arena, "string '%s'", v->s);
  case V_TYPE:
    return tk_arena_printf(s->arena, "type %s", tks_type_text(s, &v->type));
  case V_TYPE_OF: return "type of a constexpr";
  case V_TYPES: return "type of a tuple";
  case V_TUPLE:
    return tk_arena_printf(s->arena, "%s of %zu", v->is_list ? "list" : "tuple",
                           v->n);
  case V_TENSOR:
    return tk_arena_printf(s->arena, "%s %s", v->type.rank ? "block" : "scalar",
                           tks_type_text(s, &v->type));
  case V_FUNC:
    return tk_arena_printf(s->arena, "function %s", v->fn->item->name);
  case V_LAMBDA: return "lambda";
  case V_OP: return v->op->name;
  case V_METHOD:
    return tk_arena_printf(s->arena, "method %s",
                           v->op ? v->op->name : v->items[1].fn->item->name);
  case V_MODULE: return tk_arena_printf(s->arena, "module %s", v->s);
  case V_SLICE: return "slice";
  case V_ELLIPSIS: return "...";
  case V_FORMAT: return "f-string of runtime values";
  case V_BLOCKPTR: return "block pointer";
  case V_DESC: return "tensor descriptor";
  case V_PYTHON:
    return tk_arena_printf(s->arena, "Python function %s", v->fn->item->name);
  case V_DICT: return "dictionary";
  case V_INSTANCE:
    if (!v->object->class->base) return v->object->class->name;
    return tk_arena_printf(s->arena, "%s, which is %s behind a branch or loop",
                           v->object->class->name,
                           v->object->class->base->name);
  default: return "host object";
  }
}

const char *tks_operand_help(const sval *a, const sval *b) {
  const sval *both[] = {a, b};
  const char *help = NULL;
  for (size_t i = 0; i < TK_COUNT(both); i++) {
    const sval *v = both[i];
    if (sv_is_tensor(v) && v->type.ptr)
      return sv_is_none(both[1 - i])
                 ? "None stands for a missing number: test it by 'is None'"
                 : "only whole numbers can be added to a pointer; tl.load "
                   "reads what is there";
    if (v->kind == V_STR)
      help = "a kernel cannot compute with text; to print values write "
             "print('x is', x)";
    if (sv_is_none(v))
      help = "if None was given for a parameter, pass a tensor or a number, or "
             "test it: 'if x is None:'";
    if (v->kind == V_OBJECT)
      help =
          "a kernel computes with numbers and tensors: give a number for it, "
          "such as n.item() or int(n)";
  }
  return help;
}

/* ---- as Python writes it ----------------------------------------------- */

static void tuple_text(tks *s, tk_buf *out, const sval *v) {
  tk_buf_putc(out, v->is_list ? '[' : '(');
  for (size_t i = 0; i < v->n; i++) {
    if (i) tk_buf_puts(out, ", ");
    tks_text(s, out, &v->items[i], true);
  }
  if (v->n == 1 && !v->is_list) tk_buf_putc(out, ',');
  tk_buf_putc(out, v->is_list ? ']' : ')');
}

/* "[x:int32,y:fp32]"; the names are empty when the items have none. */
static void types_text(tks *s, tk_buf *out, const sval *v) {
  const char *name = v->s;
  tk_buf_putc(out, '[');
  for (size_t i = 0; i < v->n; i++) {
    int n = name ? (int)strcspn(name, ",") : 0;
    tk_buf_printf(out, "%s%.*s:", i ? "," : "", n, name ? name : "");
    tks_text(s, out, &v->items[i], false);
    if (name) name += n + (name[n] == ',');
  }
  tk_buf_putc(out, ']');
}

static void int_text(tk_buf *out, tk_int i) {
  char digits[48];
  int n = sizeof digits;
  bool negative = i < 0;
  do {
    int d = (int)(i % 10);
    digits[--n] = (char)('0' + (d < 0 ? -d : d));
    i /= 10;
  } while (i);
  if (negative) digits[--n] = '-';
  tk_buf_add(out, digits + n, sizeof digits - (size_t)n);
}

/* "fp32[constexpr[128]]", as Triton's tensors have it while compiling. */
static void tensor_text(tk_buf *out, tk_type t) {
  tk_type element = t;
  element.rank = 0;
  tk_type_print(out, &element);
  tk_buf_putc(out, '[');
  for (int i = 0; i < t.rank; i++)
    tk_buf_printf(out, "%sconstexpr[%d]", i ? ", " : "", (int)t.shape[i]);
  tk_buf_putc(out, ']');
}

/* What str() gives of a value of the host's. */
static void object_text(tks *s, tk_buf *out, const sval *v) {
  tk_value text = {0};
  bool known = tk_host_attr(s->env, s->frame->fn, v->obj, "__str__", &text) > 0;
  if (known && text.kind == TK_V_STR)
    tk_buf_add(out, text.str, text.n);
  else
    tk_buf_puts(out, tks_show(s, v));
}

/* "KIND.BOOLEAN" of tl.dtype.KIND.BOOLEAN. */
static const char *member_text(const char *name) {
  const char *at = strrchr(name, '.');
  while (at > name && at[-1] != '.') at--;
  return at;
}

void tks_text(tks *s, tk_buf *out, const sval *v, bool repr) {
  switch (v->kind) {
  case V_NONE: tk_buf_puts(out, "None"); break;
  case V_BOOL: tk_buf_puts(out, v->i ? "True" : "False"); break;
  case V_INT: int_text(out, v->i); break;
  case V_FLOAT: tk_format_double(out, v->f); break;
  case V_STR:
    if (repr) tk_buf_putc(out, '\'');
    tk_buf_add(out, v->s, v->n);
    if (repr) tk_buf_putc(out, '\'');
    break;
  case V_TYPE: tk_type_print(out, &v->type); break;
  case V_TENSOR: tensor_text(out, v->type); break;
  case V_TYPE_OF:
    tk_buf_puts(out, "constexpr_type[");
    tks_text(s, out, &v->items[0], false);
    tk_buf_putc(out, ']');
    break;
  case V_TYPES: types_text(s, out, v); break;
  case V_TUPLE: tuple_text(s, out, v); break;
  case V_OBJECT: object_text(s, out, v); break;
  default:
    tk_buf_puts(out, v->kind == V_OP && v->op->role == TKS_MEMBER
                         ? member_text(v->op->name)
                         : tks_show(s, v));
  }
}

typedef struct text_of {
  tks *s;
  const sval *v;
  bool repr;
} text_of;

static void write_said(tk_buf *out, void *ud) {
  text_of *t = ud;
  tks_text(t->s, out, t->v, t->repr);
}

const char *tks_known_text(tks *s, const sval *v) {
  text_of t = {s, v, true};
  return tk_arena_text(s->arena, write_said, &t, NULL);
}

const char *tks_said_text(tks *s, const sval *v, size_t *n) {
  text_of t = {s, v, false};
  return tk_arena_text(s->arena, write_said, &t, n);
}
