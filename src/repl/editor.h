/* editor.h - lines typed on a terminal: editing, completion, history.
 *
 * A library does the editing (editor.def); it is opened when the first line is
 * read, so that a program that only uses tkdbg does not load it.  The history
 * is kept in a file here, the same for each library: plain text, a line each.
 */
#ifndef TK_REPL_EDITOR_H
#define TK_REPL_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

enum { TKT_HISTORY = 1000 }; /* lines that are kept */

/* Whoever asks for lines. */
typedef struct tkt_asker {
  void *ud;
  /* The i-th way to complete the last word of a line, or NULL. */
  const char *(*match)(void *ud, const char *line, size_t i);
  /* Whether Ctrl-C came since it was last asked. */
  bool (*interrupted)(void *ud);
} tkt_asker;

/* One library, opened. */
typedef struct tkt_editor_kind {
  const char *name;
  /* NULL: the library lacks something, or memory does. */
  void *(*open)(void *library, const tkt_asker *asker);
  /* A line, for the caller to free; NULL at the end of the input.  Ctrl-C drops
   * what was typed, and the prompt comes again. */
  char *(*read)(void *editor, const char *prompt);
  void (*remember)(void *editor, const char *line);
  void (*close)(void *editor);
  /* A function of the library, by which its file is known, and a string that
   * says its version, if it has one. */
  const char *function, *version;
} tkt_editor_kind;

extern const tkt_editor_kind tkt_readline, tkt_libedit;

typedef struct tkt_editor tkt_editor;

/* NULL: there is no such library here, or TKDBG_LINE_EDITOR wants none. */
tkt_editor *tkt_editor_open(const tkt_asker *asker);
void tkt_editor_close(tkt_editor *e);
/* As above; what was typed is in the history. */
char *tkt_editor_read(tkt_editor *e, const char *prompt);

#endif
