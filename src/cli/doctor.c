/* doctor.c - tkdbg doctor: what of this machine tkdbg uses, a line each.
 *
 * Nothing is imported and no kernel runs: libraries are opened, programs are
 * looked for, and Python is asked for the versions of its packages.
 */
#include "cli.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "help.h"
#include "tkdbg/compile.h"
#include "tkdbg/editing.h"

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

enum { TEXT_COLUMN = 21 };

typedef struct doctor {
  char *python;   /* the one that runs scripts; NULL: there is none */
  char *packages; /* "NAME VERSION", a line each, as it says; NULL */
  bool lacks;     /* something that is needed */
} doctor;

typedef enum state { FOUND, MISSING, OLD, NEW } state;
static const char *const state_names[] = {"ok", "missing", "too old",
                                          "not tried"};

static void put(doctor *d, const char *name, state s, bool needed,
                const char *text) {
  printf("%-11s%-10s", name, state_names[s]);
  cli_wrap(stdout, text, TEXT_COLUMN, TEXT_COLUMN);
  d->lacks |= needed && (s == MISSING || s == OLD);
}

/* ---- this machine -------------------------------------------------------- */

#if defined(__x86_64__)
static char *find_processor(doctor *d) {
  (void)d;
  return cli_format("x86-64%s%s%s",
                    __builtin_cpu_supports("avx2") ? ", avx2" : "",
                    __builtin_cpu_supports("fma") ? ", fma" : "",
                    __builtin_cpu_supports("avx512f") ? ", avx512" : "");
}
#elif defined(__aarch64__)
static char *find_processor(doctor *d) {
  (void)d;
  return cli_format("aarch64, neon%s",
                    getauxval(AT_HWCAP) & HWCAP_SVE ? ", sve" : "");
}
#else
static char *find_processor(doctor *d) {
  (void)d;
  return cli_format("not one that tkdbg knows by name");
}
#endif

static char *find_libc(doctor *d) {
  (void)d;
  return cli_format("glibc %s", gnu_get_libc_version());
}

/* Where a library lies that has been opened; the caller frees. */
static char *library_path(void *symbol, const char *version) {
  Dl_info info;
  bool is_known = symbol && dladdr(symbol, &info) && info.dli_fname;
  return cli_format("%s%s%s", version ? version : "",
                    version && is_known ? ", " : "",
                    is_known ? info.dli_fname : "");
}

/* The first of two libraries that can be opened, or NULL. */
static void *open_first(const char *one, const char *other) {
  void *lib = dlopen(one, RTLD_NOW | RTLD_LOCAL);
  return lib ? lib : dlopen(other, RTLD_NOW | RTLD_LOCAL);
}

static char *find_openblas(doctor *d) {
  (void)d;
  const char *(*config)(void);
  void *lib = open_first("libopenblas.so.0", "libopenblas.so");
  if (!lib) return NULL;
  *(void **)&config = dlsym(lib, "openblas_get_config");
  return library_path(dlsym(lib, "cblas_sgemm"), config ? config() : NULL);
}

static char *find_editor(doctor *d) {
  tk_line_editor e;
  (void)d;
  if (!tk_console_editor(&e)) return NULL;
  return cli_format("%s%s%s%s%s", e.name, e.version ? " " : "",
                    e.version ? e.version : "", e.file ? ", " : "",
                    e.file ? e.file : "");
}

/* Whether an engine is available: what is said of it, or NULL. */
static char *find_engine(const char *name, const char *text) {
  const char *found, *why;
  for (size_t i = 0; (found = tk_engine_name(i)); i++)
    if (!strcmp(found, name))
      return tk_engine_available(i, &why) ? cli_format("%s", text) : NULL;
  return NULL;
}

static char *find_llvm(doctor *d) {
  (void)d;
  return find_engine("ptx", "code for a GPU can be made, and interpreted");
}

static char *find_gpu(doctor *d) {
  (void)d;
  return find_engine("gpu", "kernels can run on it");
}

static char *find_ptxas(doctor *d) {
  char path[4096];
  (void)d;
  return tk_ptxas_path(path, sizeof path) ? cli_format("%s", path) : NULL;
}

static char *find_gdb(doctor *d) {
  (void)d;
  const char *at = getenv("PATH");
  while (at && *at) {
    int n = (int)strcspn(at, ":");
    char *path = cli_format("%.*s/gdb", n, at);
    if (n && path && !access(path, X_OK)) return path;
    free(path);
    at += n + (at[n] == ':');
  }
  return NULL;
}

