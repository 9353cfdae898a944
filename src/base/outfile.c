/* outfile.c - files that are complete once they are there; see outfile.h. */
#include "base/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that is replaced gives its permissions to the new one. */
static int open_beside(tk_outfile *o, const struct stat *old) {
  if (asprintf(&o->beside, "%s.%ld.new", o->path, (long)getpid()) < 0)
    return o->beside = NULL, ENOMEM;
  o->file = fopen(o->beside, "wb");
  if (o->file && old) (void)!fchmod(fileno(o->file), old->st_mode & 07777);
  return o->file ? 0 : errno;
}

static int open_itself(tk_outfile *o) {
  free(o->beside);
  o->beside = NULL;
  o->file = fopen(o->path, "wb");
  return o->file ? 0 : errno;
}

int tk_outfile_open(tk_outfile *o, const char *path) {
  struct stat old;
  bool exists = stat(path, &old) == 0;
  *o = (tk_outfile){0};
  /* A symbolic link is kept: the file that it leads to is replaced. */
  if (asprintf(&o->path, "%s", path) < 0) return ENOMEM;
  char *real = exists ? realpath(path, NULL) : NULL;
  if (real) free(o->path), o->path = real;
  int error = exists && !S_ISREG(old.st_mode)
                  ? open_itself(o)
                  : open_beside(o, exists ? &old : NULL);
  if (error == EACCES && exists) error = open_itself(o); /* only its folder */
  if (!error) return 0;
  free(o->beside);
  free(o->path);
  return error;
}

int tk_outfile_close(tk_outfile *o, bool keep) {
  int error = ferror(o->file) ? EIO : 0;
  if (fclose(o->file) && !error) error = errno;
  if (o->beside && keep && !error && rename(o->beside, o->path)) error = errno;
  if (o->beside && (error || !keep)) remove(o->beside);
  free(o->beside);
  free(o->path);
  return error;
}

int tk_outfile_save(const char *path, const void *bytes, size_t n) {
  tk_outfile o;
  int error = tk_outfile_open(&o, path);
  if (error) return error;
  if (fwrite(bytes, 1, n, o.file) != n) error = errno;
  int closed = tk_outfile_close(&o, !error);
  return error ? error : closed;
}
