/* listen.c - sockets that clients connect to. */
#include "gdbstub/wire/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/outfile.h"

static TK_NORETURN void fail(tk_env *e, const char *address, const char *what,
                             const char *help) {
  tk_diag *d = tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                           "cannot listen at '%s': %s", address, what);
  if (help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, TK_USAGE);
}

static bool is_socket(const char *path) {
  struct stat st;
  return !lstat(path, &st) && S_ISSOCK(st.st_mode);
}

static void listen_at_path(gw_listener *l, tk_env *e, const char *address) {
  const char *path = address + strlen("unix:");
  if (!*path || strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path)
    fail(e, address, "a path of 1 to 107 bytes is expected after 'unix:'",
         NULL);
  l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int error = l->fd < 0 ? errno : gw_sockfile_bind(&l->file, path, l->fd);
  if (!error && listen(l->fd, 1)) error = errno;
  if (!error) return;
  gw_listen_end(l);
  if (error == EADDRINUSE && is_socket(path))
    fail(e, address, "another server listens there",
         "take another path, or end that server");
  fail(e, address, strerror(error == EADDRINUSE ? EEXIST : error),
       error == EADDRINUSE ? "take another path: the file is not a socket"
                           : NULL);
}

static bool is_loopback(const struct sockaddr *a) {
  if (a->sa_family == AF_INET) {
    const struct sockaddr_in *v4 = (const void *)a;
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  const struct sockaddr_in6 *v6 = (const void *)a;
  return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* Listens at one of the addresses that a name stands for; 0, or an errno. */
static int listen_at_one(gw_listener *l, const struct addrinfo *at) {
  int on = 1, error;
  l->fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (l->fd < 0) return errno;
  setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(l->fd, at->ai_addr, at->ai_addrlen) == 0 && listen(l->fd, 1) == 0)
    return 0;
  error = errno;
  close(l->fd);
  l->fd = -1;
  return error;
}

static int bound_port(int fd) {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } at;
  socklen_t size = sizeof at;
  if (getsockname(fd, &at.any, &size)) return 0;
  return ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
}

static void listen_at_port(gw_listener *l, tk_env *e, const char *address,
                           bool anywhere) {
  const char *colon = strrchr(address, ':');
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
  char host[NI_MAXHOST], *end = NULL;
  long port = colon ? strtol(colon + 1, &end, 10) : -1;
  size_t n = colon ? (size_t)(colon - address) : 0;
  if (!colon || !colon[1] || *end || port < 0 || port > 65535 ||
      n >= sizeof host)
    fail(e, address, "HOST:PORT, :PORT, unix:PATH or - is expected",
         "for example localhost:1234; port 0 is any that is free");
  bool bracketed = n > 1 && address[0] == '[' && address[n - 1] == ']';
  snprintf(host, sizeof host, "%.*s", (int)(bracketed ? n - 2 : n),
           address + bracketed);
  int error = getaddrinfo(*host ? host : "127.0.0.1", colon + 1, &hints, &list);
  if (error) fail(e, address, gai_strerror(error), NULL);
  if (!anywhere && !is_loopback(list->ai_addr)) {
    freeaddrinfo(list);
    fail(e, address,
         "it can be reached from other machines, and whoever connects there "
         "can read and change the launch",
         "listen at localhost and tunnel with 'ssh -L'; or 'tkdbg gdbserver "
         "--listen-anywhere' allows it");
  }
  error = listen_at_one(l, list);
  freeaddrinfo(list);
  if (error)
    fail(e, address, strerror(error),
         error == EADDRINUSE ? "take another port; 0 is any that is free"
                             : NULL);
}

/* Writes the address as a client's command takes it. */
static void show_address(gw_listener *l, const char *address) {
  const char *colon = strrchr(address, ':');
  if (!strncmp(address, "unix:", 5))
    snprintf(l->shown, sizeof l->shown, "%s", address + 5);
  else if (colon)
    snprintf(l->shown, sizeof l->shown, "%.*s:%d", (int)(colon - address),
             address, bound_port(l->fd));
}

/* From now on what the program prints goes to standard error, because the
 * client would take it for packets. */
static void listen_at_stdio(gw_listener *l, tk_env *e) {
  l->stdio = true;
  l->in = dup(STDIN_FILENO);
  l->out = dup(STDOUT_FILENO);
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (l->in < 0 || l->out < 0 || nothing < 0 ||
      dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || dup2(nothing, STDIN_FILENO) < 0)
    fail(e, "-", strerror(errno), NULL);
  close(nothing);
}

void gw_listen(gw_listener *l, tk_env *e, const char *address, bool anywhere) {
  *l = (gw_listener){.fd = -1};
  if (!strcmp(address, "-"))
    listen_at_stdio(l, e);
  else if (!strncmp(address, "unix:", 5))
    listen_at_path(l, e, address);
  else
    listen_at_port(l, e, address, anywhere);
  show_address(l, address);
}

void gw_listen_take_over(gw_listener *l, const char *address, int fd) {
  *l = (gw_listener){.fd = fd, .spent = true};
  l->stdio = !strcmp(address, "-");
  if (fd >= 0 && !strncmp(address, "unix:", 5))
    gw_sockfile_own(&l->file, address + 5);
  if (fd >= 0) show_address(l, address);
}

void gw_listen_port_file(const gw_listener *l, tk_env *e, const char *path) {
  char port[16];
  int n = snprintf(port, sizeof port, "%d\n", bound_port(l->fd));
  int error = tk_outfile_save(path, port, (size_t)n);
  if (!error) return;
  tk_diag_add(e, TK_D_FILE, NULL, (tk_span){0, 0}, "cannot write '%s': %s",
              path, strerror(error));
  tk_throw(e, TK_USAGE);
}

bool gw_listen_accept(gw_listener *l, int timeout, int *in, int *out) {
  int on = 1;
  if (l->stdio) {
    if (l->spent) return false;
    l->spent = true;
    *in = l->in;
    *out = l->out;
    return true;
  }
  struct pollfd p = {.fd = l->fd, .events = POLLIN};
  if (l->fd < 0 || poll(&p, 1, timeout) <= 0) return false;
  *in = *out = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
  if (*in < 0) return false;
  setsockopt(*in, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return true;
}

bool gw_write_all(int fd, const void *bytes, size_t n) {
  for (const char *s = bytes; n;) {
    ssize_t done = send(fd, s, n, MSG_NOSIGNAL);
    if (done < 0 && errno == ENOTSOCK) done = write(fd, s, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    s += done;
    n -= (size_t)done;
  }
  return true;
}

void gw_listen_leave(gw_listener *l) {
  TK_ASSERT(!l->stdio || l->fd < 0);
  if (l->fd >= 0) close(l->fd);
  l->fd = -1;
  gw_sockfile_leave(&l->file);
}

void gw_listen_end(gw_listener *l) {
  if (l->file.owner) gw_sockfile_remove(&l->file);
  gw_listen_leave(l);
}
