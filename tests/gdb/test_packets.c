/* test_packets.c - a client that sends the server what no debugger would:
 * malformed, cut, damaged, enormous packets, in any order, and then is gone.
 * After all of it the launch must stand as before, or have ended as it was
 * told, and the server must answer.
 *
 * PACKETS=N sends so many random ones; a few thousand otherwise.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/server_thread.h"
#include "support/suite.h"
#include "tkdbg/gdbserver.h"

static tk_status serve_gdb(tk_session *session, tk_launch *l,
                           const char *address) {
  tk_gdbserver *g;
  /* what the packets here say is of this machine, wherever they run */
  tk_gdbserver_options o = {
      .size = sizeof o, .address = address, .machine = "x86-64"};
  tk_status st = tk_gdbserver_new(session, &o, &g);
  if (st) return st;
  server_runs(l);
  tk_gdbserver_end(g, 0);
  return TK_OK;
}

/* ---- the client --------------------------------------------------------- */

enum { SECOND = 1000 };

typedef struct client {
  int fd;
  char got[400000]; /* what has been received and not been taken */
  size_t n;
} client;

static void connect_to(client *c, const server_thread *s) {
  c->n = 0;
  c->fd = server_connect(s);
}

/* Takes in what has arrived; false: the server has closed. */
static bool take_in(client *c) {
  ck_assert_uint_lt(c->n, sizeof c->got - 1);
  ssize_t n = recv(c->fd, c->got + c->n, sizeof c->got - 1 - c->n, 0);
  if (n > 0) c->n += (size_t)n;
  return n > 0;
}

/* A server that waits until its answers are read is not kept waiting; what
 * nobody asks for is forgotten. */
static void send_bytes(client *c, const char *s, size_t n) {
  while (n) {
    struct pollfd p = {.fd = c->fd, .events = POLLIN | POLLOUT};
    poll(&p, 1, -1);
    if (c->n > sizeof c->got / 2) c->n = 0;
    if (p.revents & POLLIN && !take_in(c)) return;
    if (!(p.revents & POLLOUT)) continue;
    ssize_t done = send(c->fd, s, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EAGAIN) continue;
    if (done <= 0) return;
    s += done;
    n -= (size_t)done;
  }
}

static void send_packet(client *c, const char *s, size_t n) {
  char end[8];
  unsigned char sum = 0;
  for (size_t i = 0; i < n; i++) sum += (unsigned char)s[i];
  snprintf(end, sizeof end, "#%02x", sum);
  send_bytes(c, "$", 1);
  send_bytes(c, s, n);
  send_bytes(c, end, 3);
}

/* The contents of the next packet; NULL: the server has closed, or says
 * nothing for so long. */
static const char *receive(client *c, int timeout) {
  static char packet[sizeof c->got];
  for (;;) {
    char *from = memchr(c->got, '$', c->n);
    size_t left = from ? c->n - (size_t)(from - c->got) : 0;
    char *end = from ? memchr(from, '#', left) : NULL;
    if (end && (size_t)(end - from) + 2 < left) {
      size_t n = (size_t)(end - from) - 1;
      memcpy(packet, from + 1, n);
      packet[n] = '\0';
      c->n -= (size_t)(end + 3 - c->got);
      memmove(c->got, end + 3, c->n);
      return packet;
    }
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    if (poll(&p, 1, timeout) <= 0 || !take_in(c)) return NULL;
  }
}

static const char *ask(client *c, const char *packet) {
  send_packet(c, packet, strlen(packet));
  const char *answer = receive(c, 20 * SECOND);
  ck_assert_msg(answer != NULL, "no answer to %.60s", packet);
  return answer;
}

/* A server that is about to end may still take a client. */
static void begin(client *c, const server_thread *s) {
  for (int i = 0; i < SECOND; i++, usleep(10000)) {
    connect_to(c, s);
    send_packet(c, "QStartNoAckMode", 15);
    const char *answer = receive(c, 20 * SECOND);
    if (answer && !strcmp(answer, "OK")) return;
    close(c->fd);
  }
  ck_abort_msg("no server at %s", s->path);
}

