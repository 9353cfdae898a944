/* bind_memory.c - decodes what touches memory.
 */
#include <string.h>

#include "ptx/exec.h"
#include "ptx/read.h"

static uint8_t vector_parts(const tkp_line *x) {
  return tkp_has(x, "v8") ? 8 : tkp_has(x, "v4") ? 4 : tkp_has(x, "v2") ? 2 : 1;
}

/* A register of a memory access may be wider than what memory holds. */
static tkp_reg memory_reg(tkp_line *x, const tkp_operand *o, unsigned bits,
                          bool dest) {
  char kind = tk_asm_types[x->types[0]].kind;
  if (o->kind == TKP_O_VECTOR && o->nparts == 1) o = &o->parts[0];
  if (o->kind == TKP_O_REG && o->reg.bits > bits) bits = o->reg.bits;
  return dest ? tkp_dest(x, o, bits) : tkp_source(x, o, bits, kind);
}

static void memory_regs(tkp_line *x, const tkp_operand *o, bool dest) {
  unsigned bits = tk_asm_types[x->types[0]].bits;
  const tkp_operand *parts = o->kind == TKP_O_VECTOR ? o->parts : o;
  size_t n = o->kind == TKP_O_VECTOR ? o->nparts : 1;
  if (n != x->in.parts && o->kind != TKP_O_SINK)
    tkp_wrong(x, o,
              tk_arena_printf(x->r->arena, "%u registers in { }", x->in.parts));
  for (size_t i = 0; i < x->in.parts; i++) {
    tkp_reg reg =
        memory_reg(x, o->kind == TKP_O_SINK ? o : &parts[i], bits, dest);
    if (dest)
      tkp_add_dest(x, reg);
    else
      tkp_add_source(x, reg);
  }
}

static void memory_shape(tkp_line *x, const tkp_operand *address) {
  const tk_asm_type_info *t = &tk_asm_types[x->types[0]];
  x->in.parts = vector_parts(x);
  x->in.bytes = t->bits / 8;
  x->in.sign = t->kind == 's';
  if (!x->in.bytes) tkp_wrong(x, address, "another type");
  tkp_address(x, address);
  x->in.space = tkp_space_of(x, address);
}

void tkp_read_LD(tkp_line *x) {
  memory_shape(x, &x->ops[1]);
  memory_regs(x, &x->ops[0], true);
  x->in.polls = tkp_has(x, "volatile") || tkp_has(x, "relaxed") ||
                tkp_has(x, "acquire") || tkp_has(x, "mmio");
  x->in.run = tkp_run_load;
  tkp_emit(x);
}

void tkp_read_LDU(tkp_line *x) {
  tkp_read_LD(x);
}

void tkp_read_ST(tkp_line *x) {
  memory_shape(x, &x->ops[0]);
  memory_regs(x, &x->ops[1], false);
  x->in.run = tkp_run_store;
  tkp_emit(x);
}

/* ---- atomic operations --------------------------------------------------- */

static void read_atomic(tkp_line *x, bool result) {
  static const struct {
    const char *word;
    tk_asm_mod mod;
  } does[] = {{"add", TK_AM_add}, {"min", TK_AM_min}, {"max", TK_AM_max},
              {"inc", TK_AM_inc}, {"dec", TK_AM_dec}, {"exch", TK_AM_exch},
              {"cas", TK_AM_cas}, {"and", TK_AM_and}, {"or", TK_AM_or},
              {"xor", TK_AM_xor}};
  tk_asm_inst *m = TK_NEW(x->r->arena, tk_asm_inst);
  const tk_asm_type_info *t = &tk_asm_types[x->types[0]];
  size_t found = 0, first = result ? 1 : 0;
  m->op = TK_AO_ATOM;
  m->type = m->type2 = x->types[0];
  for (size_t i = 0; i < TK_COUNT(does); i++) {
    if (!tkp_has(x, does[i].word)) continue;
    m->mods[does[i].mod / 64] |= UINT64_C(1) << (does[i].mod % 64);
    found++;
  }
  size_t values = tkp_has(x, "cas") ? 2 : 1;
  bool policy = tkp_has(x, "L2::cache_hint");
  if (found != 1 || x->nops != first + 1 + values + policy)
    tkp_fail(x->r, x->from, x->to, NULL,
             "expected one operation, and its operands");
  memory_shape(x, &x->ops[first]);
  if (x->in.bytes * 8 != t->bits || t->bits < 16)
    tkp_wrong(x, &x->ops[first], "a type of 16, 32 or 64 bits");
  x->in.math = m;
  if (result) memory_regs(x, &x->ops[0], true);
  for (size_t i = 0; i < values; i++)
    memory_regs(x, &x->ops[first + 1 + i], false);
  x->in.run = tkp_run_atomic;
  x->in.polls = true;
  tkp_emit(x);
}

void tkp_read_ATOM(tkp_line *x) {
  read_atomic(x, true);
}

