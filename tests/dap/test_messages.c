/* test_messages.c - an editor that sends what no editor would: requests with
 * arguments of any kind and in any order, damaged headers and JSON, enormous
 * lengths, and then is gone.  After all of it the server must answer, or have
 * closed the connection, and the next editor must find it there.
 *
 * MESSAGES=N sends so many random ones, a few thousand otherwise; SEED=N begins
 * elsewhere.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/env_number.h"
#include "support/server_thread.h"
#include "support/suite.h"
#include "tkdbg/dap.h"

enum { SECOND = 1000 };

/* A launch that any number of editors attach to, one after another. */
static tk_status serve_editors(tk_session *session, tk_launch *l,
                               const char *address) {
  tk_dap *p;
  tk_dap_options o = {.size = sizeof o, .address = address};
  tk_status st = tk_dap_new(session, &o, &p);
  if (st) return st;
  if (tk_dap_configure(p) == TK_OK) server_runs(l);
  tk_dap_end(p, 0);
  return TK_OK;
}

/* ---- the client --------------------------------------------------------- */

typedef struct client {
  int fd, seq;
  char got[1 << 16]; /* the end of what has been received */
  size_t n;
} client;

static void connect_to(client *c, const server_thread *s) {
  c->n = 0;
  c->seq = 0;
  c->fd = server_connect(s);
}

/* Takes in what has arrived, of which the end is kept; false: the server has
 * closed. */
static bool take_in(client *c) {
  if (c->n > sizeof c->got / 2) {
    size_t keep = sizeof c->got / 4;
    memmove(c->got, c->got + c->n - keep, keep);
    c->n = keep;
  }
  ssize_t n = recv(c->fd, c->got + c->n, sizeof c->got - 1 - c->n, 0);
  if (n > 0) c->n += (size_t)n;
  c->got[c->n] = '\0';
  return n > 0;
}

/* False: the server has closed. */
static bool send_bytes(client *c, const char *s, size_t n) {
  while (n) {
    struct pollfd p = {.fd = c->fd, .events = POLLIN | POLLOUT};
    poll(&p, 1, -1);
    if (p.revents & POLLIN && !take_in(c)) return false;
    if (!(p.revents & POLLOUT)) continue;
    ssize_t done = send(c->fd, s, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EAGAIN) continue;
    if (done <= 0) return false;
    s += done;
    n -= (size_t)done;
  }
  return true;
}

static bool send_text(client *c, const char *text) {
  char head[64];
  size_t n = strlen(text);
  int k = snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", n);
  return send_bytes(c, head, (size_t)k) && send_bytes(c, text, n);
}

static bool request(client *c, const char *command, const char *arguments) {
  char text[4096];
  snprintf(text, sizeof text,
           "{\"seq\": %d, \"type\": \"request\", \"command\": \"%s\", "
           "\"arguments\": %s}",
           ++c->seq, command, arguments);
  return send_text(c, text);
}

/* Waits for the answer to the last request; false: the server has closed. */
static bool is_answered(client *c) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"request_seq\":%d,", c->seq);
  while (c->n < strlen(wanted) ||
         !memmem(c->got, c->n, wanted, strlen(wanted))) {
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    int ready = poll(&p, 1, 60 * SECOND);
    ck_assert_msg(ready > 0, "no answer to request %d", c->seq);
    if (!take_in(c)) return false;
  }
  return true;
}

/* An editor that attaches; false: to a server that was about to end. */
static bool try_attach(client *c, const server_thread *s) {
  connect_to(c, s);
  return request(c, "initialize", "{}") &&
         request(c, "attach", "{\"stopOnEntry\": true}") &&
         request(c, "configurationDone", "{}") && request(c, "threads", "{}") &&
         is_answered(c);
}

static void attach(client *c, const server_thread *s) {
  while (!try_attach(c, s)) close(c->fd);
}

/* ---- random messages ---------------------------------------------------- */

static uint32_t state;

static uint32_t below(uint32_t n) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state % n;
}

static const char *one_of(const char *const *list, size_t n) {
  return list[below((uint32_t)n)];
}
#define ONE_OF(list) one_of(list, sizeof(list) / sizeof(list)[0])

static const char *const names[] = {"threadId",
                                    "frameId",
                                    "variablesReference",
                                    "name",
                                    "value",
                                    "expression",
                                    "context",
                                    "source",
                                    "line",
                                    "targetId",
                                    "breakpoints",
                                    "filters",
                                    "start",
                                    "count",
                                    "filter",
                                    "granularity",
                                    "text",
                                    "column",
                                    "memoryReference",
                                    "offset",
                                    "data",
                                    "requestId",
                                    "progressId",
                                    "sourceReference",
                                    "startFrame",
                                    "levels",
                                    "endLine",
                                    "stopOnEntry"};

