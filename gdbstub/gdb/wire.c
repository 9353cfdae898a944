/* wire.c - reads and writes packets. */
#include "gdbstub/gdb/wire.h"

#include <string.h>

enum { ESCAPE = '}', BREAK = 0x03 };

void gs_wire_init(gs_wire *w, tk_env *e) {
  memset(w, 0, sizeof *w);
  w->env = e;
  gw_line_init(&w->line, e);
  tk_buf_init(&w->packet, e);
  tk_buf_init(&w->sent, e);
}

void gs_wire_free(gs_wire *w) {
  tk_buf_free(&w->packet);
  gw_line_free(&w->line);
  tk_buf_free(&w->sent);
}

void gs_wire_connect(gs_wire *w, int in, int out) {
  gw_line_connect(&w->line, in, out);
  w->acks = true;
  tk_buf_clear(&w->sent);
}

void gs_wire_close(gs_wire *w) {
  gw_line_close(&w->line);
}

/* ---- writing ------------------------------------------------------------ */

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
  gw_line_write(&w->line, w->sent.s, w->sent.n);
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
  if (w->acks) gw_line_write(&w->line, ok ? "+" : "-", 1);
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
  while (w->acks && w->line.input.n - w->line.taken >= n &&
         !memcmp(w->line.input.s + w->line.taken, s, n))
    w->line.taken += n;
}

/* What the bytes that were read hold; GS_NOTHING: no more than a part. */
static gs_arrival take_input(gs_wire *w) {
  while (w->line.taken < w->line.input.n) {
    const char *s = w->line.input.s + w->line.taken;
    size_t left = w->line.input.n - w->line.taken;
    if (*s == BREAK) {
      w->line.taken++;
      return GS_BREAK;
    }
    if (*s != '$') {
      if (*s == '-' && w->acks) gw_line_write(&w->line, w->sent.s, w->sent.n);
      w->line.taken++;
      continue;
    }
    const char *end = memchr(s, '#', left);
    if (!end && left > 2 * GS_PACKET_SIZE) {
      w->line.taken =
          w->line.input.n; /* no request of ours has so long an answer */
      return GS_DAMAGED;
    }
    if (!end || (size_t)(end - s) + 2 >= left) return GS_NOTHING;
    w->line.taken += (size_t)(end - s) + 3;
    skip_copies(w, s, (size_t)(end - s) + 3);
    gs_arrival got = take_packet(w, s + 1, (size_t)(end - s) - 1);
    if (got != GS_NOTHING) return got;
  }
  return GS_NOTHING;
}

gs_arrival gs_wire_next(gs_wire *w, int timeout) {
  while (w->line.in >= 0) {
    gs_arrival got = take_input(w);
    if (got != GS_NOTHING) return got;
    if (w->env->interrupted) return GS_CLOSED;
    gw_read more = gw_line_read(&w->line, &timeout);
    if (more == GW_LATE) return GS_NOTHING;
    if (more == GW_GONE) break;
  }
  return GS_CLOSED;
}
