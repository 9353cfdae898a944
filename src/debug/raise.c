/* raise.c - how a call of the engine fails. */
#include "debug/raise.h"

void tkd_raise(tkd *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = tk_arena_vprintf(&d->mem.arena, fmt, ap);
  va_end(ap);
  tk_buf_clear(&d->message); /* an argument may be the message before */
  tk_buf_puts(&d->message, text);
  tk_throw(d->env, TK_USAGE);
}

const char *tkd_message(tkd *d) {
  return tk_buf_str(&d->message);
}

void tkd_drop_message(tkd *d) {
  tk_buf_clear(&d->message);
}
