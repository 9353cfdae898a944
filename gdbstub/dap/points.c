/* points.c - breakpoints of all kinds, as the engine's points. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "gdbstub/dap/dap.h"

/* ---- the list ----------------------------------------------------------- */

dap_point *dap_point_numbered(dap *p, int number) {
  for (dap_point *x = p->points; x; x = x->next)
    if (number && x->number == number) return x;
  return NULL;
}

static void free_breakpoint(dap *p, dap_point *x) {
  if (x->number) tk_debug_delete_point(p->d, x->number);
  tk_text_free(p->env, x->file);
  tk_text_free(p->env, x->where);
  tk_text_free(p->env, x->condition);
  tk_text_free(p->env, x->hit);
  tk_text_free(p->env, x->log);
  tk_text_free(p->env, x->fault);
  tk_free(p->env, x, sizeof *x);
}

/* Those that no request wants any more; all: whether it wants them or not. */
void dap_forget_points(dap *p, bool all) {
  for (dap_point **at = &p->points; *at;) {
    dap_point *x = *at;
    if (x->is_wanted && !all) {
      at = &x->next;
      continue;
    }
    *at = x->next;
    free_breakpoint(p, x);
  }
}

/* Marks the points that a request replaces as unwanted; the request then marks
 * those that it names. */
static void begin_request(dap *p, dap_point_group group, const char *file) {
  for (dap_point *x = p->points; x; x = x->next)
    x->is_wanted =
        x->group != group || (file && x->file && strcmp(file, x->file));
}

static bool same_text(const char *a, const char *b) {
  return a ? b && !strcmp(a, b) : !b;
}

static bool same_point(const dap_point *a, const dap_point *b) {
  return a->group == b->group && same_text(a->where, b->where) &&
         same_text(a->condition, b->condition) && same_text(a->hit, b->hit) &&
         same_text(a->log, b->log) && a->reads == b->reads &&
         a->writes == b->writes;
}

/* ---- hit conditions ----------------------------------------------------- */

/* "5", "== 5", "> 5", ">= 5", "< 5", "<= 5", "% 5"; false for anything else. */
static bool parse_hits(const char *s, char op[3], uint64_t *n) {
  char *end;
  s += strspn(s, " ");
  size_t k = strspn(s, "=<>%");
  if (k > 2) return false;
  snprintf(op, 3, "%.*s", (int)k, s);
  s += k + strspn(s + k, " ");
  *n = strtoull(s, &end, 10);
  if (end == s || *s == '-' || end[strspn(end, " ")] || !*n) return false;
  return !k || tk_has_word("== = > >= < <= %", op, k);
}

bool dap_point_counts(dap *p, int number) {
  char op[3];
  uint64_t n;
  dap_point *x = dap_point_numbered(p, number);
  if (!x || !x->hit || !parse_hits(x->hit, op, &n)) return true;
  uint64_t seen = ++x->seen;
  bool equal = op[0] == '=' || op[1] == '=' || !*op;
  switch (op[0]) {
  case '>': return seen > n || (equal && seen == n);
  case '<': return seen < n || (equal && seen == n);
  case '%': return seen % n == 0;
  default: return seen == n;
  }
}

/* ---- setting ------------------------------------------------------------ */

static void set_in_engine(dap *p, dap_point *x) {
  char op[3];
  uint64_t n;
  if (x->hit && !parse_hits(x->hit, op, &n)) {
    tk_text_set(p->env, &x->fault,
                "a hit condition is N, or N after ==, >, >=, <, <= or %");
    return;
  }
  tk_point_spec spec = {.kind = x->group == DAP_AT_DATA ? TK_POINT_WATCH
                                : x->log                ? TK_POINT_LOG
                                                        : TK_POINT_BREAK,
                        .where = x->where,
                        .condition = x->condition,
                        .format = x->log,
                        .reads = x->reads,
                        .writes = x->writes,
                        .asks = x->hit != NULL};
  if (tk_debug_add_point(p->d, &spec, &x->number) == TK_OK) return;
  x->number = 0;
  dap_fail_engine(p);
  tk_text_set(p->env, &x->fault, p->reply.fault);
  p->reply.fault = NULL;
}

