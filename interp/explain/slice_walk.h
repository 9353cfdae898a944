/* slice_walk.h - following the values of a trace back, for slices and for lists
 * of what was read.
 */
#ifndef TK_EXPLAIN_SLICE_WALK_H
#define TK_EXPLAIN_SLICE_WALK_H

#include "interp/explain/slice.h"

/* One lane of a value. */
typedef struct tke_at {
  tke_ref ref;
  size_t lane;
} tke_at;

typedef struct tke_seen {
  tke_at *items; /* a hash table, in which ref 0 stands for a free entry */
  size_t n, cap;
} tke_seen;

typedef struct tke_walk {
  tke_trace *x;
  tk_arena arena;
  tke_operands scratch;
} tke_walk;

/* Adds a lane; returns whether it is new. */
bool tke_seen_add(tke_walk *w, tke_seen *s, tke_at at);

static inline tke_at tke_operand_at(const tke_node *n, tke_operand o) {
  return (tke_at){n->refs[o.arg], o.lane};
}
static inline const tke_node *tke_at_node(const tke_walk *w, tke_at at) {
  return tke_trace_node(w->x, at.ref);
}

/* Goes back over copies, moves of lanes and casts that change nothing. */
tke_at tke_settle(tke_walk *w, tke_at at);
bool tke_is_const(tke_walk *w, tke_at at);
/* Whether a node is a load whose lane was active; if so, gives the address. */
bool tke_loaded(const tke_node *n, size_t lane, uint64_t *addr);
/* The address of a lane of an access. */
uint64_t tke_node_address(const tke_node *n, size_t lane);
/* The tensor that this address belongs to; NULL if none. */
const tki_region *tke_node_region(const tke_walk *w, const tke_node *n,
                                  size_t lane);
/* If the traced program itself had stored what a node read, gives the value
 * that it stored; else returns false. */
bool tke_follow_store(tke_walk *w, const tke_node *n, size_t lane, tke_at *to);
/* Whether something that was read from memory went into a value. */
bool tke_reads_memory(tke_walk *w, tke_at at);

/* Whether another value went into a value, a few steps back. */
bool tke_leads_to(tke_walk *w, tke_at at, tke_at to);

/* The way from a value in a loop back to what the same instruction gave in an
 * earlier trip: for each step the operand to follow, or TKE_STORED for what was
 * stored to the memory that was read. */
enum { TKE_PATH = 32, TKE_STORED = -1 };
typedef struct tke_path {
  int args[TKE_PATH];
  int n;
  tke_at to;
} tke_path;
/* Finds that way; false if the value does not depend on an earlier trip. */
bool tke_recurs(tke_walk *w, tke_at at, tke_path *out);
/* Where the same way leads from another value; ref 0 if nowhere. */
tke_at tke_path_follow(tke_walk *w, tke_at at, const tke_path *p);

/* The elements of one tensor that one load read. */
typedef struct tke_reads {
  const tke_node *node;     /* the load, in its last trip; NULL if there were
                               more loads than are listed */
  size_t lane;              /* a lane of the load */
  const tki_region *region; /* the tensor, or NULL */
  uint64_t addr;            /* of the first element */
  size_t n;                 /* how many there are */
  bool is_box; /* they lie in the box from lo to hi, both included */
  int64_t lo[TK_MAX_RANK], hi[TK_MAX_RANK];
} tke_reads;

/* Calls fn for each load, and tensor, whose elements went into a value.  Goes
 * back as far as `base`, or all the way if its ref is 0. */
void tke_slice_loads(tke_walk *w, tke_at at, tke_at base,
                     void (*fn)(void *ud, const tke_reads *r), void *ud);

#endif
