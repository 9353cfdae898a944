/* wire.c - reads and writes packets. */
#include "gdbstub/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/listen.h"

enum { ESCAPE = '}', BREAK = 0x03, SLICE = 100 /* milliseconds */ };

void gs_wire_init(gs_wire *w, tk_env *e) {
  memset(w, 0, sizeof *w);
  w->env = e;
  w->in = w->out = -1;
  tk_buf_init(&w->packet, e);
  tk_buf_init(&w->input, e);
  tk_buf_init(&w->sent, e);
}

void gs_wire_free(gs_wire *w) {
  tk_buf_free(&w->packet);
  tk_buf_free(&w->input);
  tk_buf_free(&w->sent);
}

void gs_wire_connect(gs_wire *w, int in, int out) {
  w->in = in;
  w->out = out;
  w->acks = true;
  w->taken = 0;
  tk_buf_clear(&w->input);
  tk_buf_clear(&w->sent);
}

void gs_wire_close(gs_wire *w) {
  if (w->in >= 0) close(w->in);
  if (w->out >= 0 && w->out != w->in) close(w->out);
  w->in = w->out = -1;
}

/* ---- writing ------------------------------------------------------------ */

/* That nobody takes it is noticed when more is read. */
static void write_all(gs_wire *w, const char *s, size_t n) {
  if (w->out >= 0) gs_write_all(w->out, s, n);
}

void gs_wire_send(gs_wire *w, const void *data, size_t n) {
  const char *s = data;
  unsigned char sum = 0;
  tk_buf_clear(&w->sent);
  tk_buf_putc(&w->sent, '$');
  for (size_t i = 0; i < n; i++) {
    bool special = strchr("#$}*", s[i]) && s[i];
    if (special) tk_buf_putc(&w->sent, ESCAPE);
    tk_buf_putc(&w->sent, special ? (char)(s[i] ^ 0x20) : s[i]);
  }
  for (size_t i = 1; i < w->sent.n; i++) sum += (unsigned char)w->sent.s[i];
  tk_buf_printf(&w->sent, "#%02x", sum);
  write_all(w, w->sent.s, w->sent.n);
}

/* ---- reading ------------------------------------------------------------ */

/* Takes the packet apart whose contents, of n bytes, begin at s and are
 * followed by '#' and two digits. */
static gs_arrival take_packet(gs_wire *w, const char *s, size_t n) {
  unsigned char sum = 0;
  int high = tk_hex_digit(s[n + 1]), low = tk_hex_digit(s[n + 2]);
  tk_buf_clear(&w->packet);
  for (size_t i = 0; i < n; i++) sum += (unsigned char)s[i];
  bool ok = high >= 0 && low >= 0 && sum == high * 16 + low;
  if (w->acks) write_all(w, ok ? "+" : "-", 1);
  if (!ok) return w->acks ? GS_NOTHING : GS_DAMAGED;
  if (n > GS_PACKET_SIZE) return GS_DAMAGED;
  for (size_t i = 0; i < n; i++) {
    bool escaped = s[i] == ESCAPE && i + 1 < n;
    if (escaped) i++;
    tk_buf_putc(&w->packet, escaped ? (char)(s[i] ^ 0x20) : s[i]);
  }
  return GS_PACKET;
}

/* A client that waits long for an acknowledgement sends its packet again: the
 * same bytes, of n, behind those at s, are that packet once more. */
static void skip_copies(gs_wire *w, const char *s, size_t n) {
  while (w->acks && w->input.n - w->taken >= n &&
         !memcmp(w->input.s + w->taken, s, n))
    w->taken += n;
}

/* What the bytes that were read hold; GS_NOTHING: no more than a part. */
static gs_arrival take_input(gs_wire *w) {
  while (w->taken < w->input.n) {
    const char *s = w->input.s + w->taken;
    size_t left = w->input.n - w->taken;
    if (*s == BREAK) {
      w->taken++;
      return GS_BREAK;
    }
    if (*s != '$') {
      if (*s == '-' && w->acks) write_all(w, w->sent.s, w->sent.n);
      w->taken++;
      continue;
    }
    const char *end = memchr(s, '#', left);
    if (!end && left > 2 * GS_PACKET_SIZE) {
      w->taken = w->input.n; /* nothing that we sent asks for so much */
      return GS_DAMAGED;
    }
    if (!end || (size_t)(end - s) + 2 >= left) return GS_NOTHING;
    w->taken += (size_t)(end - s) + 3;
    skip_copies(w, s, (size_t)(end - s) + 3);
    gs_arrival got = take_packet(w, s + 1, (size_t)(end - s) - 1);
    if (got != GS_NOTHING) return got;
  }
  return GS_NOTHING;
}

/* False: nobody is there any more. */
static bool read_input(gs_wire *w) {
  char bytes[65536];
  ssize_t n = read(w->in, bytes, sizeof bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (n <= 0) return false;
  size_t left = w->input.n - w->taken;
  if (left) memmove(w->input.s, w->input.s + w->taken, left);
  w->input.n = left;
  w->taken = 0;
  tk_buf_add(&w->input, bytes, (size_t)n);
  return true;
}

gs_arrival gs_wire_next(gs_wire *w, int timeout) {
  while (w->in >= 0) {
    gs_arrival got = take_input(w);
    if (got != GS_NOTHING) return got;
    if (w->env->interrupted) return GS_CLOSED;
    int slice = timeout >= 0 && timeout < SLICE ? timeout : SLICE;
    struct pollfd p = {.fd = w->in, .events = POLLIN};
    int ready = poll(&p, 1, slice);
    if (ready > 0 && !read_input(w)) break;
    if (ready == 0 && timeout >= 0) {
      timeout -= slice;
      if (timeout <= 0) return GS_NOTHING;
    }
  }
  return GS_CLOSED;
}
