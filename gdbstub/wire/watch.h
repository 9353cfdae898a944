/* watch.h - noticing a client while a launch runs.
 *
 * Ownership: a gw_watch, zeroed at first, belongs to the caller; what it
 * watches outlives gw_watch_end.
 * Errors: none.  Without a thread, the client is not noticed until the launch
 * stops.
 */
#ifndef GDBSTUB_WIRE_WATCH_H
#define GDBSTUB_WIRE_WATCH_H

#include <pthread.h>
#include <stdbool.h>

typedef struct gw_watch {
  pthread_t thread;
  int wake[2];
  bool runs;
  void (*alarm)(void *ud);
  void *ud;
  int fd, timeout;
} gw_watch;

/* Until gw_watch_end, calls alarm, on a thread of its own, once: when
 * something arrives at fd, or after timeout milliseconds (-1: never). */
void gw_watch_begin(gw_watch *w, int fd, int timeout, void (*alarm)(void *ud),
                    void *ud);
/* Stops watching; does nothing if no watch is running. */
void gw_watch_end(gw_watch *w);

#endif
