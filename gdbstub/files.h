/* files.h - source files as clients name them.
 *
 * The names that modules have may count from the folder in which the process
 * began; a script may have left it since.
 */
#ifndef GDBSTUB_FILES_H
#define GDBSTUB_FILES_H

#include "base/env.h"

/* The folder that the process is in now, in the arena. */
const char *gs_folder(tk_arena *a);
/* The file's name from the root on, in the arena. */
const char *gs_file_path(tk_arena *a, const char *folder, const char *file);
/* Whether two names mean one file. */
bool gs_is_same_file(const char *a, const char *b);

#endif
