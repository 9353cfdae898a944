/* outfile.h - files that are complete once they are there.
 *
 * What is written goes to a file beside and takes the name at the end, so that
 * nobody reads a part, and a disk that is full costs nothing that was there.
 * What is no plain file (a pipe, /dev/stdout) is written to as it is.
 */
#ifndef TK_OUTFILE_H
#define TK_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct tk_outfile {
  FILE *file;
  char *path, *beside; /* beside is NULL if path itself is written to */
} tk_outfile;

/* Each returns 0, or an errno.  What was opened is to be closed; unless keep,
 * the file stays as it was. */
int tk_outfile_open(tk_outfile *o, const char *path);
int tk_outfile_close(tk_outfile *o, bool keep);
int tk_outfile_save(const char *path, const void *bytes, size_t n);

#endif
