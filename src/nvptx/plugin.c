/* plugin.c - what the child writes is what LLVM says on standard error, then a
 * zero, a letter that says how it went, and a text. */
#include "nvptx/plugin.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/child.h"
#include "nvptx/nvptx.h"
#include "nvptx/toolkit.h"

#define PLUGIN "libtkdbg-nvptx.so"
#define HOW_TO_GET_IT                                                          \
  "is built where LLVM 19 is found: install llvm-19-dev ('make setup' offers " \
  "it), then run 'make'"

/* How the child's work went. */
enum {
  COMPILED = 'p',
  REFUSED = 'e',  /* LLVM says why */
  UNOPENED = 'm', /* the loader says why */
  FOREIGN = 'f',  /* it is not tkdbg's, or older than what it lacks */
  OTHER = 'v'     /* it has the interface of that number */
};

bool tkv_find_plugin(char *out, size_t size) {
  return tk_find_beside(PLUGIN, out, size);
}

/* Beside this code, or where the system looks. */
static void *open_plugin(void) {
  char path[TKV_PATH];
  return dlopen(tkv_find_plugin(path, sizeof path) ? path : PLUGIN,
                RTLD_NOW | RTLD_LOCAL);
}

/* One that lies beside this code is not opened here, since it may be damaged;
 * whoever runs it is told. */
bool tkv_plugin_is_there(const char **why) {
  char path[TKV_PATH];
  bool there = tkv_find_plugin(path, sizeof path) || open_plugin();
  *why = there ? "" : "it needs the plug-in " PLUGIN ", which " HOW_TO_GET_IT;
  return there;
}

/* ---- the child ---------------------------------------------------------- */

static void answer(int fd, char kind, const char *text) {
  char head[] = {0, kind};
  tk_write_all(fd, head, sizeof head);
  tk_write_all(fd, text, strlen(text));
}

static void answer_compiled(int fd, tkv_llvm_compile_fn *compile,
                            const tkv_llvm_request *r) {
  char *error = NULL, *ptx = compile(r, &error);
  if (ptx)
    answer(fd, COMPILED, ptx);
  else
    answer(fd, REFUSED, error ? error : "out of memory");
}

static void compile_in_child(int fd, void *ud) {
  struct rlimit none = {0, 0};
  char number[32];
  tkv_llvm_compile_fn *compile;
  setrlimit(RLIMIT_CORE, &none);
  dup2(fd, STDERR_FILENO);
  void *lib = open_plugin();
  if (!lib) {
    answer(fd, UNOPENED, dlerror());
    return;
  }
  const int *interface = dlsym(lib, TKV_LLVM_INTERFACE_SYMBOL);
  void *symbol = dlsym(lib, TKV_LLVM_SYMBOL);
  memcpy(&compile, &symbol, sizeof compile);
  snprintf(number, sizeof number, "%d", interface ? *interface : 0);
  if (!interface || !compile)
    answer(fd, FOREIGN,
           interface ? TKV_LLVM_SYMBOL : TKV_LLVM_INTERFACE_SYMBOL);
  else if (*interface != TKV_LLVM_INTERFACE)
    answer(fd, OTHER, number);
  else
    answer_compiled(fd, compile, ud);
}

/* ---- the parent --------------------------------------------------------- */

static bool has_any(const char *text, const char *const *words) {
  for (; *words; words++)
    if (strstr(text, *words)) return true;
  return false;
}

/* Whether the message of the loader or of LLVM says that memory ran out. */
static bool lacked_memory(const char *said) {
  static const char *const words[] = {"out of memory",         "bad_alloc",
                                      "failed to map segment", "allocate",
                                      "Out of memory",         NULL};
  return has_any(said, words);
}

/* The limit on this process's memory in MiB; 0: there is none. */
static unsigned long memory_limit(void) {
  static const int kinds[] = {RLIMIT_AS, RLIMIT_DATA};
  unsigned long least = 0;
  for (size_t i = 0; i < TK_COUNT(kinds); i++) {
    struct rlimit r;
    if (getrlimit(kinds[i], &r) || r.rlim_cur == RLIM_INFINITY) continue;
    unsigned long n = (unsigned long)(r.rlim_cur >> 20) + !(r.rlim_cur >> 20);
    if (!least || n < least) least = n;
  }
  return least;
}

/* What the child said before its answer, and how it ended. */
typedef struct child_end {
  const char *said;
  int status;
} child_end;

