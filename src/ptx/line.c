/* line.c - an instruction while it is decoded: its words, its operands as
 * registers, and the code that it becomes. */
#include <string.h>

#include "ptx/exec.h"
#include "ptx/read.h"

bool tkp_has(const tkp_line *x, const char *word) {
  for (size_t i = 0; i < x->nwords; i++)
    if (tkp_is(x->words[i].text, x->words[i].len, word)) return true;
  return false;
}

void tkp_wrong(tkp_line *x, const tkp_operand *o, const char *wanted) {
  tkp_fail(x->r, o->from, o->to, NULL, "%.*s needs %s here",
           (int)(x->to - x->from), x->from, wanted);
}

void tkp_add_source(tkp_line *x, tkp_reg reg) {
  if (x->in.ns == TK_COUNT(x->s)) tkp_wrong(x, &x->ops[0], "fewer operands");
  x->s[x->in.ns++] = reg;
}

void tkp_add_dest(tkp_line *x, tkp_reg reg) {
  if (x->in.nd == TK_COUNT(x->d)) tkp_wrong(x, &x->ops[0], "fewer operands");
  x->d[x->in.nd++] = reg;
}

/* ---- operands ------------------------------------------------------------ */

/* A variable's address as an instruction sees it. */
static uint64_t address_of_name(tkp_line *x, const tkp_operand *o) {
  if (!o->name || o->name->kind != TKP_N_VAR) {
    tk_nearest near = tk_nearest_start(
        tk_arena_strndup(x->r->arena, o->from, tkp_word(o->from)));
    for (tkp_name *n = x->r->names; n; n = n->outer)
      tk_nearest_try(&near, tk_arena_strndup(x->r->arena, n->text, n->len));
    const char *best = tk_nearest_best(&near);
    tkp_fail(x->r, o->from, o->to,
             best ? tk_arena_printf(x->r->arena, "did you mean %s?", best)
                  : NULL,
             "%.*s is not a register or a variable", (int)tkp_word(o->from),
             o->from);
  }
  return o->name->value + o->value;
}

tkp_reg tkp_source(tkp_line *x, const tkp_operand *o, unsigned bits,
                   char kind) {
  tkp_reg reg = o->reg;
  switch ((tkp_operand_kind)o->kind) {
  case TKP_O_REG:
    if (reg.bits != bits)
      tkp_wrong(x, o,
                tk_arena_printf(x->r->arena, "%s of %u bits%s",
                                bits == 1 ? "a predicate" : "an operand", bits,
                                ""));
    reg.inverted = o->inverted;
    if (reg.inverted && bits != 1) tkp_wrong(x, o, "no !");
    return reg;
  case TKP_O_NUMBER:
    if (bits == 1) return tkp_constant_reg(x->r, 1, o->value ? 1 : 0);
    return tkp_constant_reg(x->r, bits, tkp_number(x->r, o, bits, kind));
  case TKP_O_NAME:
    if (bits < 32) tkp_wrong(x, o, "a register or number");
    return tkp_constant_reg(x->r, bits, address_of_name(x, o));
  case TKP_O_VECTOR:
    if (o->nparts == 1) return tkp_source(x, &o->parts[0], bits, kind);
    break;
  case TKP_O_SINK:
  case TKP_O_ADDRESS:
  case TKP_O_LIST: break;
  }
  tkp_wrong(x, o, "a register or number");
}

tkp_reg tkp_dest(tkp_line *x, const tkp_operand *o, unsigned bits) {
  if (o->kind == TKP_O_SINK) return tkp_new_reg(x->r, bits);
  if (o->kind == TKP_O_VECTOR && o->nparts == 1)
    return tkp_dest(x, &o->parts[0], bits);
  if (o->kind != TKP_O_REG || o->inverted)
    tkp_wrong(x, o, "a register for the result");
  if (o->reg.bits != bits)
    tkp_wrong(x, o,
              tk_arena_printf(x->r->arena, "%s of %u bits",
                              bits == 1 ? "a predicate" : "a register", bits));
  return o->reg;
}

/* [base + offset]: of a variable the offset is all. */
void tkp_address(tkp_line *x, const tkp_operand *o) {
  if (o->kind != TKP_O_ADDRESS) tkp_wrong(x, o, "an address in [ ]");
  if (o->nparts && !x->coordinates) tkp_wrong(x, o, "no coordinates");
  x->in.offset = (int64_t)o->value;
  x->in.base = (tkp_reg){0};
  if (o->name) {
    x->in.offset += (int64_t)o->name->value;
  } else if (o->reg.bits) {
    if (o->reg.bits < 32) tkp_wrong(x, o, "an address of 32 or 64 bits");
    x->in.base = o->reg;
  }
}

uint8_t tkp_space_of(const tkp_line *x, const tkp_operand *address) {
  bool param = tkp_has(x, "param") || tkp_has(x, "param::entry") ||
               tkp_has(x, "param::func");
  if (address->name) return address->name->space;
  if (tkp_has(x, "global") || tkp_has(x, "const") || param) return TKP_HOST;
  if (tkp_has(x, "shared") || tkp_has(x, "shared::cta")) return TKP_SHARED;
  return tkp_has(x, "local") ? TKP_LOCAL : TKP_GENERIC;
}

/* ---- code ---------------------------------------------------------------- */

static const tkp_reg *kept_regs(tkp_line *x, const tkp_reg *regs, size_t n) {
  tkp_reg *kept = TK_NEWN(x->r->arena, tkp_reg, n + 1);
  memcpy(kept, regs, n * sizeof *regs);
  return kept;
}

/* Registers that change by themselves are read before the instruction. */
static void refresh(tkp_line *x) {
  for (size_t i = 0; i < x->in.ns; i++)
    for (size_t k = 0; k < x->r->k->specials.n; k++) {
      const tkp_special_use *u = &x->r->k->specials.items[k];
      if (u->reg.id != x->s[i].id || u->special < TKP_S_clock) continue;
      tkp_inst in = {.run = tkp_run_clock,
                     .d = kept_regs(x, &x->s[i], 1),
                     .nd = 1,
                     .mode = u->special,
                     .span = x->in.span,
                     .loc = x->r->loc};
      TK_PUSH(x->r->arena, &x->r->k->code, in);
    }
}

void tkp_emit(tkp_line *x) {
  refresh(x);
  x->in.d = kept_regs(x, x->d, x->in.nd);
  x->in.s = kept_regs(x, x->s, x->in.ns);
  x->in.loc = x->r->loc;
  TK_PUSH(x->r->arena, &x->r->k->code, x->in);
}
