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
  TKC_PREC_ROW = 256, /* lanes that are looked at in one go */
  TKC_PREC_CHAIN = 8, /* additions to its own result that make a running sum */
  TKC_PREC_SIZES = 2048 /* exponents of a double */
};

typedef uint16_t
    tkc_prec_id; /* number of a source + 1; 0: the lane is accurate */

/* What stands beside a slot. */
typedef struct tkc_prec_shadow {
  bool present;
  tki_val exact;     /* fp64 lanes; one lane when the slot has only one */
  tki_val marks;     /* tkc_prec_id lanes; a scalar 0 if no lane has a mark */
  tk_dtype coarsest; /* the coarsest format that the lanes went through */
  bool rounded;      /* they went through sums or products of many terms that
                        were rounded */
  /* Of a running sum: `chain` says how often the instruction `adds` has added
   * to its own result, `kept` is the coarsest format that the sum itself was
   * in, and `cast` what it was cast to since then, which counts only if the
   * sum goes on from there. */
  const tk_inst *adds;
  uint32_t chain;
  tk_dtype kept, cast;
} tkc_prec_shadow;

/* The first operation of a program whose error passed the bound. */
typedef struct tkc_prec_source {
  const tk_inst *in;
  tkc_place at;
  size_t lane;
  double value, exact, x[2]; /* x are the operands */
  uint64_t trip;             /* of the innermost loop, from 1; 0: no loop */
  double bound;
  uint32_t chain;
  tk_dtype d, kept;
  const tk_inst *cast; /* the cast of an operand that dropped the digits, at
                          which `at` is then; NULL: there is none */
  tkc_place used;      /* where `in` is */
} tkc_prec_source;

/* Errors of memory that programs wrote: the exact value minus the value. */
typedef struct tkc_prec_page {
  uint64_t number; /* address / TKC_PREC_PAGE */
  int shift;       /* log2 of the bytes of an element */
  tk_dtype type;   /* of what was stored */
  tk_dtype coarsest;
  bool rounded;
  float *error;
  float *given; /* the part of the error that additions in memory were given
                   with their operands; NULL: there were no additions */
} tkc_prec_page;

/* A histogram of the exponents of numbers. */
typedef struct tkc_prec_sizes {
  uint32_t count[TKC_PREC_SIZES];
  uint32_t n;
  double squares; /* the sum of the numbers' squares */
} tkc_prec_sizes;

/* A lane of a running sum in fp32 that stalls: it does not grow any more. */
typedef struct tkc_prec_stall {
  size_t lane;
  uint32_t chain, trips;
  double error; /* of the lane before it stalled */
  double lost;  /* sum of what has been added since then in vain */
} tkc_prec_stall;

/* An element that was stored and is off. */
typedef struct tkc_prec_off {
  uint64_t addr;
  tk_dtype d;
  double value, exact;
  double beside; /* its error is small beside numbers of this size */
  const tkc_prec_sizes *stored; /* of what is stored there */
  bool rounded; /* the error is of terms that were rounded: it is the same
                   however small their sum is */
} tkc_prec_off;

/* What this launch has reported of a place. */
typedef struct tkc_prec_told {
  tk_diag *diag; /* NULL: it was withdrawn */
  tkc_place at;
  tkc_prec_off off;
} tkc_prec_told;

typedef struct tkc_prec {
  tkc *c;
  tki_observer observer;
  tkc_prec_shadow none; /* stands for a frame's table before it has one */
  bool sampled;         /* not every program runs in float64 */
  uint64_t programs;
  TK_VEC(tkc_prec_source) sources;
  TK_VEC(tkc_prec_told) told;
  tkc_prec_id *last;       /* by instruction number: its newest source */
  tkc_prec_sizes **sizes;  /* by instruction number: of what it stored so far */
  tkc_prec_sizes inputs;   /* of what was loaded */
  tkc_prec_stall **stalls; /* by instruction number */
  tkc_prec_shadow *returned;
  size_t nreturned, cap_returned;
  tkc_prec_page **pages; /* hash table */
  size_t npages, cap_pages;
  tkc_prec_page *page; /* the page that was used last */
  /* A twin (twin.h) judges nothing, keeps every error, and follows numbers
   * through functions that jump. */
  bool twin;
  uint64_t noise; /* a twin's random numbers; 0: it computes exactly */
  bool *kept;     /* by region: programs read it, so that errors are kept */
  bool *paged;    /* by region: whether it has pages; the last one is for
                     pointers that belong to any region */
} tkc_prec;

static inline bool tkc_prec_is_float(const tk_type *t) {
  return !t->ptr && tk_is_float((tk_dtype)t->elem);
}

/* ---- precision.c --------------------------------------------------------- */

/* Returns what stands beside a slot; NULL: the slot's own value is exact. */
tkc_prec_shadow *tkc_prec_of(const tki *t, int slot);
/* Puts s beside the slot, which holds the values of s from then on. */
void tkc_prec_set(tki *t, int slot, tkc_prec_shadow s);
void tkc_prec_clear(tki *t, int slot);
void tkc_prec_drop(tki *t, tkc_prec_shadow *s);
tkc_prec_shadow tkc_prec_share(const tkc_prec_shadow *s);

