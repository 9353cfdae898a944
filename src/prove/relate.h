/* relate.h - the numbers of a launch, and how they hang together.
 *
 * A quantity is a size or a stride of a tensor, a scalar or an axis of the
 * grid; each has an atom.  A relation says what a quantity is in terms of
 * those before it, or is a fact about them.
 */
#ifndef TK_PROVE_RELATE_H
#define TK_PROVE_RELATE_H

#include "launch/session.h"
#include "prove/walk.h"
#include "tkdbg/prove.h"

typedef enum tkq_quantity_kind {
  TKQ_OF_SHAPE,
  TKQ_OF_STRIDE,
  TKQ_OF_SCALAR,
  TKQ_OF_GRID,
} tkq_quantity_kind;

typedef struct tkq_quantity {
  tkq_quantity_kind kind;
  const char *name;
  size_t arg; /* the argument; not of the grid */
  int axis;
  int64_t value; /* in the launch */
  const tkq_poly *p;
  int relation;   /* that says what it is; -1: none, it is free */
  bool told;      /* the program that launches uses it: nothing is guessed */
  bool never_one; /* 1 would be another specialisation */
} tkq_quantity;

typedef struct tkq_relation {
  const char *text;
  tk_given from;
  const tkq_form *fact; /* NULL: it says what quantities are */
  bool on;
} tkq_relation;

/* Something else that a quantity equals in the launch: a counterexample obeys
 * all of them, so that it is a launch of the host whichever it means. */
typedef struct tkq_rival {
  int quantity;
  const tkq_poly *p;
  bool
      if_asked; /* an axis of the grid: only if the kernel asks for its place */
} tkq_rival;

typedef struct tkq_tensor {
  const char *name;
  int shape, stride; /* its first quantities */
  int rank;
  const tkq_poly *extent; /* elements from the first to after the last */
  const tkq_poly *numel;
  bool unwritten, known;
  tk_dtype dtype;
} tkq_tensor;

/* What a relation says of the contents of a tensor. */
typedef struct tkq_content {
  size_t tensor;
  int relation;
  const tkq_form *fact; /* NULL: no two elements are equal */
  const tkq_poly *any;  /* an element, in `fact` */
} tkq_content;

typedef struct tkq_numbers {
  tkq_terms *terms;
  const tk_launch *launch;
  const tk_program *program;
  const tk_program *scalars; /* the same or another form of the kernel, whose
                                parameters are quantities */
  bool wide;                 /* sizes may need 64 bits */
  TK_VEC(tkq_quantity) all;
  TK_VEC(const tkq_poly *) is; /* of each quantity: by its relation; or NULL */
  TK_VEC(tkq_relation) relations;
  TK_VEC(tkq_rival) rivals;
  TK_VEC(tkq_content) contents;
  TK_VEC(const char *) notes;
  tkq_tensor *tensors;  /* by argument */
  tkq_value *params;    /* by slot */
  int grid;             /* the first quantity of the grid */
  bool unknown_grid[3]; /* of each axis: nobody knows how it follows from
                           sizes; its relation says what it is in the launch */
} tkq_numbers;

void tkq_numbers_of(tkq_numbers *n);
/* The quantity of a scalar argument; -1: there is none. */
int tkq_scalar_of(const tkq_numbers *n, size_t arg);
/* The largest size that a tensor may have. */
int64_t tkq_most_size(const tkq_numbers *n);
/* Takes what the program that launches says (assume.c). */
void tkq_tell(tkq_numbers *n, tk_env *e, const char *text);
/* Relations that are read off the numbers, of what nothing else is said
 * (guess.c). */
void tkq_guess(tkq_numbers *n);
/* Adds what a user says; throws TK_USAGE after reporting (assume.c). */
void tkq_assume(tkq_numbers *n, tk_env *e, const char *text);

/* The number of a new relation, which is on; its text is kept. */
int tkq_relation_new(tkq_numbers *n, tk_given from, const char *text);
/* Says what quantity i is; false: p is not known before i is. */
bool tkq_define(tkq_numbers *n, int i, const tkq_poly *p, int relation);

/* What relations that are on say of the contents that a formula is about
 * (content.c). */
const tkq_form *tkq_contents_of(const tkq_numbers *n, const tkq_walk *w,
                                const tkq_form *f);
/* That the contents of each tensor can be as all relations say. */
const tkq_form *tkq_possible_contents(const tkq_numbers *n);
/* Refuses relations about tensors that the kernel stores to. */
void tkq_check_contents(const tkq_numbers *n, const tkq_walk *w, tk_env *e);

/* With the relations that are on put in place of quantities. */
const tkq_poly *tkq_related(const tkq_numbers *n, const tkq_poly *p);
const tkq_form *tkq_related_form(const tkq_numbers *n, const tkq_form *f);
/* What the relations that are on state as facts. */
const tkq_form *tkq_facts_of(const tkq_numbers *n);

#endif
