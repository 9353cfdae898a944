/* witness.h - what the instructions of one program computed, and which of it a
 * piece of memory was made from.
 *
 * A witness keeps, of one program, every instruction that ran with its lanes,
 * the addresses that they used and the numbers that they left.  Backwards from
 * a store it then follows registers and memory from lane to lane and from warp
 * to warp: a dynamic slice (Korel and Laski, Dynamic Program Slicing, 1988).
 * Where several lanes give something together, as a product of matrices, all of
 * them count: what is found may be more than what the value was made from,
 * never less.  Branches are not followed.
 */
#ifndef TK_PTX_WITNESS_H
#define TK_PTX_WITNESS_H

#include "ptx/ptx.h"

/* A program by its number, counted along the axes of the grid, the first one
 * fastest.  It belongs to the arena. */
tkp_witness *tkp_witness_new(tk_arena *a, uint64_t program);

/* A number that an instruction left in a register of a lane. */
typedef struct tkp_seen {
  const char *file; /* the kernel's, as .file names it; NULL: not named */
  uint32_t line;    /* that the instruction was made of, by .loc */
  uint64_t value;
  uint8_t bits;
  bool loaded; /* from memory */
  uint32_t at; /* the line of the PTX */
} tkp_seen;

typedef enum tkp_testimony {
  TKP_T_SEEN,
  TKP_T_UNWRITTEN, /* the program wrote nothing there */
  TKP_T_NOT_RUN,   /* the program did not run */
  TKP_T_CUT,       /* it did more than is kept */
} tkp_testimony;

/* The numbers that these bytes of global memory were made from, the last one
 * first; an instruction that was inlined counts for each line that it was
 * inlined into.  store gets the line of the kernel that wrote them. */
tkp_testimony tkp_witness_of(tkp_witness *x, uint64_t address, size_t size,
                             const tkp_seen **seen, size_t *n, tkp_seen *store);

/* Calls fn for every number that the program left, whatever was made from it;
 * false ends that. */
typedef bool tkp_seen_fn(void *ud, const tkp_seen *seen);
void tkp_witness_each(tkp_witness *x, tkp_seen_fn *fn, void *ud);

#endif
