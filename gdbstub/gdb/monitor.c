/* monitor.c - `monitor COMMAND`: the debugger's commands, and some that are
 * about the client alone. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/outfile.h"
#include "base/remedy.h"
#include "gdbstub/gdb/stub.h"

void gs_keep_text(void *ud, const char *text, size_t n) {
  tk_buf_add(&((gs_stub *)ud)->text, text, n);
}

const char *gs_read_no_command(void *ud, const char *prompt) {
  (void)ud, (void)prompt;
  return NULL;
}

/* ---- commands about the client ------------------------------------------- */

/* Reads a program's X[,Y[,Z]]; returns false if the grid has no such
 * program. */
static bool take_program(const gs_stub *g, const char *s, uint64_t *program) {
  uint64_t stride = 1;
  *program = 0;
  for (int i = 0; i < 3; i++) {
    char *end;
    errno = 0;
    long long at = strtoll(s, &end, 10);
    if (end == s || errno || at < 0 || at >= g->stop->grid[i]) return false;
    *program += (uint64_t)at * stride;
    stride *= (uint64_t)g->stop->grid[i];
    s = end + strspn(end, " ");
    if (!*s) return true;
    if (*s++ != ',') return false;
  }
  return false;
}

void gs_monitor_program(gs_stub *g, const char *rest) {
  tk_debug_program p;
  const int64_t *n = g->stop->grid;
  if (!take_program(g, rest, &g->wanted)) {
    g->wanted = TK_DEBUG_NO_PROGRAM;
    tk_buf_printf(&g->text,
                  "The grid is (%" PRId64 ", %" PRId64 ", %" PRId64
                  "): no program is '%s' of it. Try 'monitor program 0'.\n",
                  n[0], n[1], n[2], rest);
    return;
  }
  g->halt.listed = false;
  gs_list_programs(g);
  bool known = tk_debug_program_indexed(g->d, g->wanted, &p) == TK_OK;
  if (known && gs_is_thread(g, g->wanted))
    tk_buf_printf(&g->text,
                  "'info threads' lists pid(%" PRId64 ",%" PRId64 ",%" PRId64
                  ") now; 'thread N' selects it.\n",
                  p.pid[0], p.pid[1], p.pid[2]);
  else
    tk_buf_printf(&g->text, "That program %s.\n",
                  known && p.state == TK_PROGRAM_DONE
                      ? "has run to its end"
                      : "cannot be listed beside the one that has stopped");
}

/* The launch changes when gdb goes on, and gdb is told then where it stands. */
void gs_monitor_launch(gs_stub *g, const char *rest) {
  char *end;
  tk_resume how = {.kind = TK_RESUME_LAUNCH,
                   .launch = strtoull(rest, &end, 10)};
  if (!how.launch || *end)
    tk_buf_puts(&g->text, "Which one? 'monitor launch N'.\n");
  else if (tk_debug_resume(g->d, &how) != TK_OK) {
    tk_put_fault(&g->text, tk_debug_error(g->d), false, TK_FRONT_GDB);
    tk_buf_putc(&g->text, '\n');
  } else {
    tk_debug_resume(g->d, &(tk_resume){.kind = TK_RESUME_NONE});
    g->going.launch = how.launch;
    tk_buf_printf(&g->text, "'continue' goes to launch %" PRIu64 ".\n",
                  how.launch);
  }
}

void gs_monitor_check(gs_stub *g, const char *rest) {
  const char *list = !strcmp(rest, "on") ? "all" : rest;
  const char *line = tk_arena_printf(&g->scratch, "set check %s", list);
  tk_debugger_command(g->commands, *list ? line : "info checks");
}

