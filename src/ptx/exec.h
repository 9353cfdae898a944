/* exec.h - inside the PTX interpreter: warps, programs, and what an
 * instruction does to them.
 *
 * A warp runs one instruction for all of its lanes that are at the same
 * place.  When they part, those that are furthest behind go first, so that
 * they meet again where their ways
 * join. */
#ifndef TK_PTX_EXEC_H
#define TK_PTX_EXEC_H

#include <string.h>

#include "ptx/program.h"

typedef struct tkp_block tkp_block;
typedef struct tkp_machine tkp_machine;

enum {
  TKP_BARRIERS = 16,
  TKP_MAX_WARPS = 32,
  TKP_OTHERS_TURN = 1 << 9, /* turns of a warp until other lanes are tried */
};

typedef enum tkp_state {
  TKP_RUNS,
  TKP_WAITS, /* at a barrier */
  TKP_ENDED,
} tkp_state;

/* A copy from global to shared memory that was begun. */
typedef struct tkp_copy {
  const tkp_inst *in;
  uint32_t to;
  uint8_t lane, size;
  uint32_t group;
  uint8_t data[16];
} tkp_copy;

/* A read of shared memory by a wgmma, until that is waited for. */
typedef struct tkp_tile_read {
  const tkp_inst *in;
  uint64_t descriptor;
  bool is_a;
  uint64_t hash;  /* of the bytes */
  uint32_t clock; /* the warp's own, then */
  uint32_t group;
} tkp_tile_read;

/* What wgmma has under way in a warp, and the registers of that (flight.c). */
typedef struct tkp_flight {
  uint32_t group;  /* that is open, from 1 */
  uint32_t landed; /* groups up to this one were waited for */
  uint64_t steps;  /* instructions so far */
  uint64_t fence;  /* step of the last wgmma.fence; 0: there was none */
  /* By a register's id: the group whose result it holds, and the last one that
   * reads it; the step at which it was computed otherwise. */
  uint32_t *result_of, *read_by;
  uint64_t *computed;
  tkp_tile_read *tiles;
  size_t ntiles, tiles_cap;
} tkp_flight;

/* A bulk copy that was begun (bulk.c). */
typedef struct tkp_bulk {
  const tkp_inst *in;
  uint32_t warp;
  uint8_t lane;
  bool store;
  uint32_t clock;    /* the warp's own when it was begun */
  uint32_t group;    /* of a store */
  uint64_t mbarrier; /* of a load */
  uint64_t shared;
  tkp_tensor_map map;
  int32_t at[TKP_MAP_RANK];
  uint8_t *data; /* of the box */
} tkp_bulk;

/* What those know who arrived at a barrier in memory, in this phase and in the
 * last one that has ended (mbarrier.c). */
typedef struct tkp_mbarrier {
  uint64_t at;
  uint32_t clocks[TKP_MAX_WARPS], fenced[TKP_MAX_WARPS];
  uint32_t done_clocks[TKP_MAX_WARPS], done_fenced[TKP_MAX_WARPS];
} tkp_mbarrier;

/* What tensormap.replace sets. */
typedef enum tkp_map_field {
  TKP_MF_ADDRESS,
  TKP_MF_RANK,
  TKP_MF_BOX,
  TKP_MF_DIM,
  TKP_MF_STRIDE,
  TKP_MF_STEP,
  TKP_MF_TYPE,
  TKP_MF_INTERLEAVE,
  TKP_MF_SWIZZLE,
  TKP_MF_FILL,
} tkp_map_field;

struct tkp_warp {
  tkp_block *b;
  uint8_t *file; /* registers; see program.h */
  uint32_t *set; /* by a register's id: lanes in which it has a value */
  /* By id and lane: which bytes have one, where not all do (lanes.c). */
  uint8_t (*known)[TKP_WARP];
  bool partly;            /* some of these are not 0 */
  const tkp_range *range; /* that was touched last */
  uint32_t pc, active;
  uint32_t rejoin; /* the least place of lanes that are not active */
  uint32_t alive, parked;
  uint32_t born;  /* lanes that the program has */
  uint32_t tried; /* alive when the parked ones were last tried again */
  uint32_t turns;
  uint32_t pcs[TKP_WARP]; /* of lanes that are not active */
  uint32_t carry, carry_set;
  uint32_t index;
  uint8_t state, barrier;
  const tkp_inst *waits_in; /* the barrier's instruction */
  uint32_t waits_for;       /* its lanes */
  uint8_t *local;           /* of all lanes, one after the other */
  uint32_t *local_set;      /* by word of local memory: lanes' bits */
  tkp_copy *copies;
  size_t ncopies, copies_cap;
  uint32_t group; /* of copies, that is open */
  uint64_t steps;
  uint32_t bulk_groups[TKP_WARP]; /* of bulk stores, that are open */
  tkp_flight *flight;             /* NULL: the kernel has no wgmma */
};

