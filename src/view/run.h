/* run.h - one run as a view sees it: what every program costs, who touches
 * which element, and the steps of the programs that are kept.
 *
 * It sees operations as they run without it: blocks stay symbolic, accesses go
 * by rows.  Only the values of programs that are kept are written out.
 *
 * All of it lies in an arena that is freed when the run has become text, but
 * for the texts of the programs, which tkw_run_end frees.
 */
#ifndef TK_VIEW_RUN_H
#define TK_VIEW_RUN_H

#include "interp/check/undefined.h"
#include "interp/interp.h"

/* What a program, or an instruction of the user's code, did. */
typedef struct tkw_cost {
  uint64_t calls, ticks;
  uint64_t read, written; /* bytes, of active lanes */
  uint64_t lanes, off;    /* of accesses; of these, those that a mask stops */
  uint64_t flops;
} tkw_cost;

/* Who touched the elements of a tensor, or of several that share memory. */
enum {
  TKW_READ = 1,
  TKW_WRITTEN = 2,
  TKW_CONTESTED = 4, /* written by more than one program */
};
typedef struct tkw_cover {
  size_t home;      /* the region whose cover stands for this one's */
  uint64_t n;       /* elements; 0: they are not followed */
  uint8_t *flags;   /* by element */
  uint32_t *writer; /* the last one, as an index + 1 */
  bool atomic;      /* some write was atomic */
} tkw_cover;

/* A program whose steps are kept. */
typedef struct tkw_program {
  uint64_t index;
  tk_buf steps; /* those that are complete, with commas between them */
  /* of the step that is open */
  tk_buf values, accesses, ops, undefined;
  bool open;
  size_t nvalues, nsteps, dropped;
  /* what the open step is of */
  const tki_frame *frame;
  const tk_stmt *stmt;
  uint64_t trips;
  /* of an operation that has begun: what it works on, by number in the step */
  const tk_inst *in;
  size_t from[4], nfrom;
  /* the one that has ended last, and the number of its first result */
  const tk_inst *ended;
  bool operation; /* it is one that is shown with its operands */
  size_t first_result;
} tkw_program;

typedef struct tkw_run {
  tki_observer observer;
  tki *t; /* NULL: none is watched */
  tk_arena arena;
  uint64_t programs, every; /* of the grid; programs of an entry of `by` */
  uint64_t nby, started, ended;
  tkw_cost *by;      /* of programs */
  uint64_t *begun;   /* by program: when it began, from 1; NULL: too many */
  tkw_cost *sites;   /* by instruction of the user's code */
  tkw_cover *covers; /* by region */
  tkw_program *kept;
  size_t nkept, share;      /* bytes that each may take */
  uint64_t index;           /* of the program that ran last, */
  tkw_program *now;         /* ... that itself, if it is kept */
  tkw_cost *cost;           /* ... and its entry of `by`; NULL: none ran */
  bool follows;             /* undefined lanes are known */
  tkc_undefined *undefined; /* what follows them; NULL: a detector does */
  tkw_cost *program, *site; /* what the open interval belongs to */
  double seconds;
  uint64_t ticks, last;
} tkw_run;

#define TKW_NO_PROGRAM UINT64_MAX

/* Watches a run that is about to start; the steps of all programs take at most
 * so many bytes.  Steps of the program `also` are kept in any case. */
void tkw_run_begin(tkw_run *r, tki *t, size_t bytes, uint64_t also);
/* The same of a side run, whose observers are to be those that it returns. */
tki_observer *tkw_run_aside(tkw_run *r, tki *t, size_t bytes, uint64_t also);
/* Lanes are followed no longer.  What follows them may hold values of the run,
 * and must be gone before those are. */
void tkw_run_unfollow(tkw_run *r);
void tkw_run_end(tkw_run *r);

/* step.c: what a program that is kept does. */
void tkw_step_frame(tkw_run *r, tkw_program *p, tki *t);
void tkw_step_begins(tkw_run *r, tkw_program *p, tki *t, const tk_inst *in,
                     const tki_val *slots);
void tkw_step_access(tkw_run *r, tkw_program *p, tki *t, const tki_access *a);
void tkw_step_ends(tkw_run *r, tkw_program *p, tki *t, const tk_inst *in,
                   const tki_val *slots);
/* ... and once the detectors have seen it. */
void tkw_step_undefined(const tkw_run *r, tkw_program *p, tki *t,
                        const tk_inst *in);
void tkw_step_close(tkw_program *p);

/* cover.c */
void tkw_covers_new(tkw_run *r, tki *t);
/* Notes an access of a program; returns its active lanes. */
uint64_t tkw_cover_access(tkw_run *r, const tki_access *a, uint64_t program);
/* The lists of a tensor's elements, as members of an object. */
void tkw_put_cover(tk_buf *out, const tkw_run *r, size_t region);

/* value.c */
/* A value as an object; at most so many of its lanes are written. */
void tkw_put_value(tk_buf *out, const tki *t, const char *name,
                   const tk_type *type, const tki_val *v, size_t lanes);
void tkw_put_lane(tk_buf *out, tk_dtype d, const void *lane);
/* A number of lanes along each axis of a shape, no more than `most` of them in
 * all: every step[k]-th. */
void tkw_sample(const tk_type *type, size_t most, size_t step[TK_MAX_RANK]);
/* "fp32[64, 64]" as a JSON string. */
void tkw_put_type(tk_buf *out, const tk_type *type);
/* The members "shape"; "lo" and "hi" of a box; "base" and "step" of addresses
 * that are affine, in elements, or false: they are not of whole ones. */
void tkw_put_shape(tk_buf *out, const tk_type *type);
void tkw_put_box(tk_buf *out, const tki_sym *s);
bool tkw_put_elements(tk_buf *out, const tki_sym *s, const tki_region *r);
/* The element of a region that an address is of, from its first one. */
static inline int64_t tkw_element(const tki_region *r, uint64_t addr) {
  return (int64_t)(addr - r->lo) / (int64_t)tk_dtypes[r->tensor->dtype].size;
}

#endif