/* A point that exists already stays, and keeps its count of hits. */
static dap_point *want_point(dap *p, const dap_point *like) {
  dap_point **at = &p->points;
  for (; *at; at = &(*at)->next) {
    if ((*at)->is_wanted || !same_point(*at, like)) continue;
    (*at)->is_wanted = true;
    return *at;
  }
  dap_point *x = *at = tk_calloc(p->env, 1, sizeof *x);
  x->group = like->group;
  x->reads = like->reads;
  x->writes = like->writes;
  tk_text_set(p->env, &x->file, like->file);
  tk_text_set(p->env, &x->where, like->where);
  tk_text_set(p->env, &x->condition, like->condition);
  tk_text_set(p->env, &x->hit, like->hit);
  tk_text_set(p->env, &x->log, like->log);
  x->is_wanted = true;
  set_in_engine(p, x);
  return x;
}

/* ---- what the client is told -------------------------------------------- */

/* It has a place once a launch has one; then the line may be another one. */
static bool has_place(dap *p, const dap_point *x, tk_point *now) {
  return x->number && tk_debug_point_numbered(p->d, x->number, now) == TK_OK &&
         (x->group == DAP_AT_DATA || (now->ever_resolved && now->line));
}

/* Its line in the file that the client has named. */
static int line_there(const tk_point *now) {
  return now->program_line ? now->program_line : now->line;
}

static json_t *point_json(dap *p, dap_point *x) {
  tk_point now;
  bool known = has_place(p, x, &now);
  json_t *json = json_pack("{s:b}", "verified", known);
  if (x->number) json_object_set_new(json, "id", json_integer(x->number));
  if (x->fault) json_object_set_new(json, "message", dap_string_of(x->fault));
  if (!known && x->number) {
    json_object_set_new(
        json, "message",
        json_string("no kernel launched so far has a statement here"));
    json_object_set_new(json, "reason", json_string("pending"));
  }
  x->is_known = known;
  x->line = known && x->group != DAP_AT_DATA ? line_there(&now) : 0;
  if (x->line)
    json_object_set_new(json, "line", json_integer(dap_line_out(p, x->line)));
  if (x->line && x->file)
    json_object_set_new(json, "source",
                        json_pack("{s:o}", "path", dap_string_of(x->file)));
  return json;
}

void dap_tell_points(dap *p) {
  tk_point now;
  for (dap_point *x = p->points; x; x = x->next) {
    if (x->group == DAP_AT_DATA || !has_place(p, x, &now)) continue;
    if (x->is_known && x->line == line_there(&now)) continue;
    dap_wire_event(&p->wire, "breakpoint",
                   json_pack("{s:s, s:o}", "reason", "changed", "breakpoint",
                             point_json(p, x)));
  }
}

static const char *text_or_null(const json_t *args, const char *name) {
  const char *s = dap_string(args, name, "");
  return *s ? s : NULL;
}

/* Sets the points in the order of the request, in which the answer lists them;
 * a malformed one gets its answer too. */
static json_t *set_points(dap *p, const json_t *args, dap_point *like,
                          bool (*read)(dap *p, const json_t *item,
                                       dap_point *like)) {
  const json_t *wanted = json_object_get(args, "breakpoints");
  json_t *list = json_array();
  begin_request(p, like->group, like->file);
  for (size_t i = 0; i < json_array_size(wanted); i++) {
    const json_t *item = json_array_get(wanted, i);
    like->condition = (char *)text_or_null(item, "condition");
    like->hit = (char *)text_or_null(item, "hitCondition");
    like->log = (char *)text_or_null(item, "logMessage");
    if (!read(p, item, like)) {
      json_array_append_new(list, json_pack("{s:b, s:s}", "verified", 0,
                                            "message", p->reply.fault));
      p->reply.fault = NULL;
      continue;
    }
    json_array_append_new(list, point_json(p, want_point(p, like)));
  }
  dap_forget_points(p, false);
  return json_pack("{s:o}", "breakpoints", list);
}

