/* ir.h - the typed block form of a kernel: what the interpreter walks.
 *
 * A tk_program is one specialisation of a kernel: a tree of statements that
 * mirrors the source, each with the instructions it runs; every type is
 * known.  Variables are slots: one per name and type, assigned in place.
 * Everything belongs to the program's arena and never changes once made,
 * but for `run` and `kernel`, which the interpreter fills in once.
 */
#ifndef TK_IR_IR_H
#define TK_IR_IR_H

#include "ir/inst.h"
#include "launch/session.h"

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

struct tk_stmt {
  tk_stmt_kind kind;
  tk_span span;         /* the statement; of a compound one, its header */
  tk_insts insts;       /* run first; by WHILE before every trip */
  int cond;             /* IF WHILE: scalar int1 slot */
  int iv, lb, ub, step; /* FOR: slots, all of the variable's type */
  bool down;            /* FOR: from lb down while above ub */
  bool marked;          /* a debugger wants to be told of it */
  tk_body body, orelse;
  int *results; /* RETURN: slots */
  size_t nresults;
  const struct tk_binding *scope; /* names known before it */
};

typedef struct tk_slot {
  tk_type type;
  const char *name; /* NULL: a temporary */
} tk_slot;

struct tk_func {
  const char *name;
  const tk_source *src;
  tk_program *program;
  tk_function *fn;
  bool library; /* tkdbg's own prelude: debuggers step over it */
  tk_slot *slots;
  size_t nslots, cap_slots;
  int *params; /* slots of the runtime arguments, flattened */
  size_t nparams;
  tk_type *result_types;
  size_t nresults;
  tk_body body;
  const tk_ast *ast;
  tk_span span;
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

typedef struct tk_format {
  tk_piece *pieces;
  size_t n;
  bool hex;
  bool pids;        /* starts with the program's index */
  tk_pids conds;    /* printed, or stopped at, only where these hold */
  int pid_slots[3]; /* what conds test; -1: the program's own index */
} tk_format;

/* The combine function of a reduction or scan: for REDUCE_FN one per halving
 * of the axis, from the widest; for SCAN_FN one for the whole block. */
typedef struct tk_combine {
  tk_func **levels;
  int nlevels;
} tk_combine;

/* How a kernel's runtime argument is filled from a launch. */
typedef struct tk_param {
  size_t arg;   /* index into tk_launch.args */
  int slot;     /* of the kernel's function */
  tk_type type; /* pointer: a tensor's address */
  size_t item;  /* for tuples: which flattened item */
} tk_param;

struct tk_program {
  tk_program *next; /* other specialisations of the function */
  tk_arena arena;
  tk_session *session;
  tk_function *fn;
  const char *key; /* what it was specialised for */
  int triton_version;
  tk_func *kernel;
  tk_func **funcs; /* kernel and callees, in order of first use */
  size_t nfuncs, cap_funcs;
  tk_param *params;
  size_t nparams;
  uint32_t ninsts;
  bool bound; /* run and kernel are filled in */
};

/* Whether an instruction of any function is one of those. */
bool tk_program_has(const tk_program *p, bool (*is)(const tk_inst *in));

/* The program as text, close to what Triton calls TTIR. */
void tk_program_print(tk_buf *out, const tk_program *p);

/* ---- the specialiser --------------------------------------------------- */

/* The program for the launch's function and argument types, made on first
 * use and kept with the function.  Throws TK_FINDING after reporting. */
tk_program *tk_specialise(tk_env *e, tk_launch *l);

#endif
