/* toolkit.c - files are looked for below folders, by patterns. */
#include "nvptx/toolkit.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "tkdbg/compile.h"

/* Where a tool is inside the folder of CUDA, and inside Triton's folder of
 * NVIDIA's files. */
typedef struct wanted {
  const char *variable, *in_cuda, *in_triton;
} wanted;

/* The first readable file that a pattern leads to. */
static bool try_pattern(char *out, const char *folder, int len,
                        const char *below, const char *file) {
  glob_t found;
  bool is_there = false;
  int n = snprintf(out, TKV_PATH, "%.*s/%s%s", len, folder, below, file);
  if (n < 0 || n >= TKV_PATH) return false;
  if (glob(out, 0, NULL, &found)) return false;
  for (size_t i = 0; i < found.gl_pathc && !is_there; i++) {
    is_there = strlen(found.gl_pathv[i]) < TKV_PATH &&
               !access(found.gl_pathv[i], R_OK);
    if (is_there) snprintf(out, TKV_PATH, "%s", found.gl_pathv[i]);
  }
  globfree(&found);
  return is_there;
}

static bool try_path(char *out, const wanted *w) {
  static const char triton[] =
      "../lib/python3*/*-packages/triton/backends/nvidia/";
  for (const char *p = getenv("PATH"); p && *p;) {
    int len = (int)strcspn(p, ":");
    if (len && (try_pattern(out, p, len, "../", w->in_cuda) ||
                try_pattern(out, p, len, triton, w->in_triton)))
      return true;
    p += len + (p[len] == ':');
  }
  return false;
}

static const char *find_file(char *out, const wanted *w) {
  static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};
  static const char *const usual[] = {"/usr/local/cuda", "/usr/local/cuda-*",
                                      "/usr/lib/cuda"};
  const char *given = getenv(w->variable);
  if (given) return *given ? given : NULL;
  for (size_t i = 0; i < TK_COUNT(homes); i++) {
    const char *home = getenv(homes[i]);
    if (home && try_pattern(out, home, (int)strlen(home), "", w->in_cuda))
      return out;
  }
  if (try_path(out, w)) return out;
  for (size_t i = 0; i < TK_COUNT(usual); i++)
    if (try_pattern(out, usual[i], (int)strlen(usual[i]), "", w->in_cuda))
      return out;
  return NULL;
}

const char *tkv_find_libdevice(char *out) {
  static const wanted libdevice = {"TKDBG_LIBDEVICE",
                                   "nvvm/libdevice/libdevice.10.bc",
                                   "lib/libdevice.10.bc"};
  return find_file(out, &libdevice);
}

const char *tkv_find_ptxas(char *out) {
  static const wanted ptxas = {"TKDBG_PTXAS", "bin/ptxas", "bin/ptxas"};
  return find_file(out, &ptxas);
}

bool tk_ptxas_path(char *out, size_t size) {
  char path[TKV_PATH];
  const char *found = tkv_find_ptxas(path);
  if (!found || strlen(found) >= size) return false;
  memcpy(out, found, strlen(found) + 1);
  return true;
}

void tkv_report_failure(tk_env *e, const char *fmt, const char *why,
                        const char *help) {
  tk_diag *d =
      tk_diag_add(e, TK_D_UNSUPPORTED, NULL, (tk_span){0, 0}, fmt, why);
  if (help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, TK_FINDING);
}
