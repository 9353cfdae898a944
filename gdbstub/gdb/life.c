/* life.c - what the run is for the client, by the table. */
#include "gdbstub/gdb/stub.h"

static const bool stands[GS_LIFE_STATES] = {
#define LIFE(id, stands, doc) [GS_##id] = stands,
#include "gdbstub/gdb/life.def"
};

static const bool may_follow[GS_LIFE_STATES][GS_LIFE_STATES] = {
#define LIVES_ON(from, to, doc) [GS_##from][GS_##to] = true,
#include "gdbstub/gdb/life.def"
};

void gs_live_on(gs_stub *g, gs_life to) {
  TK_ASSERT(g->life == to || may_follow[g->life][to]);
  TK_ASSERT(to != GS_FRESH || g->wire.line.in < 0);
  TK_ASSERT(g->borrows || (to != GS_KEPT && g->life != GS_KEPT));
  TK_ASSERT(to != GS_BEGINS || g->wire.line.in >= 0);
  g->life = to;
}

bool gs_is_lent(const gs_stub *g) {
  return g->borrows && g->life != GS_KEPT;
}

bool gs_is_let_go(const gs_stub *g) {
  return g->life == GS_ALONE || g->life == GS_APART;
}

bool gs_goes_on(const gs_stub *g) {
  return tk_debug_will_resume(g->d);
}

bool gs_has_process(const gs_stub *g) {
  return stands[g->life];
}