static bool read_line_point(dap *p, const json_t *item, dap_point *like) {
  int line = dap_line_in(p, dap_integer(item, "line", -1));
  if (line < 1) return dap_fail(p, "a breakpoint must have a line"), false;
  like->where = tk_arena_printf(&p->scratch, "%s:%d", like->file, line);
  return true;
}

json_t *dap_on_setBreakpoints(dap *p, const json_t *args) {
  const char *file = dap_source_name(p, json_object_get(args, "source"));
  if (!file)
    return dap_fail(p, "setBreakpoints: 'source' has neither a path nor a "
                       "sourceReference that was handed out");
  dap_point like = {.group = DAP_AT_LINE,
                    .file = tk_arena_strdup(&p->scratch, file)};
  return set_points(p, args, &like, read_line_point);
}

static bool read_function_point(dap *p, const json_t *item, dap_point *like) {
  const char *name = text_or_null(item, "name");
  if (!name)
    return dap_fail(p, "a function breakpoint must have a name"), false;
  like->where = (char *)name;
  return true;
}

json_t *dap_on_setFunctionBreakpoints(dap *p, const json_t *args) {
  dap_point like = {.group = DAP_AT_FUNCTION};
  return set_points(p, args, &like, read_function_point);
}

/* ---- data --------------------------------------------------------------- */

static bool read_data_point(dap *p, const json_t *item, dap_point *like) {
  const char *id = text_or_null(item, "dataId");
  const char *access = dap_string(item, "accessType", "write");
  if (!id) return dap_fail(p, "a data breakpoint must have a dataId"), false;
  like->where = (char *)id;
  like->reads = !strcmp(access, "read") || !strcmp(access, "readWrite");
  like->writes = strcmp(access, "read") != 0;
  return true;
}

json_t *dap_on_setDataBreakpoints(dap *p, const json_t *args) {
  dap_point like = {.group = DAP_AT_DATA};
  if (p->stop && p->here != TK_DEBUG_NO_PROGRAM)
    tk_debug_select(p->d, p->here, 0);
  return set_points(p, args, &like, read_data_point);
}

/* The identifier of something that can be watched is its expression. */
json_t *dap_on_dataBreakpointInfo(dap *p, const json_t *args) {
  const char *name = dap_string(args, "name", "");
  json_int_t reference = dap_integer(args, "variablesReference", 0);
  const char *expression = name;
  dap_frame at = {p->here, 0};
  if (reference) {
    const dap_node *n = dap_node_of(p, reference);
    if (!n) return NULL;
    at = n->frame;
    expression = dap_item_expression(p, n, name);
  } else if (!dap_select_frame(p, dap_integer(args, "frameId", 0))) {
    return NULL;
  }
  tk_point_spec spec = {.kind = TK_POINT_WATCH, .where = expression};
  bool stands =
      at.program != TK_DEBUG_NO_PROGRAM && expression &&
      (!reference || tk_debug_select(p->d, at.program, at.level) == TK_OK);
  if (!stands || tk_debug_try_point(p->d, &spec) != TK_OK)
    return json_pack("{s:n, s:s}", "dataId", "description",
                     stands ? dap_engine_fault(p, false)
                            : "this cannot be watched");
  return json_pack("{s:s, s:s, s:[s, s, s], s:b}", "dataId", expression,
                   "description", expression, "accessTypes", "read", "write",
                   "readWrite", "canPersist", 0);
}

/* ---- findings ----------------------------------------------------------- */

bool dap_catches(const dap *p, tk_finding_kind kind) {
  const char *detector = tk_finding_check(kind);
  return detector && p->catches.names &&
         tk_has_word(p->catches.names, detector, strlen(detector));
}

