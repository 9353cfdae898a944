/* op_debug.c - rules: printing, asserting, stopping, hints that are checked. */
#include <string.h>

#include "base/format.h"
#include "launch/host.h"
#include "typing/rule.h"

/* ---- print ------------------------------------------------------------- */

static const char *variable(tks *s, const sval *v) {
  return v->kind == V_TENSOR ? s->frame->func->slots[v->slot].name : NULL;
}

/* Values joined by blanks; a bare variable is introduced by its name. */
static tks_pieces print_pieces(tks *s, const sval *v, size_t n, bool named) {
  tks_pieces p = {0};
  for (size_t i = 0; i < n; i++) {
    const char *name = variable(s, &v[i]);
    bool after_text = i && v[i - 1].kind == V_STR;
    if (i) tks_piece_text(s, &p, " ", 1);
    if (named && name && !after_text) {
      tks_piece_text(s, &p, name, strlen(name));
      tks_piece_text(s, &p, " = ", 3);
    }
    tks_piece_value(s, &p, &v[i], NULL, false);
  }
  return p;
}

/* An instruction whose operands are the runtime pieces of its text. */
static tk_format *format_inst(tks *s, tk_opcode op, const tks_pieces *p,
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
  tks_pieces p = print_pieces(s, v, n, true);
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
                        const tks_pieces *p) {
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
  tks_pieces p = print_pieces(s, a->v, 1, false);
  conditional(s, a, 1, TK_I_PRINT, &p);
  return sv(V_NONE);
}

sval rule_breakpoint_if(tks *s, const tks_args *a) {
  tks_pieces none = {0};
  conditional(s, a, 0, TK_I_BREAKPOINT, &none);
  return sv(V_NONE);
}

sval rule_breakpoint(tks *s, const tks_args *a) {
  (void)a;
  tks_pieces none = {0};
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
  tks_pieces p = print_pieces(s, msg, 1, false);
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

/* Triton asserts it in debug builds alone, as it does tl.device_assert. */
sval rule_expect_zero(tks *s, const tks_args *a) {
  sval x = a->v[0], mask = tks_arg_tensor(s, a, 1), none = sv(V_NONE);
  sval zero = sv_int(0),
       msg = sv_str("x is not zero where it was expected", 35);
  if (mask.type.elem != TK_INT1) mask = tks_compare(s, TK_C_NE, &mask, &zero);
  sval holds = tks_compare(s, TK_C_EQ, &x, &zero), off = tks_not(s, &mask);
  holds = tks_logical(s, false, &holds, &off);
  assert_inst(s, &holds, &none, &msg);
  return x;
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
  const char *text = tks_said_text(s, &a->v[1], NULL);
  tks_error(s, TK_D_STATIC_ASSERT, "static assertion failed%s%s",
            *text ? ": " : "", text);
}

typedef struct printing {
  tks *s;
  const tks_args *a;
} printing;

static void write_printed(tk_buf *out, void *ud) {
  tks *s = ((printing *)ud)->s;
  const tks_args *a = ((printing *)ud)->a;
  const sval *sep = &a->v[1], *end = &a->v[2];
  for (size_t i = 0; i < a->nrest; i++) {
    if (i) tks_text(s, out, sep, false);
    tks_text(s, out, &a->rest[i], false);
  }
  if (a->given[2])
    tks_text(s, out, end, false);
  else
    tk_buf_putc(out, '\n');
}

sval rule_static_print(tks *s, const tks_args *a) {
  tk_session *session = s->origin->session;
  printing p = {s, a};
  size_t n;
  const char *text = tk_arena_text(s->arena, write_printed, &p, &n);
  if (session->output && !session->trial)
    session->output(session->output_ud, text, n);
  return sv(V_NONE);
}
