/* trace.h - what one program did, kept so that values can be followed back.
 *
 * A tke_trace watches a run and keeps a node for every instruction that one
 * program executes: its operands, its results, and the nodes that its operands
 * came from.  Blocks are held, not copied.  Beside each slot of the program's
 * frames stands the node that defined it (TKI_SHADOW_TRACE), so that the
 * variables of a paused program can be followed as well.  For memory, the trace
 * keeps who wrote each element last in this launch.
 */
#ifndef TK_EXPLAIN_TRACE_H
#define TK_EXPLAIN_TRACE_H

#include "interp/describe.h"

/* One result of a node; 0 if it is not known where a value came from. */
typedef uint64_t tke_ref;

typedef enum tke_node_kind {
  TKE_NODE_INST,
  TKE_NODE_ARG,  /* a runtime argument of the kernel */
  TKE_NODE_LOOP, /* the variable of a for loop; operands: start, end, step */
} tke_node_kind;

typedef struct tke_node {
  tke_node_kind kind;
  uint16_t nargs, nres;
  const tk_inst *in;
  const tk_func *func;
  const tk_func *user_func; /* the user's own code that led here, */
  tk_span user;             /* and where in it */
  int slot; /* ARG, LOOP: the variable; INST of a COND: the result */
  /* The innermost loop of this function or, if it has none, of a caller, and
   * the loop around that; NULL if there is none. */
  const tk_stmt *loop, *outer;
  uint64_t trip, outer_trip;
  tke_ref *refs; /* where the operands came from */
  tki_val *vals; /* operands, then results */
  /* LOAD, ATOMIC, CAS, by lane: who had written what it read, as an index in
   * tke_trace.events + 1, or 0; NULL if nobody had written any of it. */
  uint32_t *writers;
} tke_node;

/* A store or atomic operation, of any program. */
typedef struct tke_writer {
  uint64_t program;
  uint32_t site;
  tke_ref node; /* the store itself, if the traced program made it; else 0 */
} tke_writer;

enum { TKE_CHUNK = 256, TKE_TRACE_MIB = 1024 };

typedef struct tke_chunk {
  tk_arena arena;
  size_t n, bytes;
  tke_node nodes[TKE_CHUNK];
} tke_chunk;

typedef struct tke_trace {
  tki *t;
  tki_observer observer;
  uint64_t program;
  size_t limit, bytes; /* how many bytes it may hold, and holds */
  tke_chunk **chunks;  /* NULL where one was dropped */
  size_t nchunks, cap_chunks, dropped;
  tke_ref *returned; /* what the call that is about to end returns */
  size_t nreturned, cap_returned;
  tke_ref last;      /* the newest store; 0 if that was not followed */
  uint32_t *pending; /* the writers of the node that is about to be made */
  tk_arena arena;
  TK_VEC(tke_writer) events;
  /* By region, page and element: who wrote it last, as in tke_node.writers. */
  uint32_t ***pages;
} tke_trace;

/* Makes x->observer, which must be attached to the run before the program
 * begins. At most `limit` bytes of blocks and nodes are kept; the oldest are
 * dropped first. */
void tke_trace_init(tke_trace *x, tki *t, uint64_t program, size_t limit);
/* Frees what the trace holds.  If the run's pool still exists (`pool`), blocks
 * are given back to it. */
void tke_trace_end(tke_trace *x, bool pool);

/* The node of a ref; NULL if the ref is 0 or the node was dropped. */
const tke_node *tke_trace_node(const tke_trace *x, tke_ref r);
static inline int tke_ref_result(tke_ref r) {
  return (int)(r & 0xFF);
}
/* What defined a slot of a frame of the program that has not ended. */
tke_ref tke_trace_slot(const tki_frame *f, int slot);
/* The type and value of a result; the value belongs to the node. */
const tk_type *tke_node_type(const tke_node *n, int result);
tki_val *tke_node_value(const tke_node *n, int result);
const tk_type *tke_node_arg_type(const tke_node *n, int k);
static inline bool tke_node_is(const tke_node *n, tk_opcode op) {
  return n->kind == TKE_NODE_INST && n->in->op == op;
}
/* Who had written what a lane of an access read; NULL if nobody had. */
const tke_writer *tke_node_writer(const tke_trace *x, const tke_node *n,
                                  size_t lane);

#endif
