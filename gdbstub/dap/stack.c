/* stack.c - programs as threads, their calls, and sources. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/dap/dap.h"

/* ---- programs ----------------------------------------------------------- */

static json_t *thread_json(const tk_debug_program *x) {
  static const char *const states[] = {", not begun", "", "", ", waits",
                                       ", done"};
  char name[120];
  snprintf(name, sizeof name, "pid(%" PRId64 ", %" PRId64 ", %" PRId64 ")%s",
           x->pid[0], x->pid[1], x->pid[2], states[x->state]);
  return json_pack("{s:I, s:s}", "id", (json_int_t)x->index + 1, "name", name);
}

/* The program that runs next and those around it in the order of the launch,
 * except those that are done. */
json_t *dap_on_threads(dap *p, const json_t *args) {
  enum { AROUND = DAP_THREADS / 2 };
  json_t *list = json_array();
  tk_debug_program x;
  (void)args;
  uint64_t now = p->d ? tk_debug_current_program(p->d) : TK_DEBUG_NO_PROGRAM;
  bool runs = now != TK_DEBUG_NO_PROGRAM;
  if (runs && tk_debug_program_indexed(p->d, now, &x) == TK_OK)
    json_array_append_new(list, thread_json(&x));
  uint64_t at = runs && now > AROUND ? now - AROUND : 0;
  while (runs && json_array_size(list) < DAP_THREADS &&
         tk_debug_programs(p->d, &at, &x, 1))
    if (x.index != now && x.state != TK_PROGRAM_DONE)
      json_array_append_new(list, thread_json(&x));
  if (!json_array_size(list)) /* somebody must be there to be paused */
    json_array_append_new(
        list, json_pack("{s:i, s:s}", "id", 1, "name", "no kernel runs"));
  return json_pack("{s:o}", "threads", list);
}

uint64_t dap_thread(dap *p, const json_t *args) {
  tk_debug_program x;
  json_int_t id = dap_integer(args, "threadId", 0);
  if (id >= 1 && tk_debug_program_indexed(p->d, (uint64_t)id - 1, &x) == TK_OK)
    return x.index;
  dap_fail(p,
           "threadId %" JSON_INTEGER_FORMAT " is not a program of this launch",
           id);
  return TK_DEBUG_NO_PROGRAM;
}

/* ---- calls -------------------------------------------------------------- */

static void set_place(dap *p, json_t *to, const tk_place *at) {
  int column = at->column - p->client.columns_at_0;
  int end_column = at->end_column - p->client.columns_at_0;
  json_object_set_new(to, "line", json_integer(dap_line_out(p, at->line)));
  json_object_set_new(to, "column", json_integer(at->line ? column : 0));
  if (!at->line) return;
  json_object_set_new(to, "source", dap_source_of(p, at->file));
  json_object_set_new(to, "endLine",
                      json_integer(dap_line_out(p, at->end_line)));
  json_object_set_new(to, "endColumn", json_integer(end_column));
}

static json_t *frame_json(dap *p, uint64_t program, const tk_debug_frame *f) {
  json_t *frame = json_object();
  const char *name = f->name;
  if (f->nloops)
    name = tk_arena_printf(&p->scratch, "%s, trip %" PRIu64, f->name,
                           f->loops[0].trip);
  if (f->place.origin)
    name = tk_arena_printf(&p->scratch, "%s, of %s", name, f->place.origin);
  if (f->returns) name = tk_arena_printf(&p->scratch, "%s, returns", name);
  json_object_set_new(frame, "id",
                      json_integer(dap_frame_number(p, program, f->level)));
  json_object_set_new(frame, "name", dap_string_of(name));
  set_place(p, frame, &f->place);
  return frame;
}

