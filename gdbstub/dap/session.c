/* session.c - requests that begin and end a session. */
#include <stdlib.h>

#include "gdbstub/dap/dap.h"

/* ---- what tkdbg can do -------------------------------------------------- */

/* What no request stands for. */
static const char *const further[] = {"supportsConditionalBreakpoints",
                                      "supportsHitConditionalBreakpoints",
                                      "supportsLogPoints",
                                      "supportsSteppingGranularity",
                                      "supportsValueFormattingOptions",
                                      "supportsExceptionFilterOptions",
                                      "supportsEvaluateForHovers",
                                      "supportsClipboardContext"};

static const char *const capabilities[] = {
#define REQUEST(id, name, when, arguments, capability, doc) capability,
#include "gdbstub/dap/request.def"
#undef REQUEST
};

/* One filter for each detector, and one for exceptions of the script. */
static json_t *exception_filters(void) {
  json_t *list = json_pack("[{s:s, s:s, s:s, s:b}]", "filter", DAP_HOST,
                           "label", "script raises", "description",
                           "the script raised an exception: its last launch is "
                           "back at its beginning",
                           "default", 1);
  for (size_t i = 0; tk_check_name(i); i++)
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b}", "filter",
                                          tk_check_name(i), "label",
                                          tk_check_name(i), "description",
                                          tk_check_doc(i), "default", 0));
  return list;
}

json_t *dap_on_initialize(dap *p, const json_t *args) {
  dap_client *c = &p->client;
  c->lines_at_0 = !dap_is_true(args, "linesStartAt1", true);
  c->columns_at_0 = !dap_is_true(args, "columnsStartAt1", true);
  c->pages = dap_is_true(args, "supportsVariablePaging", false);
  c->progress = dap_is_true(args, "supportsProgressReporting", false);
  c->invalidates = dap_is_true(args, "supportsInvalidatedEvent", false);
  json_t *body = json_object();
  for (size_t i = 0; i < TK_COUNT(capabilities); i++)
    if (*capabilities[i])
      json_object_set_new(body, capabilities[i], json_true());
  for (size_t i = 0; i < TK_COUNT(further); i++)
    json_object_set_new(body, further[i], json_true());
  json_object_set_new(body, "exceptionBreakpointFilters", exception_filters());
  json_object_set_new(body, "completionTriggerCharacters",
                      json_pack("[s]", "."));
  return body;
}

/* ---- beginning ---------------------------------------------------------- */

/* The response comes after configurationDone. */
static json_t *begin(dap *p, const json_t *args) {
  dap_talk_on(p, DAP_SETS_UP);
  p->launch.stop_on_entry = dap_is_true(args, "stopOnEntry", false);
  p->launch.request = json_incref(p->reply.request);
  p->reply.is_deferred = true;
  return NULL;
}

json_t *dap_on_launch(dap *p, const json_t *args) {
  bool described = p->d && p->launch.attached;
  if (!described && !dap_read_launch(p, args)) return NULL;
  return begin(p, args);
}

json_t *dap_on_attach(dap *p, const json_t *args) {
  if (p->launch.attached) return begin(p, args);
  return dap_fail(p, "attach: 'tkdbg dap --port N FILE' runs a file that can "
                     "be attached to; launch says what to run");
}

json_t *dap_on_configurationDone(dap *p, const json_t *args) {
  (void)args;
  if (p->talk == DAP_SETS_UP) dap_talk_on(p, DAP_SERVED);
  return NULL;
}

/* ---- ending ------------------------------------------------------------- */

/* A waiting request was taken back when this request arrived (dap_take_in), so
 * that what is left to cancel is a launch that runs. */
json_t *dap_on_cancel(dap *p, const json_t *args) {
  int id = atoi(dap_string(args, "progressId", "0"));
  p->going.pauses |= p->progress.shown && id == p->progress.shown && !p->stop;
  return NULL;
}

json_t *dap_on_terminate(dap *p, const json_t *args) {
  (void)args;
  dap_end(p);
  if (p->d) tk_debug_quit(p->d);
  return NULL;
}

/* What was attached to runs on, without breakpoints. */
json_t *dap_on_disconnect(dap *p, const json_t *args) {
  if (dap_is_true(args, "terminateDebuggee", !p->launch.attached)) {
    if (p->talk != DAP_LEFT) dap_talk_on(p, DAP_LEFT);
    if (p->d) tk_debug_quit(p->d);
    return NULL;
  }
  if (!dap_is_let_go(p)) dap_talk_on(p, DAP_LETS_GO);
  return NULL;
}
