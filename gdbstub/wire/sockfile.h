/* sockfile.h - the file of a socket, removed when the process ends, also by a
 * signal.
 *
 * Ownership: a gw_sockfile belongs to the caller, and stays where it is until
 * it is removed or left.
 */
#ifndef GDBSTUB_WIRE_SOCKFILE_H
#define GDBSTUB_WIRE_SOCKFILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

typedef struct gw_sockfile {
  char path[PATH_MAX]; /* absolute: a script may change its folder */
  dev_t device;
  ino_t inode;
  pid_t owner; /* 0: there is no file */
} gw_sockfile;

/* Makes the file by binding a socket to it; 0, or an errno. */
int gw_sockfile_bind(gw_sockfile *f, const char *path, int fd);
/* Makes this process the owner of the file.  SIGHUP, SIGINT and SIGTERM then
 * remove it before they end the process, unless something else handles them. */
void gw_sockfile_own(gw_sockfile *f, const char *path);
/* Removes the file if it is still the same one, and if this process owns it
 * and not the one that it was forked from. */
void gw_sockfile_remove(gw_sockfile *f);
/* Another process owns the file from now on. */
void gw_sockfile_leave(gw_sockfile *f);

#endif
