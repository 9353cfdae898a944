/* call.c - the printer: inline assembly, and calls of functions. */
#include "nvptx/call.h"

#include <string.h>

#include "nvptx/code_text.h"

/* ---- inline assembly ----------------------------------------------------- */

/* The kind of a PTX register, as a constraint names it. */
static char constraint_of(tkv_type t) {
  TK_ASSERT(!t.lanes && (t.kind == TKV_INT || t.kind == TKV_FLOAT));
  switch (t.bits) {
  case 1: return 'b';
  case 16: return 'h';
  case 32: return t.kind == TKV_INT ? 'r' : 'f';
  case 64: return t.kind == TKV_INT ? 'l' : 'd';
  }
  TK_ASSERT(false);
  return 'r';
}

static void put_constraints(tk_buf *b, const tkv_asm *a) {
  const char *comma = "";
  for (int i = 0; i < a->nout; i++, comma = ",")
    tk_buf_printf(b, "%s=%s%c", comma, a->flags & TKV_EARLY ? "&" : "",
                  constraint_of(a->out[i]));
  for (int i = 0; i < a->nin; i++, comma = ",") {
    int tied_to = i - (a->nin - a->tied);
    if (tied_to < 0)
      tk_buf_printf(b, "%s%c", comma, constraint_of(a->in[i].type));
    else
      tk_buf_printf(b, "%s%d", comma, tied_to);
  }
  if (a->flags & TKV_MEMORY) tk_buf_printf(b, "%s~{memory}", comma);
}

static void put_result_type(tk_buf *b, const tkv_type *t, int n) {
  if (n < 2) {
    tkv_put(b, "%T", n ? t[0] : TKV_NOTHING);
    return;
  }
  for (int i = 0; i < n; i++) tkv_put(b, i ? ", %T" : "{%T", t[i]);
  tk_buf_putc(b, '}');
}

static void put_args(tk_buf *b, const tkv_reg *args, int n) {
  tk_buf_putc(b, '(');
  for (int i = 0; i < n; i++) tkv_put(b, i ? ", %R" : "%R", args[i]);
  tk_buf_putc(b, ')');
}

/* What begins in the registers of results has their types. */
static bool ties_well(const tkv_asm *a) {
  bool well = a->tied <= a->nout && a->tied <= a->nin;
  for (int i = 0; well && i < a->tied; i++)
    well = tkv_same_type(a->out[i], a->in[a->nin - a->tied + i].type);
  return well;
}

tkv_results tkv_assemble_text(tkv_code *c, const tkv_asm *a) {
  TK_ASSERT(ties_well(a));
  tk_buf *b = &c->body;
  tkv_results r = {.type = a->out, .n = a->nout};
  if (a->nout)
    r.all = tkv_new_result(c, a->nout == 1 ? a->out[0] : TKV_NOTHING);
  tkv_begin_line(c, r.all);
  tk_buf_puts(b, "call ");
  size_t before = b->n;
  put_result_type(b, a->out, a->nout);
  if (a->nout > 1)
    r.together = tk_arena_strndup(c->arena, b->s + before, b->n - before);
  bool effect = a->constraints || (a->flags & (TKV_EFFECT | TKV_MEMORY));
  tk_buf_puts(b, effect ? " asm sideeffect \"" : " asm \"");
  tkv_put_escaped(b, a->text);
  tk_buf_puts(b, "\", \"");
  if (a->constraints)
    tk_buf_puts(b, a->constraints);
  else
    put_constraints(b, a);
  tk_buf_putc(b, '"');
  put_args(b, a->in, a->nin);
  if (a->flags & TKV_CONVERGENT) tk_buf_puts(b, " convergent");
  tkv_end_line(c);
  return r;
}

tkv_reg tkv_result(tkv_code *c, const tkv_results *r, int i) {
  TK_ASSERT(i >= 0 && i < r->n);
  if (r->n == 1) return r->all;
  tkv_reg x = tkv_new_result(c, r->type[i]);
  tkv_begin_line(c, x);
  tk_buf_puts(&c->body, "extractvalue ");
  tk_buf_puts(&c->body, r->together);
  tkv_put(&c->body, " %r, %d", r->all, i);
  tkv_end_line(c);
  return x;
}

