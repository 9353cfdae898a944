/* variables.c - scopes, variables and expressions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "gdbstub/dap/dap.h"

/* ---- scopes ------------------------------------------------------------- */

static const struct {
  dap_node_kind kind;
  const char *name, *hint;
} scopes[] = {{DAP_RETURNED, "Returned", "returnValue"},
              {DAP_LOCALS, "Locals", "locals"},
              {DAP_ARGUMENTS, "Arguments", "arguments"},
              {DAP_CONSTANTS, "Compile-time values", ""},
              {DAP_TENSORS, "Tensors", ""},
              {DAP_PROGRAM, "Program", "registers"}};

json_t *dap_on_scopes(dap *p, const json_t *args) {
  json_int_t frame = dap_integer(args, "frameId", 0);
  if (!dap_select_frame(p, frame)) return NULL;
  dap_frame at = {p->here, 0};
  if (frame) at = p->frames.items[frame - 1];
  json_t *list = json_array();
  for (size_t i = 0; i < TK_COUNT(scopes); i++) {
    dap_node n = {.kind = scopes[i].kind, .frame = at};
    if (n.kind == DAP_RETURNED) {
      if (!p->stop->nreturned || at.program != p->here || at.level) continue;
      n.values = p->stop->returned;
      n.nvalues = p->stop->nreturned;
    }
    json_t *s =
        json_pack("{s:s, s:I, s:b}", "name", scopes[i].name,
                  "variablesReference", dap_new_node(p, &n), "expensive", 0);
    if (*scopes[i].hint)
      json_object_set_new(s, "presentationHint", json_string(scopes[i].hint));
    json_array_append_new(list, s);
  }
  return json_pack("{s:o}", "scopes", list);
}

static dap_node_kind kind_of(const tk_debug_variable *v) {
  if (v->kind == TK_VARIABLE_CONSTEXPR) return DAP_CONSTANTS;
  return v->kind == TK_VARIABLE_ARGUMENT ? DAP_ARGUMENTS : DAP_LOCALS;
}

/* Variables of one kind, the oldest first, so that they keep their places while
 * one steps. */
static json_t *variables_of_call(dap *p, const dap_node *n) {
  const tk_debug_variable *list;
  size_t count;
  dap_node node = *n;
  json_t *all = json_array();
  if (tk_debug_select(p->d, node.frame.program, node.frame.level) != TK_OK ||
      tk_debug_variables(p->d, node.frame.level, &list, &count) != TK_OK)
    return json_decref(all), dap_fail_engine(p);
  for (size_t i = count; i--;) {
    const tk_debug_variable *v = &list[i];
    if (kind_of(v) == node.kind && v->nvalues)
      json_array_append_new(all, dap_variable(p, node.frame, v->name, v->name,
                                              v->values, v->nvalues));
  }
  return all;
}

/* The same memory may also be listed under a name of the compiler's that the
 * user does not know; that entry is left out. */
static bool is_listed_above(dap *p, const tk_debug_region *r, size_t n) {
  tk_debug_region x;
  for (size_t i = 0; i < n && tk_debug_region_at(p->d, i, &x); i++)
    if (x.address == r->address && x.size == r->size) return true;
  return false;
}

static json_t *variables_of_tensors(dap *p) {
  tk_debug_region r;
  json_t *all = json_array();
  for (size_t i = 0; tk_debug_region_at(p->d, i, &r); i++)
    if (!is_listed_above(p, &r, i))
      json_array_append_new(all, dap_tensor_variable(p, &r));
  return all;
}

static void add_plain(json_t *all, const char *name, json_t *value) {
  json_array_append_new(all, json_pack("{s:s, s:o, s:i}", "name", name, "value",
                                       value, "variablesReference", 0));
}

static json_t *three(const int64_t *x) {
  char text[80];
  int n = snprintf(text, sizeof text, "(%" PRId64 ", %" PRId64 ", %" PRId64 ")",
                   x[0], x[1], x[2]);
  return json_stringn(text, (size_t)n);
}

static json_t *count_text(uint64_t n) {
  char text[32];
  return json_stringn(text, (size_t)snprintf(text, sizeof text, "%" PRIu64, n));
}

/* Describes the program: its number, where it stands, and how far the launch
 * is. */
