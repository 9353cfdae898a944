/* cmd_access.c - access: what a statement touches. */
#include "command/aside.h"
#include "command/cmd.h"
#include "command/operand.h"
#include "command/say.h"
#include "launch/report.h"

static void put_limits(tkt *d, const tk_debug_accesses *x) {
  const tk_debug_aside *w = &x->aside;
  if (x->more) tkt_say(d, "(there are more tensors than are shown)\n");
  tkt_say_left_out(d, w);
  if (w->full)
    tkt_say(d, "Only the first programs: the others overwrite more than 'set "
               "history' allows.\n");
  else if (w->interrupted)
    tkt_say(d, "Only the programs up to here: it was interrupted.\n");
  else if (w->ended)
    tkt_say(d, "Only up to where a program ended with: %s.\n", w->ended);
}

void tkt_cmd_ACCESS(tkt *d, tkt_args *a) {
  tk_debug_accesses x;
  int line = (int)tkt_number(d, a->text, 0);
  tkt_need(d, tk_debug_access(d->e, line, &x));
  if (x.npictures) {
    tkt_say(d, "line %d: ", x.place.line);
    tk_report_source(&d->out, &x.place, SIZE_MAX);
    tkt_say(d, "\n");
  }
  for (size_t i = 0; i < x.npictures; i++)
    tk_report_access(&d->out, &x.pictures[i]);
  put_limits(d, &x);
  tkt_say_untouched(d, &x.aside);
  if (x.npictures) return;
  if (!x.reached) tkt_fail(d, "No program comes to line %d.", x.place.line);
  tkt_fail(d, "Line %d touches no memory: 'info line' says what it does.",
           x.place.line);
}
