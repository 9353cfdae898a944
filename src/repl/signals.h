/* signals.h - signals that come while a terminal is in a mode of its own.
 *
 * Each is told through a pipe, so that whoever waits for a key wakes up
 * whichever thread took the signal; the terminal can be put right before the
 * signal does what it would have done.
 */
#ifndef TK_REPL_SIGNALS_H
#define TK_REPL_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

enum { TKT_SIGNALS = 7 };

typedef struct tkt_signals {
  int reader, writer; /* the pipe */
  struct sigaction before[TKT_SIGNALS];
} tkt_signals;

bool tkt_signals_open(tkt_signals *s);
void tkt_signals_close(tkt_signals *s);

/* From hold to release signals go into the pipe.  One holds them at a time. */
void tkt_signals_hold(tkt_signals *s);
void tkt_signals_release(tkt_signals *s);

/* Waits until input can be read, or a signal has come, which is returned. */
int tkt_signals_wait(tkt_signals *s, int input);

/* Does with a held signal what would have been done with it. */
void tkt_signals_pass(tkt_signals *s, int signal);

#endif
