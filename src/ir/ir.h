/* ir.h - the typed block form of a kernel: what the interpreter walks and a
 * compiler starts from.
 *
 * A tk_program is one specialisation of a kernel: a tree of statements that
 * mirrors the source, each with the instructions it runs; every type is
 * known.  Variables are slots: one per name and type, assigned in place.
 *
 * Everything belongs to the program's arena.  Once made, a program is const:
 * functions, statements and instructions are numbered, and whoever adds to
 * them (the interpreter what runs an instruction, a debugger its breakpoints,
 * the specialiser names and trees) keeps a table of its own by these numbers.
 * The form knows no session and no syntax tree, only spans of source texts.
 *
 * A program is equivalent to its text (print.c, parse.c), and verify.c says
 * what must hold of
 * it. */
#ifndef TK_IR_IR_H
#define TK_IR_IR_H

#include "base/lookup.h"
#include "ir/inst.h"
#include "ir/language.h"
#include "launch/launch_option.h"
#include "launch/pids.h"

typedef struct tk_stmt tk_stmt;
typedef struct tk_program tk_program;

typedef struct tk_body {
  tk_stmt **items;
  size_t n, cap;
} tk_body;

typedef enum tk_stmt_kind {
  TK_S_RUN, /* the instructions alone */
  TK_S_IF,
  TK_S_FOR,
  TK_S_WHILE,
  TK_S_RETURN,
} tk_stmt_kind;

/* The options of tl.range, which only a compiler uses. */
typedef struct tk_loop_options {
  int64_t num_stages, unroll; /* 0: not said */
  bool disallow_acc_multi_buffer, flatten, warp_specialize, disable_licm;
} tk_loop_options;

struct tk_stmt {
  tk_stmt_kind kind;
  uint32_t id;          /* unique in the program */
  tk_span span;         /* the statement; of a compound one, its header */
  tk_insts insts;       /* run first; by WHILE before every trip */
  int cond;             /* IF WHILE: scalar int1 slot */
  int iv, lb, ub, step; /* FOR: slots, all of the variable's type */
  bool down;            /* FOR: from lb down while above ub */
  tk_loop_options loop; /* FOR */
  tk_body body, orelse;
  int *results; /* RETURN: slots */
  size_t nresults;
};

typedef struct tk_slot {
  tk_type type;
  const char *name; /* NULL: a temporary */
} tk_slot;

struct tk_func {
  const char *name;
  uint32_t id; /* its index in the program's funcs */
  const tk_source *src;
  const tk_program *program;
  bool library; /* tkdbg's own prelude: debuggers step over it */
  tk_slot *slots;
  size_t nslots, cap_slots;
  tk_lookup named; /* slots of variables, by name */
  int *params;     /* slots of the runtime arguments, flattened */
  size_t nparams;
  tk_type *result_types;
  size_t nresults;
  uint32_t ndescs; /* tensor descriptors that it makes and uses */
  tk_body body;
  tk_span span; /* of its name */
};

/* A piece of printed text: literal, or a value with a format spec. */
typedef struct tk_piece {
  const char *text; /* literal; NULL for a value */
  size_t len;
  int slot;
  tk_type type;
  const char *spec;
  bool repr;
} tk_piece;

/* What PRINT, ASSERT and BREAKPOINT say, and where.  Their operands are those
 * of the slots in pid_slots that are given, then the values among pieces. */
typedef struct tk_format {
  tk_piece *pieces;
  size_t n;
  bool hex;
  bool pids;         /* starts with the program's index */
  const char *where; /* the conditions as text; NULL: none */
  tk_pids conds;     /* printed, or stopped at, only where these hold */
  int pid_slots[3];  /* what conds test; -1: the program's own index */
} tk_format;

/* The combine function of a reduction or scan: for REDUCE_FN one per halving
 * of the axis, from the widest; for SCAN_FN one for the whole block.  It takes
 * two of each operand, of which there are at most TK_COMBINED. */
enum { TK_COMBINED = 16 };
typedef struct tk_combine {
  tk_func **levels;
  int nlevels;
} tk_combine;

/* How a kernel's runtime argument is filled from a launch. */
typedef struct tk_param {
  size_t arg;   /* index into tk_program.args */
  int slot;     /* of the kernel's function */
  tk_type type; /* pointer: a tensor's address */
  size_t item;  /* of a tuple: which flattened item; of a tensor: 0 for its
                   address, then its lengths, then its strides */
  int divisor;  /* 16: the address or number is known to be a multiple; or 1 */
} tk_param;

