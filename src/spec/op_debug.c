/* op_debug.c - rules: printing, asserting, stopping, hints that are checked;
 * and f-strings, whose values may be known only when the program runs.
 */
#include <string.h>

#include "base/format.h"
#include "launch/host.h"
#include "spec/rule.h"

/* ---- text -------------------------------------------------------------- */

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
    tk_buf_puts(out, v->kind == V_OP && v->op->rule == rule_member
                         ? member_text(v->op->name)
                         : tks_show(s, v));
  }
}

/* ---- formats ----------------------------------------------------------- */

typedef TK_VEC(tk_piece) pieces;

static void add_text(tks *s, pieces *p, const char *text, size_t n) {
  if (!n) return;
  char *copy = tk_arena_strndup(s->arena, text, n);
  TK_PUSH(s->arena, p, ((tk_piece){.text = copy, .len = n, .slot = -1}));
}

static void add_value(tks *s, pieces *p, const sval *v, const char *spec,
                      bool repr) {
  if (v->kind == V_TENSOR) {
    TK_PUSH(s->arena, p,
            ((tk_piece){
                .slot = v->slot, .type = v->type, .spec = spec, .repr = repr}));
    return;
  }
  if (v->kind == V_FORMAT) {
    for (size_t i = 0; i < v->fmt->n; i++)
      TK_PUSH(s->arena, p, v->fmt->pieces[i]);
    return;
  }
  tk_buf b;
  tk_buf_init(&b, s->env);
  bool ok = true;
  if (!spec || !*spec)
    tks_text(s, &b, v, repr);
  else if (v->kind == V_FLOAT)
    ok = tk_format_spec_double(&b, v->f, spec);
  else if (v->kind == V_STR)
    ok = tk_format_spec_str(&b, v->s, v->n, spec);
  else if (sv_is_number(v))
    ok = tk_format_spec_int(&b, (int64_t)v->i, spec);
  else
    tks_text(s, &b, v, repr);
  add_text(s, p, tk_buf_str(&b), b.n);
  tk_buf_free(&b);
  if (!ok)
    tks_error(s, TK_D_VALUE, "invalid format specifier '%s' for %s", spec,
              tks_show(s, v));
}

static const char *spec_text(tks *s, const tk_ast *spec) {
  if (!spec) return NULL;
  sval v = tks_fstring(s, spec);
  if (v.kind != V_STR)
    tks_error(s, TK_D_TYPE,
              "a format specifier must be known before the "
              "program runs");
  return v.s;
}

static sval from_pieces(tks *s, const pieces *p) {
  bool known = true;
  for (size_t i = 0; i < p->n; i++) known = known && p->items[i].text;
  if (!known) {
    tk_format *f = TK_NEW(s->arena, tk_format);
    *f = (tk_format){.pieces = p->items, .n = p->n};
    return (sval){.kind = V_FORMAT, .fmt = f};
  }
  tk_buf b;
  tk_buf_init(&b, s->env);
  for (size_t i = 0; i < p->n; i++)
    tk_buf_add(&b, p->items[i].text, p->items[i].len);
  const char *text = tk_arena_strndup(s->arena, tk_buf_str(&b), b.n);
  size_t n = b.n;
  tk_buf_free(&b);
  return sv_str(text, n);
}

static void warn_spec(tks *s, const tk_ast *part) {
  s->frame->at = part->span;
  tk_diag *d = tks_say(s, TK_D_SUSPICIOUS,
                       "the compiler ignores the format specification of a "
                       "value that it knows");
  tk_diag_help(s->env, d, "write {%.*s}",
               (int)(part->a->span.hi - part->a->span.lo),
               tks_frame_source(s->frame)->text + part->a->span.lo);
}

/* Whether the compiler knows what is between braces as a constexpr.  Tuples,
 * functions, dtypes and None are such only where they came as one, by a
 * parameter or a global, and what dtypes and functions say of themselves never
 * is. */
static bool is_known_part(tks *s, const tk_ast *part, const sval *v) {
  bool name = part->kind == TK_AST_NAME;
  const tk_binding *b = name ? tks_binding_of(s, part->str) : NULL;
  bool given = name && (!b || b->how != BOUND_PLAIN);
  const tk_ast *first = part->a;
  switch (v->kind) {
  case V_TUPLE: return v->is_one || (name && !b);
  case V_FUNC: return b && given;
  case V_TYPE: return given;
  case V_NONE: return given || !name;
  default: break;
  }
  while (part->kind == TK_AST_ATTR && first->kind == TK_AST_ATTR)
    first = first->a;
  if (part->kind == TK_AST_ATTR && first->kind == TK_AST_NAME) {
    sval of = tks_expr(s, part->a);
    if (of.kind == V_TYPE || of.kind == V_FUNC) return false;
  }
  bool member = v->kind == V_OP && v->op->rule == rule_member;
  return sv_is_number(v) || v->kind == V_STR || v->kind == V_OBJECT || member;
}

/* Where the compiler itself makes the text of a constexpr. */
static bool is_compiled(const tks *s) {
  return !s->prints && !s->where && !s->frame->python &&
         !s->frame->func->library;
}

