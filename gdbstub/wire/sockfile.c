/* sockfile.c - removes a socket's file, also from a signal handler, which calls
 * only functions that are safe there: lstat, unlink and getpid. */
#include "gdbstub/wire/sockfile.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/env.h"

/* What a signal removes; a handler can only know it from here. */
static gw_sockfile *volatile owned;

static const int ends[] = {SIGHUP, SIGINT, SIGTERM};

/* Removes the file, then lets the signal act as if nobody handled it. */
static void on_end(int sig) {
  if (owned) gw_sockfile_remove(owned);
  signal(sig, SIG_DFL);
  raise(sig);
}

static void handle_instead(void (*old)(int), void (*handler)(int)) {
  struct sigaction is, will = {.sa_handler = handler};
  sigemptyset(&will.sa_mask);
  for (size_t i = 0; i < TK_COUNT(ends); i++)
    if (!sigaction(ends[i], NULL, &is) && !(is.sa_flags & SA_SIGINFO) &&
        is.sa_handler == old)
      sigaction(ends[i], &will, NULL);
}

void gw_sockfile_own(gw_sockfile *f, const char *path) {
  struct stat st;
  if (!realpath(path, f->path) || lstat(f->path, &st)) return;
  f->device = st.st_dev;
  f->inode = st.st_ino;
  f->owner = getpid();
  owned = f;
  handle_instead(SIG_DFL, on_end);
}

void gw_sockfile_leave(gw_sockfile *f) {
  f->owner = 0;
  if (owned != f) return;
  owned = NULL;
  handle_instead(on_end, SIG_DFL);
}

void gw_sockfile_remove(gw_sockfile *f) {
  struct stat st;
  if (f->owner == getpid() && !lstat(f->path, &st) && st.st_dev == f->device &&
      st.st_ino == f->inode)
    unlink(f->path);
  gw_sockfile_leave(f);
}

/* Whether no process listens there any more. It tries with a socket of another
 * kind, which the listening process does not notice. */
static bool is_stale(const struct sockaddr_un *at) {
  struct stat st;
  if (lstat(at->sun_path, &st) || !S_ISSOCK(st.st_mode)) return false;
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  bool stale = connect(fd, (const struct sockaddr *)at, sizeof *at) < 0 &&
               errno == ECONNREFUSED;
  close(fd);
  return stale;
}

/* Signals are blocked, so that none arrives between creating the file and
 * noting that it has to be removed. */
int gw_sockfile_bind(gw_sockfile *f, const char *path, int fd) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  sigset_t all, before;
  if (strlen(path) >= sizeof at.sun_path) return ENAMETOOLONG;
  strcpy(at.sun_path, path);
  if (is_stale(&at)) unlink(path);
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int error = bind(fd, (struct sockaddr *)&at, sizeof at) ? errno : 0;
  if (!error) gw_sockfile_own(f, path);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}
