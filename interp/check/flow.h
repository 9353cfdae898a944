/* flow.h - what is wrong with a value, carried from lane to lane.
 *
 * This is a taint analysis.  A source marks a lane: the lane is undefined, a
 * NaN or infinity arises in it, an integer wraps or is divided by 0.  Marks
 * follow values through every instruction and are reported where they reach a
 * sink.  The detectors undef, nan and overflow are this one observer, with
 * different sources.
 */
#ifndef TK_CHECK_FLOW_H
#define TK_CHECK_FLOW_H

#include <string.h>

#include "interp/check/check.h"
#include "interp/check/fresh.h"

typedef enum tkc_flow_kind {
  TKC_FLOW_UNDEF = 1,
  TKC_FLOW_NAN = 2,
  TKC_FLOW_INF = 4,
  TKC_FLOW_OVERFLOW = 8,
  TKC_FLOW_DIVISION = 32,
  TKC_FLOW_ZERO = 16, /* nothing wrong: says where a 0 comes from */
} tkc_flow_kind;

/* Why a lane is undefined. */
enum {
  TKC_FLOW_MASKED_OFF,
  TKC_FLOW_UNWRITTEN,
  TKC_FLOW_SKIPPED,
  TKC_FLOW_NO_RETURN
};

/* What a mark stands for. */
typedef struct tkc_flow_source {
  tkc_flow_kind kind;
  tkc_place at;
  const tk_inst *in;
  int why;          /* tells sources of one kind at one place apart */
  const char *text; /* "lane [3] is masked off and has no other" */
  const char *lane; /* "[3]"; "" for a scalar */
  size_t index;     /* of that lane */
  uint64_t memory;  /* UNWRITTEN: the address that was never written */
  uint16_t mixed;   /* if an undefined lane was mixed with defined ones here,
                     * as text says: the source of that lane; else 0 */
  uint16_t free;    /* of a lane whose size is known: the source without */
  int bound;        /* ... whatever it holds, it is at most 2 ** bound */
} tkc_flow_source;

/* A mark: the number of its source, + 1; 0: nothing is wrong. */
typedef uint16_t tkc_flow_id;

/* The first two sources: zeros that exp made from an infinity, whose
 * logarithm is that infinity again, and from a number, which is lost.  Every
 * other mark goes before these. */
enum { TKC_FLOW_EXACT = 1, TKC_FLOW_UNDERFLOWN = 2 };

static inline bool tkc_flow_is_zero(tkc_flow_id id) {
  return id == TKC_FLOW_EXACT || id == TKC_FLOW_UNDERFLOWN;
}

/* The mark of what two lanes go into. */
static inline tkc_flow_id tkc_flow_either(tkc_flow_id a, tkc_flow_id b) {
  return a > TKC_FLOW_UNDERFLOWN || a >= b ? a : b;
}

typedef struct tkc_flow {
  tkc *c;
  tki_observer observer;
  unsigned kinds; /* the kinds of sources to look for, or-ed */
  bool quiet;     /* marks are followed, but nothing is reported */
  bool bounds;    /* a lane's size is known: see flow_bound.c */
  bool logs;      /* zeros are marked, because the kernel takes logarithms */
  TK_VEC(tkc_flow_source) sources;
  tkc_flow_id *last; /* by instruction number: its newest source */
  tkc_fresh **fresh; /* by region; NULL: all of it was written */
  tki_val *returned; /* marks of what a call returned */
  size_t nreturned, cap_returned;
} tkc_flow;

/* Lanes of marks; step 0: one mark for all. */
typedef struct tkc_flow_marks {
  const tkc_flow_id *id;
  size_t step;
} tkc_flow_marks;

static inline tkc_flow_id tkc_flow_at(const tkc_flow_marks *m, size_t i) {
  return m->id[i * m->step];
}

/* ---- flow.c -------------------------------------------------------------- */

