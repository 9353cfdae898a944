/* place.c - where our own files are, found from where the command is.
 *
 * In a build folder the command lies beside the library, and python/ one up;
 * installed, it is PREFIX/bin/tkdbg with PREFIX/lib/tkdbg/python; in a wheel,
 * it and the library lie in the Python package, and path/ holds a package that
 * stands for it.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The first of the places, seen from the folder of the command. */
static char *beside(const char *const *places, size_t n) {
  char *dir = own_dir(), *found = NULL;
  for (size_t i = 0; i < n && !found; i++) {
    char *path = cli_format("%s/%s", dir, places[i]);
    found = realpath(path, NULL);
    free(path);
  }
  free(dir);
  return found;
}

char *cli_python_dir(void) {
  static const char *const places[] = {
      "../python/tkdbg", "../lib/tkdbg/python/tkdbg", "path/tkdbg"};
  const char *env = getenv("TKDBG_PYTHONPATH");
  if (env && *env) return cli_format("%s", env);
  char *package = beside(places, CLI_COUNT(places));
  if (package) *strrchr(package, '/') = '\0';
  return package;
}

char *cli_own_path(void) {
  static const char *const places[] = {"tkdbg"};
  return beside(places, CLI_COUNT(places));
}

char *cli_demo_script(void) {
  static const char *const places[] = {
      "../tools/demo.sh", "../lib/tkdbg/demo/demo.sh", "demo/demo.sh"};
  return beside(places, CLI_COUNT(places));
}

char *cli_gdb_helper(void) {
  static const char *const places[] = {
      "../gdbstub/tkdbg-gdb.py", "../share/tkdbg/tkdbg-gdb.py", "tkdbg-gdb.py"};
  return beside(places, CLI_COUNT(places));
}

char *cli_library_path(void) {
  static const char *const places[] = {"libtkdbg.so", "../lib/libtkdbg.so"};
  return beside(places, CLI_COUNT(places));
}
