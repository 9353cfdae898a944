/* shadow.h - who touched which memory, for race, twice, unwritten and order.
 *
 * One tkc_shadow serves all of them in a run.  Each byte that programs of
 * this launch can write has its last write and its last reads (intervals.h);
 * memory that they can only read cannot be fought over and has nothing.
 * Accesses are numbered: a number stands for a program, a place in the source
 * and the program's clock then.
 */
#ifndef TK_CHECK_SHADOW_H
#define TK_CHECK_SHADOW_H

#include "interp/check/intervals.h"
#include "interp/check/check.h"
#include "interp/check/clock.h"
#include "interp/check/points_to.h"
#include "interp/describe.h"

enum { TKC_READERS = UINT32_MAX, TKC_EVENTS = 64 };

/* What a number stands for; number 0 is nobody's.  If site is TKC_READERS, it
 * stands for two reads: program and clock are their numbers. */
typedef struct tkc_event {
  uint32_t program, site, clock;
  uint32_t phase;  /* debug_barriers before it */
  uint32_t joined; /* how often lanes had come together before it */
  bool atomic;
  bool local; /* atomic, but with scope "cta": not for other programs */
  bool load;
  uint64_t lanes; /* hash of the lanes' addresses; 0: one lane */
} tkc_event;

/* Memory of one tensor, or of several that overlap. */
typedef struct tkc_span {
  tkc_intervals history;
  bool reads, writes; /* whether programs may read it, and write to it */
} tkc_span;

typedef enum tkc_conflict_kind {
  TKC_WRITES, /* two writes, different values */
  TKC_SAME,   /* two writes of the same value */
  TKC_READ,   /* a write, then a read */
  TKC_WRITE,  /* a read, then a write */
  /* By other lanes of the same program: */
  TKC_OWN_READ,   /* a write, then a read */
  TKC_OWN_WRITE,  /* a read, then a write */
  TKC_OWN_WRITES, /* two writes, different values */
  TKC_OWN_STORE   /* two writes of one store, different values */
} tkc_conflict_kind;

static inline bool tkc_is_own(tkc_conflict_kind k) {
  return k >= TKC_OWN_READ;
}

/* Accesses that nothing orders; one for each pair of places. */
typedef struct tkc_conflict {
  struct tkc_conflict *next;
  tkc_conflict_kind kind;
  uint32_t site, other_site;
  uint64_t program, other; /* of the first pair that was seen */
  uint64_t addr;
  const char *element, *value, *other_value;
  const char *lane, *other_lane; /* TKC_OWN_STORE: the lanes of the store */
  bool atomic, other_atomic;
  bool unfenced; /* a release followed the other, with no barrier between */
  bool local;    /* one of the two is an atomic operation of scope "cta" */
  /* A relaxed atomic operation that would order the two, were it not; or NULL.
   */
  const tki_site_info *relaxed;
  uint64_t count;
  tk_diag *diag; /* its report, once there is one that is shown */
} tkc_conflict;

/* What a program knows of the others. */
typedef struct tkc_state {
  uint64_t program;
  uint32_t clock, phase;
  uint32_t fenced;        /* the clock at its last debug_barrier */
  const tkc_clock *knows; /* counts of scalars, then of blocks */
  /* What it would know if no scalar atomic operation were relaxed, and the last
   * one that is. */
  const tkc_clock *would;
  uint32_t relaxed; /* its site + 1; 0: none was */
} tkc_state;

typedef struct tkc_sync {
  uint64_t addr;
  const tkc_clock *released, *would;
  uint32_t
      relaxed; /* 1 + the site of an atomic that released nothing; 0: none */
} tkc_sync;

typedef struct tkc_shadow {
  tkc *c;
  tki *t;
  tki_observer observer;
  TK_VEC(tkc_event *) events; /* TKC_EVENTS in each piece */
  uint32_t nevents;
  uint32_t *latest; /* by site: its newest event */
  tkc_points_to points_to;
  tkc_span *spans;
  size_t nspans;
  tkc_span **span_of; /* by region */
  tkc_clocks clocks;
  tkc_state now, **states; /* of programs that are not running */
  tkc_sync *syncs;         /* hash table */
  size_t nsyncs, cap_syncs;
  tkc_conflict *conflicts, **end;
  bool *loaded, *stored; /* by region */
  bool keeps;  /* pages' old bytes are kept, because programs may run again */
  bool blind;  /* no program can see what another writes */
  bool orders; /* atomic operations may order other accesses */
  bool swaps;  /* blind, and atomic operations give the same in every order */
  bool scoped; /* some atomic operation so far was local */
  bool order_matters; /* the order may matter: programs share memory */
  bool again_matters; /* a second run may differ: memory was read, then written
                       */
  uint32_t joined;    /* how often lanes of some program came together */
  uint32_t ok_write, ok_read; /* the last events that were found harmless */
  /* The last question to add_reader, and its answer: who had read, who reads
   * now, and who have read then. */
  uint32_t from_read, by_read, to_read;
} tkc_shadow;

/* Returns the run's shadow; the first detector that asks has it made. */
tkc_shadow *tkc_shadow_of(tkc *c, tki *t);
static inline tkc_event *tkc_event_at(const tkc_shadow *s, uint32_t number) {
  TK_ASSERT(number < s->nevents);
  return &s->events.items[number / TKC_EVENTS][number % TKC_EVENTS];
}
/* Returns the last write to an address; NULL: nobody wrote there. */
const tkc_event *tkc_shadow_writer(tkc_shadow *s, uint64_t addr);
/* Whether the program that runs has seen a release that came after the event.
 */
bool tkc_shadow_knows(const tkc_shadow *s, const tkc_event *e);
/* The relaxed atomic operation but for which the program that runs would have
 * seen such a release; NULL: there is none. */
const tki_site_info *tkc_shadow_relaxed(const tkc_shadow *s,
                                        const tkc_event *e);

/* Returns the span that holds an address; NULL: it is in no tensor. */
tkc_span *tkc_shadow_span(const tkc_shadow *s, uint64_t addr);

/* race.c: a lane that conflicts with an event. */
void tkc_conflict_seen(tkc_shadow *s, const tki_access *a, size_t lane,
                       const tkc_event *other, tkc_conflict_kind kind);
/* A store some of whose lanes write to the same elements. */
void tkc_lanes_meet(tkc_shadow *s, const tki_access *a);

#endif
