/* libedit.c - lines edited by libedit, by its own interface.
 *
 * Its imitation of readline loses Ctrl-C.  Here keys are read by a function of
 * ours, which sees signals as well; Tab is a function of ours, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "repl/editor.h"
#include "repl/matches.h"
#include "repl/signals.h"

/* Numbers of histedit.h, which are part of the library's binary interface. */
enum {
  EL_PROMPT = 0,
  EL_EDITOR = 2,
  EL_BIND = 4,
  EL_ADDFN = 9,
  EL_HIST = 10,
  EL_GETCFN = 13,
  EL_PREP_TERM = 16,
  EL_REFRESH = 20,
  H_SETSIZE = 1,
  H_ENTER = 10,
  CC_CURSOR = 5,
  CC_REFRESH = 4,
  CC_REDISPLAY = 8,
  CC_REFRESH_BEEP = 9
};

/* A key that no terminal sends: it brings the cursor to the end of a line that
 * Ctrl-C drops. */
#define DROP "\\200"
enum { DROP_KEY = 0200, ASK_FROM = 100 /* names, before they are listed */ };

typedef struct edit_line edit_line; /* EditLine */
typedef struct past past;           /* History */

typedef struct line_info {
  const char *buffer, *cursor, *end;
} line_info; /* LineInfo */

typedef struct past_event {
  int number;
  const char *text;
} past_event; /* HistEvent */

/* What is used of the library. */
#define SYMBOLS(X)                                                             \
  X(el_init, edit_line *, (const char *, FILE *, FILE *, FILE *))              \
  X(el_end, void, (edit_line *))                                               \
  X(el_set, int, (edit_line *, int, ...))                                      \
  X(el_get, int, (edit_line *, int, ...))                                      \
  X(el_gets, const char *, (edit_line *, int *))                               \
  X(el_wgetc, int, (edit_line *, wchar_t *))                                   \
  X(el_line, const line_info *, (edit_line *))                                 \
  X(el_insertstr, int, (edit_line *, const char *))                            \
  X(el_cursor, int, (edit_line *, int))                                        \
  X(el_resize, void, (edit_line *))                                            \
  X(el_source, int, (edit_line *, const char *))                               \
  X(history_init, past *, (void))                                              \
  X(history_end, void, (past *))                                               \
  X(history, int, (past *, past_event *, int, ...))

typedef struct libedit_editor {
  const tkt_asker *asker;
#define MEMBER(name, type, parameters) type(*name) parameters;
  SYMBOLS(MEMBER)
#undef MEMBER
  edit_line *el;
  past *past;
  tkt_signals signals;
  const char *prompt;
  bool dropped; /* Ctrl-C came: nothing of this line counts */
} libedit_editor;

