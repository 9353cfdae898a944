/* wire.c - reads and writes messages. */
#include "gdbstub/dap/wire.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 4096 /* bytes of it at most */ };

static const char length_name[] = "Content-Length:";

void dap_wire_init(dap_wire *w, tk_env *e) {
  memset(w, 0, sizeof *w);
  w->env = e;
  w->watched = -1;
  gw_line_init(&w->line, e);
  tk_buf_init(&w->fault, e);
  pthread_mutex_init(&w->lock, NULL);
}

void dap_wire_free(dap_wire *w) {
  gw_line_free(&w->line);
  tk_buf_free(&w->fault);
  pthread_mutex_destroy(&w->lock);
}

void dap_wire_connect(dap_wire *w, int in, int out) {
  pthread_mutex_lock(&w->lock);
  gw_line_connect(&w->line, in, out);
  w->watched = in;
  w->seq = 0;
  pthread_mutex_unlock(&w->lock);
}

void dap_wire_close(dap_wire *w) {
  pthread_mutex_lock(&w->lock);
  gw_line_close(&w->line);
  w->watched = -1;
  pthread_mutex_unlock(&w->lock);
}

/* ---- writing ------------------------------------------------------------ */

void dap_wire_send(dap_wire *w, json_t *message) {
  char head[64];
  pthread_mutex_lock(&w->lock);
  json_object_set_new(message, "seq", json_integer(++w->seq));
  char *text =
      w->line.out >= 0 && !w->told ? json_dumps(message, JSON_COMPACT) : NULL;
  if (text) {
    size_t n = strlen(text);
    int k = snprintf(head, sizeof head, "%s %zu\r\n\r\n", length_name, n);
    gw_line_write(&w->line, head, (size_t)k);
    gw_line_write(&w->line, text, n);
  }
  pthread_mutex_unlock(&w->lock);
  free(text);
  json_decref(message);
}

void dap_wire_event(dap_wire *w, const char *name, json_t *body) {
  json_t *event = json_pack("{s:s, s:s}", "type", "event", "event", name);
  if (body) json_object_set_new(event, "body", body);
  dap_wire_send(w, event);
}

void dap_wire_output(dap_wire *w, const char *category, const char *text,
                     size_t n) {
  dap_wire_event(w, "output",
                 json_pack("{s:s, s:o}", "category", category, "output",
                           dap_text(text, n)));
}

/* Jansson accepts only UTF-8, so each byte that is not part of it is
 * replaced. */
json_t *dap_text(const char *s, size_t n) {
  static const char unknown[] = "\xef\xbf\xbd";
  json_t *text = json_stringn(s, n);
  if (text) return text;
  char *fixed = malloc(n * 3 + 1), *to = fixed;
  for (size_t i = 0, len; fixed && i < n; i += len) {
    json_t *piece = NULL;
    for (len = n - i < 4 ? n - i : 4; len && !piece; len--)
      piece = json_stringn(s + i, len);
    len++;
    const char *from = piece ? s + i : unknown;
    size_t k = piece ? len : sizeof unknown - 1;
    if (!piece) len = 1;
    memcpy(to, from, k);
    to += k;
    json_decref(piece);
  }
  if (fixed) text = json_stringn(fixed, (size_t)(to - fixed));
  free(fixed);
  return text;
}

/* ---- reading ------------------------------------------------------------ */

/* Reads the value of the header line Content-Length in n bytes; -1 if there is
 * no such line, or if no message may have that length. */
static long length_of(const char *s, size_t n) {
  for (const char *line = s, *end = s + n; line < end;) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    if (!next) next = end;
    if (!strncasecmp(line, length_name, sizeof length_name - 1)) {
      const char *digits = line + sizeof length_name - 1;
      while (digits < next && *digits == ' ') digits++;
      char *rest;
      if (!isdigit((unsigned char)*digits)) return -1;
      errno = 0;
      long length = strtol(digits, &rest, 10);
      while (rest < next && (*rest == '\r' || *rest == ' ')) rest++;
      return errno || rest != next || length > DAP_LONGEST ? -1 : length;
    }
    line = next + 1;
  }
  return -1;
}

/* What is not a message is skipped, up to where the next one may begin. */
static dap_arrival skip(dap_wire *w, size_t n, const char *what) {
  const char *from = w->line.input.s + w->line.taken + n;
  const char *end = w->line.input.s + w->line.input.n;
  const char *next =
      memmem(from, (size_t)(end - from), length_name, sizeof length_name - 1);
  size_t keep = sizeof length_name - 2; /* the beginning of a header, perhaps */
  if (!next) next = (size_t)(end - from) > keep ? end - keep : from;
  w->line.taken = (size_t)(next - w->line.input.s);
  tk_buf_clear(&w->fault);
  tk_buf_puts(&w->fault, what);
  return DAP_DAMAGED;
}

static dap_arrival parse(dap_wire *w, const char *s, size_t n, json_t **out) {
  json_error_t error;
  *out = json_loadb(s, n, 0, &error);
  if (*out && json_is_object(*out)) return DAP_MESSAGE;
  tk_buf_clear(&w->fault);
  if (*out)
    tk_buf_puts(&w->fault, "a message must be a JSON object");
  else
    tk_buf_printf(&w->fault, "a message is not JSON: line %d, column %d: %s",
                  error.line, error.column, error.text);
  json_decref(*out);
  *out = NULL;
  return DAP_DAMAGED;
}

/* What the bytes that were read hold; DAP_NOTHING: no more than a part. */
static dap_arrival take_message(dap_wire *w, json_t **out) {
  size_t left = w->line.input.n - w->line.taken;
  if (!left) return DAP_NOTHING;
  const char *s = w->line.input.s + w->line.taken;
  const char *end = memmem(s, left < HEADER ? left : HEADER, "\r\n\r\n", 4);
  if (!end && left >= HEADER)
    return skip(w, 1,
                "a header 'Content-Length: N' and an empty line were expected, "
                "but there are too many bytes without them");
  if (!end) return DAP_NOTHING;
  size_t head = (size_t)(end - s) + 4;
  long n = length_of(s, head - 2);
  if (n < 0) {
    bool again = memmem(s + 1, head - 1, length_name, sizeof length_name - 1);
    return skip(w, again ? 1 : head,
                "the header has no 'Content-Length: N' with N from 0 "
                "to 16777216");
  }
  if (left - head < (size_t)n) return DAP_NOTHING;
  w->line.taken += head + (size_t)n;
  return parse(w, s + head, (size_t)n, out);
}

dap_arrival dap_wire_next(dap_wire *w, int timeout, json_t **message) {
  *message = NULL;
  while (w->line.in >= 0) {
    dap_arrival got = take_message(w, message);
    if (got != DAP_NOTHING) return got;
    if (timeout < 0 && w->env->interrupted) return DAP_CLOSED;
    gw_read more = gw_line_read(&w->line, &timeout);
    if (more == GW_LATE) return DAP_NOTHING;
    if (more == GW_GONE) break;
  }
  return DAP_CLOSED;
}
