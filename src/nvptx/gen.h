/* gen.h - from a program in single assignment to code for one thread.
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
 * Calls are inlined.  Slots that are merges live in variables of the thread,
 * which LLVM makes registers of.  Whatever is exchanged through shared memory
 * goes through one scratch area, between two barriers.
 *
 * Values belong to the generator's
 * arena. */
#ifndef TK_NVPTX_GEN_H
#define TK_NVPTX_GEN_H

#include "nvptx/coalesce.h"
#include "nvptx/lane.h"
#include "nvptx/mutant.h"
#include "nvptx/swizzle.h"
#include "nvptx/value.h"

/* What is not compiled. */
typedef enum tkv_refusal {
#define REFUSE(ID, instructions, what, why) TKV_REFUSED_##ID,
#include "nvptx/refuse.def"
#undef REFUSE
} tkv_refusal;

/* Lowers an instruction; in which layout its result will be. */
typedef void tkv_lower(tkv_gen *g, const tk_inst *in);
typedef tkv_dist tkv_home(tkv_gen *g, const tk_inst *in);

/* A row of lower.def. */
typedef struct tkv_rule_of {
  tkv_lower *lower;
  tkv_home *home; /* NULL: that of an operand */
} tkv_rule_of;

/* A block that an instruction passes on through shared memory: where each bit
 * of a lane's number leads there before the places are swizzled (0: it tells
 * apart what is passed on one after the other), and who writes and who reads
 * it. */
typedef struct tkv_exchange {
  const tk_inst *in;
  tk_type type;
  tkv_dist numbers, written, read;
  tkv_places places;
} tkv_exchange;

struct tkv_gen {
  tk_env *env;
  tk_arena *arena;
  const tk_program *p;
  const tkv_rule_of *rules; /* by opcode */
  tkv_facts facts;
  int warps;
  bool wgmma;     /* whether the GPU has it */
  tkv_code *code; /* what is generated */
  /* the text of a print or assertion, while it is being made */
  tk_buf message, prefix;
  tkv_frame *frame;
  TK_VEC(tkv_value *) scoped; /* whose newest version ends with the scope */
  const tk_inst *inst;        /* that is lowered */
  /* Bytes of shared memory: for exchanges; for copies, in all and here; and
   * for exchanges while these are in use. */
  size_t scratch, buffers, buffers_in_use, beside;
  bool has_tiles;              /* wgmma reads some of these */
  int64_t most_stages, stages; /* of loops that copy ahead; what they have */
  /* whose copies of this trip have not been begun yet, or NULL */
  struct tkv_pipeline *late;
  /* what is copied ahead, by the number of the load */
  tkv_value **copied;
  TK_VEC(tkv_exchange) exchanges;
  const tkv_dist **homes; /* by number of the instruction: its result's */
};

/* Room for the registers of a layout. */
static inline tkv_reg *tkv_new_regs(const tkv_gen *g, const tkv_dist *d) {
  TK_ASSERT(d->nreg <= TKV_REG_BITS);
  return TK_NEWN(g->arena, tkv_reg, (size_t)1 << d->nreg);
}

/* The layout of a scalar: every thread holds it. */
static inline tkv_dist tkv_dist_one(const tkv_gen *g) {
  return (tkv_dist){.nwarp = tkv_log2(g->warps)};
}

/* The source text of what is at *at in the function that is generated; in
 * tkdbg's own prelude it becomes the place of the user's call. */
static inline const tk_source *tkv_user_place(const tkv_gen *g, tk_span *at) {
  const tkv_frame *fr = g->frame;
  for (; fr->f->library && fr->caller; fr = fr->caller) *at = fr->called;
  return fr->f->src;
}

/* ---- gen.c --------------------------------------------------------------- */

tkv_frame *tkv_new_frame(tkv_gen *g, const tk_func *f);
/* Adds a function's body, and leaves its results in the frame. */
void tkv_inline(tkv_gen *g, tkv_frame *fr, tkv_value **args);
/* What a function of single lanes returns; each lane is one register. */
void tkv_call_lanes(tkv_gen *g, const tk_func *f, tkv_value **args,
                    tkv_value **results);

/* ---- gen_loop.c ---------------------------------------------------------- */

/* A loop over i = from, from + step, ... while i compares so to `end`; what is
 * added until its end is its body. */
typedef struct tkv_loop {
  tkv_reg i, more;
  tkv_label next, head, end;
} tkv_loop;
tkv_loop tkv_begin_loop(tkv_code *c, const tk_type *t, tk_compare while_it_is,
                        tkv_reg from, tkv_reg end);
void tkv_end_loop(tkv_code *c, const tkv_loop *l, tkv_reg step);
/* The same of an i32 that is below n. */
tkv_loop tkv_begin_count(tkv_code *c, tkv_reg from, int64_t n);

/* ---- gen_refuse.c -------------------------------------------------------- */

/* Reports that an instruction is not compiled, with the reason that the row
 * gives. */
void TK_NORETURN tkv_refuse(tkv_gen *g, const tk_inst *in, tkv_refusal row,
                            const char *fmt, ...) TK_PRINTF(4, 5);

/* ---- gen_lane.c ---------------------------------------------------------- */

/* A lane-wise instruction of lanes of its arguments. */
tkv_reg tkv_lane_wise(tkv_gen *g, const tk_inst *in, tkv_value *const *args,
                      const tkv_reg *lane);

/* ---- gen_memory.c -------------------------------------------------------- */

/* How many registers of that layout one access takes. */
int tkv_access_width(tkv_gen *g, const tk_inst *in, const tkv_dist *d);

/* ---- gen_pipeline.c ------------------------------------------------------ */

/* Begins what a loop copies ahead; NULL: nothing.  `from`, `end` and `step` are
 * the loop's. */
typedef struct tkv_pipeline tkv_pipeline;
tkv_pipeline *tkv_begin_pipeline(tkv_gen *g, const tk_stmt *loop,
                                 tk_compare going_on, tkv_reg from, tkv_reg end,
                                 tkv_reg step);
/* At the beginning of the body, and after the loop. */
void tkv_begin_trip(tkv_gen *g, tkv_pipeline *p);
void tkv_end_pipeline(tkv_gen *g, tkv_pipeline *p);
/* Whether the copies of this trip are begun behind the instructions of that
 * product, and begins them; where it *runs on*, its accumulators are not read
 * before the loop has ended, which waits for them. */
bool tkv_is_before_copies(const tkv_gen *g, const tk_inst *dot);
bool tkv_let_run_on(tkv_gen *g);
void tkv_begin_late_copies(tkv_gen *g, const tk_inst *dot);

/* ---- the rules ----------------------------------------------------------- */

#define LOWER(id, fn) tkv_lower fn;
#define LOWER_AT(id, fn, dist)                                                 \
  tkv_lower fn;                                                                \
  tkv_home dist;
#include "nvptx/lower.def"
#undef LOWER
#undef LOWER_AT

#endif
