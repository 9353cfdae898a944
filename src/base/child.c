/* child.c - a child process that writes an answer and ends. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"

void tk_write_all(int fd, const char *s, size_t n) {
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

static void TK_NORETURN no_child(tk_env *e, const char *what) {
  tk_diag_add(e, TK_D_UNSUPPORTED, NULL, (tk_span){0, 0}, "no %s: %s", what,
              strerror(errno));
  tk_throw(e, TK_FINDING);
}

/* A child ends when its parent ends, in whatever way, and at every Ctrl-C. */
static void become_child(pid_t parent) {
  signal(SIGINT, SIG_DFL);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(0);
}

int tk_run_child(tk_env *e, void (*work)(int fd, void *ud), void *ud,
                 tk_buf *out) {
  int ends[2], status = 0;
  fflush(NULL);
  if (pipe(ends)) no_child(e, "pipe");
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(ends[0]);
    become_child(parent);
    work(ends[1], ud);
    _exit(0);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    no_child(e, "process");
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

typedef struct program {
  const char *const *argv;
  double seconds;
} program;

static void become_program(int fd, void *ud) {
  const program *p = ud;
  struct itimerval limit = {.it_value.tv_sec = (time_t)p->seconds};
  limit.it_value.tv_usec =
      (suseconds_t)((p->seconds - (double)limit.it_value.tv_sec) * 1e6);
  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  close(fd);
  setitimer(ITIMER_REAL, &limit, NULL); /* goes on in the program */
  execvp(p->argv[0], (char *const *)p->argv);
  const char *why = strerror(errno);
  tk_write_all(STDOUT_FILENO, why, strlen(why));
  _exit(127);
}

int tk_run_program(tk_env *e, const char *const *argv, double seconds,
                   tk_buf *out) {
  program p = {argv, seconds};
  return tk_run_child(e, become_program, &p, out);
}

bool tk_program_succeeds(const char *const *argv) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    int nothing = open("/dev/null", O_RDWR);
    for (int fd = 0; nothing >= 0 && fd < 3; fd++) dup2(nothing, fd);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
  }
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
