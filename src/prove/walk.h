/* walk.h - a kernel, walked once for all launches: what its accesses touch.
 *
 * The result speaks of the quantities of the launch (launch.h) by their own
 * atoms; which of them are related is put in later.
 */
#ifndef TK_PROVE_WALK_H
#define TK_PROVE_WALK_H

#include "ir/ir.h"
#include "prove/term.h"

/* A place to tell of: of what stands in a function of tkdbg's own, where that
 * is called. */
typedef struct tkq_site {
  const tk_func *func;
  tk_span span;
} tkq_site;

/* Arithmetic on integers of a type, which must not leave its range. */
typedef struct tkq_wrap {
  const tk_func *func;
  const tk_inst *inst;
  const tkq_poly *p;
  int64_t lo, hi;
  const tkq_form *path; /* of what branches and loops depend on */
  tkq_site site;
} tkq_wrap;

typedef struct tkq_wraps {
  tkq_wrap *items;
  size_t n, cap;
} tkq_wraps;

typedef enum tkq_value_kind {
  TKQ_UNDEFINED,
  TKQ_OTHER, /* a float, or a pointer to nobody knows what */
  TKQ_INT,
  TKQ_BOOL,
  TKQ_POINTER,
} tkq_value_kind;

/* A slot's value, in every lane. */
typedef struct tkq_value {
  tkq_value_kind kind;
  const tkq_poly *p;      /* INT; POINTER: elements after the tensor's first */
  const tkq_form *f;      /* BOOL */
  size_t tensor;          /* POINTER: the index of the argument */
  const tkq_wraps *wraps; /* what it was computed by; NULL: nothing */
} tkq_value;

typedef struct tkq_access {
  const tk_func *func;
  const tk_inst *inst;
  bool writes, atomic;
  bool known; /* what the pointer points into; else only inst counts */
  size_t tensor;
  const tkq_poly *p; /* NULL: not kept */
  const tkq_form *mask, *path;
  tk_type type;
  const tkq_wraps *address, *lanes; /* of the pointers, of the mask */
  tkq_site site;
} tkq_access;

/* A load of integers: what the atom of that number stands for. */
typedef struct tkq_load {
  int datum;
  size_t tensor;
  int rank;
  const tkq_poly *p; /* by lane */
  const tkq_form *mask;
} tkq_load;

/* What the walk could not follow. */
typedef struct tkq_gap {
  const tk_func *func;
  tk_span span;
  const char *why;
} tkq_gap;

/* An assertion or assumption: it holds in each lane where `path` does. */
typedef struct tkq_claim {
  const tk_func *func;
  const tk_inst *inst;
  const tkq_form *f, *path;
  tk_type type;
  const tkq_wraps *wraps;
} tkq_claim;

typedef struct tkq_walk {
  tkq_terms *terms;
  const tk_program *program;
  const tkq_value *params; /* by slot of the kernel */
  /* results */
  TK_VEC(tkq_access) accesses;
  TK_VEC(tkq_load) loads;
  TK_VEC(tkq_claim) claims;
  TK_VEC(tkq_gap) endless; /* loops that may not end */
  tkq_wraps control;       /* of branches and loops: in every case */
  bool inexact;            /* paths may be wider than what runs */
  bool lost;               /* something runs that was not followed */
  bool asks[3];            /* for its place along each axis of the grid */
  /* while walking */
  const tkq_form *path;
  int loops, depth, dry;
  tkq_site site; /* func NULL: where the instruction is */
} tkq_walk;

void tkq_walk_program(tkq_walk *w);

/* What an instruction gives (value.c); `at` is the frame's slots. */
tkq_value tkq_evaluate(tkq_walk *w, const tk_func *f, const tk_inst *in,
                       const tkq_value *slots);
/* An integer of a type of which nothing else is known. */
tkq_value tkq_unknown_value(tkq_walk *w, const tk_type *type, const char *why);
/* The range of an integer type; false: it is none. */
bool tkq_range(tk_dtype d, int64_t *lo, int64_t *hi);
/* The place that an instruction is told of by. */
tkq_site tkq_site_of(const tkq_walk *w, const tk_func *f, tk_span span);
const tkq_wraps *tkq_join(tkq_walk *w, const tkq_wraps *a, const tkq_wraps *b);

#endif