static json_t *variables_of_program(dap *p, const dap_node *n) {
  tk_debug_program x;
  tk_debug_frame f;
  tk_debug_time now;
  size_t level = n->frame.level;
  json_t *all = json_array();
  if (tk_debug_program_indexed(p->d, n->frame.program, &x) == TK_OK)
    add_plain(all, "pid", three(x.pid));
  add_plain(all, "grid", three(p->stop->grid));
  if (tk_debug_select(p->d, n->frame.program, level) == TK_OK &&
      tk_debug_frame_at(p->d, level, &f) == TK_OK)
    for (size_t i = 0; i < f.nloops; i++)
      add_plain(all,
                tk_arena_printf(&p->scratch, "trip of line %d",
                                f.loops[i].place.line),
                count_text(f.loops[i].trip));
  tk_debug_when(p->d, &now);
  add_plain(all, "launch", count_text(now.launch));
  add_plain(all, "event", count_text(now.event));
  add_plain(all, "programs done", count_text(now.done));
  return all;
}

/* ---- parts -------------------------------------------------------------- */

/* Each begins with a value that has a path; what follows without one is more
 * of it. */
static json_t *parts_of(dap *p, const dap_node *n) {
  dap_node node = *n;
  json_t *all = json_array();
  for (size_t i = 0, k; i < node.nvalues; i += k) {
    const tk_debug_value *v = &node.values[i];
    for (k = 1; i + k < node.nvalues && !v[k].path;) k++;
    const char *path = v->path ? v->path : "";
    const char *expression =
        tk_arena_printf(&p->scratch, "%s%s", node.name, path);
    json_array_append_new(all,
                          dap_variable(p, node.frame, path, expression, v, k));
  }
  return all;
}

static json_t *returned_values(dap *p, const dap_node *n) {
  dap_node node = *n;
  json_t *all = json_array();
  for (size_t i = 0; i < node.nvalues; i++) {
    char name[40];
    snprintf(name, sizeof name, "value %zu", i + 1);
    json_t *v = dap_variable(p, node.frame, node.nvalues > 1 ? name : "value",
                             "", &node.values[i], 1);
    json_object_del(v, "evaluateName");
    json_array_append_new(all, v);
  }
  return all;
}

json_t *dap_on_variables(dap *p, const json_t *args) {
  const dap_node *n =
      dap_node_of(p, dap_integer(args, "variablesReference", 0));
  json_t *all = NULL;
  if (!n) return NULL;
  int64_t start = dap_integer(args, "start", 0);
  int64_t count = dap_integer(args, "count", 0);
  bool named = !strcmp(dap_string(args, "filter", ""), "named");
  switch (n->kind) {
  case DAP_RETURNED: all = returned_values(p, n); break;
  case DAP_LOCALS:
  case DAP_ARGUMENTS:
  case DAP_CONSTANTS: all = variables_of_call(p, n); break;
  case DAP_TENSORS: all = variables_of_tensors(p); break;
  case DAP_PROGRAM: all = variables_of_program(p, n); break;
  case DAP_PARTS: all = parts_of(p, n); break;
  case DAP_LANES:
    all = named ? json_array() : dap_items(p, n, start, count);
    break;
  }
  return all ? json_pack("{s:o}", "variables", all) : NULL;
}

/* ---- changing ----------------------------------------------------------- */

/* Evaluates an expression to one number; returns false after reporting what it
 * is instead. */
static bool number_of(dap *p, const char *text, tk_dtype to, void *lane) {
  const tk_debug_value *v;
  size_t n;
  if (tk_debug_evaluate(p->d, text, &v, &n) != TK_OK)
    return dap_fail_engine(p), false;
  tk_array_view view = n ? dap_view_of(v) : (tk_array_view){0};
  char *end = NULL;
  if (n == 1 && v->known) {
    double x = strtod(v->known, &end);
    bool truth = !strcmp(v->known, "True");
    if (truth || !strcmp(v->known, "False"))
      tk_lane_set_int(to, lane, truth);
    else if (end == v->known || *end)
      end = NULL;
    else if (strpbrk(v->known, ".en"))
      tk_lane_set_double(to, lane, x);
    else
      tk_lane_set_int(to, lane, strtoll(v->known, NULL, 10));
    if (end) return true;
  } else if (n == 1 && v->lanes && dap_lane_count(&view) == 1 &&
             !v->type.pointers) {
    if (tk_is_float(v->type.dtype))
      tk_lane_set_double(to, lane, tk_lane_double(v->type.dtype, v->lanes));
    else
      tk_lane_set_int(to, lane, tk_lane_int(v->type.dtype, v->lanes));
    return true;
  }
  dap_fail(p, "one number is expected for a lane, not '%s'", text);
  return false;
}