static bool find_all(libedit_editor *e, void *library) {
  bool has_all = true;
#define FIND(name, type, parameters)                                           \
  *(void **)&e->name = dlsym(library, #name);                                  \
  has_all = has_all && e->name;
  SYMBOLS(FIND)
#undef FIND
  return has_all;
}

/* libedit's callbacks know the line only; what stands for the editor in each
 * version of it is not the same, so that ours look here. */
static __thread libedit_editor *reading;

/* ---- keys ---------------------------------------------------------------- */

/* The terminal is as it was before while a signal does what it does: ends the
 * program, stops it for a while, or nothing.  Whether it was Ctrl-C. */
static bool pass_signal(libedit_editor *e, int signal) {
  e->el_set(e->el, EL_PREP_TERM, 0);
  tkt_signals_pass(&e->signals, signal);
  e->el_set(e->el, EL_PREP_TERM, 1);
  if (signal == SIGINT) {
    e->asker->interrupted(e->asker->ud);
    return true;
  }
  if (signal == SIGWINCH) e->el_resize(e->el);
  if (signal != SIGHUP) e->el_set(e->el, EL_REFRESH);
  return false;
}

/* The next byte of the terminal; 0 at its end; -1: the line is dropped. */
static int read_byte(libedit_editor *e, char *byte) {
  for (;;) {
    int signal = tkt_signals_wait(&e->signals, STDIN_FILENO);
    if (signal && pass_signal(e, signal)) return -1;
    if (signal) continue;
    ssize_t n = read(STDIN_FILENO, byte, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return n == 1;
  }
}

/* A key; what is not a character of the locale's encoding is passed over. */
static int read_key(edit_line *el, wchar_t *key) {
  libedit_editor *e = reading;
  mbstate_t state = {0};
  char byte;
  (void)el;
  if (e->dropped) {
    errno = EINTR;
    return -1;
  }
  for (;;) {
    int n = read_byte(e, &byte);
    if (n < 0) {
      e->dropped = true;
      *key = DROP_KEY;
      return 1;
    }
    if (n == 0) return 0;
    size_t k = mbrtowc(key, &byte, 1, &state);
    if (k == (size_t)-1) state = (mbstate_t){0};
    if (k == 0 || k == 1) return 1;
  }
}

static unsigned char drop_line(edit_line *el, int key) {
  (void)key;
  reading->el_cursor(el, INT_MAX / 2);
  return CC_CURSOR;
}

/* ---- completion ---------------------------------------------------------- */

static bool may_list(libedit_editor *e, size_t n) {
  wchar_t key = L'n';
  if (n <= ASK_FROM) return true;
  printf("Display all %zu possibilities? (y or n) ", n);
  fflush(stdout);
  if (e->el_wgetc(e->el, &key) != 1) key = L'n';
  fputc('\n', stdout);
  return key == L'y' || key == L'Y' || key == L' ';
}

/* Completes what is certain, or lists what there is. */
static unsigned char extend_word(libedit_editor *e, const tkt_matches *m) {
  size_t more = tkt_matches_common(m);
  const char *name = m->names[0];
  char *rest = strndup(name + m->typed, more);
  if (!rest) return CC_REFRESH_BEEP;
  if (more) e->el_insertstr(e->el, rest);
  free(rest);
  if (m->n == 1 && *name && name[strlen(name) - 1] != '/')
    e->el_insertstr(e->el, " ");
  if (m->n == 1) return CC_REFRESH;
  if (more) return CC_REFRESH_BEEP;
  fputc('\n', stdout);
  if (may_list(e, m->n)) tkt_matches_print(m, stdout, tkt_terminal_width());
  fflush(stdout);
  return CC_REDISPLAY;
}

static unsigned char complete(edit_line *el, int key) {
  libedit_editor *e = reading;
  const line_info *l = e->el_line(el);
  char *line = strndup(l->buffer, (size_t)(l->cursor - l->buffer));
  tkt_matches m;
  (void)key;
  if (!line) return CC_REFRESH_BEEP;
  tkt_matches_find(&m, e->asker, line);
  unsigned char done = m.n ? extend_word(e, &m) : CC_REFRESH_BEEP;
  tkt_matches_free(&m);
  free(line);
  return done;
}

/* ---- opening ------------------------------------------------------------- */

static char *prompt(edit_line *el) {
  (void)el;
  return (char *)reading->prompt;
}

/* What users of readline have in their fingers, where libedit has another. */
static const char *const bindings[][2] = {
    {"^I", "tkdbg-complete"},          {DROP, "tkdbg-drop"},
    {"^R", "em-inc-search-prev"},      {"^S", "em-inc-search-next"},
    {"^W", "ed-delete-prev-word"},     {"^U", "vi-kill-line-prev"},
    {"\\e[H", "ed-move-to-beg"},       {"\\e[F", "ed-move-to-end"},
    {"\\eOH", "ed-move-to-beg"},       {"\\eOF", "ed-move-to-end"},
    {"\\e[1~", "ed-move-to-beg"},      {"\\e[4~", "ed-move-to-end"},
    {"\\e[3~", "ed-delete-next-char"}, {"\\e[1;5C", "em-next-word"},
    {"\\e[1;5D", "ed-prev-word"}};

/* Characters are those of the user's locale; where none is set, UTF-8's. */
static void set_locale(void) {
  const char *now = setlocale(LC_CTYPE, NULL);
  if (now && strcmp(now, "C")) return;
  now = setlocale(LC_CTYPE, "");
  if (!now || !strcmp(now, "C")) setlocale(LC_CTYPE, "C.UTF-8");
}

static bool set_up(libedit_editor *e) {
  past_event event;
  e->el = e->el_init("tkdbg", stdin, stdout, stderr);
  e->past = e->history_init();
  if (!e->el || !e->past) return false;
  e->history(e->past, &event, H_SETSIZE, TKT_HISTORY);
  e->el_set(e->el, EL_PROMPT, prompt);
  e->el_set(e->el, EL_EDITOR, "emacs");
  e->el_set(e->el, EL_HIST, e->history, e->past);
  e->el_set(e->el, EL_GETCFN, read_key);
  e->el_set(e->el, EL_ADDFN, "tkdbg-complete", "Complete the word", complete);
  e->el_set(e->el, EL_ADDFN, "tkdbg-drop", "Drop the line", drop_line);
  for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
    e->el_set(e->el, EL_BIND, bindings[i][0], bindings[i][1], NULL);
  e->el_source(e->el, NULL); /* ~/.editrc */
  return true;
}

static void close_libedit(void *editor) {
  libedit_editor *e = editor;
  if (e->el) e->el_end(e->el);
  if (e->past) e->history_end(e->past);
  tkt_signals_close(&e->signals);
  free(e);
}

static void *open_libedit(void *library, const tkt_asker *asker) {
  libedit_editor *e = calloc(1, sizeof *e);
  if (!e || !find_all(e, library) || !tkt_signals_open(&e->signals)) {
    free(e);
    return NULL;
  }
  e->asker = asker;
  set_locale();
  if (set_up(e)) return e;
  close_libedit(e);
  return NULL;
}

/* ---- reading ------------------------------------------------------------- */

static char *read_by_libedit(void *editor, const char *text) {
  libedit_editor *e = editor;
  const char *line;
  int n;
  e->prompt = text;
  reading = e;
  do {
    e->dropped = false;
    tkt_signals_hold(&e->signals);
    line = e->el_gets(e->el, &n);
    tkt_signals_release(&e->signals);
    if (e->dropped) fputs("^C\n", stdout);
  } while (e->dropped);
  reading = NULL;
  return line && n > 0 ? strndup(line, strcspn(line, "\r\n")) : NULL;
}

static void remember_for_libedit(void *editor, const char *line) {
  const libedit_editor *e = editor;
  past_event event;
  e->history(e->past, &event, H_ENTER, line);
}

const tkt_editor_kind tkt_libedit = {.name = "libedit",
                                     .open = open_libedit,
                                     .read = read_by_libedit,
                                     .remember = remember_for_libedit,
                                     .close = close_libedit,
                                     .function = "el_gets"};