typedef struct tkp_barrier {
  uint32_t expected, arrived; /* threads */
  uint32_t count;             /* of threads whose predicate holds */
  uint32_t clocks[TKP_MAX_WARPS], fenced[TKP_MAX_WARPS];
} tkp_barrier;

/* What is known of a word of shared memory: who wrote and read it last. */
typedef struct tkp_touch {
  uint32_t clock; /* the warp's own; 0: none */
  uint32_t inst;
  uint16_t thread;
  uint8_t bytes; /* a bit each */
  bool atomic : 1;
  bool async : 1; /* by the asynchronous proxy */
} tkp_touch;

typedef struct tkp_word_shadow {
  tkp_touch write, reads[2];
  uint8_t set; /* bytes that were ever written */
} tkp_word_shadow;

/* What a program asked for last that others may change: in global memory, or a
 * barrier in shared memory. */
typedef struct tkp_poll tkp_poll;
struct tkp_poll {
  const tkp_inst *in; /* NULL: nothing yet */
  const tkp_warp *warp;
  int lane;
  uint64_t addr;
  unsigned more; /* lanes that asked for something else at once */
  uint64_t at;   /* tkp_machine.polls */
  /* Adds what it waits for, of a barrier at addr of shared memory; or NULL. */
  void (*note)(const tkp_poll *poll, tk_diag *d);
};

/* Who changed a word of global memory last: there may be many words. */
typedef struct tkp_writer {
  uint32_t in; /* 1 + its place in the code; 0: nobody did */
  uint32_t program;
} tkp_writer;

struct tkp_block {
  tkp_machine *m;
  uint64_t index;
  uint32_t pid[3];
  tkp_poll poll;
  tkp_warp *warps;
  uint8_t *shared;
  tkp_word_shadow *shadow; /* NULL: unchecked */
  tkp_barrier barriers[TKP_BARRIERS];
  /* clocks[a * TKP_MAX_WARPS + b]: what warp a knows of b's clock. */
  uint32_t *clocks;
  /* ... and up to which of these the asynchronous proxy sees what b wrote. */
  uint32_t *fenced;
  uint32_t start; /* of this program: clocks that are more are its own */
  size_t size;    /* in bytes: all of it is one piece */
  tkp_bulk *bulks;
  size_t nbulks, bulks_cap;
  tkp_mbarrier *mbarriers;
  size_t nmbarriers, mbarriers_cap;
};

struct tkp_machine {
  tk_env *env;
  tkp_program *p;
  const tkp_kernel *k;
  const tkp_launch *launch;
  tkp_range *ranges; /* by address */
  size_t nranges;
  size_t fixed;  /* bytes of static shared memory, rounded up */
  size_t shared; /* bytes, static and dynamic */
  size_t findings;
  uint32_t threads; /* of a program */
  uint32_t nwarps;
  uint64_t steps;
  uint64_t changes; /* of memory */
  /* loads of memory that others may change, and atomic operations */
  uint64_t polls;
  uint64_t clocks;      /* times that a clock was read */
  double *products;     /* of wgmma.c; NULL: the kernel has none */
  tkp_writer **writers; /* by range and word (wait.c); NULL: not kept */
};

/* ---- registers ----------------------------------------------------------- */

static inline uint32_t *tkp_r32(const tkp_warp *w, tkp_reg r) {
  TK_ASSERT(r.bits && r.bits <= 32);
  return (uint32_t *)(void *)(w->file + r.at);
}
static inline uint64_t *tkp_r64(const tkp_warp *w, tkp_reg r) {
  TK_ASSERT(r.bits > 32); /* narrower ones have half the room */
  return (uint64_t *)(void *)(w->file + r.at);
}
/* A predicate of all lanes. */
static inline uint32_t tkp_pred(const tkp_warp *w, tkp_reg r) {
  return *tkp_r32(w, r) ^ (r.inverted ? UINT32_MAX : 0);
}

static inline uint64_t tkp_get(const tkp_warp *w, tkp_reg r, int lane) {
  if (r.bits == 1) return tkp_pred(w, r) >> lane & 1;
  return r.bits <= 32 ? tkp_r32(w, r)[lane] : tkp_r64(w, r)[lane];
}