void gs_monitor_lanes(gs_stub *g, const char *rest) {
  uint64_t program, offset;
  size_t level, n;
  const tk_debug_value *v;
  const gs_slot *s =
      gs_slot_at(g, strtoull(rest, NULL, 0), &program, &level, &offset);
  const char *name = s ? gs_slot_expression(g, s) : NULL;
  tk_buf_clear(&g->text);
  if (!s || tk_debug_select(g->d, program, level) != TK_OK ||
      tk_debug_evaluate(g->d, name, &v, &n) != TK_OK || n != 1) {
    tk_buf_puts(&g->text, "none\n");
    return;
  }
  size_t first = (size_t)(offset / s->shown);
  tk_buf_puts(&g->text,
              s->type.pointers ? "pointer" : tk_dtype_name(s->type.dtype));
  for (size_t i = first; v->undefined && i < s->lanes; i++)
    if (v->undefined[i]) tk_buf_printf(&g->text, " %zu", i - first);
  tk_buf_putc(&g->text, '\n');
}

void gs_monitor_elf(gs_stub *g, const char *rest) {
  int error = *rest
                  ? tk_outfile_save(rest, g->image->file->s, g->image->file->n)
                  : EINVAL;
  if (!*rest)
    tk_buf_puts(&g->text, "To which file? 'monitor elf FILE'.\n");
  else if (error)
    tk_buf_printf(&g->text, "Cannot write '%s': %s.\n", rest, strerror(error));
  else
    tk_buf_printf(&g->text, "%s has the symbols of %s.\n", rest,
                  tk_ir_func_name(tk_ir_kernel(g->image->form)));
}

typedef struct monitor {
  const char *name, *args;
  void (*fn)(gs_stub *g, const char *rest);
  const char *doc;
} monitor;

static const monitor monitors[] = {
#define MONITOR(name, args, fn, doc) {name, args, fn, doc},
#include "gdbstub/gdb/monitor.def"
#undef MONITOR
};

/* ---- the packet ---------------------------------------------------------- */

/* The rest of a line after a word and blanks; NULL if it does not begin with
 * the word. */
static const char *behind_word(const char *line, const char *word) {
  size_t n = strlen(word);
  if (strncmp(line, word, n) || (line[n] && line[n] != ' ')) return NULL;
  return line + n + strspn(line + n, " ");
}

static const monitor *monitor_named(const char *line, const char **rest) {
  for (size_t i = 0; i < TK_COUNT(monitors); i++)
    if ((*rest = behind_word(line, monitors[i].name))) return &monitors[i];
  return NULL;
}

static void explain_monitor(gs_stub *g, const monitor *m) {
  tk_buf_printf(&g->text, "monitor %s %s\n  %s\n", m->name, m->args, m->doc);
}

static void run_line(gs_stub *g, const char *line) {
  const char *rest, *about = behind_word(line, "help");
  const monitor *m = monitor_named(about ? about : line, &rest);
  if (m && about) {
    explain_monitor(g, m);
    return;
  }
  if (m) {
    m->fn(g, rest);
    return;
  }
  tk_debug_select(g->d, g->thread, 0);
  tk_debugger_command(g->commands, line);
  for (size_t i = 0; about && !*about && i < TK_COUNT(monitors); i++)
    explain_monitor(g, &monitors[i]);
}

/* A command must not make the launch go on: the client would not know where it
 * stands. */
void gs_on_monitor(gs_stub *g, const char *rest) {
  tk_buf_clear(&g->text);
  gs_take_text(&rest, &g->text);
  const char *line = tk_arena_strdup(&g->scratch, tk_buf_str(&g->text));
  if (*rest) {
    gs_reply_error(g);
    return;
  }
  tk_buf_clear(&g->text);
  if (!gs_has_process(g))
    tk_buf_puts(&g->text, "No launch is running.\n");
  else
    run_line(g, line + strspn(line, " "));
  if (tk_debug_will_resume(g->d)) {
    tk_debug_resume(g->d, &(tk_resume){.kind = TK_RESUME_NONE});
    tk_buf_puts(&g->text, "That would move the launch behind gdb's back: use "
                          "gdb's own commands.\n");
  }
  if (tk_debug_has_quit(g->d))
    tk_buf_puts(&g->text, "The run ends when gdb goes on.\n");
  gs_console(g, tk_buf_str(&g->text), g->text.n);
  tk_buf_puts(&g->reply, "OK");
}