static void check_part(tks *s, const tk_ast *part, const sval *v) {
  if (!is_compiled(s) || is_known_part(s, part, v)) return;
  s->frame->at = part->span;
  tks_error_help(s, TK_D_UNSUPPORTED,
                 sv_runtime(v)
                     ? "print(f\"...\") shows it when the program runs"
                     : "give it as a tl.constexpr, or write the text",
                 "an f-string takes constexprs, not %s", tks_show(s, v));
}

sval tks_fstring(tks *s, const tk_ast *e) {
  pieces p = {0};
  for (uint32_t i = 0; i < e->n; i++) {
    const tk_ast *part = e->list[i];
    if (part->kind == TK_AST_STR) {
      add_text(s, &p, part->str, part->len);
      continue;
    }
    if (part->kind != TK_AST_FMT) { /* a nested format spec */
      sval inner = tks_expr(s, part);
      add_value(s, &p, &inner, NULL, false);
      continue;
    }
    sval v = tks_expr(s, part->a);
    check_part(s, part->a, &v);
    bool ignored = !s->where && !s->frame->python && !sv_runtime(&v);
    if (part->b && ignored) warn_spec(s, part);
    const char *spec = ignored ? NULL : spec_text(s, part->b);
    if (part->str) add_text(s, &p, part->str, strlen(part->str));
    bool debug = part->str && !spec && !part->op;
    add_value(s, &p, &v, spec, part->op == 'r' || part->op == 'a' || debug);
  }
  return from_pieces(s, &p);
}

/* ---- print ------------------------------------------------------------- */

static const char *variable(tks *s, const sval *v) {
  return v->kind == V_TENSOR ? s->frame->func->slots[v->slot].name : NULL;
}

/* Values joined by blanks; a bare variable is introduced by its name. */
static pieces print_pieces(tks *s, const sval *v, size_t n, bool named) {
  pieces p = {0};
  for (size_t i = 0; i < n; i++) {
    const char *name = variable(s, &v[i]);
    bool after_text = i && v[i - 1].kind == V_STR;
    if (i) add_text(s, &p, " ", 1);
    if (named && name && !after_text) {
      add_text(s, &p, name, strlen(name));
      add_text(s, &p, " = ", 3);
    }
    add_value(s, &p, &v[i], NULL, false);
  }
  return p;
}

/* An instruction whose operands are the runtime pieces of its text. */
static tk_format *format_inst(tks *s, tk_opcode op, const pieces *p,
                              const sval *more, size_t nmore) {
  sval *args = TK_NEWN(s->arena, sval, p->n + nmore + 1);
  size_t n = 0;
  for (size_t i = 0; i < nmore; i++) args[n++] = more[i];
  for (size_t i = 0; i < p->n; i++)
    if (!p->items[i].text)
      args[n++] = sv_tensor(p->items[i].type, p->items[i].slot);
  tk_type t = n ? args[0].type : tk_scalar(TK_INT32);
  tk_inst *in = tks_inst_new(s, op, 0, t, n, args, 0);
  tk_format *f = TK_NEW(s->arena, tk_format);
  *f = (tk_format){.pieces = p->items, .n = p->n, .pid_slots = {-1, -1, -1}};
  in->ref.format = f;
  return f;
}

bool tks_op_prints(const tks_op *op) {
  return (op->rule == rule_print && op->mode) || op->rule == rule_print_if ||
         op->rule == rule_static_assert;
}

sval rule_print(tks *s, const tks_args *a) {
  bool python = a->op->mode, hex = tks_arg_bool(s, a, python ? 1 : 2);
  size_t n = a->nrest + !python;
  sval *v = TK_NEWN(s->arena, sval, n + 1);
  if (!python && a->v[0].kind != V_STR && a->v[0].kind != V_FORMAT)
    tks_error(s, TK_D_TYPE, "device_print's prefix must be a string, not %s",
              tks_show(s, &a->v[0]));
  if (!python) v[0] = a->v[0];
  for (size_t i = 0; i < a->nrest; i++) {
    bool shown = sv_is_tensor(&a->rest[i]) || sv_is_number(&a->rest[i]);
    if (!python && !shown) tks_to_tensor(s, &a->rest[i]);
    v[i + !python] = a->rest[i];
  }
  pieces p = print_pieces(s, v, n, true);
  tk_format *f = format_inst(s, TK_I_PRINT, &p, NULL, 0);
  f->pids = true;
  f->hex = hex;
  return sv(V_NONE);
}

/* ---- program conditions ------------------------------------------------ */

static sval pid_arg(tks *s, const sval *v) {
  sval one = v->kind == V_TUPLE && v->n == 1 ? v->items[0] : *v;
  if (sv_is_none(&one)) return one;
  one = tks_to_tensor(s, &one);
  if (one.type.rank)
    tks_error(s, TK_D_TYPE, "a program id is a scalar, not %s",
              tks_show(s, &one));
  return tks_cast_to(s, &one, TK_INT64);
}

