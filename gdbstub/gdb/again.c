/* again.c - the process begins again, with its client.
 *
 * Linux keeps what a process was begun with (/proc/self), whatever a script
 * has done to its variables and arguments since.  The connection's file
 * descriptors are named in a variable of the
 * environment. */
#include "gdbstub/gdb/again.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE "TKDBG_GDB_CLIENT"
#define HANDED "%d,%d,%d,%d,%d,%" PRIx64

/* ---- how it was begun --------------------------------------------------- */

static void read_texts(tk_buf *b, const char *path) {
  char bytes[4096];
  ssize_t n;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0)
    tk_buf_add(b, bytes, (size_t)n);
  if (fd >= 0) close(fd);
}

void gs_again_init(gs_again *a, tk_env *e, const char *folder,
                   int replaceable) {
  tk_buf_init(&a->words, e);
  tk_buf_init(&a->variables, e);
  read_texts(&a->words, "/proc/self/cmdline");
  read_texts(&a->variables, "/proc/self/environ");
  a->folder = folder;
  a->replaceable = replaceable;
}

void gs_again_free(gs_again *a) {
  tk_buf_free(&a->words);
  tk_buf_free(&a->variables);
}

/* ---- what is handed on -------------------------------------------------- */

static void keep_open(int fd, bool on) {
  if (fd >= 0) fcntl(fd, F_SETFD, on ? 0 : FD_CLOEXEC);
}

bool gs_again_take(gs_handed *h) {
  const char *text = getenv(VARIABLE);
  bool ok = text && sscanf(text, HANDED, &h->in, &h->out, &h->listener,
                           &h->acks, &h->swbreak, &h->symbols) == 6;
  unsetenv(VARIABLE); /* not inherited by what a script starts */
  if (!ok) return false;
  keep_open(h->in, false);
  keep_open(h->out, false);
  keep_open(h->listener, false);
  return true;
}

/* ---- beginning again ---------------------------------------------------- */

static size_t count_texts(const tk_buf *b) {
  size_t n = 0;
  for (size_t i = 0; i < b->n; i++) n += !b->s[i];
  return n;
}

/* Adds the first n texts; returns the end of the list. */
static char **add_texts(char **to, const tk_buf *b, size_t n) {
  char *s = b->s;
  for (; n; n--, s += strlen(s) + 1) *to++ = s;
  return to;
}

/* The command is looked for in the PATH that the process began with. */
static void become(const gs_again *a, const gs_handed *h, char **words,
                   char **variables) {
  if (chdir(a->folder)) return;
  fflush(NULL);
  keep_open(h->in, true);
  keep_open(h->out, true);
  keep_open(h->listener, true);
  environ = variables;
  execvp(words[0], words);
}

bool gs_again_begin(gs_again *a, const gs_handed *h, const tk_buf *words,
                    bool in_a_copy, tk_arena *scratch) {
  size_t own = count_texts(&a->words), more = count_texts(words);
  size_t all = count_texts(&a->variables);
  if (more && a->replaceable < 0) return false;
  if (more) own -= (size_t)a->replaceable;
  char **argv = TK_NEWN(scratch, char *, own + more + 1);
  char **vars = TK_NEWN(scratch, char *, all + 2);
  add_texts(add_texts(argv, &a->words, own), words, more);
  *add_texts(vars, &a->variables, all) =
      tk_arena_printf(scratch, VARIABLE "=" HANDED, h->in, h->out, h->listener,
                      h->acks, h->swbreak, h->symbols);
  a->copy = in_a_copy ? fork() : 0;
  if (a->copy == 0) become(a, h, argv, vars);
  if (a->copy == 0 && in_a_copy) _exit(127);
  return a->copy > 0;
}

void gs_again_wait(const gs_again *a) {
  while (a->copy > 0 && waitpid(a->copy, NULL, 0) < 0 && errno == EINTR)
    continue;
}
