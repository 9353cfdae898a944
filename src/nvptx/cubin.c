/* cubin.c - ptxas reads a file and writes one, and says what it takes. */
#include "nvptx/cubin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/diag.h"
#include "nvptx/toolkit.h"

typedef struct assembling {
  const char *ptxas, *arch, *file;
  char ptx[64]; /* a file of our own */
  tk_buf *said;
  int status;
} assembling;

/* The number before a word of ptxas's report; 0 where it says nothing. */
static unsigned long number_before(const char *text, const char *word) {
  const char *at = strstr(text, word);
  if (!at || at == text) return 0;
  for (at--; at > text && at[-1] >= '0' && at[-1] <= '9';) at--;
  return strtoul(at, NULL, 10);
}

static void write_ptx(tk_env *e, assembling *a, const char *ptx) {
  snprintf(a->ptx, sizeof a->ptx, "/tmp/tkdbg-XXXXXX");
  int fd = mkstemp(a->ptx);
  if (fd < 0)
    tkv_report_failure(e, "/tmp cannot be written to: %s", strerror(errno),
                       NULL);
  tk_write_all(fd, ptx, strlen(ptx));
  close(fd);
}

static void run_ptxas(tk_env *e, void *ud) {
  assembling *a = ud;
  char arch[32];
  snprintf(arch, sizeof arch, "-arch=%s", a->arch);
  const char *argv[] = {a->ptxas,
                        "-v",
                        "-lineinfo",
                        arch,
                        a->ptx,
                        "-o",
                        a->file ? a->file : "/dev/null",
                        NULL};
  a->status = tk_run_program(e, argv, 0, a->said);
}

bool tkv_can_assemble(void) {
  char path[TKV_PATH];
  return tkv_find_ptxas(path) != NULL;
}

void tkv_assemble(tk_buf *out, const char *ptx, const char *arch,
                  const char *file, size_t shared) {
  tk_env *e = out->env;
  char path[TKV_PATH];
  assembling a = {.ptxas = tkv_find_ptxas(path), .arch = arch, .file = file};
  if (!a.ptxas)
    tkv_report_failure(e, "machine code needs NVIDIA's assembler %s", "ptxas",
                       "it comes with CUDA and with Triton: put it on PATH, or "
                       "name it in TKDBG_PTXAS");
  write_ptx(e, &a, ptx);
  tk_buf said;
  tk_buf_init(&said, e);
  a.said = &said;
  tk_status st = tk_protect(e, run_ptxas, &a);
  unlink(a.ptx);
  const char *text = tk_buf_str(&said);
  bool ok = st == TK_OK && WIFEXITED(a.status) && !WEXITSTATUS(a.status) &&
            strstr(text, " registers");
  if (ok)
    tk_buf_printf(out,
                  "%lu registers, %lu bytes spilled, %zu bytes of shared "
                  "memory, for %s\n",
                  number_before(text, " registers"),
                  number_before(text, " bytes spill stores"),
                  (size_t)number_before(text, " bytes smem") + shared, arch);
  else if (st == TK_OK) {
    int n = (int)strcspn(text, "\n"); /* the first line */
    tk_diag *d = tk_diag_add(e, TK_D_UNSUPPORTED, NULL, (tk_span){0, 0},
                             "'%.300s' does not assemble the code: %.*s",
                             a.ptxas, n && n < 600 ? n : 600,
                             n ? text : "it says nothing of registers");
    tk_diag_help(e, d,
                 "it must be NVIDIA's ptxas, of CUDA 11.8 or newer; "
                 "TKDBG_PTXAS names another one, or none if it is empty");
  }
  tk_buf_free(&said);
  if (!ok) tk_throw(e, st == TK_OK ? TK_FINDING : st);
}
