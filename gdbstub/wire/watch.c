/* watch.c - a thread that waits beside the launch. */
#include "gdbstub/wire/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/assert.h"

static void *watch_input(void *ud) {
  gw_watch *w = ud;
  struct pollfd p[2] = {{.fd = w->fd, .events = POLLIN},
                        {.fd = w->wake[0], .events = POLLIN}};
  while (poll(p, 2, w->timeout) < 0 && errno == EINTR) continue;
  if (!p[1].revents) w->alarm(w->ud);
  return NULL;
}

/* The thread takes no signals: they are the host's. */
void gw_watch_begin(gw_watch *w, int fd, int timeout, void (*alarm)(void *ud),
                    void *ud) {
  sigset_t all, before;
  TK_ASSERT(!w->runs);
  if (fd < 0 || pipe(w->wake)) return;
  w->alarm = alarm;
  w->ud = ud;
  w->fd = fd;
  w->timeout = timeout;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  w->runs = pthread_create(&w->thread, NULL, watch_input, w) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (w->runs) return;
  close(w->wake[0]);
  close(w->wake[1]);
}

void gw_watch_end(gw_watch *w) {
  if (!w->runs) return;
  while (write(w->wake[1], "", 1) < 0 && errno == EINTR) continue;
  pthread_join(w->thread, NULL);
  close(w->wake[0]);
  close(w->wake[1]);
  w->runs = false;
}
