/* outfile.h - files that are complete once they are there.
 *
 * The bytes go to a file beside it, which takes the name at the end, so that
 * no reader sees a part, and a full disk does not destroy what was there.
 * What is not a plain file (a pipe, /dev/stdout) is written to as it is.
 */
#ifndef TK_OUTFILE_H
#define TK_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct tk_outfile {
  FILE *file;
  char *path, *beside; /* beside is NULL if path itself is written to */
} tk_outfile;

/* Each returns 0, or an errno.  What was opened must be closed; closed without
 * `keep`, it leaves the file as it was. */
int tk_outfile_open(tk_outfile *o, const char *path);
int tk_outfile_close(tk_outfile *o, bool keep);
int tk_outfile_save(const char *path, const void *bytes, size_t n);

#endif
