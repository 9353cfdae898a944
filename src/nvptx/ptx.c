/* ptx.c - from the text of an LLVM module to PTX, by the plug-in.
 *
 * LLVM runs in a child process: what it cannot compile may end that, and what
 * it allocates goes with it.  The child's answer is a letter, 'p' or 'e', and
 * PTX or an error.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvptx/llvm.h"
#include "nvptx/nvptx.h"

/* ---- finding files
 * ------------------------------------------------------------ */

/* The folder of the file that this code is in. */
static bool own_folder(char *out, size_t size) {
  Dl_info info;
  void (*self)(tk_buf *, const tk_program *, const char *, size_t *) =
      tkv_print_ptx;
  void *address;
  memcpy(&address, &self, sizeof address);
  if (!dladdr(address, &info) || !info.dli_fname) return false;
  /* A program is known by the name that it was called by. */
  bool program = !strchr(info.dli_fname, '/');
  char *file = realpath(program ? "/proc/self/exe" : info.dli_fname, NULL),
       *end;
  if (!file || !(end = strrchr(file, '/'))) {
    free(file);
    return false;
  }
  *end = 0;
  bool fits = (size_t)snprintf(out, size, "%s", file) < size;
  free(file);
  return fits;
}

/* Beside this code, in the library folder beside it, or where the system
 * looks. */
static void *open_plugin(void) {
  static const char *const places[] = {"%s/libtkdbg-nvptx.so",
                                       "%s/../lib/libtkdbg-nvptx.so"};
  char folder[2048], path[2304];
  void *lib = NULL;
  for (size_t i = 0; i < TK_COUNT(places) && !lib; i++) {
    if (!own_folder(folder, sizeof folder)) break;
    snprintf(path, sizeof path, i ? places[1] : places[0], folder);
    lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return lib ? lib : dlopen("libtkdbg-nvptx.so", RTLD_NOW | RTLD_LOCAL);
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

static const char *find_libdevice(char *out, size_t size) {
  static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};
  static const char file[] = "nvvm/libdevice/libdevice.10.bc";
  const char *given = getenv("TKDBG_LIBDEVICE");
  if (given) return given;
  for (size_t i = 0; i < TK_COUNT(homes); i++) {
    const char *home = getenv(homes[i]);
    if (home && (size_t)snprintf(out, size, "%s/%s", home, file) < size &&
        !access(out, R_OK))
      return out;
  }
  snprintf(out, size, "/usr/local/cuda/%s", file);
  if (!access(out, R_OK)) return out;
  snprintf(out, size, "/usr/lib/cuda/%s", file);
  return access(out, R_OK) ? NULL : out;
}

/* ---- the child
 * -------------------------------------------------------------------- */

static void write_all(int fd, const char *s, size_t n) {
  while (n) {
    ssize_t k = write(fd, s, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return;
    s += k;
    n -= (size_t)k;
  }
}

static void answer(int fd, char kind, const char *text) {
  write_all(fd, &kind, 1);
  write_all(fd, text, strlen(text));
}

static void TK_NORETURN compile_in_child(int fd, const tkv_llvm_request *r) {
  char *error = NULL, *ptx = NULL;
  void *lib = open_plugin(), *symbol = lib ? dlsym(lib, TKV_LLVM_SYMBOL) : NULL;
  tkv_llvm_compile_fn *compile;
  memcpy(&compile, &symbol, sizeof compile);
  if (!compile) {
    answer(fd, 'm', dlerror());
    _exit(0);
  }
  ptx = compile(r, &error);
  if (ptx)
    answer(fd, 'p', ptx);
  else
    answer(fd, 'e', error ? error : "no memory");
  _exit(0);
}

/* ---- the parent
 * ------------------------------------------------------------------- */

/* Reads what the child says until it ends; throws when interrupted. */
static void read_answer(tk_env *e, int fd, tk_buf *out) {
  char piece[65536];
  for (;;) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = poll(&p, 1, 100);
    tk_check_interrupt(e);
    if (ready <= 0) continue;
    ssize_t n = read(fd, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    tk_buf_add(out, piece, (size_t)n);
  }
}

typedef struct answering {
  int fd;
  tk_buf *out;
} answering;

static void read_until_end(tk_env *e, void *ud) {
  answering *a = ud;
  read_answer(e, a->fd, a->out);
}

static void TK_NORETURN report_failure(tk_env *e, const char *fmt,
                                       const char *why, const char *help) {
  tk_diag *d =
      tk_diag_add(e, TK_D_UNSUPPORTED, NULL, (tk_span){0, 0}, fmt, why);
  if (help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, TK_FINDING);
}

static void check_answer(tk_env *e, tk_buf *out, int status) {
  const char *s = tk_buf_str(out);
  if (WIFEXITED(status) && s[0] == 'p') return;
  if (s[0] == 'm')
    report_failure(e, "PTX needs the plug-in libtkdbg-nvptx.so: %s", s + 1,
                   "it is built where LLVM 19 is found: install llvm-19-dev "
                   "('make setup' offers it), then run 'make'");
  if (s[0] == 'e') report_failure(e, "%s", s + 1, NULL);
  report_failure(e, "%s ended while it compiled the kernel", "LLVM",
                 "its message stands above; '--emit llir' prints the code "
                 "that it was given");
}

static void compile_text(tk_env *e, tk_buf *out, const tkv_llvm_request *r) {
  int ends[2], status = 0;
  fflush(NULL);
  if (pipe(ends)) report_failure(e, "no pipe: %s", strerror(errno), NULL);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    compile_in_child(ends[1], r);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    report_failure(e, "no process for LLVM: %s", strerror(errno), NULL);
  }
  answering a = {ends[0], out};
  tk_status st = tk_protect(e, read_until_end, &a);
  close(ends[0]);
  if (st != TK_OK) kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (st != TK_OK) tk_throw(e, st);
  check_answer(e, out, status);
}

typedef struct compiling {
  tk_buf *out, llir, answer;
  const tk_program *p;
  const char *arch;
  size_t *shared;
} compiling;

static void check_shared(tk_env *e, const compiling *c) {
  static const struct {
    const char *name;
    size_t shared;
  } archs[] = {
#define ARCH(name, shared) {name, (size_t)(shared) << 10},
#include "nvptx/arch.def"
#undef ARCH
  };
  for (size_t i = 0; i < TK_COUNT(archs); i++) {
    if (strcmp(archs[i].name, c->arch) || *c->shared <= archs[i].shared)
      continue;
    tk_diag *d = tk_diag_add(
        e, TK_D_UNSUPPORTED, c->p->kernel->src, c->p->kernel->span,
        "'%s' exchanges %zu KiB through shared memory, of which a program has "
        "%zu KiB on %s",
        c->p->kernel->name, (*c->shared + 1023) >> 10, archs[i].shared >> 10,
        c->arch);
    tk_diag_help(e, d, "use smaller blocks");
    tk_throw(e, TK_FINDING);
  }
}

static void compile_program(tk_env *e, void *ud) {
  compiling *c = ud;
  char path[2304];
  tkv_print_llir(&c->llir, c->p, c->shared);
  check_shared(e, c);
  tkv_llvm_request r = {.llir = tk_buf_str(&c->llir),
                        .size = c->llir.n,
                        .arch = c->arch,
                        .libdevice = find_libdevice(path, sizeof path)};
  compile_text(e, &c->answer, &r);
  tk_buf_puts(c->out, tk_buf_str(&c->answer) + 1);
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
