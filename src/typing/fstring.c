/* fstring.c - f-strings, whose values may be known only when the program runs.
 */
#include <string.h>

#include "typing/walk.h"

static const char *spec_text(tks *s, const tk_ast *spec) {
  if (!spec) return NULL;
  sval v = tks_fstring(s, spec);
  if (v.kind != V_STR)
    tks_error(s, TK_D_TYPE,
              "a format specifier must be known before the "
              "program runs");
  return v.s;
}

static void warn_spec(tks *s, const tk_ast *part) {
  tk_span value = tk_fmt_value(part)->span;
  s->frame->at = part->span;
  tk_diag *d = tks_say(s, TK_D_SUSPICIOUS,
                       "the compiler ignores the format specification of a "
                       "value that it knows");
  tk_diag_help(s->env, d, "write {%.*s}", (int)(value.hi - value.lo),
               tks_frame_source(s->frame)->text + value.lo);
}

/* Whether the compiler knows what is between braces as a constexpr.  Tuples,
 * functions, dtypes and None are such only where they came as one, by a
 * parameter or a global, and what dtypes and functions say of themselves never
 * is. */
static bool is_known_part(tks *s, const tk_ast *part, const sval *v) {
  bool name = part->kind == TK_AST_NAME;
  const tk_binding *b = name ? tks_binding_of(s, tk_name_text(part)) : NULL;
  bool given = name && (!b || b->how != BOUND_PLAIN);
  const tk_ast *of = part->kind == TK_AST_ATTR ? tk_attr_object(part) : NULL;
  switch (v->kind) {
  case V_TUPLE: return v->is_one || (name && !b);
  case V_FUNC: return b && given;
  case V_TYPE: return given;
  case V_NONE: return given || !name;
  default: break;
  }
  const tk_ast *first = of;
  while (first && first->kind == TK_AST_ATTR) first = tk_attr_object(first);
  if (first && first->kind == TK_AST_NAME) {
    sval object = tks_expr(s, of);
    if (object.kind == V_TYPE || object.kind == V_FUNC) return false;
  }
  bool member = v->kind == V_OP && v->op->role == TKS_MEMBER;
  return sv_is_number(v) || v->kind == V_STR || v->kind == V_OBJECT || member;
}

/* Where the compiler itself makes the text of a constexpr. */
static bool is_compiled(const tks *s) {
  return !s->prints && !s->ask && !s->frame->python && !s->frame->func->library;
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
  tks_pieces p = {0};
  for (uint32_t i = 0; i < tk_fstr_nparts(e); i++) {
    const tk_ast *part = tk_fstr_part(e, i);
    if (part->kind == TK_AST_STR) {
      tks_piece_text(s, &p, tk_str_text(part), tk_str_length(part));
      continue;
    }
    if (part->kind != TK_AST_FMT) { /* a nested format spec */
      sval inner = tks_expr(s, part);
      tks_piece_value(s, &p, &inner, NULL, false);
      continue;
    }
    sval v = tks_expr(s, tk_fmt_value(part));
    check_part(s, tk_fmt_value(part), &v);
    bool ignored = !s->ask && !s->frame->python && !sv_runtime(&v);
    if (tk_fmt_spec(part) && ignored) warn_spec(s, part);
    const char *spec = ignored ? NULL : spec_text(s, tk_fmt_spec(part));
    const char *echo = tk_fmt_echo(part);
    int how = tk_fmt_conversion(part);
    if (echo) tks_piece_text(s, &p, echo, strlen(echo));
    bool debug = echo && !spec && !how;
    tks_piece_value(s, &p, &v, spec, how == 'r' || how == 'a' || debug);
  }
  return tks_piece_join(s, &p);
}