/* Sets one lane of a block by assigning all lanes to its variable. */
static bool set_lane(dap *p, const dap_node *n, const char *index,
                     const char *text) {
  const tk_debug_value *whole = n->whole;
  int64_t i = strtoll(index + 1, NULL, 10);
  if (n->lanes.rank != 1 || n->lanes.pointers || i < 0 ||
      i >= n->lanes.shape[0]) {
    dap_fail(p, "lanes are set one by one, and pointers cannot be set");
    return false;
  }
  size_t size = tk_dtypes[n->lanes.dtype].size;
  char *lanes = tk_arena_alloc(&p->scratch, whole->size);
  memcpy(lanes, whole->lanes, whole->size);
  if (!number_of(p, text, n->lanes.dtype,
                 lanes + (size_t)(n->first + i) * size))
    return false;
  if (tk_debug_assign_lanes(p->d, n->name, lanes, whole->size) == TK_OK)
    return true;
  dap_fail_engine(p);
  return false;
}

/* The new value, as a variable without a name. */
static json_t *new_value(dap *p, const char *expression) {
  const tk_debug_value *v;
  size_t n;
  dap_frame at = {p->here, 0};
  if (tk_debug_evaluate(p->d, expression, &v, &n) != TK_OK)
    return dap_fail_engine(p);
  json_t *all = dap_variable(p, at, expression, expression, v, n);
  json_object_del(all, "name");
  json_object_del(all, "evaluateName");
  if (p->client.invalidates)
    dap_wire_event(&p->wire, "invalidated",
                   json_pack("{s:[s]}", "areas", "variables"));
  return all;
}

json_t *dap_on_setVariable(dap *p, const json_t *args) {
  const dap_node *n =
      dap_node_of(p, dap_integer(args, "variablesReference", 0));
  const char *name = dap_string(args, "name", "");
  const char *text = dap_string(args, "value", "");
  if (!n) return NULL;
  dap_node node = *n;
  const char *expression = dap_item_expression(p, &node, name);
  if (node.kind == DAP_PROGRAM || node.kind == DAP_RETURNED || !expression)
    return dap_fail(p, "'%s' cannot be set", name);
  if (tk_debug_select(p->d, node.frame.program, node.frame.level) != TK_OK)
    return dap_fail_engine(p);
  if (node.whole) {
    if (!set_lane(p, &node, name, text)) return NULL;
  } else if (tk_debug_assign(p->d, expression, text) != TK_OK) {
    return dap_fail_engine(p);
  }
  return new_value(p, expression);
}

json_t *dap_on_setExpression(dap *p, const json_t *args) {
  const char *expression = dap_string(args, "expression", "");
  if (!dap_select_frame(p, dap_integer(args, "frameId", 0))) return NULL;
  if (tk_debug_assign(p->d, expression, dap_string(args, "value", "")) != TK_OK)
    return dap_fail_engine(p);
  return new_value(p, expression);
}

/* ---- expressions -------------------------------------------------------- */

/* A command line of the debugger: what it prints is the result. A client that
 * shows pages gets the address of one as a member of its own. */
static json_t *run_command(dap *p, const char *line) {
  tk_buf_clear(&p->text);
  tk_debugger_command(p->commands, line);
  if (tk_debug_will_resume(p->d)) {
    p->going.first.kind = TK_RESUME_NONE; /* the command has chosen */
    dap_wire_event(&p->wire, "continued",
                   json_pack("{s:I, s:b}", "threadId", (json_int_t)p->here + 1,
                             "allThreadsContinued", 1));
  }
  size_t n = p->text.n;
  while (n && p->text.s[n - 1] == '\n') n--;
  return json_pack("{s:o, s:i, s:s*}", "result",
                   dap_text(tk_buf_str(&p->text), n), "variablesReference", 0,
                   "page", p->reply.page);
}

/* All lanes, for the clipboard. */
static json_t *whole_text(dap *p, const tk_debug_value *v) {
  static const tk_print_options all = {INT64_MAX, 3, 8, 75};
  tk_array_view view = dap_view_of(v);
  tk_buf b;
  tk_buf_init(&b, p->env);
  tk_format_array(&b, &view, 0, &all);
  json_t *text = dap_text(tk_buf_str(&b), b.n);
  tk_buf_free(&b);
  return text;
}