/* Returns the flow that watches this run; NULL: none does. */
tkc_flow *tkc_flow_watching(const tki *t);
/* Makes the observer of a run at its beginning, in the arena of c; tkc_flow_end
 * releases what it holds. */
void tkc_flow_start(tkc_flow *f, tkc *c, const tki *t, unsigned kinds);
void tkc_flow_end(tkc_flow *f, tki *t);
/* Hooks of the observer: a frame begins or ends, an instruction has run. */
void tkc_flow_frame(void *ud, tki *t, bool begins);
void tkc_flow_after(void *ud, tki *t, const tk_inst *in, const tki_val *args);

/* The first lane after i whose mark is another than that of i, or n. */
size_t tkc_flow_run_end(const tkc_flow_marks *m, size_t i, size_t n);
/* The marks of a slot of the running function. */
tkc_flow_marks tkc_flow_of(const tki *t, int slot);
bool tkc_flow_marked(const tki *t, int slot);
/* Makes marks for the n lanes of a type, all 0.  They are to be filled and
 * given to tkc_flow_set, which drops them when all are still 0. */
tki_val tkc_flow_new(tki *t, const tk_type *type, size_t n);
void tkc_flow_set(tki *t, int slot, tki_val marks, size_t n);
void tkc_flow_clear(tki *t, int slot);
/* Returns the mark of the newest source of the running instruction if that is
 * of this kind; else 0. */
tkc_flow_id tkc_flow_known(const tkc_flow *f, const tki *t, tkc_flow_kind kind,
                           int why);
/* One of the running instruction that began in this lane, or 0. */
tkc_flow_id tkc_flow_known_at(const tkc_flow *f, const tki *t, int why,
                              size_t lane);
/* Makes a source of the running instruction and returns its mark; text says
 * what is wrong with lane i of the result. */
tkc_flow_id tkc_flow_begin(tkc_flow *f, tki *t, tkc_flow_kind kind, int why,
                           size_t i, const char *text);
const tkc_flow_source *tkc_flow_source_of(const tkc_flow *f, tkc_flow_id id);

/* ---- flow_bound.c: how large an undefined lane can be -------------------- */

/* Goes over the marks of in's result, lane by lane. */
void tkc_flow_bound(tkc_flow *f, tki *t, const tk_inst *in,
                    const tki_val *args);

/* ---- flow_ops.c: how marks pass through an instruction ------------------- */

void tkc_flow_pass(tkc_flow *f, tki *t, const tk_inst *in, const tki_val *args);

/* ---- flow_source.c: NaN, infinity, wrapped integers ---------------------- */

/* Marks lanes of in's result that went wrong in it, and clears marks of lanes
 * that are right again. */
void tkc_flow_find_sources(tkc_flow *f, tki *t, const tk_inst *in,
                           const tki_val *args);
/* Whether there is nothing to do about an instruction where no lane of the
 * frame is marked. */
bool tkc_flow_is_idle(const tkc_flow *f, const tk_inst *in);
/* Whether a kernel or what it calls takes a logarithm. */
bool tkc_flow_has_log(const tk_program *p);

/* ---- flow_sink.c: where marks matter ------------------------------------- */

void tkc_flow_access(tkc_flow *f, tki *t, const tki_access *a);
/* Called for an access that ends the run: reports a mark of its address. */
void tkc_flow_bad_address(tkc_flow *f, tki *t, const tk_inst *in);
/* Reports a mark of a slot that a branch depends on; what says how. */
void tkc_flow_branch(tkc_flow *f, tki *t, int slot, const char *what);
/* Reports that an undefined lane is mixed with others; what says how. */
void tkc_flow_mixed(tkc_flow *f, tki *t, tkc_flow_id id, const char *what);
/* Returns a mark for the same, which is reported only if the result of the
 * running instruction reaches a sink. */
tkc_flow_id tkc_flow_mixes(tkc_flow *f, tki *t, tkc_flow_id id,
                           const char *what);

#endif
