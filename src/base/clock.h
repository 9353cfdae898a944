/* clock.h - time as it passes, for measuring how long something took.
 */
#ifndef TK_BASE_CLOCK_H
#define TK_BASE_CLOCK_H

/* Seconds since some moment in the past, by a clock that only goes on. */
double tk_clock_seconds(void);

/* Seconds that this thread has run: while the system runs something else, or
 * the thread waits, they stand still. */
double tk_clock_thread_seconds(void);

#endif
