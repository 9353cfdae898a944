/* ir.h - the typed form of a kernel, to be read by plug-ins: code generators,
 * checkers, viewers.
 *
 * A program is a tree: functions, in them statements that mirror the source,
 * in each statement the instructions that it runs.  Instructions read and
 * write values of their function, which are numbered: variables, which have
 * names and are assigned in place, and temporaries.  Every value has a type.
 * A text says the same (tk_launch_ir, tk_ir_open).
 *
 * Ownership: the caller only reads.  All that functions here return, handles,
 * strings and arrays, belongs to the program, which lives until its session is
 * freed and never changes.
 *
 * There are no errors, except from tk_launch_form.  An index past the end gives
 * NULL, false or -1, so that a loop needs no count.  Handles may not be NULL.
 */
#ifndef TKDBG_IR_H
#define TKDBG_IR_H

#include "tkdbg/tkdbg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tk_ir tk_ir;             /* a program */
typedef struct tk_ir_func tk_ir_func;   /* a kernel, or a function it calls */
typedef struct tk_ir_body tk_ir_body;   /* a list of statements */
typedef struct tk_ir_stmt tk_ir_stmt;   /* a statement */
typedef struct tk_ir_insts tk_ir_insts; /* a list of instructions */
typedef struct tk_ir_inst tk_ir_inst;   /* an instruction */

/* The form of the kernel that the launch runs; it is compiled if it was not
 * yet.  NULL when it does not compile; the session's report says why. */
const tk_ir *tk_launch_form(tk_launch *l);

/* ---- plain structs ------------------------------------------------------ */

typedef struct tk_ir_type {
  tk_dtype dtype; /* of a pointer: of what the last pointer points to */
  int pointers;   /* 0: a number; 1: a pointer to one; 2: to a pointer ... */
  bool is_const;  /* a pointer through which nothing is stored */
  bool to_block;  /* one pointer to a block of this rank and shape */
  int rank;       /* 0: a scalar; else the axes of a block */
  int64_t shape[TK_MAX_RANK];
} tk_ir_type;

/* Where the value of a kernel's parameter comes from. */
typedef struct tk_ir_param {
  int value;       /* of the kernel's function */
  size_t arg;      /* the index of the argument: tk_ir_arg_name */
  size_t item;     /* of a tuple: which item, flattened; of a tensor: 0 for
                    * its address, then its lengths, then its strides */
  int64_t divisor; /* the number or address is a multiple of it; 1: any */
} tk_ir_param;

typedef enum tk_ir_stmt_kind {
  TK_IR_RUN, /* runs its instructions, and nothing else */
  TK_IR_IF,
  TK_IR_FOR,
  TK_IR_WHILE,
  TK_IR_RETURN,
} tk_ir_stmt_kind;

/* The head of a for, and what tl.range was told. */
typedef struct tk_ir_loop {
  int variable, lower, upper, step; /* values */
  bool down;                        /* while the variable is above upper */
  int64_t num_stages, unroll;       /* 0: not said */
  bool disallow_acc_multi_buffer, flatten, warp_specialize, disable_licm;
} tk_ir_loop;

/* An attribute: a number, and a word where its kind is a list of words. */
typedef struct tk_ir_attr {
  const char *name, *kind; /* "int", "flag", "axes", "rounding", ... */
  int64_t value;           /* of lists of numbers: the first, or 0 */
  const char *text;        /* of a word; else NULL */
  const int64_t *values;   /* "axes", "values": a number for each axis */
  size_t n;                /* how many values there are; else 0 */
  bool implied;            /* it has its default, which the text leaves out */
} tk_ir_attr;

typedef enum tk_ir_ref {
  TK_IR_NONE,
  TK_IR_CALLEE,  /* tk_ir_inst_callee(in, 0) */
  TK_IR_COMBINE, /* tk_ir_inst_callee(in, 0), (in, 1), ... */
  TK_IR_FORMAT,  /* tk_ir_inst_format, tk_ir_inst_piece */
  TK_IR_CODE,    /* tk_ir_inst_code */
} tk_ir_ref;

/* How print, assert and breakpoint say what they say. */
typedef struct tk_ir_format {
  bool hex;          /* integers are printed in hexadecimal */
  bool pids;         /* the program's index comes first */
  const char *where; /* program conditions; NULL: always */
  int index[3];      /* values that they test; -1: the program's own index */
} tk_ir_format;

