/* place.c - where our own files are, found from where the command is.
 *
 * In a build folder the command lies beside the library, and python/ one up;
 * installed, it is PREFIX/bin/tkdbg with PREFIX/lib/tkdbg/python.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first of the paths that exists, without . and .., or NULL. */
static char *first_real(char *const *paths, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char *real = realpath(paths[i], NULL);
    if (real) return real;
  }
  return NULL;
}

/* The folder of the running command; "." where the system hides it. */
static char *own_dir(void) {
  char *exe = realpath("/proc/self/exe", NULL);
  char *slash = exe ? strrchr(exe, '/') : NULL;
  if (!slash) {
    free(exe);
    return cli_format(".");
  }
  slash[slash == exe] = '\0';
  return exe;
}

static char *beside(const char *built, const char *installed) {
  char *dir = own_dir();
  char *paths[] = {cli_format("%s/%s", dir, built),
                   cli_format("%s/%s", dir, installed)};
  char *found = first_real(paths, CLI_COUNT(paths));
  for (size_t i = 0; i < CLI_COUNT(paths); i++) free(paths[i]);
  free(dir);
  return found;
}

char *cli_python_dir(void) {
  const char *env = getenv("TKDBG_PYTHONPATH");
  if (env && *env) return cli_format("%s", env);
  char *package = beside("../python/tkdbg", "../lib/tkdbg/python/tkdbg");
  if (package) *strrchr(package, '/') = '\0';
  return package;
}

char *cli_library_path(void) {
  return beside("libtkdbg.so", "../lib/libtkdbg.so");
}