/* A shadow run, which is observed from then on; NULL: no detector's. */
tkc_prec *tkc_prec_begin(tkc *c, tki *t, bool twin);

/* ---- precision_ops.c: what each instruction is in float64 ---------------- */

void tkc_prec_pass(tkc_prec *p, tki *t, const tk_inst *in, const tki_val *args);

/* ---- precision_judge.c: errors and where they come from ---------------- */

/* The result of an instruction, whose exact lanes have been computed. */
typedef struct tkc_prec_result {
  tkc_prec *p;
  tki *t;
  const tk_inst *in;
  const tki_val *args;
  const char *value; /* the program's own lanes */
  tk_dtype d;
  size_t n;
  tkc_prec_shadow *s;
  bool differs; /* some lane is not exact */
  /* How far a lane may be off, and a lane whose operands are marked; both are
   * computed when first needed. */
  double bound, strict;
  double slack;     /* the error that the operation itself cannot avoid */
  bool marked;      /* an operand has marks */
  tkc_prec_id mark; /* of all lanes, if the operation mixes lanes */
} tkc_prec_result;

/* Converts lanes to doubles. */
void tkc_prec_widen(tk_dtype d, double *to, const void *from, size_t n);
/* Compares n <= TKC_PREC_ROW lanes from `at` on with the exact ones, and marks
 * those that are off by more than the bound. */
void tkc_prec_judge(tkc_prec_result *r, size_t at, size_t n);

/* ---- precision_sizes.c --------------------------------------------------- */

/* How far a value of a format may be off, relative to its size; `sum` says that
 * it is a running sum, which is kept in that format. */
double tkc_prec_bound(tk_dtype d, bool sum);
tk_dtype tkc_prec_coarser(tk_dtype a, tk_dtype b);
/* Counts a number in a histogram of exponents. */
void tkc_prec_size(tkc_prec_sizes *s, double x);
/* A power of two near the median; 0 when no number was counted. */
double tkc_prec_median(const tkc_prec_sizes *s);
/* The root of the mean square of those numbers; 0 when there is none. */
double tkc_prec_rms(const tkc_prec_sizes *s);
/* Errors below this do not count. */
double tkc_prec_noise(const tkc_prec *p);
/* The smallest normal number of a format. */
double tkc_prec_smallest(tk_dtype d);

/* ---- precision_report.c -------------------------------------------------- */

/* A number of a format as text. */
const char *tkc_prec_number(tkc_prec *p, tk_dtype d, double x);
/* Reports that an element is off, and where that comes from. */
void tkc_prec_report(tkc_prec *p, tki *t, const tkc_prec_source *b,
                     tkc_prec_off off);
/* The launch ends: withdraws what is small beside all that it has stored. */
void tkc_prec_conclude(tkc_prec *p);

/* ---- precision_noise.c: what a correct engine may compute instead -------- */

/* Moves n lanes of the result, from `at` on, by as much as the operation may be
 * off where another engine does it; x are the lanes of its first operand, one
 * if `one`. */
void tkc_prec_disturb(tkc_prec_result *r, size_t at, size_t n, const double *x,
                      bool one);
/* The same of a sum or product of many lanes; squares are the sums of the
 * squares of what was added up, NULL where a product was made. */
void tkc_prec_disturb_sums(tkc_prec_result *r, size_t terms,
                           const double *squares);
/* An operand of a product, n lanes, as the product rounds it. */
void tkc_prec_disturb_operand(tkc_prec *p, const tk_inst *in, double *x,
                              size_t n);
/* How far the result of an operation that nothing computes in float64 may be
 * off, relative to its size. */
double tkc_prec_unknown_noise(const tk_inst *in, tk_dtype d);
/* Moves n lanes by a part of their sizes, or of `least` where they are
 * smaller. */
void tkc_prec_disturb_lanes(tkc_prec *p, double *e, size_t n, double relative,
                            double least);
/* A sum in memory. */
double tkc_prec_disturb_added(tkc_prec *p, tk_dtype d, double sum, double term);

/* ---- precision_stall.c --------------------------------------------------- */

/* Called when a running sum in fp32 was added to: reports lanes that stall. */
void tkc_prec_stalls(tkc_prec_result *r);

/* ---- precision_memory.c -------------------------------------------------- */

void tkc_prec_load(tkc_prec *p, tki *t, const tk_inst *in, const tki_val *args);
/* `watched` says that the program is run in float64 as well. */
void tkc_prec_store(tkc_prec *p, tki *t, const tk_inst *in, const tki_val *args,
                    bool watched);
void tkc_prec_atomic(tkc_prec *p, tki *t, const tk_inst *in,
                     const tki_val *args, bool watched);
/* The error of the element of `size` bytes at an address, 0 if it has none. */
double tkc_prec_error(tkc_prec *p, uint64_t addr, size_t size);
/* The type of the elements from `lo` to `hi` that have errors, where they are
 * all of one; else TK_DTYPE_COUNT. */
tk_dtype tkc_prec_stored(const tkc_prec *p, uint64_t lo, uint64_t hi);

#endif
