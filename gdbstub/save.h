/* save.h - files that the server writes for clients and those who wait. */
#ifndef GDBSTUB_SAVE_H
#define GDBSTUB_SAVE_H

#include <stddef.h>

/* Writes a file beside and renames it, so that whoever waits for it never
 * reads a part.  0, or an errno. */
int gs_save(const char *path, const void *bytes, size_t n);

#endif
