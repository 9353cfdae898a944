/* save.c - writes files that are complete once they are there. */
#include "gdbstub/save.h"

#include <errno.h>
#include <stdio.h>

int gs_save(const char *path, const void *bytes, size_t n) {
  char own[4096];
  if ((size_t)snprintf(own, sizeof own, "%s.new", path) >= sizeof own)
    return ENAMETOOLONG;
  FILE *f = fopen(own, "w");
  if (!f) return errno;
  int error = fwrite(bytes, 1, n, f) == n ? 0 : errno;
  if (fclose(f) && !error) error = errno;
  if (!error && rename(own, path)) error = errno;
  if (error) remove(own);
  return error;
}
