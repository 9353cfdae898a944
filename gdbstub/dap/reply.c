/* reply.c - what responses are made of. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/remedy.h"
#include "gdbstub/dap/dap.h"

json_t *dap_fail(dap *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  p->reply.fault = tk_arena_vprintf(&p->scratch, fmt, ap);
  va_end(ap);
  return NULL;
}

const char *dap_engine_fault(dap *p, bool full) {
  tk_buf text;
  tk_buf_init(&text, p->env);
  tk_put_fault(&text, tk_debug_error(p->d), full, TK_FRONT_EDITOR);
  const char *kept = tk_arena_strdup(&p->scratch, tk_buf_str(&text));
  tk_buf_free(&text);
  return kept;
}

json_t *dap_fail_engine(dap *p) {
  const tk_debug_fault *f = tk_debug_error(p->d);
  const char *text = dap_engine_fault(p, true);
  size_t n = strlen(text);
  while (n && text[n - 1] == '\n') n--;
  p->reply.fault =
      n ? tk_arena_strndup(&p->scratch, text, n) : "it cannot be done";
  if (f->help && !strstr(p->reply.fault, f->help))
    p->reply.fault =
        tk_arena_printf(&p->scratch, "%s\n%s", p->reply.fault, f->help);
  return NULL;
}

static json_t *response_to(const json_t *request, bool success) {
  const char *command = json_string_value(json_object_get(request, "command"));
  return json_pack("{s:s, s:I, s:s, s:b}", "type", "response", "request_seq",
                   json_integer_value(json_object_get(request, "seq")),
                   "command", command ? command : "", "success", success);
}

json_t *dap_response(const json_t *request, json_t *body) {
  json_t *r = response_to(request, true);
  if (body) json_object_set_new(r, "body", body);
  return r;
}

/* The text is passed as a variable of the message, since the client would take
 * braces in the message itself for variables. */
json_t *dap_refusal(const json_t *request, const char *why) {
  json_t *r = response_to(request, false), *text = dap_string_of(why);
  json_object_set(r, "message", text);
  json_object_set_new(r, "body",
                      json_pack("{s:{s:i, s:s, s:b, s:{s:o}}}", "error", "id",
                                1, "format", "{text}", "showUser", 1,
                                "variables", "text", text));
  return r;
}

/* ---- arguments ---------------------------------------------------------- */

const char *dap_string(const json_t *args, const char *name, const char *none) {
  const char *s = json_string_value(json_object_get(args, name));
  return s ? s : none;
}

json_int_t dap_integer(const json_t *args, const char *name, json_int_t none) {
  const json_t *v = json_object_get(args, name);
  return json_is_integer(v) ? json_integer_value(v) : none;
}

bool dap_is_true(const json_t *args, const char *name, bool none) {
  const json_t *v = json_object_get(args, name);
  return json_is_boolean(v) ? json_is_true(v) : none;
}

json_t *dap_string_of(const char *s) {
  return s ? dap_text(s, strlen(s)) : json_null();
}

int dap_line_out(const dap *p, int line) {
  return p->client.lines_at_0 && line ? line - 1 : line;
}

int dap_line_in(const dap *p, json_int_t line) {
  line += p->client.lines_at_0;
  return line < 0 || line > 1000000000 ? 0 : (int)line;
}

void dap_say(dap *p, const char *category, const char *text) {
  dap_wire_output(&p->wire, category, text, strlen(text));
}