static json_t *evaluated(dap *p, const char *text, dap_frame at, bool whole) {
  const tk_debug_value *v;
  size_t n;
  if (tk_debug_evaluate(p->d, text, &v, &n) != TK_OK) return dap_fail_engine(p);
  json_t *all = dap_variable(p, at, "", text, v, n), *value;
  value = whole && n == 1 && v->lanes
              ? whole_text(p, v)
              : json_incref(json_object_get(all, "value"));
  json_object_set_new(all, "result", value);
  json_object_del(all, "name");
  json_object_del(all, "value");
  json_object_del(all, "evaluateName");
  return all;
}

/* In the console, what is not an expression is a command. */
json_t *dap_on_evaluate(dap *p, const json_t *args) {
  const char *text = dap_string(args, "expression", "");
  const char *context = dap_string(args, "context", "");
  json_int_t frame = dap_integer(args, "frameId", 0);
  bool console = !strcmp(context, "repl");
  const char *type;
  if (!p->d) return dap_fail(p, "nothing has been launched yet");
  if (!p->stop && (!console || p->run == DAP_RUNS))
    return dap_fail(p, "no program is stopped");
  if (!p->stop) return run_command(p, text);
  bool has_frame = p->here != TK_DEBUG_NO_PROGRAM;
  if ((has_frame || frame) && !dap_select_frame(p, frame)) return NULL;
  if (console && (!has_frame || tk_debug_type_of(p->d, text, &type) != TK_OK))
    return run_command(p, text);
  dap_frame at = {p->here, 0};
  if (frame) at = p->frames.items[frame - 1];
  return evaluated(p, text, at, !strcmp(context, "clipboard"));
}

/* ---- completions -------------------------------------------------------- */

static bool is_part_of_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') ||
         ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static void add_target(json_t *all, const char *label, size_t start,
                       size_t length, const char *type) {
  json_t *x =
      json_pack("{s:s, s:s, s:I, s:I}", "label", label, "type", type, "start",
                (json_int_t)start, "length", (json_int_t)length);
  json_array_append_new(all, x);
}

/* The text of the line up to the cursor. */
static const char *line_to_complete(dap *p, const json_t *args) {
  const char *text = dap_string(args, "text", "");
  json_int_t column = dap_integer(args, "column", 1);
  size_t n = strlen(text);
  column -= !p->client.columns_at_0;
  if (column >= 0 && (size_t)column < n) n = (size_t)column;
  return tk_arena_strndup(&p->scratch, text, n);
}

/* Adds the names that the selected call knows and that begin with the end of
 * the line, from `from` on. */
static void complete_variables(dap *p, json_t *all, const char *line,
                               size_t from) {
  size_t n = strlen(line) - from, known;
  const char *const *names;
  tk_debug_names(p->d, &names, &known);
  for (size_t i = 0; i < known; i++)
    if (!strncmp(names[i], line + from, n))
      add_target(all, names[i], from, n, "variable");
}

/* Adds what the debugger would complete at the end of a command line; it takes
 * the place of the last n characters of the line. */
static void complete_command(dap *p, json_t *all, const char *command,
                             size_t from, size_t n, const char *type) {
  enum { MOST = 200 };
  const char *name;
  for (size_t i = 0; json_array_size(all) < MOST &&
                     (name = tk_debugger_complete(p->commands, command, i));
       i++)
    add_target(all, name, from, n, type);
}

/* Names that are known in the call, what may follow a dot, then commands and
 * their operands. */
json_t *dap_on_completions(dap *p, const json_t *args) {
  const char *line = line_to_complete(p, args);
  json_t *all = json_array();
  size_t n = strlen(line), name = n, word = n;
  while (name && is_part_of_name(line[name - 1])) name--;
  if (p->stop && dap_select_frame(p, dap_integer(args, "frameId", 0)))
    complete_variables(p, all, line, name);
  p->reply.fault = NULL;
  size_t dotted = name;
  while (dotted &&
         (is_part_of_name(line[dotted - 1]) || line[dotted - 1] == '.'))
    dotted--;
  const char *print = tk_arena_printf(&p->scratch, "print %s", line);
  if (p->d && dotted < name)
    complete_command(p, all, print, dotted, n - dotted, "function");
  while (word && line[word - 1] != ' ') word--;
  if (p->d)
    complete_command(p, all, line, word, n - word, word ? "text" : "function");
  return json_pack("{s:o}", "targets", all);
}
