/* console.c - the debugger on this process's terminal, or on a pipe.
 *
 * On a terminal, lines are read by a line editor (editor.h), if there is one
 * here.  From a pipe they are read as they are, and written out after the
 * prompt, so that the output is what a terminal would show.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/dispatch.h"
#include "command/say.h"
#include "repl/editor.h"
#include "repl/matches.h"
#include "tkdbg/gdbserver.h"

typedef struct console {
  tk_env *env;
  tk_debugger *d;
  bool terminal, json, opened;
  bool init; /* .tkdbgrc is still to be read */
  tkt_asker asker;
  tkt_editor *editor; /* NULL: there is none, or it is not opened yet */
  char **lines;       /* run first: -b, -ex, -x */
  size_t nlines, at;
  char *line;
  size_t cap;
  tk_gdbserver *gdb; /* once a stop was lent */
  tk_watcher watcher;
} console;

/* ---- editing ------------------------------------------------------------ */

static const char *match(void *ud, const char *line, size_t i) {
  const console *c = ud;
  return tk_debugger_complete(c->d, line, i);
}

static bool take_interrupt(void *ud) {
  console *c = ud;
  return atomic_exchange(&c->env->interrupted, 0) != 0;
}

/* ---- lines ------------------------------------------------------------- */

static const char *from_terminal(console *c, const char *prompt) {
  free(c->line);
  c->line = tkt_editor_read(c->editor, prompt);
  if (!c->line) {
    fputc('\n', stdout);
    return NULL;
  }
  /* Ctrl-C that came too early or late for the editor to see: what was typed
   * and sent off since then counts. */
  c->env->interrupted = 0;
  return c->line;
}

/* The line editor, if there is one. */
static bool has_editor(console *c) {
  if (!c->opened) c->editor = tkt_editor_open(&c->asker);
  c->opened = true;
  return c->editor != NULL;
}

