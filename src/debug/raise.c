/* raise.c - how a call of the engine fails. */
#include "debug/raise.h"

void tkd_raise_fault(tkd *d, tk_fault id, const char *about, const char *fmt,
                     ...) {
  tkd_raised *r = &d->raised;
  va_list ap;
  va_start(ap, fmt);
  char *text = tk_arena_vprintf(&d->mem.arena, fmt, ap);
  va_end(ap);
  const char *what = tk_arena_strdup(&d->mem.arena, about);
  tkd_drop_raised(d); /* an argument may be a text of the fault before */
  r->id = id;
  tk_buf_puts(&r->message, text);
  tk_buf_puts(&r->about, what);
  tk_throw(d->env, TK_USAGE);
}

void tkd_drop_raised(tkd *d) {
  d->raised.id = TK_FAULT_NONE;
  tk_buf_clear(&d->raised.message);
  tk_buf_clear(&d->raised.about);
}
