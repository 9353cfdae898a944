/* sockfile.h - the file of a socket: gone when the process is, by a signal too.
 *
 * Ownership: a gs_sockfile belongs to the caller, and stays where it is until
 * it is removed or left.
 */
#ifndef GDBSTUB_SOCKFILE_H
#define GDBSTUB_SOCKFILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

typedef struct gs_sockfile {
  char path[PATH_MAX]; /* absolute: a script may change its folder */
  dev_t device;
  ino_t inode;
  pid_t owner; /* 0: there is no file */
} gs_sockfile;

/* Makes the file by binding a socket to it; 0, or an errno. */
int gs_sockfile_bind(gs_sockfile *f, const char *path, int fd);
/* The file is this process's.  SIGHUP, SIGINT and SIGTERM remove it before they
 * end the process, where nothing else handles them. */
void gs_sockfile_own(gs_sockfile *f, const char *path);
/* The file is removed, if it is still this one and not that of a process which
 * this one was forked from. */
void gs_sockfile_remove(gs_sockfile *f);
/* It belongs to another process from now on. */
void gs_sockfile_leave(gs_sockfile *f);

#endif
