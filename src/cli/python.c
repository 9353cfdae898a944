/* python.c - scripts: which Python runs them, and how it learns of us.
 *
 * The process becomes that Python (exec), so that signals, exit codes and
 * the terminal are the script's own.  It gets our package on its path and
 * the options as a JSON object in TKDBG_OPTIONS, under the keys of
 * option.def.
 *
 * A Python that begins raises KeyboardInterrupt wherever Ctrl-C meets it, in
 * code that may drop it.  So SIGINT is blocked until our package, which is
 * told so by TKDBG_SIGINT_IS_BLOCKED, takes it.
 */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program for Python that exits with 0 if scripts can be expected to run: it
 * needs 3.9 or newer, and NumPy or PyTorch. */
static const char probe[] =
    "import sys, importlib.util as u\n"
    "ok = sys.version_info >= (3, 9)\n"
    "sys.exit(not (ok and (u.find_spec('numpy') or u.find_spec('torch'))))";

static bool probe_passes(const char *python) {
  int status = -1;
  pid_t pid = fork();
  if (pid == 0) {
    if (freopen("/dev/null", "w", stderr))
      execlp(python, python, "-c", probe, (char *)NULL);
    _exit(127);
  }
  if (pid < 0) return false;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

char *cli_choose_python(const cli_args *a, bool *elsewhere) {
  const char *const candidates[] = {getenv("TKDBG_PYTHON"), "python3",
                                    "/usr/bin/python3"};
  const char *given = cli_value(a, OPT_PYTHON);
  const char *venv = getenv("VIRTUAL_ENV");
  *elsewhere = false;
  if (given) return cli_format("%s", given);
  if (venv && *venv) return cli_format("%s/bin/python", venv);
  for (size_t i = 0; i < CLI_COUNT(candidates); i++) {
    if (!candidates[i] || !probe_passes(candidates[i])) continue;
    *elsewhere = i > 1;
    return cli_format("%s", candidates[i]);
  }
  return NULL;
}

char *cli_find_python(const cli_args *a) {
  bool elsewhere;
  char *python = cli_choose_python(a, &elsewhere);
  if (!python)
    cli_usage(a, "there is no Python 3.9 or newer with NumPy or PyTorch on "
                 "PATH or in /usr/bin; name one with --python PATH, or "
                 "describe the launch (--grid, --arg), which needs none");
  else if (elsewhere && !cli_has(a, OPT_QUIET))
    fprintf(stderr,
            "tkdbg: using %s: the python3 on PATH has neither NumPy nor "
            "PyTorch\n",
            python);
  return python;
}

static void write_list(FILE *f, const cli_args *a, cli_option_id id) {
  const char *separator = "[";
  for (size_t i = 0; i < a->nuses; i++) {
    if (a->uses[i].id != id) continue;
    fputs(separator, f);
    cli_json_string(f, a->uses[i].value);
    separator = ", ";
  }
  fputs("]", f);
}

static void write_option(FILE *f, const cli_args *a, cli_option_id id) {
  const cli_option *o = &cli_options[id];
  bool negated = o->key[0] == '!';
  CLI_ASSERT(!negated || o->kind == TK_OPTION_FLAG);
  cli_json_string(f, o->key + negated);
  fputs(": ", f);
  if (o->kind == TK_OPTION_FLAG)
    fputs(negated ? "false" : "true", f);
  else if (o->kind == TK_OPTION_NUMBER)
    fputs(cli_value(a, id), f);
  else if (o->kind == TK_OPTION_LIST)
    write_list(f, a, id);
  else
    cli_json_string(f, cli_value(a, id));
}

/* Returns the options that were given, as JSON; the caller frees it. */
static char *options_json(const cli_args *a) {
  char *text = NULL;
  size_t size = 0;
  const char *separator = "{";
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  for (int id = 0; id < CLI_OPTIONS; id++) {
    if (!*cli_options[id].key || !cli_has(a, (cli_option_id)id)) continue;
    fputs(separator, f);
    write_option(f, a, (cli_option_id)id);
    separator = ", ";
  }
  if (a->command == CLI_DEBUG || a->command == CLI_WHY ||
      a->command == CLI_PROFILE || a->command == CLI_VIEW ||
      a->command == CLI_COMPILE || a->command == CLI_IR ||
      a->command == CLI_PROVE) {
    fprintf(f, "%s\"%s\": true", separator, cli_commands[a->command].name);
    separator = ", ";
  }
  if (a->command == CLI_VIEW && !cli_has(a, OPT_OUTPUT) &&
      !cli_has(a, OPT_JSON)) {
    char *page = cli_page_path(a);
    fprintf(f, "%s\"output\": ", separator);
    cli_json_string(f, page);
    separator = ", ";
    free(page);
  }
  if (cli_against(a) && !cli_has(a, OPT_BACKEND)) {
    fprintf(f, "%s\"against\": ", separator);
    cli_json_string(f, cli_against(a));
    separator = ", ";
  }
  if (a->dap) {
    fprintf(f, "%s\"dap\": ", separator);
    cli_json_string(f, a->dap);
    separator = ", ";
  }
  fputs(*separator == '{' ? "{}" : "}", f);
  fclose(f);
  return text;
}

/* Puts our package in front of PYTHONPATH and names the library. */
static bool set_environment(const cli_args *a) {
  char *dir = cli_python_dir(), *library = cli_library_path();
  char *options = options_json(a);
  const char *old = getenv("PYTHONPATH");
  bool ok = dir && options;
  if (ok) {
    char *path =
        cli_format("%s%s%s", dir, old && *old ? ":" : "", old ? old : "");
    ok = !setenv("PYTHONPATH", path, 1) && !setenv("TKDBG_OPTIONS", options, 1);
    free(path);
  }
  if (ok && library) ok = !setenv("TKDBG_LIBRARY", library, 0);
  free(dir);
  free(library);
  free(options);
  return ok;
}

/* The argument vector of: python -m MODULE [run] WORDS. */
static char **python_argv(const cli_args *a, char *python, const char *module,
                          bool runs) {
  static char dash_m[] = "-m", run[] = "run";
  char **argv = calloc(4 + a->nwords + 1, sizeof *argv);
  size_t n = 0;
  if (!argv) return NULL;
  argv[n++] = python;
  argv[n++] = dash_m;
  argv[n++] = (char *)module;
  if (runs) argv[n++] = run;
  if (a->nwords) memcpy(argv + n, a->words, a->nwords * sizeof *argv);
  return argv;
}

/* Blocks SIGINT, if Ctrl-C would end this process; *before: the signals that
 * were blocked until now. */
static void block_interrupts(sigset_t *before) {
  struct sigaction now;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, NULL, before);
  if (sigaction(SIGINT, NULL, &now) || now.sa_handler != SIG_DFL ||
      sigismember(before, SIGINT))
    return;
  if (!setenv("TKDBG_SIGINT_IS_BLOCKED", "1", 1))
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Becomes python -m MODULE; returns the exit code if that fails. */
static int become_python(const cli_args *a, const char *module, bool runs) {
  char *python = cli_find_python(a);
  if (!python) return TK_USAGE;
  char **argv = python_argv(a, python, module, runs);
  int code = TK_INTERNAL;
  if (!argv || !set_environment(a)) {
    fputs(
        "tkdbg: cannot find the Python package of tkdbg; TKDBG_PYTHONPATH can "
        "name the folder that holds it\n",
        stderr);
  } else {
    sigset_t before;
    block_interrupts(&before);
    execvp(python, argv);
    sigprocmask(SIG_SETMASK, &before, NULL);
    code = cli_usage(a, "cannot run %s: %s", python, strerror(errno));
  }
  free(argv);
  free(python);
  return code;
}

int cli_run_script(const cli_args *a) {
  const char *file = a->words[0];
  bool listed = cli_has(a, OPT_CHECK) && !strpbrk(file, "./");
  if (file[0] != '-' && access(file, R_OK) != 0)
    return cli_usage(a, "cannot read %s: %s%s", file, strerror(errno),
                     listed ? "; a list of detectors is given as --check=LIST, "
                              "and --check=help names them"
                            : "");
  return become_python(a, "tkdbg", true);
}

int cli_report(const cli_args *a) {
  if (!cli_one_file(a)) return TK_USAGE;
  return become_python(a, "tkdbg.standalone", false);
}

int cli_bisect(const cli_args *a) {
  if (!cli_one_file(a)) return TK_USAGE;
  return become_python(a, "tkdbg.bisect", false);
}

int cli_fuzz(const cli_args *a) {
  const char *file = a->nwords ? a->words[0] : NULL;
  size_t length = file ? strlen(file) : 0;
  if (file && (length < 3 || strcmp(file + length - 3, ".py") != 0))
    return cli_usage(a,
                     "'%s' is no script: FILE.py is tried with other sizes, "
                     "and without a FILE kernels are made at random",
                     file);
  if (file && access(file, R_OK) != 0)
    return cli_usage(a, "cannot read %s: %s", file, strerror(errno));
  return become_python(a, "tkdbg.fuzz", false);
}

int cli_puzzles(const cli_args *a) {
  return become_python(a, "tkdbg.puzzles", false);
}
