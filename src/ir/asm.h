/* asm.h - inline assembly, parsed: straight-line PTX on virtual registers.
 *
 * Registers hold 64 bits; what is narrower has zeros above.  The operands
 * $0, $1, ... come first, so that $i is register i unless a constraint ties
 * it to an output.
 */
#ifndef TK_IR_ASM_H
#define TK_IR_ASM_H

#include "base/diag.h"

typedef enum tk_asm_type {
#define ASM_TYPE(name, bits, kind, part) TK_AT_##name,
#include "asm.def"
  TK_AT_COUNT
} tk_asm_type;

typedef enum tk_asm_mod {
#define ASM_MOD(id, name) TK_AM_##id,
#include "asm.def"
  TK_AM_COUNT
} tk_asm_mod;

typedef enum tk_asm_special {
#define ASM_SPECIAL(id, name, bits) TK_AS_##id,
#include "asm.def"
  TK_AS_COUNT
} tk_asm_special;

typedef enum tk_asm_op {
#define ASM(id, name, mods, types, types2, operands) TK_AO_##id,
#include "asm.def"
  TK_AO_COUNT
} tk_asm_op;

typedef struct tk_asm_type_info {
  const char *name;
  uint8_t bits;
  char kind;
  uint8_t part; /* of a pair: its halves' type; else the type itself */
} tk_asm_type_info;
extern const tk_asm_type_info tk_asm_types[TK_AT_COUNT];
int tk_asm_type_named(const char *w, size_t n); /* -1: none */

typedef enum tk_asm_arg_kind {
  TK_AA_REG,
  TK_AA_IMM,     /* bits of the operand's type */
  TK_AA_SPECIAL, /* reg: tk_asm_special, imm: axis */
  TK_AA_VECTOR,  /* parts, lowest bits first; -1: dropped */
  TK_AA_SINK,    /* _ */
  TK_AA_ADDRESS, /* [reg + imm] */
} tk_asm_arg_kind;

enum { TK_ASM_ARGS = 5, TK_ASM_PARTS = 8 };

typedef struct tk_asm_arg {
  uint8_t kind;
  uint8_t bits;  /* of the register, or of each part */
  bool inverted; /* !p */
  uint8_t nparts;
  int reg;
  int second; /* p|q: q, else -1 */
  uint64_t imm;
  int parts[TK_ASM_PARTS];
} tk_asm_arg;

typedef struct tk_asm_inst {
  uint8_t op;
  uint8_t type, type2;
  uint8_t nargs;
  bool guard_not;
  int guard; /* register, -1: always */
  uint64_t mods[2];
  tk_asm_arg args[TK_ASM_ARGS];
} tk_asm_inst;

static inline bool tk_asm_has(const tk_asm_inst *in, tk_asm_mod m) {
  return in->mods[m / 64] >> (m % 64) & 1;
}

/* What an operand $i is: a register of the given width. */
typedef struct tk_asm_operand {
  int reg;
  uint8_t bits;
  bool output;
  int tied; /* of an input: the output it shares a register with, or -1 */
} tk_asm_operand;

typedef struct tk_asm {
  const char *text, *constraints; /* as written */
  TK_VEC(tk_asm_inst) insts;
  tk_asm_operand *operands; /* outputs first */
  int nout, noperands, nregs;
  int pack;
} tk_asm;

/* What is wrong with an assembly text, and where in it. */
typedef struct tk_asm_fault {
  tk_span at;
  const char *message, *help; /* help may be NULL; both are the arena's */
} tk_asm_fault;

/* Reads the constraints: operands, and the registers that they begin with.
 * False: *fault says what is wrong (help: NULL, or what is expected). */
bool tk_asm_constraints(tk_arena *arena, tk_asm *a, const char *text,
                        tk_asm_fault *fault);
/* Adds the instructions of text to a, whose operands are known; everything is
 * made in the arena.  False: *fault says what is wrong.  Throws when memory
 * runs out. */
bool tk_asm_read(tk_arena *arena, tk_asm *a, const char *text,
                 tk_asm_fault *fault);

/* What an operand's letter in asm.def wants of it. */
typedef struct tk_asm_want {
  char letter;
  uint8_t type;
  uint8_t bits;
  bool wider; /* the register may be */
  bool dest;
  uint8_t parts; /* of { }, in memory */
} tk_asm_want;
tk_asm_want tk_asm_want_of(const tk_asm_inst *in, char letter);

/* Where blanks and comments end. */
const char *tk_asm_skip(const char *at);

/* Reads the opcode at the start of text, such as add.rn.f32, and checks it:
 * into in, and the forms of its operands.  Returns its length; 0: *fault says
 * what is wrong, in bytes from the start of text. */
size_t tk_asm_opcode(tk_arena *arena, const char *text, tk_asm_inst *in,
                     const char **operands, tk_asm_fault *fault);

#endif