static inline void tkp_put(tkp_warp *w, tkp_reg r, int lane, uint64_t v) {
  uint32_t bit = UINT32_C(1) << lane;
  if (r.bits == 1)
    *tkp_r32(w, r) = v & 1 ? *tkp_r32(w, r) | bit : *tkp_r32(w, r) & ~bit;
  else if (r.bits == 32)
    tkp_r32(w, r)[lane] = (uint32_t)v;
  else if (r.bits < 32)
    tkp_r32(w, r)[lane] = (uint32_t)v & ((UINT32_C(1) << r.bits) - 1);
  else
    tkp_r64(w, r)[lane] = v;
}

/* How often the warp has met: its own entry of what it knows. */
static inline uint32_t tkp_own_clock(const tkp_warp *w) {
  return w->b->clocks[w->index * TKP_MAX_WARPS + w->index];
}

static inline int tkp_next_lane(uint32_t *lanes) {
  TK_ASSERT(*lanes);
  int lane = __builtin_ctz(*lanes);
  *lanes &= *lanes - 1;
  return lane;
}

#define TKP_EACH(lane, lanes)                                                  \
  for (uint32_t lane##_left = (lanes), lane = 0;                               \
       lane##_left && (lane = (uint32_t)__builtin_ctz(lane##_left), true);     \
       lane##_left &= lane##_left - 1)

/* ---- what has a value (lanes.c) ------------------------------------------ */

/* Of these lanes, which of the register have a value from now on. */
static inline void tkp_mark(tkp_warp *w, tkp_reg r, uint32_t lanes,
                            uint32_t set) {
  TK_ASSERT(r.id < w->b->m->k->nregs);
  w->set[r.id] = (w->set[r.id] & ~lanes) | (set & lanes);
  if (TK_LIKELY(!w->partly)) return;
  if (lanes == UINT32_MAX)
    memset(w->known[r.id], 0, sizeof w->known[r.id]);
  else
    TKP_EACH(lane, lanes) w->known[r.id][lane] = 0;
}

uint64_t tkp_bits_of_bytes(uint8_t bytes); /* a bit each */
/* The bits of a lane's register that have a value; the same from now on, of
 * which whole bytes are kept. */
uint64_t tkp_known_bits(const tkp_warp *w, tkp_reg r, int lane);
void tkp_mark_bits(tkp_warp *w, tkp_reg r, int lane, uint64_t bits);
/* Marks the destinations of a pure instruction in lanes where a source has no
 * value, or not all of it; before it is run. */
void tkp_mark_partly(tkp_warp *w, const tkp_inst *in, uint32_t lanes);

/* ---- reports (report.c) -------------------------------------------------- */

/* At an instruction, in a thread; editable until the next one. */
tk_diag *tkp_report(const tkp_warp *w, const tkp_inst *in, int lane,
                    tk_diag_id id, const char *fmt, ...) TK_PRINTF(5, 6);
/* Adds where an instruction is in the kernel's source, as a note. */
void tkp_report_place(const tkp_warp *w, tk_diag *d, const tkp_inst *in,
                      const char *what);
void tkp_stop(const tkp_warp *w) TK_NORETURN;
/* The lanes in which a register has no value, that matters here. */
void tkp_need_set(tkp_warp *w, const tkp_inst *in, tkp_reg r, uint32_t lanes,
                  const char *what);

/* ---- memory (memory.c, race.c) ------------------------------------------ */

typedef struct tkp_access {
  const tkp_inst *in;
  int lane;
  /* the state space of addr; TKP_GENERIC if it is not known before it runs */
  uint8_t space;
  bool write, atomic;
  bool async;       /* by the asynchronous proxy: wgmma, bulk copies */
  const char *verb; /* "load" */
  uint64_t addr;
  uint32_t size, align;
} tkp_access;

/* The bytes, after all checks but of races; space and addr become those of
 * the space that it is. */
uint8_t *tkp_reach(tkp_warp *w, tkp_access *a);
/* The lane's address of an instruction. */
uint64_t tkp_address_of(const tkp_warp *w, const tkp_inst *in, int lane);
/* Tells shared memory's shadow of an access; a write's bytes before and after,
 * and which of these have a value, a bit each; a read gives which have one. */
void tkp_race_write(tkp_warp *w, const tkp_access *a, const void *old,
                    const void *new_bytes, uint64_t set);
/* The same of a copy that is begun: it may arrive at any time from now on. */
void tkp_race_begin_copy(tkp_warp *w, const tkp_access *a, const void *old,
                         const void *new_bytes);
uint64_t tkp_race_read(tkp_warp *w, const tkp_access *a);
/* ... of a bulk load, whose bytes nobody may touch until it has ended; after
 * that it is a write of the warp at a clock of its own. */
void tkp_race_begin_bulk(tkp_warp *w, const tkp_access *a, const void *old,
                         const void *new_bytes);
void tkp_race_end_bulk(tkp_warp *w, const tkp_access *a, uint32_t clock);

/* ---- warps (warp.c) ------------------------------------------------------ */

/* For instructions that lanes do together: waits for those of `members` that
 * live.  True: *lanes, grown by those that had waited, may go on.  False:
 * they are parked. */
bool tkp_gather(tkp_warp *w, const tkp_inst *in, uint32_t *lanes,
                uint32_t members);
/* Chooses the lanes that go next; false: none can. */
bool tkp_regroup(tkp_warp *w);
/* A warp's lanes have met: what they did before is known to all of them. */
void tkp_warp_met(tkp_warp *w);
/* Adds what the warp knows to clocks, and to what is fenced; takes from these
 * what it did not know. */
void tkp_tell(const tkp_warp *w, uint32_t *clocks, uint32_t *fenced);
void tkp_learn(tkp_warp *w, const uint32_t *clocks, const uint32_t *fenced);
/* Lets everybody who waits at a barrier go on. */
void tkp_release(tkp_block *b, unsigned barrier);

/* ---- what is under way (flight.c) ---------------------------------------- */

void tkp_begin_flight(tkp_warp *w);
void tkp_free_flight(const tkp_warp *w);
/* Before an instruction of a warp that has wgmma: reports registers that it
 * must not touch yet. */
void tkp_watch_registers(tkp_warp *w, const tkp_inst *in, uint32_t lanes);
/* ... of a wgmma itself, whose registers are under way from then on. */
void tkp_watch_wgmma(tkp_warp *w, const tkp_inst *in);
/* Groups up to this one are waited for. */
void tkp_land(tkp_warp *w, uint32_t group);
size_t tkp_products_size(void); /* of tkp_machine.products, in numbers */

/* The lane whose register a lane gets of a shuffle; *ok: it is in the range
 * that the shuffle names, and not the lane itself instead. */
int tkp_shfl_lane(const tkp_warp *w, const tkp_inst *in, int lane, bool *ok);

/* ---- witnesses (witness.c) ----------------------------------------------- */

/* Whether somebody keeps what the warp does; then before and after each of its
 * instructions, for the lanes that run it. */
bool tkp_is_witnessed(const tkp_warp *w);
void tkp_witness_before(tkp_warp *w, const tkp_inst *in, uint32_t lanes);
void tkp_witness_after(const tkp_warp *w, uint32_t lanes);

/* ---- instructions -------------------------------------------------------- */

/* A quick way for an instruction on numbers, or NULL (quick.c). */
tkp_run_fn *tkp_quick(const tkp_inst *in);

tkp_run_fn tkp_run_number, tkp_run_select, tkp_run_and, tkp_run_move,
    tkp_run_pack, tkp_run_compare, tkp_run_clock;
tkp_run_fn tkp_run_load, tkp_run_store, tkp_run_atomic, tkp_run_cvta,
    tkp_run_isspace, tkp_run_copy, tkp_run_commit, tkp_run_wait;
tkp_run_fn tkp_run_ldmatrix, tkp_run_stmatrix, tkp_run_mma;
tkp_run_fn tkp_run_wgmma, tkp_run_wgmma_fence, tkp_run_wgmma_commit,
    tkp_run_wgmma_wait, tkp_run_proxy_fence;
tkp_run_fn tkp_run_mbarrier_init, tkp_run_mbarrier_inval,
    tkp_run_mbarrier_arrive, tkp_run_mbarrier_wait;
tkp_run_fn tkp_run_bulk, tkp_run_bulk_commit, tkp_run_bulk_wait,
    tkp_run_map_replace, tkp_run_map_copy;
tkp_run_fn tkp_run_barrier, tkp_run_arrive, tkp_run_warp_barrier;
tkp_run_fn tkp_run_shfl, tkp_run_vote, tkp_run_match, tkp_run_redux,
    tkp_run_elect, tkp_run_activemask;
tkp_run_fn tkp_run_bra, tkp_run_brx, tkp_run_exit, tkp_run_trap, tkp_run_printf,
    tkp_run_assert;

#endif
