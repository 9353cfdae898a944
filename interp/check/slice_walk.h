/* slice_walk.h - following values of a trace back; what slices and the lists of
 * loads share.
 */
#ifndef TK_CHECK_SLICE_WALK_H
#define TK_CHECK_SLICE_WALK_H

#include "interp/check/slice.h"

/* A lane of a value. */
typedef struct tkc_at {
  tkc_ref ref;
  size_t lane;
} tkc_at;

typedef struct tkc_seen {
  tkc_at *items; /* a hash table, in which ref 0 stands for a free entry */
  size_t n, cap;
} tkc_seen;

typedef struct tkc_walk {
  tkc_trace *x;
  tk_arena arena;
  tkc_operands scratch;
} tkc_walk;

/* Adds a lane; returns true if it was not there yet. */
bool tkc_seen_add(tkc_walk *w, tkc_seen *s, tkc_at at);

static inline tkc_at tkc_operand_at(const tkc_node *n, tkc_operand o) {
  return (tkc_at){n->refs[o.arg], o.lane};
}
static inline const tkc_node *tkc_at_node(const tkc_walk *w, tkc_at at) {
  return tkc_trace_node(w->x, at.ref);
}

/* Goes back past copies, moved lanes and conversions that change nothing. */
tkc_at tkc_settle(tkc_walk *w, tkc_at at);
bool tkc_is_const(tkc_walk *w, tkc_at at);
/* Whether a node is a load whose lane was active; gives the address then. */
bool tkc_loaded(const tkc_node *n, size_t lane, uint64_t *addr);
/* The address of a lane of an access. */
uint64_t tkc_node_address(const tkc_node *n, size_t lane);
/* The tensor that the address belongs to; NULL: none. */
const tki_region *tkc_node_region(const tkc_walk *w, const tkc_node *n,
                                  size_t lane);
/* Gives the value that this program itself had stored to what a node read;
 * returns false if it had not. */
bool tkc_follow_store(tkc_walk *w, const tkc_node *n, size_t lane, tkc_at *to);
/* Whether the value was made of something that was read from memory. */
bool tkc_reads_memory(tkc_walk *w, tkc_at at);

/* Whether a value was made of another one, a few steps back. */
bool tkc_leads_to(tkc_walk *w, tkc_at at, tkc_at to);

/* The way from a value in a loop to what the same instruction gave in an
 * earlier trip: the number of the operand to follow at each step, or
 * TKC_STORED. */
enum { TKC_PATH = 32, TKC_STORED = -1 };
typedef struct tkc_path {
  int args[TKC_PATH];
  int n;
  tkc_at to;
} tkc_path;
bool tkc_recurs(tkc_walk *w, tkc_at at, tkc_path *out);
/* Returns where the same way leads to from another value; ref 0: nowhere. */
tkc_at tkc_path_follow(tkc_walk *w, tkc_at at, const tkc_path *p);

/* The elements of one tensor that one load read. */
typedef struct tkc_reads {
  const tkc_node *node;     /* the load, in its last trip; NULL: there is more
                               than is listed */
  size_t lane;              /* of it */
  const tki_region *region; /* NULL: no tensor */
  uint64_t addr;            /* of the first */
  size_t n;
  bool is_box; /* they lie in the box from lo to hi, both in it */
  int64_t lo[TK_MAX_RANK], hi[TK_MAX_RANK];
} tkc_reads;

/* Calls fn for each tensor and load that a value was read from, going back as
 * far as `base`, or all the way if its ref is 0. */
void tkc_slice_loads(tkc_walk *w, tkc_at at, tkc_at base,
                     void (*fn)(void *ud, const tkc_reads *r), void *ud);

#endif