/* A piece of printed text. */
typedef struct tk_ir_piece {
  const char *text; /* literal, len bytes; NULL: a value */
  size_t len;
  int value;
  const char *spec; /* its format specification; NULL: none */
  bool repr;        /* printed as Python's repr() does */
} tk_ir_piece;

/* Inline assembly. */
typedef struct tk_ir_code {
  const char *text, *constraints;
  int pack; /* lanes that one run of the text works on */
} tk_ir_code;

/* ---- programs ----------------------------------------------------------- */

/* 100 * major + minor, as in 306; 0: the newest that tkdbg knows. */
int tk_ir_triton_version(const tk_ir *p);
/* A launch option by its name (tk_launch_option_at lists them); -1: there is
 * none of that name. */
int64_t tk_ir_option(const tk_ir *p, const char *name);
/* Statements and instructions are numbered from 0, without gaps, so that a
 * plug-in can keep tables of its own: how many there are. */
size_t tk_ir_stmt_count(const tk_ir *p);
size_t tk_ir_inst_count(const tk_ir *p);
/* The i-th function; the first is the kernel in forms that were compiled. */
const tk_ir_func *tk_ir_func_at(const tk_ir *p, size_t i);
const tk_ir_func *tk_ir_kernel(const tk_ir *p);
/* The name of the kernel's i-th parameter, as the user wrote it, and what it
 * was specialised for, as text (NULL: it is filled at run time). */
const char *tk_ir_arg_name(const tk_ir *p, size_t i);
const char *tk_ir_arg_value(const tk_ir *p, size_t i);
/* The i-th value that a launch fills. */
bool tk_ir_param_at(const tk_ir *p, size_t i, tk_ir_param *out);

/* ---- functions ---------------------------------------------------------- */

const char *tk_ir_func_name(const tk_ir_func *f);
size_t tk_ir_func_id(const tk_ir_func *f); /* tk_ir_func_at gives it */
/* Whether it is tkdbg's own, not the user's. */
bool tk_ir_func_is_library(const tk_ir_func *f);
tk_place tk_ir_func_place(const tk_ir_func *f); /* of its name */
/* The value that the i-th parameter is; -1 past the end. */
int tk_ir_func_param(const tk_ir_func *f, size_t i);
bool tk_ir_func_result(const tk_ir_func *f, size_t i, tk_ir_type *out);
const tk_ir_body *tk_ir_func_body(const tk_ir_func *f);
/* Its values: parameters, variables and temporaries, numbered from 0. */
size_t tk_ir_value_count(const tk_ir_func *f);
/* NULL: a temporary.  Variables of one name differ in their types. */
const char *tk_ir_value_name(const tk_ir_func *f, int value);
bool tk_ir_value_type(const tk_ir_func *f, int value, tk_ir_type *out);

/* ---- statements --------------------------------------------------------- */

const tk_ir_stmt *tk_ir_stmt_at(const tk_ir_body *b, size_t i);
tk_ir_stmt_kind tk_ir_stmt_kind_of(const tk_ir_stmt *st);
size_t tk_ir_stmt_id(const tk_ir_stmt *st);
/* Of a compound statement: its header. f is the function around. */
tk_place tk_ir_stmt_place(const tk_ir_func *f, const tk_ir_stmt *st);
/* What runs first; of a while, before every trip. */
const tk_ir_insts *tk_ir_stmt_insts(const tk_ir_stmt *st);
/* IF, WHILE: the value that is tested; else -1. */
int tk_ir_stmt_condition(const tk_ir_stmt *st);
/* FOR; else false. */
bool tk_ir_stmt_loop(const tk_ir_stmt *st, tk_ir_loop *out);
/* What IF, FOR and WHILE run; empty where there is nothing. */
const tk_ir_body *tk_ir_stmt_body(const tk_ir_stmt *st);
const tk_ir_body *tk_ir_stmt_else(const tk_ir_stmt *st);
/* RETURN: the i-th value that is returned; else -1. */
int tk_ir_stmt_result(const tk_ir_stmt *st, size_t i);

/* ---- instructions ------------------------------------------------------- */

const tk_ir_inst *tk_ir_inst_at(const tk_ir_insts *l, size_t i);
const char *tk_ir_inst_name(const tk_ir_inst *in); /* "load" */
/* What refines it, "add" of a binary one; "": nothing does. */
const char *tk_ir_inst_mode(const tk_ir_inst *in);
size_t tk_ir_inst_id(const tk_ir_inst *in);
tk_place tk_ir_inst_place(const tk_ir_func *f, const tk_ir_inst *in);
/* Of the first result; of a store, of what is stored. */
tk_ir_type tk_ir_inst_type(const tk_ir_inst *in);
/* The i-th operand that is there, and the i-th result: values, -1 past the
 * end. */
