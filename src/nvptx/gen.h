/* gen.h - from a program in single assignment to code for one thread, as the
 * text of LLVM's IR (LangRef of LLVM 19; NVPTXUsage).
 *
 * A block is spread over the threads of a program as a distributed layout
 * (dist.h) says; of each thread's part every register has a name of its own.
 * What is loaded, multiplied or reduced is made in one layout, its home.
 * What can be computed in any (a constant, a range, lane-wise operations and
 * moves of such) is not computed until somebody says in which layout it is
 * needed.  A block that is needed in another layout than its home is converted.
 * So every instruction chooses the layout that suits it, and no pass has to
 * insert or to remove conversions.
 *
 * Calls are inlined.  Slots that are merges live in allocas, which LLVM makes
 * registers of.  Whatever is exchanged through shared memory goes through one
 * scratch area, between two barriers.
 *
 * Values and names belong to the generator's arena.
 */
#ifndef TK_NVPTX_GEN_H
#define TK_NVPTX_GEN_H

#include "nvptx/axis.h"
#include "nvptx/dist.h"

typedef struct tkv_gen tkv_gen;
typedef struct tkv_value tkv_value;

/* The registers of a block in one layout. */
typedef struct tkv_version {
  tkv_dist dist;
  const char **reg; /* 1 << dist.nreg names */
  struct tkv_version *next;
} tkv_version;

struct tkv_value {
  tk_type type;
  const char *one;       /* a scalar, or a lane of a combine function */
  tkv_version *home;     /* NULL: it is computed in whatever layout is wanted */
  tkv_version *versions; /* newest first; not home */
  const tk_inst *in;     /* it is computed by this, of these */
  tkv_value **args;
  struct tkv_frame *frame; /* around `in` */
};

/* A slot that several ways lead to. */
typedef struct tkv_merge {
  tk_type type;
  tkv_dist dist;
  const char **at; /* an alloca for each register; NULL: none yet */
} tkv_merge;

/* A function that is inlined. */
typedef struct tkv_frame {
  const tk_func *f;
  bool lanes;        /* a combine function: each value is one lane */
  tkv_value **value; /* by slot */
  tkv_merge *merge;  /* by slot */
  uint8_t *makers;   /* by slot: how many instructions give it a value; 2 and
                        more make it a merge */
  const char *exit;  /* a label */
  tkv_value **result;
  tkv_merge *results; /* where there are several returns */
} tkv_frame;

struct tkv_gen {
  tk_env *env;
  tk_arena *arena;
  const tk_program *p;
  tkv_facts facts;
  int warps;
  tk_buf entry, body;     /* text: allocas, instructions */
  tk_buf declared, debug; /* text: declarations, metadata */
  tkv_frame *frame;
  TK_VEC(tkv_value *) scoped; /* whose newest version goes with the scope */
  const char *lane, *warp;    /* numbers of this thread: i32 */
  unsigned names, location, locations, files;
  const tk_inst *inst;   /* that is lowered */
  const tk_source *file; /* around it: of the newest location */
  int line;
  size_t scratch;         /* bytes of shared memory */
  const tkv_dist **homes; /* by number of the instruction: its result's */
};

/* ---- gen.c: text, values, control flow ---------------------------------- */

/* Adds an instruction; the name of its result. */
const char *tkv_emit(tkv_gen *g, const char *fmt, ...) TK_PRINTF(2, 3);
/* Adds one without a result, or a label. */
void tkv_do(tkv_gen *g, const char *fmt, ...) TK_PRINTF(2, 3);
void tkv_label(tkv_gen *g, const char *label);
const char *tkv_new_name(tkv_gen *g, const char *what);
/* An operand in the text of an instruction. */
const char *tkv_text(tkv_gen *g, const char *fmt, ...) TK_PRINTF(2, 3);
/* Says once that a function is defined elsewhere: "float @__nv_sinf(float)". */
void tkv_declare(tkv_gen *g, const char *fmt, ...) TK_PRINTF(2, 3);
/* As the text of a string of LLVM's. */
const char *tkv_escaped(tkv_gen *g, const char *s);
/* Reports that the instruction that is lowered cannot be, and why. */
void TK_NORETURN tkv_refuse(tkv_gen *g, const char *fmt, ...) TK_PRINTF(2, 3);

tkv_value *tkv_get(tkv_gen *g, int slot);
void tkv_set(tkv_gen *g, int slot, tkv_value *v);
static inline tkv_value *tkv_arg(tkv_gen *g, const tk_inst *in, int k) {
  return tkv_get(g, in->args[k]);
}
tkv_value *tkv_scalar(tkv_gen *g, tk_type t, const char *name);
/* A block in its home, of registers to be filled in. */
tkv_value *tkv_block(tkv_gen *g, tk_type t, const tkv_dist *d);
/* The block's registers in that layout; of a scalar, all are that one. */
const char **tkv_at(tkv_gen *g, tkv_value *v, const tkv_dist *d);
/* Its home; where it has none, the usual layout of its shape. */
tkv_dist tkv_home_of(tkv_gen *g, const tkv_value *v);
void tkv_gen_insts(tkv_gen *g, const tk_insts *l);
/* What a function returns of lanes, each of which is one name. */
void tkv_call_lanes(tkv_gen *g, const tk_func *f, tkv_value **args,
                    tkv_value **results);

