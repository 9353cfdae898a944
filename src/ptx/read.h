/* read.h - inside the reader of PTX.
 *
 * The text is read twice.  The first time only what is outside bodies
 * is taken: variables, and where functions are.  Then each kernel's body is
 * read; a call reads the body of the function that is called in its place, so
 * that what runs has no calls.
 */
#ifndef TK_PTX_READ_H
#define TK_PTX_READ_H

#include "ptx/program.h"

/* ---- names (scope.c) ----------------------------------------------------- */

typedef enum tkp_name_kind {
  TKP_N_REG,
  TKP_N_REGS, /* %r<10>: numbered when first used */
  TKP_N_VAR,  /* value: its address in space */
  TKP_N_FUNC,
  TKP_N_LABEL, /* value: index of an instruction */
  TKP_N_LIST,  /* .branchtargets */
} tkp_name_kind;

typedef struct tkp_name {
  struct tkp_name *next;  /* of the same hash */
  struct tkp_name *outer; /* declared before it */
  const char *text;
  size_t len;
  uint32_t hash;
  uint8_t kind, bits;
  uint8_t space;
  uint32_t depth; /* of scopes */
  tkp_reg reg;
  uint32_t count; /* of TKP_N_REGS; of labels in a list */
  tkp_reg *regs;  /* bits 0: not used yet */
  uint64_t value;
  size_t size; /* of a variable; 0: unknown */
  bool formal; /* a kernel's parameter */
  struct tkp_func *func;
  const tk_span *labels;
} tkp_name;

typedef struct tkp_func {
  const char *header; /* at the ( of its results, or at its name */
  const char *body;   /* at its {; NULL: only declared */
  const char *from;   /* its first word */
  bool kernel;
  bool open; /* its body is being read */
} tkp_func;

/* A branch to a label that is not known yet. */
typedef struct tkp_fixup {
  tk_span label;
  uint32_t inst;
  int32_t index; /* into targets; -1: the branch's only target */
  uint32_t depth;
  uint32_t *targets;
} tkp_fixup;

enum { TKP_BUCKETS = 1024 };

struct tkp_operand;
typedef TK_VEC(uint32_t) tkp_returns;

typedef struct tkp_reader {
  tk_arena *arena;
  tkp_program *p;
  const char *text, *at;
  tkp_kernel *k;
  tkp_name *buckets[TKP_BUCKETS];
  tkp_name *names; /* newest first */
  uint32_t depth;
  TK_VEC(tkp_fixup) fixups;
  TK_VEC(uint32_t) next_constant;
  uint32_t first_constant[TKP_BUCKETS];
  size_t shared, local;
  uint64_t params; /* bytes of kernels' parameters so far */
  uint32_t loc;
  bool called;         /* a function's body is read in the place of a call */
  uint32_t calls;      /* of the kernel */
  tkp_returns returns; /* branches to that call's end */
  /* A call of f, as module.c reads it. */
  void (*call)(struct tkp_reader *r, tkp_name *f,
               const struct tkp_operand *results,
               const struct tkp_operand *args, const char *from,
               const char *to);
} tkp_reader;

tkp_name *tkp_find(tkp_reader *r, const char *text, size_t len);
/* The symbol of numbered registers: a<2> is a0 and a1. There may also be a
 * plain a, which tkp_find gives. */
tkp_name *tkp_find_numbered(tkp_reader *r, const char *text, size_t len);
/* The name is taken by anything in this scope: reports. */
tkp_name *tkp_declare(tkp_reader *r, const char *text, size_t len,
                      tkp_name_kind kind);
void tkp_open_scope(tkp_reader *r);
void tkp_close_scope(tkp_reader *r); /* branches find its labels */
void tkp_no_label(tkp_reader *r, tk_span label) TK_NORETURN;

tkp_reg tkp_new_reg(tkp_reader *r, unsigned bits);
/* The register of a name, such as %r12 after %r<100>; bits 0: it is not one. */
tkp_reg tkp_reg_named(tkp_reader *r, const char *text, size_t len);
tkp_reg tkp_constant_reg(tkp_reader *r, unsigned bits, uint64_t value);

/* ---- characters (text.c), operands (operand.c) --------------------------- */

void tkp_fail(tkp_reader *r, const char *from, const char *to, const char *help,
              const char *fmt, ...) TK_PRINTF(5, 6) TK_NORETURN;
