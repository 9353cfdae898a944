/* stopped.c - where the address came from that a program was stopped at.
 */
#include "interp/explain/stopped.h"

#include "interp/explain/slice.h"
#include "interp/grid.h"

static void explain_address(void *ud, tki *t) {
  tke_stopped *x = ud;
  const tki_frame *f = t->frame;
  if (!f || !f->inst || !t->bad_lane ||
      tki_program_index(t) != x->trace.program)
    return;
  int slot = f->inst->args[0];
  tke_ref ref = tke_trace_slot(f, slot);
  size_t lane = tki_is_uniform(&f->slots[slot]) ? 0 : t->bad_lane - 1;
  if (ref)
    tke_slice_value(&x->trace, x->arena, ref, lane, TKE_SLICE_STEPS, &x->found);
}

void tke_stopped_begin(tke_stopped *x, tki *t, const int64_t pid[3],
                       tk_arena *a) {
  if (x->t) tke_stopped_end(x, x->t == t);
  x->t = t;
  x->arena = a;
  x->found = (tk_explanation){.scope = -1};
  x->observer = (tki_observer){.ud = x, .stop = explain_address};
  tke_trace_init(&x->trace, t, tki_index_of(t, pid),
                 (size_t)TKE_TRACE_MIB << 20);
  tki_observe(t, &x->trace.observer);
  tki_observe(t, &x->observer);
}

void tke_stopped_end(tke_stopped *x, bool pool) {
  if (x->t) tke_trace_end(&x->trace, pool);
  x->t = NULL;
}
