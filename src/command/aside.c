/* aside.c - what is said of programs that ran aside. */
#include "command/aside.h"

#include "command/say.h"
#include "debug/history.h"

void tkt_say_untouched(tkt *d) {
  if (tkd_changed_by_hand(d->e))
    tkt_say(d, "(as it is without what was changed by hand: 'set', 'jump' and "
               "'return')\n");
}

void tkt_say_left_out(tkt *d, const tkd_aside *x) {
  if (x->from)
    tkt_say(d,
            "Without %llu programs before: their history was dropped ('set "
            "history').\n",
            (unsigned long long)x->from);
}
