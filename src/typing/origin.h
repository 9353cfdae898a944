/* origin.h - what the specialiser knows of a program beyond the typed form.
 *
 * A tk_unit is one specialisation, kept with its function; it owns the
 * program, and its arena the tables here, which go by the numbers of functions
 * and statements.
 */
#ifndef TK_TYPING_ORIGIN_H
#define TK_TYPING_ORIGIN_H

#include "ir/ir.h"
#include "launch/session.h"

/* What a load, store or atomic operation goes through: a block pointer or a
 * tensor descriptor, as slots of scalars of the function that it is in. */
typedef struct tk_window_made {
  const tk_inst *in;
  const tk_source *src; /* where a kernel makes the descriptor; NULL: it is a
                           block pointer, or made on the host */
  tk_span made;
  int rank;
  uint32_t size;    /* bytes of an element */
  unsigned checked; /* bit k: boundary_check= names axis k */
  int32_t block[TK_MAX_RANK];
  int base, shape[TK_MAX_RANK], strides[TK_MAX_RANK];
  int offsets[TK_MAX_RANK]; /* -1: the block has several */
} tk_window_made;

typedef struct tk_origin {
  tk_session *session;
  tk_function *kernel;
  TK_VEC(tk_function *) functions; /* by tk_func.id */
  TK_VEC(const struct tk_binding *)
  scopes;                         /* by tk_stmt.id: names known
                                     before it */
  TK_VEC(tk_window_made) windows; /* in the order that they were typed */
} tk_origin;

/* The program for several of a launch's programs at once (ir/batch.h), and what
 * the interpreter adds to it. */
typedef struct tk_batched {
  struct tk_batched *next;
  int axis, size;
  uint64_t many_stores, atomics; /* as in tk_varying */
  tk_program program;
  struct tki_op *code[2]; /* as in tk_unit */
  const struct tki_settled *settled;
} tk_batched;

typedef struct tk_unit {
  struct tk_unit *next; /* other specialisations of the function */
  const char *key;      /* what it was specialised for */
  tk_program program;
  tk_origin origin;
  /* The interpreter's, with the numerics of the definition and of a GPU; NULL:
   * it did not run yet. */
  struct tki_op *code[2];
  /* A detector's: what other versions of Triton make of the kernel; NULL: not
   * yet. */
  struct tkc_remarks *remarks;
  const struct tki_settled *settled;   /* the interpreter's; NULL: not yet */
  const struct tk_varying *varying[3]; /* by axis of the grid; NULL: not yet */
  tk_batched *batches; /* in the program's arena, but for their own */
  bool diverges; /* a batch could not be made, or its programs went different
                    ways or failed: they run one by one */
  bool overlaps; /* programs of threads stored to the same elements: they run
                    on one thread unless the user says otherwise */
  const struct tkg_code *by_triton; /* its code, once it was asked for; NULL */
} tk_unit;

/* Frees what the unit has, and the unit. */
void tk_unit_free(tk_env *e, tk_unit *u);
/* The unit for the launch's function and argument types, made on first use and
 * kept with the function.  Throws TK_FINDING after reporting. */
tk_unit *tk_specialise(tk_env *e, tk_launch *l);

/* The function that was specialised; NULL: none is known. */
tk_function *tk_func_origin(const tk_func *f);
/* Reports and throws TK_USAGE unless the launch's arguments are of the types
 * that a program read from text was made for (from_text.c). */
void tks_check_fixed(tk_env *e, const tk_launch *l, const tk_program *p);
/* Reads the form that a launch file had in place of a kernel. */
void tks_read_form(tk_env *e, tk_launch *l);
/* Names known before a statement, newest first; NULL: none. */
const struct tk_binding *tk_stmt_scope(const tk_func *f, const tk_stmt *st);

#endif
