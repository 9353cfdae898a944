/* gpu.c - a launch on a GPU, from the side that asks for it.
 *
 * The program tkdbg-cuda carries it out.  It is ended when it takes longer
 * than $TKDBG_GPU_TIMEOUT seconds (60), or when the run is
 * interrupted. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/child.h"
#include "cuda/request.h"
#include "device/device.h"
#include "nvptx/nvptx.h"

static const char program_name[] = "tkdbg-cuda";

bool tkg_has_driver(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver) dlclose(driver);
  return driver;
}

bool tkg_gpu_is_there(const char **why) {
  char path[PATH_MAX];
  if (!tkv_plugin_is_there(why)) return false;
  *why = "its program tkdbg-cuda is not installed beside the library: run "
         "'make install' again";
  if (!tk_find_beside(program_name, path, sizeof path)) return false;
  bool there = tkg_has_driver();
  *why = there ? ""
               : "no driver of an NVIDIA GPU (libcuda.so.1) is installed; the "
                 "engine 'ptx' runs the same code without one";
  return there;
}

/* ---- the request -------------------------------------------------------- */

typedef struct asking {
  const tkp_launch *launch;
  const char *ptx;
  int fd; /* the file, or -1 */
  /* the status of the last process, as waitpid gives it */
  int status;
  tk_buf said;           /* what it prints */
  tkcu_request *request; /* mapped, or NULL */
  tk_arena words;        /* of a failure on this side */
} asking;

static uint64_t aligned(uint64_t x) {
  return (x + 63) & ~(uint64_t)63;
}

/* Where the parts of the request lie in its file. */
static tkcu_request layout_of(const asking *a) {
  const tkp_launch *l = a->launch;
  tkcu_request r = {.nparams = l->nparams,
                    .nranges = l->nranges,
                    .shared = (uint32_t)l->dynamic_shared};
  r.code = aligned(sizeof r);
  r.params = aligned(r.code + strlen(a->ptx) + 1);
  r.ranges = aligned(r.params + 8 * r.nparams);
  r.entry = aligned(r.ranges + sizeof(tkcu_range) * r.nranges);
  r.bytes = aligned(r.entry + strlen(l->entry) + 1);
  for (size_t i = 0; i < l->nranges; i++) r.bytes += aligned(l->ranges[i].size);
  memcpy(r.grid, l->grid, sizeof r.grid);
  memcpy(r.block, l->block, sizeof r.block);
  return r;
}

static void write_request(asking *a) {
  const tkp_launch *l = a->launch;
  tkcu_request *r = a->request, head = layout_of(a);
  char *file = (char *)r;
  uint64_t at = aligned(head.entry + strlen(l->entry) + 1);
  *r = head;
  memcpy(file + r->entry, l->entry, strlen(l->entry));
  memcpy(file + r->code, a->ptx, strlen(a->ptx));
  for (size_t i = 0; i < l->nparams; i++)
    memcpy(file + r->params + 8 * i, l->params[i], 8);
  tkcu_range *ranges = (tkcu_range *)(void *)(file + r->ranges);
  for (size_t i = 0; i < l->nranges; i++) {
    const tkp_range *x = &l->ranges[i];
    ranges[i] = (tkcu_range){x->base, x->size, at, x->writable};
    memcpy(file + at, x->host, x->size);
    at += aligned(x->size);
  }
}

static void read_memory_back(const asking *a) {
  const char *file = (const char *)a->request;
  const tkcu_range *r = (const void *)(file + a->request->ranges);
  for (size_t i = 0; i < a->launch->nranges; i++)
    if (r[i].writable)
      memcpy(a->launch->ranges[i].host, file + r[i].at, r[i].size);
}

double tkg_seconds(void) {
  const char *given = getenv("TKDBG_GPU_TIMEOUT");
  return given && atof(given) > 0 ? atof(given) : 60;
}

/* ---- the program -------------------------------------------------------- */

