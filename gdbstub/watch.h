/* watch.h - hearing of a client while a launch runs.
 *
 * Ownership: a gs_watch, zeroed at first, belongs to the caller; what it
 * watches outlives gs_watch_end.
 * Errors: there are none; where no thread can be made, nothing is heard.
 */
#ifndef GDBSTUB_WATCH_H
#define GDBSTUB_WATCH_H

#include <pthread.h>
#include <stdbool.h>

typedef struct gs_watch {
  pthread_t thread;
  int wake[2];
  bool runs;
  void (*alarm)(void *ud);
  void *ud;
  int fd, timeout;
} gs_watch;

/* Until gs_watch_end, calls alarm, on a thread of its own, once: when
 * something arrives at fd, or after timeout milliseconds (-1: never). */
void gs_watch_begin(gs_watch *w, int fd, int timeout, void (*alarm)(void *ud),
                    void *ud);
void gs_watch_end(gs_watch *w); /* if it has begun */

#endif
