/* files.c - names of source files. */
#include "gdbstub/wire/files.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *gw_folder(tk_arena *a) {
  char folder[PATH_MAX];
  return tk_arena_strdup(a, getcwd(folder, sizeof folder) ? folder : "/");
}

const char *gw_file_path(tk_arena *a, const char *folder, const char *file) {
  return *file == '/' ? file : tk_arena_printf(a, "%s/%s", folder, file);
}

bool gw_is_same_file(const char *a, const char *b) {
  struct stat x, y;
  if (!strcmp(a, b)) return true;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}