/* `why` is the loader's message, or empty. */
static void TK_NORETURN report_memory(tk_env *e, const char *why) {
  unsigned long limit = memory_limit();
  tk_diag *d =
      tk_diag_add(e, TK_D_MEMORY, NULL, (tk_span){0, 0},
                  "LLVM ran out of memory while it compiled the kernel%s%s",
                  *why ? ": " : "", why);
  if (limit)
    tk_diag_help(e, d,
                 "memory is limited to %lu MiB here: raise the limit ('ulimit "
                 "-v'), or use smaller blocks",
                 limit);
  else
    tk_diag_help(e, d, "end what else uses memory, or use smaller blocks");
  tk_throw(e, TK_INTERNAL);
}

/* The child has ended without an answer. */
static void TK_NORETURN report_death(tk_env *e, const child_end *c) {
  int n = (int)strcspn(c->said, "\n");
  bool by_signal = WIFSIGNALED(c->status);
  int number = by_signal ? WTERMSIG(c->status) : WEXITSTATUS(c->status);
  if (lacked_memory(c->said) || (by_signal && number == SIGKILL))
    report_memory(e, "");
  if (by_signal && memory_limit() && (number == SIGSEGV || number == SIGBUS))
    report_memory(e, "");
  tk_diag *d =
      tk_diag_add(e, TK_D_UNSUPPORTED, NULL, (tk_span){0, 0},
                  "LLVM ended while it compiled the kernel, %s %d%s%.*s",
                  by_signal ? "by signal" : "with status", number,
                  n ? ": " : "", n < 600 ? n : 600, c->said);
  tk_diag_help(e, d,
               "'--emit llir' prints the code that it was given; if it ends so "
               "with every kernel, the plug-in " PLUGIN
               " is damaged: remove it and run 'make'");
  tk_throw(e, TK_FINDING);
}

static void TK_NORETURN report_plugin(tk_env *e, char kind, const char *text) {
  char path[TKV_PATH];
  tk_diag *d;
  if (!tkv_find_plugin(path, sizeof path)) snprintf(path, sizeof path, PLUGIN);
  if (kind == OTHER)
    d = tk_diag_add(e, TK_D_UNSUPPORTED, NULL, (tk_span){0, 0},
                    "the plug-in '%s' is of another version of tkdbg: its "
                    "interface has number %s, and %d is expected",
                    path, text, TKV_LLVM_INTERFACE);
  else
    d = tk_diag_add(e, TK_D_UNSUPPORTED, NULL, (tk_span){0, 0},
                    "the file '%s' is not a plug-in of this version of "
                    "tkdbg: it lacks the symbol '%s'",
                    path, text);
  tk_diag_help(e, d,
               "build it again: run 'make', or 'make install' if tkdbg is "
               "installed");
  tk_throw(e, TK_FINDING);
}

static void TK_NORETURN report_unopened(tk_env *e, const char *why) {
  char path[TKV_PATH];
  if (!tkv_find_plugin(path, sizeof path))
    tkv_report_failure(e, "PTX needs the plug-in " PLUGIN ": %s", why,
                       "it " HOW_TO_GET_IT);
  if (lacked_memory(why)) report_memory(e, why);
  tkv_report_failure(e, "the plug-in " PLUGIN " cannot be opened: %s", why,
                     "if it is damaged, remove it and run 'make'; if a library "
                     "or a symbol of LLVM's is missing, install LLVM 19 "
                     "(Debian: libllvm19)");
}

static void check_answer(tk_env *e, const char *text, const child_end *c) {
  switch (text[0]) {
  case COMPILED: return;
  case REFUSED:
    if (lacked_memory(text + 1)) report_memory(e, "");
    tkv_report_failure(e, "%s", text + 1, NULL);
  case UNOPENED: report_unopened(e, text + 1);
  case FOREIGN:
  case OTHER: report_plugin(e, text[0], text + 1);
  default: report_death(e, c);
  }
}

typedef struct running {
  tk_buf *out, said;
  const tkv_llvm_request *r;
} running;

static void run_plugin(tk_env *e, void *ud) {
  running *w = ud;
  int status = tk_run_child(e, compile_in_child, (void *)w->r, &w->said);
  const char *said = tk_buf_str(&w->said);
  const char *zero = memchr(said, 0, w->said.n);
  check_answer(e, zero ? zero + 1 : "", &(child_end){said, status});
  fputs(said, stderr); /* a warning, perhaps */
  tk_buf_puts(w->out, zero + 2);
}

void tkv_run_plugin(tk_buf *out, const tkv_llvm_request *r) {
  running w = {.out = out, .r = r};
  tk_buf_init(&w.said, out->env);
  tk_status st = tk_protect(out->env, run_plugin, &w);
  tk_buf_free(&w.said);
  if (st != TK_OK) tk_throw(out->env, st);
}
