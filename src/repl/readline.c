/* readline.c - lines edited by GNU readline. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/complete.h"
#include "repl/editor.h"

/* What is used of the library. */
typedef struct readline_editor {
  const tkt_asker *asker;
  char *(*readline)(const char *prompt);
  void (*add_history)(const char *line);
  void (*stifle_history)(int n);
  char **line_buffer;
  int *point, *append;
  const char **breaks;
  char *(**entry)(const char *text, int state);
  void (*replace_line)(const char *text, int clear_undo);
  int (*on_new_line)(void);
  void (*redisplay)(void);
  int (**signal_hook)(void);
} readline_editor;

/* readline's callbacks have no argument of their own. */
static __thread readline_editor *reading;

/* The line up to the cursor counts; after a folder its files follow. */
static char *next_match(const char *text, int state) {
  static __thread size_t i;
  const readline_editor *l = reading;
  char *line = strdup(*l->line_buffer);
  (void)text;
  if (!line) return NULL;
  if (!state) i = 0;
  if (l->point && (size_t)*l->point < strlen(line)) line[*l->point] = '\0';
  const char *name = l->asker->match(l->asker->ud, line, i++);
  bool folder = name && *name && name[strlen(name) - 1] == '/';
  free(line);
  if (l->append && name) *l->append = folder ? '\0' : ' ';
  return name ? strdup(name) : NULL;
}

/* Ctrl-C at the prompt drops the line; readline goes on with a new one.  A
 * signal that is not an interruption (the window's size) changes nothing. */
static int on_signal(void) {
  const readline_editor *l = reading;
  if (!l->asker->interrupted(l->asker->ud)) return 0;
  fputc('\n', stdout);
  l->replace_line("", 1);
  l->on_new_line();
  l->redisplay();
  return 0;
}

static void *symbol(void *so, const char *name) {
  return dlsym(so, name);
}

static bool find_symbols(readline_editor *l, void *so) {
  *(void **)&l->readline = symbol(so, "readline");
  *(void **)&l->add_history = symbol(so, "add_history");
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

static void *open_readline(void *library, const tkt_asker *asker) {
  readline_editor *l = calloc(1, sizeof *l);
  if (!l || !find_symbols(l, library)) {
    free(l);
    return NULL;
  }
  l->asker = asker;
  if (l->stifle_history) l->stifle_history(TKT_HISTORY);
  return l;
}

/* What is set for a line is put back after it: a Python that runs in this
 * process may use the same library. */
static char *read_by_readline(void *editor, const char *prompt) {
  readline_editor *l = editor;
  bool can = l->replace_line && l->on_new_line && l->redisplay;
  char *(*entry)(const char *, int) = *l->entry;
  const char *breaks = l->breaks ? *l->breaks : NULL;
  int (*hook)(void) = l->signal_hook ? *l->signal_hook : NULL;
  *l->entry = next_match;
  if (l->breaks) *l->breaks = tkt_word_breaks;
  if (l->signal_hook && can) *l->signal_hook = on_signal;
  reading = l;
  char *line = l->readline(prompt);
  reading = NULL;
  *l->entry = entry;
  if (l->breaks) *l->breaks = breaks;
  if (l->signal_hook) *l->signal_hook = hook;
  return line;
}

static void remember_for_readline(void *editor, const char *line) {
  const readline_editor *l = editor;
  l->add_history(line);
}

const tkt_editor_kind tkt_readline = {.name = "readline",
                                      .open = open_readline,
                                      .read = read_by_readline,
                                      .remember = remember_for_readline,
                                      .close = free,
                                      .function = "readline",
                                      .version = "rl_library_version"};