/* A loop over i = from, from + step, ... below n; what is added until its end
 * is its body. */
typedef struct tkv_loop {
  const char *i, *more, *next, *head, *end;
} tkv_loop;
tkv_loop tkv_begin_loop(tkv_gen *g, const char *from, const char *n);
void tkv_end_loop(tkv_gen *g, const tkv_loop *l, int step);
/* A variable of this thread: load and store it. */
const char *tkv_variable(tkv_gen *g, const tk_type *t);

/* ---- the rules ------------------------------------------------------------
 */

/* Lowers an instruction: a row of lower.def. */
typedef void tkv_lower(tkv_gen *g, const tk_inst *in);
#define LOWER(id, fn) tkv_lower fn;
#define REFUSE(id, why)
#include "nvptx/lower.def"
#undef LOWER
#undef REFUSE

/* ---- gen_lane.c ------------------------------------------------------------
 */

/* The type of a lane, and its bits as an integer of that many bits. */
const char *tkv_lane_type(const tk_type *t);
int tkv_lane_bits(const tk_type *t);
const char *tkv_to_bits(tkv_gen *g, const tk_type *t, const char *x);
const char *tkv_from_bits(tkv_gen *g, const tk_type *t, const char *x);
/* A number that every lane has. */
const char *tkv_literal(tkv_gen *g, const tk_type *t, uint64_t bits);
const char *tkv_binary(tkv_gen *g, tk_binary op, const tk_type *t,
                       const char *a, const char *b);
const char *tkv_compare(tkv_gen *g, tk_compare op, const tk_type *t,
                        const char *a, const char *b);
/* Functions that the code of lanes may call, as text. */
void tkv_print_prelude(tk_buf *out);
const char *tkv_convert_lane(tkv_gen *g, const tk_type *to, const tk_type *from,
                             bool to_zero, const char *x);
/* A lane-wise instruction of lanes by their names. */
const char *tkv_lane_wise(tkv_gen *g, const tk_inst *in, tkv_value *const *args,
                          const char *const *name);

/* ---- gen_move.c ------------------------------------------------------------
 */

/* Whether lanes of the result are the operand's as they are: a copy may also
 * take the bits of a float for an integer. */
bool tkv_same_lanes(const tkv_value *v);
/* The registers of a value that is computed where it is wanted. */
const char **tkv_compute(tkv_gen *g, tkv_value *v, const tkv_dist *d);
/* The same block in another layout. */
const char **tkv_convert(tkv_gen *g, const tk_type *t, const tkv_version *from,
                         const tkv_dist *to);
/* The part of a lane's number that this thread stands for: i32. */
const char *tkv_thread_number(tkv_gen *g, const tkv_dist *d);
/* The number of the lane that register r holds: i32. */
const char *tkv_number(tkv_gen *g, const tkv_dist *d, const char *thread,
                       uint32_t r);
/* Whether this thread is the first of those that hold the same lanes: i1;
 * NULL: each is. */
const char *tkv_is_first(tkv_gen *g, const tkv_dist *d);

/* ---- gen_shared.c ----------------------------------------------------------
 */

void tkv_barrier(tkv_gen *g);
/* Makes sure that the scratch area has n bytes. */
void tkv_scratch(tkv_gen *g, size_t n);
/* A pointer to the element of that index (i32) behind `base` bytes. */
const char *tkv_shared_at(tkv_gen *g, const tk_type *t, size_t base,
                          const char *index);
void tkv_shared_store(tkv_gen *g, const tk_type *t, const char *x,
                      const char *at);
const char *tkv_shared_load(tkv_gen *g, const tk_type *t, const char *at);
/* Writes a block to the scratch area in row-major order, once everybody is done
 * with what was there; the caller adds a barrier before it is read. */
void tkv_share_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                     size_t base);

/* The registers of a block that lies at the beginning of the scratch area. */
const char **tkv_read_block(tkv_gen *g, const tk_type *t, const tkv_dist *d);
/* A lane's type in memory, where it takes whole bytes. */
tk_type tkv_stored_type(const tk_type *t);

/* ---- gen_memory.c ----------------------------------------------------------
 */

/* The layout in which memory is best accessed through pointers of which that
 * is known. */
tkv_dist tkv_dist_access(tkv_gen *g, const tk_type *pointers,
                         const tkv_fact *x);

/* ---- gen_dot.c -------------------------------------------------------------
 */

/* The layout that a product has. */
tkv_dist tkv_dist_product(tkv_gen *g, const tk_inst *in);

#endif
