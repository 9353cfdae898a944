/* precision.h - a kernel beside itself in float64.
 *
 * Beside each block of floats stands a block of doubles: what the lanes would
 * be if every operation so far had been done in float64.  A block without one
 * is exact itself.  Lanes whose error passes a bound are marked with the
 * operation that did it, and reported where they reach memory.
 */
#ifndef TK_CHECK_PRECISION_H
#define TK_CHECK_PRECISION_H

#include "interp/check/check.h"

enum {
  PREC_ROW = 256,   /* lanes that are looked at in one go */
  PREC_CHAIN = 8,   /* additions to its own result that make a running sum */
  PREC_SIZES = 2048 /* exponents of a double */
};

typedef uint16_t prec_id; /* number of a source + 1; 0: the lane is accurate */

/* What stands beside a slot. */
typedef struct prec_shadow {
  bool present;
  tki_val exact;     /* fp64 lanes; one lane when the slot has only one */
  tki_val marks;     /* prec_id lanes; a scalar 0 if no lane has a mark */
  tk_dtype coarsest; /* the coarsest format that the lanes went through */
  bool tf32;         /* they went through products of rounded operands */
  /* Of a running sum: `chain` says how often the instruction `adds` has added
   * to its own result, `kept` is the coarsest format that the sum itself was
   * in, and `cast` what it was cast to since then, which counts only if the
   * sum goes on from there. */
  const tk_inst *adds;
  uint32_t chain;
  tk_dtype kept, cast;
} prec_shadow;

/* The first operation of a program whose error passed the bound. */
typedef struct prec_source {
  const tk_inst *in;
  tkc_place at;
  size_t lane;
  double value, exact, x[2]; /* x are the operands */
  uint64_t trip;             /* of the innermost loop, from 1; 0: no loop */
  double bound;
  uint32_t chain;
  tk_dtype d, kept;
} prec_source;

/* Errors of memory that programs wrote: the exact value minus the value. */
typedef struct prec_page {
  uint64_t number; /* address / PREC_PAGE */
  int shift;       /* log2 of the bytes of an element */
  tk_dtype coarsest;
  bool tf32;
  float *error;
} prec_page;

/* A histogram of the exponents of numbers. */
typedef struct prec_sizes {
  uint32_t count[PREC_SIZES];
  uint32_t n;
} prec_sizes;

/* A lane of a running sum in fp32 that stalls: it does not grow any more. */
typedef struct prec_stall {
  size_t lane;
  uint32_t chain, trips;
  double error; /* of the lane before it stalled */
} prec_stall;

typedef struct prec {
  tkc *c;
  tki_observer observer;
  prec_shadow none; /* stands for a frame's table before it has one */
  bool sampled;     /* not every program runs in float64 */
  uint64_t programs;
  TK_VEC(prec_source) sources;
  prec_id *last;       /* by instruction number: its newest source */
  prec_sizes **sizes;  /* by instruction number: of what it stored so far */
  prec_sizes inputs;   /* of what was loaded */
  prec_stall **stalls; /* by instruction number */
  prec_shadow *returned;
  size_t nreturned, cap_returned;
  prec_page **pages; /* hash table */
  size_t npages, cap_pages;
  prec_page *page; /* the page that was used last */
  bool *kept;      /* by region: programs read it, so that errors are kept */
  bool *paged;     /* by region: whether it has pages; the last one is for
                      pointers that belong to any region */
} prec;

static inline bool prec_is_float(const tk_type *t) {
  return !t->ptr && tk_is_float((tk_dtype)t->elem);
}

/* ---- precision.c --------------------------------------------------------- */

/* Returns what stands beside a slot; NULL: the slot's own value is exact. */
prec_shadow *prec_of(const tki *t, int slot);
/* Puts s beside the slot, which holds the values of s from then on. */
void prec_set(tki *t, int slot, prec_shadow s);
void prec_clear(tki *t, int slot);
void prec_drop(tki *t, prec_shadow *s);
prec_shadow prec_share(const prec_shadow *s);

/* ---- precision_ops.c: what each instruction is in float64 ---------------- */

void prec_pass(prec *p, tki *t, const tk_inst *in, const tki_val *args);

/* ---- precision_judge.c: errors and where they come from ---------------- */

/* The result of an instruction, whose exact lanes have been computed. */
typedef struct prec_result {
  prec *p;
  tki *t;
  const tk_inst *in;
  const tki_val *args;
  const char *value; /* the program's own lanes */
  tk_dtype d;
  size_t n;
  prec_shadow *s;
  bool differs; /* some lane is not exact */
  /* How far a lane may be off, and a lane whose operands are marked; both are
   * computed when first needed. */
  double bound, strict;
  double slack; /* the error that the operation itself cannot avoid */
  bool marked;  /* an operand has marks */
  prec_id mark; /* of all lanes, if the operation mixes lanes */
} prec_result;

/* How far a value of a format may be off, relative to its size; `sum` says that
 * it is a running sum, which is kept in that format. */
double prec_bound(tk_dtype d, bool sum);
tk_dtype prec_coarser(tk_dtype a, tk_dtype b);
/* Converts lanes to doubles. */
void prec_widen(tk_dtype d, double *to, const void *from, size_t n);
/* Compares n <= PREC_ROW lanes from `at` on with the exact ones, and marks
 * those that are off by more than the bound. */
void prec_judge(prec_result *r, size_t at, size_t n);
/* A number of a format as text. */
const char *prec_number(prec *p, tk_dtype d, double x);
/* Counts a number in a histogram of exponents. */
void prec_size(prec_sizes *s, double x);
/* A power of two near the median; 0 when no number was counted. */
double prec_median(const prec_sizes *s);
/* Errors below this do not count. */
double prec_noise(const prec *p);
/* The smallest normal number of a format. */
double prec_smallest(tk_dtype d);
void prec_report(prec *p, tki *t, const prec_source *b, uint64_t addr,
                 tk_dtype d, double value, double exact);

/* ---- precision_stall.c --------------------------------------------------- */

/* Called when a running sum in fp32 was added to: reports lanes that stall. */
void prec_stalls(prec_result *r);

/* ---- precision_memory.c -------------------------------------------------- */

void prec_load(prec *p, tki *t, const tk_inst *in, const tki_val *args);
/* `watched` says that the program is run in float64 as well. */
void prec_store(prec *p, tki *t, const tk_inst *in, const tki_val *args,
                bool watched);
void prec_atomic(prec *p, tki *t, const tk_inst *in, const tki_val *args,
                 bool watched);

#endif