static void end(client *c) {
  close(c->fd);
}

/* ---- what is malformed -------------------------------------------------- */

/* Each gets an error, or the empty answer; nothing changes. */
static const char *const malformed[] = {
    "",
    "nonsense",
    "m",
    "m1",
    "m1,",
    "m,",
    "mxyz,4",
    "m0,4",
    "mffffffffffffffff,10",
    "M0,1:",
    "M0,1:0",
    "M0,1:00",
    "M0,4:0000",
    "Mffff,ffffffffffffffff:00",
    "X0,1",
    "X0,1:",
    "X0,2:a",
    "p",
    "pff",
    "P",
    "P10",
    "P10=",
    "P10=00",
    "P10=ffffffffffffffff",
    "P0=0000000000000000",
    "G00",
    "Z",
    "Z0",
    "Z9,400000,1",
    "Z0,400000",
    "Z0,400000,1;X",
    "Z0,400000,1;X5,00",
    "Z0,400000,1;Xffffffff,00",
    "Z2,0,4",
    "z",
    "z0",
    "H",
    "Hg",
    "Hgp1.99",
    "Hgp",
    "T",
    "Tp1.99",
    "Tzz",
    "vCont",
    "vCont;",
    "vCont;x",
    "vCont;s:",
    "vCont;s:p1.99",
    "vCont;C",
    "vCont;r1",
    "vCont;r1,",
    "vCont;c;",
    "qXfer:features:read:",
    "qXfer:features:read:target.xml",
    "qXfer:features:read:target.xml:",
    "qXfer:features:read:target.xml:0",
    "qXfer:features:read:target.xml:ffffff,10",
    "qXfer:features:read:other.xml:0,10",
    "qXfer:exec-file:read:",
    "qXfer:threads:read::",
    "qXfer:memory-map:read::0,10",
    "qThreadExtraInfo,p1.99",
    "qRcmd,0",
    "qRcmd,zz",
    "vFile:",
    "vFile:open:",
    "vFile:open:2f,0",
    "vFile:open:2f6574632f706173737764,0,0",
    "vFile:open:2f746b6462672f,1,0",
    "vFile:pread:",
    "vFile:pread:9,10,0",
    "vFile:pread:3,10",
    "vFile:fstat:",
    "vFile:fstat:9",
    "vFile:unlink:2f",
    "qCRC:400000,10",
    "qSearch:memory:0;10;a",
    "_M10,5",
    "vAttach;1",
    "i",
};

START_TEST(mistakes) {
  server_thread s;
  client c;
  char before[4000];
  server_start(&s, serve_gdb);
  begin(&c, &s);
  snprintf(before, sizeof before, "%s", ask(&c, "?"));
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
    const char *answer = ask(&c, malformed[i]);
    ck_assert_msg(!*answer || *answer == 'E' || !strncmp(answer, "F-1", 3),
                  "%s gets %s", malformed[i], answer);
    ck_assert_str_eq(ask(&c, "?"), before);
  }
  end(&c);
  server_stop(&s);
}
END_TEST

START_TEST(damaged) {
  server_thread s;
  client c;
  static char long_packet[300000];
  server_start(&s, serve_gdb);
  begin(&c, &s);
  send_bytes(&c, "$g#00", 5); /* a wrong sum */
  ck_assert_str_eq(receive(&c, 20 * SECOND), "E01");
  send_bytes(&c, "$g#zz", 5);
  ck_assert_str_eq(receive(&c, 20 * SECOND), "E01");
  memset(long_packet, 'm', sizeof long_packet);
  send_packet(&c, long_packet, 200000);
  ck_assert_str_eq(receive(&c, 20 * SECOND), "E01");
  send_bytes(&c, "garbage+-+-", 11); /* between packets */
  ck_assert_str_eq(ask(&c, "qC"), "QCp1.1");
  ck_assert_str_eq(ask(&c, "m400000,4"), "eb1e9090");
  end(&c);
  server_stop(&s);
}
END_TEST

/* With acknowledgements, a damaged packet is asked for again, and an answer
 * that did not arrive is sent again. */
