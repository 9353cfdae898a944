/* reply.c - what packets and answers are made of: numbers, bytes, text. */
#include <string.h>

#include "gdbstub/gdb/stub.h"

bool gs_take_hex(const char **s, uint64_t *value) {
  const char *from = *s;
  int d;
  *value = 0;
  while ((d = tk_hex_digit(**s)) >= 0 && *s - from < 16) {
    *value = *value << 4 | (uint64_t)d;
    ++*s;
  }
  return *s > from;
}

bool gs_take(const char **s, const char *word) {
  size_t n = strlen(word);
  if (strncmp(*s, word, n)) return false;
  *s += n;
  return true;
}

size_t gs_take_bytes(const char **s, void *bytes, size_t most) {
  size_t n = 0;
  while (n < most && tk_hex_digit((*s)[0]) >= 0 && tk_hex_digit((*s)[1]) >= 0) {
    ((char *)bytes)[n++] =
        (char)(tk_hex_digit((*s)[0]) << 4 | tk_hex_digit((*s)[1]));
    *s += 2;
  }
  return n;
}

void gs_take_text(const char **s, tk_buf *out) {
  char c;
  while (gs_take_bytes(s, &c, 1)) tk_buf_putc(out, c);
}

void gs_reply_hex(gs_stub *g, const void *bytes, size_t n) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < n; i++) {
    unsigned char c = ((const unsigned char *)bytes)[i];
    tk_buf_putc(&g->reply, digits[c >> 4]);
    tk_buf_putc(&g->reply, digits[c & 15]);
  }
}

void gs_reply_error(gs_stub *g) {
  tk_buf_clear(&g->reply);
  tk_buf_puts(&g->reply, "E01");
}

/* ---- text for the console ----------------------------------------------- */

void gs_console(gs_stub *g, const char *text, size_t n) {
  enum { MOST = GS_PACKET_SIZE / 2 - 1 };
  if (g->wire.line.in < 0) return;
  for (size_t at = 0; at < n; at += MOST) {
    tk_buf_clear(&g->reply);
    tk_buf_putc(&g->reply, 'O');
    gs_reply_hex(g, text + at, n - at < MOST ? n - at : MOST);
    gs_wire_send(&g->wire, g->reply.s, g->reply.n);
  }
  tk_buf_clear(&g->reply);
}
