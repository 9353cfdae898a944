/* state.c - the states that the server is in, by the table. */
#include "gdbstub/dap/dap.h"

/* What moves a state machine allows: a bit for each state that may follow. */
static const unsigned char talks_on[DAP_TALKS][DAP_TALKS] = {
#define TALKS_ON(from, to, doc) [DAP_##from][DAP_##to] = 1,
#include "gdbstub/dap/state.def"
};

static const unsigned char runs_on[DAP_RUN_STATES][DAP_RUN_STATES] = {
#define RUNS_ON(from, to, doc) [DAP_##from][DAP_##to] = 1,
#include "gdbstub/dap/state.def"
};

/* Kinds of requests, as bits (request.def). */
enum {
  ANY = DAP_ANY,
  ONCE = DAP_ONCE,
  RUNS = DAP_WORKS,
  STANDS = DAP_STANDING
};

static const int talk_takes[DAP_TALKS] = {
#define TALK(id, takes, why, doc) [DAP_##id] = takes,
#include "gdbstub/dap/state.def"
};

static const char *const talk_refuses[DAP_TALKS] = {
#define TALK(id, takes, why, doc) [DAP_##id] = why,
#include "gdbstub/dap/state.def"
};

static const int run_takes[DAP_RUN_STATES] = {
#define RUN(id, takes, doc) [DAP_##id] = takes,
#include "gdbstub/dap/state.def"
};

void dap_talk_on(dap *p, dap_talk to) {
  TK_ASSERT(talks_on[p->talk][to]);
  TK_ASSERT(to != DAP_SERVED || p->launch.request);
  p->talk = to;
}

void dap_run_on(dap *p, dap_run to) {
  TK_ASSERT(runs_on[p->run][to]);
  TK_ASSERT((to == DAP_STANDS) == (p->stop != NULL));
  p->run = to;
}

bool dap_is_let_go(const dap *p) {
  return p->talk == DAP_LETS_GO || p->talk == DAP_GONE;
}

bool dap_ends(const dap *p) {
  return p->talk == DAP_ENDS || p->talk == DAP_LEFT;
}

void dap_end(dap *p) {
  if (!dap_ends(p)) dap_talk_on(p, DAP_ENDS);
}

bool dap_has_asked(const dap *p) {
  return p->talk == DAP_SETS_UP || p->talk == DAP_SERVED;
}

const char *dap_untimely(const dap *p, int when) {
  TK_ASSERT((p->run == DAP_STANDS) == (p->stop != NULL));
  if (!(talk_takes[p->talk] & when)) return talk_refuses[p->talk];
  return run_takes[p->run] & when ? NULL : "no program is stopped";
}
