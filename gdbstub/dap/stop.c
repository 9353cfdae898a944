/* stop.c - tells the client why the launch has stopped. */
#include <inttypes.h>
#include <string.h>

#include "gdbstub/dap/dap.h"

/* The engine's reasons, in the protocol's words. */
static const char *reason_of(const dap *p) {
  const tk_debug_stop *s = p->stop;
  const dap_point *x;
  if (p->going.first.kind == TK_RESUME_JUMP) return "goto";
  switch (s->reason) {
  case TK_STOP_START: return "entry";
  case TK_STOP_BREAKPOINT:
    x = dap_point_numbered((dap *)p, s->point);
    return x && x->group == DAP_AT_FUNCTION ? "function breakpoint"
                                            : "breakpoint";
  case TK_STOP_CALL: return "breakpoint";
  case TK_STOP_WATCH: return "data breakpoint";
  case TK_STOP_RAISED:
  case TK_STOP_FINDING: return "exception";
  case TK_STOP_CATCH: return s->nfindings ? "exception" : "entry";
  case TK_STOP_INTERRUPT: return s->nfindings ? "exception" : "pause";
  default: return "step";
  }
}

/* The report, as the console has it; who shows it counts it as shown. */
void dap_tell_findings(dap *p) {
  for (size_t i = 0; i < p->stop->nfindings; i++) {
    const tk_finding *f = p->stop->findings[i];
    json_t *body =
        json_pack("{s:s, s:o}", "category", "stderr", "output",
                  dap_string_of(tk_debug_finding_text(p->d, f, false)));
    if (f->place.file) {
      json_object_set_new(body, "source", dap_source_of(p, f->place.file));
      json_object_set_new(body, "line",
                          json_integer(dap_line_out(p, f->place.line)));
      json_object_set_new(
          body, "column",
          json_integer(f->place.column - p->client.columns_at_0));
    }
    dap_wire_event(&p->wire, "output", body);
    tk_debug_told(p->d, f);
  }
}

/* What a watchpoint saw. */
static const char *change_text(dap *p, const tk_debug_change *c) {
  json_t *old = c->was_known ? dap_say_value(p, &c->old) : NULL;
  json_t *now = dap_say_value(p, &c->now);
  const char *text;
  if (!c->changed)
    text = tk_arena_printf(&p->handles, "%s is %s, read", c->now.name,
                           json_string_value(now));
  else if (old)
    text = tk_arena_printf(&p->handles, "%s was %s, is %s", c->now.name,
                           json_string_value(old), json_string_value(now));
  else
    text = tk_arena_printf(&p->handles, "%s is %s", c->now.name,
                           json_string_value(now));
  json_decref(old);
  json_decref(now);
  return text;
}

static const char *changes_text(dap *p) {
  const tk_debug_stop *s = p->stop;
  const char *all = NULL;
  for (size_t i = 0; i < s->nchanges; i++) {
    const char *one = change_text(p, &s->changes[i]);
    all = all ? tk_arena_printf(&p->handles, "%s; %s", all, one) : one;
  }
  return all;
}

/* What an editor shows beside the reason. */
static const char *description_of(dap *p) {
  const tk_debug_stop *s = p->stop;
  switch (s->reason) {
  case TK_STOP_CALL: return "breakpoint()";
  case TK_STOP_FINISH: return s->nreturned ? "Returned" : NULL;
  case TK_STOP_HISTORY: return "No history before this";
  case TK_STOP_WATCH: return changes_text(p);
  case TK_STOP_CATCH:
  case TK_STOP_INTERRUPT:
  case TK_STOP_FINDING:
    return s->nfindings ? s->findings[s->nfindings - 1]->message : NULL;
  default: return *s->text ? s->text : NULL;
  }
}

static json_t *points_hit(dap *p) {
  json_t *list = json_array();
  for (size_t i = 0; i < p->stop->nhit; i++)
    if (dap_point_numbered(p, p->stop->hit[i]))
      json_array_append_new(list, json_integer(p->stop->hit[i]));
  if (!json_array_size(list) && dap_point_numbered(p, p->stop->point))
    json_array_append_new(list, json_integer(p->stop->point));
  return list;
}

void dap_tell_stop(dap *p) {
  const char *description = description_of(p);
  bool ended = p->here == TK_DEBUG_NO_PROGRAM;
  json_t *body =
      json_pack("{s:s, s:I, s:b}", "reason", reason_of(p), "threadId",
                ended ? 1 : (json_int_t)p->here + 1, "allThreadsStopped", 1);
  if (description) {
    json_object_set_new(body, "description", dap_string_of(description));
    json_object_set_new(body, "text", dap_string_of(description));
  }
  json_t *hit = points_hit(p);
  if (json_array_size(hit)) json_object_set(body, "hitBreakpointIds", hit);
  json_decref(hit);
  dap_wire_event(&p->wire, "stopped", body);
}

json_t *dap_on_exceptionInfo(dap *p, const json_t *args) {
  const tk_debug_stop *s = p->stop;
  (void)args;
  if (s->reason == TK_STOP_RAISED)
    return json_pack("{s:s, s:o, s:s}", "exceptionId", DAP_HOST, "description",
                     dap_string_of(s->text), "breakMode", "unhandled");
  if (!s->nfindings)
    return dap_fail(p, "the program has not stopped for a finding");
  const tk_finding *f = s->findings[s->nfindings - 1];
  bool ends = s->reason == TK_STOP_FINDING;
  return json_pack("{s:s, s:o, s:s, s:{s:o, s:s, s:o}}", "exceptionId",
                   tk_finding_kind_name(f->kind), "description",
                   dap_string_of(f->message), "breakMode",
                   ends ? "unhandled" : "always", "details", "message",
                   dap_string_of(f->help ? f->help : f->message), "typeName",
                   tk_finding_kind_name(f->kind), "stackTrace",
                   dap_string_of(tk_debug_finding_text(p->d, f, false)));
}
