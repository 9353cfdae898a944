/* server_thread.h - a server of debugging sessions on a thread of its own, for
 * tests that are its clients.
 *
 * It offers one launch after another, each run twice, until it is stopped.
 */
#ifndef TESTS_SUPPORT_SERVER_THREAD_H
#define TESTS_SUPPORT_SERVER_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "tkdbg/tkdbg.h"

enum { SERVED_ELEMENTS = 16, SERVED_PROGRAMS = 4 };

typedef struct server_thread server_thread;

/* Serves a launch at an address, and runs it: server_runs.  It may be
 * interrupted.  Nothing is asserted in it, for what fails there would jump into
 * the test's thread: it says whether there was a server. */
typedef tk_status serve_launch(tk_session *session, tk_launch *l,
                               const char *address);

struct server_thread {
  pthread_t thread;
  char path[100]; /* of the socket that it listens at */
  atomic_bool stops;
  pthread_mutex_t lock; /* of session, which runs; or NULL */
  tk_session *session;
  serve_launch *serve;
  atomic_int launches; /* sessions that have ended */
};

void server_start(server_thread *s, serve_launch *serve);
void server_stop(server_thread *s);
/* Runs the launch twice. */
void server_runs(tk_launch *l);
/* A connection to it, once it listens. */
int server_connect(const server_thread *s);

#endif
