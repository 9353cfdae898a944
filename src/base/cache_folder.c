/* cache_folder.c - the folder of files that can be made again; see
 * cache_folder.h. */
#include "base/cache_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

bool tk_cache_folder(char *out, size_t size) {
  const char *own = getenv("TKDBG_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  int n = own                  ? snprintf(out, size, "%s", own)
          : xdg && *xdg == '/' ? snprintf(out, size, "%s/tkdbg", xdg)
          : home && *home      ? snprintf(out, size, "%s/.cache/tkdbg", home)
                               : 0;
  return n > 0 && (size_t)n < size;
}

void tk_make_folders(char *path) {
  for (char *p = path + 1; *p; p++) {
    if (*p != '/') continue;
    *p = 0;
    mkdir(path, 0777);
    *p = '/';
  }
  mkdir(path, 0777);
}