int tk_ir_inst_operand(const tk_ir_inst *in, size_t i);
int tk_ir_inst_result(const tk_ir_inst *in, size_t i);
/* What the i-th operand that is there is called: "mask". */
const char *tk_ir_inst_operand_name(const tk_ir_inst *in, size_t i);
/* The value of an operand by that name (the first one, if there may be more);
 * -1: it is absent. */
int tk_ir_inst_named(const tk_ir_inst *in, const char *name);
/* The i-th attribute, and the one of a name; false: there is none. */
bool tk_ir_inst_attr(const tk_ir_inst *in, size_t i, tk_ir_attr *out);
bool tk_ir_inst_attr_named(const tk_ir_inst *in, const char *name,
                           tk_ir_attr *out);
/* What an instruction refers to, beside its operands. */
tk_ir_ref tk_ir_inst_ref(const tk_ir_inst *in);
const tk_ir_func *tk_ir_inst_callee(const tk_ir_inst *in, size_t i);
bool tk_ir_inst_format(const tk_ir_inst *in, tk_ir_format *out);
bool tk_ir_inst_piece(const tk_ir_inst *in, size_t i, tk_ir_piece *out);
bool tk_ir_inst_code(const tk_ir_inst *in, tk_ir_code *out);
/* Of a cond: what runs where the condition holds (0), and else (1); empty for
 * other instructions, NULL past that. */
const tk_ir_insts *tk_ir_inst_body(const tk_ir_inst *in, size_t i);

/* ---- what instructions there are ---------------------------------------- */

/* A row of the table of instructions. */
typedef struct tk_ir_opcode {
  const char *name, *doc;
  const char *effect;    /* "pure", "reads", "writes", "control" */
  const char *lanes;     /* which lanes of its operands a lane is made of: */
  const char *lanes_doc; /* a word, and what it says */
  int results;           /* how many there are; -1: any number */
  const char *ref;       /* "callee", "combine", "format", "code"; NULL: none */
} tk_ir_opcode;
bool tk_ir_opcode_at(size_t i, tk_ir_opcode *out);

/* An operand of it that may be absent, or that stands for any number. */
typedef struct tk_ir_operand {
  const char *name;
  const char *kind; /* "any", "same", "mask", ... */
  const char *must; /* what an operand of that kind must be */
  bool optional, many;
} tk_ir_operand;
bool tk_ir_opcode_operand(size_t i, size_t k, tk_ir_operand *out);
/* Its k-th attribute's name, and kind in *kind. */
const char *tk_ir_opcode_attr(size_t i, size_t k, const char **kind);
/* The i-th word of a kind of attribute that is a list of words. */
const char *tk_ir_word(const char *kind, size_t i);
/* The types that an operation of such a list is for: "numbers", "integers",
 * "integers of 32 and 64 bits", "fp32 and fp64", "anything". */
const char *tk_ir_word_types(const char *kind, size_t i);

/* ---- walking, writing, changing ------------------------------------------ */

/* What to do at each statement, before what stands in it, and at each
 * instruction, in the order of the text; either may be NULL.  False ends the
 * walk, which then gives false.  One walk finds every definition and use. */
typedef struct tk_ir_visitor {
  void *ud;
  bool (*stmt)(void *ud, const tk_ir_func *f, const tk_ir_stmt *st);
  bool (*inst)(void *ud, const tk_ir_func *f, const tk_ir_stmt *st,
               const tk_ir_inst *in);
} tk_ir_visitor;
bool tk_ir_walk(const tk_ir_func *f, const tk_ir_visitor *v);

/* Gives the text of a program to out, in one piece.  A changed program is made
 * by changing the text: tk_ir_open reads and verifies it, and gives a function
 * that launches run.  Fails only when there is no memory. */
tk_status tk_ir_write(tk_session *s, const tk_ir *p, tk_output_fn out,
                      void *ud);
/* The form of a function that tk_ir_open gave; NULL: the function is compiled
 * for each set of arguments. */
const tk_ir *tk_function_form(tk_function *f);

#ifdef __cplusplus
}
#endif
#endif