START_TEST(acknowledged) {
  server_thread s;
  client c;
  server_start(&s, serve_gdb);
  connect_to(&c, &s);
  send_bytes(&c, "$qC#00", 6);
  send_packet(&c, "qC", 2);
  ck_assert_str_eq(receive(&c, 20 * SECOND), "QCp1.1");
  send_bytes(&c, "-", 1);
  ck_assert_str_eq(receive(&c, 20 * SECOND), "QCp1.1");
  send_bytes(&c, "+", 1);
  ck_assert_str_eq(ask(&c, "qC"), "QCp1.1");
  end(&c);
  server_stop(&s);
}
END_TEST

/* A client that is gone loses nothing: the next one finds the launch where it
 * stood, also when the first went in the middle of a packet. */
START_TEST(vanished) {
  server_thread s;
  client c;
  char where[4000];
  server_start(&s, serve_gdb);
  begin(&c, &s);
  ck_assert_str_eq(ask(&c, "Z0,400040,1"), "OK");
  ask(&c, "vCont;c");
  snprintf(where, sizeof where, "%s", ask(&c, "g"));
  send_bytes(&c, "$m400", 5);
  end(&c);
  begin(&c, &s);
  ck_assert_str_eq(ask(&c, "g"), where);
  ck_assert_int_eq(atomic_load(&s.launches), 0);
  end(&c);
  server_stop(&s);
}
END_TEST

/* Bytecode of conditions is run here: one that is false costs no answer. */
START_TEST(conditions) {
  server_thread s;
  client c;
  server_start(&s, serve_gdb);
  begin(&c, &s);
  ck_assert_str_eq(ask(&c, "Z0,400040,1;X3,220027"), "OK"); /* 0 */
  ck_assert_str_eq(ask(&c, "Z0,400060,1;X3,220127"), "OK"); /* 1 */
  ck_assert_ptr_nonnull(strstr(ask(&c, "vCont;c"), "10:6000400000000000;"));
  end(&c);
  server_stop(&s);
}
END_TEST

/* Without its client the run goes on, over all launches. */
START_TEST(detached) {
  server_thread s;
  client c;
  server_start(&s, serve_gdb);
  begin(&c, &s);
  ck_assert_str_eq(ask(&c, "D;1"), "OK");
  for (int i = 0; i < 20 * SECOND && !atomic_load(&s.launches); i++)
    usleep(1000);
  ck_assert_int_gt(atomic_load(&s.launches), 0);
  end(&c);
  server_stop(&s);
}
END_TEST

/* A second client waits until the first has left. */
START_TEST(two_clients) {
  server_thread s;
  client first, second;
  server_start(&s, serve_gdb);
  begin(&first, &s);
  connect_to(&second, &s);
  send_packet(&second, "qC", 2);
  ck_assert_ptr_null(receive(&second, SECOND / 5));
  ck_assert_str_eq(ask(&first, "qC"), "QCp1.1");
  end(&first);
  ck_assert_str_eq(receive(&second, 20 * SECOND), "QCp1.1");
  end(&second);
  server_stop(&s);
}
END_TEST

/* ---- at random ---------------------------------------------------------- */

static uint64_t state;

