/* ptx.c - from the text of an LLVM module to PTX, by the plug-in, or from the
 * cache. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "nvptx/cache.h"
#include "nvptx/nvptx.h"
#include "nvptx/plugin.h"
#include "nvptx/toolkit.h"
#include "tkdbg/tkdbg.h"

/* CUDA C Programming Guide, "Technical Specifications per Compute
 * Capability". */
enum { MOST_THREADS = 1024, LANES = 32 };

typedef struct compiling {
  tk_buf *out, llir, file;
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

static void check_threads(tk_env *e, const compiling *c) {
  const tk_func *kernel = c->p->kernel;
  int64_t warps = c->p->options[TK_LAUNCH_NUM_WARPS];
  if (warps * LANES <= MOST_THREADS) return;
  tk_diag *d =
      tk_diag_add(e, TK_D_UNSUPPORTED, kernel->src, kernel->span,
                  "'%s' is launched with num_warps %" PRId64
                  ", which are %" PRId64 " threads; a program has at most %d",
                  kernel->name, warps, warps * LANES, MOST_THREADS);
  tk_diag_help(e, d, "use num_warps=%d or fewer", MOST_THREADS / LANES);
  tk_throw(e, TK_FINDING);
}

/* A file is identified by its name and the time of its last change. */
static void add_file_to_key(tkv_key *k, const char *path) {
  struct stat st;
  if (stat(path, &st)) return;
  tkv_add_to_key(k, path, strlen(path));
  tkv_add_to_key(k, &st.st_mtim, sizeof st.st_mtim);
}

/* The code contains all that depends on the form, the options and the number of
 * warps. */
static tkv_key key_of(const tkv_llvm_request *r) {
  char plugin[TKV_PATH];
  tkv_key k = tkv_new_key();
  tkv_add_to_key(&k, tk_version(), strlen(tk_version()));
  tkv_add_to_key(&k, r->llir, r->size);
  tkv_add_to_key(&k, r->arch, strlen(r->arch));
  if (tkv_find_plugin(plugin, sizeof plugin)) add_file_to_key(&k, plugin);
  if (r->libdevice) add_file_to_key(&k, r->libdevice);
  return k;
}

static void compile_program(tk_env *e, void *ud) {
  compiling *c = ud;
  char path[TKV_PATH];
  tkv_print_llir(&c->llir, c->p, c->arch, c->shared);
  check_threads(e, c);
  check_shared(e, c);
  tkv_llvm_request r = {.llir = tk_buf_str(&c->llir),
                        .size = c->llir.n,
                        .arch = c->arch,
                        .isa = tkv_isa_of(c->arch),
                        .libdevice = tkv_find_libdevice(path)};
  tkv_key key = key_of(&r);
  if (tkv_cache_read(c->out, &c->file, &key)) return;
  size_t before = c->out->n;
  tkv_run_plugin(c->out, &r);
  tkv_cache_write(&c->file, &key, c->out->s + before, c->out->n - before);
}

void tkv_print_ptx(tk_buf *out, const tk_program *p, const char *arch,
                   size_t *shared) {
  compiling c = {.out = out, .p = p, .arch = arch, .shared = shared};
  tk_buf_init(&c.llir, out->env);
  tk_buf_init(&c.file, out->env);
  tk_status st = tk_protect(out->env, compile_program, &c);
  tk_buf_free(&c.llir);
  tk_buf_free(&c.file);
  if (st != TK_OK) tk_throw(out->env, st);
}
