/* value.h - the values of the generator: blocks by layout, and the slots and
 * frames of functions that hold them. */
#ifndef TK_NVPTX_VALUE_H
#define TK_NVPTX_VALUE_H

#include "ir/ir.h"
#include "nvptx/code.h"
#include "nvptx/swizzle.h"

typedef struct tkv_gen tkv_gen;
typedef struct tkv_value tkv_value;
typedef struct tkv_frame tkv_frame;

/* The registers of a block in one layout. */
typedef struct tkv_version {
  tkv_dist dist;
  tkv_reg *reg; /* 1 << dist.nreg of them */
  struct tkv_version *next;
} tkv_version;

/* A block in shared memory. */
typedef struct tkv_placed {
  tk_type type;
  tkv_places places;
  tkv_reg area; /* its address */
  bool is_tile; /* wgmma can read it */
} tkv_placed;

struct tkv_value {
  tk_type type;
  tkv_reg one;       /* a scalar, or a lane of a combine function */
  tkv_version *home; /* NULL: it is computed in whatever layout is wanted */
  /* the area of shared memory that is its home for now, or NULL */
  tkv_placed *placed;
  tkv_version *versions; /* newest first; not home */
  /* the instruction that computes it, and its operands */
  const tk_inst *in;
  tkv_value **args;
  tkv_frame *frame; /* around `in` */
};

/* A slot that several paths assign. */
typedef struct tkv_merge {
  tk_type type;
  tkv_dist dist;
  tkv_reg *at; /* one variable for each register; NULL: not made yet */
} tkv_merge;

/* A function that is inlined. */
struct tkv_frame {
  const tk_func *f;
  const tkv_frame *caller; /* NULL: the kernel's own */
  tk_span called;          /* where, in the caller */
  bool lanes;              /* a combine function: each value is one lane */
  tkv_value **value;       /* by slot */
  tkv_merge *merge;        /* by slot */
  uint8_t *makers; /* by slot: how many instructions give it a value; 2 and
                      more make it a merge */
  tkv_label exit;
  tkv_value **result;
  tkv_merge *results; /* used if there are several returns */
};

/* ---- gen_value.c --------------------------------------------------------- */

tkv_value *tkv_new_value(tkv_gen *g, tk_type t);
tkv_value *tkv_scalar(tkv_gen *g, tk_type t, tkv_reg one);
/* A block whose home is that layout, with registers to be filled in, or
 * these. */
tkv_value *tkv_block(tkv_gen *g, tk_type t, const tkv_dist *d);
tkv_value *tkv_block_of(tkv_gen *g, tk_type t, const tkv_dist *d, tkv_reg *reg);
/* The block's registers in that layout; of a scalar, all are that one. */
tkv_reg *tkv_at(tkv_gen *g, tkv_value *v, const tkv_dist *d);
/* The same; NULL: threads of several warps would have to exchange lanes. */
tkv_reg *tkv_at_in_warp(tkv_gen *g, tkv_value *v, const tkv_dist *d);
/* The value that a value's lanes are moved from; *d becomes its layout. */
tkv_value *tkv_origin(tkv_value *v, tkv_dist *d);
/* Its home; where it has none, the usual layout of its shape. */
tkv_dist tkv_home_of(tkv_gen *g, const tkv_value *v);
/* Whether a value that moves lanes leaves their type as it is: a copy may also
 * take the bits of a float for an integer. */
bool tkv_same_lanes(const tkv_value *v);
/* The registers of a value that is computed where it is wanted. */
tkv_reg *tkv_compute(tkv_gen *g, tkv_value *v, const tkv_dist *d);

/* ---- gen_slot.c ---------------------------------------------------------- */

tkv_value *tkv_get(tkv_gen *g, int slot);
void tkv_set(tkv_gen *g, int slot, tkv_value *v);
static inline tkv_value *tkv_arg(tkv_gen *g, const tk_inst *in, int k) {
  return tkv_get(g, in->args[k]);
}
bool tkv_is_merge(const tkv_gen *g, int slot);
/* A merge's variables, which every way that leads to it stores a value in. */
void tkv_begin_merge(tkv_gen *g, tkv_merge *m, tk_type t, tkv_dist dist);
void tkv_store_merge(tkv_gen *g, tkv_merge *m, tkv_value *v);
tkv_value *tkv_load_merge(tkv_gen *g, const tkv_merge *m);
/* A copy of the current frame, in which the slots that `own` names have merges
 * of their own. These begin with the current values. */
tkv_frame *tkv_fork_frame(tkv_gen *g, const bool *own);

#endif
