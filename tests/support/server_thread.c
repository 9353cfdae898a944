/* server_thread.c - a server of debugging sessions on a thread of its own. */
#include "support/server_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "support/suite.h"

static const char source[] = "import triton\n"
                             "import triton.language as tl\n"
                             "@triton.jit\n"
                             "def twice(v):\n"
                             "    w = v + v\n"
                             "    return w\n"
                             "@triton.jit\n"
                             "def k(x, n, B: tl.constexpr):\n"
                             "    pid = tl.program_id(0)\n"
                             "    i = pid * B + tl.arange(0, B)\n"
                             "    v = tl.load(x + i, mask=i < n)\n"
                             "    for j in range(5):\n"
                             "        v = twice(v) + j\n"
                             "    w = (v, pid)\n"
                             "    tl.store(x + i, v, mask=i < n)\n"
                             "    tl.device_print('done', pid)\n";

static void set_session(server_thread *s, tk_session *session) {
  pthread_mutex_lock(&s->lock);
  s->session = session;
  pthread_mutex_unlock(&s->lock);
}

void server_runs(tk_launch *l) {
  tk_run_options run = {.size = sizeof run};
  for (int i = 0; i < 2; i++) tk_launch_run(l, &run, NULL);
}

static tk_status make_launch(tk_session *session, int32_t *memory,
                             tk_launch **l) {
  tk_module *m;
  tk_function *f;
  for (int i = 0; i < SERVED_ELEMENTS; i++) memory[i] = i;
  tk_tensor x = {.data = memory,
                 .dtype = TK_INT32,
                 .rank = 1,
                 .shape = {SERVED_ELEMENTS},
                 .strides = {1},
                 .storage = memory,
                 .storage_bytes = SERVED_ELEMENTS * sizeof *memory};
  tk_status st = tk_module_open(session, "k.py", source, sizeof source - 1, &m);
  if (!st) st = tk_function_named(m, "k", &f);
  if (!st) st = tk_launch_new(session, f, l);
  if (!st) st = tk_launch_grid(*l, SERVED_PROGRAMS, 1, 1);
  if (!st) st = tk_launch_tensor(*l, "x", &x);
  if (!st) st = tk_launch_arg_text(*l, "n=14");
  if (!st) st = tk_launch_arg_text(*l, "B=4");
  return st;
}

/* One that is told to stop while it starts has no server, rightly. */
static void serve_once(server_thread *s) {
  tk_session *session = tk_session_new();
  tk_launch *l;
  int32_t memory[SERVED_ELEMENTS];
  char address[120];
  snprintf(address, sizeof address, "unix:%s", s->path);
  tk_status st = make_launch(session, memory, &l);
  if (!st) {
    set_session(s, session);
    st = s->serve(session, l, address);
    set_session(s, NULL);
  }
  if (st && !atomic_load(&s->stops)) {
    fprintf(stderr, "no server at %s: %s\n", address,
            tk_report(session, false));
    abort();
  }
  tk_session_free(session);
  atomic_fetch_add(&s->launches, 1);
}

static void *serve_until_stopped(void *ud) {
  server_thread *s = ud;
  while (!atomic_load(&s->stops)) serve_once(s);
  return NULL;
}

void server_start(server_thread *s, serve_launch *serve) {
  static int number;
  memset(s, 0, sizeof *s);
  s->serve = serve;
  pthread_mutex_init(&s->lock, NULL);
  snprintf(s->path, sizeof s->path, "/tmp/tkdbg-test-%d-%d", (int)getpid(),
           number++);
  ck_assert_int_eq(pthread_create(&s->thread, NULL, serve_until_stopped, s), 0);
}

/* A launch that has not begun yet does not know that it was interrupted. */
void server_stop(server_thread *s) {
  struct timespec soon;
  atomic_store(&s->stops, true);
  do {
    pthread_mutex_lock(&s->lock);
    if (s->session) tk_interrupt(s->session);
    pthread_mutex_unlock(&s->lock);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 10000000;
    if (soon.tv_nsec >= 1000000000) soon.tv_sec++, soon.tv_nsec -= 1000000000;
  } while (pthread_timedjoin_np(s->thread, NULL, &soon));
  pthread_mutex_destroy(&s->lock);
}

int server_connect(const server_thread *s) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  strcpy(at.sun_path, s->path);
  for (int i = 0; i < 20000; i++) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0) return fd;
    close(fd);
    usleep(1000);
  }
  ck_abort_msg("nobody listens at %s", s->path);
}