void tkp_read_RED(tkp_line *x) {
  read_atomic(x, false);
}

/* ---- addresses ----------------------------------------------------------- */

static uint8_t named_space(const tkp_line *x) {
  if (tkp_has(x, "shared") || tkp_has(x, "shared::cta")) return TKP_SHARED;
  return tkp_has(x, "local") ? TKP_LOCAL : TKP_HOST;
}

void tkp_read_CVTA(tkp_line *x) {
  unsigned bits = tk_asm_types[x->types[0]].bits;
  if (bits != 64) tkp_wrong(x, &x->ops[0], "addresses of 64 bits");
  x->in.space = named_space(x);
  x->in.mode = tkp_has(x, "to");
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], bits));
  tkp_add_source(x, tkp_source(x, &x->ops[1], bits, 'b'));
  x->in.pure = true;
  x->in.run = tkp_run_cvta;
  tkp_emit(x);
}

void tkp_read_ISSPACEP(tkp_line *x) {
  x->in.space = named_space(x);
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], 1));
  tkp_add_source(x, tkp_source(x, &x->ops[1], 64, 'b'));
  x->in.pure = true;
  x->in.run = tkp_run_isspace;
  tkp_emit(x);
}

void tkp_read_CREATEPOLICY(tkp_line *x) {
  tkp_add_dest(x, tkp_dest(x, &x->ops[0], 64));
  tkp_add_source(x, tkp_constant_reg(x->r, 64, 0));
  x->in.pure = true;
  x->in.run = tkp_run_move;
  tkp_emit(x);
}

/* ---- copies -------------------------------------------------------------- */

/* s[0] is the base of what is read, if it has bits; s[1] how many bytes are
 * read, the others being zeros (mode 1), or whether none is (mode 2). */
void tkp_read_CP_ASYNC(tkp_line *x) {
  const tkp_operand *size = &x->ops[2], *last = &x->ops[3];
  size_t n = x->nops - tkp_has(x, "L2::cache_hint");
  bool fits = size->kind == TKP_O_NUMBER &&
              (size->value == 16 ||
               (tkp_has(x, "ca") && (size->value == 4 || size->value == 8)));
  if (!fits) tkp_wrong(x, size, "4, 8 or 16 bytes (.cg: 16)");
  if (n < 3 || n > 4) tkp_wrong(x, size, "one more operand at most");
  tkp_address(x, &x->ops[1]);
  tkp_add_source(x,
                 x->in.base.bits ? x->in.base : tkp_constant_reg(x->r, 64, 0));
  x->in.from_offset = x->in.offset;
  tkp_address(x, &x->ops[0]);
  x->in.space = TKP_SHARED;
  x->in.bytes = (uint8_t)size->value;
  if (n == 4) {
    bool ignores = last->kind == TKP_O_REG && last->reg.bits == 1;
    x->in.mode = ignores ? 2 : 1;
    tkp_add_source(x, tkp_source(x, last, ignores ? 1 : 32, 'u'));
  }
  x->in.run = tkp_run_copy;
  tkp_emit(x);
}

void tkp_read_CP_COMMIT(tkp_line *x) {
  x->in.run = tkp_run_commit;
  tkp_emit(x);
}

void tkp_read_groups(tkp_line *x) {
  if (x->ops[0].kind != TKP_O_NUMBER) tkp_wrong(x, &x->ops[0], "a number");
  x->in.offset = (int64_t)(x->ops[0].value & INT32_MAX);
}

void tkp_read_CP_WAIT(tkp_line *x) {
  tkp_read_groups(x);
  x->in.run = tkp_run_wait;
  tkp_emit(x);
}

void tkp_read_CP_WAIT_ALL(tkp_line *x) {
  x->in.offset = -1;
  x->in.run = tkp_run_wait;
  tkp_emit(x);
}

/* ---- matrices ------------------------------------------------------------ */

static void read_matrices(tkp_line *x, const tkp_operand *regs,
                          const tkp_operand *address, bool load) {
  x->in.parts = tkp_has(x, "x4") ? 4 : tkp_has(x, "x2") ? 2 : 1;
  x->in.bytes = 16;
  x->in.mode = tkp_has(x, "trans");
  if (!tkp_has(x, "m8n8") || x->types[0] != TK_AT_b16)
    tkp_fail(x->r, x->from, x->to, NULL, "only .m8n8 of .b16 is known");
  x->types[0] = TK_AT_b32;
  tkp_address(x, address);
  x->in.space = tkp_space_of(x, address);
  memory_regs(x, regs, load);
  x->in.run = load ? tkp_run_ldmatrix : tkp_run_stmatrix;
  tkp_emit(x);
}

void tkp_read_LDMATRIX(tkp_line *x) {
  read_matrices(x, &x->ops[0], &x->ops[1], true);
}

void tkp_read_STMATRIX(tkp_line *x) {
  read_matrices(x, &x->ops[1], &x->ops[0], false);
}