static const char *from_pipe(console *c) {
  ssize_t n;
  do {
    errno = 0;
    clearerr(stdin);
    n = getline(&c->line, &c->cap, stdin);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return NULL;
  while (n && (c->line[n - 1] == '\n' || c->line[n - 1] == '\r'))
    c->line[--n] = '\0';
  return c->line;
}

static void read_init_files(console *c);

static const char *read_line(void *ud, const char *prompt) {
  console *c = ud;
  const char *line;
  read_init_files(c);
  fflush(stdout);
  if (c->at < c->nlines) {
    line = c->lines[c->at++];
  } else if (c->terminal && !c->json) {
    if (has_editor(c)) return from_terminal(c, prompt);
    fputs(prompt, stdout);
    fflush(stdout);
    return from_pipe(c);
  } else {
    line = from_pipe(c);
  }
  if (line && !c->json) printf("%s%s\n", prompt, line);
  fflush(stdout);
  return line;
}

/* ---- output ------------------------------------------------------------ */

static void write_text(void *ud, const char *text, size_t len) {
  console *c = ud;
  if (!c->json) {
    fwrite(text, 1, len, stdout);
    if (*text == '\r') fflush(stdout);
    return;
  }
  tk_buf b;
  tk_buf_init(&b, c->env);
  tk_json_string(&b, text, len);
  printf("{\"event\": \"output\", \"text\": %s}\n", tk_buf_str(&b));
  tk_buf_free(&b);
  fflush(stdout);
}

static void write_event(void *ud, const char *json) {
  (void)ud;
  printf("%s\n", json);
  fflush(stdout);
}

/* ---- gdb --------------------------------------------------------------- */

static void say_at_prompt(void *ud, const char *line) {
  console *c = ud;
  tkt_say(c->d, "%s\n", line);
  tkt_flush(c->d);
  fflush(stdout);
}

static tk_status lend_to_gdb(void *ud, const char *address) {
  console *c = ud;
  const tk_gdbserver_options o = {
      .size = sizeof o, .say = say_at_prompt, .ud = c};
  tk_status st = TK_OK;
  if (!c->gdb) st = tk_gdbserver_over(tk_debugger_engine(c->d), &o, &c->gdb);
  return st == TK_OK ? tk_gdbserver_lend(c->gdb, address) : st;
}

/* ---- making one -------------------------------------------------------- */

static void add_line(console *c, const char *text, size_t n) {
  c->lines = tk_realloc(c->env, c->lines, c->nlines * sizeof *c->lines,
                        (c->nlines + 1) * sizeof *c->lines);
  char *line = tk_realloc(c->env, NULL, 0, n + 1);
  memcpy(line, text, n);
  line[n] = '\0';
  c->lines[c->nlines++] = line;
}

/* The file is read when its turn comes, but if it cannot be read, this is
 * reported now. */
static void add_file(console *c, const char *path) {
  if (access(path, R_OK) != 0) {
    tk_diag_add(c->env, TK_D_FILE, NULL, (tk_span){0, 0},
                "%s cannot be read: %s", path, strerror(errno));
    tk_throw(c->env, TK_USAGE);
  }
  tk_buf b;
  tk_buf_init(&b, c->env);
  tk_buf_printf(&b, "source %s", path);
  add_line(c, tk_buf_str(&b), b.n);
  tk_buf_free(&b);
}

static void free_console(tk_env *e, void *ud) {
  console *c = ud;
  tkt_editor_close(c->editor);
  for (size_t i = 0; i < c->nlines; i++)
    tk_free(e, c->lines[i], strlen(c->lines[i]) + 1);
  tk_free(e, c->lines, c->nlines * sizeof *c->lines);
  free(c->line);
  tk_free(e, c, sizeof *c);
}

typedef struct making {
  tk_session *s;
  const tk_console_options *o;
  tk_debugger **out;
} making;

static void read_options(console *c, const tk_console_options *o) {
  for (size_t i = 0; i < o->ncommands; i++)
    add_line(c, o->commands[i], strlen(o->commands[i]));
  for (size_t i = 0; i < o->nfiles; i++) add_file(c, o->files[i]);
  c->json = o->json;
}

/* They are set before the first launch, so that one of them can be its first
 * stop. */
static void set_breakpoints(console *c, const tk_console_options *o) {
  for (size_t i = 0; i < o->nbreakpoints; i++) {
    size_t n = strlen(o->breakpoints[i]) + 8;
    char *line = tk_realloc(c->env, NULL, 0, n);
    snprintf(line, n, "break %s", o->breakpoints[i]);
    bool ok = tk_debugger_command(c->d, line);
    tk_free(c->env, line, n);
    if (!ok) tk_throw(c->env, TK_USAGE);
  }
}

/* ---- .tkdbgrc ---------------------------------------------------------- */

static void read_init(console *c, const char *folder) {
  char *path;
  if (asprintf(&path, "%s/.tkdbgrc", folder) < 0) return;
  if (access(path, R_OK) == 0) tkt_source_now(c->d, path);
  free(path);
}

/* Commands can run programs: those of a folder that happens to be the current
 * one are read only where the user's own file says that this is safe. */
static void read_init_files(console *c) {
  const char *home = getenv("HOME");
  if (!c->init) return;
  c->init = false;
  char *here = realpath(".", NULL), *own = home ? realpath(home, NULL) : NULL;
  if (own) read_init(c, own);
  if (here && (!own || strcmp(here, own)) && access(".tkdbgrc", R_OK) == 0) {
    if (tkt_is_safe(c->d, here))
      read_init(c, here);
    else
      tkt_say(c->d,
              "the .tkdbgrc of this folder is not read: 'set safe-path %s' "
              "in ~/.tkdbgrc\nallows it, 'source .tkdbgrc' reads it "
              "now.\n",
              here);
    tkt_flush(c->d);
  }
  free(here);
  free(own);
}

static void make(tk_env *e, void *ud) {
  making *m = ud;
  const tk_console_options *o = m->o;
  console *c = tk_calloc(e, 1, sizeof *c);
  c->env = e;
  c->asker =
      (tkt_asker){.ud = c, .match = match, .interrupted = take_interrupt};
  c->watcher = (tk_watcher){.ud = c, .free = free_console};
  tk_session_watch(m->s, &c->watcher);
  read_options(c, o);
  c->terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  tk_debugger_options d = {.size = sizeof d,
                           .ud = c,
                           .read = read_line,
                           .write = write_text,
                           .lend = lend_to_gdb,
                           .event = o->json ? write_event : NULL,
                           .width = tkt_terminal_width(),
                           .stop_at_start = o->stop_at_start,
                           .stop_at_end = o->stop_at_end,
                           .wait_for_call = o->wait_for_call,
                           .colour = o->colour && !o->json,
                           .script = o->script,
                           .progress = c->terminal && !o->json};
  if (tk_debugger_new(m->s, &d, &c->d) != TK_OK) tk_throw(e, TK_INTERNAL);
  c->init = !o->no_init;
  if (!o->wait_for_call) read_init_files(c);
  set_breakpoints(c, o);
  *m->out = c->d;
}

tk_status tk_console_new(tk_session *s, const tk_console_options *o,
                         tk_debugger **out) {
  making m = {s, o, out};
  *out = NULL;
  return tk_session_guard(s, make, &m);
}
