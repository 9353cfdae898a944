/* signals.c - signals that come while a terminal is in a mode of its own. */
#include "repl/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static const int held[TKT_SIGNALS] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                      SIGTSTP, SIGCONT, SIGWINCH};

/* A signal handler can only find it in a global. */
static volatile sig_atomic_t pipe_in = -1;

static void on_held(int signal) {
  int error = errno;
  unsigned char byte = (unsigned char)signal;
  if (write(pipe_in, &byte, 1) < 0) errno = 0; /* it is full: enough came */
  errno = error;
}

bool tkt_signals_open(tkt_signals *s) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return false;
  s->reader = ends[0];
  s->writer = ends[1];
  return true;
}

void tkt_signals_close(tkt_signals *s) {
  close(s->reader);
  close(s->writer);
}

/* What is ignored stays so: a job in the background has SIGINT ignored. */
void tkt_signals_hold(tkt_signals *s) {
  struct sigaction sa = {.sa_handler = on_held, .sa_flags = SA_RESTART};
  sigemptyset(&sa.sa_mask);
  pipe_in = s->writer;
  for (int i = 0; i < TKT_SIGNALS; i++) {
    sigaction(held[i], NULL, &s->before[i]);
    if (s->before[i].sa_handler != SIG_IGN) sigaction(held[i], &sa, NULL);
  }
}

void tkt_signals_release(tkt_signals *s) {
  for (int i = 0; i < TKT_SIGNALS; i++)
    if (s->before[i].sa_handler != SIG_IGN)
      sigaction(held[i], &s->before[i], NULL);
  pipe_in = -1;
}

int tkt_signals_wait(tkt_signals *s, int input) {
  struct pollfd fds[] = {{.fd = s->reader, .events = POLLIN},
                         {.fd = input, .events = POLLIN}};
  unsigned char byte;
  while (poll(fds, 2, -1) < 0 && errno == EINTR) continue;
  return read(s->reader, &byte, 1) == 1 ? byte : 0;
}

void tkt_signals_pass(tkt_signals *s, int signal) {
  tkt_signals_release(s);
  raise(signal);
  tkt_signals_hold(s);
}