static void conditional(tks *s, const tks_args *a, size_t conds, tk_opcode op,
                        const pieces *p) {
  sval pids[3], given[3];
  size_t n = 0;
  tk_pids c;
  const char *text = tks_arg_str(s, a, conds);
  if (!tk_pids_parse(s->env, text, strlen(text), &c)) {
    s->frame->at = a->span[conds];
    tks_error(s, TK_D_CONDITION, "'%s' is not a program condition", text);
  }
  for (size_t i = 0; i < 3; i++) {
    pids[i] = pid_arg(s, &a->v[conds + 1 + i]);
    if (!sv_is_none(&pids[i])) given[n++] = pids[i];
  }
  tk_format *f = format_inst(s, op, p, given, n);
  f->conds = c;
  f->where = tk_arena_strdup(s->arena, text);
  for (size_t i = 0; i < 3; i++)
    if (!sv_is_none(&pids[i])) f->pid_slots[i] = pids[i].slot;
}

sval rule_print_if(tks *s, const tks_args *a) {
  pieces p = print_pieces(s, a->v, 1, false);
  conditional(s, a, 1, TK_I_PRINT, &p);
  return sv(V_NONE);
}

sval rule_breakpoint_if(tks *s, const tks_args *a) {
  pieces none = {0};
  conditional(s, a, 0, TK_I_BREAKPOINT, &none);
  return sv(V_NONE);
}

sval rule_breakpoint(tks *s, const tks_args *a) {
  (void)a;
  pieces none = {0};
  format_inst(s, TK_I_BREAKPOINT, &none, NULL, 0);
  return sv(V_NONE);
}

sval rule_barrier(tks *s, const tks_args *a) {
  (void)a;
  tks_inst_new(s, TK_I_BARRIER, 0, tk_scalar(TK_INT32), 0, NULL, 0);
  return sv(V_NONE);
}

/* ---- assertions -------------------------------------------------------- */

static void assert_inst(tks *s, const sval *cond, const sval *mask,
                        const sval *msg) {
  sval c = tks_to_tensor(s, cond);
  if (c.type.ptr)
    tks_error(s, TK_D_TYPE, "an assertion takes a condition, not %s",
              tks_show(s, &c));
  c = tks_cast_to(s, &c, TK_INT1);
  if (!sv_is_none(mask)) {
    sval off = tks_not(s, mask);
    c = tks_logical(s, false, &c, &off);
  }
  pieces p = print_pieces(s, msg, 1, false);
  format_inst(s, TK_I_ASSERT, &p, &c, 1);
}

sval rule_assert(tks *s, const tks_args *a) {
  assert_inst(s, &a->v[0], &a->v[2], &a->v[1]);
  return sv(V_NONE);
}

sval rule_assume(tks *s, const tks_args *a) {
  sval msg = sv_str("the assumption does not hold", 28), none = sv(V_NONE);
  if (a->v[0].kind == V_BOOL) return sv(V_NONE);
  sval cond = tks_to_tensor(s, &a->v[0]);
  if (cond.type.ptr || cond.type.rank || cond.type.elem != TK_INT1)
    tks_error_help(s, TK_D_TYPE, "compare a scalar: tl.assume(n > 0)",
                   "tl.assume takes a scalar of int1, not %s",
                   tks_show(s, &cond));
  assert_inst(s, &cond, &none, &msg);
  tk_insts *l = s->frame->insts;
  l->items[l->n - 1]->attr[0] = true; /* assumed */
  return sv(V_NONE);
}

sval rule_static_assert(tks *s, const tks_args *a) {
  if (sv_runtime(&a->v[0]))
    tks_error(s, TK_D_TYPE, "static_assert takes a constexpr condition, not %s",
              tks_show(s, &a->v[0]));
  if (a->v[0].kind != V_BOOL)
    tks_error_help(s, TK_D_TYPE, "compare it: tl.static_assert(N > 0)",
                   "static_assert takes True or False, not %s",
                   tks_show(s, &a->v[0]));
  if (a->v[0].i) return sv(V_NONE);
  tk_buf b;
  tk_buf_init(&b, s->env);
  tks_text(s, &b, &a->v[1], false);
  const char *text = tk_arena_strdup(s->arena, tk_buf_str(&b));
  tk_buf_free(&b);
  tks_error(s, TK_D_STATIC_ASSERT, "static assertion failed%s%s",
            *text ? ": " : "", text);
}

sval rule_static_print(tks *s, const tks_args *a) {
  tk_session *session = s->origin->session;
  const sval *sep = &a->v[1], *end = &a->v[2];
  tk_buf b;
  tk_buf_init(&b, s->env);
  for (size_t i = 0; i < a->nrest; i++) {
    if (i) tks_text(s, &b, sep, false);
    tks_text(s, &b, &a->rest[i], false);
  }
  if (a->given[2])
    tks_text(s, &b, end, false);
  else
    tk_buf_putc(&b, '\n');
  if (session->output) session->output(session->output_ud, b.s, b.n);
  tk_buf_free(&b);
  return sv(V_NONE);
}