static const char *const values[] = {
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "9007199254740993",
    "-9223372036854775808",
    "1e300",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    "\"\"",
    "\"v\"",
    "\"v[2]\"",
    "\"x[3]\"",
    "\"[1]\"",
    "\"w\"",
    "\"repl\"",
    "\"hover\"",
    "\"clipboard\"",
    "\"instruction\"",
    "\"0x100000000000\"",
    "\"AAAA\"",
    "\"v + 1\"",
    "\"((((\"",
    "\"info locals\"",
    "\"stats v\"",
    "\"\\u00e9\\ud83d\\ude00\"",
    "{\"path\": \"k.py\"}",
    "{\"path\": 3}",
    "{\"sourceReference\": 1}",
    "[{\"line\": 13}]",
    "[{\"line\": 11, \"condition\": \"pid > 1\"}, {\"line\": 5}]",
    "[{\"line\": 12, \"hitCondition\": \"% 2\", \"logMessage\": \"{v}\"}]",
    "[{\"name\": \"twice\"}, {\"name\": \"op store\"}, 3]",
    "[{\"dataId\": \"v\"}, {\"dataId\": \"x[3]\", \"accessType\": \"read\"}]",
    "[\"undef\", \"nan\"]",
    "[\"nonsense\"]"};

/* Steps and what asks for little come more often than what ends all. */
static const char *random_command(void) {
  size_t n = 0;
  while (tk_dap_request(n)) n++;
  const char *command = tk_dap_request(below((uint32_t)n));
  bool ends = !strcmp(command, "terminate") || !strcmp(command, "disconnect") ||
              !strcmp(command, "continue");
  return ends && below(8) ? "stepIn" : command;
}

static bool send_random_request(client *c) {
  char arguments[2048] = "{";
  size_t n = 1, count = below(5);
  for (size_t i = 0; i < count; i++)
    n += (size_t)snprintf(arguments + n, sizeof arguments - n, "%s\"%s\": %s",
                          i ? ", " : "", ONE_OF(names), ONE_OF(values));
  strcpy(arguments + n, "}");
  return request(c, random_command(), arguments);
}

static bool send_damage(client *c) {
  static const char *const damaged[] = {
      "Content-Length: -5\r\n\r\n",
      "Content-Length: 99999999999999999999\r\n\r\n",
      "Content-Length: 4294967296\r\n\r\n{}",
      "Content-Length: 3\r\n\r\n{}",
      "Content-Length: 2\r\n\r\n[]",
      "Content-Length: 2\r\n\r\n{}",
      "Content-Length: 0\r\n\r\n",
      "Content-Length 7\r\n\r\n{}",
      "content-length: 2\r\n\r\n{}",
      "\r\n\r\n",
      "Content-Length: 4\r\n\r\n\xff\xfe{}",
      "Content-Length: 41\r\n\r\n{\"seq\": \"1\", \"type\": \"request\", "
      "\"x\": {}}"};
  const char *text = ONE_OF(damaged);
  if (below(4)) return send_bytes(c, text, strlen(text));
  char bytes[600];
  size_t n = below(sizeof bytes);
  for (size_t i = 0; i < n; i++) bytes[i] = (char)below(256);
  return send_bytes(c, bytes, n);
}

/* What is cut may swallow requests that follow: they are sent until one is
 * answered. */
static bool is_there(client *c) {
  for (int i = 0; i < 8; i++) {
    char blanks[] = "\r\n\r\n";
    if (!send_bytes(c, blanks, strlen(blanks))) return false;
    if (!request(c, "threads", "{}")) return false;
  }
  return is_answered(c);
}

START_TEST(random_messages) {
  unsigned long wanted = env_number("MESSAGES", 3000), sent = 0, clients = 0;
  server_thread s;
  static client c;
  state = (uint32_t)env_number("SEED", 1) * 2654435761u | 1;
  server_start(&s, serve_editors);
  while (sent < wanted) {
    bool there = try_attach(&c, &s);
    unsigned long most = sent + 40 + below(400);
    clients++;
    while (there && sent < most && sent < wanted) {
      there = below(20) ? send_random_request(&c) : send_damage(&c);
      sent++;
      if (there && !below(50)) there = is_there(&c);
    }
    if (there && below(2)) is_there(&c);
    close(c.fd);
  }
  server_stop(&s);
  ck_assert_uint_gt(clients, 1);
}
END_TEST

START_TEST(a_flood_that_nobody_reads) {
  server_thread s;
  static client c;
  server_start(&s, serve_editors);
  attach(&c, &s);
  for (int i = 0; i < 2000; i++) request(&c, "threads", "{}");
  ck_assert(is_answered(&c));
  close(c.fd);
  attach(&c, &s);
  close(c.fd);
  server_stop(&s);
}
END_TEST

/* Bytes that come one by one are the same messages. */
START_TEST(byte_by_byte) {
  static const char text[] =
      "Content-Length: 52\r\nContent-Type: x\r\n\r\n"
      "{\"seq\": 77, \"type\": \"request\", \"command\": \"threads\"}";
  server_thread s;
  static client c;
  server_start(&s, serve_editors);
  attach(&c, &s);
  for (const char *p = text; *p; p++) ck_assert(send_bytes(&c, p, 1));
  c.seq = 77;
  ck_assert(is_answered(&c));
  close(c.fd);
  server_stop(&s);
}
END_TEST

int main(void) {
  Suite *s = suite_create("messages of editors");
  TCase *t = tcase_create("messages");
  tcase_set_timeout(t, 0);
  tcase_add_test(t, byte_by_byte);
  tcase_add_test(t, a_flood_that_nobody_reads);
  tcase_add_test(t, random_messages);
  suite_add_tcase(s, t);
  return run_suite(s) != 0;
}
