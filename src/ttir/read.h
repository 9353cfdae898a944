/* read.h - what the files that read Triton's IR share.
 *
 * text.c reads words, types and one operation, whatever it is; region.c what
 * holds others: functions, loops, ifs, functions that combine; operation.c
 * makes instructions of the rest (ttir.def). */
#ifndef TK_TTIR_READ_H
#define TK_TTIR_READ_H

#include <string.h>

#include "base/diag.h"
#include "base/lookup.h"
#include "ir/ir.h"

/* A value that is used, and where the text says so. */
typedef struct tkx_use {
  int slot;
  tk_span at;
} tkx_use;

/* An attribute, or a word that stands alone; its value as text, or NULL. */
typedef struct tkx_word {
  const char *name, *value;
  tk_span at;
} tkx_word;

typedef struct tkx_result {
  const char *name;
  int64_t n; /* of them: %name#0 and so on; 0: one, %name itself */
} tkx_result;

/* An operation as it stands there. */
typedef struct tkx_op {
  const char *name;
  tk_span at; /* of its name */
  TK_VEC(tkx_result) results;
  TK_VEC(tkx_use) uses;
  TK_VEC(tkx_word) words;
  TK_VEC(tk_type) in, out; /* types before and after an arrow */
  const char *callee;      /* behind an @ */
  const char *quoted;
  uint32_t region; /* where its region begins, behind the brace; 0: none */
} tkx_op;

/* A scalar constant of a function, which a function that combines may use. */
typedef struct tkx_constant {
  const char *name;
  tk_type type;
  uint64_t bits;
} tkx_constant;

typedef struct tkx_block {
  const char *name;
  uint32_t at;        /* behind its colon */
  TK_VEC(int) params; /* slots */
  bool entered;
} tkx_block;

typedef struct tkx_reader {
  tk_env *env;
  tk_arena *keep, *arena;
  tk_program *p;
  tk_source *text;
  uint32_t at;
  tk_func *f;
  tk_lookup names;   /* of values: slots of f */
  tk_lookup funcs;   /* their numbers in p */
  tk_lookup aliases; /* #loc7: where its text stands */
  TK_VEC(tkx_constant) constants;
  TK_VEC(tkx_block) blocks; /* of the function that is read */
  tk_body *body;            /* statements go there */
  tk_insts *into;           /* instructions, if they make no statements */
  tk_stmt *stmt;            /* of the operation that is read, or NULL */
  const tk_type *lift;      /* in a function that combines: of what shape */
  int depth;
  int nentered; /* blocks of the function, so far */
  tk_span span; /* of the operation that is read */
} tkx_reader;

/* ---- text.c ---------------------------------------------------------------
 */

void tkx_fail(tkx_reader *r, tk_span at, const char *help, const char *fmt, ...)
    TK_PRINTF(4, 5) TK_NORETURN;
void tkx_enter(tkx_reader *r); /* what is nested */
void tkx_blanks(tkx_reader *r);
tk_span tkx_here(tkx_reader *r); /* of the word that comes next */
bool tkx_take(tkx_reader *r, const char *sign);
bool tkx_peek(tkx_reader *r, const char *sign);
void tkx_need(tkx_reader *r, const char *sign, const char *after);
const char *tkx_name(tkx_reader *r, const char *what); /* a word */
/* What stands behind '@': a word, or a "text". */
const char *tkx_symbol(tkx_reader *r, const char *what);
const char *tkx_value_name(tkx_reader *r); /* behind % */
tkx_use tkx_need_use(tkx_reader *r);
void tkx_skip_group(tkx_reader *r); /* at a bracket: to behind its end */
void tkx_skip_loc(tkx_reader *r);
tk_type tkx_type(tkx_reader *r);
tkx_op *tkx_read_op(tkx_reader *r);
const tkx_word *tkx_word_of(const tkx_op *op, const char *name);
int64_t tkx_number_of(tkx_reader *r, const tkx_op *op, const char *name);
void tkx_read_aliases(tkx_reader *r);

/* ---- operation.c ----------------------------------------------------------
 */

void tkx_operation(tkx_reader *r, tkx_op *op);
/* A new slot for a value of that name; lanes are those of r->lift. */
int tkx_define(tkx_reader *r, const char *name, tk_type t, bool variable);
tk_type tkx_lifted(const tkx_reader *r, tk_type t);
tk_inst *tkx_emit(tkx_reader *r, tk_opcode op, int mode, tk_type t, int nargs,
                  const int *args);
tk_inst *tkx_emit_all(tkx_reader *r, tk_opcode op, int nargs, const int *args,
                      int nres, const int *res);
int tkx_emit1(tkx_reader *r, tk_opcode op, int mode, tk_type t, int a);
int tkx_constant_slot(tkx_reader *r, tk_type t, uint64_t bits);
/* to = from, both of one type. */
void tkx_assign(tkx_reader *r, int to, int from);
/* Several at once: any of `to` may be among `from`. */
void tkx_assign_all(tkx_reader *r, const int *to, const tkx_use *from,
                    size_t n);
/* The results of an operation are these slots. */
void tkx_name_results(tkx_reader *r, const tkx_op *op, const int *slots,
                      size_t n);
tk_stmt *tkx_statement(tkx_reader *r, tk_stmt_kind kind);

/* ---- region.c -------------------------------------------------------------
 */

void tkx_read_for(tkx_reader *r, tkx_op *op, int to);
void tkx_read_if(tkx_reader *r, tkx_op *op, int to);
void tkx_read_while(tkx_reader *r, tkx_op *op, int to);
void tkx_read_branch(tkx_reader *r, tkx_op *op, int to);
void tkx_read_combined(tkx_reader *r, tkx_op *op, int to);
void tkx_read_module(tkx_reader *r);

#endif
