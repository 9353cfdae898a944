/* line.c - reads and writes the bytes of a connection. */
#include "gdbstub/wire/line.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/wire/listen.h"

enum { SLICE = 100 /* milliseconds */ };

void gw_line_init(gw_line *l, tk_env *e) {
  *l = (gw_line){.in = -1, .out = -1};
  tk_buf_init(&l->input, e);
}

void gw_line_free(gw_line *l) {
  tk_buf_free(&l->input);
}

void gw_line_connect(gw_line *l, int in, int out) {
  l->in = in;
  l->out = out;
  l->taken = 0;
  tk_buf_clear(&l->input);
}

void gw_line_close(gw_line *l) {
  if (l->in >= 0) close(l->in);
  if (l->out >= 0 && l->out != l->in) close(l->out);
  l->in = l->out = -1;
}

void gw_line_write(const gw_line *l, const char *s, size_t n) {
  if (l->out >= 0) gw_write_all(l->out, s, n);
}

static void drop_taken(gw_line *l) {
  size_t left = l->input.n - l->taken;
  if (left) memmove(l->input.s, l->input.s + l->taken, left);
  l->input.n = left;
  l->taken = 0;
}

static gw_read read_some(gw_line *l) {
  char bytes[65536];
  ssize_t n = read(l->in, bytes, sizeof bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return GW_READ;
  if (n <= 0) return GW_GONE;
  if (!l->keeps) drop_taken(l);
  tk_buf_add(&l->input, bytes, (size_t)n);
  return GW_READ;
}

gw_read gw_line_read(gw_line *l, int *timeout) {
  int slice = *timeout >= 0 && *timeout < SLICE ? *timeout : SLICE;
  struct pollfd p = {.fd = l->in, .events = POLLIN};
  int ready = poll(&p, 1, slice);
  if (ready > 0) return read_some(l);
  if (ready < 0 || *timeout < 0) return GW_READ;
  *timeout -= slice;
  return *timeout > 0 ? GW_READ : GW_LATE;
}
