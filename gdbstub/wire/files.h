/* files.h - source files as clients name them.
 *
 * The names that modules have may count from the folder in which the process
 * began; a script may have left it since.
 */
#ifndef GDBSTUB_WIRE_FILES_H
#define GDBSTUB_WIRE_FILES_H

#include "base/env.h"

/* The current folder of the process, in the arena. */
const char *gw_folder(tk_arena *a);
/* The absolute name of a file that may count from the folder, in the arena. */
const char *gw_file_path(tk_arena *a, const char *folder, const char *file);
/* Whether two names mean the same file. */
bool gw_is_same_file(const char *a, const char *b);

#endif
