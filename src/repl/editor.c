/* editor.c - which library edits lines, and the file of the history. */
#include "repl/editor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/outfile.h"
#include "tkdbg/editing.h"

struct tkt_editor {
  const tkt_editor_kind *kind;
  void *library, *opened;
  char *history; /* the file; NULL: there is none */
};

typedef struct candidate {
  const tkt_editor_kind *kind;
  const char *file;
} candidate;

static const candidate candidates[] = {
#define EDITOR(kind, file) {&tkt_##kind, file},
#include "repl/editor.def"
};

/* The first library there is, or the first of the kind that the user names. */
static const tkt_editor_kind *find_library(void **library) {
  const char *wanted = getenv("TKDBG_LINE_EDITOR");
  for (size_t i = 0; i < TK_COUNT(candidates); i++) {
    const candidate *c = &candidates[i];
    if (wanted && *wanted && strcmp(wanted, c->kind->name)) continue;
    *library = dlopen(c->file, RTLD_NOW | RTLD_LOCAL);
    if (*library) return c->kind;
  }
  return NULL;
}

/* The library stays open, so that what it says of itself holds. */
bool tk_console_editor(tk_line_editor *out) {
  void *library;
  Dl_info info;
  const tkt_editor_kind *k = find_library(&library);
  if (!k) return false;
  void *function = dlsym(library, k->function);
  const char *const *version = k->version ? dlsym(library, k->version) : NULL;
  bool is_known = function && dladdr(function, &info);
  *out = (tk_line_editor){.name = k->name,
                          .version = version ? *version : NULL,
                          .file = is_known ? info.dli_fname : NULL};
  return true;
}

/* ---- history ------------------------------------------------------------- */

/* NULL: it is not kept. */
static char *history_path(void) {
  const char *home = getenv("HOME");
  char *path;
  if (!home || !*home) return NULL;
  return asprintf(&path, "%s/.tkdbg_history", home) < 0 ? NULL : path;
}

/* What begins with the last so many lines of a text. */
static const char *last_lines(const char *text, size_t n, size_t count) {
  const char *at = text + n;
  if (at > text && at[-1] == '\n') at--;
  for (; at > text; at--)
    if (at[-1] == '\n' && !--count) break;
  return at;
}

/* All that a file holds; NULL: it cannot be read, or there is no memory. */
static char *read_history_text(const char *path, size_t *n) {
  char *text = NULL;
  FILE *f = fopen(path, "r");
  if (!f) return NULL;
  ssize_t got = getdelim(&text, &(size_t){0}, '\0', f);
  fclose(f);
  *n = got > 0 ? (size_t)got : 0;
  return text;
}

/* The lines of earlier sessions.  The file keeps the last of them. */
static void read_history(tkt_editor *e) {
  size_t n;
  char *text = read_history_text(e->history, &n);
  if (!text) return;
  const char *kept = last_lines(text, n, TKT_HISTORY);
  if (kept > text) tk_outfile_save(e->history, kept, n - (size_t)(kept - text));
  for (char *line = text + (kept - text), *next; *line; line = next) {
    next = line + strcspn(line, "\n");
    if (*next) *next++ = '\0';
    if (*line) e->kind->remember(e->opened, line);
  }
  free(text);
}

/* Each line is written at once, because a script may end in any way. */
static void remember(tkt_editor *e, const char *line) {
  FILE *f = e->history ? fopen(e->history, "a") : NULL;
  e->kind->remember(e->opened, line);
  if (!f) return;
  fprintf(f, "%s\n", line);
  fclose(f);
}

/* ---- editors ------------------------------------------------------------- */

tkt_editor *tkt_editor_open(const tkt_asker *asker) {
  tkt_editor *e = calloc(1, sizeof *e);
  if (e) e->kind = find_library(&e->library);
  if (e && e->kind) e->opened = e->kind->open(e->library, asker);
  if (e && e->opened) {
    e->history = history_path();
    if (e->history) read_history(e);
    return e;
  }
  free(e);
  return NULL;
}

void tkt_editor_close(tkt_editor *e) {
  if (!e) return;
  e->kind->close(e->opened);
  free(e->history);
  free(e);
}

char *tkt_editor_read(tkt_editor *e, const char *prompt) {
  char *line = e->kind->read(e->opened, prompt);
  if (line && *line) remember(e, line);
  return line;
}
