/* clock.h - time as it passes, for measuring how long something
 * took. */
#ifndef TK_BASE_CLOCK_H
#define TK_BASE_CLOCK_H

/* Seconds since some moment in the past, by a clock that only goes on. */
double tk_clock_seconds(void);

/* The CPU time of this thread in seconds: it does not count while the thread
 * waits or the system runs something else. */
double tk_clock_thread_seconds(void);

#endif
