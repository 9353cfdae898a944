/* beside.c - finding files that are installed together with this code. */
#include "base/beside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the file that this code was loaded from, with all links resolved; the
 * caller frees it. */
static char *file_of_this_code(void) {
  Dl_info info;
  bool (*self)(const char *, char *, size_t) = tk_find_beside;
  void *address;
  memcpy(&address, &self, sizeof address);
  if (!dladdr(address, &info) || !info.dli_fname) return NULL;
  /* The loader knows a program only by the name that it was called by. */
  bool program = !strchr(info.dli_fname, '/');
  return realpath(program ? "/proc/self/exe" : info.dli_fname, NULL);
}

bool tk_find_beside(const char *name, char *out, size_t size) {
  static const char *const folders[] = {"", "../lib/", "../lib/tkdbg/",
                                        "tkdbg/"};
  char *file = file_of_this_code(), *end = file ? strrchr(file, '/') : NULL;
  bool found = false;
  for (size_t i = 0; end && i < sizeof folders / sizeof *folders && !found; i++)
    found = (size_t)snprintf(out, size, "%.*s/%s%s", (int)(end - file), file,
                             folders[i], name) < size &&
            access(out, R_OK) == 0;
  free(file);
  return found;
}