void dap_stand(dap *p) {
  bool host = p->catches.names &&
              tk_has_word(p->catches.names, DAP_HOST, strlen(DAP_HOST));
  p->front.stop_at_start = p->launch.stop_on_entry;
  p->front.script = p->launch.script && host;
  tk_debug_hand_over(p->d, &p->front, NULL);
}

/* The names of the filters, separated by blanks. */
static void collect_filters(const json_t *args, tk_buf *b) {
  const json_t *names = json_object_get(args, "filters");
  const json_t *options = json_object_get(args, "filterOptions");
  for (size_t i = 0; i < json_array_size(names) + json_array_size(options);
       i++) {
    const json_t *item = json_array_get(names, i);
    if (!item)
      item = json_object_get(
          json_array_get(options, i - json_array_size(names)), "filterId");
    const char *name = json_string_value(item);
    if (name) tk_buf_printf(b, "%s%s", b->n ? " " : "", name);
  }
}

/* Detectors that the launch began with stay on. Those of the filters are turned
 * on as well, and their findings stop the launch. */
static void turn_on(dap *p, tk_buf *list) {
  for (size_t i = 0; tk_check_name(i); i++) {
    const char *name = tk_check_name(i);
    bool wanted =
        p->catches.names && tk_has_word(p->catches.names, name, strlen(name));
    if (wanted || tk_debug_is_checked(p->d, name))
      tk_buf_printf(list, "%s%s", list->n ? "," : "", name);
  }
}

bool dap_choose_detectors(dap *p) {
  tk_buf list;
  tk_buf_init(&list, p->env);
  turn_on(p, &list);
  bool ok = !list.n || tk_debug_check(p->d, tk_buf_str(&list)) == TK_OK;
  tk_buf_free(&list);
  p->catches.later = false;
  return ok;
}

/* Turning detectors on runs the launch again up to where it stands. A launch
 * that is running is stopped for this and then goes on; one that is in the
 * middle of a step gets them when the step is complete. */
json_t *dap_on_setExceptionBreakpoints(dap *p, const json_t *args) {
  tk_point_spec spec = {.kind = TK_POINT_CATCH, .where = "finding"};
  tk_buf names;
  tk_buf_init(&names, p->env);
  collect_filters(args, &names);
  tk_text_set(p->env, &p->catches.names, names.n ? tk_buf_str(&names) : NULL);
  tk_buf_free(&names);
  dap_stand(p);
  bool detects = p->catches.names && strcmp(p->catches.names, DAP_HOST);
  if (detects && !p->catches.point)
    tk_debug_add_point(p->d, &spec, &p->catches.point);
  if (!detects && p->catches.point) {
    tk_debug_delete_point(p->d, p->catches.point);
    p->catches.point = 0;
  }
  p->catches.later = p->run == DAP_RUNS;
  if (!p->catches.later && !dap_choose_detectors(p)) dap_fail_engine(p);
  return NULL;
}

/* ---- places ------------------------------------------------------------- */

json_t *dap_on_breakpointLocations(dap *p, const json_t *args) {
  const tk_debug_function *list;
  const char *file = dap_source_name(p, json_object_get(args, "source"));
  int from = dap_line_in(p, dap_integer(args, "line", 0)), last = 0;
  int to = dap_line_in(
      p, dap_integer(args, "endLine", dap_integer(args, "line", 0)));
  size_t n = 0;
  json_t *all = json_array();
  if (!p->d || !file || tk_debug_functions(p->d, &list, &n) != TK_OK) n = 0;
  for (size_t i = 0; i < n; i++, last = 0)
    for (size_t k = 0; k < list[i].nstatements; k++) {
      const tk_place *at = &list[i].statements[k].place;
      if (!at->file || strcmp(at->file, file) || at->line < from ||
          at->line > to || at->line == last)
        continue;
      last = at->line;
      json_array_append_new(all,
                            json_pack("{s:i}", "line", dap_line_out(p, last)));
    }
  return json_pack("{s:o}", "breakpoints", all);
}