tkv_reg tkv_asm_of(tkv_code *c, const char *text, tkv_type out, tkv_reg in) {
  tkv_asm a = {.text = text, .out = &out, .nout = 1, .in = &in, .nin = 1};
  return tkv_assemble_text(c, &a).all;
}

void tkv_do_asm(tkv_code *c, const char *text) {
  tkv_assemble_text(c, &(tkv_asm){.text = text, .flags = TKV_MEMORY});
}

/* ---- functions ----------------------------------------------------------- */

/* Calls a function that the module has, or that LLVM knows. */
static tkv_reg call_function(tkv_code *c, const char *name, tkv_type result,
                             const tkv_reg *args, int n) {
  bool gives = result.kind != TKV_VOID;
  tkv_reg x = gives ? tkv_new_result(c, result) : TKV_NO_REG;
  tkv_begin_line(c, x);
  tkv_put(&c->body, "call %T @%s", result, name);
  put_args(&c->body, args, n);
  tkv_end_line(c);
  return x;
}

/* Says once that a function is defined elsewhere. */
static void declare(tkv_code *c, const char *name, tkv_type result,
                    const tkv_reg *args, int n) {
  tk_buf *line = &c->declaration;
  tk_buf_clear(line);
  tkv_put(line, "declare %T @%s(", result, name);
  for (int i = 0; i < n; i++) tkv_put(line, i ? ", %T" : "%T", args[i].type);
  tk_buf_puts(line, ")\n");
  if (!strstr(tk_buf_str(&c->declared), tk_buf_str(line)))
    tk_buf_puts(&c->declared, tk_buf_str(line));
}

tkv_reg tkv_call(tkv_code *c, const char *name, tkv_type result,
                 const tkv_reg *args, int n) {
  declare(c, name, result, args, n);
  return call_function(c, name, result, args, n);
}

tkv_reg tkv_call_math(tkv_code *c, const char *name, tkv_reg x) {
  TK_ASSERT(x.type.kind == TKV_FLOAT && x.type.bits >= 32);
  const char *symbol = tk_arena_printf(c->arena, "__nv_%s%s", name,
                                       x.type.bits == 32 ? "f" : "");
  return tkv_call(c, symbol, x.type, &x, 1);
}

tkv_reg tkv_from_fp8(tkv_code *c, const char *name, tkv_reg x) {
  TK_ASSERT(tkv_same_type(x.type, TKV_I8));
  return call_function(c, tk_arena_printf(c->arena, "from.%s", name), TKV_F32,
                       &x, 1);
}

tkv_reg tkv_to_fp8(tkv_code *c, const char *name, tkv_reg x) {
  TK_ASSERT(tkv_same_type(x.type, TKV_F32));
  return call_function(c, tk_arena_printf(c->arena, "to.%s", name), TKV_I8, &x,
                       1);
}

/* ---- instructions of PTX ------------------------------------------------- */

tkv_reg tkv_special(tkv_code *c, const char *name, tkv_type t) {
  return call_function(
      c, tk_arena_printf(c->arena, "llvm.nvvm.read.ptx.sreg.%s", name), t, NULL,
      0);
}

void tkv_meet(tkv_code *c) {
  call_function(c, "llvm.nvvm.barrier0", TKV_NOTHING, NULL, 0);
}

tkv_reg tkv_shuffle_word(tkv_code *c, const char *mode, int32_t lanes,
                         tkv_reg x, tkv_reg by) {
  enum { LAST_LANE = 31 };
  TK_ASSERT(tkv_same_type(x.type, TKV_I32) && tkv_same_type(by.type, TKV_I32));
  return call_function(
      c, tk_arena_printf(c->arena, "llvm.nvvm.shfl.sync.%s.i32", mode), TKV_I32,
      (tkv_reg[]){tkv_i32(lanes), x, by, tkv_i32(LAST_LANE)}, 4);
}

tkv_reg tkv_approximate(tkv_code *c, const char *instruction, bool ftz,
                        tkv_reg x) {
  TK_ASSERT(tkv_same_type(x.type, TKV_F32));
  return call_function(c,
                       tk_arena_printf(c->arena, "llvm.nvvm.%s.approx%s.f",
                                       instruction, ftz ? ".ftz" : ""),
                       TKV_F32, &x, 1);
}
