/* order.c - whether the programs of a launch must run one after the other. */
#include "interp/order.h"

#include "interp/schedule.h"

static bool find_reason(void *ud, const tk_at *at, const tk_inst *in) {
  tki_order_reason *r = ud;
  bool atomic = in->op == TK_I_ATOMIC || in->op == TK_I_CAS;
  if (atomic && !(r->aside & TKI_ORDER_ATOMICS))
    r->why = "this atomic operation orders them";
  if (in->op == TK_I_PRINT && !(r->aside & TKI_ORDER_PRINTS))
    r->why = "their output here must come in order";
  if (in->op == TK_I_CLOCK) r->why = "this counts what ran before it";
  r->src = at->func->src;
  r->span = in->span;
  return !r->why;
}

bool tki_order_find(const tk_program *p, unsigned aside, tki_order_reason *r) {
  tk_at at;
  *r = (tki_order_reason){.aside = aside};
  if (!tki_schedule_waits_at(p, &at)) {
    tk_walk_program(p, &(tk_walk){.ud = r, .inst = find_reason});
    return r->why != NULL;
  }
  r->why = "this loop may wait for another program";
  r->waits = true;
  r->src = at.func->src;
  r->span = at.stmt->span;
  return true;
}
