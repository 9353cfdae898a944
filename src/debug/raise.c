/* raise.c - how a call of the engine fails. */
#include "debug/raise.h"

#include <stdarg.h>
#include <stdio.h>

void tkd_raise(tkd *d, const char *fmt, ...) {
  char small[512];
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(small, sizeof small, fmt, ap);
  tk_buf_clear(&d->message);
  if (n >= (int)sizeof small) {
    char *big = tk_temp_bytes(&d->mem, (size_t)n + 1);
    vsnprintf(big, (size_t)n + 1, fmt, again);
    tk_buf_puts(&d->message, big);
  } else {
    tk_buf_puts(&d->message, small);
  }
  va_end(again);
  va_end(ap);
  tk_throw(d->env, TK_USAGE);
}

const char *tkd_message(tkd *d) {
  return tk_buf_str(&d->message);
}

void tkd_drop_message(tkd *d) {
  tk_buf_clear(&d->message);
}