void tkp_refuse(tkp_reader *r, const char *from, const char *to,
                const char *fmt, ...) TK_PRINTF(4, 5) TK_NORETURN;
void tkp_skip(tkp_reader *r);
bool tkp_take(tkp_reader *r, char c);
void tkp_need(tkp_reader *r, char c, const char *after);
size_t tkp_word(const char *p); /* length of a name, .word or opcode's word */
bool tkp_is(const char *p, size_t n, const char *word);
/* A literal integer, at most the limit. */
uint64_t tkp_count(tkp_reader *r, uint64_t limit, const char *what);

typedef enum tkp_operand_kind {
  TKP_O_REG, /* also p|q: second */
  TKP_O_NUMBER,
  TKP_O_VECTOR,
  TKP_O_ADDRESS, /* [base + number]; parts: coordinates, in a tensor map */
  TKP_O_NAME,    /* of a variable, with an offset; of a label or function */
  TKP_O_SINK,
  TKP_O_LIST, /* ( ) */
} tkp_operand_kind;

typedef struct tkp_operand {
  uint8_t kind;
  bool inverted;
  bool real;   /* of a number: value is a double's bits */
  uint8_t hex; /* of a number: 32 or 64, the bits of a float in hex */
  const char *from, *to;
  tkp_reg reg, second; /* second.bits 0: none */
  uint64_t value;      /* of a number; added to a name's or base's */
  tkp_name *name;      /* a variable's; NULL: reg is the base, if it has bits */
  struct tkp_operand *parts;
  size_t nparts;
} tkp_operand;

void tkp_read_operand(tkp_reader *r, tkp_operand *o);
/* The bits of a number as a type; reports what does not fit its kind. */
uint64_t tkp_number(tkp_reader *r, const tkp_operand *o, unsigned bits,
                    char kind);

/* ---- instructions (bind.c, bind_*.c) ------------------------------------- */

enum { TKP_WORDS = 20, TKP_OPERANDS = 8 };

/* An instruction as written, while it is decoded into in. */
typedef struct tkp_line {
  tkp_reader *r;
  const char *from, *to; /* the opcode */
  tkp_inst in;
  struct {
    const char *text;
    size_t len;
  } words[TKP_WORDS];
  size_t nwords;
  uint8_t types[4];
  size_t ntypes;
  tkp_operand ops[TKP_OPERANDS];
  size_t nops;
  bool coordinates;       /* its addresses may have some */
  tkp_reg d[128], s[136]; /* of in: a wgmma's are the most */
} tkp_line;

bool tkp_has(const tkp_line *x, const char *word);
uint8_t tkp_space_of(const tkp_line *x, const tkp_operand *address);
/* The register of a source of a type: of a constant, if it is a number. */
tkp_reg tkp_source(tkp_line *x, const tkp_operand *o, unsigned bits, char kind);
tkp_reg tkp_dest(tkp_line *x, const tkp_operand *o, unsigned bits);
void tkp_add_source(tkp_line *x, tkp_reg reg);
void tkp_add_dest(tkp_line *x, tkp_reg reg);
void tkp_address(tkp_line *x, const tkp_operand *o);
void tkp_emit(tkp_line *x); /* in, with its registers, becomes code */
/* The first operand of a wait: how many groups may still be under way. */
void tkp_read_groups(tkp_line *x);
void tkp_wrong(tkp_line *x, const tkp_operand *o,
               const char *wanted) TK_NORETURN;
/* Decodes the instruction at r->at, behind its guard. */
void tkp_instruction(tkp_reader *r, const tkp_reg *guard, bool guard_not);
/* Behind the last instruction of a kernel. */
void tkp_end(tkp_reader *r);

/* Products: the number behind a letter of the shape, m16n8k8; 0: none. */
int tkp_shape_number(const tkp_line *x, char letter);
/* The first two words that are types of 8-bit floats. */
typedef struct tkp_pair {
  size_t n;
  bool e5m2[2];
} tkp_pair;
tkp_pair tkp_small_floats(const tkp_line *x);
/* n registers in { }. */
void tkp_fragment(tkp_line *x, const tkp_operand *o, unsigned n, unsigned bits,
                  bool dest);

/* Arithmetic, and the forms of its operands. */
void tkp_read_number(tkp_line *x, const tk_asm_inst *math, const char *forms);

#define OP(id, name, words, types, operands, doc)                              \
  void tkp_read_##id(tkp_line *x);
#include "ptx/op.def"

#endif