/* A parameter of the kernel as the user wrote it. */
typedef struct tk_program_arg {
  const char *name;
  const char *value; /* what it was specialised for, as text; NULL: runtime */
} tk_program_arg;

struct tk_program {
  tk_arena arena;
  int triton_version;   /* as in spec/version.def; 0: the newest */
  tk_language language; /* that the kernel was written in */
  int64_t options[TK_LAUNCH_OPTIONS];
  const tk_func *kernel;
  tk_func **funcs; /* kernel and callees, in order of first use */
  size_t nfuncs, cap_funcs;
  tk_program_arg *args;
  size_t nargs;
  tk_param *params;
  size_t nparams;
  uint32_t ninsts, nstmts;
  const struct tk_origin *origin; /* who made it; NULL: read from text */
};

/* ---- making (build.c) --------------------------------------------------- */

void tk_program_init(tk_program *p, tk_env *e);
tk_func *tk_func_new(tk_program *p, const char *name, const tk_source *src);
tk_stmt *tk_stmt_new(tk_program *p, tk_stmt_kind kind, tk_span span);
/* With one result type, nargs operands of which has says which they are, and
 * nres results; args and res are to be filled in. */
tk_inst *tk_inst_new(tk_program *p, tk_opcode op, size_t nargs, size_t nres);
/* Most operands, and most results; whoever makes an instruction checks that. */
enum { TK_MOST_OPERANDS = UINT16_MAX };
int tk_slot_new(tk_program *p, tk_func *f, tk_type t, const char *name);
/* Marks the last use of every temporary, once a function is complete, so that
 * whoever runs it can reuse memory. */
void tk_func_last_uses(tk_program *p, tk_func *f);

/* ---- walking (walk.c) --------------------------------------------------- */

/* Where a walk is. */
typedef struct tk_at {
  const tk_func *func;
  const tk_stmt *stmt;
  const tk_body *body;  /* at a statement: that it is an item of; or NULL */
  const tk_insts *list; /* at an instruction: that it is an item of */
  size_t index;         /* in list */
} tk_at;

/* What to do at each statement, before its parts, and at each instruction, in
 * the order of the text, bodies of COND after it.  Either may be NULL; false
 * ends the walk. */
typedef struct tk_walk {
  void *ud;
  bool (*stmt)(void *ud, const tk_at *at);
  bool (*inst)(void *ud, const tk_at *at, const tk_inst *in);
} tk_walk;

/* False: one of the functions ended it. */
bool tk_walk_func(const tk_func *f, const tk_walk *w);
bool tk_walk_program(const tk_program *p, const tk_walk *w);
/* A part of a function: a list of instructions, a statement with all that is
 * in it, a list of statements. */
bool tk_walk_insts(const tk_func *f, const tk_stmt *st, const tk_insts *l,
                   const tk_walk *w);
bool tk_walk_stmt(const tk_func *f, const tk_stmt *st, const tk_walk *w);
bool tk_walk_body(const tk_func *f, const tk_body *b, const tk_walk *w);

/* The instruction that sets a slot; NULL: there is none, or several. */
const tk_inst *tk_set_by(const tk_func *f, int slot);
/* Whether an instruction of any function is one of those. */
bool tk_program_has(const tk_program *p, bool (*is)(const tk_inst *in));

/* ---- text (print.c, parse.c) and rules (verify.c) ----------------------- */

/* The program as text; docs/ir.md describes it. */
void tk_program_print(tk_buf *out, const tk_program *p);
/* The same with a comment after each instruction of which `put` prints one. */
typedef struct tk_remark {
  void *ud;
  void (*put)(void *ud, tk_buf *out, const tk_func *f, const tk_inst *in);
} tk_remark;
void tk_program_print_with(tk_buf *out, const tk_program *p,
                           const tk_remark *remark);
/* The program that a text describes; it is verified and belongs to the caller,
 * as do src and keep, which must outlive it.  Reports what is wrong, with line
 * and caret in src, and throws TK_USAGE. */
tk_program *tk_program_parse(tk_env *e, tk_arena *keep, const tk_source *src);
void tk_program_free(tk_program *p);

/* What is wrong with a program. */
typedef struct tk_flaw {
  const tk_func *func;
  const tk_stmt *stmt; /* or NULL */
  const tk_inst *inst; /* or NULL */
  const char *text;    /* belongs to `keep` */
} tk_flaw;
/* False: *flaw says what does not hold. */
bool tk_program_verify(const tk_program *p, tk_arena *keep, tk_flaw *flaw);

#endif