/* ---- Python -------------------------------------------------------------- */

static const char ask[] =
    "import importlib.metadata as m, sys\n"
    "print('python', sys.version.split()[0] + ', ' + sys.executable)\n"
    "for name in sys.argv[1:]:\n"
    "    try: print(name, m.version(name))\n"
    "    except m.PackageNotFoundError: pass\n";

static const char *const packages[] = {
#define PACKAGE(name, package, needed, oldest, newest, without) package,
#include "doctor.def"
};

static void become_asked(const char *python, int to) {
  const char *argv[CLI_COUNT(packages) + 4] = {python, "-c", ask};
  for (size_t i = 0; i < CLI_COUNT(packages); i++) argv[3 + i] = packages[i];
  dup2(to, STDOUT_FILENO);
  if (freopen("/dev/null", "w", stderr)) execvp(python, (char **)argv);
  _exit(127);
}

/* What a Python says of itself; NULL if it does not answer. */
static char *ask_python(const char *python) {
  int ends[2], status = -1;
  if (pipe(ends)) return NULL;
  pid_t pid = fork();
  if (pid == 0) become_asked(python, ends[1]);
  close(ends[1]);
  FILE *f = fdopen(ends[0], "r");
  char *said = cli_read_rest(f);
  if (f) fclose(f);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && !cli_is_interrupted())
    continue;
  if (status == 0) return said;
  free(said);
  return NULL;
}

/* The version that Python gave for a package; NULL: it has none. */
static char *version_of(const doctor *d, const char *package) {
  size_t n = strlen(package);
  for (const char *at = d->packages; at && *at;) {
    size_t line = strcspn(at, "\n");
    if (line > n && !strncmp(at, package, n) && at[n] == ' ')
      return cli_format("%.*s", (int)(line - n - 1), at + n + 1);
    at += line + (at[line] == '\n');
  }
  return NULL;
}

static char *find_python(doctor *d) {
  return version_of(d, "python");
}

/* -1, 0, 1: which of two versions, such as 3.9.0, is newer.  Only numbers
 * count: 2.15.0+cpu is 2.15.0. */
static int compare_versions(const char *a, const char *b) {
  while (*a || *b) {
    char *past_a, *past_b;
    long x = strtol(a, &past_a, 10), y = strtol(b, &past_b, 10);
    if (x != y) return x < y ? -1 : 1;
    a = *past_a == '.' ? past_a + 1 : "";
    b = *past_b == '.' ? past_b + 1 : "";
  }
  return 0;
}

static void put_package(doctor *d, const char *name, const char *package,
                        bool needed, const char *oldest, const char *newest,
                        const char *without) {
  char *version = version_of(d, package);
  state s = FOUND;
  if (!version)
    s = MISSING;
  else if (*oldest && compare_versions(version, oldest) < 0)
    s = OLD;
  else if (*newest && compare_versions(version, newest) > 0)
    s = NEW;
  char *text = !version   ? cli_format("%s", without)
               : !*oldest ? cli_format("%s", version)
                          : cli_format("%s (tried with %s to %s)", version,
                                       oldest, newest);
  put(d, name, s, needed, text);
  free(text);
  free(version);
}

/* ---- all of it ----------------------------------------------------------- */

static void put_part(doctor *d, const char *name, char *found, bool needed,
                     const char *without) {
  put(d, name, found ? FOUND : MISSING, needed, found ? found : without);
  free(found);
}

static void put_own(doctor *d) {
  char *library = cli_library_path();
  char *text = cli_format("%s%s%s", tk_version(), library ? ", " : "",
                          library ? library : "");
  put(d, "tkdbg", FOUND, true, text);
  free(text);
  free(library);
}

int cli_doctor(const cli_args *a) {
  doctor d = {0};
  if (a->nwords)
    return cli_usage(a, "no operand is expected, but '%s' is given",
                     a->words[0]);
  bool elsewhere;
  d.python = cli_choose_python(a, &elsewhere);
  if (d.python) d.packages = ask_python(d.python);
  put_own(&d);
#define PART(name, find, needed, without)                                      \
  put_part(&d, name, find_##find(&d), needed, without);
#define PACKAGE(name, package, needed, oldest, newest, without)                \
  put_package(&d, name, package, needed, oldest, newest, without);
#include "doctor.def"
  free(d.python);
  free(d.packages);
  return d.lacks ? TK_FINDING : TK_OK;
}
