/* dispatch.c - messages that arrive, and who answers them, by the
 * table. */
#include <stdio.h>
#include <string.h>

#include "gdbstub/dap/dap.h"

enum {
  ANY = DAP_ANY,
  ONCE = DAP_ONCE,
  RUNS = DAP_WORKS,
  STANDS = DAP_STANDING
};

typedef struct dap_request {
  const char *name;
  int when;
  const char *arguments, *doc;
  json_t *(*fn)(dap *p, const json_t *args);
} dap_request;

static const dap_request requests[] = {
#define REQUEST(id, name, when, arguments, capability, doc)                    \
  {name, when, arguments, doc, dap_on_##id},
#include "gdbstub/dap/request.def"
#undef REQUEST
};

const char *tk_dap_request(size_t i) {
  return i < TK_COUNT(requests) ? requests[i].name : NULL;
}

const char *tk_dap_request_doc(size_t i) {
  return i < TK_COUNT(requests) ? requests[i].doc : NULL;
}

static const dap_request *request_named(const char *name) {
  for (size_t i = 0; i < TK_COUNT(requests); i++)
    if (!strcmp(requests[i].name, name)) return &requests[i];
  return NULL;
}

/* ---- arguments ---------------------------------------------------------- */

static bool has_type(const json_t *v, char type) {
  switch (type) {
  case 's': return json_is_string(v);
  case 'i': return json_is_integer(v);
  case 'b': return json_is_boolean(v);
  case 'a': return json_is_array(v);
  default: return json_is_object(v);
  }
}

static const char *type_name(char type) {
  switch (type) {
  case 's': return "a string";
  case 'i': return "a whole number";
  case 'b': return "true or false";
  case 'a': return "an array";
  default: return "an object";
  }
}

/* Whether the arguments are what the row says: "NAME:TYPE? NAME:TYPE". */
static bool check_arguments(dap *p, const dap_request *r, const json_t *args) {
  char name[64];
  for (const char *s = r->arguments; *s; s += strspn(s, " ")) {
    size_t n = strcspn(s, ":");
    snprintf(name, sizeof name, "%.*s", (int)n, s);
    char type = s[n + 1];
    s += n + 2;
    bool optional = *s == '?';
    s += optional;
    const json_t *v = json_object_get(args, name);
    if (optional && (!v || json_is_null(v))) continue;
    if (v && has_type(v, type)) continue;
    dap_fail(p, v ? "%s: '%s' must be %s" : "%s: '%s' is missing, %s", r->name,
             name, type_name(type));
    return false;
  }
  return true;
}

static bool is_timely(dap *p, const dap_request *r) {
  const char *why = dap_untimely(p, r->when);
  if (why) dap_fail(p, "%s: %s", r->name, why);
  return !why;
}

/* ---- answering ---------------------------------------------------------- */

typedef struct answering {
  dap *p;
  const dap_request *r;
  json_t *body;
} answering;

static void answer_body(tk_env *e, void *ud) {
  answering *a = ud;
  (void)e;
  const json_t *args = json_object_get(a->p->reply.request, "arguments");
  if (args && !json_is_object(args) && !json_is_null(args))
    dap_fail(a->p, "%s: arguments must be an object", a->r->name);
  else if (is_timely(a->p, a->r) && check_arguments(a->p, a->r, args))
    a->body = a->r->fn(a->p, args);
}

static void answer_request(dap *p, json_t *request) {
  const char *name = json_string_value(json_object_get(request, "command"));
  answering a = {.p = p, .r = name ? request_named(name) : NULL};
  TK_ASSERT(!p->reply.request); /* requests are answered one by one */
  p->reply = (dap_reply){.request = request};
  if (!a.r)
    dap_fail(p, "tkdbg does not know the request '%s'", name ? name : "");
  else if (tk_protect(p->env, answer_body, &a) != TK_OK)
    p->reply.fault = "out of memory";
  if (p->reply.fault)
    dap_wire_send(&p->wire, dap_refusal(request, p->reply.fault));
  else if (!p->reply.is_deferred)
    dap_wire_send(&p->wire, dap_response(request, json_incref(a.body)));
  json_decref(a.body);
  p->reply.request = NULL;
  tk_arena_free(&p->scratch);
}

/* Answers a request, ignores a response, and complains about anything else. */
static void answer_message(dap *p, json_t *message) {
  const char *type = json_string_value(json_object_get(message, "type"));
  const json_t *seq = json_object_get(message, "seq");
  if (type && !strcmp(type, "request") && json_is_integer(seq))
    answer_request(p, message);
  else if (!type || strcmp(type, "response"))
    dap_say(p, "console",
            "tkdbg: a message was ignored: a request has a type, a number "
            "'seq' and a command\n");
}

bool dap_answer(dap *p) {
  json_t *message = json_incref(json_array_get(p->inbox.queue, 0));
  if (!message) return false;
  json_array_remove(p->inbox.queue, 0);
  answer_message(p, message);
  json_decref(message);
  p->wire.told = ++p->inbox.answered < p->inbox.known;
  return true;
}

/* ---- taking in ---------------------------------------------------------- */

/* Takes a request back that a cancel request names and that still waits in the
 * queue. */
static void take_back(dap *p, const json_t *cancel) {
  const json_t *wanted =
      json_object_get(json_object_get(cancel, "arguments"), "requestId");
  for (size_t i = 0;
       json_is_integer(wanted) && i < json_array_size(p->inbox.queue); i++) {
    const json_t *m = json_array_get(p->inbox.queue, i);
    if (!json_equal(json_object_get(m, "seq"), wanted)) continue;
    dap_wire_send(&p->wire, dap_refusal(m, "cancelled"));
    json_array_remove(p->inbox.queue, i);
    return;
  }
}

bool dap_take_in(dap *p, int timeout) {
  enum { WAITING = 256 }; /* messages at most */
  for (; json_array_size(p->inbox.queue) < WAITING; timeout = 0) {
    json_t *message;
    switch (dap_wire_next(&p->wire, timeout, &message)) {
    case DAP_MESSAGE:
      if (!strcmp(dap_string(message, "command", ""), "cancel"))
        take_back(p, message);
      json_array_append_new(p->inbox.queue, message);
      break;
    case DAP_DAMAGED:
      dap_say(p, "console",
              tk_arena_printf(&p->scratch, "tkdbg: %s\n",
                              tk_buf_str(&p->wire.fault)));
      break;
    case DAP_NOTHING: return true;
    case DAP_CLOSED: return json_array_size(p->inbox.queue) > 0;
    }
  }
  return true;
}
