/* print.c - programs as text: functions, statements, instructions.
 *
 *   kernel add_kernel(%x_ptr: pointer<fp32>, %n: int32)
 *     12| %pid = program_id.0 : int32
 * The number before the bar is the source line; %name is a variable's slot,
 * %3 a temporary.
 */
#include <string.h>

#include "ir/ir.h"
#include "ir/libdevice.h"

static void print_slot(tk_buf *out, const tk_func *f, int slot) {
  const char *name = f->slots[slot].name;
  if (!name)
    tk_buf_printf(out, "%%%d", slot);
  else
    tk_buf_printf(out, "%%%s", name);
}

static void print_slots(tk_buf *out, const tk_func *f, const int *slots,
                        size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i) tk_buf_puts(out, ", ");
    print_slot(out, f, slots[i]);
  }
}

static void print_attr(tk_buf *out, const tk_inst *in, const tk_attr_info *a) {
  int64_t v = tk_inst_get(in, a);
  switch (a->kind) {
  case TK_ATTR_INT:
  case TK_ATTR_AXIS: tk_buf_printf(out, "%lld", (long long)v); break;
  case TK_ATTR_BITS: tk_buf_printf(out, "0x%llx", (unsigned long long)v); break;
  case TK_ATTR_FLAG: tk_buf_puts(out, v ? "true" : "false"); break;
  case TK_ATTR_AXES:
  case TK_ATTR_VALUES:
    for (int i = 0; i < in->type.rank; i++)
      tk_buf_printf(out, "%s%lld", i ? ", " : "[", (long long)in->attr[i]);
    tk_buf_putc(out, ']');
    break;
  case TK_ATTR_FUNCTION: tk_buf_puts(out, tk_extern_at((size_t)v)->name); break;
  default: tk_buf_puts(out, tk_mode_text(a->kind, v));
  }
}

/* Of an attribute that is 0 nothing is said, but where it is the point. */
static void print_attrs(tk_buf *out, const tk_inst *in) {
  const tk_attr_info *a;
  const char *before = " {";
  for (size_t i = 0; (a = tk_inst_attr((tk_opcode)in->op, i)); i++) {
    if (i && !tk_inst_get(in, a)) continue;
    tk_buf_printf(out, "%s%s = ", before, a->name);
    print_attr(out, in, a);
    before = ", ";
  }
  if (*before == ',') tk_buf_putc(out, '}');
  if (in->op == TK_I_CALL) tk_buf_printf(out, " @%s", tk_call_callee(in)->name);
}

static void print_insts(tk_buf *out, const tk_func *f, const tk_insts *l,
                        int depth);

static void print_inst(tk_buf *out, const tk_func *f, const tk_inst *in,
                       int depth) {
  int line = tk_source_line(f->src, in->span.lo);
  tk_buf_printf(out, "%5d|", line);
  tk_buf_pad(out, ' ', (size_t)depth * 2 + 1);
  print_slots(out, f, in->res, in->nres);
  tk_buf_printf(out, "%s%s", in->nres ? " = " : "",
                tk_inst_name((tk_opcode)in->op));
  print_attrs(out, in);
  if (in->nargs) tk_buf_putc(out, ' ');
  print_slots(out, f, in->args, in->nargs);
  if (in->nres || in->op == TK_I_STORE) {
    tk_buf_puts(out, " : ");
    tk_type_print(out, &in->type);
  }
  tk_buf_putc(out, '\n');
  print_insts(out, f, &in->body[0], depth + 1);
  if (in->body[1].n) print_insts(out, f, &in->body[1], depth + 1);
}

static void print_insts(tk_buf *out, const tk_func *f, const tk_insts *l,
                        int depth) {
  for (size_t i = 0; i < l->n; i++) print_inst(out, f, l->items[i], depth);
}

static void print_body(tk_buf *out, const tk_func *f, const tk_body *b,
                       int depth);

static void line_start(tk_buf *out, int depth) {
  tk_buf_puts(out, "     |");
  tk_buf_pad(out, ' ', (size_t)depth * 2 + 1);
}

static void print_stmt(tk_buf *out, const tk_func *f, const tk_stmt *st,
                       int depth) {
  print_insts(out, f, &st->insts, depth);
  if (st->kind == TK_S_RUN) return;
  line_start(out, depth);
  switch (st->kind) {
  case TK_S_IF:
    tk_buf_puts(out, "if ");
    print_slot(out, f, st->cond);
    break;
  case TK_S_WHILE:
    tk_buf_puts(out, "while ");
    print_slot(out, f, st->cond);
    break;
  case TK_S_FOR: {
    int bounds[3] = {st->lb, st->ub, st->step};
    tk_buf_puts(out, st->down ? "for down " : "for ");
    print_slot(out, f, st->iv);
    tk_buf_puts(out, " = ");
    print_slots(out, f, bounds, 3);
    break;
  }
  default:
    tk_buf_puts(out, "return ");
    print_slots(out, f, st->results, st->nresults);
  }
  tk_buf_putc(out, '\n');
  print_body(out, f, &st->body, depth + 1);
  if (!st->orelse.n) return;
  line_start(out, depth);
  tk_buf_puts(out, "else\n");
  print_body(out, f, &st->orelse, depth + 1);
}

static void print_body(tk_buf *out, const tk_func *f, const tk_body *b,
                       int depth) {
  for (size_t i = 0; i < b->n; i++) print_stmt(out, f, b->items[i], depth);
}

static void print_func(tk_buf *out, const tk_func *f, bool kernel) {
  tk_buf_printf(out, "%s %s(", kernel ? "kernel" : "func", f->name);
  for (size_t i = 0; i < f->nparams; i++) {
    if (i) tk_buf_puts(out, ", ");
    print_slot(out, f, f->params[i]);
    tk_buf_puts(out, ": ");
    tk_type_print(out, &f->slots[f->params[i]].type);
  }
  tk_buf_putc(out, ')');
  for (size_t i = 0; i < f->nresults; i++) {
    tk_buf_puts(out, i ? ", " : " -> ");
    tk_type_print(out, &f->result_types[i]);
  }
  tk_buf_putc(out, '\n');
  print_body(out, f, &f->body, 1);
}

void tk_program_print(tk_buf *out, const tk_program *p) {
  for (size_t i = 0; i < p->nfuncs; i++) {
    if (i) tk_buf_putc(out, '\n');
    print_func(out, p->funcs[i], p->funcs[i] == p->kernel);
  }
}
