/* clock.h - time as it passes, for measuring how long something took.
 */
#ifndef TK_BASE_CLOCK_H
#define TK_BASE_CLOCK_H

/* Seconds since some moment in the past, by a clock that only goes on. */
double tk_clock_seconds(void);

#endif