static uint32_t below(uint32_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

/* Packets of every kind, and numbers that mean something in them. */
static const char *const kinds[] = {
    "g",
    "m%s,%s",
    "M%s,4:01020304",
    "X%s,2:ab",
    "p%s",
    "P10=%s",
    "Z0,%s,1",
    "Z0,%s,1;X3,220127",
    "z0,%s,1",
    "Z2,%s,%s",
    "Z3,%s,4",
    "Z4,%s,%s",
    "z2,%s,%s",
    "Hgp1.%s",
    "Hc%s",
    "Tp1.%s",
    "vCont;s:p1.%s",
    "vCont;s",
    "vCont;c",
    "vCont;c:p1.%s",
    "bs",
    "bc",
    "s",
    "c",
    "qfThreadInfo",
    "qXfer:threads:read::%s,%s",
    "qXfer:features:read:target.xml:%s,%s",
    "qXfer:exec-file:read:1:%s,%s",
    "vFile:pread:3,%s,%s",
    "vFile:open:2f746b6462672f6b2d312e656c66,0,0",
    "?",
    "qAttached",
    "qThreadExtraInfo,p1.%s",
    "vRun;",
    "qRcmd,7072696e742076",
    "qRcmd,626c616d6520785b335d",
    "qRcmd,6c616e6573203078323030336630303131303030",
    "qRcmd,70726f6772616d2033",
    "qRcmd,636865636b206f6e",
    "R00",
    "!",
    "vKill;1",
    "qSupported:swbreak+",
    "QListThreadsInStopReply",
    "jThreadsInfo",
    "qProcessInfo",
    "qHostInfo",
};

static const char *const numbers[] = {
    "0",
    "1",
    "2",
    "4",
    "10",
    "40",
    "1000",
    "ffff",
    "20000",
    "400000",
    "400020",
    "400021",
    "400040",
    "400060",
    "4000a0",
    "4000e1",
    "400120",
    "400140",
    "2003f0000ff0",
    "2003f0011000",
    "2003f0012000",
    "2003f0014000",
    "2003f0015004",
    "2003f0016000",
    "2003e0011000",
    "2007f0011000",
    "300000000000",
    "100000000000",
    "100000000010",
    "ffffffffffffffff",
    "7fffffffffff",
    "-1",
};

static size_t make_packet(char *out, size_t size) {
  const char *kind = kinds[below(sizeof kinds / sizeof *kinds)];
  const char *a = numbers[below(sizeof numbers / sizeof *numbers)];
  const char *b = numbers[below(sizeof numbers / sizeof *numbers)];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  size_t n = (size_t)snprintf(out, size, kind, a, b);
#pragma GCC diagnostic pop
  for (uint32_t i = below(4) ? 0 : 1 + below(3); i && n; i--) {
    size_t at = below((uint32_t)n);
    switch (below(3)) {
    case 0: out[at] = (char)below(256); break;
    case 1: n = at; break;
    default: memmove(out + at, out + at + 1, n-- - at - 1); break;
    }
  }
  for (size_t i = 0; i < n; i++)
    if (strchr("$#}", out[i]) && out[i]) out[i] = 'x';
  return n;
}

/* Whatever was sent before, the server answers; or it has closed. */
static bool is_alive(client *c) {
  send_packet(c, "qSupported:alive+", 17);
  for (int silent = 0; silent < 20;) {
    const char *answer = receive(c, SECOND);
    if (answer && !strncmp(answer, "PacketSize", 10)) return true;
    if (answer && (*answer == 'W' || *answer == 'X')) return false;
    if (answer) continue;
    char byte;
    if (recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) return false;
    send_bytes(c, "\003", 1); /* it runs, and does not hear what is asked */
    send_packet(c, "qSupported:alive+", 17);
    silent++;
  }
  ck_abort_msg("the server says nothing any more");
}

START_TEST(random_packets) {
  enum { TOGETHER = 16 };
  const char *wanted = getenv("PACKETS");
  long left = wanted ? atol(wanted) : 4000;
  server_thread s;
  client c;
  char packet[200];
  state = 42;
  server_start(&s, serve_gdb);
  begin(&c, &s);
  for (; left > 0; left -= TOGETHER) {
    for (int i = 0; i < TOGETHER; i++) {
      size_t n = make_packet(packet, sizeof packet);
      send_packet(&c, packet, n);
    }
    if (is_alive(&c)) continue;
    end(&c);
    begin(&c, &s);
  }
  end(&c);
  server_stop(&s);
}
END_TEST

int main(void) {
  Suite *s = suite_create("packets of the gdb server");
  TCase *t = tcase_create("packets");
  tcase_set_timeout(t, 0);
  tcase_add_test(t, mistakes);
  tcase_add_test(t, damaged);
  tcase_add_test(t, acknowledged);
  tcase_add_test(t, vanished);
  tcase_add_test(t, conditions);
  tcase_add_test(t, detached);
  tcase_add_test(t, two_clients);
  tcase_add_test(t, random_packets);
  suite_add_tcase(s, t);
  return run_suite(s) != 0;
}
