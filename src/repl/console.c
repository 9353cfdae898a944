/* console.c - the debugger on this process's terminal, or on a pipe.
 *
 * On a terminal, lines are read by GNU readline (opened when it is first
 * needed, so that a program that only uses the library does not load it):
 * history, completion, editing.  From a pipe they are read as they are, and
 * written out after the prompt, so that the output is what a terminal would
 * show.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command/complete.h"
#include "command/dispatch.h"
#include "command/say.h"
#include "tkdbg/gdbserver.h"

enum { HISTORY = 1000 };

/* What is used of readline. */
typedef struct library {
  char *(*readline)(const char *prompt);
  void (*add_history)(const char *line);
  int (*read_history)(const char *path);
  int (*append_history)(int n, const char *path);
  int (*truncate_history)(const char *path, int n);
  void (*stifle_history)(int n);
  char **line_buffer;
  int *point, *append;
  const char **breaks;
  char *(**entry)(const char *text, int state);
  void (*replace_line)(const char *text, int clear_undo);
  int (*on_new_line)(void);
  void (*redisplay)(void);
  int (**signal_hook)(void);
} library;

typedef struct console {
  tk_env *env;
  tk_debugger *d;
  bool terminal, json, opened;
  bool init; /* .tkdbgrc is still to be read */
  library lib;
  char *history; /* the file; NULL: there is none */
  char **lines;  /* run first: -b, -ex, -x */
  size_t nlines, at;
  char *line;
  size_t cap;
  tk_gdbserver *gdb; /* once a stop was lent */
  tk_watcher watcher;
} console;

/* ---- readline ---------------------------------------------------------- */

/* readline's callbacks have no argument of their own. */
static __thread console *reading;

/* The line up to the cursor counts; after a folder its files follow. */
static char *next_match(const char *text, int state) {
  static __thread size_t i;
  const library *l = &reading->lib;
  char *line = strdup(*l->line_buffer);
  (void)text;
  if (!line) return NULL;
  if (!state) i = 0;
  if (l->point && (size_t)*l->point < strlen(line)) line[*l->point] = '\0';
  const char *name = tk_debugger_complete(reading->d, line, i++);
  bool folder = name && *name && name[strlen(name) - 1] == '/';
  free(line);
  if (l->append && name) *l->append = folder ? '\0' : ' ';
  return name ? strdup(name) : NULL;
}

/* Ctrl-C at the prompt drops the line; readline goes on with a new one.  A
 * signal that is not an interruption (the window's size) changes nothing. */
static int on_signal(void) {
  const library *l = &reading->lib;
  if (!reading->env->interrupted) return 0;
  reading->env->interrupted = 0;
  fputc('\n', stdout);
  l->replace_line("", 1);
  l->on_new_line();
  l->redisplay();
  return 0;
}

static void *symbol(void *so, const char *name) {
  return dlsym(so, name);
}

static bool open_library(library *l) {
  void *so = dlopen("libreadline.so.8", RTLD_NOW | RTLD_LOCAL);
  if (!so) so = dlopen("libreadline.so", RTLD_NOW | RTLD_LOCAL);
  if (!so) return false;
  *(void **)&l->readline = symbol(so, "readline");
  *(void **)&l->add_history = symbol(so, "add_history");
  *(void **)&l->read_history = symbol(so, "read_history");
  *(void **)&l->append_history = symbol(so, "append_history");
  *(void **)&l->truncate_history = symbol(so, "history_truncate_file");
  *(void **)&l->stifle_history = symbol(so, "stifle_history");
  l->line_buffer = symbol(so, "rl_line_buffer");
  l->point = symbol(so, "rl_point");
  l->entry = symbol(so, "rl_completion_entry_function");
  l->append = symbol(so, "rl_completion_append_character");
  l->breaks = symbol(so, "rl_completer_word_break_characters");
  *(void **)&l->replace_line = symbol(so, "rl_replace_line");
  *(void **)&l->on_new_line = symbol(so, "rl_on_new_line");
  *(void **)&l->redisplay = symbol(so, "rl_redisplay");
  l->signal_hook = symbol(so, "rl_signal_event_hook");
  return l->readline && l->add_history && l->line_buffer && l->entry;
}

/* NULL: it is not kept.  The file is there from now on. */
static char *history_path(void) {
  const char *home = getenv("HOME");
  char *path;
  if (!home || !*home) return NULL;
  if (asprintf(&path, "%s/.tkdbg_history", home) < 0) return NULL;
  FILE *f = fopen(path, "a");
  if (f) fclose(f);
  return path;
}

static void open_terminal(console *c) {
  c->opened = true;
  if (!open_library(&c->lib)) {
    memset(&c->lib, 0, sizeof c->lib);
    return;
  }
  *c->lib.entry = next_match;
  if (c->lib.breaks) *c->lib.breaks = tkt_word_breaks;
  bool can = c->lib.replace_line && c->lib.on_new_line && c->lib.redisplay;
  if (c->lib.signal_hook && can) *c->lib.signal_hook = on_signal;
  if (c->lib.stifle_history) c->lib.stifle_history(HISTORY);
  c->history = history_path();
  if (!c->history) return;
  if (c->lib.truncate_history) c->lib.truncate_history(c->history, HISTORY);
  if (c->lib.read_history) c->lib.read_history(c->history);
}

/* Each line is written at once, because a script may end in any way. */
static void keep_line(console *c) {
  c->lib.add_history(c->line);
  if (c->history && c->lib.append_history) c->lib.append_history(1, c->history);
}

/* ---- lines ------------------------------------------------------------- */

static const char *from_terminal(console *c, const char *prompt) {
  if (!c->opened) open_terminal(c);
  if (!c->lib.readline) return NULL;
  free(c->line);
  reading = c;
  c->line = c->lib.readline(prompt);
  reading = NULL;
  if (!c->line) {
    fputc('\n', stdout);
    return NULL;
  }
  /* Ctrl-C that came too early or late for readline to see: what was typed
   * and sent off since then counts. */
  c->env->interrupted = 0;
  if (*c->line) keep_line(c);
  return c->line;
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
    line = from_terminal(c, prompt);
    if (line || c->lib.readline) return line;
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
  free(c->history);
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

static int terminal_width(void) {
  struct winsize w;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 20)
    return w.ws_col;
  return 80;
}

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
                           .width = terminal_width(),
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
