/* clock.c - time as it passes. */
#include "base/clock.h"

#include <time.h>

static double clock_reading(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double tk_clock_seconds(void) {
  return clock_reading(CLOCK_MONOTONIC);
}

double tk_clock_thread_seconds(void) {
  return clock_reading(CLOCK_THREAD_CPUTIME_ID);
}
