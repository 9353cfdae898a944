/* output.c - a thread that reads what the process writes. */
#include "gdbstub/dap/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const categories[] = {"stdout", "stderr"};

/* How many bytes at the end are the beginning of an incomplete UTF-8
 * character. */
static size_t unfinished(const char *s, size_t n) {
  for (size_t k = 1; k <= 3 && k <= n; k++) {
    unsigned char c = (unsigned char)s[n - k];
    size_t whole = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    if (c >= 0x80 && c < 0xc0) continue;
    return whole > k ? k : 0;
  }
  return 0;
}

/* Sends what has been written; returns false if the other end is closed. */
static bool forward(dap_output *o, int i) {
  dap_stream *x = &o->streams[i];
  char text[sizeof x->part + 16384];
  memcpy(text, x->part, x->npart);
  ssize_t got = read(x->pipe[0], text + x->npart, sizeof text - x->npart);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  size_t n = x->npart + (size_t)got;
  size_t room = sizeof o->error - o->nerror;
  if (i == 1 && room) {
    size_t k = (size_t)got < room ? (size_t)got : room;
    memcpy(o->error + o->nerror, text + x->npart, k);
    o->nerror += k;
  }
  x->npart = unfinished(text, n);
  n -= x->npart;
  memcpy(x->part, text + n, x->npart);
  if (n) dap_wire_output(o->wire, categories[i], text, n);
  return true;
}

static bool has_input(int fd) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  return poll(&p, 1, 0) > 0 && p.revents & POLLIN;
}

static void *read_output(void *ud) {
  dap_output *o = ud;
  struct pollfd p[3] = {{.fd = o->streams[0].pipe[0], .events = POLLIN},
                        {.fd = o->streams[1].pipe[0], .events = POLLIN},
                        {.fd = o->ask[0], .events = POLLIN}};
  for (;;) {
    char asked = 0;
    if (poll(p, 3, -1) < 0) continue;
    if (p[2].revents && read(o->ask[0], &asked, 1) < 1) continue;
    for (int i = 0; i < 2; i++)
      while (p[i].fd >= 0 && has_input(p[i].fd))
        if (!forward(o, i)) p[i].fd = -1;
    for (int i = 0; i < 2; i++)
      if (p[i].revents & ~POLLIN && p[i].fd >= 0 && !has_input(p[i].fd))
        p[i].fd = -1;
    if (asked) sem_post(&o->done);
    if (asked == 'e') return NULL;
  }
}

static void close_both(const int fds[2]) {
  close(fds[0]);
  close(fds[1]);
}

static bool make_pipes(dap_output *o) {
  if (pipe2(o->ask, O_CLOEXEC)) return false;
  for (int i = 0; i < 2; i++) {
    dap_stream *x = &o->streams[i];
    x->fd = i ? STDERR_FILENO : STDOUT_FILENO;
    x->npart = 0;
    if (pipe2(x->pipe, O_CLOEXEC)) {
      if (i) close_both(o->streams[0].pipe);
      close_both(o->ask);
      return false;
    }
  }
  return true;
}

/* The thread takes no signals: they are the host's. */
void dap_output_begin(dap_output *o, dap_wire *wire) {
  sigset_t all, before;
  TK_ASSERT(!o->runs);
  o->wire = wire;
  o->nerror = 0;
  if (!make_pipes(o)) return;
  sem_init(&o->done, 0, 0);
  fflush(NULL);
  for (int i = 0; i < 2; i++) {
    dap_stream *x = &o->streams[i];
    x->own = fcntl(x->fd, F_DUPFD_CLOEXEC, 3);
    dup2(x->pipe[1], x->fd);
    close(x->pipe[1]);
  }
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  o->runs = pthread_create(&o->thread, NULL, read_output, o) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void ask_thread(dap_output *o, char what) {
  TK_ASSERT(o->runs); /* else nobody answers */
  fflush(NULL);
  while (write(o->ask[1], &what, 1) < 0 && errno == EINTR) continue;
  while (sem_wait(&o->done) < 0 && errno == EINTR) continue;
}

void dap_output_sync(dap_output *o) {
  if (o->runs) ask_thread(o, 's');
}

void dap_output_end(dap_output *o) {
  if (!o->runs) return;
  ask_thread(o, 'e');
  pthread_join(o->thread, NULL);
  for (int i = 0; i < 2; i++) {
    dap_stream *x = &o->streams[i];
    dup2(x->own, x->fd);
    close(x->own);
    close(x->pipe[0]);
  }
  close_both(o->ask);
  sem_destroy(&o->done);
  o->runs = false;
}
