/* aside.c - the message about programs that ran aside. */
#include "command/aside.h"

#include "command/say.h"

void tkt_say_untouched(tkt *d, const tk_debug_aside *x) {
  if (x->by_hand)
    tkt_say(d, "(This is without the changes made by 'set', 'jump' and "
               "'return'.)\n");
}

void tkt_say_left_out(tkt *d, const tk_debug_aside *x) {
  if (x->left_out)
    tkt_say(d,
            "This leaves out %llu earlier program%s, whose history was dropped "
            "('set\n"
            "history').\n",
            (unsigned long long)x->left_out, x->left_out == 1 ? "" : "s");
}
