/* bind_number.c - decodes arithmetic: the rows of ir/asm.def.
 */
#include <string.h>

#include "ptx/exec.h"
#include "ptx/read.h"

/* {a, b} of mov, lowest bits first. */
static void add_parts(tkp_line *x, const tkp_operand *o, unsigned bits,
                      bool dest) {
  unsigned each = o->nparts ? bits / (unsigned)o->nparts : 0;
  if (!each || each * o->nparts != bits)
    tkp_wrong(x, o, "parts that have as many bits together");
  for (size_t i = 0; i < o->nparts; i++)
    if (dest)
      tkp_add_dest(x, tkp_dest(x, &o->parts[i], each));
    else
      tkp_add_source(x, tkp_source(x, &o->parts[i], each, 'b'));
}

static void add_operand(tkp_line *x, const tkp_operand *o, tk_asm_want w) {
  char kind = tk_asm_types[w.type].kind;
  unsigned bits = w.bits;
  bool vector = o->kind == TKP_O_VECTOR && o->nparts > 1;
  if (w.wider && o->kind == TKP_O_REG && o->reg.bits > bits) bits = o->reg.bits;
  if (vector && (w.letter == 'M' || w.letter == 'N')) {
    add_parts(x, o, bits, w.dest);
  } else if (w.dest) {
    tkp_add_dest(x, tkp_dest(x, o, bits));
    if (w.letter == 'p')
      tkp_add_dest(x, o->second.bits == 1 ? o->second : tkp_new_reg(x->r, 1));
  } else {
    tkp_add_source(x, tkp_source(x, o, bits, kind));
  }
}

static bool uses_carry(const tk_asm_inst *m) {
  return m->op == TK_AO_ADDC || m->op == TK_AO_SUBC || m->op == TK_AO_MADC ||
         tk_asm_has(m, TK_AM_cc);
}

static tkp_run_fn *number_run(const tkp_line *x) {
  const tkp_inst *in = &x->in;
  switch (in->math->op) {
  case TK_AO_MOV:
    if (in->nd > 1 || in->ns > 1) return tkp_run_pack;
    break;
  case TK_AO_SELP: return tkp_run_select;
  case TK_AO_SETP: return tkp_run_compare;
  default: break;
  }
  return tkp_run_number;
}

/* The form of the operands that has so many. */
static const char *form_of(tkp_line *x, const char *forms) {
  for (const char *p = forms;; p++) {
    size_t len = strcspn(p, "|");
    if (len == x->nops) return p;
    p += len;
    if (!*p)
      tkp_fail(x->r, x->from, x->to, NULL, "%.*s does not take %zu operands",
               (int)(x->to - x->from), x->from, x->nops);
  }
}

void tkp_read_number(tkp_line *x, const tk_asm_inst *math, const char *forms) {
  const char *letters = form_of(x, forms);
  tk_asm_inst *kept = TK_NEW(x->r->arena, tk_asm_inst);
  *kept = *math;
  x->in.math = kept;
  for (size_t i = 0; i < x->nops; i++)
    add_operand(x, &x->ops[i], tk_asm_want_of(math, letters[i]));
  x->in.pure = !uses_carry(math);
  x->in.d = x->d;
  x->in.s = x->s;
  bool logic = (math->op == TK_AO_AND || math->op == TK_AO_OR);
  if (logic) {
    x->in.run = tkp_run_and;
    x->in.mode = math->op == TK_AO_OR;
  } else {
    x->in.run = tkp_quick(&x->in);
    if (!x->in.run) x->in.run = number_run(x);
  }
  tkp_emit(x);
}
