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

#include "nvptx/coalesce.h"
#include "nvptx/mutant.h"
#include "nvptx/swizzle.h"

/* What is not compiled. */
typedef enum tkv_refusal {
#define REFUSE(ID, instructions, what, why) TKV_REFUSED_##ID,
#include "nvptx/refuse.def"
#undef REFUSE
} tkv_refusal;

typedef struct tkv_gen tkv_gen;
typedef struct tkv_value tkv_value;

/* The registers of a block in one layout. */
typedef struct tkv_version {
  tkv_dist dist;
  const char **reg; /* 1 << dist.nreg names */
  struct tkv_version *next;
} tkv_version;

/* A block in shared memory. */
typedef struct tkv_placed {
  tk_type type;
  tkv_places places;
  const char *area; /* a pointer */
} tkv_placed;

struct tkv_value {
  tk_type type;
  const char *one;       /* a scalar, or a lane of a combine function */
  tkv_version *home;     /* NULL: it is computed in whatever layout is wanted */
  tkv_placed *placed;    /* its home is shared memory, for now; or NULL */
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

/* Lowers an instruction; in which layout its result will be. */
typedef void tkv_lower(tkv_gen *g, const tk_inst *in);
typedef tkv_dist tkv_home(tkv_gen *g, const tk_inst *in);

/* A row of lower.def. */
typedef struct tkv_rule_of {
  tkv_lower *lower;
  tkv_home *home; /* NULL: that of an operand */
} tkv_rule_of;

struct tkv_gen {
  tk_env *env;
  tk_arena *arena;
  const tk_program *p;
  const tkv_rule_of *rules; /* by opcode */
  tkv_facts facts;
  int warps;
  tk_buf entry, body;     /* text: allocas, instructions */
  tk_buf declared, debug; /* text: declarations, metadata */
  tk_buf message, prefix; /* text of a print or assertion, while it is made */
  tkv_frame *frame;
  TK_VEC(tkv_value *) scoped; /* whose newest version goes with the scope */
  const char *lane, *warp;    /* numbers of this thread: i32 */
  unsigned names, location, locations, files;
  const tk_inst *inst;   /* that is lowered */
  const tk_source *file; /* around it: of the newest location */
  int line;
  /* Bytes of shared memory: for exchanges; for copies, in all and here; and
   * for exchanges while these are in use. */
  size_t scratch, buffers, buffers_in_use, beside;
  int64_t most_stages, stages; /* of loops that copy ahead; what they have */
  tkv_value **copied;          /* by number of the load: what is copied ahead */
  const tkv_dist **homes;      /* by number of the instruction: its result's */
};

/* ---- gen_text.c --------------------------------------------------------- */

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
/* Reports that an instruction is not compiled, as that row says, and why. */
void TK_NORETURN tkv_refuse(tkv_gen *g, const tk_inst *in, tkv_refusal row,
                            const char *fmt, ...) TK_PRINTF(4, 5);

/* Whether both hold: i1; NULL is what always holds. */
const char *tkv_both(tkv_gen *g, const char *a, const char *b);
/* A variable of this thread: load and store it. */
const char *tkv_variable(tkv_gen *g, const tk_type *t);
/* What is added from here on comes from that place. */
void tkv_set_location(tkv_gen *g, const tk_source *src, tk_span span);

/* ---- gen_value.c -------------------------------------------------------- */

tkv_value *tkv_new_value(tkv_gen *g, tk_type t);
tkv_version *tkv_new_version(tkv_gen *g, const tkv_dist *d);
tkv_value *tkv_scalar(tkv_gen *g, tk_type t, const char *name);
/* A block in its home, of registers to be filled in. */
tkv_value *tkv_block(tkv_gen *g, tk_type t, const tkv_dist *d);
/* The block's registers in that layout; of a scalar, all are that one. */
const char **tkv_at(tkv_gen *g, tkv_value *v, const tkv_dist *d);
/* The same; NULL: threads of several warps would have to exchange lanes. */
const char **tkv_at_in_warp(tkv_gen *g, tkv_value *v, const tkv_dist *d);
/* What a value's lanes are moved from; *d becomes the layout of that. */
tkv_value *tkv_origin(tkv_value *v, tkv_dist *d);
/* Names for the registers of a layout, to be filled in. */
static inline const char **tkv_new_names(tkv_gen *g, const tkv_dist *d) {
  return TK_NEWN(g->arena, const char *, (size_t)1 << d->nreg);
}
/* Its home; where it has none, the usual layout of its shape. */
tkv_dist tkv_home_of(tkv_gen *g, const tkv_value *v);
/* Whether lanes of the result are the operand's as they are: a copy may also
 * take the bits of a float for an integer. */
bool tkv_same_lanes(const tkv_value *v);
/* The registers of a value that is computed where it is wanted. */
const char **tkv_compute(tkv_gen *g, tkv_value *v, const tkv_dist *d);

/* ---- gen_slot.c --------------------------------------------------------- */

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
/* A frame that goes its own way from here on: the merges that `own` names, by
 * slot, are its own, and begin with what they are now. */
tkv_frame *tkv_fork_frame(tkv_gen *g, const bool *own);

/* ---- gen.c --------------------------------------------------------------- */

tkv_frame *tkv_new_frame(tkv_gen *g, const tk_func *f);
/* Adds a function's body, and leaves its results in the frame. */
void tkv_inline(tkv_gen *g, tkv_frame *fr, tkv_value **args);
/* What a function returns of lanes, each of which is one name. */
void tkv_call_lanes(tkv_gen *g, const tk_func *f, tkv_value **args,
                    tkv_value **results);

/* A loop over i = from, from + step, ... while i compares so to `end`; what is
 * added until its end is its body. */
typedef struct tkv_loop {
  const char *type, *i, *more, *next, *head, *end;
} tkv_loop;
tkv_loop tkv_begin_loop(tkv_gen *g, const tk_type *t, tk_compare while_it_is,
                        const char *from, const char *end);
void tkv_end_loop(tkv_gen *g, const tkv_loop *l, const char *step);
/* The same of an i32 that is below n. */
tkv_loop tkv_begin_count(tkv_gen *g, const char *from, const char *n);

/* ---- gen_memory.c ------------------------------------------------------- */

/* How many registers of that layout one access takes. */
int tkv_access_width(tkv_gen *g, const tk_inst *in, const tkv_dist *d);

/* ---- gen_pipeline.c ----------------------------------------------------- */

/* Begins what a loop copies ahead; NULL: nothing.  `from`, `end` and `step` are
 * the loop's. */
typedef struct tkv_pipeline tkv_pipeline;
tkv_pipeline *tkv_begin_pipeline(tkv_gen *g, const tk_stmt *loop,
                                 tk_compare going_on, const char *from,
                                 const char *end, const char *step);
/* At the beginning of the body, and behind the loop. */
void tkv_begin_trip(tkv_gen *g, tkv_pipeline *p);
void tkv_end_pipeline(tkv_gen *g, tkv_pipeline *p);

/* ---- the rules ------------------------------------------------------------
 */

#define LOWER(id, fn) tkv_lower fn;
#define LOWER_AT(id, fn, dist)                                                 \
  tkv_lower fn;                                                                \
  tkv_home dist;
#include "nvptx/lower.def"
#undef LOWER
#undef LOWER_AT

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

/* ---- gen_number.c ------------------------------------------------------- */

/* The part of a lane's number that this thread stands for: i32. */
const char *tkv_thread_number(tkv_gen *g, const tkv_dist *d);
/* That number with the bits of a part that registers stand for: i32. */
const char *tkv_number_with(tkv_gen *g, const tkv_dist *d, const char *thread,
                            uint32_t part);
/* The number of the lane that register r holds: i32. */
const char *tkv_number(tkv_gen *g, const tkv_dist *d, const char *thread,
                       uint32_t r);
/* The index along an axis of the lane of that number: i32. */
const char *tkv_index_of(tkv_gen *g, const tk_type *t, int axis,
                         const char *number);
/* Whether this thread is the first of those that hold the same lanes: i1;
 * NULL: each is. */
const char *tkv_is_first(tkv_gen *g, const tkv_dist *d);

/* ---- gen_word.c --------------------------------------------------------- */

/* Lanes that one access moves, as words of PTX. */
typedef struct tkv_words {
  int lanes, bits, n; /* bits of a word; their number */
  char constraint;    /* of inline assembly */
} tkv_words;
tkv_words tkv_words_of(const tk_type *t, int lanes);
/* A register holds 16 bits at least. */
int tkv_word_bits(const tkv_words *w);
/* Lanes from `from` on as the bits of a word, and the reverse. */
const char *tkv_pack_word(tkv_gen *g, const tkv_words *w, const tk_type *t,
                          const char *const *from);
void tkv_unpack_word(tkv_gen *g, const tkv_words *w, const tk_type *t,
                     const char *word, const char **to);

/* ---- gen_convert.c ---------------------------------------------------------
 */

/* The same block in another layout; NULL: shared memory is needed. */
const char **tkv_convert_in_warp(tkv_gen *g, const tk_type *t,
                                 const tkv_version *from, const tkv_dist *to);
/* The same block in another layout. */
const char **tkv_convert(tkv_gen *g, const tk_type *t, const tkv_version *from,
                         const tkv_dist *to);
/* The value of another lane of the warp, "bfly" or "idx", by an i32. */
const char *tkv_shuffle(tkv_gen *g, const tk_type *t, const char *x,
                        const char *mode, const char *by);

/* ---- gen_shared.c ----------------------------------------------------------
 */

void tkv_barrier(tkv_gen *g);
/* Makes sure that the scratch area has n bytes. */
void tkv_scratch(tkv_gen *g, size_t n);
/* How much shared memory the code needs. */
size_t tkv_shared_bytes(const tkv_gen *g);
/* The scratch area from `base` bytes on: a pointer. */
const char *tkv_scratch_at(tkv_gen *g, size_t base);
/* A pointer to the element of that index (i32) in an area, or in the scratch
 * area behind `base` bytes. */
const char *tkv_element_at(tkv_gen *g, const tk_type *t, const char *area,
                           const char *index);
const char *tkv_shared_at(tkv_gen *g, const tk_type *t, size_t base,
                          const char *index);
void tkv_shared_store(tkv_gen *g, const tk_type *t, const char *x,
                      const char *at);
const char *tkv_shared_load(tkv_gen *g, const tk_type *t, const char *at);
/* The lanes of a block whose numbers have `value` in the bits of `mask`. */
typedef struct tkv_part {
  uint32_t mask, value;
} tkv_part;

/* Writes a part to an area of shared memory.  Lanes lie at `places`: the
 * block's layout of places instead of numbers. */
void tkv_write_part(tkv_gen *g, const tk_type *t, const tkv_version *v,
                    const tkv_dist *places, tkv_part part, const char *area);
/* The same to the scratch area, once everybody is done with what was there; the
 * caller adds a barrier before it is read. */
void tkv_share_part(tkv_gen *g, const tk_type *t, const tkv_version *v,
                    const tkv_dist *places, tkv_part part, size_t base);
/* The same of all lanes, which lie in row-major order. */
void tkv_share_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                     size_t base);
/* Reads the registers of a part of a block that lies in an area; others stay as
 * they are. */
void tkv_read_part(tkv_gen *g, const tk_type *t, const tkv_dist *d,
                   const tkv_dist *places, tkv_part part, const char *area,
                   const char **reg);
/* Writes a block to an area so that it can be read well in that layout. */
tkv_placed tkv_write_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                           const tkv_dist *read, const char *area);
void tkv_read_placed(tkv_gen *g, const tkv_placed *p, const tkv_dist *d,
                     tkv_part part, const char **reg);
/* All lanes of a block in the scratch area, in row-major order. */
const char **tkv_read_block(tkv_gen *g, const tk_type *t, const tkv_dist *d);
/* A lane's type in memory, where it takes whole bytes. */
tk_type tkv_stored_type(const tk_type *t);

#endif
