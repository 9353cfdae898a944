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
#include "base/outfile.h"
#include "nvptx/toolkit.h"

typedef struct assembling {
  const char *kernel, *ptx, *ptxas, *arch;
  const char *file;     /* to which ptxas writes the code, or NULL */
  char file_of_ptx[64]; /* a temporary one */
  tk_buf *said;
  int status; /* the status as waitpid gives it; 0 also if it did not run */
} assembling;

/* The number before a word of ptxas's report; 0 if the report does not have the
 * word. */
static unsigned long number_before(const char *text, const char *word) {
  const char *at = strstr(text, word);
  if (!at || at == text) return 0;
  for (at--; at > text && at[-1] >= '0' && at[-1] <= '9';) at--;
  return strtoul(at, NULL, 10);
}

/* Writes the PTX to a temporary file; returns false after reporting that it
 * cannot. */
static bool write_ptx(assembling *a) {
  snprintf(a->file_of_ptx, sizeof a->file_of_ptx, "/tmp/tkdbg-XXXXXX");
  int fd = mkstemp(a->file_of_ptx);
  if (fd < 0) {
    tk_buf_printf(a->said, "/tmp cannot be written to: %s", strerror(errno));
    return false;
  }
  tk_write_all(fd, a->ptx, strlen(a->ptx));
  close(fd);
  return true;
}

static void run_ptxas(tk_env *e, void *ud) {
  assembling *a = ud;
  char arch[32];
  snprintf(arch, sizeof arch, "-arch=%s", a->arch);
  const char *argv[] = {a->ptxas,
                        "-v",
                        "-lineinfo",
                        arch,
                        a->file_of_ptx,
                        "-o",
                        a->file ? a->file : "/dev/null",
                        NULL};
  a->status = tk_run_program(e, argv, 0, a->said);
}

bool tkv_can_assemble(void) {
  char path[TKV_PATH];
  return tkv_find_ptxas(path) != NULL;
}

static bool has_assembled(const assembling *a) {
  return WIFEXITED(a->status) && !WEXITSTATUS(a->status) &&
         strstr(tk_buf_str(a->said), " registers");
}

/* Why ptxas, which ran, is of no use. */
static void say_why_not(tk_buf *out, const assembling *a) {
  const char *said = tk_buf_str(a->said);
  int n = (int)strcspn(said, "\n"); /* the first line */
  if (WIFSIGNALED(a->status))
    tk_buf_printf(out, "it was ended by signal %d (%s)", WTERMSIG(a->status),
                  strsignal(WTERMSIG(a->status)));
  else if (n)
    tk_buf_printf(out, "%.*s", n < 600 ? n : 600, said);
  else
    tk_buf_puts(out, "it does not say how many registers it used");
}

/* Code that is wanted fails; of a comment beside it the user is told. */
static void report_why_not(tk_env *e, void *ud) {
  const assembling *a = ud;
  tk_buf why;
  tk_buf_init(&why, e);
  say_why_not(&why, a);
  tk_diag *d = tk_diag_add(
      e, a->file ? TK_D_UNSUPPORTED : TK_D_SPILLS, NULL, (tk_span){0, 0},
      a->file ? "'%s' does not assemble the code: %s"
              : "what registers and shared memory the kernel takes is not "
                "known, as '%s' does not assemble the code: %s",
      a->ptxas, tk_buf_str(&why));
  tk_buf_free(&why);
  if (strncmp(tk_buf_str(a->said), "ptxas", 5)) /* it does not name itself */
    tk_diag_help(e, d,
                 "it must be NVIDIA's ptxas, of CUDA 11.8 or newer; "
                 "TKDBG_PTXAS names another one, or none if it is empty");
  if (a->file) tk_throw(e, TK_FINDING);
}

static void tell_of_spills(tk_env *e, const assembling *a,
                           unsigned long bytes) {
  tk_diag *d = tk_diag_add(
      e, TK_D_SPILLS, NULL, (tk_span){0, 0},
      "a thread of '%s' has more values than its %lu registers hold, and keeps "
      "%lu bytes of them in memory, which is slow",
      a->kernel, number_before(tk_buf_str(a->said), " registers"), bytes);
  tk_diag_help(e, d,
               "smaller blocks or a larger num_warps leave fewer values to "
               "each thread");
}

static void say_resources(tk_buf *out, const assembling *a, size_t shared) {
  const char *said = tk_buf_str(a->said);
  unsigned long spilled = number_before(said, " bytes spill stores");
  tk_buf_printf(out,
                "%lu registers, %lu bytes spilled, %zu bytes of shared "
                "memory, for %s\n",
                number_before(said, " registers"), spilled,
                (size_t)number_before(said, " bytes smem") + shared, a->arch);
  if (spilled) tell_of_spills(out->env, a, spilled);
}

void tkv_file_fails(tk_env *e, const char *path, int error) {
  tk_diag_add(e, TK_D_FILE, NULL, (tk_span){0, 0}, "%s: cannot be written: %s",
              path, strerror(error));
  tk_throw(e, TK_USAGE);
}

static tk_status assemble_file(assembling *a, tk_env *e) {
  tk_status st = TK_OK;
  if (write_ptx(a)) {
    st = tk_protect(e, run_ptxas, a);
    unlink(a->file_of_ptx);
  }
  return st;
}

bool tkv_assemble(tk_buf *out, const char *kernel, const char *ptx,
                  const char *arch, const char *file, size_t shared) {
  tk_env *e = out->env;
  char path[TKV_PATH];
  tk_buf said;
  assembling a = {.kernel = kernel,
                  .ptx = ptx,
                  .ptxas = tkv_find_ptxas(path),
                  .arch = arch};
  tk_outfile made;
  if (!a.ptxas)
    tkv_report_failure(e, "machine code needs NVIDIA's assembler %s", "ptxas",
                       "it comes with CUDA and with Triton: put it on PATH, or "
                       "name it in TKDBG_PTXAS");
  int error = file ? tk_outfile_open(&made, file) : 0;
  if (error) tkv_file_fails(e, file, error);
  if (file) a.file = made.beside ? made.beside : made.path;
  tk_buf_init(&said, e);
  a.said = &said;
  tk_status st = assemble_file(&a, e);
  bool ok = st == TK_OK && has_assembled(&a);
  if (ok)
    say_resources(out, &a, shared);
  else if (st == TK_OK)
    st = tk_protect(e, report_why_not, &a);
  tk_buf_free(&said);
  if (file) error = tk_outfile_close(&made, ok);
  if (st != TK_OK) tk_throw(e, st);
  if (error) tkv_file_fails(e, file, error);
  return ok;
}