static void TK_NORETURN gpu_failed(tk_env *e, tk_status st, const char *words,
                                   const char *help) {
  tk_diag *d = tk_diag_add(e, st == TK_FINDING ? TK_D_DEVICE : TK_D_ARGUMENT,
                           NULL, (tk_span){0, 0}, "on the GPU: %s", words);
  if (*help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, st);
}

static void map_request(tk_env *e, asking *a) {
  tkcu_request head = layout_of(a);
  a->fd = memfd_create("tkdbg-request", 0);
  if (a->fd < 0 || ftruncate(a->fd, (off_t)head.bytes))
    gpu_failed(e, TK_INTERNAL, strerror(errno), "");
  void *at =
      mmap(NULL, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
  if (at == MAP_FAILED) gpu_failed(e, TK_INTERNAL, strerror(errno), "");
  a->request = at;
  write_request(a);
}

/* Runs the program, and hands on what it prints. */
static void run_program(tk_env *e, void *ud) {
  asking *a = ud;
  char path[PATH_MAX], fd[16];
  const char *argv[] = {path, fd, NULL};
  snprintf(fd, sizeof fd, "%d", a->fd);
  if (!tk_find_beside(program_name, path, sizeof path))
    gpu_failed(e, TK_USAGE, "the program tkdbg-cuda cannot be started", "");
  a->status = tk_run_program(e, argv, tkg_seconds(), &a->said);
}

static void hand_on_output(asking *a) {
  if (a->launch->print && a->said.n)
    a->launch->print(a->launch->print_ud, a->said.s, a->said.n);
  tk_buf_clear(&a->said);
}

static void check_in_time(tk_env *e, asking *a) {
  if (!WIFSIGNALED(a->status) || WTERMSIG(a->status) != SIGALRM) return;
  gpu_failed(e, TK_FINDING,
             tk_arena_printf(&a->words,
                             "the kernel did not end within %g seconds",
                             tkg_seconds()),
             "if it is only slow, set TKDBG_GPU_TIMEOUT to more seconds");
}

static void ask_program(tk_env *e, void *ud) {
  asking *a = ud;
  enum {
    TRIES = 3
    /* processes are laid out at random, so one may have something of its own
     * where memory should go, and may die of that */
  };
  map_request(e, a);
  for (int i = 0; i < TRIES; i++) {
    a->request->outcome = TKCU_DIED;
    *a->request->words = *a->request->help = 0;
    tk_status st = tk_protect(e, run_program, a);
    hand_on_output(a);
    if (st != TK_OK) tk_throw(e, st);
    check_in_time(e, a);
    if (a->request->outcome != TKCU_BUSY && a->request->outcome != TKCU_DIED)
      break;
  }
  const tkcu_request *r = a->request;
  if (r->outcome == TKCU_DIED) {
    const char *words = tk_arena_printf(
        &a->words, "the program tkdbg-cuda %s %d%s%s",
        WIFSIGNALED(a->status) ? "was ended by signal" : "ended with status",
        WIFSIGNALED(a->status) ? WTERMSIG(a->status) : WEXITSTATUS(a->status),
        *r->words ? " while " : "", r->words);
    gpu_failed(e, *r->words ? TK_USAGE : TK_INTERNAL, words, r->help);
  }
  if (r->outcome == TKCU_BUSY) return;
  if (r->outcome != TKCU_OK)
    gpu_failed(e, r->outcome == TKCU_FAULT ? TK_FINDING : TK_USAGE, r->words,
               r->help);
  read_memory_back(a);
}

bool tkg_run_on_gpu(tk_env *e, const char *ptx, const tkp_launch *launch) {
  asking a = {.launch = launch, .ptx = ptx, .fd = -1};
  tk_buf_init(&a.said, e);
  tk_arena_init(&a.words, e);
  tk_status st = tk_protect(e, ask_program, &a);
  bool placed = st != TK_OK || a.request->outcome != TKCU_BUSY;
  tk_buf_free(&a.said);
  tk_arena_free(&a.words);
  if (a.request) munmap(a.request, a.request->bytes);
  if (a.fd >= 0) close(a.fd);
  if (st != TK_OK) tk_throw(e, st);
  return placed;
}
