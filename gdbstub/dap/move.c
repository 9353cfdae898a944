/* move.c - requests that say how to go on. */
#include <string.h>

#include "gdbstub/dap/dap.h"

static void resume(dap *p, const tk_resume *how) {
  p->going.first = *how;
  if (tk_debug_resume(p->d, how) == TK_OK) return;
  p->going.first.kind = TK_RESUME_NONE;
  dap_fail_engine(p);
}

/* Goes on with whichever program is next. Going backwards follows the order in
 * which all programs ran, so there is no program to choose. */
static void go(dap *p, tk_resume_kind kind) {
  tk_resume how = {.kind = kind};
  p->going.how = how;
  resume(p, &how);
}

/* Goes on with one program, after switching to it if another program has
 * stopped. */
static void step(dap *p, const json_t *args, tk_resume_kind kind) {
  tk_resume how = {.kind = kind};
  uint64_t program = dap_thread(p, args);
  if (p->reply.fault) return;
  p->going.how = how;
  if (program != p->here)
    how = (tk_resume){.kind = TK_RESUME_PROGRAM, .program = program};
  resume(p, &how);
}

/* All programs go on, whichever of them the user is looking at. */
json_t *dap_on_continue(dap *p, const json_t *args) {
  (void)args;
  go(p, TK_RESUME_CONTINUE);
  return p->reply.fault ? NULL : json_pack("{s:b}", "allThreadsContinued", 1);
}

static bool is_by_operation(const json_t *args) {
  return !strcmp(dap_string(args, "granularity", ""), "instruction");
}

json_t *dap_on_next(dap *p, const json_t *args) {
  step(p, args, is_by_operation(args) ? TK_RESUME_OPERATION : TK_RESUME_NEXT);
  return NULL;
}

json_t *dap_on_stepIn(dap *p, const json_t *args) {
  step(p, args, is_by_operation(args) ? TK_RESUME_OPERATION : TK_RESUME_STEP);
  return NULL;
}

/* Out of the kernel is the end of the program. */
json_t *dap_on_stepOut(dap *p, const json_t *args) {
  step(p, args, TK_RESUME_FINISH);
  return NULL;
}

json_t *dap_on_stepBack(dap *p, const json_t *args) {
  go(p, is_by_operation(args) ? TK_RESUME_BACK_OPERATION : TK_RESUME_BACK_NEXT);
  return NULL;
}

json_t *dap_on_reverseContinue(dap *p, const json_t *args) {
  (void)args;
  go(p, TK_RESUME_BACK);
  return NULL;
}

/* The launch stops before its next statement; between launches, the next launch
 * stops at its beginning. */
json_t *dap_on_pause(dap *p, const json_t *args) {
  (void)args;
  p->going.pauses = !p->stop;
  return NULL;
}

/* ---- going elsewhere ---------------------------------------------------- */

/* The function in which the program has stopped. */
static const tk_debug_function *function_here(dap *p) {
  const tk_debug_function *list;
  tk_debug_frame f;
  size_t n;
  if (tk_debug_select(p->d, p->here, 0) != TK_OK ||
      tk_debug_frame_at(p->d, 0, &f) != TK_OK ||
      tk_debug_functions(p->d, &list, &n) != TK_OK)
    return NULL;
  for (size_t i = 0; i < n; i++)
    if (list[i].id == f.function) return &list[i];
  return NULL;
}

/* Whether the program can jump from where it stands to this statement. */
static bool can_go_to(dap *p, size_t statement) {
  tk_resume how = {.kind = TK_RESUME_JUMP, .statement = statement};
  tk_resume not = {.kind = TK_RESUME_NONE};
  bool can = tk_debug_resume(p->d, &how) == TK_OK;
  if (can) tk_debug_resume(p->d, &not );
  return can;
}

json_t *dap_on_gotoTargets(dap *p, const json_t *args) {
  const char *file = dap_source_name(p, json_object_get(args, "source"));
  int line = dap_line_in(p, dap_integer(args, "line", 0));
  const tk_debug_function *f = function_here(p);
  json_t *list = json_array();
  for (size_t i = 0; f && file && i < f->nstatements; i++) {
    const tk_place *at = &f->statements[i].place;
    if (at->line != line || strcmp(at->file, file) ||
        !can_go_to(p, f->statements[i].id))
      continue;
    TK_PUSH(&p->handles, &p->targets, f->statements[i].id);
    json_array_append_new(
        list, json_pack("{s:I, s:o, s:i, s:i}", "id", (json_int_t)p->targets.n,
                        "label", dap_text(at->text, at->text_length), "line",
                        dap_line_out(p, at->line), "column",
                        at->column - p->client.columns_at_0));
  }
  return json_pack("{s:o}", "targets", list);
}

json_t *dap_on_goto(dap *p, const json_t *args) {
  json_int_t target = dap_integer(args, "targetId", 0);
  if (target < 1 || (uint64_t)target > p->targets.n)
    return dap_fail(
        p, "targetId %" JSON_INTEGER_FORMAT " belongs to a stop that is over",
        target);
  tk_resume how = {.kind = TK_RESUME_JUMP,
                   .statement = p->targets.items[target - 1]};
  resume(p, &how);
  return NULL;
}
