/* triton.c - a launch as the Triton that is installed runs it.
 *
 * The launch is recorded in a file; a Python that has Triton runs that
 * (python/tkdbg/triton_replay.py) and leaves in it what memory holds then.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/diag.h"
#include "device/device.h"
#include "launch/areas.h"
#include "spec/origin.h"

typedef struct asking_triton {
  tk_launch *launch;
  const tk_run_options *opt;
  const char *engine;
  bool interpret;        /* by Triton's interpreter, not on a GPU */
  char file[PATH_MAX];   /* the launch's; "": there is none yet */
  tk_session *read_back; /* the file once more, or NULL */
  tk_buf said;
} asking_triton;

/* ---- a Python that has Triton ------------------------------------------- */

enum { PATHS = PATH_MAX };

static const char *python_with_triton(char *out) {
  const char *given = getenv("TKDBG_PYTHON"), *venv = getenv("VIRTUAL_ENV");
  if (given && *given) return given;
  if (!venv || !*venv) return "python3";
  snprintf(out, PATHS, "%s/bin/python", venv);
  return out;
}

static bool find_script(char *out) {
  static const char *const places[] = {"../python/tkdbg/triton_replay.py",
                                       "python/tkdbg/triton_replay.py",
                                       "triton_replay.py"};
  for (size_t i = 0; i < TK_COUNT(places); i++)
    if (tk_find_beside(places[i], out, PATHS)) return true;
  return false;
}

bool tkg_triton_interpreter_is_there(const char **why) {
  char path[PATHS];
  const char *argv[] = {python_with_triton(path), "-c",
                        "import sys, importlib.util as u; "
                        "sys.exit(not (u.find_spec('triton') and "
                        "u.find_spec('torch')))",
                        NULL};
  bool there = tk_program_succeeds(argv);
  *why = there ? ""
               : "this Python has no Triton or no PyTorch: 'pip install torch "
                 "triton', or name another Python (--python PATH, "
                 "TKDBG_PYTHON)";
  return there;
}

bool tkg_triton_is_there(const char **why) {
  *why = "no driver of an NVIDIA GPU (libcuda.so.1) is installed; the engine "
         "'triton-interpret' needs none";
  return tkg_has_driver() && tkg_triton_interpreter_is_there(why);
}

/* ---- the run ------------------------------------------------------------ */

static void TK_NORETURN triton_failed(tk_env *e, tk_status st,
                                      const char *words, const char *help) {
  tk_diag *d =
      tk_diag_add(e, st == TK_FINDING ? TK_D_DEVICE : TK_D_ARGUMENT, NULL,
                  (tk_span){0, 0}, "Triton did not run this launch: %s", words);
  if (*help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, st);
}

static void record_launch(tk_env *e, asking_triton *x) {
  const char *folder = getenv("TMPDIR");
  snprintf(x->file, sizeof x->file, "%s/tkdbg-XXXXXX",
           folder && *folder ? folder : "/tmp");
  int fd = mkstemp(x->file);
  if (fd < 0) {
    *x->file = 0;
    triton_failed(e, TK_USAGE, strerror(errno), "TMPDIR names another folder");
  }
  close(fd);
  tk_status st = tk_launch_record(x->launch, x->file);
  if (st != TK_OK) tk_throw(e, st);
}

/* Where kernels are ours already (TKDBG=1), Triton shall be itself again.  What
 * the script says last, behind a record separator, is why it failed. */
static void run_script(tk_env *e, asking_triton *x) {
  char python[PATHS], script[PATHS];
  const char *argv[] = {"env",
                        "-u",
                        "TKDBG",
                        python_with_triton(python),
                        script,
                        x->file,
                        x->interpret ? "--interpret" : NULL,
                        NULL};
  if (!find_script(script))
    triton_failed(e, TK_USAGE, "triton_replay.py is not installed", "");
  double seconds = x->interpret ? 0 : tkg_seconds();
  int status = tk_run_program(e, argv, seconds, &x->said);
  const char *said = tk_buf_str(&x->said), *why = strrchr(said, '\x1e');
  bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  size_t printed = why ? (size_t)(why - said) : ok ? x->said.n : 0;
  tk_session *s = x->launch->session;
  if (s->output && printed) s->output(s->output_ud, said, printed);
  if (ok) return;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    triton_failed(e, TK_FINDING, "it did not end in time",
                  "if it is only slow, set TKDBG_GPU_TIMEOUT to more seconds");
  triton_failed(e, TK_FINDING,
                why     ? why + 1
                : *said ? said
                        : "its process was ended, and printed nothing",
                "");
}

static void read_memory_back(tk_env *e, asking_triton *x) {
  tk_launch *l;
  tk_memory to, from;
  x->read_back = tk_session_new();
  tk_status st =
      x->read_back ? tk_launch_replay(x->read_back, x->file, &l) : TK_INTERNAL;
  if (st != TK_OK) tk_throw(e, st);
  for (size_t i = 0;
       tk_memory_at(x->launch, i, &to) && tk_memory_at(l, i, &from); i++) {
    if (!to.tensor || to.readonly || to.hi == to.lo) continue;
    TK_ASSERT(to.hi - to.lo == from.hi - from.lo);
    memcpy(to.host, from.host, (size_t)(to.hi - to.lo));
  }
}

static void ask_triton(tk_env *e, void *ud) {
  asking_triton *x = ud;
  tkg_check_options(e, x->opt, x->engine);
  x->launch->unit = tk_specialise(e, x->launch); /* asks for its globals */
  record_launch(e, x);
  run_script(e, x);
  read_memory_back(e, x);
}

static tk_status run_by_triton(asking_triton *x, const tk_run_options *options,
                               tk_summary *sum) {
  tk_launch *l = x->launch;
  double began = tk_clock_seconds();
  x->opt = options;
  l->session->env.interrupted = 0;
  tk_buf_init(&x->said, &l->session->env);
  tk_status st = tk_session_guard(l->session, ask_triton, x);
  tk_buf_free(&x->said);
  tk_session_free(x->read_back);
  if (*x->file) unlink(x->file);
  sum->programs = (uint64_t)(l->grid[0] * l->grid[1] * l->grid[2]);
  sum->seconds = tk_clock_seconds() - began;
  return st;
}

tk_status tkg_launch_triton(tk_launch *l, const tk_run_options *options,
                            tk_summary *summary) {
  asking_triton x = {.launch = l, .engine = "triton"};
  return run_by_triton(&x, options, summary);
}

tk_status tkg_launch_triton_interpret(tk_launch *l,
                                      const tk_run_options *options,
                                      tk_summary *summary) {
  asking_triton x = {
      .launch = l, .engine = "triton-interpret", .interpret = true};
  return run_by_triton(&x, options, summary);
}
