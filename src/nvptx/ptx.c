/* ptx.c - from the text of an LLVM module to PTX, by the plug-in.
 *
 * LLVM runs in a child process: what it cannot compile may end that, and what
 * it allocates goes with it.  The child's answer is a letter, 'p' or 'e', and
 * PTX or an error.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/beside.h"
#include "base/child.h"
#include "nvptx/cache.h"
#include "nvptx/llvm.h"
#include "nvptx/nvptx.h"
#include "nvptx/toolkit.h"
#include "tkdbg/tkdbg.h"

/* ---- the plug-in -------------------------------------------------------- */

static const char plugin_name[] = "libtkdbg-nvptx.so";

/* Beside this code, or where the system looks. */
static void *open_plugin(void) {
  char path[TKV_PATH];
  void *lib = NULL;
  if (tk_find_beside(plugin_name, path, sizeof path))
    lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return lib ? lib : dlopen(plugin_name, RTLD_NOW | RTLD_LOCAL);
}

/* Opening it costs some 12 ms, once. */
bool tkv_plugin_is_there(const char **why) {
  void *lib = open_plugin();
  *why = lib ? ""
             : "it needs the plug-in libtkdbg-nvptx.so, which is built "
               "where LLVM 19 is found: install llvm-19-dev ('make setup' "
               "offers it), then run 'make'";
  return lib;
}

/* ---- the child ---------------------------------------------------------- */

static void answer(int fd, char kind, const char *text) {
  tk_write_all(fd, &kind, 1);
  tk_write_all(fd, text, strlen(text));
}

static void compile_in_child(int fd, void *ud) {
  const tkv_llvm_request *r = ud;
  char *error = NULL, *ptx = NULL;
  void *lib = open_plugin(), *symbol = lib ? dlsym(lib, TKV_LLVM_SYMBOL) : NULL;
  tkv_llvm_compile_fn *compile;
  memcpy(&compile, &symbol, sizeof compile);
  if (!compile) {
    answer(fd, 'm', dlerror());
    return;
  }
  ptx = compile(r, &error);
  if (ptx)
    answer(fd, 'p', ptx);
  else
    answer(fd, 'e', error ? error : "no memory");
}

/* ---- the parent --------------------------------------------------------- */

static void check_answer(tk_env *e, tk_buf *out, int status) {
  const char *s = tk_buf_str(out);
  if (WIFEXITED(status) && s[0] == 'p') return;
  if (s[0] == 'm')
    tkv_report_failure(
        e, "PTX needs the plug-in libtkdbg-nvptx.so: %s", s + 1,
        "it is built where LLVM 19 is found: install llvm-19-dev "
        "('make setup' offers it), then run 'make'");
  if (s[0] == 'e') tkv_report_failure(e, "%s", s + 1, NULL);
  tkv_report_failure(e, "%s ended while it compiled the kernel", "LLVM",
                     "its message stands above; '--emit llir' prints the code "
                     "that it was given");
}

typedef struct compiling {
  tk_buf *out, llir, answer;
  const tk_program *p;
  const char *arch;
  size_t *shared;
} compiling;

static void check_shared(tk_env *e, const compiling *c) {
  size_t most = tkv_most_shared(c->arch);
  if (*c->shared <= most) return;
  tk_diag *d = tk_diag_add(
      e, TK_D_UNSUPPORTED, c->p->kernel->src, c->p->kernel->span,
      "'%s' exchanges %zu KiB through shared memory, of which a program has "
      "%zu KiB on %s",
      c->p->kernel->name, (*c->shared + 1023) >> 10, most >> 10, c->arch);
  tk_diag_help(e, d, "use smaller blocks");
  tk_throw(e, TK_FINDING);
}

/* A file is known by its name and by when it was written. */
static void add_file_to_key(tkv_key *k, const char *path) {
  struct stat st;
  if (stat(path, &st)) return;
  tkv_add_to_key(k, path, strlen(path));
  tkv_add_to_key(k, &st.st_mtim, sizeof st.st_mtim);
}

/* The code says the form, the options and the number of warps. */
static tkv_key key_of(const tkv_llvm_request *r) {
  char plugin[TKV_PATH];
  tkv_key k = tkv_new_key();
  tkv_add_to_key(&k, tk_version(), strlen(tk_version()));
  tkv_add_to_key(&k, r->llir, r->size);
  tkv_add_to_key(&k, r->arch, strlen(r->arch));
  if (tk_find_beside(plugin_name, plugin, sizeof plugin))
    add_file_to_key(&k, plugin);
  if (r->libdevice) add_file_to_key(&k, r->libdevice);
  return k;
}

static void compile_program(tk_env *e, void *ud) {
  compiling *c = ud;
  char path[TKV_PATH];
  tkv_print_llir(&c->llir, c->p, c->arch, c->shared);
  check_shared(e, c);
  tkv_llvm_request r = {.llir = tk_buf_str(&c->llir),
                        .size = c->llir.n,
                        .arch = c->arch,
                        .libdevice = tkv_find_libdevice(path)};
  tkv_key key = key_of(&r);
  if (tkv_cache_read(c->out, &key)) return;
  int status = tk_run_child(e, compile_in_child, &r, &c->answer);
  check_answer(e, &c->answer, status);
  tk_buf_puts(c->out, tk_buf_str(&c->answer) + 1);
  tkv_cache_write(e, &key, c->answer.s + 1, c->answer.n - 1);
}

void tkv_print_ptx(tk_buf *out, const tk_program *p, const char *arch,
                   size_t *shared) {
  compiling c = {.out = out, .p = p, .arch = arch, .shared = shared};
  tk_buf_init(&c.llir, out->env);
  tk_buf_init(&c.answer, out->env);
  tk_status st = tk_protect(out->env, compile_program, &c);
  tk_buf_free(&c.llir);
  tk_buf_free(&c.answer);
  if (st != TK_OK) tk_throw(out->env, st);
}
