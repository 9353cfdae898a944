/* flow.h - what is wrong with a value, carried from lane to lane.
 *
 * A lane may be marked with a source (of taint, as compilers say): it is
 * undefined, a NaN or infinity arose there, an integer wrapped or was divided
 * by 0.  Marks follow
 * values through every instruction and are reported where they matter.  The
 * detectors undef, nan and overflow are this one observer, with other sources.
 */
#ifndef TK_CHECK_FLOW_H
#define TK_CHECK_FLOW_H

#include "interp/check/check.h"

typedef enum flow_kind {
  FLOW_UNDEF = 1,
  FLOW_NAN = 2,
  FLOW_INF = 4,
  FLOW_OVERFLOW = 8,
  FLOW_DIVISION = 32,
  FLOW_ZERO = 16, /* nothing wrong: says where a 0 comes from */
} flow_kind;

/* Why a lane is undefined. */
enum { FLOW_MASKED_OFF, FLOW_UNWRITTEN, FLOW_SKIPPED };

/* Where a mark began. */
typedef struct flow_source {
  flow_kind kind;
  tkc_place at;
  const tk_inst *in;
  int why;          /* tells sources of one kind at one place apart */
  const char *text; /* "lane [3] is masked off and has no other" */
  const char *lane; /* "[3]"; "": a scalar */
  uint16_t mixed;   /* an undefined lane that was mixed with defined ones
                     * here, text says how: where that one began; or 0 */
} flow_source;

typedef uint16_t flow_id; /* number of a source + 1; 0: nothing is wrong */

/* The first two sources: zeros that exp made from an infinity, whose
 * logarithm is that infinity again, and from a number, which is lost.  Every
 * other mark goes before these. */
enum { FLOW_EXACT = 1, FLOW_UNDERFLOWN = 2 };

static inline bool flow_is_zero(flow_id id) {
  return id == FLOW_EXACT || id == FLOW_UNDERFLOWN;
}

/* The mark of what two lanes go into. */
static inline flow_id flow_either(flow_id a, flow_id b) {
  return a > FLOW_UNDERFLOWN || a >= b ? a : b;
}

typedef struct flow {
  tkc *c;
  tki_observer observer;
  unsigned kinds; /* flow_kind: what to look for */
  bool quiet;     /* follows marks, and reports nothing */
  bool logs;      /* the kernel takes logarithms: zeros are marked */
  TK_VEC(flow_source) sources;
  flow_id *last;       /* by instruction number: its newest source */
  uint8_t **unwritten; /* by region: a byte for each byte; NULL: none */
  tki_val *returned;   /* marks of what a call returned */
  size_t nreturned, cap_returned;
} flow;

/* Lanes of marks; step 0: one mark for all. */
typedef struct flow_marks {
  const flow_id *id;
  size_t step;
} flow_marks;

static inline flow_id flow_at(const flow_marks *m, size_t i) {
  return m->id[i * m->step];
}

/* ---- flow.c -------------------------------------------------------------- */

/* What watches this run; NULL: nothing. */
flow *flow_watching(const tki *t);
/* Makes the observer of a run at its beginning, in the arena of c; flow_end
 * lets go of what it holds. */
void flow_start(flow *f, tkc *c, const tki *t, unsigned kinds);
void flow_end(flow *f, tki *t);
/* Hooks: a frame begins or ends, an instruction was carried out. */
void flow_frame(void *ud, tki *t, bool begins);
void flow_after(void *ud, tki *t, const tk_inst *in, const tki_val *args);

/* The marks of a slot of the running function. */
flow_marks flow_of(const tki *t, int slot);
bool flow_marked(const tki *t, int slot);
/* Marks for the n lanes of a type, all 0; to be filled and given to flow_set,
 * which drops them when none was set. */
tki_val flow_new(tki *t, const tk_type *type, size_t n);
void flow_set(tki *t, int slot, tki_val marks, size_t n);
void flow_clear(tki *t, int slot);
/* The newest source of the running instruction, if it is of this kind; else
 * 0: make one, text says what is wrong with lane i of the result. */
flow_id flow_known(const flow *f, const tki *t, flow_kind kind, int why);
flow_id flow_begin(flow *f, tki *t, flow_kind kind, int why, size_t i,
                   const char *text);
const flow_source *flow_source_of(const flow *f, flow_id id);

/* ---- flow_ops.c: how marks pass through an instruction ------------------- */

void flow_pass(flow *f, tki *t, const tk_inst *in, const tki_val *args);

/* ---- flow_source.c: NaN, infinity, wrapped integers -----------------------
 */

/* Marks lanes of in's result that went wrong in it, and clears marks of lanes
 * that are right again. */
void flow_find_sources(flow *f, tki *t, const tk_inst *in, const tki_val *args);
/* Whether a kernel or what it calls takes a logarithm. */
bool flow_has_log(const tk_program *p);

/* ---- flow_sink.c: where marks matter ------------------------------------- */

void flow_access(flow *f, tki *t, const tki_access *a);
/* The access that ends the run: is its address to blame? */
void flow_bad_address(flow *f, tki *t, const tk_inst *in);
void flow_branch(flow *f, tki *t, int slot, const char *what);
void flow_mixed(flow *f, tki *t, flow_id id, const char *what);
/* The same, said only if the result of the running instruction matters. */
flow_id flow_mixes(flow *f, tki *t, flow_id id, const char *what);

#endif