/* A program that has not begun, or is done, has no calls. */
json_t *dap_on_stackTrace(dap *p, const json_t *args) {
  uint64_t program = dap_thread(p, args);
  tk_debug_frame f;
  if (p->reply.fault) return NULL;
  json_int_t start = dap_integer(args, "startFrame", 0);
  json_int_t most = dap_integer(args, "levels", 0);
  bool begun = tk_debug_select(p->d, program, 0) == TK_OK;
  size_t n = begun ? tk_debug_frame_count(p->d) : 0;
  json_t *list = json_array();
  for (size_t i = start > 0 ? (size_t)start : 0;
       i < n && (most <= 0 || json_array_size(list) < (size_t)most); i++)
    if (tk_debug_frame_at(p->d, i, &f) == TK_OK)
      json_array_append_new(list, frame_json(p, program, &f));
  return json_pack("{s:o, s:I}", "stackFrames", list, "totalFrames",
                   (json_int_t)n);
}

/* ---- sources ------------------------------------------------------------ */

/* Whether a file still holds the text that the kernel was compiled from. */
static bool is_in_file(const char *path, const tk_debug_source *s) {
  FILE *f = fopen(path, "rb");
  char bytes[4096];
  size_t at = 0, n;
  if (!f) return false;
  while ((n = fread(bytes, 1, sizeof bytes, f)) > 0) {
    if (n > s->length - at || memcmp(bytes, s->text + at, n)) break;
    at += n;
  }
  bool same = !n && at == s->length && !ferror(f);
  fclose(f);
  return same;
}

/* A source that is a file is named by its path, any other text by its
 * number. */
json_t *dap_source_of(dap *p, const char *file) {
  tk_debug_source s;
  const char *slash = strrchr(file, '/');
  const char *path = gw_file_path(&p->scratch, p->folder, file);
  json_t *source = json_object();
  json_object_set_new(source, "name", dap_string_of(slash ? slash + 1 : file));
  json_object_set_new(source, "path", dap_string_of(path));
  for (size_t i = 0; tk_debug_source_at(p->d, i, &s); i++) {
    if (strcmp(s.file, file) || is_in_file(path, &s)) continue;
    json_object_set_new(source, "sourceReference",
                        json_integer((json_int_t)i + 1));
    json_object_set_new(source, "origin",
                        json_string("as it was compiled; not in this file"));
  }
  return source;
}

static bool names_source(dap *p, const char *path, const tk_debug_source *s) {
  return gw_is_same_file(path, gw_file_path(&p->scratch, p->folder, s->file));
}

const char *dap_source_name(dap *p, const json_t *source) {
  tk_debug_source s;
  json_int_t number = dap_integer(source, "sourceReference", 0);
  const char *path = dap_string(source, "path", "");
  if (number > 0)
    return tk_debug_source_at(p->d, (size_t)number - 1, &s) ? s.file : NULL;
  for (size_t i = 0; tk_debug_source_at(p->d, i, &s); i++)
    if (names_source(p, path, &s)) return s.file;
  return *path ? path : NULL;
}

json_t *dap_on_source(dap *p, const json_t *args) {
  tk_debug_source s;
  json_int_t number = dap_integer(args, "sourceReference", 0);
  const char *path = dap_string(json_object_get(args, "source"), "path", "");
  bool found = number > 0 && tk_debug_source_at(p->d, (size_t)number - 1, &s);
  for (size_t i = 0; !found && tk_debug_source_at(p->d, i, &s); i++)
    found = names_source(p, path, &s);
  if (!found) return dap_fail(p, "source: no kernel came from there");
  return json_pack("{s:o, s:s}", "content", dap_text(s.text, s.length),
                   "mimeType", "text/x-python");
}

json_t *dap_on_loadedSources(dap *p, const json_t *args) {
  tk_debug_source s;
  json_t *list = json_array();
  (void)args;
  for (size_t i = 0; tk_debug_source_at(p->d, i, &s); i++)
    json_array_append_new(list, dap_source_of(p, s.file));
  return json_pack("{s:o}", "sources", list);
}
