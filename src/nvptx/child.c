/* child.c - a child that says something and ends. */
#include "nvptx/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void tkv_write_all(int fd, const char *s, size_t n) {
  while (n) {
    ssize_t k = write(fd, s, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return;
    s += k;
    n -= (size_t)k;
  }
}

/* Reads what the child says until it ends; throws when interrupted. */
static void read_answer(tk_env *e, int fd, tk_buf *out) {
  char piece[65536];
  for (;;) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = poll(&p, 1, 100);
    tk_check_interrupt(e);
    if (ready <= 0) continue;
    ssize_t n = read(fd, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    tk_buf_add(out, piece, (size_t)n);
  }
}

typedef struct answering {
  int fd;
  tk_buf *out;
} answering;

static void read_until_end(tk_env *e, void *ud) {
  answering *a = ud;
  read_answer(e, a->fd, a->out);
}

void tkv_report_failure(tk_env *e, const char *fmt, const char *why,
                        const char *help) {
  tk_diag *d =
      tk_diag_add(e, TK_D_UNSUPPORTED, NULL, (tk_span){0, 0}, fmt, why);
  if (help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, TK_FINDING);
}

int tkv_run_child(tk_env *e, void (*work)(int fd, void *ud), void *ud,
                  tk_buf *out) {
  int ends[2], status = 0;
  fflush(NULL);
  if (pipe(ends)) tkv_report_failure(e, "no pipe: %s", strerror(errno), NULL);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    work(ends[1], ud);
    _exit(0);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    tkv_report_failure(e, "no process: %s", strerror(errno), NULL);
  }
  answering a = {ends[0], out};
  tk_status st = tk_protect(e, read_until_end, &a);
  close(ends[0]);
  if (st != TK_OK) kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (st != TK_OK) tk_throw(e, st);
  return status;
}
