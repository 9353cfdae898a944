/* trace.h - what one program did, kept so that a value can be followed back.
 *
 * A tkc_trace watches a run and keeps a node for every instruction of one
 * program: what it read, what it gave, and which nodes defined its operands.
 * Blocks are held, not copied.  Beside each slot of the program's frames
 * stands the node that defined it (TKI_SHADOW_TRACE), so that a slot of a
 * paused frame can be followed as well.  Of memory it keeps who wrote each
 * element last in this launch.
 */
#ifndef TK_CHECK_TRACE_H
#define TK_CHECK_TRACE_H

#include "interp/describe.h"

/* A result of a node; 0 if it is not known where the value came from. */
typedef uint64_t tkc_ref;

typedef enum tkc_node_kind {
  TKC_NODE_INST,
  TKC_NODE_ARG,  /* a runtime argument of the kernel */
  TKC_NODE_LOOP, /* the variable of a for loop; refs: start, end, step */
} tkc_node_kind;

typedef struct tkc_node {
  tkc_node_kind kind;
  uint16_t nargs, nres;
  const tk_inst *in;
  const tk_func *func;
  const tk_func *user_func; /* the user's own code that led to it */
  tk_span user;
  int slot; /* ARG LOOP: the variable; of a COND, the result */
  const tk_stmt
      *loop; /* the innermost, of this function or a caller; or NULL */
  uint64_t trip, outer_trip;
  const tk_stmt *outer; /* the loop around it, or NULL */
  tkc_ref *refs;        /* of the operands */
  tki_val *vals;        /* operands, then results */
  uint32_t *writers;    /* LOAD ATOMIC CAS, by lane: who had written what it
                           read, as a number in tkc_trace.events, + 1; NULL:
                           nobody in this launch */
} tkc_node;

/* A store or atomic operation of any program. */
typedef struct tkc_writer {
  uint64_t program;
  uint32_t site;
  tkc_ref node; /* the store, if it is of the traced program; else 0 */
} tkc_writer;

enum { TKC_CHUNK = 256, TKC_TRACE_MIB = 1024 };

typedef struct tkc_chunk {
  tk_arena arena;
  size_t n, bytes;
  tkc_node nodes[TKC_CHUNK];
} tkc_chunk;

typedef struct tkc_trace {
  tki *t;
  tki_observer observer;
  uint64_t program;
  size_t limit, bytes; /* how many bytes it may hold, and does hold */
  tkc_chunk **chunks;  /* those that were dropped are NULL */
  size_t nchunks, cap_chunks, dropped;
  tkc_ref *returned; /* of the call that ends */
  size_t nreturned, cap_returned;
  tkc_ref last;      /* the program's newest store; 0: it was not followed */
  uint32_t *pending; /* writers, for the node of the access that runs now */
  tk_arena arena;
  TK_VEC(tkc_writer) events;
  uint32_t ***pages; /* by region, page and element: who wrote it last, as in
                        tkc_node.writers */
} tkc_trace;

/* Makes x->observer, which is to be attached to t before t begins with the
 * program.  At most `limit` bytes of blocks and nodes are kept; the oldest go
 * first. */
void tkc_trace_init(tkc_trace *x, tki *t, uint64_t program, size_t limit);
/* Frees what the trace holds.  `pool` says that the run's pool still exists, so
 * that blocks are given back to it. */
void tkc_trace_end(tkc_trace *x, bool pool);

/* The node of a ref; NULL if it is unknown or was dropped. */
const tkc_node *tkc_trace_node(const tkc_trace *x, tkc_ref r);
static inline int tkc_ref_result(tkc_ref r) {
  return (int)(r & 0xFF);
}
/* What defined a slot of a live frame of the program. */
tkc_ref tkc_trace_slot(const tki_frame *f, int slot);
/* The type and value of a result; the value belongs to the node. */
const tk_type *tkc_node_type(const tkc_node *n, int result);
tki_val *tkc_node_value(const tkc_node *n, int result);
const tk_type *tkc_node_arg_type(const tkc_node *n, int k);
static inline bool tkc_node_is(const tkc_node *n, tk_opcode op) {
  return n->kind == TKC_NODE_INST && n->in->op == op;
}
/* Who had written what a lane of an access read; NULL: nobody had. */
const tkc_writer *tkc_node_writer(const tkc_trace *x, const tkc_node *n,
                                  size_t lane);

#endif
